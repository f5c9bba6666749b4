"""Parses queries into syntax trees; errors give the place and a working example.

    any   = all { "OR" all }
    all   = one { [ "AND" ] one }
    one   = { "NOT" } ( "(" any ")" | [ field ":" ] value )
    value = word [ "*" ] | '"' words '"' | "[" date "TO" date "]"

The rules, with every field, are in docs/search.md. `static/search.js` parses the same language; one table of
cases tests both, `tests/search_cases.json`.
"""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass

from memosite.search_language.analyzer import Analyzer, is_hash
from memosite.search_language.syntax import (
    Ago,
    And,
    Dates,
    KeyTerm,
    Not,
    Or,
    QueryError,
    QueryNode,
    WordField,
    Words,
    leaves,
)

LONGEST = 2_000
"""The longest query, in characters."""

DEEPEST = 40
"""The most parentheses within each other."""

MOST_CONDITIONS = 100
"""The most words and values in one query."""

KEYS = ("from", "to", "with", "kind", "system", "thread", "transcript", "repo", "box", "is", "tag", "status", "in")
DATES = ("sent", "after", "before")
FIELDS = ("subject", *KEYS, *DATES)

CHOICES = {
    "kind": ("memo", "note", "transcript", "library", "record", "document"),
    "is": ("open", "answered", "superseded", "discharged", "broadcast", "unread"),
    "in": ("text", "tools"),
}
"""Fields that have only these values."""

MEANT = {
    word: field
    for field, words in {
        "from": ("author", "by", "form", "sender"),
        "to": ("for", "recipient"),
        "with": ("participant", "person", "position", "who"),
        "sent": ("date", "day", "on", "when"),
        "is": ("action", "state"),
        "repo": ("project", "source"),
        "box": ("folder", "mailbox"),
        "kind": ("type",),
        "subject": ("title",),
        "transcript": ("session",),
        "thread": ("thread_id",),
        "after": ("since",),
        "before": ("until",),
        "tag": ("label",),
    }.items()
    for word in words
}
"""Fields by other words for them."""

_EXAMPLES = {
    "sent": "sent:2026-05 or sent:[2026-05-01 TO 2026-05-31]",
    "after": "after:2026-05-30 or after:2w",
    "before": "before:2026-05-30 or before:2w",
    "from": "from:engineer",
    "subject": 'subject:"tide tables"',
}
_ORDINARY = 'from:engineer "tide tables" NOT draft*'
_SPACES = " \t\n\r\f\v\u00a0\u3000"
_TOKEN = re.compile(rf'[{_SPACES}]+|[()]|"|[^{_SPACES}()"]+')
_RANGE = re.compile(rf"[{_SPACES}]*([^{_SPACES}]+)[{_SPACES}]+TO[{_SPACES}]+([^{_SPACES}]+)[{_SPACES}]*")
_FIELD = re.compile(r"([a-z_]+):", re.IGNORECASE | re.ASCII)
_VALUE = re.compile(r'[\w"\[]')
_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})(?:T([0-9]{2}):([0-9]{2})Z?)?)?)?")
_AGO = re.compile(r"([0-9]{1,4})([dwmy])")
_AGO_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
_EPOCH = dt.datetime(1970, 1, 1)
_MILLISECOND = dt.timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    """A piece of a query: `(`, `)`, `AND`, `OR`, `NOT`, or a value with its field, if it has one."""

    sign: str
    position: int
    field: str = ""
    value: str = ""
    form: str = "word"  # or "quoted", "range"


def parse_query(text: str, analyzer: Analyzer) -> QueryNode:
    """Parse a query into its syntax tree. Raises `QueryError` and nothing else.

    A query without `in:` searches texts, not the output of tools (SPEC 5).
    """
    if len(text) > LONGEST:
        raise QueryError(f"the query is longer than {LONGEST} characters", LONGEST, _ORDINARY)
    tokens = tuple(_tokens(text))
    values = [token for token in tokens if token.sign == "value"]
    if len(values) > MOST_CONDITIONS:
        message = f"the query has more than {MOST_CONDITIONS} words"
        raise QueryError(message, values[MOST_CONDITIONS].position, _ORDINARY)
    reader = _Reader(tokens, len(text), analyzer)
    tree = reader.read()
    if tree is None:
        raise QueryError("enter a word to search for", 0, _ORDINARY)
    if any(isinstance(leaf, KeyTerm) and leaf.field == "in" for leaf, _ in leaves(tree)):
        return tree
    return _all((KeyTerm(field="in", value="text"), *(tree.parts if isinstance(tree, And) else (tree,))))


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:  # cannot be: the alternatives take every character
            return
        piece, start = match[0], position
        position = match.end()
        if piece[0] in _SPACES:
            continue
        if piece in "()":
            yield _Token(sign=piece, position=start)
            continue
        if piece in {"AND", "OR", "NOT"}:
            yield _Token(sign=piece, position=start)
            continue
        field, at = "", start
        named = _FIELD.match(piece)
        if named is not None:
            name, behind = named[1].lower(), start + named.end()
            if name in FIELDS:
                field, at = name, behind
            elif _VALUE.match(text, behind) and (meant := _meant(name)):
                raise _no_field(name, meant, start)
        token, position = _value(text, field, start, at, position)
        yield token


