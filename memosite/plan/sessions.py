"""Plans lists of sessions of logs, by source and month, and what the page of one says of it at its head (SPEC 4)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Final

from memosite.archive import urls
from memosite.archive.ledger import Ledger
from memosite.archive.model import Artifact, SessionCommit, Transcript
from memosite.facts import rules
from memosite.facts.parsed import Ref, SessionLog
from memosite.facts.phrases import joined, phrase, phrases
from memosite.facts.times import Moment
from memosite.facts.values import Value, replace
from memosite.pages import ListPage, ListSection, Page, PagePart, Reference, Row
from memosite.plan import page
from memosite.plan.context import LIST_LIMIT, Context, Written, turns_line
from memosite.plan.dates import month_name, newest_first

# Plans what the page of a session says of it.


_NAMED: Final = 3
"""The most files that a row of a list names."""


_TURNS: Final = 6
"""The most turns that are named for one file."""


_SHOWN: Final = 200
"""The most of each list on the page of a session, which says how many there are."""


_STEPS: Final = 50
"""The most sessions of a chain that each way leads through."""


class AtTurn(Value):
    """Something that was done in turns of a session: links to these, and to what it is."""

    turns: tuple[Reference, ...]
    what: Reference


class SessionHead(Value):
    """What a session log says of its session: who, how much, where; and what the session is tied to.

    `source` leads to the list that it is in. `parent` is the session that started it, with the turn that did.
    `older` and `newer` are the sessions that it continues and that continue it, in their order. Of `wrote` and
    `started` the totals count those that are not listed, too. `unshown` says which records are not shown.
    """

    agent: str
    models: tuple[str, ...]
    person: Reference | None
    position: Reference | None
    counts: str
    folder: str
    branch: str
    version: str
    caution: str
    source: Reference
    parent: Reference | None
    older: tuple[Reference, ...]
    newer: tuple[Reference, ...]
    started: tuple[AtTurn, ...]
    wrote: tuple[AtTurn, ...]
    wrote_total: int
    commits: tuple[AtTurn, ...]
    pulls: tuple[AtTurn, ...]
    unshown: str


def session_head(context: Context, start: str, session: Transcript) -> SessionHead | None:
    """The head of a session's page; None for a transcript that is no log."""
    log = session.log
    if log is None:
        return None
    source = session.copies[0].file.source
    person = context.site.person
    files = _written(context, start, session, log)
    return SessionHead(
        agent=log.agent,
        models=log.models,
        person=context.position(start, context.archive.position_of.get(person), person) if person else None,
        position=context.position(start, session.role) if session.role else None,
        counts=_counts(session, log),
        folder=log.folder,
        branch=log.branch,
        version=log.version,
        caution=log.attribution,
        source=Reference(label=source, href=urls.relative(start, urls.source_sessions(source))),
        parent=_parent(context, start, session),
        older=tuple(context.artifact(start, ref) for ref in reversed(list(_chain(context, session)))),
        newer=tuple(context.artifact(start, ref) for ref in _newer(context, session)),
        started=_at_turns(start, session, ((at, context.artifact(start, ref)) for at, ref in session.children)),
        wrote=files[:_SHOWN],
        wrote_total=len(files),
        commits=_at_turns(start, session, _commits(context, session))[:_SHOWN],
        pulls=_at_turns(start, session, ((at, Reference(label=to, href=to)) for at, to in log.pulls))[:_SHOWN],
        unshown=_unshown(log.unshown),
    )


def _commits(context: Context, session: Transcript) -> Iterator[tuple[int, Reference]]:
    """The commits of a session by their turns; those that no repo has are named by the hashes that were printed."""
    return ((one.ordinal, commit_link(context, one)) for one in session.named_commits)


def commit_link(context: Context, made: SessionCommit) -> Reference:
    """A commit of a session with what its message begins with, at its forge if its source has one."""
    if not made.source:
        return Reference(label=made.id[:12])
    short = context.commit(made.source, made.id)
    return replace(short, label=f"{short.label} {made.subject}".rstrip())


def _counts(session: Transcript, log: SessionLog) -> str:
    """How much a session is."""
    parts = [turns_line(session)]
    if session.copied:
        parts.append(phrases("{n:,} of them copied", "{n:,} of them copied", session.copied))
    if log.people:
        parts.append(phrases("{n:,} of them by a person", "{n:,} of them by a person", log.people))
    if log.tools:
        parts.append(phrases("{n:,} tool call", "{n:,} tool calls", log.tools))
    return joined(", ", parts)


