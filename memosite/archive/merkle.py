"""Hashes of the sealed log: of leaves, of the trees of months, and of the chain of roots (docs/sealed-log.md).

Trees are those of RFC 6962, 2.1. Each kind of input begins with a byte of its own, so that none can pass for another:
0 a leaf, 1 two nodes of a tree, 2 a month in the chain.
"""

import hashlib
from collections.abc import Sequence

NO_ROOT = "0" * 64
"""What the first month of a log has in the place of the root before it."""


def leaf_digest(line: str) -> bytes:
    """The hash of a leaf: of its line in the log, without the line feed."""
    return hashlib.sha256(b"\0" + line.encode("utf-8", "replace")).digest()


def tree_root(leaves: Sequence[bytes]) -> bytes:
    """The root of the tree over these hashes of leaves."""
    level = list(leaves) or [hashlib.sha256(b"").digest()]
    while len(level) > 1:
        level = _above(level)
    return level[0]


def tree_path(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """The inclusion proof of a leaf: the hashes beside its way to the root, from the lowest."""
    level, path = list(leaves), []
    while len(level) > 1:
        if index ^ 1 < len(level):
            path.append(level[index ^ 1])
        level, index = _above(level), index >> 1
    return tuple(path)


def root_by_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root that an inclusion proof leads to, in a tree of so many leaves; None if it is no proof of that shape."""
    left = list(path)
    while size > 1:
        if index ^ 1 < size:
            if not left:
                return None
            beside = left.pop(0)
            leaf = _node(beside, leaf) if index & 1 else _node(leaf, beside)
        index, size = index >> 1, (size + 1) >> 1
    return None if left or index else leaf


def chained_root(previous: str, tree: str, month: str, leaves: int) -> str:
    """The root of a month: over the root before it, the root of its tree, its name, and the leaves up to its end."""
    return hashlib.sha256(b"\2" + f"{previous} {tree} {month} {leaves}".encode()).hexdigest()


def _above(level: Sequence[bytes]) -> list[bytes]:
    pairs = [_node(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
    return [*pairs, level[-1]] if len(level) % 2 else pairs


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()
