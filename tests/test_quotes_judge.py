"""What is said of a quote and a text: by tier, with marked editorial changes, of long and hostile texts (SPEC 7)."""

import random
import re
from itertools import pairwise

import pytest
from hypothesis import strategies as st

from memosite.quotes.judge import align, judge, word_diff
from memosite.quotes.source import LEVELS, Source, Tier
from tests.support.fuzzing import fuzz
from tests.support.mutations import mutated_lines
from tests.support.quotations import ALTERATIONS, Writer, altered, slow_tier

TEXT = """# Plan

We have **never** said that the load is
two tons; it is `git checkout -- x` and "fine" — I think.

- item one is un**able** to work
- item [two](https://x.example/z(1)) costs 2.5 percent

> read by me
> and more

1. first
2. second thing

| a | b |
|---|---|
| c d | e f |

The year
1984. Then -5 degrees, can't stop. *Really* not, so the non-existent plan costs $5 or 12:30 or 7%.

```sh
rm -f **x** && __init__
```

Wir wollen nicht, und 我们不同意这个计划 steht da. A `__main__` module &amp; more.
"""
EXACT, SPACE, MARKS = Tier.EXACT, Tier.SPACE, Tier.MARKS
EDITORIAL, CHANGED, NOT_FOUND = Tier.EDITORIAL, Tier.CHANGED, Tier.NOT_FOUND

CASES = [
    (EXACT, "We have **never** said"),
    (EXACT, "2.5 percent"),
    (EXACT, "can't stop"),
    (EXACT, "-5 degrees"),
    (EXACT, "不同意"),
    (EXACT, " said that the load \n"),
    (SPACE, "that the load is two tons"),
    (SPACE, "that  the load"),
    (MARKS, "never said"),
    (MARKS, "We have never said that the load is two tons"),
    (MARKS, "item one is unable to work item two costs 2.5 percent"),
    (MARKS, "read by me and more"),
    (MARKS, "first second thing"),
    (MARKS, "c d e f"),
    (MARKS, "a | b | c d | e f"),
    (MARKS, "is git checkout -- x and “fine”—I think"),
    (MARKS, "rm -f **x** && __init__ Wir"),
    (MARKS, "A __main__ module & more"),
    (MARKS, "can’t stop. Really not"),
    (MARKS, "*We* have never said"),
    (EDITORIAL, "[w]e have never said"),
    (EDITORIAL, "[T]hat the load is two tons"),
    (EDITORIAL, "the load is two [sic] tons"),
    (EDITORIAL, "the load is two tons [sic]; it is"),
    (EDITORIAL, "the load [of wood] is two tons"),
    (EDITORIAL, "…that the load is two tons…"),
    (EDITORIAL, 'We have never said […] and "fine" — I think'),
    (EDITORIAL, 'We have never said [...] and "fine" — I think'),
    (CHANGED, "We have said that the load is two tons"),
    (CHANGED, "We have never said that the load is three tons"),
    (CHANGED, "We have never said that the load […] and fine — we think so too now"),
    (CHANGED, "We have […] said that the load is two tons"),  # nothing but the negation is left out
    (CHANGED, "the load is [not] two tons"),
    (CHANGED, "the load is two [hundred] tons"),
    (CHANGED, "able to work"),
    (CHANGED, "5 percent"),
    (CHANGED, "The year Then -5 degrees"),  # 1984. is no item of a list
    (CHANGED, "existent plan costs $5"),
    (CHANGED, "git checkout - x and “fine”"),
    (CHANGED, "so the non-existent plan costs 5 or 12:30"),
    (CHANGED, "costs $5 or 12:30 or 7"),
    (CHANGED, "Really so the non-existent"),
    (NOT_FOUND, "can"),
    (NOT_FOUND, "Nobody here wrote any of these words"),
    (NOT_FOUND, "…"),
    (NOT_FOUND, ""),
]


@pytest.mark.parametrize(("tier", "quote"), CASES)
def test_a_quote_is_put_in_its_tier(tier: Tier, quote: str) -> None:
    """And where it is found, the span is what it was found in."""
    verdict = judge(quote, TEXT)
    assert verdict.tier is tier
    assert all(0 <= start < end <= len(TEXT) for start, end in verdict.spans)
    assert bool(verdict.spans) == (tier is not NOT_FOUND)
    assert bool(verdict.changes) == (tier is CHANGED)


