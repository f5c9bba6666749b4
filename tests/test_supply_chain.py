"""All that is installed is locked, listed and audited (docs/decisions/0013)."""

import contextlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.machinery import SourceFileLoader
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.files import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUN = (ROOT / "requirements/run.txt").read_text(encoding="utf-8")
DEV = (ROOT / "requirements/dev.txt").read_text(encoding="utf-8")
NEEDED_TO_RUN = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["build"]]
NEEDED_TO_TEST = [*NEEDED_TO_RUN, *PROJECT["project"]["optional-dependencies"]["dev"]]
ADVICE = "run: make lock"
HERE = {name: str(value) for name, value in default_environment().items()}
"""What markers ask of this system and Python."""
EVERYWHERE = [
    HERE | {"python_version": python, "python_full_version": f"{python}.1"} | system
    for python in ("3.11", "3.12", "3.13", "3.14", "3.15")
    for system in (
        {"sys_platform": "linux", "platform_system": "Linux"},
        {"sys_platform": "darwin", "platform_system": "Darwin"},
    )
]
"""Likewise of systems and versions of Python that memosite runs on."""
Pin = tuple[Requirement, frozenset[str]]
"""A package of a lock file: the one version that is installed where the marker holds, and its files' hashes."""


def pins(lock: str) -> list[Pin]:
    """The packages of a lock file."""
    lines = re.sub(r"^\s*#.*\n", "", lock, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    parts = [line.split(" --hash=") for line in lines if line.strip()]
    return [(Requirement(what), frozenset(map(str.strip, hashes))) for what, *hashes in parts]


def versions_of(locked: Sequence[Pin]) -> dict[str, str]:
    """The versions that are pinned."""
    return {canonicalize_name(one.name): str(one.specifier).removeprefix("==") for one, _ in locked}


def applies(requirement: Requirement, environment: Mapping[str, str]) -> bool:
    """Whether a requirement is one in an environment, without extras."""
    return requirement.marker is None or requirement.marker.evaluate({**environment, "extra": ""})


def unsatisfied(needed: Sequence[str], lock: str, where: Sequence[Mapping[str, str]] = EVERYWHERE) -> list[str]:
    """The requirements that a lock file does not satisfy in some environment."""
    locked, found = pins(lock), set()
    for environment in where:
        versions = versions_of([pin for pin in locked if applies(pin[0], environment)])
        for requirement in map(Requirement, needed):
            version = versions.get(canonicalize_name(requirement.name))
            is_met = version is not None and requirement.specifier.contains(version, prereleases=True)
            if applies(requirement, environment) and not is_met:
                found.add(f"{requirement}: locked is {version}")
    return sorted(found)


def unlocked(lock: str) -> list[str]:
    """The packages of a lock file without one version and a hash of SHA-256."""
    hash_ = re.compile(r"sha256:[0-9a-f]{64}")
    return [
        requirement.name
        for requirement, hashes in pins(lock)
        if not re.fullmatch(r"==[^*,]+", str(requirement.specifier))
        or not hashes
        or not all(map(hash_.fullmatch, hashes))
    ]


@pytest.mark.parametrize(("needed", "lock"), [(NEEDED_TO_RUN, RUN), (NEEDED_TO_TEST, DEV)], ids=["run", "dev"])
def test_the_lock_files_satisfy_pyproject_and_are_closed(needed: list[str], lock: str) -> None:
    """On each system and Python, with one version and hashes; what a locked package needs is locked, or pip refuses."""
    assert unsatisfied(needed, lock) == [], ADVICE
    assert unlocked(lock) == [], ADVICE
    in_turn: list[str] = []
    for requirement, _ in pins(lock):
        with contextlib.suppress(PackageNotFoundError):
            wanted = map(Requirement, requires(requirement.name) or [])
            in_turn += [f"{one.name}{one.specifier}" for one in wanted if applies(one, HERE)]
    assert len(in_turn) > 10
    assert unsatisfied(in_turn, lock, [HERE]) == [], ADVICE


def test_nothing_is_installed_unchecked_and_a_lock_file_that_does_not_fit_is_found() -> None:
    """What runs was tested, each call of pip checks or fetches nothing; too old, missing, elsewhere, without hash."""
    run, tested = ({one.name: (str(one.specifier), hashes) for one, hashes in pins(lock)} for lock in (RUN, DEV))
    assert run.items() <= tested.items()
    assert set(PROJECT["build-system"]["requires"]) <= set(PROJECT["dependency-groups"]["build"])
    script = (ROOT / "scripts/set-up").read_text(encoding="utf-8")
    calls = [line.strip() for line in script.splitlines() if re.match(r"\s*\S+/(\$pip|pip|python -m pip) ", line)]
    safe = ("--require-hashes", "--no-deps --no-build-isolation", "benchmarks/.venv/")
    assert len(calls) == 3 and [line for line in calls if not any(words in line for words in safe)] == []
    assert "pip install" not in (ROOT / "test").read_text() + (ROOT / ".ci/run").read_text()
    lock = "a==1.0 \\\n    --hash=sha256:" + "0" * 64 + "\n    # via x\nb==2.0 ; sys_platform == 'win32' \\\n"
    lock += "    --hash=sha256:" + "1" * 64 + "\n"
    assert unsatisfied(["a>=1"], lock) == []
    assert unsatisfied(["a>=1.1", "b", "C; python_version < '3.12'", "d; sys_platform == 'win32'"], lock) == [
        'C; python_version < "3.12": locked is None', "a>=1.1: locked is 1.0", "b: locked is None",
    ]  # fmt: skip
    assert unlocked(lock + "c==1\nd>=1 --hash=sha256:" + "2" * 64 + "\ne==1.* --hash=md5:3\n") == ["c", "d", "e"]


def test_the_bill_of_materials_lists_all_that_runs(tmp_path: Path) -> None:
    """In valid CycloneDX: each package of the lock file that is needed here, with version and licence, and no other."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    bill = tmp_path / "new/bill.cdx.json"
    subprocess.run([sys.executable, ROOT / "scripts/bill-of-materials", bill], check=True, timeout=300)
    text = bill.read_text(encoding="utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    found = json.loads(text)
    versions = {canonicalize_name(one["name"]): one["version"] for one in found["components"]}
    assert versions.items() <= versions_of(pins(RUN)).items()
    assert {canonicalize_name(Requirement(one).name) for one in PROJECT["project"]["dependencies"]} <= set(versions)
    assert {"anyio", "markupsafe", "tornado"} <= set(versions)
    assert not {"hatchling", "pytest", "cyclonedx-bom"} & set(versions)
    assert [one["name"] for one in found["components"] if not one.get("licenses")] == []
    assert all(one["purl"].startswith("pkg:pypi/") for one in found["components"])
    assert (found["metadata"]["component"]["name"], found["metadata"]["component"]["version"]) == ("memosite", "0.1.0")
    roots = {edge["ref"]: edge.get("dependsOn", []) for edge in found["dependencies"]}
    assert any(ref.startswith("lxml==") for ref in roots[found["metadata"]["component"]["bom-ref"]])
    assert str(ROOT) not in text


AUDIT = ROOT / "scripts/audit"


def run_audit(*options: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run the audit as CI does."""
    return subprocess.run(
        [sys.executable, str(AUDIT), *options], capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, **environment},
    )  # fmt: skip


