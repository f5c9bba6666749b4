"""Compares two texts line by line, and within changed lines word by word, within bounds."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import Final, Literal, TypeAlias

_LINES: Final = 2_000
_CHARS: Final = 200_000
_LINE = re.compile(r"(?<=\\n)|\n")  # an escape in JSON ends a line of the text it is in
_WORD = re.compile(r"\s+|\w+|[^\w\s]")

DiffLine: TypeAlias = Literal["place", "same", "ins", "del"]
DiffPiece: TypeAlias = tuple[str, bool]
"""Words of a line, and whether they are what changed in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """What differs between two texts: lines with the sign of a unified diff before each, in pieces.

    `is_cut` says that the texts are longer than what was compared.
    """

    lines: tuple[tuple[DiffLine, tuple[DiffPiece, ...]], ...]
    is_cut: bool


def compare(old: str, new: str) -> Diff:
    """Compare two texts, up to `_LINES` lines and `_CHARS` characters."""
    before, after = ([line for line in _LINE.split(text[:_CHARS]) if line is not None] for text in (old, new))
    return Diff(
        lines=tuple(_lines(before[:_LINES], after[:_LINES])),
        is_cut=max(len(old), len(new)) > _CHARS or max(len(before), len(after)) > _LINES,
    )


def html_bytes(diff: Diff) -> int:
    """About how many bytes a diff takes as HTML, at most."""
    return sum(map(_line_bytes, diff.lines))


def cut_to(diff: Diff, limit: int) -> Diff:
    """As many lines of a diff as fit into so many bytes of HTML."""
    for number, line in enumerate(diff.lines):
        limit -= _line_bytes(line)
        if limit < 0:
            return Diff(lines=diff.lines[:number], is_cut=True)
    return diff


def _line_bytes(line: tuple[DiffLine, tuple[DiffPiece, ...]]) -> int:
    return 40 + sum(13 + len(escape(words).encode("utf-8", "replace")) for words, _ in line[1])


def _lines(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[DiffLine, tuple[DiffPiece, ...]]]:
    kinds: dict[str, DiffLine] = {"@": "place", "+": "ins", "-": "del"}
    found = [
        (kinds.get(line[0], "same"), line) for line in islice(difflib.unified_diff(old, new, lineterm=""), 2, None)
    ]
    start = 0
    while start < len(found):
        gone = _run(found, start, "del")
        come = _run(found, start + gone, "ins")
        if gone and gone == come:  # as many lines as before: each is compared with the one in its place
            pairs = [_marked(found[start + i][1], found[start + gone + i][1]) for i in range(gone)]
            yield from (("del", pair[0]) for pair in pairs)
            yield from (("ins", pair[1]) for pair in pairs)
        else:
            yield from ((kind, ((line, False),)) for kind, line in found[start : start + max(gone + come, 1)])
        start += max(gone + come, 1)


def _run(found: Sequence[tuple[DiffLine, str]], start: int, kind: DiffLine) -> int:
    """The length of the run of lines of one kind from here."""
    end = start
    while end < len(found) and found[end][0] == kind:
        end += 1
    return end - start


def _marked(old: str, new: str) -> tuple[tuple[DiffPiece, ...], tuple[DiffPiece, ...]]:
    """Two lines with their signs, in pieces: their common beginning and end, and what changed between."""
    words, others = _WORD.findall(old[1:]), _WORD.findall(new[1:])
    shorter = min(len(words), len(others))
    head = next((i for i in range(shorter) if words[i] != others[i]), shorter)
    tail = next((i for i in range(shorter - head) if words[-1 - i] != others[-1 - i]), shorter - head)
    if not head and not tail:
        return ((old, False),), ((new, False),)
    return _pieces(old[0], words, head, tail), _pieces(new[0], others, head, tail)


def _pieces(sign: str, words: Sequence[str], head: int, tail: int) -> tuple[DiffPiece, ...]:
    end = len(words) - tail
    pieces = (sign + "".join(words[:head]), False), ("".join(words[head:end]), True), ("".join(words[end:]), False)
    return tuple(piece for piece in pieces if piece[0])
