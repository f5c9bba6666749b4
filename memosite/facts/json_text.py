"""A tolerant JSON parser that also finds the line of each key; independent of files (SPEC 2.2). And JSON as files.

What RFC 8259 forbids and what still has a plain meaning (a raw tab in a string, NaN, a lone surrogate) is read, and
reported. Nothing here recurses on the author's depth, and every pass is linear in the text.
"""

import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

from memosite.facts import rules
from memosite.facts.characters import masked, without_surrogates
from memosite.facts.findings import Rule
from memosite.facts.patterns import regex
from memosite.facts.values import Value

JSON_DEPTH = 100
"""How deep objects and arrays may be nested (SPEC 9)."""

KEYS = 100_000
"""How many keys of one text have a line."""

KeyPath = tuple[str | int, ...]
"""The path to a value: keys of objects and numbers in arrays (0 = first), from the outside in."""

_LONGEST_NUMBER = 40
_DUPLICATES_NAMED = 5
_STRING = r'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)(?:"|\Z)'
_TOKEN = regex(_STRING + r"|[{}\[\],]", re.DOTALL)
_BRACKET = regex(_STRING + r"|(?P<bracket>[{}\[\]])", re.DOTALL)
_CONSTANT = regex(_STRING + r"|(?P<name>NaN|-?Infinity)", re.DOTALL)
_ESCAPE = regex(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|.)", re.DOTALL)
_ANY_SURROGATE = regex(r"\\u[dD][89a-fA-F]")
_AFTER_KEY = regex(r"\s*:")
_CONTROL = "Invalid control character"


class NumberText(str):
    """A number that is too long or too large to convert, kept as it was written."""

    __slots__ = ()


class Problem(Value):
    """Something wrong with a JSON text: the rule it breaks, the line (1 = first) if one is known, and what it is."""

    rule: Rule
    line: int | None
    message: str


HALF_PAIR = "half of a surrogate pair (\\ud800 to \\udfff); read as U+FFFD"
"""What is said of the escape of such a half."""


def read_json_text(text: str, *, mends: bool = True) -> tuple[Any, tuple[Problem, ...]]:
    """The value of a JSON text (None if it cannot be read) and what is wrong with it. Never raises.

    With `mends`, half of a surrogate pair is read as U+FFFD; else it stays, and the value cannot be encoded.
    """
    if not text.strip():
        return None, (Problem(rule=rules.JSON_INVALID, line=1, message="the file is empty"),)
    deep = _too_deep(text)
    if deep is not None:
        message = f"nested deeper than {JSON_DEPTH} levels"
        return None, (Problem(rule=rules.JSON_INVALID, line=_line(text, deep), message=message),)
    problems: list[Problem] = []
    try:
        value, constants, has_duplicates = _load(text)
    except json.JSONDecodeError as error:
        if not error.msg.startswith(_CONTROL):
            return None, (_syntax_problem(error),)
        code = ord(text[error.pos]) if error.pos < len(text) else 0
        message = f"a raw control character (U+{code:04X}) in column {error.colno}; read all the same"
        problems.append(Problem(rule=rules.JSON_LENIENT, line=error.lineno, message=message))
        try:
            value, constants, has_duplicates = _load(text, strict=False)
        except json.JSONDecodeError as other:
            return None, (_syntax_problem(other),)
    if constants:
        problems.append(_constant_problem(text, constants[0]))
    if has_duplicates:
        problems.extend(_duplicate_problems(text))
    half = _surrogate_escape(text) if _ANY_SURROGATE.search(text) else None
    if half is not None:
        value = _mend_surrogates(value) if mends else value
        problems.append(Problem(rule=rules.JSON_LENIENT, line=_line(text, half), message=HALF_PAIR))
    return value, tuple(problems)


