"""Plans how pages show the clause that a finding is based on: its documents as links to where they can be read."""

from collections.abc import Iterator

from memosite.archive.urls import OTHER_SPECIFICATIONS, SPECIFICATION, relative, section_anchor
from memosite.facts.clauses import read_clause
from memosite.pages.parts import Reference


def clause_links(start: str, clause: str) -> tuple[Reference, ...]:
    """A clause in pieces that together read as it is written.

    Sections of the contract lead there, other documents to the list that says what they are.
    """
    return tuple(_pieces(start, clause))


def _pieces(start: str, clause: str) -> Iterator[Reference]:
    joint = ""
    for cited in read_clause(clause):
        if joint:
            yield Reference(label=joint)
        anchor = section_anchor(cited.section) if cited.section else OTHER_SPECIFICATIONS
        yield Reference(label=cited.document, href=f"{relative(start, SPECIFICATION)}#{anchor}")
        joint = "; "
        if cited.place:
            yield Reference(label=cited.place)
