"""Defines the context of planning: the archive, facts of the site, and how pages show dates, seats and artifacts."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache, partial
from typing import TypeVar
from weakref import proxy

from memosite.archive import mailboxes, model
from memosite.archive.mailboxes import ShownAction, unread_by_any, unread_for
from memosite.archive.urls import (
    absolute,
    artifact_page,
    page_of,
    position_page,
    relative,
    source_sessions,
    thread_page,
)
from memosite.config.schema import FeedsConfig
from memosite.facts.file import LABEL_CHARS
from memosite.facts.names import make_id
from memosite.facts.parsed import Kind, Mailbox, Organization, Ref
from memosite.facts.patterns import regex
from memosite.facts.phrases import joined, kind_word, kinds, phrase, phrases
from memosite.facts.texts import cut_line
from memosite.facts.times import Moment
from memosite.facts.values import Value, field, replace
from memosite.feeds import FeedFile
from memosite.pages import Page, Reference, Row, Site
from memosite.plan import indexes
from memosite.plan.dates import by_arrival
from memosite.plan.shared_passages import SharedLink
from memosite.search.blocks import SearchBlock, StateBlock
from memosite.sources.forges import commit_url
from memosite.store.output import Synced

T = TypeVar("T")
R = TypeVar("R", bound=Row)


_WORD = regex(r"[^\s:,;·()]+")


LIST_LIMIT, ADDRESSEES, EXCERPT = 500, 6, 120
"""The most entries of one list on one page (SPEC 4); the most recipients, and characters of text, in a row."""


class Context(Value, dict=True, apart=("mentions",)):
    """The archive and everything a page is made with.

    `text_of` gives a text by its digest; `mentions` keeps places; `shared` are passages that texts have in common.
    """

    archive: model.Archive
    site: Site
    text_of: Callable[[str], str]
    archive_id: str = "archive"
    authority: str = "memosite.invalid,2026"
    feeds: FeedsConfig = field(default_factory=FeedsConfig)
    mentions: indexes.MentionFinder = field(default_factory=indexes.MentionFinder)
    shared: dict[Ref, tuple[SharedLink, ...]] = field(default_factory=dict)

    @cached_property
    def by_position(self) -> dict[str, list[model.Artifact]]:
        """The artifacts that involve each position, in order of arrival; broadcasts only with their sender."""
        found: dict[str, list[model.Artifact]] = defaultdict(list)
        for artifact in self.archive.artifacts.values():
            for id_ in artifact.positions if artifact.is_listed else ():
                found[id_].append(artifact)
        for id_, position in self.archive.positions.items():
            if position.union_of:
                together = {one.ref: one for part in position.members for one in found.get(part, [])}
                found[id_] = sorted(together.values(), key=lambda one: one.arrival)
        return dict(found)

    @cached_property
    def arrival_times(self) -> dict[Ref, dt.datetime]:
        """When each artifact arrived, as far as that is known."""
        return indexes.arrival_times(self.archive.artifacts.values())

    @cached_property
    def webs(self) -> dict[str, str]:
        """Where the files of each source can be seen on the web, if anywhere."""
        return {source.name: source.web for source in self.archive.sources if source.web}

    @cached_property
    def records(self) -> dict[str, list[model.Record]]:
        """The records of each system that has any, in order of arrival; systems by name."""
        found: dict[str, list[model.Record]] = defaultdict(list)
        for artifact in self.archive.artifacts.values():
            if isinstance(artifact, model.Record):
                found[artifact.system].append(artifact)
        return {system: found[system] for system in sorted(found)}

    @cached_property
    def entities(self) -> dict[str, indexes.EntityFacts]:
        """The entities that records name, by id."""
        return indexes.collect_entities(self.archive.artifacts.values())

    @cached_property
    def memos(self) -> tuple[model.Memo, ...]:
        """Memos and notes, in order of arrival."""
        return self.archive.memos()

    @cached_property
    def seats(self) -> indexes.SeatIndex:
        """What each position sent, has not read and is asked."""
        return indexes.index_seats(self.memos, self.broadcasts)

    @cached_property
    def broadcasts(self) -> tuple[model.Memo, ...]:
        """Memos to everybody, in order of arrival."""
        return tuple(memo for memo in self.memos if memo.kind == "memo" and memo.is_broadcast)

    @cached_property
    def captures(self) -> dict[Ref, tuple[Ref, ...]]:
        """For each transcript the other captures of its session."""
        return indexes.find_captures(self.archive.artifacts.values())

    @cached_property
    def sessions(self) -> dict[str, list[model.Transcript]]:
        """The sessions of logs in each source, by the page that lists them, in order of arrival; without subagents."""
        found: dict[str, list[model.Transcript]] = defaultdict(list)
        for artifact in self.archive.artifacts.values():
            if isinstance(artifact, model.Transcript) and artifact.log and artifact.is_listed:
                for page in sorted({source_sessions(copy.file.source) for copy in artifact.copies}):
                    found[page].append(artifact)
        return dict(found)

    @cached_property
    def continued_by(self) -> dict[Ref, tuple[Ref, ...]]:
        """For sessions that others continue, these, the oldest first."""
        found: dict[Ref, list[model.Transcript]] = defaultdict(list)
        for artifact in self.archive.artifacts.values():
            if isinstance(artifact, model.Transcript) and artifact.continued_from:
                found[artifact.continued_from].append(artifact)
        return {
            ref: tuple(one.ref for one in sorted(some, key=lambda one: one.sort_key)) for ref, some in found.items()
        }

    @cached_property
    def possible_replies(self) -> dict[Ref, tuple[model.Ghost, ...]]:
        """The missing memos that may have answered a memo."""
        return mailboxes.possible_replies(self.archive, self.memos)

    @cached_property
    def missing_of(self) -> dict[str, tuple[model.Ghost, ...]]:
        """The missing memos from and to each position, by their names; the newest first."""
        return mailboxes.missing_of(self.archive)

    @cached_property
    def bundles(self) -> dict[Ref, str]:
        """The bundle that each artifact's twins and originals are in; none where each is a file of its own."""
        return indexes.find_bundles(self.archive.artifacts.values()) if self.site.is_lean else {}

    @cached_property
    def same_decisions(self) -> dict[Ref, tuple[Ref, ...]]:
        """For each decision that several systems have, all of them, the one that lists show first."""
        return indexes.find_same_decisions(self.archive.artifacts.values())

    @cached_property
    def list_places(self) -> dict[Ref, indexes.ListPlace]:
        """The place of each artifact in the list that readers page through."""
        return indexes.list_places(self.archive.artifacts.values(), self.label)

    @cached_property
    def written_during(self) -> dict[Ref, tuple[Ref, ...]]:
        """For transcripts, what their participants sent during them."""
        return indexes.find_written(self.archive.artifacts.values())

    @cached_property
    def placed(self) -> dict[Ref, tuple[model.Thread, int]]:
        """For each memo its thread and its place among the thread's entries."""
        return {
            entry.ref: (thread, index)
            for thread in self.archive.threads.values()
            for index, entry in enumerate(thread.entries)
        }

    def other_names(self, position: model.Position) -> tuple[str, ...]:
        """The ids of pages under which a position is found besides its own: the other names that memos use."""
        ids = {make_id(name).casefold(): make_id(name) for name in reversed(position.names)}
        return tuple(sorted(id_ for folded, id_ in ids.items() if folded not in self.position_ids))

    @cached_property
    def position_ids(self) -> dict[str, bool]:
        """Ids of positions as a disk that ignores case has them, each with `True`."""
        return {id_.casefold(): True for id_ in self.archive.positions}

    @cached_property
    def organizations(self) -> dict[str, Organization]:
        """Organizations by id; of two with one id the first."""
        return {one.id: one for one in reversed(self.archive.organizations)}

    @cached_property
    def received(self) -> dict[str, list[model.Memo]]:
        """Memos to each position and to `all`, in order of arrival."""
        broadcasts = frozenset(map(id, self.broadcasts))
        return {id_: self._received(position, broadcasts) for id_, position in self.archive.positions.items()}

    def _received(self, position: model.Position, broadcasts: frozenset[int]) -> list[model.Memo]:
        found = list(self.broadcasts)
        memos = (one for one in self.by_position.get(position.id, ()) if isinstance(one, model.Memo))
        found += [
            memo for memo in memos
            if id(memo) not in broadcasts and any(state.position in position.members for state in memo.recipients)
        ]  # fmt: skip
        found.sort(key=by_arrival)
        return found

    @cached_property
    def seat_positions(self) -> dict[tuple[str, str], str]:
        """The position of each seat, by organization and the seat's id in it."""
        return {
            (organization, seat.id): id_
            for id_, position in self.archive.positions.items()
            if not position.union_of
            for organization, seat in position.seats
        }

    def label(self, position_id: str) -> str:
        """The label of a position on pages."""
        return self.archive.label(position_id)

    @cached_property
    def position(self) -> Callable[..., Reference]:
        """`position(start, id, written)` is a link to a position by its one name; others are the title."""
        # A page repeats them. A reference cycle would keep the whole archive until the garbage collector runs.
        return lru_cache(maxsize=1_000)(partial(type(self)._position, proxy(self)))

    def _position(self, start: str, id_: str | None, written: str = "") -> Reference:
        if id_ is None or id_ not in self.archive.positions:
            return Reference(label=cut_line(written or id_ or "nobody", LABEL_CHARS))
        label = self.label(id_)
        position = self.archive.positions[id_]
        others = {cut_line(name, LABEL_CHARS): None for name in (written, model.other_name(position.name, id_)) if name}
        title = ", ".join(name for name in others if name != label)
        if position.union_of:
            title = phrase("Stands for {positions}", positions=", ".join(map(self.label, position.union_of)))
        return Reference(label=label, href=relative(start, position_page(id_)), title=title)

    def named(self, start: str, written: str) -> Reference:
        """A link to the position that a name stands for; `all` and `file` are plain words."""
        return self.position(start, self.archive.position_of.get(written), written)

    def page(self, ref: Ref) -> str:
        """The page of an artifact or ghost."""
        artifact = self.archive.artifacts.get(ref)
        return page_of(artifact) if artifact else artifact_page(ref)

    def artifact(self, start: str, ref: Ref) -> Reference:
        """A link to an artifact or ghost by its short subject."""
        return Reference(label=self.archive.short_subject(ref), href=relative(start, self.page(ref)))

    def record(self, start: str, ref: Ref) -> Reference:
        """A link to what a system has of a decision, by the system: its subject is mostly that of the decision."""
        found = self.artifact(start, ref)
        return replace(found, label=self.archive.artifacts[ref].system, title=found.label)

    @cached_property
    def citations_of(self) -> dict[Ref, tuple[model.MadeCitation, ...]]:
        """The citations of each artifact that has any."""
        return model.by_cited(self.archive.citations)

    @cached_property
    def thread_sizes(self) -> dict[str, int]:
        """How many memos each thread has."""
        return {id_: len(thread.memos) for id_, thread in self.archive.threads.items()}

    def thread_target(self, thread_id: str) -> str:
        """The page of a thread; for a thread of one, its memo's page (SPEC 4)."""
        if self.thread_sizes[thread_id] > 1:
            return thread_page(thread_id)
        thread = self.archive.threads[thread_id]
        return self.page(next(iter(thread.memos), thread.entries[0].ref))

    def thread(self, start: str, thread_id: str) -> Reference:
        """A link to a thread, labelled by the subject of its first memo."""
        return Reference(label=self.thread_label(thread_id), href=relative(start, self.thread_target(thread_id)))

    def thread_label(self, thread_id: str) -> str:
        """The subject of a thread's first memo."""
        return self.archive.thread_label(thread_id)

    def row(self, start: str, artifact: model.Artifact, *, depth: int = 0, viewer: str | None = None) -> Row:
        """An artifact in a list; `viewer` is the position for whom it is unread or not."""
        if isinstance(artifact, model.Memo):
            return self._memo_row(start, artifact, depth, viewer)
        row = Row(
            kind=artifact.kind,
            href=relative(start, page_of(artifact)),
            short_subject=artifact.short_subject,
            date=artifact.date,
            depth=depth,
            source=artifact.copies[0].file.source,
            type=type_of(artifact),
            excerpt=excerpt(artifact),
        )
        if isinstance(artifact, model.Transcript):
            status = _state_of(artifact) or ("" if artifact.ended else phrase("ongoing"))
            sender = self.position(start, artifact.role) if artifact.role else None
            if artifact.log:
                status = _state_of(artifact) or turns_line(artifact)
            return replace(row, sender=sender, status=status)
        status, successor = artifact.short_status, self.successor(start, artifact)
        is_said = successor is not None and status.casefold().startswith("superseded")
        return replace(row, status="" if is_said else status, is_superseded=artifact.is_superseded, successor=successor)

    def _memo_row(self, start: str, memo: model.Memo, depth: int, viewer: str | None) -> Row:
        mailbox, source = self.where(memo, viewer)
        return Row(
            kind=memo.kind,
            href=relative(start, page_of(memo)),
            short_subject=memo.short_subject,
            date=memo.date,
            depth=depth,
            sender=self.position(start, memo.sender_position, memo.author),
            to=few(memo.to, partial(self.named, start)) if memo.kind == "memo" else (),
            mailbox=mailbox,
            source=source,
            action=self.shown_action(memo, viewer),
            unread=self.unread(memo, viewer),
            status=_state_of(memo),
            excerpt=excerpt(memo),
        )

    def successor(self, start: str, artifact: model.Artifact) -> Reference | None:
        """What took the place of a superseded record or document; as written where it is not in the archive."""
        if isinstance(artifact, model.Record):
            found = artifact.superseded_by
            if found is not None and found in self.archive.artifacts and found != artifact.ref:
                return self.artifact(start, found)
            written = artifact.card.superseded_by
            return Reference(label=cut_line(written, 120)) if written else None
        if isinstance(artifact, model.Document):
            return self.artifact(start, artifact.superseded_by) if artifact.superseded_by else None
        return None

    def where(self, memo: model.Memo, viewer: str | None) -> tuple[Mailbox | None, str]:
        """The mailbox and the source in which a memo is for a position; of one for several, where all agree."""
        first = memo.copies[0]
        if memo.kind != "memo" or len(memo.copies) == 1:
            return first.mailbox if memo.kind == "memo" else None, first.file.source
        seats = [viewer] if viewer else [state.position for state in memo.recipients]
        repos = {self.archive.positions[seat].repo for seat in seats if seat in self.archive.positions}
        places = {
            (mailboxes.mailbox_at(memo.copies, repo), mailboxes.copies_at(memo.copies, repo)[0].file.source)
            for repo in repos or {None}
        }
        if len(places) > 1 or (memo.is_broadcast and viewer is None and len(memo.copies) > 1):
            return None, ""
        return places.pop()

    def action(self, memo: model.Memo, viewer: str | None) -> model.Action | None:
        """The state of the action for a position, if it is one of those asked; else for the memo as a whole."""
        return mailboxes.action_for(memo, self.archive.positions[viewer].members if viewer else ())

    def shown_action(self, memo: model.Memo, viewer: str | None) -> ShownAction | None:
        """The state of the action as rows show it."""
        return mailboxes.shown_action(memo, self.archive.positions[viewer].members if viewer else ())

    def commit(self, source: str, id_: str) -> Reference:
        """A commit of a source, shortened."""
        web = self.webs.get(source)
        return Reference(label=id_[:8], href=commit_url(web, id_) if web else None, title=f"{id_} in {source}")

    def ghost_row(self, start: str, ghost: model.Ghost, *, depth: int = 0) -> Row:
        """A ghost in a list."""
        return Row(
            kind=ghost.kind,
            href=relative(start, artifact_page((ghost.kind, ghost.id))),
            short_subject=ghost.short_subject,
            sender=self.named(start, ghost.sender) if ghost.sender else None,
            to=(self.named(start, ghost.to),) if ghost.to else (),
            date=ghost.date,
            is_ghost=True,
            depth=depth,
        )

    def rows(self, start: str, refs: Iterable[Ref]) -> tuple[Row, ...]:
        """Rows for refs, in their order."""
        return tuple(self.row(start, self.archive.artifacts[ref]) for ref in refs)

    def is_unread(self, memo: model.Memo, viewer: str) -> bool:
        """Whether a memo is unread for a position."""
        return bool(self.unread(memo, viewer))

    def unread(self, memo: model.Memo, viewer: str | None) -> str:
        """What lists and pages say of a memo that is unread for a position, or for any recipient if none is given."""
        if viewer is None and len(memo.recipients) == 1 and not memo.is_broadcast:
            viewer = memo.recipients[0].position
        if viewer is None:
            return unread_by_any(memo)
        found = self.archive.positions.get(viewer)
        return unread_for(memo, found.members, self.repos_of(found)) if found else unread_for(memo, (viewer,), ())

    def repos_of(self, position: model.Position) -> list[str | None]:
        """The repos of a position, and of those that it stands for."""
        return [one.repo for id_ in position.members if (one := self.archive.positions.get(id_))]

    def canonical(self, page: str) -> str | None:
        """The canonical address of a page, if the site has an address."""
        return absolute(self.site.base_url, page) if self.site.base_url else None


