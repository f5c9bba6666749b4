"""Keeps a thread together that lost members: it is named by its earliest memo that is left (SPEC 9, audience)."""

from collections.abc import Callable, Iterator, Mapping, Set

from memosite.archive.model import Archive, Memo
from memosite.facts.parsed import Ref
from memosite.formats.system import FilePlace


def thread_ids(archive: Archive, hidden: Set[Ref], is_hidden_name: Callable[[str], bool]) -> dict[FilePlace, str]:
    """The thread ids that envelopes need, by file, so that what is left of each thread stays one."""
    found: dict[FilePlace, str] = {}
    for thread in archive.threads.values():
        left = [ref for ref in thread.memos if ref not in hidden]
        if len(left) > 1 and len(left) < len(thread.memos):
            for memo, name in _named(archive, left, is_hidden_name):
                found |= {(copy.file.source, copy.file.path): name for copy in memo.copies}
    return found


def _named(archive: Archive, left: list[Ref], is_hidden_name: Callable[[str], bool]) -> Iterator[tuple[Memo, str]]:
    """The memos that need a thread id: of each tree that is left the root, unless the thread is named after it."""
    memos = [memo for ref in left if isinstance(memo := archive.artifacts[ref], Memo)]
    memos.sort(key=lambda memo: memo.sort_key)
    by_ref = {memo.ref: memo for memo in memos}
    trees: dict[object, list[Memo]] = {}
    known: dict[Ref, object] = {}
    for memo in memos:
        trees.setdefault(_tree_of(memo, by_ref, known), []).append(memo)
    if len(trees) == 1:  # one tree stays one thread by itself
        return

    def written(memo: Memo) -> str | None:
        name = memo.variants[0].envelope.thread_id
        return name if name and name.strip() and not is_hidden_name(name) else None

    name = next((written(memo) for memo in memos if written(memo)), None) or memos[0].id
    for tree in trees.values():
        if any(map(written, tree)):  # it is the name of the whole tree
            continue
        for memo in tree:
            if memo.parent not in by_ref and not (memo is memos[0] and name == memo.id):
                yield memo, name


def _tree_of(memo: Memo, by_ref: Mapping[Ref, Memo], known: dict[Ref, object]) -> object:
    """What the tree of replies that a memo is in begins with: a memo, or one that is missing."""
    passed = []
    tree: object = None
    while tree is None:
        passed.append(memo.ref)
        parent = by_ref.get(memo.parent) if memo.parent else None
        if memo.ref in known:
            tree = known[memo.ref]
        elif parent is None:
            tree = memo.ghost_parent or memo.ref
        else:
            memo = parent
    known.update(dict.fromkeys(passed, tree))
    return tree
