"""The command line's arguments: each command with its options and an example (SPEC 8)."""

import argparse
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from memosite import __version__
from memosite.commands.agent_arguments import add_agents, add_as_of
from memosite.config.policy import SECRETS_MODES
from memosite.watch.options import EXAMPLE, add_options


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; `run` names the command that was given."""
    whole = argparse.ArgumentParser(
        prog="memosite",
        description="Turns the memos, notes and transcripts in an organization's git repos into an archive to browse.",
        epilog="Each command has --help with an example.",
    )
    whole.set_defaults(is_tool=False)  # the server for language models sets it
    whole.add_argument("--version", action="version", version=f"memosite {__version__}")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_build(commands)
    _add_serve(commands)
    _add_explain(commands)
    _add_check(commands)
    _add_search(commands)
    _add_export(commands)
    _add_watch(commands)
    _add_init(commands)
    _add_diff(commands)
    _add_cite(commands)
    _add_verify(commands)
    add_agents(partial(_command, commands), _add_site_option)
    _add_mark_read(commands)
    _add_completion(commands)
    return whole


def command_parsers(whole: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, by its name; argparse has no public way to them."""
    [commands] = (action for action in whole._actions if isinstance(action, argparse._SubParsersAction))
    return dict(commands.choices)


class Commands(Protocol):
    """What commands are added to."""

    def add_parser(self, name: str, **settings: Any) -> argparse.ArgumentParser:
        """Add a command; returns what its arguments are added to."""


def _command(commands: Commands, name: str, what: str, example: str) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + ".",
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("--quiet", action="store_true", help="print nothing but errors")
    return command


def _add_site(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "site", nargs="?", type=Path, default=None, metavar="SITE", help="the site folder (default: --site)"
    )
    _add_site_option(command)


def _add_published_or_site(command: argparse.ArgumentParser) -> None:
    """As `_add_site_option`, for commands that can do without the repos."""
    command.add_argument(
        "--site",
        dest="site_option",
        type=_folder_or_address,
        metavar="DIR|URL",
        help="site folder, or a published site: its folder or its address (default: this folder)",
    )
    _add_site_settings(command)


def _folder_or_address(named: str) -> "str | Path":
    return named if named.startswith(("http://", "https://")) else Path(named)


def _add_site_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--site", dest="site_option", type=Path, metavar="DIR", help="site folder (default: this folder)"
    )
    _add_site_settings(command)


def _add_site_settings(command: argparse.ArgumentParser) -> None:
    command.add_argument("--cache", type=Path, metavar="DIR", help="cache folder (default: SITE/.memosite)")
    command.add_argument(
        "--secrets",
        choices=SECRETS_MODES,
        help="publish what has a secret without its content, redact the secret, or fail (default: memosite.yml's, "
        "else withhold)",
    )
    command.add_argument(
        "--audience",
        choices=("internal", "public"),
        help="for whom: internal sees everything (default: audience in memosite.yml; of several outputs, public)",
    )


def _add_output(command: argparse.ArgumentParser) -> None:
    command.add_argument("-o", "--output", type=Path, metavar="DIR", help="output folder (default: SITE/_site)")
    command.add_argument("--base-url", metavar="URL", help="where the site is published, for feeds and links")


def _add_fail_on(command: argparse.ArgumentParser, default: str) -> None:
    command.add_argument(
        "--fail-on",
        choices=("error", "warning", "never"),
        default=default,
        help=f"exit 1 on findings of this severity or worse (default: {default})",
    )


def _add_build(commands: Commands) -> None:
    command = _command(
        commands,
        "build",
        "build the site",
        "memosite build example-org -o public --base-url https://memos.example.org/",
    )
    _add_site(command)
    _add_output(command)
    command.add_argument("--jobs", type=int, metavar="N", help="number of processes (default: one per core)")
    command.add_argument(
        "--cluster", metavar="ADDRESS", help="render with the workers of this Dask scheduler, tcp://HOST:PORT"
    )
    _add_fail_on(command, "never")
    command.add_argument(
        "--previous", metavar="DIR|URL", help="published site to continue from, if the output folder is new"
    )
    command.add_argument("--profile", action="store_true", help="report time and memory by stage")
    command.set_defaults(run="build")


