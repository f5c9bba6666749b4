"""Threads: the rules of SPEC 3 on plain nodes, held against a second reading that is slow and plain to see."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pytest
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


# The second reading


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
def test_every_memo_is_in_exactly_one_thread(nodes: list[ThreadNode]) -> None:
    """No memo is lost and none is shown twice."""
    listed = Counter(entry.ref for entries in threads_of(nodes).values() for entry in entries)
    assert listed == Counter(one.ref for one in nodes)


@given(conversations())
def test_the_walk_holds_each_tree_in_one_stretch(nodes: list[ThreadNode]) -> None:
    """`first` and `last` span exactly a memo and everything below it."""
    forest = grow_forest(nodes)
    naive = Naive(nodes)
    for one in naive.nodes:
        below = {member for member in naive.nodes if one in [member, *naive.ancestors(member)]}
        assert set(forest.order[forest.first[one] : forest.last[one] + 1]) == below


@given(conversations())
def test_edges_between_threads_are_told_on_both_sides(nodes: list[ThreadNode]) -> None:
    """A reply in another thread is named by its parent, and names its parent's thread."""
    naive = Naive(nodes)
    for name, entries in threads_of(nodes).items():
        for entry in entries:
            answered = naive.parent.get(entry.ref)
            before = naive.thread(answered) if answered else name
            after = {naive.thread(child) for child in naive.children(entry.ref)} - {name}
            assert entry.continued_from == (before if before != name else None)
            assert entry.continues == tuple(sorted(after))


# The rules one by one


def test_a_thread_id_is_inherited_from_the_nearest_ancestor() -> None:
    """Below a memo with an id of its own, its id counts and not the root's."""
    names = name_threads(
        grow_forest([node("a", thread="x"), node("b", "a", thread="y"), node("c", "b"), node("d", "a")])
    )
    assert names == {ref("a"): "x", ref("b"): "y", ref("c"): "y", ref("d"): "x"}


def test_without_one_above_the_earliest_of_the_tree_counts() -> None:
    """Not the nearest, and not the first read: the earliest by date, then id."""
    names = name_threads(
        grow_forest(
            [
                node("root"),
                node("b", "root", thread="late", day=5),
                node("c", "root", day=1),
                node("e", "c", thread="early", day=2),
                node("d", "c", thread="also early", day=2),
            ]
        )
    )
    assert names[ref("root")] == names[ref("c")] == "also early"


def test_the_earliest_may_stand_in_another_branch_under_a_ghost() -> None:
    """A tree under a ghost is one tree."""
    ghost = ThreadNode(ref=ref("ghost"), is_ghost=True)
    names = name_threads(grow_forest([ghost, node("a", "ghost", day=1), node("b", "ghost", thread="x", day=2)]))
    assert set(names.values()) == {"x"}


def test_a_thread_id_that_is_a_roots_id_joins_the_root() -> None:
    """Some name a thread after its first memo."""
    assert set(threads_of([node("a"), node("b", thread="a", day=1)])) == {"a"}


def test_memos_of_one_thread_id_are_one_thread_over_several_trees() -> None:
    """Trees stand one after the other, each from depth 0."""
    entries = threads_of([node("a", thread="x"), node("b", "a", day=3), node("c", thread="x", day=1)])["x"]
    assert [(entry.ref[1], entry.depth) for entry in entries] == [("a", 0), ("b", 1), ("c", 0)]


def test_a_note_with_the_id_of_a_memo_is_not_of_its_thread() -> None:
    """Both are roots that fall back on their ids."""
    names = name_threads(grow_forest([node("a"), node("a", kind="note"), node("b", kind="note")]))
    assert names == {ref("a"): "a", ref("a", "note"): "a~note", ref("b", "note"): "b"}


def test_a_circle_is_cut_at_its_earliest_memo() -> None:
    """The memo loses its parent; the others keep theirs."""
    forest = grow_forest([node("a", "c", day=1), node("b", "a", day=0), node("c", "b", day=2), node("d", "c")])
    assert forest.cut == (ref("b"),)
    assert forest.parent == {ref("a"): ref("c"), ref("c"): ref("b"), ref("d"): ref("c")}


def test_a_memo_that_answers_itself_is_a_root() -> None:
    """The smallest circle."""
    assert grow_forest([node("a", "a")]).cut == (ref("a"),)


