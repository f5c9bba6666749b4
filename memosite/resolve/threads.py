"""What memos answer: references, reply trees, threads in reading order, and memos that were not delivered (SPEC 3).

    names in references ─► what each memo answers, or a ghost ─► reply trees ─► threads in reading order

Trees are made of plain nodes, not of memos, so that the rules can be tested alone. Nothing here recurses on the
depth of a conversation: chains of 200,000 replies are fine.

Delivery: a broadcast belongs in the repo of every position, any other memo into those of its recipients; the sender's
copy is a copy (SPEC 3, copies and positions). No clock is asked: a memo is overdue when its repo has newer commits
without it.
"""

import datetime as dt
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import NamedTuple

from memosite.archive.history import History
from memosite.archive.ledger import Ledger
from memosite.archive.model import UNDATED, Ghost, Thread, ThreadEntry
from memosite.facts import names, rules
from memosite.facts.findings import Finding, Rule, finding_in
from memosite.facts.parsed import BROADCAST, FILE, Envelope, FileFacts, Kind, LineOf, Ref
from memosite.facts.patterns import regex
from memosite.facts.texts import listed
from memosite.facts.values import Value, field, replace
from memosite.resolve.identity import CopyGroup, line_of_key
from memosite.resolve.lives import Lives
from memosite.resolve.positions import Naming, distinct_ids, recipients_of
from memosite.run.recall import Recall, Same

# Finds artifacts by their names, and names missing memos (SPEC 3, references).


MESSAGES: tuple[Kind, ...] = ("memo", "note")
"""The kinds that can be replied to."""


_STAMP = regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{4}(?![0-9])")


_ANY: tuple[Kind, ...] = ("memo", "note", "transcript")


class NameIndex:
    """Artifacts by the stems of their files, and by their ids."""

    def __init__(self, groups: Iterable[CopyGroup]) -> None:
        """Index groups that have their ids."""
        self._groups = tuple(groups)
        self._by_name: dict[str, list[CopyGroup]] = defaultdict(list)
        self._by_id: dict[str, list[CopyGroup]] = defaultdict(list)
        self._by_former: dict[str, list[CopyGroup]] = defaultdict(list)
        for group in self._groups:
            self._by_name[group.stem].append(group)
            self._by_id[group.id].append(group)
            for id_ in group.former:
                self._by_former[id_].append(group)
        self._found: dict[tuple[str, str, tuple[Kind, ...]], tuple[Ref, ...]] = {}

    def find(self, stem: str, *, source: str, kinds: tuple[Kind, ...] = _ANY, but: Ref | None = None) -> Ref | None:
        """The artifact of this name: the one in the naming file's own source, else the plain one, else the first.

        Only these kinds are searched, in this order, and never `but`: an artifact refers to itself only if no other
        has the name. A name that is no file's may be an id, or one that a file had before.
        """
        key = (unicodedata.normalize("NFC", stem), source, kinds)
        if key not in self._found:
            self._found[key] = self._best_two(*key)
        return next((ref for ref in self._found[key] if ref != but), but if but in self._found[key] else None)

    def stamped(self, stamp: str) -> tuple[CopyGroup, ...]:
        """The memos whose names begin with a stamp; the notes, if no memo's does."""
        return self._by_stamp.get(stamp, ())

    @cached_property
    def _by_stamp(self) -> dict[str, tuple[CopyGroup, ...]]:
        found: dict[str, list[CopyGroup]] = defaultdict(list)
        for group in self._groups:
            stamp = _STAMP.match(group.stem) if group.kind in MESSAGES else None
            if stamp:
                found[stamp[0]].append(group)
        return {
            stamp: tuple(group for group in named if group.kind == "memo") or tuple(named)
            for stamp, named in found.items()
        }

    def _best_two(self, stem: str, source: str, kinds: tuple[Kind, ...]) -> tuple[Ref, ...]:
        named = self._by_name.get(stem) or self._by_id.get(stem) or self._by_former.get(names.make_id(stem)) or ()
        if len(named) == 1:
            return (named[0].ref,) if named[0].kind in kinds else ()

        def rank(group: CopyGroup) -> tuple[bool, bool, int, str]:
            is_away = all(copy.envelope.file.source != source for copy in group.copies)
            return (is_away, group.id != group.plain, kinds.index(group.kind), group.id)

        fitting = sorted((group for group in named if group.kind in kinds), key=rank)
        return tuple(group.ref for group in fitting[:2])


