"""Writes what a person typed as HTML, character for character (SPEC 4).

Code between fences and links are recognised, nothing else: the words of the HTML are the text itself. It is for a
`<pre>`, and must keep its line ends there.

The same text read as Markdown has passages with anchors. Earlier versions published those, so they stay as targets:
`passage_anchors` says on which line each begins.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import chain
from typing import Final, TypeAlias

from memosite.markdown.highlight import highlight
from memosite.markdown.html import MAX_MARKED, Linker
from memosite.markdown.tokens import printable_text, read_body

__all__ = ["fences", "passage_anchors", "to_typed_html"]

MAX_HTML: Final = 800_000
"""The most HTML of one text with links, anchors and code; what takes more, such as short URLs, has none of them."""

_OPENING = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*([A-Za-z0-9_+#.-]{0,40})")
_CLOSING = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*")

_Range: TypeAlias = tuple[int, int]


def fences(lines: Sequence[str]) -> list[_Range]:
    """The lines of fenced code, with those of the fences, as half-open ranges; a fence never closed is none."""
    ends = _ends_of_fences(lines)
    found: list[_Range] = []
    for start in sorted(ends):
        if not found or start >= found[-1][1]:
            found.append((start, ends[start]))
    return found


def to_typed_html(
    lines: Sequence[str], *, links: Mapping[str, str], targets: Mapping[int, Sequence[str]], is_end: bool = True
) -> str:
    """Return the HTML of some lines, safe to put into a `<pre>` as it is; never raises on any text.

    `links` is as for `to_html`; `targets` are ids by the number of the line that they lead to. If it is not the end
    of the text, the last line has its line end, too.
    """
    clean = [printable_text(line) for line in lines]
    ends = ["\n"] * (len(clean) - 1) + ["" if is_end else "\n"]
    writer = _Writer(Linker(links), targets)
    position = 0
    for start, end in [*fences(clean), (len(clean), len(clean))]:
        for number in range(position, start):
            writer.line(number, clean[number], ends[number])
        if start < end:
            writer.code(start, [line + after for line, after in zip(clean[start:end], ends[start:end], strict=True)])
        position = end
    html = "".join(writer.out)
    if len(html) > MAX_HTML:  # all characters matter more than links and anchors
        return escape("".join(map("".join, zip(clean, ends, strict=True))), quote=False)
    return html


def passage_anchors(text: str) -> Iterator[tuple[int, str]]:
    """The anchors that this text has as Markdown, each with the line that it is on, counted from 0."""
    line = 0
    referred: set[int] = set()
    tokens = read_body(text).tokens or ()
    for index, token in enumerate(tokens):
        line = token.map[0] if token.map else line
        if "anchor" in token.meta:
            yield line, token.meta["anchor"]
        elif token.type == "footnote_open":
            text_of_note = next((one.map[0] for one in tokens[index + 1 :] if one.map), line)
            yield text_of_note, f"fn.{token.meta['number']}"
        for child in token.children or ():
            if child.type == "footnote_ref" and child.meta["number"] not in referred:
                referred.add(child.meta["number"])
                yield line, f"fnref.{child.meta['number']}"


class _Writer:
    """Writes lines and code into `out`."""

    def __init__(self, linker: Linker, targets: Mapping[int, Sequence[str]]) -> None:
        self.out: list[str] = []
        self._linker = linker
        self._targets = targets
        self._marked = 0  # characters of code that were highlighted

    def line(self, number: int, line: str, end: str) -> None:
        """Write a line of text and its line end; a target is the line itself, so that a browser can mark it."""
        *others, last = ("", *self._targets.get(number, ()))
        self.out += (f'<span id="{escape(id_)}"></span>' for id_ in others if id_)
        written = self._linker.linked(line)
        self.out += (f'<span id="{escape(last)}">{written}</span>' if last else written, end)

    def code(self, number: int, lines: Sequence[str]) -> None:
        """Write fenced code, in quiet the two fences."""
        ids = chain.from_iterable(self._targets.get(one, ()) for one in range(number, number + len(lines)))
        self.out += (f'<span id="{escape(id_)}"></span>' for id_ in ids)
        opening = _OPENING.match(lines[0])
        language = opening[2] if opening else ""
        code = "".join(lines[1:-1])
        marked = highlight(code, language) if language and self._marked < MAX_MARKED else None
        self._marked += len(code) if marked else 0
        name = f' class="language-{language}"' if language else ""
        first, last = (f'<span class="fence">{escape(line, quote=False)}</span>' for line in (lines[0], lines[-1]))
        self.out += (f"<code{name}>", first, marked or escape(code, quote=False), last, "</code>")


def _ends_of_fences(lines: Sequence[str]) -> dict[int, int]:
    """For each line that opens a fence, if nothing before does, the line after the one that closes it."""
    ends: dict[int, int] = {}
    closings: dict[str, list[_Range]] = {
        "`": [],
        "~": [],
    }  # less long, line; the nearest last, without longer ones behind
    for number in range(len(lines) - 1, -1, -1):
        if opening := _OPENING.match(lines[number]):
            below = closings[opening[1][0]]
            nearest = bisect_right(below, (-len(opening[1]), len(lines)))
            if nearest:
                ends[number] = below[nearest - 1][1] + 1
        if closing := _CLOSING.fullmatch(lines[number]):
            below = closings[closing[1][0]]
            while below and below[-1][0] >= -len(closing[1]):
                below.pop()
            below.append((-len(closing[1]), number))
    return ends
