"""Reads memosite's own citations out of documents (SPEC 7): Markdown, HTML, LaTeX, BibTeX, CSL-JSON, text.

    Markdown, plain text, HTML, LaTeX ─► blocks ─► citations with the quotes above or in them
    BibTeX, CSL-JSON ─► entries ─► citations

What makes words a citation is `sha256:` with hex digits; beside it are the reference and the address, and the quote
is the block quote above it, the words in quotation marks, or the abstract. Nothing raises on any text.
"""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from operator import attrgetter
from typing import Final

from memosite.facts.parsed import Written
from memosite.facts.patterns import regex
from memosite.facts.values import Struct, field, replace
from memosite.quotes.blocks import (
    CITED,
    CLOSE,
    CLOSING,
    NOTED,
    NOTING,
    NUMBER,
    OPEN,
    OTHER,
    WORDS,
    Block,
    bare,
    doubtful_marks,
    links_in,
    note_name,
    plain_blocks,
    quoted_spans,
    without_marks_in_code,
)
from memosite.quotes.html import html_blocks
from memosite.quotes.judge import changes_meaning
from memosite.quotes.latex import cited_by, tex_blocks, unread_tex, untex
from memosite.quotes.markdown import markdown_blocks
from memosite.quotes.source import Reading, Span, edited, find_marks, with_images, word_count

MOST: Final = 1_000
"""The most citations that are read off one text."""


_MOST_WORDS: Final = 200
"""The most quotations that are judged by one citation."""


_MANY: Final = "more words are quoted beside it than are looked at"


_LOST: Final = "it is below words, and what of these is quoted for it is not known"


_SHARED: Final = 4_000
"""The most characters of a block quote that several citations below it share."""


_SHA = regex(
    r"sha256:(?P<sha>[0-9a-f]{6,64})(?![0-9a-f])(?:,\s+commit\s+(?P<commit>[0-9a-f]{7,64}))?"
    r"(?:\s+\((?P<note>[^()]{1,200})\))?",
    re.IGNORECASE,
)


_REF = regex(r"(?<![\w/.-])(?:memo|note|transcript|library|record|document)/[^\s`,()<>\"]{1,400}", re.IGNORECASE)


_IN_TEXT = regex(rf"\({_REF.pattern}\)", re.IGNORECASE)


_TIME = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)")


_QUOTED = regex(r"“(.*)”\.\s", re.DOTALL)


_DASHED = regex(r"\s*(?:—|-{2,3}|–|―)\s+")
"""What is before who said it: converters write the dash in several ways."""


_PLACED = regex(
    r"(?<![\w/.#-])(?:memo|note|transcript|library|record|document)/\d{4}-\d\d-\d\d-\d{4}(?:--|–)[^\s`,()<>\"]{1,400}",
    re.IGNORECASE,
)
"""A reference that is told from a path of files: it may be all that a citation has."""


_STRESSED = regex(
    r"(?P<stars>\*{1,3})([^*]{1,4000})\*|(?<!\w)(?P<lines>_{1,3})([^_]{1,4000})_{1,3}(?!\w)|`([^`]{1,4000})`"
)


_SET = regex(r"-\d{4}–")


_RELATIVE = regex(
    r"\]\(((?:\.{0,2}/)?(?:[^\s()<>]{0,200}/)?(?:memo|note|transcript|record|document)s/[^\s()<>]{1,1000})\)"
)
"""A link to a page of the site from another one."""


_STRESSED_WORDS: Final = 4
"""Emphasis and code of fewer words are no quotation."""


_LEADS = regex(r"[:：﹕︓][\s*_`~)\]”’\"'»>]*\Z")
"""The end of a paragraph that leads to what is quoted below it."""


_ENDS = regex(r"[.!?…。！？][\s*_`~)\]”’\"'»>]*\Z")


_ENTRY: Final = regex(r"@[ \t]*(\w+)\s*([{(])")


_KEY: Final = regex(r"\s*([^,{}()\s=\"#]*)\s*,")


_FIELD: Final = regex(r"[\s,]*([A-Za-z][\w:.+-]*)\s*=\s*")


_VALUE: Final = regex(r"\s*(?:([{\"])|([\w:.+-]+))")


_JOIN: Final = regex(r"\s*#")


_END: Final = regex(r"[\s,]*([})])")


_BRACE: Final = regex(r"[{}\"]")


_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec"


_INHERITING: Final = ("crossref", "xdata", "xref")


_UNCLOSED: Final = "an entry has no end"


def read_markdown(text: str, entries: Mapping[str, Written] | None = None) -> tuple[Written, ...]:
    """The citations of a Markdown document, also those that are lines of plain text, or name entries of BibTeX."""
    return tuple(_of_blocks(list(markdown_blocks(_with_entries(text, entries or {}))), is_markdown=True))


_KEYED = regex(r"(?<![\w@\\])-?@(?:\{([^{}\s]{1,500})\}|(\w(?:[\w:.#$%&+?<>~/-]{0,500}\w)?))")


_KEYS = regex(r"\[([^\[\]@]{0,500}@[^\[\]]{1,2000})\]")
"""Citations of Pandoc: `[see @one, p. 3; @two]`."""


_SEE = regex(r"\s*(?:(?:see|cf|vgl|siehe|voir)\.?\s*)?", re.IGNORECASE)


