"""The sealed log: an append-only file of the published site that tells what its originals were (docs/sealed-log.md).

A JSON object a line, of two kinds:

- `{"v": 1, "kind": "leaf", "n": 12, "month": "2026/05", "id": "memo/…", "path": "memos/…", "sha256": "…", "source":
  "…", "commit": "…"}`: the original at this path got these bytes. A later leaf on a path takes the place of an earlier
  one; if its `sha256` is null, `why` says so: `removed`, `erased`, `withheld`. `redacted` counts the places in which
  something was taken out.
- `{"v": 1, "kind": "month", "month": "2026/05", "leaves": 180, "tree": "…", "previous": "…", "root": "…"}`: the leaves
  since the last such line, up to number 180, are sealed.

A month closes when a leaf follows of a later month than the leaf before it: no clock decides, and a single date in the
far future does not keep all months after it open. Its leaves are those of a tree of RFC 6962, 2.1, and its root is
made of that tree and of the root before it. Each kind of input to a hash begins with a byte of its own, so that none
can pass for another: 0 a leaf, 1 two nodes of a tree, 2 a month in the chain.

Lines are only appended, with one exception: a hash by which a secret could be guessed is taken out (`why` is then
`not kept`), and all roots from there on are made anew (SPEC 9).
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from memosite.archive.lines import dump_line
from memosite.facts.characters import expect_text
from memosite.facts.patterns import regex
from memosite.facts.texts import listed
from memosite.facts.values import Value, as_dict, replace

# Hashes of the sealed log: of leaves, of the trees of months, and of the chain of roots (docs/sealed-log.md).


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


def chained_root(previous: str, tree: str, month: str, leaves: int) -> str:
    """The root of a month: over the root before it, the root of its tree, its name, and the leaves up to its end."""
    return hashlib.sha256(b"\2" + f"{previous} {tree} {month} {leaves}".encode()).hexdigest()


def _above(level: Sequence[bytes]) -> list[bytes]:
    pairs = [_node(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
    return [*pairs, level[-1]] if len(level) % 2 else pairs


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


# The log: its lines, and what is proved with it.


SEALS_PATH = "archive/seals.jsonl"


NOT_KEPT = "not kept"
"""Why a leaf has no hash that it once had."""


UNDATED = "undated"
"""The name of a month if none of its leaves has one."""


_WHY = frozenset({"", "removed", "erased", "withheld", NOT_KEPT})


_HASH = regex(r"[0-9a-f]{64}", re.ASCII)


_PATH = regex(r"[^/.\\][^/\\]*+(?>(?:/[^/.\\][^/\\]*+){2,})")


_MONTH = regex(rf"\d{{4}}/(?:0[1-9]|1[0-2])|{UNDATED}", re.ASCII)


class Leaf(Value):
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


class Month(Value):
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


class SealLog(Value):
    """A sealed log: its text, and the lines of it."""

    text: str = ""
    entries: tuple[Entry, ...] = ()

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """All leaves, in order."""
        return tuple(entry for entry in self.entries if isinstance(entry, Leaf))

    @property
    def months(self) -> tuple[Month, ...]:
        """The months that are closed, in order."""
        return tuple(entry for entry in self.entries if isinstance(entry, Month))

    def latest(self) -> dict[str, Leaf]:
        """The last leaf on each path."""
        return {entry.path: entry for entry in self.entries if isinstance(entry, Leaf)}

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
        for entry in self.entries:
            if isinstance(entry, Month):
                growing.close(entry.month)
            elif entry.number in numbers:
                growing.append(replace(entry, sha256="", source="", commit="", why=NOT_KEPT))
            else:
                growing.append(entry)
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
        self._number = sum(isinstance(entry, Leaf) for entry in log.entries)
        self._month = next((entry.month for entry in reversed(log.entries) if isinstance(entry, Leaf)), "")

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
        tree = tree_root([leaf_digest(leaf.line) for leaf in self._open]).hex()
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
    return {"v": 1, "kind": "month", **as_dict(month)}


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
        id=expect_text(said["id"]),
        path=_path(expect_text(said["path"])),
        sha256="" if sha256 is None else _hash(sha256),
        source=expect_text(said.get("source", "")),
        commit=expect_text(said.get("commit", "")),
        redacted=_count(said.get("redacted", 0)),
        why=why,
        line=line,
    )


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


class Proof(Value):
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
        months = [month_fields(month) for month in self.months]
        return {"leaf": self.line, "index": self.index, "size": self.size, "path": list(self.path), "months": months}


def prove(log: SealLog, number: int) -> Proof | None:
    """The proof of a leaf by its number, up to the newest root; None as long as its month is not closed."""
    begin = 0
    for at, month in enumerate(log.months):
        if number <= month.leaves:
            lines = [one.line for one in log.leaves[begin : month.leaves]]
            index = number - begin - 1
            return Proof(
                line=lines[index],
                index=index,
                size=len(lines),
                path=tuple(digest.hex() for digest in tree_path([leaf_digest(line) for line in lines], index)),
                months=log.months[at:],
            )
        begin = month.leaves
    return None


# Checks a sealed log against a root that was kept elsewhere, and originals against the log (docs/sealed-log.md).


What = Literal["changed", "removed", "cut off", "added"]


_NAMED = 3


class Fault(Value, kw_only=False):
    """Something that is not as the log or a root says: what happened, to which artifact ("" if to none), in words."""

    what: What
    id: str
    said: str


class SealCheck(Value):
    """What a check found. `faults` are against the log or the root; `since` is what the log itself says was changed.

    The root seals the first `sealed` leaves of `leaves`, up to the end of `month`; 0 if it is not that of this log.
    """

    sealed: int
    leaves: int
    month: str
    faults: tuple[Fault, ...] = ()
    since: tuple[Fault, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all that the root seals is as the log says, and nothing else is wrong."""
        return self.sealed > 0 and not self.faults


