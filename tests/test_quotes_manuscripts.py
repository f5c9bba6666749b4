"""Quotations of manuscripts: found in each format, with line and speaker; no untrue one passes (SPEC 7)."""

import subprocess
from pathlib import Path

import pytest

from memosite.facts.errors import SourceError
from memosite.quotes.citations import html_blocks, markdown_blocks, plain_blocks
from memosite.quotes.index import QuoteIndex
from memosite.quotes.manuscript import read_manuscript
from memosite.quotes.quotations import Appraisal, Origin, Quotation, Voice, appraise, find_quotations
from tests.support.fuzzing import fuzz
from tests.support.mutations import mutated_lines
from tests.support.quotations import Writer, altered

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


def test_quotations_of_markdown_are_found() -> None:
    """All kinds of marks, with their lines and who is said to speak."""
    assert rows(find_quotations(markdown_blocks(MARKDOWN), positions=POSITIONS)) == FOUND


def test_quotations_of_html_are_found() -> None:
    """Elements and typed marks; scripts hold none; what is below a quote says who speaks."""
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


def test_quotations_of_plain_text_are_found() -> None:
    """Quoted lines as in mail; indented text and stars are no marks."""
    text = 'The director wrote:\n> one two three four five\n> six seven eight\n\n* "a b c d e f g h" says strategist.\n'
    assert rows(find_quotations(plain_blocks(text), positions=POSITIONS)) == [
        (2, "one two three four five\nsix seven eight", ("director",)),
        (5, "a b c d e f g h", ("strategist",)),
    ]


@pytest.mark.parametrize("suffix", [".md", ".txt", ".html", ".docx"])
def test_manuscripts_are_read_from_disk(tmp_path: Path, suffix: str) -> None:
    """With a byte order mark and Windows' line ends; `.docx` by Pandoc."""
    text = "The director wrote: “one two three\r\nfour five six seven eight, it’s so”.\r\n"
    path = tmp_path / f"manuscript{suffix}"
    if suffix == ".docx":
        subprocess.run(["pandoc", "-f", "markdown", "-o", path], input=text.encode(), check=True, timeout=120)
    else:
        path.write_bytes(b"\xef\xbb\xbf" + (f"<p>{text}</p>" if suffix == ".html" else text).encode())
    (found,) = find_quotations(read_manuscript(path), positions=POSITIONS)
    assert found.text.split() == ["one", "two", "three", "four", "five", "six", "seven", "eight,", "it’s", "so"]
    assert (found.line, found.speakers) == (1, ("director",))


def test_manuscripts_that_cannot_be_read_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is none, one that is no `.docx`, and a machine without Pandoc."""
    with pytest.raises(SourceError, match="cannot be read"):
        read_manuscript(tmp_path / "none.md")
    path = tmp_path / "a.docx"
    path.write_bytes(b"no zip")
    with pytest.raises(SourceError, match=r"a\.docx: pandoc cannot read it: "):
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


def test_a_long_manuscript_is_read() -> None:
    """Marks that open and never close, many of each kind: seconds, where work that is quadratic would take hours."""
    for piece in ("“a ", '"a ', "‘a ’ s' ", "» a", "<q>a ", "> “\n", "a. ", "director said "):
        for found in find_quotations(markdown_blocks(piece * 10_000), positions=POSITIONS):
            assert len(found.context) < 5_000  # what is around it is bounded, or the work is quadratic


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


def test_a_manuscript_of_two_hundred_quotations() -> None:
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
    while len(expected) < 200:
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
    assert len(found) == 200
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
    assert len(passed["true"]) > 90
    assert all(one.check == "right" and not one.quoted_in for one in passed["true"])


def test_a_quote_is_not_its_own_witness() -> None:
    """Words that are only carried prove nothing of who said them, and the origin comes before who carries it."""
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