def _with_entries(text: str, entries: Mapping[str, Written]) -> str:
    """A Markdown document with what Pandoc's citations cite in their places, if any is of an entry of memosite."""
    keys = _KEYED.finditer(text) if "@" in text else ()
    known = {key: cited for match in keys if (cited := cited_by(key := match[1] or match[2], entries))}
    if not known:
        return text

    def write(group: re.Match[str]) -> str:
        written: list[str] = []
        for part in group[1].split(";"):
            key = _KEYED.search(part)
            cited = known.get(key[1] or key[2]) if key else None
            if key and cited:
                before, behind = part[: key.start()], part[key.end() :].lstrip(",")
                before = "" if _SEE.fullmatch(before) else before
                written.append(before + cited + ("" if _PAGES.fullmatch(behind) else f", {behind}" if behind else ""))
        if written:
            return f"({'; '.join(written)})" + "\n" * group[0].count("\n")
        return OTHER if _KEYED.search(group[1]) else group[0]

    def write_one(match: re.Match[str]) -> str:
        cited = known.get(match[1] or match[2])
        return f"({cited})" if cited else match[0]

    return _KEYED.sub(write_one, _KEYS.sub(write, text))


def read_plain(text: str) -> tuple[Written, ...]:
    """The citations of a plain text."""
    return tuple(_of_blocks(list(plain_blocks(text)), is_markdown=False))


def read_tex(text: str, entries: Mapping[str, Written] | None = None) -> tuple[Written, ...]:
    """The citations of a LaTeX document, those that it names by the entries of BibTeX among them."""
    return tuple(_of_blocks(list(tex_blocks(text, entries)), is_markdown=False))


def read_html(text: str) -> tuple[Written, ...]:
    """The citations of an HTML page."""
    return tuple(_of_blocks(list(page_blocks(text)), is_markdown=False))


def read_converted(text: str) -> tuple[Written, ...]:
    """The citations of what Pandoc made of a document."""
    return tuple(_of_blocks(list(page_blocks(text, is_converted=True)), is_markdown=False))


def page_blocks(text: str, *, is_converted: bool = False) -> Iterator[Block]:
    """The blocks of a page; a converter, or the styles of a page, may have made paragraphs of block quotes.

    Nobody knows what a line cites that is below such words, or alone below a quotation.
    """
    before: Block | None = None
    for block in html_blocks(text):
        is_lost = False
        if before and not before.is_quote and not block.is_quote:
            is_same = before.figure == block.figure > 0
            is_lost = bool(_DASHED.match(block.text)) and (is_converted or is_same or before.unread != "")
            is_lost = is_lost or (_is_bare(block) and next(quoted_spans(before.text), None) is not None)
        yield replace(block, unread=block.unread or _LOST, is_strange=True) if is_lost else block
        before = block


def _is_bare(block: Block, most: int = 1) -> bool:
    """Whether a paragraph is a citation and no more: what it is of is above it."""
    return (
        not block.note
        and _SHA.search(block.text) is not None
        and word_count(_REF.sub("", _SHA.sub("", block.text))) <= most
    )


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
        citation = next(_of_line(said.get("note", ""), 1), None)
        if citation:
            authors = item.get("author")
            author = authors[0] if isinstance(authors, list) and authors else {}
            speaker = author.get("literal", "") if isinstance(author, dict) else ""
            line, url, quote = lines.of(citation.sha256), said.get("URL", citation.url), said.get("abstract", "")
            found.append(replace(citation, line=line, url=url, quote=quote, speaker=str(speaker)))
    return tuple(found)


def read_bibtex(text: str) -> tuple[Written, ...]:
    """The citations of a BibTeX file."""
    return tuple(citation for _, citation in bibtex_entries(text))


def bibtex_entries(text: str) -> Iterator[tuple[str, Written]]:
    """The citations of a BibTeX file, each with the name of its entry.

    Values are joined as BibTeX joins them. What it may show otherwise than as it is written is not checked.
    """
    lines = _Lines(text)
    named = dict.fromkeys(_MONTHS.split(), "")
    place, broken = 0, ""
    while entry := _ENTRY.search(text, place):
        kind, place = entry[1].lower(), entry.end()
        if kind == "preamble":
            broken = broken or "a @preamble may define commands"
        if kind in ("preamble", "comment"):
            continue
        key = None if kind == "string" else _KEY.match(text, place)
        place = key.end() if key else place
        fields, place, why = _fields(text, place, named, closing=")" if entry[2] == "(" else "}")
        if why == _UNCLOSED:
            for rest in _of_line(untex(text[entry.end() :]), 1):
                yield "", replace(rest, line=lines.of(rest.sha256, entry.end()), unread=why)
            return
        if kind == "string":
            named |= fields
            continue
        citation = next(_of_line(untex(fields.get("note", "")), 1), None)
        if citation:
            line, url = lines.of(citation.sha256, entry.end()), fields.get("url", citation.url)
            quote, speaker = untex(fields.get("abstract", "")), untex(fields.get("author", ""))
            why = broken or why or next((f"it has {name}" for name in _INHERITING if name in fields), "")
            why = why or unread_tex(fields.get("abstract", ""))
            yield key[1] if key else "", replace(citation, line=line, url=url, quote=quote, speaker=speaker, unread=why)


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


MARKDOWN_ENDINGS: Final = (".md", ".markdown", ".mkd", ".qmd", ".rmd")


