"""Describes artifacts for answers; finds a position by a name, and what involves it."""

import datetime as dt
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from types import MappingProxyType

from memosite.agents import Entry
from memosite.archive.cite import ArchiveNames, nearest, ref_named, several_found
from memosite.archive.lines import notice_of
from memosite.archive.mailboxes import (
    PossibleReplies,
    action_word,
    is_unread_for,
    is_unreceived_by,
    open_for,
    received_line,
    shown_action,
    unknown_line,
)
from memosite.archive.model import (
    NAME_CHARS,
    NAMED,
    Archive,
    Artifact,
    Document,
    Memo,
    Position,
    Record,
    Thread,
    Transcript,
)
from memosite.facts.errors import ConfigError
from memosite.facts.parsed import BROADCAST, Ref, Seat, Text
from memosite.facts.texts import cut_line, listed
from memosite.facts.times import Moment
from memosite.facts.values import Value, replace
from memosite.formats.status import sort_of

# Describes artifacts for answers: a line, the same as fields, and the triage summary.


_REPLIES = 2
"""How many replies a line names."""


TextOf = Callable[[str], str]
"""Gives a text by its SHA-256."""


class Reader(Value, dict=True):
    """The archive that is asked, and its texts."""

    archive: Archive
    text_of: TextOf

    @cached_property
    def possible_replies(self) -> PossibleReplies:
        """The missing memos that may have answered memos."""
        return PossibleReplies(self.archive)

    def find(self, written: str, kinds: Collection[str] = ()) -> tuple[Artifact, str]:
        """The artifact that a reference means, and its anchor. Raises `ConfigError`."""
        name, anchor = ArchiveNames(self.archive, kinds).find(written)
        return self.archive.artifacts[ref_named(name)], anchor

    def command(self, *words: str) -> str:
        """A further command, without the options."""
        return shlex.join(("memosite", *words))


def day_and_time(moment: Moment | None) -> str:
    """A date as people are shown it, by the writer's clock; the day alone where no time was given."""
    if moment is None:
        return "undated"
    local = moment.local
    is_day = moment.offset is None and (local.hour, local.minute, local.second) == (0, 0, 0)
    return moment.day if is_day else f"{moment.day} {local:%H:%M}"


def names_line(names: Sequence[str], limit: int = NAMED) -> str:
    """Names as a line: of many, the first ones."""
    return listed(names, limit, chars=NAME_CHARS)


def who_of(artifact: Artifact) -> str:
    """Who wrote an artifact to whom; of what has no author, the source."""
    return artifact.who.line(" → ")


def states_of(reader: Reader, artifact: Artifact, viewer: Position | None) -> list[str]:
    """In words: whether it can be read, is unread for a position, and how far its action or status is."""
    if artifact.withheld:
        return [artifact.withheld.word]
    if not isinstance(artifact, Memo):
        status = artifact.status
        return ([f"status {cut_line(status, NAME_CHARS)}"] if status else []) + _waits_for(reader, artifact)
    found = ["unreadable"] if artifact.broken else []
    members = viewer.members if viewer else ()
    if viewer is not None:
        repos = [reader.archive.positions[member].repo for member in members]
        if is_unread_for(artifact, members, repos):
            found += ["unread", *(["delivered, not committed yet"] if is_unreceived_by(artifact, repos) else [])]
    action = action_word(shown_action(artifact, members))
    return found + ([f"action {action}"] if action else []) + _waits_for(reader, artifact)


def _waits_for(reader: Reader, item: Artifact) -> list[str]:
    """Who of several has not done what a memo asks (of one the state says it), and what may have answered it.

    Of a document or a record, for whom it waits.
    """
    names = [reader.archive.label(position) for position in item.waits_for]
    if not item.owed_by:
        return []
    if not isinstance(item, Memo):
        return [f"waits for {names_line(names) or 'somebody'}"]
    missing = [f"{ghost.kind}/{ghost.id}" for ghost in reader.possible_replies.of(item)]
    since = ["/".join(ref) for ref in (*item.replies, *item.also_answered_by)]
    found = [f"replied to since by {listed(since, _REPLIES)}" if since else "no reply since"]
    found += [f"perhaps answered by missing {', '.join(missing[:NAMED])}"] if missing else []
    if len(item.recipients) > 1 or item.is_broadcast:
        found.append(f"not answered by {'anybody' if names == [BROADCAST] else names_line(names)}")
    return found


def line_of(reader: Reader, artifact: Artifact, viewer: Position | None = None) -> str:
    """An artifact in a list: when, who, in which state, its short subject, its name, and how long it is."""
    who = (day_and_time(artifact.date), who_of(artifact), *states_of(reader, artifact, viewer))
    what = (f"“{artifact.short_subject}”", "/".join(artifact.ref), f"{artifact.chars:,} characters")
    return "; ".join((*who, *what))


