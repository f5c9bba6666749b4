"""Tokens of the quick parser: markdown-it's, with what is read of them alone."""

from typing import Any, Final

from markdown_it.token import Token

__all__ = ["BREAKS", "CLOSE", "HIDDEN_CLOSE", "OPEN", "RULE", "QuickToken"]

_NONE: Final[dict[str, Any]] = {}  # shared by tokens, and never written to


class QuickToken(Token):
    """A token that is made in a third of the time; `level`, `markup` and `block`, which nobody reads, are not set."""

    __slots__ = ()

    def __init__(
        self,
        type: str,  # noqa: A002 - markdown-it's name
        tag: str = "",
        nesting: int = 0,
        content: str = "",
        *,
        attrs: dict[str, Any] = _NONE,
        line: int | None = None,
    ) -> None:
        self.type = type
        self.tag = tag
        self.nesting = nesting  # type: ignore[assignment]
        self.content = content
        self.attrs = attrs
        self.children: list[Token] | None = None
        self.info = ""
        self.hidden = False
        # What has a line may be given an anchor.
        self.map = None if line is None else [line, line + 1]
        self.meta = _NONE if line is None else {}


def _hidden(token: QuickToken) -> QuickToken:
    token.hidden = True
    return token


# Tokens that are all alike are made once.
RULE: Final = QuickToken("hr", "hr")
HIDDEN_CLOSE: Final = _hidden(QuickToken("paragraph_close", "p", -1))
BREAKS: Final = {"SoftBreak": QuickToken("softbreak", "br"), "HardBreak": QuickToken("hardbreak", "br")}
_NAMES: Final = {
    "p": "paragraph",
    "ul": "bullet_list",
    "ol": "ordered_list",
    "li": "list_item",
    "a": "link",
    **{name: name for name in ("blockquote", "em", "strong", "table", "thead", "tbody", "tr", "th", "td")},
    **{f"h{level}": "heading" for level in range(1, 7)},
}
OPEN: Final = {
    tag: QuickToken(f"{_NAMES[tag]}_open", tag, 1)
    for tag in ("blockquote", "ul", "ol", "em", "strong", "table", "thead", "tbody", "tr")
}
CLOSE: Final = {tag: QuickToken(f"{name}_close", tag, -1) for tag, name in _NAMES.items()}
