"""Parcels: planned outputs with all that is needed to render them."""

from memosite.remake.making import pack, pack_theme, render_parcel
from memosite.render.theme import load_theme
from memosite.search.blocks import render_block
from tests.support.small_block import TEXTS, block


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
