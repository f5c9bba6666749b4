r"""Texts within a text: what is there once line breaks, escapes and encodings inside of it are undone.

A key may be wrapped over two lines, be escaped (`\/`, `\u0041`, `\_`, `&#95;`), percent-encoded, coloured for a
terminal, or in base64. Each run of characters with such an interruption becomes a piece, without it. All pieces are one
new text, a layer, that is matched in the same way, and every place in it can be told as a place in the text.

Characters are bytes here (see `as_bytes`), so that places in bytes are places in the text. Everything takes time linear
in the length of the text: interruptions are found first, and no character is looked at for more than one of them.
"""

import binascii
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import merge
from typing import NamedTuple, cast

_RUN = rb"A-Za-z0-9+/=_.~:@-"
_RUN_CHARACTERS = bytes(byte for byte in range(128) if re.match(rb"[%s]" % _RUN, bytes([byte])))
_BEFORE_BREAK = frozenset(bytes([byte]) for byte in _RUN_CHARACTERS.translate(None, b".~:@"))
_RUNS = re.compile(rb"[%s]*+" % _RUN)

_ASSIGNS = (
    rb"(?:[A-Za-z][A-Za-z0-9]{0,40}+(?:[_.-][A-Za-z0-9]{1,40}+){0,9}+(?:[ \t]{1,40}+=|[ \t]{0,40}+:)(?!\S)"
    rb"|(?:[A-Z][A-Z0-9_]{1,80}+|[A-Za-z][A-Za-z0-9]{0,40}+(?:_[A-Za-z0-9]{1,40}+){1,9}+)"
    rb"=(?:\\{0,7}[\"'])?[A-Za-z0-9/$~.{<])"
)
"""A name and the sign that gives it a value, as in `DB_HOST=x` or `user_name: x`. The `=` that may end a key has none
behind it, and names in addresses, as of `?sig=`, are mostly shorter."""

_GOES_ON = (
    rb"[ \t>|#*]{0,80}+(?!%s)(?=[A-Za-z-]*+[0-9+/_=@]|[A-Z]?[a-z]++[A-Z]|[A-Z]{4}|[A-Z]{2,}+[a-z]|-----END)" % _ASSIGNS
)
"""The indentation of the next line, before something that may be a part of a key: no plain word, and no other name."""

_KNOTS = (
    re.compile(rb"\n" + _GOES_ON),
    re.compile(rb"\\\\{0,7}(?:r\\{1,8})?n" + _GOES_ON),
    re.compile(rb"\\\\{0,7}(?:u00(?P<code>[2-7][0-9a-fA-F])|(?P<plain>[/_.~*+=:@-]))"),
    re.compile(rb"%(?P<code>[2-7][0-9a-fA-F]|0[9aAdD])"),
    re.compile(
        rb"&(?:#(?:[xX]0{0,4}(?P<code>[2-7][0-9a-fA-F])|0{0,4}(?P<decimal>[3-9][0-9]|1[01][0-9]|12[0-6]))|(?P<name>[a-z]{2,6}));"
    ),
    re.compile(rb"\x1b\[[0-9;:]{0,40}(?P<plain>)[mK]"),
    re.compile(rb"\\\\{0,7}(?:u001[bB]|x1[bB]|033|e)\[[0-9;:]{0,40}(?P<plain>)[mK]"),
)
"""What interrupts a run of characters that may be a key: line breaks, real and written ones, escapes, percent-encoding,
HTML's entities, and the codes of a terminal for colours, raw and as JSON has them.

Each begins with one certain character, which is found fast. Repetitions are bounded or give nothing back."""

_ENTITIES = {
    b"quot": b'"', b"apos": b"'", b"amp": b"&", b"lt": b"<", b"gt": b">", b"nbsp": b" ", b"sol": b"/", b"plus": b"+",
    b"equals": b"=", b"lowbar": b"_", b"colon": b":", b"period": b".",
}  # fmt: skip
"""Those of HTML that have a name, and may be in a key or around it."""

NEAR = 80
"""Interruptions with at most so many characters between them are in one piece, and as many characters before the first
and after the last one."""

