"""What is made again: only what changed, and exactly what changed."""

import os
import random
import shutil
from pathlib import Path

import pytest

from memosite.cli import main
from tests.crawl import tree_bytes
from tests.random_edits import EDITS, open_site

EXAMPLE = Path(__file__).parent.parent / "example-org"
LEDGER = "archive/ledger.jsonl"
MARKER = ".memosite-site"

STEPS = int(os.environ.get("MEMOSITE_EDITS", "50"))


@pytest.fixture
def organization(tmp_path: Path) -> Path:
    """A copy of the example that a test may change."""
    folder = tmp_path / "organization"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("_site", ".memosite"))
    open_site(folder)
    return folder


def build(site: Path, *arguments: str) -> None:
    """Build in one process."""
    assert main(["build", str(site), "--quiet", "--jobs", "1", *arguments]) == 0


def site_of(folder: Path) -> dict[str, bytes]:
    """The files of a site without the one that has a clock."""
    return {path: data for path, data in tree_bytes(folder).items() if path != "status.json"}


def built_from_nothing(site: Path, folder: Path) -> dict[str, bytes]:
    """The site as a build makes it that knows nothing of earlier ones but their ledger."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "out/archive").mkdir(parents=True)
    shutil.copy(site / "_site" / LEDGER, folder / "out" / LEDGER)
    shutil.copy(site / "_site" / MARKER, folder / "out" / MARKER)
    build(site, "-o", str(folder / "out"), "--cache", str(folder / "cache"))
    return site_of(folder / "out")


def test_after_random_edits_a_build_is_what_a_clean_one_would_be(organization: Path, tmp_path: Path) -> None:
    """Whatever is added, moved, edited, deleted, broken or configured (SPEC 10, equal bytes)."""
    rng = random.Random(20261122)
    done: list[str] = []
    build(organization)
    for _ in range(STEPS):
        done.append(rng.choice(EDITS)(organization, rng))
        build(organization)
        assert site_of(organization / "_site") == built_from_nothing(organization, tmp_path / "clean"), done[-3:]
