"""What is said of a quote and a text, and of the quotations of manuscripts: no untrue one passes (SPEC 7)."""

import random
import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import strategies as st

from memosite.facts.errors import SourceError
from memosite.quotes.blocks import plain_blocks
from memosite.quotes.html import html_blocks
from memosite.quotes.index import QuoteIndex
from memosite.quotes.judge import align, judge, word_diff
from memosite.quotes.manuscript import read_manuscript
from memosite.quotes.markdown import markdown_blocks
from memosite.quotes.quotations import Appraisal, Origin, Quotation, Voice, appraise, find_quotations
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

CASES: dict[Tier, tuple[str, ...]] = {
    EXACT: (
        "We have **never** said", "2.5 percent", "can't stop", "-5 degrees", "不同意", " said that the load \n",
    ),
    SPACE: (
        "that the load is two tons", "that  the load",
    ),
    MARKS: (
        "never said", "We have never said that the load is two tons",
        "item one is unable to work item two costs 2.5 percent", "read by me and more", "first second thing", "c d e f",
        "a | b | c d | e f", "is git checkout -- x and “fine”—I think", "rm -f **x** && __init__ Wir",
        "A __main__ module & more", "can’t stop. Really not", "*We* have never said",
    ),
    EDITORIAL: (
        "[w]e have never said", "[T]hat the load is two tons", "the load is two [sic] tons",
        "the load is two tons [sic]; it is", "the load [of wood] is two tons", "…that the load is two tons…",
        'We have never said […] and "fine" — I think', 'We have never said [...] and "fine" — I think',
    ),
    CHANGED: (
        "We have said that the load is two tons", "We have never said that the load is three tons",
        "We have never said that the load […] and fine — we think so too now",
        "We have […] said that the load is two tons",  # nothing but the negation is left out
        "the load is [not] two tons", "the load is two [hundred] tons", "able to work", "5 percent",
        "The year Then -5 degrees",  # 1984. is no item of a list
        "existent plan costs $5", "git checkout - x and “fine”", "so the non-existent plan costs 5 or 12:30",
        "costs $5 or 12:30 or 7", "Really so the non-existent",
    ),
    NOT_FOUND: (
        "can", "Nobody here wrote any of these words", "…", "",
    ),
}  # fmt: skip


def test_a_quote_is_put_in_its_tier_and_the_verdict_says_what_differs() -> None:
    """The span is what it was found in; composed letters and soft hyphens are the same."""
    for tier, quote in ((tier, quote) for tier, quotes in CASES.items() for quote in quotes):
        verdict = judge(quote, TEXT)
        assert verdict.tier is tier
        assert all(0 <= start < end <= len(TEXT) for start, end in verdict.spans)
        assert bool(verdict.spans) == (tier is not NOT_FOUND)
        assert bool(verdict.changes) == (tier is CHANGED)
    assert judge("café au lait", "ein cafe\u0301 au lait").tier is SPACE
    assert judge("cafe", "ein cafe\u0301 au lait").tier is NOT_FOUND
    assert judge("cooperation is", "co\u00adoperation\u200b is").tier is SPACE
    assert not judge("pay 12 now", "pay \u202e12\u202c now").tier.holds
    assert not judge("हिन्", "हिन्दी").tier.holds
    assert judge("我们不同意这个计划", "我们不同\n意这个计划").tier is SPACE
    assert judge("a\0b is here", "a\0b is here").tier is EXACT
    text = "Read it first.\n\n== The ask ==\n\nThe vendor left a == b == c here.\n"
    assert judge("Read it first. The ask The vendor left", text).tier is MARKS
    assert judge("left a b c here", text).tier is CHANGED
    # With the marks in the words; two turns that each hold a half of a fragment say nothing together.
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
    before, behind = "its sentence has a negation before it", "its sentence has a negation behind it"
    assert judge("the load [of wood] is", TEXT).details == ("put in: of wood", before)
    notes = (
        "No additional artefacts were left in the yard. They had gone.\n\n- He'll ask P2 to leave, not before noon.\n"
    )
    for quote, said in (
        ("additional artefacts were left in the yard", (before,)), ("No additional artefacts were left", ()),
        ("They had gone.", ()), ("ask P2 to leave", (behind,)), ("ask P2 to leave, not before noon", ()),
        ("[h]e'll ask P2 to leave, not", ()), ("ask [p]2 to leave", (behind,)), ("[H]e’ll ask P2 to leave, not", ()),
    ):  # fmt: skip
        verdict = judge(quote, notes)
        assert verdict.tier.holds, quote
        assert tuple(one for one in verdict.details if one in (before, behind)) == said, quote
    assert judge("Really [...] the non-existent plan costs", TEXT).tier is CHANGED
    text = f"{TEXT}and not so, that is, nothing more than this"
    long = judge("said that the load is […] that is, nothing more than this", text)
    assert long.details == ("the omitted words have a negation", before)
    assert judge("We […] said […] tons", TEXT).tier is not EDITORIAL
    first, second = "The crane lifts the load today.", "The harbour pays for all of it."
    text = f"{first}\n\n{second}\n"
    turns = [(0, len(first)), (len(first) + 2, len(text))]
    halves = "The crane lifts […] pays for all of it."
    assert judge(halves, text).tier is EDITORIAL
    assert judge(halves, text, turns).tier is CHANGED
    assert judge("The crane […] the load today.", text, turns).tier is EDITORIAL
    assert judge("The harbour pays […] all of it.", text, turns).tier is EDITORIAL
    again = f"{text}{first} {second}"
    verdict = judge(halves, again, [*turns, (len(text), len(again))])
    assert verdict.spans == ((len(text), len(text) + 15), (len(again) - 19, len(again)))


