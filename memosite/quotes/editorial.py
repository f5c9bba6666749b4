"""Reads the marks that editors make in a quote: omissions, `[sic]`, a changed first letter, words put in.

"[T]he load […] is too [sic] heavy [for the crane]"
    ──► fragments "The load" or "the load", and "is too heavy", to be found in this order in one passage
"""

import re
import unicodedata
from dataclasses import dataclass
from itertools import islice
from typing import Final

from memosite.quotes.layers import UNSEEN
from memosite.quotes.words import bare_words, word_count

_MARK = re.compile(r"\[(?P<gap>[ \t]*(?:…|\.[ ]?\.[ ]?\.)[ \t]*)\]|\[(?P<words>[^\[\]\n]{1,200})\]")
_ELLIPSES = ("…", "...")
_LEAST_WORDS: Final = 2.5  # of a fragment, on average: with fewer, words could be picked until a text says anything

_MOST_MARKS: Final = 100  # that an editor makes in one quote
_MOST_WAYS: Final = 16  # of writing a fragment

_NEGATIVE = """
no not none nobody nothing nor neither never nowhere cannot without hardly scarcely barely non t nt
nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne ni pas jamais rien aucun aucune sans
dont doesnt didnt isnt arent wasnt werent wont cant couldnt shouldnt wouldnt hasnt havent hadnt mustnt aint
refuse refuses refused decline declines declined deny denies denied fail fails failed unable unwilling impossible
nunca nada sin mai niente nessuno senza niet geen nooit inte ikke aldrig
"""
_COUNTING = """
zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy eighty
ninety hundred thousand million billion half twice dozen dozens hundreds thousands millions billions
zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend
"""
_NEGATIONS = frozenset(_NEGATIVE.split())
_NUMBERS = frozenset(_COUNTING.split())
_UNSEEN = re.compile(f"[{UNSEEN}]+")
_MIXED = re.compile(r"[a-z][^\W\da-z_\u00c0-\u024f]|[^\W\da-z_\u00c0-\u024f][a-z]")
"""A Latin letter beside one of another script: it may only look like what it is read as."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A stretch of a quote without omission, in each way in which the source may write it."""

    ways: tuple[str, ...]

    @property
    def words(self) -> int:
        """How many words it has."""
        return word_count(self.ways[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A quote as its editor changed it."""

    fragments: tuple[Fragment, ...]
    inserted: tuple[str, ...] = ()


def read_editing(quote: str, source: str) -> Edited | None:
    """What is left of a quote without its editor's marks; None if it has none, or any that may change what it says.

    Brackets that the source has as well are no marks. What is put in holds no number and no negation.
    """
    trimmed = _without_ends(quote)
    if sum(1 for _ in islice(_MARK.finditer(trimmed), _MOST_MARKS + 1)) > _MOST_MARKS:
        return None
    writer = _Writer()
    done = 0
    for match in _MARK.finditer(trimmed):
        if match["gap"] is None and match[0] in source:
            continue
        writer.add(trimmed[done : match.start()])
        done = match.end()
        if match["gap"] is not None:
            writer.end_fragment()
        elif match["words"].strip().casefold().rstrip("!") == "sic" and not trimmed[match.end() :][:1].isalpha():
            writer.join()
        elif _touches_word(trimmed, match):
            writer.add_letters(match["words"])
        elif changes_meaning(match["words"]):
            return None
        else:
            writer.insert(match["words"])
    if not done and trimmed == quote:
        return None
    writer.add(trimmed[done:])
    return writer.finish()


class _Writer:
    """Writes the fragments of a quote from the left to the right."""

    def __init__(self) -> None:
        self.fragments: list[Fragment] = []
        self.inserted: list[str] = []
        self.ways = [""]

    def add(self, text: str) -> None:
        self.ways = [way + text for way in self.ways]

    def add_letters(self, letters: str) -> None:
        """Letters whose case the editor changed."""
        if len(self.ways) > _MOST_WAYS:
            return
        cases = dict.fromkeys((letters, letters.lower(), letters.upper(), letters.capitalize()))
        self.ways = [way + case for way in self.ways for case in cases][: _MOST_WAYS + 1]

    def join(self) -> None:
        """Go on as if nothing had been between."""
        self.ways = [way.rstrip() for way in self.ways]

    def insert(self, words: str) -> None:
        self.inserted.append(words)
        self.join()

    def end_fragment(self) -> None:
        self.fragments.append(Fragment(tuple(way.strip() for way in self.ways)))
        self.ways = [""]

    def finish(self) -> Edited | None:
        self.end_fragment()
        kept = tuple(one for one in self.fragments if one.words)
        words = sum(one.words for one in kept)
        too_many = any(len(one.ways) > _MOST_WAYS for one in kept)
        if not kept or too_many or (len(kept) > 1 and words < _LEAST_WORDS * len(kept)):
            return None
        return Edited(fragments=kept, inserted=tuple(self.inserted))


def _without_ends(quote: str) -> str:
    """A quote without an ellipsis at its ends, which only says that the source goes on there."""
    for ellipsis in _ELLIPSES:
        quote = quote.strip().removeprefix(ellipsis).removesuffix(ellipsis)
    return quote.strip()


def changes_meaning(text: str) -> bool:
    """Whether words that are put in hold a number or a negation, or letters that only look like others."""
    read = _read(text)
    words = bare_words(read)
    counts = any(map(str.isnumeric, text + read)) or not _NUMBERS.isdisjoint(words)
    return counts or not _NEGATIONS.isdisjoint(words) or _MIXED.search(read) is not None


def negates(text: str) -> bool:
    """Whether a text holds a negation."""
    return not _NEGATIONS.isdisjoint(bare_words(_read(text)))


def _read(text: str) -> str:
    """A text as it is read: without what is not seen, in plain letters, in lower case."""
    plain = _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).lower()
    return plain.replace("\u02bc", "'")


def _touches_word(text: str, match: re.Match[str]) -> bool:
    before, after = (
        text[match.start() - 1 : match.start()] if match.start() else "",
        text[match.end() : match.end() + 1],
    )
    return (before.isalpha() or after.isalpha()) and match["words"].isalpha()
