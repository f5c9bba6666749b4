"""Keeps a thread together that lost members: it is named by its earliest memo that is left (SPEC 9, audience)."""

from collections.abc import Callable, Iterator, Set

from memosite.archive.model import Archive, Memo
from memosite.facts.parsed import Ref
from memosite.formats.system import FilePlace


def thread_ids(archive: Archive, hidden: Set[Ref], is_hidden_name: Callable[[str], bool]) -> dict[FilePlace, str]:
    """The thread ids that envelopes need, by file, so that what is left of each thread stays one."""
    found: dict[FilePlace, str] = {}
    for thread in archive.threads.values():
        left = [ref for ref in thread.memos if ref not in hidden]
        if len(left) > 1 and len(left) < len(thread.memos):
            for memo, name in _named(archive, left, hidden, is_hidden_name):
                found |= {(copy.file.source, copy.file.path): name for copy in memo.copies}
    return found


def _named(
    archive: Archive, left: list[Ref], hidden: Set[Ref], is_hidden_name: Callable[[str], bool]
) -> Iterator[tuple[Memo, str]]:
    """The memos that need a thread id: of each tree that is left the root, unless the thread is named after it."""
    memos = [memo for ref in left if isinstance(memo := archive.artifacts[ref], Memo)]
    memos.sort(key=lambda memo: memo.sort_key)
    members = {memo.ref for memo in memos}

    def is_root(memo: Memo) -> bool:
        return memo.parent is None or memo.parent in hidden or memo.parent not in members

    def written(memo: Memo) -> str | None:
        name = memo.variants[0].envelope.thread_id
        return name if name and name.strip() and not is_hidden_name(name) else None

    roots = [memo for memo in memos if is_root(memo)]
    trees = {(memo.ghost_parent or "", "" if memo.ghost_parent else memo.ref) for memo in roots}
    if len(trees) < 2:
        return
    name = next((written(memo) for memo in memos if written(memo)), None) or memos[0].id
    for memo in roots:
        if written(memo) is None and not (memo is memos[0] and name == memo.id):
            yield memo, name
