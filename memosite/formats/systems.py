"""The registry of record systems, and questions about a file that all of them answer together.

To add one: a folder that exports its `SYSTEM` (see `formats/system.py`), and a line in `SYSTEMS`.
"""

from collections.abc import Iterator

from memosite.facts import rules
from memosite.facts.file import File
from memosite.facts.findings import Rule
from memosite.facts.names import CATALOG_SUFFIX, ENVELOPE_SUFFIX, RecordEntry, short_hash
from memosite.facts.parsed import FileFacts, Parsed, RecordCard, RecordFile, RecordPart
from memosite.facts.values import replace
from memosite.formats import memory_layer, memory_store, mif, wyren
from memosite.formats.system import RecordSystem

SYSTEMS: tuple[RecordSystem, ...] = (memory_store.SYSTEM, mif.SYSTEM, wyren.SYSTEM, memory_layer.SYSTEM)
"""In the order in which they are asked whose a file is."""

RECORD_IDS = tuple(form for system in SYSTEMS for form in system.ids)
"""The forms of ids by which texts are searched for mentions of records."""

ALL_RULES: tuple[Rule, ...] = (*rules.GENERAL, *(rule for system in SYSTEMS for rule in system.rules))
"""Every rule for findings."""

_ENDINGS = tuple(sorted({ending for system in SYSTEMS for ending in system.endings}))

READ_SUFFIXES = tuple(sorted({ENVELOPE_SUFFIX, CATALOG_SUFFIX, ".md", ".markdown", ".json", ".jsonl", *_ENDINGS}))
"""What is read wherever it lies; of other files outside of stores only the names count."""
_NO_FILE = FileFacts(source="", path="", sha256="", bytes=0)

_BY_NAME = {system.name: system for system in SYSTEMS}
_LONGEST = max(map(len, READ_SUFFIXES))


def can_concern(path: str) -> bool:
    """Whether a file can be part of an artifact, or a body that one names."""
    if path.endswith(READ_SUFFIXES) or path[-_LONGEST:].lower().endswith(READ_SUFFIXES):
        return True
    return any(store in path for store in ("memos/", "notes/", "transcripts/"))


def system_of(card: RecordCard) -> RecordSystem:
    """The system of a record."""
    return _BY_NAME[card.system]


def find_system(name: str) -> RecordSystem | None:
    """The system of this name; None for one that only an earlier version had."""
    return _BY_NAME.get(name)


def owner_of(path: str) -> RecordSystem | None:
    """The system that a file belongs to by its place; None if there is none (SPEC 2.2).

    Other tools use the same folders, so the place only selects the adapter to try and the name in a note; the
    file's shape decides.
    """
    if not path.lower().endswith(_ENDINGS):  # as most files of a memos folder: no system has any other
        return None
    for system in SYSTEMS:
        is_owner = system.owns(path)
        if is_owner is not None:
            return system if is_owner else None
    return None


def root_of_record(path: str) -> str:
    """The folder that holds the store a record's file is in: paths in records start from there.

    That is the folder around the store of the system that the file belongs to; for files of other places their own.
    """
    owner = owner_of(path)
    root = owner.root(path) if owner else None
    return path.rpartition("/")[0] if root is None else root


def home_of(path: str) -> str:
    """The folder of the store that a record's file is in; "" for one in no store."""
    homes = (system.home(path) for system in SYSTEMS)
    return next((home for home in homes if home is not None), "")


def begins_as_record(head: bytes) -> bool:
    """Whether Markdown that begins with these bytes may be a record, wherever it is."""
    return any(system.begins(head) for system in SYSTEMS)


def has_record_name(name: str) -> bool:
    """Whether a file is a record by its name, wherever it is."""
    return any(system.suffix and name.lower().endswith(system.suffix) for system in SYSTEMS)


def record_suffixes() -> Iterator[str]:
    """The suffixes of files that hold a record each, the longest first."""
    yield from sorted((system.suffix for system in SYSTEMS if system.suffix), key=len, reverse=True)
    yield from (".md", ".json")


def without_prefix(name: str) -> str:
    """An id without its system's `uri_prefix`."""
    for system in SYSTEMS:
        name = name.removeprefix(system.uri_prefix)
    return name


def is_record_uri(name: str) -> bool:
    """Whether a name is the address of a record."""
    return any(system.uri_prefix and name.startswith(system.uri_prefix) for system in SYSTEMS)


def is_part(parsed: Parsed) -> bool:
    """Whether a file's system joins it with other files, and then reports the findings on it."""
    fact = parsed.fact
    if isinstance(fact, RecordFile):
        return _BY_NAME[fact.system].join is not None
    return isinstance(fact, RecordPart)


def split_file(file: File, system: RecordSystem) -> tuple[RecordEntry, ...]:
    """The entries of a version of a list file."""
    adapter = system.adapter
    if adapter.split is not None:
        return tuple(adapter.split(file))
    fact = adapter.parse(file).fact
    return tuple(map(_entry, fact.records)) if isinstance(fact, RecordFile) else ()


def _entry(card: RecordCard) -> RecordEntry:
    """A record as an entry: all of it counts but its place and its key."""
    said = card.text.sha256 if card.text else card.title
    written = repr(replace(card, key="", line=None, file=_NO_FILE))
    return RecordEntry(key=card.key, section=card.section or "", said=said, written=short_hash(written))
