"""The arguments of the commands for AI sessions: `brief`, `inbox`, `show`, `thread`, `reply`, `new` (SPEC 8)."""

import argparse
from collections.abc import Callable
from typing import Final

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
