"""Plans the home page, the health page, and the pages for what moved or is gone."""

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence

from memosite.archive.ledger import Arrival, Ledger
from memosite.archive.model import Artifact, Memo, Removal, SourceInfo
from memosite.archive.urls import (
    HEALTH,
    HOME,
    TIMELINE,
    UNDATED_MONTH,
    artifact_page,
    entity_page,
    index_file,
    month_page,
    part_page,
    position_page,
    record_page,
    relative,
    thread_page,
)
from memosite.facts.findings import Finding, Severity
from memosite.facts.names import make_id
from memosite.facts.parsed import BROADCAST, Ref
from memosite.pages.models import GonePage, HealthPage, HomePage, NotFoundPage, RedirectPage
from memosite.pages.parts import Day, Reference, SourceRow
from memosite.plan.context import LIST_LIMIT, Context
from memosite.plan.dates import day_of, newest, stamp
from memosite.plan.lists import month_name
from memosite.plan.lives import has_changes, movements, removal_line
from memosite.plan.parts import part_links
from memosite.plan.positions import SEATS, listed_positions, seat_rows
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
    severities = Counter(finding.severity for finding in context.archive.findings)
    return HomePage(
        site=context.site,
        path=index_file(HOME),
        root="",
        title=context.site.title,
        section="home",
        canonical=context.canonical(HOME),
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
            Reference(label=month_name(month), href=relative(HOME, month_page(month)))
            for month in [month for month in months if month != UNDATED_MONTH][:-13:-1]
        ),
        sources=tuple(_source_row(source, per_source[source.name]) for source in context.archive.sources),
        counts=tuple(
            (kind, kinds[kind])
            for kind in ("memo", "note", "transcript", "record", "document", "library")
            if kinds[kind]
        ),
        findings=tuple((severity, severities[severity]) for severity in Severity if severities[severity]),
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
    """A source, as of which commit; one that cannot be fetched says how old it is."""
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


def plan_health(context: Context) -> Iterable[HealthPage]:
    """Findings by rule and source, the bad ones first, 500 a page."""
    order = list(Severity)
    findings = sorted(context.archive.findings, key=lambda one: (order.index(one.severity), one.rule.id, one.sort_key))
    pages = _pages_by_file(context, findings)
    by_rule = Counter((finding.severity, finding.rule) for finding in findings)
    counts = Counter(finding.severity for finding in findings)
    chunks = [findings[i : i + LIST_LIMIT] for i in range(0, len(findings), LIST_LIMIT)] or [[]]
    for number, chunk in enumerate(chunks, 1):
        start = HEALTH if number == 1 else part_page(HEALTH, number)
        yield HealthPage(
            site=context.site,
            path=index_file(start),
            root="../" * start.count("/"),
            title="Health",
            section="health",
            canonical=context.canonical(start),
            parts=part_links(start, HEALTH, len(chunks), number, first=HEALTH) if len(chunks) > 1 else (),
            counts=tuple((severity, counts[severity]) for severity in Severity if counts[severity]),
            by_rule=tuple(
                (severity, rule.id, rule.meaning, by_rule[(severity, rule)])
                for severity, rule in sorted(by_rule, key=lambda key: (order.index(key[0]), key[1].id))
            ),
            rows=tuple(context.finding_row(finding, _page_of(context, start, finding, pages)) for finding in chunk),
        )


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


def plan_former(context: Context, ledger: Ledger, months: Container[str]) -> Iterable[RedirectPage | GonePage]:
    """Pages for URLs that earlier builds published and this one has no page for (SPEC 4): redirects, or "gone"."""
    archive = context.archive
    ghosts = {(ghost.kind, ghost.id) for ghost in archive.ghosts.values()}
    keys = ledger.keys_by_ref
    now = {keys[ref]: ref for ref in archive.artifacts if ref in keys}
    for arrival in ledger.arrivals:
        if arrival.kind == "record":
            yield from _former_record(context, arrival, now.get(keys[arrival.ref]))
        elif arrival.ref not in archive.artifacts and arrival.ref not in ghosts:
            start, moved = artifact_page(arrival.ref), now.get(keys[arrival.ref])
            if moved:
                yield redirect(context, start, context.page(moved))
            else:
                yield gone(context, start, arrival.id, _removal(context, arrival.ref))
    for id_ in ledger.entities:
        if id_ not in context.entities:
            yield gone(context, entity_page(id_), id_)
    yield from _former_ghosts(context, ledger, ghosts)
    for id_, member in ledger.threads:
        if id_ in archive.threads and len(archive.threads[id_].memos) > 1:
            continue
        artifact = archive.artifacts.get(member)
        start = thread_page(id_)
        if isinstance(artifact, Memo):
            yield redirect(context, start, context.thread_target(artifact.thread))
        else:
            yield gone(context, start, id_)
    yield from _former_positions(context, ledger)
    yield from _former_lists(context, ledger, months)


