"""Reads how a decision stands from its status, which people word freely: `Accept with changes`, `✅ Ratified 3 May`."""

import re
from collections.abc import Mapping
from typing import Literal

Standing = Literal["pending", "accepted", "rejected", "superseded"]
"""How a decision stands. What is superseded is not in force any more."""

_WORDS: Mapping[Standing, str] = {
    "superseded": "super[sc]ee?ded|replaced|obsolete|deprecated|retired|revoked|repealed|rescinded|expired|stale",
    "rejected": "reject(?:ed)?|declined?|denied|refused?|withdrawn|abandoned|cancell?ed|dropped"
    "|not (?:accept|approv|adopt)ed",
    "pending": (
        "propos(?:ed|al)|pending|drafte?d?|open|awaiting|awaits|waiting|(?:under|in) (?:review|discussion)"
        "|review|rfc|request for comments|discussion|tbd|to be decided|undecided|unratified|deferred|postponed|on hold"
        "|wip|idea|submitted|requested|not yet|needs|for (?:decision|ratification|approval)"
    ),
    "accepted": (
        "accept(?:ed)?|approved?|adopt(?:ed)?|ratif(?:y|ied)|decided|agreed|final|active|implemented|done|closed"
        "|in force|enacted|effective|current|confirmed|resolved|passed|shipped|completed?"
    ),
}
_FIRST = re.compile("|".join(rf"(?P<{standing}>\b(?:{words})\b)" for standing, words in _WORDS.items()), re.IGNORECASE)
_STRUCK = re.compile(r"~~.*?~~")
_PARTLY = re.compile(r"\b(?:part(?:ly|ially)|in part)\s+(?:superseded|superceded|replaced)\b", re.IGNORECASE)
_BY_ANOTHER = re.compile(rf"\b(?:{_WORDS['superseded']})\s+by\b", re.IGNORECASE)
_AWAITS = re.compile(
    r"\b(?:await(?:s|ing)?|pending|waiting (?:for|on))\b"
    r"|\b(?:subject to|needs|before)\b.*\b(?:ratif|approv|decision|sign|review|confirm|vote)",
    re.IGNORECASE,
)
_WORK = re.compile(
    r"\b(?:await(?:s|ing)?|pending|waiting (?:for|on))(?:\s+\w+){0,2}\s+(?:implement|deploy|roll-?out|releas|migrat)",
    re.IGNORECASE,
)


def awaits(status: str) -> bool:
    """Whether a status says that a decision waits for somebody. What waits for work alone is decided."""
    text = _STRUCK.sub(" ", status)
    is_over = _PARTLY.search(text) or _BY_ANOTHER.search(text) or _first(text) in {"superseded", "rejected"}
    return not is_over and bool(_AWAITS.search(_WORK.sub(" ", text)))


def read_status(status: str) -> Standing | None:
    """How a decision with this status stands: by its first word that says so. None if no word does.

    One that was accepted and is superseded by another is superseded; one that is accepted and awaits somebody is
    pending. What is superseded in part is in force.
    """
    text = _STRUCK.sub(" ", status)
    partly = _PARTLY.search(text)
    if partly:
        return "accepted"
    if _BY_ANOTHER.search(text):
        return "superseded"
    return "pending" if awaits(status) else _first(text)


def _first(text: str) -> Standing | None:
    found = _FIRST.search(text)
    return next((standing for standing in _WORDS if found and found[standing]), None)
