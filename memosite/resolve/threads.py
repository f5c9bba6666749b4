"""Threads: memos joined by replies and thread ids, in reading order (SPEC 3, threads).

Works on plain nodes, not on memos, so that the rules can be tested alone. Nothing here recurses on the
depth of a conversation: chains of 200,000 replies are fine.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memosite.archive.model import UNDATED, ThreadEntry
from memosite.facts.parsed import Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadNode:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
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
    depth: Mapping[Ref, int]
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
    depth: dict[Ref, int] = {}
    roots = [ref for ref in by_ref if ref not in parent]
    roots.sort(key=lambda ref: _rank_of_tree(by_ref, children, ref))
    pending = roots[::-1]
    while pending:
        ref = pending.pop()
        first[ref] = len(order)
        depth[ref] = depth[parent[ref]] + 1 if ref in parent else 0
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
        depth=depth,
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
            circle = path[path.index(ref) :]
            earliest = min(circle, key=lambda member: nodes[member].rank)
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
