"""The commands of the command line, each once: its options with their help, an example, and what runs it (SPEC 8).

Of this table are made the parser, its help, the man page and what completes a command line in a shell; the server for
language models offers some of the commands with some of their options.
"""

import argparse
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Final, NoReturn

from memosite import __version__
from memosite.config import SECRETS_MODES
from memosite.facts.characters import harmless
from memosite.facts.patterns import regex
from memosite.facts.texts import cut_line
from memosite.facts.values import Value

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    from memosite.watch.policy import Limit

Tell = Callable[[str], None]
"""Prints a text."""

Run = Callable[[argparse.Namespace, Tell, Tell], bool | None]
"""Runs a command: `show` prints what was asked for, `say` a message beside it. False: no result, or findings."""


def hushed(_text: str) -> None:
    """Print nothing (`--quiet`)."""


class Option(Value):
    """An option or another argument of a command; `settings` are further ones of argparse."""

    names: tuple[str, ...]
    help: str
    settings: Mapping[str, Any]


class Command(Value):
    """A command. `runs` is its module and the function in it, which is imported when it runs: start-up time is felt.

    `is_whole`: it is about a site, or about what is named, and asks no archive. `is_silent`: with `--quiet` it says
    nothing beside its output.
    """

    name: str
    what: str
    example: str
    runs: str
    options: tuple[Option, ...]
    is_whole: bool = False
    is_silent: bool = False

    @property
    def is_question(self) -> bool:
        """Whether it asks the archive of the site that is named, else of this folder."""
        return not self.is_whole and any("--site" in option.names for option in self.options)

    def option(self, name: str) -> Option:
        """The option of a name."""
        return next(option for option in self.options if name in option.names)

    def load(self) -> Run:
        """What runs it. Raises `ModuleNotFoundError`, of `mcp` also for want of a package that need not be there."""
        module, _, function = self.runs.partition(":")
        run: Run = getattr(import_module(f"memosite.{module}"), function)
        return run


def _option(written: str, help: str, **settings: Any) -> Option:  # noqa: A002 - as argparse calls it
    """An option as it is written: its names, and what its value is called in help."""
    *names, last = written.split()
    if last.startswith("-") or not names:
        return Option(names=(*names, last), help=help, settings=settings)
    return Option(names=tuple(names), help=help, settings={"metavar": last, **settings})


def _flag(name: str, help: str, **settings: Any) -> Option:  # noqa: A002 - as argparse calls it
    return _option(name, help, action="store_true", **settings)


def _command(name: str, what: str, example: str, runs: str, *options: Option, **flags: bool) -> Command:
    return Command(name=name, what=what, example=example, runs=runs, options=options, **flags)


# What argparse makes of the values of `watch`.


_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}


_DURATION = regex(r"(\d{1,9}(?:\.\d{1,3})?)([smhd]?)", re.ASCII)


_LIMIT = regex(r"(\d{1,6})/([smhd])", re.ASCII)


def _seconds(text: str) -> float:
    """A time span such as `90s`, `5m`, `2h`, `1d`; a bare number counts seconds."""
    found = _DURATION.fullmatch(text)
    value = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if not 0 < value <= 366 * 86_400:
        raise argparse.ArgumentTypeError(f'found "{text}", expected a time such as 90s, 5m or 2h')
    return value


def _delays(text: str) -> tuple[float, ...]:
    try:
        return tuple(map(_seconds, text.split(",")))
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


def _folder_or_address(named: str) -> str | Path:
    return named if named.startswith(("http://", "https://")) else Path(named)


# Options that several commands take.


_SITE_SETTINGS = (
    _option("--cache DIR", "cache folder (default: SITE/.memosite)", type=Path),
    _option(
        "--secrets",
        "publish what has a secret without its content, redact the secret, or fail (default: memosite.yml's, "
        "else withhold)",
        choices=SECRETS_MODES,
    ),
    _option(
        "--audience",
        "for whom: internal sees everything (default: audience in memosite.yml; of several outputs, public)",
        choices=("internal", "public"),
    ),
)


_SITE = (
    _option("--site SITE", "the site folder (default: this folder)", dest="site_option", type=Path),
    *_SITE_SETTINGS,
)


