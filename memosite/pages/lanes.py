"""A thread as a picture: a lane for each position, a mark for each memo, an arrow for each reply.

The value is the table that is drawn, with the place of each mark, so that a test can read the table off the drawing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from memosite.pages.parts import Reference, Stamp

MarkState: TypeAlias = Literal["sent", "waiting", "missing"]

LANE: int = 30
"""The height of a lane in pixels, with its name above the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneMark:
    """A memo: the number of its lane, its place in the width (of 1,000), and the numbers of the marks it replies to."""

    memo: Reference
    lane: int
    at: int
    when: Stamp | None
    state: MarkState
    answers: tuple[int, ...] = ()
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """The memos of a thread in order of time; `left_out` is how many older ones are not drawn."""

    lanes: tuple[Reference, ...]
    marks: tuple[LaneMark, ...]
    left_out: int = 0

    @property
    def height(self) -> int:
        """Of the drawing, with a line for dates."""
        return LANE * len(self.lanes) + 22

    @property
    def arrows(self) -> Iterator[tuple[LaneMark, LaneMark]]:
        """From what is replied to, to the reply."""
        for mark in self.marks:
            for number in mark.answers:
                yield self.marks[number], mark

    @property
    def ends(self) -> tuple[Stamp, ...]:
        """The first and the last date."""
        dated = [mark.when for mark in self.marks if mark.when]
        return (dated[0], dated[-1]) if dated else ()

    @property
    def states(self) -> frozenset[MarkState]:
        """Which states there are."""
        return frozenset(mark.state for mark in self.marks)
