"""Standard streams that are closed, full or read by nobody, signals at the start, and machines without a locale."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import pytest

from tests.support.commands import command_line, run_command, running
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.repos import Repo
from tests.support.servers import free_port
from tests.support.sites import build_site, tree_bytes
from tests.support.waiting import DEADLINE, wait_until

NO_TEXT = '{"type": "memodef:Memo", "from": "a", "to": "b", "sent": "2026-05-01T14:30:00Z", "body": "B"}'
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
    """A site with a broken memo, so that `check` fails, one whose name is no text, and its built archive."""
    folder = tmp_path_factory.mktemp("site")
    repo = Repo(folder / "engine")
    write_memo(repo.root / "memos/inbox", NAME, subject="Grüße", to="director")
    write_text(repo.root / "memos/inbox/broken.openthing", "{")
    write_text(repo.root / "memos/inbox" / os.fsdecode(b"a\xff\xe9.openthing"), NO_TEXT)
    repo.commit(at="2026-05-02T12:00:00Z")
    build_site(folder, "--jobs", 1)
    return folder


def commands(site: Path, own: Path) -> dict[str, tuple[list[object], int]]:
    """Each command that ends by itself, and its exit code for this site; two of them work on a repo of their own."""
    feed = site / "_site/positions/director/feed.xml"
    return {
        "build": (["build", site, "--jobs", 1, "-o", own / "out", "--cache", own / "cache"], 0),
        "build of nothing": (["build", own / "missing"], 2),
        "check": (["check", site], 1),
        "search": (["search", "--site", site, "nothing-like-it"], 1),
        "export": (["export", "--site", site, "--fail-on", "error"], 1),
        "explain": (["explain", "--site", site, "index.html"], 0),
        "diff": (["diff", "--site", site, "2020-01-01..2030-01-01"], 0),
        "init": (["init", own / "new"], 0),
        "watch": (["watch", "--once", "--since", "all", "--state", own / "state.sqlite", feed], 0),
        "mark-read": (["mark-read", own / "new/memos/inbox/first.openthing"], 0),
        "completion": (["completion", "fish"], 0),
        "help": (["build", "--help"], 0),
        "version": (["--version"], 0),
    }


EACH = """
import json, os, sys
from memosite.__main__ import run
import memosite.commands.explain, memosite.formats.adapters, memosite.plan
import memosite.remake.making, memosite.search.command
codes = []
for words in json.loads(sys.argv[2]):
    if not os.fork():
        sys.argv[1:] = words
        run()
    codes.append(os.waitstatus_to_exitcode(os.wait()[1]))
with open(sys.argv[1], "w") as file:
    json.dump(codes, file)
"""
"""Runs commands with the streams of this process, each in a process that has loaded memosite already: that takes most
of the time of a command. Their exit codes are written to a file."""


@pytest.mark.parametrize(
    "redirected", ["2>&1 | true", ">&- 2>&-", "2>/dev/full", ">/dev/full", ">/dev/full 2>/dev/full"]
)
def test_the_exit_code_says_what_a_command_found_whoever_reads_it(redirected: str, site: Path, tmp_path: Path) -> None:
    """Output that nobody reads and messages that cannot be printed change nothing of it; a full disk is an error.

    That is one line and exit code 2, also if the line cannot be printed either.
    """
    repo = Repo(tmp_path / "new")
    write_memo(repo.root / "memos/inbox", "first")
    repo.commit()
    is_full = redirected.startswith(">/dev/full")
    chosen = commands(site, tmp_path)
    if is_full:  # argparse prints these two, and heeds no error
        chosen = {name: (words, 2) for name, (words, _) in chosen.items() if name not in {"help", "version"}}
    if redirected.count("full") == 2:  # no command says that itself
        chosen = {name: chosen[name] for name in ("build", "build of nothing", "check")}
    listed = json.dumps([list(map(str, words)) for words, _ in chosen.values()])
    assert in_shell([sys.executable, "-c", EACH, str(tmp_path / "codes"), listed], redirected) == 0
    codes = json.loads((tmp_path / "codes").read_text())
    assert dict(zip(chosen, codes, strict=True)) == {name: code for name, (_, code) in chosen.items()}


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
        assert process.stdout is not None and any("serving" in line for line in process.stdout)
        process.stdout.close()
        process.stdout = None
        for name in ("second", "third"):
            write_memo(tmp_path / "memos/inbox", name)
            wait_until(lambda name=name: (tmp_path / f"_site/memos/{name}/index.html").exists())  # type: ignore[misc]
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=DEADLINE)
    assert process.returncode == 128 + signal.SIGTERM
    assert re.sub(r"^\w+ +\d+ of \d+\n", "", said, flags=re.MULTILINE) == "", "progress apart, of a slow machine"


def test_ctrl_c_while_memosite_starts_prints_no_traceback(tmp_path: Path) -> None:
    """It ends the process, as a shell expects, whatever is being imported: after each so many modules of ours."""
    python, *words = command_line("build", tmp_path / "missing")
    for imported in range(1, 60, 6):
        with running([python, "-X", "importtime", *words], stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            ours = (line for line in process.stderr if "memosite." in line)  # before that, Python itself is starting
            assert len(list(islice(ours, imported))) == imported
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
        "        time.sleep(900)\n"
        "except EndedError as ended:\n"
        "    sys.exit(ended.number)\n"
    )
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=DEADLINE)
    assert (done.returncode, done.stderr) == (number, "")


LOCALES = {
    "LC_ALL=C": False, "LC_ALL=POSIX,PYTHONUTF8=0": False, "PYTHONUTF8=0,PYTHONCOERCECLOCALE=0": False,
    "LC_ALL=C,PYTHONUTF8=0,PYTHONCOERCECLOCALE=0": True,
    "LANG=de_DE.ISO-8859-1,PYTHONUTF8=0,PYTHONCOERCECLOCALE=0,PYTHONIOENCODING=ascii": True,
}  # fmt: skip
"""By what is set, whether a site is built, too: Python reads names as ASCII there, strictly in the last one."""


@pytest.mark.parametrize("locale", LOCALES)
def test_the_site_is_the_same_in_every_locale(locale: str, site: Path, tmp_path: Path) -> None:
    """Ids and addresses are made of names of files: no locale has a say in how these are read; a name is bytes."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    environment |= KEPT_RULES | dict(variable.split("=") for variable in locale.split(","))
    if LOCALES[locale]:
        places = ("-o", tmp_path / "out", "--cache", tmp_path / "cache")
        done = run_command("build", site, "--jobs", 1, "--quiet", *places, environment=environment)
        assert (done.returncode, done.stderr) == (0, "")
        assert tree_bytes(tmp_path / "out") == tree_bytes(site / "_site")
    found = run_command("search", "--site", site, "Grüße", environment=environment)
    assert found.returncode == 0 and "1 result" in found.stdout
