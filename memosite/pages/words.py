"""Words that pages and commands show in the place of values of the data (docs/style.md)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from memosite.archive.model import Action
from memosite.facts.phrases import phrase, phrases

ShownAction = Action | Literal["partly"]
"""How far an action is. `partly`: a memo to all that somebody has answered, and others have to."""

_ACTIONS: Mapping[str, str] = MappingProxyType(
    {
        "open": phrase("open"),
        "superseded": phrase("superseded"),
        "answered": phrase("answered"),
        "discharged": phrase("closed"),
        "partly": phrase("partly answered"),
    }
)
_CITED: Mapping[str, str] = MappingProxyType(
    {
        "memo": phrase("Cite this memo"),
        "note": phrase("Cite this note"),
        "transcript": phrase("Cite this transcript"),
        "library": phrase("Cite this library"),
        "record": phrase("Cite this record"),
        "document": phrase("Cite this document"),
    }
)
_STANDINGS: Mapping[str, str] = MappingProxyType(
    {
        "pending": phrase("pending"),
        "accepted": phrase("accepted"),
        "rejected": phrase("rejected"),
        "superseded": phrase("superseded"),
    }
)


def action_word(action: str) -> str:
    """The word for the state of an action; data, queries and anchors keep the value."""
    return _ACTIONS.get(action, action)


def standing_word(standing: str) -> str:
    """The word for how a decision stands."""
    return _STANDINGS.get(standing, standing)


def cite_words(kind: str) -> str:
    """What the citation of an artifact of this kind is called."""
    return _CITED[kind]


def severity_word(severity: str) -> str:
    """The word for how serious a finding is; a note of this kind is no memo."""
    return {"error": phrase("error"), "warning": phrase("warning")}.get(severity, phrase("note", context="finding"))


def severities(severity: str, number: int) -> str:
    """So many findings that are so serious."""
    match severity:
        case "error":
            return phrases("{n:,} error", "{n:,} errors", number)
        case "warning":
            return phrases("{n:,} warning", "{n:,} warnings", number)
        case _:
            return phrases("{n:,} note", "{n:,} notes", number, context="finding")
