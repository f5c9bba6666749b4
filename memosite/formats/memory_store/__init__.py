"""memory-store: the memory of a project, a JSON sidecar and a Markdown body a node (SPEC 2.2, memory-store).

What the archive knows of the system besides how its files are read (`parse`) and joined (`join`): where they are, what
ids and groups records have, and the rules for findings on them.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from memosite.facts.findings import error, note, rules_in, warning
from memosite.facts.parsed import RecordCard
from memosite.facts.patterns import regex
from memosite.facts.phrases import phrase
from memosite.formats.system import GroupOrder, RecordSystem, capitalized, rank_in

# Where a memory-store keeps its files: the `.memory/` folder of a repo (SPEC 2.2, memory-store).


STORE_FOLDER = ".memory"
"""The name of a store's folder."""

FOREIGN = "a file in a memory-store's folder that is none of its parts"
StorePart = Literal["config", "marker", "events", "relation", "node", "body"]
_FILES: dict[str, StorePart] = {"config.json": "config", "sync-state.json": "marker", "events.jsonl": "events"}
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


def part_of(path: str) -> StorePart | None:
    """Which part of a store a file would be by its place; its shape has to agree."""
    place = store_of(path)
    below = place[1] if place else ""
    if below.startswith("relations/") and below.endswith(".json"):
        return "relation"
    if below.startswith("memory/"):
        return "node" if below.endswith(".json") else "body" if below.endswith(".md") else None
    return _FILES.get(below)


# The rules for findings on memory-stores.


_STORE = "memory-store reference"

LEFT_ALONE = note("store-left-alone", "SPEC 2.2, memory-store")(
    "Files as in a memory-store, but without a valid config.json; they are not shown.",
    "Correct .memory/config.json, unless another tool wrote the files.",
)
VERSION = warning("store-version", f"{_STORE}, Config; SPEC 2.2")(
    "An unknown version of the storage.", "Check the pages; memosite knows versions 4 and 5."
)
ID = error("store-id", f"{_STORE}, Node kinds; SPEC 2.2")(
    "An id is invalid, or does not fit the node's type.", "Write kind.slug, or rel.slug for a relation."
)
VALUE = error("store-value", f"{_STORE}, Statuses, Stages, Relations; SPEC 2.2")(
    "A value that the storage, or this kind of node, does not allow.", "Use one that the message names."
)
HASH = warning("store-hash", "SPEC 2.2, memory-store")(
    "content_hash does not match.", "Compare with the last commit, then save with the tool."
)
BODY_PATH = error("store-body-path", f"{_STORE}, Sidecar fields; SPEC 2.2")(
    "body_path names a file outside the store, or with another name.",
    "Name the .md file beside the sidecar: memory/….md.",
)
BODY_MISSING = error("store-body-missing", f"{_STORE}, Storage layout; SPEC 2.2")(
    "The body that a sidecar names is missing.", "Restore the file, or correct body_path."
)
BODY_ORPHAN = warning("store-body-orphan", f"{_STORE}, Storage layout; SPEC 2.2")(
    "No sidecar names this body; it is shown by itself.", "Restore its sidecar, or remove the file."
)
CONFLICT = error("store-conflict", "SPEC 2.2, memory-store", hides_content=True)(
    "Markers of an unresolved merge.", "Resolve the merge in this file."
)
EVENT = error("store-event", f"{_STORE}, Events; SPEC 2.2")(
    "An invalid line of events.jsonl; the others count.", "Correct or remove the line."
)
DUPLICATE = error("store-duplicate", f"{_STORE}, Node kinds; SPEC 2.2")(
    "Two nodes or relations of one store have the same id or content.", "Give each its own id, or remove one."
)
RELATION_END = error("store-relation-end", f"{_STORE}, Relations; SPEC 2.2")(
    "A relation begins or ends at a missing node.", "Correct the id, or remove the relation."
)
SUPERSEDED = warning("store-superseded", f"{_STORE}, Sidecar fields; SPEC 2.2")(
    "superseded_by is missing or wrong.", "Name the replacement."
)

RULES = rules_in(globals())
"""All of them, in this order."""

# What its records mean.

KINDS = (
    *("project", "feature", "decision", "gotcha", "question"),
    *("architecture", "constraint", "fact", "source", "synthesis", "workflow", "note", "concept"),
)
"""Kinds of nodes: the five of version 5, then those of version 4 alone."""
_IDS = tuple((f"{kind}.", regex(rf"{kind}\.[a-z0-9][a-z0-9-]{{0,200}}(?![\w/\\(])")) for kind in KINDS)
STAGES = ("idea", "building", "shipped", "paused", "dead")
"""Stages of features; no other kind has one."""
INVERSE: Mapping[str, str] = {
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
"""Predicates as seen from their other end: the four of version 5, then those of version 4 alone."""


def _together(path: str) -> tuple[str, ...]:
    """A node's sidecar is checked with its body."""
    return (f"{path.rpartition('.')[0]}.md",) if part_of(path) == "node" else ()


def _group(card: RecordCard) -> tuple[GroupOrder, str]:
    """The project, the product map by stage, questions by status last, everything else by kind."""
    match card.type:
        case "project":
            return (0, 0, ""), "Project"
        case "feature":
            return (1, rank_in(STAGES, card.stage or ""), card.stage or ""), f"Product map: {card.stage or 'no stage'}"
        case "question":
            state = card.status or "no status"
            return (3, rank_in(("open", "closed"), state), state), f"Question: {state}"
        case _:
            return (2, rank_in(("decision", "gotcha"), card.type), card.type), capitalized(card.type)


SYSTEM = RecordSystem(
    name="memory-store",
    intro=phrase("What a project remembers of itself: features by stage, decisions, pitfalls and open questions."),
    rules=RULES,
    ids=_IDS,
    endings=(".json", ".md", ".jsonl"),
    parser=f"{__name__}.join",
    owns=owns,
    home=home,
    root=root,
    store_in=store_in,
    store_names=(STORE_FOLDER,),
    foreign=lambda _: FOREIGN,
    group=_group,
    is_decision=lambda card: card.type == "decision",
    together=_together,
    is_bound_in_store=True,
    inverse=INVERSE,
)
