"""What tells the entries of a list file of records apart."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordEntry:
    """What tells an entry of a list file apart from others, in one version of the file.

    `key` is as in `RecordCard`, `section` its part of the list. `said` is a digest of what it says, `written` of that
    with its tags. An entry of equal, not empty `place` that comes as this one goes is an update of it.
    """

    key: str
    section: str
    said: str
    written: str
    place: str = ""
