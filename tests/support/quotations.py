"""Makes up texts and quotations of them, true and untrue, and judges quotations in a second, slow way."""

import random
import re

_WORDS = """
load crane harbour invoice bridge ledger valve turbine pallet warehouse contract engine schedule permit
lifts holds reaches delays covers needs blocks moves supports replaces limits drains
northern heavy second open empty narrow tested broken early final spare wooden
"""
NOUNS, VERBS, ADJECTIVES = map(str.split, _WORDS.strip().split("\n"))
PLACES = ("in the yard", "behind the gate", "under the old plan", "on the far side", "for the whole week")


class Writer:
    """Writes sentences that never repeat, with numbers and negations in them; the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.number = 100

    def sentence(self) -> str:
        """One sentence of some 14 words; the number in it makes it unlike every other."""
        pick = self.chance.choice
        self.number += self.chance.randint(1, 9)
        negation = pick(["does not say that", "never means that", "says clearly that", "shows that"])
        return (
            f"The {pick(ADJECTIVES)} {pick(NOUNS)} {negation} the {pick(NOUNS)} {pick(VERBS)} {self.number} "
            f"{pick(ADJECTIVES)} {pick(NOUNS)}s {pick(PLACES)}."
        )

    def paragraph(self, sentences: int = 4) -> str:
        """Some sentences."""
        return " ".join(self.sentence() for _ in range(sentences))

    def marked(self, text: str) -> str:
        """A text with Markdown marks around some words, and wrapped."""
        words = text.split(" ")
        for place in self.chance.sample(range(len(words)), max(len(words) // 8, 1)):
            mark = self.chance.choice(["**", "*", "`", "_"])
            words[place] = f"{mark}{words[place].rstrip('.')}{mark}{'.' if words[place].endswith('.') else ''}"
        return "".join(word + ("\n" if number % 11 == 10 else " ") for number, word in enumerate(words)).strip()

    def part(self, text: str, words: int) -> str:
        """So many words of a text."""
        parts = text.split(" ")
        start = self.chance.randrange(max(len(parts) - words, 0) + 1)
        return " ".join(parts[start : start + words])


ALTERATIONS = ("word", "number", "negation", "drop", "add", "swap")


def altered(quote: str, how: str, chance: random.Random) -> str:
    """A quote with one thing in it changed; "" if it has nothing of the kind."""
    words = quote.split(" ")
    inner = range(1, len(words) - 1)
    if how == "number":
        places = [place for place in range(len(words)) if re.search(r"\d", words[place])]
        return _replaced(words, places, lambda word: re.sub(r"\d+", lambda m: str(int(m[0]) + 1), word), chance)
    if how == "negation":
        if "not" in words[1:-1]:
            place = words.index("not", 1)
            return " ".join(words[:place] + words[place + 1 :])
        return _replaced(words, [place for place in inner if words[place] == "that"], lambda _: "never that", chance)
    if how == "drop":
        return _replaced(words, list(inner), lambda _: "", chance).replace("  ", " ")
    if how == "add":
        return _replaced(words, list(inner), lambda word: f"{word} hardly", chance)
    if how == "swap":
        places = [place for place in inner[:-1] if words[place] != words[place + 1]]
        place = chance.choice(places)
        words[place : place + 2] = words[place + 1], words[place]
        return " ".join(words)
    return _replaced(words, list(inner), lambda word: "un" + word, chance)


def _replaced(words: list[str], places: list[int], change, chance: random.Random) -> str:  # type: ignore[no-untyped-def]
    if not places:
        return ""
    place = chance.choice(places)
    return " ".join([*words[:place], change(words[place]), *words[place + 1 :]])


def slow_tier(quote: str, text: str) -> str:
    """The tier of a quote without editorial marks, for texts of `Writer`: word by word, each place of the text."""
    if not quote.split():
        return "none"
    for tier, clean in (("exact", lambda one: one), ("space", lambda one: one), ("marks", _unmarked)):
        words, others = clean(quote).split(), clean(text).split()
        for start in range(len(others) - len(words) + 1):
            if _ends_agree(words, others[start : start + len(words)]):
                spaced = quote in text if tier == "exact" else True
                if spaced:
                    return tier
    return "none"


def _ends_agree(words: list[str], others: list[str]) -> bool:
    """Whether words are the same; the last one of the text may have a full stop, the first one an opening mark."""
    if len(words) == 1:
        return words[0] in (others[0], others[0].rstrip("."))
    return words[:-1] == others[:-1] and words[-1] in (others[-1], others[-1].rstrip("."))


def _unmarked(text: str) -> str:
    lines = (re.sub(r"^\s*(?:> ?|- |#+ )+", "", line) for line in text.split("\n"))
    return re.sub(r"[*`_]", "", "\n".join(lines))
