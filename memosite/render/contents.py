"""Makes the list of contents of a long text, from its headings."""

from dataclasses import dataclass
from typing import Final

from memosite.facts.texts import cut_line
from memosite.markdown.tokens import read_body

LONG: Final = 4_000
"""A shorter text has no list of contents, in characters."""

FEWEST, MOST = 4, 200
"""How few headings make no list, and the most that it has."""

_LABEL_CHARS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentsRow:
    """A heading: its anchor without the prefix of a page, its words, and whether it is below the topmost ones."""

    anchor: str
    label: str
    is_below: bool


def contents_of(source: str) -> tuple[ContentsRow, ...]:
    """The headings of the two topmost levels of a text without its front matter; of long texts alone.

    A title above all others is no level: the page has it.
    """
    found = [one for one in read_body(source).headings if one.text.strip()] if len(source) >= LONG else []
    levels = sorted({one.level for one in found})
    if found and [one.level for one in found].count(levels[0]) == 1 and found[0].level == levels[0]:
        found, levels = found[1:], levels[1:]
    shown = [one for one in found if one.level in levels[:2]]
    if len(shown) < FEWEST:
        return ()
    return tuple(
        ContentsRow(anchor=one.anchor, label=cut_line(one.text, _LABEL_CHARS), is_below=one.level != levels[0])
        for one in shown[:MOST]
    )
