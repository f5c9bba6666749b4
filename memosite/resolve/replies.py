"""Resolves references: what memos and notes answer, and which memos they supersede (SPEC 3, references)."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import NamedTuple

from memosite.archive.model import UNDATED
from memosite.facts import rules
from memosite.facts.findings import Finding, Location, Rule
from memosite.facts.names import make_id, read_reference
from memosite.facts.parsed import BROADCAST, Envelope, FileFacts, LineOf, Ref
from memosite.facts.references import NAMES, Name, read_names, whole_name
from memosite.resolve.identity import CopyGroup
from memosite.resolve.positions import Naming, recipients_of
from memosite.resolve.references import MESSAGES, NameIndex

FindFile = Callable[[str, FileFacts], Ref | None]
"""The artifact of a path, or of a URL of a forge, as written in a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
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
    """A name and the artifact that it stands for, if that is in the archive."""

    name: Name
    to: Ref | None


class _Answer(NamedTuple):
    """What one reference means: the parent, or the stem of one that is missing; and what else it names.

    `told` are those of `linked` that it names outside of parentheses.
    """

    parent: Ref | None
    missing: str | None
    linked: tuple[Ref, ...]
    told: tuple[Ref, ...]


def resolve_replies(
    groups: Collection[CopyGroup],
    index: NameIndex,
    naming: Naming,
    find_file: FindFile,
    line_of: LineOf,
    *,
    ghosts: Collection[str] = (),
) -> Replies:
    """Resolve the references of memos and notes. `ghosts` are the ids of those published so far."""
    return _Resolver(groups, index, naming, find_file, line_of).resolve(frozenset(ghosts))


