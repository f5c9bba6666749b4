r"""Which strings in a text are secrets: what matches a rule, in it or in the texts within it, and is no placeholder.

Of a text in JSON, what it says is matched: with line breaks for `\n`, and characters for `\u5bc6`. A key may be wrapped
over two lines, be escaped (`\/`, `\u0041`, `\_`, `&#95;`), percent-encoded, coloured for a terminal, or in base64. Each
run of characters with such an interruption becomes a piece, without it, and so do lines with strings in them, as JSON
in a fence or in a string has them. All pieces are one new text, a layer, that is matched in the same way, and every
place in it can be told as a place in the text.

Characters are bytes here (see `as_bytes`), so that places in bytes are places in the text. Everything takes time linear
in the length of the text: interruptions are found first, and no character is looked at for more than one of them.

A password has no format: it is known where it is assigned, in a cookie or in a column of a table, and its value tells
whether it is one. Wherever else that value stands in the text, as where a tool prints it alone, it is a secret, too.
"""

import binascii
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from heapq import merge
from itertools import pairwise
from typing import NamedTuple, cast

from memosite.facts.patterns import regex
from memosite.facts.values import Value, field
from memosite.secrets.engine import (
    ASSIGNED,
    CELL,
    COOKIE,
    COOKIES,
    ENCODED,
    GENERIC,
    HASH,
    HEAD_OF_TABLE,
    LISTED,
    MANY,
    PASSWORD,
    UNSEEN,
    WINDOW,
    Match,
    digest_rules,
    match_rules,
    ours,
    read_rules,
)

# Texts within a text: what is there once line breaks, escapes and encodings inside of it are undone.


_RUN = rb"A-Za-z0-9+/=_.~:@-"


_RUN_CHARACTERS = bytes(byte for byte in range(128) if re.match(rb"[%s]" % _RUN, bytes([byte])))


_BEFORE_BREAK = frozenset(bytes([byte]) for byte in _RUN_CHARACTERS.translate(None, b".~:@"))


_RUNS = regex(rb"[%s]*+" % _RUN)


_ASSIGNS = (
    rb"(?:[A-Za-z][A-Za-z0-9]{0,40}+(?>(?:[_.-][A-Za-z0-9]{1,40}+){0,9})(?:[ \t]{1,40}+=|[ \t]{0,40}+:)(?!\S)"
    rb"|(?:[A-Z][A-Z0-9_]{1,80}+|[A-Za-z][A-Za-z0-9]{0,40}+(?>(?:_[A-Za-z0-9]{1,40}+){1,9}))"
    rb"=(?:\\{0,7}[\"'])?[A-Za-z0-9/$~.{<])"
)
"""A name and the sign that gives it a value, as in `DB_HOST=x` or `user_name: x`. The `=` that may end a key has none
behind it, and names in addresses, as of `?sig=`, are mostly shorter."""


_GOES_ON = (
    rb"[ \t>|#*]{0,80}+(?!%s)(?=[A-Za-z-]*+[0-9+/_=@]|[A-Z]?[a-z]++[A-Z]|[A-Z]{4}|[A-Z]{2,}+[a-z]|-----END)" % _ASSIGNS
)
"""The indentation of the next line, before something that may be a part of a key: no plain word, and no other name."""


_ESCAPE = rb"\\(?<!\\\\)\\*+"
"""All backslashes before what they escape: JSON within JSON doubles them, however deep. The first one is found fast."""


_KNOTS = (
    regex(rb"\n(?<=[A-Za-z0-9+/=_\r\\-]\n)" + _GOES_ON),
    regex(_ESCAPE + rb"(?:u00(?P<code>[2-7][0-9a-fA-F])|(?P<plain>[/_.~*+=:@-]|(?<=\\\\)[\"']))"),
    regex(rb"%(?P<code>[2-7][0-9a-fA-F]|0[9aAdD])"),
    regex(
        rb"&(?:#(?:[xX]0{0,4}(?P<code>[2-7][0-9a-fA-F])|0{0,4}(?P<decimal>[3-9][0-9]|1[01][0-9]|12[0-6]))|(?P<name>[a-z]{2,6}));"
    ),
    *(
        regex(
            rb"%s(?=[ \t\r\n+.&~\\])(?<=[%s].)[ \t]{0,40}+(?>(?:[+.&~\\]{1,2}+[ \t]{0,40}+)?)"
            rb"(?>(?:\r?\n[ \t]{0,80}+(?:[+.&~]{1,2}+[ \t]{0,40}+)?)?)%s(?P<plain>)(?=[%s])"
            % (quote, _RUN, quote, _RUN)
        )
        for quote in (b'"', b"'")
    ),
    regex(rb"\x1b\[[0-9;:]{0,40}(?P<plain>)[mK]"),
    regex(rb"\\\\{0,7}(?:u001[bB]|x1[bB]|033|e)\[[0-9;:]{0,40}(?P<plain>)[mK]"),
)
"""What interrupts a run of characters that may be a key: line breaks, escapes, percent-encoding, HTML's entities,
strings that are put together, and the codes of a terminal for colours, raw and as JSON has them. A quote that is
escaped once is none: rules know it.

Each begins with one certain character, which is found fast. Repetitions are bounded or give nothing back."""


