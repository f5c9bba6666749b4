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
    r"\b(?:awaiting|awaits|pending|subject to|needs|waiting for|before)\b.*"
    r"\b(?:ratif|approv|decision|sign|review|confirm|vote)",
    re.IGNORECASE,
)


def read_status(status: str) -> Standing | None:
    """How a decision with this status stands: by its first word that says so. None if no word does.

    One that was accepted and is superseded by another is superseded; one that is accepted and awaits ratification is
    pending. What is superseded in part is in force.
    """
    text = _STRUCK.sub(" ", status)
    partly = _PARTLY.search(text)
    if partly:
        return "accepted"
    if _BY_ANOTHER.search(text):
        return "superseded"
    if _AWAITS.search(text):
        return "pending"
    found = _FIRST.search(text)
    return next((standing for standing in _WORDS if found and found[standing]), None)
