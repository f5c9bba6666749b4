"""A checkpoint branch of Entire is a source: one session in several checkpoints is one transcript (SPEC 2.2)."""

import hashlib
import json
from pathlib import Path

import pytest

from memosite.archive.model import Transcript
from memosite.cli import main
from tests.support.archives import read_folders
from tests.support.files import write_text
from tests.support.session_logs import SESSION, Step, claude_code

KEY = "AKIA" + "Z7QH3XWMK2TPLV5D"
STEPS: list[Step] = [
    ("person", "Which gate leaks?"),
    ("assistant", "The north one."),
    ("person", "Oil it."),
    ("assistant", "It is oiled."),
]


def keep(branch: Path, checkpoint: str, log: str, *, at: str, start: int = 0, session: str = SESSION) -> None:
    """Write a checkpoint, as Entire does on its branch."""
    folder = branch / checkpoint[:2] / checkpoint[2:]
    write_text(folder / "metadata.json", json.dumps({"checkpoint_id": checkpoint, "sessions": []}))
    said = {"checkpoint_id": checkpoint, "session_id": f"2026-05-01-{session}", "created_at": at}
    write_text(folder / "0/metadata.json", json.dumps({**said, "checkpoint_transcript_start": start}))
    write_text(folder / "0/full.jsonl", log)
    write_text(folder / "0/content_hash.txt", f"sha256:{hashlib.sha256(log.encode()).hexdigest()}\n")


def session(branch: Path) -> Transcript:
    """The only session of a branch."""
    (found,) = (one for one in read_folders(branch).artifacts.values() if isinstance(one, Transcript))
    return found


def test_checkpoints_of_a_session_are_one_transcript_whether_they_repeat_it_or_go_on(tmp_path: Path) -> None:
    """Its address and the digests of its turns are those of the whole log."""
    whole = claude_code(STEPS)
    lines = whole.splitlines(keepends=True)
    known = {}
    for name, first, second in (("repeated", lines[:2], lines), ("slices", lines[:2], lines[2:])):
        keep(tmp_path / name, "0a1b2c3d4e5f", "".join(first), at="2026-05-01T10:00:00Z")
        begun = session(tmp_path / name)
        keep(tmp_path / name, "1a1b2c3d4e5f", "".join(second), at="2026-05-01T11:00:00Z", start=2)
        found = session(tmp_path / name)
        assert begun.log and found.log and found.id == begun.id == f"2026-05-01-0900--claude-code--{SESSION}"
        assert found.log.prints.startswith(begun.log.prints) and found.log.people == 2
        assert found.log.checkpoints == ((1, "0a1b2c3d4e5f"), (3, "1a1b2c3d4e5f"))
        known[name] = found.log.prints
    assert known["repeated"] == known["slices"]


def test_a_turn_of_a_checkpoint_is_cited_with_the_file_and_the_line_that_have_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that anybody can hash the line there."""
    lines = claude_code(STEPS).splitlines(keepends=True)
    keep(tmp_path / "app", "0a1b2c3d4e5f", "".join(lines[:2]), at="2026-05-01T10:00:00Z")
    keep(tmp_path / "app", "1a1b2c3d4e5f", "".join(lines[2:]), at="2026-05-01T11:00:00Z", start=2)
    write_text(tmp_path / "memosite.yml", "sources: [{path: app}]\n")
    ref = session(tmp_path / "app").id
    for anchor, file, line in (("t2", "0a/1b2c3d4e5f", 2), ("t4", "1a/1b2c3d4e5f", 2)):
        assert main(["cite", f"transcript/{ref}#{anchor}", "--json", "--site", str(tmp_path)]) == 0
        said = json.loads(capsys.readouterr().out)
        where = said[0] if isinstance(said, list) else said
        assert where["file"] == f"app/{file}/0/full.jsonl" and where["lines"] == [line, line]


def test_a_secret_in_a_checkpoint_withholds_its_turn_and_a_wrong_hash_is_a_finding(tmp_path: Path) -> None:
    """The other turns stay."""
    steps = [*STEPS[:3], ("assistant", f"It is {KEY} now.")]
    keep(tmp_path, "0a1b2c3d4e5f", claude_code(steps), at="2026-05-01T10:00:00Z")
    write_text(tmp_path / "0a/1b2c3d4e5f/0/content_hash.txt", f"sha256:{'0' * 64}\n")
    found = session(tmp_path)
    assert found.log and found.log.withheld == 1 and found.log.people == 2
    rules = {finding.rule.id for finding in read_folders(tmp_path).findings}
    assert {"secret-withheld", "session-hash"} <= rules
