"""The rules for findings on memory-stores.

Each rule has its meaning, its clause and its remedy; `findings` explains the severities.
"""

from memosite.facts.findings import Rule, Severity

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE
_STORE = "memory-store reference"

LEFT_ALONE = Rule(
    id="store-left-alone",
    severity=_N,
    meaning="Files as in a memory-store, but no config.json that makes one; they are left alone.",
    clause="SPEC 2.2, memory-store",
    remedy="Nothing to do if another tool wrote them; else mend .memory/config.json.",
)
VERSION = Rule(
    id="store-version",
    severity=_W,
    meaning="A version of the storage that memosite does not know.",
    clause=f"{_STORE}, Config; SPEC 2.2",
    remedy="Check what is shown; memosite knows versions 4 and 5.",
)
ID = Rule(
    id="store-id",
    severity=_E,
    meaning="An id has not the form it must have, or does not fit the node's type.",
    clause=f"{_STORE}, Node kinds; SPEC 2.2",
    remedy="Write kind.slug, or rel.slug for a relation.",
)
VALUE = Rule(
    id="store-value",
    severity=_E,
    meaning="A word the storage does not know, or not for this kind of node.",
    clause=f"{_STORE}, Statuses, Stages, Relations; SPEC 2.2",
    remedy="Use one of those the message names.",
)
HASH = Rule(
    id="store-hash",
    severity=_W,
    meaning="content_hash does not fit what it is made over.",
    clause="SPEC 2.2, memory-store",
    remedy="Compare with the last commit: the text was changed by hand, or damaged; then save it with the tool.",
)
BODY_PATH = Rule(
    id="store-body-path",
    severity=_E,
    meaning="body_path leads out of the store, or to another name.",
    clause=f"{_STORE}, Sidecar fields; SPEC 2.2",
    remedy="Name the .md file beside the sidecar, as memory/….md.",
)
BODY_MISSING = Rule(
    id="store-body-missing",
    severity=_E,
    meaning="The body that a sidecar names is not there.",
    clause=f"{_STORE}, Storage layout; SPEC 2.2",
    remedy="Bring the file back, or mend body_path.",
)
BODY_ORPHAN = Rule(
    id="store-body-orphan",
    severity=_W,
    meaning="A body that no sidecar names; it is shown by itself.",
    clause=f"{_STORE}, Storage layout; SPEC 2.2",
    remedy="Bring its sidecar back, or remove the file.",
)
CONFLICT = Rule(
    id="store-conflict",
    severity=_E,
    hides_content=True,
    meaning="Marks of an unresolved merge.",
    clause="SPEC 2.2, memory-store",
    remedy="Resolve the merge in this file.",
)
EVENT = Rule(
    id="store-event",
    severity=_E,
    meaning="A line of events.jsonl that cannot be used; the others count.",
    clause=f"{_STORE}, Events; SPEC 2.2",
    remedy="Mend or remove the line; blank lines too.",
)
DUPLICATE = Rule(
    id="store-duplicate",
    severity=_E,
    meaning="Two nodes or relations of one store have one id, or say the same.",
    clause=f"{_STORE}, Node kinds; SPEC 2.2",
    remedy="Give each an id of its own, or remove one.",
)
RELATION_END = Rule(
    id="store-relation-end",
    severity=_E,
    meaning="A relation begins or ends at a node that is not there.",
    clause=f"{_STORE}, Relations; SPEC 2.2",
    remedy="Mend the id, or remove the relation.",
)
SUPERSEDED = Rule(
    id="store-superseded",
    severity=_W,
    meaning="What a node is superseded by is not there, not said, or not so.",
    clause=f"{_STORE}, Sidecar fields; SPEC 2.2",
    remedy="Name the node that took its place.",
)

RULES = tuple(one for one in tuple(globals().values()) if isinstance(one, Rule))
"""All of them, in this order."""