HTML_ENDINGS: Final = (".html", ".htm", ".xhtml")


CONVERTED_ENDINGS: Final = (".docx", ".odt", ".epub")
"""What Pandoc makes HTML of."""


STRANGE_ENDINGS: Final = (".rst", ".adoc", ".asciidoc", ".org", ".textile", ".typ")
"""Other markup, of which quotation marks are read, and nothing else that quotes."""


def read_strange(text: str, ending: str) -> tuple[Written, ...]:
    """The citations of a text in such a markup; where nothing is in quotation marks, it may still be quoted."""
    why = f"how {ending} sets quotations apart is not known"
    return tuple(one if one.quote else replace(one, unread=why) for one in read_plain(text))


READERS: Final[Mapping[str, Callable[[str], tuple[Written, ...]]]] = {
    **dict.fromkeys(MARKDOWN_ENDINGS, read_markdown),
    **dict.fromkeys(HTML_ENDINGS, read_html),
    ".bib": read_bibtex,
    ".tex": read_tex,
    ".json": read_csl_json,
    ".txt": read_plain,
    **dict.fromkeys(CONVERTED_ENDINGS, read_converted),
    **{ending: partial(read_strange, ending=ending) for ending in STRANGE_ENDINGS},
}
"""How documents are read, by the ending of their names; those that Pandoc converts as it writes them."""


def named_in(text: str) -> list[str]:
    """The addresses and references in a text."""
    return [*links_in(text), *(_as_typed(match[0].rstrip(".;:!?]*_’”")) for match in _REF.finditer(text))]


def is_source(block: Block) -> bool:
    """Whether a paragraph of a block quote says where it is from, as converters write it."""
    return block.is_quote and _DASHED.match(block.text) is not None and bool(block.links or named_in(block.text))


def cited_in(text: str) -> tuple[Written, ...]:
    """The citations of a Markdown text, which few have; a digest without a reference or an address is none."""
    if not _SHA.search(text):
        return ()
    return tuple(citation for citation in read_markdown(text) if citation.names_passage)[:MOST]


class _Locator(Struct):
    """What names a passage in a block: from where to where, and the words that its paragraph quotes for it.

    `citation` is None of the name of a footnote, which has the citation. `around` is what is around its own quote,
    each of `words` has what is around it, `near` are the block quotes that are its words.
    """

    start: int
    end: int
    citation: Written | None
    note: str = ""
    around: str = ""
    near: list[Block] = field(default_factory=list)
    words: list[tuple[str, str]] = field(default_factory=list)
    unread: str = ""
    doubt: str = ""


_CALLOUT = regex(r"\s*\[!\w+\][+-]?[ \t]+(?P<title>[^\n]{1,200})(?=\n)")


def _with_title(block: Block) -> Block:
    """A block quote without the title of a callout, which may say who speaks, and no more."""
    callout = _CALLOUT.match(block.text) if block.is_quote else None
    if callout is None or not is_name(callout["title"]):
        return block
    return replace(block, text=" " * callout.end() + block.text[callout.end() :], title=callout["title"].strip())


def _of_blocks(blocks: list[Block], *, is_markdown: bool) -> Iterator[Written]:
    blocks = _with_notes(list(map(_with_title, blocks)))
    names = {block.note for block in blocks if block.note}
    cited = {block.note for block in blocks if block.note and (_SHA.search(block.text) or _PLACED.search(block.text))}
    by_block = [_locators(blocks, number, cited, is_markdown=is_markdown) for number in range(len(blocks))]
    strange = {
        locator.note for block, found in zip(blocks, by_block, strict=True) if block.is_strange for locator in found
    }
    noted: dict[str, _Locator] = {}
    near = _Nearby(blocks, by_block)
    for locator in chain.from_iterable(by_block):
        if locator.citation is None and locator.note:
            known = noted.setdefault(locator.note, replace(locator, words=[]))
            known.words.extend(locator.words[:_MOST_WORDS])
            known.unread, known.doubt = known.unread or locator.unread, known.doubt or locator.doubt
    for number, (block, locators) in enumerate(zip(blocks, by_block, strict=True)):
        for locator in locators:
            if locator.citation is None:
                continue
            is_strange = block.is_strange or (block.note != "" and block.note in strange)
            note = noted.get(block.note)
            words = [(locator.citation.quote, locator.around), *locator.words]
            if note:
                said = f"\n{WORDS} — {_near(block.text[max(locator.start - _NEAR, 0) : locator.start])}{CITED}"
                words += ((one, around + said) for one, around in note.words)
                note.words = []  # of several citations in a note, the first
            clean = ((_without_signs(one, names), around) for one, around in words)
            words = [*dict.fromkeys(one for one in clean if word_count(one[0]))][: _MOST_WORDS + 2]
            quote, *others = [one for one, _ in words] or [""]
            why = _MANY if len(words) > _MOST_WORDS else locator.unread or (note.unread if note else "")
            doubt = locator.doubt or (note.doubt if note else "")
            if not doubt and (locator.citation.sha256 or "#" in locator.citation.ref):
                doubt = near.doubt(number, has_words=bool(quote) or note is not None)
            if locator.citation.sha256 or quote or doubt or is_strange or "#" in locator.citation.ref:
                yield replace(
                    locator.citation,
                    quote=quote,
                    others=tuple(others[:_MOST_WORDS]),
                    around=tuple(around for _, around in words[: _MOST_WORDS + 1]),
                    unread=why if quote or is_strange else "",
                    doubt=doubt,
                )


