"""Threads: the rules of SPEC 3 on plain nodes, held against a second reading that is slow and plain to see."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from memosite.archive.model import UNDATED, Thread, ThreadEntry
from memosite.facts.parsed import Kind, Ref
from memosite.resolve.threads import Forest, ThreadNode, grow_forest, name_threads, read_threads
from tests.support.archives import findings, links, memo
from tests.support.facts import archive_of, envelope, resolve_facts, text_of, transcript

MONDAY = dt.datetime(2026, 5, 4, tzinfo=dt.UTC)
MANY = 200_000


def ref(name: str, kind: Kind = "memo") -> Ref:
    """A ref that is short to write."""
    return (kind, name)


def node(
    name: str, parent: str | None = None, *, thread: str | None = None, day: int = 0, kind: Kind = "memo"
) -> ThreadNode:
    """A memo sent some days after Monday."""
    answered = ref(parent) if parent else None
    return ThreadNode(ref=ref(name, kind), parent=answered, thread_id=thread, instant=MONDAY + dt.timedelta(days=day))


def threads_of(nodes: Iterable[ThreadNode]) -> dict[str, tuple[ThreadEntry, ...]]:
    """The threads that nodes make."""
    forest = grow_forest(nodes)
    return read_threads(forest, name_threads(forest))


@st.composite
def conversations(draw: st.DrawFn) -> list[ThreadNode]:
    """A handful of memos, notes and ghosts that answer each other at random, circles included."""
    count = draw(st.integers(1, 10))
    names = [f"m{number}" for number in range(count)]
    parents = st.sampled_from([None, "nobody", *names])
    nodes = []
    for name in names:
        instant = draw(st.sampled_from([MONDAY, MONDAY + dt.timedelta(days=1), MONDAY + dt.timedelta(days=2), UNDATED]))
        if draw(st.integers(0, 5)) == 0:
            nodes.append(ThreadNode(ref=ref(name), instant=instant, is_ghost=True))
            continue
        parent = draw(parents)
        thread = draw(st.sampled_from([None, None, None, "a", "b", "m0"]))
        answered = ref(parent) if parent else None
        nodes.append(ThreadNode(ref=ref(name), parent=answered, thread_id=thread, instant=instant))
    return nodes


class Naive:
    """The rules once more, each by walking wherever it takes to go."""

    def __init__(self, nodes: Sequence[ThreadNode]) -> None:
        self.nodes = {one.ref: one for one in nodes}
        self.parent = {one.ref: one.parent for one in nodes if one.parent in self.nodes and one.parent is not None}
        self.cut = sorted(min(circle, key=self.rank) for circle in self.circles())
        for one in self.cut:
            del self.parent[one]

    def rank(self, one: Ref) -> tuple[dt.datetime, str, str]:
        """Earlier first, then by id."""
        return (self.nodes[one].instant, one[1], one[0])

    def circles(self) -> set[frozenset[Ref]]:
        """The sets of memos that lead back to themselves."""
        found = set()
        for start in self.nodes:
            path = [start]
            for _ in self.nodes:
                if path[-1] in self.parent:
                    path.append(self.parent[path[-1]])
            if start in path[1:]:
                found.add(frozenset(path))
        return found

    def ancestors(self, one: Ref) -> list[Ref]:
        """From the parent up to the root."""
        found = []
        while one in self.parent:
            one = self.parent[one]
            found.append(one)
        return found

    def root(self, one: Ref) -> Ref:
        """The top of its tree."""
        return [one, *self.ancestors(one)][-1]

    def thread(self, one: Ref) -> str:
        """Its own thread id, else its nearest ancestor's, else the tree's earliest, else the root's id."""
        for member in [one, *self.ancestors(one)]:
            if self.nodes[member].thread_id:
                return str(self.nodes[member].thread_id)
        tree = [member for member in self.nodes if self.root(member) == self.root(one)]
        explicit = [member for member in sorted(tree, key=self.rank) if self.nodes[member].thread_id]
        return str(self.nodes[explicit[0]].thread_id) if explicit else self.root(one)[1]

    def children(self, one: Ref) -> list[Ref]:
        """Replies, earliest first."""
        return sorted((child for child, parent in self.parent.items() if parent == one), key=self.rank)

    def walk(self) -> list[Ref]:
        """All trees in reading order; a ghost without a date stands where its first reply does."""

        def below(one: Ref) -> list[Ref]:
            return [one, *(member for child in self.children(one) for member in below(child))]

        def rank_of_root(one: Ref) -> tuple[dt.datetime, str, str]:
            if self.nodes[one].is_ghost and self.nodes[one].instant == UNDATED and self.children(one):
                return (self.rank(self.children(one)[0])[0], one[1], one[0])
            return self.rank(one)

        roots = sorted((one for one in self.nodes if one not in self.parent), key=rank_of_root)
        return [member for root in roots for member in below(root)]

    def depth(self, one: Ref) -> int:
        """How many of its ancestors lead up to it within its thread without a gap."""
        count = 0
        for ancestor in self.ancestors(one):
            if self.thread(ancestor) != self.thread(one):
                break
            count += 1
        return count

    def indent(self, one: Ref) -> int:
        """How many of these have several replies in the thread, so that it is drawn further in."""
        inside = self.ancestors(one)[: self.depth(one)]
        same = [[child for child in self.children(above) if self.thread(child) == self.thread(one)] for above in inside]
        return sum(len(replies) > 1 for replies in same)

    def entries(self) -> dict[str, list[tuple[Ref, int, int]]]:
        """Members of each thread with their depths, in reading order."""
        found: dict[str, list[tuple[Ref, int, int]]] = {}
        for one in self.walk():
            found.setdefault(self.thread(one), []).append((one, self.depth(one), self.indent(one)))
        return found


