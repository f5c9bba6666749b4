"""The query language: how texts become words, and queries become trees; errors give the place and a working example.

    text ──►  fold each character ──► runs of word characters ──► words with positions
                   case, width, accents      cut where CJK begins        camelCase by part, CJK by two

The words of a query are made in the same way, so those of its tree are folded already. Its instants are milliseconds
since 1970 in UTC, ranges of them half open.

    any   = all { "OR" all }
    all   = one { [ "AND" ] one }
    one   = { "NOT" } ( "(" any ")" | [ field ":" ] value )
    value = word [ "*" ] | '"' words '"' | "[" date "TO" date "]"

The rules, with every field, are in docs/search.md. `static/search.js` has the same ones; one table of cases tests both,
`tests/search_cases.json`.
"""

import datetime as dt
import re
import unicodedata
from collections.abc import Callable, Iterator
from string import ascii_letters, digits
from typing import Literal, TypeAlias

from memosite.facts.patterns import regex
from memosite.facts.values import Struct, Value, field

# The analyzer: splits a text into words, the same way for the index, the blocks and both query parsers.


MOST_CHARS = 128
"""The longest word, in characters: what is longer, such as a blob in base64, counts by its beginning."""


_ACCENTS = (
    *((0x300, 0x36F), (0x483, 0x487), (0x591, 0x5BD), (0x5BF, 0x5BF), (0x5C1, 0x5C2), (0x5C4, 0x5C5)),
    *((0x5C7, 0x5C7), (0x610, 0x61A), (0x64B, 0x65F), (0x670, 0x670), (0x6D6, 0x6DC), (0x1AB0, 0x1AFF)),
    *((0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE00, 0xFE0F), (0xFE20, 0xFE2F)),
)
"""Marks that are dropped: accents, points of Hebrew and Arabic. Other marks are letters of their scripts."""


_LETTERS = {
    "ß": "ss", "ς": "σ", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i",
    "ŋ": "n", "ŧ": "t",
}  # fmt: skip
"""Letters that Unicode does not take apart, in lower case."""


_CJK = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)


_RUN = regex("[^ ]+")


_PIECE = regex("[\x00-\x7f]+|[^\x00-\x7f]+")


_HALF_WIDTH = regex("[\uff66-\uff9f]+")


_SCRIPT = regex(f"[{_CJK}]+|[^{_CJK}]+")


_IS_CJK = regex(f"[{_CJK}]")


_CAMEL = regex(r"[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")


_FORMS = str.maketrans(ascii_letters + digits, "a" * 26 + "A" * 26 + "a" * 10)


_PART = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


_ENGLISH, _PLURAL_ES, _TAKES_ES = regex("[a-z]{3,}"), regex("(?:s|x|z|ch|sh)es$"), regex("(?:s|x|z|ch|sh)$")


_NO_PLURAL = frozenset({"does", "has", "its", "new", "news", "was"})
"""Words that look like the plural of another, or the other way round, and mean something else."""


_HASH = regex(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,63}")


class Word(Value):
    """A word of a text: the folded term, its position among the words, its offsets in the text.

    A `part` is a piece of the word at the same position (`read` of `readArchive`, one character of CJK text): it is
    found, but queries hold whole words only.
    """

    term: str
    position: int
    start: int
    end: int
    part: bool = False


