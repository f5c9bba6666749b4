"""What processes hand over to each other: the shelf of texts, what pages have shown, and parcels of planned outputs."""

import hashlib
import os
import resource
from collections.abc import Callable
from functools import partial

import pytest

from memosite.facts.errors import OutputError
from memosite.pages import Body
from memosite.remake.making import pack, pack_theme, render_parcel
from memosite.render.renderer import KnownTexts, Renderer
from memosite.render.theme import load_theme
from memosite.run.workers import BATCH, run
from memosite.search.blocks import SearchBlock, render_block
from memosite.search.documents import Card, body_lines
from memosite.store.shelf import Handover, Shelf

TEXT = "# Plan\n\n- one \ud800\n- two\n\n| a | b |\n|---|---|\n| 1 | — |\n" + "".join(
    f"\n## Part {number}\n\n{'Said. ' * 200}\n" for number in range(5)
)
TEXTS = {hashlib.sha256(text).hexdigest(): text for text in (b"The gate is green.\n", b"A gate, \xff and a fence.\n")}
UNKNOWN = hashlib.sha256(b"of some other archive").hexdigest()


def block() -> SearchBlock:
    """A search block of two artifacts; one names a digest that nobody knows."""
    cards = (
        Card(
            kind="memo", id=f"memo-{number}", system="memodef", arrival=number, page=f"memos/memo-{number}/index.html",
            path=f"memos/inbox/memo-{number}.openthing", subject="The gate", short_subject="The gate", who="director",
            group="", date=None, day="", status="", waits_for=(), owing="", keys=(), positions=(), names=(UNKNOWN,),
            slug="gate", texts=((digest, None),), extra=(), conversation=None, started=None,
        )
        for number, digest in enumerate(TEXTS, start=1)
    )  # fmt: skip
    return SearchBlock(name="t0", cards=tuple(cards))


def test_the_shelf_keeps_equal_bytes_once_and_writes_nothing_where_others_read() -> None:
    """By their SHA-256; a forked process disturbs nothing; what is fetched would stand in the place of others'."""
    with Shelf() as shelf:
        first, second = shelf.put(b"one"), shelf.put(b"two" * 100_000)
        assert shelf.put(b"one") == first and (shelf.get(first), shelf.get(second)) == (b"one", b"two" * 100_000)
        assert shelf.get(shelf.put(b"")) == b""
        child = os.fork()
        if child == 0:
            os._exit(0 if shelf.get(first) == b"one" else 1)
        third = shelf.put(b"three")
        assert os.waitpid(child, 0)[1] == 0
        assert (shelf.get(first), shelf.get(third)) == (b"one", b"three")
        with pytest.raises(KeyError):
            shelf.get("0" * 64)
    texts = {hashlib.sha256(data).hexdigest(): data for data in (b"%d" % number * 5_000 for number in range(200))}
    with Shelf() as shelf:
        shelf.fetch_missing(texts.get)
        for _ in range(2):
            found = run(lambda digest: shelf.get(digest) == texts[digest], list(texts), jobs=3)
            assert list(found) == [True] * len(texts)
        shelf.put(b"another one")
        assert all(shelf.get(digest) == data for digest, data in texts.items())
        assert [*shelf._places] == [hashlib.sha256(b"another one").hexdigest()]


@pytest.mark.parametrize("room", [0, 1_000, None], ids=["handover", "handover-in-part", "shelf"])
def test_a_full_disk_is_said_with_the_folder_that_is_full(room: int | None) -> None:
    """It has no name to tell; also where a part was written: nobody could read on after it."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Shelf() as shelf:
        write: Callable[[bytes], object] = shelf.put
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
        try:
            if room is not None:
                handover = Handover()
                handover.hand_over("a", b"x" * (980 - room // 2))
                write = partial(handover.hand_over, "b")
            with pytest.raises(OutputError, match="name another folder in TMPDIR"):
                write(b"x" * 2_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_what_any_process_leaves_all_find_if_it_is_whole_and_no_more_than_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks later, or meanwhile; what comes when it is full is made again by whoever needs it."""
    handover = Handover()

    def leave(number: int) -> bool:
        handover.hand_over(f"text {number}", b"%d" % number * 5_000)
        return handover.find(f"text {number}") == b"%d" % number * 5_000

    count = BATCH * 8
    assert list(run(leave, range(count), jobs=3)) == [True] * count
    assert all(handover.find(f"text {number}") == b"%d" % number * 5_000 for number in range(count))
    assert handover.has("text 1") and not handover.has("text \ud800")
    assert handover.find("another text") is None
    reader, writer = Handover(), Handover()
    writer.hand_over("a", b"said")
    writer.hand_over("b", b"more")
    entries = os.pread(writer._file, 1_000, 0)
    for end in (5, 23, 30, len(entries) - 1):
        os.write(reader._file, entries[os.fstat(reader._file).st_size : end])
        assert reader.find("a") == (None if end < 24 else b"said") and reader.find("b") is None
    os.write(reader._file, entries[-1:])
    assert reader.find("b") == b"more"
    monkeypatch.setattr("memosite.store.shelf.MOST_BYTES", 3_000)
    handover = Handover()
    for name in "abcd":
        handover.hand_over(name, b"x" * 1_400)
        assert handover.has(name) == (name < "d")


def test_a_text_that_a_page_shows_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither for a page that another process makes, nor for search; what comes of it is the same."""
    digest = hashlib.sha256(TEXT.encode("utf-8", "replace")).hexdigest()
    body = Body(sha256=digest, form="markdown", chars=len(TEXT), prefix="p-")
    maker = Renderer(load_theme(None), {digest: TEXT}.__getitem__)
    maker.share_texts()
    expected = maker._shown(body), maker._contents(body), body_lines(TEXT)
    other = Renderer(load_theme(None), dict[str, str]().__getitem__)
    other._known_texts = maker._known_texts
    monkeypatch.setattr("memosite.search.documents.plain_lines", None)
    assert isinstance(other._known_texts, KnownTexts)
    assert (other._shown(body), other._contents(body), other._known_texts.lines(TEXT)) == expected
    assert len(expected[1]) == 5


def test_search_blocks_are_the_same_whatever_is_known_and_in_a_parcel_of_the_texts_that_are_named() -> None:
    """A renderer that knows what pages showed, one that knows nothing, and none; a parcel is closed."""
    texts = {digest: data.decode("utf-8", "replace") for digest, data in TEXTS.items()}
    renderer = Renderer(load_theme(None), texts.__getitem__)
    expected = render_block(block(), texts.__getitem__)
    assert renderer.render_block(block()) == expected
    renderer.share_texts()
    assert renderer.render_block(block()) == expected
    for digest, text in texts.items():
        renderer._shown(Body(sha256=digest, form="markdown", chars=len(text)))
    assert Renderer(load_theme(None), texts.__getitem__).render_block(block()) == expected
    assert renderer.render_block(block()) == expected
    theme = pack_theme(load_theme(None))
    parcel = pack([block(), block()], theme, TEXTS.__getitem__, weight=2)
    assert parcel.texts == TEXTS and parcel.weight == 2
    expected = render_block(block(), lambda digest: TEXTS[digest].decode("utf-8", "replace"))
    assert render_parcel(parcel) == [expected, expected]
    assert render_parcel(pack([], theme, TEXTS.__getitem__)) == []
    assert render_parcel(parcel) == [expected, expected]
