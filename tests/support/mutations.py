"""Makes inputs from good ones: bytes, JSON and lines changed in a few places, as damage and malice change them.

Grammars that are written by hand reach what their author thought of. A good input that is damaged reaches far into a
parser before it finds the damage.
"""

import json
from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

_ODD_TEXTS = (
    *("", "\0", "\n", "\r", "\r\n", "\t", " ", "\x1b[31m", "\x85", "\u2028", "\ufeff", "\u202e", "\u200b"),
    *("e\u0301", "\U0001f9d1\u200d\U0001f680", "\u5c71", "\ud800", "\U0010ffff", "\ufffe", "\u0130", "\u1e9e"),
    *('"', "'", "\\", "/", "<", ">", "&", "&#0;", "{", "}", "[", "]", "(", ")", "-", "--", "---", ":", ",", "#"),
    *("|", "`", "```", "*", "**", "_", "~", "=", "%", "%00", "%2e%2e/", "../", "$", "^", "@", "!", "?", "+", ";"),
    *("0", "1", "-1", "00", "1e999", "NaN", "99999999999999999999", "null", "true", "2026-02-30", "9999-12-31T"),
    *("<script>", "javascript:", "https://", "\\u0000", "\\ud800", "\\n", "x" * 1_200, "\n" * 40, "> " * 40),
    *("\n```\n", "\n~~~\n", "? [a]\n: ", "\x0b", "[]", "{}", "[a, b]"),
)
ODD = (
    *(text.encode("utf-8", "surrogatepass") for text in _ODD_TEXTS),
    *(b"\x80", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff\xfe", b"PK\x03\x04", b"\x1f\x8b"),
)
"""What parsers stumble over."""

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 10**30, 1.5, 1e308, float("inf"), float("nan"), "", " ", "\0", "\ud800", "all"),
    *([], {}, [[]], [None], [{}], {"": ""}, {"id": {}}, "x" * 2_000, "2026-05-01", "a\nb", "../../x", "javascript:x"),
    *("2026-05-01-1430--a--b--c.openthing", "0000-00-00T99:99:99+99:99", "\u202ex", "<b>", "[x](y)", "e\u0301"),
)
"""What a field does not expect."""

_T = TypeVar("_T")
_SCALE = 1 << 16
_PLACES = st.integers(0, _SCALE - 1)
_WAYS = ("insert", "insert", "overwrite", "cut", "repeat", "move", "byte", "splice", "truncate")


def mutated(seeds: Sequence[bytes], words: Sequence[bytes] = ()) -> st.SearchStrategy[bytes]:
    """One of these with up to eight changes: pieces inserted, overwritten, cut, repeated, moved, or of another one."""
    seed, piece = one_of(seeds), one_of((*words, *words, *ODD))
    edit = st.tuples(st.sampled_from(_WAYS), _PLACES, st.integers(0, 80), piece, seed, _PLACES)
    return st.builds(_edited, seed, st.lists(edit, max_size=8))


def one_of(values: Sequence[_T]) -> st.SearchStrategy[_T]:
    """One of these; unlike `sampled_from`, this does not print them all when something fails."""
    return st.integers(0, len(values) - 1).map(values.__getitem__)


def _edited(data: bytes, edits: Sequence[tuple[str, int, int, bytes, bytes, int]]) -> bytes:
    for way, where, length, piece, other, elsewhere in edits:
        start, source = _at(where, data), _at(elsewhere, other)
        end = start + length
        before, span, after = data[:start], data[start:end], data[end:]
        match way:
            case "insert":
                data = before + piece + data[start:]
            case "overwrite":
                data = before + piece + data[start + len(piece) :]
            case "cut":
                data = before + after
            case "repeat":
                data = before + span * (1 + elsewhere % 200) + after
            case "move":
                rest = before + after
                place = _at(elsewhere, rest)
                data = rest[:place] + span + rest[place:]
            case "byte":
                data = before + bytes([elsewhere % 256]) + data[start + 1 :]
            case "splice":
                data = before + other[source : source + length * 4] + after
            case _:
                data = before
    return data


