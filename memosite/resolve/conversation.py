"""Builds reply trees and threads of memos and notes, with findings on broken replies (SPEC 3)."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from memosite.archive.ledger import Ledger
from memosite.archive.model import UNDATED, Ghost, Thread, ThreadEntry
from memosite.facts import rules
from memosite.facts.findings import Finding, Location, Rule
from memosite.facts.names import make_id, read_stamped_name, short_hash, short_subject
from memosite.facts.parsed import Envelope, LineOf, Ref
from memosite.resolve.identity import CopyGroup
from memosite.resolve.references import MESSAGES, ghost_refs
from memosite.resolve.replies import Replies
from memosite.resolve.threads import Forest, ThreadNode, grow_forest, name_threads, read_threads
from memosite.run.recall import Recall

_DAY = len("2026-05-01")


class ThreadBuilder:
    """The reply trees and threads of all memos and notes.

    `parents` and `ghost_parents` map a reply to what it answers; `thread_of` gives the id of the thread of each memo
    and ghost, `ghost_refs` the ref of each ghost by its stem.
    """

    def __init__(
        self, groups: Iterable[CopyGroup], replies: Replies, ledger: Ledger, line_of: LineOf, *, recall: Recall
    ) -> None:
        """Join the groups that are messages."""
        self._recall = recall
        messages = [group for group in groups if group.kind in MESSAGES]
        self._by_ref = {group.ref: group for group in messages}
        self.ghost_refs = ghost_refs(replies.missing, self._by_ref)
        self.ghost_parents = {ref: self.ghost_refs[stem] for ref, stem in replies.missing.items()}
        parents = {**replies.parents, **self.ghost_parents}
        node = recall.calls(_node)
        nodes = [node(ref, ref, group, parents.get(ref)) for ref, group in self._by_ref.items()]
        nodes += [_ghost_node(stem, ref) for stem, ref in self.ghost_refs.items()]
        self.forest: Forest = grow_forest(nodes)
        self.parents = {ref: parent for ref, parent in replies.parents.items() if ref in self.forest.parent}
        keys = name_threads(self.forest)
        self._ids = _thread_ids(set(keys.values()), ledger)
        self.thread_of = {ref: self._ids[key] for ref, key in keys.items()}
        self.findings = tuple(self._find(replies.missing, line_of))

    def threads(self) -> dict[str, Thread]:
        """All threads by id. A thread's name is its explicit thread id as written by its first memo, else its id."""
        entries = read_threads(self.forest, self.thread_of)
        found = {}
        thread = self._recall.calls(_thread)
        for key, id_ in self._ids.items():
            written = (self._by_ref[entry.ref].envelope.thread_id for entry in entries[id_] if not entry.is_ghost)
            name = next((text.strip() for text in written if text and make_id(_clean(text)) == key), id_)
            found[id_] = thread(id_, id_, name, entries[id_])
        return dict(sorted(found.items()))

    def ghosts(self) -> dict[str, Ghost]:
        """All ghosts by id."""
        found = {}
        for stem, ref in sorted(self.ghost_refs.items(), key=lambda item: item[1][1]):
            name = read_stamped_name(stem)
            found[ref[1]] = Ghost(
                id=ref[1],
                kind=ref[0],
                stem=stem,
                short_subject=short_subject("", stem=stem),
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
                message = f'sent "{reply.sent[:60]}", before its parent ("{answered.sent[:60]}")'
                yield self._finding(rules.REPLY_BEFORE_PARENT, ref, message, line_of, key="sent")

    def _finding(self, rule: Rule, ref: Ref, message: str, line_of: LineOf, key: str = "in_reply_to") -> Finding:
        file = self._speaker(ref, key).file
        lines = (line_of(file, name) for name in (key, f"x.memo.{key}", f"metadata.{key}"))
        where = Location(source=file.source, path=file.path, line=next((line for line in lines if line), None))
        return Finding(rule=rule, location=where, message=message)

    def _speaker(self, ref: Ref, key: str) -> Envelope:
        """The envelope that a finding is about: the first of the variants that names a parent, or the one shown."""
        envelopes = [variant.envelope for variant in self._by_ref[ref].variants]
        if key == "in_reply_to":
            return next((envelope for envelope in envelopes if envelope.in_reply_to), envelopes[0])
        return envelopes[0]


def _thread(id_: str, name: str, entries: tuple[ThreadEntry, ...]) -> Thread:
    return Thread(id=id_, name=name, entries=entries)


def _node(ref: Ref, group: CopyGroup, parent: Ref | None) -> ThreadNode:
    written = _clean(group.envelope.thread_id or "")
    return ThreadNode(ref=ref, parent=parent, thread_id=make_id(written) if written else None, instant=group.sent_at)


def _clean(thread_id: str) -> str:
    return unicodedata.normalize("NFC", thread_id.strip())


def _ghost_node(stem: str, ref: Ref) -> ThreadNode:
    stamp = read_stamped_name(stem).date
    return ThreadNode(ref=ref, instant=stamp.instant if stamp else UNDATED, is_ghost=True)


def _thread_ids(keys: set[str], ledger: Ledger) -> dict[str, str]:
    """An id for each thread. Of two that differ only by case, and would share a folder, the published one keeps it."""
    taken: dict[str, str] = {}
    for id_, _ in ledger.threads:
        taken.setdefault(id_.casefold(), id_)
    ids: dict[str, str] = {}
    for key in sorted(keys):
        owner = taken.setdefault(key.casefold(), key)
        ids[key] = key if owner == key else f"{key}~{short_hash(key)}"
    return ids


def _is_before(reply: CopyGroup, parent: CopyGroup) -> bool:
    """Whether a reply was sent before its parent; where only a day is given, by days."""
    if UNDATED in {reply.instant, parent.instant}:
        return False
    if min(len(reply.sent), len(parent.sent)) <= _DAY:
        return reply.instant.date() < parent.instant.date()
    return reply.instant < parent.instant
