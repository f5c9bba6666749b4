"""The audit of what is locked: a known vulnerability fails it, and a network without a database does not."""

import contextlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.machinery import SourceFileLoader
from threading import Thread
from types import ModuleType

import pytest

from tests.support.files import ROOT

AUDIT = ROOT / "scripts/audit"


def run_audit(*options: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run the audit as CI does."""
    return subprocess.run(
        [sys.executable, str(AUDIT), *options], capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, **environment},
    )  # fmt: skip


@contextlib.contextmanager
def vulnerability_database(known: Mapping[str, object]) -> Iterator[str]:
    """The address of a server that answers as OSV does, with these vulnerabilities by the package's name."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found = known.get(asked["package"]["name"])
            answer = json.dumps({"vulns": [found]} if found else {}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1/query"
        finally:
            server.shutdown()
            thread.join()


def audit_script() -> ModuleType:
    """The audit as a module."""
    loader = SourceFileLoader("audit", str(AUDIT))
    spec = importlib.util.spec_from_loader("audit", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_a_known_vulnerability_fails_the_audit() -> None:
    """It is named, with the version to take; without it the audit passes."""
    package = {"name": "lxml", "ecosystem": "PyPI"}
    ranges = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.1"}]}]
    found = {"id": "TEST-2026-1", "summary": "x", "published": "2026-05-01T00:00:00Z", "aliases": ["CVE-1"]}
    with vulnerability_database({"lxml": {**found, "affected": [{"package": package, "ranges": ranges}]}}) as address:
        done = run_audit("--vulnerability-service", "osv", "--osv-url", address, NO_PROXY="*")
        accepted = run_audit(
            "--vulnerability-service", "osv", "--osv-url", address, "--ignore-vuln", "TEST-2026-1", NO_PROXY="*"
        )
    assert done.returncode == 1, done.stderr
    assert re.search(r"^audit: lxml \S+: .*TEST-2026-1.*; fixed in: 99\.1$", done.stdout, re.MULTILINE)
    assert accepted.returncode == 0
    assert re.search(r"^audit: (\d+) of \1 packages of \S+ audited, 0 vulnerabilities$", accepted.stdout, re.MULTILINE)


def test_an_audit_without_a_database_says_so_and_passes() -> None:
    """As in a network of mirrors. What could not be asked is never called free of vulnerabilities."""
    closed = "http://127.0.0.1:9"
    done = run_audit(HTTPS_PROXY=closed, https_proxy=closed, ALL_PROXY=closed)
    assert done.returncode == 0, done.stderr
    assert "audit: NOT DONE: no database of vulnerabilities could be reached (tried pypi, osv)." in done.stdout
    assert "audited," not in done.stdout


def test_a_mirror_that_knows_no_vulnerabilities_is_no_database(capsys: pytest.CaptureFixture[str]) -> None:
    """pip-audit calls packages that PyPI's database does not have skipped, finds nothing, and is content."""
    skipped = [{"name": "lxml", "skip_reason": "Dependency not found on PyPI and could not be audited: lxml (6.1.3)"}]
    known = [{"name": "rich", "version": "15.0.0", "vulns": []}]
    audit = audit_script()
    assert audit.judge([skipped, []]) == 0
    assert "NOT DONE" in capsys.readouterr().out
    assert audit.judge([skipped + known]) == 0
    said = capsys.readouterr().out
    assert "audit: lxml: not audited: Dependency not found on PyPI" in said
    assert "1 of 2 packages" in said


def test_an_audit_that_breaks_fails() -> None:
    """An error of pip-audit's own is not taken for a network that is missing."""
    done = run_audit("--no-such-option")
    assert done.returncode == 1
    assert "audit: pip-audit failed:" in done.stderr
