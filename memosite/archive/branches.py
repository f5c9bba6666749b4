"""Finds what merges brought: the work of the branches that were merged, commit by commit (SPEC 2.3).

The commits are split into lines. A line goes from a commit down by first parents, as far as its commits are on no line
yet; the first one is the branch read, the trunk. Each other line was brought by one merge, the oldest that has it as
an ancestor. So each commit is on exactly one line, and what it did is passed up once for each merge on its way.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memosite.archive.deeds import Deed, Spot, changes_by_key, deeds_of
from memosite.archive.history import HistoryCommit, file_key
from memosite.archive.states import States

Brought = Mapping[str, Sequence[Deed]]
"""What each merge of the trunk brought, in order."""
_Part = Literal["presence", "place", "content"]
"""What a merge may have of a file as one of its parents has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """Commits, oldest first, each the first parent of the next.

    `merge` and `parent` say which merge brought the line, and by which of its parents: the newest commit. Both are ""
    for the trunk.
    """

    commits: Sequence[HistoryCommit]
    merge: str = ""
    parent: str = ""


def trunk_of(commits: Mapping[str, HistoryCommit], head: str) -> list[HistoryCommit]:
    """The commits of the branch itself, oldest first."""
    return _chain(commits, head, set())


class Branches:
    """The branches that were merged into a trunk."""

    def __init__(self, commits: Mapping[str, HistoryCommit], trunk: list[HistoryCommit]) -> None:
        """Split the commits into lines. Each commit comes after its parents."""
        self._reached: set[str] = set()
        self._lines = list(self._split(commits, trunk))
        self._states = States([one for one in commits.values() if one.id in self._reached], set(self._touched()))
        self._news: dict[tuple[str, str], list[Deed]] = {}

    def reached(self) -> Iterable[str]:
        """All commits that are in the history of the trunk."""
        return self._reached

    def brought(self) -> Brought:
        """What each merge of the trunk brought, without what it did not take over."""
        for line in reversed(self._lines[1:]):  # those that were merged into a line come after it
            deeds: list[Deed] = []
            for commit in line.commits:
                deeds += self._arrived(commit)
                deeds += self._made(commit)
            self._news[line.merge, line.parent] = deeds
        found = {commit.id: self._arrived(commit) for commit in self._lines[0].commits if len(commit.parents) > 1}
        return {merge: deeds for merge, deeds in found.items() if deeds}

    # Lines

    def _split(self, commits: Mapping[str, HistoryCommit], trunk: list[HistoryCommit]) -> Iterator[_Line]:
        yield _Line(commits=trunk)
        self._reached.update(commit.id for commit in trunk)
        waiting = _merged(trunk)
        while waiting:
            merge, parent = waiting.pop()
            chain = _chain(commits, parent, self._reached)
            if chain:
                yield _Line(commits=chain, merge=merge, parent=parent)
                self._reached.update(commit.id for commit in chain)
                waiting += _merged(chain)

    def _touched(self) -> Iterator[str]:
        """The files that a branch or a merge changed: of others no state is asked."""
        for line in self._lines:
            for commit in line.commits:
                if line.merge or len(commit.parents) > 1:
                    yield from (file_key(change.path) for change in commit.changes)

    # Deeds

    def _made(self, commit: HistoryCommit) -> list[Deed]:
        """What a commit of a branch did itself; a merge, what differs from each of its parents."""
        spots = {}
        for key in changes_by_key(commit):
            after = self._states.spot(commit.id, key)
            before = [self._states.spot(parent, key) for parent in commit.parents] or [None]
            if len(before) == 1 or _is_new(before, after):
                spots[key] = (before[0] or next(filter(None, before), None), after)
        made = deeds_of(commit, spots)
        return [self._own(deed) for deed in made] if len(commit.parents) > 1 else made

    def _own(self, deed: Deed) -> Deed:
        """What a merge did, without what one of its parents has as well."""
        if deed.before is None or deed.after is None or deed.left:
            return deed
        parents = [spot for parent in deed.commit.parents if (spot := self._states.spot(parent, deed.key))]
        return replace(
            deed,
            moves=deed.after.path not in {spot.path for spot in parents},
            edits=deed.after.blob not in {spot.blob for spot in parents},
        )

    def _arrived(self, merge: HistoryCommit) -> list[Deed]:
        """What a merge brought to its line, without what it refused."""
        arrived: list[Deed] = []
        for parent in merge.parents[1:]:
            refused: dict[str, frozenset[_Part]] = {}
            for deed in self._news.pop((merge.id, parent), ()):
                if deed.key not in refused:
                    refused[deed.key] = self._refused(merge, parent, deed.key)
                kept = _without(deed, refused[deed.key])
                if kept is not None:
                    arrived.append(self._last(merge, kept))
        return arrived

    def _last(self, merge: HistoryCommit, deed: Deed) -> Deed:
        """A deed that adds a file: where it was there already, only what the merge has is a change."""
        result = self._states.spot(merge.id, deed.key)
        if deed.before is not None or deed.after is None or result is None:
            return deed
        moves, edits = deed.after.path == result.path, deed.after.blob == result.blob
        return replace(deed, moves=deed.moves and moves, edits=deed.edits and edits)

    def _refused(self, merge: HistoryCommit, parent: str, key: str) -> frozenset[_Part]:
        """What of a file a merge has as another parent has it, and not as this one."""
        result, offered = _parts(self._states.spot(merge.id, key)), _parts(self._states.spot(parent, key))
        if result == offered:
            return frozenset()
        others = [_parts(self._states.spot(other, key)) for other in merge.parents if other != parent]
        return frozenset(
            part for part, kept in result.items() if kept != offered[part] and any(kept == one[part] for one in others)
        )


def _chain(commits: Mapping[str, HistoryCommit], tip: str, reached: Collection[str]) -> list[HistoryCommit]:
    """The commits from a tip down by first parents to the first that is reached already, oldest first."""
    chain = []
    while tip and tip not in reached:
        commit = commits[tip]
        chain.append(commit)
        tip = commit.parents[0] if commit.parents else ""
    chain.reverse()
    return chain


def _merged(line: Iterable[HistoryCommit]) -> list[tuple[str, str]]:
    """The merges of a line with each parent that they brought, so that the oldest is the last."""
    pairs = [(commit.id, parent) for commit in line for parent in commit.parents[1:]]
    pairs.reverse()
    return pairs


def _is_new(parents: Sequence[Spot | None], result: Spot | None) -> bool:
    """Whether a merge made something of a file that no parent has."""
    if result is None:
        return None not in parents
    here = [spot for spot in parents if spot is not None]
    return result.path not in {spot.path for spot in here} or result.blob not in {spot.blob for spot in here}


def _parts(spot: Spot | None) -> dict[_Part, str | bool]:
    return {"presence": spot is not None, "place": spot.path if spot else "", "content": spot.blob if spot else ""}


def _without(deed: Deed, refused: Collection[_Part]) -> Deed | None:
    """A deed without what a merge refused of it; None if nothing is left."""
    moves, edits = deed.moves and "place" not in refused, deed.edits and "content" not in refused
    is_whole = deed.before is None or deed.after is None or deed.left
    if "presence" in refused if is_whole else not (moves or edits):
        return None
    return replace(deed, moves=moves, edits=edits)
