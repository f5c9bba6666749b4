"""What single commits did to files, whichever branch they are on (SPEC 2.3)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from memosite.archive.history import FileChange, HistoryCommit, file_key, mailbox_of
from memosite.facts.parsed import Mailbox

_FURTHEST: dict[Mailbox, int] = {"archive": 0, "read": 1, "inbox": 2, "flat": 3}

State = Mapping[str, str]
"""All paths of one file, with their blob ids: seldom more than one, and none where it is absent."""


class Spot(NamedTuple):
    """Where a file is, and with which content (a blob id)."""

    path: str
    blob: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What a commit did to the file with this key; None is absent.

    `left` is the key the file had before, "" if it stayed the same. A merge that brings a deed may have refused a part
    of it: `moves` and `edits` say whether its place and its content came along.
    """

    commit: HistoryCommit
    key: str
    before: Spot | None
    after: Spot | None
    left: str = ""
    moves: bool = True
    edits: bool = True


def changes_by_key(commit: HistoryCommit) -> dict[str, list[FileChange]]:
    """The changes of a commit by the file that they are of."""
    by_key: dict[str, list[FileChange]] = defaultdict(list)
    for change in commit.changes:
        by_key[file_key(change.path)].append(change)
    return by_key


def state_after(before: State, changes: Iterable[FileChange]) -> State:
    """The paths of a file after these changes."""
    after = dict(before)
    for change in changes:
        after.pop(change.path, None)
        if change.after:
            after[change.path] = change.after
    return after


def spot_of(state: State) -> Spot | None:
    """Of several places of one file the one furthest through the mailboxes."""
    path = min(state, key=lambda path: (_FURTHEST[mailbox_of(path)], path), default=None)
    return None if path is None else Spot(path, state[path])


def deeds_of(commit: HistoryCommit, spots: Mapping[str, tuple[Spot | None, Spot | None]]) -> list[Deed]:
    """What a commit did, of where each file was before and after it."""
    moved = _resettled(spots)
    left = set(moved.values())
    deeds = []
    for key, (before, after) in spots.items():
        if key in moved:
            deeds.append(Deed(commit=commit, key=key, left=moved[key], before=spots[moved[key]][0], after=after))
        elif key not in left and before != after:
            deeds.append(Deed(commit=commit, key=key, before=before, after=after))
    return deeds


def _resettled(spots: Mapping[str, tuple[Spot | None, Spot | None]]) -> dict[str, str]:
    """Files that one commit moved to a folder that is no mailbox, as in a cleanup: keys afterwards and before."""
    gone: dict[str, list[str]] = defaultdict(list)
    come: dict[str, list[str]] = defaultdict(list)
    for key, (before, after) in spots.items():
        if bool(before) != bool(after):
            (gone if before else come)[key.rpartition("/")[2]].append(key)
    return {come[name][0]: gone[name][0] for name in gone if len(gone[name]) == len(come.get(name, ())) == 1}
