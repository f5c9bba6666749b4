"""Where the other memory systems keep their files: what may be a record by its place alone (SPEC 2.2).

Other tools use the same folders, so a place only says which adapter is asked and who is named in a note; the shape
decides.
"""

from dataclasses import dataclass

from memosite.facts.parsed import System

STORE_FOLDER = ".memory"
"""The name of a memory-store's folder."""

MIF_SUFFIX = ".memory.md"

WYREN_ROOTS = (".wyren", ".relay")
WYREN_NAME = "memory.md"
"""The name of wyren's memory, in one of its folders."""

LAYER_ROOTS = (".claude", ".cui", ".plan")
LAYER_CATEGORIES = ("context", "decisions", "interfaces", "handoffs")
LAYER_ARCHIVE = "archive"
LAYER_FOLDER = "memory"
"""The folder of a memory-layer, below one of `.claude`, `.cui` and `.plan`."""

_GENERATED = frozenset({"schema", "index", "recovery", ".backup"})
_STORE_SUFFIXES = (".json", ".md", ".jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPlace:
    """Where a file of a memory-layer lies: the category its folder is for, and whether that is in the archive."""

    category: str
    is_archived: bool


def memory_place(path: str) -> MemoryPlace | None:
    """The place of a file, None outside `{.claude,.cui,.plan}/memory/[archive/]<category>/`."""
    *folders, category, _ = ("", *path.split("/"))
    is_archived = folders[-1:] == [LAYER_ARCHIVE]
    root = folders[-3:-1] if is_archived else folders[-2:]
    is_category = category in LAYER_CATEGORIES and len(root) == 2
    if not is_category or root[0] not in LAYER_ROOTS or root[1] != LAYER_FOLDER:
        return None
    return MemoryPlace(category=category, is_archived=is_archived)


def store_of(path: str) -> tuple[str, str] | None:
    """The folder of the memory-store that a file lies in, and the path below it; None outside of any.

    Of stores that lie in one another the outermost counts: the others are copies that its tool has put away.
    """
    folders = path.split("/")
    if STORE_FOLDER not in folders[:-1]:
        return None
    end = folders.index(STORE_FOLDER) + 1
    return "/".join(folders[:end]), "/".join(folders[end:])


def record_system(path: str) -> System | None:
    """The system that a file would belong to by its place; None for a file at no such place.

    Markdown of MIF 1.0 may lie anywhere; its head tells it, not its place.
    """
    name = path.lower()
    if not name.endswith(_STORE_SUFFIXES):  # as most files of a memos folder: no system has any other
        return None
    store = store_of(path)
    if store is not None:
        is_generated = store[1].partition("/")[0] in _GENERATED
        return None if is_generated else "memory-store"
    if name.endswith(MIF_SUFFIX):
        return "mif"
    folders = path.split("/")[:-1]
    if name.endswith(".md") and any(folder in WYREN_ROOTS for folder in folders):
        return "wyren"
    return "memory-layer" if name.endswith((".json", ".md")) and layer_of(path) is not None else None


def layer_of(path: str) -> str | None:
    """The folder of the memory-layer that a file lies in, such as `desk/.claude/memory`; None outside of any."""
    folders = path.split("/")[:-1]
    for end in range(1, len(folders)):
        if folders[end] == LAYER_FOLDER and folders[end - 1] in LAYER_ROOTS:
            return "/".join(folders[: end + 1])
    return None


def root_of_record(path: str) -> str:
    """The folder that holds the store a record's file lies in: paths in records are seen from there.

    That is the folder around `.memory`, `.claude` or `.wyren`; for files of other places their own.
    """
    store, layer = store_of(path), layer_of(path)
    folders = path.split("/")[:-1]
    if store is not None:
        depth = store[0].count("/")
    elif layer is not None:
        depth = layer.count("/") - 1
    else:
        depth = next((index for index, folder in enumerate(folders) if folder in WYREN_ROOTS), len(folders))
    return "/".join(folders[:depth])
