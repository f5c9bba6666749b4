"""The command line's arguments: each command with its options and an example (SPEC 8)."""

import argparse
import re
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import shtab

from memosite import __version__
from memosite.config.schema import SECRETS_MODES

if TYPE_CHECKING:
    from memosite.watch.policy import Limit

# The arguments of the commands for AI sessions: `brief`, `inbox`, `show`, `thread`, `reply`, `new` (SPEC 8).


SECTIONS: Final = ("handoff", "unread", "to-do", "waiting", "new-decisions", "new-notes", "decisions", "threads")
"""The sections of a brief."""


_BUDGETS: Final = {"brief": 4_000, "inbox": 4_000, "show": 8_000, "thread": 8_000}


_POSITION: Final = "a position, by any name that memos use"


_Add = Callable[[str, str, str], argparse.ArgumentParser]


def add_agents(add: _Add, add_site: Callable[[argparse.ArgumentParser], None]) -> None:
    """Add the commands by `add`, which takes name, description and example, and to each the options of the site."""
    commands = {"brief": _brief(add), "inbox": _inbox(add), "show": _show(add), "thread": _thread(add)}
    for name, command in commands.items():
        budget = _BUDGETS[name]
        command.add_argument(
            "--budget",
            type=int,
            default=budget,
            metavar="TOKENS",
            help=f"the most to print, in estimated tokens; 0: everything (default: {budget})",
        )
        counted = "character of the text" if name == "show" else "entry of the list"
        command.add_argument("--from", dest="begin", type=int, default=0, metavar="N", help=f"begin at this {counted}")
        command.add_argument("--json", action="store_true", help="the same as one JSON object")
        add_as_of(command)
        add_site(command)
        command.set_defaults(run=name, site=None)
    _add_why(add, add_site)
    for name, command in {"reply": _reply(add), "new": _new(add)}.items():
        _add_draft(command, to="its sender" if name == "reply" else "")
        add_site(command)
        command.set_defaults(run=name, site=None)
    server = add(
        "mcp",
        "offer these commands to language models: an MCP server on standard input and output",
        "memosite mcp --site example-org",
    )
    add_site(server)
    server.set_defaults(run="mcp", site=None)


def _add_why(add: _Add, add_site: Callable[[argparse.ArgumentParser], None]) -> None:
    command = add(
        "why",
        "show why a line is there: its commit, the session that made it, and the memos that name it",
        "memosite why src/gate.py:12",
    )
    command.add_argument(
        "file", metavar="FILE[:LINE]", help="a file of a source, or SOURCE/path; without a line, all its lines"
    )
    command.add_argument("--json", action="store_true", help="the same as one JSON object")
    add_site(command)
    command.set_defaults(run="why", site=None)


def _reply(add: _Add) -> argparse.ArgumentParser:
    command = add(
        "reply",
        "print the envelope of a reply, its file name and where to put it, as JSON; write nothing",
        "memosite reply 2026-05-11-1620 --from catalogue-engineer --body answer.md --site example-org",
    )
    command.add_argument("reference", metavar="ID", help="the memo or note to reply to: an id or its beginning")
    return command


def _new(add: _Add) -> argparse.ArgumentParser:
    return add(
        "new",
        "print the envelope of a new memo, its file name and where to put it, as JSON; write nothing",
        "memosite new --from web-engineer --to director --subject 'The slip is larger now' --site example-org",
    )


def _add_draft(command: argparse.ArgumentParser, *, to: str) -> None:
    """The options of a memo that is to be written; `to` says to whom it is if nobody is named, "" if one has to be."""
    command.add_argument("--from", dest="sender", required=True, metavar="POSITION", help=f"who writes: {_POSITION}")
    default = f" (default: {to})" if to else ""
    whom = f"positions, with commas; all; or file, for a note to itself{default}"
    command.add_argument("--to", required=not to, default="", metavar="POSITIONS", help=whom)
    subject = " (default: that of the memo, with re:)" if to else ""
    command.add_argument("--subject", required=not to, default="", metavar="TEXT", help=f"the subject{subject}")
    command.add_argument(
        "--body", default="", metavar="FILE", help="the text, - for standard input; if long, a body file"
    )
    command.add_argument(
        "--summary", default="", metavar="TEXT", help="for the envelope, beside a body file: one to three sentences"
    )
    command.add_argument("--action", action="store_true", help="the memo asks its recipients to do something")


