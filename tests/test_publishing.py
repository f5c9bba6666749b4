"""docs/guide/hosting.md, publishing by itself: the scripts and workflows, as far as they run without their hosts."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.files import ROOT, write_text
from tests.support.memos import write_memo
from tests.support.repos import Repo, run_git
from tests.support.servers import Handler, serve_folder

HOSTING = ROOT / "docs/hosting"
MEMO = "2026-05-01-0900--director--engineer--one"
SECOND = "2026-05-02-0900--director--engineer--two"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with `memosite` in it."""
    folder = tmp_path / "runner/memosite/bin"
    folder.mkdir(parents=True)
    (folder / "memosite").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memosite "$@"\n')
    (folder / "memosite").chmod(0o755)
    return folder


@pytest.fixture
def organization(tmp_path: Path) -> Iterator[Path]:
    """A site whose one repo is a clone of another."""
    origin = Repo(tmp_path / "origin")
    write_memo(origin.root / "memos/inbox", MEMO)
    origin.commit()
    site = tmp_path / "archive"
    site.mkdir()
    run_git(site, "clone", "--quiet", str(origin.root), "engine")
    write_text(site / "memosite.yml", "sources: [{path: engine}]\n")
    yield site


def run(programs: Path, *words: object, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a script with `memosite` at hand."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{programs}:{os.environ['PATH']}", **more}
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, env=environment, check=False)


def arrive(organization: Path, *, is_pulled: bool) -> None:
    """A second memo is committed in the repo, and pulled into the clone."""
    origin = Repo(organization.parent / "origin", is_new=False)
    write_memo(origin.root / "memos/inbox", SECOND)
    origin.commit()
    if is_pulled:
        run_git(organization / "engine", "pull", "--quiet")


# Where the last output is not at hand


class Broken(Handler):
    """A server that is down for a moment."""

    def do_GET(self) -> None:  # noqa: N802 - the name that http.server calls
        """Answer with an error."""
        self.send_error(HTTPStatus.BAD_GATEWAY)


def test_a_build_goes_on_from_what_is_published(organization: Path, programs: Path, tmp_path: Path) -> None:
    """The first one begins; the second one knows what arrived before."""
    script, published = HOSTING / "build.sh", tmp_path / "published"
    published.mkdir()
    with serve_folder(published) as base:
        done = run(programs, script, base, organization, "-o", tmp_path / "first", "--base-url", base, "--quiet")
        assert (done.returncode, done.stderr.count("the archive begins here")) == (0, 1)
    with serve_folder(tmp_path / "first") as base:
        arrive(organization, is_pulled=True)
        done = run(programs, script, f"{base}/", organization, "-o", tmp_path / "second", "--base-url", base, "--quiet")
        assert (done.returncode, done.stderr) == (0, "")
    first, second = ((tmp_path / one / "archive/ledger.jsonl").read_text() for one in ("first", "second"))
    assert second.startswith(first)
    assert SECOND in second.removeprefix(first)


def test_a_server_that_is_down_ends_the_build(organization: Path, programs: Path, tmp_path: Path) -> None:
    """Else the addresses and the order of arrival would be lost."""
    with serve_folder(tmp_path, Broken) as base:
        done = run(programs, HOSTING / "build.sh", base, organization, "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "the server answered 502, expected 200, or 404" in done.stderr
    assert not (tmp_path / "out").exists()
    done = run(programs, HOSTING / "build.sh", base, organization, "-o", tmp_path / "out")
    assert "the server answered 000" in done.stderr


# From cron


def test_cron_updates_builds_and_copies(organization: Path, programs: Path, tmp_path: Path) -> None:
    """What arrives is published, without a word. What could not be updated is said, with exit code 1: cron mails.

    A build that fails, by memosite's exit code 2, publishes nothing.
    """
    publish = (programs, HOSTING / "publish.sh", organization)
    done = run(*publish, f"{tmp_path / 'www'}/")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / f"www/memos/{MEMO}/index.html").exists()
    arrive(organization, is_pulled=False)
    assert run(*publish, f"{tmp_path / 'www'}/").returncode == 0
    assert (tmp_path / f"www/memos/{SECOND}/index.html").exists()
    run_git(organization / "engine", "remote", "set-url", "origin", str(tmp_path / "gone"))
    done = run(*publish, f"{tmp_path / 'other'}/")
    assert done.returncode == 1
    assert "engine/ could not be updated; its last state is published" in done.stderr
    assert (tmp_path / f"other/memos/{MEMO}/index.html").exists()
    write_text(organization / "memosite.yml", "sauces: []\n")
    assert run(*publish, f"{tmp_path / 'new'}/").returncode == 2
    assert not (tmp_path / "new").exists()


