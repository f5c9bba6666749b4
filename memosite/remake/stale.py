"""Decides which units are stale, and why: pure, from what the last build noted and what is there now.

The first answer that is "no" is the reason:

    common values ─► unit made ─► traced? ─► given and reads ─► outputs ─► fresh
      the same?       before?                   the same?       as left?
"""

from collections.abc import Callable, Iterable, Mapping

from memosite.facts.values import Value
from memosite.plan.context import Unit
from memosite.plan.traced import KEYS, Digests, TracedRead
from memosite.remake.manifest import Made, Manifest
from memosite.store.output import FileState

IsThere = Callable[[str, FileState | None], bool]
"""Whether a file of the site is there unchanged."""

_NAMED = 3
"""The most changes that are named as a reason."""

WHOLE = "it shows the whole archive, so every build plans it"
"""Why a unit that is not traced is stale."""

_COMMON = {
    "program": "memosite itself has changed",
    "theme": "the theme has changed",
    "site": "the configuration or the sources have changed",
}


class Decision(Value):
    """A unit, how it was made last, and in words why it is stale; "" if it is up to date."""

    unit: Unit
    made: Made | None
    why: str


def decide(
    units: Iterable[Unit], manifest: Manifest, common: Mapping[str, str], digests: Digests, is_there: IsThere
) -> list[Decision]:
    """Decide for each unit whether it is stale, in their order.

    `common` are the digests of what all units are made of; `is_there` says whether an output is there
    unchanged.
    """
    other = [name for name in common if manifest.common.get(name) != common[name]]
    if other:
        why = "there is no record of an earlier build" if not manifest.common else _COMMON[other[0]]
        return [Decision(unit=unit, made=manifest.units.get(unit.name), why=why) for unit in units]
    changed = digests.changed(manifest.reads)  # what many units read is compared once
    decisions = []
    for unit in units:
        made = manifest.units.get(unit.name)
        decisions.append(Decision(unit=unit, made=made, why=_why(unit, made, changed, digests, is_there)))
    return decisions


def _why(unit: Unit, made: Made | None, changed: Mapping[int, TracedRead], digests: Digests, is_there: IsThere) -> str:
    if made is None:
        return "it is new"
    if not unit.is_traced or made.reads is None:
        return WHOLE
    what = [unit.given_as] if made.given != digests.of_given(unit.name, unit.given) else []
    read = [changed[number] for number in made.reads if number in changed]
    what += [shown_read(one) for one in sorted(read, key=_named_first)]
    if what:
        more = f" and {len(what) - _NAMED} more" if len(what) > _NAMED else ""
        return f"{', '.join(what[:_NAMED])}{more} changed"
    for output in made.outputs:
        if not is_there(output.path, output.state):
            return f"{output.path} was changed or removed"
    return ""


def _named_first(read: TracedRead) -> tuple[bool, str]:
    """The order in which reads are named as a reason: what is one memo or position before a list of them."""
    return read[1] is KEYS, shown_read(read)


def shown_read(read: TracedRead) -> str:
    """A read in words: `memo 2026-05-01-0900--a--b--x`, `the list of artifacts`, `received director`."""
    mapping, key = read
    name = mapping.replace("_", " ")
    if key is KEYS:
        return f"the list of {name}"
    words = [str(one) for one in (key if isinstance(key, tuple) else (key,))]
    return " ".join(words if mapping == "artifacts" else (name, "/".join(words)))
