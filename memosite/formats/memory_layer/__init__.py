"""The record system memory-layer: where its files are, and the rules for findings on them.

Each rule has its meaning, its clause and its remedy; `findings` explains the severities.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memosite.facts.findings import error, note, rules_in, warning

# Where a memory-layer keeps its files: `{.claude,.cui,.plan}/memory/[archive/]<category>/` (SPEC 2.2).


ROOTS = (".claude", ".cui", ".plan")


CATEGORIES = ("context", "decisions", "interfaces", "handoffs")


ARCHIVE = "archive"


LAYER_FOLDER = "memory"
"""The folder of a memory-layer, below one of `ROOTS`."""


_SUFFIXES = (".json", ".md")


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerPlace:
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