_JOINS = (regex(rb"oin\("), regex(rb"implode\("))


_JOINED = regex(
    rb"[ \t]{0,9}+(?:\[\]string\{(?P<go>[^{}]{0,1000}+)\}, {0,4}+\"\"\)|(?P<behind>\"\"|'')\)"
    rb"|(?:(?P<list>[\[(])|(?:\"\"|''),)(?P<end>[^\])]{0,1000}+))"
)
"""The list of strings that a program joins, behind `"".join(` (Python), `join(` (PHP, Perl), or `Join(` (Go); behind
`[…].join(`, that nothing is put between them (JavaScript, Ruby)."""


_STRING = regex(rb"([\"'])([^\"'\\\n]*+)\1")


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


_JSON = regex(r"\ufeff?[\s\0]{0,80}+(?:\{[\s\0]{0,80}+[\"}]|\[[\s\0]{0,80}+[\"{])")
"""How a text begins all of which is JSON, or JSON line by line."""


_IN_JSON = regex(r"\\(?:u[0-9a-fA-F]{4}|[\"\\/bfnrt])")


_IN_STRINGS = regex(r"\\(?<!\\\\)\\*+(?:u[0-9a-fA-F]{4}|[\"'/nrt])")
"""The escapes of strings within strings, which double backslashes each time."""


_HAS_STRINGS = regex(rb"\\(?:[\"\\nrt]|u[0-9a-fA-F]{4})[^\n]*+")
"""What no rule knows how to read in a line, and the rest of it."""


_MEANT = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " "}


_BASE64 = regex(rb"[A-Za-z0-9+/_-]++={0,2}+")


_REPLACED = regex(rb"\[REDACTED:[a-z0-9-]{0,60}\]")


_BETWEEN = b" \f "
"""Stands between two pieces: no key has it, and no line ends there."""


_READ_AS = (
    *((space, " ") for space in "\u00a0\u2007\u2009\u202f\u3000"), *zip("：＝“”„«»", ":=\"\"\"\"\"", strict=True),
    ("пароль", "passwd"), ("Пароль", "passwd"), ("ПАРОЛЬ", "passwd"), ("κωδικός", "passwd "), ("Κωδικός", "passwd "),
    ("密码", "pw"), ("密碼", "pw"), ("口令", "pw"), ("パスワード", "pwd  "), ("비밀번호", "pass"), ("암호", "pw"),
    ("סיסמה", "pwd  "), ("סיסמא", "pwd  "), ("كلمة المرور", "password   "), ("كلمة السر", "password "),
    ("पासवर्ड", "passwd "), ("รหัสผ่าน", "password"), ("ật khẩu", "dp     "),
)  # fmt: skip
"""What is not ASCII and tells where a password is: other spaces, signs and quotes, and its name in other scripts. As
long as what it is read as."""


_TELLING = regex(f"[{''.join(sorted({written[0] for written, _ in _READ_AS}))}]")


_BLANKS = bytes.maketrans(b"|&?#<>()[]{}*,;!^`'\"\\/@", b" " * 23)


LONGEST_WORD = 500


_WORD = regex(rb"[A-Za-z0-9]{0,%d}+" % LONGEST_WORD)


_STOP = regex(rb"\.(?=[A-Za-z0-9]{0,9}(?![A-Za-z0-9_.-]))")
"""A full stop at the end of a sentence, or before the ending of a file's name."""


class Knot(NamedTuple):
    """Where an interruption starts and ends, and what it stands for: a character, or nothing."""

    start: int
    end: int
    meant: bytes
    is_break: bool = False


class Piece(Value, kw_only=False):
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


