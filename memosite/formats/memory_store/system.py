"""memory-store: the memory of a project, a JSON sidecar and a Markdown body a node (SPEC 2.2, memory-store)."""

from collections.abc import Sequence

from memosite.facts.parsed import LineOf, Parsed, RecordCard
from memosite.facts.phrases import phrase
from memosite.formats import memory_store
from memosite.formats.system import Adapter, DataOf, GroupOrder, JoinedRecords, RecordSystem, capitalized, rank_in

_STAGES = ("idea", "building", "shipped", "paused", "dead")
_INVERSE = {
    "affects": "affected by",
    "depends on": "required by",
    "supersedes": "superseded by",
    "related to": "related to",
    "requires": "required by",
    "conflicts with": "conflicts with",
    "supports": "supported by",
    "challenges": "challenged by",
    "derived from": "source of",
    "summarizes": "summarized by",
    "documents": "documented by",
    "mentions": "mentioned by",
    "implements": "implemented by",
}


def _load() -> Adapter:
    from memosite.formats.memory_store import parse  # noqa: PLC0415 - see `formats/system.py`

    return parse


def _join(parsed: Sequence[Parsed], line_of: LineOf, data_of: DataOf, *, is_loose: bool) -> JoinedRecords:
    from memosite.formats.memory_store.join import join_records  # noqa: PLC0415 - likewise

    return join_records(parsed, line_of, data_of, is_loose=is_loose)


def _together(path: str) -> tuple[str, ...]:
    """A node's sidecar is checked with its body."""
    from memosite.formats.memory_store.parse import part_of  # noqa: PLC0415 - likewise

    return (f"{path.rpartition('.')[0]}.md",) if part_of(path) == "node" else ()


def _group(card: RecordCard) -> tuple[GroupOrder, str]:
    """The project, the product map by stage, questions by status last, everything else by kind."""
    match card.type:
        case "project":
            return (0, 0, ""), "Project"
        case "feature":
            return (1, rank_in(_STAGES, card.stage or ""), card.stage or ""), f"Product map: {card.stage or 'no stage'}"
        case "question":
            state = card.status or "no status"
            return (3, rank_in(("open", "closed"), state), state), f"Question: {state}"
        case _:
            return (2, rank_in(("decision", "gotcha"), card.type), card.type), capitalized(card.type)


SYSTEM = RecordSystem(
    name="memory-store",
    intro=phrase("The memory of projects: the product map by stage, then everything else by kind."),
    rules=memory_store.RULES,
    endings=(".json", ".md", ".jsonl"),
    load=_load,
    owns=memory_store.owns,
    home=memory_store.home,
    root=memory_store.root,
    store_in=memory_store.store_in,
    store_names=(memory_store.STORE_FOLDER,),
    foreign=lambda _: memory_store.FOREIGN,
    group=_group,
    is_decision=lambda card: card.type == "decision",
    join=_join,
    together=_together,
    is_bound_in_store=True,
    inverse=_INVERSE,
)
