"""The rules for findings on wyren memories.

Each rule has its meaning, its clause and its remedy; `findings` explains the severities.
"""

from memosite.facts.findings import Rule, Severity

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

LONG = Rule(
    id="wyren-long",
    severity=_W,
    of_whole_file=True,
    meaning="A memory has more than 60 lines.",
    clause="wyren memory.md schema, size budget; SPEC 2.2",
    remedy="Remove outdated entries; move lasting texts to broadcast/.",
)
SECTION_LONG = Rule(
    id="wyren-section-long",
    severity=_W,
    of_whole_file=True,
    meaning="A section has more than 30 lines.",
    clause="wyren memory.md schema, hygiene rules; SPEC 2.2",
    remedy="Remove outdated entries.",
)
CODE = Rule(
    id="wyren-code",
    severity=_W,
    meaning="Code in a memory.",
    clause="wyren memory.md schema, hygiene rules; SPEC 2.2",
    remedy="Write the file's path and the conclusion instead.",
)
CONFLICT = Rule(
    id="wyren-conflict",
    severity=_W,
    meaning="Markers of an unresolved merge in a memory.",
    clause="SPEC 2.2, wyren",
    remedy="Resolve the merge, and keep each entry once.",
)
FENCED = Rule(
    id="wyren-fenced",
    severity=_N,
    of_whole_file=True,
    meaning="The whole memory is in a code fence.",
    clause="SPEC 2.2, wyren",
    remedy="Remove the two lines of the fence.",
)

RULES = tuple(one for one in tuple(globals().values()) if isinstance(one, Rule))
"""All of them, in this order."""
