"""What documents, records and libraries say of themselves: what is a decision, its status, what took its place."""

import re
from collections.abc import Mapping
from typing import Literal

from memosite.archive.model import Artifact, Document, Record
from memosite.facts.parsed import DocumentHead
from memosite.formats.systems import system_of

# Reads how a decision stands from its status, which people word freely: `Accept with changes`, `✅ Ratified 3 May`.


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
    if _PARTLY.search(text):
        return "accepted"
    if _BY_ANOTHER.search(text):
        return "superseded"
    return "pending" if awaits(status) else _first(text)


def _first(text: str) -> Standing | None:
    found = _FIRST.search(text)
    return next((standing for standing in _WORDS if found and found[standing]), None)


# Tells what is a decision or a proposal, and how it stands (SPEC 2.2, documents).


Sort = Literal["decision", "proposal", "other"]
_DECISIONS = frozenset({"decisions", "decision", "adr", "adrs"})
_PROPOSALS = frozenset({"proposals", "proposal", "rfc", "rfcs"})

_INDEXES = re.compile(
    r"(?:_?index|readme|toc|contents|(?:[0-9]+-)?(?:adr-)?template)(?:[._-].*)?\.(?:md|markdown)", re.IGNORECASE
)


def sort_of_document(head: DocumentHead) -> Sort:
    """Whether a document is a decision or a proposal, by the nearest folder that says so, else by its head.

    READMEs, indexes and templates are neither.
    """
    *folders, name = head.file.path.casefold().split("/")
    if _INDEXES.fullmatch(name):
        return "other"
    for folder in reversed(folders):
        if folder in _DECISIONS:
            return "decision"
        if folder in _PROPOSALS:
            return "proposal"
    return "decision" if head.is_ruling else "other"


def sort_of(artifact: Artifact) -> Sort:
    """Whether an artifact is a decision, a proposal or neither."""
    if isinstance(artifact, Document):
        return sort_of_document(artifact.head)
    is_decision = isinstance(artifact, Record) and system_of(artifact.card).is_decision(artifact.card)
    return "decision" if is_decision else "other"


def standing_of(artifact: Artifact) -> Standing | None:
    """How a decision or a proposal stands; None if nothing says so.

    A proposal that nobody has decided is pending. A record of a system for decisions was decided.
    """
    if isinstance(artifact, Document):
        if artifact.superseded_by is not None:
            return "superseded"
        said = read_status(artifact.head.status or "")
        return said or ("pending" if sort_of(artifact) == "proposal" else None)
    if isinstance(artifact, Record):
        if artifact.superseded_by is not None or artifact.card.superseded_by:
            return "superseded"
        return read_status(artifact.said_status) or "accepted"
    return None
