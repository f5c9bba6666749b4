"""What the participants of a conversation wrote meanwhile."""

from typing import Any

from memosite.facts.times import read_moment
from memosite.plan.during import find_written
from tests.support.facts import archive_of, envelope, transcript


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


def test_what_was_sent_between_start_and_end_counts_with_both() -> None:
    """In the order of dates, whatever the order of files."""
    memos = [at(clock) for clock in ("16:01", "16:00", "15:00", "14:00", "13:59")]
    assert written(*memos) == ["at-1400", "at-1500", "at-1600"]


def test_only_what_a_participant_sent_counts() -> None:
    """Not what came to one, and nobody's twice."""
    memos = [
        at("15:00", "from-engineer", to="director"),
        at("15:10", "to-engineer", sender="strategist", to="engineer"),
        at("15:20", "from-director", sender="director", to="engineer"),
    ]
    assert written(*memos) == ["from-engineer"]
    assert written(*memos, positions=("engineer", "director", "engineer")) == ["from-engineer", "from-director"]


def test_a_date_that_only_a_name_tells_does_not_count() -> None:
    """It has no hour."""
    assert written(envelope("2026-05-01-1500--engineer--director--guess", sent="")) == []


def test_nothing_counts_while_the_end_is_not_known_or_lies_before_the_start() -> None:
    """Neither is an error."""
    assert written(at("15:00"), ended=None) == []
    assert written(at("15:00"), ended=read_moment("2026-05-01T13:00:00Z")) == []
