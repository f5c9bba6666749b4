"""Plans the home page: what waits for people, activity, what arrived and moved last, positions, sources."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from memosite.archive.model import Artifact, SourceInfo
from memosite.archive.urls import DIGESTS, HOME, UNDATED_MONTH, relative
from memosite.facts.phrases import phrase
from memosite.pages.models import HomePage
from memosite.pages.parts import Reference, SourceRow
from memosite.plan.activity import draw_activity, find_activity
from memosite.plan.context import Context
from memosite.plan.dates import newest, stamp
from memosite.plan.head import page_head
from memosite.plan.health import severity_counts
from memosite.plan.months import month_link
from memosite.plan.movements import movements
from memosite.plan.position_table import at_a_glance
from memosite.plan.thread_list import thread_views
from memosite.plan.waiting import plan_waiting
from memosite.sources.forges import commit_url

_NEWEST = 15


def plan_home(context: Context, months: Mapping[str, Sequence[Artifact]]) -> HomePage:
    """What waits for people, activity, the newest, positions, sources (SPEC 4)."""
    artifacts = context.archive.artifacts.values()
    activity = find_activity(context, months)
    dated = [artifact for artifact in artifacts if artifact.date]
    kinds = Counter(artifact.kind for artifact in artifacts)
    per_source = _per_source(artifacts)
    return HomePage(
        **page_head(context, HOME, title=context.site.title, section="home"),
        feeds=(
            Reference(label=phrase("Everything"), href="feed.xml"),
            Reference(label=phrase("Everything, as JSON"), href="feed.json"),
        ),
        waiting=plan_waiting(context),
        activity=draw_activity(context, activity),
        open_actions=sum(1 for memo in context.memos if memo.owed_by),
        positions=at_a_glance(context, HOME, activity),
        newest=tuple(context.row(HOME, artifact) for artifact in newest(dated, _NEWEST)),
        dated=len(dated),
        digests=Reference(label=phrase("Digests"), href=relative(HOME, DIGESTS)),
        months=tuple(
            month_link(HOME, month) for month in [month for month in months if month != UNDATED_MONTH][:-13:-1]
        ),
        sources=tuple(_source_row(source, per_source[source.name]) for source in context.archive.sources),
        counts=tuple(
            (kind, kinds[kind])
            for kind in ("memo", "note", "transcript", "record", "document", "library")
            if kinds[kind]
        ),
        findings=severity_counts(context.archive.findings),
        movements=movements(context, HOME),
        threads=thread_views(context, HOME),
    )


def _per_source(artifacts: Iterable[Artifact]) -> Counter[str]:
    """How many artifacts each source has a copy of."""
    counts: Counter[str] = Counter()
    for artifact in artifacts:
        if len(artifact.copies) == 1:
            counts[artifact.copies[0].file.source] += 1
        else:
            counts.update({copy.file.source for copy in artifact.copies})
    return counts


def _source_row(source: SourceInfo, artifacts: int) -> SourceRow:
    """A source, as of which commit; one that cannot be fetched shows how old it is."""
    commit = source.commit
    return SourceRow(
        name=source.name,
        artifacts=artifacts,
        commit=Reference(label=commit[:12], href=commit_url(source.web or "", commit)) if commit else None,
        committed=stamp(source.committed),
        ref=source.ref,
        last_fetched=stamp(source.last_fetched),
    )
