"""The rules for findings on wyren memories.

Each rule has its meaning, its clause and its remedy; `findings` explains the severities.
"""

from memosite.facts.findings import Rule, Severity

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

LONG = Rule(
    id="wyren-long",
    severity=_W,
    of_whole_file=True,
    meaning="A memory of more than 60 lines.",
    clause="wyren memory.md schema, size budget; SPEC 2.2",
    remedy="Remove what is no longer true; keep lasting texts in broadcast/.",
)
SECTION_LONG = Rule(
    id="wyren-section-long",
    severity=_W,
    of_whole_file=True,
    meaning="A section of more than 30 lines.",
    clause="wyren memory.md schema, hygiene rules; SPEC 2.2",
    remedy="Remove what is no longer true.",
)
CODE = Rule(
    id="wyren-code",
    severity=_W,
    meaning="Code in a memory.",
    clause="wyren memory.md schema, hygiene rules; SPEC 2.2",
    remedy="Name the file by its path, and write down the conclusion alone.",
)
CONFLICT = Rule(
    id="wyren-conflict",
    severity=_W,
    meaning="Marks of an unresolved merge in a memory.",
    clause="SPEC 2.2, wyren",
    remedy="Resolve the merge, and keep each entry once.",
)
FENCED = Rule(
    id="wyren-fenced",
    severity=_N,
    of_whole_file=True,
    meaning="The whole memory stands in a code fence.",
    clause="SPEC 2.2, wyren",
    remedy="Remove the fence's two lines, so that Markdown readers show the lists.",
)

RULES = tuple(one for one in tuple(globals().values()) if isinstance(one, Rule))
"""All of them, in this order."""
