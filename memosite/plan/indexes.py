"""Indexes of the archive that pages share: seats, arrivals, lists, entities, sessions, mentions, bundles.

Each is made in one pass over all artifacts, in order of arrival, for all pages: a page looks up what it needs. What
arrives later changes as few entries as possible, so that few pages are made again: a time of arrival never changes,
a bundle only gets longer, and in the list that a reader pages through only the one before has a new neighbour.

Mentions are found when they are asked for, each artifact once:

    links of the artifact ─► where its bodies have these words ─► the passage around each, and its sentence
"""

import datetime as dt
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from memosite.archive.lines import SHARED_BYTES
from memosite.archive.mailboxes import is_unread
from memosite.archive.model import Artifact, Copy, Document, Memo, Record, Transcript, sessions_of
from memosite.archive.urls import month_of, page_of, relative
from memosite.facts.names import make_id
from memosite.facts.parsed import BROADCAST, Ref
from memosite.facts.patterns import regex
from memosite.facts.phrases import phrase
from memosite.facts.texts import Sentence, destination_spans, mention_spans, sentence_around, session_spans
from memosite.facts.times import read_moment
from memosite.facts.values import Value, field
from memosite.formats.status import Standing, decided_on, sort_of, standing_of
from memosite.formats.systems import RECORD_IDS
from memosite.pages import Neighbours, Reference
from memosite.passages import Around, around_in, bodies_of

# Estimates when artifacts arrived, from the archive's own dates: never earlier than anything that came before them.


LEAP = dt.timedelta(days=400)
"""A date so far ahead of all before it is believed only when the next such date is near it: it may be a slip."""


def arrival_times(artifacts: Iterable[Artifact]) -> dict[Ref, dt.datetime]:
    """The time of arrival of each artifact, given in order of arrival; none for those before the first date.

    Feeds and digests go by arrival, because memos arrive late with an old date, and an order by date would miss them
    (FEEDS, window). The order is the ledger's. The time is that of the commit that received an artifact where it is
    known; else it is the newest date so far, its own included.
    """
    times: dict[Ref, dt.datetime] = {}
    newest: dt.datetime | None = None
    doubtful: dt.datetime | None = None
    for artifact in artifacts:
        date = _received(artifact) or (artifact.date.instant if artifact.date else None)
        if date is not None:
            if newest is not None and date <= newest:
                doubtful = None
            elif newest is None or date - newest <= LEAP or (doubtful is not None and abs(date - doubtful) <= LEAP):
                newest = date
                doubtful = None
            else:
                doubtful = date
        if newest is not None:
            times[artifact.ref] = newest
    return times


def _received(artifact: Artifact) -> dt.datetime | None:
    """When the earliest of its copies was first committed."""
    return min((copy.received.instant for copy in artifact.copies if copy.received), default=None)


# Finds when what a memo asks for stopped waiting.


_BELOW = 5_000
"""The most replies below one memo that are searched for an answer."""


def ends_of(
    artifacts: Mapping[Ref, Artifact], times: Mapping[Ref, dt.datetime], memo: Memo
) -> tuple[dt.datetime | None, Mapping[str | None, dt.datetime]]:
    """When a memo was closed, on a day that is known, or superseded; and when each position first replied.

    When the memo arrived has to be known.
    """
    closed = [time for ref in memo.superseded_by if (time := times.get(ref))]
    if on := read_moment(((memo.discharge and memo.discharge.on) or "")[:10]):
        closed.append(on.instant)
    replies = first_replies(artifacts, times, memo)
    return min(closed, default=None), {position: time for position, (time, _) in replies.items()}


def first_replies(
    artifacts: Mapping[Ref, Artifact], times: Mapping[Ref, dt.datetime], memo: Memo
) -> dict[str | None, tuple[dt.datetime, Ref]]:
    """When each position first replied to a memo, and by which memo. When the memo arrived has to be known.

    A reply is any memo below it, or one that answers it elsewhere; it counts once what it replies to has arrived, too.
    """
    replied: dict[str | None, tuple[dt.datetime, Ref]] = {}
    below, looked = [(ref, times[memo.ref]) for ref in (*memo.replies, *memo.also_answered_by)], 0
    while below and looked < _BELOW:
        ref, after = below.pop()
        looked += 1
        reply = artifacts.get(ref)
        if isinstance(reply, Memo) and ref in times:
            time = max(times[ref], after)
            position = reply.sender_position
            replied[position] = min((time, ref), replied.get(position, (time, ref)))
            below += [(one, time) for one in reply.replies]
    return replied


