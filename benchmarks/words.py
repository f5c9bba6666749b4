"""Invents words, names, paths and commits: words by Zipf's law, the same for the same seed."""

import random
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
STEEPNESS = 1.3
"""How fast words get rarer, so that 30,000 of them are some 4,000 different ones, as in real texts."""

AHEAD = 4_096
"""So many words are drawn at once, which takes half the time."""

_SYLLABLES = [
    first + second for first in "bcdfghjklmnprstvwz" for second in ("a", "e", "i", "o", "u", "an", "er", "il")
]
_ENDINGS = ("py", "md", "json", "openthing", "body.md", "ts", "sh")


class Words:
    """Words of one random sequence, common ones more often than rare ones."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        invented = dict.fromkeys(COMMON)
        while len(invented) < VOCABULARY:
            invented["".join(rng.choices(_SYLLABLES, k=rng.choice((1, 2, 2, 3, 3, 3, 4))))] = None
        self._all = list(invented)
        self._weights = _zipf(VOCABULARY)
        self._ahead: list[str] = []
        pairs = (rng.sample(self._all[150:], 2) for _ in range(IDENTIFIERS))
        self._identifiers = ["_".join(pair) for pair in pairs]
        self._identifier_weights = _zipf(IDENTIFIERS)

    def some(self, least: int, most: int) -> list[str]:
        """From `least` to `most` words."""
        size = self.rng.randint(least, most)
        if len(self._ahead) < size:
            self._ahead = self.rng.choices(self._all, cum_weights=self._weights, k=AHEAD)
        taken = self._ahead[-size:]
        del self._ahead[-size:]
        return taken

    def phrase(self, least: int, most: int) -> str:
        """Some words in a row."""
        return " ".join(self.some(least, most))

    def one(self) -> str:
        """A word."""
        return self.some(1, 1)[0]

    def identifier(self) -> str:
        """A name in a program or a schema."""
        (found,) = self.rng.choices(self._identifiers, cum_weights=self._identifier_weights)
        return found

    def path(self) -> str:
        """A file in a repo."""
        folders = "/".join(self.some(1, 2))
        return f"{folders}/{self.identifier().replace('_', '-')}.{self.rng.choice(_ENDINGS)}"

    def address(self) -> str:
        """A web address."""
        return f"https://example.org/{self.one()}/{self.identifier()}"

    def commit(self) -> str:
        """The short id of a commit."""
        return f"{self.rng.getrandbits(28):07x}"


def _zipf(size: int) -> list[float]:
    """The weights of so many things by rank, added up."""
    return list(accumulate(1 / (rank + 10) ** STEEPNESS for rank in range(size)))
