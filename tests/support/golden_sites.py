"""[I/O] The golden site (`tests/golden/site`): with a history, and with a memo that was erased; and one of sessions."""

import datetime as dt
import shutil
from pathlib import Path

from memosite.build import build
from memosite.config.loading import load_config
from tests.support.files import ROOT
from tests.support.repos import Repo, run_git
from tests.support.sites import shared_folder

GOLDEN = ROOT / "tests" / "golden"
BUILT = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)
DREDGE = "2026-05-04-1100--director--master--dredge"


def golden_sites() -> Path:
    """A folder with `site`, `withheld` and `sessions`, built once for all processes of a run. No test may change it."""
    return shared_folder("golden", _build_all)


def _build_all(folder: Path) -> None:
    build_withheld(build_golden(folder / "site"))
    _build(shutil.copytree(GOLDEN / "sessions", folder / "sessions"))


def build_golden(folder: Path) -> Path:
    """Build it in a new folder, of two repos in which a memo was edited and one removed after a first commit."""
    shutil.copytree(GOLDEN / "site", folder)
    soundings = folder / "office/memos/read/2026-04-30-1000--master--director--soundings.openthing"
    received = folder / "office/memos/inbox" / soundings.name
    text = soundings.read_text(encoding="utf-8")
    soundings.unlink()
    received.write_text(text.replace("4.1 m", "4 m"), encoding="utf-8")
    for source in ("office", "pier"):
        Repo(folder / source)
    _commit(folder, "2026-05-06T08:00:00Z")
    received.unlink()
    soundings.write_text(text, encoding="utf-8")
    (folder / "pier/memos/inbox/2026-05-02-0900--clerk--master--keys.openthing").unlink()
    _commit(folder, "2026-05-08T08:00:00Z")
    return _build(folder)


def build_withheld(site: Path) -> Path:
    """The same site beside it, in which the memo on dredging is erased after it was published."""
    folder = shutil.copytree(site.parent, site.parent.with_name("withheld"), symlinks=True)
    with (folder / "memosite.yml").open("a", encoding="utf-8") as file:
        file.write(f"erase: [{{id: {DREDGE}, why: It names the wrong barge owner, on: 2026-05-20}}]\n")
    return _build(folder)


def _build(folder: Path) -> Path:
    config = load_config(folder)
    build(config, clock=lambda: BUILT)
    return config.output


def _commit(folder: Path, date: str) -> None:
    """Commit what is in the sources."""
    for source in ("office", "pier"):
        run_git(folder / source, "add", "--all")
        run_git(folder / source, "commit", "-q", "-m", "Work", at=date)