def _with_notes(blocks: list[Block]) -> list[Block]:
    """Blocks that cite, those that begin with the sign of a footnote as the footnote it is."""
    begun = {number: match for number, block in enumerate(blocks)
             if not (block.note or block.is_quote) and (match := NOTING.match(block.text) or _numbered(block)) and
             (_SHA.search(block.text) or _PLACED.search(block.text))}  # fmt: skip
    if not begun:
        return blocks
    signs = {
        note_name(match)
        for number, block in enumerate(blocks)
        for match in NOTED.finditer(block.text, begun[number].end() if number in begun and not block.item else 0)
    }
    names = {number: note_name(match) for number, match in begun.items()}
    count = Counter(names.values())
    names = {number: name for number, name in names.items() if count[name] == 1 or not _numbered(blocks[number])}
    return [
        replace(block, note=names[number]) if names.get(number) in signs else block
        for number, block in enumerate(blocks)
    ]


def _numbered(block: Block) -> re.Match[str] | None:
    """The number of a list before a paragraph, which may be the sign of an endnote."""
    return NUMBER.match(f"{block.item}. " if block.item else block.text)


def _without_signs(words: str, names: Collection[str]) -> str:
    """Words without the signs of footnotes among them."""
    kept = NOTED.sub(lambda match: "" if note_name(match) in names else match[0], words) if names else words
    return bare(" ".join(kept.split()))


def _locators(blocks: list[Block], number: int, cited: Collection[str], *, is_markdown: bool) -> list[_Locator]:
    """The citations of a block in their order, and the footnotes with citations that it names."""
    block, text = blocks[number], blocks[number].text
    if not (_SHA.search(text) or _PLACED.search(text) or (cited and NOTED.search(text))):
        return []
    quoted = _quote_above(blocks, number)
    *others, above = _joined(quoted, is_markdown=is_markdown) or [""]
    lead = _lead(blocks, number - len(quoted)) if quoted or block.is_quote else WORDS
    found, claimed, told = _with_digests(block, above, lead, is_markdown=is_markdown)
    known = {locator.citation.ref for locator in found if locator.citation}
    is_own = bool(found) or _is_told_below(blocks, number)  # what else is named in it is named by the words
    quote = "" if found else above
    for match in _PLACED.finditer(text):
        ref = named_in(match[0])[0]
        begin = block.starts[bisect_right(block.starts, match.start()) - 1]
        is_below = _DASHED.match(text, begin) is not None
        before = text[max(match.start() - 4, 0) : match.start()].rstrip("`*_")
        is_last = block.is_quote and not word_count(text[match.end() : match.end() + 200])
        is_placed = "#" in ref or before.endswith(("(", "[")) or is_last
        if not (is_below or (is_placed and not (block.is_quote and is_own))):
            continue  # it is only named
        if ref not in known and not any(start <= match.start() < end for start, end in told[:_MOST_WORDS]):
            known.add(ref)
            words = quote if is_below else ""
            citation = Written(line=block.line_of(match.start()), ref=ref, url="", quote=words, sha256="")
            found.append(
                _Locator(
                    match.start(),
                    match.end(),
                    citation,
                    around=lead + _told(text[begin : min(match.end(), begin + 2 * _NEAR)]),
                )
            )
    for match in NOTED.finditer(text) if cited else ():
        name = note_name(match)
        if name in cited and name != block.note:
            found.append(_Locator(match.start(), match.end(), None, name))
    if not found:
        return []
    found += (_Locator(at, at + 1, None) for at, char in enumerate(text) if char == OTHER)
    found.sort(key=attrgetter("start"))
    doubt = ""
    if not block.is_quote:
        doubt = _share_words(block, found, claimed, is_markdown=is_markdown)
    elif not claimed:
        _share_quote(block, found, lead, is_markdown=is_markdown)
    for locator in found:
        if locator.citation is None and not locator.words:
            locator.words.append((above, lead))
    below = list(_rest_of_figure(blocks, number)) if block.is_quote else _quote_below(blocks, number)
    last, end = found[-1], text[-200:]
    has_words = above or last.words or (last.citation and last.citation.quote)
    if block.is_quote or _LEADS.search(end) or not (has_words or _ENDS.search(end)):
        leads = "" if block.is_quote else _near(text[-2 * _NEAR :]) + WORDS
        found[-1].near += below
        found[-1].words.extend((_one_line(one.text, is_markdown=is_markdown), leads) for one in below)
    is_apart = block.is_quote and found[0].citation is not None and found[0].citation.quote != above
    found[0].words += ((one, lead) for one in (*others, *([above] if is_apart else ())))
    found[-1].near += quoted
    why = next(filter(None, (one.unread for one in (block, *quoted, *below))), "")
    return [replace(locator, unread=why, doubt=doubt or locator.doubt) for locator in found]


_NEAR: Final = 400
"""The characters beside a quote in which it may be said who spoke."""


_LOCATING = regex(rf"{_REF.pattern}|{_SHA.pattern}|{_TIME.pattern}|https?://[^\s<>()]{{1,2000}}", re.IGNORECASE)


_BORDERS: Final = "".join(chain.from_iterable(CLOSING.items())) + "*_`"