def test_tiers_of_generated_quotes() -> None:
    """Half of them in texts that quote each other, by a second implementation and by how they were made: 0 wrong."""
    writer = Writer(20)
    wrong = []
    for case in range(400):
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
    "periodic": ("a " * 10_000 + "b", "a " * 100_000), "one word": ("a" * 20_000, "a" * 200_000),
    "ticks": ("`a " * 6_000, "`a `` b ``` " * 16_000), "brackets": ("[" * 20_000 + "x", "[" * 60_000),
    "links": ("[a](b " * 4_000, "[a](<b c" * 24_000), "omissions": ("[…] a b c " * 2_000, "a b c " * 32_000),
    "letters": ("[T]a " * 4_000, "ta " * 60_000), "items": ("- " * 10_000 + " x", "- " * 100_000 + "y"),
    "white space": (" x" + " " * 20_000 + "y", "x" + " " * 200_000 + "z"),
    "joints": ("a-" * 10_000 + "b", "a-" * 100_000),
    "marks of letters": ("e\u0301" * 10_000, "e\u0301" * 20_000 + " x"),
    "rules": ("- - -" * 200 + "a", ("- " * 10_000 + "x\n") * 10),
    "ends": ("..." * 6_000 + "x", "x " + "... " * 40_000),
}  # fmt: skip


def test_words_are_aligned_and_a_quote_is_not_its_own_witness() -> None:
    """In order on both sides, each once; carried words prove nothing of who said them, the origin comes first."""
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
    words = "the crane lifts the load at the quay on Monday"
    said = Quotation(text=words, line=1, is_block=False, context="The director said: …", speakers=("director",))
    tool = Origin("t", f"> {words}\n", [Voice(start=0, end=60, speaker="", is_carried=True)])
    carried = appraise(said, [tool])
    assert (carried.quoted_in, carried.check, carried.holds) == (True, "not checked", True)
    own = Origin("o", f"{words}.", [Voice(start=0, end=60, speaker="strategist")])
    assert (appraise(said, [tool, own]).key, appraise(said, [tool, own]).check) == ("o", "wrong")
    both = Origin(
        "b", f"{words}\n{words}",
        [Voice(start=0, end=46, speaker="", is_carried=True), Voice(start=47, end=93, speaker="director")],
    )  # fmt: skip
    assert (appraise(said, [both]).check, appraise(said, [both]).verdict.spans) == ("right", ((47, 93),))
    assert appraise(said, []).key is None


