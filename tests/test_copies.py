"""A file that is in several mailboxes at once: each copy has its own history, and none has moved (SPEC 2.3)."""

from pathlib import Path

import pytest
from lxml import html

from tests.support.archives import memo
from tests.support.lives import KEY, NAME, archive_of, commit_memo, history_of, life, put, words
from tests.support.pages import found
from tests.support.repos import Repo
from tests.support.sites import build_site

INBOX, READ, ARCHIVE = (f"memos/{mailbox}/{NAME}.openthing" for mailbox in ("inbox", "read", "archive"))
FLAT = f"memos/{NAME}.openthing"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repo into whose inbox Ann has committed a memo."""
    repo = Repo(tmp_path / "engine")
    commit_memo(repo, who="Ann")
    return repo


def copy(repo: Repo, old: str, new: str, *, who: str = "", text: str = "") -> None:
    """Copy a file; commit that, if somebody does."""
    repo.write(new, (repo.root / old).read_text() + text)
    if who:
        repo.commit(who=who)


def lives(repo: Repo, cache: Path | None = None) -> dict[str, list[str]]:
    """What is told of the copy in each mailbox; from a cache, too, if there is one."""
    copies = memo(archive_of(repo), NAME).copies
    told: dict[str, list[str]] = {
        one.mailbox or "": [words(event) for event in one.life.events] for one in copies if one.life
    }
    if cache is not None:
        history = history_of(repo, cache=cache)
        assert {one.mailbox or "": [*map(words, history.at(one.file.path))] for one in copies} == told
        assert history == history_of(repo)
    return told


@pytest.mark.parametrize("place", [ARCHIVE, READ, FLAT])
def test_a_copy_beside_the_memo_is_received_and_none_moved(repo: Repo, tmp_path: Path, place: str) -> None:
    """Wherever it is; the pages tell of two copies."""
    copy(repo, INBOX, place, who="Bo")
    box = place.split("/")[1] if place != FLAT else "flat"
    assert lives(repo) == {"inbox": ["received inbox by Ann"], box: [f"received {box} by Bo"]}
    page = build_site(tmp_path) / f"memos/{NAME}/index.html"
    labels = " ".join(" ".join(found(html.parse(page), "//ol[@class='life']/li//text()")).split())
    assert labels.count("received") == 2 and "archived" not in labels and "moved" not in labels


def test_each_copy_is_followed_by_itself(repo: Repo, tmp_path: Path) -> None:
    """Edits, moves, a further copy; also read on from what was known, commit by commit."""
    cache = tmp_path / "cache.json"
    assert lives(repo, cache) == {"inbox": ["received inbox by Ann"]}
    copy(repo, INBOX, READ, who="Bo")
    put(repo, subject="Another gate")
    repo.commit(who="Cy")
    edited = ["received inbox by Ann", "edited inbox by Cy"]
    assert lives(repo, cache) == {"inbox": edited, "read": ["received read by Bo"]}
    repo.move(READ, ARCHIVE)
    repo.commit(who="Di")
    assert lives(repo, cache) == {"inbox": edited, "archive": ["received read by Bo", "moved archive by Di"]}
    (repo.root / "office").mkdir()
    repo.git("mv", "memos", "office/memos")
    repo.commit(who="Ed")
    told = {one: [*map(words, history_of(repo, cache=cache).at(f"office/{one}"))] for one in (INBOX, ARCHIVE)}
    assert told == {
        INBOX: [*edited, "moved inbox by Ed"],
        ARCHIVE: ["received read by Bo", "moved archive by Di", "moved archive by Ed"],
    }


def test_the_copy_that_is_left_has_the_whole_history(repo: Repo, tmp_path: Path) -> None:
    """Whoever copies first and removes later has moved it: the receipt stays."""
    copy(repo, INBOX, ARCHIVE, who="Bo")
    repo.git("rm", "--quiet", INBOX)
    repo.commit(who="Cy")
    assert lives(repo, tmp_path / "cache.json") == {"archive": ["received inbox by Ann", "moved archive by Bo"]}
    assert life(repo, KEY) == ["received inbox by Ann", "moved archive by Bo"]
    repo.git("rm", "--quiet", ARCHIVE)
    repo.commit(who="Di")
    assert list(history_of(repo).events) == [KEY]


def test_a_copy_of_a_branch_is_told_by_its_commit(repo: Repo) -> None:
    """Not by the merge that brought it."""
    repo.git("checkout", "--quiet", "-b", "tidy")
    copy(repo, INBOX, ARCHIVE, who="Bo")
    repo.git("checkout", "--quiet", "main")
    repo.commit("other work")
    repo.git("merge", "--quiet", "--no-ff", "-m", "merge", "tidy", at=9, who="Cy")
    assert lives(repo) == {"inbox": ["received inbox by Ann"], "archive": ["received archive by Bo"]}


def test_a_copy_that_is_not_committed_is_delivered(repo: Repo) -> None:
    """It did not move either; what did move and is not committed has the history."""
    copy(repo, INBOX, ARCHIVE)
    states = {one.mailbox: one.life and one.life.state for one in memo(archive_of(repo), NAME).copies}
    assert states == {"inbox": "committed", "archive": "delivered"}
    assert lives(repo) == {"inbox": ["received inbox by Ann"], "archive": []}
    (repo.root / INBOX).unlink()
    (alone,) = memo(archive_of(repo), NAME).copies
    assert alone.life and alone.life.state == "moved" and alone.received
