"""wyren: the shared memory of a team's coding sessions, a record for each bullet (SPEC 2.2, wyren).

What the archive knows of the system besides how its files are read (`parse`): where they are, what ids and sections
records have, and the rules for findings on them.
"""

from collections.abc import Sequence

from memosite.facts.findings import note, rules_in, warning
from memosite.facts.parsed import RecordCard
from memosite.facts.patterns import regex
from memosite.facts.phrases import phrase
from memosite.formats.system import GroupOrder, RecordSystem, capitalized, rank_in

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

# What its records mean.

_IDS = ((".", regex(r"\.[0-9a-f]{8}(?:-[0-9]{1,4})?(?![\w/\\(-])")),)
_DECISIONS, _REJECTED, HANDOFF = "Decisions", "Rejected paths", "Handoff notes"
SECTIONS = (_DECISIONS, _REJECTED, "Live workarounds", "Known broken state", "Scope changes", "Open questions", HANDOFF)
"""The sections that wyren knows, as they are written."""


def _group(card: RecordCard) -> tuple[GroupOrder, str]:
    """By section, in the order of wyren's schema."""
    name = card.section or card.type
    return (int(card.section is None), rank_in(SECTIONS, name), name), capitalized(name)


SYSTEM = RecordSystem(
    name="wyren",
    intro=phrase("What was learned in AI sessions, in one file: decisions, rejected paths, workarounds and questions."),
    rules=RULES,
    ids=_IDS,
    endings=(".md",),
    parser=f"{__name__}.parse",
    owns=owns,
    root=root,
    store_in=store_in,
    store_names=ROOTS,
    older=older,
    is_list=is_memory,
    foreign=lambda _: "Markdown in wyren's folder that is no memory.md with one of its sections",
    group=_group,
    is_decision=lambda card: card.section in (_DECISIONS, _REJECTED),
    is_rejected=lambda card: card.section == _REJECTED,
    has_stems=False,
    has_short_sessions=True,
)
