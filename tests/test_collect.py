"""Collecting: what counts, by where it lies, and that the order of reading does not matter (SPEC 2.2)."""

import pytest

from memosite.archive.model import SourceInfo
from memosite.facts import rules
from memosite.facts.findings import Finding, Location
from memosite.facts.parsed import Parsed
from memosite.resolve.identity import Collected, collect, memo_folders, operational_place
from tests.support.facts import envelope, organization, parsed_of

SOURCES = (SourceInfo(name="repo"), SourceInfo(name="other", include=("docs/comms/**/*.openthing",)))


def collected(*parsed: Parsed, is_loose: bool = False) -> Collected:
    """What is collected from two sources."""
    return collect(parsed, SOURCES, is_loose=is_loose)


@pytest.mark.parametrize(
    "path",
    [
        "memos/m.openthing",
        "memos/inbox/m.openthing",
        "team/a/memos/archive/m.openthing",
        "notes/engineer/m.openthing",
        "transcripts/engineer/m.openthing",
    ],
)
def test_envelopes_in_a_store_count(path: str) -> None:
    """The working root may lie below the repo's."""
    assert len(collected(parsed_of(envelope(path=path))).envelopes) == 1


@pytest.mark.parametrize("path", ["m.openthing", "docs/m.openthing", "memos.openthing", "handoffs/m.openthing"])
def test_envelopes_elsewhere_are_named_in_a_note(path: str) -> None:
    """And nothing else is said of them."""
    odd = Finding(rule=rules.FIELD_MISSING, location=Location(source="repo", path=path), message="x")
    found = collected(Parsed(source="repo", path=path, fact=envelope(path=path), findings=(odd,)))
    assert found.envelopes == ()
    assert [(finding.rule.id, finding.location.path) for finding in found.findings] == [("outside-convention", path)]


def test_loose_files_count_wherever_they_lie() -> None:
    """For checking single files."""
    assert len(collected(parsed_of(envelope(path="m.openthing")), is_loose=True).envelopes) == 1


def test_an_include_counts_in_its_own_source() -> None:
    """And not in another one."""
    there = parsed_of(envelope(path="docs/comms/a/m.openthing", source="other"))
    here = parsed_of(envelope(path="docs/comms/a/m.openthing"))
    assert [one.file.source for one in collected(there, here).envelopes] == ["other"]


def test_a_memo_location_counts_in_every_source() -> None:
    """An orgdef speaks for the whole organization."""
    org = parsed_of(organization(memo_locations=("<working_directory>/handoffs/inbox/",), source="other"))
    memo = parsed_of(envelope(path="a/handoffs/inbox/m.openthing"))
    found = collected(org, memo)
    assert len(found.envelopes) == 1 and found.memo_folders == ("handoffs",)


def test_an_organization_may_name_two_folders() -> None:
    """By an object with a convention and a path."""
    org = organization(memo_locations=("<repo>/handoffs/", "<repo>/memos/", "post"))
    assert memo_folders([org]) == ("handoffs", "post")


def test_an_included_folder_is_a_flat_store_of_memos() -> None:
    """A place in a store is what it is, included or not."""
    place = operational_place("docs/comms/m.openthing", memo_folders=(), include=("docs/comms/*",))
    assert place is not None and (place.store, place.folder, place.mailbox) == ("memos", "docs/comms", "flat")
    place = operational_place("notes/a/m.openthing", memo_folders=(), include=("notes/**",))
    assert place is not None and place.store == "notes"
    assert operational_place("docs/m.openthing", memo_folders=(), include=()) is None


def test_the_usual_folder_needs_no_saying() -> None:
    """`memos` itself, and organizations that say nothing."""
    assert memo_folders([organization(), organization(memo_locations=("<repo>/memos/",))]) == ()


def test_facts_stand_in_the_order_of_the_sources_then_of_the_paths() -> None:
    """Whatever the order in which they were read; unknown sources last."""
    found = [
        parsed_of(envelope("b", source="other")),
        parsed_of(envelope("b", source="unknown")),
        parsed_of(envelope("b")),
        parsed_of(envelope("a")),
    ]
    order = [("repo", "a"), ("repo", "b"), ("other", "b"), ("unknown", "b")]
    assert [(one.file.source, one.stem) for one in collected(*found).envelopes] == order
    assert [(one.file.source, one.stem) for one in collected(*reversed(found)).envelopes] == order


def test_findings_on_files_without_a_fact_are_kept() -> None:
    """A file too large has no more than that."""
    odd = Finding(rule=rules.FILE_TOO_LARGE, location=Location(source="repo", path="memos/m.openthing"), message="x")
    assert collected(Parsed(source="repo", path="memos/m.openthing", findings=(odd,))).findings == (odd,)
