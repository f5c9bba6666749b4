"""Builds sites in this process, and says what is in their output folders; `EXAMPLE` is the demonstration."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from memosite.archive.ledger import LEDGER_PATH
from memosite.archive.seals import SEALS_PATH
from memosite.cli import main
from memosite.facts.layout import SITE_MARKER
from tests.support.files import ROOT

EXAMPLE = ROOT / "example-org"
"""The demonstration: a site folder with four repos. No test may change it: `copy_example` gives a copy."""
EXAMPLE_SOURCES = tuple(EXAMPLE / name for name in ("governance", "catalogue", "website", "reading-room"))


def copy_example(folder: Path) -> Path:
    """Copy the demonstration to a folder that is not there yet, without what builds have left in it."""
    return shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("_site", ".memosite"))


@cache
def shared_example() -> Path:
    """The copy of the demonstration that tests share which only ask of it; a cache may be left in it."""
    return copy_example(Path(tempfile.mkdtemp(prefix="memosite-example-")) / "example")


@cache
def built_example() -> Path:
    """A copy of the demonstration that was built, in `_site`: one for all processes of a run. No test may change it."""
    return shared_site("example", copy_example).parent


def shared_site(name: str, write: Callable[[Path], object], *, base_url: str | None = None) -> Path:
    """The output of a site folder that `write` writes, built once for all processes of a run. No test may change it."""

    def write_and_build(folder: Path) -> None:
        write(folder)
        build_site(folder, base_url=base_url)

    return shared_folder(name, write_and_build) / "_site"


def shared_folder(name: str, write: Callable[[Path], object]) -> Path:
    """A folder that `write` makes, once for all processes of a run. No test may change it."""
    folder = Path(os.environ["TESTS_SHARED_FOLDER"], name)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            begun = folder.with_suffix(".begun")
            shutil.rmtree(begun, ignore_errors=True)
            write(begun)
            begun.rename(folder)
    return folder


def build_site(site: Path, *options: object, output: Path | None = None, base_url: str | None = None) -> Path:
    """Build a site folder as `memosite build` does, and give its output folder, `_site` if none is named.

    `options` are further words of the command line. The build has to end well: for one that does not, call `main`.
    """
    words = ["build", str(site), "--quiet", *map(str, options)]
    words += ["-o", str(output)] if output else []
    words += ["--base-url", base_url] if base_url else []
    assert main(words) == 0
    return output or site / "_site"


def built_files(site: Path, *options: object, output: Path) -> dict[str, bytes]:
    """Build a site folder, and give every file of the site as `tree_bytes` does."""
    return tree_bytes(build_site(site, *options, output=output))


def built_from_nothing(site: Path, folder: Path) -> dict[str, bytes]:
    """The site as a build makes it that knows nothing of earlier ones in `_site` but their ledger and log."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "out/archive").mkdir(parents=True)
    for name in (LEDGER_PATH, SEALS_PATH, SITE_MARKER):
        shutil.copy(site / "_site" / name, folder / "out" / name)
    return built_files(site, "--jobs", 1, "--cache", folder / "cache", output=folder / "out")


def tree_bytes(output: Path) -> dict[str, bytes]:
    """Every file of a site by its path, without `status.json`, which holds the time of the build."""
    files = (path for path in sorted(output.rglob("*")) if path.is_file())
    return {path.relative_to(output).as_posix(): path.read_bytes() for path in files if path.name != "status.json"}


def file_states(output: Path) -> dict[str, tuple[int, int]]:
    """Time and inode of every file of a site by its path, without `status.json`: whether it was written again."""
    found = {path.relative_to(output).as_posix(): path.stat() for path in output.rglob("*") if path.is_file()}
    return {path: (state.st_mtime_ns, state.st_ino) for path, state in found.items() if path != "status.json"}