def test_sections_between_signs_are_headings() -> None:
    """As pages show `== Section ==`, alone on its line; within one, equal signs are text."""
    text = "Read it first.\n\n== The ask ==\n\nThe vendor left a == b == c here.\n"
    assert judge("Read it first. The ask The vendor left", text).tier is MARKS
    assert judge("left a b c here", text).tier is Tier.CHANGED


def test_a_verdict_says_where_and_what_differs() -> None:
    """The words of the source, with the marks in them; what a fragment left out; the diff of a changed quote."""
    assert [TEXT[slice(*span)] for span in judge("never said", TEXT).spans] == ["never** said"]
    joined = judge("We have never said […] I think", TEXT)
    assert [TEXT[slice(*span)] for span in joined.spans] == ["We have **never** said", "I think"]
    changed = judge("We have never said that the load is three tons", TEXT)
    assert [TEXT[slice(*span)] for span in changed.spans] == ["We have **never** said that the load is\ntwo tons;"]
    assert changed.changes == (
        ("same", "We have never said that the load is"), ("source", "two"), ("quote", "three"), ("same", "tons"),
    )  # fmt: skip
    marked = judge("have never said that the load was two tons", TEXT)  # the marks around it are not of the quote
    assert [kind for kind, _ in marked.changes] == ["same", "source", "quote", "same"]
    assert marked.changes[1:3] == (("source", "is"), ("quote", "was"))
    assert judge("We have never said that the loads are two tons!", TEXT).changes[-1] == ("quote", "tons!")
    assert judge("can’t stop", TEXT).details == ("typographic signs",)
    assert judge("the load [of wood] is", TEXT).details == ("put in: of wood",)
    assert judge("Really [...] the non-existent plan costs", TEXT).tier is CHANGED
    long = judge(
        "said that the load is […] that is, nothing more than this",
        TEXT + "and not so, that is, nothing more than this",
    )
    assert long.details == ("the omitted words have a negation",)


def test_fragments_hold_only_within_one_passage() -> None:
    """Two turns that each hold one half say nothing together."""
    first, second = "The crane lifts the load today.", "The harbour pays for all of it."
    text = f"{first}\n\n{second}\n"
    turns = [(0, len(first)), (len(first) + 2, len(text))]
    joined = "The crane lifts […] pays for all of it."
    assert judge(joined, text).tier is EDITORIAL
    assert judge(joined, text, turns).tier is CHANGED
    assert judge("The crane […] the load today.", text, turns).tier is EDITORIAL
    assert judge("The harbour pays […] all of it.", text, turns).tier is EDITORIAL
    again = f"{text}{first} {second}"
    verdict = judge(joined, again, [*turns, (len(text), len(again))])
    assert verdict.spans == ((len(text), len(text) + 15), (len(again) - 19, len(again)))


def test_a_text_cannot_be_made_to_say_anything_word_by_word() -> None:
    """Fragments have three words on average."""
    assert judge("We […] said […] tons", TEXT).tier is not EDITORIAL


def test_bytes_that_look_the_same_are_the_same() -> None:
    """Composed and decomposed letters, soft hyphens and zero-width spaces; not what turns the order of letters."""
    assert judge("café au lait", "ein cafe\u0301 au lait").tier is SPACE
    assert judge("cafe", "ein cafe\u0301 au lait").tier is NOT_FOUND
    assert judge("cooperation is", "co\u00adoperation\u200b is").tier is SPACE
    assert not judge("pay 12 now", "pay \u202e12\u202c now").tier.holds
    assert not judge("हिन्", "हिन्दी").tier.holds
    assert judge("我们不同意这个计划", "我们不同\n意这个计划").tier is SPACE
    assert judge("a\0b is here", "a\0b is here").tier is EXACT


