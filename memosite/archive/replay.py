"""Replays the commits of a branch into the history of each file: received, moved, edited, removed (SPEC 2.3).

The history is that of the branch read. What a merge brought is told as if it had been done on top of that branch: by
its own commits, in their order, without what changes nothing there. What is then still missing, the merge did itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memosite.archive.branches import Branches, Brought, trunk_of
from memosite.archive.deeds import Deed, Spot, State, changes_by_key, deeds_of, spot_of, state_after
from memosite.archive.history import EventKind, HistoryCommit, LifeEvent, paths_of

Events = Mapping[str, tuple[LifeEvent, ...]]
"""The histories of files, by key, oldest event first."""


def replay(commits: Mapping[str, HistoryCommit], head: str) -> tuple[Events, frozenset[str]]:
    """The histories of all files up to a commit, and the commits that are in its history.

    Raises `ValueError` if a commit is missing or does not come after its parents: a circle has no history.
    """
    seen: set[str] = set()
    for commit in commits.values():
        if not seen.issuperset(commit.parents):
            raise ValueError(commit.id)
        seen.add(commit.id)
    if head not in seen:
        raise ValueError(head)
    trunk = trunk_of(commits, head)
    brought: Brought = {}
    reached: Iterable[str] = (commit.id for commit in trunk)
    if any(len(commit.parents) > 1 for commit in trunk):
        branches = Branches(commits, trunk)
        brought, reached = branches.brought(), branches.reached()
    telling = Replay(brought)
    for commit in trunk:
        telling.apply(commit)
    return telling.events(), frozenset(reached)


class Replay:
    """Replays the commits of a trunk, oldest first."""

    def __init__(self, brought: Brought, *, events: Events | None = None, tree: State | None = None) -> None:
        """Continue after these events, at this tree: the content of every path so far."""
        self._brought = brought
        self._events: dict[str, Sequence[LifeEvent]] = dict(events or {})
        self._tree = tree or {}
        self._at: dict[str, State] = {}

    def events(self) -> dict[str, tuple[LifeEvent, ...]]:
        """The histories of all files so far, by key; those of unchanged files are the same objects as were given."""
        return {key: tuple(found) for key, found in self._events.items()}

    def apply(self, commit: HistoryCommit) -> None:
        """Add what one commit of the trunk did to the histories of its files, after what it brought."""
        brought = self._brought.get(commit.id, ())
        changes = changes_by_key(commit)
        keys = dict.fromkeys((*changes, *(key for deed in brought for key in (deed.left, deed.key) if key)))
        before = {key: self._state(key) for key in keys}
        told = {key: spot_of(state) for key, state in before.items()}
        for key in keys:
            self._at[key] = state_after(before[key], changes.get(key, ()))
        for deed in brought:
            self._tell(deed, told, merge=commit.id)
        for deed in deeds_of(commit, {key: (told[key], spot_of(self._at[key])) for key in keys}):
            found = spot_of(before[deed.left or deed.key])
            self._tell(deed, told, found="" if found is None or found.blob == _blob(deed.after) else found.blob)

    def _state(self, key: str) -> State:
        """Where a file is so far, and with which content."""
        if key not in self._at:
            self._at[key] = {path: self._tree[path] for path in paths_of(key) if path in self._tree}
        return self._at[key]

    def _tell(self, deed: Deed, told: dict[str, Spot | None], *, merge: str = "", found: str = "") -> None:
        """Add what a deed changes of what was `told` so far, and note that.

        `merge` is the merge that brought it. `found` is the content that it replaced, if it is not the deed's.
        """
        if deed.left:
            deed = self._resettle(deed, told, merge)
        here = told[deed.key]
        kinds, after = self._step(deed, here)
        replaced = _blob(deed.before or (here if deed.after is not None else None))
        where = after or here or deed.after
        for kind in kinds:
            event = LifeEvent(
                kind=kind,
                at=deed.commit.at,
                who=deed.commit.author,
                commit=deed.commit.id,
                path=where.path if where else "",
                before=replaced and (found or replaced),
                after=_blob(deed.after),
                merge=merge,
            )
            self._life(deed.key).append(event)
        told[deed.key] = after

    def _step(self, deed: Deed, here: Spot | None) -> tuple[list[EventKind], Spot | None]:
        """What a deed does to a file that is `here`, and where that puts it."""
        if deed.after is None:
            return (["removed"] if here else []), None
        if here is None and deed.before is None:
            return ["restored" if self._events.get(deed.key) else "received"], deed.after
        start = deed.before or here or deed.after
        known = here or start
        is_moved = deed.moves and deed.after.path not in {start.path, known.path}
        is_edited = deed.edits and deed.after.blob not in {start.blob, known.blob}
        does: tuple[tuple[EventKind, bool], ...] = (("moved", is_moved), ("edited", is_edited))
        kinds = [kind for kind, is_done in does if is_done]
        if here is None:  # it was removed meanwhile: only the merge can bring it back
            return kinds if self._at[deed.key] else [], None
        return kinds, Spot(deed.after.path if is_moved else here.path, deed.after.blob if is_edited else here.blob)

    def _resettle(self, deed: Deed, told: dict[str, Spot | None], merge: str) -> Deed:
        """Take the history of a file along to its new key. If that has one that goes on, the two are two deeds."""
        if told[deed.left] is not None and told[deed.key] is None:
            self._events[deed.key] = [*self._events.get(deed.key, ()), *self._events.pop(deed.left, ())]
            told[deed.key], told[deed.left] = told[deed.left], None
            return replace(deed, moves=True)
        self._tell(replace(deed, key=deed.left, left="", after=None), told, merge=merge)
        return replace(deed, left="", before=None)

    def _life(self, key: str) -> list[LifeEvent]:
        """The history of a file, to append to."""
        life = self._events.get(key, ())
        if not isinstance(life, list):
            life = self._events[key] = list(life)
        return life


def _blob(spot: Spot | None) -> str:
    return spot.blob if spot else ""
