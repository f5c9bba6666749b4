"""Plans the health page: findings by rule and source, the most severe first, each with its clause."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import ClassVar

from memosite.archive.urls import HEALTH, OTHER_SPECIFICATIONS, SPECIFICATION, part_page, relative, section_anchor
from memosite.facts.findings import Finding, Rule, Severity, read_clause
from memosite.facts.parsed import Ref
from memosite.facts.phrases import phrase
from memosite.facts.values import replace
from memosite.pages import FindingRow, Page, Reference, Seal
from memosite.plan.context import LIST_LIMIT, Context
from memosite.plan.page import head_of, in_parts, part_links


class HealthPage(Page):
    """Findings by rule and source."""

    template: ClassVar[str] = "health.html"

    counts: tuple[tuple[Severity, int], ...]
    by_rule: tuple[tuple[Severity, Reference, str, int], ...]
    """Each rule leads to its first finding, which may be on another part."""
    rows: tuple[FindingRow, ...]
    sources: tuple[str, ...]
    seal: Seal | None
    """On the first part."""


# Plans the row of a finding, with its clause: the documents that it is based on, as links.


def finding_row(start: str, finding: Finding, page: Reference | None = None) -> FindingRow:
    """A finding as the page `start` shows it."""
    return FindingRow(finding=finding, clause=clause_links(start, finding.clause), page=page)


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


def plan_health(context: Context, seal: Seal | None = None) -> Iterator[HealthPage]:
    """The page of all findings, 500 a part; the first also has the newest seal."""
    order = list(Severity)
    findings = sorted(context.archive.findings, key=lambda one: (order.index(one.severity), one.rule.id, one.sort_key))
    pages = _pages_by_file(context, findings)
    by_rule = Counter((finding.severity, finding.rule) for finding in findings)
    counts = severity_counts(findings)
    chunks = in_parts(findings)
    first: dict[tuple[Severity, Rule], int] = {}
    for place, finding in enumerate(findings):
        first.setdefault((finding.severity, finding.rule), place)
    anchors = {place: f"rule-{rule.id}-{severity}" for (severity, rule), place in first.items()}
    for number, chunk in enumerate(chunks, 1):
        start = HEALTH if number == 1 else part_page(HEALTH, number)
        about = [pages.get(finding.location.place) for finding in chunk]
        begin = (number - 1) * LIST_LIMIT
        yield HealthPage(
            **head_of(context, start, title=phrase("Health"), section="health"),
            parts=part_links(start, HEALTH, len(chunks), number, first=HEALTH) if len(chunks) > 1 else (),
            counts=counts,
            seal=seal if number == 1 else None,
            by_rule=tuple(
                (severity, _first(start, first[severity, rule], rule, anchors), rule.meaning, by_rule[(severity, rule)])
                for severity, rule in sorted(by_rule, key=lambda key: (order.index(key[0]), key[1].id))
            ),
            rows=tuple(
                replace(
                    finding_row(start, finding, context.artifact(start, ref) if ref else None),
                    anchor=anchors.get(place, ""),
                )
                for place, (finding, ref) in enumerate(zip(chunk, about, strict=True), begin)
            ),
            sources=tuple(sorted({finding.location.source for finding in chunk})),
        )


def _first(start: str, place: int, rule: Rule, anchors: Mapping[int, str]) -> Reference:
    """A link to the first finding of a rule, at a place among all."""
    part = place // LIST_LIMIT
    page = "" if start == (there := part_page(HEALTH, part + 1) if part else HEALTH) else relative(start, there)
    return Reference(label=rule.id, href=f"{page}#{anchors[place]}")


def severity_counts(findings: Collection[Finding]) -> tuple[tuple[Severity, int], ...]:
    """How many findings there are of each severity that has any."""
    counts = Counter(finding.severity for finding in findings)
    return tuple((severity, counts[severity]) for severity in Severity if counts[severity])


def _pages_by_file(context: Context, findings: Collection[Finding]) -> dict[tuple[str, str], Ref]:
    found: dict[tuple[str, str], Ref] = {}
    if not findings:
        return found
    for artifact in context.archive.artifacts.values():
        for place in artifact.files:
            found.setdefault(place, artifact.ref)
    for artifact in context.archive.artifacts.values():
        for finding in artifact.findings:  # those on files that are part of an artifact and not its own, too
            found.setdefault(finding.location.place, artifact.ref)
    return found
