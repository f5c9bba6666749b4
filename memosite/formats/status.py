"""What documents, records and libraries say of themselves: what is a decision, its status, what took its place."""

import re
from collections.abc import Mapping
from typing import Literal, get_args

from memosite.archive.model import Artifact, Document, Record
from memosite.facts.parsed import DocumentHead
from memosite.facts.patterns import regex
from memosite.formats.systems import system_of

# Reads how a decision stands from its status, which people word freely: `Accept with changes`, `✅ Ratified 3 May`.
# The forms that real files have are in docs/decisions/0026-decisions.md.


Standing = Literal["pending", "accepted", "rejected", "superseded", "unclear"]
"""How a decision stands. Only what is accepted, or has no status, is in force; `unclear` is a status of other words."""

STANDINGS = frozenset(get_args(Standing))

_WORDS: Mapping[Standing, str] = {
    "superseded": (
        "super[sc]ee?ded|replaced|obsolete|deprecated|retired|revoked|repealed|rescinded|expired|stale|reversed|reverted"
        "|ersetzt|abgelöst|überholt|aufgehoben"
    ),
    "rejected": (
        "reject(?:ed)?|declined?|denied|refused?|withdrawn|abandoned|cancell?ed|dropped|vetoed"
        "|not (?:accept|approv|adopt)ed|abgelehnt|verworfen|zurückgezogen"
    ),
    "pending": (
        "propos(?:ed|al)|pending|drafte?d?|open|awaiting|awaits|waiting|(?:under|in) (?:review|discussion)"
        "|review|rfc|request for comments|discussion|tbd|undecided|unratified|deferred|postponed|on hold"
        "|wip|idea|submitted|requested|filed|candidate|not yet|needs|for (?:decision|ratification|approval)|recommended"
        "|(?:not|never) (?:ratified|decided|final|agreed|active|effective|confirmed|resolved|in force)"
        "|(?:to|will|would|may|might|could|should|must) be (?:accept|approv|adopt|ratif|decid|agree|confirm)[a-z]+"
        "|(?:if|once|when|until|unless|before) (?:[a-z]+ ){0,2}(?:accepted|approved|adopted|ratified|decided|confirmed)"
        "|vorschlag|vorgeschlagen|entwurf|offen|ausstehend|zurückgestellt"
    ),
    "accepted": (
        "accept(?:ed)?|approved?|adopt(?:ed)?|ratif(?:y|ied)|decided|agreed|final|active|implemented|done|closed"
        "|in force|enacted|effective|current|confirmed|resolved|passed|shipped|completed?|(?<!non-)binding|applied"
        "|angenommen|akzeptiert|beschlossen|genehmigt|entschieden|freigegeben|gültig|umgesetzt"
    ),
}

_FIRST = regex("|".join(rf"(?P<{standing}>\b(?:{words})\b)" for standing, words in _WORDS.items()), re.IGNORECASE)
_PARTLY = regex(r"\b(?:part(?:ly|ially)|in part)\s+(?:superseded|superceded|replaced)\b", re.IGNORECASE)
_BY_ANOTHER = regex(rf"\b(?:{_WORDS['superseded']})\s+(?:by|durch)\b", re.IGNORECASE)

_CLAUSE = regex(r"[;,:()\[\]{}|—]|\.(?=\s|$)|\s[–-]\s")
_DECIDES = "ratif|approv|decision|sign|review|confirm|vote"
_AWAITS = regex(
    r"\b(?:await(?:s|ing)?|pending|waiting (?:for|on)|wartet auf|ausstehend|vorbehaltlich)\b"
    r"|\bsubject to\b(?! change\b)"
    rf"|\b(?:needs|before)\b.*\b(?:{_DECIDES})"
    rf"|\b(?:yet|has|have|is|are) to be (?:{_DECIDES})|\bratifies\b|^\W*recommended(?: only)?\W*$",
    re.IGNORECASE,
)
_ENDED = regex(
    r"~~.*?~~|\b(?:no longer|not|nothing|never|without|was|were|been|after|once|formerly|previously|originally|war)"
    r"\s+(?:\w+\s+)?(?:await(?:s|ing)?|pending|waiting (?:for|on)|subject to|draft)\b"
    r"(?:\s+(?!(?:and|but|now)\b)\w+){0,4}",
    re.IGNORECASE,
)
"""What holds no longer: `~~Proposed~~`, `was awaiting`."""
_GIVEN = regex(
    r"^\W*(?:(?:since|now|then|later)\s+)?(?:[\w-]+[\s-])?"
    r"(?:ratified|approved|accepted|adopted|confirmed|signed|granted|received|given)\b",
    re.IGNORECASE,
)
_WHEN = regex(r"\d{4}-\d\d-\d\d|\b(?:\d{1,2}\.? \w+ \d{4}|same day|since|now)\b", re.IGNORECASE)
"""With `_GIVEN`, says in a later clause that what was awaited came, and when."""

