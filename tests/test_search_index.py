"""The index in the cache and the blocks of the browser: both find the same; how they are kept, what they survive."""

import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.facts.errors import OutputError
from memosite.facts.values import replace
from memosite.search import blocks as blocks_module
from memosite.search.blocks import (
    FILE_BYTES,
    FULL,
    TAIL,
    Analyses,
    BlockHit,
    SearchBlock,
    StateBlock,
    cut_blocks,
    gaps,
    list_blocks,
    make_block,
    pack,
    render_block,
    render_states,
)
from memosite.search.documents import STRETCH, Card, Stretch
from memosite.search_language import QueryError, fold_character, parse_query
from tests.support.memos import write_memo, write_transcript
from tests.support.search import Read, browse, many_queries, reading
from tests.support.sites import EXAMPLE, build_site


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


class Planted:
    """Writes a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return (os.system, (f"touch {self.target}", ""))[0], (f"touch {self.target}",)  # type: ignore[return-value]


def test_a_damaged_index_is_made_anew_and_one_that_came_with_a_repo_is_never_opened(tmp_path: Path) -> None:
    """Whoosh unpickles its files: a copy, as a clone has it, is not ours. A link would lead out of the cache."""
    linked = tmp_path / "linked"
    write_memo(linked / "memos/inbox", "one")
    elsewhere = linked / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("text")
    (linked / "cache").mkdir()
    (linked / "cache/search").symlink_to(elsewhere)
    with pytest.raises(OutputError, match="symbolic link"):
        ids(linked, linked / "cache", "text")
    assert (elsewhere / "precious").exists()
    write_memo(tmp_path / "memos/inbox", "one")
    assert ids(tmp_path, tmp_path / "cache", "text") == ["one"]
    segment = max((tmp_path / "cache/search").iterdir(), key=lambda path: path.stat().st_size)
    data = segment.read_bytes()
    segment.write_bytes(data[:20] + b"X" + data[21:])
    said: list[str] = []
    assert ids(tmp_path, tmp_path / "cache", "text", said) == ["one"]
    assert said == ["search index: it is damaged, or was not made here, so it is made anew"]
    tmp_path = tmp_path / "planted"
    write_memo(tmp_path / "memos/inbox", "one")
    cache = tmp_path / "cache"
    ids(tmp_path, cache, "text")
    shutil.copytree(cache, tmp_path / "cloned", copy_function=shutil.copy2)
    (table,) = (tmp_path / "cloned/search").glob("*.toc")
    planted = pickle.dumps(Planted(tmp_path / "executed"))
    table.write_bytes(planted + table.read_bytes()[len(planted) :])
    said.clear()
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


def test_dates_are_relative_to_the_newest_and_mailboxes_and_scores_are_up_to_date(tmp_path: Path) -> None:
    """So that the same archive always gives the same answer."""
    for day in ("2026-03-01", "2026-03-20", "2026-03-31"):
        write_memo(tmp_path / "memos/inbox", day, sent=f"{day}T12:00:00Z")
    assert ids(tmp_path, tmp_path / "cache", "after:2w") == ["2026-03-31", "2026-03-20"]
    assert ids(tmp_path, tmp_path / "cache", "before:2w") == ["2026-03-01"]
    tmp_path = tmp_path / "moved"
    write_memo(tmp_path / "memos/inbox", "one")
    assert ids(tmp_path, tmp_path / "cache", "box:inbox") == ["one"]
    (tmp_path / "memos/read").mkdir()
    (tmp_path / "memos/inbox/one.openthing").rename(tmp_path / "memos/read/one.openthing")
    assert ids(tmp_path, tmp_path / "cache", "box:inbox") == []
    assert ids(tmp_path, tmp_path / "cache", "box:read") == ["one"]
    tmp_path = tmp_path / "scored"
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


HERE = Path(__file__).parent
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


Block = tuple[SearchBlock, StateBlock]


def plan_blocks(cards: Iterable[Card]) -> tuple[Block, ...]:
    """The blocks of an archive's cards."""
    return tuple(make_block(name, members) for name, members in cut_blocks(cards, lambda card: card.arrival))