POSITIONS = ("strategist", "director", "software-engineer")
MARKDOWN = """# A

The strategist wrote, “the load is two tons and one two three four.” Then more. Nobody came.

As the software engineer said: "we do not know the answer to this one, really". The director told the
strategist: «ceci est une phrase de huit mots au moins ici».

„Das ist ein deutscher Satz mit acht Wörtern hier“, sagte director. ‘It's the users’ load and it isn't ready
for them yet’, said the director.

The director wrote:

> the load is two tons and
> nothing else was said by anyone

> Block two is of more than eight words, is it not?
>
> — strategist, [T](<https://x.example/m/>), `memo/a`

<q>inline q tag with eight words in it now</q> (strategist, [memo](https://x.example/)).

```
"code quotes are not quotations at all, never ever they are"
```

A 5" pipe is here. "It has a 5" pipe and more words than eight," they said. “Too short.”

<blockquote>
a block quote in tags that has eight words
</blockquote>

“unclosed quotation that goes on for many words to the end
"""
FOUND = [
    (3, "the load is two tons and one two three four", ("strategist",)),
    (5, "we do not know the answer to this one, really", ("software-engineer",)),
    (6, "ceci est une phrase de huit mots au moins ici", ("director",)),
    (8, "Das ist ein deutscher Satz mit acht Wörtern hier", ("director",)),
    (8, "It's the users’ load and it isn't ready\nfor them yet", ("director",)),
    (13, "the load is two tons and\nnothing else was said by anyone", ("director",)),
    (16, "Block two is of more than eight words, is it not?", ("strategist",)),
    (20, "inline q tag with eight words in it now", ("strategist",)),
    (26, 'It has a 5" pipe and more words than eight', ()),
    (29, "a block quote in tags that has eight words", ()),
    (32, "unclosed quotation that goes on for many words to the end", ()),
]


def rows(found: tuple[Quotation, ...]) -> list[tuple[int, str, tuple[str, ...]]]:
    """Line, words and speakers."""
    return [(one.line, one.text, one.speakers) for one in found]


def test_a_manuscript_is_read_from_disk_and_its_quotations_are_found_in_each_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Marks with lines and speakers; `.docx` by Pandoc; those that cannot be read say why."""
    assert rows(find_quotations(markdown_blocks(MARKDOWN), positions=POSITIONS)) == FOUND
    page = """<!doctype html><title>“one two three four five six seven eight nine”</title>
