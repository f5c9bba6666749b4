"""A citation as a document holds it, before anybody asks whether it holds (SPEC 7)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A citation as a document holds it; what it does not say is "". `line` is where its digest is."""

    line: int
    ref: str
    url: str
    quote: str
    sha256: str
    speaker: str = ""
    time: str = ""
    commit: str = ""
    note: str = ""
