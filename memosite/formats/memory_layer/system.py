"""memory-layer: session memory of a coding agent, one JSON file a record, by category (SPEC 2.2, memory-layer)."""

from memosite.facts.parsed import RecordCard
from memosite.facts.phrases import phrase
from memosite.formats.memory_layer import places, rules
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
    is_archived, kind = card.key.startswith(f"{places.ARCHIVE}."), capitalized(card.type)
    order = (int(is_archived), rank_in(places.CATEGORIES, card.type), kind)
    return order, f"{kind}, archived" if is_archived else kind


SYSTEM = RecordSystem(
    name="memory-layer",
    intro=phrase("What sessions saved for later ones, by category."),
    rules=rules.RULES,
    endings=(".json", ".md"),
    load=_load,
    owns=places.owns,
    home=places.home,
    root=places.root,
    store_in=places.store_in,
    foreign=_foreign,
    group=_group,
    is_decision=lambda card: card.type == "decisions",
    rank=places.rank,
    lost_reference=rules.REFERENCE,
    reference_key="content.context_references",
    inverse={"archive of": "archived again as"},
)