# Divides the twins and originals of a lean site into bundles: by month, and by size within a month (SPEC 4).


BUNDLE_BYTES = 1_000_000
"""The most bytes of sources that a bundle is made of, unless one artifact alone has more."""


_ENTRY_BYTES = 1_500  # what a twin says besides the text: limits how many artifacts are in a bundle


def find_bundles(artifacts: Iterable[Artifact]) -> dict[Ref, str]:
    """The bundle of each artifact, such as `2026/05/1`, given them in order of arrival.

    Sizes are those of the sources, so that what is said elsewhere of an artifact moves nothing; a new artifact only
    makes the last bundle of its month longer, or begins one.
    """
    found: dict[Ref, str] = {}
    last: dict[str, tuple[int, int]] = {}
    for artifact in artifacts:
        month, size = month_of(artifact), _size(artifact)
        number, filled = last.get(month, (1, 0))
        if filled and filled + size > BUNDLE_BYTES:
            number, filled = number + 1, 0
        last[month] = number, filled + size
        found[artifact.ref] = f"{month}/{number}"
    return found


def _size(artifact: Artifact) -> int:
    """Roughly how many bytes an artifact adds to each file of a bundle."""
    files = sum(copy.file.bytes for copy in artifact.copies)
    if isinstance(artifact, Record) and artifact.card.line is not None:
        files = min(files, SHARED_BYTES)
    return _ENTRY_BYTES + files + artifact.chars * len(artifact.copies)


# Finds the memos and notes that participants of a conversation sent during it (SPEC 4).


def find_written(artifacts: Iterable[Artifact]) -> dict[Ref, tuple[Ref, ...]]:
    """For each transcript whose end is known, the memos and notes that a participant sent between start and end.

    The end is that of the envelope, else its last turn. They are in the order of their dates; where nothing was sent,
    the transcript has no entry. A date counts only if the memo itself states it.
    """
    sent: dict[str, list[Memo]] = defaultdict(list)
    transcripts: list[Transcript] = []
    for one in artifacts:
        if isinstance(one, Transcript):
            if not one.log:  # a session log says itself what was written in it; nothing is tied to it by time alone
                transcripts.append(one)
        elif isinstance(one, Memo) and one.sender_position and one.date is not None and one.date.origin == "field":
            sent[one.sender_position].append(one)
    for memos in sent.values():
        memos.sort(key=_instant)
    found: dict[Ref, tuple[Ref, ...]] = {}
    for transcript in transcripts:
        end = transcript.ended or transcript.last_turn
        if transcript.date is None or end is None:
            continue
        meanwhile: list[Memo] = []
        for seat in transcript.positions:
            memos = sent.get(seat, [])
            first = bisect_left(memos, transcript.date.instant, key=_instant)
            meanwhile += memos[first : bisect_right(memos, end.instant, lo=first, key=_instant)]
        if meanwhile:
            found[transcript.ref] = tuple(memo.ref for memo in sorted(meanwhile, key=attrgetter("sort_key")))
    return found


_instant = attrgetter("date.instant")


# Indexes the entities that records name, over all sources; upper and lower case are the same entity.


class EntityFacts(Value):
    """An entity: its name as first written, its types, and the records that name it, in order of arrival."""

    id: str
    name: str
    types: tuple[str, ...]
    records: tuple[Record, ...]


def entity_id(name: str) -> str | None:
    """The id of an entity, the same for upper and lower case; None for an empty name."""
    words = " ".join(name.split())
    return make_id(words.casefold()) if words else None


def collect_entities(artifacts: Iterable[Artifact]) -> dict[str, EntityFacts]:
    """All entities by id, in the order in which they are first named."""
    names: dict[str, str] = {}
    types: dict[str, set[str]] = {}
    records: dict[str, dict[str, Record]] = {}
    for record in artifacts:
        for entity in record.card.entities if isinstance(record, Record) else ():
            id_ = entity_id(entity.name)
            if id_ is None or not isinstance(record, Record):
                continue
            names.setdefault(id_, " ".join(entity.name.split()))
            types.setdefault(id_, set()).update({entity.type} if entity.type else ())
            records.setdefault(id_, {})[record.id] = record
    return {
        id_: EntityFacts(id=id_, name=names[id_], types=tuple(sorted(types[id_])), records=tuple(found.values()))
        for id_, found in records.items()
    }


