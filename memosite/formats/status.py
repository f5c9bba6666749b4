"""What records, documents and libraries say of themselves: their status, and whether something took their place."""

from memosite.archive.lines import is_broken
from memosite.archive.model import Artifact, Document, Library, Record
from memosite.formats.systems import system_of


def status_of(artifact: Artifact) -> str:
    """The status that a record, document or library has, "" if it has none."""
    if artifact.withheld:
        return artifact.withheld.word
    if isinstance(artifact, Record):
        if is_broken(artifact):
            return artifact.card.status or "unreadable"
        return system_of(artifact.card).status(artifact.card)
    if isinstance(artifact, Library):
        return "unreadable" if is_broken(artifact) else ""
    return artifact.head.status or "" if isinstance(artifact, Document) else ""


def is_superseded(artifact: Artifact) -> bool:
    """Whether a record or document says that something else took its place."""
    if isinstance(artifact, Record) and (artifact.superseded_by or artifact.card.superseded_by):
        return True
    if isinstance(artifact, Document) and artifact.superseded_by:
        return True
    return status_of(artifact).casefold().startswith("superseded")