def add_as_of(command: argparse.ArgumentParser) -> None:
    """Add the option that reads the past."""
    command.add_argument(
        "--as-of",
        default="",
        metavar="COMMIT|DATE",
        help="what could be known then: at a commit of a source (3a835a6, or SOURCE:REF), or on a day (2026-05-01)",
    )


def _brief(add: _Add) -> argparse.ArgumentParser:
    command = add(
        "brief",
        "show what a new holder of a position has to know, the most important first",
        "memosite brief catalogue-engineer --budget 3000 --site example-org",
    )
    command.add_argument("position", metavar="POSITION", help=_POSITION)
    command.add_argument("--only", choices=SECTIONS, default="", metavar="SECTION", help=", ".join(SECTIONS))
    return command


def _inbox(add: _Add) -> argparse.ArgumentParser:
    command = add(
        "inbox",
        "show what a position has not read, those that ask for something first",
        "memosite inbox catalogue-engineer --site example-org",
    )
    command.add_argument("position", metavar="POSITION", help=_POSITION)
    return command


def _show(add: _Add) -> argparse.ArgumentParser:
    command = add(
        "show",
        "show an item: its envelope, its summary and its text",
        "memosite show 2026-04-14-0922 --turns 2-4 --site example-org",
    )
    command.add_argument(
        "reference",
        metavar="ID",
        help="an id or its beginning, with #t12 or another anchor; or the address of a page, or a file",
    )
    command.add_argument("--head", action="store_true", help="the envelope and the summary alone")
    command.add_argument("--turns", default="", metavar="A-B", help="of a transcript: turns, such as 12-20 or 12-")
    return command


def _thread(add: _Add) -> argparse.ArgumentParser:
    command = add(
        "thread",
        "show the memos of a thread in reading order",
        "memosite thread 2026-05-01-1430 --brief --site example-org",
    )
    command.add_argument("reference", metavar="ID", help="a thread, or one of its memos: an id or its beginning")
    command.add_argument("--brief", action="store_true", help="a line and the triage summary for each memo")
    return command


# Defines and parses the options of `memosite watch`.


_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}


_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)([smhd]?)", re.ASCII)


_LIMIT = re.compile(r"(\d{1,6})/([smhd])", re.ASCII)


EXAMPLE = """memosite watch --once https://memos.example.org/positions/director/feed.xml
  memosite watch --exec "systemctl --user start wake@director" --limit 20/h https://memos.example.org/positions/director/feed.xml
  memosite watch --position director --site ~/organization --exec "./wake.sh" """.rstrip()


def add_options(command: argparse.ArgumentParser) -> None:
    """Add the options of `watch`; `--site`, `--cache` and `--quiet` are those of all commands."""
    command.add_argument("feeds", nargs="*", metavar="FEED", help="address (http, https) or file of a feed")
    _add_selection(command)
    _add_delivery(command)
    _add_receipts(command)
    _add_running(command)


def _add_selection(command: argparse.ArgumentParser) -> None:
    command.add_argument("--position", metavar="ID", help="watch this position in the repos of --site, not a feed")
    command.add_argument(
        "--since",
        choices=("inbox", "all", "now"),
        default="inbox",
        help="what the first run of a feed announces: memos in an inbox, all, or none (default: inbox)",
    )
    command.add_argument("--only", choices=("action",), help="announce only memos that request an action")


