"""Plans the pages of the contract: its main part, with its guide, and the part on feeds."""

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

from memosite.archive.urls import SPECIFICATION, SPECIFICATION_OF_FEEDS, relative, section_anchor
from memosite.config.loading import Contract
from memosite.facts.patterns import regex
from memosite.facts.values import Value
from memosite.pages import Page, Reference
from memosite.plan.context import Context
from memosite.plan.page import head_of


class ContractSection(Value):
    """A section of the contract: its heading, and its text as Markdown. The text before the first has no heading.

    `links` maps what is written to where it leads from this page.
    """

    heading: str
    anchor: str
    text: str
    links: tuple[tuple[str, str], ...] = ()
    is_below: bool = False
    """Whether the section is part of the one before it."""


class ContractPage(Page):
    """One part of the contract; `others` are its other parts."""

    template: ClassVar[str] = "contract.html"

    sections: tuple[ContractSection, ...]
    others: tuple[Reference, ...] = ()


_FILES = {"memosite.md": SPECIFICATION, "feeds.md": SPECIFICATION_OF_FEEDS}


_HEADING = regex(r"(###?) (?:(\d+(?:\.\d+)?)\.? )?(.+)")


_FENCE = "```"


def plan_contract(context: Context, contract: Contract) -> Iterator[ContractPage]:
    """`/spec/` and `/spec/feeds/`."""
    main, feeds = _title(contract.main), _title(contract.feeds)
    guide = tuple(one for one in _sections(contract.guide, _links(SPECIFICATION)) if one.heading)
    links = _links(SPECIFICATION) | {"README.md": f"#{guide[0].anchor}" if guide else "#"}
    sections = (*_sections(contract.main, links), *guide)
    yield _page(context, SPECIFICATION, main, sections, other=(feeds, SPECIFICATION_OF_FEEDS))
    sections = tuple(_sections(contract.feeds, _links(SPECIFICATION_OF_FEEDS)))
    yield _page(context, SPECIFICATION_OF_FEEDS, feeds, sections, other=(main, SPECIFICATION))


def _page(
    context: Context, start: str, title: str, sections: tuple[ContractSection, ...], *, other: tuple[str, str]
) -> ContractPage:
    label, page = other
    return ContractPage(
        **head_of(context, start, title=title),
        sections=sections,
        others=(Reference(label=label, href=relative(start, page)),),
    )


def _links(start: str) -> dict[str, str]:
    """Where the files of the contract lead from one of its pages."""
    return {name: relative(start, page) for name, page in _FILES.items()}


def _title(text: str) -> str:
    """The heading of a whole file."""
    return text.partition("\n")[0].removeprefix("# ")


def _sections(text: str, links: Mapping[str, str]) -> Iterator[ContractSection]:
    """The sections of a file, down to the second level; the text before the first one has no heading."""
    level, number, heading = "", "", ""
    lines: list[str] = []
    is_code = False
    for line in text.splitlines()[1:]:
        is_code ^= line.startswith(_FENCE)
        found = None if is_code else _HEADING.fullmatch(line)
        if found is None:
            lines.append(line)
            continue
        yield _section(level, number, heading, lines, links)
        (level, number, heading), lines = (found[1], found[2] or "", found[3]), []
    yield _section(level, number, heading, lines, links)


def _section(level: str, number: str, heading: str, lines: list[str], links: Mapping[str, str]) -> ContractSection:
    """A section. Its anchor is made of its number, which never changes; without a number, of its heading."""
    words = re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")
    return ContractSection(
        heading=f"{number} {heading}".strip().replace("`", ""),
        anchor=section_anchor(number) if number else words,
        text="\n".join(lines),
        links=tuple(links.items()),
        is_below=level == "###",
    )