def _at(place: int, data: Sequence[object]) -> int:
    """A place from 0 to 65,535 as one of this sequence; its end is one of them."""
    return place * (len(data) + 1) // _SCALE


def mutated_lines(seeds: Sequence[str], words: Sequence[str] = ()) -> st.SearchStrategy[str]:
    """One of these texts with lines removed, repeated, moved, joined, prefixed or taken from others."""
    ways = st.sampled_from(("remove", "repeat", "move", "join", "prefix", "suffix", "insert", "other", "replace"))
    edit = st.tuples(ways, _PLACES, _PLACES, one_of((*words, *_ODD_TEXTS)), one_of(seeds))
    return st.builds(_with_lines, one_of(seeds), st.lists(edit, max_size=10))


def _with_lines(text: str, edits: Sequence[tuple[str, int, int, str, str]]) -> str:
    lines = text.split("\n")
    for way, where, elsewhere, piece, other in edits:
        at = min(_at(where, lines), len(lines) - 1)
        line = lines[at]
        match way:
            case "remove" if len(lines) > 1:
                del lines[at]
            case "repeat":
                lines[at:at] = [line] * (1 + elsewhere % 200)
            case "move":
                lines.insert(_at(elsewhere, lines), lines.pop(at))
            case "join":
                lines[at : at + 2] = ["".join(lines[at : at + 2])]
            case "prefix":
                lines[at] = piece + line
            case "suffix":
                lines[at] = line + piece
            case "insert":
                place = _at(elsewhere, line)
                lines[at] = line[:place] + piece + line[place:]
            case "other":
                others = other.split("\n")
                start = _at(elsewhere, others)
                lines[at:at] = others[start : start + 5]
            case _:
                lines[at] = piece
        lines = lines or [""]
    return "\n".join(lines)


def mutated_json(seeds: Sequence[Any], keys: Sequence[str] = ()) -> st.SearchStrategy[Any]:
    """One of these JSON values with up to six changes: values replaced, keys renamed, added or removed, parts moved."""
    known = sorted({*keys, *(key for one in seeds for key in _keys(one))})
    ways = st.sampled_from(("replace", "replace", "remove", "rename", "add", "repeat", "wrap", "cross"))
    edit = st.tuples(ways, _PLACES, _PLACES, one_of(ODD_VALUES), one_of([*known, "", "\ud800"]))
    return st.builds(_with_values, one_of(seeds), st.lists(edit, max_size=6))


def as_bytes(value: Any) -> bytes:
    """A value as JSON in UTF-8, with what JSON has no words for written as Python does."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")


_Slot = tuple[Any, Any]
"""A list or object, and a place in it."""


def _with_values(value: Any, edits: Sequence[tuple[str, int, int, Any, str]]) -> Any:
    top = [json.loads(json.dumps(value))]  # a copy
    for way, where, elsewhere, odd, key in edits:
        slots = _slots(top)
        inside, at = slots[_at(where, slots) % len(slots)]
        other, there = slots[_at(elsewhere, slots) % len(slots)]
        match way:
            case "remove" if inside is not top:
                del inside[at]
            case "rename" if isinstance(inside, dict):
                inside[key] = inside.pop(at)
            case "add" if isinstance(inside[at], dict):
                inside[at][key] = _copy(odd)
            case "add" | "repeat" if isinstance(inside[at], list):
                inside[at].extend(_copy(inside[at]) if way == "repeat" else [_copy(odd)])
            case "wrap":
                inside[at] = [inside[at]] if elsewhere % 2 else {key: inside[at]}
            case "cross":
                inside[at] = _copy(other[there])
            case _:
                inside[at] = _copy(odd)
    return top[0]


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _slots(value: Any) -> list[_Slot]:
    """Every place of a value, from the outside in, a few thousand at most."""
    found: list[_Slot] = []
    waiting = [value]
    while waiting and len(found) < 4_000:
        one = waiting.pop(0)
        places = range(len(one)) if isinstance(one, list) else list(one) if isinstance(one, dict) else ()
        found += [(one, place) for place in places]
        waiting += [one[place] for place in places]
    return found


def _keys(value: Any) -> set[str]:
    return {place for _, place in _slots([value]) if isinstance(place, str)}
