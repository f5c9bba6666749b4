"""Finds a position by a name, and what involves it."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from memosite.agents.items import NAMED, Reader, members_of, names_line
from memosite.archive.mailboxes import is_unread_for, open_for, unknown_line
from memosite.archive.model import Archive, Artifact, Memo, Position, Thread
from memosite.archive.named import nearest
from memosite.facts.errors import ConfigError
from memosite.facts.parsed import Ref, Seat
from memosite.facts.texts import cut_line
from memosite.formats.standing import sort_of

_LISTED = 40


def find_position(archive: Archive, written: str) -> Position:
    """The position that a name means: an id, a name that memos use, the name in an orgdef, or a beginning of one.

    Raises `ConfigError` if there is none, or several: also for the id that several organizations have.
    """
    names = {name: id_ for id_, one in archive.positions.items() for name in (*one.names, one.name, id_)}
    qualified = {f"{organization}/{seat.id}": id_ for id_, organization, seat in _seats(archive)}
    names = {**qualified, **names}
    names = {**names, **archive.position_of, **{id_: id_ for id_ in archive.positions}}
    said = written.strip().strip("/").removeprefix("positions/")
    folded = said.casefold()
    exact = {names[said]} if said in names else set()
    same = {id_ for name, id_ in names.items() if name.casefold() == folded}
    begun = {id_ for name, id_ in names.items() if name.casefold().startswith(folded)}
    for found in (exact, same, begun):
        if found and said:
            return _only(archive, written, found)
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


def _only(archive: Archive, written: str, found: Collection[str]) -> Position:
    """The one position among those found. Raises `ConfigError` if it stands for several, too."""
    listed = sorted({member for id_ in found for member in archive.positions[id_].union_of or (id_,)})
    if len(listed) > 1:
        shown = names_line(listed, _LISTED)
        raise ConfigError(f"{written}: found {len(listed)} positions: {shown}; name one of them")
    return archive.positions[listed[0]]


@dataclass(frozen=True, kw_only=True)
class Involved:
    """What involves a position, as far as answers need it."""

    reader: Reader
    position: Position

    @cached_property
    def members(self) -> tuple[str, ...]:
        """The position and those that it joins."""
        return members_of(self.position)

    @cached_property
    def repos(self) -> frozenset[str]:
        """The repos of the position."""
        positions = self.reader.archive.positions
        return frozenset(repo for one in self.members if (repo := positions[one].repo))

    @cached_property
    def artifacts(self) -> list[Artifact]:
        """What involves it, memos to `all` included, the newest first."""
        archive = self.reader.archive
        refs: dict[Ref, None] = {}
        for name in (*(f"position/{one}" for one in self.members), "broadcasts"):
            refs |= dict.fromkeys(archive.groups.get(name, ()))
        return newest_first(archive.artifacts[ref] for ref in refs)

    @cached_property
    def memos(self) -> list[Memo]:
        """Memos to it and from it, without notes, the newest first."""
        return [one for one in self.artifacts if isinstance(one, Memo) and one.kind == "memo"]

    @cached_property
    def unread(self) -> list[Memo]:
        """Memos that it has not read: those that ask something of it first."""
        found = [one for one in self.memos if is_unread_for(one, self.members, self.repos)]
        return sorted(found, key=lambda one: not open_for(one, self.members))

    @cached_property
    def unknown(self) -> str:
        """What is said of memos of which nobody can know whether it has read them."""
        return unknown_line(self.memos, self.members, self.repos)

    def none_unread(self, *, besides: bool = False) -> str:
        """What is said where no memo is unread, or none besides one that is shown."""
        return f"Nothing {'else ' if besides else ''}is {'known to be ' if self.unknown else ''}unread."

    @property
    def among_others(self) -> str:
        """Which memos are those that are not known to be unread."""
        return "in memos that are read, or may be unread" if self.unknown else "in memos that are read"

    @cached_property
    def to_do(self) -> list[Memo]:
        """Memos that ask something of it that is not done."""
        return [one for one in self.memos if open_for(one, self.members)]

    @property
    def to_do_unread(self) -> list[Memo]:
        """Those of them that are unread."""
        unread = {one.ref for one in self.unread}
        return [one for one in self.to_do if one.ref in unread]

    @property
    def to_do_read(self) -> list[Memo]:
        """Those of them that are not."""
        unread = {one.ref for one in self.unread}
        return [one for one in self.to_do if one.ref not in unread]

    @cached_property
    def waiting(self) -> list[Memo]:
        """Its own memos that ask something of others that is not done."""
        return [one for one in self.memos if one.sender_position in self.members and one.owed_by]

    @cached_property
    def notes(self) -> list[Memo]:
        """Notes that are filed for it."""
        return [one for one in self.artifacts if isinstance(one, Memo) and one.kind == "note"]

    @cached_property
    def decisions(self) -> list[Artifact]:
        """All decisions of the archive."""
        archive = self.reader.archive
        found = (archive.artifacts[ref] for ref in archive.groups.get("decisions", ()))
        return newest_first(one for one in found if sort_of(one) == "decision")

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
    parts += [f"also written {names_line(others)}"] if (others := _others(position)) else []
    parts += [f"held by {held}"] if held else []
    parts += [f"repo {position.repo}"] if position.repo else []
    fields: dict[str, object] = {
        "position": position.id,
        "names": others[:NAMED],
        "held_by": held or None,
        "repo": position.repo,
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


def _others(position: Position) -> list[str]:
    return [name for name in position.names if name != position.id]
