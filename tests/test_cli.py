"""The command line as people and scripts use it: words, exit codes, help."""

import csv
import io
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from memosite.cli import main
from memosite.commands.report import plural
from memosite.facts.characters import printable_json
from tests.support.commands import command_line, run_command
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.sites import EXAMPLE
from tests.support.waiting import DEADLINE

COMMANDS = ("build", "serve", "check", "search", "export", "watch", "init")


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The example begins with the command itself."""
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"example:\n  memosite {command}" in capsys.readouterr().out


def test_no_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, and the usage on standard error."""
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "usage: memosite" in capsys.readouterr().err


def test_a_build_ends_with_a_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Read, written, findings, where to look."""
    assert main(["build", str(EXAMPLE), "-o", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == ["read", "written", "findings", "done"]
    assert "44 memos, 5 notes, 27 records, 2 transcripts" in said[0]
    assert said[3].endswith(str(tmp_path / "out/index.html"))


@pytest.mark.parametrize(("threshold", "code"), [("error", 1), ("warning", 1), ("never", 0)])
def test_a_build_fails_on_findings_only_when_asked_to(threshold: str, code: int, tmp_path: Path) -> None:
    """The site is built either way."""
    arguments = ["build", str(EXAMPLE), "-o", str(tmp_path / "out"), "--quiet", "--fail-on", threshold]
    assert main(arguments) == code
    assert (tmp_path / "out/index.html").exists()


def test_check_fails_on_errors_and_names_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    """File, line, what was found, the rule; the remedy below."""
    assert main(["check", str(EXAMPLE)]) == 1
    said = capsys.readouterr().out
    assert ':8: error: "sent" is "2026-04-XX", expected ISO 8601 [date-invalid]' in said
    assert "2 errors, 10 warnings, 2 notes" in said


def test_a_single_file_is_checked_wherever_it_lies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its body is sought beside it; ghosts and unlisted positions are nobody's business here."""
    clean = write_memo(tmp_path, "clean", in_reply_to="2026-01-01-0000--a--b--gone.openthing")
    broken = write_memo(tmp_path, "broken", body="", body_ref="gone.body.md")
    write_text(tmp_path / "whole.body.md", "text")
    whole = write_memo(tmp_path, "whole", body_ref="whole.body.md")
    assert main(["check", str(clean), str(whole), "--fail-on", "warning"]) == 0
    assert capsys.readouterr().out == "no findings\n"
    assert main(["check", str(broken)]) == 1
    assert {rule.split("]")[0] for rule in capsys.readouterr().out.split(" [")[1:]} == {
        "field-missing",
        "body-ref-missing",
    }


