"""Follows inclusion proofs, as whoever is shown one would (docs/sealed-log.md)."""

import hashlib
from collections.abc import Sequence
from itertools import pairwise

from memosite.archive.seals import Proof, leaf_digest


def root_by_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root that an inclusion proof leads to, in a tree of so many leaves; None if it is no proof of that shape."""
    left = list(path)
    while size > 1:
        if index ^ 1 < size:
            if not left:
                return None
            beside = left.pop(0)
            pair = beside + leaf if index & 1 else leaf + beside
            leaf = hashlib.sha256(b"\1" + pair).digest()
        index, size = index >> 1, (size + 1) >> 1
    return None if left or index else leaf


def is_proven(proof: Proof, root: str) -> bool:
    """Whether a proof leads from its leaf to this root."""
    tree = root_by_path(leaf_digest(proof.line), proof.index, proof.size, [bytes.fromhex(one) for one in proof.path])
    if tree is None or not proof.months or tree.hex() != proof.months[0].tree:
        return False
    is_linked = all(after.previous == before.root for before, after in pairwise(proof.months))
    return is_linked and all(month.root == month.expected_root for month in proof.months) and proof.root == root
