"""Standard streams that are closed, full or read by nobody, signals at the start, and machines without a locale."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.commands import command_line, run_command, running
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.repos import Repo
from tests.support.servers import free_port
from tests.support.sites import tree_bytes
from tests.support.waiting import DEADLINE, wait_until

NAME = "2026-05-01-1430--zoé--director--grüße"


KEPT_RULES = {"XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))}
"""Where the compiled rules for secrets are: to compile them takes seconds, and a line of progress is printed then."""


def in_shell(words: list[str], redirected: str, environment: Mapping[str, str] | None = None) -> int:
    """Run a command in a shell that redirects its streams, and give its exit code; it may print no traceback."""
    line = f"{shlex.join(words)} {redirected}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, env=environment, timeout=5 * DEADLINE,
        check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr, done.stderr
    return done.returncode


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with a broken memo, so that `check` fails, and its built archive."""
    folder = tmp_path_factory.mktemp("site")
    repo = Repo(folder / "engine")
    write_memo(repo.root / "memos/inbox", NAME, subject="Grüße", to="director")
    write_text(repo.root / "memos/inbox/broken.openthing", "{")
    repo.commit(at="2026-05-02T12:00:00Z")
    assert run_command("build", folder, "--quiet", "--jobs", 1).returncode == 0
    return folder


def commands(site: Path, own: Path) -> dict[str, tuple[list[str], int]]:
    """Each command that ends by itself, and its exit code for this site."""
    feed = site / "_site/positions/director/feed.xml"
    return {
        "build": (command_line("build", site, "--jobs", 1, "-o", own / "out", "--cache", own / "cache"), 0),
        "check": (command_line("check", site), 1),
        "search": (command_line("search", "--site", site, "nothing-like-it"), 1),
        "export": (command_line("export", "--site", site, "--fail-on", "error"), 1),
        "explain": (command_line("explain", "--site", site, "index.html"), 0),
        "diff": (command_line("diff", "--site", site, "2020-01-01..2030-01-01"), 0),
        "init": (command_line("init", own / "new"), 0),
        "watch": (command_line("watch", "--once", "--since", "all", "--state", own / "state.sqlite", feed), 0),
        "mark-read": (command_line("mark-read", own / "new/memos/inbox/first.openthing"), 0),
        "completion": (command_line("completion", "fish"), 0),
        "help": (command_line("build", "--help"), 0),
        "version": (command_line("--version"), 0),
    }


def begin_anew(own: Path) -> None:
    """Make the repo that `init` and `mark-read` work on, and nothing else that a former run left."""
    for one in own.iterdir():
        shutil.rmtree(one) if one.is_dir() else one.unlink()
    repo = Repo(own / "new")
    write_memo(repo.root / "memos/inbox", "first")
    repo.commit()


COMMANDS = tuple(commands(Path(), Path()))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_exit_code_says_what_a_command_found_whoever_reads_it(name: str, site: Path, tmp_path: Path) -> None:
    """Output that nobody reads (`| true`, `>&-`) and messages that cannot be printed change nothing of it."""
    words, code = commands(site, tmp_path)[name]
    for redirected in ("2>&1 | true", ">&- 2>&-", "2>/dev/full"):
        begin_anew(tmp_path)
        assert in_shell(words, redirected) == code, redirected


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in {"help", "version"}])
def test_a_full_disk_behind_standard_output_is_an_error(name: str, site: Path, tmp_path: Path) -> None:
    """One line and exit code 2, also if the line cannot be printed either."""
    words, _ = commands(site, tmp_path)[name]
    for redirected in (">/dev/full", ">/dev/full 2>/dev/full"):
        begin_anew(tmp_path)
        assert in_shell(words, redirected) == 2, redirected


def test_an_error_that_cannot_be_printed_has_its_exit_code(tmp_path: Path) -> None:
    """A missing site is exit code 2 whether or not anybody hears of it."""
    for redirected in ("2>/dev/full", "2>&-", ">/dev/full 2>/dev/full"):
        assert in_shell(command_line("build", tmp_path / "missing"), redirected) == 2, redirected


def test_progress_that_nobody_reads_stops_no_build(site: Path, tmp_path: Path) -> None:
    """`memosite build 2>&1 | head -1` of a large site: the site is there, and the exit code is that of a build."""
    script = "import sys, memosite.run.progress as p; p._LINES_EVERY = 0.0; from memosite.cli import main; "
    script += "sys.exit(main(sys.argv[1:]))"
    words = [*command_line()[:1], "-c", script, "build", str(site), "--jobs", "1", "-o", str(tmp_path / "out")]
    assert in_shell([*words, "--cache", str(tmp_path / "cache")], "2>&1 | true") == 0
    assert tree_bytes(tmp_path / "out") == tree_bytes(site / "_site")


