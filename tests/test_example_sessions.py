"""The sessions of the demonstration, in the repos of `scripts/example-repos`: tied to commits, notes and records."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memosite.archive.model import Archive, Transcript
from memosite.cli import main
from memosite.config.loading import load_config
from memosite.reading.archive import open_archive
from tests.support.files import ROOT

COUNTY = "2026-04-30-1251--claude-code--b83f1c09-6e2d-47a5-9c10-d5f40a7be316"
COUNTING = "2026-05-06-1412--specstory--6d1f0b7a-92c3-4e58-8a04-c7e95b13d6f2"
LISTS = "2026-04-29-1406--aider--reading-room.2026-04-29T14-06-31"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demonstration with real repos."""
    folder = tmp_path_factory.mktemp("sessions") / "example-org"
    subprocess.run([sys.executable, ROOT / "scripts/example-repos", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def archive(site: Path) -> Iterator[Archive]:
    """What is read there."""
    with open_archive(load_config(site)) as handle:
        yield handle.read()[0]


def session(archive: Archive, id_: str) -> Transcript:
    """A session by its id."""
    found = archive.artifacts["transcript", id_]
    assert isinstance(found, Transcript) and found.log
    return found


def test_the_three_most_common_forms_are_there(archive: Archive) -> None:
    """Each is its repo's position's; the subagent has its parent; the run without a turn is none."""
    logs = {
        ref[1]: (one.log.system, one.role)
        for ref, one in archive.artifacts.items()
        if isinstance(one, Transcript) and one.log
    }
    helper = COUNTY.replace("1251", "1320") + ".agent-a7c1e52"
    assert logs == {
        COUNTY: ("claude-code", "catalogue-engineer"),
        helper: ("claude-code", "catalogue-engineer"),
        COUNTING: ("specstory", "web-engineer"),
        LISTS: ("aider", "archivist"),
    }
    assert session(archive, helper).parent == ("transcript", COUNTY)


def test_hashes_that_logs_tell_are_those_of_the_commits(archive: Archive) -> None:
    """If one is missing here, something before it in `example-org` was edited: write the new hash into the log."""
    printed = {
        (id_, one.ordinal): (one.source, one.subject)
        for id_ in (COUNTY, COUNTING, LISTS)
        for one in session(archive, id_).commits
        if one.how == "printed"
    }
    assert printed == {
        (COUNTY, 6): ("catalogue", "Map 952 to 852 for the county"),
        (COUNTING, 8): ("website", "Count open days, and say the weekday"),
        (LISTS, 2): ("reading-room", "feat: turn the typed list of an album into one field 505"),
        (LISTS, 6): ("reading-room", "fix: number the pictures from 1"),
    }


def test_what_the_session_wrote_is_tied_to_it_and_its_commits_name_it(archive: Archive) -> None:
    """A note and two records, which are in the repo as the log has them; the records name the session's id, too."""
    county = session(archive, COUNTY)
    assert [(ordinal, "/".join(ref)) for ordinal, ref in county.wrote] == [
        (17, "note/2026-05-01-1015--catalogue-engineer--file--the-county-file-and-field-852"),
        (17, "record/catalogue.handoffs.after-the-county-file"),
        (21, "record/catalogue.interfaces.holds-gateway"),
    ]
    assert sorted(one.subject for one in county.commits if one.how == "trailer") == [
        "add 2026-05-01-1015--catalogue-engineer--file--the-county-file-and-field-852.openthing",
        "add after-the-county-file.json",
        "add holds-gateway.json",
    ]


@pytest.mark.parametrize(
    ("place", "id_"),
    [("catalogue/tools/county_map.txt:2", COUNTY), ("website/form/open_days.py:20", COUNTING),
     ("reading-room/tools/list_to_505.py:17", LISTS)],
)  # fmt: skip
def test_why_a_line_is_there_names_the_session_and_the_turn(
    place: str, id_: str, site: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a line of each program that a session wrote."""
    monkeypatch.chdir(site)
    assert main(["why", place]) == 0
    said = capsys.readouterr().out
    assert f"transcript/{id_}" in said and "made the commit: memosite show" in said
