"""The command line as people and scripts use it: words, exit codes, help."""

import csv
import io
import json
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memosite.cli import main
from memosite.commands.arguments import command_parsers, parser
from memosite.facts.characters import printable_json
from memosite.facts.texts import counted
from memosite.run import progress
from tests.support.commands import command_line, run_command
from tests.support.files import ROOT, write_text
from tests.support.memos import write_memo
from tests.support.repos import Repo
from tests.support.sites import shared_example
from tests.support.waiting import DEADLINE

Capture = pytest.CaptureFixture[str]
FIRST = "2026-05-01-1430--a--b--first"


def test_each_command_has_help_with_an_example(tmp_path: Path, capsys: Capture) -> None:
    """The example begins with the command itself. What is no command is a usage error, said on standard error.

    Where a command is given its parser alone is made; it is the same.
    """
    for command, made in command_parsers(parser()).items():
        assert command_parsers(parser([command]))[command].format_help() == made.format_help()
        with pytest.raises(SystemExit) as ended:
            main([command, "--help"])
        assert ended.value.code == 0
        assert f"example:\n  memosite {command}" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "usage: memosite" in capsys.readouterr().err
    assert main(["export", "--site", str(shared_example()), "--format", "maildir"]) == 2
    assert "-o" in capsys.readouterr().err  # a folder cannot go to standard output
    assert main(["build", str(shared_example()), "-o", str(tmp_path / "out"), "--jobs", "0"]) == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["biuld"], "did you mean build?"),
        (["build", "--basurl", "https://a.example/"], "did you mean --base-url?"),
        (["search", "--limitt=3", "x"], "did you mean --limit?"),
        (["reply", "2026", "--frm", "a"], "did you mean --from?"),
        (["brief", "director", "--only", "to-doo"], "did you mean to-do?"),
    ],
)
def test_a_word_that_is_nearly_right_is_told_what_it_may_mean(words: list[str], meant: str, capsys: Capture) -> None:
    """A command, an option or one of its values; what is like nothing, or far too long, is told nothing."""
    with pytest.raises(SystemExit):
        main(words)
    assert capsys.readouterr().err.rstrip().endswith(meant)
    for far in (["qqqqqqqq"], ["build", "--zzzzzzzzz"], ["b" * 100_000]):
        with pytest.raises(SystemExit):
            main(far)
        said = capsys.readouterr().err
        assert "did you mean" not in said and (len(far) > 1 or len(said) < 2_000)


def test_help_explains_what_all_commands_share_once(capsys: Capture) -> None:
    """By `memosite --help`; a command names them in a line. SITE and --site are one thing, and told as one."""
    shared = ("--quiet", "--site", "--cache", "--secrets", "--audience")
    helped = {}
    for command in (None, "build", "search", "init"):
        with pytest.raises(SystemExit):
            main([command, "--help"] if command else ["--help"])
        helped[command] = capsys.readouterr().out
    assert all(f"\n  {name}" in helped[None] for name in shared)
    for command in ("build", "search"):
        [line] = re.findall(r"options of all commands:\n +(.*): see memosite --help\n", helped[command])
        assert tuple(line.split(", ")) == shared
        assert not re.search(r"\n  --(?:quiet|site|cache|secrets|audience) ", helped[command])
    assert "the site folder, also written --site SITE" in " ".join(helped["build"].split())
    assert "[--site" not in helped["build"] and "  --quiet: see memosite --help" in helped["init"]


def test_a_date_that_is_none_is_called_invalid(tmp_path: Path, capsys: Capture) -> None:
    """Wherever a date is taken: it is no name of a commit then."""
    write_memo(tmp_path / "memos/inbox", FIRST)
    Repo(tmp_path).commit("First")
    for words in (["diff", "2026-13-45.."], ["diff", "..2026-02-30"], ["inbox", "b", "--as-of", "2026-13-45"]):
        assert main([*words, "--site", str(tmp_path)]) == 2
        assert "found an invalid date" in capsys.readouterr().err