def type_of(artifact: model.Artifact) -> str:
    """What an artifact is, where that says more than its kind: what its system calls a record, whose log it is."""
    if isinstance(artifact, model.Record):
        return f"{artifact.system} {artifact.card.type}".strip()
    log = artifact.log if isinstance(artifact, model.Transcript) else None
    return phrase("{agent} session", agent=log.agent) if log else ""


def few(every: Sequence[T], link: Callable[[T], Reference]) -> tuple[Reference, ...]:
    """Links to the first of many; the last one says how many more there are."""
    shown = tuple(map(link, every[:ADDRESSEES]))
    more = len(every) - len(shown)
    return (*shown, Reference(label=phrase("{more} more", more=more))) if more else shown


def excerpt(artifact: model.Artifact) -> str:
    """A line of the text of an artifact, as short as rows of lists have it."""
    return cut_line(artifact.excerpt, EXCERPT, is_prose=True)


def without_said(row: R, above: str) -> R:
    """A row without what the headings above it say: what it is, its status, its mailbox and source, who wrote it."""
    words = _words(above)

    def unsaid(part: str) -> str:
        return "" if _words(part) in words or _words(f"{part}s") in words else part

    is_named = row.kind == "record"  # by its system, and the word of that
    kept = " ".join(filter(None, map(unsaid, row.type.split(" ", 1)))) if is_named else unsaid(row.type)
    is_to_one = len(row.to) == 1 and not unsaid(row.to[0].label)
    return replace(
        row,
        type=kept,
        is_kind_said=not (kept if row.type else unsaid(kind_word(row.kind))),
        mailbox=row.mailbox if row.mailbox and unsaid(row.mailbox) else None,
        status=unsaid(row.status),
        source=unsaid(row.source),
        sender=row.sender if row.sender and unsaid(row.sender.label) else None,
        to=() if is_to_one else row.to,
    )