def _add_serve(commands: Commands) -> None:
    command = _command(
        commands,
        "serve",
        "build, serve on this machine, rebuild on change and reload the browser",
        "memosite serve example-org --port 8000",
    )
    _add_site(command)
    _add_output(command)
    command.add_argument("--port", type=int, default=8000, metavar="N", help="port on 127.0.0.1 (default: 8000)")
    command.set_defaults(run="serve")


def _add_explain(commands: Commands) -> None:
    command = _command(
        commands,
        "explain",
        "show what a page was built from and whether it is outdated",
        "memosite explain positions/director/index.html --site example-org",
    )
    command.add_argument("path", metavar="PATH", help="a file or page of the site, by its path or its address")
    _add_site_option(command)
    command.add_argument("-o", dest="output", type=Path, metavar="DIR", help="output folder (default: SITE/_site)")
    command.set_defaults(run="explain", site=None)


def _add_check(commands: Commands) -> None:
    command = _command(
        commands,
        "check",
        "report findings in sites, folders or files",
        "memosite check memos/inbox/2026-05-01-1430--a--b--c.openthing",
    )
    command.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="sites, folders or files (default: --site)"
    )
    _add_site_option(command)
    command.add_argument("--format", choices=("text", "json", "sarif"), default="text", help="default: text")
    _add_fail_on(command, "error")
    command.set_defaults(run="check")


def _add_search(commands: Commands) -> None:
    command = _command(
        commands,
        "search",
        "find items and turns of transcripts, newest first; docs/search.md has the query language",
        "memosite search 'from:engineer \"tide tables\" after:2w'",
    )
    command.add_argument("query", nargs="*", metavar="QUERY", help='words, "phrases", prefix*, field:value, AND OR NOT')
    command.add_argument("--json", action="store_true", help="one JSON object")
    command.add_argument("--limit", type=int, default=20, metavar="N", help="results to show (default: 20)")
    command.add_argument("--sort", choices=("date", "score"), default="date", help="default: date, newest first")
    command.add_argument("--index", action="store_true", default=None, help="wait until the search index is up to date")
    _add_no_index(command)
    command.add_argument("--base-url", metavar="URL", help="where the site is published, for the addresses")
    add_as_of(command)
    _add_site_option(command)
    command.set_defaults(run="search")


def _add_no_index(command: argparse.ArgumentParser) -> None:
    command.add_argument("--no-index", dest="index", action="store_false", help="do not make a search index")


def _add_export(commands: Commands) -> None:
    command = _command(
        commands,
        "export",
        "write the archive, or what a query finds, in another form",
        "memosite export --format mbox -o archive.mbox && mutt -f archive.mbox",
    )
    command.add_argument("query", nargs="?", metavar="QUERY", help="only what this finds (see memosite search --help)")
    _add_no_index(command)
    command.add_argument(
        "--format", choices=("jsonl", "mbox", "maildir", "csv"), default="jsonl", help="default: jsonl"
    )
    command.add_argument("--with-body", action="store_true", help="add the texts to jsonl")
    command.add_argument(
        "-o", "--output", type=Path, metavar="PATH", help="file or maildir to write (default: standard output)"
    )
    command.add_argument("--base-url", metavar="URL", help="where the site is published, for the addresses in it")
    _add_site_option(command)
    _add_fail_on(command, "never")
    command.set_defaults(run="export")


def _add_watch(commands: Commands) -> None:
    command = _command(commands, "watch", "announce each new memo of a feed once, or run a command for it", EXAMPLE)
    add_options(command)
    _add_site_option(command)
    command.set_defaults(run="watch")


def _add_init(commands: Commands) -> None:
    command = _command(
        commands, "init", "write a commented memosite.yml from what is discovered", "memosite init ~/organization"
    )
    command.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="default: this folder")
    command.set_defaults(run="init")


