"""The scan that answers until there is an index: it finds what the index finds, in the same order, with the same hints.

So does an index of an earlier state of the archive together with a scan of what changed since.
"""

import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.search.answer import Scan, Search
from memosite.search.documents import Card
from memosite.search.whoosh.index import (
    IndexSeal,
    compare,
    making_index,
    newest_of,
    open_index,
    read_digests,
    update_index,
)
from memosite.search.whoosh.reader import IndexReader
from memosite.search_language import Analyzer, QueryError, QueryNode, may_compose, parse_query, prepare
from tests.support.memos import write_memo, write_transcript
from tests.support.search import Read, many_queries, reading
from tests.support.sites import EXAMPLE
from tests.support.soaking import most

WORDS = (
    *("tide", "Tide", "tides", "ebb", "readArchive", "HTTPServer", "gate-is-green", "snake_case", "deadbeef1"),
    *("49d4640", "ÉCOLE", "e\u0301cole", "naïve", "Straße", "图书馆", "鐘楼", "ｶﾞｲﾄﾞ", "Привет", "हिन्दी", "क\u200dि"),
    *("\u1100\u200d\u1161", "\u212b", "a\u0327\u200d\u0301", "co\xadop", "2026", "v1.2.3"),
    *("https://example.org/a", "x" * 130, "—", "…", "&&&"),
)
"""Words that are folded, cut, joined and composed in every way there is."""


def scan_of(read: Read, cards: tuple[Card, ...] | None = None, jobs: int = 1) -> Scan:
    """A scan of all of an archive, or of some of it."""
    return Scan(
        cards=read.cards if cards is None else cards, text_of=read.shelf.text, analyzer=read.analyzer,
        newest=newest_of(read.cards), jobs=jobs,
    )  # fmt: skip


def parsed(queries: list[str]) -> list[QueryNode]:
    """Those queries that can be read."""
    found = []
    for query in queries:
        with suppress(QueryError):
            found.append(parse_query(query, Analyzer()))
    return found


@pytest.fixture(scope="module")
def example() -> Iterator[Read]:
    """The demonstration, read once."""
    with reading(EXAMPLE) as read:
        yield read


def check(scanned: Search, indexed: Search, queries: list[QueryNode]) -> None:
    """Both answer alike: hits with excerpts in their order, hints where there is none, artifacts."""
    for number, query in enumerate(queries):
        assert scanned.find(query) == indexed.find(query), query
        if number % 4 == 0:
            assert scanned.find(query, limit=3) == indexed.find(query, limit=3), query
    assert scanned.refs(queries) == indexed.refs(queries)


def test_a_scan_finds_what_the_index_finds_and_processes_together_what_one_finds(example: Read, tmp_path: Path) -> None:
    """Queries of every kind over the demonstration; in the order of the cards, each looked into once."""
    queries = [*many_queries(example, most(110, in_soak=150)), "shelff", "from:directr", "tag:budge", "holds shelff"]
    check(Search(scan=scan_of(example)), example.index(tmp_path), parsed(queries))
    several = scan_of(example, example.cards * 4, jobs=2)
    asked = parsed(["the", "shelf NOT kind:note", "in:tools the"])
    assert len(several.cards) > 300 and several.find(asked) == scan_of(example, example.cards * 4).find(asked)


def write_any(folder: Path, chance: random.Random, name: str) -> None:
    """A memo, or sometimes a transcript, of random words."""
    words = [chance.choice(WORDS) for _ in range(chance.randint(0, 30))]
    subject = " ".join(chance.choice(WORDS[:10]) for _ in range(chance.randint(1, 3)))
    if chance.random() < 0.2:
        text = "".join(
            f"## {chance.choice(('User', 'Assistant'))}\n\n{word}\n\n> **🔧 Bash**\n> {word}\n\n" for word in words
        )
        write_transcript(folder / "transcripts/engineer", name, text=text or "## User\n\nNothing.\n", subject=subject)
    else:
        day = chance.randint(1, 28)
        sent = f"2026-0{chance.randint(1, 9)}-{day:02d}T12:00:00Z"
        write_memo(folder / "memos/inbox", name, subject=subject, body=" ".join(words), sent=sent)


