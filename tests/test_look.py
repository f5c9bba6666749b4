"""Looks at folders that are taken again only where something has changed."""

import datetime as dt
from pathlib import Path

import pytest

import memosite.sources.look as looking
from memosite.build import build
from memosite.config.loading import load_config
from memosite.remake.memory import Memory
from memosite.sources.look import Look, Looks
from tests.support.memos import write_memo

LATER = "2026-05-02-1430--a--b--later"


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of folders that were walked."""
    walked: list[str] = []
    walk = looking.look_at

    def look_at(root: str, **settings: tuple[str, ...]) -> Look:
        walked.append(Path(root).name)
        return walk(root, **settings)

    monkeypatch.setattr("memosite.sources.look.look_at", look_at)
    return walked


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Two repos, with a memo each."""
    for repo in ("one", "two"):
        write_memo(tmp_path / repo / "memos/inbox", f"2026-05-01-1430--a--b--in-{repo}")
    return tmp_path


def rebuild(site: Path, memory: Memory, *changed: Path) -> int:
    """Build after these paths have changed, and give how many files were written besides `status.json`."""
    paths = frozenset(map(str, changed)) or None
    report = build(load_config(site), clock=lambda: dt.datetime.now(dt.UTC), memory=memory, changed=paths)
    return report.written - 1


def test_only_what_has_changed_is_walked(site: Path, looked_at: list[str]) -> None:
    """Whoever is told of every change knows how the rest lies there."""
    with Memory() as memory:
        rebuild(site, memory)
        assert looked_at == ["one", "two"]
        looked_at.clear()
        path = write_memo(site / "two/memos/inbox", LATER)
        assert rebuild(site, memory, path) > 0
        assert looked_at == ["two"]
        looked_at.clear()
        rebuild(site, memory, site / "memosite.yml")  # it may have changed anything
        assert looked_at == ["one", "two"]


def test_a_change_that_nobody_told_of_is_found_afterwards(site: Path, looked_at: list[str]) -> None:
    """The system may lose events: what is believed is looked at when browsers have reloaded."""
    with Memory() as memory:
        rebuild(site, memory)
        write_memo(site / "one/memos/inbox", LATER)
        path = write_memo(site / "two/memos/inbox", LATER.replace("later", "told"))
        rebuild(site, memory, path)
        assert looked_at == ["one", "two", "two"]
        assert not (site / f"_site/memos/{LATER}").exists()
        assert not memory.check()
        rebuild(site, memory)
        assert (site / f"_site/memos/{LATER}").exists()
        assert memory.check()


def test_what_is_not_true_is_looked_at_again_with_all_of_the_site(site: Path) -> None:
    """A file of the site that was damaged meanwhile is made again by that next build, too."""
    with Memory() as memory:
        rebuild(site, memory)
        page = site / "_site/index.html"
        before = page.read_bytes()
        page.write_bytes(b"damaged")
        write_memo(site / "one/memos/inbox", LATER, sent="2020-05-01T14:30:00Z")
        assert not memory.check()
        rebuild(site, memory, site / "one")
        assert page.read_bytes() != b"damaged"
        assert len(page.read_bytes()) >= len(before)


def test_looks_that_nobody_asks_for_are_let_go(site: Path) -> None:
    """Another configuration looks at other folders, or otherwise."""
    looks = Looks()
    for number in range(3):
        looks.forget([str(site / "one/file")])
        for repo in ("one", "two"):
            looks.look_at(str(site / repo), include=(), exclude=(f"{number}",), holes=())
    assert len(looks._known) == 3  # one of them is of the build before
    looks.forget([str(site / "one/file")])
    assert len(looks._known) == 1


def test_a_folder_in_a_folder_is_part_of_both(tmp_path: Path) -> None:
    """A change in it is one of both."""
    inner = tmp_path / "outer/inner"
    inner.mkdir(parents=True)
    looks = Looks()
    folders = {"include": (), "exclude": (), "holes": ()}
    before = [looks.look_at(str(root), **folders) for root in (inner.parent, inner)]
    looks.forget([f"{inner.parent}/file"])
    assert looks.look_at(str(inner), **folders) is before[1]
    assert looks.look_at(str(inner.parent), **folders) is not before[0]
    looks.forget([f"{inner}/file"])
    assert looks.look_at(str(inner), **folders) is not before[1]
