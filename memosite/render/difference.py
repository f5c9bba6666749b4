"""Compares two texts line by line and word by word, and two recordings turn by turn, within bounds.

    TurnList, TurnList ─► aligned turns ─► rows: a run of equal turns, or one turn with what differs in it

Turns with the same text belong together, then turns that begin alike, then those between them in their order. Only
texts that are unique decide in the middle (as in a patience diff), so the time is linear, whatever the texts repeat.
"""

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import chain, groupby, islice
from operator import attrgetter
from typing import Final, Literal, TypeAlias

from memosite.facts.patterns import regex
from memosite.facts.phrases import joined, phrase, phrases
from memosite.facts.values import Value, replace
from memosite.formats.turns import Turn, TurnList, clock_of

# Compares two texts line by line, and within changed lines word by word, within bounds.


LINES, CHARS = 2_000, 200_000
"""How much of each of two texts is compared."""


_LINE = regex(r"(?<=\\n)|\n")  # an escape in JSON ends a line of the text it is in


_WORD = regex(r"\s+|\w+|[^\w\s]")


DiffLine: TypeAlias = Literal["place", "same", "ins", "del"]


DiffPiece: TypeAlias = tuple[str, bool]
"""Words of a line, and whether they are what changed in it."""


class Diff(Value):
    """What differs between two texts: lines with the sign of a unified diff before each, in pieces.

    `is_cut` says that the texts are longer than what was compared.
    """

    lines: tuple[tuple[DiffLine, tuple[DiffPiece, ...]], ...]
    is_cut: bool


