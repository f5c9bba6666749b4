"""Words for kinds of artifacts."""

from collections.abc import Mapping
from types import MappingProxyType

from memosite.facts.phrases import phrase, phrases

_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "memo": phrase("memo"),
        "note": phrase("note"),
        "transcript": phrase("transcript"),
        "library": phrase("library"),
        "record": phrase("record"),
        "document": phrase("document"),
    }
)


def kind_word(kind: str) -> str:
    """The word for a kind of artifact."""
    return _KINDS.get(kind, kind)


def kinds(kind: str, number: int) -> str:
    """So many artifacts of a kind."""
    match kind:
        case "memo":
            return phrases("{n:,} memo", "{n:,} memos", number)
        case "note":
            return phrases("{n:,} note", "{n:,} notes", number)
        case "transcript":
            return phrases("{n:,} transcript", "{n:,} transcripts", number)
        case "library":
            return phrases("{n:,} library", "{n:,} libraries", number)
        case "record":
            return phrases("{n:,} record", "{n:,} records", number)
        case _:
            return phrases("{n:,} document", "{n:,} documents", number)