def write_blocks(blocks: Sequence[Block], read: Read, folder: Path) -> dict[str, bytes]:
    """Write the files of some blocks and give them back by path."""
    files = dict([list_blocks([words.name for words, _ in blocks])])
    for words, states in blocks:
        files |= dict([*render_block(words, read.shelf.text), *render_states(states)])
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return files


def in_small_blocks(read: Read) -> list[Block]:
    """The archive in several blocks, as a large one has them: each seventh artifact in the same one."""
    return [make_block(f"t{number}", read.cards[number::7]) for number in range(7)]


@pytest.mark.parametrize("cut", ["as planned", "in many blocks"])
def test_the_browser_finds_what_whoosh_finds(cut: str, example: Read, tmp_path: Path) -> None:
    """200 queries: the same hits in the same order with the same passages, or the same error; facets count items."""
    blocks = plan_blocks(example.cards) if cut == "as planned" else in_small_blocks(example)
    write_blocks(blocks, example, tmp_path)
    reader = example.index(tmp_path / "cache")
    queries = many_queries(example, 200)
    long = {(one.card.kind, one.card.id) for one in example.documents() if len(one.texts[-1]) > STRETCH}
    answers = browse(tmp_path, queries, limit=100_000, whole=cut == "in many blocks")
    for query, answer in zip(queries, answers, strict=True):
        try:
            node = parse_query(query, example.analyzer)
        except QueryError as error:
            assert answer == {"error": error.message}, query
            continue
        hits = reader.find(node).hits
        assert [hit[:3] for hit in answer["hits"]] == [[hit.kind, hit.id, hit.turn] for hit in hits], query
        for (*_, file), shown, hit in zip(answer["hits"], answer["excerpts"], hits, strict=True):
            if (hit.kind, hit.id) in long:  # the browser is content with the first piece if that has all words together
                assert any(is_marked for _, is_marked in shown) == any(piece.is_marked for piece in hit.excerpt), query
                continue
            assert file == hit.file, query
            if all(ord(char) < 0x10000 for text, _ in shown for char in text):  # of others Python counts half as many
                assert shown == [[piece.text, piece.is_marked] for piece in hit.excerpt], (query, hit.file)
        assert answer["total"] == len(hits)
        items = {(hit.kind, hit.id, hit.date[:4] if hit.date else "") for hit in hits}
        assert answer["items"] == len(items)
        assert dict(answer["facets"]["kind"]) == Counter(kind for kind, _, _ in items)
        assert dict(answer["facets"]["year"]) == Counter(year for *_, year in items if year)


