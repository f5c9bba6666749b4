"""The sealed log: an append-only file of the published site that tells what its originals were (docs/sealed-log.md).

A JSON object a line, of two kinds:

- `{"v": 1, "kind": "leaf", "n": 12, "month": "2026/05", "id": "memo/…", "path": "memos/…", "sha256": "…", "source":
  "…", "commit": "…"}`: the original at this path got these bytes. A later leaf on a path takes the place of an earlier
  one; if its `sha256` is null, `why` says so: `removed`, `erased`, `withheld`. `redacted` counts the places in which
  something was taken out.
- `{"v": 1, "kind": "month", "month": "2026/05", "leaves": 180, "tree": "…", "previous": "…", "root": "…"}`: the leaves
  since the last such line, up to number 180, are sealed.

A month closes when a leaf follows of a later month than the leaf before it: no clock decides, and a single date in the
far future does not keep all months after it open.

Lines are only appended, with one exception: a hash by which a secret could be guessed is taken out (`why` is then
`not kept`), and all roots from there on are made anew (SPEC 9).
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from memosite.archive.lines import dump_line
from memosite.archive.merkle import NO_ROOT, chained_root, leaf_digest, root_by_path, tree_path, tree_root

SEALS_PATH = "archive/seals.jsonl"
NOT_KEPT = "not kept"
"""Why a leaf has no hash that it once had."""
UNDATED = "undated"
"""The name of a month if none of its leaves has one."""
_WHY = frozenset({"", "removed", "erased", "withheld", NOT_KEPT})
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_PATH = re.compile(r"[^/.\\][^/\\]*+(?:/[^/.\\][^/\\]*+){2,}+")
_MONTH = re.compile(rf"\d{{4}}/(?:0[1-9]|1[0-2])|{UNDATED}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """What the bytes of an original were from then on. `id` is `<kind>/<id>`; `sha256` is "" if `why` says so.

    `month` is "" if it is not known; the leaf then belongs to that of the leaf before it. A leaf that is not in the log
    yet has the number 0, and no `line`.
    """

    id: str
    path: str
    sha256: str = ""
    month: str = ""
    source: str = ""
    commit: str = ""
    redacted: int = 0
    why: str = ""
    number: int = 0
    line: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """The seal on a month: its leaves end with number `leaves`. Roots are in hexadecimal."""

    month: str
    leaves: int
    tree: str
    previous: str
    root: str

    @property
    def expected_root(self) -> str:
        """The root that follows from the rest."""
        return chained_root(self.previous, self.tree, self.month, self.leaves)


Entry = Leaf | Month


@dataclass(frozen=True, slots=True, kw_only=True)
class SealLog:
    """A sealed log: its text, and the lines of it."""

    text: str = ""
    entries: tuple[Entry, ...] = ()

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """All leaves, in order."""
        return tuple(one for one in self.entries if isinstance(one, Leaf))

    @property
    def months(self) -> tuple[Month, ...]:
        """The months that are closed, in order."""
        return tuple(one for one in self.entries if isinstance(one, Month))

    def latest(self) -> dict[str, Leaf]:
        """The last leaf on each path."""
        return {one.path: one for one in self.entries if isinstance(one, Leaf)}

    def with_leaves(self, new: Iterable[Leaf]) -> "SealLog":
        """The log with these leaves appended, and the months closed that they close."""
        growing = _Growing(self)
        for leaf in new:
            growing.add(leaf)
        return growing.log()

    def without_hashes(self, numbers: Collection[int]) -> "SealLog":
        """The log in which these leaves have no hash any more; all months from the first of them on are sealed anew."""
        if not numbers:
            return self
        growing = _Growing(SealLog())
        for one in self.entries:
            if isinstance(one, Month):
                growing.close(one.month)
            elif one.number in numbers:
                growing.append(replace(one, sha256="", source="", commit="", why=NOT_KEPT))
            else:
                growing.append(one)
        return growing.log()


_EMPTY = SealLog()


class _Growing:
    """A log that lines are appended to."""

    def __init__(self, log: SealLog) -> None:
        self._texts = [log.text]
        self._entries = list(log.entries)
        closed = max((at for at, one in enumerate(log.entries, 1) if isinstance(one, Month)), default=0)
        self._root = log.months[-1].root if closed else NO_ROOT
        self._open = [one for one in log.entries[closed:] if isinstance(one, Leaf)]
        self._number = sum(isinstance(one, Leaf) for one in log.entries)
        self._month = next((one.month for one in reversed(log.entries) if isinstance(one, Leaf)), "")

    def add(self, leaf: Leaf) -> None:
        """Append a leaf, and before it the seal on the month that it closes."""
        month = leaf.month or self._month
        if month > self._month and self._open:
            self.close(self._month or UNDATED)
        self.append(replace(leaf, month=month))

    def append(self, leaf: Leaf) -> None:
        """Append a leaf as it is."""
        self._number += 1
        numbered = replace(leaf, number=self._number)
        numbered = replace(numbered, line=dump_line(_leaf_fields(numbered)))
        self._open.append(numbered)
        self._month = numbered.month
        self._write(numbered, numbered.line)

    def close(self, name: str) -> None:
        """Seal the leaves since the last seal."""
        tree = tree_root([leaf_digest(one.line) for one in self._open]).hex()
        root = chained_root(self._root, tree, name, self._number)
        sealed = Month(month=name, leaves=self._number, tree=tree, previous=self._root, root=root)
        self._root, self._open = root, []
        self._write(sealed, dump_line(month_fields(sealed)))

    def _write(self, entry: Entry, line: str) -> None:
        self._entries.append(entry)
        self._texts.append(f"{line}\n")

    def log(self) -> SealLog:
        """The log as it is now."""
        return SealLog(text="".join(self._texts), entries=tuple(self._entries))


def _leaf_fields(leaf: Leaf) -> dict[str, object]:
    fields: dict[str, object] = {"v": 1, "kind": "leaf", "n": leaf.number, "month": leaf.month or None}
    fields |= {"id": leaf.id, "path": leaf.path, "sha256": leaf.sha256 or None}
    if leaf.commit:
        fields |= {"source": leaf.source, "commit": leaf.commit}
    if leaf.redacted:
        fields["redacted"] = leaf.redacted
    if leaf.why:
        fields["why"] = leaf.why
    return fields


def month_fields(month: Month) -> dict[str, object]:
    """The line of a month, as its fields."""
    fields: dict[str, object] = {"v": 1, "kind": "month", "month": month.month, "leaves": month.leaves}
    return fields | {"tree": month.tree, "previous": month.previous, "root": month.root}


# Reading


def parse_seals(text: str, begun: SealLog = _EMPTY) -> SealLog:
    """Read a log; what was read of it when it was shorter has `begun` it, and is not read again.

    Raises `ValueError` for a line that does not belong in one; the text says which and what is wrong.
    """
    if not text.startswith(begun.text):
        begun = _EMPTY
    entries = list(begun.entries)
    number = len(begun.leaves)
    rest = text[len(begun.text) :]
    for at, line in enumerate(rest.removesuffix("\n").split("\n") if rest else (), len(entries) + 1):
        try:
            entry = _entry(line)
            if isinstance(entry, Leaf):
                number += 1
                if entry.number != number:
                    raise ValueError(f"found leaf {entry.number}, expected leaf {number}")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            found = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            raise ValueError(f"line {at}: {found[:200]}") from error
        entries.append(entry)
    return SealLog(text=text if not text or text.endswith("\n") else f"{text}\n", entries=tuple(entries))


def _entry(line: str) -> Entry:
    said: Any = json.loads(line)
    if said["kind"] == "leaf":
        return _leaf(said, line)
    if said["kind"] == "month":
        return Month(
            month=_month(said["month"]),
            leaves=_count(said["leaves"]),
            tree=_hash(said["tree"]),
            previous=_hash(said["previous"]),
            root=_hash(said["root"]),
        )
    raise ValueError(f"found the kind {said['kind']!r}, expected leaf or month")


def _leaf(said: Mapping[str, Any], line: str) -> Leaf:
    why, sha256, month = said.get("why", ""), said["sha256"], said["month"]
    if why not in _WHY or (sha256 is None) != bool(why):
        raise ValueError(f"found the hash {sha256!r} and the reason {why!r}, expected one of the two")
    return Leaf(
        number=said["n"],
        month="" if month is None else _month(month),
        id=_text(said["id"]),
        path=_path(_text(said["path"])),
        sha256="" if sha256 is None else _hash(sha256),
        source=_text(said.get("source", "")),
        commit=_text(said.get("commit", "")),
        redacted=_count(said.get("redacted", 0)),
        why=why,
        line=line,
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"found {value!r}, expected a string")
    return value


def _month(value: object) -> str:
    if not isinstance(value, str) or not _MONTH.fullmatch(value):
        raise ValueError(f"found the month {value!r}, expected one such as 2026/05")
    return value


def _count(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError(f"found {value!r}, expected a number")
    return value


def _hash(value: object) -> str:
    if not is_hash(value):
        raise ValueError(f"found {value!r}, expected 64 hexadecimal digits")
    return str(value)


def is_hash(value: object) -> bool:
    """Whether this is a SHA-256 in hexadecimal."""
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def _path(path: str) -> str:
    """The path of an original. What is published is not trusted: it may lead nowhere else."""
    if not _PATH.fullmatch(path) or not path.isprintable():
        raise ValueError(f"found the path {path!r}, expected that of an original")
    return path


# Inclusion proofs


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """That a leaf is in a log with a root: its line, its place in its month, and the months from there to the root."""

    line: str
    index: int
    size: int
    path: tuple[str, ...]
    months: tuple[Month, ...]

    @property
    def root(self) -> str:
        """The root that it leads to, if it holds."""
        return self.months[-1].root

    def as_fields(self) -> dict[str, object]:
        """The proof as it is written as JSON."""
        months = [month_fields(one) for one in self.months]
        return {"leaf": self.line, "index": self.index, "size": self.size, "path": list(self.path), "months": months}


def prove(log: SealLog, number: int) -> Proof | None:
    """The proof of a leaf by its number, up to the newest root; None as long as its month is not closed."""
    begin = 0
    for at, month in enumerate(log.months):
        if number <= month.leaves:
            lines = [one.line for one in log.leaves[begin : month.leaves]]
            index = number - begin - 1
            path = tree_path([leaf_digest(line) for line in lines], index)
            return Proof(
                line=lines[index],
                index=index,
                size=len(lines),
                path=tuple(one.hex() for one in path),
                months=log.months[at:],
            )
        begin = month.leaves
    return None


def is_proven(proof: Proof, root: str) -> bool:
    """Whether a proof leads from its leaf to this root."""
    tree = root_by_path(leaf_digest(proof.line), proof.index, proof.size, [bytes.fromhex(one) for one in proof.path])
    if tree is None or not proof.months or tree.hex() != proof.months[0].tree:
        return False
    return _is_chain(proof.months) and proof.root == root


def _is_chain(months: Sequence[Month]) -> bool:
    return all(one.root == one.expected_root for one in months) and all(_follow(months))


def _follow(months: Sequence[Month]) -> Iterator[bool]:
    return (after.previous == before.root for before, after in pairwise(months))
