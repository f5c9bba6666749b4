"""The record system memory-store: where its files are, and the rules for findings on them.

Each rule has its meaning, its clause and its remedy; `findings` explains the severities.
"""

from collections.abc import Sequence

from memosite.facts.findings import Rule, Severity

# Where a memory-store keeps its files: the `.memory/` folder of a repo (SPEC 2.2, memory-store).


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


# The rules for findings on memory-stores.


_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE


_STORE = "memory-store reference"


LEFT_ALONE = Rule(
    id="store-left-alone",
    severity=_N,
    meaning="Files as in a memory-store, but without a valid config.json; they are not shown.",
    clause="SPEC 2.2, memory-store",
    remedy="Correct .memory/config.json, unless another tool wrote the files.",
)


VERSION = Rule(
    id="store-version",
    severity=_W,
    meaning="An unknown version of the storage.",
    clause=f"{_STORE}, Config; SPEC 2.2",
    remedy="Check the pages; memosite knows versions 4 and 5.",
)


ID = Rule(
    id="store-id",
    severity=_E,
    meaning="An id is invalid, or does not fit the node's type.",
    clause=f"{_STORE}, Node kinds; SPEC 2.2",
    remedy="Write kind.slug, or rel.slug for a relation.",
)


VALUE = Rule(
    id="store-value",
    severity=_E,
    meaning="A value that the storage, or this kind of node, does not allow.",
    clause=f"{_STORE}, Statuses, Stages, Relations; SPEC 2.2",
    remedy="Use one that the message names.",
)


HASH = Rule(
    id="store-hash",
    severity=_W,
    meaning="content_hash does not match.",
    clause="SPEC 2.2, memory-store",
    remedy="Compare with the last commit, then save with the tool.",
)


BODY_PATH = Rule(
    id="store-body-path",
    severity=_E,
    meaning="body_path names a file outside the store, or with another name.",
    clause=f"{_STORE}, Sidecar fields; SPEC 2.2",
    remedy="Name the .md file beside the sidecar: memory/….md.",
)


BODY_MISSING = Rule(
    id="store-body-missing",
    severity=_E,
    meaning="The body that a sidecar names is missing.",
    clause=f"{_STORE}, Storage layout; SPEC 2.2",
    remedy="Restore the file, or correct body_path.",
)


BODY_ORPHAN = Rule(
    id="store-body-orphan",
    severity=_W,
    meaning="No sidecar names this body; it is shown by itself.",
    clause=f"{_STORE}, Storage layout; SPEC 2.2",
    remedy="Restore its sidecar, or remove the file.",
)


CONFLICT = Rule(
    id="store-conflict",
    severity=_E,
    hides_content=True,
    meaning="Markers of an unresolved merge.",
    clause="SPEC 2.2, memory-store",
    remedy="Resolve the merge in this file.",
)


EVENT = Rule(
    id="store-event",
    severity=_E,
    meaning="An invalid line of events.jsonl; the others count.",
    clause=f"{_STORE}, Events; SPEC 2.2",
    remedy="Correct or remove the line.",
)


DUPLICATE = Rule(
    id="store-duplicate",
    severity=_E,
    meaning="Two nodes or relations of one store have the same id or content.",
    clause=f"{_STORE}, Node kinds; SPEC 2.2",
    remedy="Give each its own id, or remove one.",
)


RELATION_END = Rule(
    id="store-relation-end",
    severity=_E,
    meaning="A relation begins or ends at a missing node.",
    clause=f"{_STORE}, Relations; SPEC 2.2",
    remedy="Correct the id, or remove the relation.",
)


SUPERSEDED = Rule(
    id="store-superseded",
    severity=_W,
    meaning="superseded_by is missing or wrong.",
    clause=f"{_STORE}, Sidecar fields; SPEC 2.2",
    remedy="Name the replacement.",
)


RULES = tuple(one for one in tuple(globals().values()) if isinstance(one, Rule))
"""All of them, in this order."""
