"""What one process made of texts for their pages, for the others: feeds and search blocks need it again."""

import marshal
from typing import TypeAlias

from memosite.pages.images import ShownImage
from memosite.render.contents import ContentsRow
from memosite.search.lines import BodyLine, body_lines
from memosite.store.handover import Handover

Slots: TypeAlias = tuple[tuple[tuple[str, bool], ...], tuple[ShownImage, ...]]
"""What is written for each link of a text and whether where it leads has a fragment; its images without addresses."""

Fragment: TypeAlias = tuple[str, tuple[ContentsRow, ...]]
"""The HTML of a text, and its list of contents if it is long."""

FragmentKey: TypeAlias = tuple[str, Slots, int]
"""What a fragment is made of: the text by its digest, its slots, how often it was halved."""


class KnownTexts:
    """The fragments of texts, and their lines for search. To be made before processes are forked."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._handover = Handover()

    def fragment(self, key: FragmentKey) -> Fragment | None:
        """The fragment of a text, if it is known."""
        data = self._handover.find(repr(key))
        if data is None:
            return None
        html, rows = marshal.loads(data)  # noqa: S302 - from this very program
        return html, tuple(ContentsRow(anchor=anchor, label=label, is_below=below) for anchor, label, below in rows)

    def note(self, key: FragmentKey, fragment: Fragment, source: str) -> None:
        """Leave a fragment for all processes, and the lines of its source, which was just parsed."""
        html, rows = fragment
        data = marshal.dumps((html, [(row.anchor, row.label, row.is_below) for row in rows]))
        self._handover.hand_over(repr(key), data)
        if not self._handover.has(source):
            self._handover.hand_over(source, marshal.dumps(body_lines(source)))

    def lines(self, body: str) -> list[BodyLine]:
        """The `body_lines` of a text."""
        data = self._handover.find(body)
        return body_lines(body) if data is None else marshal.loads(data)  # noqa: S302 - as above
