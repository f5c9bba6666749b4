"""Plans the health page: findings by rule and source, the most severe first."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from memosite.archive.urls import HEALTH, part_page
from memosite.facts.findings import Finding, Severity
from memosite.facts.parsed import Ref
from memosite.facts.phrases import phrase
from memosite.pages.models import HealthPage
from memosite.pages.parts import Reference
from memosite.pages.seals import Seal
from memosite.plan.clauses import finding_row
from memosite.plan.context import Context
from memosite.plan.head import page_head
from memosite.plan.pagination import in_parts, part_links


def plan_health(context: Context, seal: Seal | None = None) -> Iterator[HealthPage]:
    """The page of all findings, 500 a part; the first also has the newest seal."""
    order = list(Severity)
    findings = sorted(context.archive.findings, key=lambda one: (order.index(one.severity), one.rule.id, one.sort_key))
    pages = _pages_by_file(context, findings)
    by_rule = Counter((finding.severity, finding.rule) for finding in findings)
    counts = severity_counts(findings)
    chunks = in_parts(findings)
    for number, chunk in enumerate(chunks, 1):
        start = HEALTH if number == 1 else part_page(HEALTH, number)
        yield HealthPage(
            **page_head(context, start, title=phrase("Health"), section="health"),
            parts=part_links(start, HEALTH, len(chunks), number, first=HEALTH) if len(chunks) > 1 else (),
            counts=counts,
            seal=seal if number == 1 else None,
            by_rule=tuple(
                (severity, rule.id, rule.meaning, by_rule[(severity, rule)])
                for severity, rule in sorted(by_rule, key=lambda key: (order.index(key[0]), key[1].id))
            ),
            rows=tuple(finding_row(start, finding, _page_of(context, start, finding, pages)) for finding in chunk),
        )


def severity_counts(findings: Collection[Finding]) -> tuple[tuple[Severity, int], ...]:
    """How many findings there are of each severity that has any."""
    counts = Counter(finding.severity for finding in findings)
    return tuple((severity, counts[severity]) for severity in Severity if counts[severity])


def _pages_by_file(context: Context, findings: Collection[Finding]) -> dict[tuple[str, str], Ref]:
    found: dict[tuple[str, str], Ref] = {}
    if not findings:
        return found
    for artifact in context.archive.artifacts.values():
        for copy in artifact.copies:
            for path in (copy.file.path, copy.body_path):
                if path is not None:
                    found.setdefault((copy.file.source, path), artifact.ref)
    for artifact in context.archive.artifacts.values():
        for finding in artifact.findings:  # those on files that are part of an artifact and not its own, too
            found.setdefault((finding.location.source, finding.location.path), artifact.ref)
    return found


def _page_of(context: Context, start: str, finding: Finding, pages: Mapping[tuple[str, str], Ref]) -> Reference | None:
    ref = pages.get((finding.location.source, finding.location.path))
    return context.artifact(start, ref) if ref else None