class Unescaped:
    """A part of a layer, which begins there at `start`, with a character for each of its escapes."""

    def __init__(self, written: str, escapes: re.Pattern[str], start: int = 0) -> None:
        """Undo the escapes."""
        self._written, self._escapes, self._start = written, escapes, start
        self.data = as_bytes(escapes.sub(_character, written))

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The place of a part of it there, in whole escapes."""
        at, longer = self._longer
        return tuple(  # type: ignore[return-value]
            self._start + place + longer[bisect_left(at, place)] for place in (start, end)
        )

    @cached_property
    def _longer(self) -> "tuple[array[int], array[int]]":
        """Where the characters are, and how much longer all is there before the first, after it and so on.

        Asked for only if something is found.
        """
        at, longer = array("q"), array("q", [0])
        for escape in self._escapes.finditer(self._written):
            at.append(escape.start() - longer[-1])
            longer.append(longer[-1] + len(escape[0]) - 1)
        return at, longer


def _character(escape: re.Match[str]) -> str:
    """The character that an escape is written for."""
    written = escape[0]
    return _MEANT.get(written[-1], written[-1]) if written[-5:-4] != "u" else chr(int(written[-4:], 16))


class Layer(Value, kw_only=False):
    """A text as bytes, made of pieces of the layer below; the lowest is the text itself and has none."""

    data: bytes
    below: "Layer | None" = None
    pieces: Sequence[Piece | Unescaped] = ()
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
    if not text.isascii() and _TELLING.search(text):
        for written, read in _READ_AS:
            if written in text:
                text = text.replace(written, read)
    data = text.encode("ascii", "replace").replace(b"\0", b" ")
    return _REPLACED.sub(lambda match: b"*" * len(match.group()), data) if b"[REDACTED:" in data else data


def spaced(data: bytes) -> bytes:
    """The same with blanks for what encloses or separates words, of the same length: many rules ask for an end."""
    if b"\\" in data:
        for letter in (b"n", b"r", b"t"):
            data = data.replace(b"\\" + letter, b"  ")
        data = re.sub(rb"\\u[0-9a-fA-F]{4}", b" " * 6, data) if b"\\u" in data else data
    return _STOP.sub(b" ", data.translate(_BLANKS))


def end_of_word(data: bytes, end: int) -> int:
    """The end of the word that goes on here: a vendor may have made keys longer since a rule was written.

    Asked of the text itself: in a layer, the word might go on over a line break that was removed.
    """
    return cast("re.Match[bytes]", _WORD.match(data, end)).end()


def stack(below: Layer, encoded: Iterable[tuple[int, int]], *, is_lowest: bool) -> Layer | None:
    """The layer of all that is interrupted or encoded in another one; `encoded` are places of base64."""
    pieces: list[Piece | Unescaped] = [*_untied(below.data), *_unescaped(below.data, is_lowest=is_lowest)]
    pieces += _decoded(below.data, encoded)
    return _layer(below, pieces) if pieces else None


def _layer(below: Layer, pieces: Sequence[Piece | Unescaped]) -> Layer:
    offsets: list[int] = []
    length = 0
    for piece in pieces:
        offsets.append(length)
        length += len(piece.data) + len(_BETWEEN)
    data = _BETWEEN.join(piece.data for piece in pieces)
    return Layer(data=data, below=below, pieces=pieces, offsets=tuple(offsets))


def lowest(text: str) -> Layer:
    """The first layer: what a text in JSON says, any other text as it is."""
    if "\\" in text and _JSON.match(text):
        return _layer(Layer(b""), (Unescaped(text, _IN_JSON),))
    return Layer(as_bytes(text))


def _unescaped(data: bytes, *, is_lowest: bool) -> Iterator[Unescaped]:
    """Pieces for the lines with strings that follow each other: JSON in a fence, in a log, or in a string of JSON.

    Of the lowest layer, what is escaped more than once is undone at once, too, however deep it is.
    """
    lines: list[tuple[int, int]] = []
    for match in _HAS_STRINGS.finditer(data) if b"\\" in data else ():
        begin = data.rfind(b"\n", 0, match.start()) + 1
        before = lines.pop() if lines and begin == lines[-1][1] + 1 else (begin, begin)
        lines.append((before[0], match.end()))
    for start, end in lines:
        written = data[start:end].decode("ascii")
        yield Unescaped(written, _IN_JSON, start)
        if is_lowest and "\\\\" in written:
            yield Unescaped(written, _IN_STRINGS, start)


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


def _joints(data: bytes) -> Iterator[Knot]:
    """What is between the strings of each list that a program joins with nothing between them."""
    done = 0
    for at in sorted(call.end() for join in _JOINS for call in join.finditer(data)):
        joined = _JOINED.match(data, at)
        if not joined:
            continue
        first, last = joined.span("go" if joined["go"] else "end")
        if joined["behind"]:
            last = at - len(b"].join(")
            is_list = data[last:at] == b"].join("
            first = data.rfind(b"[", max(done, last - LONGEST), last) if is_list else -1
        elif joined["list"] and data[max(0, at - 8) : at] not in {b'"".join(', b"''.join("}:
            continue
        if first >= done:
            done = last
            strings = [string.span(2) for string in _STRING.finditer(data, first, last)]
            yield from (Knot(before, after, b"") for (_, before), (after, _) in pairwise(strings))


def _chains(data: bytes) -> Iterator[list[Knot]]:
    """The interruptions by the parts of a text that they belong to."""
    chain: list[Knot] = []
    for knot in merge(*(_knots_of(pattern, data) for pattern in _KNOTS), _joints(data)):
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

    done = _start_of_run(data, max(0, chain[0].start - NEAR))
    for start, end, meant, _ in chain:
        add(data[done:start], done, start)
        add(meant, start, end)
        done = end
    last = _end_of_run(data, min(len(data), done + NEAR))
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
        decoded = as_bytes(_from_base64(data[start:done]).decode("utf-8", "replace"))
        if decoded:
            yield Piece(decoded, array("q", [0]), array("q", [start]), array("q", [done]))


def _from_base64(run: bytes) -> bytes:
    """What is encoded in base64 of either alphabet, with or without padding."""
    run = run.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    run = run[: len(run) - (len(run) % 4 == 1)]
    return binascii.a2b_base64(run + b"=" * (-len(run) % 4))


# Tells which matches are no secrets: placeholders, names of variables, documented examples, identifiers, words.


_SAYS_SO = regex(
    rb"\[REDACTED|EXAMPLE|[xX]{6}|\*{3}|\.{3}|<|\$\{|\$\(|\{\{|(?i:changeme|placeholder|redacted|your[_-])"
)
"""In a key of a vendor's format, these come from whoever wrote it and not from chance."""


