"""Plans the home page: what waits for people, positions at a glance, what moved and arrived last, sources."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from memosite.archive.model import Artifact, Memo, SourceInfo
from memosite.archive.urls import HOME, UNDATED_MONTH
from memosite.facts.parsed import BROADCAST
from memosite.pages.models import HomePage
from memosite.pages.parts import Day, Reference, SourceRow
from memosite.plan.context import Context
from memosite.plan.dates import day_of, newest, stamp
from memosite.plan.head import page_head
from memosite.plan.health import severity_counts
from memosite.plan.months import month_link
from memosite.plan.movements import movements
from memosite.plan.position_table import SEATS, listed_positions, seat_rows
from memosite.sources.forges import commit_url

_NEWEST = 40
_WAITING = 50


def plan_home(context: Context, months: Mapping[str, Sequence[Artifact]]) -> HomePage:
    """What waits for people, seats at a glance, newest by day, sources (SPEC 4)."""
    artifacts = context.archive.artifacts.values()
    people = {id_ for id_, position in context.archive.positions.items() if position.is_person}
    waiting = [memo for memo in context.memos if _waits_for(memo, people)] if people else []
    positions = listed_positions(context)
    days: dict[str, list[Artifact]] = defaultdict(list)
    for artifact in newest([artifact for artifact in artifacts if artifact.date], _NEWEST):
        days[day_of(artifact)].append(artifact)
    kinds = Counter(artifact.kind for artifact in artifacts)
    per_source = _per_source(artifacts)
    return HomePage(
        **page_head(context, HOME, title=context.site.title, section="home"),
        feeds=(
            Reference(label="Everything", href="feed.xml"),
            Reference(label="Everything, as JSON", href="feed.json"),
        ),
        waiting=tuple(context.row(HOME, memo) for memo in newest(waiting, _WAITING)),
        waiting_total=len(waiting),
        open_actions=sum(1 for memo in context.memos if memo.action == "open"),
        seats=seat_rows(context, HOME, positions[:SEATS]),
        seats_total=len(positions),
        days=tuple(
            Day(day=day, rows=tuple(context.row(HOME, artifact) for artifact in found)) for day, found in days.items()
        ),
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


def _waits_for(memo: Memo, people: set[str]) -> bool:
    """An open action, or an unread memo, of somebody who is a person; broadcasts only as open actions."""
    for state in memo.recipients:
        if state.position == BROADCAST:
            continue
        if state.position in people and (state.action == "open" or (state.unread and memo.action is None)):
            return True
    return False
