"""The page model of what is published without its content."""

from dataclasses import dataclass
from typing import ClassVar

from memosite.archive.notices import Notice
from memosite.pages.models import ArtifactPage
from memosite.pages.parts import Reference, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class WithheldPage(ArtifactPage):
    """An artifact of any kind that is published without its content. Only memos and notes have a thread.

    `sha256` is that of its original, "" if it must not be told.
    """

    template: ClassVar[str] = "withheld.html"

    row: Row
    sha256: str
    notice: Notice
    thread: Reference | None = None
    thread_rows: tuple[Row, ...] = ()
    thread_total: int = 0
    previous: Reference | None = None
    next: Reference | None = None