def test_progress_in_lines_says_what_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of pages, which the name of their stage does not say."""
    monkeypatch.setattr(progress, "_LINES_EVERY", 0.0)
    with progress.shown(told := io.StringIO()) as step:
        step("make", 0, 193)
        step("read", 1, 2)
    assert told.getvalue().splitlines() == ["make      0 of 193 pages", "read      1 of 2"]


def test_the_demo_says_at_once_what_it_does(tmp_path: Path) -> None:
    """Before it installs anything, which takes minutes."""
    shutil.copy(ROOT / "demo", tmp_path / "demo")
    set_up = write_text(tmp_path / "scripts/set-up", "#!/bin/sh\necho installs\nexit 3\n")
    set_up.chmod(0o755)
    run = subprocess.run([tmp_path / "demo"], capture_output=True, text=True, check=False, timeout=DEADLINE)
    assert run.returncode == 3
    assert run.stdout.splitlines()[0].startswith("demo: makes .venv") and run.stdout.endswith("installs\n")


def test_a_build_ends_with_a_summary_and_check_names_the_line(tmp_path: Path, capsys: Capture) -> None:
    """Findings fail it only when asked to; JSON has the same findings. Nouns agree with their numbers."""
    assert [counted(1, "memo"), counted(0, "memo"), counted(2, "library")] == ["1 memo", "0 memos", "2 libraries"]
    words = ["build", str(shared_example()), "-o", str(tmp_path / "out")]
    assert main(words) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == ["read", "written", "findings", "done"]
    assert "44 memos, 5 notes, 27 records, 6 transcripts" in said[0]
    assert said[3].endswith(str(tmp_path / "out/index.html"))
    for threshold, code in (("error", 1), ("warning", 1), ("never", 0)):
        (tmp_path / "out/index.html").unlink()
        assert main([*words, "--quiet", "--fail-on", threshold]) == code
        assert (tmp_path / "out/index.html").exists()
    assert main(["check", str(shared_example())]) == 1
    told = capsys.readouterr().out
    assert ':8: error: "sent" is "2026-04-XX", expected ISO 8601 [date-invalid]' in told
    assert "2 errors, 12 warnings, 4 notes" in told
    for format_ in ("json", "sarif"):
        assert main(["check", str(shared_example()), "--format", format_, "--fail-on", "never"]) == 0
        value = json.loads(capsys.readouterr().out)
        assert len(value if format_ == "json" else value["runs"][0]["results"]) == 18


def test_a_build_says_once_that_the_site_knows_no_address(tmp_path: Path, capsys: Capture) -> None:
    """Not where it has one."""
    write_memo(tmp_path / "memos/inbox", "2026-05-01-1430--a--b--first")
    build = ["build", str(tmp_path), "-o", str(tmp_path / "site")]
    assert main(build) == 0
    assert capsys.readouterr().out.count("base_url") == 1
    assert main([*build, "--base-url", "https://archive.example.org/"]) == 0
    assert "base_url" not in capsys.readouterr().out


def test_a_single_file_is_checked_wherever_it_lies(tmp_path: Path, capsys: Capture) -> None:
    """Its body is sought beside it; ghosts and unlisted positions are nobody's business here.

    As in a site, a pair that is split over two mailboxes is a warning, not a missing body. A folder without stores,
    such as one of conformance fixtures, is checked file by file.
    """
    clean = write_memo(tmp_path, "clean", in_reply_to="2026-01-01-0000--a--b--gone.openthing")
    broken = write_memo(tmp_path, "broken", body="", body_ref="gone.body.md")
    write_text(tmp_path / "whole.body.md", "text")
    whole = write_memo(tmp_path, "whole", body_ref="whole.body.md")
    split = write_memo(tmp_path / "memos/read", "m", body_ref="m.body.md")
    write_text(tmp_path / "memos/inbox/m.body.md", "text")

    def rules(*files: Path, code: int) -> set[str]:
        assert main(["check", *map(str, files), *(["--fail-on", "warning"] if code == 0 else [])]) == code
        return {rule.split("]")[0] for rule in capsys.readouterr().out.split(" [")[1:]}

    assert rules(clean, whole, code=0) == set()
    assert rules(broken, code=1) == {"field-missing", "body-ref-missing"}
    assert main(["check", str(split)]) == 0
    said = capsys.readouterr().out
    assert "body-split" in said and "body-ref-missing" not in said
    write_memo(tmp_path / "conformance/valid", "a")
    write_memo(tmp_path / "conformance/invalid", "b", sent="soon")
    assert main(["check", str(tmp_path / "conformance")]) == 1
    assert "1 error, 0 warnings, 0 notes" in capsys.readouterr().out


def test_a_file_that_is_not_read_is_not_called_fine(tmp_path: Path, capsys: Capture) -> None:
    """Such as a draft that `reply` printed: nothing was checked. Markdown is said to be checked as a document.

    A hook passes each .openthing file: what another tool may have written fails none, but is said, also a whole draft.
    """
    whole = '{"v": 1, "name": "x.openthing", "envelope": {}}'
    clean = write_memo(tmp_path, "clean")
    for name, text in (("draft.json", whole), ("bad.json", '{"a":')):
        draft = write_text(tmp_path / name, text)
        assert main(["check", str(draft)]) == 2
        told = capsys.readouterr()
        assert told.out == "" and f"{name}: not checked: found no memo" in told.err
        assert main(["check", str(clean), str(draft)]) == 0
        told = capsys.readouterr()
        assert told.out == "no findings\n" and "not checked" in told.err
    other = write_text(tmp_path / "draft.openthing", whole)
    assert main(["check", str(other)]) == 0
    told = capsys.readouterr()
    assert told.out == "" and "draft.openthing: not checked" in told.err
    assert main(["check", str(other), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["check", str(write_text(tmp_path / "README.md", "# Read me\n"))]) == 0
    assert "README.md: checked as a document alone" in capsys.readouterr().err


def test_export_goes_to_standard_output(tmp_path: Path) -> None:
    """For pipes; the reader may leave early, and the messages are the same. 92 of the 93: one file is broken."""
    target = tmp_path / "archive.jsonl"
    assert main(["export", "--site", str(shared_example()), "-o", str(target)]) == 0
    assert len(target.read_text().splitlines()) == 92
    done = run_command("export", "--format", "csv", folder=shared_example())
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert (done.returncode, len(rows)) == (0, 92)
    command = f"{sys.executable} -m memosite export --with-body | head -n 1"
    piped = subprocess.run(command, shell=True, cwd=shared_example(), capture_output=True, check=False)
    assert piped.stderr.decode() == done.stderr and json.loads(piped.stdout)["v"] == 1


def test_init_writes_a_file_that_builds_and_a_lost_ledger_is_warned_of_once(tmp_path: Path, capsys: Capture) -> None:
    """A second init refuses; neither a new site nor one that was never written is warned of."""
    write_memo(tmp_path / "repo/memos/inbox", "2026-05-01-1430--a--b--c")
    assert main(["init", str(tmp_path)]) == 0
    assert "memosite serve" in capsys.readouterr().out
    assert main(["build", str(tmp_path), "--quiet"]) == 0
    assert (tmp_path / "_site/memos/2026-05-01-1430--a--b--c/index.html").exists()
    assert main(["init", str(tmp_path)]) == 2
    tmp_path /= "two"
    write_memo(tmp_path / "memos/inbox", FIRST)
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


def test_a_command_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    """Help is there at once: no template engine, no server. A build needs no network: loading it takes longer."""
    heavy = {"jinja2", "livereload", "lxml", "shtab", "tornado", "yaml"}
    code = f"import sys, memosite.cli; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    write_memo(tmp_path / "memos/inbox", FIRST)
    code = "import sys; from memosite.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    command = [sys.executable, "-c", code, "build", str(tmp_path), "--quiet", "--base-url", "https://example.org/"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert "memosite.plan.machine_archive" in loaded
    assert {"asyncio", "http.client", "ssl", "urllib.request", "whoosh"} & set(loaded) == set()


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_a_build_needs_no_standard_streams(tmp_path: Path, closed: str) -> None:
    """It builds, and what it says goes into no file that it opens."""
    write_memo(tmp_path / "memos/inbox", FIRST)
    command = shlex.join(command_line("build", tmp_path))
    assert subprocess.run(["sh", "-c", f"{command} {closed}"], check=False, timeout=5 * DEADLINE).returncode == 0
    assert (tmp_path / "_site/memos/2026-05-01-1430--a--b--first/index.html").is_file()
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"written   " in file.read_bytes()]


def test_json_holds_no_character_that_changes_a_terminal() -> None:
    """They are escaped as JSON has it, so that a parser reads them as they were."""
    value = {"subject": "red \x1b[31m \x9b31m \u202e \U000e0001 é 字 \U0001f600", "to": ["a\nb"]}
    text = printable_json(value, indent=1)
    assert all(char.isprintable() or char == "\n" for char in text) and "é 字 \U0001f600" in text
    assert json.loads(text) == value and json.loads(printable_json("\udcff")) == "\ufffd"


# Completion in real shells, and the man page

ASK = {
    "bash": 'source {script}; COMP_WORDS=({words}); COMP_CWORD={last}; _shtab_memosite; echo "${{COMPREPLY[*]}}"',
    "fish": "source {script}; complete -C '{line}' | cut -f 1",
}
"""What prints the completions of a line in a shell that is not in a terminal."""


@pytest.fixture
def script(request: pytest.FixtureRequest, tmp_path: Path, capsys: Capture) -> Path:
    """The script for a shell."""
    assert main(["completion", request.param]) == 0
    file = tmp_path / str(request.param)
    file.write_text(capsys.readouterr().out)
    return file


def run(*command: str) -> str:
    """What a command prints; it must print no error."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def completions(script: Path, line: str) -> set[str]:
    """What the shell offers at the end of a line."""
    shell, words = script.name, line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    ask = ASK[shell].format(script=script, line=line, words=quoted, last=len(words) - 1)
    return set(run(shell, "-c", ask).split())


