"""An address that was published answers for ever, also those that only programs ask for (SPEC 4)."""

import json
import shutil
from pathlib import Path

from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.repos import Repo
from tests.support.sites import build_site, copy_example

ARTIFACTS = ("memos", "notes", "transcripts", "records", "documents", "libraries")


def twins(output: Path) -> set[str]:
    """The paths of the twins of all artifacts; those of lists go with what they list."""
    found = (path for folder in ARTIFACTS for path in (output / folder).rglob("index.*"))
    return {path.relative_to(output).as_posix() for path in found if path.suffix in {".json", ".md"}}


def test_twins_answer_when_what_they_were_of_is_removed(tmp_path: Path) -> None:
    """Of a repo that is not read any more: its memos, with replies and without, its transcripts and its records."""
    site = copy_example(tmp_path / "site")
    output = build_site(site)
    before = twins(output)
    shutil.rmtree(site / "website")
    shutil.rmtree(site / "governance/memories")
    write_text(site / "memosite.yml", "sources: [{path: governance}, {path: catalogue}, {path: reading-room}]\n")
    build_site(site)
    assert before - twins(output) == set()
    gone = [path for path in before if '"removed": true' in (output / path).read_text(encoding="utf-8")]
    assert any(path.startswith("records/memory-store/") for path in gone)
    assert any(path.startswith("memos/") for path in gone)


def test_a_twin_of_what_moved_leads_to_it(tmp_path: Path) -> None:
    """As of an entry of a list that is in another section now."""
    desk = tmp_path / "desk"
    write_text(desk / ".wyren/memory.md", "## Decisions\n- Oak it is [session ab, turn 1]\n")
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\n")
    repo = Repo(desk)
    repo.commit()
    output = build_site(tmp_path)
    (former,) = (output / "records/wyren").iterdir()
    write_text(desk / ".wyren/memory.md", "## Rejected paths\n- Oak it is [session ab, turn 1]\n")
    repo.commit()
    build_site(tmp_path)
    (now,) = (path for path in (output / "records/wyren").iterdir() if path != former)
    said = json.loads((former / "index.json").read_text(encoding="utf-8"))
    assert (former / said["moved"]).resolve() == now / "index.html"
    assert (
        (former / "index.md").read_text(encoding="utf-8").startswith("# Moved\n\nNow at [records/wyren/desk.rejected")
    )


def test_the_twin_of_what_was_removed_says_so(tmp_path: Path) -> None:
    """For people who read Markdown, in words."""
    memo = write_memo(tmp_path / "desk/memos", "2026-05-02-0900--b--a--two")
    write_memo(tmp_path / "desk/memos", "2026-05-03-0900--b--a--three")
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\n")
    output = build_site(tmp_path)
    memo.unlink()
    build_site(tmp_path)
    text = (output / f"memos/{memo.stem}/index.md").read_text(encoding="utf-8")
    assert text == "# Removed\n\nThis item was removed.\n"