def test_a_reply_dated_before_its_parent_keeps_its_place() -> None:
    """The tree's order counts, not the date's."""
    entries = threads_of([node("a", day=3), node("b", "a", day=1)])["a"]
    assert [entry.ref[1] for entry in entries] == ["a", "b"]


# Size


def depths(forest: Forest) -> Mapping[str, tuple[ThreadEntry, ...]]:
    """The threads of a forest."""
    return read_threads(forest, name_threads(forest))


def test_a_chain_of_200_000_replies_works() -> None:
    """Nothing recurses on the depth of a conversation."""
    chain = [node("0")] + [node(str(number), str(number - 1), day=number % 7) for number in range(1, MANY)]
    entries = depths(grow_forest(chain))["0"]
    assert [entry.depth for entry in entries] == list(range(MANY))
    assert {entry.indent for entry in entries} == {0}, "a chain is drawn flat"


def test_200_000_replies_to_one_memo_work() -> None:
    """Nothing is quadratic in the number of replies."""
    star = [node("root")] + [node(f"{number:06}", "root", day=1) for number in range(MANY)]
    entries = depths(grow_forest(star))["root"]
    assert [entry.ref[1] for entry in entries[1:]] == [f"{number:06}" for number in range(MANY)]
    assert {entry.indent for entry in entries[1:]} == {1}


def test_a_circle_of_200_000_replies_works() -> None:
    """Neither is anything in the length of a circle."""
    circle = [node(str(number), str((number - 1) % MANY)) for number in range(MANY)]
    assert grow_forest(circle).cut == (ref("0"),)


# In the archive


def members(thread: Thread) -> list[tuple[int, str]]:
    """Depths and ids, in reading order."""
    return [(entry.depth, entry.ref[1]) for entry in thread.entries]


def test_ghosts_are_read_off_their_names() -> None:
    """Date, sender, recipient and subject of a memo that is not in the archive; its replies are one thread."""
    missing = "2026-05-01-0900--director--engineer--is-the-gate-green"
    archive = archive_of(
        envelope("a", in_reply_to=missing), envelope("b", in_reply_to=missing, sent="2026-05-02T09:00:00Z")
    )
    ghost = archive.ghosts[missing]
    assert ghost.date is not None
    assert (ghost.sender, ghost.to, ghost.short_subject) == ("director", "engineer", "Is the gate green")
    assert ghost.date.utc == "2026-05-01T09:00:00Z"
    assert ghost.replies == (ref("a"), ref("b"))
    assert members(archive.threads[missing]) == [(0, missing), (1, "a"), (1, "b")]
    assert memo(archive, "a").ghost_parent == missing and memo(archive, "a").parent is None
    assert [finding.rule.id for finding in archive.findings] == ["ghost", "ghost"]


def test_a_ghost_has_the_id_and_the_thread_that_its_memo_will_have() -> None:
    """When the memo arrives, no URL of the thread changes."""
    reply = envelope("reply", in_reply_to="question")
    before, after = archive_of(reply), archive_of(reply, envelope("question", sent="2026-05-01T08:00:00Z"))
    assert set(before.threads) == set(after.threads) == {"question"}
    assert after.ghosts == {} and memo(after, "reply").parent == ref("question")


def test_a_ghost_of_a_note_is_a_note() -> None:
    """Its page will stand where the note's will."""
    archive = archive_of(envelope("a", in_reply_to="2026-05-01-0900--engineer--file--lessons"))
    assert [ghost.kind for ghost in archive.ghosts.values()] == ["note"]


def test_a_ghost_that_differs_from_a_memo_by_case_alone_gets_another_page() -> None:
    """Two pages in one folder would overwrite each other on some disks."""
    archive = archive_of(envelope("Gate"), envelope("a", in_reply_to="gate"))
    assert set(archive.ghosts) == {"gate~ghost"}


def test_a_cycle_of_memos_is_a_finding() -> None:
    """The earliest of them is shown as the first."""
    archive = archive_of(
        envelope("a", in_reply_to="b", sent="2026-05-02T09:00:00Z"), envelope("b", in_reply_to="a", sent="2026-05-01")
    )
    assert [finding.location.path for finding in findings(archive, "thread-cycle")] == ["memos/b.openthing"]
    assert memo(archive, "b").parent is None and memo(archive, "a").parent == ref("b")
    assert members(archive.threads["b"]) == [(0, "b"), (1, "a")]


