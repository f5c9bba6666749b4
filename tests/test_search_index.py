"""The index in the cache: what it finds, how it is kept up to date, what it survives."""

import os
import pickle
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from memosite.facts.errors import OutputError
from memosite.search.match import match
from memosite.search_language import QueryError, parse_query
from tests.support.memos import write_memo, write_transcript
from tests.support.search import Dictionaries, Read, many_queries, reading
from tests.support.sites import EXAMPLE

Place = tuple[str, str, int, str]


def ids(site: Path, cache: Path, query: str, said: list[str] | None = None) -> list[str]:
    """The ids of what a query finds in a site, in order."""
    with reading(site) as read:
        answer = read.index(cache, say=([] if said is None else said).append).find(parse_query(query, read.analyzer))
        return [f"{hit.id}#{hit.turn}" if hit.turn else hit.id for hit in answer.hits]


@pytest.fixture(scope="module")
def example() -> Iterator[Read]:
    """The demonstration, read once."""
    with reading(EXAMPLE) as read:
        yield read


def page_of(file: str, turn: int) -> str:
    """A hit's file without the passage in it that is shown; of a turn, that is the turn."""
    return file if turn else file.partition("#")[0]


def test_whoosh_finds_what_plain_dictionaries_find(example: Read, tmp_path: Path) -> None:
    """300 queries, with the same hits in the same order."""
    reader = example.index(tmp_path)
    plain = Dictionaries(found=example.documents(), analyzer=example.analyzer)
    some = 0
    for query in many_queries(example, 300):
        try:
            node = parse_query(query, example.analyzer)
        except QueryError:
            continue
        hits = [(hit.kind, hit.id, hit.turn, page_of(hit.file, hit.turn)) for hit in reader.find(node).hits]
        expected = [plain.found[number] for number in sorted(match(node, plain))]
        assert hits == [(one.card.kind, one.card.id, one.turn, page_of(one.file, one.turn)) for one in expected], query
        some += bool(hits)
    assert some > 200


def test_a_hit_in_a_transcript_opens_its_turn_and_tools_are_found_only_when_asked_for(tmp_path: Path) -> None:
    """A turn is a document of its own, and so is the output of its tools; `transcript:` names one and its turns."""
    text = "## User\n\nWhere is the tide table?\n\n## Assistant\n\nIn the hall.\n\n> **🔧 Bash**\n> grep tidemark\n"
    for name in ("talk", "other"):
        write_transcript(tmp_path / "transcripts/engineer", name, text=text, subject="A talk")
    write_memo(tmp_path / "memos/inbox", "talk", subject="A tide table")
    page = "transcripts/talk/index.html"
    expected = {
        "tide": [f"{page}#t1"], "hall": [f"{page}#t2"], "tidemark": [], "in:tools tidemark": [f"{page}#t2"],
        "in:tools hall": [], "talk": [page],
    }  # fmt: skip
    with reading(tmp_path) as read:
        reader = read.index(tmp_path / "cache")
        for query, files in expected.items():
            hits = reader.find(parse_query(f"transcript:talk {query}", read.analyzer)).hits
            assert [hit.file for hit in hits] == files, query


def test_dates_relative_to_now_are_relative_to_the_newest_artifact(tmp_path: Path) -> None:
    """So that the same archive always gives the same answer."""
    for day in ("2026-03-01", "2026-03-20", "2026-03-31"):
        write_memo(tmp_path / "memos/inbox", day, sent=f"{day}T12:00:00Z")
    assert ids(tmp_path, tmp_path / "cache", "after:2w") == ["2026-03-31", "2026-03-20"]
    assert ids(tmp_path, tmp_path / "cache", "before:2w") == ["2026-03-01"]


def test_only_what_changed_is_indexed_again(tmp_path: Path) -> None:
    """A memo that is added, edited or removed is read; the others are not."""
    folder = tmp_path / "memos/inbox"
    for name in ("one", "two", "three"):
        write_memo(folder, name, body=f"the text of {name}")
    cache = tmp_path / "cache"
    assert sorted(ids(tmp_path, cache, "text")) == ["one", "three", "two"]
    write_memo(folder, "two", body="another wording")
    write_memo(folder, "four", body="the text of four")
    (folder / "three.openthing").unlink()
    with reading(tmp_path) as read:
        asked: list[str] = []

        def text_of(digest: str) -> str:
            asked.append(digest)
            return read.shelf.text(digest)

        reader = read.index(cache, text_of)
        answer = reader.find(parse_query("text", read.analyzer))
        assert sorted(hit.id for hit in answer.hits) == ["four", "one"]
        assert len(asked) == 2
        read.index(cache, text_of)
        assert len(asked) == 2
    assert ids(tmp_path, cache, "wording") == ["two"]


def test_a_memo_that_was_read_is_found_in_its_new_mailbox(tmp_path: Path) -> None:
    """What changes without the text changing is indexed, too."""
    write_memo(tmp_path / "memos/inbox", "one")
    assert ids(tmp_path, tmp_path / "cache", "box:inbox") == ["one"]
    (tmp_path / "memos/read").mkdir()
    (tmp_path / "memos/inbox/one.openthing").rename(tmp_path / "memos/read/one.openthing")
    assert ids(tmp_path, tmp_path / "cache", "box:inbox") == []
    assert ids(tmp_path, tmp_path / "cache", "box:read") == ["one"]


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from tests.support.search import reading

    left = int(sys.argv[3])
    with reading(Path(sys.argv[1])) as read:
        def text_of(digest):
            global left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return read.shelf.text(digest)
        read.index(Path(sys.argv[2]), text_of)