class _Folding(dict[int, str]):
    """Memoizes what each character folds to."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = fold_character(chr(code))
        return folded


class _Writing(dict[int, str]):
    """Memoizes each character as it is written, or a space if it is not part of a word.

    One that does not fold to exactly one character becomes two: such a text gets longer and takes the slow path.
    """

    def __init__(self, folding: _Folding) -> None:
        super().__init__()
        self._folding = folding

    def __missing__(self, code: int) -> str:
        folded = self._folding[code]
        found = self[code] = " " if folded == " " else chr(code) if len(folded) == 1 else "--"
        return found


class Analyzer:
    """Splits texts into words. Reuse it for many texts, since it memoizes characters."""

    def __init__(self) -> None:
        """Nothing is memoized yet."""
        self._folding = _Folding()
        self._writing = _Writing(self._folding)

    def words(self, text: str) -> list[Word]:
        """The words of a prepared text, each followed by its parts."""
        return list(self._words(text))

    def find(self, text: str, is_wanted: Callable[[str], bool]) -> Iterator[Word]:
        """The words and parts of a prepared text whose terms are wanted; a faster filter of `words`."""
        folded = text.translate(self._folding)
        is_by_character = text.isascii() or len(text.translate(self._writing)) == len(text)
        if not folded.isascii() or not is_by_character:  # lengths alone may agree by chance: a soft hyphen before Æ
            yield from (word for word in self._words(text) if is_wanted(word.term))
            return
        for position, run in enumerate(_RUN.finditer(folded)):
            term, (start, end) = run[0], run.span()
            if is_wanted(term[:MOST_CHARS]):
                yield Word(term=term[:MOST_CHARS], position=position, start=start, end=end)
            for part in camel_parts(text[start:end]) or () if text[start:end] != term else ():
                if is_wanted(part):
                    yield Word(term=part, position=position, start=start, end=end, part=True)

    def terms(self, text: str) -> tuple[list[str], list[tuple[str, int]]]:
        """The index terms of a text: its words in order of position, and parts of words with their positions."""
        folded = _translated(text, self._folding)
        written = _translated(text, self._writing)
        if folded.isascii() and len(folded) == len(written):
            words = folded.split()
            parts = _all_parts(words, written) if _may_be_camel(written) else []
            if max(map(len, words), default=0) > MOST_CHARS:
                words = [word[:MOST_CHARS] for word in words]
            return words, parts
        found = self.words(text)
        whole = {word.position: word.term for word in found if not word.part}
        return [whole[place] for place in range(len(whole))], [
            (word.term, word.position) for word in found if word.part
        ]

    def fold(self, text: str) -> str:
        """A prepared text in which every term of it is found as it is written, unless it `may_compose`."""
        return text.lower() if text.isascii() else _translated(text, self._folding)

    def phrase(self, text: str) -> tuple[str, ...]:
        """The words of a query's text, one after the other, without parts."""
        return tuple(word.term for word in self._words(prepare(text)) if not word.part)

    def keyword(self, text: str) -> str:
        """A name, an id or a tag as one term: its words, without parts, joined by `-`."""
        folded = prepare(text).translate(self._folding)
        return "-".join(unicodedata.normalize("NFC", piece) for piece in folded.split())[:250]

    def _words(self, text: str) -> Iterator[Word]:
        folded, starts = self._fold(text)
        position = 0
        for run in _RUN.finditer(folded):
            for piece in _SCRIPT.finditer(run[0]):
                first, last = run.start() + piece.start(), run.start() + piece.end()
                if _IS_CJK.match(piece[0]):
                    words = _cjk_words(piece[0], position, starts[first : last + 1])
                else:
                    words = _plain_words(piece[0], position, starts[first], starts[last], text)
                for word in words:
                    yield word
                    position = word.position + 1

    def _fold(self, text: str) -> tuple[str, "range | list[int]"]:
        """The folded text, and for each of its characters (and its end) the offset in the text."""
        pieces = [self._folding[ord(char)] for char in text]
        folded = "".join(pieces)
        if len(folded) == len(text) and all(len(piece) == 1 for piece in pieces):
            return folded, range(len(text) + 1)
        starts = [index for index, piece in enumerate(pieces) for _ in piece]
        return folded, [*starts, len(text)]


def may_compose(folded: str) -> bool:
    """Whether a folded text may have terms with characters that are composed of several of its own."""
    return not unicodedata.is_normalized("NFC", folded)


def _translated(text: str, table: dict[int, str]) -> str:
    """`str.translate` by pieces, as it is thirty times faster on ASCII: one dash does not make a whole text slow."""
    if text.isascii():
        return text.translate(table)
    return "".join([piece.translate(table) for piece in _PIECE.findall(text)])


def _may_be_camel(written: str) -> bool:
    """Whether any word of a text might be one of `camel_parts`; testing its form is faster than a pattern."""
    form = written.translate(_FORMS)
    return "aA" in form or "AAa" in form


def _all_parts(words: list[str], written: str) -> list[tuple[str, int]]:
    """The parts of words with the positions of their words, from the folded words and the text as written."""
    pairs = enumerate(zip(words, written.split(), strict=True))
    cased = [(place, camel_parts(as_written)) for place, (word, as_written) in pairs if word != as_written]
    return [(part, place) for place, found in cased for part in found or ()]


def prepare(text: str) -> str:
    """Normalize a text before it is split: NFC, half-width kana at full width."""
    if text.isascii():
        return text
    return _HALF_WIDTH.sub(lambda match: unicodedata.normalize("NFKC", match[0]), unicodedata.normalize("NFC", text))