def _load(text: str, *, strict: bool = True) -> tuple[Any, list[str], bool]:
    """The value of a text, and what the parser could read past: constants such as NaN, and whether keys occur twice."""
    constants: list[str] = []
    has_duplicates = False

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal has_duplicates
        merged = dict(pairs)
        has_duplicates = has_duplicates or len(merged) != len(pairs)
        return merged

    def constant(name: str) -> str:
        constants.append(name)
        return name

    value = json.loads(
        text,
        object_pairs_hook=collect,
        parse_constant=constant,
        parse_int=_read_int,
        parse_float=_read_float,
        strict=strict,
    )
    return value, constants, has_duplicates


def _read_int(digits: str) -> int | NumberText:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else NumberText(digits)


def _read_float(digits: str) -> float | NumberText:
    number = float(digits) if len(digits) <= _LONGEST_NUMBER else math.inf
    return number if math.isfinite(number) else NumberText(digits)


def _too_deep(text: str) -> int | None:
    """The offset at which the text is nested too deeply, None if it is not."""
    if text.count("{") + text.count("[") <= JSON_DEPTH:
        return None
    depth = 0
    for match in _BRACKET.finditer(text):
        bracket = match["bracket"]
        if bracket is not None:
            depth += 1 if bracket in "{[" else -1
            if depth > JSON_DEPTH:
                return match.start()
    return None


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _syntax_problem(error: json.JSONDecodeError) -> Problem:
    doc, position, reason = error.doc, error.pos, error.msg[:1].lower() + error.msg[1:]
    comma = _trailing_comma(doc, position)
    if comma is not None:  # each version of Python words and places this error differently
        message = f"a comma before the closing bracket in column {_column(doc, comma)}"
        return Problem(rule=rules.JSON_INVALID, line=_line(doc, comma), message=message)
    rest = doc[position : position + 20].split("\n", 1)[0].strip()
    if position >= len(doc):
        found = "the file ends"
    else:
        found = f'found "{shown(rest)}"' if rest else "found the end of the line"
    message = f"{reason} in column {_column(doc, position)}; {found}"
    return Problem(rule=rules.JSON_INVALID, line=_line(doc, position), message=message)


def _column(text: str, offset: int) -> int:
    return offset - text.rfind("\n", 0, offset)


def _trailing_comma(doc: str, position: int) -> int | None:
    around = doc[max(0, position - 1000) : position + 1000]
    at = min(position, 1000)
    before, after = around[:at].rstrip(), around[at:].lstrip()
    if after.startswith(",") and after[1:].lstrip().startswith(("}", "]")):
        return position + len(around[at:]) - len(after)
    if before.endswith(",") and after.startswith(("}", "]")):
        return position - (at - len(before)) - 1
    return None


def _constant_problem(text: str, name: str) -> Problem:
    place = next((match.start() for match in _CONSTANT.finditer(text) if match["name"]), None)
    line = None if place is None else _line(text, place)
    return Problem(rule=rules.JSON_LENIENT, line=line, message=f'{name} is no JSON; read as the string "{name}"')


def _duplicate_problems(text: str) -> Iterator[Problem]:
    seen: set[KeyPath] = set()
    named: set[KeyPath] = set()
    for path, offset in key_places(text):
        if path not in seen:
            seen.add(path)
        elif path not in named and not any(path[:length] in named for length in range(1, len(path))):
            named.add(path)
            message = f'the key "{shown(str(path[-1]))}" occurs twice; the last one counts'
            yield Problem(rule=rules.JSON_DUPLICATE_KEY, line=_line(text, offset), message=message)
            if len(named) == _DUPLICATES_NAMED:
                return


def _surrogate_escape(text: str) -> int | None:
    """The offset of the first escape of half a surrogate pair, None if there is none."""
    high: re.Match[str] | None = None
    for match in _ESCAPE.finditer(text):
        code = int(match["code"], 16) if match["code"] else 0
        follows = high is not None and high.end() == match.start()
        if 0xDC00 <= code <= 0xDFFF and follows:
            high = None
            continue
        if high is not None:
            return high.start()
        if 0xDC00 <= code <= 0xDFFF:
            return match.start()
        high = match if 0xD800 <= code <= 0xDBFF else None
    return high.start() if high is not None else None