@given(conversations())
@settings(max_examples=400)
def test_threads_are_as_the_rules_say(nodes: list[ThreadNode]) -> None:
    """Names, members, order and depths are those of the second reading."""
    naive = Naive(nodes)
    forest = grow_forest(nodes)
    assert list(forest.cut) == naive.cut
    assert name_threads(forest) == {one: naive.thread(one) for one in naive.nodes}
    entries = read_threads(forest, name_threads(forest))
    assert {name: [(e.ref, e.depth, e.indent) for e in listed] for name, listed in entries.items()} == naive.entries()
    assert list(entries) == sorted(entries)


@given(conversations(), st.randoms(use_true_random=False))
def test_the_order_of_the_nodes_does_not_matter(nodes: list[ThreadNode], random: "object") -> None:
    """The same memos read in another order make the same threads."""
    shuffled = list(nodes)
    random.shuffle(shuffled)  # type: ignore[attr-defined] # what randoms() gives has it
    assert threads_of(shuffled) == threads_of(nodes)


@given(conversations())
def test_the_walk_holds_each_tree_in_one_stretch_and_edges_are_told_on_both_sides(nodes: list[ThreadNode]) -> None:
    """`first` and `last` span a memo and all below it; a reply in another thread names its parent's."""
    forest = grow_forest(nodes)
    naive = Naive(nodes)
    for one in naive.nodes:
        below = {member for member in naive.nodes if one in [member, *naive.ancestors(member)]}
        assert set(forest.order[forest.first[one] : forest.last[one] + 1]) == below
    naive = Naive(nodes)
    for name, entries in threads_of(nodes).items():
        for entry in entries:
            answered = naive.parent.get(entry.ref)
            before = naive.thread(answered) if answered else name
            after = {naive.thread(child) for child in naive.children(entry.ref)} - {name}
            assert entry.continued_from == (before if before != name else None)
            assert entry.continues == tuple(sorted(after))


def depths(forest: Forest) -> Mapping[str, tuple[ThreadEntry, ...]]:
    """The threads of a forest."""
    return read_threads(forest, name_threads(forest))


def test_threads_of_200_000_replies_work() -> None:
    """Nothing recurses on the depth of a conversation or is quadratic: a chain, a star and a circle."""
    chain = [node("0")] + [node(str(number), str(number - 1), day=number % 7) for number in range(1, MANY)]
    entries = depths(grow_forest(chain))["0"]
    assert [entry.depth for entry in entries] == list(range(MANY))
    assert {entry.indent for entry in entries} == {0}, "a chain is drawn flat"
    star = [node("root")] + [node(f"{number:06}", "root", day=1) for number in range(MANY)]
    entries = depths(grow_forest(star))["root"]
    assert [entry.ref[1] for entry in entries[1:]] == [f"{number:06}" for number in range(MANY)]
    assert {entry.indent for entry in entries[1:]} == {1}
    circle = [node(str(number), str((number - 1) % MANY)) for number in range(MANY)]
    assert grow_forest(circle).cut == (ref("0"),)


def members(thread: Thread) -> list[tuple[int, str]]:
    """Depths and ids, in reading order."""
    return [(entry.depth, entry.ref[1]) for entry in thread.entries]


