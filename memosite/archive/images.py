"""The images of an artifact's text, as values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TextImage:
    """An image that a text shows where it is `written`: the digest, format and size of the published file.

    `why_not` is why there is none, "" if there is.
    """

    written: str
    sha256: str = ""
    form: str = ""
    width: int = 0
    height: int = 0
    why_not: str = ""
