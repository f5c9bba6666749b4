"""Builds whose pages are rendered by other machines: the same site, whatever happens to these."""

import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.as_memodef import write_site
from benchmarks.organization import artifacts
from memosite.cli import main
from memosite.run.cluster import Cluster, cluster_at
from memosite.run.workers import BATCH
from memosite.store.state import ANALYSES, State
from tests.support.commands import command_line, run_command, running
from tests.support.files import ROOT
from tests.support.machines import Machines, double, machines
from tests.support.memos import write_memo
from tests.support.sites import build_site, built_example, built_files, copy_example, file_states, tree_bytes
from tests.support.waiting import DEADLINE, wait_until


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """A scheduler with two workers."""
    with machines(tmp_path_factory.mktemp("cluster"), workers={"one": {}, "two": {}}) as started:
        yield started


@pytest.fixture
def organization(tmp_path: Path) -> Path:
    """A copy of the example, so that nothing of it is known to a cache."""
    return copy_example(tmp_path / "site")


def command(site: Path, address: str, *arguments: str) -> list[str]:
    """A build on a cluster, as a process."""
    return command_line("build", site, "--quiet", "--cluster", address, *arguments)


def build(site: Path, address: str, *arguments: str) -> tuple[int, str]:
    """Build on a cluster; the exit code, and what was said."""
    done = run_command("build", site, "--quiet", "--cluster", address, *arguments)
    assert done.stdout == ""
    return done.returncode, done.stderr


LONG = 5 * DEADLINE
"""Seconds that a build may take on a busy machine."""


def larger_site(folder: Path) -> Path:
    """An organization whose build takes long enough to see its middle."""
    write_site(folder / "site", islice(artifacts(160, seed=1), 160), with_git=False)
    return folder / "site"


def is_begun(output: Path) -> bool:
    """Whether some pages are there."""
    return (output / "memos").exists() and len(list((output / "memos").iterdir())) > 20


def run_program(body: str, address: str) -> subprocess.CompletedProcess[str]:
    """A program that has a `cluster`."""
    program = f"from memosite.run.cluster import Cluster\ncluster = Cluster(address={address!r}, patience=0.5)\n{body}"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=LONG)


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    """What the ClusterError says that ended a program."""
    kind, _, said = done.stderr.splitlines()[-1].partition(": ")
    assert kind == "memosite.facts.errors.ClusterError"
    return said


TASKS = "client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))"
"""How many tasks a scheduler knows."""

MANY = f"from tests.support.machines import double\nlist(cluster.run(double, range({BATCH * 100})))\n"
"""A program that sends many batches."""