def _add_delivery(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--exec",
        dest="command",
        metavar="CMD",
        type=_argv,
        help="run this for each memo: split into words as a shell would, then run without one; it finds MEMO_PATH, "
        "MEMO_GUID, MEMO_REPO, MEMO_FROM, MEMO_TO, MEMO_SUBJECT, MEMO_FEED, ... in its environment and the path on "
        "its standard input; exit status 0 means success",
    )
    command.add_argument("--batch", action="store_true", help="run the command once for all waiting memos")
    command.add_argument(
        "--timeout", type=seconds, default=600.0, metavar="TIME", help="longest time for the command (default: 10m)"
    )
    command.add_argument(
        "--retries", type=_count, default=5, metavar="K", help="tries before a delivery has failed (default: 5)"
    )
    command.add_argument("--retry-failed", action="store_true", help="try failed deliveries again")
    command.add_argument(
        "--limit", type=_limit, metavar="N/h", help="deliver at most N memos an hour (s, m, h, d); the rest waits"
    )
    command.add_argument("--repo", metavar="DIR", help="the repo of the memos, to find those that moved")
    command.add_argument("--json", action="store_true", help="print a JSON object per line instead of `new memo: PATH`")


def _add_receipts(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--until-received",
        action="store_true",
        help="announce a memo again until it is committed or out of inbox/, no matter who did it",
    )
    command.add_argument(
        "--again",
        type=_delays,
        metavar="TIMES",
        help="delays after which a memo is announced again, each from the last announcement (default: 15m,1h,1d)",
    )
    command.add_argument(
        "--escalate",
        metavar="CMD",
        type=_argv,
        help="run this once for a memo that is still not received when the last delay has passed again; like --exec",
    )


def _add_running(command: argparse.ArgumentParser) -> None:
    command.add_argument("--once", action="store_true", help="poll once, deliver, then exit")
    command.add_argument(
        "--interval", type=seconds, default=60.0, metavar="TIME", help="pause between two polls (default: 60s)"
    )
    command.add_argument("--max-age", type=seconds, metavar="TIME", help="warn if the site was last built longer ago")
    command.add_argument("--status", action="store_true", help="show what is pending, done and failed, then exit")
    command.add_argument(
        "--state", metavar="FILE", help="state file (default: one per feed in $XDG_STATE_HOME/memosite/watch)"
    )


def seconds(text: str) -> float:
    """A time span such as `90s`, `5m`, `2h`, `1d`; a bare number counts seconds."""
    found = _DURATION.fullmatch(text)
    value = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if not 0 < value <= 366 * 86_400:
        raise argparse.ArgumentTypeError(f'found "{text}", expected a time such as 90s, 5m or 2h')
    return value


def _delays(text: str) -> tuple[float, ...]:
    try:
        return tuple(seconds(one) for one in text.split(","))
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f'found "{text}", expected times such as 15m,1h,1d') from error


def _limit(text: str) -> "Limit":
    from memosite.watch.policy import Limit  # noqa: PLC0415 - start-up time is felt

    found = _LIMIT.fullmatch(text)
    if not found or not int(found[1]):
        raise argparse.ArgumentTypeError(f'found "{text}", expected a number a time, such as 20/h')
    return Limit(count=int(found[1]), seconds=float(_UNITS[found[2]]), text=text)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:9]) < 1_000_000:
        raise argparse.ArgumentTypeError(f'found "{text}", expected a number from 1')
    return int(text)


def _argv(text: str) -> Sequence[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"found {text}: {error}; expected words as a shell would split them"
        ) from error
    if not words:
        raise argparse.ArgumentTypeError("found nothing, expected a command")
    return words


# The command line's arguments: each command with its options and an example (SPEC 8).


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


# `memosite completion`: a script that completes the command line in a shell, made from the parser.


_PLACES = {
    **dict.fromkeys(("DIR", "SITE", "DIR|URL"), shtab.DIRECTORY),
    **dict.fromkeys(("FILE", "FEED", "PATH", "FILE|SITE"), shtab.FILE),
}
"""What an argument of this name is completed with."""


def run(options: argparse.Namespace, *, show: Callable[[str], None]) -> None:
    """Print the script for the shell that the command line names."""
    whole = parser()
    for command in command_parsers(whole).values():
        for action in command._actions:  # argparse has no public way to them
            if isinstance(action.metavar, str) and action.metavar in _PLACES:
                action.complete = _PLACES[action.metavar]  # type: ignore[attr-defined] # what shtab reads
    show(str(shtab.complete(whole, shell=options.shell)).rstrip("\n"))