LONG = 10_000
"""Interruptions in one piece, so that memory stays small; a tenth of them is in the next piece, too."""

_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]++={0,2}+")
_REPLACED = re.compile(rb"\[REDACTED:[a-z0-9-]{0,60}\]")
_BETWEEN = b" \f "
"""Stands between two pieces: no key has it, and no line ends there."""

_BLANKS = bytes.maketrans(b"|&?#<>()[]{}*,;!^`'\"\\/@", b" " * 23)
_WORD = re.compile(rb"[A-Za-z0-9]{0,500}+")
_STOP = re.compile(rb"\.(?=[A-Za-z0-9]{0,9}(?![A-Za-z0-9_.-]))")
"""A full stop at the end of a sentence, or before the ending of a file's name."""


class Knot(NamedTuple):
    """Where an interruption starts and ends, and what it stands for: a character, or nothing."""

    start: int
    end: int
    meant: bytes
    is_break: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a layer and its origin: by segment, where it starts here, and where it starts and ends there."""

    data: bytes
    here: "array[int]" = field(default_factory=lambda: array("q", [0]))
    starts: "array[int]" = field(default_factory=lambda: array("q"))
    ends: "array[int]" = field(default_factory=lambda: array("q"))

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The place of a part of it there; a segment of another length there counts as a whole."""
        first, last = bisect_right(self.here, start) - 1, bisect_right(self.here, end - 1) - 1
        begin = self.starts[first] + (start - self.here[first] if self._is_literal(first) else 0)
        return begin, self.starts[last] + end - self.here[last] if self._is_literal(last) else self.ends[last]

    def _is_literal(self, number: int) -> bool:
        after = self.here[number + 1] if number + 1 < len(self.here) else len(self.data)
        return after - self.here[number] == self.ends[number] - self.starts[number]


@dataclass(frozen=True, slots=True)
class Layer:
    """A text as bytes, made of pieces of the layer below; the lowest is the text itself and has none."""

    data: bytes
    below: "Layer | None" = None
    pieces: tuple[Piece, ...] = ()
    offsets: tuple[int, ...] = ()

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """A place in this layer as a place in the text; there is none for what is not within one piece."""
        if self.below is None:
            return start, end
        number = bisect_right(self.offsets, start) - 1
        offset, piece = self.offsets[number], self.pieces[number]
        if end - offset > len(piece.data):
            return None
        return self.below.place(*piece.place(start - offset, end - offset))


def as_bytes(text: str) -> bytes:
    """The text with a byte for each character. What is not ASCII is no part of a key, and becomes a question mark.

    What stands for a secret that was replaced before becomes stars: a word in it is no name of what follows.
    """
    data = text.encode("ascii", "replace").replace(b"\0", b" ")
    return _REPLACED.sub(lambda match: b"*" * len(match.group()), data)


def spaced(data: bytes) -> bytes:
    """The same with blanks for what encloses or separates words, of the same length: many rules ask for an end."""
    if b"\\" in data:
        for letter in (b"n", b"r", b"t"):
            data = data.replace(b"\\" + letter, b"  ")
        data = re.sub(rb"\\u[0-9a-fA-F]{4}", b" " * 6, data)
    return _STOP.sub(b" ", data.translate(_BLANKS))


def end_of_word(data: bytes, end: int) -> int:
    """The end of the word that goes on here: a vendor may have made keys longer since a rule was written.

    Asked of the text itself: in a layer, the word might go on over a line break that was removed.
    """
    return cast("re.Match[bytes]", _WORD.match(data, end)).end()


def stack(below: Layer, encoded: Iterable[tuple[int, int]]) -> Layer | None:
    """The layer of all that is interrupted or encoded in another one; `encoded` are places of base64."""
    pieces = (*_untied(below.data), *_decoded(below.data, encoded))
    if not pieces:
        return None
    offsets: list[int] = []
    length = 0
    for piece in pieces:
        offsets.append(length)
        length += len(piece.data) + len(_BETWEEN)
    data = _BETWEEN.join(piece.data for piece in pieces)
    return Layer(data=data, below=below, pieces=pieces, offsets=tuple(offsets))


