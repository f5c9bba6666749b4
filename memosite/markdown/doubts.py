"""Where two parsers may read a text differently: markdown-it, which is the measure, and the native one of `quick`.

Both keep to CommonMark. They differ in the rules of our own dialect, on tables, where white space is odd, on characters
that only one of them calls punctuation, and in a few shapes of lists, of code and of headings. What is told here is on
the safe side: much of it both read alike.
"""

import re
from typing import Final

__all__ = [
    "DOUBTFUL",
    "has_odd_space",
    "heading_content",
    "is_doubtful_label",
    "is_plain_destination",
    "is_plain_table",
    "is_refused",
    "item_column",
    "language_of_fence",
    "maybe_sections",
    "maybe_tables",
    "odd_neighbour",
    "section_of",
    "unknown",
]

_REFUSED: Final = ("[^", "]:", "\t", "~~~")
"""Footnotes, definitions of links, tabs, and fences that are not of backticks."""

DOUBTFUL: Final = ("~~", "![", "&#", "\\")
"""Strikethrough, images, characters by number, and backslashes: the spans of their block are left to markdown-it."""

_MOST_BARS: Final = 10_000  # in one table

# Next to `*` and `_` it matters what is punctuation, and the parsers know different versions of Unicode. At the ends
# of a block it matters what is white space: markdown-it asks Python, which knows more than CommonMark. Characters
# that are known here are neither.
_KNOWN = (
    r"\x00-\x7f\xa1-\u024f\u0391-\u03a1\u03b1-\u03c9\u0410-\u044f\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u257f"
    r"\u2600-\u26ff\u2701-\u27bf\u3001-\u3003\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3\uff01-\uff5e"
)
unknown = re.compile(rf"[^{_KNOWN}]").search
odd_neighbour = re.compile(rf"[*_][^{_KNOWN}]|[^{_KNOWN}][*_]").search
has_odd_space = re.compile(r"(?<!\w)[^\S \n]|[^\S \n](?!\w)").search
is_doubtful_label = re.compile(r"[*\[\]]|(?<!\w)_|_(?!\w)").search
"""Spans that reach out of the label of a link, and brackets within brackets."""
is_plain_destination = re.compile(r"[^\s<>()\\&\"'`*_\[\]]+").fullmatch

_SECTION = re.compile(r"^[ >*+\d.)-]*==", re.MULTILINE)  # also what may be the line below a heading
_WHOLE_SECTION = re.compile(r"(={2,6}) ([^\n]*) \1")
_HEADING = re.compile(r"#{1,6} ++([^\n]*[^\n# ])[ \n]*")
_MARKER = re.compile(rb" *(?:[-+*]|\d{1,9}[.)]) {1,4}(?=[^ \n])")
_FENCE = re.compile(rb"(`{3,})([A-Za-z0-9_+#.-]*) *\n")
_BELOW_HEADER = re.compile(r"\n[ >]*[|:-][|: -]*$", re.MULTILINE)
_TABLE = re.compile(r"\|[^\n\\]*\| *\n\|(?: *:?-+:? *\|)+ *\n(?:\|[^\n\\]*\| *(?:\n|\Z))*")


def is_refused(source: str) -> bool:
    """Whether a text has what only markdown-it reads as our dialect wants it."""
    return any(mark in source for mark in _REFUSED)


def maybe_sections(source: str) -> int:
    """How many lines may be a section, as `== Section ==`, or make the line above a heading."""
    return len(_SECTION.findall(source)) if "==" in source else 0


def section_of(paragraph: str) -> tuple[int, str] | None:
    """The level and the title of a paragraph that is a section, and nothing else."""
    found = _WHOLE_SECTION.fullmatch(paragraph)
    return (len(found[1]), found[2].strip(" ")) if found and found[2].strip(" =") else None


def maybe_tables(source: str) -> int:
    """How many lines with a bar have one below them of nothing but bars, colons and hyphens."""
    if "|" not in source:
        return 0
    begins = (below.start() for below in _BELOW_HEADER.finditer(source))
    return sum(source.find("|", source.rfind("\n", 0, begin) + 1, begin) >= 0 for begin in begins)


def is_plain_table(text: str) -> bool:
    """Whether all rows begin and end with a bar and have as many cells, without a backslash in any."""
    bars = text.count("|")
    if bars > _MOST_BARS or not _TABLE.fullmatch(text):
        return False
    return len({row.count("|") for row in text.rstrip("\n").split("\n")}) == 1


def heading_content(source: str) -> str | None:
    """What stands behind the signs of a heading; None if it is one by its underline, is empty, or is closed."""
    found = _HEADING.fullmatch(source)
    return found[1] if found else None


def item_column(data: bytes, start: int) -> int | None:
    """The column where the content of an item begins; None if it is empty, or begins behind another mark."""
    begin = data.rfind(b"\n", 0, start) + 1
    marker = _MARKER.match(data, begin)
    return marker.end() - begin if marker and marker.end() > start else None


def language_of_fence(data: bytes, start: int, end: int) -> str | None:
    """The language of code between fences; None if more is said of it, or it is never closed."""
    fence = _FENCE.match(data, start)
    if not fence:
        return None
    last = data[fence.end() - 1 : end].rstrip(b" \n").rpartition(b"\n")[2].lstrip(b" >")
    return fence[2].decode() if last.startswith(fence[1]) and not last.strip(b"`") else None
