"""Defines what pages say of the sealed log."""

from dataclasses import dataclass

from memosite.pages.parts import Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """The newest root of the sealed log, of which month, and how many leaves it seals; "" and 0 if there is none.

    So many more leaves are `waiting` for their month to close.
    """

    log: Reference
    month: str
    root: str
    sealed: int
    waiting: int