_SEEMS_SO = regex(
    rb"x{4}|%\(|\.\*|process\.env|environ|getenv|change[_-]me|dummy|your|sample|insert|replace|[_-]here\b|^[a-z]{1,10}://"
    rb"|^[$@&%]\{?[a-z_][a-z0-9_.]{0,60}[}%]?$|0?123456789|abcdefgh|deadbeef|passw(?:or)?d"
    rb"|^(?:base|sha|hs|rs|es|utf|oauth|argon|ipv)-?[0-9]{1,3}(?:id)?$",
    re.IGNORECASE,
)


_EXAMPLES = frozenset(b"secret postgres mysql root admin guest example pass12 passwd".split())


_IDENTIFIER_WORD = rb"(?>(?:[A-Z]{2,}+[a-z]*+|[A-Z]?[a-z]++|[A-Z]){1,4})"


_NUMBERED = rb"%s(?>(?:[0-9]{1,2}+(?:%s)?)?)" % (_IDENTIFIER_WORD, _IDENTIFIER_WORD)


_NAME = regex(
    # Words and short numbers: an identifier, a path, a date. More than four words in one without a break are chance.
    rb"[/~._-]*+(?:%s|v?[0-9]{1,10}+)(?>(?:[ _./:+-]++(?:%s|v?[0-9]{1,10}+|$))*)" % (_IDENTIFIER_WORD, _IDENTIFIER_WORD)
    # In an identifier of several words, some hold a number: utf8_to_utf16.
    + rb"|(?>(?:%s[_./-]++)+)(?>(?:%s)?)" % (_NUMBERED, _NUMBERED)
)


_NEXT = regex(rb"(?:[,;&]|\*{6})[ \t]{0,20}\Z")
"""Before what is not the value of a name, but stands after its value, which may be empty."""


SENTENCE = GENERIC + "password-in-sentence"


_MIXED = regex(rb"[a-z0-9][A-Z]|[0-9][a-z]{1,8}[0-9]|[!#$%^*?@~][A-Za-z0-9]")
"""Capitals inside, digits around letters, or a sign: in prose, `base64url` and `factory2` are words."""


_LOGIN = regex(rb"[!-9;-~]++:[ -~]{3,}+")


_HUMPS = regex(rb"[a-z][A-Z]")


_NO_WORD = regex(rb"[b-df-hj-np-tv-xz]{7}", re.IGNORECASE)


_DIGEST = regex(rb"(?i:sha[0-9]{1,3}|md5|blake[23][bs]?)[ :=_-]{1,3}\Z")


_HEX = regex(rb"[0-9a-fA-F]++")


_HEX_LENGTHS = frozenset((32, 40, 56, 64, 96, 128))


_WEB_BASE64 = regex(rb"[A-Za-z0-9+/_-]++={0,2}+")


_BASE64_LENGTHS = frozenset((22, 27, 38, 43, 64, 86))


_KEY_BODY = regex(rb"[A-Za-z0-9+/]{20}")


_BASE64_CHARACTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


_BASE64_LETTERS = tuple(bytes([byte]) for byte in _BASE64_CHARACTERS if byte != ord("/"))


_DIGITS = regex(rb"[0-9]")


_CAPITALS = regex(rb"[A-Z]")


_LETTERS_BASE64 = regex(rb"[A-Za-z0-9+/]{0,200}+")


_OPEN_ENDED = frozenset((PASSWORD, *(GENERIC + name for name in ("password-option", "login-option"))))


_QUOTES = (b'"', b"'", b"`")


_UNTIL_QUOTE = {quote: regex(rb"[^\s\\%s]{0,300}+" % quote) for quote in _QUOTES}


_NOT_IN_VALUE = rb"\s\"'`<>\[\](){},;|&\\"


_UNQUOTED, _UNQUOTED_IN_ROW = (
    regex(
        rb"(?>(?:[^%s]++|(?!&&|;;|\|\||<<|<[/!]|<[A-Za-z]{1,20}[ />]|&#?[A-Za-z0-9]{1,8};"
        rb"|.[A-Za-z_][A-Za-z0-9_.-]{0,40}+(?: [A-Za-z]{1,12})?[=:])"
        rb"[&;<%s](?=[^%s])){0,300})" % (_NOT_IN_VALUE, sign, _NOT_IN_VALUE)
    )
    for sign in (rb"|", rb"")
)


_ROW = regex(rb"[ \t>]{0,20}+\|")


SHORTEST_PASSWORD = 6


_SIGNS = bytes.maketrans(b"&;|<", b"    ")


