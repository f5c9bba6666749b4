"""Compares two recordings of a conversation turn by turn, within bounds.

TurnList, TurnList ─► aligned turns ─► rows: a run of equal turns, or one turn with what differs in it
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, Literal, TypeAlias

from memosite.facts.phrases import joined, phrase, phrases
from memosite.formats.stamps import clock_of
from memosite.formats.turns import Turn, TurnList
from memosite.render.alignment import align
from memosite.render.difference import Diff, compare, cut_to, html_bytes

_ROWS: Final = 300
_ROW_BYTES: Final = 500  # of a row besides the lines that differ
_ALONE_CHARS: Final = 2_000  # of a turn that only one recording has
_COMPARED_CHARS: Final = 2_000_000  # of all turns that are compared

TurnKind: TypeAlias = Literal["same", "heading", "changed", "left", "right"]
"""Equal; equal but for speaker, model or time; changed; only in the one; only in the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRow:
    """Turns of two recordings beside each other: first and last of a run of equal ones, or one turn of each.

    `diff` is what differs; None for equal turns. Without any turn it is of the text before the first one.
    """

    kind: TurnKind
    left: tuple[Turn, ...]
    right: tuple[Turn, ...]
    diff: Diff | None = None

    @property
    def left_label(self) -> str:
        """The turns of the one by number."""
        return _label(self.left, self.right)

    @property
    def right_label(self) -> str:
        """The turns of the other by number."""
        return _label(self.right, self.left)

    @property
    def left_head(self) -> str:
        """Who speaks in a turn of the one, and when; "" for several."""
        return _head(self.left)

    @property
    def right_head(self) -> str:
        """Who speaks in a turn of the other, and when; "" for several."""
        return _head(self.right)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDiff:
    """What differs between two recordings: in a sentence, and turn by turn. `left_out` counts rows not shown."""

    summary: str
    rows: tuple[TurnRow, ...]
    left_out: int

    @property
    def bytes(self) -> int:
        """About how many bytes it takes as HTML, at most."""
        return sum(_ROW_BYTES + (html_bytes(row.diff) if row.diff else 0) for row in self.rows)


def compare_turns(old: TurnList, new: TurnList, *, names: tuple[str, str], limit: int) -> TurnDiff:
    """Compare two recordings, called `names` in the sentence, in at most `limit` bytes of HTML."""
    pairs = list(align(old.turns, new.turns))
    rows, left_out = _rows(old, new, pairs, limit)
    return TurnDiff(summary=_summary(pairs, names), rows=tuple(rows), left_out=left_out)


_Pair: TypeAlias = tuple[Turn | None, Turn | None]


def _kind(pair: _Pair) -> TurnKind:
    left, right = pair
    if left is None or right is None:
        return "right" if left is None else "left"
    if left.digest != right.digest:
        return "changed"
    is_same = (left.speaker, left.model, left.stamp) == (right.speaker, right.model, right.stamp)
    return "same" if is_same else "heading"


def _rows(old: TurnList, new: TurnList, pairs: Sequence[_Pair], limit: int) -> tuple[list[TurnRow], int]:
    """The rows that fit, and how many do not."""
    rows: list[TurnRow] = []
    left_out, chars = 0, _COMPARED_CHARS
    for row, texts in _texts(old, new, pairs):
        chars -= sum(map(len, texts))
        limit -= _ROW_BYTES
        if len(rows) >= _ROWS or limit < _ROW_BYTES or chars < 0:
            left_out += 1
        elif row.kind in {"same", "heading"}:
            rows.append(row)
        else:
            diff = cut_to(_difference(row.kind, *texts), limit)
            limit -= html_bytes(diff)
            rows.append(replace(row, diff=diff))
    return rows, left_out


def _texts(old: TurnList, new: TurnList, pairs: Sequence[_Pair]) -> Iterator[tuple[TurnRow, tuple[str, str]]]:
    """The rows, each with the two texts to compare; equal turns that follow one another are one row."""
    if old.preamble != new.preamble:
        yield TurnRow(kind="changed", left=(), right=()), (old.preamble, new.preamble)
    for kind, group in groupby(pairs, _kind):
        run = list(group)
        if kind in {"same", "heading"}:
            ends = (run[0], run[-1]) if len(run) > 1 else (run[0],)
            left, right = ([pair[side] for pair in ends] for side in (0, 1))
            yield TurnRow(kind=kind, left=_there(left), right=_there(right)), ("", "")
            continue
        for one, other in run:
            texts = (one.text if one else "", other.text if other else "")
            yield TurnRow(kind=kind, left=_there([one]), right=_there([other])), texts


def _there(turns: Sequence[Turn | None]) -> tuple[Turn, ...]:
    return tuple(turn for turn in turns if turn is not None)


def _difference(kind: TurnKind, text: str, other: str) -> Diff:
    if kind == "changed":  # the blank line after a heading tells nothing where both have it
        return compare(text[1:], other[1:]) if text[:1] == other[:1] == "\n" else compare(text, other)
    whole = (text or other).strip("\n")
    shown = whole[:_ALONE_CHARS].split("\n")
    if kind == "left":
        return Diff(lines=tuple(("del", ((f"-{line}", False),)) for line in shown), is_cut=len(whole) > _ALONE_CHARS)
    return Diff(lines=tuple(("ins", ((f"+{line}", False),)) for line in shown), is_cut=len(whole) > _ALONE_CHARS)


def _summary(pairs: Sequence[_Pair], names: tuple[str, str]) -> str:
    """What is the same and what is not, as a sentence: "The same up to turn 97; this copy has 104 more."."""
    kinds = [_kind(pair) for pair in pairs]
    same = next((place for place, kind in enumerate(kinds) if kind not in {"same", "heading"}), len(kinds))
    rest = Counter(kinds[same:])
    if not pairs:
        return phrase("Neither has turns, so their texts are compared.")
    start = phrase("The same up to turn {turn}", turn=same) if same else phrase("Different from the first turn")
    if same == len(pairs):
        start = phrase("All turns are the same") if same > 1 else phrase("The one turn is the same")
    elif len(rest) == 1 and "changed" not in rest:
        longer = names[1] if rest["right"] else names[0]
        start = phrase("{start}; {name} has {n:,} more", start=start, name=longer, n=rest.total())
    else:
        start = phrase("{start}; after that, {rest}", start=start, rest=joined(", ", _counted(rest, names)))
    headings = kinds.count("heading")
    if headings:
        return phrase("{start}. Speaker, model or time differ in {turns}.", start=start, turns=_turns(headings))
    return joined("", (start, "."))


def _counted(rest: Counter[TurnKind], names: tuple[str, str]) -> Iterator[str]:
    if changed := rest["changed"]:
        yield phrases("{n:,} turn differs", "{n:,} turns differ", changed)
    for alone, name in ((rest["left"], names[0]), (rest["right"], names[1])):
        if alone:
            yield phrases("{n:,} turn is only in {name}", "{n:,} turns are only in {name}", alone, name=name)


def _turns(number: int) -> str:
    return phrases("{n:,} turn", "{n:,} turns", number)


def _head(turns: Sequence[Turn]) -> str:
    return ", ".join(filter(None, (turns[0].speaker, clock_of(turns[0].stamp)))) if len(turns) == 1 else ""


def _label(turns: Sequence[Turn], others: Sequence[Turn]) -> str:
    if not turns:
        return "" if others else phrase("Text before the turns")
    if len(turns) == 1:
        return phrase("Turn {number}", number=turns[0].ordinal)
    return phrase("Turns {first} to {last}", first=turns[0].ordinal, last=turns[-1].ordinal)
