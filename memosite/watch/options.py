"""Defines and parses the options of `memosite watch`."""

import argparse
import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memosite.watch.policy import Limit

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
