"""Parses the Markdown of a body, which is untrusted, into tokens, within bounds of time and depth; footnotes.

The dialect is CommonMark with tables, strikethrough, task lists, footnotes and `== Section ==` headings, without raw
HTML (SPEC 4). What would take too long, or nests so deep that the parser would drop it, is not read at all but left to
be shown verbatim. The bounds on time hold for markdown-it-py 4.1 and later: older ones take quadratic time on some
input. They were set by measuring, on 100 kinds of hostile text, the longest that the bounds let through.

The rules of footnotes are those of mdit-py-plugins (Pandoc's, without the inline form). A text that nothing refers to,
or whose label is taken, comes after the others rather than being dropped. Anchors are given by `naming`, by a core
rule, before the texts of footnotes are moved to the end.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, autolink, image, link
from markdown_it.token import Token
from mdit_py_plugins.footnote.index import footnote_def, footnote_ref

from memosite.markdown.naming import Heading, Named, Names, inline_text, name_passages
from memosite.markdown.quick import read_quickly

# Reads footnotes, `[^1]` and `[^1]: text`, within bounds, and moves their texts to the end of the body.


_MAX_LABEL: Final = 60  # without a bound, brackets that are never closed are read again from each of them


def _definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    first = state.bMarks[start] + state.tShift[start]
    return (
        state.src.startswith("[^", first)
        and state.src.find("]:", first, min(first + _MAX_LABEL, state.eMarks[start])) > 0
        and footnote_def(state, start, end, silent)
    )


def _reference(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    return (
        state.src.startswith("[^", state.pos)
        and state.src.find("]", state.pos, state.pos + _MAX_LABEL) > 0
        and footnote_ref(state, silent)
    )


def move_to_end(state: StateCore) -> None:
    """Number the footnotes in the order in which they are referred to, and put their texts last.

    Tokens: `footnotes_open`, for each text `footnote_open` … `footnote_close` with `meta["number"]`, and
    `footnotes_close`; a reference has its number in `meta["number"]`.
    """
    if "footnotes" not in state.env:
        return
    numbers = {found["label"]: id_ + 1 for id_, found in state.env["footnotes"]["list"].items()}
    rest: list[Token] = []
    texts: list[tuple[str, list[Token]]] = []
    open_texts: list[list[Token]] = []
    for token in state.tokens:
        if token.type == "footnote_reference_open":
            open_texts.append([])
            texts.append((token.meta["label"], open_texts[-1]))
        elif token.type == "footnote_reference_close":
            open_texts.pop()
        else:
            (open_texts[-1] if open_texts else rest).append(token)
        _number_references(token)
    state.tokens = rest + (list(_listed(texts, numbers)) if texts else [])


def _number_references(token: Token) -> None:
    """Give each reference its number and, as its content, what is shown of it."""
    waiting = list(token.children or ())
    while waiting:
        child = waiting.pop()
        waiting += child.children or ()
        if child.type == "footnote_ref":
            child.meta["number"] = child.meta["id"] + 1
            child.content = f"[{child.meta['number']}]"


def _listed(texts: list[tuple[str, list[Token]]], numbers: dict[str, int]) -> list[Token]:
    numbered: dict[int, list[Token]] = {}
    following = len(numbers)
    for label, tokens in texts:
        number = numbers.get(label, 0)
        if number == 0 or number in numbered:
            following = number = following + 1
        numbered[number] = tokens
    listed = [Token("footnotes_open", "", 1)]
    for number in sorted(numbered):
        listed.append(Token("footnote_open", "", 1, meta={"number": number}))
        listed += numbered[number]
        listed.append(Token("footnote_close", "", -1, meta={"number": number}))
    return [*listed, Token("footnotes_close", "", -1)]


MAX_CHARS: Final = 1_000_000


MAX_COST: Final = 4_000_000
"""Of `worst_cost`. Real text of a million characters costs 1.6 million; the worst text let through took 9 s."""


MAX_NESTING: Final = 20
"""Blocks within blocks; a list and its item count as two."""


_MAX_TOKENS = 300_000  # of blocks, looked at after each table: rows shorter than the header are filled up


_MAX_BRACKETS = 6  # brackets within brackets that are tried as links; the time grows with each level


# Microseconds that one of these costs the parser at worst, measured on the inputs that are worst for it: a line
# is looked at once per level of nesting, a bracket once per level of brackets.
_COSTS: Final = {"\n": 65, "[": 20, "|": 16, "*": 8, "_": 8, "~": 8, "-": 8, "`": 6, "]": 4, "<": 2, "&": 2}


_CHEAP_CHARS: Final = MAX_COST // (max(_COSTS.values()) + 1)  # so many characters of any kind cost less


_SPAN = re.compile(r"[\n!&*<\[\\\]_`~]")


_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


_NESTING = ("blockquote_open", "list_item_open", "footnote_reference_open")


_TASK = re.compile(r"\[([ xX])\](?=\s)")


_AUTOLINK = re.compile(r"<(?:https?://|mailto:|[^\s<>:@]+@)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyTokens:
    """What was read of a body: its text with LF and without control characters, its blocks, its outline, its passages.

    `passages` are headings, paragraphs, items and code, in the order of the source.
    """

    source: str
    tokens: tuple[Token, ...] | None  # None: to be shown verbatim
    headings: tuple[Heading, ...] = ()
    passages: tuple[Named, ...] = ()


@lru_cache(maxsize=1)  # a body's HTML, outline and words are asked for one after the other
def read_body(text: str) -> BodyTokens:
    """Read the Markdown of a body; never raises. The tokens must not be changed: they are kept for the next call."""
    source = printable_text(text.removeprefix("\ufeff"))
    verbatim = BodyTokens(source=source, tokens=None)
    if len(source) > MAX_CHARS or (len(source) > _CHEAP_CHARS and worst_cost(source) > MAX_COST):
        return verbatim
    try:
        tokens, names = _read_quickly(source) or _read_fully(source)
    except Exception:  # third-party code on untrusted text: one bad body must not stop a build (SPEC 9)
        return verbatim
    return BodyTokens(source=source, tokens=tuple(tokens), headings=names.headings, passages=names.passages)


def _read_quickly(source: str) -> tuple[list[Token], Names] | None:
    """Read a text with the quick parser, if that reads all of it as markdown-it would."""
    tokens = read_quickly(source, _spans)
    if tokens is None:
        return None
    _mark_tasks(tokens)
    return tokens, name_passages(tokens, inline_text)


def _spans(content: str) -> list[Token]:
    """Read the inline content of a block that no definition of a link or footnote can concern."""
    return _parser().parseInline(content, {})[0].children or []


def _read_fully(source: str) -> tuple[list[Token], Names]:
    """Read a text with markdown-it. Raises `OverflowError` if it nests too deep."""
    env: dict[str, Names] = {}
    tokens = _parser().parse(source, env)
    if any(token.level >= MAX_NESTING - 1 and token.type in _NESTING for token in tokens):
        raise OverflowError("deeper than is worth showing")
    return tokens, env["names"]


def printable_text(text: str) -> str:
    """A text with LF, and U+FFFD for each control character that HTML must not hold."""
    return _NOT_TEXT.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def worst_cost(text: str) -> int:
    """Return roughly how many microseconds the parser needs for `text` at worst, in time linear in its length."""
    return len(text) // 3 + sum(weight * text.count(char) for char, weight in _COSTS.items())


class _Parser(MarkdownIt):
    """Leaves destinations as they are written, the hostile ones too: the writer decides whether to link them."""

    def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 - markdown-it's name
        """Accept every destination."""
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        """Encode nothing."""
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        """Decode nothing."""
        return link


@cache
def _parser() -> MarkdownIt:
    parser = _Parser("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    # `read_body` and what tokens hold are normalized already.
    parser.enable(["table", "strikethrough"]).disable(["html_block", "html_inline", "normalize"])
    parser.block.ruler.before("heading", "section", _section, {"alt": ["paragraph", "reference", "blockquote"]})
    parser.block.ruler.at("table", _bounded_table, {"alt": ["paragraph", "reference"]})
    parser.inline.ruler.at("link", _bounded_link)
    parser.inline.ruler.at("image", _single_image)
    parser.inline.ruler.at("autolink", _known_autolink)
    parser.core.ruler.at("inline", _inline)
    # The texts of footnotes stay where they are written until `move_to_end`.
    parser.block.ruler.before("reference", "footnote_def", _definition, {"alt": ["paragraph", "reference"]})
    parser.inline.ruler.after("image", "footnote_ref", _reference)
    parser.core.ruler.push("task_items", lambda state: _mark_tasks(state.tokens))
    parser.core.ruler.push("anchors", _anchors)
    parser.core.ruler.push("footnotes", move_to_end)  # last: anchors are numbered in the order of the source
    return parser


def _section(state: StateBlock, start: int, _end: int, silent: bool) -> bool:  # noqa: FBT001
    """Read `== Section ==`, alone on its line, as a heading whose level is the number of signs (SPEC 4)."""
    first = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("==", first) or state.is_code_block(start):
        return False
    line = state.src[first : state.eMarks[start]].rstrip(" \t")
    level = len(line) - len(line.lstrip("="))
    title = line[level:-level]
    if level > 6 or line[-level:] != "=" * level or not title.strip(" \t="):
        return False
    if title[0] not in " \t" or title[-1] not in " \t":
        return False
    if silent:
        return True
    state.line = start + 1
    for kind, nesting in (("heading_open", 1), ("inline", 0), ("heading_close", -1)):
        token = state.push(kind, f"h{level}" if nesting else "", nesting)  # type: ignore[arg-type]
        token.map = [start, state.line]
        token.markup = "=" * level
        if not nesting:
            token.content, token.children = title.strip(" \t"), []
    return True


def _bounded_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Read a table, and give up on the body when its tables have too many cells."""
    first = state.bMarks[start] + state.tShift[start]
    found = state.src.find("|", first, state.eMarks[start]) >= 0 and table(state, start, end, silent)
    if found and len(state.tokens) > _MAX_TOKENS:
        raise OverflowError("more cells than are worth showing as a table")
    return found