def _parent(context: Context, start: str, session: Transcript) -> Reference | None:
    """The session that started one, at the turn that did."""
    found = context.archive.artifacts.get(session.parent) if session.parent else None
    if not isinstance(found, Transcript):
        return None
    there = context.artifact(start, found.ref)
    at = next((at for at, ref in found.children if ref == session.ref), 0)
    return replace(there, href=turn_address(context, start, found, at)) if at else there


def turn_address(context: Context, start: str, session: Transcript, ordinal: int) -> str:
    """The link to a turn of a session. The first part of a long page finds the others."""
    return f"{urls.relative(start, context.page(session.ref))}#t{ordinal}"


def _chain(context: Context, session: Transcript) -> Iterator[Ref]:
    """The sessions that one continues, the newest first."""
    seen = {session.ref}
    while len(seen) <= _STEPS and (ref := session.continued_from) is not None and ref not in seen:
        found = context.archive.artifacts.get(ref)
        if not isinstance(found, Transcript):
            return
        seen.add(ref)
        yield ref
        session = found


def _newer(context: Context, session: Transcript) -> Iterator[Ref]:
    """The sessions that continue one, and those that continue these."""
    seen, ahead = {session.ref}, [session.ref]
    while ahead and len(seen) <= _STEPS:
        for ref in context.continued_by.get(ahead.pop(0), ()):
            if ref not in seen:
                seen.add(ref)
                ahead.append(ref)
                yield ref


def _at_turns(start: str, session: Transcript, found: Iterable[tuple[int, Reference]]) -> tuple[AtTurn, ...]:
    """What was done in turns, each once, with links to its turns."""
    here = urls.relative(start, urls.artifact_page(session.ref)) if start != urls.artifact_page(session.ref) else ""
    turns: dict[Reference, list[int]] = defaultdict(list)
    for ordinal, what in found:
        turns[what].append(ordinal)
    return tuple(
        AtTurn(
            turns=tuple(Reference(label=f"t{at}", href=f"{here}#t{at}") for at in sorted(set(some) - {0})[:_TURNS]),
            what=what,
        )
        for what, some in turns.items()
    )


def _written(context: Context, start: str, session: Transcript, log: SessionLog) -> tuple[AtTurn, ...]:
    """The files that a session wrote, by their paths in its folder; those that are items lead to them."""
    items = {ref: context.archive.artifacts[ref] for _, ref in session.wrote if ref in context.archive.artifacts}
    by_path = {path: ref for ref, item in items.items() for _, path in item.files}
    found = ((at, log.below(path)) for at, path in log.wrote)
    named = (
        (at, Reference(label=path, href=urls.relative(start, context.page(by_path[path])) if path in by_path else None))
        for at, path in found
    )
    return _at_turns(start, session, named)


def _unshown(found: Sequence[tuple[str, int]]) -> str:
    """What is said of the records that are not shown."""
    total = sum(number for _, number in found)
    if not total:
        return ""
    types = ", ".join(f"{name} {number:,}" for name, number in found[:20]) + ", …" * (len(found) > 20)
    return phrases(
        "{n:,} record of a type that is not shown: {types}", "{n:,} records of types that are not shown: {types}",
        total, types=types,
    )  # fmt: skip


# Plans the lists of sessions.


class SourceRow(Value):
    """The sessions of a source: how many, of which agents, and when the newest began."""

    source: Reference
    total: int
    agents: tuple[tuple[str, int], ...]
    newest: Moment | None


class SessionsPage(Page):
    """The sources of sessions. `unread` says which logs are there and not read."""

    template: ClassVar[str] = "sessions.html"

    sources: tuple[SourceRow, ...]
    unread: tuple[str, ...]


def published_sessions(context: Context, ledger: Ledger) -> Mapping[str, tuple[str, Sequence[Transcript]]]:
    """The pages of sources that have sessions, or had any when the site was built before: names and sessions."""
    names = {urls.source_sessions(source.name): source.name for source in context.archive.sources}
    former = (f"{urls.SESSIONS}{id_}/" for kind, id_ in ledger.others if kind == "sessions")
    return {
        here: (names.get(here, here.split("/")[1]), context.sessions.get(here, ()))
        for here in sorted({*context.sessions, *former})
    }


