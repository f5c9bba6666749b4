"""Parcels: planned outputs with all that is needed to render them."""

import hashlib

from memosite.remake.parcels import pack, pack_theme, render_parcel
from memosite.render.theme import load_theme
from memosite.search.blocks import SearchBlock, render_block
from memosite.search.documents import Card

TEXTS = {hashlib.sha256(text).hexdigest(): text for text in (b"The gate is green.\n", b"A gate, \xff and a fence.\n")}
UNKNOWN = hashlib.sha256(b"of some other archive").hexdigest()


def block() -> SearchBlock:
    """A search block of two artifacts; one names a digest that nobody knows."""
    cards = (
        Card(
            kind="memo",
            id=f"memo-{number}",
            system="memodef",
            arrival=number,
            page=f"memos/memo-{number}/index.html",
            path=f"memos/inbox/memo-{number}.openthing",
            subject="The gate",
            short_subject="The gate",
            who="director",
            group="",
            date=None,
            day="",
            status="",
            waits_for=(),
            owing="",
            keys=(),
            positions=(),
            names=(UNKNOWN,),
            slug="gate",
            texts=((digest, None),),
            extra=(),
            conversation=None,
        )
        for number, digest in enumerate(TEXTS, start=1)
    )
    return SearchBlock(name="t0", cards=tuple(cards))


def test_a_parcel_has_the_texts_that_are_named_and_makes_the_same_files() -> None:
    """It is closed: nothing else is asked for when it is rendered, and another parcel after it does not change it."""
    theme = pack_theme(load_theme(None))
    parcel = pack([block(), block()], theme, TEXTS.__getitem__, weight=2)
    assert parcel.texts == TEXTS
    assert parcel.weight == 2
    expected = render_block(block(), lambda digest: TEXTS[digest].decode("utf-8", "replace"))
    assert render_parcel(parcel) == [expected, expected]
    assert render_parcel(pack([], theme, TEXTS.__getitem__)) == []
    assert render_parcel(parcel) == [expected, expected]
