"""Finds records by their names in texts: an id, a file's stem or a title (SPEC 2.2 and 3, identity).

A name is looked for in the store or source it is written in; an id also elsewhere, if one record alone has it.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable

from memosite.facts.names import make_id
from memosite.facts.parsed import RecordCard, Ref
from memosite.facts.texts import one_line
from memosite.formats.systems import home_of, record_suffixes, system_of, without_prefix
from memosite.resolve.filed import Filed

_Named = tuple[Ref, RecordCard]


class RecordNames:
    """Records by their ids and keys; where their system says so, also by their files' stems and by their titles."""

    def __init__(self, filed: Iterable[Filed]) -> None:
        """Index records that have their ids."""
        self._by_name: dict[str, list[_Named]] = defaultdict(list)
        self._by_stem: dict[tuple[str, str], list[_Named]] = defaultdict(list)
        self._by_title: dict[tuple[str, str], list[_Named]] = defaultdict(list)
        for one in filed:
            card = one.fact
            if not isinstance(card, RecordCard):
                continue
            entry = (one.ref, card)
            for name in dict.fromkeys((_plain(card.key), one.ref[1])):
                self._by_name[name].append(entry)
            system = system_of(card)
            if not system.has_stems:
                continue
            for stem in {_plain(_stem(file.path)) for file in one.files}:
                self._by_stem[card.file.source, stem].append(entry)
            if system.has_titles:
                self._by_title[card.file.source, card.title.casefold()].append(entry)

    def find(self, name: str, source: str) -> Ref | None:
        """The record of this id or key: one of the source's own, else the only one that there is."""
        return self._by_id(name, source, "")

    def in_store(self, name: str, card: RecordCard) -> Ref | None:
        """The node of this id in the same store as another record."""
        home = _home(card)
        found = [entry for entry in self._by_name.get(_plain(name), ()) if entry[1].file.source == card.file.source]
        return _first([entry for entry in found if _home(entry[1]) == home], card)

    def near(self, name: str, card: RecordCard) -> Ref | None:
        """The record that another means by this name: by its id, else its file's stem, else its title."""
        source = card.file.source
        found = self._by_id(name, source, _home(card))
        if found is not None:
            return found
        stems = self._by_stem.get((source, _stem(_plain(name))), []) or self._by_stem.get((source, _plain(name)), [])
        of_its_kind = [entry for entry in stems if entry[1].system == card.system and entry[1] is not card]
        if of_its_kind:
            return _first(of_its_kind, card)
        if len(stems) == 1 and stems[0][1] is not card:
            return stems[0][0]
        titled = self._by_title.get((source, one_line(name).casefold()), ())
        return titled[0][0] if len(titled) == 1 else None

    def _by_id(self, name: str, source: str, home: str) -> Ref | None:
        if not self._by_name:
            return None
        name = _plain(name)
        found = self._by_name.get(name) or self._by_name.get(name.lower(), [])
        own = [entry for entry in found if entry[1].file.source == source]
        if own:
            return min(own, key=lambda entry: (_home(entry[1]) != home, _is_second(entry), entry[0]))[0]
        return found[0][0] if len(found) == 1 else None


def _plain(name: str) -> str:
    return without_prefix(unicodedata.normalize("NFC", name.strip()))


def _stem(path: str) -> str:
    """A file's name without its suffix, which may have several parts."""
    name = path.rpartition("/")[2]
    lowered = name.lower()
    return next((name[: -len(suffix)] for suffix in record_suffixes() if lowered.endswith(suffix)), name)


def _home(card: RecordCard) -> str:
    """The folder of the store that a record is in; "" for systems without one."""
    return home_of(card.file.path)


def _is_second(entry: _Named) -> bool:
    """Whether an earlier record has its name, so that this one has another id."""
    ref, card = entry
    return ref[1] != make_id(f"{card.file.source}.{card.key}")


def _first(entries: list[_Named], card: RecordCard) -> Ref | None:
    """The nearest of several: in the same store, in the order that their system gives them, in the same folder."""
    folder = card.file.path.rpartition("/")[0]

    def rank(entry: _Named) -> tuple[bool, tuple[bool, ...], bool, bool, Ref]:
        its = entry[1]
        is_away = its.file.path.rpartition("/")[0] != folder
        return _home(its) != _home(card), system_of(its).rank(its.file.path), is_away, _is_second(entry), entry[0]

    return min(entries, key=rank)[0] if entries else None