def _near(text: str) -> str:
    """What is beside a quote, on one line, with a character for what names a source."""
    return " ".join(_LOCATING.sub(CITED, text).split())


def _told(row: str) -> str:
    """What a line below a quote says of it behind its dash, which is doubled: nothing else is said there."""
    return f"—{_near(row)} {CITED}" if _DASHED.match(row) else ""


def _around(text: str, start: int, end: int, within: Span) -> str:
    """What is right before and behind words, up to the ends of a part of the text."""
    before = _near(text[max(within[0], start - _NEAR) : start].rstrip().rstrip(_BORDERS))
    last = text[end - 1 : end] if text[end - 1 : end] in tuple(",.!?…") else ""
    return f"{before} {WORDS}{last} {_near(text[end : min(within[1], end + _NEAR)].lstrip().lstrip(_BORDERS))}"


def _lead(blocks: Sequence[Block], number: int) -> str:
    """What leads to the block quote that begins with a block, and a character for the quote."""
    if title := next((one.title for one in blocks[number : number + 1]), ""):
        return f"{_near(title)}:{WORDS}"
    before = blocks[number - 1] if number else None
    is_leading = before and not before.is_quote and _LEADS.search(before.text[-200:])
    return (_near(before.text[-_NEAR:]) if before and is_leading else "") + WORDS


def _joined(quoted: Sequence[Block], *, is_markdown: bool) -> list[str]:
    """The words of block quotes, the paragraphs of each joined."""
    rows: list[str] = []
    for number, block in enumerate(quoted):
        if number and _is_same(quoted[number - 1], block):
            rows[-1] += f"\n\n{block.text}"
        else:
            rows.append(block.text)
    return [_one_line(row, is_markdown=is_markdown) for row in rows]


def _with_digests(
    block: Block, quote: str, lead: str, *, is_markdown: bool
) -> tuple[list[_Locator], list[Span], list[Span]]:
    """The citations of a block that have a digest, with the quote above it or in it; `lead` leads to that.

    With them, what was read as their words, and what says where these are from: a title may look like a reference.
    """
    text, rows = block.text, block.text.split("\n")
    found: list[_Locator] = []
    claimed: list[Span] = []
    told: list[Span] = []
    done = last = 0  # the rows that are read, and where the citation before ends
    for match in _SHA.finditer(text):
        row = bisect_right(block.starts, match.start()) - 1
        begin = max(block.starts[_first_row(rows, row, min(done, row))], last)
        before = text[begin : match.start()]
        citation = _citation_of(before, match, block.lines[row])
        speaker = citation.speaker or _speaker_before_link(block)
        is_clear = True
        if block.is_quote:
            place, is_clear = _words_beside(before, speaker, match["note"] or "", has_links=bool(block.links))
            said = text[last : begin + place]
            if word_count(said):
                quote = _one_line(said.lstrip(_BEHIND) if last else said, is_markdown=is_markdown)
                quote = quote.rstrip(_AHEAD) if place else quote
            claimed.append((last, begin + place))
        citation = replace(citation, url=citation.url or next(iter(block.links), ""), speaker=speaker, quote=quote)
        inside = _QUOTED.search(before) if not quote else None
        if inside and _IN_TEXT.search(before, inside.end()):  # a line of plain text, as `cite` writes it
            said = " ".join(before[: inside.start()].split())
            said = said.removesuffix(":") if said.endswith(":") else ""
            citation = replace(citation, quote=" ".join(inside[1].split()), speaker=said)
            claimed.append((begin + inside.start(), begin + inside.end()))
            told.append((begin + inside.end(), match.end()))
        elif _DASHED.match(before):
            told.append((begin, match.end()))
        refs = list(_REF.finditer(before))
        start = begin + refs[-1].start() if refs else match.start()
        said = _told(before) or ("" if block.is_quote else f"— {_near(before)} {CITED}")
        locator = _Locator(start, match.end(), citation, around=lead + said)
        locator.doubt = "" if is_clear else _BESIDE.format(citation.line)
        found.append(locator)
        quote = quote if len(quote) <= _SHARED else ""
        done, last = row + 1, match.end()
    if block.is_quote and found and word_count(text[last:]):
        found[-1].words.append((_one_line(text[last:].lstrip(_BEHIND), is_markdown=is_markdown), ""))
    return found, claimed, told


_NAMING = regex(
    rf"(?P<ref>{_REF.pattern})|(?P<time>{_TIME.pattern})"
    r"|(?P<link>(?<!!)\[(?:[^\[\]\\]|\\.){0,500}\]\((?:<[^<>\n]{1,2000}>|[^()\s]{1,2000})\)|<?https?://[^\s<>]{1,2000}>?)",
    re.IGNORECASE,
)


_LED = regex(r"\W*(?:(?:see|from|in|cf|source|quoted|vgl|siehe|aus|voir)\W+)?", re.IGNORECASE)


_BEHIND: Final = " \n)]},.;:`*_|"
"""What may stand behind a citation before words go on."""


_AHEAD: Final = " \n,;:([{<`|—–-"


_LEADS_TO = regex(
    r"(?:^|\n|[(\[.,;:—–-])\s*(?:see|from|in|cf|source|quoted|quoted (?:in|from)|vgl|siehe|aus|quelle|voir)"
    r"[\s.:,`*_]*\Z",
    re.IGNORECASE,
)


