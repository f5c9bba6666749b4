"""Names the sessions that a transcript is a capture of: the UUIDs that its participants name, nothing less (SPEC 4)."""

import re

from memosite.archive.model import Transcript

_UUID = re.compile(r"(?<![0-9A-Za-z-])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9A-Za-z-])")


def sessions_of(transcript: Transcript) -> list[str]:
    """The UUIDs, in lower case and in order."""
    said = " ".join(one.session_arc or "" for one in transcript.variants[0].envelope.participants)
    return sorted({found.lower() for found in _UUID.findall(said)})
