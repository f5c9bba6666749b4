"""The lock files name all that is installed, each package with one version and its hashes (docs/decisions/0013)."""

import contextlib
import re
from importlib.metadata import PackageNotFoundError, requires

import pytest
from packaging.requirements import Requirement

from tests.support.files import ROOT
from tests.support.locks import DEV, HERE, PROJECT, RUN, applies, pins, unlocked, unsatisfied

NEEDED_TO_RUN = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["build"]]
NEEDED_TO_TEST = [*NEEDED_TO_RUN, *PROJECT["project"]["optional-dependencies"]["dev"]]
ADVICE = "run: make lock"


def needed_by_installed(lock: str) -> list[str]:
    """What the packages of a lock file that are installed here need in turn."""
    found: list[str] = []
    for pin in pins(lock):
        with contextlib.suppress(PackageNotFoundError):
            wanted = map(Requirement, requires(pin.requirement.name) or [])
            found += [f"{one.name}{one.specifier}" for one in wanted if applies(one, HERE)]
    return found


@pytest.mark.parametrize(("needed", "lock"), [(NEEDED_TO_RUN, RUN), (NEEDED_TO_TEST, DEV)], ids=["run", "dev"])
def test_the_lock_files_satisfy_pyproject(needed: list[str], lock: str) -> None:
    """On each system and Python; and each package has one version, and hashes."""
    assert unsatisfied(needed, lock) == [], ADVICE
    assert unlocked(lock) == [], ADVICE


@pytest.mark.parametrize("lock", [RUN, DEV], ids=["run", "dev"])
def test_the_lock_files_are_closed(lock: str) -> None:
    """Whatever a locked package needs is locked, too: pip would refuse to install the rest."""
    needed = needed_by_installed(lock)
    assert len(needed) > 10
    assert unsatisfied(needed, lock, [HERE]) == [], ADVICE


def test_what_runs_is_what_was_tested() -> None:
    """The two lock files agree."""
    tested = {pin.requirement.name: (pin.version, pin.hashes) for pin in pins(DEV)}
    run = {pin.requirement.name: (pin.version, pin.hashes) for pin in pins(RUN)}
    assert run.items() <= tested.items()


def test_the_build_back_end_is_locked() -> None:
    """It is installed before memosite, so that pip fetches nothing unchecked for the build."""
    assert set(PROJECT["build-system"]["requires"]) <= set(PROJECT["dependency-groups"]["build"])


def test_set_up_installs_nothing_unchecked() -> None:
    """Each call of pip checks hashes or fetches nothing; what benchmarks measure beside memosite is apart."""
    script = (ROOT / "scripts/set-up").read_text(encoding="utf-8")
    calls = [line.strip() for line in script.splitlines() if re.match(r"\s*\S+/(\$pip|pip|python -m pip) ", line)]
    safe = ("--require-hashes", "--no-deps --no-build-isolation", "benchmarks/.venv/")
    assert len(calls) == 3
    assert [line for line in calls if not any(words in line for words in safe)] == []
    assert "pip install" not in (ROOT / "test").read_text() + (ROOT / ".ci/run").read_text()


def test_a_lock_file_that_does_not_fit_is_found() -> None:
    """The checks themselves: a package too old, one that is missing, one for another system only, one without hash."""
    lock = "a==1.0 \\\n    --hash=sha256:" + "0" * 64 + "\n    # via x\nb==2.0 ; sys_platform == 'win32' \\\n"
    lock += "    --hash=sha256:" + "1" * 64 + "\n"
    assert unsatisfied(["a>=1"], lock) == []
    assert unsatisfied(["a>=1.1", "b", "C; python_version < '3.12'", "d; sys_platform == 'win32'"], lock) == [
        'C; python_version < "3.12": locked is None', "a>=1.1: locked is 1.0", "b: locked is None",
    ]  # fmt: skip
    assert unlocked(lock + "c==1\nd>=1 --hash=sha256:" + "2" * 64 + "\ne==1.* --hash=md5:3\n") == ["c", "d", "e"]