# Indexes what each seat sent, has not read and is asked, in one pass over the memos for all seats.


class SeatIndex(Value):
    """Memos by position, notes left out, each list in order of arrival.

    `newest_sent` is the last memo that a position sent by date, `open_from` how many of its memos ask for something
    not done. `unread` holds what a recipient has not read, `unread_broadcasts` by source the memos to all that nobody
    has read there. `unsure` holds what nobody can know of a recipient, `known_broadcasts` by source the memos to all of
    which it is known there. `owed` holds the memos that ask a position, or all, for something that it has not done.
    """

    newest_sent: Mapping[str, Memo]
    open_from: Mapping[str, int]
    unread: Mapping[str, Sequence[Memo]]
    unread_broadcasts: Mapping[str, Sequence[Memo]]
    unsure: Mapping[str, Sequence[Memo]]
    known_broadcasts: Mapping[str, Set[Ref]]
    owed: Mapping[str, Sequence[Memo]]


def index_seats(memos: Iterable[Memo], broadcasts: Iterable[Memo]) -> SeatIndex:
    """Look at all memos and notes, and once more at the memos to all."""
    newest: dict[str, Memo] = {}
    open_from: dict[str, int] = defaultdict(int)
    unread: dict[str, list[Memo]] = defaultdict(list)
    unsure: dict[str, list[Memo]] = defaultdict(list)
    owed: dict[str, list[Memo]] = defaultdict(list)
    for memo in (one for one in memos if one.kind == "memo"):
        sender = memo.sender_position
        if sender is not None:
            open_from[sender] += bool(memo.owed_by)
            if memo.date and (sender not in newest or newest[sender].sort_key < memo.sort_key):
                newest[sender] = memo
        for state in memo.recipients:
            if state.unread:
                unread[state.position].append(memo)
            elif state.unread is None:
                unsure[state.position].append(memo)
        for id_ in memo.owed_by:
            owed[id_].append(memo)
    unread_broadcasts: dict[str, list[Memo]] = defaultdict(list)
    known_broadcasts: dict[str, set[Ref]] = defaultdict(set)
    for memo in broadcasts:
        is_to_all = any(state.position == BROADCAST for state in memo.recipients)
        held: dict[str, list[Copy]] = defaultdict(list)
        for copy in memo.copies:
            held[copy.file.source].append(copy)
        for source, copies in held.items():
            is_left = is_unread(tuple(copies), None)
            if is_left is not None:
                known_broadcasts[source].add(memo.ref)
            if is_left and is_to_all:
                unread_broadcasts[source].append(memo)
    return SeatIndex(
        newest_sent=newest,
        open_from=open_from,
        unread=unread,
        unread_broadcasts=unread_broadcasts,
        unsure=unsure,
        known_broadcasts=known_broadcasts,
        owed=owed,
    )


# Finds the transcripts that are captures of one session: only those that name the same UUID (SPEC 4).


_MOST = 50  # captures of one session


def find_captures(artifacts: Iterable[Artifact]) -> dict[Ref, tuple[Ref, ...]]:
    """For each transcript that has any, the other captures of its session, in order of arrival."""
    by_session: dict[str, list[Ref]] = defaultdict(list)
    for artifact in artifacts:
        if isinstance(artifact, Transcript):
            for uuid in sessions_of(artifact):
                by_session[uuid].append(artifact.ref)
    found: dict[Ref, dict[Ref, None]] = defaultdict(dict)
    for refs in by_session.values():
        for ref in refs[:_MOST]:
            found[ref] |= {other: None for other in refs[:_MOST] if other != ref}
    return {ref: tuple(others) for ref, others in found.items()}


# Finds decisions that several systems have: a document, and what memory systems keep of it (SPEC 4).


_BESIDE = 200  # links of a decision, each way, that are looked at
_CALLED_SO = 50  # decisions of a day with one word in their titles: a more common word tells nothing
_SHARED_WORDS, _OF_SHORTER = 3, 0.85
"""Titles say the same if they share so many words (linked decisions: one), and this part of the shorter's."""
_TITLE_WORD = regex(r"\w{3,}")


