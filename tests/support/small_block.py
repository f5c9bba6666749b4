"""A search block of two artifacts, with their texts by digest."""

import hashlib

from memosite.search.blocks import SearchBlock
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