def check_against(root: str, text: str) -> SealCheck:
    """Check a log against a root that was kept elsewhere. Originals are checked by `check_originals`."""
    log, unreadable = _readable(text)
    sound, faults = _sound_months(log)
    found = next((one for one in sound if one.root == root), None)
    faults = [*unreadable, *faults]
    if found is None:
        faults.append(_not_found(root, log, is_sound=not faults))
    sealed, month = (found.leaves, found.month) if found else (0, "")
    since = tuple(_since(log, sealed)) if found else ()
    return SealCheck(sealed=sealed, leaves=len(log.leaves), month=month, faults=tuple(faults), since=since)


def check_copy(kept: str, text: str) -> SealCheck:
    """Check a log against a copy of it that was kept elsewhere: this tells of each leaf whether it is the same.

    Raises `ValueError` if the copy is no log.
    """
    before = parse_seals(kept)
    log, unreadable = _readable(text)
    faults = (*unreadable, *_sound_months(log)[1], *_differences(before, log))
    sealed, month = 0 if faults else len(before.leaves), before.months[-1].month if before.months else ""
    since = tuple(_since(log, len(before.leaves)))
    return SealCheck(sealed=sealed, leaves=len(log.leaves), month=month, faults=faults, since=since)


def sealed_paths(text: str) -> list[str]:
    """The paths of all originals that a log names, as far as it can be read."""
    return list(_readable(text)[0].latest())


def check_originals(text: str, hashes: Mapping[str, str]) -> Iterator[Fault]:
    """What is wrong with the originals of a site, given the SHA-256 of those that are there by their paths."""
    latest = _readable(text)[0].latest()
    for path, leaf in latest.items():
        found = hashes.get(path, "")
        if found == leaf.sha256:
            continue
        if not found:
            yield Fault("removed", leaf.id, f"{path} is not there, expected {_told(leaf)}")
        elif leaf.sha256:
            yield Fault("changed", leaf.id, f"{path} has other bytes, expected {_told(leaf)}")
        else:
            yield Fault("added", leaf.id, f"{path} is there, but by leaf {leaf.number} it is not ({leaf.why})")
    for path in sorted(hashes.keys() - latest.keys()):
        yield Fault("added", "", f"{path} is in no leaf of the log")


def _told(leaf: Leaf) -> str:
    return f"the SHA-256 {leaf.sha256[:12]}… of leaf {leaf.number}"


# The log


def _readable(text: str) -> tuple[SealLog, list[Fault]]:
    """The log up to the first line that cannot be read, and what is wrong with that."""
    try:
        return parse_seals(text), []
    except ValueError as error:
        said = str(error)
    number = int(said.removeprefix("line ").partition(":")[0])
    kept = "".join(f"{line}\n" for line in text.split("\n")[: number - 1])
    lost = len(text.removesuffix("\n").split("\n")) - number + 1
    fault = f"seals.jsonl, {said}; this line and the {lost - 1} after it cannot be checked"
    return parse_seals(kept), [Fault("changed", "", fault)]


