"""Finds places in a body that a page shows as Markdown: the anchor of a heading or passage, and that of a line."""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

from memosite.markdown.naming import joined_words
from memosite.markdown.tokens import read_body

FRONT_MATTER = re.compile(r"---\n([A-Za-z_][\w -]*:.*\n(?:[A-Za-z_][\w -]*:.*\n|[ \t#-].*\n|\n)*?)---\n")
"""Front matter at the beginning of a body, which pages show apart from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The anchors of a text; `headings` has them by the words of headings, `lines` by where their passages begin.

    Lines are counted from 1. `end` is the last one of the text.
    """

    anchors: frozenset[str] = frozenset()
    headings: Mapping[str, str] = field(default_factory=dict)
    lines: tuple[tuple[int, str], ...] = ()
    end: int = 0

    def named(self, fragment: str) -> str | None:
        """The anchor that a fragment means; people write those of headings by the rules of other sites."""
        return fragment if fragment in self.anchors else self.headings.get(joined_words(fragment, ""))

    def at_line(self, line: int) -> str | None:
        """The anchor of the passage with this line, else of the last before it: tables have none."""
        after = bisect_right(self.lines, line, key=lambda entry: entry[0])
        return self.lines[after - 1][1] if after and line <= self.end else None


def read_places(text: str) -> Places:
    """The places of a body as pages show it."""
    front = FRONT_MATTER.match(text)
    body = read_body(text[front.end() :] if front else text)
    first = (front[0].count("\n") if front else 0) + 1
    begun = [
        (first + token.map[0], token.meta["anchor"])
        for token in body.tokens or ()
        if "anchor" in token.meta and token.map is not None
    ]
    return Places(
        anchors=frozenset(anchor for _, anchor in begun),
        headings={joined_words(heading.text, ""): heading.anchor for heading in reversed(body.headings)},
        lines=tuple(sorted(begun, key=lambda entry: entry[0])),
        end=text.count("\n") + 1,
    )
