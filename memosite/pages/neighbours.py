"""What is before and after an artifact in a list."""

from dataclasses import dataclass

from memosite.pages.parts import Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Links to the artifacts before and after one; `of` is what each is: "memo to director"."""

    of: str
    previous: Reference | None
    next: Reference | None
