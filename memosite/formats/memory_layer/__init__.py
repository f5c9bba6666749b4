"""memory-layer: session memory of a coding agent, one JSON file a record, by category (SPEC 2.2, memory-layer).

What the archive knows of the system besides how its files are read (`parse`): where they are, what ids and groups
records have, and the rules for findings on them.
"""

from collections.abc import Sequence

from memosite.facts.findings import error, note, rules_in, warning
from memosite.facts.names import stem_of
from memosite.facts.parsed import RecordCard
from memosite.facts.patterns import regex
from memosite.facts.phrases import phrase
from memosite.facts.values import Value
from memosite.formats.system import GroupOrder, RecordSystem, capitalized, rank_in

# Where a memory-layer keeps its files: `{.claude,.cui,.plan}/memory/[archive/]<category>/` (SPEC 2.2).


ROOTS = (".claude", ".cui", ".plan")
CATEGORIES = ("context", "decisions", "interfaces", "handoffs")
ARCHIVE = "archive"
LAYER_FOLDER = "memory"
"""The folder of a memory-layer, below one of `ROOTS`."""

_SUFFIXES = (".json", ".md")
_ANY_CATEGORY = f"{', '.join(CATEGORIES[:-1])} or {CATEGORIES[-1]}"


class LayerPlace(Value):
    """Where a file of a memory-layer is: the category its folder is for, and whether that is in the archive."""

    category: str
    is_archived: bool


def layer_place(path: str) -> LayerPlace | None:
    """The place of a file, None outside the folders of categories."""
    *folders, category, _ = ("", *path.split("/"))
    is_archived = folders[-1:] == [ARCHIVE]
    above = folders[-3:-1] if is_archived else folders[-2:]
    is_category = category in CATEGORIES and len(above) == 2
    if not is_category or above[0] not in ROOTS or above[1] != LAYER_FOLDER:
        return None
    return LayerPlace(category=category, is_archived=is_archived)


def key_at(path: str) -> str | None:
    """The key of the record in a file, by its place alone; None outside the folders of categories."""
    place, stem = layer_place(path), stem_of(path.rpartition("/")[2])
    if place is None:
        return None
    return f"{ARCHIVE}.{place.category}.{stem}" if place.is_archived else f"{place.category}.{stem}"


def home(path: str) -> str | None:
    """The folder of the memory-layer that a file is in, such as `desk/.claude/memory`."""
    folders = path.split("/")[:-1]
    for end in range(1, len(folders)):
        if folders[end] == LAYER_FOLDER and folders[end - 1] in ROOTS:
            return "/".join(folders[: end + 1])
    return None


def owns(path: str) -> bool | None:
    """Whether a file is in a memory-layer and may be one of its files by its name."""
    return True if path.lower().endswith(_SUFFIXES) and home(path) is not None else None


def root(path: str) -> str | None:
    """The folder around `.claude`, `.cui` or `.plan`."""
    layer = home(path)
    return "/".join(layer.split("/")[:-2]) if layer is not None else None


def store_in(parts: Sequence[str], files: Sequence[str]) -> int | None:
    """Whether a folder is that of a category with JSON in it."""
    place = layer_place("/".join((*parts, "-")))
    if place is None or not any(name.lower().endswith(".json") for name in files):
        return None
    return len(parts) - (4 if place.is_archived else 3)


def rank(path: str) -> tuple[bool, ...]:
    """For records of one name: what is not archived comes first, and of that the context."""
    place = layer_place(path)
    return (place is not None and place.is_archived, place is not None and place.category != "context")


# The rules for findings on memory-layers.


CATEGORY = error("memory-layer-category", "memory-layer format, required meta fields; SPEC 2.2")(
    "An unknown category.", "Write context, decisions, interfaces or handoffs."
)
FOLDER = warning("memory-layer-folder", "memory-layer format, directory structure; SPEC 2.2")(
    "The category is not that of the folder.", "Move the file to its category's folder, or correct meta.category."
)
REFERENCE = note("memory-layer-reference", "memory-layer format, handoffs, context_references; SPEC 2.2")(
    "A context reference to an unknown record.", "Name the file without .json, unless it was cleaned up."
)

RULES = rules_in(globals())
"""All of them, in this order."""

# What its records mean.

_IDS = tuple((f".{name}.", regex(rf"\.{name}\.\w[\w-]{{0,200}}(?![\w/\\(])")) for name in CATEGORIES)


def _foreign(path: str) -> str:
    if path.lower().endswith(".md"):
        return "Markdown in a memory-layer's folder, which keeps JSON"
    return f"a JSON file in a memory-layer's folder without content, or whose meta.category is not {_ANY_CATEGORY}"


def _group(card: RecordCard) -> tuple[GroupOrder, str]:
    """By category, what is archived after what is not."""
    is_archived, kind = card.key.startswith(f"{ARCHIVE}."), capitalized(card.type)
    order = (int(is_archived), rank_in(CATEGORIES, card.type), kind)
    return order, f"{kind}, archived" if is_archived else kind


SYSTEM = RecordSystem(
    name="memory-layer",
    intro=phrase("What AI sessions saved for later ones: context, decisions, interfaces and handoffs, a file each."),
    rules=RULES,
    ids=_IDS,
    endings=(".json", ".md"),
    parser=f"{__name__}.parse",
    owns=owns,
    home=home,
    root=root,
    key_at=key_at,
    store_in=store_in,
    foreign=_foreign,
    group=_group,
    is_decision=lambda card: card.type == "decisions",
    rank=rank,
    lost_reference=REFERENCE,
    reference_key="content.context_references",
    inverse={"archive of": "archived again as"},
)