def fields_of(reader: Reader, artifact: Artifact, viewer: Position | None = None) -> dict[str, object]:
    """The same as fields for programs; names as in `export`, the date in UTC."""
    fields: dict[str, object] = {
        "kind": artifact.kind,
        "id": artifact.id,
        "date": artifact.date.utc if artifact.date else None,
        "short_subject": artifact.short_subject,
        "chars": artifact.chars,
    }
    if isinstance(artifact, Memo):
        fields |= {"from": artifact.sender or None, "to": list(artifact.to[:NAMED]), "thread": artifact.thread}
        if len(artifact.to) > NAMED:
            fields["to_more"] = len(artifact.to) - NAMED
    else:
        fields["who"] = who_of(artifact)
    if artifact.owed_by:
        fields["waits_for"], fields["waits_for_total"] = list(artifact.waits_for[:NAMED]), len(artifact.waits_for)
    return fields | {"states": states_of(reader, artifact, viewer)}


def triage(artifact: Artifact) -> Text | str:
    """What helps to decide whether to read all of it: the summary beside a body file, else how its text begins."""
    notice = notice_of(artifact)
    if notice:
        return notice.reason
    if isinstance(artifact, Memo) and not artifact.broken and artifact.variants[0].body:
        return artifact.envelope.body or artifact.summary
    return artifact.summary


def entry_of(
    reader: Reader, artifact: Artifact, viewer: Position | None = None, *, rank: int = 0, text: Text | str | None = None
) -> Entry:
    """An artifact in a list, with its triage summary, or another text."""
    said = triage(artifact) if text is None else text
    load, chars = loader(reader, said)
    return Entry(
        line=line_of(reader, artifact, viewer),
        fields=fields_of(reader, artifact, viewer),
        text=load,
        text_name="summary",
        chars=chars,
        more=reader.command("show", "/".join(artifact.ref)),
        is_summary=text is None,
        is_news=not artifact.owed_by and text is None,
        rank=rank,
    )


def loader(reader: Reader, text: Text | str) -> tuple[Callable[[], str], int]:
    """What loads a text, and how many characters it has."""
    if isinstance(text, str):
        return lambda: text, len(text)
    return lambda: reader.text_of(text.sha256), text.chars


def kind_facts(artifact: Artifact) -> list[str]:
    """What is said of an artifact by its kind: the type of a record, the turns of a transcript."""
    if isinstance(artifact, Record):
        return [f"{artifact.system} {artifact.card.type}".strip()]
    if isinstance(artifact, Transcript):
        turns = [f"{artifact.turns} turns"] if artifact.turns else []
        log = None if artifact.withheld else artifact.log
        branch = [f"branch {log.branch}"] if log and log.branch else []
        return [*turns, *(log.models[:2] if log else ()), *branch]
    if isinstance(artifact, Document):
        return [artifact.head.file.path]
    return []


# What arrived since a time, or since an item.


Arrival = tuple[dt.datetime, dt.datetime]
"""When an item was first committed, else its date; then its date: many may be of one commit."""


def arrival_of(artifact: Artifact) -> Arrival | None:
    """When an item arrived; None if nothing tells."""
    received = [copy.received.instant for copy in artifact.copies if copy.received]
    dates = [artifact.date.instant] if artifact.date else received
    return (min(received or dates), min(dates)) if dates else None


class Since(Value):
    """A time or an item, as it was `written`, since which things are new; `is_after`: what is of that time is old."""

    written: str
    begin: Arrival
    is_after: bool

    def has(self, artifact: Artifact | None) -> bool:
        """Whether an item arrived since then."""
        came = arrival_of(artifact) if artifact else None
        if came is None:
            return False
        return came > self.begin if self.is_after else came[0] >= self.begin[0]


def since_item(reader: Reader, written: str) -> Since:
    """Since an item arrived. Raises `ConfigError` if there is none, or if nothing tells when it arrived."""
    artifact, _ = reader.find(written)
    came = arrival_of(artifact)
    if came is None:
        raise ConfigError(f"--since {written}: it has no date, expected a date, a commit or an item with a date")
    return Since(written=written, begin=came, is_after=True)


# Finds a position by a name, and what involves it.


_LISTED = 40
_NO_TEXTS: Mapping[Ref, Text | None] = MappingProxyType({})


