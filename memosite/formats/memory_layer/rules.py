"""The rules for findings on memory-layers.

Each rule has its meaning, its clause and its remedy; `findings` explains the severities.
"""

from memosite.facts.findings import Rule, Severity

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

CATEGORY = Rule(
    id="memory-layer-category",
    severity=_E,
    meaning="An unknown category.",
    clause="memory-layer format, required meta fields; SPEC 2.2",
    remedy="Write context, decisions, interfaces or handoffs.",
)
FOLDER = Rule(
    id="memory-layer-folder",
    severity=_W,
    meaning="The category is not that of the folder.",
    clause="memory-layer format, directory structure; SPEC 2.2",
    remedy="Move the file to its category's folder, or correct meta.category.",
)
REFERENCE = Rule(
    id="memory-layer-reference",
    severity=_N,
    meaning="A context reference to an unknown record.",
    clause="memory-layer format, handoffs, context_references; SPEC 2.2",
    remedy="Name the file without .json, unless it was cleaned up.",
)

RULES = tuple(one for one in tuple(globals().values()) if isinstance(one, Rule))
"""All of them, in this order."""
