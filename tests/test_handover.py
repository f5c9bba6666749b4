"""What processes hand over to each other: whole, to all, and no text is parsed again for what follows its page."""

import hashlib
import os
import resource

import pytest

from memosite.facts.errors import OutputError
from memosite.pages import Body
from memosite.render.renderer import KnownTexts, Renderer
from memosite.render.theme import load_theme
from memosite.run.workers import BATCH, run
from memosite.search.blocks import render_block
from memosite.search.documents import body_lines
from memosite.store.shelf import Handover
from tests.support.small_block import TEXTS, block

TEXT = "# Plan\n\n- one \ud800\n- two\n\n| a | b |\n|---|---|\n| 1 | — |\n" + "".join(
    f"\n## Part {number}\n\n{'Said. ' * 200}\n" for number in range(5)
)


def test_what_any_process_leaves_all_find() -> None:
    """Whoever looks later, and also what was left while others did."""
    handover = Handover()

    def leave(number: int) -> bool:
        handover.hand_over(f"text {number}", b"%d" % number * 5_000)
        return handover.find(f"text {number}") == b"%d" % number * 5_000

    count = BATCH * 8
    assert list(run(leave, range(count), jobs=3)) == [True] * count
    assert all(handover.find(f"text {number}") == b"%d" % number * 5_000 for number in range(count))
    assert handover.has("text 1")
    assert not handover.has("text \ud800")
    assert handover.find("another text") is None


def test_what_is_not_there_whole_is_not_there() -> None:
    """Another process may be about to write it."""
    reader, writer = Handover(), Handover()
    writer.hand_over("a", b"said")
    writer.hand_over("b", b"more")
    entries = os.pread(writer._file, 1_000, 0)
    for end in (5, 23, 30, len(entries) - 1):
        os.write(reader._file, entries[os.fstat(reader._file).st_size : end])
        assert reader.find("a") == (None if end < 24 else b"said")
        assert reader.find("b") is None
    os.write(reader._file, entries[-1:])
    assert reader.find("b") == b"more"


def test_no_more_is_kept_than_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes later is made again by whoever needs it."""
    monkeypatch.setattr("memosite.store.shelf.MOST_BYTES", 3_000)
    handover = Handover()
    for name in "abcd":
        handover.hand_over(name, b"x" * 1_400)
        assert handover.has(name) == (name < "d")


def test_a_full_disk_is_said_with_the_folder_that_is_full() -> None:
    """Also where a part was written: nobody could read on after it."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        for room in (0, 1_000):
            handover = Handover()
            handover.hand_over("a", b"x" * (980 - room // 2))
            with pytest.raises(OutputError, match="name another folder in TMPDIR"):
                handover.hand_over("b", b"x" * 2_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


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


def test_search_blocks_are_the_same_whatever_is_known() -> None:
    """A renderer that knows what pages showed, one that knows nothing, and none."""
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
