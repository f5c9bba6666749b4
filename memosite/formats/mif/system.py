"""MIF: memories as Markdown with YAML at the head, one record a file (SPEC 2.2, mif)."""

from memosite.facts.parsed import RecordCard
from memosite.facts.phrases import phrase
from memosite.formats import mif
from memosite.formats.mif import INVERSE, URN
from memosite.formats.system import Adapter, GroupOrder, RecordSystem, capitalized


def _load() -> Adapter:
    from memosite.formats.mif import parse  # noqa: PLC0415 - see `formats/system.py`

    return parse


def _group(card: RecordCard) -> tuple[GroupOrder, str]:
    """By type and namespace."""
    namespace = card.namespace or "no namespace"
    return (0, 0, f"{card.type}/{namespace}"), f"{capitalized(card.type)}: {namespace}"


SYSTEM = RecordSystem(
    name="mif",
    intro=phrase("Memories, by type and namespace."),
    rules=mif.RULES,
    endings=(".md",),
    load=_load,
    owns=mif.owns,
    suffix=mif.SUFFIX,
    begins=mif.begins,
    foreign=lambda _: "named like a record of MIF, but without the id, type and further fields that make one",
    group=_group,
    is_decision=lambda card: "decisions" in (card.namespace or "").casefold().split("/"),
    has_titles=True,
    uri_prefix=URN,
    inverse=INVERSE,
    predicate_mark="-",
)
