"""The record system wyren: where its files are, and the rules for findings on them.

Each rule has its meaning, its clause and its remedy; `findings` explains the severities.
"""

from collections.abc import Sequence

from memosite.facts.findings import note, rules_in, warning

# Where wyren keeps its memory: `.wyren/memory.md`, older `.relay/memory.md` (SPEC 2.2, wyren).


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


def is_memory(path: str) -> bool:
    """Whether wyren keeps its memory at a path."""
    return path.split("/")[-2:] in [[name, MEMORY_NAME] for name in ROOTS]


def older(path: str) -> tuple[str, ...]:
    """Where the memory at a path was before wyren's folder had its name of today."""
    folder, _, rest = path.rpartition(f"{ROOTS[0]}/")
    return tuple(f"{folder}{name}/{rest}" for name in ROOTS[1:]) if is_memory(path) and rest == MEMORY_NAME else ()


# The rules for findings on wyren memories.


LONG = warning("wyren-long", "wyren memory.md schema, size budget; SPEC 2.2", of_whole_file=True)(
    "A memory has more than 60 lines.", "Remove outdated entries; move lasting texts to broadcast/."
)
SECTION_LONG = warning("wyren-section-long", "wyren memory.md schema, hygiene rules; SPEC 2.2", of_whole_file=True)(
    "A section has more than 30 lines.", "Remove outdated entries."
)
CODE = warning("wyren-code", "wyren memory.md schema, hygiene rules; SPEC 2.2")(
    "Code in a memory.", "Write the file's path and the conclusion instead."
)
CONFLICT = warning("wyren-conflict", "SPEC 2.2, wyren")(
    "Markers of an unresolved merge in a memory.", "Resolve the merge, and keep each entry once."
)
FENCED = note("wyren-fenced", "SPEC 2.2, wyren", of_whole_file=True)(
    "The whole memory is in a code fence.", "Remove the two lines of the fence."
)


RULES = rules_in(globals())
"""All of them, in this order."""
