"""What holds for all tests."""

import pytest


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A skipped test counts as missing, so a run with one has failed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and reporter.stats.get("skipped") and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