_PUBLISHED_OR_SITE = (
    _option(
        "--site SITE|URL",
        "the site folder, or a published site: its folder or its address (default: this folder)",
        dest="site_option",
        type=_folder_or_address,
    ),
    *_SITE_SETTINGS,
)
"""As `_SITE`, for commands that can do without the repos."""


_QUIET = _flag("--quiet", "print nothing but errors")


SHARED: Final = "options of all commands"


OF_ALL: Final = (_QUIET, *_SITE)
"""The options that any command takes which asks an archive: `memosite --help` explains them, once."""


_BUILT_SITE = (
    _option("site SITE", "the site folder, also written --site SITE (default: this folder)", nargs="?", type=Path),
    *_SITE,
    _option("-o --output DIR", "output folder (default: SITE/_site)", type=Path),
    _option("--base-url URL", "where the site is published, for feeds and links"),
)


_BASE_URL = _option("--base-url URL", "where the site is published, for the addresses")


_NO_INDEX = _option("--no-index", "do not make a search index", dest="index", action="store_false")


_AS_OF = _option(
    "--as-of COMMIT|DATE",
    "what could be known then: at a commit of a source (3a835a6, or SOURCE:REF), or on a day (2026-05-01)",
    default="",
)


_SINCE = _option(
    "--since DATE|COMMIT|ID",
    "what arrived since then: since the beginning of a day (2026-05-01), after a commit of a source, or after an item",
    default="",
)


_POSITION = "a position, by any name that memos use"


def _fail_on(default: str) -> Option:
    return _option(
        "--fail-on",
        f"exit 1 on findings of this severity or worse (default: {default})",
        choices=("error", "warning", "never"),
        default=default,
    )


def _format(*choices: str) -> Option:
    return _option("--format", f"default: {choices[0]}", choices=choices, default=choices[0])


def _reading(counted: str, budget: int) -> tuple[Option, ...]:
    """The options of a command whose answer is cut to a budget; `counted` is what it can begin at."""
    return (
        _option(
            "--budget TOKENS",
            f"the most to print, in estimated tokens; 0: everything (default: {budget})",
            type=int,
            default=budget,
        ),
        _option("--from N", f"begin at this {counted}", dest="begin", type=int, default=0),
        _flag("--json", "the same as one JSON object"),
        _AS_OF,
        *_SITE,
    )


def _drafting(to: str) -> tuple[Option, ...]:
    """The options of a memo that is to be written; `to` says to whom it is if nobody is named, "" if one has to be."""
    whom = f" (default: {to})" if to else ""
    subject = " (default: that of the memo, with re:)" if to else ""
    return (
        _option("--from POSITION", f"who writes: {_POSITION}", dest="sender", required=True),
        _option(
            "--to POSITIONS",
            f"positions, with commas; all; or file, for a note to itself{whom}",
            required=not to,
            default="",
        ),
        _option("--subject TEXT", f"the subject{subject}", required=not to, default=""),
        _option("--body FILE", "the text, - for standard input; if long, a body file", default=""),
        _option("--summary TEXT", "for the envelope, beside a body file: one to three sentences", default=""),
        _flag("--action", "the memo asks its recipients to do something"),
        *_SITE,
    )


# The commands, in the order in which they are listed.


SECTIONS: Final = ("handoff", "unread", "to-do", "waiting", "new-decisions", "new-notes", "decisions", "threads")
"""The sections of a brief."""


