"""What the participants of a conversation wrote meanwhile."""

from pathlib import Path
from typing import Any

import pytest
from lxml import html

from memosite.facts.times import read_moment
from memosite.plan.indexes import find_written
from tests.support.archives import read_folders, transcript_of
from tests.support.facts import archive_of, envelope, transcript
from tests.support.memos import write_memo, write_transcript
from tests.support.pages import found
from tests.support.sites import build_site


def written(*memos: Any, positions: tuple[str, ...] = ("engineer",), **fields: Any) -> list[str]:
    """The ids of what was written during a conversation from two to four o'clock, unless it is said otherwise."""
    known = {"sent": "2026-05-01T14:00:00Z", "ended": read_moment("2026-05-01T16:00:00Z")} | fields
    archive = archive_of(transcript("talk", positions=positions, **known), *memos)
    found = find_written(archive.artifacts.values())
    assert set(found) <= {("transcript", "talk")}
    return [id_ for _, id_ in found.get(("transcript", "talk"), ())]


def at(clock: str, stem: str = "", **fields: Any) -> Any:
    """A memo of the engineer that was sent at this time."""
    return envelope(stem or f"at-{clock.replace(':', '')}", sent=f"2026-05-01T{clock}:00Z", **fields)


def test_only_what_a_participant_sent_counts() -> None:
    """Between start and end, with both; not what came to one, and nobody's twice."""
    memos = [at(clock) for clock in ("16:01", "16:00", "15:00", "14:00", "13:59")]
    assert written(*memos) == ["at-1400", "at-1500", "at-1600"]
    assert written(envelope("2026-05-01-1500--engineer--director--guess", sent="")) == []
    assert written(at("15:00"), ended=None) == []
    assert written(at("15:00"), ended=read_moment("2026-05-01T13:00:00Z")) == []
    memos = [
        at("15:00", "from-engineer", to="director"),
        at("15:10", "to-engineer", sender="strategist", to="engineer"),
        at("15:20", "from-director", sender="director", to="engineer"),
    ]
    assert written(*memos) == ["from-engineer"]
    assert written(*memos, positions=("engineer", "director", "engineer")) == ["from-engineer", "from-director"]


def turns(*stamps: str) -> str:
    """A body whose turns have these stamps."""
    return "".join(f"---\n\n## 🧑 User <sub>{stamp}</sub>\n\nHello.\n\n" for stamp in stamps)


def listed(repo: Path, text: str, *, sent: tuple[str, ...], **fields: object) -> list[str]:
    """Build a transcript that begins at 14:30 UTC, and memos of these times; the memos that its page lists."""
    write_transcript(repo / "transcripts/engineer", "talk", text=text, **{"started": "2026-05-01T14:30:00Z"} | fields)
    for time in sent:
        write_memo(repo / "memos", f"at-{time.replace(':', '')}", sent=f"2026-05-01T{time}Z")
    page = build_site(repo, output=repo.parent / "out") / "transcripts/talk/index.html"
    heading = "//h2[text()='Written during this session']"
    return [href.split("/")[-2] for href in found(html.parse(page), f"{heading}/..//a[@class='subject']/@href")]


def test_without_an_end_the_last_turn_is_the_end(tmp_path: Path) -> None:
    """By its stamp in local time, that second included; a stated end counts more."""
    text = turns("5/1/2026, 4:30:00 PM", "5/1/2026, 5:00:00 PM", "5/1/2026, 6:10:05 PM")
    sent = ("14:29:59", "14:30:00", "15:59:00", "16:10:05", "16:10:06")
    assert listed(tmp_path / "repo", text, sent=sent) == ["at-143000", "at-155900", "at-161005"]
    text = turns("5/1/2026, 2:30:00 PM", "5/1/2026, 5:00:00 PM")
    assert listed(tmp_path / "two/repo", text, sent=("15:30:00", "16:30:00"), ended="2026-05-01T16:00:00Z") == [
        "at-153000"
    ]


@pytest.mark.parametrize("text", ["## User\n\nHello.\n", "No turns.\n", "", turns("5/1/2026, 2:37:00 PM")])
def test_without_a_time_of_the_last_turn_nothing_is_listed(text: str, tmp_path: Path) -> None:
    """A body without stamps, without turns, no body, and stamps that fit no time zone tell no end."""
    assert listed(tmp_path / "repo", text, sent=("14:35:00",)) == []


def test_a_list_that_a_page_cannot_hold_is_counted(tmp_path: Path) -> None:
    """A stamp may be years later: then the page shows the first 500, and stays under 1 MB."""
    sent = [f"{hour}:{minute:02d}:{second:02d}" for hour in (15, 16) for minute in range(60) for second in range(5)]
    text = turns("5/1/2026, 2:30:00 PM", "5/1/2027, 2:30:00 PM")
    shown = listed(tmp_path / "repo", text, sent=tuple(sent))
    assert (shown[0], shown[-1], len(shown)) == ("at-150000", "at-163904", 500)
    assert "Showing the first 500 of 600." in (tmp_path / "out/transcripts/talk/index.html").read_text(encoding="utf-8")


def test_the_last_turn_is_the_same_that_the_page_shows(tmp_path: Path) -> None:
    """Also when the clocks went back, and with an offset as the envelope has it."""
    text = turns("2026-10-25 02:30:00", "2026-10-25 02:50:00", "2026-10-25 02:10:00", "2026-10-25 04:00:00")
    write_transcript(tmp_path / "repo/transcripts/engineer", "talk", text=text, started="2026-10-25T02:30:00+02:00")
    last = transcript_of(read_folders(tmp_path / "repo"), "talk").last_turn
    assert last is not None and (last.utc, last.zone) == ("2026-10-25T03:00:00Z", "+02:00")
    page = build_site(tmp_path / "repo", output=tmp_path / "out") / "transcripts/talk/index.html"
    assert found(html.parse(page), "//section[@id='t4']//time/@datetime") == [last.utc]
