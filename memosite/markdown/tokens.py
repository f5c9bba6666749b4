"""Parses the Markdown of a body, which is untrusted, into tokens, within bounds of time and depth; footnotes.

The dialect is CommonMark with tables, strikethrough, task lists, footnotes and `== Section ==` headings, without raw
HTML (SPEC 4). What would take too long, or nests so deep that the parser would drop it, is not read at all but left to
be shown verbatim. The bounds on time hold for markdown-it-py 4.1 and later: older ones take quadratic time on some
input. They were set by measuring, on 100 kinds of hostile text, the longest that the bounds let through.

No word is lost. The definition of a link or a footnote that nothing refers to, or whose label is taken, is text where
it was written; a row has its cells beyond the columns of the header. Comments alone are left out of what is shown; what
they hold keeps its anchors.

The rules of footnotes are those of mdit-py-plugins (Pandoc's, without the inline form). Anchors are given by `naming`,
by a core rule, before the texts of footnotes are moved to the end.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.common.utils import mdTrim
from markdown_it.rules_block import StateBlock, reference, table
from markdown_it.rules_block.table import escapedSplit, getLine
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, autolink, image, link
from markdown_it.token import Token
from mdit_py_plugins.footnote.index import footnote_def, footnote_ref

from memosite.facts.patterns import regex
from memosite.facts.values import Value
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
    `footnotes_close`; a reference has its number in `meta["number"]`. A text that nothing refers to, or whose label is
    taken, stays where it is written, with its label, as `footnote_text_open` … `footnote_text_close`; its number, which
    only its published anchor has, follows the others.
    """
    if "footnotes" not in state.env:
        return
    numbers = {found["label"]: id_ + 1 for id_, found in state.env["footnotes"]["list"].items()}
    following = len(numbers)
    rest: list[Token] = []
    texts: dict[int, list[Token]] = {}
    within = [rest]
    for index, token in enumerate(state.tokens):
        if token.type == "footnote_reference_open":
            number = numbers.pop(token.meta["label"], 0)
            if number:
                texts[number] = []
                within.append(texts[number])
            else:
                following += 1
                within.append(within[-1])
                token.type, token.meta["number"] = "footnote_text_open", following
                within[-1] += (token, *_with_label(token.meta, state.tokens[index + 1 : index + 3]))
        elif token.type == "footnote_reference_close":
            if within.pop() is within[-1]:
                token.type = "footnote_text_close"
                within[-1].append(token)
        else:
            within[-1].append(token)
        _number_references(token)
    state.tokens = rest + (list(_listed(texts)) if texts else [])


def _with_label(meta: dict[str, Any], following: list[Token]) -> list[Token]:
    """Show the label before the text of a footnote: in its first paragraph, else in the one that is returned."""
    if "is_commented" in meta:
        return []
    written = Token("text", "", 0, content=f"[^{meta['label']}]: ")
    if len(following) == 2 and following[0].type == "paragraph_open" and not following[0].hidden:
        following[1].children = [written, *(following[1].children or ())]
        return []
    return [
        Token("paragraph_open", "p", 1),
        Token("inline", "", 0, children=[written]),
        Token("paragraph_close", "p", -1),
    ]


def _number_references(token: Token) -> None:
    """Give each reference its number and, as its content, what is shown of it."""
    waiting = list(token.children or ())
    while waiting:
        child = waiting.pop()
        waiting += child.children or ()
        if child.type == "footnote_ref":
            child.meta["number"] = child.meta["id"] + 1
            child.content = f"[{child.meta['number']}]"


def _listed(texts: dict[int, list[Token]]) -> Iterator[Token]:
    yield Token("footnotes_open", "", 1)
    for number in sorted(texts):
        yield Token("footnote_open", "", 1, meta={"number": number})
        yield from texts[number]
        yield Token("footnote_close", "", -1, meta={"number": number})
    yield Token("footnotes_close", "", -1)


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


_SPAN = regex(r"[\n!&*<\[\\\]_`~]")