class _Decision(NamedTuple):
    """A decision with what tells whether another is the same: its day, and the words of its title."""

    artifact: Artifact
    standing: Standing | None
    day: str
    words: Set[str]

    def is_also(self, other: "_Decision", *, are_linked: bool) -> bool:
        """Whether another system's decision is the same: it stands likewise, and two of link, day and title agree."""
        if self.artifact.system == other.artifact.system or self.standing != other.standing:
            return False
        shared = len(self.words & other.words)
        least = 1 if are_linked else _SHARED_WORDS
        is_called_so = shared >= max(least, _OF_SHORTER * min(len(self.words), len(other.words)))
        return are_linked + is_called_so + (self.day == other.day != "") >= 2


def find_same_decisions(artifacts: Iterable[Artifact]) -> dict[Ref, tuple[Ref, ...]]:
    """For each decision that several systems have, all of them; first a document, else the one that arrived first."""
    every = [one for one in artifacts if isinstance(one, Document | Record) and not one.withheld]
    first_of: dict[Ref, Ref] = {}
    leaders: dict[Ref, _Decision] = {}
    called: dict[tuple[str, str], list[_Decision]] = defaultdict(list)
    groups: dict[Ref, list[Ref]] = defaultdict(list)
    for artifact in sorted(every, key=lambda one: (one.kind != "document", one.arrival)):
        if sort_of(artifact) != "decision":
            continue
        day = decided_on(artifact) or (artifact.date.day if artifact.date else "")
        words = frozenset(_TITLE_WORD.findall(artifact.subject.casefold()))
        this = _Decision(artifact, standing_of(artifact), day, words)
        linked = {first_of[ref] for ref in artifact.beside(_BESIDE) if ref in first_of}
        same = (called[day, word] for word in sorted(words))
        others = (one for some in same if len(some) <= _CALLED_SO for one in some)
        near = {one.artifact.ref: one for one in (*(leaders[ref] for ref in sorted(linked)), *others)}
        found = next((ref for ref, one in near.items() if this.is_also(one, are_linked=ref in linked)), artifact.ref)
        first_of[artifact.ref] = found
        groups[found].append(artifact.ref)
        if found == artifact.ref:
            leaders[found] = this
            for word in words:
                called[day, word].append(this)
    return {ref: tuple(some) for some in groups.values() if len(some) > 1 for ref in some}


# Finds what is before and after an artifact in the list that a reader pages through, in order of arrival.


class ListEntry(NamedTuple):
    """An artifact of a list: its page, and what it is called."""

    page: str
    label: str


class ListPlace(NamedTuple):
    """The place of an artifact in its list: what the list is called, and what is before and after it."""

    of: str
    previous: ListEntry | None
    next: ListEntry | None


def list_places(artifacts: Iterable[Artifact], label: Callable[[str], str]) -> dict[Ref, ListPlace]:
    """The places of all artifacts that are in a list of two or more; `label` names a position.

    The lists: memos to a position (the first recipient), or to everybody; notes and transcripts of a position;
    documents of a source.
    """
    lists: dict[tuple[str, str], list[Artifact]] = defaultdict(list)
    for artifact in artifacts:
        if (of := _list_of(artifact)) is not None:
            lists[artifact.kind, of].append(artifact)
    places: dict[Ref, ListPlace] = {}
    for (kind, of), members in lists.items():
        words = _words(kind, of, label)
        entries = [ListEntry(page_of(one), one.short_subject) for one in members]
        for one, before, after in zip(members, [None, *entries], [*entries[1:], None], strict=False):
            if before or after:
                places[one.ref] = ListPlace(words, before, after)
    return places


def _list_of(artifact: Artifact) -> str | None:
    """The position or the source whose list an artifact is in."""
    match artifact:
        case Memo(kind="memo"):
            is_to_all = artifact.is_broadcast or not artifact.recipients
            return (BROADCAST if artifact.is_broadcast else None) if is_to_all else artifact.recipients[0].position
        case Memo() | Transcript():
            return artifact.role
        case Document():
            return artifact.head.file.source
    return None