def _untied(data: bytes) -> Iterator[Piece]:
    """A piece for each part of a text that is interrupted, without the interruptions.

    It begins some characters before the first one, or with the run that this one interrupts: `Authorization: Bearer `
    may be there. It ends likewise after the last one. In between it holds everything.
    Where there are line breaks and others, it is there once more with its line breaks: a key may begin after one.
    """
    for chain in _chains(data):
        yield _piece(data, chain)
        escapes = [knot for knot in chain if not knot.is_break]
        if 0 < len(escapes) < len(chain):
            yield _piece(data, escapes)


def _chains(data: bytes) -> Iterator[list[Knot]]:
    """The interruptions by the parts of a text that they belong to."""
    chain: list[Knot] = []
    for knot in _knots(data):
        if chain:
            end = chain[-1].end
            if knot.start < end:
                continue
            if knot.start > end + NEAR and _end_of_run(data, end) < knot.start:
                yield chain
                chain = []
            elif len(chain) == LONG:
                yield chain
                chain = chain[-LONG // 10 :]
        chain.append(knot)
    if chain:
        yield chain


def _knots(data: bytes) -> Iterator[Knot]:
    return merge(*(_knots_of(pattern, data) for pattern in _KNOTS))


def _knots_of(pattern: re.Pattern[bytes], data: bytes) -> Iterator[Knot]:
    is_break = not pattern.groups
    for match in pattern.finditer(data):
        start, end = match.span()
        if is_break:
            start -= len(data[max(0, start - 4) : start]) - len(data[max(0, start - 4) : start].rstrip(b"\r\\"))
            if data[max(0, start - 1) : start] in _BEFORE_BREAK:
                yield Knot(start, end, b"", is_break=True)
        else:
            meant = _meant(match)
            if meant is not None:
                yield Knot(start, end, meant)


def _meant(match: re.Match[bytes]) -> bytes | None:
    """What an escape stands for; nothing for a name that is no entity's."""
    groups = match.groupdict()
    if groups.get("code"):
        return bytes([int(groups["code"], 16)])
    if groups.get("decimal"):
        return bytes([int(groups["decimal"])])
    return _ENTITIES.get(groups["name"]) if groups.get("name") else groups.get("plain")


def _piece(data: bytes, chain: list[Knot]) -> Piece:
    here, starts, ends = array("q"), array("q"), array("q")
    parts: list[bytes] = []
    length = 0

    def add(part: bytes, start: int, end: int) -> None:
        nonlocal length
        if part:
            here.append(length)
            starts.append(start)
            ends.append(end)
            parts.append(part)
            length += len(part)

    done = min(_start_of_run(data, chain[0].start), max(0, chain[0].start - NEAR))
    for start, end, meant, _ in chain:
        add(data[done:start], done, start)
        add(meant, start, end)
        done = end
    last = max(_end_of_run(data, done), min(len(data), done + NEAR))
    add(data[done:last], done, last)
    return Piece(b"".join(parts), here, starts, ends)


def _end_of_run(data: bytes, start: int) -> int:
    """Where the run of characters that begins here ends."""
    return cast("re.Match[bytes]", _RUNS.match(data, start)).end()


def _start_of_run(data: bytes, end: int) -> int:
    """Where the run of characters that ends here begins."""
    size = 64
    while True:
        start = max(0, end - size)
        begin = start + len(data[start:end].rstrip(_RUN_CHARACTERS))
        if begin > start or start == 0:
            return begin
        size *= 2


def _decoded(data: bytes, encoded: Iterable[tuple[int, int]]) -> Iterator[Piece]:
    """A piece for each run of base64, which counts as a whole."""
    done = 0
    for start, _ in sorted(encoded):
        if start < done:
            continue
        done = cast("re.Match[bytes]", _BASE64.match(data, start)).end()
        run = data[start:done].rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
        run = run[: len(run) - (len(run) % 4 == 1)]
        decoded = as_bytes(binascii.a2b_base64(run + b"=" * (-len(run) % 4)).decode("utf-8", "replace"))
        if decoded:
            yield Piece(decoded, array("q", [0]), array("q", [start]), array("q", [done]))