def _bounded_link(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Read a link, looking ahead for brackets within brackets only so deep."""
    if silent and state.level >= _MAX_BRACKETS and state.src.startswith(("[", "!["), state.pos):
        state.pos = state.posMax  # what the parser does beyond its own bound: no bracket around this one is a link
        return True
    return link(state, silent)


def _single_image(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Read an image, but none within its alternative text, which is parsed again for each level of images."""
    if silent or state.src[state.pos] != "!":
        return image(state, silent)
    if "in_image" in state.env:
        return False
    state.env["in_image"] = True
    found = image(state, silent)
    del state.env["in_image"]
    return found


def _known_autolink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Read `<https://…>` and addresses as links, and leave `<xs:element>` to be shown as text."""
    return _AUTOLINK.match(state.src, state.pos) is not None and autolink(state, silent)


def _inline(state: StateCore) -> None:
    """Read the inline content of blocks; a line without markup, as many are, becomes a text token directly."""
    for token in state.tokens:
        if token.type == "inline":
            children: list[Token] = []
            token.children = children
            if _SPAN.search(token.content):
                state.md.inline.parse(token.content, state.md, state.env, children)
            elif token.content:
                children.append(Token("text", "", 0, content=token.content))


def _mark_tasks(tokens: list[Token]) -> None:
    """Show the box of a list item such as `[x] done` as a character."""
    for item, paragraph, inline in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if item.type == "list_item_open" and paragraph.type == "paragraph_open" and inline.children:
            first = inline.children[0]
            box = _TASK.match(first.content) if first.type == "text" else None
            if box:
                first.content = ("☐" if box[1] == " " else "☑") + first.content[3:]


def _anchors(state: StateCore) -> None:
    """Leave the names of headings and passages in `env`."""
    state.env["names"] = name_passages(state.tokens, lambda inline: _stable_words(state, inline))


def _stable_words(state: StateCore, inline: Token) -> str:
    """The words of a heading, as they are without definitions: one may follow anywhere, and the anchor must stay."""
    if "[" in inline.content and ("references" in state.env or "footnotes" in state.env):
        return inline_text(state.md.parseInline(inline.content, {})[0])
    return inline_text(inline)