def test_the_first_hits_are_the_newest_of_all_blocks_and_a_query_moves_little(example: Read, tmp_path: Path) -> None:
    """Also of equal dates; a part of the blocks, and of the output of tools nothing, unless it may be found there."""
    cards = tuple(
        replace(card, date=card.date // 86_400_000 * 86_400_000 if card.date else None) for card in example.cards
    )
    read = replace(example, cards=cards)
    write_blocks(in_small_blocks(read), read, tmp_path)
    expected = [[one.card.kind, one.card.id, one.turn, one.file] for one in read.documents() if not one.is_tools]
    for limit in (1, 10, 33):
        (answer,) = browse(tmp_path, ["sent:[* TO *] OR NOT sent:[* TO *]"], limit=limit)
        assert answer["hits"] == expected[:limit]
    moved = tmp_path / "moved"
    files = write_blocks(plan_blocks(example.cards), example, moved)
    (answer,) = browse(moved, ["shelf holds"], limit=10)
    assert answer["total"] > 0
    assert answer["bytes"] < sum(map(len, files.values())) / 2
    words, output = (" ".join(f"{before}w{n}" for n in range(2000)) for before in ("", "tide "))
    text = f"## User\n\n{words}\n\n## Assistant\n\n> **🔧 Bash**\n> {output}"
    write_transcript(moved / "site/transcripts/engineer", "talk", text=text)
    with reading(moved / "site") as talk:
        write_blocks(plan_blocks(talk.cards), talk, moved / "out")
    texts, both, neither = browse(
        moved / "out", ["w1500", "w1500 (in:tools OR in:text)", "w1500 NOT in:tools"], limit=0
    )
    assert (texts["total"], both["total"], neither["total"]) == (1, 2, 1)
    assert texts["files"] == both["files"] - 1


def test_the_browser_shows_the_passages_that_the_command_shows_of_long_texts(tmp_path: Path) -> None:
    """Wherever words are: code, tables, items, links, footnotes, a turn; hostile ones stay text."""
    hostile = tmp_path / "hostile"
    evil = 'tide "); alert(1); ("</script> \u2028 \u2029 \\ \x00 ebb'
    write_memo(hostile / "memos/inbox", "evil", subject=evil, body=evil)
    with reading(hostile) as read:
        write_blocks(plan_blocks(read.cards), read, hostile / "out")
        write_blocks([], read, hostile / "empty")
    (answer,) = browse(hostile / "out", ["alert ebb"], limit=10)
    assert [hit[1] for hit in answer["hits"]] == ["evil"]
    (answer,) = browse(hostile / "empty", ["tide after:2w"], limit=10)
    assert (answer["total"], answer["hits"]) == (0, [])
    chance = random.Random(3)
    words = [f"w{number}" for number in range(3_000)]
    kinds: tuple[Callable[[str], str], ...] = (
        lambda text: f"{text}.",
        lambda text: f"# {text}",
        lambda text: f"- {text}\n- [{text}](https://example.org/some/other/words/{len(text)})",
        lambda text: "| a | b |\n|---|---|\n" + "\n".join(f"| {one} | **{one}** |" for one in text.split()),
        lambda text: "```py\n" + "\n\n".join(text.split()) + "\n```",
        lambda text: f"Said[^{text[:3]}] so.\n\n[^{text[:3]}]: {text}",
        lambda text: f"> {text}\n> {text}",
    )
    blocks = [
        chance.choice(kinds)(" ".join(words[number : number + 30])) for number in range(0, len(words) - 1_000, 30)
    ]
    body = "---\nstatus: open\n---\n" + "\n\n".join([*blocks, " ".join(words[-1_000:])])
    write_memo(tmp_path / "memos/inbox", "long", subject="Some words", body=body)
    write_transcript(tmp_path / "transcripts/engineer", "talk", text=f"## User\n\n{body}\n")
    queries = [f"kind:{kind} {word}" for kind in ("memo", "transcript") for word in chance.sample(words, 20)]
    queries += [f"{words[number]} {words[number + 1]}" for number in chance.sample(range(2_990), 10)]
    queries += [f'"{words[number]} {words[number + 1]}"' for number in chance.sample(range(2_990), 10)]
    queries += [f"{words[number]} {words[-number]} w0 w1" for number in chance.sample(range(2_990), 10)]
    with reading(tmp_path) as read:
        write_blocks(plan_blocks(read.cards), read, tmp_path / "out")
        reader = read.index(tmp_path / "cache")
        for query, answer in zip(queries, browse(tmp_path / "out", queries, limit=10), strict=True):
            hits = reader.find(parse_query(query, read.analyzer)).hits
            assert answer["hits"] == [[hit.kind, hit.id, hit.turn, hit.file] for hit in hits], query
            for shown, hit in zip(answer["excerpts"], hits, strict=True):
                marked = {text for text, is_marked in shown if is_marked}
                assert marked == {piece.text for piece in hit.excerpt if piece.is_marked}, (query, shown)
                assert marked, query


def numbered(read: Read, count: int) -> list[Card]:
    """So many cards, the example's over and over under other ids."""
    cards = read.cards
    return [replace(cards[n % len(cards)], id=f"x{n}", arrival=n + 1) for n in range(count)]


SearchFiles = dict[str, tuple[bytes, int]]
"""The files of a search, each with its bytes and its time."""


class Growing:
    """A site whose full block has 16 artifacts, built again after each change."""

    def __init__(self, folder: Path) -> None:
        self.inbox, self.output = folder / "site/memos/inbox", folder / "out"
        for number in range(1, 23):
            self.write(number)
        self.files = self.build()

    def write(self, number: int, *, day: int | None = None, body: str = "tide and ebb", **fields: Any) -> None:
        """Write a memo that asks for an answer; the day counts where it answers another."""
        name, sent = f"memo-{number:02}", f"2026-05-{day or number:02}T12:00:00Z"
        write_memo(self.inbox, name, body=f"{body} w{number}", sent=sent, **{"action_required": True, **fields})

    def build(self, target: Path | None = None) -> SearchFiles:
        """Build it, from nothing if a target is named."""
        output = build_site(self.inbox.parent.parent, "--jobs", 1, output=target or self.output)
        files = (path for path in sorted((output / "search").rglob("*.js")))
        return {path.relative_to(output).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}

    def changed(self) -> set[str]:
        """Build it, and tell which files of search are new, gone, or written again."""
        before, self.files = self.files, self.build()
        return {path for path in {*before, *self.files} if before.get(path) != self.files.get(path)}


@pytest.fixture
def growing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Growing:
    """A site with small blocks."""
    monkeypatch.setattr("memosite.search.blocks.FULL", 16)
    monkeypatch.setattr("memosite.search.blocks.TAIL", 4)
    return Growing(tmp_path)


def test_builds_rewrite_the_blocks_of_what_changed_alone(growing: Growing, tmp_path: Path) -> None:
    """One memo more: the files of the last block. An edit: those of its own. A clean build gives the same bytes."""
    assert {path.split("/")[1] for path in growing.files} == {"blocks.js", "f0", "t4", "t5"}
    growing.write(23)
    assert {path.split("/")[1] for path in growing.changed()} == {"t5"}
    growing.write(3, body="another wording")
    assert {path.split("/")[1] for path in growing.changed()} == {"f0"}
    clean = growing.build(tmp_path / "clean")
    assert {path: data for path, (data, _) in clean.items()} == {
        path: data for path, (data, _) in growing.files.items()
    }


def test_what_becomes_of_an_old_item_leaves_the_words_of_its_block_as_they_are(
    growing: Growing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moved, answered, closed, copied, joined to a thread: its states alone are written, and all find the same."""
    analyzed: list[str] = []
    find = blocks_module._find

    def noted(card: Card, **options: Any) -> Iterator[BlockHit]:
        analyzed.append(card.id)
        return find(card, **options)

    monkeypatch.setattr("memosite.search.blocks._find", noted)
    read, archive = (growing.inbox.with_name(name) for name in ("read", "archive"))
    changes: tuple[tuple[Callable[[], object], str, dict[str, list[str]]], ...] = (
        (
            lambda: os.renames(growing.inbox / "memo-02.openthing", read / "memo-02.openthing"),
            "", {"box:read": ["memo-02"], "memos/inbox/memo-02.openthing": []},
        ),
        (
            lambda: growing.write(24, sender="director", to="engineer", in_reply_to="memo-03.openthing"),
            "memo-24", {"is:answered": ["memo-03"]},
        ),
        (lambda: growing.write(4, metadata={"discharged": True}), "", {"is:discharged": ["memo-04"]}),
        (
            lambda: growing.write(25, in_reply_to="memo-05.openthing", thread_id="launch"),
            "memo-25", {"thread:launch": ["memo-25", "memo-05"]},
        ),
        (lambda: growing.write(6, in_reply_to="memo-07.openthing"), "", {"thread:memo-07": ["memo-07", "memo-06"]}),
        (
            lambda: shutil.copytree(growing.inbox, archive, ignore=lambda _, names: {*names} - {"memo-08.openthing"}),
            "", {"box:archive tide": ["memo-08"], "memos/archive/memo-08.openthing": ["memo-08"]},
        ),
    )  # fmt: skip
    for number, (change, added, queries) in enumerate(changes):
        analyzed.clear()
        change()
        written = {path for path in growing.changed() if path.startswith("search/f0/")}
        assert {path.rpartition("/")[0] for path in written} == {"search/f0/states"}, queries
        assert analyzed == [added] * bool(added), queries
        for answer, (query, expected) in zip(
            browse(growing.output, list(queries), limit=10), queries.items(), strict=True
        ):
            assert [hit[1] for hit in answer["hits"]] == expected, query
            assert ids(growing.inbox.parent.parent, tmp_path / f"cache{number}", query) == expected
    clean = growing.build(tmp_path / "clean")
    assert {path: data for path, (data, _) in clean.items()} == {
        path: data for path, (data, _) in growing.files.items()
    }


def test_blocks_are_few_files_by_arrival_and_few_change_with_a_mailbox(
    example: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In whatever order cards come; each line a piece that the head tells of, read by the document."""
    cards = numbered(example, TAIL)
    (block,) = plan_blocks(cards)
    files = write_blocks([block], example, tmp_path)
    assert len(files) - 1 <= 26
    for path, data in files.items():
        kind = path.rpartition("/")[2][0]
        assert len(data) < 1.2 * FILE_BYTES.get(kind, 20_000), path
    assert write_blocks(plan_blocks(reversed(cards)), example, tmp_path) == files
    tmp_path = tmp_path / "pieces"
    files = write_blocks(in_small_blocks(example), example, tmp_path)
    seen = set()
    names = json.loads(value_of(files["search/blocks.js"], "blocks"))["blocks"]
    for part in (part for name in names for part in (name, f"{name}/states")):
        head = json.loads(value_of(files[f"search/{part}/head.js"], f"{part}/head"))
        for kind, listed in head["files"].items():
            number = 0
            for file, entry in enumerate(listed):
                data, key = files[path := f"search/{part}/{kind}{file}.js"], entry[:8]
                seen.add(path)
                for size in read_numbers(entry[8:]):
                    piece, data = data[:size], data[size:]
                    json.loads(value_of(piece, f"{part}/{kind}{number}@{key}"))
                    number += 1
                assert data == b""
    assert seen == {path for path in files if not path.endswith(("head.js", "blocks.js"))}
    cards = numbered(example, FULL + TAIL + 1)
    blocks = plan_blocks(cards)
    assert [(words.name, len(words.cards)) for words, _ in blocks] == [("f0", FULL), ("t16", TAIL), ("t17", 1)]
    without = plan_blocks(card for card in cards if card.arrival != FULL + 5)
    assert [(words.name, len(words.cards)) for words, _ in without][1:] == [("t16", TAIL - 1), ("t17", 1)]
    more = plan_blocks(numbered(example, FULL + TAIL + 2))
    assert more[:-1] == blocks[:-1] and more[-1] != blocks[-1] and len(more) == len(blocks)
    monkeypatch.setattr("memosite.search.blocks.TAIL_SHARD", 500)
    monkeypatch.setattr("memosite.search.blocks.FILE_BYTES", dict.fromkeys("itgehp", 1_000))
    unread = next(card for card in example.cards if ("box", "inbox") in card.keys)
    keys = tuple(("box", "read") if key == ("box", "inbox") else key for key in unread.keys)
    moved = [replace(card, keys=keys) if card is unread else card for card in example.cards]
    ((words, states),), ((same, others),) = plan_blocks(example.cards), plan_blocks(moved)
    assert same == words and len(render_block(words, example.shelf.text)) > 100
    before, after = dict(render_states(states)), dict(render_states(others))
    changed = {path.rpartition("/")[2] for path in {*before, *after} if before.get(path) != after.get(path)}
    assert len(before) > 25
    assert {"head.js"} < changed and len(changed) <= 5
    assert not any(path.startswith(("g", "i")) for path in changed)


def value_of(line: bytes, name: str) -> bytes:
    """The JSON of a line, which must be a call with this name."""
    before, after = f'memositeBlock("{name}",'.encode(), b")\n"
    assert line.startswith(before)
    assert line.endswith(after)
    assert line.count(b"\n") == 1
    return line[len(before) : -len(after)]


def read_numbers(written: str) -> Iterator[int]:
    """Numbers by the rule that is written down: five bits a digit, the lowest first."""
    value, weight = 0, 1
    for char in written:
        digit = DIGITS.index(char)
        value, weight = value + digit % 32 * weight, weight * 32
        if digit < 32:
            yield value
            value, weight = 0, 1


@given(*(st.lists(st.integers(0, most), unique=True).map(sorted) for most in (2**40, 500)))
def test_numbers_are_written_and_read_back(large: list[int], numbers: list[int]) -> None:
    """As gaps less one, from -1 on; many as bits where that is shorter: six bits a digit, the lowest first."""
    read = zip(read_numbers(gaps(large).decode()), [-1, *large], strict=False)
    assert [gap + before + 1 for gap, before in read] == large
    packed = pack(numbers)
    assert len(packed) <= len(gaps(numbers).decode())
    if packed.startswith("!"):
        bits = "".join(f"{DIGITS.index(char):06b}"[::-1] for char in packed[1:])
        assert [number for number, bit in enumerate(bits) if bit == "1"] == numbers
    else:
        assert packed == gaps(numbers).decode()


def test_javascript_folds_as_python_does_passes_its_own_tests_and_has_the_types_it_says() -> None:
    """All of Unicode that both know; Node's test runner over the table of cases; JSDoc, checked by TypeScript."""
    script = """
        require("./static/search.js");
        const found = {};
        for (let code = 0; code < 0x110000; code++) {
          if (code >= 0xd800 && code < 0xe000) continue;
          const char = String.fromCodePoint(code);
          if (/\\p{Cn}|\\p{Co}/u.test(char)) { found[code] = null; continue; }
          const folded = globalThis.memositeSearch.foldCharacter(char);
          if (folded !== char) found[code] = folded;
        }
        process.stdout.write(JSON.stringify(found));
    """
    done = subprocess.run(["node", "-e", script], cwd=HERE.parent, capture_output=True, text=True, check=True)
    theirs: Mapping[str, str | None] = json.loads(done.stdout)
    codes = (code for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    ours = {code: fold_character(chr(code)) for code in codes if unicodedata.category(chr(code)) not in {"Cn", "Co"}}
    different = {code for code, folded in ours.items() if theirs.get(str(code), chr(code)) not in (None, folded)}
    assert {f"{code:x}" for code in different} == set()
    types = HERE / "types"
    for command in (["node", "--test", "tests/search.test.js"], [f"{types}/node_modules/.bin/tsc", "-p", str(types)]):
        done = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stdout[-3000:]


def test_what_was_found_in_a_small_block_is_not_sought_again(example: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more artifact is all that is read; what is kept counts by its size; packed terms give the same files."""
    ((block, _),) = plan_blocks(example.cards)
    less = replace(block, cards=block.cards[1:])
    expected = render_block(less, example.shelf.text), render_block(block, example.shelf.text)
    read: list[str] = []

    def text(digest: str) -> str:
        read.append(digest)
        return example.shelf.text(digest)

    analyses = Analyses()
    assert render_block(less, text, analyses) == expected[0]
    read.clear()
    assert render_block(block, text, analyses) == expected[1]
    first = block.cards[0]
    assert set(read) <= {*dict(first.texts), first.conversation}
    monkeypatch.setattr(blocks_module, "MOST_BYTES", 10)
    assert render_block(block, text, analyses) == expected[1]
    read.clear()
    assert render_block(block, text, Analyses()) == expected[1]
    assert len(read) >= len(block.cards)
    monkeypatch.undo()
    found = Analyses()
    cards = [replace(example.cards[0], id=f"memo-{number}") for number in range(40)]
    made: list[str] = []
    long = Stretch(start=0, text="a" * 2**19)  # with the places of its words it counts twice
    large = BlockHit(is_tools=False, words=(("text", {"a": bytes(1)}),), files=(), row=[], stretches=(long,))

    def find(card: Card) -> list[BlockHit]:
        made.append(card.id)
        return [large]

    for card in (*cards, cards[0], cards[-1]):
        found.get(card, find)
    assert made == [*(card.id for card in cards), cards[0].id]
    monkeypatch.setattr(blocks_module, "PACKED", 10**9)
    same = render_block(block, example.shelf.text)
    for packed, frequent in ((1, 0), (1, 5), (7, 1)):
        monkeypatch.setattr(blocks_module, "PACKED", packed)
        monkeypatch.setattr(blocks_module, "_FREQUENT", frequent)
        assert render_block(block, example.shelf.text) == same
