"""An address that was published answers for ever, also those that only programs ask for (SPEC 4)."""

import json
import shutil
from pathlib import Path

from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.sites import build_site, copy_example


def twins(output: Path) -> set[str]:
    """The paths of all twins."""
    return {path.relative_to(output).as_posix() for path in output.rglob("index.*") if path.suffix in {".json", ".md"}}


def test_twins_answer_when_what_they_were_of_is_removed(tmp_path: Path) -> None:
    """Of a repo that is not read any more: its memos, threads, positions and records."""
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
    assert any(path.startswith("threads/") for path in gone)


def test_a_twin_of_what_moved_leads_to_it(tmp_path: Path) -> None:
    """A thread that is one memo now is that memo's page."""
    desk = tmp_path / "desk/memos"
    write_memo(desk, "2026-05-01-0900--a--b--one")
    reply = write_memo(
        desk, "2026-05-02-0900--b--a--two", sender="b", in_reply_to="2026-05-01-0900--a--b--one.openthing"
    )
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\n")
    output = build_site(tmp_path)
    thread = output / "threads/2026-05-01-0900--a--b--one"
    assert json.loads((thread / "index.json").read_text(encoding="utf-8"))["total"] == 2
    reply.unlink()
    build_site(tmp_path)
    said = json.loads((thread / "index.json").read_text(encoding="utf-8"))
    assert (thread / said["moved"]).resolve() == output / "memos/2026-05-01-0900--a--b--one/index.html"
    text = (output / "memos/2026-05-02-0900--b--a--two/index.md").read_text(encoding="utf-8")
    assert text == "# No longer here\n\nThis was published here, and is not in the archive any more.\n"