def find_position(archive: Archive, written: str, *, joins: bool = False) -> Position:
    """The position that a name means: an id, a name that memos use, the name in an orgdef, or a beginning of one.

    The id that several organizations have means what stands for all of them if `joins`. Raises `ConfigError` if a name
    means no position, or several.
    """
    names = {f"{organization}/{seat.id}": id_ for id_, organization, seat in _seats(archive)}
    names |= {name: id_ for id_, one in archive.positions.items() for name in (*one.names, one.name, id_)}
    names |= archive.position_of
    names |= {id_: id_ for id_ in archive.positions}
    said = written.strip().strip("/").removeprefix("positions/")
    folded = said.casefold()
    exact = {names[said]} if said in names else set()
    same = {id_ for name, id_ in names.items() if name.casefold() == folded}
    begun = {id_ for name, id_ in names.items() if name.casefold().startswith(folded)}
    for found in (exact, same, begun):
        if found and said:
            return _only(archive, written, found, joins=joins)
    if not names:
        raise ConfigError(f"{written}: found no position at all; is this the folder of a site? Name it with --site")
    listed = names_line(sorted(id_ for id_, one in archive.positions.items() if not one.union_of), _LISTED)
    raise ConfigError(
        f"{written}: found no such position, nearest is {nearest(said, sorted(names))}; there are {listed}"
    )


def _seats(archive: Archive) -> Iterator[tuple[str, str, Seat]]:
    """The positions that one organization lists alone, with each name of it (SPEC 3) and its entry."""
    for id_, position in archive.positions.items():
        for organization, seat in () if position.union_of else position.seats:
            for name in {organization, organization.removesuffix("-spec").removesuffix("-org")}:
                yield id_, name, seat


def _only(archive: Archive, written: str, found: Collection[str], *, joins: bool) -> Position:
    """The one position among those found. Raises `ConfigError` if it stands for several, unless it `joins` them."""
    together = [one for id_ in found if (one := archive.positions[id_]).union_of and {*found} <= {*one.members}]
    if joins and together:
        return together[0]
    ids = sorted({member for id_ in found for member in archive.positions[id_].union_of or (id_,)})
    if len(ids) > 1:
        raise ConfigError(f"{written}: {several_found('positions', ids, 'name one of them')}")
    return archive.positions[ids[0]]


