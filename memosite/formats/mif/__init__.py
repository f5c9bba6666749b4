"""MIF: memories as Markdown with YAML at the head, one record a file (SPEC 2.2, mif).

What the archive knows of the system besides how its files are read (`parse`): where they are, what ids, relations and
groups records have, and the rules for findings on them.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from memosite.facts.findings import error, rules_in, warning
from memosite.facts.parsed import RecordCard
from memosite.facts.patterns import regex
from memosite.facts.phrases import phrase
from memosite.formats.system import GroupOrder, RecordSystem, capitalized

# Recognizes MIF files: by `.memory.md` in MIF 0.1, by the first lines of Markdown in MIF 1.0 (SPEC 2.2, mif).


SUFFIX = ".memory.md"
TYPES = ("semantic", "episodic", "procedural")
_OPENINGS = (b"---\n", b"--- ", b"---\t")
_FIELDS = tuple(
    regex(rf"^[ \t]*[\"']?{name}[\"']?[ \t]*:".encode(), re.MULTILINE | re.IGNORECASE)
    for name in ("id", "type", "created")
)


def owns(path: str) -> bool | None:
    """Whether a file is named as a record of MIF 0.1; those of 1.0 may be anywhere, recognized by their head."""
    return path.lower().endswith(SUFFIX) or None


def begins(head: bytes) -> bool:
    """Whether a file begins with `---` and has lines `id:`, `type:` and `created:` in its first bytes (MIF 1.0).

    Blank lines before count as a fault of the record, and keys in capitals as well.
    """
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip().replace(b"\r", b"\n")
    return head.startswith(_OPENINGS) and all(name.search(head) for name in _FIELDS)


# The relations that MIF names, and the prefix that an id may have.


URN = "urn:mif:"

_PAIRS = (
    ("relates-to", "relates-to"),
    ("conflicts-with", "conflicts-with"),
    ("derived-from", "derives"),
    ("supersedes", "superseded-by"),
    ("contradicts", "contradicted-by"),
    ("part-of", "contains"),
    ("implements", "implemented-by"),
    ("uses", "used-by"),
    ("created", "created-by"),
    ("mentioned-in", "mentions"),
    ("blocks", "blocked-by"),
    ("reinforces", "reinforced-by"),
)
"""Relations and how they are called from their other end (MIF 1.0, 8.2; `blocks` is 0.1's); some are their own."""

INVERSE: Mapping[str, str] = MappingProxyType({**dict(_PAIRS), **{inverse: name for name, inverse in _PAIRS}})


# The rules for findings on MIF records.


_MIF = "mnemonic-format, Validation Rules"

ID = error("mif-id", f"{_MIF}, Required Checks 1; SPEC 2.2")(
    "A record's id is missing or, in MIF 0.1, not a lowercase UUID version 4.",
    "Write a UUID version 4 in lower case, as uuidgen prints it.",
)
ID_FORM = warning("mif-id-form", "MIF 1.0, 4.1")(
    "The id of a MIF 1.0 record is not a UUID.", "Write a UUID, unless other records use the id."
)
TYPE = error("mif-type", f"{_MIF}, Required Checks 2; SPEC 2.2")(
    "A record's type is missing or unknown.", "Write semantic, episodic or procedural."
)
NAMESPACE = error("mif-namespace", f"{_MIF}, Required Checks 3")(
    "A record's namespace is missing, or not like namespace/scope.", "Write it like decisions/project."
)
CREATED = error("mif-created", f"{_MIF}, Required Checks 4; SPEC 2.2")(
    "A record's creation date is missing, or not ISO 8601.", "Write it like 2026-01-24T10:30:00Z."
)
TITLE = error("mif-title", f"{_MIF}, Required Checks 5")("A record has no title.", "Add a title to the frontmatter.")
CITATION = error("mif-citation", f"{_MIF}, Citation Checks 1 to 3")(
    "A citation's type, title or address is missing or wrong.", "Add what the message names."
)
CITATION_DETAIL = warning("mif-citation-detail", f"{_MIF}, Citation Checks 4 to 6; MIF 1.0, 5.4.7")(
    "A detail of a citation is not in the recommended form.", "Write it as the message says."
)
CONFIDENCE = warning("mif-confidence", f"{_MIF}, Recommended Checks 1")(
    "A confidence is not from 0.0 to 1.0.", "Write a number from 0.0 to 1.0."
)
VALID_FROM = warning("mif-valid-from", f"{_MIF}, Recommended Checks 2")(
    "valid_from is after recorded_at.", "Correct one date."
)
TAG = warning("mif-tag", f"{_MIF}, Recommended Checks 3")(
    "A tag is not lower case with hyphens.", "Write it like access-control."
)
CODE_PATH = warning("mif-code-path", f"{_MIF}, Recommended Checks 4")(
    "The path of a code reference is not relative.", "Write the path from the repo's root."
)
DATE = warning("mif-date", "mnemonic-format, Temporal Fields")(
    "A date or duration is not ISO 8601.", "Write it like 2026-01-24T10:30:00Z or P90D."
)
FIELD = warning("mif-field", "mnemonic-format, Field Reference; SPEC 2.2")(
    "A field of a record is invalid; it is shown as written.", "Write the form that the message names."
)

RULES = rules_in(globals())
"""All of them, in this order."""

# What its records mean.

_IDS = (("-", regex(r"-(?<=[0-9a-fA-F]{8}-)(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9A-Za-z-])")),)


def _group(card: RecordCard) -> tuple[GroupOrder, str]:
    """By type and namespace."""
    namespace = card.namespace or "no namespace"
    return (0, 0, f"{card.type}/{namespace}"), f"{capitalized(card.type)}: {namespace}"


SYSTEM = RecordSystem(
    name="mif",
    intro=phrase(
        "Memories of AI agents in the Memory Interchange Format: facts (semantic), events (episodic) and how-tos "
        "(procedural), by namespace."
    ),
    rules=RULES,
    ids=_IDS,
    endings=(".md",),
    parser=f"{__name__}.parse",
    owns=owns,
    suffix=SUFFIX,
    begins=begins,
    foreign=lambda _: (
        "named like a record of MIF, but without two of the fields that make one: id, a type of MIF, namespace, created"
    ),
    group=_group,
    is_decision=lambda card: "decisions" in (card.namespace or "").casefold().split("/"),
    has_titles=True,
    uri_prefix=URN,
    inverse=INVERSE,
    predicate_mark="-",
)