def _former_ghosts(context: Context, ledger: Ledger, ghosts: Collection[Ref]) -> Iterable[GonePage]:
    keys = ledger.keys_by_ref
    for kind, name in ledger.others:
        ref: Ref = ("note" if name.startswith("note/") else "memo", name.partition("/")[2])
        if kind == "ghost" and ref not in keys and ref not in ghosts:
            yield gone(context, artifact_page(ref), ref[1], _removal(context, ref))


def _former_positions(context: Context, ledger: Ledger) -> Iterable[RedirectPage | GonePage]:
    """Where positions and other names of them were; their feeds are planned with all others (`channels`)."""
    archive = context.archive
    known = set(archive.positions).union(*map(context.other_names, archive.positions.values()))
    stands_for = {make_id(name): now for name, now in archive.position_of.items()}
    former = dict.fromkeys((*ledger.positions, *(id_ for kind, id_ in ledger.others if kind == "name")))
    for id_ in former:
        if id_ not in known and id_.casefold() not in context.position_ids:
            target = stands_for.get(id_)
            start = position_page(id_)
            is_there = target in archive.positions
            yield redirect(context, start, position_page(target)) if target and is_there else gone(context, start, id_)


def _former_record(context: Context, arrival: Arrival, moved: Ref | None) -> Iterable[RedirectPage | GonePage]:
    """Where a record was, if it is not there any more; its id may have gone on to a record of another system."""
    if not arrival.system:
        return
    former = record_page(arrival.system, arrival.id)
    ref = arrival.ref if arrival.ref in context.archive.artifacts else moved
    if ref is None:
        yield gone(context, former, arrival.id)
    elif context.page(ref) != former:
        yield redirect(context, former, context.page(ref))


def redirect(context: Context, start: str, target: str) -> RedirectPage:
    """A page that leads on to another one."""
    return RedirectPage(
        site=context.site,
        path=index_file(start),
        root="../" * start.count("/"),
        title="Moved",
        canonical=context.canonical(target),
        target=Reference(label=target, href=relative(start, target)),
    )


def _former_lists(context: Context, ledger: Ledger, months: Container[str]) -> Iterable[RedirectPage | GonePage]:
    """Where pages of changes and months were that have nothing to show any more."""
    artifacts = context.archive.artifacts
    for kind, id_ in ledger.others:
        if kind == "month" and id_ not in months:
            yield redirect(context, month_page(id_), TIMELINE)
        elif kind == "changes":
            ref: Ref = ("note" if id_.startswith("note/") else "memo", id_.partition("/")[2])
            artifact = artifacts.get(ref)
            start = f"{artifact_page(ref)}changes/"
            if artifact is None:
                yield gone(context, start, ref[1], _removal(context, ref))
            elif not has_changes(artifact):
                yield redirect(context, start, artifact_page(ref))


def _removal(context: Context, ref: Ref) -> Removal | None:
    """What git says of an artifact that is gone, also if its id tells it from another of its name."""
    removed = context.archive.removed
    return removed.get(ref) or removed.get((ref[0], ref[1].partition("~")[0]))


def gone(context: Context, start: str, id_: str, removal: Removal | None = None) -> GonePage:
    """What stands where something was published that is not there any more."""
    return GonePage(
        site=context.site,
        path=index_file(start),
        root="../" * start.count("/"),
        title="No longer here",
        id="" if removal and not removal.stem else id_,
        life=removal_line(context, removal) if removal else None,
    )


def plan_not_found(context: Context) -> NotFoundPage:
    """What a server shows for an address that does not exist."""
    base = context.site.base_url
    path = "/" + base.split("/", 3)[3] if base and base.count("/") >= 3 else "/"
    return NotFoundPage(site=context.site, path="404.html", root=path, title="Not found", base_path=path)