def unread_logs(context: Context) -> tuple[str, ...]:
    """What is said of session logs that are there and not read, by source."""
    return rules.unread_logs(context.archive.findings)


def plan_sessions(context: Context, ledger: Ledger) -> Iterator[SessionsPage | ListPage | Written]:
    """The overview of all sources, the list of each, and their twins; nothing if there never was a session."""
    sources = published_sessions(context, ledger)
    if not sources:
        return
    start = urls.SESSIONS
    yield SessionsPage(
        **page.head_of(context, start, title=phrase("Sessions"), section="sessions"),
        twins=page.twin_links(start, start),
        sources=tuple(_source_row(here, name, sessions) for here, (name, sessions) in sources.items()),
        unread=unread_logs(context),
    )
    totals = [(name, here, len(sessions)) for here, (name, sessions) in sources.items()]
    yield from page.name_twins(start, "Sessions", totals, facts={}, onward=start, of="sessions")
    for here, (name, sessions) in sources.items():
        title = phrase("Sessions in {source}", source=name)
        count = page.part_count(sessions)
        newest = newest_first(sessions)[:LIST_LIMIT]
        yield _list(context, here, here, title, newest, parts=page.part_links(here, here, count, None))
        for number, chunk in enumerate(page.in_parts(sessions) if count else (), 1):
            there = urls.part_page(here, number)
            parts = page.part_links(there, here, number, number)  # it names only what was there before it
            yield _list(context, here, there, page.part_title(title, number), newest_first(chunk), parts=parts)
        yield from page.list_twins(context, here, f"Sessions in {name}", sessions, facts={"source": name})


def _source_row(here: str, name: str, sessions: Sequence[Transcript]) -> SourceRow:
    agents = Counter(one.log.agent for one in sessions if one.log)
    return SourceRow(
        source=Reference(label=name, href=urls.relative(urls.SESSIONS, here)),
        total=len(sessions),
        agents=tuple(sorted(agents.items(), key=lambda item: (-item[1], item[0]))),
        newest=max((one.date for one in sessions if one.date), key=lambda date: date.instant, default=None),
    )


def _list(
    context: Context, here: str, start: str, title: str, sessions: Iterable[Artifact], *, parts: tuple[PagePart, ...]
) -> ListPage:
    """Sessions by month, the newest first."""
    months: dict[str, list[Row]] = defaultdict(list)
    for session in sessions:
        months[urls.month_of(session)].append(_row(context, start, session))
    is_whole = start == here
    return ListPage(
        **page.head_of(context, start, title=title, section="sessions"),
        feeds=(Reference(label=title, href=urls.relative(start, f"{here}feed.xml")),) if is_whole else (),
        twins=page.twin_links(start, here) if is_whole else (),
        parts=parts,
        intro="" if months else phrase("No sessions any more."),
        sections=tuple(
            ListSection(heading=month_name(month), anchor=month.replace("/", "-"), rows=tuple(rows), total=len(rows))
            for month, rows in months.items()
        ),
        previous=Reference(label=phrase("Sessions"), href=urls.relative(start, urls.SESSIONS)) if is_whole else None,
    )


def _row(context: Context, start: str, session: Artifact) -> Row:
    """A session in the list of its source: with its subagents, what was committed in it and which files it wrote."""
    row = context.row(start, session)
    log = session.log if isinstance(session, Transcript) and not session.withheld else None
    if not isinstance(session, Transcript) or log is None:
        return row
    said = [row.status]
    row = replace(row, source="")
    if session.children:
        said.append(phrases("{n:,} subagent", "{n:,} subagents", len({ref for _, ref in session.children})))
    if commits := tuple(dict.fromkeys(one.id[:7] for one in session.named_commits)):
        said.append(phrase("committed {commits}", commits=_few(commits)))
    if paths := tuple(dict.fromkeys(log.below(path) for _, path in log.wrote)):
        said.append(phrase("wrote {files}", files=_few(paths)))
    return replace(row, status=joined(" · ", filter(None, said)))


def _few(names: Sequence[str]) -> str:
    """The first of several names, and how many more there are."""
    more = len(names) - _NAMED
    named = [name if len(name) <= 60 else f"…{name[-59:]}" for name in names[:_NAMED]]
    return joined(", ", (*named, phrase("{more} more", more=more))) if more > 0 else ", ".join(named)