_PAGES = regex(r"\s*(?:pp?|s|pages?|vol|no|chap|ch|sec|fn|ll?|§+)?[.\s]*[\d\s,–—-]{1,40}[\s,;:]*", re.IGNORECASE)
"""Where in a source, as the note of a citation says."""


_IN_BRACKETS = regex(r"[(\[]([^()\[\]\n]{1,200})\Z")


_NOTED_SOURCE = regex(
    r"(?:(?:raw|confidential|private|ephemeral|(?:output of a tool, )?quoted in a turn of [^,()]{0,80})(?:, |\Z))*"
)
"""What `cite` warns of behind a digest."""


_BESIDE: Final = "what is beside the citation on line {} may be quoted"


_NAME: Final = 6
"""Who is said to have spoken has at most so many words, without a number or a negation."""


def _words_beside(before: str, speaker: str, note: str, *, has_links: bool) -> tuple[int, bool]:
    """Where on the line of a citation in a block quote begins what names its source, and whether that is all it does.

    A line that begins with a dash says who spoke, with a link to what is cited.
    """
    named: set[str] = set()
    place = len(before)
    for match in reversed(list(_NAMING.finditer(before, max(len(before) - 3_000, 0)))):
        kind = match.lastgroup or "ref"
        if kind in named or match.end() > place or not _LED.fullmatch(before, match.end(), place):
            break
        named.add(kind)
        place = match.start()
    is_known = _NOTED_SOURCE.fullmatch(" ".join(note.split())) is not None
    dash = _DASHED.match(before)
    if not dash:
        is_known = is_known and "](" not in before[place:]  # the text of a link may be quoted
        led = _LEADS_TO.search(before, max(place - 40, 0), place)
        place = led.start() if led else place
        within = _IN_BRACKETS.search(before, max(place - 200, 0), place)
        if within and word_count(within[1]):
            return within.start(), is_known and _PAGES.fullmatch(within[1]) is not None
        return place, is_known
    said = " ".join(before[dash.end() : place].split())
    rest = said.removeprefix(speaker) if speaker else said
    return 0, is_known and (is_name(rest) or has_links or _unmarked(said).startswith(speaker or "\0"))


def is_name(words: str) -> bool:
    """Whether words may be the name of somebody, which nobody can check: few, without a number or a negation."""
    return word_count(words) <= _NAME and not changes_meaning(words)


def _share_quote(block: Block, found: list[_Locator], lead: str, *, is_markdown: bool) -> None:
    """Give all of a block quote to its citations without digests and its footnotes: each has what is before it."""
    last = 0
    for locator in found:
        begin = max(block.starts[bisect_right(block.starts, locator.start) - 1], last)
        before = block.text[begin : locator.start]
        place, is_clear = (len(before), True) if locator.note else _words_beside(before, "", "", has_links=False)
        words = block.text[last : begin + place].rstrip(_AHEAD)
        said = _one_line(words.lstrip(_BEHIND) if last else words, is_markdown=is_markdown)
        locator.words.append((said, lead + _told(before)))
        locator.doubt = "" if is_clear else _BESIDE.format(block.line_of(locator.start))
        last = locator.end
    found[-1].words.append((_one_line(block.text[last:].lstrip(_BEHIND), is_markdown=is_markdown), ""))


def _is_told_below(blocks: list[Block], number: int) -> bool:
    """Whether the citation of a block quote is in a later paragraph of it, or below it."""
    block = blocks[number]
    for later in blocks[number + 1 : number + _MOST_WORDS] if block.is_quote else ():
        has_citation = _SHA.search(later.text) or _PLACED.search(later.text)
        if later.is_quote and later.figure == block.figure > 0:
            if _SHA.search(later.text):
                return True
        else:
            return bool(has_citation and _DASHED.match(later.text))
    return False


def _rest_of_figure(blocks: list[Block], number: int) -> Iterator[Block]:
    """What a block quote of HTML holds behind its last citation."""
    end = number + 1
    while end < len(blocks) and blocks[end].is_quote and blocks[end].figure == blocks[number].figure > 0:
        if _SHA.search(blocks[end].text) or _PLACED.search(blocks[end].text):
            return
        end += 1
    yield from blocks[number + 1 : end]


def _share_words(block: Block, found: list[_Locator], claimed: Sequence[Span], *, is_markdown: bool) -> str:
    """Give the words that a paragraph quotes to its citations, in order; say what else of it may be quoted.

    Words are before their citation; if the first citation has none before it, they are behind.
    """
    pieces: list[str] = []
    done = 0
    for start, end in claimed:
        pieces += (block.text[done:start], " " * (end - start))
        done = end
    text = "".join((*pieces, block.text[done:]))
    text = without_marks_in_code(text)
    marks = list(quoted_spans(text))
    rows = _quoted_in(block, text, [(start, end) for _, start, end in marks])
    first = min((start for start, _ in (*rows, *claimed)), default=0)
    is_behind = first > found[0].start
    ends = [locator.end for locator in found]
    doubt = next(doubtful_marks(text, marks), -1)
    edges = [0, *chain.from_iterable(rows), len(text)]
    for number, (start, end) in enumerate(rows):
        after = bisect_right(ends, start)
        locator = found[min(max(after - is_behind, 0), len(found) - 1)]
        stop = found[after].start if after < len(found) else end  # an open quotation ends there
        words = block.text[start : min(end, stop) if stop > start else end]
        words = words.replace(OPEN, "“").replace(CLOSE, "”").strip().rstrip(",;.:([` ")
        around = _around(block.text, start, end, (edges[2 * number], edges[2 * number + 3]))
        locator.words.append((_one_line(words, is_markdown=is_markdown), around))
        if start < stop < end and word_count(text[found[after].end : end]):
            doubt = start - 1 if doubt < 0 else min(doubt, start - 1)
    if doubt < 0:
        return ""
    mark = {OPEN: "<q>", CLOSE: "</q>"}.get(text[doubt], text[doubt])
    return f"what {mark} on line {block.line_of(doubt)} quotes, if it does, is not clear"