def fold_character(char: str) -> str:
    """What a character of a prepared text folds to: a space if it is not part of a word, nothing if it is an accent."""
    code = ord(char)
    if code < 0x80:
        return char.lower() if char.isalnum() else " "
    if _is_accent(code):
        return ""
    category = unicodedata.category(char)
    if category[0] not in "LNM":
        return "" if category == "Cf" else " "
    found = []
    for piece in unicodedata.normalize("NFKD", char):
        if _is_accent(ord(piece)):
            continue
        if unicodedata.category(piece)[0] not in "LNM":
            found.append(" ")
            continue
        lowered = unicodedata.normalize("NFKD", piece.lower())
        found += [_LETTERS.get(each, each) for each in lowered if not _is_accent(ord(each))]
    return unicodedata.normalize("NFC", "".join(found))


def _is_accent(code: int) -> bool:
    return any(first <= code <= last for first, last in _ACCENTS)


def is_hash(term: str) -> bool:
    """Whether a term looks like a (shortened) hash, which queries match as a prefix."""
    return _HASH.fullmatch(term) is not None


def forms_of(term: str) -> tuple[str, ...]:
    """A word, and its plain plural or singular in English, as `entry` and `entries`; some are no words."""
    if not _ENGLISH.fullmatch(term) or term in _NO_PLURAL:
        return (term,)
    if term.endswith("ies"):
        return (term, f"{term[:-3]}y", term[:-1])
    if _PLURAL_ES.search(term):
        return (term, term[:-1], term[:-2])
    if term.endswith("s") and not term.endswith(("ss", "us", "is")):
        return (term, term[:-1])
    if term.endswith("y") and term[-2] not in "aeiou":
        return (term, f"{term[:-1]}ies")
    return (term, f"{term}es" if _TAKES_ES.search(term) else f"{term}s")


def camel_parts(written: str) -> tuple[str, ...] | None:
    """The parts of `readArchive` or `HTTPServer`, in lower case; None if it is one word."""
    if not _CAMEL.search(written[:MOST_CHARS]):
        return None
    whole = written.lower()
    parts = tuple(dict.fromkeys(part.lower() for part in _PART.findall(written[:MOST_CHARS])))
    return tuple(part for part in parts if part != whole)


def _plain_words(piece: str, position: int, start: int, end: int, text: str) -> Iterator[Word]:
    yield Word(term=unicodedata.normalize("NFC", piece)[:MOST_CHARS], position=position, start=start, end=end)
    for part in camel_parts(text[start:end]) or ():
        yield Word(term=part, position=position, start=start, end=end, part=True)


def _cjk_words(run: str, position: int, starts: "range | list[int]") -> Iterator[Word]:
    """Each two neighbouring characters are a word, one alone is one too; single ones are parts.

    The last character of several has no position of its own, so that what follows the run comes right after its
    last two, in a text as in a phrase.
    """
    last = max(len(run) - 2, 0)
    for index in range(len(run)):
        place = min(index, last)
        if index <= last:
            end = starts[min(index + 2, len(run))]
            yield Word(term=run[index : index + 2], position=position + index, start=starts[index], end=end)
        if len(run) > 1:
            start, end = starts[index : index + 2]
            yield Word(term=run[index], position=position + place, start=start, end=end, part=True)


# The syntax tree of a query, and the error for a query that cannot be parsed.


WordField: TypeAlias = Literal["text", "subject", "name"]


class Words(Value):
    """Words one after the other in a field; with `prefix` the last one is only the beginning of a word.

    A word that is alone is found in its plain plural or singular, too, unless it was in quotation marks (`exact`).
    """

    field: WordField
    terms: tuple[str, ...]
    prefix: bool = False
    exact: bool = False

    @property
    def forms(self) -> tuple[tuple[str, ...], ...]:
        """What each of its words may be."""
        is_loose = len(self.terms) == 1 and self.field != "name" and not (self.prefix or self.exact)
        return (forms_of(self.terms[0]),) if is_loose else tuple((term,) for term in self.terms)


class KeyTerm(Value):
    """A whole value, such as that of `from:`; with `prefix` its beginning."""

    field: str
    value: str
    prefix: bool = False


class Dates(Value):
    """From `start` on and before `end`; None where it is open. Never matches what has no date."""

    start: int | None
    end: int | None


class Ago(Value):
    """After (`newer`) or before the instant so many days before the archive's newest date."""

    days: int
    newer: bool


class And(Value):
    """All of these."""

    parts: tuple["QueryNode", ...]


class Or(Value):
    """Any of these."""

    parts: tuple["QueryNode", ...]


class Not(Value):
    """Everything but this."""

    part: "QueryNode"


