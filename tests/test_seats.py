"""What tables and lists are summed up from: found by fewer looks, it is what a look at everything would find."""

import datetime as dt
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.archive.history import LifeEvent
from memosite.archive.mailboxes import open_for
from memosite.archive.model import Archive, Artifact, Life, Memo
from memosite.config.loading import load_config
from memosite.config.schema import FeedsConfig
from memosite.facts.parsed import Ref
from memosite.facts.times import Moment
from memosite.facts.values import replace
from memosite.pages import Site
from memosite.plan.context import Context
from memosite.plan.dates import newest, newest_first
from memosite.plan.feeds import Arranged, position_channel, window
from memosite.plan.home import last_movements
from memosite.plan.organization import seat_row
from memosite.plan.positions import involving, received, unknown_reading
from memosite.plan.traced import TracedRead, traced
from tests.support.archives import read_folders
from tests.support.facts import archive_of, envelope
from tests.support.memos import write_memo, write_note, write_org
from tests.support.sites import EXAMPLE, EXAMPLE_SOURCES

NAMES = ("engineer", "director", "tester", "x-org/engineer", "y-org/engineer", "all", "somebody")
BOXES = ("inbox", "read", "archive", "flat")


def drawn_archive(folder: Path, seed: int) -> Archive:
    """Memos at random between two organizations that share a seat, in three repos; some are copied, some answered."""
    chance = random.Random(seed)
    repos = [folder / name for name in ("x-org", "y-org", "tester")]
    write_org(repos[0] / "org", "x-org", positions=["engineer", "director"])
    write_org(repos[1] / "org", "y-org", positions=["engineer", "tester"])
    names: list[str] = []
    for number in range(60):
        sender, to = chance.choice(NAMES[:5]), chance.sample(NAMES, chance.randint(1, 3))
        name = f"2026-05-{1 + number // 3:02d}-09{number:02d}--someone--{'all' if 'all' in to else 'other'}--m-{number}"
        sent = None if number % 9 == 0 else f"2026-05-{chance.randint(1, 28):02d}T09:00:00Z"
        parent = chance.choice(names) if names and chance.random() < 0.4 else None
        for repo in chance.sample(repos, chance.randint(1, 3)):
            write_memo(
                repo / "memos" / chance.choice(BOXES).replace("flat", ""), name, sender=sender, to=to, sent=sent,
                action_required=number % 2 == 0, in_reply_to=parent,
            )  # fmt: skip
        names.append(f"{name}.openthing")
    write_note(repos[0] / "notes", "2026-05-02-0900--engineer--file--n", sender="engineer")
    return read_folders(*repos)