def compare(old: str, new: str) -> Diff:
    """Compare two texts, up to `LINES` lines and `CHARS` characters."""
    before, after = ([line for line in _LINE.split(text[:CHARS]) if line is not None] for text in (old, new))
    return Diff(
        lines=tuple(_lines(before[:LINES], after[:LINES])),
        is_cut=max(len(old), len(new)) > CHARS or max(len(before), len(after)) > LINES,
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
    head, tail = equal_ends(words, others)
    if not head and not tail:
        return ((old, False),), ((new, False),)
    return _pieces(old[0], words, head, tail), _pieces(new[0], others, head, tail)


def equal_ends(words: Sequence[str], others: Sequence[str]) -> tuple[int, int]:
    """How many words two texts have in common at their beginning, and of the rest at their end."""
    shorter = min(len(words), len(others))
    head = next((i for i in range(shorter) if words[i] != others[i]), shorter)
    return head, next((i for i in range(shorter - head) if words[-1 - i] != others[-1 - i]), shorter - head)


def _pieces(sign: str, words: Sequence[str], head: int, tail: int) -> tuple[DiffPiece, ...]:
    end = len(words) - tail
    pieces = (sign + "".join(words[:head]), False), ("".join(words[head:end]), True), ("".join(words[end:]), False)
    return tuple(piece for piece in pieces if piece[0])


# Aligns the turns of two recordings: which turn of the one is which of the other.


_Places: TypeAlias = tuple[int, int]


_Gap: TypeAlias = tuple[int, int, int, int]
"""Two ranges without a pair, half-open: of the one from, to; of the other from, to."""


_LETTER = regex(r"[^\W_]")


_BEGINNING = 100


def align(old: Sequence[Turn], new: Sequence[Turn]) -> Iterator[tuple[Turn | None, Turn | None]]:
    """All turns of both, in their orders, those that belong together as a pair."""
    pairs: list[_Places] = []
    for key in (attrgetter("digest"), _beginning):
        keys, others = list(map(key, old)), list(map(key, new))
        for step in (_ends, _unique, _ends):
            gaps = _gaps(pairs, len(old), len(new))
            pairs = sorted([*pairs, *chain.from_iterable(step(keys, others, gap) for gap in gaps)])
    left = right = 0
    for one, other in pairs:
        yield from _in_order(old[left:one], new[right:other])
        yield old[one], new[other]
        left, right = one + 1, other + 1
    yield from _in_order(old[left:], new[right:])


def _beginning(turn: Turn) -> str:
    """The first letters and digits, which capture tools agree on however they mark up the text."""
    return "".join(match[0] for match in islice(_LETTER.finditer(turn.text[:2_000]), _BEGINNING)).casefold()


def _gaps(pairs: Iterable[_Places], old: int, new: int) -> list[_Gap]:
    """The ranges between pairs where both have turns."""
    found = []
    left = right = 0
    for one, other in (*pairs, (old, new)):
        if left < one and right < other:
            found.append((left, one, right, other))
        left, right = one + 1, other + 1
    return found


def _ends(keys: Sequence[str], others: Sequence[str], gap: _Gap) -> Iterator[_Places]:
    """What is equal at the beginning and at the end of a gap."""
    left, left_end, right, right_end = gap
    while left < left_end and right < right_end and keys[left] == others[right]:
        yield left, right
        left, right = left + 1, right + 1
    while left < left_end and right < right_end and keys[left_end - 1] == others[right_end - 1]:
        left_end, right_end = left_end - 1, right_end - 1
        yield left_end, right_end


def _unique(keys: Sequence[str], others: Sequence[str], gap: _Gap) -> list[_Places]:
    """What is in each range of a gap once, as far as it is in the same order in both."""
    left, left_end, right, right_end = gap
    once = [key for key, number in Counter(keys[left:left_end]).items() if number == 1]
    counted = Counter(others[right:right_end])
    wanted = {key for key in once if counted[key] == 1}
    where = {others[place]: place for place in range(right, right_end)}
    return _increasing([(place, where[keys[place]]) for place in range(left, left_end) if keys[place] in wanted])


def _increasing(pairs: Sequence[_Places]) -> list[_Places]:
    """The longest series of these pairs that is in order on both sides (patience sorting)."""
    tops: list[int] = []
    last: list[int] = []  # for each length, the number of the pair that the series ends with
    before: list[int | None] = []
    for number, (_, other) in enumerate(pairs):
        length = bisect_left(tops, other)
        before.append(last[length - 1] if length else None)
        tops[length : length + 1] = [other]
        last[length : length + 1] = [number]
    found: list[_Places] = []
    at = last[-1] if last else None
    while at is not None:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _in_order(old: Sequence[Turn], new: Sequence[Turn]) -> Iterator[tuple[Turn | None, Turn | None]]:
    """Turns that nothing joins: in their order, a person's with a person's; what is left over stands alone."""
    left = right = 0
    while left < len(old) or right < len(new):
        rest, other_rest = len(old) - left, len(new) - right
        if rest and other_rest and old[left].is_person == new[right].is_person:
            yield old[left], new[right]
            left, right = left + 1, right + 1
        elif rest > other_rest:
            yield old[left], None
            left += 1
        else:
            yield None, new[right]
            right += 1


# Compares two recordings of a conversation turn by turn, within bounds.


_ROWS: Final = 300


_ROW_BYTES: Final = 500  # of a row besides the lines that differ


_ALONE_CHARS: Final = 2_000  # of a turn that only one recording has


_COMPARED_CHARS: Final = 2_000_000  # of all turns that are compared


TurnKind: TypeAlias = Literal["same", "heading", "changed", "left", "right"]
"""Equal; equal but for speaker, model or time; changed; only in the one; only in the other."""


class TurnRow(Value):
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


class TurnDiff(Value):
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


_TurnPair: TypeAlias = tuple[Turn | None, Turn | None]


def _kind(pair: _TurnPair) -> TurnKind:
    left, right = pair
    if left is None or right is None:
        return "right" if left is None else "left"
    is_of_log = left.place is not None or right.place is not None
    if left.digest != right.digest and not (is_of_log and left.text.strip() == right.text.strip()):
        return "changed"
    if is_of_log:  # each tool calls speakers its own way, and writes times as finely as it likes
        return "same" if left.is_person == right.is_person else "heading"
    is_same = (left.speaker, left.model, left.stamp) == (right.speaker, right.model, right.stamp)
    return "same" if is_same else "heading"


def _rows(old: TurnList, new: TurnList, pairs: Sequence[_TurnPair], limit: int) -> tuple[list[TurnRow], int]:
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


def _texts(old: TurnList, new: TurnList, pairs: Sequence[_TurnPair]) -> Iterator[tuple[TurnRow, tuple[str, str]]]:
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


def _summary(pairs: Sequence[_TurnPair], names: tuple[str, str]) -> str:
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
        turns = phrases("{n:,} turn", "{n:,} turns", headings)
        return phrase("{start}. Speaker, model or time differ in {turns}.", start=start, turns=turns)
    return joined("", (start, "."))


def _counted(rest: Counter[TurnKind], names: tuple[str, str]) -> Iterator[str]:
    if changed := rest["changed"]:
        yield phrases("{n:,} turn differs", "{n:,} turns differ", changed)
    for alone, name in ((rest["left"], names[0]), (rest["right"], names[1])):
        if alone:
            yield phrases("{n:,} turn is only in {name}", "{n:,} turns are only in {name}", alone, name=name)


def _head(turns: Sequence[Turn]) -> str:
    if len(turns) != 1:
        return ""
    return ", ".join(filter(None, (turns[0].speaker, clock_of(turns[0].stamp, turns[0].order))))


def _label(turns: Sequence[Turn], others: Sequence[Turn]) -> str:
    if not turns:
        return "" if others else phrase("Text before the turns")
    if len(turns) == 1:
        return phrase("Turn {number}", number=turns[0].ordinal)
    return phrase("Turns {first} to {last}", first=turns[0].ordinal, last=turns[-1].ordinal)
