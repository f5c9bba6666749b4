"""What was analyzed of the last search block stays in the cache, as long as it is in the block."""

from collections.abc import Callable
from pathlib import Path

import pytest

import memosite.search.blocks as blocks_module
from memosite.search.documents import Card
from memosite.store.cache import read_signed, write_signed
from tests.support.memos import write_memo
from tests.support.sites import build_site, built_from_nothing, tree_bytes

FIRST, SECOND, THIRD = (f"2026-05-0{day}-1430--a--b--{name}" for day, name in enumerate(("one", "two", "three"), 1))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of two memos that was built."""
    site = tmp_path / "site"
    write_memo(site / "memos/inbox", FIRST, body="About the quay.")
    write_memo(site / "memos/inbox", SECOND, body="About the zeppelin.")
    build_site(site)
    return site


def kept(site: Path) -> list[str]:
    """The files of analyses in the cache."""
    return sorted(file.name for file in (site / ".memosite/internal/analyses").iterdir())


def words(site: Path) -> bytes:
    """All that is in them."""
    return b"".join(file.read_bytes() for file in (site / ".memosite/internal/analyses").iterdir())


@pytest.fixture
def analyzed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of what is analyzed."""
    found: list[str] = []
    find: Callable[..., object] = blocks_module._find

    def noted(card: Card, **options: object) -> object:
        found.append(card.id)
        return find(card, **options)

    monkeypatch.setattr(blocks_module, "_find", noted)
    return found


def test_what_is_in_the_last_block_is_not_analyzed_again(site: Path, analyzed: list[str], tmp_path: Path) -> None:
    """A build of another process analyzes what is new, and makes the files that a clean build makes."""
    write_memo(site / "memos/inbox", THIRD)
    build_site(site, "--jobs", 1)
    assert analyzed == [THIRD]
    assert tree_bytes(site / "_site") == built_from_nothing(site, tmp_path / "clean")


@pytest.mark.parametrize("how", ["another key", "no signature", "damaged", "another program's", "gone"])
def test_only_what_this_program_wrote_counts(site: Path, analyzed: list[str], tmp_path: Path, how: str) -> None:
    """Otherwise all is analyzed, and the files are the same."""
    file = site / ".memosite/internal/analyses/t0.cache"
    data = read_signed(file)
    assert data is not None
    match how:
        case "another key":
            file.write_bytes(bytes(32) + data)
        case "no signature":
            file.write_bytes(data)
        case "damaged":
            write_signed(file, data[: len(data) // 2])
        case "another program's":
            write_signed(file, data.replace(data[7:17], b"0123456789"))
        case _:
            file.unlink()
    write_memo(site / "memos/inbox", THIRD)
    build_site(site, "--jobs", 1)
    assert sorted(analyzed) == [FIRST, SECOND, THIRD]
    assert tree_bytes(site / "_site") == built_from_nothing(site, tmp_path / "clean")


def test_what_is_removed_is_in_no_file(site: Path) -> None:
    """Neither the words of a memo that is gone nor those of a text that was changed."""
    assert b"quay" in words(site) and b"zeppelin" in words(site)
    write_memo(site / "memos/inbox", FIRST, body="About the pier.")
    (site / f"memos/inbox/{SECOND}.openthing").unlink()
    build_site(site)
    assert b"pier" in words(site)
    assert b"quay" not in words(site) and b"zeppelin" not in words(site)


def test_only_the_last_block_is_kept(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When another one is the last, the file of the former goes with its words."""
    monkeypatch.setattr(blocks_module, "TAIL", 2)
    write_memo(site / "memos/inbox", THIRD, body="About the lighthouse.")
    build_site(site, "--jobs", 1)
    assert kept(site) == ["t1.cache"]
    (site / f"memos/inbox/{THIRD}.openthing").unlink()
    build_site(site, "--jobs", 1)
    assert kept(site) == []