QueryNode: TypeAlias = Words | KeyTerm | Dates | Ago | And | Or | Not


class QueryError(ValueError):
    """A query that cannot be parsed: what is wrong, where (in characters from 0), and a working example."""

    def __init__(self, message: str, position: int, example: str) -> None:
        super().__init__(message, position, example)
        self.message = message
        self.position = position
        self.example = example

    def __str__(self) -> str:
        return f"{self.message} (character {self.position + 1}); for example: {self.example}"


def leaves(node: QueryNode) -> Iterator[tuple[QueryNode, bool]]:
    """The conditions of a query in the order written, each with whether it is wanted (not negated)."""
    waiting = [(node, True)]
    while waiting:
        inner, wanted = waiting.pop()
        match inner:
            case And(parts=parts) | Or(parts=parts):
                waiting += [(part, wanted) for part in reversed(parts)]
            case Not(part=part):
                waiting.append((part, not wanted))
            case _:
                yield inner, wanted


# Parses queries into syntax trees; errors give the place and a working example.


LONGEST = 2_000
"""The longest query, in characters."""


DEEPEST = 40
"""The most parentheses within each other."""


MOST_CONDITIONS = 100
"""The most words and values in one query."""


KEYS = (
    *("from", "to", "with", "kind", "system", "thread", "transcript", "repo", "box", "is", "tag", "status"),
    *("model", "branch", "file", "in"),
)


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


_TOKEN = regex(rf'[{_SPACES}]+|[()]|"|[^{_SPACES}()"]+')


_RANGE = regex(rf"[{_SPACES}]*([^{_SPACES}]+)[{_SPACES}]+TO[{_SPACES}]+([^{_SPACES}]+)[{_SPACES}]*")


_FIELD = regex(r"([a-z_]+):", re.IGNORECASE | re.ASCII)


_QUOTED = regex(r'"[^"]*"?')


_VALUE = regex(r'[\w"\[]')


_DATE = regex(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})(?:T([0-9]{2}):([0-9]{2})Z?)?)?)?")


_AGO = regex(r"([0-9]{1,4})([dwmy])")


_AGO_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


DAY = 86_400_000
"""Milliseconds."""


_EPOCH = dt.datetime(1970, 1, 1)


class _Token(Value):
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
    tree = _Reader(tokens, len(text), analyzer).read()
    if tree is None:
        raise QueryError("enter a word to search for", 0, _ORDINARY)
    if any(isinstance(leaf, KeyTerm) and leaf.field == "in" for leaf, _ in leaves(tree)):
        return tree
    return _all((KeyTerm(field="in", value="text"), *(tree.parts if isinstance(tree, And) else (tree,))))


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while match := _TOKEN.match(text, position):
        piece, start = match[0], position
        position = match.end()
        if piece[0] in _SPACES:
            continue
        if piece in {"(", ")", "AND", "OR", "NOT"}:
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


def no_fields(text: str) -> list[str]:
    """Words before a colon that are searched as text, since there is no such field."""
    pieces = _QUOTED.sub(" ", text).split()
    named = (_FIELD.match(piece.lstrip("(")) for piece in pieces)
    return [one[1] for one in named if one and one[1].lower() not in FIELDS]


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


class _Frame(Struct):
    """An open parenthesis: the alternatives read so far, the parts of the present one, and the number of pending NOTs.

    `said` is true once the present alternative has a token, even one without a word in it.
    """

    position: int = 0
    negated_outside: bool = False
    alternatives: list[QueryNode] = field(default_factory=list)
    parts: list[QueryNode] = field(default_factory=list)
    negated: bool = False
    waits_for: str = ""
    said: bool = False

    def add(self, node: QueryNode | None, *, negated: bool) -> None:
        self.negated, self.waits_for, self.said = False, "", True
        if node is not None:
            self.parts.append(Not(part=node) if negated else node)

    def take_operator(self, token: _Token) -> None:
        if token.sign == "NOT":
            self.negated, self.waits_for = not self.negated, "NOT"
            return
        if self.waits_for or not self.said:
            raise QueryError(f"before {token.sign} a word is missing", token.position, f"tide {token.sign} ebb")
        self.waits_for = token.sign
        if token.sign == "OR":
            self._end_alternative()

    def close(self, position: int) -> QueryNode | None:
        """What is between the parentheses, which end here; None if there is no word in it."""
        if self.waits_for:
            raise QueryError(f"after {self.waits_for} a word is missing", position, _ORDINARY)
        self._end_alternative()
        if len(self.alternatives) > 1:
            return Or(parts=tuple(self.alternatives))
        return self.alternatives[0] if self.alternatives else None

    def _end_alternative(self) -> None:
        if self.parts:
            self.alternatives.append(_all(tuple(self.parts)))
        self.parts, self.said = [], False