def _quoted_in(block: Block, text: str, spans: list[Span]) -> list[Span]:
    """The words that a paragraph quotes, in order: those between marks, and longer ones that are set apart."""
    begins = [start for start, _ in spans]
    written = ((*match.span(match.lastindex or 0), match["stars"] == "**" or match["lines"] == "__")
               for match in _STRESSED.finditer(text))  # fmt: skip
    strong: list[Span] = []
    quoted = list(spans)
    for start, end, is_strong in sorted((*block.marked, *written)):
        at = bisect_right(begins, start) - 1
        is_within = at >= 0 and start < spans[at][1]
        said = _REF.sub("", _SHA.sub("", text[start:end]))
        if not is_within and word_count(said) >= _STRESSED_WORDS:
            (strong if is_strong else quoted).append((start, end))
    return sorted(quoted or strong)  # what is bold may be a heading


def _quote_below(blocks: list[Block], number: int) -> list[Block]:
    """The block quotes below a paragraph, all of them, up to one that has its own citation."""
    done = end = number + 1
    while end < len(blocks) and blocks[end].is_quote:
        end += 1
        while end < len(blocks) and blocks[end].is_quote and _is_same(blocks[end - 1], blocks[end]):
            end += 1
        has_own = any(_SHA.search(one.text) or _PLACED.search(one.text) for one in blocks[done:end])
        if has_own or _is_told_below(blocks, end - 1) or (done > number + 1 and _tells_source(blocks[end - 1])):
            break
        done = end
    return blocks[number + 1 : done]


def _tells_source(block: Block) -> bool:
    """Whether a block quote says itself where it is from."""
    last = block.text.rstrip().rpartition("\n")[2]
    return _DASHED.match(last) is not None or OTHER in block.text or bool(block.links or named_in(block.text))


def _is_same(one: Block, other: Block) -> bool:
    return one.figure == other.figure > 0


def _quote_above(blocks: list[Block], number: int) -> list[Block]:
    """The block quotes above a citation, up to one with a source of its own, or below a paragraph with another."""
    first = number
    least = 0 if _SHA.search(blocks[number].text) else number - _MOST_WORDS  # others do not end the quote of the next
    while first > max(least, 0) and blocks[first - 1].is_quote and not _SHA.search(blocks[first - 1].text):
        is_first = first == number and not blocks[number].is_quote
        if not (is_first or _is_same(blocks[first - 1], blocks[first])) and _tells_source(blocks[first - 1]):
            break
        first -= 1
    lead = blocks[first - 1].text if first and not blocks[first - 1].is_quote else ""
    if _LEADS.search(lead[-200:]) and (_SHA.search(lead) or _PLACED.search(lead)):
        end = first + 1
        while end <= number and _is_same(blocks[end - 1], blocks[end]):
            end += 1
        first = end if end < number or (end == number and blocks[number].is_quote) else first
    return blocks[first:number]


_APART: Final = "words on line {} are set apart as a quotation, and whether they are of this citation is not known"


class _Nearby:
    """Finds what is quoted beside a citation, and is given to none."""

    def __init__(self, blocks: Sequence[Block], by_block: Sequence[Sequence[_Locator]]) -> None:
        self.blocks, self.by_block = blocks, by_block
        self._known: dict[int, bool] = {}
        self.judged = {id(block) for found in by_block for locator in found for block in locator.near}

    def doubt(self, number: int, *, has_words: bool) -> str:
        """That words are quoted right above or below a citation that has none, or in a list that it leads to."""
        block = self.blocks[number]
        is_leading = not block.is_quote and _LEADS.search(block.text[-200:]) is not None
        if has_words and not is_leading:
            return ""
        near = [number + 1] if has_words or block.note else [number - 1, number + 1]
        while is_leading and len(near) < _MOST_WORDS and self._is_next(near[-1] + 1):
            near.append(near[-1] + 1)
        if not has_words and not block.note and _numbered(block) and _is_bare(block, _NAME):
            near += self.quoting[:1]  # it may be an endnote
        found = next((at for at in near if 0 <= at < len(self.blocks) and self._quotes(at)), None)
        return _APART.format(self.blocks[found].lines[0]) if found is not None else ""

    @cached_property
    def quoting(self) -> list[int]:
        """The blocks that quote for no citation."""
        return [number for number in range(len(self.blocks)) if self._quotes(number)]

    def _is_next(self, number: int) -> bool:
        """Whether a block is on the line behind the one before it, as items and rows are."""
        blocks = self.blocks
        is_row = number < len(blocks) and blocks[number].text.startswith(" ")  # a table has a line of dashes
        return number < len(blocks) and blocks[number].lines[0] <= blocks[number - 1].lines[-1] + 1 + is_row

    def _quotes(self, number: int) -> bool:
        if number not in self._known:
            self._known[number] = self._looked_at(number)
        return self._known[number]

    def _looked_at(self, number: int) -> bool:
        block = self.blocks[number]
        if self.by_block[number] or id(block) in self.judged:
            return False
        if block.is_quote or block.is_apart:
            return True
        text = without_marks_in_code(block.text)
        if any(word_count(text[start:end]) >= _STRESSED_WORDS for _, start, end in quoted_spans(text)):
            return True
        begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
        written = _STRESSED.fullmatch(text, begin, end)
        is_written = written is not None and written["stars"] != "**" and written["lines"] != "__"
        is_stressed = is_written or any(
            one <= begin and end <= other for one, other, is_bold in block.marked if not is_bold
        )
        return is_stressed and word_count(text) >= _STRESSED_WORDS