_WORK = regex(
    r"\b(?:await(?:s|ing)?|pending|waiting (?:for|on))(?:[\s(]+\w+){0,2}"
    r"[\s(]+(?:implement|deploy|roll-?out|releas|migrat)"
    r"|\b(?:implementation|deployment|roll-?out|release|migration)(?: is| still)? pending\b",
    re.IGNORECASE,
)


def awaiting_clauses(status: str) -> list[str]:
    """The clauses of a whole status that say that a decision waits for somebody; none if it waits for nobody.

    What waits for work alone is decided, and so is what was awaited and came: `was awaiting`, `ratified same day`.
    """
    text = _ENDED.sub(" ", status)
    is_over = _PARTLY.search(text) or _BY_ANOTHER.search(text) or _first(text) in {"superseded", "rejected"}
    found: list[str] = []
    for clause in () if is_over else _CLAUSE.split(_WORK.sub(" ", text)):
        if _AWAITS.search(clause):
            found.append(clause)
        elif found and _GIVEN.search(clause) and _WHEN.search(clause):
            found.clear()
    return found


_WROTE = regex(r"\b(?:by|from|author|drafted|von)\b", re.IGNORECASE)


def who_may_decide(status: str) -> list[list[str]]:
    """The clauses of a pending status that may name who has to decide: those that await, and those without an author.

    The second list is to be read if the first names nobody.
    """
    return [awaiting_clauses(status), [clause for clause in _CLAUSE.split(status) if not _WROTE.search(clause)]]


def read_status(status: str) -> Standing | None:
    """How a decision with this whole status stands: by its first word that says so. None without a status.

    One that was accepted and is superseded by another is superseded; one that is accepted and awaits somebody is
    pending. What is superseded in part is in force. If no word says how it stands, that is unclear.
    """
    text = _ENDED.sub(" ", status)
    if _PARTLY.search(text):
        return "accepted"
    if _BY_ANOTHER.search(text):
        return "superseded"
    return "pending" if awaiting_clauses(status) else _first(text) or ("unclear" if text.strip() else None)


def _first(text: str) -> Standing | None:
    found = _FIRST.search(text)
    return next((standing for standing in _WORDS if found and found[standing]), None)


# Tells what is a decision or a proposal, and how it stands (SPEC 2.2, documents).


Sort = Literal["decision", "proposal", "other"]
_DECISIONS = frozenset({"decisions", "decision", "adr", "adrs"})
_PROPOSALS = frozenset({"proposals", "proposal", "rfc", "rfcs"})

_INDEXES = regex(
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

    A proposal that nobody has decided is pending, whatever its status. A record of a system for decisions was decided.
    """
    if isinstance(artifact, Document):
        if artifact.superseded_by is not None:
            return "superseded"
        said = read_status(artifact.head.status or "")
        return "pending" if said in {"unclear", None} and sort_of(artifact) == "proposal" else said
    if isinstance(artifact, Record):
        if artifact.superseded_by is not None or artifact.card.superseded_by:
            return "superseded"
        return read_status(artifact.said_status) or "accepted"
    return None


_DECIDERS = ("decided by", "decider", "deciders", "approved by", "author", "authors", "created by")


def decided_by(artifact: Artifact) -> str:
    """Who decided, as the head of a document or the fields of a record say; "" of what is pending, or does not say."""
    if artifact.withheld or standing_of(artifact) == "pending":
        return ""
    if isinstance(artifact, Document):
        return artifact.head.decided_by
    fields = artifact.card.fields if isinstance(artifact, Record) else ()
    said = {re.sub(r"[\W_]+", " ", label).casefold(): value for label, value in reversed(fields)}
    return next((said[label] for label in _DECIDERS if label in said), "")


def decided_on(artifact: Artifact) -> str:
    """The day on which a decision was made, as the head of a document says; "" if it does not."""
    is_decided = isinstance(artifact, Document) and standing_of(artifact) != "pending"
    return artifact.head.decided_on if is_decided and isinstance(artifact, Document) else ""
