"""Where wyren keeps its memory: `.wyren/memory.md`, older `.relay/memory.md` (SPEC 2.2, wyren)."""

from collections.abc import Sequence

ROOTS = (".wyren", ".relay")
MEMORY_NAME = "memory.md"
"""The name of wyren's memory, in one of its folders."""


def owns(path: str) -> bool | None:
    """Whether Markdown is below one of wyren's folders."""
    folders = path.split("/")[:-1]
    return True if path.lower().endswith(".md") and any(folder in ROOTS for folder in folders) else None


def root(path: str) -> str | None:
    """The folder around wyren's."""
    folders = path.split("/")[:-1]
    depth = next((index for index, folder in enumerate(folders) if folder in ROOTS), None)
    return None if depth is None else "/".join(folders[:depth])


def store_in(parts: Sequence[str], files: Sequence[str]) -> int | None:
    """Whether a folder is wyren's, by its name and the memory in it."""
    return len(parts) - 1 if tuple(parts[-1:]) in {(name,) for name in ROOTS} and MEMORY_NAME in files else None