# Workflows


def read_yaml(path: Path) -> Any:
    """A workflow. YAML 1.1 reads its key `on` as true."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_action_builds(organization: Path, programs: Path, tmp_path: Path) -> None:
    """Its last step, run with the inputs of a workflow; twice, with what is published between."""
    steps = read_yaml(ROOT / "action.yml")["runs"]["steps"]
    script = tmp_path / "step"
    script.write_text(steps[-1]["run"])
    (tmp_path / "published").mkdir()
    runner = {"RUNNER_TEMP": str(programs.parent.parent), "GITHUB_ACTION_PATH": str(ROOT), "FAIL_ON": "error"}
    ledgers = []
    with serve_folder(tmp_path / "published") as base:
        for number in range(2):
            public = tmp_path / f"public-{number}"
            inputs = {"SITE": str(organization), "OUTPUT": str(public), "BASE_URL": f"{base}/", "AUDIENCE": "public"}
            done = run(programs, "bash", "-e", script, **inputs, **runner)
            assert done.returncode == 0, done.stderr
            assert (public / f"memos/{MEMO}/index.html").exists()
            assert set(steps[-1]["env"]) <= {*inputs, *runner}
            ledgers.append((public / "archive/ledger.jsonl").read_text())
            shutil.copytree(public, tmp_path / "published", dirs_exist_ok=True)
            if number == 0:
                arrive(organization, is_pulled=True)
    assert ledgers[1].startswith(ledgers[0]) and ledgers[1] != ledgers[0]


def test_workflows_name_inputs_and_files_that_there_are() -> None:
    """What the action has, and what is in the checkout."""
    action = read_yaml(ROOT / "action.yml")
    workflow = read_yaml(HOSTING / "github.yml")
    [step] = [one for one in workflow["jobs"]["publish"]["steps"] if "memosite@" in one.get("uses", "")]
    assert set(step["with"]) <= set(action["inputs"])
    assert {name for name, one in action["inputs"].items() if one.get("required")} <= set(step["with"])
    used = "".join(one.get("run", "") for one in action["runs"]["steps"])
    for path in ("requirements/run.txt", "docs/hosting/build.sh"):
        assert f"$GITHUB_ACTION_PATH/{path}" in used
        assert (ROOT / path).exists()
    notify = read_yaml(HOSTING / "github-notify.yml")
    assert notify["jobs"]["notify"]["steps"]
    assert notify[True] == {"push": {"branches": ["main"]}}  # any file may be part of the archive


def test_scripts_are_shell() -> None:
    """Those of files and of GitLab's job. No value is pasted into one by a workflow: text in a script would be run."""
    for name in ("action.yml", "docs/hosting/github.yml", ".github/workflows/release.yml"):
        found = read_yaml(ROOT / name)
        jobs = [found["runs"]] if "runs" in found else found["jobs"].values()
        assert [step["run"] for job in jobs for step in job["steps"] if "${{" in step.get("run", "")] == []
    lines = "\n".join(read_yaml(HOSTING / "gitlab-ci.yml")["pages"]["script"])
    subprocess.run(["sh", "-n"], input=lines, text=True, check=True)
    for script in HOSTING.glob("*.sh"):
        subprocess.run(["sh", "-n", script], check=True)


def test_the_release_is_built_of_the_tags_version(tmp_path: Path) -> None:
    """A tag that is not the version in pyproject.toml ends it."""
    steps = read_yaml(ROOT / ".github/workflows/release.yml")["jobs"]["build"]["steps"]
    [check] = [one["run"] for one in steps if one.get("name") == "The tag is the version"]
    write_text(tmp_path / "pyproject.toml", (ROOT / "pyproject.toml").read_text())
    for tag, code in (("v0.1.0", 0), ("v9.9.9", 1)):
        done = subprocess.run(["bash", "-c", check], cwd=tmp_path, env={"GITHUB_REF_NAME": tag}, check=False)
        assert done.returncode == code