"""


@pytest.mark.parametrize("texts", [0, 2])
def test_an_update_that_is_killed_costs_only_itself(texts: int, tmp_path: Path) -> None:
    """Both when the index is first made, and when it is brought up to date: the former one stays, and is updated."""
    folder, cache = tmp_path / "memos/inbox", tmp_path / "cache"
    for name in ("one", "two", "three", "four"):
        write_memo(folder, name)
    for word in ("first", "second"):
        for name in ("one", "two", "three", "four"):
            write_memo(folder, name, body=f"{word} text of {name}")
        command = [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path), str(cache), str(texts)]
        killed = subprocess.run(command, check=False)
        assert killed.returncode == -signal.SIGKILL
        assert (cache / "search.partial").exists()
        said: list[str] = []
        assert sorted(ids(tmp_path, cache, word, said)) == ["four", "one", "three", "two"]
        assert said == []
        assert not (cache / "search.partial").exists()


def test_a_damaged_index_is_made_anew(tmp_path: Path) -> None:
    """A byte changed on disk is enough."""
    write_memo(tmp_path / "memos/inbox", "one")
    assert ids(tmp_path, tmp_path / "cache", "text") == ["one"]
    segment = max((tmp_path / "cache/search").iterdir(), key=lambda path: path.stat().st_size)
    data = segment.read_bytes()
    segment.write_bytes(data[:20] + b"X" + data[21:])
    said: list[str] = []
    assert ids(tmp_path, tmp_path / "cache", "text", said) == ["one"]
    assert said == ["search index: it is damaged, or was not made here, so it is made anew"]


class Planted:
    """Writes a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return (os.system, (f"touch {self.target}", ""))[0], (f"touch {self.target}",)  # type: ignore[return-value]


def test_an_index_that_came_with_a_repo_is_never_opened(tmp_path: Path) -> None:
    """Whoosh unpickles its files: a copy of an index, as a clone would have it, is not one of ours."""
    write_memo(tmp_path / "memos/inbox", "one")
    cache = tmp_path / "cache"
    ids(tmp_path, cache, "text")
    shutil.copytree(cache, tmp_path / "cloned", copy_function=shutil.copy2)
    (table,) = (tmp_path / "cloned/search").glob("*.toc")
    planted = pickle.dumps(Planted(tmp_path / "executed"))
    table.write_bytes(planted + table.read_bytes()[len(planted) :])
    said: list[str] = []
    assert ids(tmp_path, tmp_path / "cloned", "text", said) == ["one"]
    assert "not made here" in said[0]
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("planted", ["a file", "a pipe", "an endless link", "a seal without end", "a deep seal"])
def test_whatever_lies_where_the_index_belongs_is_replaced(planted: str, tmp_path: Path) -> None:
    """Nothing is waited for, and no more is read than a seal has."""
    write_memo(tmp_path / "memos/inbox", "one")
    folder = tmp_path / "cache/search"
    folder.parent.mkdir()
    if planted == "a file":
        folder.write_text("text")
    else:
        folder.mkdir()
    seal = folder / "seal.json"
    if planted == "a pipe":
        os.mkfifo(seal)
    elif planted == "an endless link":
        seal.symlink_to("/dev/zero")
    elif planted != "a file":
        seal.write_text(("[" if planted == "a deep seal" else " ") * (1 << 21))
    said: list[str] = []
    assert ids(tmp_path, tmp_path / "cache", "text", said) == ["one"]
    assert "made anew" in said[0]
    assert ids(tmp_path, tmp_path / "cache", "text", said) == ["one"]
    assert len(said) == 1


def test_a_link_in_the_cache_is_refused(tmp_path: Path) -> None:
    """It would lead writing and removing out of the cache."""
    write_memo(tmp_path / "memos/inbox", "one")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("text")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/search").symlink_to(elsewhere)
    with pytest.raises(OutputError, match="symbolic link"):
        ids(tmp_path, tmp_path / "cache", "text")
    assert (elsewhere / "precious").exists()


def test_best_hits_come_first_when_asked_for(tmp_path: Path) -> None:
    """A word in the subject counts more, and more often in a shorter text."""
    write_memo(tmp_path / "memos/inbox", "often", subject="Other", body="tide tide tide", sent="2026-01-01T00:00:00Z")
    write_memo(
        tmp_path / "memos/inbox", "once", subject="Other", body="tide " + "word " * 50, sent="2026-01-03T00:00:00Z"
    )
    write_memo(tmp_path / "memos/inbox", "title", subject="Tide", body="tide tide", sent="2026-01-02T00:00:00Z")
    with reading(tmp_path) as read:
        reader = read.index(tmp_path / "cache")
        node = parse_query("tide", read.analyzer)
        assert [hit.id for hit in reader.find(node).hits] == ["once", "title", "often"]
        assert [hit.id for hit in reader.find(node, sort="score").hits] == ["title", "often", "once"]