def is_placeholder(data: bytes, start: int, end: int, *, rule: str) -> bool:
    """Whether what is written where a secret would be is none.

    Vendors' documented examples, which say EXAMPLE, are placeholders as well. Of what was found by what is around it
    (the `GENERIC` rules), names and words are none either; in an address or a list of users, a word is a password.
    """
    value = data[start:end]
    if rule in _OPEN_ENDED and b">" not in value:
        value = value[:1] + value[1:].translate(_SIGNS)
    if rule == HASH:
        value = value.replace(b"....", b"")  # a part of some, as of scrypt's, and no ellipsis
    if value.startswith(b"-----BEGIN"):
        return not _KEY_BODY.search(value)
    if _SAYS_SO.search(value) or len(set(value)) <= 3 or _is_digest(data, start, end, rule):
        return True
    if not rule.startswith(GENERIC):
        return _is_within_base64(data, start, end)
    if _SEEMS_SO.search(value) or value.lower() in _EXAMPLES or _is_plain(value, rule):
        return True
    if rule == LISTED:
        return False
    if rule in ASSIGNED and _NEXT.search(data, max(0, start - 30), start):
        return True
    if rule == "generic-credential-uri":
        return data[max(0, start - len(value) - 2) : start] == b"/" + value + b":"  # the name is the password, too
    if rule == "generic-login-option":
        return value.startswith(b"$") or data[max(0, start - len(value) - 1) : start - 1] == value
    if rule == "generic-registry-login":
        return not _LOGIN.fullmatch(_from_base64(value))
    if rule == PASSWORD and len(value) <= 4 * len(_HUMPS.findall(value)):
        return False  # capitals inside of a word, as chance has them
    return is_name(value)


def _is_plain(value: bytes, rule: str) -> bool:
    """Whether it is too short for a password, or like a word in a sentence."""
    return len(value) < SHORTEST_PASSWORD if rule == PASSWORD else rule == SENTENCE and not _MIXED.search(value)


def whole_value(data: bytes, start: int, end: int, *, rule: str) -> tuple[int, int]:
    """The place of all of a value that a rule found a part of, or more than.

    In quotes it ends with them. Otherwise one of `& ; | <` may be in a password, or end it: it does where what follows
    is another assignment, an entity, a tag, the rest of a table's row, or nothing.
    """
    if rule not in _OPEN_ENDED:
        return start, end
    quote = data[start : start + 1]
    if quote in _QUOTES:
        start += 1
    else:
        quote = data[max(0, start - 1) : start]
    if quote in _QUOTES:
        quoted = cast("re.Match[bytes]", _UNTIL_QUOTE[quote].match(data, start)).end()
        is_prose = b"???" in data[start:quoted]  # in another script
        if data[quoted : quoted + 2].lstrip(b"\\")[:1] == quote and quoted > start and not is_prose:
            return start, quoted
    if rule != PASSWORD:
        return start, len(data[:end].rstrip(b"\\\"'`")) if data[end - 1 : end] in _QUOTES else end
    line = data[max(0, start - HEAD) : start].rpartition(b"\n")[2]
    pattern = _UNQUOTED_IN_ROW if _ROW.match(line) else _UNQUOTED
    return start, cast("re.Match[bytes]", pattern.match(data, start, start + HEAD)).end()


def _is_digest(data: bytes, start: int, end: int, rule: str) -> bool:
    """Whether it is written as a digest, as in `sha256:`, and has the form of one.

    In base64 it might as well have the form of a vendor's key.
    """
    value = data[start : end_of_word(data, end)]
    has_form = len(value) in _HEX_LENGTHS and _HEX.fullmatch(value)
    if rule.startswith(GENERIC):
        has_form = has_form or (len(value.rstrip(b"=")) in _BASE64_LENGTHS and _WEB_BASE64.fullmatch(value))
    return bool(has_form and _DIGEST.search(data[max(0, start - 12) : start]))


def is_name(value: bytes) -> bool:
    """Whether it is made of words and short numbers, as an identifier, a path or a date."""
    return bool(_NAME.fullmatch(value.rstrip(b".:!?"))) and not _NO_WORD.search(value)


def _is_within_base64(data: bytes, start: int, end: int) -> bool:
    """Whether it is a part of a longer run of base64, as of an image, where everything is there by chance.

    A part of a path, from slash to slash, is none: that both are there by chance is one in thousands.
    """
    if data[max(0, start - 1) : start] == b"/" and data[end : end + 1] not in _BASE64_LETTERS:
        return False
    window = data[max(0, start - 200) : start]
    before = window[len(window.rstrip(_BASE64_CHARACTERS)) :]
    after = cast("re.Match[bytes]", _LETTERS_BASE64.match(data, end)).group()
    around = before + after
    is_mixed = len(_DIGITS.findall(around)) >= 3 and len(_CAPITALS.findall(around)) >= 8
    return bool(before) and len(around) >= 40 and is_mixed


# Reads what may hold secrets: the pairs of cookies, and the columns of a table whose head names a password.


_PAIR = regex(rb"=([^;]*+)")


_CRYPTED = regex(
    rb":([A-Za-z0-9./]{12}[.26AEIMQUYcgkosw])"
    rb"(?:(?P<field>:[0-9]{0,10}:[0-9]{0,10}:)|[ \"'`]{0,3}(?:\r?\n|\\n|\Z)|[\"'][,}\]])"
)
"""A traditional hash, whose last character holds four bits: a field of passwd or shadow, or the end of a line of
htpasswd. The rules' engine would take half as long again to look for it."""