class Involved(Value, dict=True):
    """What involves a position, as far as answers need it."""

    reader: Reader
    position: Position

    @cached_property
    def parts(self) -> tuple["Involved", ...]:
        """What involves each of the positions that it stands for; itself, where it stands for none."""
        positions = self.reader.archive.positions
        members = (positions[member] for member in self.position.union_of)
        return tuple(Involved(reader=self.reader, position=one) for one in members) or (self,)

    def entries(self, artifacts: Iterable[Artifact], texts: Mapping[Ref, Text | None] = _NO_TEXTS) -> list[Entry]:
        """Artifacts as a list, some with their `texts`; of several organizations by these, each with whose it is."""
        found = [
            (self._whose(one), entry_of(self.reader, one, self.position, text=texts.get(one.ref))) for one in artifacts
        ]
        if not self.position.union_of:
            return [entry for _, entry in found]
        label = self.reader.archive.label
        return [
            replace(entry, line=f"{label(whose)}: {entry.line}", fields={**entry.fields, "position": whose})
            for whose, entry in sorted(found, key=lambda one: self._order.index(one[0]))
        ]

    def _whose(self, artifact: Artifact) -> str:
        """The position that an artifact waits for, else involves; the name of several where it is not said which."""
        waits = (id_ for id_ in self._order if open_for(artifact, (id_,)))
        involved = (id_ for id_ in self._order if artifact.ref in self._refs[id_])
        return next(chain(waits, involved), self.position.id)

    @cached_property
    def _order(self) -> tuple[str, ...]:
        return (*self.position.union_of, self.position.id)

    @cached_property
    def _refs(self) -> dict[str, frozenset[Ref]]:
        """What involves each position by a name of its own."""
        groups = self.reader.archive.groups
        return {id_: frozenset(groups.get(f"position/{id_}", ())) for id_ in self._order}

    @cached_property
    def repos(self) -> frozenset[str]:
        """The repos of the position."""
        positions = self.reader.archive.positions
        return frozenset(repo for member in self.position.members if (repo := positions[member].repo))

    @cached_property
    def artifacts(self) -> list[Artifact]:
        """What involves it, memos to `all` included, the newest first."""
        archive = self.reader.archive
        refs: dict[Ref, None] = {}
        for name in (*(f"position/{member}" for member in self.position.members), "broadcasts"):
            refs |= dict.fromkeys(archive.groups.get(name, ()))
        return newest_first(archive.artifacts[ref] for ref in refs)

    @cached_property
    def memos(self) -> list[Memo]:
        """Memos to it and from it, without notes, the newest first."""
        return [artifact for artifact in self.artifacts if isinstance(artifact, Memo) and artifact.kind == "memo"]

    @cached_property
    def unread(self) -> list[Memo]:
        """Memos that it has not read: those that ask something of it first."""
        found = [memo for memo in self.memos if is_unread_for(memo, self.position.members, self.repos)]
        return sorted(found, key=lambda one: not open_for(one, self.position.members))

    @cached_property
    def unknown(self) -> str:
        """What is said of memos of which nobody can know whether it has read them."""
        said = (tell(self.memos, self.position.members, self.repos) for tell in (unknown_line, received_line))
        return " ".join(filter(None, said))

    def none_unread(self, *, besides: bool = False) -> str:
        """What is said where no memo is unread, or none besides one that is shown."""
        return f"Nothing {'else ' if besides else ''}is {'known to be ' if self.unknown else ''}unread."

    @property
    def among_others(self) -> str:
        """What is to do apart from memos that are known to be unread."""
        return f"besides {'memos known to be unread' if self.unknown else 'unread memos'}"

    @cached_property
    def to_do(self) -> list[Artifact]:
        """What is open for it: of memos, then of documents and records."""
        members = self.position.members
        others = newest_first(self.reader.archive.waiting_besides_memos(members))
        return [*(memo for memo in self.memos if open_for(memo, members)), *others]

    @cached_property
    def to_do_read(self) -> list[Artifact]:
        """Those of them that are not unread."""
        unread = {memo.ref for memo in self.unread}
        return [one for one in self.to_do if one.ref not in unread]

    def more_to_do(self, count: int, where: str) -> str:
        """What is said of more that it has to do."""
        return f"{count} more {'waits' if count == 1 else 'wait'} for it, {where}"

    @cached_property
    def waiting(self) -> list[Memo]:
        """Its own memos that ask something of others that is not done."""
        return [memo for memo in self.memos if memo.sender_position in self.position.members and memo.owed_by]

    @cached_property
    def notes(self) -> list[Memo]:
        """Notes that are filed for it."""
        return [artifact for artifact in self.artifacts if isinstance(artifact, Memo) and artifact.kind == "note"]

    @cached_property
    def decisions(self) -> list[Artifact]:
        """All decisions of the archive."""
        archive = self.reader.archive
        found = (archive.artifacts[ref] for ref in archive.groups.get("decisions", ()))
        return newest_first(artifact for artifact in found if sort_of(artifact) == "decision")

    @cached_property
    def threads(self) -> list[tuple[Thread, Memo]]:
        """Threads of two or more memos that it is in, each with its newest memo of these."""
        newest: dict[str, Memo] = {}
        for memo in self.memos:
            newest.setdefault(memo.thread, memo)
        threads = self.reader.archive.threads
        return [(threads[id_], memo) for id_, memo in newest.items() if len(threads[id_].entries) > 1]


def newest_first(artifacts: Iterable[Artifact]) -> list[Artifact]:
    """By date, the newest first; what has no date comes last."""
    found = sorted(artifacts, key=lambda one: one.sort_key, reverse=True)
    return sorted(found, key=lambda one: one.date is None)


def head_of(reader: Reader, position: Position) -> tuple[tuple[str, ...], dict[str, object]]:
    """The head of an answer about a position: as lines and as fields."""
    seats = [seat for _, seat in position.seats]
    held = "; ".join(cut_line(seat.incumbent, 200) for seat in seats if seat.incumbent)
    parts = [f"Position {position.id}"]
    others = [name for name in position.names if name != position.id]
    parts += [f"also written {names_line(others)}"] if others else []
    parts += [f"held by {held}"] if held else []
    parts += [f"repo {position.repo}"] if position.repo else []
    joined = [reader.archive.label(id_) for id_ in position.union_of]
    parts += [f"stands for {names_line(joined)}"] if joined else []
    fields: dict[str, object] = {
        "position": position.id,
        "names": others[:NAMED],
        "held_by": held or None,
        "repo": position.repo,
        **({"stands_for": list(position.union_of)} if joined else {}),
    }
    lines = ["; ".join(parts)]
    if shared := _shared_name(reader, position):
        lines.append(
            f"Not shown: {shared['items']} by the name {shared['name']}, which others share: {shared['command']}"
        )
        fields["shared_name"] = shared
    return tuple(lines), fields


def _shared_name(reader: Reader, position: Position) -> dict[str, object] | None:
    """What memos say of a position by an id that other organizations have, too: whose it is cannot be told."""
    archive = reader.archive
    union = next((one for one in archive.positions.values() if position.id in one.union_of), None)
    items = len(archive.groups.get(f"position/{union.id}", ())) if union else 0
    if union is None or not items:
        return None
    return {"name": union.id, "items": items, "command": reader.command("search", f"with:{union.id}")}
