"""The git history of a source as values, and how commits are replayed into the life of each file (SPEC 2.3).

    commits ─► the branch read and the lines that were merged ─► what each merge brought ─► the events of each file

The key of a file is its folder without the mailbox, and its name: `memos/2026-….openthing` is one file whether it is
in `inbox/` or in `read/`. So a move is found however much was edited with it; similarity is never guessed. Another
name is known by the same content alone: of the file, or of the body beside it.

The commits are split into lines. A line goes from a commit down by first parents, as far as its commits are on no line
yet; the first one is the branch read, the trunk. Each other line was brought by one merge, the oldest that has it as
an ancestor. So each commit is on exactly one line, and what it did is passed up once for each merge on its way. What a
merge brought is told as if it had been done on top of the trunk: by its own commits, in their order, without what
changes nothing there. What is then still missing, the merge did itself.

A file that is in several mailboxes at once has the history of the copy furthest on its way, and as long as there are
several, each copy has its own beside it: what happened at its path on the trunk.

Where a file was in any commit follows from the changes, which are known against first parents: these make the commits
a tree. It is cut into chains: of the commits with the same first parent, the one that most others follow on goes on
with its chain. So from any commit there are few chains down to the first one (the logarithm of their number), however
branches are nested.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple, Protocol

from memosite.facts.file import File
from memosite.facts.layout import MAILBOXES, join_path
from memosite.facts.names import BODY_SUFFIX, ENVELOPE_SUFFIX, RecordEntry
from memosite.facts.parsed import Mailbox
from memosite.facts.patterns import regex
from memosite.facts.rules import SecretHit
from memosite.facts.times import Moment
from memosite.facts.values import Struct, Value, field, replace

# The git history of a source as values: the commits, and what happened to each file (SPEC 2.3).


EventKind = Literal["received", "moved", "renamed", "edited", "removed", "restored"]


class FormerSecrets(Value):
    """The secrets in a former content of the file at a path."""

    path: str
    hits: tuple[SecretHit, ...]


class RedactedName(NamedTuple):
    """The name of a file or of an author, with the names of rules in the place of secrets."""

    kind: Literal["path", "author"]
    name: str


class FileChange(Value):
    """A change of one path in a commit: the blob id afterwards, "" if the path is gone."""

    path: str
    after: str


class HistoryCommit(Value):
    """One commit, with its changes against its first parent that can concern an artifact.

    `names` are those in it that hold a secret, without it: the author's, and paths, whose changes are left out.
    """

    id: str
    parents: tuple[str, ...]
    at: Moment | None
    author: str
    changes: tuple[FileChange, ...] = ()
    names: tuple[RedactedName, ...] = ()


class LifeEvent(Value):
    """One event in the history of a file.

    `path` is where it was afterwards on the branch read (for `removed`: before), `mailbox` the box of that path.
    `before` and `after` are the blob ids around the event. `commit` made it; `merge` is the merge that brought it to
    the branch read, "" if none did.
    """

    kind: EventKind
    at: Moment | None
    who: str
    commit: str
    path: str
    before: str = ""
    after: str = ""
    merge: str = ""

    @property
    def mailbox(self) -> Mailbox:
        """The mailbox it was in; `flat` outside of all."""
        return mailbox_of(self.path)

    @property
    def arrival(self) -> str:
        """The commit with which the branch read had it: the file is at `path` there."""
        return self.merge or self.commit


class CommitCard(NamedTuple):
    """A commit that a session log names, or that names a session.

    `subject` is the first line of its message; "" where that may not be shown. `sessions` are the values of its
    trailers that may be ids of sessions, `checkpoints` those of `Entire-Checkpoint`.
    """

    id: str
    subject: str
    sessions: tuple[str, ...] = ()
    checkpoints: tuple[str, ...] = ()


HistoryProblem = Literal["", "unreadable", "failed"]


class History(Value):
    """The git history of one source, as of one commit.

    `why_not` is the reason why there are no events, "" if they are complete. `tree` maps each path of that commit that
    can concern an artifact to its blob id; None if even that is not known. `foreign` are folders that are
    repos of their own. `events` are by `file_key`, oldest first; of a file in several places those of each copy are by
    `copy_key`, too. `confidential` are keys of removed files whose last content was confidential. `blobs` maps ids of
    content to the SHA-256 under which it is on the shelf.
    `secrets` are those that were found in these contents, by blob id. `names` are names that hold a secret, without it:
    paths, which are in nothing else here, and authors.
    `commits` maps a commit as written in a text to its whole id; `cards` are commits of sessions, by what session logs
    call them and by their whole ids. `entries` are those of versions of list files, by
    record system and blob id; a version whose entries are not known is missing. `problem` is what kept git from reading
    the history: the repo is damaged, special or too large; or time and memory ran out, and the events are those known
    before.
    """

    commit: str = ""
    committed: Moment | None = None
    why_not: str = ""
    tree: Mapping[str, str] | None = None
    foreign: tuple[str, ...] = ()
    events: Mapping[str, tuple[LifeEvent, ...]] = field(default_factory=dict)
    confidential: frozenset[str] = frozenset()
    blobs: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, FormerSecrets] = field(default_factory=dict)
    names: tuple[RedactedName, ...] = ()
    commits: Mapping[str, str] = field(default_factory=dict)
    cards: Mapping[str, CommitCard] = field(default_factory=dict)
    entries: Mapping[tuple[str, str], tuple[RecordEntry, ...]] = field(default_factory=dict)
    problem: HistoryProblem = ""

    def at(self, path: str, key: str = "") -> tuple[LifeEvent, ...]:
        """What happened to the file at a path, which git may know by another key; of several copies, to this one."""
        return self.events.get(copy_key(path)) or self.events.get(key or file_key(path), ())

    def without_blobs(self, ids: Collection[str]) -> "History":
        """The history without these former contents; the same object if it has none of them."""
        left = {id_: digest for id_, digest in self.blobs.items() if id_ not in ids}
        return self if len(left) == len(self.blobs) else replace(self, blobs=left)

    def without_subjects(self, is_hidden: Callable[[str], bool]) -> "History":
        """The history without those subjects of commits that are to be hidden."""
        cards = {
            name: card._replace(subject="") if is_hidden(card.subject) else card for name, card in self.cards.items()
        }
        return self if cards == self.cards else replace(self, cards=cards)


def file_key(path: str) -> str:
    """The key of a file, which stays the same while it moves between mailboxes."""
    folder, _, name = path.rpartition("/")
    above, _, last = folder.rpartition("/")
    if last in MAILBOXES:
        folder = above
    return join_path(folder, name)


def copy_key(path: str) -> str:
    """The key of one of several copies that a file has in the mailboxes of a store."""
    return f"{path}/"


def key_of_file(key: str) -> str:
    """The key of the file that a key is of, also of one copy."""
    return file_key(key.removesuffix("/")) if key.endswith("/") else key


def paths_of(key: str) -> list[str]:
    """All paths where the file with this key may be."""
    folder, _, name = key.rpartition("/")
    boxes = (join_path(folder, box) for box in MAILBOXES)
    paths = (key, *(f"{box}/{name}" for box in boxes))
    return sorted(path for path in paths if file_key(path) == key)


def mailbox_of(path: str) -> Mailbox:
    """The mailbox that a path is in."""
    folders = path.split("/")
    return MAILBOXES.get(folders[-2] if len(folders) > 1 else "", "flat")


# What single commits did to files, whichever branch they are on (SPEC 2.3).


_FURTHEST: dict[Mailbox, int] = {"archive": 0, "read": 1, "inbox": 2, "flat": 3}


State = Mapping[str, str]
"""All paths of one file, with their blob ids: seldom more than one, and none where it is absent."""


class Spot(NamedTuple):
    """Where a file is, and with which content (a blob id)."""

    path: str
    blob: str


class Deed(Value):
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
    """Files that one commit gave another key: keys afterwards and before."""
    gone = {key: before.blob for key, (before, after) in spots.items() if before and not after}
    come = {key: after.blob for key, (before, after) in spots.items() if after and not before}
    return resettled(gone, come)


def resettled(gone: Mapping[str, str], come: Mapping[str, str]) -> dict[str, str]:
    """Which of the files that come are those that are gone, by keys, with their blob ids: keys afterwards and before.

    A file of the same name is the same, moved to a folder that is no mailbox, as in a cleanup. Else it is one of the
    same content and ending, whose name was corrected; or a session that SpecStory wrote anew under another title: the
    time in its name stays. An envelope also goes with its body, which its `body_ref` names,
    and a body with its envelope. What could be several is none.
    """
    if not gone or not come:
        return {}
    moved = _paired(gone, come, lambda key, _: key.rpartition("/")[2])
    left = set(moved.values())
    moved |= _paired(
        {key: blob for key, blob in gone.items() if key not in left},
        {key: blob for key, blob in come.items() if key not in moved},
        lambda key, blob: blob and blob + _ending(key),
    )
    left = set(moved.values())
    moved |= _paired(
        {key: blob for key, blob in gone.items() if key not in left},
        {key: blob for key, blob in come.items() if key not in moved},
        lambda key, _: match[1] if (match := _SPECSTORY.fullmatch(key)) else "",
    )
    left = set(moved.values())
    for own, beside in ((BODY_SUFFIX, ENVELOPE_SUFFIX), (ENVELOPE_SUFFIX, BODY_SUFFIX)):
        for new, old in list(moved.items()):
            if new.endswith(own) and old.endswith(own):
                near, far = new.removesuffix(own) + beside, old.removesuffix(own) + beside
                if near in come and near not in moved and far in gone and far not in left:
                    moved[near] = far
                    left.add(far)
    return moved


_SPECSTORY = regex(
    r"((?:.*/)?\.specstory/history/[0-9]{4}-[0-9]{2}-[0-9]{2}_[0-9]{2}-[0-9]{2}(?:-[0-9]{2})?Z?)(?:-.*)?\.md", re.DOTALL
)


def _ending(key: str) -> str:
    return BODY_SUFFIX if key.endswith(BODY_SUFFIX) else key[key.rfind(".") :]


def _paired(gone: Mapping[str, str], come: Mapping[str, str], name_of: Callable[[str, str], str]) -> dict[str, str]:
    """What has the same name on both sides, and there alone; "" is no name."""
    named: tuple[dict[str, list[str]], ...] = (defaultdict(list), defaultdict(list))
    for some, found in zip((gone, come), named, strict=True):
        for key, blob in some.items():
            found[name_of(key, blob)].append(key)
    old, new = named
    return {new[name][0]: old[name][0] for name in old if name and len(old[name]) == len(new.get(name, ())) == 1}


# Knows where each file was in any commit of a history with branches (SPEC 2.3).


class _Chain(Struct, kw_only=True):
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


# Finds what merges brought: the work of the branches that were merged, commit by commit (SPEC 2.3).


Brought = Mapping[str, Sequence[Deed]]
"""What each merge of the trunk brought, in order."""


_Part = Literal["presence", "place", "content"]
"""What a merge may have of a file as one of its parents has it."""


class _Line(Value):
    """Commits, oldest first, each the first parent of the next.

    `merge` and `parent` say which merge brought the line, and by which of its parents: the newest commit. Both are ""
    for the trunk.
    """

    commits: Sequence[HistoryCommit]
    merge: str = ""
    parent: str = ""


class Branches:
    """The branches that were merged into a trunk."""

    def __init__(self, commits: Mapping[str, HistoryCommit], trunk: list[HistoryCommit]) -> None:
        """Split the commits into lines. Each commit comes after its parents."""
        self._reached: set[str] = set()
        self._lines = list(self._split(commits, trunk))
        reached = [commit for commit in commits.values() if commit.id in self._reached]
        self._states = States(reached, set(self._touched()))
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


# Replays the commits of a branch into the history of each file: received, moved, edited, removed (SPEC 2.3).


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
    trunk = _chain(commits, head, ())
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
        several = {key: self._lines(key, before[key]) for key in keys if max(len(before[key]), len(self._at[key])) > 1}
        for deed in brought:
            self._tell(deed, told, merge=commit.id)
        own = deeds_of(commit, {key: (told[key], spot_of(self._at[key])) for key in keys})
        for deed in own:
            found = spot_of(before[deed.left or deed.key])
            self._tell(deed, told, found="" if found is None or found.blob == _blob(deed.after) else found.blob)
        left = {deed.key: several.get(deed.left, {}) for deed in own}
        for key, lines in several.items():
            of_key = [deed for deed in brought if deed.key == key]
            self._tell_copies(commit, key, {**left.get(key, {}), **lines}, of_key)

    def _lines(self, key: str, state: State) -> dict[str, tuple[str, Sequence[LifeEvent]]]:
        """The content and the history of each copy of a file so far, by path."""
        alone = tuple(self._events.get(key, ()))
        return {path: (blob, self._events.get(copy_key(path), alone)) for path, blob in state.items()}

    def _tell_copies(
        self,
        commit: HistoryCommit,
        key: str,
        lines: dict[str, tuple[str, Sequence[LifeEvent]]],
        brought: Sequence[Deed],
    ) -> None:
        """Add what a commit did to each copy of a file that has or had several, as long as it has.

        A copy that is gone went where another came: of several to the same mailbox, else the one of the same content.
        """
        after = self._at[key]
        for path in lines:
            self._events.pop(copy_key(path), None)
        if len(after) < 2:
            return
        gone = [path for path in sorted(lines) if path not in after]
        for path in sorted(after, key=lambda path: (path in lines, path)):
            blob = after[path]
            deed = next((one for one in brought if one.after == Spot(path, blob)), None)
            event = LifeEvent(
                kind="received",
                at=deed.commit.at if deed else commit.at,
                who=deed.commit.author if deed else commit.author,
                commit=deed.commit.id if deed else commit.id,
                path=path,
                after=blob,
                merge=commit.id if deed else "",
            )
            was = path if path in lines else min(gone, key=partial(_unlike, lines, event), default="")
            if was in gone:
                gone.remove(was)
            known, events = lines.get(was, ("", ()))
            if events:
                event = replace(event, before=known)
            steps: list[EventKind] = ["received"] if not events else []
            steps += ["moved"] if events and was != path else []
            steps += ["edited"] if events and known != blob else []
            self._events[copy_key(path)] = (*events, *(replace(event, kind=kind) for kind in steps))

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
        is_renamed = bool(deed.left) and deed.left.rpartition("/")[2] != deed.key.rpartition("/")[2]
        is_elsewhere = is_moved and not (is_renamed and mailbox_of(deed.after.path) == mailbox_of(start.path))
        does: tuple[tuple[EventKind, bool], ...] = (
            ("renamed", is_renamed),
            ("moved", is_elsewhere),
            ("edited", is_edited),
        )
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


def _unlike(lines: Mapping[str, tuple[str, object]], event: LifeEvent, path: str) -> tuple[bool, bool]:
    """How unlike the copy that was at a path is to the one that an event is about."""
    return mailbox_of(path) != event.mailbox, lines[path][0] != event.after


def _blob(spot: Spot | None) -> str:
    return spot.blob if spot else ""


# What reading git's history needs of the gate: what git has is screened before anything of it is kept (SPEC 9).


class ScreenedFile(Protocol):
    """A file without secrets, and what was found in it."""

    @property
    def file(self) -> File:
        """The file."""

    @property
    def hits(self) -> tuple[SecretHit, ...]:
        """The secrets that were found."""


class Screen(Protocol):
    """Removes secrets (`reading/gate.py`)."""

    @property
    def allowed(self) -> frozenset[str]:
        """The fingerprints of secrets that are not removed."""

    def file(self, file: File) -> ScreenedFile:
        """A former content of a file, without secrets."""

    def names(self, names: Iterable[str]) -> Mapping[str, str]:
        """Those of these names that hold a secret, each with the name as it may be shown."""