COMMANDS: Final = {
    command.name: command
    for command in (
        _command(
            "build",
            "build the site",
            "memosite build example-org -o public --base-url https://memos.example.org/",
            "commands.build:run_build",
            *_BUILT_SITE,
            _option("--jobs N", "number of processes (default: one per core)", type=int),
            _option("--cluster ADDRESS", "render with the workers of this Dask scheduler, tcp://HOST:PORT"),
            _fail_on("never"),
            _option("--previous DIR|URL", "published site to continue from, if the output folder is new"),
            _flag("--profile", "report time and memory by stage"),
            is_whole=True,
        ),
        _command(
            "serve",
            "build, serve on this machine, rebuild on change and reload the browser",
            "memosite serve example-org --port 8000",
            "commands.build:run_serve",
            *_BUILT_SITE,
            _option("--port N", "port on 127.0.0.1 (default: 8000)", type=int, default=8000),
            is_whole=True,
        ),
        _command(
            "explain",
            "show what a page was built from and whether it is outdated",
            "memosite explain positions/director/index.html --site example-org",
            "commands.explain:run_explain",
            _option("path PATH", "a file or page of the site, by its path or its address"),
            *_SITE,
            _option("-o DIR", "output folder (default: SITE/_site)", dest="output", type=Path),
            is_whole=True,
        ),
        _command(
            "check",
            "report findings in sites, folders or files",
            "memosite check memos/inbox/2026-05-01-1430--a--b--c.openthing",
            "commands.check:run",
            _option("paths PATH", "sites, folders or files (default: --site)", nargs="*", type=Path),
            *_SITE,
            _format("text", "json", "sarif"),
            _fail_on("error"),
            is_whole=True,
            is_silent=True,
        ),
        _command(
            "search",
            "find items and turns of transcripts and sessions, newest first; docs/search.md has the query language",
            "memosite search 'from:engineer \"tide tables\" after:2w'",
            "commands.search:run_search",
            _option("query QUERY", 'words, "phrases", prefix*, field:value, AND OR NOT', nargs="*"),
            _flag("--json", "one JSON object"),
            _option("--limit N", "results to show (default: 20)", type=int, default=20),
            _option("--sort", "default: date, newest first", choices=("date", "score"), default="date"),
            _flag("--index", "wait until the search index is up to date", default=None),
            _NO_INDEX,
            _BASE_URL,
            _AS_OF,
            *_SITE,
            is_silent=True,
        ),
        _command(
            "export",
            "write the archive, or what a query finds, in another form",
            "memosite export --format mbox -o archive.mbox && mutt -f archive.mbox",
            "commands.export:run_export",
            _option("query QUERY", "only what this finds (see memosite search --help)", nargs="?"),
            _NO_INDEX,
            _format("jsonl", "mbox", "maildir", "csv"),
            _flag("--with-body", "add the texts to jsonl"),
            _option("-o --output PATH", "file or maildir to write (default: standard output)", type=Path),
            _option("--base-url URL", "where the site is published, for the addresses in it"),
            *_SITE,
            _fail_on("never"),
            is_silent=True,
        ),
        _command(
            "watch",
            "announce each new memo of a feed once, or run a command for it",
            "memosite watch --once https://memos.example.org/positions/director/feed.xml\n"
            '  memosite watch --exec "systemctl --user start wake@director" --limit 20/h '
            "https://memos.example.org/positions/director/feed.xml\n"
            '  memosite watch --position director --site ~/organization --exec "./wake.sh"',
            "watch.command:watch",
            _option("feeds FEED", "address (http, https) or file of a feed", nargs="*"),
            _option("--position ID", "watch this position in the repos of --site, not a feed"),
            _option(
                "--since",
                "what the first run of a feed announces: memos in an inbox, all, or none (default: inbox)",
                choices=("inbox", "all", "now"),
                default="inbox",
            ),
            _option("--only", "announce only memos that request an action", choices=("action",)),
            _option(
                "--exec CMD",
                "run this for each memo: split into words as a shell would, then run without one; it finds MEMO_PATH, "
                "MEMO_GUID, MEMO_REPO, MEMO_FROM, MEMO_TO, MEMO_SUBJECT, MEMO_FEED, ... in its environment and the "
                "path on its standard input; exit status 0 means success",
                dest="command",
                type=_argv,
            ),
            _flag("--batch", "run the command once for all waiting memos"),
            _option("--timeout TIME", "longest time for the command (default: 10m)", type=_seconds, default=600.0),
            _option("--retries K", "tries before a delivery has failed (default: 5)", type=_count, default=5),
            _flag("--retry-failed", "try failed deliveries again"),
            _option("--limit N/h", "deliver at most N memos an hour (s, m, h, d); the rest waits", type=_limit),
            _option("--repo DIR", "the repo of the memos, to find those that moved"),
            _flag("--json", "print a JSON object per line instead of `new memo: PATH`"),
            _flag(
                "--until-received", "announce a memo again until it is committed or out of inbox/, no matter who did it"
            ),
            _option(
                "--again TIMES",
                "delays after which a memo is announced again, each from the last announcement (default: 15m,1h,1d)",
                type=_delays,
            ),
            _option(
                "--escalate CMD",
                "run this once for a memo that is still not received when the last delay has passed again; like --exec",
                type=_argv,
            ),
            _flag("--once", "poll once, deliver, then exit"),
            _option("--interval TIME", "pause between two polls (default: 60s)", type=_seconds, default=60.0),
            _option("--max-age TIME", "warn if the site was last built longer ago", type=_seconds),
            _flag("--status", "show what is pending, done and failed, then exit"),
            _option("--state FILE", "state file (default: one per feed in $XDG_STATE_HOME/memosite/watch)"),
            *_SITE,
            is_whole=True,
        ),
        _command(
            "init",
            "write a commented memosite.yml from what is discovered",
            "memosite init ~/organization",
            "commands.init:run",
            _option("folder DIR", "default: this folder", nargs="?", type=Path, default=Path()),
        ),
        _command(
            "diff",
            "compare two dates, two refs of a source, or two published ledgers; or list what happened in a week",
            "memosite diff 2026-05-01..2026-05-31\n  memosite diff main~20..main --source engine --format markdown\n"
            "  memosite diff --week 2026-W22",
            "commands.diff:run",
            _option("between A..B", "an empty A is the beginning, an empty B is now", nargs="?", default=""),
            _option(
                "--week WEEK",
                "in place of A..B: what was decided, asked and answered in a week, as its page has it (default: the "
                "newest)",
                nargs="?",
                const="newest",
            ),
            _option("--source NAME", "the source whose refs A and B are"),
            _format("text", "markdown", "json"),
            _option(
                "--budget TOKENS",
                "the most to print as text, in estimated tokens: of each list the newest (default: everything)",
                type=int,
                default=0,
            ),
            *_SITE,
            is_silent=True,
        ),
        _command(
            "cite",
            "cite a passage, or find the source of a quote",
            "memosite cite '2026-04-14-0922--local-history-archivist#t2' --site example-org --format markdown\n"
            "  memosite cite --quote '39 photographs that share a barcode' --site example-org",
            "commands.cite:run_cite",
            _option(
                "references REF",
                "an id or its beginning, with #t12, #t12-t15 or another anchor; or the address of a page, or a file",
                nargs="*",
            ),
            _option("--quote TEXT", "the words to quote; alone: find their source", default=""),
            _format("text", "markdown", "html", "bibtex", "csl-json"),
            _flag("--json", "the fields of each citation, as a JSON list"),
            _BASE_URL,
            *_PUBLISHED_OR_SITE,
        ),
        _command(
            "verify",
            "check the citations in documents, or a published site against a root of its sealed log",
            "memosite verify paper.md references.bib\n  memosite verify --quotes book/ --site example-org\n"
            "  memosite verify --seal 3c1f0a…9e27 https://memos.example.org/",
            "commands.cite:run_verify",
            _option(
                "where FILE|SITE",
                "Markdown, HTML, LaTeX, BibTeX, CSL-JSON, text, .docx, .odt, .epub, a folder of these, or - for "
                "standard input; with --seal an output folder, its site folder, or the address of a published site "
                "(default: --site)",
                nargs="*",
            ),
            _flag("--strict", "fail if a citation holds only in an earlier version"),
            _flag("--require", "fail if a document has no citation, or with --quotes no quotation"),
            _flag("--quotes", "check each quotation of 8 or more words, cited or not"),
            _flag("--json", "the verdicts as a JSON list"),
            _option("--bundle DIR", "write originals, hashes and proofs to a new folder", type=Path),
            _option("--seal ROOT", "the root, or a file: a copy of archive/seals.jsonl from then"),
            *_PUBLISHED_OR_SITE,
        ),
        _command(
            "brief",
            "show what a new holder of a position has to know, the most important first",
            "memosite brief catalogue-engineer --budget 3000 --site example-org",
            "commands.agents:run_answer",
            _option("position POSITION", _POSITION),
            _option("--only SECTION", ", ".join(SECTIONS), choices=SECTIONS, default=""),
            *_reading("entry of the list", 4_000),
            is_silent=True,
        ),
        _command(
            "inbox",
            "show what a position has not read, those that ask for something first",
            "memosite inbox catalogue-engineer --site example-org",
            "commands.agents:run_answer",
            _option("position POSITION", _POSITION),
            _SINCE,
            *_reading("entry of the list", 4_000),
            is_silent=True,
        ),
        _command(
            "show",
            "show an item: its envelope, its summary and its text",
            "memosite show 2026-04-14-0922 --turns 2-4 --site example-org",
            "commands.agents:run_answer",
            _option(
                "reference ID",
                "an id or its beginning, with #t12 or another anchor; or the address of a page, a file, a session log",
            ),
            _flag("--head", "the envelope and the summary alone"),
            _option("--turns A-B", "of a transcript or session: turns, such as 12-20 or 12-", default=""),
            *_reading("character of the text", 8_000),
            is_silent=True,
        ),
        _command(
            "thread",
            "show the memos of a thread in reading order",
            "memosite thread 2026-05-01-1430 --brief --site example-org",
            "commands.agents:run_answer",
            _option("reference ID", "a thread, or one of its memos: an id or its beginning"),
            _flag("--brief", "a line and the triage summary for each memo"),
            _SINCE,
            *_reading("entry of the list", 8_000),
            is_silent=True,
        ),
        _command(
            "why",
            "show why a line is there: its commit, the session that made it, and the memos that name it",
            "memosite why src/gate.py:12",
            "commands.why:run_why",
            _option("file FILE[:LINE]", "a file of a source, or SOURCE/path; without a line, all its lines"),
            _flag("--json", "the same as one JSON object"),
            *_SITE,
        ),
        _command(
            "reply",
            "print the envelope of a reply, its file name and where to put it, as JSON; write nothing",
            "memosite reply 2026-05-11-1620 --from catalogue-engineer --body answer.md --site example-org",
            "commands.agents:run_draft",
            _option("reference ID", "the memo or note to reply to: an id or its beginning"),
            *_drafting(to="its sender"),
        ),
        _command(
            "new",
            "print the envelope of a new memo, its file name and where to put it, as JSON; write nothing",
            "memosite new --from web-engineer --to director --subject 'The slip is larger now' --site example-org",
            "commands.agents:run_draft",
            *_drafting(to=""),
        ),
        _command(
            "mcp",
            "offer these commands to language models: an MCP server on standard input and output",
            "memosite mcp --site example-org",
            "mcp.server:run",
            *_SITE,
        ),
        _command(
            "mark-read",
            "move memos to read/ with git mv, envelope and body together",
            "memosite mark-read --commit memos/inbox/2026-05-01-1430--a--b--c.openthing",
            "commands.mark_read:run",
            _option("files FILE", "envelopes or their bodies, in any repos", nargs="+", type=Path),
            _flag("--archive", "move them to archive/ instead"),
            _flag("--commit", "commit the move, and nothing else"),
        ),
        _command(
            "completion",
            "print what completes the command line in a shell",
            "memosite completion bash > ~/.local/share/bash-completion/completions/memosite.bash\n"
            "  memosite completion zsh > ~/.zfunc/_memosite\n"
            "  memosite completion fish > ~/.config/fish/completions/memosite.fish",
            "commands.arguments:run",
            _option("shell SHELL", "bash, zsh or fish", choices=("bash", "zsh", "fish")),
        ),
    )
}
"""The commands by name."""