@pytest.mark.parametrize(
    ("sent", "answered", "is_odd"),
    [
        ("2026-05-01T09:00:00Z", "2026-05-01T10:00:00Z", True),
        ("2026-05-01T09:00:00-04:00", "2026-05-01T10:00:00Z", False),
        ("2026-05-01", "2026-05-01T10:00:00Z", False),
        ("2026-04-30", "2026-05-01T10:00:00Z", True),
        ("TBD", "2026-05-01T10:00:00Z", False),
    ],
)
def test_a_reply_dated_before_its_parent_is_a_finding(sent: str, answered: str, is_odd: bool) -> None:
    """By the instant, or by the day where nobody wrote an hour; a placeholder tells nothing."""
    archive = archive_of(envelope("a", sent=answered), envelope("b", in_reply_to="a", sent=sent))
    assert bool(findings(archive, "reply-before-parent")) == is_odd
    assert memo(archive, "b").parent == ref("a")


def test_the_name_of_a_thread_is_as_written_and_its_id_is_safe() -> None:
    """White space around it does not count."""
    archive = archive_of(envelope("a", thread_id=" the gate / v2 "), envelope("b", thread_id="the gate / v2"))
    (thread,) = archive.threads.values()
    assert thread.name == "the gate / v2" and "/" not in thread.id
    assert thread.memos == (ref("a"), ref("b"))


def test_thread_ids_that_differ_by_case_are_two_threads_in_two_folders() -> None:
    """The one that was published keeps its folder, whichever comes first by name."""
    old = [envelope("a", thread_id="gate"), envelope("b", thread_id="gate")]
    _, ledger = resolve_facts(*old)
    archive, _ = resolve_facts(*old, envelope("c", thread_id="GATE"), ledger=ledger)
    assert memo(archive, "a").thread == "gate"
    assert memo(archive, "c").thread.startswith("GATE~") and archive.threads[memo(archive, "c").thread].name == "GATE"


def test_the_thread_of_a_collided_root_is_called_by_its_id() -> None:
    """An id with `~` stays as it is."""
    archive = archive_of(envelope("m"), envelope("m", sender="tester", source="other"))
    assert set(archive.threads) == {one[1] for one in archive.artifacts}


def test_continued_threads_name_each_other() -> None:
    """A reply edge between two explicit thread ids merges nothing."""
    archive = archive_of(
        envelope("a", thread_id="plan"),
        envelope("b", in_reply_to="a", thread_id="work"),
        envelope("c", in_reply_to="b"),
    )
    (first,) = archive.threads["plan"].entries
    second, third = archive.threads["work"].entries
    assert first.continues == ("work",) and second.continued_from == "plan"
    assert (third.depth, third.continued_from) == (1, None)


def test_a_reply_to_a_transcript_is_no_ghost() -> None:
    """Transcripts stand outside the tree; the reply links to it, and it back."""
    archive = archive_of(envelope("a", in_reply_to="t"), transcript("t"))
    assert archive.ghosts == {} and findings(archive, "ghost") == []
    assert memo(archive, "a").parent is None and memo(archive, "a").thread == "a"
    assert links(archive, ref("a")) == {"t": ("transcript", "t")}
    named = text_of("x", mentions=("transcripts/engineer/t.openthing",))
    assert len(archive_of(envelope("a", in_reply_to="t", body=named), transcript("t")).artifacts[ref("a")].links) == 1
    assert archive.artifacts[("transcript", "t")].backlinks == (ref("a"),)


def test_notes_thread_like_memos() -> None:
    """A note may follow a note, and answer a memo."""
    archive = archive_of(
        envelope("m"),
        envelope("n", "notes/engineer/n.openthing", kind="note", to="file", in_reply_to="m"),
        envelope("o", "notes/engineer/o.openthing", kind="note", to="file", in_reply_to="n"),
    )
    assert members(archive.threads["m"]) == [(0, "m"), (1, "n"), (2, "o")]


def test_equal_subjects_make_no_thread() -> None:
    """Never group by subject."""
    archive = archive_of(envelope("a", subject="Re: gate"), envelope("b", subject="Re: gate"))
    assert len(archive.threads) == 2
