"""What templates say in the language of the site of values: filters by their names."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from memosite.facts.words import kind_word, kinds
from memosite.pages.words import action_word, cite_words, severities, severity_word, standing_word
from memosite.render.catalogue import Catalogue

__all__ = ["noun_forms", "word_filters"]

_PLURALS: Final = {"library": "libraries", "reply": "replies"}


def word_filters(words: Catalogue) -> Mapping[str, Callable[..., Any]]:
    """The filters of a language."""
    return {
        "counted": lambda number, noun: _counted(words, number, noun),
        "number": words.number,
        "action_word": lambda action: words.translated(action_word(action)),
        "kind": lambda kind: words.translated(kind_word(kind)),
        "kinds": lambda number, kind: words.translated(kinds(kind, number)),
        "severity": lambda severity: words.translated(severity_word(severity)),
        "severities": lambda number, severity: words.translated(severities(severity, number)),
        "standing": lambda standing: words.translated(standing_word(standing)),
        "cite_words": lambda kind: words.translated(cite_words(kind)),
    }


def noun_forms(noun: str) -> tuple[str, str]:
    """The texts for one and for many, as a catalogue has them."""
    return f"{{n:,}} {noun}", f"{{n:,}} {_PLURALS.get(noun, noun + 's')}"


def _counted(words: Catalogue, number: int, noun: str) -> str:
    """A number with its noun: "1 memo", "1,200 memos"."""
    return words.counted(*noun_forms(noun), number).replace("{n:,}", words.number(number))