def _sound_months(log: SealLog) -> tuple[list[Month], list[Fault]]:
    """The months whose roots follow from the leaves, as do all before them; and what is wrong with the others."""
    sound: list[Month] = []
    faults: list[Fault] = []
    leaves: list[Leaf] = []
    before, count = NO_ROOT, 0
    for entry in log.entries:
        if isinstance(entry, Leaf):
            leaves.append(entry)
            continue
        count += len(leaves)
        wrong = _fault_of(entry, tree_root([leaf_digest(leaf.line) for leaf in leaves]).hex(), before, count)
        if wrong:
            faults.append(Fault("changed", "", f"the month {entry.month} ({_range(leaves)}): {wrong}"))
        elif not faults:
            sound.append(entry)
        before, leaves = entry.root, []
    return sound, faults


def _fault_of(month: Month, tree: str, before: str, count: int) -> str:
    """What is wrong with the seal on a month, given what it should say; "" if nothing is."""
    if month.tree != tree or month.leaves != count:
        return "its leaves do not give the root of its tree: a leaf was changed, removed or moved"
    if month.previous != before:
        return "it does not follow the month before it: a month was removed, added or moved"
    if month.root != month.expected_root:
        return "its root does not follow from its tree and the root before it"
    return ""


def _range(leaves: list[Leaf]) -> str:
    if not leaves:
        return "no leaves"
    first, last = leaves[0], leaves[-1]
    ids = list(dict.fromkeys(leaf.id for leaf in leaves))
    return f"leaves {first.number} to {last.number}: {listed(ids, _NAMED)}"


def _not_found(root: str, log: SealLog, *, is_sound: bool) -> Fault:
    """Why no month of the log has a root."""
    stated = next((month for month in log.months if month.root == root), None)
    if stated is not None:
        said = f"the root is written at the month {stated.month}, but what it seals is not what it was: see above"
        return Fault("changed", "", said)
    hidden = next((leaf for leaf in log.leaves if leaf.why == NOT_KEPT), None)
    if hidden is not None:
        said = (
            f"no month of the log has the root {root[:12]}…: leaf {hidden.number} ({hidden.id}) lost its hash, and "
            f"roots from {hidden.month or 'there'} on were made anew with it; or the log was changed or cut off. "
            "A copy of the log from before tells which: verify --seal FILE"
        )
        return Fault("changed", hidden.id, said)
    end = f"it ends with leaf {len(log.leaves)}" + (f" ({log.leaves[-1].id})" if log.leaves else "")
    newest = f", and its newest root is of {log.months[-1].month}" if log.months else ", and no month of it is closed"
    why = "it was cut off before that root, or changed and sealed anew" if is_sound else "it was cut off, or changed"
    return Fault("cut off", "", f"no month of the log has the root {root[:12]}…: {why}; {end}{newest}")


def _differences(before: SealLog, log: SealLog) -> Iterator[Fault]:
    """What of the leaves and the seals of a former log is not in this one as it was."""
    now = {one.number: one for one in log.leaves}
    there = {(one.id, one.path, one.sha256) for one in log.leaves}
    for leaf in before.leaves:
        found = now.get(leaf.number)
        if found is not None and found.line == leaf.line:
            continue
        told = f"leaf {leaf.number} of the copy ({leaf.path})"
        if found is not None and (found.path, found.why) == (leaf.path, NOT_KEPT):
            yield Fault("changed", leaf.id, f"{told} has lost its hash")
        elif (leaf.id, leaf.path, leaf.sha256) in there:
            yield Fault("changed", leaf.id, f"{told} is in another place, or says something else")
        elif found is not None and found.path == leaf.path:
            yield Fault("changed", leaf.id, f"{told} has another hash now")
        elif leaf.number > len(log.leaves):
            yield Fault("cut off", leaf.id, f"{told} is missing: the log ends with {len(log.leaves)}")
        else:
            yield Fault("removed", leaf.id, f"{told} is missing")
    if log.entries[: len(before.entries)] != before.entries:
        yield Fault("changed", "", "the log does not begin as the copy does")


def _since(log: SealLog, sealed: int) -> Iterator[Fault]:
    """What the log says of what was sealed: that it was edited or taken out since."""
    known = {one.path for one in log.leaves[:sealed]}
    for path, leaf in log.latest().items():
        if leaf.number > sealed and path in known:
            at = f" (commit {leaf.commit[:12]})" if leaf.commit else ""
            said = f"{path} was {leaf.why or 'edited'} since, by leaf {leaf.number}{at}"
            yield Fault("removed" if leaf.why else "changed", leaf.id, said)
