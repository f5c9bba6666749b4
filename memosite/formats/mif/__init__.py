"""The record system MIF: where its files are, the relations that it names, and the rules for findings on them.

Each rule has its meaning, its clause and its remedy; `findings` explains the severities.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from memosite.facts.findings import Rule, Severity

# Recognizes MIF files: by `.memory.md` in MIF 0.1, by the first lines of Markdown in MIF 1.0 (SPEC 2.2, mif).


SUFFIX = ".memory.md"


_OPENINGS = (b"---\n", b"---\r\n", b"--- ", b"---\t", b"\xef\xbb\xbf---")


_FIELDS = tuple(re.compile(rf"^[\"']?{name}[\"']?[ \t]*:".encode(), re.MULTILINE) for name in ("id", "type", "created"))


def owns(path: str) -> bool | None:
    """Whether a file is named as a record of MIF 0.1; those of 1.0 may be anywhere, recognized by their head."""
    return path.lower().endswith(SUFFIX) or None


def begins(head: bytes) -> bool:
    """Whether a file begins with `---` and has lines `id:`, `type:` and `created:` in its first bytes (MIF 1.0)."""
    head = head.replace(b"\r\n", b"\n")
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


_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE


_MIF = "mnemonic-format, Validation Rules"


ID = Rule(
    id="mif-id",
    severity=_E,
    meaning="A record's id is missing or, in MIF 0.1, not a lowercase UUID version 4.",
    clause=f"{_MIF}, Required Checks 1; SPEC 2.2",
    remedy="Write a UUID version 4 in lower case, as uuidgen prints it.",
)


ID_FORM = Rule(
    id="mif-id-form",
    severity=_W,
    meaning="The id of a MIF 1.0 record is not a UUID.",
    clause="MIF 1.0, 4.1",
    remedy="Write a UUID, unless other records use the id.",
)


TYPE = Rule(
    id="mif-type",
    severity=_E,
    meaning="A record's type is missing or unknown.",
    clause=f"{_MIF}, Required Checks 2; SPEC 2.2",
    remedy="Write semantic, episodic or procedural.",
)


NAMESPACE = Rule(
    id="mif-namespace",
    severity=_E,
    meaning="A record's namespace is missing, or not like namespace/scope.",
    clause=f"{_MIF}, Required Checks 3",
    remedy="Write it like decisions/project.",
)


CREATED = Rule(
    id="mif-created",
    severity=_E,
    meaning="A record's creation date is missing, or not ISO 8601.",
    clause=f"{_MIF}, Required Checks 4; SPEC 2.2",
    remedy="Write it like 2026-01-24T10:30:00Z.",
)


TITLE = Rule(
    id="mif-title",
    severity=_E,
    meaning="A record has no title.",
    clause=f"{_MIF}, Required Checks 5",
    remedy="Add a title to the frontmatter.",
)


CITATION = Rule(
    id="mif-citation",
    severity=_E,
    meaning="A citation's type, title or address is missing or wrong.",
    clause=f"{_MIF}, Citation Checks 1 to 3",
    remedy="Add what the message names.",
)


CITATION_DETAIL = Rule(
    id="mif-citation-detail",
    severity=_W,
    meaning="A detail of a citation is not in the recommended form.",
    clause=f"{_MIF}, Citation Checks 4 to 6; MIF 1.0, 5.4.7",
    remedy="Write it as the message says.",
)


CONFIDENCE = Rule(
    id="mif-confidence",
    severity=_W,
    meaning="A confidence is not from 0.0 to 1.0.",
    clause=f"{_MIF}, Recommended Checks 1",
    remedy="Write a number from 0.0 to 1.0.",
)


VALID_FROM = Rule(
    id="mif-valid-from",
    severity=_W,
    meaning="valid_from is after recorded_at.",
    clause=f"{_MIF}, Recommended Checks 2",
    remedy="Correct one date.",
)


TAG = Rule(
    id="mif-tag",
    severity=_W,
    meaning="A tag is not lower case with hyphens.",
    clause=f"{_MIF}, Recommended Checks 3",
    remedy="Write it like access-control.",
)


CODE_PATH = Rule(
    id="mif-code-path",
    severity=_W,
    meaning="The path of a code reference is not relative.",
    clause=f"{_MIF}, Recommended Checks 4",
    remedy="Write the path from the repo's root.",
)


DATE = Rule(
    id="mif-date",
    severity=_W,
    meaning="A date or duration is not ISO 8601.",
    clause="mnemonic-format, Temporal Fields",
    remedy="Write it like 2026-01-24T10:30:00Z or P90D.",
)


FIELD = Rule(
    id="mif-field",
    severity=_W,
    meaning="A field of a record is invalid; it is shown as written.",
    clause="mnemonic-format, Field Reference; SPEC 2.2",
    remedy="Write the form that the message names.",
)


RULES = tuple(one for one in tuple(globals().values()) if isinstance(one, Rule))
"""All of them, in this order."""
