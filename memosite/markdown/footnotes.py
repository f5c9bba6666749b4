"""Reads footnotes, `[^1]` and `[^1]: text`, within bounds, and moves their texts to the end of the body.

The rules are those of mdit-py-plugins (Pandoc's footnotes, without the inline form). A text that nothing refers to,
or whose label is taken, comes after the others rather than being dropped.
"""

from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.footnote.index import footnote_def, footnote_ref

_MAX_LABEL: Final = 60  # without a bound, brackets that are never closed are read again from each of them


def add_footnotes(parser: MarkdownIt) -> None:
    """Let a parser read footnotes; their texts stay where they are written until `move_to_end`."""
    parser.block.ruler.before("reference", "footnote_def", _definition, {"alt": ["paragraph", "reference"]})
    parser.inline.ruler.after("image", "footnote_ref", _reference)


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