@pytest.mark.parametrize("name", ["draft.json", "bad.json"])
def test_a_file_that_is_not_read_is_not_called_fine(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such as a draft that `reply` printed: nothing was checked."""
    draft = write_text(
        tmp_path / name, '{"v": 1, "name": "x.openthing", "envelope": {}}' if name[0] == "d" else '{"a":'
    )
    assert main(["check", str(draft)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert f"{name}: not checked: found no memo" in told.err
    clean = write_memo(tmp_path, "clean")
    assert main(["check", str(clean), str(draft)]) == 0
    told = capsys.readouterr()
    assert told.out == "no findings\n"
    assert "not checked" in told.err


def test_what_another_tool_may_have_written_fails_no_hook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A hook passes each .openthing file; that it is not checked is said, also of a whole draft."""
    other = write_text(tmp_path / "draft.openthing", '{"v": 1, "name": "x.openthing", "envelope": {}}')
    assert main(["check", str(other)]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "draft.openthing: not checked" in told.err
    assert main(["check", str(other), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_markdown_is_said_to_be_checked_as_a_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is no memo."""
    assert main(["check", str(write_text(tmp_path / "README.md", "# Read me\n"))]) == 0
    assert "README.md: checked as a document alone" in capsys.readouterr().err


def test_a_mailbox_file_finds_its_body_in_the_sibling_mailbox(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in a site: the pair split over two mailboxes is a warning, not a missing body."""
    memo = write_memo(tmp_path / "memos/read", "m", body_ref="m.body.md")
    write_text(tmp_path / "memos/inbox/m.body.md", "text")
    assert main(["check", str(memo)]) == 0
    said = capsys.readouterr().out
    assert "body-split" in said
    assert "body-ref-missing" not in said


def test_a_folder_without_stores_is_checked_file_by_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Such as a folder of conformance fixtures."""
    write_memo(tmp_path / "conformance/valid", "a")
    write_memo(tmp_path / "conformance/invalid", "b", sent="soon")
    assert main(["check", str(tmp_path / "conformance")]) == 1
    assert "1 error, 0 warnings, 0 notes" in capsys.readouterr().out


@pytest.mark.parametrize("format_", ["json", "sarif"])
def test_check_speaks_to_machines(format_: str, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON that parses, with the same findings."""
    assert main(["check", str(EXAMPLE), "--format", format_, "--fail-on", "never"]) == 0
    value = json.loads(capsys.readouterr().out)
    findings = value if format_ == "json" else value["runs"][0]["results"]
    assert len(findings) == 14


def test_export_writes_a_line_for_each_artifact_that_can_be_read(tmp_path: Path) -> None:
    """88 of the example's 89: one file is broken."""
    target = tmp_path / "archive.jsonl"
    assert main(["export", "--site", str(EXAMPLE), "-o", str(target)]) == 0
    assert len(target.read_text().splitlines()) == 88


def test_export_goes_to_standard_output(tmp_path: Path) -> None:
    """For pipes; the reader may leave early, and the messages are the same."""
    done = run_command("export", "--format", "csv", folder=EXAMPLE)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert (done.returncode, len(rows)) == (0, 88)
    command = f"{sys.executable} -m memosite export --with-body | head -n 1"
    piped = subprocess.run(command, shell=True, cwd=EXAMPLE, capture_output=True, check=False)
    assert piped.stderr.decode() == done.stderr
    assert json.loads(piped.stdout)["v"] == 1
    assert list(tmp_path.iterdir()) == []


def test_a_maildir_needs_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    """A folder cannot go to standard output."""
    assert main(["export", "--site", str(EXAMPLE), "--format", "maildir"]) == 2
    assert "-o" in capsys.readouterr().err


def test_init_writes_a_file_that_builds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And says how to go on; a second init refuses."""
    write_memo(tmp_path / "repo/memos/inbox", "2026-05-01-1430--a--b--c")
    assert main(["init", str(tmp_path)]) == 0
    assert "memosite serve" in capsys.readouterr().out
    assert main(["build", str(tmp_path), "--quiet"]) == 0
    assert (tmp_path / "_site/memos/2026-05-01-1430--a--b--c/index.html").exists()
    assert main(["init", str(tmp_path)]) == 2


def test_the_number_of_processes_makes_no_difference_but_must_be_one(tmp_path: Path) -> None:
    """`--jobs 0` is a mistake."""
    assert main(["build", str(EXAMPLE), "-o", str(tmp_path / "out"), "--jobs", "0"]) == 2
    assert not (tmp_path / "out").exists()


def test_the_command_starts_without_importing_what_it_does_not_need() -> None:
    """Help is there at once: no template engine, no server."""
    heavy = {"jinja2", "livereload", "lxml", "tornado", "yaml"}
    code = f"import sys, memosite.cli; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_build_imports_nothing_for_the_network(tmp_path: Path) -> None:
    """It takes longer than to write the pages of a memo."""
    write_memo(tmp_path / "memos/inbox", "2026-05-01-1430--a--b--first")
    code = "import sys; from memosite.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    command = [sys.executable, "-c", code, "build", str(tmp_path), "--quiet", "--base-url", "https://example.org/"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert "memosite.plan.machine_archive" in loaded
    assert {"asyncio", "http.client", "ssl", "urllib.request", "whoosh"} & set(loaded) == set()


@pytest.mark.parametrize(
    ("noun", "number", "said"), [("memo", 1, "memo"), ("memo", 0, "memos"), ("library", 2, "libraries")]
)
def test_nouns_agree_with_their_numbers(noun: str, number: int, said: str) -> None:
    """One memo, two memos, two libraries."""
    assert plural(noun, number) == said


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_build_needs_no_standard_streams(tmp_path: Path, closed: str) -> None:
    """It builds, and what it says goes into no file that it opens."""
    write_memo(tmp_path / "memos/inbox", "2026-05-01-1430--a--b--first")
    command = shlex.join(command_line("build", tmp_path))
    assert subprocess.run(["sh", "-c", f"{command} {closed}"], check=False, timeout=5 * DEADLINE).returncode == 0
    assert (tmp_path / "_site/memos/2026-05-01-1430--a--b--first/index.html").is_file()
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"written   " in file.read_bytes()]


def test_json_holds_no_character_that_changes_a_terminal() -> None:
    """They are escaped as JSON has it, so that a parser reads them as they were."""
    value = {"subject": "red \x1b[31m \x9b31m \u202e \U000e0001 é 字 \U0001f600", "to": ["a\nb"]}
    text = printable_json(value, indent=1)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert "é 字 \U0001f600" in text
    assert json.loads(text) == value
    assert json.loads(printable_json("\udcff")) == "\ufffd"


def test_a_site_without_its_ledger_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once, since a new ledger is there afterwards; neither a new site nor one that was never written is warned of."""
    write_memo(tmp_path / "memos/inbox", "2026-05-01-1430--a--b--first")
    output = tmp_path / "_site"
    output.mkdir()
    (output / ".memosite-site").write_text("The marker of a build that was killed.\n")
    warned = []
    for step in ("killed", "whole", "lost", "again"):
        if step == "lost":
            (output / "archive/ledger.jsonl").unlink()
        assert main(["build", str(tmp_path)]) == 0
        said = capsys.readouterr().out.splitlines()
        warned += [
            step for line in said if line.startswith("warning   ") and "archive/ledger.jsonl: found none" in line
        ]
    assert warned == ["lost"]
