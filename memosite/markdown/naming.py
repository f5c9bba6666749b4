"""Names the headings and the passages of a body, so that they can be linked to and cited (SPEC 7).

A heading is named by its words; a paragraph, an item of a list and a block of code by the hash of its own source, so
that neither text before nor text after it moves its anchor. An anchor is in `meta["anchor"]` of a block's first token.
What the source of each is, docs/citations.md says; `plain.read_spans` finds it in the text.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias

from markdown_it.token import Token

from memosite.facts.patterns import regex
from memosite.facts.values import Value
from memosite.markdown.quick import words_written

MAX_ANCHOR: Final = 60

Kind: TypeAlias = Literal["heading", "paragraph", "item", "code"]
Shape: TypeAlias = Literal["text", "heading", "fence", "indented"]
"""How the source of a passage is written: as lines of text, behind `#` or between `==`, between fences, indented."""

_EMPTY_LINE = regex(r"\n[ \t]*(?=\n)")
_CODE: Final[dict[str, Shape]] = {"fence": "fence", "code_block": "indented"}
_TEXTS: Final = ("block", "paragraph_open")


class Heading(Value):
    """One heading of a body: level 1 to 6 as written, text without markup, anchor without prefix.

    An anchor holds letters and digits of any script in lower case, each other run as one "-", at most `MAX_ANCHOR`
    characters, with "-2", "-3" for repeats. It depends on nothing that comes after the heading.
    """

    level: int
    text: str
    anchor: str


class Named(NamedTuple):
    """A passage with its anchor. `content` is what its block holds, without the marks of what contains it.

    It is on the source's lines from `line` on, counted from 0, and before `end` as far as that is known; of fenced
    code `line` is that of the fence. Of an item it is what the item begins with: more may be added to it later.
    """

    anchor: str
    kind: Kind
    shape: Shape
    line: int
    end: int
    content: str


class Names(Value):
    """The outline of a body and its passages, both in the order of the source."""

    headings: tuple[Heading, ...]
    passages: tuple[Named, ...]


def name_passages(tokens: list[Token], words_of: Callable[[Token], str]) -> Names:
    """Give headings and passages their anchors; `words_of` gives the words that name a heading."""
    headings: list[Heading] = []
    passages: list[Named] = []
    taken = _Taken()
    for index, token in enumerate(tokens):
        if token.nesting < 0:
            continue
        kind: Kind
        is_whole = token.type == "block"
        inner = token if is_whole else tokens[min(index + 1, len(tokens) - 1)]  # what has the words
        if (is_whole and token.tag != "p") or (token.type == "heading_open" and _is_heading(tokens, index)):
            kind, stem = "heading", joined_words(words_of(inner), "-")[:MAX_ANCHOR].rstrip("-") or "section"
        elif token.type in _CODE:
            kind, stem = "code", f"c-{_digest(_first_lines(token.content))}"
        elif token.type == "list_item_open":
            kind, stem = "item", ""
        elif token.type in _TEXTS and not (index and tokens[index - 1].type == "list_item_open"):
            kind, stem = "paragraph", ""  # the anchor of the first of a list item is the item's
        else:
            continue
        source = _source_of(token) if is_whole or kind == "code" else _first_in(tokens, index)
        named = token.content if is_whole else _naming(tokens, index)
        anchor = token.meta["anchor"] = taken.free(stem or f"p-{_digest(named)}")
        if kind == "heading" and not token.hidden:
            headings.append(Heading(level=int(token.tag[1]), text=inline_text(inner) or anchor, anchor=anchor))
        passages.append(Named(anchor, kind, *source))
    return Names(headings=tuple(headings), passages=tuple(passages))


def inline_text(token: Token) -> str:
    """Return the words of an inline token or an image on one line; an image counts as its alternative text."""
    if token.info:
        return words_written(token.info)
    words: list[str] = []
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            words.append(" ")
        else:
            words.append(inline_text(child) if child.type == "image" else child.content)
    return "".join(words).strip()


def joined_words(text: str, joint: str) -> str:
    """Return the letters and digits of the first 200 characters in lower case, each run of others as `joint`."""
    return joint.join(re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text[:200]).lower()))


class _Taken:
    """The anchors of a body that are already taken."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._following: dict[str, int] = {}

    def free(self, anchor: str) -> str:
        """Return the anchor, with "-2", "-3" where it is already taken; each repeat takes constant time."""
        stem = anchor[: MAX_ANCHOR - 7].rstrip("-") if anchor in self._taken else ""
        while anchor in self._taken:
            self._following[stem] = self._following.get(stem, 1) + 1
            anchor = f"{stem}-{self._following[stem]}"
        self._taken.add(anchor)
        return anchor


def _is_heading(tokens: list[Token], index: int) -> bool:
    """Whether a heading says anything; of "##" and nothing else, where readers see none, a paragraph is made."""
    opening, inline, close = tokens[index : index + 3]
    if inline.content:
        return True
    opening.type, close.type, opening.tag, close.tag = "paragraph_open", "paragraph_close", "p", "p"
    inline.children = [Token("text", "", 0, content=opening.markup)]
    return False


def _naming(tokens: list[Token], index: int) -> str:
    """What names a paragraph, or an item: most of what it begins with. Published anchors are made of it."""
    for behind, token in enumerate(tokens[index + 1 : index + 4], 1):
        if token.content and (behind < 3 or token.type != "block"):  # of a whole block, the words come one token later
            return token.content
        if token.nesting < 0:
            break
    return ""


def _source_of(token: Token) -> tuple[Shape, int, int, str]:
    """The same of a token that holds all of a block."""
    begin, end = token.map or (0, 0)
    return _CODE.get(token.type, "text" if token.tag == "p" else "heading"), begin, end, token.content


def _first_in(tokens: list[Token], index: int) -> tuple[Shape, int, int, str]:
    """What a heading or a paragraph consists of, or what an item begins with: its shape, lines and content.

    That is the first paragraph, heading or code in it that holds anything; "" if there is none, or a table before it.
    """
    shape: Shape = "text"
    begin, end = tokens[index].map or (0, 0)
    if tokens[index].type == "heading_open":
        shape = "heading"
    depth = 0
    for number in range(index + 1, len(tokens)):
        token = tokens[number]
        depth += token.nesting
        if depth < 0 or token.type == "table_open":
            break
        begin, end = token.map or (begin, end)
        if token.type == "block":
            return _source_of(token)
        if token.content:
            return _CODE.get(token.type, shape), begin, end, token.content
        if token.type in ("heading_open", "paragraph_open"):
            shape = "heading" if token.type == "heading_open" else "text"
    return "text", begin, begin, ""


def _first_lines(code: str) -> str:
    """What of code names it: the lines before its first empty one, since code that is not closed yet may go on."""
    gap = _EMPTY_LINE.search(f"\n{code}")
    return code[: max(gap.start() - 1, 0)] if gap else code.removesuffix("\n")


def _digest(source: str) -> str:
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:8]
