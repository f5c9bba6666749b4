"""Reads memosite's own citations back out of documents (SPEC 7, citations): Markdown, HTML, BibTeX, CSL-JSON, text.

What makes words a citation is `sha256:` with 64 hex digits; beside it are the reference and the address, and the quote
is the block quote above it, the words in “ ”, or the abstract. Nothing raises on any text.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final

from memosite.facts.written import Written
from memosite.quotes.blocks import Block, links_in, markdown_blocks, plain_blocks
from memosite.quotes.html_blocks import html_blocks
from memosite.quotes.layers import Reading, edited
from memosite.quotes.marks import find_marks, with_images
from memosite.quotes.writing import TEX

MOST: Final = 1_000
"""The most citations that are read off one text."""

_SHARED: Final = 4_000
"""The most characters of a block quote that several citations below it share."""

_SHA = re.compile(
    r"sha256:(?P<sha>[0-9a-f]{64})(?:, commit (?P<commit>[0-9a-f]{7,64}))?(?: \((?P<note>[^()]{1,200})\))?"
)
_REF = re.compile(r"(?<![\w/.-])(?:memo|note|transcript|library|record|document)/[^\s`,()<>\"]{1,400}", re.IGNORECASE)
_IN_TEXT = re.compile(rf"\({_REF.pattern}\)", re.IGNORECASE)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)")
_QUOTED = re.compile(r"“(.*)”\. ", re.DOTALL)
_ENTRY = re.compile(r"@\w+\s*\{\s*(?:[^,{}\s]+\s*)?,")
_FIELD = re.compile(r"(?<![\w-])([\w-]+)\s*=\s*(?:(\{)|(\")|(\w+))")
_LETTERS: Final = {command: char for char, command in TEX.items()}
_COMMAND = re.compile("|".join(re.escape(command) for command in sorted(_LETTERS, key=len, reverse=True)) + r"|[{}]")


def read_markdown(text: str) -> tuple[Written, ...]:
    """The citations of a Markdown document, also those that are lines of plain text."""
    return tuple(_of_blocks(list(markdown_blocks(text)), is_markdown=True))


def read_plain(text: str) -> tuple[Written, ...]:
    """The citations of a plain text."""
    return tuple(_of_blocks(list(plain_blocks(text)), is_markdown=False))


def read_html(text: str) -> tuple[Written, ...]:
    """The citations of an HTML page."""
    return tuple(_of_blocks(list(html_blocks(text)), is_markdown=False))


def read_csl_json(text: str) -> tuple[Written, ...]:
    """The citations of a CSL-JSON file, a list of items or an object that holds one."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    items = data.get("items", [data]) if isinstance(data, dict) else data
    found: list[Written] = []
    lines = _Lines(text)
    for item in items if isinstance(items, list) else ():
        said = {key: value for key, value in item.items() if isinstance(value, str)} if isinstance(item, dict) else {}
        one = next(_of_line(said.get("note", ""), 1), None)
        if one:
            authors = item.get("author")
            author = authors[0] if isinstance(authors, list) and authors else {}
            speaker = author.get("literal", "") if isinstance(author, dict) else ""
            line, url, quote = lines.of(one.sha256), said.get("URL", one.url), said.get("abstract", "")
            found.append(replace(one, line=line, url=url, quote=quote, speaker=str(speaker)))
    return tuple(found)


def read_bibtex(text: str) -> tuple[Written, ...]:
    """The citations of a BibTeX file."""
    found: list[Written] = []
    entries = list(_ENTRY.finditer(text))
    lines = _Lines(text)
    for number, entry in enumerate(entries):
        end = entries[number + 1].start() if number + 1 < len(entries) else len(text)
        fields = _fields(text, entry.end(), end)
        note = _untex(fields.get("note", ""))
        one = next(_of_line(note, 1), None)
        if one:
            line = lines.of(one.sha256, entry.end())
            quote, speaker = _untex(fields.get("abstract", "")), _untex(fields.get("author", ""))
            found.append(replace(one, line=line, url=fields.get("url", one.url), quote=quote, speaker=speaker))
    return tuple(found)


