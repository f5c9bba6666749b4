"""Checks a sealed log against a root that was kept elsewhere, and originals against the log (docs/sealed-log.md)."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from memosite.archive.merkle import NO_ROOT, chained_root, leaf_digest, tree_root
from memosite.archive.seals import NOT_KEPT, Entry, Leaf, Month, SealLog, parse_seals

What = Literal["changed", "removed", "cut off", "added"]

_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that is not as the log or a root says: what happened, to which artifact ("" if to none), in words."""

    what: What
    id: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SealCheck:
    """What a check found. `faults` are against the log or the root; `since` is what the log itself says was changed.

    The root seals the first `sealed` leaves of `leaves`, up to the end of `month`; 0 if it is not that of this log.
    """

    root: str
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
    return SealCheck(
        root=root,
        sealed=found.leaves if found else 0,
        leaves=len(log.leaves),
        month=found.month if found else "",
        faults=tuple(faults),
        since=tuple(_since(log, found.leaves)) if found else (),
    )


def check_copy(kept: str, text: str) -> SealCheck:
    """Check a log against a copy of it that was kept elsewhere: this tells of each leaf whether it is the same.

    Raises `ValueError` if the copy is no log.
    """
    before = parse_seals(kept)
    log, unreadable = _readable(text)
    _, faults = _sound_months(log)
    faults = [*unreadable, *faults, *_differences(before, log)]
    last = before.months[-1] if before.months else None
    return SealCheck(
        root=last.root if last else "",
        sealed=0 if faults else len(before.leaves),
        leaves=len(log.leaves),
        month=last.month if last else "",
        faults=tuple(faults),
        since=tuple(_since(log, len(before.leaves))),
    )


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
            yield Fault(what="removed", id=leaf.id, said=f"{path} is not there, expected {_told(leaf)}")
        elif leaf.sha256:
            yield Fault(what="changed", id=leaf.id, said=f"{path} has other bytes, expected {_told(leaf)}")
        else:
            said = f"{path} is there, but by leaf {leaf.number} it is not ({leaf.why})"
            yield Fault(what="added", id=leaf.id, said=said)
    for path in sorted(hashes.keys() - latest.keys()):
        yield Fault(what="added", id="", said=f"{path} is in no leaf of the log")


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
    return parse_seals(kept), [Fault(what="changed", id="", said=fault)]


def _sound_months(log: SealLog) -> tuple[list[Month], list[Fault]]:
    """The months whose roots follow from the leaves, as do all before them; and what is wrong with the others."""
    sound: list[Month] = []
    faults: list[Fault] = []
    leaves: list[Leaf] = []
    before, count = NO_ROOT, 0
    for one in log.entries:
        if isinstance(one, Leaf):
            leaves.append(one)
            continue
        count += len(leaves)
        tree = tree_root([leaf_digest(leaf.line) for leaf in leaves]).hex()
        wrong = _fault_of(one, tree, before, count)
        if wrong:
            faults.append(Fault(what="changed", id="", said=f"the month {one.month} ({_range(leaves)}): {wrong}"))
        elif not faults:
            sound.append(one)
        before, leaves = one.root, []
    return sound, faults


def _fault_of(month: Month, tree: str, before: str, count: int) -> str:
    """What is wrong with the seal on a month, given what it should say; "" if nothing is."""
    if month.tree != tree or month.leaves != count:
        return "its leaves do not give the root of its tree: a leaf was changed, removed or moved"
    if month.previous != before:
        return "it does not follow the month before it: a month was removed, added or moved"
    if month.root != chained_root(before, tree, month.month, count):
        return "its root does not follow from its tree and the root before it"
    return ""


def _range(leaves: list[Leaf]) -> str:
    if not leaves:
        return "no leaves"
    first, last = leaves[0], leaves[-1]
    ids = list(dict.fromkeys(one.id for one in leaves))
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return f"leaves {first.number} to {last.number}: {', '.join(ids[:_NAMED])}{more}"


def _not_found(root: str, log: SealLog, *, is_sound: bool) -> Fault:
    """Why no month of the log has a root."""
    stated = next((one for one in log.months if one.root == root), None)
    if stated is not None:
        said = f"the root is written at the month {stated.month}, but what it seals is not what it was: see above"
        return Fault(what="changed", id="", said=said)
    hidden = next((one for one in log.leaves if one.why == NOT_KEPT), None)
    if hidden is not None:
        said = (
            f"no month of the log has the root {root[:12]}…: leaf {hidden.number} ({hidden.id}) lost its hash, and "
            f"roots from {hidden.month or 'there'} on were made anew with it; or the log was changed or cut off. "
            "A copy of the log from before tells which: verify --seal FILE"
        )
        return Fault(what="changed", id=hidden.id, said=said)
    end = f"it ends with leaf {len(log.leaves)}" + (f" ({log.leaves[-1].id})" if log.leaves else "")
    newest = f", and its newest root is of {log.months[-1].month}" if log.months else ", and no month of it is closed"
    why = "it was cut off before that root, or changed and sealed anew" if is_sound else "it was cut off, or changed"
    return Fault(what="cut off", id="", said=f"no month of the log has the root {root[:12]}…: {why}; {end}{newest}")


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
            yield Fault(what="changed", id=leaf.id, said=f"{told} has lost its hash")
        elif (leaf.id, leaf.path, leaf.sha256) in there:
            yield Fault(what="changed", id=leaf.id, said=f"{told} is in another place, or says something else")
        elif found is not None and found.path == leaf.path:
            yield Fault(what="changed", id=leaf.id, said=f"{told} has another hash now")
        elif leaf.number > len(log.leaves):
            yield Fault(what="cut off", id=leaf.id, said=f"{told} is missing: the log ends with {len(log.leaves)}")
        else:
            yield Fault(what="removed", id=leaf.id, said=f"{told} is missing")
    if not _begins_with(log.entries, before.entries):
        yield Fault(what="changed", id="", said="the log does not begin as the copy does")


def _begins_with(entries: tuple[Entry, ...], before: Collection[Entry]) -> bool:
    return entries[: len(before)] == tuple(before)


def _since(log: SealLog, sealed: int) -> Iterator[Fault]:
    """What the log says of what was sealed: that it was edited or taken out since."""
    known = {one.path for one in log.leaves[:sealed]}
    for path, leaf in log.latest().items():
        if leaf.number > sealed and path in known:
            at = f" (commit {leaf.commit[:12]})" if leaf.commit else ""
            how = leaf.why or "edited"
            what: What = "removed" if leaf.why else "changed"
            yield Fault(what=what, id=leaf.id, said=f"{path} was {how} since, by leaf {leaf.number}{at}")