def random_query(chance: random.Random) -> str:
    """Words, beginnings, phrases, values and dates, joined in any way."""
    word = chance.choice(WORDS)
    kinds = (
        word, word, f"{word[: chance.randint(2, 6)]}*", f'"{word} {chance.choice(WORDS)}"', f"subject:{word}",
        f"subject:{word[:3]}*", f"NOT {word}", "kind:memo", "in:tools", "from:engin*", "after:10d", "before:3m",
        f"{word}x", "m1", "memos/inbox", f"sent:2026-0{chance.randint(1, 9)}", "from:enginer",
    )  # fmt: skip
    parts = [chance.choice(kinds) for _ in range(chance.randint(1, 3))]
    joined = chance.choice((" ", " OR ", " NOT ")).join(parts)
    return f"NOT ({joined})" if chance.random() < 0.2 else joined


@pytest.mark.parametrize("seed", most([0], in_soak=range(2)))
def test_scan_index_and_both_together_agree_on_random_archives(seed: int, tmp_path: Path) -> None:
    """Also after memos were added, edited and removed: then an old index and a scan answer together, too."""
    chance = random.Random(seed)
    site, cache = tmp_path / "site", tmp_path / "cache"
    names = [f"m{number}" for number in range(12)]
    for name in names:
        write_any(site, chance, name)
    queries = parsed([random_query(chance) for _ in range(most(40, in_soak=60))])
    with reading(site) as read:
        check(Search(scan=scan_of(read)), read.index(cache), queries)
    for path in sorted(site.rglob("m*.*")):
        if path.stem in {"m0", "m1", "m2"}:
            path.unlink()
    for name in ("m1", "m2", "new"):
        write_any(site, chance, name)
    with reading(site) as read:
        with open_index(cache) as old:
            assert old is not None
            difference = compare(read_digests(old.folder), {card.key: card.digest for card in read.cards})
            assert difference
            changed = tuple(card for card in read.cards if card.key in difference.changed)
            newest = newest_of(read.cards)
            reader = IndexReader(index=old, newest=newest, without=difference.former, analyzer=read.analyzer)
            with_both = Search(index=reader, scan=scan_of(read, changed))
            check(with_both, Search(scan=scan_of(read)), queries)
        check(Search(scan=scan_of(read)), read.index(cache), queries)
        check(Search(scan=scan_of(read)), read.index(tmp_path / "anew"), queries)


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=8), max_size=6), st.sampled_from(("", " ", "\n", "-")))
def test_a_term_of_a_text_is_in_the_folded_text(words: list[str], joint: str) -> None:
    """Otherwise a scan would not look into the text: this is what it passes over texts by."""
    analyzer = Analyzer()
    text = prepare(joint.join(words))
    folded = analyzer.fold(text)
    if not may_compose(folded):
        assert [word.term for word in analyzer.words(text) if word.term not in folded] == []


def test_only_what_may_match_is_read(example: Read) -> None:
    """Fields and dates are known without the texts."""
    asked: list[str] = []

    def text_of(digest: str) -> str:
        asked.append(digest)
        return example.shelf.text(digest)

    scan = Scan(cards=example.cards, text_of=text_of, analyzer=example.analyzer, newest=newest_of(example.cards))
    assert Search(scan=scan).find(parse_query("kind:note from:nobody shelf", example.analyzer), limit=0).total == 0
    asked.clear()
    scan.find([parse_query("sent:1999 shelf", example.analyzer)])
    assert asked == []


def test_who_makes_an_index_holds_nobody_off(tmp_path: Path) -> None:
    """Readers read the former index while the next one is made; who would make one, too, need not wait."""
    write_memo(tmp_path / "memos/inbox", "one", body="former text")
    cache = tmp_path / "cache"
    with reading(tmp_path) as read:
        read.index(cache)
    write_memo(tmp_path / "memos/inbox", "two", body="newer text")
    with reading(tmp_path) as read, making_index(cache) as partial:
        assert partial is not None
        with making_index(cache, waits=False) as other, open_index(cache) as index:
            assert other is None
            assert index is not None and len(read_digests(index.folder)) == 1
        update_index(cache, partial, read.cards, read.shelf.text, read.analyzer, made_of=IndexSeal())
        with open_index(cache) as index:
            assert index is not None and len(read_digests(index.folder)) == 2
            assert index.reader.doc_count() == 2