def _meant(name: str) -> str:
    """The field that a word before a colon stands for or misspells; "" for other words: `python:3.12` is a text."""
    nearest = min(FIELDS, key=lambda field: _edits(name, field))
    return MEANT.get(name) or (nearest if _edits(name, nearest) <= len(name) // 3 else "")


def _no_field(name: str, meant: str, position: int) -> QueryError:
    message = (
        f"there is no field {name}:, the nearest is {meant}: (there are {', '.join(FIELDS)}); "
        "a text with a colon needs quotation marks"
    )
    return QueryError(message, position, _example(meant))


def _edits(one: str, other: str) -> int:
    """How many letters have to be put in, taken out or replaced to make the one name of the other."""
    row = list(range(len(other) + 1))
    for count, letter in enumerate(one, 1):
        above, row = row, [count]
        for index, wanted in enumerate(other):
            row.append(min(above[index] + (letter != wanted), above[index + 1] + 1, row[index] + 1))
    return row[-1]


def _value(text: str, field: str, start: int, at: int, end: int) -> tuple[_Token, int]:
    """The value at `at`, of a piece that ends at `end`; and the offset after it."""
    opening = text[at : at + 1]
    if opening == '"' and (field or at == start):
        close = text.find('"', at + 1)
        if close < 0:
            raise QueryError("the quotation mark is never closed", at, '"tide tables"')
        return _Token(sign="value", position=start, field=field, value=text[at + 1 : close], form="quoted"), close + 1
    if opening == "[" and field in DATES:
        close = text.find("]", at)
        if close < 0:
            raise QueryError("the range is never closed with ]", at, _EXAMPLES["sent"])
        return _Token(sign="value", position=start, field=field, value=text[at + 1 : close], form="range"), close + 1
    return _Token(sign="value", position=start, field=field, value=text[at:end]), end


@dataclass(slots=True)
class _Frame:
    """An open parenthesis: the alternatives read so far, the parts of the present one, and the number of pending NOTs.

    `said` is true once the present alternative has a token, even one without a word in it.
    """

    position: int
    negated_outside: bool
    alternatives: list[QueryNode]
    parts: list[QueryNode]
    negated: bool = False
    waits_for: str = ""
    said: bool = False


class _Reader:
    """Parses tokens with an explicit stack, so that deep queries cannot overflow Python's."""

    def __init__(self, tokens: tuple[_Token, ...], end: int, analyzer: Analyzer) -> None:
        self._tokens = tokens
        self._end = end
        self._analyzer = analyzer

    def read(self) -> QueryNode | None:
        """Parse the tokens; None if there is no word in them."""
        stack = [_Frame(position=0, negated_outside=False, alternatives=[], parts=[])]
        for token in self._tokens:
            frame = stack[-1]
            if token.sign == "(":
                if len(stack) > DEEPEST:
                    raise QueryError("there are too many parentheses", token.position, "(tide OR ebb) tables")
                stack.append(_Frame(position=token.position, negated_outside=frame.negated, alternatives=[], parts=[]))
                frame.negated, frame.waits_for = False, ""
            elif token.sign == ")":
                if len(stack) == 1:
                    raise QueryError("this parenthesis was never opened", token.position, "(tide OR ebb) tables")
                self._close(frame, token.position)
                stack.pop()
                self._add(stack[-1], _any(frame.alternatives), negated=frame.negated_outside)
            elif token.sign == "value":
                self._add(frame, self._condition(token), negated=frame.negated)
            else:
                _take_operator(frame, token)
        if len(stack) > 1:
            raise QueryError("this parenthesis is never closed", stack[-1].position, "(tide OR ebb) tables")
        self._close(stack[0], self._end)
        return _any(stack[0].alternatives)

    @staticmethod
    def _add(frame: _Frame, node: QueryNode | None, *, negated: bool) -> None:
        frame.negated, frame.waits_for, frame.said = False, "", True
        if node is not None:
            frame.parts.append(Not(part=node) if negated else node)

    @staticmethod
    def _close(frame: _Frame, position: int) -> None:
        if frame.waits_for:
            raise QueryError(f"after {frame.waits_for} a word is missing", position, _ORDINARY)
        if frame.parts:
            frame.alternatives.append(_all(tuple(frame.parts)))

    def _condition(self, token: _Token) -> QueryNode | None:
        if token.field in DATES:
            return _dates(token)
        if token.field in KEYS:
            return self._key(token)
        return self._words(token)

    def _key(self, token: _Token) -> QueryNode:
        is_prefix = token.form == "word" and token.value.endswith("*")
        value = self._analyzer.keyword(token.value)
        if not value:
            raise QueryError(f"{token.field}: has no value", token.position, _example(token.field))
        choices = CHOICES.get(token.field)
        if choices and (is_prefix or value not in choices):
            message = f"{token.field}: is one of {', '.join(choices)}"
            raise QueryError(message, token.position, f"{token.field}:{choices[0]}")
        return KeyTerm(field=token.field, value=value, prefix=is_prefix)

    def _words(self, token: _Token) -> QueryNode | None:
        """Words of a text; with separators in it, as in a path, or if it looks like a hash, it may also be a name."""
        quoted = token.form == "quoted"
        has_star = not quoted and token.value.endswith("*")
        terms = self._analyzer.phrase(token.value)
        if not terms:
            if token.field:
                raise QueryError(f"{token.field}: has no value", token.position, _example(token.field))
            return None
        if has_star and len(terms) == 1 and len(terms[0]) == 1 and terms[0].isascii():
            raise QueryError("at least two letters stand before *", token.position, "deploy*")
        prefix = has_star or (not quoted and is_hash(terms[-1]))
        field: WordField = "subject" if token.field == "subject" else "text"
        words = Words(field=field, terms=terms, prefix=prefix)
        is_one = not any(char in _SPACES for char in token.value)
        if field == "text" and is_one and (len(terms) > 1 or is_hash(terms[0])):
            return Or(parts=(words, Words(field="name", terms=terms, prefix=prefix)))
        return words


def _take_operator(frame: _Frame, token: _Token) -> None:
    if token.sign == "NOT":
        frame.negated, frame.waits_for = not frame.negated, "NOT"
        return
    if frame.waits_for or not frame.said:
        raise QueryError(f"before {token.sign} a word is missing", token.position, f"tide {token.sign} ebb")
    frame.waits_for = token.sign
    if token.sign == "OR":
        if frame.parts:
            frame.alternatives.append(_all(tuple(frame.parts)))
        frame.parts, frame.said = [], False


def _all(parts: tuple[QueryNode, ...]) -> QueryNode:
    return parts[0] if len(parts) == 1 else And(parts=parts)


def _any(parts: list[QueryNode]) -> QueryNode | None:
    if len(parts) > 1:
        return Or(parts=tuple(parts))
    return parts[0] if parts else None


def _example(field: str) -> str:
    return _EXAMPLES.get(field, f"{field}:{CHOICES.get(field, ('director',))[0]}")


def _dates(token: _Token) -> QueryNode:
    if token.field == "sent":
        return _sent(token)
    if token.form != "range":
        ago = _AGO.fullmatch(token.value)
        if ago is not None:
            return Ago(days=int(ago[1]) * _AGO_DAYS[ago[2]], newer=token.field == "after")
        span = read_date(token.value)
        if span is not None:
            is_after = token.field == "after"
            return Dates(start=span[0] if is_after else None, end=None if is_after else span[0])
    raise QueryError(f"{token.field}: is no date", token.position, _EXAMPLES[token.field])


def _sent(token: _Token) -> QueryNode:
    if token.form != "range":
        span = read_date(token.value)
        if span is None:
            raise QueryError("sent: is no date", token.position, _EXAMPLES["sent"])
        return Dates(start=span[0], end=span[1])
    ends = _RANGE.fullmatch(token.value)
    if ends is None:
        raise QueryError("a range has two dates with TO between them", token.position, _EXAMPLES["sent"])
    first, last = (None if end == "*" else read_date(end) for end in ends.groups())
    if (first is None and ends[1] != "*") or (last is None and ends[2] != "*"):
        raise QueryError("the range has no two dates", token.position, _EXAMPLES["sent"])
    return Dates(start=first[0] if first else None, end=last[1] if last else None)


def read_date(text: str) -> tuple[int, int] | None:
    """The first millisecond of a year, month, day or minute in UTC, and the first one after it; None if it is none."""
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute = (None if part is None else int(part) for part in match.groups())
    try:
        start = dt.datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0)
    except ValueError:
        return None
    first = (start - _EPOCH) // _MILLISECOND
    if minute is not None:
        return first, first + 60_000
    if day is not None:
        return first, first + 86_400_000
    months = start.year * 12 + start.month + (0 if month else 11)
    year, month = divmod(months, 12)
    if year > dt.MAXYEAR:
        return first, (dt.datetime.max - _EPOCH) // _MILLISECOND + 1
    return first, (dt.datetime(year, month + 1, 1) - _EPOCH) // _MILLISECOND