def test_ghosts_are_read_off_their_names_and_cycles_and_replies_before_their_parents_found() -> None:
    """The earliest is first; by instant, or day where nobody wrote an hour; case makes two threads."""
    for sent, answered, is_odd in [
        ("2026-05-01T09:00:00Z", "2026-05-01T10:00:00Z", True),
        ("2026-05-01T09:00:00-04:00", "2026-05-01T10:00:00Z", False),
        ("2026-05-01", "2026-05-01T10:00:00Z", False),
        ("2026-04-30", "2026-05-01T10:00:00Z", True),
        ("TBD", "2026-05-01T10:00:00Z", False),
    ]:
        archive = archive_of(envelope("a", sent=answered), envelope("b", in_reply_to="a", sent=sent))
        assert bool(findings(archive, "reply-before-parent")) == is_odd, sent
        assert memo(archive, "b").parent == ref("a"), sent
    missing = "2026-05-01-0900--director--engineer--is-the-gate-green"
    archive = archive_of(
        envelope("a", in_reply_to=missing), envelope("b", in_reply_to=missing, sent="2026-05-02T09:00:00Z")
    )
    ghost = archive.ghosts[missing]
    assert ghost.date is not None
    assert (ghost.sender, ghost.to, ghost.short_subject) == ("director", "engineer", "Is the gate green")
    assert ghost.date.utc == "2026-05-01T09:00:00Z" and ghost.replies == (ref("a"), ref("b"))
    assert members(archive.threads[missing]) == [(0, missing), (1, "a"), (1, "b")]
    assert memo(archive, "a").ghost_parent == missing and memo(archive, "a").parent is None
    assert [finding.rule.id for finding in archive.findings] == ["ghost", "ghost"]
    reply = envelope("reply", in_reply_to="question")
    before, after = archive_of(reply), archive_of(reply, envelope("question", sent="2026-05-01T08:00:00Z"))
    assert set(before.threads) == set(after.threads) == {"question"}
    assert after.ghosts == {} and memo(after, "reply").parent == ref("question")
    archive = archive_of(envelope("a", in_reply_to="2026-05-01-0900--engineer--file--lessons"))
    assert [ghost.kind for ghost in archive.ghosts.values()] == ["note"]
    archive = archive_of(envelope("Gate"), envelope("a", in_reply_to="gate"))
    assert set(archive.ghosts) == {"gate~ghost"}
    archive = archive_of(
        envelope("a", in_reply_to="b", sent="2026-05-02T09:00:00Z"), envelope("b", in_reply_to="a", sent="2026-05-01")
    )
    assert [finding.location.path for finding in findings(archive, "thread-cycle")] == ["memos/b.openthing"]
    assert memo(archive, "b").parent is None and memo(archive, "a").parent == ref("b")
    assert members(archive.threads["b"]) == [(0, "b"), (1, "a")]
    old = [envelope("a", thread_id="gate"), envelope("b", thread_id="gate")]
    _, ledger = resolve_facts(*old)
    archive, _ = resolve_facts(*old, envelope("c", thread_id="GATE"), ledger=ledger)
    assert memo(archive, "a").thread == "gate"
    assert memo(archive, "c").thread.startswith("GATE~") and archive.threads[memo(archive, "c").thread].name == "GATE"


def test_the_id_of_a_thread_is_safe_and_a_note_or_transcript_of_that_id_is_not_of_it() -> None:
    """The name is as written; roots fall back on their ids; a reply to a transcript links to it, and it back."""
    archive = archive_of(envelope("a", thread_id=" the gate / v2 "), envelope("b", thread_id="the gate / v2"))
    (thread,) = archive.threads.values()
    assert thread.name == "the gate / v2" and "/" not in thread.id and thread.memos == (ref("a"), ref("b"))
    archive = archive_of(envelope("m"), envelope("m", sender="tester", source="other"))
    assert set(archive.threads) == {one[1] for one in archive.artifacts}
    archive = archive_of(envelope("a", subject="Re: gate"), envelope("b", subject="Re: gate"))
    assert len(archive.threads) == 2
    names = name_threads(grow_forest([node("a"), node("a", kind="note"), node("b", kind="note")]))
    assert names == {ref("a"): "a", ref("a", "note"): "a~note", ref("b", "note"): "b"}
    archive = archive_of(envelope("a", in_reply_to="t"), transcript("t"))
    assert archive.ghosts == {} and findings(archive, "ghost") == []
    assert memo(archive, "a").parent is None and memo(archive, "a").thread == "a"
    assert links(archive, ref("a")) == {"t": ("transcript", "t")}
    named = text_of("x", mentions=("transcripts/engineer/t.openthing",))
    assert len(archive_of(envelope("a", in_reply_to="t", body=named), transcript("t")).artifacts[ref("a")].links) == 1
    assert archive.artifacts[("transcript", "t")].backlinks == (ref("a"),)
    archive = archive_of(
        envelope("m"),
        envelope("n", "notes/engineer/n.openthing", kind="note", to="file", in_reply_to="m"),
        envelope("o", "notes/engineer/o.openthing", kind="note", to="file", in_reply_to="n"),
    )
    assert members(archive.threads["m"]) == [(0, "m"), (1, "n"), (2, "o")]