_AFTER_RIVAL = "~ghost"


def ghost_refs(missing: Mapping[Ref, str], taken: Iterable[Ref]) -> dict[str, Ref]:
    """The ref of each ghost, by its stem: the one its memo will have once it is there."""
    used = {(kind, id_.casefold()) for kind, id_ in taken} if missing else set()
    refs: dict[str, Ref] = {}
    for stem in sorted(set(missing.values())):
        kind: Kind = "note" if names.read_stamped_name(stem).recipient == FILE else "memo"
        id_ = names.make_id(stem)
        while (kind, id_.casefold()) in used:  # a memo takes precedence over a ghost of the same id
            id_ += _AFTER_RIVAL
        used.add((kind, id_.casefold()))
        refs[stem] = (kind, id_)
    return refs


def plain_ghost_id(id_: str) -> str:
    """The id of a ghost without what tells it from a rival."""
    return id_.split(_AFTER_RIVAL, 1)[0]


# Resolves references: what memos and notes answer, and which memos they supersede (SPEC 3, references).


FindFile = Callable[[str, FileFacts], Ref | None]
"""The artifact of a path, or of a URL of a forge, as written in a file."""


class Replies(Value):
    """What memos and notes refer to.

    `parents` are memos or notes, `missing` the stems of those that are not in the archive (ghosts). `linked` is
    whatever else a reference names; of that, `also` are memos that are answered, too. `supersedes` are earlier memos
    of the same sender. `former` says what a reference that once made a ghost of this id means now: an artifact, or
    a ghost by its stem.
    """

    parents: dict[Ref, Ref] = field(default_factory=dict)
    missing: dict[Ref, str] = field(default_factory=dict)
    linked: dict[Ref, tuple[Ref, ...]] = field(default_factory=dict)
    also: dict[Ref, tuple[Ref, ...]] = field(default_factory=dict)
    supersedes: dict[Ref, tuple[Ref, ...]] = field(default_factory=dict)
    former: dict[str, Ref | str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


class _Meaning(NamedTuple):
    """A name and the artifact that it stands for, if that is in the archive; and in which of a list's values it is."""

    name: names.Name
    to: Ref | None
    value: int = 0


class _Answer(NamedTuple):
    """What one reference means: the parent, or the stem of one that is missing; and what else it names.

    `told` are those of `linked` that it names outside of parentheses.
    """

    parent: Ref | None
    missing: str | None
    linked: tuple[Ref, ...]
    told: tuple[Ref, ...]


class ReplyResolver(Value, kw_only=False):
    """Resolves the references of memos and notes, given by their refs."""

    messages: Mapping[Ref, CopyGroup]
    index: NameIndex
    naming: Naming
    find_file: FindFile
    line_of: LineOf
    replies: Replies = field(default_factory=Replies)

    def resolve(self, ghosts: Collection[str]) -> Replies:
        """Resolve all references. `ghosts` are the ids of those published so far."""
        for group in self.messages.values():
            for variant in group.variants:  # the first that says something counts
                meanings = self._meanings(group, variant.envelope, variant.envelope.in_reply_to)
                if meanings:
                    self._answer(group, variant.envelope, meanings, ghosts)
                    break
            self._supersede(group)
        return self.replies

    def _answer(
        self, group: CopyGroup, envelope: Envelope, meanings: tuple[_Meaning, ...], ghosts: Collection[str]
    ) -> None:
        answer, found, ref = read_answer(meanings), self.replies, group.ref
        if answer.parent is not None:
            found.parents[ref] = answer.parent
        elif answer.missing is not None:
            found.missing[ref] = answer.missing
        if answer.linked:
            found.linked[ref] = answer.linked
        also = tuple(to for to in answer.told if self._was_sent_to(to, envelope.sender))
        if also:
            found.also[ref] = also
        former = names.read_reference(envelope.in_reply_to[0]) if ghosts else None
        if former is not None and names.make_id(former) in ghosts:
            named = next((meaning.to for meaning in meanings if meaning.to and meaning.name.stem == former), None)
            now = named or answer.parent or next(iter(answer.linked), None) or answer.missing
            if now is not None:
                found.former.setdefault(names.make_id(former), now)

    def _supersede(self, group: CopyGroup) -> None:
        """Note what a memo supersedes, and link what else it says it does."""
        for variant in group.variants:
            meanings = self._meanings(group, variant.envelope, variant.envelope.supersedes, key="supersedes")
            named = tuple(dict.fromkeys(meaning.to for meaning in meanings if meaning.to is not None))
            if not named:
                continue
            ref, found = group.ref, self.replies
            found.linked[ref] = tuple(dict.fromkeys((*found.linked.get(ref, ()), *named)))
            earlier = tuple(to for to in named if self._is_earlier_of_same_sender(to, group))
            if earlier:
                found.supersedes[ref] = earlier
            return

    # What a name stands for

    def _meanings(
        self, group: CopyGroup, envelope: Envelope, values: Iterable[str], *, key: str = "in_reply_to"
    ) -> tuple[_Meaning, ...]:
        """The names in some values and what they stand for, without those that stand for the memo itself."""
        found = (
            one._replace(value=number)
            for number, value in enumerate(values)
            for one in self._in_value(group, envelope, value, key)
        )
        return tuple(one for one in islice(found, names.NAMES) if one.to != group.ref)

    def _in_value(self, group: CopyGroup, envelope: Envelope, value: str, key: str) -> Iterator[_Meaning]:
        whole = names.whole_name(value)
        to = self._spoken(whole, group, envelope.file) if whole else None
        if to is not None:
            yield _Meaning(names.Name(form="file", written=value, stem=whole), to)
            return
        for name in names.read_names(value):
            if name.form != "stamp":
                to = self._find(name, group, envelope.file)
                # A missing memo may have a name with white space: then the value is that name alone.
                is_whole = to is None and name.form == "stamped" and names.read_reference(value) == whole
                yield _Meaning(replace(name, stem=whole) if is_whole else name, to)
            elif (to := self._stamped(name.stem, group, envelope, key)) is not None:
                yield _Meaning(name, to)

    def _find(self, name: names.Name, group: CopyGroup, file: FileFacts) -> Ref | None:
        is_url, is_document = "://" in name.written, name.form == "document"
        found = self.find_file(name.written, file) if is_url or is_document else None
        if found is not None or (is_document and is_url):
            return found
        to = self._spoken(name.stem, group, file)
        return to if to or is_document else self.find_file(f"{name.written}.md", file)

    def _spoken(self, stem: str, group: CopyGroup, file: FileFacts) -> Ref | None:
        """The memo, note or transcript of a file's name; messages come first."""
        find = partial(self.index.find, stem, source=file.source, but=group.ref)
        return find(kinds=MESSAGES) or find(kinds=("transcript",))

    def _stamped(self, stamp: str, group: CopyGroup, envelope: Envelope, key: str) -> Ref | None:
        """The memo of a bare stamp: the only one, or the one in the same source between the same two positions."""
        named = self.index.stamped(stamp)
        others = [one for one in named if one.ref != group.ref]
        if named and not others:
            return group.ref
        if len(others) > 1:
            others = [one for one in others if self._is_near(one, envelope)] or others
        if len(others) == 1:
            return others[0].ref
        count = f"the names of {len(others)} memos begin" if others else "no memo's name begins"
        line, message = line_of_key(self.line_of, envelope.file, key), f'{count} with "{stamp}", expected one'
        self.replies.findings.append(finding_in(envelope.file, rules.STAMP_UNCLEAR, message, line))
        return None

    def _is_near(self, other: CopyGroup, envelope: Envelope) -> bool:
        if all(copy.envelope.file.source != envelope.file.source for copy in other.copies):
            return False
        (sender, to), (other_sender, other_to) = self._ends(envelope), self._ends(other.envelope)
        return (sender == other_sender and not to.isdisjoint(other_to)) or (sender in other_to and other_sender in to)

    def _ends(self, envelope: Envelope) -> tuple[str, frozenset[str]]:
        sender = self.naming.position_of.get(envelope.sender, envelope.sender)
        return sender, frozenset(recipients_of(envelope, self.naming))

    def _was_sent_to(self, ref: Ref, sender: str) -> bool:
        """Whether a memo was sent to this sender, by name or to everybody."""
        if ref[0] != "memo" or ref not in self.messages:
            return False
        position = self.naming.position_of.get(sender)
        asker, recipients = self._ends(self.messages[ref].envelope)
        named = {position, self.naming.union_of.get(position or "")} - {None}
        return not named.isdisjoint(recipients) or (BROADCAST in recipients and position not in {None, asker})

    def _is_earlier_of_same_sender(self, ref: Ref, group: CopyGroup) -> bool:
        other = self.messages.get(ref)
        if other is None or (other.kind, group.kind) != ("memo", "memo"):
            return False
        is_same = self._ends(other.envelope)[0] == self._ends(group.envelope)[0]
        return is_same and other.sent_at < group.sent_at != UNDATED


def read_answer(meanings: Iterable[_Meaning]) -> _Answer:
    """What a reference means: its parent is the first name that is a memo or note.

    A whole stamped name before that one which is not in the archive is the parent, as a ghost, unless it is another
    value of a list; if no name is a memo, the first that could be one is.
    """
    parent: Ref | None = None
    ghost: str | None = None
    ghost_value = -1
    guess: str | None = None
    others: list[tuple[Ref, bool]] = []
    for name, to, value in meanings:
        if to is None:
            if parent is None and ghost is None and name.form == "stamped":
                ghost, ghost_value = name.stem, value
            guess = guess or (name.stem if name.form == "file" else None)
        elif parent is None and value != ghost_value and to[0] in MESSAGES:
            parent = to
        else:
            others.append((to, name.is_aside))
    linked = tuple(dict.fromkeys(to for to, _ in others if to != parent))
    told = {to for to, is_aside in others if not is_aside}
    return _Answer(parent, ghost if parent or ghost else guess, linked, tuple(to for to in linked if to in told))


def inverse(pairs: Iterable[tuple[Ref, Ref]]) -> dict[Ref, tuple[Ref, ...]]:
    """For each artifact those that name it, in order of kind and id. In each pair the first names the second."""
    found: dict[Ref, set[Ref]] = defaultdict(set)
    for ref, to in pairs:
        found[to].add(ref)
    return {to: tuple(sorted(refs)) for to, refs in found.items()}


def pairs_of(named: Mapping[Ref, Iterable[Ref]]) -> Iterator[tuple[Ref, Ref]]:
    """Each artifact with each of those that it names."""
    return ((ref, to) for ref, some in named.items() for to in some)


# Threads: memos joined by replies and thread ids, in reading order (SPEC 3, threads).


class ThreadNode(Value):
    """A memo or a ghost as a node. A `parent` that is not among the nodes is ignored.

    `thread_id` is explicit, and in the form of an id, so that it can meet the id of a root.
    """

    ref: Ref
    parent: Ref | None = None
    thread_id: str | None = None
    instant: dt.datetime = UNDATED
    is_ghost: bool = False

    @property
    def rank(self) -> tuple[dt.datetime, str, str]:
        """By instant, then id: earlier first."""
        return (self.instant, self.ref[1], self.ref[0])


class Forest(Value):
    """The reply trees: nodes by ref, with cycles cut, in reading order.

    `order` is a walk through all trees, parents before their replies, trees and replies by date then id.
    `first` and `last` give the stretch of the walk that holds a node and everything below it.
    """

    nodes: Mapping[Ref, ThreadNode]
    parent: Mapping[Ref, Ref]
    children: Mapping[Ref, tuple[Ref, ...]]
    order: Sequence[Ref]
    first: Mapping[Ref, int]
    last: Mapping[Ref, int]
    cut: tuple[Ref, ...]


def grow_forest(nodes: Iterable[ThreadNode]) -> Forest:
    """Join nodes by their parents. A cycle of replies is cut at its earliest memo, named in `cut`."""
    by_ref = {node.ref: node for node in sorted(nodes, key=lambda node: node.rank)}
    parent = {ref: node.parent for ref, node in by_ref.items() if node.parent is not None and node.parent in by_ref}
    cut = _cut_cycles(by_ref, parent)
    children: dict[Ref, list[Ref]] = defaultdict(list)
    for ref in by_ref:  # in order of rank, so children are too
        if ref in parent:
            children[parent[ref]].append(ref)
    order: list[Ref] = []
    first: dict[Ref, int] = {}
    roots = [ref for ref in by_ref if ref not in parent]
    roots.sort(key=lambda ref: _rank_of_tree(by_ref, children, ref))
    pending = roots[::-1]
    while pending:
        ref = pending.pop()
        first[ref] = len(order)
        order.append(ref)
        pending.extend(reversed(children[ref]) if ref in children else ())
    last = dict(first)
    for ref in reversed(order):
        if ref in parent:
            last[parent[ref]] = max(last[parent[ref]], last[ref])
    return Forest(
        nodes=by_ref,
        parent=parent,
        children={ref: tuple(below) for ref, below in children.items()},
        order=order,
        first=first,
        last=last,
        cut=tuple(cut),
    )


def _rank_of_tree(
    nodes: Mapping[Ref, ThreadNode], children: Mapping[Ref, list[Ref]], root: Ref
) -> tuple[dt.datetime, str, str]:
    """A ghost without a date sorts as its first reply."""
    node = nodes[root]
    if node.is_ghost and node.instant == UNDATED and root in children:
        return (nodes[children[root][0]].instant, node.ref[1], node.ref[0])
    return node.rank


def _cut_cycles(nodes: Mapping[Ref, ThreadNode], parent: dict[Ref, Ref]) -> list[Ref]:
    cut = []
    state: dict[Ref, int] = {}  # 1 = on the current walk, 2 = done
    for start in nodes:
        path = []
        ref: Ref | None = start
        while ref is not None and ref not in state:
            state[ref] = 1
            path.append(ref)
            ref = parent.get(ref)
        if ref is not None and state[ref] == 1:
            earliest = min(path[path.index(ref) :], key=lambda member: nodes[member].rank)
            del parent[earliest]
            cut.append(earliest)
        for member in path:
            state[member] = 2
    return sorted(cut)


def name_threads(forest: Forest) -> dict[Ref, str]:
    """The thread of each node, by its explicit thread id or by the id of a root.

    A node's thread is its own explicit id, else its nearest ancestor's, else the earliest (by date, then id)
    explicit one anywhere in its tree, else the id of the tree's root.
    """
    thread: dict[Ref, str] = {}
    start = 0
    while start < len(forest.order):
        root = forest.order[start]
        end = forest.last[root] + 1
        explicit = (forest.nodes[ref] for ref in forest.order[start:end] if forest.nodes[ref].thread_id)
        earliest = min(explicit, key=lambda node: node.rank, default=None)
        fallback = (earliest.thread_id if earliest else None) or _root_name(forest, root)
        inherited: dict[Ref, str | None] = {}
        for ref in forest.order[start:end]:
            parent = forest.parent.get(ref)
            own = forest.nodes[ref].thread_id or (inherited[parent] if parent is not None else None)
            inherited[ref] = own
            thread[ref] = own or fallback
        start = end
    return thread


def _root_name(forest: Forest, root: Ref) -> str:
    """A root's id; a note that has the id of a memo is not of its thread."""
    kind, id_ = root
    return f"{id_}~{kind}" if kind != "memo" and ("memo", id_) in forest.nodes else id_


def read_threads(forest: Forest, thread_of: Mapping[Ref, str]) -> dict[str, tuple[ThreadEntry, ...]]:
    """The entries of each thread in reading order. Depth counts within the thread; edges to others are named."""
    entries: dict[str, list[ThreadEntry]] = defaultdict(list)
    depth: dict[Ref, int] = {}
    indent: dict[Ref, int] = {}
    branches: set[Ref] = set()
    for ref in forest.order:
        name = thread_of[ref]
        parent = forest.parent.get(ref)
        is_inside = parent is not None and thread_of[parent] == name
        depth[ref] = depth[parent] + 1 if is_inside and parent is not None else 0
        indent[ref] = indent[parent] + (parent in branches) if is_inside and parent is not None else 0
        replies = forest.children.get(ref)
        elsewhere = {thread_of[child] for child in replies} - {name} if replies else ()
        if replies and sum(thread_of[child] == name for child in replies) > 1:
            branches.add(ref)
        entries[name].append(
            ThreadEntry(
                depth=depth[ref],
                indent=indent[ref],
                ref=ref,
                is_ghost=forest.nodes[ref].is_ghost,
                continues=tuple(sorted(elsewhere)) if elsewhere else (),
                continued_from=thread_of[parent] if parent is not None and not is_inside else None,
            )
        )
    return {name: tuple(entries[name]) for name in sorted(entries)}


# Builds reply trees and threads of memos and notes, with findings on broken replies (SPEC 3).


_DAY = len("2026-05-01")


class ThreadBuilder:
    """The reply trees and threads of all memos and notes.

    `parents` and `ghost_parents` map a reply to what it answers; `thread_of` gives the id of the thread of each memo
    and ghost, `ghost_refs` the ref of each ghost by its stem.
    """

    def __init__(
        self, messages: Mapping[Ref, CopyGroup], replies: Replies, ledger: Ledger, line_of: LineOf, *, recall: Recall
    ) -> None:
        """Join these messages."""
        self._recall = recall
        self._by_ref = messages
        self.ghost_refs = ghost_refs(replies.missing, self._by_ref)
        self.ghost_parents = {ref: self.ghost_refs[stem] for ref, stem in replies.missing.items()}
        parents = {**replies.parents, **self.ghost_parents}
        node = recall.calls(_node)
        nodes = [node(ref, ref, group, parents.get(ref)) for ref, group in self._by_ref.items()]
        for stem, ref in self.ghost_refs.items():
            stamp = names.read_stamped_name(stem).date
            nodes.append(ThreadNode(ref=ref, instant=stamp.instant if stamp else UNDATED, is_ghost=True))
        self.forest: Forest = grow_forest(nodes)
        self.parents = {ref: parent for ref, parent in replies.parents.items() if ref in self.forest.parent}
        keys = name_threads(self.forest)
        self._ids = distinct_ids(sorted(set(keys.values())), (id_ for id_, _ in ledger.threads))
        self.thread_of = {ref: self._ids[key] for ref, key in keys.items()}
        self.findings = tuple(self._find(replies.missing, line_of))

    def threads(self) -> dict[str, Thread]:
        """All threads by id. A thread's name is its explicit thread id as written by its first memo, else its id."""
        entries = read_threads(self.forest, self.thread_of)
        found: dict[str, Thread] = {}
        thread = self._recall.calls(_thread)
        for key, id_ in self._ids.items():
            written = (self._by_ref[entry.ref].envelope.thread_id for entry in entries[id_] if not entry.is_ghost)
            name = next((text.strip() for text in written if text and names.make_id(_clean(text)) == key), id_)
            found[id_] = thread(id_, id_, name, entries[id_])
        return dict(sorted(found.items()))

    def ghosts(self) -> dict[str, Ghost]:
        """All ghosts by id."""
        found = {}
        for stem, ref in sorted(self.ghost_refs.items(), key=lambda item: item[1][1]):
            name = names.read_stamped_name(stem)
            found[ref[1]] = Ghost(
                id=ref[1],
                kind=ref[0],
                stem=stem,
                short_subject=names.short_subject("", stem=stem),
                date=name.date,
                sender=name.sender,
                to=name.recipient,
                replies=self.forest.children.get(ref, ()),
                thread=self.thread_of[ref],
            )
        return found

    def _find(self, missing: Mapping[Ref, str], line_of: LineOf) -> Iterator[Finding]:
        for ref in self.forest.cut:
            message = "its replies lead back to it; it is shown first"
            yield self._finding(rules.THREAD_CYCLE, ref, message, line_of)
        for ref, stem in sorted(missing.items()):
            yield self._finding(rules.GHOST, ref, f'replies to "{stem[:200]}", a missing memo', line_of)
        for ref, parent in sorted(self.parents.items()):
            reply, answered = self._by_ref[ref], self._by_ref[parent]
            if _is_before(reply, answered):
                message = f'sent "{reply.sent[:60]}", before what it replies to ("{answered.sent[:60]}")'
                yield self._finding(rules.REPLY_BEFORE_PARENT, ref, message, line_of, key="sent")

    def _finding(self, rule: Rule, ref: Ref, message: str, line_of: LineOf, key: str = "in_reply_to") -> Finding:
        """A finding on the first of the variants that names a parent, or on the one shown."""
        envelopes = [variant.envelope for variant in self._by_ref[ref].variants]
        speaking = (envelope for envelope in envelopes if envelope.in_reply_to and key == "in_reply_to")
        file = next(speaking, envelopes[0]).file
        return finding_in(file, rule, message, line_of_key(line_of, file, key))


def _thread(id_: str, name: str, entries: tuple[ThreadEntry, ...]) -> Thread:
    return Thread(id=id_, name=name, entries=entries)


def _node(ref: Ref, group: CopyGroup, parent: Ref | None) -> ThreadNode:
    written = _clean(group.envelope.thread_id or "")
    return ThreadNode(
        ref=ref, parent=parent, thread_id=names.make_id(written) if written else None, instant=group.sent_at
    )


def _clean(thread_id: str) -> str:
    return unicodedata.normalize("NFC", thread_id.strip())


def _is_before(reply: CopyGroup, parent: CopyGroup) -> bool:
    """Whether a reply was sent before its parent; where only a day is given, by days."""
    if UNDATED in {reply.instant, parent.instant}:
        return False
    if min(len(reply.sent), len(parent.sent)) <= _DAY:
        return reply.instant.date() < parent.instant.date()
    return reply.instant < parent.instant


# Audits delivery: finds memos that are missing in their recipient's repo, misnamed, or never committed there.


OVERDUE_DAYS = 7
"""How many days a memo may lie in a repo before it is committed, counted to the repo's last commit."""


_NAMED = 5


def delivery_findings(
    groups: Iterable[CopyGroup], naming: Naming, histories: Mapping[str, History], lives: Lives, *, recall: Recall
) -> Iterator[Finding]:
    """Findings on the delivery of memos; all are notes."""
    addressing, named = recall.calls(_addressing), Same(naming)
    for group in groups:
        if group.kind != "memo" or group.envelope.is_speechless:
            continue
        yield from addressing(group.ref, group, named)
        yield from _overdue(group, histories, lives)


def _addressing(group: CopyGroup, named: Same[Naming]) -> tuple[Finding, ...]:
    return (*_missing(group, named.value), *_misnamed(group, named.value))


def _missing(group: CopyGroup, naming: Naming) -> Iterator[Finding]:
    repo_of = naming.repo_of
    sources = {copy.envelope.file.source for copy in group.copies}
    sender = naming.position_of.get(group.envelope.sender)
    home = repo_of.get(sender) if sender else None
    for name in group.envelope.to:
        if name == FILE:
            continue
        if name == BROADCAST:
            lacking = [repo for repo in naming.repos if repo not in sources and repo != home]
            if lacking and len(sources) > 1:
                message = f"a broadcast, but no copy in {listed(lacking, _NAMED)}"
                yield finding_in(group.envelope.file, rules.DELIVERY_MISSING, message)
            continue
        position = naming.position_of.get(name)
        repo = repo_of.get(position) if position else None
        if repo is not None and repo not in sources:
            only = "the sender's copy " if sources == {home} else ""
            message = f'to "{name[:80]}", whose repo is {repo}; found only {only}in {", ".join(sorted(sources))}'
            yield finding_in(group.envelope.file, rules.DELIVERY_MISSING, message)


def _overdue(group: CopyGroup, histories: Mapping[str, History], lives: Lives) -> Iterator[Finding]:
    sent = group.envelope.sent
    for copy in group.copies:
        file = copy.envelope.file
        history = histories.get(file.source)
        if sent is None or history is None or history.committed is None or not lives.is_delivered(file):
            continue
        days = (history.committed.instant - sent.instant).days
        if days >= OVERDUE_DAYS:
            message = f"sent {sent.utc[:10]}; {file.source} was committed to {days} days later, still without it"
            yield finding_in(file, rules.DELIVERY_UNCOMMITTED, message)


def _misnamed(group: CopyGroup, naming: Naming) -> Iterator[Finding]:
    """A finding on a file name with another sender or recipient than the envelope; only for known names."""
    name, envelope = names.read_stamped_name(group.stem), group.envelope
    said = naming.position_of.get(name.sender or "")
    written = naming.position_of.get(envelope.sender)
    if said is not None and written is not None and said != written:
        message = f'the file name has from "{name.sender}", the envelope "{envelope.sender}"'
        yield finding_in(envelope.file, rules.NAME_DISAGREES, message)
    to = {naming.position_of.get(one, one) for one in envelope.to}
    said = BROADCAST if name.recipient == BROADCAST else naming.position_of.get(name.recipient or "")
    if said is not None and to and said not in to and BROADCAST not in to:
        message = f'the file name has to "{name.recipient}", the envelope "{", ".join(envelope.to)[:80]}"'
        yield finding_in(envelope.file, rules.NAME_DISAGREES, message)
