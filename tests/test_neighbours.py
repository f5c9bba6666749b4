"""Previous and next of an artifact in the list that a reader pages through."""

from pathlib import Path

import pytest
from lxml import html

from tests.support.files import write_text
from tests.support.memos import write_memo, write_note, write_org, write_transcript
from tests.support.sites import build_site, built_from_nothing, file_states, tree_bytes

NAMES = [f"2026-05-{day:02}-0900--engineer--director--step-{day}" for day in range(1, 8)]
DAYS = ("2026-05-20", "2026-05-21", "2026-05-22")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site folder with lists of each kind; memos to others are between those to the director."""
    folder = tmp_path_factory.mktemp("lists")
    write_org(folder, positions=("director", "engineer", "pilot"))
    inbox = folder / "memos/inbox"
    for number, name in enumerate(NAMES, 1):
        write_memo(inbox, name, sent=f"2026-05-{number:02}T09:00:00Z")
    write_memo(inbox, "2026-05-03-1200--engineer--pilot--aside", to="pilot", sent="2026-05-03T12:00:00Z")
    for day in DAYS:
        write_note(folder / "notes/engineer", f"{day}-0900--engineer--file--log", sent=f"{day}T09:00:00Z")
        write_note(folder / "notes/pilot", f"{day}-0930--pilot--file--log", sender="pilot", sent=f"{day}T09:30:00Z")
        write_transcript(folder / "transcripts/engineer", f"{day}-0900--engineer--talk", started=f"{day}T09:00:00Z")
        write_text(folder / f"decisions/{day}-tides.md", f"# Tides of {day}\n\nText.\n")
    build_site(folder)
    return folder


def around(folder: Path, page: str) -> tuple[str | None, str | None, str]:
    """Where the links to what is before and after lead, and what is said of them."""
    tree = html.parse(folder / "_site" / page / "index.html").getroot()
    ways = []
    for way in ("prev", "next"):
        link = tree.find(f".//div[@class='text']/nav[@class='neighbours']//a[@rel='{way}']")
        target = None if link is None else (folder / "_site" / page / link.get("href")).resolve()
        assert target is None or target.is_file()
        ways.append(None if target is None else target.parent.name)
    nav = tree.find(".//div[@class='text']/nav[@class='neighbours']")
    return ways[0], ways[1], "" if nav is None else nav.get("aria-label").removeprefix("Before and after: ")


def test_each_list_is_paged_through_in_order_and_a_new_memo_changes_one_page(folder: Path) -> None:
    """From the first to the last, without what is in others, however many there are."""
    notes = [f"{day}-0900--engineer--file--log" for day in DAYS]
    lists = {
        "memo to director": ("memos", NAMES),
        "note of engineer": ("notes", notes),
        "transcript of engineer": ("transcripts", [f"{day}-0900--engineer--talk" for day in DAYS]),
    }
    for words, (kind, names) in lists.items():
        for before, name, after in zip([None, *names], names, [*names[1:], None], strict=False):
            assert around(folder, f"{kind}/{name}") == (before, after, words)
    documents = sorted(one.name for one in (folder / "_site/documents").iterdir())
    assert len(documents) == 3
    assert around(folder, f"documents/{documents[1]}")[:2] == (documents[0], documents[2])
    assert around(folder, "memos/2026-05-03-1200--engineer--pilot--aside") == (None, None, ""), "alone in its list"
    states = file_states(folder / "_site")
    new = "2026-05-09-0900--engineer--director--step-9"
    write_memo(folder / "memos/inbox", new, sent="2026-05-09T09:00:00Z")
    build_site(folder)
    later = file_states(folder / "_site")
    changed = {
        path.split("/")[1] for path, state in later.items() if path.startswith("memos/") and states.get(path) != state
    }
    assert changed == {NAMES[-1], new}
    assert around(folder, f"memos/{NAMES[-1]}")[1] == new and around(folder, f"memos/{new}")[0] == NAMES[-1]
    assert tree_bytes(folder / "_site") == built_from_nothing(folder, folder.parent / "again")