# The parser, and `memosite completion`, which is made from it.


_LONGEST_NAME: Final = 40
"""The most characters of a word that is compared with names: comparing takes time that grows with their square."""


def _did_you_mean(word: str, names: Iterable[str]) -> str:
    """The names that a word may have been meant to be, as the end of a message."""
    near = get_close_matches(word, list(names), n=2) if len(word) <= _LONGEST_NAME else []
    return f"; did you mean {' or '.join(near)}?" if near else ""


class _Help(argparse.RawDescriptionHelpFormatter):
    """The help of a command without the options that all commands take; `memosite --help` has these."""

    def __init__(self, prog: str, *, hidden: Collection[argparse.Action] = ()) -> None:
        super().__init__(prog)
        self._hidden = hidden

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any = None) -> None:
        """As argparse does, of what is shown."""
        super().add_usage(usage, [action for action in actions if action not in self._hidden], groups, prefix)

    def add_argument(self, action: argparse.Action) -> None:
        """As argparse does, if it is shown."""
        if action not in self._hidden:
            super().add_argument(action)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with arguments as all else is said, since it repeats them; and what may have been meant."""

    _given: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does; what was given is kept for messages."""
        self._given = list(args or ())
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Exit with a message, which says what an option may have been meant to be that the command does not take."""
        commands = command_parsers(self) if self._subparsers else {}
        taking = next((commands[word] for word in self._given if word in commands), self)
        known = list(taking._option_string_actions)  # argparse has no public way to them
        words = (word.partition("=")[0] for word in self._given if word.startswith("--"))
        unknown = [word for word in words if not any(name.startswith(word) for name in known)]
        super().error(message + "".join(dict.fromkeys(_did_you_mean(word, known) for word in unknown)))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            names = [str(name) for name in action.choices]
            said = f"found {cut_line(str(value), 80)!r}, expected one of {', '.join(names)}"
            raise argparse.ArgumentError(action, said + _did_you_mean(str(value), names))

    def _print_message(self, message: str, file: "SupportsWrite[str] | None" = None) -> None:
        super()._print_message(harmless(message), file)


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser of the whole command line; `run` names the command that was given.

    Where the first of `words` is a command, it knows that one alone: to make those of all takes 7 ms.
    """
    is_one = bool(words) and words[0] in COMMANDS
    whole = _Parser(
        prog="memosite",
        description="Turns the memos, notes and transcripts in git repos, and the session logs of coding agents "
        "(Claude Code, Codex, SpecStory, Entire, aider, Gemini CLI), into an archive to browse.",
        epilog="Each command has --help with an example.",
        formatter_class=_Help,
    )
    if not is_one:
        whole.add_argument_group(SHARED, _help_of_all())
    # `is_tool` is set by the server for language models; the others are what a command lacks that does not take them
    whole.set_defaults(is_tool=False, site=None, base_url=None)
    whole.add_argument("--version", action="version", version=f"memosite {__version__}")
    added = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (COMMANDS[words[0]],) if is_one else COMMANDS.values():
        one = added.add_parser(
            command.name,
            help=command.what,
            description=command.what[0].upper() + command.what[1:] + ".",
            epilog=f"example:\n  {command.example}",
            formatter_class=partial(_Help, hidden=(hidden := [])),
        )
        one.set_defaults(run=command.name)
        names = ", ".join(option.names[0] for option in OF_ALL if option in (_QUIET, *command.options))
        shared = one.add_argument_group(SHARED, f"{names}: see memosite --help")
        for option in (_QUIET, *command.options):
            is_shared = option in OF_ALL
            action = (shared if is_shared else one).add_argument(*option.names, help=option.help, **option.settings)
            if is_shared:
                hidden.append(action)
    return whole


