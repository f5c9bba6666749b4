"""Parses a file with the first adapter that matches it, in the order of `FORMATS`.

An adapter is three names: `NAME`, `matches(file) -> bool`, `parse(file) -> Parsed`. It sees exactly one file and
never raises for content; whatever spans files is joined in `resolve`. To add a format: one module, one line in
`FORMATS`, one folder of cases. A record system has a folder and a line of its own (`formats/systems.py`).
"""

from memosite.facts import rules
from memosite.facts.file import File, shown, type_name
from memosite.facts.layout import place_of
from memosite.facts.names import CATALOG_SUFFIX, ENVELOPE_SUFFIX
from memosite.facts.parsed import Parsed
from memosite.formats import body, document, library, memodef, orgdef, xmemo
from memosite.formats.bounds import bounded
from memosite.formats.system import Adapter
from memosite.formats.systems import SYSTEMS

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


RECORD_FORMATS: tuple[Adapter, ...] = tuple(system.load() for system in SYSTEMS)

FORMATS: tuple[Adapter, ...] = (memodef, xmemo, orgdef, library, *RECORD_FORMATS, body, document)


def parse(file: File) -> Parsed:
    """Parse a file with the first adapter that matches it. Any bytes give a result, never an exception.

    Its names are of bounded length.
    """
    return bounded(_parse(file), file)


def _parse(file: File) -> Parsed:
    """Parse a file with the first adapter that matches it.

    A file that should be an envelope by its name and place, but cannot be read, becomes a broken envelope; one that
    was meant for a catalog or an orgdef becomes a broken library. A file of no known format gives no fact, and no
    finding unless it is a catalog or cannot be read.
    """
    for adapter in FORMATS:
        if adapter.matches(file):
            return adapter.parse(file)
    name = file.name.lower()
    if file.json.fields is None and name.endswith((ENVELOPE_SUFFIX, CATALOG_SUFFIX)):
        place = place_of(file.path)
        if name.endswith(ENVELOPE_SUFFIX) and place is not None:
            return memodef.parse_broken(file, place)
        kind = library.broken_kind(file)
        if kind is not None:
            return library.parse_broken(file, kind)
    if name.endswith(ENVELOPE_SUFFIX) and file.json.fields is None:
        return Parsed(source=file.source, path=file.path, findings=file.json.findings)
    if name.endswith(CATALOG_SUFFIX):
        return _parse_catalog(file)
    if name.endswith(ENVELOPE_SUFFIX) and memodef.is_envelope_like(file):
        return memodef.parse(file)
    return Parsed(source=file.source, path=file.path)


def parse_record(file: File) -> Parsed:
    """Parse a file with the record adapters only; without a match, there is no fact."""
    for adapter in RECORD_FORMATS:
        if adapter.matches(file):
            return bounded(adapter.parse(file), file)
    return Parsed(source=file.source, path=file.path)


def _parse_catalog(file: File) -> Parsed:
    """Parse a catalog; one of another tool gives a note."""
    finding = file.finding(rules.CATALOG_FOREIGN, _what_catalog(file))
    return Parsed(source=file.source, path=file.path, findings=(finding,))


def _what_catalog(file: File) -> str:
    if file.data.startswith(_ZIP):
        return "it is a ZIP file"
    if file.json.fields is None:
        return "it is not a JSON object"
    kind = file.json.fields.get("type")
    if isinstance(kind, str):
        return f'its type is "{shown(kind)}"'
    return "it has no type" if kind is None else f"its type is {type_name(kind)}"