_USER = regex(rb"(?:^|[\s>\"'`|]|\\n)[a-z_][a-z0-9_.-]{0,31}:\Z")


_LINE_BREAK = regex(rb"\r?\n|\\(?<!\\\\)\\*+(?>(?:r\\++)?)n")


_BEGIN_OF_LINE = regex(rb"(?:\r?\n|\\(?<!\\\\)\\*+(?>(?:r\\++)?)n|[:\[] {0,4}\\*+\")[> \t]{0,40}+")
"""Of a line in a text, or of the first one in a string."""


_CALLED_SECRET = regex(
    rb"(?:^|[ _.\"'-])"
    rb"(?:passw(?:or)?[dt]|kennwort|passphrase|pwd?|pass|mdp|contrase(?:n|\?|n\?)a|senha|wachtwoord|has[l?]o|l[o?]senord|cookie"
    rb"|secret|token|(?:api|access|secret|private)[ _-]?key)$",
    re.IGNORECASE,
)


_CALLED_USER = regex(
    rb"(?:^|[^a-z])(?:user(?:[ _-]?(?:name|id))?|login|e?-?mail|account|konto|benutzer|usu[a?]rio|utilisateur)$",
    re.IGNORECASE,
)


_TITLE = regex(rb"(?:^|[\"'])[> ]{0,9}[A-Za-z0-9_.? -]{1,40}$")


_LETTERS = regex(rb"[A-Za-z]")


_NO_VALUE = regex(rb"[\s()\[\]{}]")


HEAD = 400
"""Characters before and after the name of a column, within which the head of a table begins and ends."""


_ORNAMENTS = b" >\"'`*\\\r"


def _cookies(data: bytes, match: Match) -> Iterator[Match]:
    """The values of cookies that may open something: long, and of letters and digits."""
    for pair in _PAIR.finditer(data, match.start, match.end):
        value = pair[1]
        if len(value) >= 16 and len(set(value)) >= 8 and _DIGITS.search(value) and _LETTERS.search(value):
            yield Match(COOKIE, *pair.span(1))


def _crypted(data: bytes) -> Iterator[Match]:
    """Traditional hashes in lists of users; at the end of a line, those behind a user, with digits and both cases."""
    for match in _CRYPTED.finditer(data):
        value = match[1]
        is_mixed = _DIGITS.search(value) and not value.islower() and not value.isupper()
        if match["field"] or (is_mixed and _USER.search(data, max(0, match.start() - 40), match.start(1))):
            yield Match(LISTED, *match.span(1))


def _tables(data: bytes, heads: Iterable[Match]) -> Iterator[Match]:
    """What is in a column of passwords: below each head, until a line has other columns or another head begins.

    In a list of users, any word is a password.
    """
    lines = sorted({line for head in heads if (line := _line(data, head.start)) is not None})
    for line, (limit, _) in pairwise((*lines, (len(data), 0))):
        separator = _separator(data[slice(*line)])
        titles = [data[slice(*cell)] for cell in _cells(data, *line, separator)]
        columns = _secret_columns(titles, named=filter(None, titles[1:-1]) if separator == b"|" else titles)
        if not columns:
            continue
        is_list = separator != b"|" and any(map(_CALLED_USER.search, titles))
        end = cast("re.Match[bytes]", _LINE_BREAK.match(data, line[1])).end()
        while end < limit:
            break_ = _LINE_BREAK.search(data, end, limit)
            last = break_.start() if break_ else limit
            cells = list(_cells(data, end, last, separator))
            if len(cells) > len(titles):  # the table may be in a string
                cells = list(_cells(data, end, max(end, data.find(b'"', end, last)), separator))
            if len(cells) != len(titles):
                break
            for first, last in (cells[number] for number in columns):
                value = data[first:last].partition(b'"')[0].rstrip(_ORNAMENTS)
                if _is_value(value, is_list=is_list):
                    yield Match(LISTED if is_list else CELL, first, first + len(value))
            end = break_.end() if break_ else limit


_BEFORE_TAG = regex(rb"\s{0,9}<")


_TAG_OF_TABLE = regex(rb"<(?P<end>/?)(?P<name>t[rhd]|table)(?:\s[^<>]{0,1000}+)?>", re.IGNORECASE)


_TEXT_OF_CELL = regex(rb"\s{0,80}+(?>(?:<[a-zA-Z]{1,8}(?:\s[^<>]{0,200}+)?>\s{0,80}+){0,4})([^<\"\n]{0,400}+)")


def _page_tables(data: bytes) -> Iterator[Match]:
    """What is in a column of passwords of a table in HTML."""
    columns: list[int] = []
    width = 0
    for row, is_head in _rows(data):
        if is_head:
            titles = [data[slice(*cell)] for cell in row]
            width, columns = len(row), _secret_columns(titles, named=filter(None, titles))
        elif len(row) == width:
            places = [row[number] for number in columns]
            yield from (Match(CELL, *place) for place in places if _is_value(data[slice(*place)]))


