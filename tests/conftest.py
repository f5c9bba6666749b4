"""What holds for all tests."""

import os
import signal
import tempfile

import pytest
from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("searching", print_blob=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
"""The test command runs the same examples every time; HYPOTHESIS_PROFILE=searching looks for new ones.

No example has a deadline: how long it takes says how busy the machine is."""


signal.signal(signal.SIGINT, signal.default_int_handler)
"""A shell starts what runs in the background with SIGINT ignored; what tests start would inherit that."""

os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="memosite-tests-")
"""What memosite remembers of its user, it remembers of nobody here."""


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A skipped test counts as missing, so a run with one has failed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and reporter.stats.get("skipped") and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
