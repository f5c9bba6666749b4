"""Finds all positions, from orgdefs and from memos, and resolves names to them (SPEC 3, positions)."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from memosite.archive.model import UNDATED, Position, everybody
from memosite.facts import rules
from memosite.facts.findings import Finding
from memosite.facts.names import ID_BYTES, make_id, short_hash
from memosite.facts.parsed import BROADCAST, FILE, Envelope, FileFacts, Organization, Seat
from memosite.facts.values import Value

PositionListing = tuple[Organization, Seat]

_EXTERNAL = "external:"
_RIVALS_NAMED = 5


class Naming(Value, dict=True):
    """The result of resolving names: the positions by id, the position of each name, notes on names.

    `union_of` maps a position of one organization to the position that joins all of its id, if there are several.
    """

    positions: Mapping[str, Position]
    position_of: Mapping[str, str]
    union_of: Mapping[str, str]
    findings: tuple[Finding, ...]

    @cached_property
    def repo_of(self) -> Mapping[str, str | None]:
        """The repo of each position."""
        return {id_: position.repo for id_, position in self.positions.items()}

    @cached_property
    def everybody(self) -> tuple[str, ...]:
        """Whom a memo to `all` asks."""
        return everybody(self.positions)

    @cached_property
    def repos(self) -> tuple[str, ...]:
        """The repos of positions, sorted."""
        return tuple(sorted({repo for repo in self.repo_of.values() if repo}))


class NameOutcome(Value):
    """The result for one name: a listed position, or the name itself. `rivals` are the positions of a tie."""

    id: str
    is_listed: bool
    rivals: tuple[str, ...] = ()


class Directory:
    """The listed positions of all organizations, by every name that SPEC 3 allows for them."""

    def __init__(self, organizations: Iterable[Organization], aliases: Mapping[str, str]) -> None:
        """Index the positions of the organizations."""
        self._aliases = aliases
        self.by_id: dict[str, list[PositionListing]] = defaultdict(list)
        self._by_role: dict[str, list[PositionListing]] = defaultdict(list)
        self._by_org_name: dict[str, list[PositionListing]] = defaultdict(list)
        self._qualified: dict[str, list[PositionListing]] = defaultdict(list)
        self.externals: set[str] = set()
        for organization in organizations:
            ends = (end for edge in organization.relationships for end in (edge.sender, edge.to))
            self.externals |= {
                name for end in ends if end.startswith(_EXTERNAL) for name in (end, end[len(_EXTERNAL) :])
            }
            base = organization.id.removesuffix("-spec").removesuffix("-org")
            for seat in organization.seats:
                listing = (organization, seat)
                self.by_id[seat.id].append(listing)
                if seat.role_id:
                    self._by_role[seat.role_id].append(listing)
                self._by_org_name[f"{base}-{seat.id}"].append(listing)
                for org_name in dict.fromkeys((organization.id, base)):
                    self._qualified[f"{org_name}/{seat.id}"].append(listing)

    def position_id(self, listing: PositionListing) -> str:
        """The id of a listed position: its own, or `<org>~<id>` if several organizations have one of that id."""
        organization, seat = listing
        plain = make_id(seat.id)
        if len(self.by_id[seat.id]) == 1:
            return plain
        qualified = f"{make_id(organization.id)}~{plain}"
        return qualified if len(qualified.encode("utf-8")) <= ID_BYTES else f"{short_hash(organization.id)}~{plain}"

    def resolve(self, name: str) -> NameOutcome:
        """Resolve a name: alias, exact id, role, organization and id; a tied or unknown name stays as it is."""
        name = self._aliases.get(name, name)
        if name in self.by_id and len(self.by_id[name]) > 1:
            return NameOutcome(id=make_id(name), is_listed=True, rivals=tuple(map(self.position_id, self.by_id[name])))
        for table in (self._qualified, self.by_id, self._by_role, self._by_org_name):
            found = table.get(name)
            if found is not None:
                if len(found) == 1:
                    return NameOutcome(id=self.position_id(found[0]), is_listed=True)
                return NameOutcome(id=make_id(name), is_listed=False, rivals=tuple(map(self.position_id, found)))
        return NameOutcome(id=make_id(name), is_listed=False)


class NameUse(Value):
    """One use of a position's name in a file. `delivered_to` is the source that holds a memo addressed to it.

    `at` is when what names it was written. With `is_guess` the name comes from a file's name, and makes no position of
    its own. With `is_further` the file has so many names that this one makes no new position, either (SPEC 9).
    """

    name: str
    file: FileFacts
    at: dt.datetime = UNDATED
    delivered_to: str | None = None
    is_guess: bool = False
    is_further: bool = False


def resolve_positions(
    organizations: tuple[Organization, ...],
    uses: Iterable[NameUse],
    *,
    aliases: Mapping[str, str],
    people: Iterable[str] | None,
    source_names: Iterable[str],
    published: Collection[str],
) -> Naming:
    """All positions, listed or named, and the notes on names that no orgdef lists or that fit several positions.

    `people` are the names of positions held by people; None makes each director one, unless an orgdef says otherwise.
    `published` are the ids that positions were given before.
    """
    directory, known = Directory(organizations, aliases), frozenset(published)
    by_name = _by_name(uses, aliases)
    outcomes = {name: directory.resolve(name) for name in sorted(by_name)}
    for name, outcome in list(outcomes.items()):
        is_new = outcome.id not in known
        adds_none = all(use.is_guess or (use.is_further and is_new) for use in by_name[name])
        if by_name[name] and not outcome.is_listed and adds_none:
            del outcomes[name], by_name[name]
    ids = _position_ids(directory, outcomes, by_name, published)
    names: dict[str, list[str]] = defaultdict(list)
    delivered: dict[str, Counter[str]] = defaultdict(Counter)
    for name, outcome in outcomes.items():
        if by_name[name]:
            names[ids[outcome.id]].append(name)
        delivered[ids[outcome.id]].update(use.delivered_to for use in by_name[name] if use.delivered_to)
    seated = {ids[id_]: listings for id_, listings in _seats(directory).items()}
    directors = ["director", *(name for name in by_name if name.casefold() == "director")]
    human = _people(directory, directors if people is None else people, ids)
    sources = tuple(source_names)
    positions = {}
    for id_ in sorted({*seated, *names}):
        listings = seated.get(id_, ())
        is_union = len(listings) > 1
        positions[id_] = Position(
            id=id_,
            name=listings[0][1].name if listings else names[id_][0],
            seats=tuple((organization.id, seat) for organization, seat in listings),
            names=tuple(names.get(id_, ())),
            repo=_repo(listings, delivered[id_], sources),
            union_of=tuple(sorted(ids[directory.position_id(one)] for one in listings)) if is_union else (),
            is_person=any((seat.incumbent_kind or "").casefold() == "human" for _, seat in listings)
            or (id_ in human and not (people is None and any(seat.incumbent_kind for _, seat in listings))),
            is_shared=any((seat.incumbent_kind or "").casefold() == "shared" for _, seat in listings),
        )
    return Naming(
        positions=positions,
        position_of={name: id_ for name, outcome in outcomes.items() if (id_ := ids[outcome.id]) in positions},
        union_of={member: id_ for id_, position in positions.items() for member in position.union_of},
        findings=tuple(_name_findings(outcomes, by_name, directory.externals)) if organizations else (),
    )


def _by_name(uses: Iterable[NameUse], aliases: Iterable[str]) -> dict[str, list[NameUse]]:
    by_name: dict[str, list[NameUse]] = defaultdict(list)
    for use in uses:
        if use.name and use.name not in {BROADCAST, FILE}:
            by_name[use.name].append(use)
    for name in aliases:
        by_name.setdefault(name, [])
    return dict(by_name)


def _people(directory: Directory, people: Iterable[str], ids: Mapping[str, str]) -> set[str]:
    """The positions that are people by these names; a name of several positions means each of them."""
    outcomes = [directory.resolve(name) for name in people]
    named = {outcome.id for outcome in outcomes}
    named |= {rival for outcome in outcomes if outcome.is_listed for rival in outcome.rivals}
    return {ids.get(id_, id_) for id_ in named}


def distinct_ids(wanted: Iterable[str], published: Iterable[str]) -> dict[str, str]:
    """An id for each id wanted. Two that differ only by case would share a folder on some disks.

    The one that was published keeps it, else the first; the others get a hash.
    """
    taken: dict[str, str] = {}
    for id_ in published:
        taken.setdefault(id_.casefold(), id_)
    owners = {id_: taken.setdefault(id_.casefold(), id_) for id_ in wanted}
    return {id_: id_ if owner == id_ else f"{id_}~{short_hash(id_)}" for id_, owner in owners.items()}


def _position_ids(
    directory: Directory,
    outcomes: Mapping[str, NameOutcome],
    by_name: Mapping[str, list[NameUse]],
    published: Collection[str],
) -> dict[str, str]:
    """An id for each position wanted.

    Of two that differ only by case, a listed one is before a name of memos, then what most files use, then what was
    used first.
    """
    listed = {directory.position_id(listing) for listings in directory.by_id.values() for listing in listings}
    listed |= {make_id(id_) for id_ in directory.by_id}
    uses: dict[str, list[NameUse]] = defaultdict(list)
    for name, outcome in outcomes.items():
        uses[outcome.id] += by_name[name]

    def rank(id_: str) -> tuple[bool, int, dt.datetime, str]:
        files = {use.file.place for use in uses[id_]}
        return id_ not in listed, -len(files), min((use.at for use in uses[id_]), default=UNDATED), id_

    return distinct_ids(sorted(listed | uses.keys(), key=rank), published)


def _seats(directory: Directory) -> dict[str, tuple[PositionListing, ...]]:
    seated: dict[str, tuple[PositionListing, ...]] = {}
    for seat_id, listings in directory.by_id.items():
        seated[make_id(seat_id)] = tuple(listings)
        if len(listings) > 1:
            for listing in listings:
                seated[directory.position_id(listing)] = (listing,)
    return seated


def _repo(listings: tuple[PositionListing, ...], delivered: Counter[str], source_names: tuple[str, ...]) -> str | None:
    """A position's repo: the source named by its working directory's last segment, else that with most memos to it."""
    if len(listings) == 1:
        last = last_segment(listings[0][1].working_directory)
        for name in source_names:
            if name.casefold() == last.casefold():
                return name
    return max(filter(delivered.__getitem__, source_names), key=delivered.__getitem__, default=None)


def last_segment(working_directory: str | None) -> str:
    """The name of a working directory: its last folder, in any notation; never opened as a path."""
    return (working_directory or "").replace("\\", "/").rstrip("/ ").rpartition("/")[2].strip()


def _name_findings(
    outcomes: Mapping[str, NameOutcome], by_name: Mapping[str, list[NameUse]], externals: Collection[str]
) -> Iterable[Finding]:
    for name, outcome in outcomes.items():
        files = sorted({use.file.place for use in by_name[name]})
        if not files or (outcome.is_listed and not outcome.rivals):
            continue
        source, path = files[0]
        named = f'"{name[:120]}" (named in ' + ("this file" if len(files) == 1 else f"{len(files)} files") + ")"
        if outcome.rivals:
            shown = " or ".join(outcome.rivals[:_RIVALS_NAMED]) + (" …" if len(outcome.rivals) > _RIVALS_NAMED else "")
            yield rules.POSITION_AMBIGUOUS.finding(f"{named} may be {shown}", source=source, path=path)
        elif name not in externals:
            yield rules.POSITION_UNLISTED.finding(f"{named} is in no orgdef", source=source, path=path)


def recipients_of(envelope: Envelope, naming: Naming) -> tuple[str, ...]:
    """Recipients as positions, each once; `all` stays `all`, `file` is dropped."""
    names = (name if name == BROADCAST else naming.position_of.get(name, "") for name in envelope.to if name != FILE)
    return tuple(dict.fromkeys(name for name in names if name))