def _help_of_all() -> str:
    """What the options are that all commands take."""
    shared = argparse.ArgumentParser(usage=argparse.SUPPRESS, add_help=False)
    for option in OF_ALL:
        shared.add_argument(*option.names, help=option.help, **option.settings)
    return dedent(shared.format_help().partition("\n")[2]).rstrip()


def command_parsers(whole: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, by its name; argparse has no public way to them."""
    [commands] = (action for action in whole._actions if isinstance(action, argparse._SubParsersAction))
    return dict(commands.choices)


_FOLDERS, _FILES = frozenset({"DIR", "SITE", "SITE|URL", "DIR|URL"}), frozenset({"FILE", "FEED", "PATH", "FILE|SITE"})
"""The names of arguments that are completed with folders, and those with files."""


def run(options: argparse.Namespace, show: Tell, _say: Tell) -> None:
    """Print the script for the shell that the command line names."""
    import shtab  # noqa: PLC0415 - takes 40 ms, which each command would feel

    whole = parser()
    for command in command_parsers(whole).values():
        for action in command._actions:  # argparse has no public way to them
            if action.metavar in _FOLDERS | _FILES:
                is_folder = action.metavar in _FOLDERS
                action.complete = shtab.DIRECTORY if is_folder else shtab.FILE  # type: ignore[attr-defined]
    show(str(shtab.complete(whole, shell=options.shell)).rstrip("\n"))