def _rows(data: bytes) -> Iterator[tuple[list[tuple[int, int]], bool]]:
    """The places of the cells of each row in HTML, and whether it is a head: of `th`, or the first of a table."""
    row, names, is_first = list[tuple[int, int]](), set[bytes](), False
    for tag in _TAG_OF_TABLE.finditer(data):
        name = tag["name"].lower()
        if name not in {b"th", b"td"}:
            if row:
                yield row, names == {b"th"} or (is_first and names == {b"td"})
            is_first = name == b"table" or (is_first and not row)
            row, names = [], set()
        elif not tag["end"] and len(row) < LONGEST:
            start, end = cast("re.Match[bytes]", _TEXT_OF_CELL.match(data, tag.end())).span(1)
            row.append((start, start + len(data[start:end].rstrip(_ORNAMENTS + b"\t"))))
            names.add(name)
    if row:
        yield row, names == {b"th"} or (is_first and names == {b"td"})


def _secret_columns(titles: Sequence[bytes], named: Iterable[bytes]) -> list[int]:
    """The columns of passwords, if all of a row names columns and says nothing else: no line of a program does."""
    columns = [number for number, title in enumerate(titles) if _CALLED_SECRET.search(title)]
    return columns if len(titles) > 1 and all(map(_TITLE.search, named)) else []


def _is_value(value: bytes, *, is_list: bool = False) -> bool:
    """Whether what is in a column of passwords is one; in a list of users, any word is."""
    is_one = not _NO_VALUE.search(value) and _LETTERS.search(value)
    return bool(is_one and (len(value) >= 6 if is_list else len(value) >= SHORTEST and _DIGITS.search(value)))


def _line(data: bytes, at: int) -> tuple[int, int] | None:
    """The line of a head, without its line break; none if it is too long for one."""
    begin = max(0, at - HEAD)
    start = max((one.end() for one in _BEGIN_OF_LINE.finditer(data, begin, at)), default=0 if begin == 0 else -1)
    end = _LINE_BREAK.search(data, at, at + HEAD)
    return (start, end.start()) if end and start >= 0 else None


def _separator(line: bytes) -> bytes:
    """What separates the cells of a line: what is there most often."""
    return max((b"|", b"\t", b"\\t", b";", b","), key=line.count)


def _cells(data: bytes, start: int, end: int, separator: bytes) -> Iterator[tuple[int, int]]:
    """The places of the cells of a line, without blanks and quotes around them; what is in quotes is one cell."""
    at = start
    while True:
        quoted = _QUOTED.match(data, at, end)
        after = data.find(separator, quoted.end() if quoted else at, end)
        last = end if after < 0 else after
        first = at + len(data[at:last]) - len(data[at:last].lstrip(_ORNAMENTS))
        yield first, max(first, at + len(data[at:last].rstrip(_ORNAMENTS)))
        if after < 0:
            return
        at = after + len(separator)


_QUOTED = regex(rb"[ \t]{0,9}\\*+\"[^\"\n]*+\"")


# Finds again, in the same text, the values of secrets that were found by what is around them.


SHORTEST = 8
"""Characters of a value that is looked for; shorter ones may stand anywhere by chance."""


LONGEST = 1_000
"""Beyond, only private keys are that long, and those are known by themselves."""


_WORDS_AND_ESCAPES = regex(
    r"(?:\x1b|\\{1,8}(?:u001[bB]|x1[bB]|033|e))\[[0-9;]{0,20}[mK]|\\(?:u[0-9a-fA-F]{4}|[nrtbf])|%[0-9A-F]{2}"
    r"|(?P<word>[A-Za-z0-9]++)"
)
"""Words, apart from the letters of an escape or of a colour before them."""


_SENTENCE = ".,:;!?*_~"
"""What may follow a value, and not be a part of it."""


class Standing(Value, kw_only=False):
    """A value that is secret, its part from the first letter or digit on, and the rule that found it."""

    whole: str
    core: str
    rule: str


def find_repeats(text: str, found: Iterable[Match]) -> Iterator[Match]:
    """Where else the values of what was found stand.

    One pass over the words of the text: most begin like no value. A value ends where its last word ends.
    """
    known: dict[str, list[Standing]] = {}
    for value in sorted(_values(text, found), key=lambda value: (-len(value.whole), value.whole, value.rule)):
        known.setdefault(value.core[:SHORTEST], []).append(value)
    if not known:
        return
    for word in _WORDS_AND_ESCAPES.finditer(text):
        at = word.start()
        if word["word"]:
            for value in known.get(text[at : at + SHORTEST], ()):
                if _is_whole(text, value.core, at):
                    before = len(value.whole) - len(value.core)
                    start = at - before if text.startswith(value.whole, max(0, at - before)) else at
                    yield Match(value.rule, start, at + len(value.core))
                    break


def _values(text: str, found: Iterable[Match]) -> set[Standing]:
    """What to look for: also without the full stop of the sentence, and no names and words."""
    values = set()
    for match in found:
        if SHORTEST <= match.end - match.start <= LONGEST:
            written = text[match.start : match.end]
            for whole in {written, written.rstrip(_SENTENCE)}:
                first = re.search(r"[A-Za-z0-9]", whole)
                core = whole[first.start() :] if first else ""
                if len(core) >= SHORTEST and not is_name(core.encode("ascii", "replace")):
                    values.add(Standing(whole, core, match.rule))
    return values


