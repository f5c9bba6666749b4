"""Reads memosite's own citations back out of documents (SPEC 7, citations): Markdown, HTML, BibTeX, CSL-JSON, text.

What makes words a citation is `sha256:` with 64 hex digits; beside it are the reference and the address, and the quote
is the block quote above it, the words in “ ”, or the abstract. Nothing raises on any text.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from memosite.facts.written import Written
from memosite.quotes.blocks import Block, links_in, markdown_blocks, plain_blocks
from memosite.quotes.html_blocks import html_blocks
from memosite.quotes.layers import Reading, edited
from memosite.quotes.marks import find_marks
from memosite.quotes.writing import TEX

MOST: Final = 1_000
"""The most citations that are read off one text."""

_SHA = re.compile(
    r"sha256:(?P<sha>[0-9a-f]{64})(?:, commit (?P<commit>[0-9a-f]{7,64}))?(?: \((?P<note>[^()]{1,200})\))?"
)
_REF = re.compile(r"(?<![\w/.])(?:memo|note|transcript|library|record|document)/[^\s`,()<>\"]{1,400}", re.IGNORECASE)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)")
_QUOTED = re.compile(r"“(.*)”\. ", re.DOTALL)
_ENTRY = re.compile(r"@\w+\s*\{\s*[^,{}\s]*\s*,")
_FIELD = re.compile(r"([\w-]+)\s*=\s*(?:(\{)|(\")|(\w+))")
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
    place = 0
    for item in items if isinstance(items, list) else ():
        said = {key: value for key, value in item.items() if isinstance(value, str)} if isinstance(item, dict) else {}
        one = next(_of_line(said.get("note", ""), 1), None)
        if one:
            authors = item.get("author")
            author = authors[0] if isinstance(authors, list) and authors else {}
            speaker = author.get("literal", "") if isinstance(author, dict) else ""
            place = max(text.find(one.sha256, place), 0)
            line = text.count("\n", 0, place) + 1
            place += 1
            found.append(
                replace(
                    one, line=line, url=said.get("URL", one.url), quote=said.get("abstract", ""), speaker=str(speaker)
                )
            )
    return tuple(found)


def read_bibtex(text: str) -> tuple[Written, ...]:
    """The citations of a BibTeX file."""
    found: list[Written] = []
    entries = list(_ENTRY.finditer(text))
    for number, entry in enumerate(entries):
        end = entries[number + 1].start() if number + 1 < len(entries) else len(text)
        fields = _fields(text, entry.end(), end)
        note = _untex(fields.get("note", ""))
        one = next(_of_line(note, 1), None)
        if one:
            place = text.find(one.sha256, entry.end())
            line = text.count("\n", 0, max(place, entry.start())) + 1
            quote, speaker = _untex(fields.get("abstract", "")), _untex(fields.get("author", ""))
            found.append(replace(one, line=line, url=fields.get("url", one.url), quote=quote, speaker=speaker))
    return tuple(found)


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
        quote = ""
        before = blocks[number - 1] if number else block
        if not block.is_quote and before.is_quote and not _SHA.search(before.text):  # else it has its own citation
            quote = before.text
        rows = block.text.split("\n")
        for row_number, row in enumerate(rows):
            above = "\n".join(rows[:row_number]) if block.is_quote else quote
            for one in _of_line(row, block.lines[row_number]):
                speaker = one.speaker or _speaker_before_link(block)
                said = replace(one, url=one.url or next(iter(block.links), ""), speaker=speaker)
                yield _with_quote(said, row, above, is_markdown=is_markdown)


def _speaker_before_link(block: Block) -> str:
    """Whom HTML names below a quote: `— engineer, <a href=…>`."""
    lead = " ".join(block.lead.split())
    return lead[2:].removesuffix(",") if lead.startswith("— ") and len(block.links) == 1 else ""


def _with_quote(one: Written, row: str, above: str, *, is_markdown: bool) -> Written:
    """With the words that are quoted above the citation, or in it."""
    inside = _QUOTED.search(row)
    quote = above.strip() or (inside[1] if inside else "")
    if is_markdown and above.strip():
        quote = _unmarked(quote)
    speaker = one.speaker
    if inside and not above.strip():
        speaker = row[: inside.start()].strip().removesuffix(":")
    return replace(one, quote=" ".join(quote.split()), speaker=speaker)


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
