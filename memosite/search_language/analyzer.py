"""The analyzer: splits a text into words, the same way for the index, the blocks and both query parsers.

    text ──►  fold each character ──► runs of word characters ──► words with positions
                   case, width, accents      cut where CJK begins        camelCase by part, CJK by two

The rules are in docs/search.md; `static/search.js` has the same ones; `search_cases.json` tests both.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from string import ascii_letters, digits

MOST_CHARS = 128
"""The longest word, in characters: what is longer, such as a blob in base64, counts by its beginning."""

_ACCENTS = (
    *((0x300, 0x36F), (0x483, 0x487), (0x591, 0x5BD), (0x5BF, 0x5BF), (0x5C1, 0x5C2), (0x5C4, 0x5C5)),
    *((0x5C7, 0x5C7), (0x610, 0x61A), (0x64B, 0x65F), (0x670, 0x670), (0x6D6, 0x6DC), (0x1AB0, 0x1AFF)),
    *((0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE00, 0xFE0F), (0xFE20, 0xFE2F)),
)
"""Marks that are dropped: accents, points of Hebrew and Arabic. Other marks are letters of their scripts."""

_LETTERS = {
    "ß": "ss",
    "ς": "σ",
    "æ": "ae",
    "œ": "oe",
    "ø": "o",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "ł": "l",
    "ħ": "h",
    "ı": "i",
    "ŋ": "n",
    "ŧ": "t",
}
"""Letters that Unicode does not take apart, in lower case."""

_CJK = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile("[^ ]+")
_PIECE = re.compile("[\x00-\x7f]+|[^\x00-\x7f]+")
_HALF_WIDTH = re.compile("[\uff66-\uff9f]+")
_SCRIPT = re.compile(f"[{_CJK}]+|[^{_CJK}]+")
_IS_CJK = re.compile(f"[{_CJK}]")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")
_FORMS = str.maketrans(ascii_letters + digits, "a" * 26 + "A" * 26 + "a" * 10)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HASH = re.compile(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
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


@dataclass(frozen=True, slots=True)
class Analyzer:
    """Splits texts into words. Reuse it for many texts, since it memoizes characters."""

    _folding: _Folding = field(default_factory=_Folding, repr=False, compare=False)
    _writing: _Writing = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Share one table of folded characters."""
        object.__setattr__(self, "_writing", _Writing(self._folding))

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


def camel_parts(written: str) -> tuple[str, ...] | None:
    """The parts of `readArchive` or `HTTPServer`, in lower case; None if it is one word."""
    if not _CAMEL.search(written[:MOST_CHARS]):
        return None
    whole = written.lower()
    parts = tuple(dict.fromkeys(part.lower() for part in _PART.findall(written[:MOST_CHARS])))
    return tuple(part for part in parts if part != whole)


def _plain_words(piece: str, position: int, start: int, end: int, text: str) -> Iterator[Word]:
    term = unicodedata.normalize("NFC", piece)[:MOST_CHARS]
    yield Word(term=term, position=position, start=start, end=end)
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
            yield Word(
                term=run[index : index + 2], position=position + index, start=starts[index],
                end=starts[min(index + 2, len(run))],
            )  # fmt: skip
        if len(run) > 1:
            yield Word(
                term=run[index], position=position + place, start=starts[index], end=starts[index + 1], part=True
            )