def test_tiers_of_a_thousand_generated_quotes() -> None:
    """Half of them in texts that quote each other, by a second implementation and by how they were made: 0 wrong."""
    writer = Writer(20)
    wrong = []
    for case in range(1_000):
        said = writer.paragraph()
        source = writer.marked(said) if case % 3 else said
        quote = writer.part(said, writer.chance.randint(8, 20))
        text = f"{writer.paragraph()}\n\n{source}\n\n{writer.paragraph()}"
        if case % 2:  # another text quotes it, and a third quotes an altered form
            carried = altered(quote, "word", writer.chance)
            text = f"> {writer.part(said, 9)}\n\n{carried}\n\n{text}\n\n> > {quote}\n"
        expected = {"exact": Tier.EXACT, "space": Tier.SPACE, "marks": Tier.MARKS}
        how = writer.chance.choice(["true", "joined", *ALTERATIONS])
        if how == "true":
            good = {expected[slow_tier(quote, text)]}
        elif how == "joined":
            words = said.split(" ")
            quote = f"{' '.join(words[2:7])} […] {' '.join(words[30:36])}"
            good = {Tier.EDITORIAL}
        else:
            quote = altered(quote, how, writer.chance) or f"{quote} nevermore"
            slow = slow_tier(quote, text)
            good = {expected[slow]} if slow != "none" else {Tier.CHANGED}
        verdict = judge(quote, text)
        if verdict.tier not in good:
            wrong.append((how, quote, verdict.tier, good, text))
    assert wrong == []


APPENDED = st.tuples(
    mutated_lines([TEXT], ["> ", "**", "`", "- ", "1. ", "[…]", "not ", "“", "\u0301"]), st.integers(0, 99)
)


@fuzz(APPENDED, examples=150)
def test_a_true_quote_stays_true_and_a_number_never_passes(case: tuple[str, int]) -> None:
    """Whatever the text: words cut out of it are found, an altered number or an added negation is not."""
    text, seed = case
    words = text.split()
    if len(words) < 14:
        return
    start = random.Random(seed).randrange(len(words) - 10)
    quote = " ".join(words[start : start + 10])
    verdict = judge(quote, text)
    assert verdict.tier <= Tier.SPACE or not re.search(r"\w", quote)
    added = " ".join([*words[start : start + 5], "nevernot", *words[start + 5 : start + 10]])
    assert judge(added, text).tier in (Tier.CHANGED, Tier.NOT_FOUND) or "nevernot" in text
    for level in LEVELS:
        prepared = Source(text).at(level)
        span = prepared.source_span(0, len(prepared.edged))
        assert 0 <= span[0] <= span[1] <= len(text)


HOSTILE = {
    "periodic": ("a " * 50_000 + "b", "a " * 500_000),
    "one word": ("a" * 100_000, "a" * 1_000_000),
    "ticks": ("`a " * 30_000, "`a `` b ``` " * 80_000),
    "brackets": ("[" * 100_000 + "x", "[" * 300_000),
    "links": ("[a](b " * 20_000, "[a](<b c" * 120_000),
    "omissions": ("[…] a b c " * 10_000, "a b c " * 160_000),
    "letters": ("[T]a " * 20_000, "ta " * 300_000),
    "items": ("- " * 50_000 + " x", "- " * 500_000 + "y"),
    "white space": (" x" + " " * 100_000 + "y", "x" + " " * 1_000_000 + "z"),
    "joints": ("a-" * 50_000 + "b", "a-" * 500_000),
    "marks of letters": ("e\u0301" * 50_000, "e\u0301" * 100_000 + " x"),
    "rules": ("- - -" * 1_000 + "a", ("- " * 50_000 + "x\n") * 10),
    "ends": ("..." * 30_000 + "x", "x " + "... " * 200_000),
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_quotes_are_judged(name: str) -> None:
    """A quote of 100 kB and a text of 1 MB: seconds, where work that is quadratic would take hours."""
    quote, text = HOSTILE[name]
    verdict = judge(quote, text)
    assert verdict.tier is not EXACT or quote in text


def test_words_are_aligned() -> None:
    """In order on both sides, and each once."""
    chance = random.Random(1)
    for _ in range(200):
        one = [chance.choice("abcdefgh") for _ in range(chance.randint(0, 12))]
        other = [chance.choice("abcdefgh") for _ in range(chance.randint(0, 12))]
        pairs = align(one, other)
        assert all(one[i] == other[j] for i, j in pairs)
        assert all(i < i2 and j < j2 for (i, j), (i2, j2) in pairwise(pairs))
        changes = list(word_diff(one, other))
        assert " ".join(words for kind, words in changes if kind != "quote") == " ".join(one)
        assert " ".join(words for kind, words in changes if kind != "source") == " ".join(other)
