"""Puts the words of a language into templates when they are compiled: so a page costs the same in each language.

    {{ _("Search") }}                                           a text
    {% trans date=day(x) %}since {{ date }}{% endtrans %}       a text with values, which are HTML
    {% trans n=total %}{{ n }} memo{% pluralize %}{{ n }} memos{% endtrans %}

In the catalogue all of these have `{name}` for values. The form is that of jinja2's own extension, which would look
texts up each time a page is rendered. Texts of `trans` and their translations are HTML.
"""

import re
from collections.abc import Iterable
from typing import Final

from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.parser import Parser

from memosite.render.catalogue import PLACEHOLDER, Catalogue


class Translating(Extension):
    """Replaces `_("…")` and `trans` in templates by the texts of `environment.words`, when they are compiled."""

    tags = {"trans"}  # noqa: RUF012 - as jinja2 declares it

    @property
    def _words(self) -> Catalogue:
        words: Catalogue = self.environment.words  # type: ignore[attr-defined]
        return words

    def filter_stream(self, stream: TokenStream) -> Iterable[Token]:
        """Make a string of each `_("…")`."""
        tokens = list(stream)
        place = 0
        while place < len(tokens):
            token = tokens[place]
            if [one.type for one in tokens[place : place + 4]] == _CALLED and token.value == "_":
                yield Token(token.lineno, "string", self._words.text(tokens[place + 2].value))
                place += 4
            else:
                yield token
                place += 1

    def parse(self, parser: Parser) -> nodes.Node:
        """Make of a `trans` block the text in the language, with its values in their places."""
        line = next(parser.stream).lineno
        values: dict[str, nodes.Expr] = {}
        while parser.stream.current.type != "block_end":
            parser.stream.skip_if("comma")
            name = parser.stream.expect("name").value
            has_value = parser.stream.skip_if("assign")
            values[name] = parser.parse_expression() if has_value else nodes.Name(name, "load", lineno=line)
        number = next(iter(values.values()), None)
        parser.stream.expect("block_end")
        one, end = _text_of(parser, values)
        if end != "pluralize":
            return _output(self._words.text(one), values, line)
        parser.stream.expect("block_end")
        many, _ = _text_of(parser, values)
        if number is None:
            parser.fail("pluralize needs a value that counts: {% trans n=… %}", line)
        forms = self._words.forms(one, many)
        made: nodes.Node = _output(forms[-1], values, line)
        for index in reversed(range(len(forms) - 1)):
            form = nodes.Call(nodes.Name("plural_form", "load"), [number], [], None, None)
            test = nodes.Compare(form, [nodes.Operand("eq", nodes.Const(index))])
            made = nodes.If(test, [_output(forms[index], values, line)], [], [made], lineno=line)
        return made


_CALLED: Final = ["name", "lparen", "string", "rparen"]


def _text_of(parser: Parser, values: dict[str, nodes.Expr]) -> tuple[str, str]:
    """A text up to the end of its block or to `pluralize`, with `{name}` for values, and which of the two came."""
    text = ""
    while True:
        token = next(parser.stream)
        match token.type:
            case "data":
                text += token.value
            case "variable_begin":
                name = parser.stream.expect("name").value
                values.setdefault(name, nodes.Name(name, "load", lineno=token.lineno))
                text += f"{{{name}}}"
                parser.stream.expect("variable_end")
            case "block_begin":
                end = parser.stream.expect("name").value
                if end not in {"endtrans", "pluralize"}:
                    parser.fail(f"found {end} in a text to translate, expected only values", token.lineno)
                return re.sub(r"\s*\n\s*", " ", text), end
            case _:
                parser.fail("a text to translate has no end: {% endtrans %}", token.lineno)


def _output(text: str, values: dict[str, nodes.Expr], line: int) -> nodes.Output:
    """A text as a node of a template."""
    pieces: list[nodes.Expr] = []
    for index, piece in enumerate(PLACEHOLDER.split(text)):
        if index % 2:
            pieces.append(values[piece])
        elif piece:
            pieces.append(nodes.TemplateData(piece, lineno=line))
    return nodes.Output(pieces, lineno=line)