<style>a { content: "one two three four five six seven eight nine" }</style>
<p>The director said: <q>one two three <b>four</b> five six
seven eight</q>. More.</p>
<blockquote cite="https://x.example/m/"><p>a b c d e f g h &amp; i</p><footer>— strategist</footer></blockquote>
<p>“a &lt; b and c d e f g h” and &ldquo;short&rdquo;.</p>"""
    found = find_quotations(html_blocks(page), positions=POSITIONS)
    assert rows(found) == [
        (3, "one two three four five six\nseven eight", ("director",)),
        (5, "a b c d e f g h & i", ("strategist",)),
        (6, "a < b and c d e f g h", ()),
    ]
    assert found[1].links == ("https://x.example/m/",)
    text = 'The director wrote:\n> one two three four five\n> six seven eight\n\n* "a b c d e f g h" says strategist.\n'
    expected = [(2, "one two three four five\nsix seven eight", ("director",)), (5, "a b c d e f g h", ("strategist",))]
    assert rows(find_quotations(plain_blocks(text), positions=POSITIONS)) == expected
    text = "The director wrote: “one two three\r\nfour five six seven eight, it’s so”.\r\n"
    for suffix in (".md", ".txt", ".html", ".docx"):
        path = tmp_path / f"manuscript{suffix}"
        if suffix == ".docx":
            subprocess.run(["pandoc", "-f", "markdown", "-o", path], input=text.encode(), check=True, timeout=600)
        else:
            path.write_bytes(b"\xef\xbb\xbf" + (f"<p>{text}</p>" if suffix == ".html" else text).encode())
        (quoted,) = find_quotations(read_manuscript(path), positions=POSITIONS)
        assert quoted.text.split() == ["one", "two", "three", "four", "five", "six", "seven", "eight,", "it’s", "so"]
        assert (quoted.line, quoted.speakers) == (1, ("director",))
    with pytest.raises(SourceError, match="cannot be read"):
        read_manuscript(tmp_path / "none.md")
    path.write_bytes(b"no zip")
    with pytest.raises(SourceError, match=r"manuscript\.docx: pandoc cannot read it: "):
        read_manuscript(path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError, match="install it, or save the file as Markdown or HTML"):
        read_manuscript(path)


@fuzz(
    mutated_lines([MARKDOWN], ["“", "”", '"', "'", "‘", "’", "»", "> ", "<q>", "</q>", "<blockquote>", "```"]),
    examples=80,
)
def test_any_manuscript_is_read(text: str) -> None:
    """Each quotation is on a line of the manuscript, whatever it is."""
    for blocks in (markdown_blocks, plain_blocks, html_blocks):
        for found in find_quotations(blocks(text), positions=POSITIONS):
            assert 1 <= found.line <= text.count("\n") + 1
            assert set(found.speakers) <= set(POSITIONS)


def transcript(writer: Writer, number: int) -> Origin[str]:
    """A transcript of ten turns of two positions, one of which carries words of nobody here."""
    text, voices = "", []
    speakers = POSITIONS[number % 3], POSITIONS[(number + 1) % 3]
    for turn in range(10):
        text += f"## {speakers[turn % 2].title()}\n\n"
        start = len(text)
        text += f"{writer.marked(writer.paragraph())}\n\n"
        voices.append(Voice(start=start, end=len(text) - 2, speaker=speakers[turn % 2]))
    return Origin(f"transcript/{number}", text, voices)


def sentence(speaker: str, quote: str, writer: Writer) -> str:
    """A paragraph of a manuscript that ascribes a quote."""
    name = speaker.replace("-", " ")
    ways = (
        f"On that day the {name} wrote: “{quote}”.",
        f'"{quote}," said the {name}.',
        f"The {name} said on Monday:\n\n> {quote}",
        f"According to the {name}, «{quote}» was the plan.",
        f"> {quote}\n>\n> — {name}, in the talk of Monday",
    )
    return f"{writer.sentence()}\n\n{writer.chance.choice(ways)}\n\n{writer.sentence()}\n"


def test_a_manuscript_of_many_quotations() -> None:
    """None passes with a word, number or negation changed, joined, ascribed to another, invented; true ones do."""
    writer = Writer(7)
    origins = {origin.key: origin for origin in (transcript(writer, number) for number in range(12))}
    texts = {key: origin.source.text for key, origin in origins.items()}
    for number in range(12):  # others carry what was said, altered or not
        text = f"> {texts[f'transcript/{number}'][40:600]}\n\n{altered(writer.sentence(), 'word', writer.chance)}\n"
        origins[f"memo/{number}"] = Origin(
            f"memo/{number}", text, [Voice(start=0, end=len(text), speaker="director", is_carried=True)]
        )
    index = QuoteIndex.of((key, origin.source.text) for key, origin in origins.items())
    kinds = ["true"] * 8 + ["word", "number", "negation", "drop", "add", "swap", "joined", "ascribed", "invented"]
    document = "# Manuscript\n\n"
    expected: list[str] = []
    while len(expected) < 119:  # seven of each kind
        kind = kinds[len(expected) % len(kinds)]
        origin = origins[f"transcript/{writer.chance.randrange(12)}"]
        voice, other = writer.chance.sample(list(origin.voices), 2)
        said = " ".join(origin.source.text[voice.start : voice.end].translate(dict.fromkeys(map(ord, "*`_"))).split())
        words = origin.source.text[other.start : other.end].split()
        quote = writer.part(said, writer.chance.randint(9, 25)).rstrip(".")
        speaker = voice.speaker
        if kind == "joined":
            quote = f"{' '.join(quote.split(' ')[:6])} […] {' '.join(words[8:14])}"
        elif kind == "ascribed":
            speaker = next(name for name in POSITIONS if name != voice.speaker)
        elif kind == "invented":
            quote = writer.part(writer.paragraph(), 14)
        elif kind != "true":
            quote = altered(quote, kind, writer.chance)
        if quote and len(quote.split()) >= 8:
            document += sentence(speaker, quote, writer)
            expected.append(kind)
    found = find_quotations(markdown_blocks(document), positions=POSITIONS)
    assert len(found) == 119
    passed: dict[str, list[Appraisal[str]]] = {"true": [], "untrue": []}
    missed = []
    for quotation, candidates, kind in zip(found, index.find([one.text for one in found]), expected, strict=True):
        result = appraise(quotation, [origins[one.key] for one in candidates])
        if result.holds:
            passed["true" if kind == "true" else "untrue"].append(result)
        elif kind == "true":
            missed.append(result)
    assert passed["untrue"] == []
    assert missed == []
    assert len(passed["true"]) > 50
    assert all(one.check == "right" and not one.quoted_in for one in passed["true"])


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


UNTRUE = {
    "struck out": ("I do not agree with the plan", "I do ~~not~~ agree with the plan."),
    "footnote's text": ("We agree to the plan Not all", "We agree to the plan[^1]\n\n[^1]: Not all."),
    "mark without a footnote": ("We agree to the plan", "We agree[^1] to the plan."),
    "image's text": ("I do ![not](a.png) agree with the plan", "I do not agree with the plan."),
    "half of another number": ("the load is 1½ tons", "the load is 11/2 tons"),
    "other fraction": ("the load is ½ of it", "the load is 1/3 of it"),
    "other per cent": ("some 3.5 % of it", "some 3.5‰ of it"),
    "text of an image": ("a small grey cat", 'See ![a small grey cat](x.png "a title of it") there.'),
    "title of an image": ("a title of it", 'See ![a small grey cat](x.png "a title of it") there.'),
    "title of a link": ("nobody reads this", "See [the load](https://example.org/ 'nobody reads this') there."),
    "title of a definition": ("nobody reads this", '[a]: https://example.org/ "nobody reads this"\n\nThe [a] load.'),
    "text of an image with a definition": ("a small grey cat", "[a]: x.png\n\nSee ![a small grey cat][a] there."),
    "text of an image in a link": ("a small grey cat", "See [![a small grey cat](x.png)](https://example.org/) there."),
    "attribute": ("it was in an attribute", '<span title="it was in an attribute">It is</span> there.'),
    "image without text": ("I do ![](a.png) agree with the plan", "I do agree with the plan."),
}


def test_units_and_fractions_are_written_in_several_ways() -> None:
    """Space before a unit is white space; a fraction of one character is that of three, and no part of a number."""
    for quote, source, tier in (
        ("some 3.5% of it", "some 3.5 % of it", Tier.SPACE),
        ("some 3.5 % of it", "some 3.5\u202f% of it", Tier.SPACE),
        ("some 3.5\xa0% of it", "some 3.5% of it", Tier.SPACE),
        ("the load is 1/2 of it", "the load is ½ of it", Tier.MARKS),
        ("the load is 1⁄2 of it", "the load is ½ of it", Tier.MARKS),
        ("the load is 1½ tons", "the load is 1 1/2 tons", Tier.MARKS),
        ("the load is ½ tons", "the load is 1½ tons", Tier.CHANGED),
        ("the load is 1/2 tons", "the load is 1 1/2 tons", Tier.CHANGED),
    ):
        assert judge(quote, f"We know that {source}, as it is.").tier is tier, (quote, source)


PUT_IN = (
    *("refuse to", "donʼt", "nev\u00ader", "dont", "nоt", "ｎｏｔ", "½", "Ⅳ", "dozens", "drei"),
    *("n\u200bo", "hundreds of"),
)


OMITTED = ("refuse to", "**n**ot", "n\u00adot", "[not](https://a.example/b/c/d/e/f)", "n&shy;ot", "ｎｏｔ")


def test_an_untrue_quote_never_holds_and_a_true_one_does() -> None:
    """What a page does not show parts no words; a number has all that is said with it; quadratic work would not end."""
    for name in sorted(HOSTILE):
        quote, text = HOSTILE[name]
        verdict = judge(quote, text)
        assert verdict.tier is not EXACT or quote in text
    for piece in ("“a ", '"a ', "‘a ’ s' ", "» a", "<q>a ", "> “\n", "a. ", "director said "):
        for found in find_quotations(markdown_blocks(piece * 3_000), positions=POSITIONS):
            assert len(found.context) < 5_000  # what is around it is bounded, or the work is quadratic
    for quote, text in [*CUT_WORDS.values(), *CUT_NUMBERS.values()]:
        assert not judge(quote, text).tier.holds
        assert judge(text, text).tier is Tier.EXACT
    for quote, text in TRUE.values():
        assert judge(quote, text).tier.holds
    for quote, text in UNTRUE.values():
        assert not judge(quote, text).tier.holds
    assert judge("we use vec![1] for all of it", "Here we use `vec![1]` for all of it.").tier is Tier.MARKS
    for words in PUT_IN:
        assert not judge(f"I [{words}] agree with the plan at all", "I agree with the plan at all.").tier.holds
    assert judge("I [, Zoë Čapek,] agree with the plan at all", "I agree with the plan at all.").tier is Tier.EDITORIAL
    for words in OMITTED:
        assert not judge("I do […] agree with the plan at all", f"I do {words} agree with the plan at all.").tier.holds
