"""Where a memory-store keeps its files: the `.memory/` folder of a repo (SPEC 2.2, memory-store)."""

from collections.abc import Sequence

STORE_FOLDER = ".memory"
"""The name of a store's folder."""

FOREIGN = "a file in a memory-store's folder that is none of its parts"

_GENERATED = frozenset({"schema", "index", "recovery", ".backup"})


def store_of(path: str) -> tuple[str, str] | None:
    """The folder of the store that a file is in, and the path below it; None outside of any.

    Of stores inside one another the outermost counts: the others are copies made by its tool.
    """
    folders = path.split("/")
    if STORE_FOLDER not in folders[:-1]:
        return None
    end = folders.index(STORE_FOLDER) + 1
    return "/".join(folders[:end]), "/".join(folders[end:])


def owns(path: str) -> bool | None:
    """Whether a file is a part of a store by its place; what the store's tool generates is none."""
    store = store_of(path)
    return None if store is None else store[1].partition("/")[0] not in _GENERATED


def home(path: str) -> str | None:
    """The folder of the store that a file is in."""
    store = store_of(path)
    return store[0] if store else None


def root(path: str) -> str | None:
    """The folder around the store that a file is in."""
    store = store_of(path)
    return store[0].rpartition("/")[0] if store else None


def store_in(parts: Sequence[str], files: Sequence[str]) -> int | None:
    """Whether a folder is a store, told by its name and its configuration."""
    return len(parts) - 1 if tuple(parts[-1:]) == (STORE_FOLDER,) and "config.json" in files else None