class _Resolver:
    def __init__(
        self, groups: Collection[CopyGroup], index: NameIndex, naming: Naming, find_file: FindFile, line_of: LineOf
    ) -> None:
        self._messages = {group.ref: group for group in groups if group.kind in MESSAGES}
        self._index = index
        self._naming = naming
        self._find_file = find_file
        self._line_of = line_of
        self._replies = Replies()

    def resolve(self, ghosts: frozenset[str]) -> Replies:
        """Resolve all references."""
        for group in self._messages.values():
            for variant in group.variants:  # the first that says something counts
                meanings = self._meanings(group, variant.envelope, variant.envelope.in_reply_to)
                if meanings:
                    self._answer(group, variant.envelope, meanings, ghosts)
                    break
            self._supersede(group)
        return self._replies

    def _answer(
        self, group: CopyGroup, envelope: Envelope, meanings: tuple[_Meaning, ...], ghosts: frozenset[str]
    ) -> None:
        answer, found, ref = read_answer(meanings), self._replies, group.ref
        if answer.parent is not None:
            found.parents[ref] = answer.parent
        elif answer.missing is not None:
            found.missing[ref] = answer.missing
        if answer.linked:
            found.linked[ref] = answer.linked
        also = tuple(to for to in answer.told if self._was_sent_to(to, envelope.sender))
        if also:
            found.also[ref] = also
        former = read_reference(envelope.in_reply_to[0]) if ghosts else None
        if former is not None and make_id(former) in ghosts:
            named = next((one.to for one in meanings if one.to and one.name.stem == former), None)
            now = named or answer.parent or next(iter(answer.linked), None) or answer.missing
            if now is not None:
                found.former.setdefault(make_id(former), now)

    def _supersede(self, group: CopyGroup) -> None:
        """Note what a memo supersedes, and link what else it says it does."""
        for variant in group.variants:
            meanings = self._meanings(group, variant.envelope, variant.envelope.supersedes, key="supersedes")
            named = tuple(dict.fromkeys(one.to for one in meanings if one.to is not None))
            if not named:
                continue
            ref, found = group.ref, self._replies
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
        found = (one for value in values for one in self._in_value(group, envelope, value, key))
        return tuple(one for one in islice(found, NAMES) if one.to != group.ref)

    def _in_value(self, group: CopyGroup, envelope: Envelope, value: str, key: str) -> Iterator[_Meaning]:
        whole = whole_name(value)
        to = self._spoken(whole, group, envelope.file) if whole else None
        if to is not None:
            yield _Meaning(Name(form="file", written=value, stem=whole), to)
            return
        for name in read_names(value):
            if name.form != "stamp":
                to = self._find(name, group, envelope.file)
                # A missing memo may have a name with white space: then the value is that name alone.
                is_whole = to is None and name.form == "stamped" and read_reference(value) == whole
                yield _Meaning(replace(name, stem=whole) if is_whole else name, to)
            elif (to := self._stamped(name.stem, group, envelope, key)) is not None:
                yield _Meaning(name, to)

    def _find(self, name: Name, group: CopyGroup, file: FileFacts) -> Ref | None:
        is_url, is_document = "://" in name.written, name.form == "document"
        at_url = self._find_file(name.written, file) if is_url else None
        if at_url is not None:
            return at_url
        document = self._find_file(name.written, file) if is_document and not is_url else None
        if document is not None or (is_document and is_url):
            return document
        to = self._spoken(name.stem, group, file)
        return to if to or is_document else self._find_file(f"{name.written}.md", file)

    def _spoken(self, stem: str, group: CopyGroup, file: FileFacts) -> Ref | None:
        """The memo, note or transcript of a file's name; messages come first."""
        find = partial(self._index.find, stem, source=file.source, but=group.ref)
        return find(kinds=MESSAGES) or find(kinds=("transcript",))

    def _stamped(self, stamp: str, group: CopyGroup, envelope: Envelope, key: str) -> Ref | None:
        """The memo of a bare stamp: the only one, or the one in the same source between the same two positions."""
        named = self._index.stamped(stamp)
        others = [one for one in named if one.ref != group.ref]
        if named and not others:
            return group.ref
        if len(others) > 1:
            others = [one for one in others if self._is_near(one, envelope)] or others
        if len(others) == 1:
            return others[0].ref
        count = f"the names of {len(others)} memos begin" if others else "no memo's name begins"
        self._note(rules.STAMP_UNCLEAR, envelope.file, f'{count} with "{stamp}", expected one', key)
        return None

    def _is_near(self, other: CopyGroup, envelope: Envelope) -> bool:
        if all(copy.envelope.file.source != envelope.file.source for copy in other.copies):
            return False
        (sender, to), (other_sender, other_to) = self._ends(envelope), self._ends(other.envelope)
        return (sender == other_sender and not to.isdisjoint(other_to)) or (sender in other_to and other_sender in to)

    def _ends(self, envelope: Envelope) -> tuple[str, frozenset[str]]:
        sender = self._naming.position_of.get(envelope.sender, envelope.sender)
        return sender, frozenset(recipients_of(envelope, self._naming))

    def _was_sent_to(self, ref: Ref, sender: str) -> bool:
        """Whether a memo was sent to this sender, by name or to everybody."""
        if ref[0] != "memo" or ref not in self._messages:
            return False
        position = self._naming.position_of.get(sender)
        asker, recipients = self._ends(self._messages[ref].envelope)
        named = {position, self._naming.union_of.get(position or "")} - {None}
        return not named.isdisjoint(recipients) or (BROADCAST in recipients and position not in {None, asker})

    def _is_earlier_of_same_sender(self, ref: Ref, group: CopyGroup) -> bool:
        other = self._messages.get(ref)
        if other is None or (other.kind, group.kind) != ("memo", "memo"):
            return False
        is_same = self._ends(other.envelope)[0] == self._ends(group.envelope)[0]
        return is_same and other.sent_at < group.sent_at != UNDATED

    def _note(self, rule: Rule, file: FileFacts, message: str, key: str) -> None:
        lines = (self._line_of(file, name) for name in (key, f"x.memo.{key}", f"metadata.{key}"))
        where = Location(source=file.source, path=file.path, line=next((line for line in lines if line), None))
        self._replies.findings.append(Finding(rule=rule, location=where, message=message))


def read_answer(meanings: Iterable[_Meaning]) -> _Answer:
    """What a reference means: its parent is the first name that is a memo or note.

    A whole stamped name before that one which is not in the archive is the parent, as a ghost; if no name is a memo,
    the first that could be one is.
    """
    parent: Ref | None = None
    ghost: str | None = None
    guess: str | None = None
    others: list[tuple[Ref, bool]] = []
    for name, to in meanings:
        is_open = parent is None and ghost is None
        if to is None:
            ghost = name.stem if is_open and name.form == "stamped" else ghost
            guess = guess or (name.stem if name.form == "file" else None)
        elif is_open and to[0] in MESSAGES:
            parent = to
        else:
            others.append((to, name.is_aside))
    linked = tuple(dict.fromkeys(to for to, _ in others if to != parent))
    told = {to for to, is_aside in others if not is_aside}
    return _Answer(parent, ghost if parent or ghost else guess, linked, tuple(to for to in linked if to in told))


def inverse(named: Mapping[Ref, tuple[Ref, ...]]) -> dict[Ref, tuple[Ref, ...]]:
    """For each artifact those that name it, in order of kind and id."""
    found: dict[Ref, list[Ref]] = defaultdict(list)
    for ref in sorted(named):
        for to in named[ref]:
            found[to].append(ref)
    return {to: tuple(refs) for to, refs in found.items()}
