"""Plans lists of sessions of logs, by source and month, and what the page of one says of it at its head (SPEC 4)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Final

from memosite.archive import urls
from memosite.archive.ledger import Ledger
from memosite.archive.model import SessionCommit, Transcript
from memosite.facts import rules
from memosite.facts.parsed import Ref, SessionLog
from memosite.facts.patterns import regex
from memosite.facts.phrases import joined, phrase, phrases
from memosite.facts.texts import cut_line
from memosite.facts.values import Value, replace
from memosite.pages import ListSection, Page, PagePart, Reference, Row, View
from memosite.plan import page
from memosite.plan.context import LIST_LIMIT, Context, Written, turns_line
from memosite.plan.dates import by_arrival, duration, month_name, newest_first, seconds_between

# Plans what the page of a session says of it.


_NAMED, _NAME_CHARS = 3, 40
"""The most files that a row of a list names, and the most characters of a name."""


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
    `started` the totals count those that are not listed, too; absolute paths are below `wrote_in`. `unshown` says which
    records are not shown.
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
    wrote_in: str
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
    wrote = [(at, log.below(path)) for at, path in log.wrote]
    wrote_in = _common_folder(path for _, path in wrote)
    files = _written(context, start, session, [(at, path.removeprefix(wrote_in)) for at, path in wrote])
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
        wrote_in=wrote_in,
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


_ABSOLUTE: Final = regex(r"(?:[A-Za-z]:)?/")


def _common_folder(paths: Iterable[str]) -> str:
    """The folder that all absolute paths are in, with a slash; "" of one path, or if that is the root."""
    folders = [path.rpartition("/")[0].split("/") for path in dict.fromkeys(paths) if _ABSOLUTE.match(path)]
    if len(folders) < 2:
        return ""
    first, last = min(folders), max(folders)
    same = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return "/".join((*first[:same], "")) if same > 1 else ""


def _written(context: Context, start: str, session: Transcript, wrote: Iterable[tuple[int, str]]) -> tuple[AtTurn, ...]:
    """The files that a session wrote, by their paths in its folder; those that are items lead to them."""
    items = {ref: context.archive.artifacts[ref] for _, ref in session.wrote if ref in context.archive.artifacts}
    by_path = {path: ref for ref, item in items.items() for _, path in item.files}
    named = (
        (at, Reference(label=path, href=urls.relative(start, context.page(by_path[path])) if path in by_path else None))
        for at, path in wrote
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


class SessionRow(Row):
    """A session in a list: `way` is its agent, for the filter; `turns` says how many, `made` what else was counted."""

    models: tuple[str, ...] = ()
    turns: str = ""
    made: str = ""


class SessionMonth(ListSection):
    """The sessions that began in a month."""

    rows: tuple[SessionRow, ...]


class SessionsPage(Page):
    """Sessions by month, newest first: of all sources, of one, or a part of such a list.

    `views` lead to the lists of sources, `agents` are those of the rows. `unread` says which logs are there and not
    read.
    """

    template: ClassVar[str] = "sessions.html"

    intro: str
    views: tuple[View, ...]
    agents: tuple[tuple[str, int], ...]
    months: tuple[SessionMonth, ...]
    total: int
    unread: tuple[str, ...] = ()


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


def plan_sessions(context: Context, ledger: Ledger) -> Iterator[SessionsPage | Written]:
    """The list of all sessions, that of each source, their parts, and their twins; nothing if there never was any."""
    sources = published_sessions(context, ledger)
    if not sources:
        return
    totals = [(name, here, len(sessions)) for here, (name, sessions) in sources.items()]
    every = tuple({one.ref: one for _, sessions in sources.values() for one in sessions}.values())
    every = tuple(sorted(every, key=by_arrival))
    lists = _SessionLists(context=context, totals=tuple(totals), every=len(every))
    whole = page.twin_links(urls.SESSIONS, urls.SESSIONS)
    yield from lists.pages(urls.SESSIONS, urls.SESSION_PARTS, phrase("Sessions"), every, twins=whole)
    yield from page.name_twins(urls.SESSIONS, "Sessions", totals, facts={}, onward=urls.SESSIONS, of="sessions")
    for name, here, _ in totals:
        title, sessions = phrase("Sessions in {source}", source=name), sources[here][1]
        feeds = (Reference(label=title, href=urls.relative(here, f"{here}feed.xml")),)
        yield from lists.pages(here, here, title, sessions, twins=page.twin_links(here, here), feeds=feeds)
        yield from page.list_twins(context, here, f"Sessions in {name}", sessions, facts={"source": name})


class _SessionLists(Value):
    """Makes the pages of lists; `totals` are the names of sources, their lists, and how many sessions each has."""

    context: Context
    totals: tuple[tuple[str, str, int], ...]
    every: int

    def pages(
        self,
        here: str,
        parts: str,
        title: str,
        sessions: Sequence[Transcript],
        *,
        twins: tuple[Reference, ...],
        feeds: tuple[Reference, ...] = (),
    ) -> Iterator[SessionsPage]:
        """A list with the newest sessions, and if these are not all, its parts below `parts` with every one."""
        count = page.part_count(sessions)
        shown = newest_first(sessions)[:LIST_LIMIT]
        links = page.part_links(here, parts, count, None)
        yield self._page(here, here, title, shown, total=len(sessions), parts=links, twins=twins, feeds=feeds)
        for number, chunk in enumerate(page.in_parts(sessions) if count else (), 1):
            start = urls.part_page(parts, number)
            links = page.part_links(start, parts, number, number)  # it names only what was there before it
            yield self._page(
                here, start, page.part_title(title, number), newest_first(chunk), total=len(chunk), parts=links
            )

    def _page(
        self,
        here: str,
        start: str,
        title: str,
        sessions: Sequence[Transcript],
        *,
        total: int,
        parts: tuple[PagePart, ...],
        twins: tuple[Reference, ...] = (),
        feeds: tuple[Reference, ...] = (),
    ) -> SessionsPage:
        months: dict[str, list[SessionRow]] = defaultdict(list)
        for session in sessions:
            months[urls.month_of(session)].append(_row(self.context, start, session, has_source=here == urls.SESSIONS))
        agents = Counter(row.way for rows in months.values() for row in rows if row.way)
        return SessionsPage(
            **page.head_of(self.context, start, title=title, section="sessions"),
            feeds=feeds,
            twins=twins,
            parts=parts,
            intro=_intro(self.context, total) if start == here else "",
            views=tuple(self._views(here, start)),
            agents=tuple(sorted(agents.items(), key=lambda item: (-item[1], item[0]))),
            months=tuple(
                SessionMonth(
                    heading=month_name(month), anchor=month.replace("/", "-"), rows=tuple(rows), total=len(rows)
                )
                for month, rows in months.items()
            ),
            total=total,
            unread=unread_logs(self.context) if start == urls.SESSIONS else (),
        )

    def _views(self, here: str, start: str) -> Iterator[View]:
        """Links to the list of all and to those of the sources; only where these are more than one."""
        if start != here:
            title = next((name for name, target, _ in self.totals if target == here), phrase("All"))
            yield View(page=Reference(label=title, href=urls.relative(start, here)), total=None)
        elif len(self.totals) > 1 or here != urls.SESSIONS:
            for name, target, total in ((phrase("All"), urls.SESSIONS, self.every), *self.totals):
                href = None if target == start else urls.relative(start, target)
                yield View(page=Reference(label=name, href=href), total=total)


def _intro(context: Context, total: int) -> str:
    """What a list has, who the person in it is, and where subagents are."""
    if not total:
        return ""
    said = [
        phrases(
            "{n:,} session with an AI agent, as the agent logged it.",
            "{n:,} sessions with AI agents, as the agents logged them.",
            total,
        )
    ]
    if context.site.person:
        id_ = context.archive.position_of.get(context.site.person)
        who = context.label(id_) if id_ else context.site.person
        said.append(phrase("The person in them is {person}.", person=who))
    said.append(phrase("Subagents are on the page of the session that started them."))
    return joined(" ", said)


def _row(context: Context, start: str, session: Transcript, *, has_source: bool) -> SessionRow:
    """A session in a list: with its subagents, how much was committed in it and which files it wrote."""
    row, log = context.row(start, session), session.log
    is_readable = log is not None and not session.withheld
    return SessionRow(
        kind=row.kind,
        href=row.href,
        short_subject=row.short_subject,
        date=row.date,
        sender=row.sender,
        source=row.source if has_source else "",
        status="" if is_readable else row.status,
        excerpt=row.excerpt,
        way=log.agent if log else "",
        models=log.models[:_NAMED] if log else (),
        turns=turns_line(session) if is_readable else "",
        made=joined(" · ", _made(session, log)) if log and is_readable else "",
    )


def _made(session: Transcript, log: SessionLog) -> Iterator[str]:
    """How long a session took, what is counted in it, and what it wrote."""
    took = seconds_between(session.date, session.ended)
    if took and took >= _MINUTE:
        yield phrase("lasted {time}", time=duration(took))
    if log.people:
        yield phrases("{n:,} turn by a person", "{n:,} turns by a person", log.people)
    if log.tools:
        yield phrases("{n:,} tool call", "{n:,} tool calls", log.tools)
    if session.children:
        yield phrases("{n:,} subagent", "{n:,} subagents", len({ref for _, ref in session.children}))
    if commits := {one.id[:7] for one in session.named_commits}:
        yield phrases("{n:,} commit", "{n:,} commits", len(commits))
    if paths := tuple(dict.fromkeys(log.below(path).rpartition("/")[2] for _, path in log.wrote)):
        yield phrase("wrote {files}", files=_few(paths))


_MINUTE: Final = 60
"""What took less seconds is not said."""


def _few(names: Sequence[str]) -> str:
    """The first of several names, and how many more there are."""
    more = len(names) - _NAMED
    named = [cut_line(name, _NAME_CHARS) for name in names[:_NAMED]]
    return joined(", ", (*named, phrase("{more} more", more=more))) if more > 0 else ", ".join(named)