@pytest.fixture(scope="module", params=["example", 1, 2, 3, 4, 5])
def context(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    """The demonstration, and archives at random."""
    if request.param == "example":
        archive = read_folders(*EXAMPLE_SOURCES, aliases=load_config(EXAMPLE).aliases)
    else:
        archive = drawn_archive(tmp_path_factory.mktemp("drawn"), request.param)
    yield context_of(archive)


def context_of(archive: Archive, **rules: int) -> Context:
    """What pages are planned with."""
    site = Site(title="T", language="en", base_url=None, generator="g", has_records=False)
    return Context(archive=archive, site=site, text_of=lambda _: "", feeds=FeedsConfig(**rules))  # type: ignore[arg-type] # numbers alone


def test_the_drawn_archives_have_what_is_counted(tmp_path: Path) -> None:
    """Else the next test would tell nothing: a union of seats in two repos, memos to all that somebody has not read."""
    context = context_of(drawn_archive(tmp_path, 1))
    assert [one.id for one in context.archive.positions.values() if one.union_of] == ["engineer"]
    assert any(memos for memos in context.seats.unread_broadcasts.values())
    assert any(seat_row(context, "", one).open_to for one in context.archive.positions.values())
    assert any(memo.owed_by and memo.is_broadcast for memo in context.memos)


def test_a_seat_is_summed_up_and_receives_as_by_looking_at_everything(context: Context) -> None:
    """Unions of seats, memos to all, those that a seat sent itself or got, once and in order, some without date."""
    for position in context.archive.positions.values():
        memos = [one for one in involving(context, position) if isinstance(one, Memo) and one.kind == "memo"]
        members = {position.id, *position.union_of}
        sent = [memo for memo in memos if memo.sender_position in members]
        unread = [memo for memo in received(context, position) if context.is_unread(memo, position.id)]
        last = max((memo for memo in sent if memo.date), key=lambda memo: memo.sort_key, default=None)
        oldest = min((memo for memo in unread if memo.date), key=lambda memo: memo.sort_key, default=None)
        row = seat_row(context, "org/", position)
        expected = len(unread), sum(open_for(memo, members) for memo in memos), sum(bool(memo.owed_by) for memo in sent)
        assert (row.unread, row.open_to, row.open_from) == expected
        assert row.is_unread_known == (bool(unread) or not unknown_reading(context, position))
        assert (row.last_sent, row.oldest_unread) == (last and last.date, oldest and oldest.date)
        addressed = members | {"all"}
        assert received(context, position) == [
            memo
            for memo in context.archive.memos()
            if (memo.kind == "memo" and memo.is_broadcast) or {one.position for one in memo.recipients} & addressed
        ]


def document(number: int, day: int | None) -> Artifact:
    """A document that arrived so, of a day."""
    date = None if day is None else Moment(instant=dt.datetime(2026, 5, day, tzinfo=dt.UTC), offset=0)
    return Artifact(
        kind="document", id=f"d{number % 7}", system="documents", subject="", short_subject="", summary="", chars=0,
        date=date, arrival=number, copies=(),
    )  # fmt: skip


@given(st.lists(st.none() | st.integers(1, 28), max_size=60), st.integers(1, 8))
def test_the_newest_of_a_list_are_the_first_of_all_in_order(days: list[int | None], limit: int) -> None:
    """However the list is ordered; of one day the later id comes first, and what has no date last."""
    artifacts = [document(number, day) for number, day in enumerate(days)]
    assert newest(artifacts, limit) == newest_first(artifacts)[:limit]


@pytest.mark.parametrize("days", [0, 3, 40])
def test_a_window_of_days_is_that_of_a_look_at_all_times(tmp_path: Path, days: int) -> None:
    """Times of arrival never go back: so those of older memos are not even read, and nothing depends on them."""
    for number in range(120):
        sent = dt.datetime(2026, 1, 1, tzinfo=dt.UTC) + dt.timedelta(hours=8 * number)
        name = f"{sent:%Y-%m-%d-%H%M}--engineer--director--memo-{number}"
        write_memo(tmp_path / "repo/memos/read", name, sent=None if number % 10 == 0 else sent.isoformat())
    context = context_of(read_folders(tmp_path / "repo"), window=10, days=days)
    channel = position_channel(context, context.archive.positions["director"])
    arranged = Arranged(channel=channel, full=(tuple(one.ref for one in channel.members[:100]),), held=(1,), rest=())
    times = context.arrival_times
    since = max(times.values()) - dt.timedelta(days=days)
    late = {one.ref for one in channel.members if one.ref in times and times[one.ref] >= since}
    held = channel.members[:100]
    reads: set[TracedRead] = set()
    found = window(traced(context, reads), arranged, held)
    assert found == [one for one in held if one.ref in late or one in held[-50:]]
    assert sum(name == "arrival_times" for name, _ in reads) <= len(late) + 1


@pytest.mark.parametrize("seed", range(5))
def test_the_last_movements_are_found_among_all(seed: int) -> None:
    """Newest first; of what happened at one time in one file, what is told first, as a sort of all would have it."""
    chance = random.Random(seed)
    memos = archive_of(*(envelope(f"m-{number}", source=f"repo-{number % 3}") for number in range(200))).memos()
    every: list[tuple[dt.datetime, str, str, str]] = []
    moved: dict[Ref, Artifact] = {}
    for memo in memos:
        events = []
        for number in range(chance.randint(0, 3)):
            instant = dt.datetime(2026, 5, 1, chance.randint(0, 23), tzinfo=dt.UTC)
            path, who = chance.choice(("a", "b")), f"{memo.id} {number}"
            moment = Moment(instant=instant, offset=0)
            events.append(LifeEvent(kind="received", at=moment, who=who, commit="", path=path))
            every.append((instant, memo.copies[0].file.source, path, who))
        moved[memo.ref] = replace(memo, copies=(replace(memo.copies[0], life=Life(events=tuple(events))),))
    every.sort(key=lambda one: one[:3], reverse=True)
    context = context_of(replace(archive_of(), artifacts=moved))
    assert [event.who for _, _, event, _ in last_movements(context)] == [who for _, _, _, who in every[:30]]
