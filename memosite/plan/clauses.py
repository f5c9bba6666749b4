"""Plans the row of a finding, with its clause: the documents that it is based on, as links."""

from collections.abc import Iterator

from memosite.archive.urls import OTHER_SPECIFICATIONS, SPECIFICATION, relative, section_anchor
from memosite.facts.clauses import read_clause
from memosite.facts.findings import Finding
from memosite.pages.parts import FindingRow, Reference


def finding_row(start: str, finding: Finding, page: Reference | None = None) -> FindingRow:
    """A finding as the page `start` shows it."""
    return FindingRow(
        severity=finding.severity,
        rule=finding.rule.id,
        place=str(finding.location),
        message=finding.message,
        remedy=finding.remedy,
        clause=clause_links(start, finding.clause),
        page=page,
    )


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
