"""The rules for findings on memory-stores.

Each rule has its meaning, its clause and its remedy; `findings` explains the severities.
"""

from memosite.facts.findings import Rule, Severity

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
