"""No untrue quote holds, whatever hides a word, a number or a negation; and true ones do (SPEC 7, verifying)."""

import pytest

from memosite.quotes.judge import judge
from memosite.quotes.source import Tier

ABLE = "able to pay the whole debt"
CUT_WORDS = {
    "soft hyphen": (ABLE, "He is un\u00adable to pay the whole debt today."),
    "zero-width space": (ABLE, "He is un\u200bable to pay the whole debt today."),
    "mark of direction": (ABLE, "He is un\u200eable to pay the whole debt today."),
    "word joiner": ("thing of it was ever seen", "I have seen no\u2060thing of it was ever seen."),
    "link": (ABLE, "He is un[able to pay the whole debt](https://a.example/) today."),
    "link before": ("able to pay", "He is [un](https://a.example/)able to pay."),
    "entity that is not seen": (ABLE, "He is un&shy;able to pay the whole debt today."),
    "apostrophe as an entity": ("On Monday I think that I can", "On Monday I think that I can&#39;t."),
    "apostrophe as a named entity": ("On Monday I think that I can", "On Monday I think that I can&rsquo;t pay."),
    "bracket around the beginning": ("agree with the whole plan", "They (dis)agree with the whole plan."),
    "accent for an apostrophe": ("On Monday I think that I can", "On Monday I think that I can´t pay."),
    "apostrophe in code": ("On Monday I think that I can", "On Monday I think that I can`'t` pay."),
}
CUT_NUMBERS = {
    "sign as an entity": ("5 degrees were measured", "At sea &minus;5 degrees were measured."),
    "wide sign": ("5 degrees were measured", "At sea －5 degrees were measured."),
    "decimal point as an entity": ("5 degrees were measured", "At sea 2&#46;5 degrees were measured."),
    "raised decimal point": ("5 barges were sunk", "He said 2·5 barges were sunk."),
    "factor": ("10^5 barges were sunk", "He said 3×10^5 barges were sunk."),
    "thousands": ("500 barges were sunk", "He said that 1 500 barges were sunk."),
    "thousands, thin space": ("500 barges were sunk", "He said that 1\u202f500 barges were sunk."),
    "beginning of thousands": ("the number of barges was 1", "He said the number of barges was 1\u202f500 then."),
    "thousands, wide space": ("500 barges were sunk", "He said that 1\u2007500 barges were sunk."),
    "fraction": ("1/2 of a barge was sunk", "He said 1 1/2 of a barge was sunk."),
    "fraction as a sign": ("½ of a barge was sunk", "He said 1 ½ of a barge was sunk."),
    "Arabic thousands": ("٥٠٠ barges were sunk", "He said ١٬٥٠٠ barges were sunk."),
    "unit behind a space": ("The prices grew by 5", "The prices grew by 5 % in May."),
    "currency": ("The prices grew by 5", "The prices grew by 5€ in May."),
}


@pytest.mark.parametrize(
    ("quote", "text"), [*CUT_WORDS.values(), *CUT_NUMBERS.values()], ids=[*CUT_WORDS, *CUT_NUMBERS]
)
def test_a_quote_is_never_cut_out_of_a_word_or_a_number(quote: str, text: str) -> None:
    """What a page does not show parts no words; a number has all that is said with it."""
    assert not judge(quote, text).tier.holds
    assert judge(text, text).tier is Tier.EXACT


TRUE = {
    "year before a number": ("500 barges were sunk", "In 2019 500 barges were sunk."),
    "date before a number": ("500 barges were sunk", "On 2019-05-12 500 barges were sunk."),
    "thousands as they are": ("1 500 barges were sunk", "He said that 1 500 barges were sunk."),
    "thousands with another space": ("1 500 barges were sunk", "He said that 1\u202f500 barges were sunk."),
    "footnote": ("We agree to the whole plan", "We agree[^1] to the whole plan.\n\n[^1]: Of May."),
    "sic at a word": ("I do not[sic] agree with it", "I do not agree with it."),
    "link by its own words": ("He is the best of all", "He is [the best] of all.\n\n[the best]: https://a.example/"),
    "entity around": ("so we left at noon", "&ldquo;so we left at noon&rdquo;"),
    "index": ("we read the array", "Then we read the array[0] again."),
    "struck out": ("I do ~~not~~ agree with it", "I do ~~not~~\nagree with it."),
}


@pytest.mark.parametrize(("quote", "text"), TRUE.values(), ids=TRUE)
def test_a_true_quote_holds(quote: str, text: str) -> None:
    """Beside such words and marks."""
    assert judge(quote, text).tier.holds


UNTRUE = {
    "struck out": ("I do not agree with the plan", "I do ~~not~~ agree with the plan."),
    "footnote's text": ("We agree to the plan Not all", "We agree to the plan[^1]\n\n[^1]: Not all."),
    "mark without a footnote": ("We agree to the plan", "We agree[^1] to the plan."),
    "image's text": ("I do ![not](a.png) agree with the plan", "I do not agree with the plan."),
    "image without text": ("I do ![](a.png) agree with the plan", "I do agree with the plan."),
}


@pytest.mark.parametrize(("quote", "text"), UNTRUE.values(), ids=UNTRUE)
def test_what_is_no_words_of_the_text_joins_nothing(quote: str, text: str) -> None:
    """What is struck out is not said; an image may show anything; of a footnote only its mark may be missing."""
    assert not judge(quote, text).tier.holds


def test_code_holds_no_image() -> None:
    """Such as `vec![1]`."""
    assert judge("we use vec![1] for all of it", "Here we use `vec![1]` for all of it.").tier is Tier.MARKS


PUT_IN = (
    *("refuse to", "donʼt", "nev\u00ader", "dont", "nоt", "ｎｏｔ", "½", "Ⅳ", "dozens", "drei"),
    *("n\u200bo", "hundreds of"),
)


@pytest.mark.parametrize("words", PUT_IN)
def test_no_negation_and_no_number_is_put_in(words: str) -> None:
    """Also not in letters that only look like others, or with some that are not seen."""
    assert not judge(f"I [{words}] agree with the plan at all", "I agree with the plan at all.").tier.holds
    assert judge("I [, Zoë Čapek,] agree with the plan at all", "I agree with the plan at all.").tier is Tier.EDITORIAL


OMITTED = ("refuse to", "**n**ot", "n\u00adot", "[not](https://a.example/b/c/d/e/f)", "n&shy;ot", "ｎｏｔ")


@pytest.mark.parametrize("words", OMITTED)
def test_no_negation_is_left_out(words: str) -> None:
    """However it is written."""
    assert not judge("I do […] agree with the plan at all", f"I do {words} agree with the plan at all.").tier.holds