def _is_whole(text: str, core: str, at: int) -> bool:
    after = text[at + len(core) : at + len(core) + 1]
    return text.startswith(core, at) and not (core[-1].isalnum() and after.isascii() and after.isalnum())


# Finds secrets in a text: what matches a rule, in it or in the texts within it, and is no placeholder.


DEPTH = 3
"""How many layers there may be within a text, as base64 in a JSON text in base64."""


ROUNDS = 4
"""How often what is left is looked at again; the second time, nothing new is found but in the oddest texts."""


MOST = 1_000
"""So many secrets in a text are no accident: the rest of it counts as one, and is not matched. Thousands in each window
would take a hundred times as long."""


VERSION = 14
"""To be raised when other secrets are found by the same rules."""


def find_secrets(text: str) -> tuple[Match, ...]:
    """The secrets in a text, sorted and without overlaps.

    The place is that of the secret itself: the value, not its name; a whole block of a private key; a whole run of
    base64 that decodes to something with a secret; of a key that is wrapped or escaped, from its first to its last
    character.
    """
    found: list[Match] = []
    for _ in range(ROUNDS):
        more = list(_merge(_find(text)))
        if not more:
            break
        more = list(_merge((*more, *find_repeats(text, more))))
        found += more
        text = _without(text, more)
    return tuple(_merge(found))


def _without(text: str, found: Iterable[Match]) -> str:
    """The text with stars for what was found: what touched it may be told apart now."""
    parts, done = [], 0
    for one in found:
        parts += [text[done : one.start], "*" * (one.end - one.start)]
        done = one.end
    return "".join((*parts, text[done:]))


def _find(text: str) -> Iterator[Match]:
    layer: Layer | None = lowest(text)
    for depth in range(DEPTH + 1):
        if layer is None:
            return
        matches = {*_matches(layer.data, layer.data), *_matches(spaced(layer.data), layer.data)}
        yield from _secrets(matches, layer, text)
        encoded = [(match.start, match.end) for match in matches if match.rule == ENCODED]
        layer = stack(layer, encoded, is_lowest=depth == 0)


def _matches(data: bytes, written: bytes) -> Iterator[Match]:
    """What rules match in `data`, and is no placeholder in it as `written`; from the `MOST`th on, all the rest."""
    found = 0
    for match in _read(data, is_spaced=data is not written):
        if match.rule != ENCODED:
            places = (whole_value(written, match.start, match.end, rule=match.rule), (match.start, match.end))
            for start, end in dict.fromkeys(places):
                if not is_placeholder(written, start, end, rule=match.rule):
                    break
            else:
                continue
            match = Match(match.rule, start, end)  # noqa: PLW2901 - all of it
            found += 1
        yield match
        if found == MOST:  # matches come in the order of windows, and in any order within one
            yield Match(MANY, max(0, match.start - WINDOW), len(data))
            return


def _read(data: bytes, *, is_spaced: bool) -> Iterator[Match]:
    """What rules match, with what is in cookies, lists and tables."""
    heads = []
    for match in match_rules(data):
        if match.rule not in UNSEEN or match.rule == ENCODED:
            yield match
        elif match.rule == COOKIES and not is_spaced:
            yield from _cookies(data, match)
        elif match.rule == HEAD_OF_TABLE and not is_spaced:
            heads.append(match)
    if not is_spaced:
        yield from _crypted(data)
    lines = [head for head in heads if not _BEFORE_TAG.match(data, head.end)]
    if len(lines) < len(heads):
        yield from _page_tables(data)
    yield from _tables(data, lines)


def _secrets(matches: Iterable[Match], layer: Layer, text: str) -> Iterator[Match]:
    for match in matches:
        place = None if match.rule == ENCODED else layer.place(match.start, match.end)
        if place:
            start, end = place
            if not match.rule.startswith(GENERIC):
                end += end_of_word(as_bytes(text[end : end + LONGEST_WORD]), 0)
            yield Match(match.rule, start, end)


def _merge(found: Iterable[Match]) -> Iterator[Match]:
    """Join what overlaps, under the rule that says most: not a generic one, the longest, one of ours."""
    last: Match | None = None
    best: Match | None = None
    for one in sorted(found, key=lambda one: (one.start, -one.end, one.rule)):
        if last is None or best is None or one.start >= last.end:
            if last:
                yield last
            last = best = one
            continue
        best = min(best, one, key=_rank)
        last = Match(best.rule, last.start, max(last.end, one.end))
    if last:
        yield last


def _rank(one: Match) -> tuple[bool, int, bool, str]:
    return one.rule.startswith(GENERIC), one.start - one.end, one.rule not in ours(), one.rule


def kind_of(rule: str) -> str:
    """What people call the secret that a rule finds."""
    return read_rules().get(rule, rule)


DIGEST: str = digest_rules() + f"-{VERSION}"
"""What was found in a text stays true as long as this is the same."""