def _words(kind: str, of: str, label: Callable[[str], str]) -> str:
    match kind:
        case "memo" if of == BROADCAST:
            return phrase("memo to everybody")
        case "memo":
            return phrase("memo to {position}", position=label(of))
        case "document":
            return phrase("document of {source}", source=of)
        case "note":
            return phrase("note of {position}", position=label(of))
    return phrase("transcript of {position}", position=label(of))


def neighbours_of(start: str, place: ListPlace | None) -> Neighbours | None:
    """The links to what is before and after, as the page `start` shows them."""
    if place is None:
        return None
    previous, following = (
        Reference(label=one.label, href=relative(start, one.page)) if one else None
        for one in (place.previous, place.next)
    )
    return Neighbours(of=place.of, previous=previous, next=following)


# Finds where an artifact mentions another one: the passage, and the sentence (SPEC 3, links).


PLACES = 20
"""The most places in which one artifact mentions another that are looked up."""


_MENTIONS = 2_000  # of one body


_KEPT = 20_000  # places that are kept at once: 10 MB


_TURN = regex(r"t[1-9]\d*(?=[.-]|\Z)", re.ASCII)


_LABEL_CHARS = 400


_LABEL = regex(r"\[([^\[\]]{1,300})\]\([ \t\n]{0,41}<?\Z")


TextOf = Callable[[str], str]


_Places = Mapping[Ref, tuple["MentionPlace", ...]]


_Span = tuple[int, int]


class MentionPlace(Value):
    """A place in which an artifact mentions another one. `anchor` is on the page of the first; "" is all of it."""

    anchor: str
    sentence: Sentence

    @property
    def turn(self) -> str:
        """The anchor of the turn that it is in, "" if it is in none."""
        found = _TURN.match(self.anchor)
        return found[0] if found else ""


class MentionFinder(Value, kw_only=False):
    """Finds the places of mentions in the artifacts of one archive; each of these is read once."""

    _known: dict[Ref, _Places] = field(default_factory=dict)
    _sizes: list[int] = field(default_factory=lambda: [0])

    def places(self, artifact: Artifact, to: Ref, text_of: TextOf) -> tuple[MentionPlace, ...]:
        """Where an artifact mentions another one, in order, a turn or passage once; none outside of its bodies."""
        found = self._known.get(artifact.ref)
        if found is None:
            found = _find(artifact, text_of)
            if self._sizes[0] > _KEPT:
                self._known.clear()
                self._sizes[0] = 0
            self._known[artifact.ref] = found
            self._sizes[0] += sum(map(len, found.values()))
        return found.get(to, ())


def _find(artifact: Artifact, text_of: TextOf) -> _Places:
    targets: dict[str, Ref] = {}
    for link in artifact.links:
        if link.to is not None:
            targets.setdefault(link.written, link.to)
    found: dict[Ref, dict[str, MentionPlace]] = defaultdict(dict)
    for body in bodies_of(artifact, text_of) if targets else ():
        spans = list(islice(_spans(body.text, targets), _MENTIONS))
        for span, around in zip(spans, around_in(body, [start for start, _ in spans]), strict=True):
            place = _place(body.text, span, around)
            places = found[targets[body.text[span[0] : span[1]]]]
            if len(places) < PLACES:
                places.setdefault(place.turn or place.anchor, place)
    return {  # those that an anchor leads to, if there are any
        to: tuple(one for one in places.values() if one.anchor) or tuple(places.values())
        for to, places in found.items()
    }


def _spans(text: str, targets: Mapping[str, Ref]) -> Iterator[_Span]:
    """Where a text mentions any of these names; the target of a link is one mention."""
    last = 0
    for start, end in sorted(
        {*mention_spans(text, RECORD_IDS), *destination_spans(text), *session_spans(text)},
        key=lambda span: (span[0], -span[1]),
    ):
        if start >= last and text[start:end] in targets:
            last = end
            yield start, end


def _place(text: str, span: _Span, around: Around | None) -> MentionPlace:
    """The place of a mention; of a link, its label is marked."""
    start, end = span
    begin, stop = (around.begin, around.end) if around else (start, end)
    label = _LABEL.search(text, max(begin, start - _LABEL_CHARS), start)
    if label:
        start, end = label.span(1)
    return MentionPlace(
        anchor=around.anchor if around else "", sentence=sentence_around(text[begin:stop], start - begin, end - begin)
    )
