"""Invents text: words by Zipf's law, and Markdown made of them, the same for the same seed."""

import random
from collections.abc import Callable
from itertools import accumulate

_COMMON = (
    "the of to in is that it for was on with as by at this from are be have has which were been will would there their "
    "its but we they you all one more if when who what so up out about into than them can only other new some could "
    "time these two may then do first any my now such like our over me even most made after also did many before must "
    "through back years where much your way well down should because each just those people how too little state good "
    "very make world still own see men work long get here between both life being under never day same another know "
    "while last might us great old year off come since against go came right used take three"
)
COMMON = tuple(_COMMON.split())
"""The words that every text is full of: a search has to cope with them."""

VOCABULARY = 14_000
"""So many words in all; of the invented ones each text holds a few hundred."""

IDENTIFIERS = 6_000
_SYLLABLES = [
    first + second for first in "bcdfghjklmnprstvwz" for second in ("a", "e", "i", "o", "u", "an", "er", "il")
]


class Prose:
    """Text of one random sequence. Sizes are in characters; texts end where they have at least that many."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        invented = dict.fromkeys(COMMON)
        while len(invented) < VOCABULARY:
            invented["".join(rng.choices(_SYLLABLES, k=rng.choice((1, 2, 2, 2, 3, 3, 4))))] = None
        self._words = list(invented)
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))
        self._identifiers = ["_".join(rng.sample(self._words[150:], 2)) for _ in range(IDENTIFIERS)]
        self._blocks: tuple[Callable[[], str], ...] = (
            self._heading, self.paragraph, self._list, self._code, self._table, self._quotation
        )  # fmt: skip

    def words(self, least: int, most: int) -> list[str]:
        """Some words, common ones more often than rare ones."""
        return self.rng.choices(self._words, cum_weights=self._weights, k=self.rng.randint(least, most))

    def title(self) -> str:
        """A subject or heading."""
        return " ".join(self.words(4, 9)).capitalize()

    def sentence(self) -> str:
        """A sentence; some name an identifier, a file, a commit, or stress or link a word."""
        words = self.words(6, 22)
        kind = self.rng.random()
        if kind < 0.08:
            words.append(f"`{self.rng.choice(self._identifiers)}()`")
        elif kind < 0.11:
            words.append(f"`src/{words[0]}/{self.rng.choice(self._identifiers)}.py`")
        elif kind < 0.13:
            words.append(f"{self.rng.getrandbits(28):07x}")
        elif kind < 0.18:
            words[1] = f"**{words[1]}**"
        elif kind < 0.22:
            words[2] = f"[{words[2]}](https://example.org/{words[2]})"
        return " ".join(words).capitalize() + "."

    def paragraph(self) -> str:
        """A few sentences."""
        return " ".join(self.sentence() for _ in range(self.rng.randint(2, 6)))

    def markdown(self, size: int) -> str:
        """Markdown with headings, lists, code, tables and quotations."""
        blocks: list[str] = []
        while size > 0:
            (make,) = self.rng.choices(self._blocks, (18, 44, 22, 8, 4, 4))
            blocks.append(make())
            size -= len(blocks[-1]) + 2
        return "\n\n".join(blocks) + "\n"

    def _heading(self) -> str:
        return f"## {self.title()}"

    def _list(self) -> str:
        return "\n".join(f"- {self.sentence()}" for _ in range(self.rng.randint(2, 6)))

    def _code(self) -> str:
        names = self.rng.choices(self._identifiers, k=self.rng.randint(2, 8))
        lines = (f"{name} = {self.words(1, 1)[0]}({self.words(1, 1)[0]!r})" for name in names)
        return "\n".join(("```python", *lines, "```"))

    def _table(self) -> str:
        rows = ("| " + " | ".join(self.words(2, 2)) + " |" for _ in range(4))
        return "\n".join(("| what | where |", "|---|---|", *rows))

    def _quotation(self) -> str:
        return f"> {self.sentence()}"