def test_a_preview_goes_on_when_nobody_reads_what_it_prints(tmp_path: Path) -> None:
    """Neither its end nor a notice on its pages: the site is rebuilt."""
    write_memo(tmp_path / "memos/inbox", "first")
    words = command_line("serve", tmp_path, "--port", str(free_port()))
    with running(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any("serving" in line for line in process.stdout)
        process.stdout.close()
        process.stdout = None
        for name in ("second", "third"):
            write_memo(tmp_path / "memos/inbox", name)
            wait_until(lambda name=name: (tmp_path / f"_site/memos/{name}/index.html").exists())  # type: ignore[misc]
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=DEADLINE)
    assert (process.returncode, said) == (128 + signal.SIGTERM, "")


def test_ctrl_c_while_memosite_starts_prints_no_traceback(tmp_path: Path) -> None:
    """It ends the process, as a shell expects, whatever is being imported."""
    began = time.monotonic()
    assert run_command("--version").returncode == 0
    longest = time.monotonic() - began
    for step in range(12):
        python, *words = command_line("build", tmp_path / "missing")
        with running([python, "-X", "importtime", *words], stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            assert any("memosite." in line for line in process.stderr)  # before that, Python itself is starting
            time.sleep(longest * step / 15)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=DEADLINE)
        assert "memosite/" not in said, said
        assert process.returncode in {-signal.SIGINT, 130, 2}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_comes_while_an_object_is_freed_ends_the_command(number: signal.Signals) -> None:
    """Python drops what is raised there: the command went on, and a traceback was printed."""
    script = (
        "import signal, sys, time\n"
        "from memosite.run.processes import EndedError, ended_by_signals\n"
        "class Freed:\n"
        "    def __del__(self):\n"
        f"        signal.raise_signal({int(number)})\n"
        "        time.sleep(0)\n"
        "try:\n"
        "    with ended_by_signals():\n"
        "        Freed()\n"
        "        time.sleep(20)\n"
        "except EndedError as ended:\n"
        "    sys.exit(ended.number)\n"
    )
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=DEADLINE)
    assert (done.returncode, done.stderr) == (number, "")


NO_LOCALE = (
    {"LC_ALL": "C"},
    {"LC_ALL": "POSIX", "PYTHONUTF8": "0"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LANG": "de_DE.ISO-8859-1", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
)


@pytest.mark.parametrize("locale", NO_LOCALE, ids=lambda locale: ",".join(map("=".join, locale.items())))
def test_the_site_is_the_same_in_every_locale(locale: dict[str, str], site: Path, tmp_path: Path) -> None:
    """Ids and addresses are made of names of files: no locale has a say in how these are read."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    environment |= KEPT_RULES
    places = ("-o", tmp_path / "out", "--cache", tmp_path / "cache")
    done = run_command("build", site, "--jobs", 1, "--quiet", *places, environment=environment | locale)
    assert (done.returncode, done.stderr) == (0, "")
    assert tree_bytes(tmp_path / "out") == tree_bytes(site / "_site")
    found = run_command("search", "--site", site, "Grüße", environment=environment | locale)
    assert found.returncode == 0 and "1 result" in found.stdout


def test_names_that_are_no_text_are_read_in_every_locale(tmp_path: Path) -> None:
    """A name is bytes: one that is not UTF-8 gives the same page whatever the locale is."""
    write_memo(tmp_path / "org/memos/inbox", "first")
    name = os.fsdecode(b"a\xff\xe9.openthing")
    (tmp_path / "org/memos/inbox/first.openthing").rename(tmp_path / "org/memos/inbox" / name)
    found = []
    for number, locale in enumerate(({"LC_ALL": "C.UTF-8"}, *NO_LOCALE[2:3])):
        environment = {
            **KEPT_RULES,
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        }
        output = tmp_path / str(number)
        done = run_command(
            "build",
            tmp_path / "org",
            "-o",
            output,
            "--cache",
            tmp_path / f"c{number}",
            environment=environment | locale,
        )
        assert (done.returncode, done.stderr) == (0, "")
        found.append(tree_bytes(output))
    assert found[0] == found[1]
