"""The page model of the contract, and its sections (see `pages`)."""

from dataclasses import dataclass
from typing import ClassVar

from memosite.pages.models import Page
from memosite.pages.parts import Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractSection:
    """A section of the contract: its heading, and its text as Markdown. The text before the first has no heading.

    `links` maps what is written to where it leads from this page.
    """

    heading: str
    anchor: str
    text: str
    links: tuple[tuple[str, str], ...] = ()
    is_below: bool = False
    """Whether the section is part of the one before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractPage(Page):
    """One part of the contract; `others` are its other parts."""

    template: ClassVar[str] = "contract.html"

    sections: tuple[ContractSection, ...]
    others: tuple[Reference, ...] = ()
