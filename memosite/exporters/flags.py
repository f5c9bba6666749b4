"""The flags of a message for mail readers: unread, flagged, answered."""

from memosite.archive.model import Artifact, Memo


def is_unread(artifact: Artifact) -> bool:
    """Whether any of its recipients has not read it yet; a broadcast counts by the furthest of its copies."""
    if not isinstance(artifact, Memo) or artifact.kind != "memo":
        return False
    return any(state.unread for state in artifact.recipients) or (artifact.is_broadcast and artifact.mailbox == "inbox")


def is_flagged(artifact: Artifact) -> bool:
    """Whether its action is still open."""
    return isinstance(artifact, Memo) and artifact.action == "open"


def is_answered(artifact: Artifact) -> bool:
    """Whether its action was answered, and is not discharged yet."""
    return isinstance(artifact, Memo) and artifact.action == "answered"