def _first_row(rows: Sequence[str], last: int, done: int) -> int:
    """The row on which the citation begins that has its digest on `last`: editors wrap lines. Others are `done`."""
    begins = [number for number in range(done, last + 1) if _DASHED.match(rows[number])]
    after_blank = [number for number in begins if number == done or not rows[number - 1].strip()]
    if begins:
        return (after_blank or begins)[-1]
    digest = _SHA.search(rows[last])
    row = rows[last][: digest.start()] if digest else rows[last]
    near = " ".join((*rows[max(done, last - 3) : last], row))
    is_text = "”" in row or _IN_TEXT.search(near)  # as plain text, in which the words come first
    is_whole = "“" in row or not is_text
    return last if is_whole and (_REF.search(row) or links_in(row)) else done


def _speaker_before_link(block: Block) -> str:
    """Whom HTML names below a quote: `— engineer, <a href=…>`."""
    lead = " ".join(block.lead.split()).replace("\ufffc", "").strip()
    dash = _DASHED.match(lead)
    return lead[dash.end() :].removesuffix(",") if dash and len(block.links) == 1 else ""


def _one_line(quote: str, *, is_markdown: bool) -> str:
    """A block quote as it is read."""
    return " ".join((_unmarked(with_images(quote)) if is_markdown else quote).split())


def _citation_of(before: str, match: re.Match[str], line: int) -> Written:
    """The citation that has a digest; `before` is what stands before it."""
    before = " ".join(before.split())
    refs, times, urls = list(_REF.finditer(before)), _TIME.findall(before), links_in(before)
    urls = urls or [link[1] for link in _RELATIVE.finditer(before)]
    dash = _DASHED.match(before)
    return Written(
        line=line,
        ref=_as_typed(refs[-1][0]) if refs else "",
        url=urls[-1] if urls else "",
        quote="",
        sha256=match["sha"].lower(),
        speaker=_unmarked(before[dash.end() :].partition(", [")[0]) if dash and ", [" in before else "",
        time=times[-1] if times else "",
        commit=match["commit"] or "",
        note=" ".join((match["note"] or "").split()),
    )


def _as_typed(ref: str) -> str:
    """A reference with two hyphens after its time where a converter set a dash."""
    return ref.replace("–", "--") if _SET.search(ref) else ref


def _of_line(row: str, line: int) -> Iterator[Written]:
    """The citations of a line that quotes nothing, by their digests."""
    done = 0
    for match in _SHA.finditer(row):
        yield _citation_of(row[done : match.start()], match, line)
        done = match.end()


def _unmarked(text: str) -> str:
    return edited(Reading(text), find_marks(text, keeps_numbers=True)).text


def _fields(text: str, place: int, named: Mapping[str, str], *, closing: str) -> tuple[dict[str, str], int, str]:
    """The fields of an entry of BibTeX, where it ends, and why its values are not what they seem to be; "" if they are.

    Values are as written, those that are joined by `#` one behind the other; `named` are those of `@string`.
    """
    found: dict[str, str] = {}
    why = ""
    while field := _FIELD.match(text, place):
        name, place, pieces = field[1].lower(), field.end(), []
        while value := _VALUE.match(text, place):
            place = value.end()
            if value[1]:
                stop = _value_end(text, place, value[1])
                if stop < 0:
                    return found, place, _UNCLOSED
                pieces.append(text[place:stop])
                place = stop + 1
            elif value[2].isdigit() or value[2].lower() in named:
                pieces.append(value[2] if value[2].isdigit() else named[value[2].lower()])
            else:
                why = why or f"nothing defines {value[2]}"
            joined = _JOIN.match(text, place)
            if joined is None:
                break
            place = joined.end()
        if name in found:
            why = why or f"it has {name} twice"
        found.setdefault(name, "".join(pieces))
    end = _END.match(text, place)
    if end is None or end[1] != closing:
        why = why or "its fields are not as BibTeX has them"
    return found, end.end() if end else place, why


def _value_end(text: str, place: int, opening: str) -> int:
    """Where a value in braces or quotation marks ends; -1 if it does not."""
    depth = 0
    for match in _BRACE.finditer(text, place):
        if not depth and match[0] == ("}" if opening == "{" else '"'):
            return match.start()
        depth += (match[0] == "{") - (match[0] == "}")
        if depth < 0:
            return -1
    return -1