class _Lines:
    """Counts the lines of a text up to digests that are asked for in their order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place, self._line = 0, 1

    def of(self, digest: str, start: int = 0) -> int:
        """The line of a digest behind the last one, and behind a place; where the last one was, if it is not there."""
        place = self._text.find(digest, max(start, self._place))
        if place >= 0:
            self._line += self._text.count("\n", self._place, place)
            self._place = place + 1
        return self._line


READERS: Final[Mapping[str, Callable[[str], tuple[Written, ...]]]] = {
    **dict.fromkeys((".md", ".markdown", ".mkd", ".qmd", ".rmd"), read_markdown),
    **dict.fromkeys((".html", ".htm", ".xhtml"), read_html),
    ".bib": read_bibtex,
    ".json": read_csl_json,
    ".txt": read_plain,
    ".docx": read_markdown,
}
"""How documents are read, by the ending of their names; `.docx` as Pandoc writes it."""


def cited_in(text: str) -> tuple[Written, ...]:
    """The citations of a Markdown text, which few have; a digest without a reference or an address is none."""
    if not _SHA.search(text):
        return ()
    return tuple(one for one in read_markdown(text) if one.ref or one.url)[:MOST]


def _of_blocks(blocks: list[Block], *, is_markdown: bool) -> Iterator[Written]:
    for number, block in enumerate(blocks):
        if "sha256:" not in block.text:
            continue
        quote = "" if block.is_quote else _one_line(_quote_above(blocks, number), is_markdown=is_markdown)
        rows = block.text.split("\n")
        done = 0
        for row_number, row in enumerate(rows):
            if "sha256:" not in row:
                continue
            first = _first_row(rows, row_number, done)
            joined = " ".join(row.strip() for row in rows[first : row_number + 1])
            behind = takewhile(lambda row: "sha256:" not in row, rows[row_number + 1 : row_number + 4])
            whole = " ".join((joined, *map(str.strip, behind)))  # the commit may be on the next line
            if block.is_quote and any(map(str.strip, rows[done:first])):
                quote = _one_line("\n".join(rows[done:first]), is_markdown=is_markdown)
            for one in _of_line(whole, block.lines[row_number]):
                speaker = one.speaker or _speaker_before_link(block)
                said = replace(one, url=one.url or next(iter(block.links), ""), speaker=speaker)
                yield _with_quote(said, joined, quote)
                quote = quote if len(quote) <= _SHARED else ""
            done = row_number + 1


def _quote_above(blocks: list[Block], number: int) -> str:
    """The block quote above a citation, all of its paragraphs, unless it has its own citation."""
    first = number
    while first and blocks[first - 1].is_quote and not _SHA.search(blocks[first - 1].text):
        if first < number and not blocks[first - 1].figure == blocks[first].figure > 0:
            break
        first -= 1
    return "\n\n".join(block.text for block in blocks[first:number])


def _first_row(rows: Sequence[str], last: int, done: int) -> int:
    """The row on which the citation begins that has its digest on `last`: editors wrap lines. Others are `done`."""
    begins = [number for number in range(done, last + 1) if rows[number].lstrip().startswith("— ")]
    after_blank = [number for number in begins if number == done or not rows[number - 1].strip()]
    for found in (after_blank, begins):
        if found:
            return found[-1]
    row = rows[last].partition("sha256:")[0]
    near = " ".join((*rows[max(done, last - 3) : last], row))
    is_text = "”" in row or _IN_TEXT.search(near)  # as plain text, in which the words come first
    is_whole = "“" in row or not is_text
    return last if is_whole and (_REF.search(row) or links_in(row)) else done


def _speaker_before_link(block: Block) -> str:
    """Whom HTML names below a quote: `— engineer, <a href=…>`."""
    lead = " ".join(block.lead.split())
    lead = lead.replace("\ufffc", "").strip()
    return lead[2:].removesuffix(",") if lead.startswith("— ") and len(block.links) == 1 else ""


def _one_line(quote: str, *, is_markdown: bool) -> str:
    """A block quote as it is read."""
    return " ".join((_unmarked(with_images(quote)) if is_markdown else quote).split())


def _with_quote(one: Written, row: str, above: str) -> Written:
    """With the words that are quoted above the citation, or in it."""
    inside = None if above else _QUOTED.search(row)
    if not inside:
        return replace(one, quote=above)
    return replace(one, quote=" ".join(inside[1].split()), speaker=row[: inside.start()].strip().removesuffix(":"))


def _of_line(row: str, line: int) -> Iterator[Written]:
    """The citations of one line, by their digests."""
    done = 0
    for match in _SHA.finditer(row):
        before = row[done : match.start()]
        done = match.end()
        refs, times, urls = list(_REF.finditer(before)), _TIME.findall(before), links_in(before)
        speaker = ""
        if before.lstrip().startswith("— "):
            speaker = _unmarked(before.lstrip()[2:].partition(", [")[0]) if ", [" in before else ""
        yield Written(
            line=line,
            ref=refs[-1][0] if refs else "",
            url=urls[-1] if urls else "",
            quote="",
            sha256=match["sha"],
            speaker=speaker,
            time=times[-1] if times else "",
            commit=match["commit"] or "",
            note=match["note"] or "",
        )


def _unmarked(text: str) -> str:
    return edited(Reading(text), find_marks(text)).text


def _fields(text: str, start: int, end: int) -> dict[str, str]:
    """The fields of an entry of BibTeX, their values as written."""
    found: dict[str, str] = {}
    place = start
    while match := _FIELD.search(text, place, end):
        if match[4]:
            value, place = match[4], match.end()
        else:
            stop = _value_end(text, match.end(), end, '"' if match[3] else "}")
            value, place = text[match.end() : stop], stop + 1
        found.setdefault(match[1].lower(), value)
    return found


def _value_end(text: str, place: int, end: int, closing: str) -> int:
    """Where a value in braces or quotation marks ends."""
    depth = 0
    while place < end:
        char = text[place]
        if char == "\\":
            place += 1
        elif char == closing and not depth:
            return place
        elif char in "{}":
            depth += 1 if char == "{" else -1
        place += 1
    return end


def _untex(text: str) -> str:
    return " ".join(_COMMAND.sub(lambda match: _LETTERS.get(match[0], ""), text).split())
