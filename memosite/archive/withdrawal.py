"""Removes from a ledger what is withheld from now on: as if it had never been published (SPEC 9, audience).

A ledger is otherwise only appended to. What is left keeps its order and its ids; numbers have no gaps. Pages that
something withheld may have led to (positions, months, digests …) are forgotten unless the archive still has them, and
so are the full archive documents of feeds that it was in: they are cut anew.
"""

from collections.abc import Callable, Set
from dataclasses import replace

from memosite.archive.ledger import LEAN, Arrival, Ledger, page_ref
from memosite.facts.parsed import Ref


def without(ledger: Ledger, refs: Set[Ref], is_named: Callable[[str], bool]) -> Ledger:
    """The ledger without these artifacts and whatever has a name of theirs; the same one if it knows none of it."""
    gone = {one.ref for one in ledger.arrivals if one.ref in refs or is_named(one.id)}
    if not gone and not any(map(is_named, _page_ids(ledger))):
        return ledger
    kept = [one for one in ledger.arrivals if one.ref not in gone]
    numbers = {one.number: number for number, one in enumerate(kept, 1)}
    known = {one.ref for one in kept}
    pages = {"/".join(ref) for ref in known}

    def renumbered(one: Arrival) -> Arrival:
        return replace(one, number=numbers[one.number])

    lost = {block.feed for block in ledger.blocks if not numbers.keys() >= set(block.items)}
    aliases = tuple((id_, to) for id_, to in ledger.aliases if to in known and not is_named(page_ref(id_)[1]))
    led = {id_ for id_, _ in aliases}
    return Ledger(
        arrivals=tuple(map(renumbered, kept)),
        renewals=tuple(renumbered(one) for one in ledger.renewals if one.ref in known),
        threads=tuple((id_, ref) for id_, ref in ledger.threads if ref in known and _is_id(id_, known)),
        others=tuple((kind, id_) for kind, id_ in ledger.others if _stays(kind, id_, pages, led)),
        blocks=tuple(
            replace(block, items=tuple(numbers[item] for item in block.items))
            for block in ledger.blocks
            if block.feed not in lost
        ),
        aliases=aliases,
        audience=ledger.audience,
    )


def _page_ids(ledger: Ledger) -> list[str]:
    others = [id_.partition("/")[2] or id_ for _, id_ in ledger.others]
    return [*others, *(id_ for id_, _ in ledger.threads), *ledger.positions, *ledger.entities]


def _is_id(id_: str, known: Set[Ref]) -> bool:
    return ("memo", id_) in known or ("note", id_) in known


def _stays(kind: str, id_: str, pages: Set[str], led: Set[str]) -> bool:
    """Whether a page is surely none of what is withheld: a saved search, a page beside one that stays.

    That a site is lean is no page at all.
    """
    if kind in {"changes", "captures"}:
        return id_ in pages
    return kind in {"saved", LEAN[0]} or (kind == "ghost" and id_ in led)
