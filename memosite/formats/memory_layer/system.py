"""memory-layer: session memory of a coding agent, one JSON file a record, by category (SPEC 2.2, memory-layer)."""

from memosite.facts.parsed import RecordCard
from memosite.facts.phrases import phrase
from memosite.formats import memory_layer
from memosite.formats.system import Adapter, GroupOrder, RecordSystem, capitalized, rank_in


def _load() -> Adapter:
    from memosite.formats.memory_layer import parse  # noqa: PLC0415 - see `formats/system.py`

    return parse


def _foreign(path: str) -> str:
    if path.lower().endswith(".md"):
        return "Markdown in a memory-layer's folder, which keeps JSON"
    return "a JSON file in a memory-layer's folder without meta.category and content"


def _group(card: RecordCard) -> tuple[GroupOrder, str]:
    """By category, what is archived after what is not."""
    is_archived, kind = card.key.startswith(f"{memory_layer.ARCHIVE}."), capitalized(card.type)
    order = (int(is_archived), rank_in(memory_layer.CATEGORIES, card.type), kind)
    return order, f"{kind}, archived" if is_archived else kind


SYSTEM = RecordSystem(
    name="memory-layer",
    intro=phrase("What sessions saved for later ones, by category."),
    rules=memory_layer.RULES,
    endings=(".json", ".md"),
    load=_load,
    owns=memory_layer.owns,
    home=memory_layer.home,
    root=memory_layer.root,
    store_in=memory_layer.store_in,
    foreign=_foreign,
    group=_group,
    is_decision=lambda card: card.type == "decisions",
    rank=memory_layer.rank,
    lost_reference=memory_layer.REFERENCE,
    reference_key="content.context_references",
    inverse={"archive of": "archived again as"},
)
