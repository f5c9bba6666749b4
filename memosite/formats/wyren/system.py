"""wyren: the shared memory of a team's coding sessions, a record for each bullet (SPEC 2.2, wyren)."""

from memosite.facts.file import File
from memosite.facts.names import RecordEntry
from memosite.facts.parsed import RecordCard
from memosite.facts.phrases import phrase
from memosite.formats import wyren
from memosite.formats.system import Adapter, GroupOrder, RecordSystem, capitalized, rank_in

_DECISIONS, _REJECTED = "decisions", "rejected paths"
_SECTIONS = (
    _DECISIONS, _REJECTED, "live workarounds", "known broken state",
    "scope changes", "open questions", "handoff notes",
)  # fmt: skip


def _load() -> Adapter:
    from memosite.formats.wyren import parse  # noqa: PLC0415 - see `formats/system.py`

    return parse


def _split(file: File) -> tuple[RecordEntry, ...]:
    from memosite.formats.wyren import parse  # noqa: PLC0415 - as above

    return parse.split(file)


def _section(card: RecordCard) -> str:
    return (card.section or "").casefold()


def _group(card: RecordCard) -> tuple[GroupOrder, str]:
    """By section, in the order of wyren's schema."""
    name = card.section or card.type
    return (int(card.section is None), rank_in(_SECTIONS, name.casefold()), name), capitalized(name)


SYSTEM = RecordSystem(
    name="wyren",
    intro=phrase("What is distilled of sessions, by section."),
    rules=wyren.RULES,
    endings=(".md",),
    load=_load,
    owns=wyren.owns,
    root=wyren.root,
    store_in=wyren.store_in,
    store_names=wyren.ROOTS,
    older=wyren.older,
    is_list=wyren.is_memory,
    split=_split,
    foreign=lambda _: "Markdown in wyren's folder, with none of its sections",
    group=_group,
    is_decision=lambda card: _section(card) in {_DECISIONS, _REJECTED},
    is_rejected=lambda card: _section(card) == _REJECTED,
    has_stems=False,
)