@lru_cache(maxsize=1_000)
def _words(text: str) -> str:
    """The words of a heading, or of what it may say, so that the one is within the other."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


KINDS: tuple[Kind, ...] = ("memo", "note", "transcript", "record", "document", "library")
"""The kinds in the order in which they are counted."""


def kinds_line(artifacts: Iterable[model.Artifact]) -> str:
    """The number of artifacts of each kind: `3 memos, 1 note`."""
    counts = Counter(artifact.kind for artifact in artifacts)
    return joined(", ", [kinds(kind, counts[kind]) for kind in KINDS if counts[kind]])


def turns_line(transcript: model.Transcript) -> str:
    """How many turns it has, in words."""
    return phrases("{n:,} turn", "{n:,} turns", transcript.turns)


def _state_of(artifact: model.Memo | model.Transcript) -> str:
    """Whether a memo, a note or a transcript can be read, in a word; "" if it can."""
    return artifact.withheld.word if artifact.withheld else phrase("invalid") if artifact.broken else ""


# Says how old something is, counted from the newest date of the archive: the output has no clock.


def newest_day(context: Context) -> dt.date | None:
    """The newest date of the archive as written, to which ages are counted; a date far ahead of all others is none."""
    times = context.arrival_times
    if not times:
        return None
    ref = max(times, key=lambda one: (times[one], one))
    date = context.archive.artifacts[ref].date
    return _day(date) if date and date.instant == times[ref] else times[ref].date()


def as_of(day: dt.date | None) -> str:
    """A day as pages show it, "" for none."""
    return day.isoformat() if day else ""


def age(moment: Moment | None, day: dt.date | None) -> str:
    """How many days something was old on a day, in words; "" if it has no date or is newer."""
    days = days_old(moment, day)
    return "" if days is None or days < 0 else phrases("{n} day", "{n} days", days)


def days_old(moment: Moment | None, day: dt.date | None) -> int | None:
    """The days from a date as it is written, and shown, to a day; None without one of them."""
    return None if moment is None or day is None else (day - _day(moment)).days


def _day(moment: Moment) -> dt.date:
    return dt.date.fromisoformat(moment.day)


# Defines files of the site that need no rendering.


class Written(Value):
    """A file of the site whose bytes are known."""

    path: str
    data: bytes


class Stored(Value):
    """A file of the site whose bytes are on the shelf: an original."""

    path: str
    sha256: str


class Packed(Value):
    """A ZIP of the site with these files in it."""

    path: str
    files: tuple[Written | Stored, ...]


# Defines units of work: outputs that are planned together, and their inputs besides the archive.


Planned = Page | FeedFile | SearchBlock | StateBlock | Written | Stored | Packed


class Unit(Value):
    """Outputs that are made together, of what `make` reads through the context it is given and of `given`.

    `given_as` names what is given, for `explain`. One that is not `traced` looks at the whole archive or at the
    ledger, and is planned in every build. `weight` is roughly how many artifacts it has: light units are sent to a
    process together. `is_for_programs` says that only programs read its outputs; such units come after all others.
    `synced` says whether its outputs have to survive a power loss (`store/output.py`).
    """

    name: str
    make: Callable[[Context], Iterable[Planned]]
    given: object = None
    given_as: str = "what it is made of"
    is_traced: bool = True
    weight: int = 1
    is_for_programs: bool = False
    synced: Synced = "never"


def traced_unit(
    name: str, make: Callable[..., Iterable[Planned]], /, *, given_as: str, weight: int = 1, **given: object
) -> Unit:
    """A unit that is made of these values: `make` takes them by their names."""
    return Unit(name=name, make=partial(make, **given), given=tuple(given.values()), given_as=given_as, weight=weight)


def untraced(name: str, make: Callable[[Context], Iterable[Planned]], *, weight: int = 1) -> Unit:
    """A unit that looks at the whole archive or at the ledger."""
    return Unit(name=name, make=make, is_traced=False, weight=weight)