def test_what_a_cluster_made_is_the_same_and_noted_as_if_it_was_made_here(
    organization: Path, cluster: Machines, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same bytes as one process, rendered by both workers; the next build, wherever it runs, goes on from it.

    What workers analyze is not in the cache: what the file of the last search block had may be gone from the block.
    """
    assert build(organization, cluster.address) == (0, "")
    assert tree_bytes(organization / "_site") == tree_bytes(built_example() / "_site")
    count = "print(*client.run(lambda dask_worker: dask_worker.state.executed_count > 0).values())"
    assert cluster.ask(count) == "True True"
    for path in ("positions/director/", "timeline/2026/03/index.json", "feeds.opml"):
        assert main(["explain", path, "--site", str(organization)]) == 0
        said = capsys.readouterr().out
        assert ("up to date" in said) or ("every build plans it" in said)
    before = file_states(organization / "_site")
    build_site(organization, "--jobs", 1)
    assert file_states(organization / "_site") == before

    def blocks() -> set[str | int]:
        with State(organization / ".memosite/internal") as state:
            kept = state[ANALYSES].keys()
        return {block for block, _ in kept}

    (organization / "website/memos/archive").rename(organization / "website/gone")
    build_site(organization)
    assert len(blocks()) == 1
    (organization / "website/gone").rename(organization / "website/memos/archive")
    assert build(organization, cluster.address) == (0, "")
    assert not blocks()


def test_builds_outlive_a_killed_worker_and_leave_no_work_if_interrupted(cluster: Machines, tmp_path: Path) -> None:
    """Kill -9 half-way gives the same bytes, of a lean site; Ctrl-C ends it without a word, and workers are free."""
    site = larger_site(tmp_path)
    with running(command(site, cluster.address), stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: is_begun(site / "_site"), seconds=LONG)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=LONG)[1] == ""
    assert process.returncode == 130
    wait_until(lambda: cluster.ask(f"print({TASKS})") == "0")
    with (site / "memosite.yml").open("a") as file:
        file.write("lean: true\n")
    output = tmp_path / "there"
    building = command(site, cluster.address, "-o", str(output), "--cache", str(tmp_path / "cache"))
    with cluster.one_more("killed") as worker:
        with running(building, stderr=subprocess.PIPE, text=True) as process:
            wait_until(lambda: is_begun(output), seconds=LONG)
            worker.kill()
            assert not (output / "status.json").exists()  # which is written last
            assert process.communicate(timeout=LONG)[1] == ""
        assert process.returncode == 0
        assert worker.wait(LONG) == -signal.SIGKILL
    here = built_files(site, "--jobs", 1, "--cache", tmp_path / "cache-here", output=tmp_path / "here")
    assert tree_bytes(output) == here


def test_results_come_in_order_and_items_are_not_taken_much_before(cluster: Machines) -> None:
    """As of processes: what waits is bounded, and errors are the same. Nobody is asked for what takes a moment."""
    done = run_program(
        "from tests.support.machines import divide, double\n"
        f"print(list(cluster.run(double, range({BATCH * 10 + 7}))) == list(range(0, {BATCH * 20 + 14}, 2)))\n"
        "taken = []\n"
        f"results = cluster.run(double, (taken.append(n) or n for n in range({BATCH * 100})))\n"
        f"print(next(results), len(taken) < {BATCH} * 12)\n"
        "results.close()\n"
        "try:\n"
        f"    list(cluster.run(divide, range({BATCH * 10})))\n"
        "except ZeroDivisionError as error:\n"
        "    print(error)\n",
        cluster.address,
    )
    assert (done.stdout, done.stderr) == ("True\n0 True\ninteger division or modulo by zero\n", "")
    wait_until(lambda: cluster.ask(f"print({TASKS})") == "0")
    nowhere = Cluster(address="tcp://127.0.0.1:9")
    assert list(nowhere.run(double, range(BATCH - 1))) == list(range(0, 2 * BATCH - 2, 2))
    assert list(nowhere.run(double, [1], weight=lambda _: BATCH * 100)) == [2]


def test_a_fault_of_a_theme_is_told_as_it_is_here(
    organization: Path, cluster: Machines, capsys: pytest.CaptureFixture[str]
) -> None:
    """Template and line, wherever it was found."""
    template = organization / "theme/templates/memo.html"
    template.parent.mkdir(parents=True, exist_ok=True)
    template.write_text("\n{{ page.nothing }}")
    (organization / "memosite.yml").write_text((organization / "memosite.yml").read_text() + "\ntheme: theme\n")
    assert main(["build", str(organization), "--quiet", "--jobs", "1"]) == 2
    said = capsys.readouterr().err
    assert "templates/memo.html, line 2" in said
    assert build(organization, cluster.address) == (2, said)


def test_another_memosite_on_a_worker_is_refused(organization: Path, cluster: Machines, tmp_path: Path) -> None:
    """It might make other bytes; an older one cannot even be asked."""
    for name in ("other", "older"):
        shutil.copytree(ROOT / "memosite", tmp_path / name / "memosite", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "other/memosite/facts/times.py").open("a") as module:
        module.write("# another version\n")
    (tmp_path / "older/memosite/run/cluster.py").unlink()
    expected = {
        "other": "has another memosite, Python or library than this machine",
        "older": "cannot run memosite (ModuleNotFoundError(\"No module named 'memosite.run.cluster'\"))",
    }
    for name, what in expected.items():
        with cluster.one_more(name, PYTHONPATH=str(tmp_path / name), PYTHONSAFEPATH="1"):
            said = (
                f"memosite: build --cluster {cluster.address}: the worker {cluster.address_of(name)} {what}; install "
                "the same there, memosite[cluster] with all it needs, and start it again\n"
            )
            assert build(organization, cluster.address) == (2, said)
    assert not (organization / "_site/index.html").exists()


def test_a_cluster_whose_workers_or_scheduler_are_gone_is_told_of(tmp_path: Path) -> None:
    """Nobody waits for ever: neither where there is no worker, nor where pages end each worker that takes them.

    Nor for what nobody knows any more.
    """
    few = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    program = f"from tests.support.machines import end_worker\nlist(cluster.run(end_worker, range({BATCH * 10})))\n"
    with machines(tmp_path, scheduler=few, workers={"one": {}}) as started:
        where = f"build --cluster {started.address}: "
        ended = (
            f"1 workers ended at the same pages, the last of them {started.address_of('one')}; give "
            "them more memory, or build without --cluster"
        )
        gone = f"found no worker for 0.5 seconds, expected at least one; start it with: dask worker {started.address}"
        for expected in (ended, gone):
            assert last_line(run_program(program, started.address)) == where + expected
        with started.one_more("two"):
            ending = (
                "import os\nfrom tests.support.machines import double\n"
                f"for _ in cluster.run(double, range({BATCH * 100})):\n os.kill({started.scheduler.pid}, 9)\n"
            )
            assert last_line(run_program(ending, started.address)) == (
                f"{where}the scheduler does not answer any more; start it again, and run the command again"
            )


def test_a_cluster_that_is_not_there_is_told_of_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the address, and what to do; an odd one with the form of one; and without the extra, how to get it."""
    write_memo(tmp_path / "memos/inbox", "one")

    def told(address: str) -> str:
        assert main(["build", str(tmp_path), "--cluster", address]) == 2
        return capsys.readouterr().err

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    assert told(nobody) == (
        f"memosite: build --cluster {nobody}: found no Dask scheduler there (Connection refused); "
        "start one with `dask scheduler`, or name the address that it printed\n"
    )
    for odd in ("", "scheduler", "127.0.0.1:8786", "http://127.0.0.1:8786", "tcp://one", "tcp://[", "tcp://a:b"):
        assert told(odd) == (
            f"memosite: build --cluster: found {odd!r}, expected the address of a Dask scheduler as it prints it, "
            "tcp://HOST:PORT or tls://HOST:PORT\n"
        )
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = "memosite: build --cluster: needs Dask distributed: pip install 'memosite[cluster]'\n"
    assert told("tcp://127.0.0.1:8786") == said
    assert [path.name for path in tmp_path.iterdir()] == ["memos"]


def test_what_speaks_another_language_is_no_scheduler(cluster: Machines) -> None:
    """As the dashboard of a scheduler, whose port is the next one. A worker prints an address, too."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"

        def answer() -> None:
            for _ in range(2):
                connection, _ = other.accept()
                with connection:
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        assert cluster_at(address).address == address
        said = last_line(run_program(MANY, address))
    assert said.startswith(f"build --cluster {address}: found no Dask scheduler there (")
    worker = cluster.address_of("one")
    assert last_line(run_program(MANY, worker)) == (
        f"build --cluster {worker}: found no Dask scheduler there (a worker of Dask); "
        "start one with `dask scheduler`, or name the address that it printed"
    )
