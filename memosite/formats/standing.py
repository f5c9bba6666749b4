"""Tells what is a decision or a proposal, and how it stands (SPEC 2.2, documents)."""

import re
from typing import Literal

from memosite.archive.model import Artifact, Document, Record
from memosite.facts.parsed import DocumentHead
from memosite.facts.statuses import Standing, read_status
from memosite.formats.systems import system_of

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
        return read_status(system_of(artifact.card).status(artifact.card)) or "accepted"
    return None