def _mend_surrogates(value: Any) -> Any:
    """The value with U+FFFD for each lone surrogate."""
    root = [value]
    pending: list[Any] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            mended = {_mend(key): _mend(child) for key, child in node.items()}
            node.clear()
            node.update(mended)
            pending.extend(child for child in mended.values() if isinstance(child, dict | list))
        else:
            node[:] = map(_mend, node)
            pending.extend(child for child in node if isinstance(child, dict | list))
    return root[0]


def _mend(value: Any) -> Any:
    return without_surrogates(value) if isinstance(value, str) and not isinstance(value, NumberText) else value


def key_places(text: str) -> Iterator[tuple[KeyPath, int]]:
    """The offset of each key, and of each object or array in an array; at most `KEYS`, in order."""
    frames: list[list[Any]] = []  # each: the path that leads there, the number of the item in an array or None, the key
    told = 0
    for match in _TOKEN.finditer(text):
        mark = match[0]
        if mark in "{[":
            path: KeyPath = ()
            if frames:
                outer, number, key = frames[-1]
                path = (*outer, key if number is None else number)
                if number is not None:
                    told += 1
                    yield path, match.start()
            frames.append([path, 0 if mark == "[" else None, None])
        elif mark in "}]":
            if frames:
                frames.pop()
        elif not frames:
            continue
        elif mark == ",":
            if frames[-1][1] is not None:
                frames[-1][1] += 1
        elif frames[-1][1] is None and _AFTER_KEY.match(text, match.end()):
            frames[-1][2] = _unquote(mark)
            told += 1
            yield (*frames[-1][0], frames[-1][2]), match.start()
        if told >= KEYS or len(frames) > JSON_DEPTH:
            return


def _unquote(token: str) -> str:
    try:
        value = json.loads(token, strict=False)
    except ValueError:
        return token
    return without_surrogates(value) if isinstance(value, str) else token


def find_key_line(text: str, keys: KeyPath) -> int | None:
    """The line (1 = first) of a key: `("a",)` at the first level, `("a", "b")` below it, `("a", 0, "b")` in an array.

    The first one where a key is repeated; None if it is not there.
    """
    return next((_line(text, offset) for path, offset in key_places(text) if path == keys), None)


_MAY_DIFFER = regex(rb"(?:[:,\[]|\A)-?(?:0\.0000|[0-9]{16}|[0-9][0-9.]*e)")
"""A number that one of them writes with an exponent, or what looks like one in a text."""


def to_json(value: object) -> bytes:
    """The JSON of a file: indented, characters not escaped, `?` for lone surrogates."""
    try:
        return msgspec.json.format(to_json_line(value), indent=1) + b"\n"
    except (msgspec.DecodeError, RecursionError):  # nested deeper than native code reads
        return json.dumps(value, indent=1, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def to_json_line(value: object) -> bytes:
    """The same in one line, without spaces.

    Native code takes a tenth of the time. It writes very large and very small numbers otherwise, and refuses halves of
    surrogate pairs and texts of another class (`NumberText`).
    """
    with suppress(TypeError, ValueError, RecursionError):
        written = msgspec.json.encode(value)
        if not _MAY_DIFFER.search(written):
            return written
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def clean_text(text: str) -> str:
    """Line ends as LF, lone surrogates and NUL as U+FFFD: a text that can be hashed, stored and shown."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return without_surrogates(text)
    return text


def shown(text: str, limit: int = 60) -> str:
    """A text from the content, made safe for messages: one line, no control characters, cut to the limit."""
    line = masked(text[: limit + 1])
    return line if len(line) <= limit else line[: limit - 1] + "…"


def type_name(value: Any) -> str:
    """What JSON calls a value, with its article, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, NumberText | int | float):
        return "a number"
    return "a string" if isinstance(value, str) else "an array" if isinstance(value, list) else "an object"
