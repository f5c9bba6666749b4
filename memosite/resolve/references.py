"""Finds artifacts by their names, and names missing memos (SPEC 3, references)."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

from memosite.facts.names import make_id, read_stamped_name
from memosite.facts.parsed import FILE, Kind, Ref
from memosite.resolve.identity import CopyGroup

MESSAGES: tuple[Kind, ...] = ("memo", "note")
"""The kinds that can be replied to."""

_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{4}(?![0-9])")
_ANY: tuple[Kind, ...] = ("memo", "note", "transcript")


class NameIndex:
    """Artifacts by the stems of their files, and by their ids."""

    def __init__(self, groups: Iterable[CopyGroup]) -> None:
        """Index groups that have their ids."""
        self._groups = tuple(groups)
        self._by_name: dict[str, list[CopyGroup]] = defaultdict(list)
        self._by_id: dict[str, list[CopyGroup]] = defaultdict(list)
        for group in self._groups:
            self._by_name[group.stem].append(group)
            self._by_id[group.id].append(group)
        self._found: dict[tuple[str, str, tuple[Kind, ...]], tuple[Ref, ...]] = {}

    def find(self, stem: str, *, source: str, kinds: tuple[Kind, ...] = _ANY, but: Ref | None = None) -> Ref | None:
        """The artifact of this name: the one in the naming file's own source, else the plain one, else the first.

        Only these kinds are searched, in this order, and never `but`: an artifact refers to itself only if no other
        has the name. A name that is no file's may be an id.
        """
        key = (unicodedata.normalize("NFC", stem), source, kinds)
        if key not in self._found:
            self._found[key] = self._best_two(*key)
        return next((ref for ref in self._found[key] if ref != but), but if but in self._found[key] else None)

    def stamped(self, stamp: str) -> tuple[CopyGroup, ...]:
        """The memos whose names begin with a stamp; the notes, if no memo's does."""
        return self._by_stamp.get(stamp, ())

    @cached_property
    def _by_stamp(self) -> dict[str, tuple[CopyGroup, ...]]:
        found: dict[str, list[CopyGroup]] = defaultdict(list)
        for group in self._groups:
            stamp = _STAMP.match(group.stem) if group.kind in MESSAGES else None
            if stamp:
                found[stamp[0]].append(group)
        return {
            stamp: tuple(group for group in named if group.kind == "memo") or tuple(named)
            for stamp, named in found.items()
        }

    def _best_two(self, stem: str, source: str, kinds: tuple[Kind, ...]) -> tuple[Ref, ...]:
        named = self._by_name.get(stem) or self._by_id.get(stem) or ()
        if len(named) == 1:
            return (named[0].ref,) if named[0].kind in kinds else ()

        def rank(group: CopyGroup) -> tuple[bool, bool, int, str]:
            is_away = all(copy.envelope.file.source != source for copy in group.copies)
            return (is_away, group.id != group.plain, kinds.index(group.kind), group.id)

        fitting = sorted((group for group in named if group.kind in kinds), key=rank)
        return tuple(group.ref for group in fitting[:2])


_AFTER_RIVAL = "~ghost"


def ghost_refs(missing: Mapping[Ref, str], taken: Iterable[Ref]) -> dict[str, Ref]:
    """The ref of each ghost, by its stem: the one its memo will have once it is there."""
    used = {(kind, id_.casefold()) for kind, id_ in taken} if missing else set()
    refs: dict[str, Ref] = {}
    for stem in sorted(set(missing.values())):
        kind: Kind = "note" if read_stamped_name(stem).recipient == FILE else "memo"
        id_ = make_id(stem)
        while (kind, id_.casefold()) in used:  # a memo takes precedence over a ghost of the same id
            id_ += _AFTER_RIVAL
        used.add((kind, id_.casefold()))
        refs[stem] = (kind, id_)
    return refs


def plain_ghost_id(id_: str) -> str:
    """The id of a ghost without what tells it from a rival."""
    return id_.split(_AFTER_RIVAL, 1)[0]