def load_audit() -> Any:
    """The script as a module."""
    loader, audit = SourceFileLoader("audit", str(AUDIT)), ModuleType("audit")
    audit.__file__ = str(AUDIT)
    loader.exec_module(audit)
    return audit


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


def test_a_known_vulnerability_fails_the_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is named, with the version to take; where it is accepted, here in a lock file of one, the audit passes."""
    package = {"name": "lxml", "ecosystem": "PyPI"}
    ranges = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.1"}]}]
    found = {"id": "TEST-2026-1", "summary": "x", "published": "2026-05-01T00:00:00Z", "aliases": ["CVE-1"]}
    with vulnerability_database({"lxml": {**found, "affected": [{"package": package, "ranges": ranges}]}}) as address:
        done = run_audit("--vulnerability-service", "osv", "--osv-url", address, NO_PROXY="*")
        (lock := tmp_path / "lock.txt").write_text(
            next(part for part in re.split(r"\n(?=\S)", DEV) if part.startswith("lxml==")) + "\n"
        )
        monkeypatch.setenv("NO_PROXY", "*")
        monkeypatch.setattr(audit := load_audit(), "LOCK", str(lock))
        options = ["--vulnerability-service", "osv", "--osv-url", address]
        assert audit.main([*options, "--ignore-vuln", "TEST-2026-1"]) == 0
        said = capsys.readouterr().out
    assert done.returncode == 1, done.stderr
    assert re.search(r"^audit: lxml \S+: .*TEST-2026-1.*; fixed in: 99\.1$", done.stdout, re.MULTILINE)
    assert re.search(r"^audit: (\d+) of \1 packages of \S+ audited, 1 vulnerabilities$", done.stdout, re.MULTILINE)
    assert re.search(r"^audit: 1 of 1 packages of \S+ audited, 0 vulnerabilities$", said, re.MULTILINE)


def test_an_audit_without_a_database_says_so_and_passes_and_one_that_breaks_fails() -> None:
    """What could not be asked is never free of vulnerabilities; an error of pip-audit's own is no missing network."""
    closed = "http://127.0.0.1:9"
    done = run_audit(HTTPS_PROXY=closed, https_proxy=closed, ALL_PROXY=closed)
    assert done.returncode == 0, done.stderr
    assert "audit: NOT DONE: no database of vulnerabilities could be reached (tried pypi, osv)." in done.stdout
    assert "audited," not in done.stdout
    done = run_audit("--no-such-option")
    assert done.returncode == 1 and "audit: pip-audit failed:" in done.stderr


def test_a_mirror_that_knows_no_vulnerabilities_is_no_database(capsys: pytest.CaptureFixture[str]) -> None:
    """pip-audit calls packages that PyPI's database does not have skipped, finds nothing, and is content."""
    skipped = [{"name": "lxml", "skip_reason": "Dependency not found on PyPI and could not be audited: lxml (6.1.3)"}]
    known = [{"name": "rich", "version": "15.0.0", "vulns": []}]
    audit = load_audit()
    assert audit.judge([skipped, []]) == 0
    assert "NOT DONE" in capsys.readouterr().out
    assert audit.judge([skipped + known]) == 0
    said = capsys.readouterr().out
    assert "audit: lxml: not audited: Dependency not found on PyPI" in said and "1 of 2 packages" in said
