"""What holds for all tests."""

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

import memosite.run.progress  # noqa: F401 # it takes sys.stderr when it is imported: here, that is no test's own
from memosite.render import renderer
from memosite.run import workers

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest.register_assert_rewrite("tests.support")
"""An assertion that fails in a tool shows its values, as those of tests do."""

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("searching", print_blob=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
"""The test command runs the same examples every time; HYPOTHESIS_PROFILE=searching looks for new ones.

No example has a deadline: how long it takes says how busy the machine is."""


signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
"""A shell starts what runs in the background with SIGINT ignored, nohup with SIGHUP; tests would hand that on."""

os.environ["PYTHONPATH"] = str(Path(__file__).parent.parent)
"""What tests start runs the memosite of this checkout, in whichever folder it starts."""

os.environ.pop("PYTHONUNBUFFERED", None)
"""What tests start buffers its output, as everywhere: without a buffer, faults of the last flush are hidden."""

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
"""Tests, and what they start, keep compiled modules: a process in which all are compiled anew takes a third longer."""

os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="memosite-tests-")
"""What memosite remembers of its user, it remembers of nobody here."""

_SHARED = "TESTS_SHARED_FOLDER"
_IS_FIRST = _SHARED not in os.environ
if _IS_FIRST:
    os.environ[_SHARED] = tempfile.mkdtemp(prefix="memosite-tests-shared-")
"""What one process of a run has built, the others use, too (`support/sites.py`)."""


workers.default_jobs = lambda: 1
"""A build in the process of a test forks no other, unless the test says so: this process is large, the site small."""

renderer._markdown = lru_cache(maxsize=256)(renderer._markdown)  # type: ignore[assignment]
"""Every site has the contract: its sections are made HTML once in a process, not for each build."""


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """One browser for all tests of a module."""
    from tests.support.browsers import open_chromium

    with open_chromium() as found:
        yield found


@pytest.fixture(scope="session")
def example_site() -> Path:
    """The demonstration as a site, built once for all tests that only read it."""
    from tests.support.sites import built_example

    return built_example() / "_site"


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[str]:
    """The address at which the site of a module is served."""
    from tests.support.servers import serve_folder

    with serve_folder(site) as address:
        yield address


@pytest.fixture(params=["http", "file"])
def base(request: pytest.FixtureRequest, site: Path, server: str) -> str:
    """Where the site of a module is: on a server, and on disk."""
    return server if request.param == "http" else f"{site.as_uri()}/"


_seen: set[Path] = set()
"""The modules at whose first test everything was frozen."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What the tests have imported stays to the end: to look through it again and again takes a third of the time."""
    if item.path not in _seen:  # once a module, since a build with several processes thaws everything when it ends
        _seen.add(item.path)
        gc.freeze()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A skipped test counts as missing, so a run with one has failed."""
    if _IS_FIRST:
        shutil.rmtree(os.environ[_SHARED])
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and reporter.stats.get("skipped") and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