def _add_diff(commands: Commands) -> None:
    command = _command(
        commands,
        "diff",
        "compare two dates, two refs of a source, or two published ledgers",
        "memosite diff 2026-05-01..2026-05-31\n  memosite diff main~20..main --source engine --format markdown",
    )
    command.add_argument("between", metavar="A..B", help="an empty A is the beginning, an empty B is now")
    command.add_argument("--source", metavar="NAME", help="the source whose refs A and B are")
    command.add_argument("--format", choices=("text", "markdown", "json"), default="text", help="default: text")
    command.add_argument(
        "--budget",
        type=int,
        default=0,
        metavar="TOKENS",
        help="the most to print as text, in estimated tokens: of each list the newest (default: everything)",
    )
    _add_site_option(command)
    command.set_defaults(run="diff")


def _add_cite(commands: Commands) -> None:
    command = _command(
        commands,
        "cite",
        "cite a passage, or find the source of a quote",
        "memosite cite '2026-04-14-0922--local-history-archivist#t2' --site example-org --format markdown\n"
        "  memosite cite --quote '39 photographs that share a barcode' --site example-org",
    )
    command.add_argument(
        "references",
        nargs="*",
        metavar="REF",
        help="an id or its beginning, with #t12, #t12-t15 or another anchor; or the address of a page, or a file",
    )
    command.add_argument("--quote", default="", metavar="TEXT", help="the words to quote; alone: find their source")
    command.add_argument(
        "--format", choices=("text", "markdown", "html", "bibtex", "csl-json"), default="text", help="default: text"
    )
    command.add_argument("--json", action="store_true", help="the fields of each citation, as a JSON list")
    command.add_argument("--base-url", metavar="URL", help="where the site is published, for the addresses")
    _add_published_or_site(command)
    command.set_defaults(run="cite", site=None)


def _add_verify(commands: Commands) -> None:
    command = _command(
        commands,
        "verify",
        "check the citations in documents, or a published site against a root of its sealed log",
        "memosite verify paper.md references.bib\n  memosite verify --quotes book/ --site example-org\n"
        "  memosite verify --seal 3c1f0a…9e27 https://memos.example.org/",
    )
    command.add_argument(
        "where",
        nargs="*",
        metavar="FILE|SITE",
        help="Markdown, HTML, BibTeX, CSL-JSON, text, .docx, a folder of these, or - for standard input; with --seal "
        "an output folder, its site folder, or the address of a published site (default: --site)",
    )
    command.add_argument("--strict", action="store_true", help="fail if a citation holds only in an earlier version")
    command.add_argument("--quotes", action="store_true", help="check each quotation of 8 or more words, cited or not")
    command.add_argument("--json", action="store_true", help="the verdicts as a JSON list")
    command.add_argument(
        "--bundle", type=Path, metavar="DIR", help="write originals, hashes and proofs to a new folder"
    )
    command.add_argument("--seal", metavar="ROOT", help="the root, or a file: a copy of archive/seals.jsonl from then")
    _add_published_or_site(command)
    command.set_defaults(run="verify", site=None)


def _add_mark_read(commands: Commands) -> None:
    command = _command(
        commands,
        "mark-read",
        "move memos to read/ with git mv, envelope and body together",
        "memosite mark-read --commit memos/inbox/2026-05-01-1430--a--b--c.openthing",
    )
    command.add_argument("files", nargs="+", type=Path, metavar="FILE", help="envelopes or their bodies, in any repos")
    command.add_argument("--archive", action="store_true", help="move them to archive/ instead")
    command.add_argument("--commit", action="store_true", help="commit the move, and nothing else")
    command.set_defaults(run="mark_read")


def _add_completion(commands: Commands) -> None:
    command = _command(
        commands,
        "completion",
        "print what completes the command line in a shell",
        "memosite completion bash > ~/.local/share/bash-completion/completions/memosite.bash\n"
        "  memosite completion zsh > ~/.zfunc/_memosite\n"
        "  memosite completion fish > ~/.config/fish/completions/memosite.fish",
    )
    command.add_argument("shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish")
    command.set_defaults(run="completion")
