"""`check FILE` and `show FILE` of session logs that are in no archive, and what a build says of logs that it leaves."""

from pathlib import Path

import pytest

from memosite.cli import main
from tests.support.files import write_text
from tests.support.session_logs import FORMS, aider

STEPS = (("person", "Which cask leaks?"), ("assistant", "The third one."), ("call", "Bash", "ls casks", "one two"))
LONG = tuple((who, "Oak and iron. " * 40) for _ in range(6) for who in ("person", "assistant"))
Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("form", FORMS)
def test_a_log_is_checked_and_shown_by_its_file(form: str, tmp_path: Path, capsys: Capture) -> None:
    """Wherever it is, without a site; further commands name the file, as it is in no archive."""
    place, write = FORMS[form]
    log = write_text(tmp_path / Path(place.format("log")).name, write(STEPS))
    assert main(["check", str(log)]) == 0
    assert "error" not in capsys.readouterr().out.replace("0 errors", "")
    assert main(["show", str(log), "--site", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "“Which cask leaks?”" in said and "The third one." in said
    assert main(["show", f"{log}#t2", "--site", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "The third one." in said and "#t1" not in said
    assert main(["show", str(write_text(log, write((*STEPS, *LONG)))), "--budget", "400"]) == 0
    assert f"memosite show {log} --turns" in capsys.readouterr().out


def test_of_a_file_of_several_sessions_one_is_named(tmp_path: Path, capsys: Capture) -> None:
    """Behind `#`, by the beginning of its id."""
    log = write_text(tmp_path / "history.md", aider(STEPS) + aider(STEPS, "2710").replace("third", "fourth"))
    assert main(["show", str(log)]) == 2
    told = capsys.readouterr().err
    assert "found 2 sessions in that file: #2026-05-01-" in told and "write one behind it" in told
    assert main(["show", f"{log}#2026-05-01-0246"]) == 0
    assert "The fourth one." in capsys.readouterr().out


def test_a_file_that_is_no_log_is_said_to_be_none(tmp_path: Path, capsys: Capture) -> None:
    """Both commands end as for any other file that they do not read."""
    file = write_text(tmp_path / "notes.jsonl", '{"a": 1}\n')
    assert main(["check", str(file)]) == 2
    assert "found no memo, note, transcript, session log," in capsys.readouterr().err
    assert main(["show", str(file), "--site", str(tmp_path)]) == 2


def test_a_build_says_which_logs_it_leaves_and_what_reads_them(tmp_path: Path, capsys: Capture) -> None:
    """A repo with the folder of a tool alone is a site without an item; the line that helps is told."""
    write_text(tmp_path / ".claude/projects/a/log.jsonl", FORMS["claude-code"][1](STEPS))
    assert main(["build", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "read      nothing from 1 source" in said
    assert "1 session log of claude-code not read: sessions: true in memosite.yml reads them" in said
    write_text(tmp_path / "memosite.yml", "sessions: true\n")
    assert main(["build", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "read      1 transcript from 1 source" in said and "not read" not in said