@pytest.mark.parametrize("script", ASK, indirect=True)
def test_commands_options_and_choices_are_offered(script: Path, capsys: Capture) -> None:
    """All commands, the options of one, the values of an option. Another shell is refused: those known are named."""
    assert set(command_parsers(parser())) <= completions(script, "memosite ")
    assert completions(script, "memosite ver") == {"verify"}
    assert {"--quotes", "--strict", "--audience"} <= completions(script, "memosite verify --")
    assert completions(script, "memosite export --format m") == {"mbox", "maildir"}
    with pytest.raises(SystemExit):
        main(["completion", "tcsh"])
    assert "expected one of bash, zsh, fish" in capsys.readouterr().err.replace("'", "")


@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh_knows_the_command(script: Path) -> None:
    """Completing needs a terminal there; the script is read, and its function noted for the command."""
    run("zsh", "-n", str(script))
    said = run(
        "zsh", "-f", "-c", f'autoload -Uz compinit; compinit -D; eval "$(cat {script})"; print ${{_comps[memosite]}}'
    )
    assert said == "_shtab_memosite\n"


def test_the_man_page_is_that_of_the_command_line() -> None:
    """`make man` writes it; man shows each command with its example."""
    made = runpy.run_path(str(ROOT / "scripts/man"))["man_page"]()
    page = ROOT / "docs/man/memosite.1"
    assert page.read_text(encoding="utf-8") == made, "run make man"
    shown = run("man", "--local-file", "--encoding=UTF-8", str(page))
    assert "Turns the memos" in shown
    assert [name for name in command_parsers(parser()) if f"COMMAND 'memosite {name}'" not in shown] == []
    assert shown.count("example:") >= len(command_parsers(parser()))
