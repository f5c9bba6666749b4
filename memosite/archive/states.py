"""Knows where each file was in any commit of a history with branches (SPEC 2.3).

What a commit changed is known against its first parent, so the commits are a tree of first parents. The tree is cut
into chains: of the commits with the same first parent, the one that most others follow on goes on with its chain. So
from any commit there are few chains down to the first one (the logarithm of their number), however branches are
nested.
"""

from bisect import bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from memosite.archive.deeds import Spot, State, changes_by_key, spot_of, state_after
from memosite.archive.history import HistoryCommit


@dataclass(slots=True, kw_only=True)
class _Chain:
    """Commits of which each is the first parent of the next; `base` is the first parent of the first one, or "".

    `places` and `states` are by file: the commits of the chain that changed it, and how it was then.
    """

    base: str
    length: int = 0
    places: dict[str, list[int]] = field(default_factory=dict)
    states: dict[str, list[State]] = field(default_factory=dict)


class States:
    """Where files are in commits."""

    def __init__(self, commits: Collection[HistoryCommit], keys: Collection[str]) -> None:
        """Follow these files. Each commit comes after its parents."""
        self._places: dict[str, tuple[_Chain, int]] = {}
        heavy = _heaviest(commits)
        for commit in commits:
            first = commit.parents[0] if commit.parents else ""
            chain = self._places[first][0] if heavy.get(first) == commit.id else _Chain(base=first)
            self._places[commit.id] = (chain, chain.length)
            for key, changes in changes_by_key(commit).items():
                if key in keys:
                    state = state_after(self._at(first, key), changes)
                    chain.places.setdefault(key, []).append(chain.length)
                    chain.states.setdefault(key, []).append(state)
            chain.length += 1

    def spot(self, commit: str, key: str) -> Spot | None:
        """Where a file is in a commit."""
        return spot_of(self._at(commit, key))

    def _at(self, commit: str, key: str) -> State:
        while commit:
            chain, place = self._places[commit]
            if found := bisect_right(chain.places.get(key, ()), place):
                return chain.states[key][found - 1]
            commit = chain.base
        return {}


def _heaviest(commits: Collection[HistoryCommit]) -> Mapping[str, str]:
    """Of the commits that have one as their first parent, that which most commits follow on."""
    size = {commit.id: 1 for commit in commits}
    heavy: dict[str, str] = {}
    for commit in reversed(list(commits)):
        for first in commit.parents[:1]:
            size[first] += size[commit.id]
            if first not in heavy or size[heavy[first]] < size[commit.id]:
                heavy[first] = commit.id
    return heavy