class _Reader(Value, kw_only=False):
    """Parses tokens with an explicit stack, so that deep queries cannot overflow Python's."""

    _tokens: tuple[_Token, ...]
    _end: int
    _analyzer: Analyzer

    def read(self) -> QueryNode | None:
        """Parse the tokens; None if there is no word in them."""
        stack = [_Frame()]
        for token in self._tokens:
            frame = stack[-1]
            if token.sign == "(":
                if len(stack) > DEEPEST:
                    raise QueryError("there are too many parentheses", token.position, "(tide OR ebb) tables")
                stack.append(_Frame(position=token.position, negated_outside=frame.negated))
                frame.negated, frame.waits_for = False, ""
            elif token.sign == ")":
                if len(stack) == 1:
                    raise QueryError("this parenthesis was never opened", token.position, "(tide OR ebb) tables")
                node = frame.close(token.position)
                stack.pop()
                stack[-1].add(node, negated=frame.negated_outside)
            elif token.sign == "value":
                if token.field in DATES:
                    node = _dates(token)
                else:
                    node = self._key(token) if token.field in KEYS else self._words(token)
                frame.add(node, negated=frame.negated)
            else:
                frame.take_operator(token)
        if len(stack) > 1:
            raise QueryError("this parenthesis is never closed", stack[-1].position, "(tide OR ebb) tables")
        return stack[0].close(self._end)

    def _key(self, token: _Token) -> QueryNode:
        is_prefix = token.form == "word" and token.value.endswith("*")
        value = self._analyzer.keyword(token.value)
        if not value:
            raise QueryError(f"{token.field}: has no value", token.position, _example(token.field))
        choices = CHOICES.get(token.field)
        if choices and (is_prefix or value not in choices):
            elsewhere = "; decisions have pages of their own: decisions/" if value.startswith("decision") else ""
            message = f"{token.field}: is one of {', '.join(choices)}{elsewhere}"
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
        words = Words(field=field, terms=terms, prefix=prefix, exact=quoted and len(terms) == 1)
        is_one = not any(char in _SPACES for char in token.value)
        if field == "text" and is_one and (len(terms) > 1 or is_hash(terms[0])):
            return Or(parts=(words, Words(field="name", terms=terms, prefix=prefix)))
        return words


def _all(parts: tuple[QueryNode, ...]) -> QueryNode:
    return parts[0] if len(parts) == 1 else And(parts=parts)


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
    raise _no_date(token)


def _sent(token: _Token) -> QueryNode:
    if token.form != "range":
        span = read_date(token.value)
        if span is None:
            raise _no_date(token)
        return Dates(start=span[0], end=span[1])
    ends = _RANGE.fullmatch(token.value)
    if ends is None:
        raise QueryError("a range has two dates with TO between them", token.position, _EXAMPLES["sent"])
    first, last = (None if end == "*" else read_date(end) for end in ends.groups())
    if (first is None and ends[1] != "*") or (last is None and ends[2] != "*"):
        is_meant = all(end == "*" or _DATE.fullmatch(end) for end in ends.groups())
        said = "an invalid date" if is_meant else "no two dates"
        raise QueryError(f"the range has {said}", token.position, _EXAMPLES["sent"])
    return Dates(start=first[0] if first else None, end=last[1] if last else None)


def _no_date(token: _Token) -> QueryError:
    said = "an invalid date" if token.form != "range" and _DATE.fullmatch(token.value) else "no date"
    return QueryError(f"{token.field}: is {said}", token.position, _EXAMPLES[token.field])


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
    first = milliseconds(start)
    if minute is not None:
        return first, first + 60_000
    if day is not None:
        return first, first + DAY
    months = start.year * 12 + start.month + (0 if month else 11)
    year, month = divmod(months, 12)
    if year > dt.MAXYEAR:
        return first, milliseconds(dt.datetime.max) + 1
    return first, milliseconds(dt.datetime(year, month + 1, 1))


def milliseconds(moment: dt.datetime) -> int:
    """A moment in UTC, which is given without its zone, in milliseconds since 1970."""
    return (moment - _EPOCH) // dt.timedelta(milliseconds=1)


def moment_of(date: int) -> dt.datetime:
    """The moment of so many milliseconds since 1970, in UTC, without its zone."""
    return _EPOCH + dt.timedelta(milliseconds=date)
