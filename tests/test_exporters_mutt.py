"""Exports as mail in mutt: its index shows the threads of the archive, and what is new, open and answered."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.exports import HOSTILE, export_mail
from tests.support.memos import write_memo
from tests.support.terminal import Terminal

MUTTRC = """\
set ascii_chars
set sort=threads
set index_format="%C|%Z|%F|%s"
set status_format="READY %m"
set folder="."
set record=""
set mbox=""
set sleep_time=0
unset beep
unset mark_old
"""


def shown_by_mutt(box: Path, *, count: int) -> list[str]:
    """Open a mailbox of so many messages in mutt, and give the lines of its index."""
    (box.parent / "muttrc").write_text(MUTTRC, encoding="utf-8")
    command = ["mutt", "-n", "-F", "muttrc", "-R", "-f", box.name]
    environment = {"HOME": str(box.parent), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    with Terminal(command, folder=box.parent, environment=environment) as terminal:
        shown = terminal.wait_for(
            lambda lines: f"READY {count}" in lines and sum("|" in line for line in lines) == count
        )
        terminal.press("x")
        assert terminal.finish() == 0
    return [line.strip() for line in shown if "|" in line]


def write_conversation(repo: Path) -> None:
    """Write a memo with replies, two memos under a ghost, and two memos that a thread id joins."""
    asks: dict[str, Any] = {"action_required": True}
    back: dict[str, Any] = {"sender": "director", "to": "engineer"}
    memo = write_memo(repo / "memos/read", "2026-05-01-0900--a--b--first", subject="First", **asks).stem
    reply: dict[str, Any] = {"in_reply_to": f"{memo}.openthing", "sent": "2026-05-01T10:00:00-04:00", **back}
    yes = write_memo(repo / "memos/read", "2026-05-01-1000--b--a--yes", subject="Yes", **reply).stem
    when = {"in_reply_to": f"{yes}.openthing", "sent": "2026-05-01T11:00:00-04:00", **asks}
    write_memo(repo / "memos/inbox", "2026-05-01-1100--a--b--when", subject="When?", **when)
    also: dict[str, Any] = {"in_reply_to": f"{memo}.openthing", "sent": "2026-05-01T16:00:00Z"}
    write_memo(repo / "memos/read", "2026-05-01-1200--a--b--also", subject="Grüße, 2", **also, **asks)
    for hour in (10, 11):
        lost: dict[str, Any] = {
            "in_reply_to": "2026-05-01-0900--x--y--lost.openthing",
            "sent": f"2026-05-02T{hour}:00:00Z",
        }
        write_memo(repo / "memos/read", f"2026-05-02-{hour}00--a--b--lost", subject=f"Lost {hour}", **lost)
    for hour in (10, 11):
        joined: dict[str, Any] = {"thread_id": "gates", "sent": f"2026-05-03T{hour}:00:00Z"}
        write_memo(repo / "memos/read", f"2026-05-03-{hour}00--a--b--gate", subject=f"Gate {hour}", **joined)


TREE = ["First", "|->Yes", "| `->When?", "`->Grüße, 2", "-->Lost 10", "`->Lost 11", "-->Gate 10", "`->Gate 11"]


@pytest.mark.parametrize("format_", ["mbox", "maildir"])
def test_mutt_shows_the_threads_and_what_is_new_open_and_answered(format_: str, tmp_path: Path) -> None:
    """The tree of the archive, drawn by a mail reader that has only the headers to go by."""
    write_conversation(tmp_path / "repo")
    export_mail(tmp_path / "repo", target=tmp_path / format_, format_=format_)
    shown = shown_by_mutt(tmp_path / format_, count=8)
    flags, senders, subjects = zip(*(line.split("|", 3)[1:] for line in shown), strict=True)
    assert subjects[0] == "First"
    assert list(subjects) == TREE
    assert senders[:3] == ("engineer", "director", "engineer")
    new = "N !" if format_ == "mbox" else "N"  # `new/` knows no flags
    assert [flag.strip() for flag in flags] == ["r", "", new, "!", "", "", "", ""]


@pytest.mark.parametrize("format_", ["mbox", "maildir"])
def test_mutt_reads_every_message_of_a_hostile_archive(format_: str, tmp_path: Path) -> None:
    """Nothing splits a message in two, ends the index, or writes over the screen."""
    for day, subject in enumerate(HOSTILE.values(), 1):
        fields: dict[str, Any] = {"sender": f"{subject[:40]},", "sent": f"2026-05-{day:02d}T09:00:00Z"}
        name = f"2026-05-{day:02d}-0900--a--b--odd"
        write_memo(tmp_path / "repo/memos/inbox", name, subject=subject, body=subject, **fields)
    export_mail(tmp_path / "repo", target=tmp_path / format_, format_=format_)
    shown = shown_by_mutt(tmp_path / format_, count=len(HOSTILE))
    assert [line.split("|")[0].strip() for line in shown] == [str(n) for n in range(1, len(HOSTILE) + 1)]
    assert shown[0].endswith("|one Bcc: everybody@example.org  and a body")
