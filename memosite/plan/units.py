"""Defines units of work: outputs that are planned together, and their inputs besides the archive."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memosite.feeds.rss import FeedFile
from memosite.pages.models import Page
from memosite.plan.context import Context
from memosite.plan.files import Packed, Stored, Written
from memosite.search.blocks import SearchBlock
from memosite.store.output import Synced

Planned = Page | FeedFile | SearchBlock | Written | Stored | Packed


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Outputs that are made together, of what `make` reads through the context it is given and of `given`.

    `given_as` names what is given, for `explain`. One that is not `traced` looks at the whole archive or at the
    ledger, and is planned in every build. `weight` is roughly how many artifacts it has: light units are sent to a
    process together. `is_for_programs` says that only programs read its outputs; such units come after all others.
    `synced` says whether its outputs have to survive a power loss (`store/output.py`).
    """

    name: str
    make: Callable[[Context], Iterable[Planned]]
    given: object = None
    given_as: str = "what it is made of"
    is_traced: bool = True
    weight: int = 1
    is_for_programs: bool = False
    synced: Synced = "never"


def untraced(name: str, make: Callable[[Context], Iterable[Planned]], *, weight: int = 1) -> Unit:
    """A unit that looks at the whole archive or at the ledger."""
    return Unit(name=name, make=make, is_traced=False, weight=weight)
