"""Parses the legacy form of memos: `x.memo.*` extension fields on a generic catdef thing; always valid (SPEC 2.2)."""

from memosite.facts.file import File
from memosite.facts.names import ENVELOPE_SUFFIX
from memosite.facts.parsed import Parsed
from memosite.formats.fields import Fields
from memosite.formats.memodef import LEGACY_FIELDS, read_memo

NAME = "x.memo"


def matches(file: File) -> bool:
    """Whether the file is a thing that carries a memo in extension fields."""
    fields = file.json.fields
    is_envelope = file.name.lower().endswith(ENVELOPE_SUFFIX)
    return is_envelope and fields is not None and any(name in fields for name in LEGACY_FIELDS)


def parse(file: File) -> Parsed:
    """Read one legacy memo."""
    fields = Fields(file, file.json.fields or {})
    fields.findings.extend(file.json.findings)
    return read_memo(fields, shape="legacy")
