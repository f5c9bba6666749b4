"""The rules for findings on secrets, and what was found as values; nothing here holds a secret (SPEC 9)."""

from collections.abc import Iterable
from dataclasses import dataclass

from memosite.facts.findings import Finding, Rule, Severity

_WAY_OUT = "Rotate the key, then redact it or allow its fingerprint in memosite.yml."

SECRET_WITHHELD = Rule(
    id="secret-withheld",
    severity=Severity.ERROR,
    meaning="A secret in a file; the item is published without its content.",
    clause="SPEC 9",
    remedy=_WAY_OUT,
)
SECRET_REDACTED = Rule(
    id="secret-redacted",
    severity=Severity.ERROR,
    meaning="A secret, published as [REDACTED:rule].",
    clause="SPEC 9",
    remedy=_WAY_OUT,
)
SECRET_FORMERLY = Rule(
    id="secret-formerly",
    severity=Severity.WARNING,
    meaning="A secret in an earlier version of a file; that version is not shown.",
    clause="SPEC 9",
    remedy="Rotate the key, then rewrite the repo's history or allow the fingerprint.",
)
SECRET_IN_NAME = Rule(
    id="secret-in-name",
    severity=Severity.ERROR,
    meaning="A secret in the name of a file or folder, which is not read.",
    clause="SPEC 9",
    remedy="Rotate the key, then rename the file.",
)
SECRET_FORMERLY_IN_NAME = Rule(
    id="secret-formerly-in-name",
    severity=Severity.WARNING,
    meaning="A secret in a former name of a file, which is not shown.",
    clause="SPEC 9",
    remedy="Rotate the key, then rewrite the repo's history.",
)
SECRET_ALLOWED_IN_VAIN = Rule(
    id="secret-allowed-in-vain",
    severity=Severity.NOTE,
    meaning="secrets.allow has a fingerprint that fits no secret.",
    clause="SPEC 9",
    remedy="Remove the entry from secrets.allow.",
)

SECRET_RULES = (
    SECRET_WITHHELD,
    SECRET_REDACTED,
    SECRET_FORMERLY,
    SECRET_IN_NAME,
    SECRET_FORMERLY_IN_NAME,
    SECRET_ALLOWED_IN_VAIN,
)
"""All of them, in this order."""

_WITHHOLDING = frozenset({SECRET_WITHHELD.id, SECRET_IN_NAME.id})


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretHit:
    """A secret that was found in a file: by which rule, in which lines, and how it can be allowed.

    The `fingerprint` is made of its place, never of the secret.
    """

    rule: str
    line: int
    last_line: int
    fingerprint: str
    is_allowed: bool = False


def withheld_for_secrets(findings: Iterable[Finding]) -> tuple[str, ...]:
    """What is not published for a secret: each file with its first line and kind, in the order of their places."""
    by_file: dict[tuple[str, str], list[Finding]] = {}
    for one in sorted(findings, key=lambda one: one.sort_key):
        if one.rule.id in _WITHHOLDING:
            by_file.setdefault((one.location.source, one.location.path), []).append(one)
    return tuple(_first_of(found) for found in by_file.values())


def _first_of(found: list[Finding]) -> str:
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{found[0].location}: {found[0].message.partition(', fingerprint ')[0]}{more}"


def redacted_places(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The file of each secret that is redacted in one; an author's name, which is in none, is not counted."""
    found = (one.location for one in findings if one.rule.id == SECRET_REDACTED.id and one.location.path)
    return tuple(f"{where.source}/{where.path}" for where in found)
