"""Locks between processes: one holds it, others wait or are told; it ends with its process, also without `fcntl`."""

import subprocess
import sys
from pathlib import Path

import pytest

from memosite.store import locks
from memosite.store.locks import Lock, locked

HOLD = """
import sys
sys.modules["fcntl"] = None if sys.argv[2] == "without" else __import__("fcntl")
from pathlib import Path
from memosite.store.locks import Lock
print(Lock(Path(sys.argv[1]), is_shared=sys.argv[3] == "shared").take(), flush=True)
sys.stdin.read()
"""


@pytest.fixture(params=["with", "without"])
def fcntl(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether Python has `fcntl`, in this process and in the other one."""
    monkeypatch.setattr(locks, "HAS_FCNTL", request.param == "with")
    return str(request.param)


def holder(path: Path, fcntl: str, kind: str = "alone") -> subprocess.Popen[str]:
    """Another process that has asked for a lock, and has been told."""
    command = [sys.executable, "-c", HOLD, str(path), fcntl, kind]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "True\n"
    return process


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_one_process_holds_a_lock_until_it_is_killed(tmp_path: Path, fcntl: str, kind: str) -> None:
    """One process holds a lock until it is killed."""
    path = tmp_path if kind == "folder" else tmp_path / "lock"
    other = holder(path, fcntl)
    with locked(path, seconds=0.1) as lock:
        assert lock is None
    other.kill()
    other.communicate()
    with locked(path) as lock:
        assert lock is not None


def test_a_lock_is_shared_by_those_who_only_share_it(tmp_path: Path, fcntl: str) -> None:
    """A lock is shared by those who only share it."""
    path = tmp_path / "lock"
    with locked(path, is_shared=True) as lock:
        assert lock is None  # nobody has made it
    path.touch()
    other = holder(path, fcntl, "shared")
    with locked(path, is_shared=True, seconds=0) as shared:
        assert shared is not None
    with locked(path, seconds=0) as alone:
        assert alone is None
    other.communicate("")
    with locked(path, seconds=0) as alone:
        assert alone is not None


def test_what_inherits_a_lock_holds_it_longer(tmp_path: Path) -> None:
    """What inherits a lock holds it longer."""
    lock = Lock(tmp_path / "lock")
    assert lock.take()
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[lock.handle])
    lock.release()
    with locked(tmp_path / "lock", seconds=0) as other:
        assert other is None
    child.communicate(b"")
    with locked(tmp_path / "lock") as other:
        assert other is not None


def test_a_link_is_no_lock(tmp_path: Path) -> None:
    """A link is no lock."""
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"), locked(tmp_path / "lock"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_site_is_built_where_python_has_no_fcntl(tmp_path: Path) -> None:
    """A site is built where python has no fcntl."""
    (tmp_path / "memosite.yml").write_text("sources: [{path: .}]\n")
    program = "import sys; sys.modules['fcntl'] = None; from memosite.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program]
    for arguments in (["build", "."], ["search", "nothing", "--index"]):
        done = subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode < 2, done.stderr
    assert (tmp_path / "_site/index.html").exists()