_NOT_TEXT = regex("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


_NESTING = ("blockquote_open", "list_item_open", "footnote_reference_open")


LANGUAGE: Final = regex(r"\s*([A-Za-z0-9_+#.-]{0,40})")
"""The language of code, at the beginning of what is said of it."""


_TASK = regex(r"\[([ xX])\](?=[^\S\n])")


_NO_COMMENT = -1  # in the cache of a block's content, which has places else: where comments begin that do not end in it


_TEXTS = ("paragraph_open", "heading_open")


_OF_TABLES = ("table_", "thead_", "tbody_", "tr_", "th_", "td_")


_AUTOLINK = regex(r"<(?:https?://|mailto:|[^\s<>:@]+@)", re.IGNORECASE)


class BodyTokens(Value):
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
    if "[" in source:
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


def said_of_code(token: Token) -> str:
    """What is said of code between fences, if that is more than its language: a title, the name of a directive."""
    info = token.info.strip()
    return "" if LANGUAGE.fullmatch(info) else info


def printable_text(text: str) -> str:
    """A text with LF, and U+FFFD for each control character that HTML must not hold."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    # What is printable needs no look at each character; most texts are, but for their line ends.
    return text if text.replace("\n", " ").isprintable() else _NOT_TEXT.sub("\ufffd", text)


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
    options = {"html": False, "maxNesting": MAX_NESTING, "inline_definitions": True, "store_labels": True}
    parser = _Parser("commonmark", options)
    # `read_body` and what tokens hold are normalized already.
    parser.enable(["table", "strikethrough"]).disable(["html_block", "html_inline", "normalize"])
    parser.block.ruler.before("heading", "section", _section, {"alt": ["paragraph", "reference", "blockquote"]})
    parser.block.ruler.at("reference", _definition_of_link)
    parser.inline.ruler.at("link", _bounded_link)
    parser.inline.ruler.at("image", _single_image)
    parser.inline.ruler.at("autolink", _known_autolink)
    parser.inline.ruler.before("autolink", "comment", _comment)
    parser.core.ruler.at("inline", _inline)
    parser.core.ruler.after("inline", "comments", _hide_comments)
    parser.core.ruler.after("comments", "definitions", _keep_definitions)
    block_rules(parser)
    parser.inline.ruler.after("image", "footnote_ref", _reference)
    parser.core.ruler.push("task_items", lambda state: _mark_tasks(state.tokens))
    parser.core.ruler.push("anchors", _anchors)
    parser.core.ruler.push("footnotes", move_to_end)  # last: anchors are numbered in the order of the source
    return parser


def block_rules(parser: MarkdownIt) -> None:
    """Read tables with all their cells, and footnotes; their texts stay where they are written until `move_to_end`."""
    parser.block.ruler.at("table", _whole_table, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.before("reference", "footnote_def", _definition, {"alt": ["paragraph", "reference"]})


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


def _whole_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Read a table with all its cells, and give up on the body when its tables have too many."""
    first = state.bMarks[start] + state.tShift[start]
    before = len(state.tokens)
    if state.src.find("|", first, state.eMarks[start]) < 0 or not table(state, start, end, silent):
        return False
    if not silent:
        state.tokens[before:] = _with_further_cells(state, state.tokens[before:])
    if len(state.tokens) > _MAX_TOKENS:
        raise OverflowError("more cells than are worth showing as a table")
    return True


def _with_further_cells(state: StateBlock, tokens: list[Token]) -> Iterator[Token]:
    """The tokens of a table with those of the cells beyond the header's columns, which the parser drops."""
    columns = sum(token.type == "th_open" for token in tokens)
    line = 0
    for token in tokens:
        if token.type == "tr_open" and token.map:
            line = token.map[0]
        elif token.type == "tr_close" and state.src.count("|", state.bMarks[line], state.eMarks[line]) >= columns:
            cells = escapedSplit(mdTrim(getLine(state, line)))
            begin = columns + (cells[0] == "")  # before the first bar
            while cells and not cells[-1].strip():
                cells.pop()
            for cell in cells[begin:]:
                yield Token("td_open", "td", 1, level=token.level + 1)
                inline = Token("inline", "", 0, level=token.level + 2, map=[line, line + 1], content=mdTrim(cell))
                inline.children = []
                yield inline
                yield Token("td_close", "td", -1, level=token.level + 1)
        yield token


def _definition_of_link(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Read the definition of a link as a paragraph, which `_keep_definitions` takes away if something refers to it."""
    if silent or not reference(state, start, end, silent):
        return False
    label = state.tokens.pop().meta["id"]
    lines = state.getLines(start, state.line, state.blkIndent, keepLastLF=False)
    for kind, nesting in (("paragraph_open", 1), ("inline", 0), ("paragraph_close", -1)):
        token = state.push(kind, "p" if nesting else "", nesting)  # type: ignore[arg-type]
        token.map, token.meta["definition"] = [start, state.line], label
        if not nesting:
            token.content, token.children = lines, []
    return True


def _keep_definitions(state: StateCore) -> None:
    """Keep definitions of links that nothing refers to, and further ones of a label, as text; take away the others."""
    if "references" not in state.env:
        return
    used = {
        child.meta["label"]
        for token in state.tokens
        for child in token.children or ()
        if child.type in {"link_open", "image"} and "label" in child.meta
    }
    references = {label: found for label, found in state.env["references"].items() if label in used}
    state.env["references"] = references  # what is text itself is no link
    kept: list[Token] = []
    texts: list[list[Token]] = []  # three tokens for each definition, those together that are lines of one paragraph
    for index, token in enumerate(state.tokens):
        label = token.meta.get("definition")
        if label is None:
            _go_on(kept, token)
        elif token.type == "paragraph_open" and token.map:
            begin = token.map[0]
            is_hidden = state.tokens[index + 1].meta.get("is_commented")
            if is_hidden or (label in references and references[label]["map"][0] == begin):
                continue
            if texts and kept[-1] is texts[-1][-1] and texts[-1][-1].map and texts[-1][-1].map[1] == begin:
                texts[-1] += state.tokens[index : index + 3]
                kept.pop()
            else:
                texts.append(state.tokens[index : index + 3])
                _go_on(kept, token)
                kept.append(texts[-1][1])
            kept.append(texts[-1][-1])
    for tokens in texts:
        opening, inline, close = tokens[0], tokens[1], tokens[-1]
        opening.map = inline.map = [(opening.map or [0])[0], (close.map or [0, 0])[1]]
        inline.content = mdTrim("\n".join(token.content for token in tokens[1::3]))
        inline.children = _read_spans(state, inline.content, with_open_comments=False)
    state.tokens = kept


def _go_on(kept: list[Token], token: Token) -> None:
    """Add a token; a definition that another paragraph of a tight list follows is shown as a paragraph."""
    if token.type == "paragraph_open" and token.hidden and kept and "definition" in kept[-1].meta:
        kept[-1].hidden = kept[-3].hidden = False
    kept.append(token)


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
    """Read the inline content of blocks, but for definitions, which may refer to nothing."""
    for token in state.tokens:
        if token.type == "inline" and "definition" not in token.meta:
            token.children = _read_spans(state, token.content)


def _read_spans(state: StateCore, content: str, *, with_open_comments: bool = True) -> list[Token]:
    """The tokens of inline content; a line without markup, as many are, becomes a text token directly."""
    children: list[Token] = []
    if _SPAN.search(content):
        env = state.env if with_open_comments else {**state.env, "comments_are_shown": "open"}
        state.md.inline.parse(content, state.md, env, children)
    elif content:
        children.append(Token("text", "", 0, content=content))
    return children


# Comments, `<!-- … -->`, which are read as blocks and spans, so that what they hold keeps its anchors, and not shown.


def _comment(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Read a comment. One at the beginning of a line may end in another block, which `_hide_comments` looks for."""
    is_shown = state.env.get("comments_are_shown")
    if is_shown == "all" or not state.src.startswith("<!--", state.pos):
        return False
    none_from = state.cache.get(_NO_COMMENT, len(state.src))
    end = state.src.find("-->", state.pos + 2) if state.pos < none_from else -1
    if end < 0:
        state.cache[_NO_COMMENT] = min(state.pos, none_from)
        before = state.src[max(state.pos - 4, 0) : state.pos].rstrip(" ")
        begins_line = before.endswith("\n") or (not before and state.pos < 4)
        if is_shown or silent or state.level or "in_image" in state.env or not begins_line:
            return False
    elif end + 3 > state.posMax:  # beyond the label that it is in
        return False
    if not silent:
        state.push("comment", "", 0).meta["is_open"] = end < 0
    state.pos = state.posMax if end < 0 else end + 3
    return True


def _hide_comments(state: StateCore) -> None:
    """Leave out what is between the `<!--` of one block and the `-->` of another, and blocks of nothing but comments.

    A comment that does not end in a paragraph or a heading is text.
    """
    if "<!--" not in state.src:
        return
    begun: list[int] = []
    for index, token in enumerate(state.tokens):
        if begun and "-->" in token.content:
            if state.tokens[index - 1].type in _TEXTS and "definition" not in token.meta:
                _hide(state.tokens[begun[0] + 1 : index])
                rest = token.content.partition("-->")[2]
                token.children = [Token("comment", "", 0), *_read_spans(state, rest)]
            else:
                _show(state, begun)
            begun = []
        if token.children and token.children[-1].meta.get("is_open"):
            if state.tokens[index - 1].type == "paragraph_open":
                begun.append(index)
            else:
                _show(state, [index])
    _show(state, begun)
    _hide_blocks(state.tokens)


def _hide(tokens: list[Token]) -> None:
    """Hide what blocks hold, and whole tables."""
    for token in tokens:
        token.meta["is_commented"] = True
        if token.type == "inline":
            token.children = [Token("comment", "", 0)]
        elif not token.nesting or token.type.startswith(_OF_TABLES):
            token.hidden = True


def _show(state: StateCore, begun: list[int]) -> None:
    """Read blocks in which a comment begins that never ends."""
    for index in begun:
        state.tokens[index].children = _read_spans(state, state.tokens[index].content, with_open_comments=False)


def _hide_blocks(tokens: list[Token]) -> None:
    """Hide the blocks that hold comments, and nothing else; of a list all items or none."""
    opened: list[Token] = []
    # For the document and for each block that is open: whether it holds comments, whether anything else, hidden items.
    found: list[tuple[set[bool], list[Token]]] = [(set(), [])]
    for token in tokens:
        holds = found[-1][0]
        if token.nesting > 0:
            opened.append(token)
            found.append((set(), []))
        elif token.nesting < 0:
            opening = opened.pop()
            inner, items = found.pop()
            is_hidden = opening.hidden if token.type.startswith((*_OF_TABLES, "footnote_")) else inner == {True}
            found[-1][0].update({True} if is_hidden else inner | {False})
            if is_hidden:
                opening.hidden = token.hidden = True
                if token.type == "list_item_close":
                    found[-1][1].extend((opening, token))
            else:
                for item in items:
                    item.hidden = False
        elif token.type == "inline":
            comments = [child.type == "comment" for child in token.children or () if not _is_blank(child)]
            if comments and all(comments):
                token.children = []
            holds.update(comments)
        else:
            holds.add(token.hidden)


def _is_blank(span: Token) -> bool:
    return span.type in {"softbreak", "hardbreak"} or (span.type == "text" and not span.content.strip())


def _mark_tasks(tokens: list[Token]) -> None:
    """Show the box of a list item such as `[x] done` as a character."""
    for index, item in enumerate(tokens):
        if item.type == "list_item_open" and tokens[index + 1].tag == "p":
            inline = tokens[index + (1 if tokens[index + 1].type == "block" else 2)]
            text = inline.children[0] if inline.children else inline
            if text.type == "text" and (box := _TASK.match(text.content)):
                text.content = ("☐" if box[1] == " " else "☑") + text.content[3:]
            elif text is inline and (box := _TASK.match(text.info)):
                text.info = ("☐" if box[1] == " " else "☑") + text.info[3:]


def _anchors(state: StateCore) -> None:
    """Leave the names of headings and passages in `env`."""
    state.env["names"] = name_passages(state.tokens, lambda inline: _stable_words(state, inline))


def _stable_words(state: StateCore, inline: Token) -> str:
    """The words of a heading, as they are without definitions: one may follow anywhere, and the anchor must stay.

    Comments are among them: anchors were published when comments were shown.
    """
    is_defined = "[" in inline.content and ("references" in state.env or "footnotes" in state.env)
    if is_defined or not inline.children or any(child.type == "comment" for child in inline.children):
        return inline_text(state.md.parseInline(inline.content, {"comments_are_shown": "all"})[0])
    return inline_text(inline)
