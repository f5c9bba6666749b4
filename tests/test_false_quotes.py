"""No false quote holds and no true one is refused, whatever layout and format a document has (SPEC 7, verifying).

Each true passage is changed in each way, put into each layout of each format, and verified.
"""

import random
import re
import subprocess
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import Browser

from memosite.archive.cite import Citation
from memosite.citing import ArchiveSources, Item, Place
from memosite.citing.verifying import Checked, verify_citation
from memosite.facts.values import replace
from memosite.quotes.citations import CONVERTED_ENDINGS, READERS, STRANGE_ENDINGS, read_bibtex
from memosite.quotes.forms import to_bibtex, to_csl_json, to_html
from memosite.quotes.html import html_blocks
from memosite.quotes.manuscript import converted_text
from memosite.quotes.markdown import markdown_blocks
from memosite.quotes.quotations import find_quotations
from memosite.quotes.source import Tier
from tests.support.archives import open_folders
from tests.support.memos import write_org, write_transcript
from tests.support.quotations import ALTERATIONS, Writer, altered
from tests.support.soaking import most

LOAD = "2026-05-01-1430--engineer--the-load"
BASE = "https://archive.example.org/"

MORE: dict[str, Callable[[str], str]] = {
    "list number": lambda quote: "93. " + re.sub(r"^\S+ ", "", quote),
    "other end": lambda quote: " ".join([*quote.split()[:-3], "and everybody complained"]),
    "other begin": lambda quote: " ".join(["Nobody", "believed", *quote.split()[2:]]),
    "invented": lambda _: "the trial was not finished in time, and everybody complained about it",
    "turned": lambda quote: " ".join(reversed(quote.split())),
    "halves": lambda quote: " ".join(quote.split()[7:] + quote.split()[:7]),
    "case": lambda quote: quote.upper(),
    "plural": lambda quote: re.sub(r"(\w{4,})s\b", r"\1", quote, count=1),
    "cut word": lambda quote: quote[2:],
    "cut end": lambda quote: quote.rstrip(".")[:-2],
    "repeated": lambda quote: f"{quote} {quote}",
    "longer": lambda quote: f"{quote} So it was",
    "percent": lambda quote: re.sub(r"(\d+)", r"\1 %", quote, count=1),
    "minus": lambda quote: re.sub(r"(\d+)", r"-\1", quote, count=1),
}  # fmt: skip
"""What else is made of a quote; what changes nothing is left out."""


def changed(quote: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    """False quotes, with what was done."""
    for how in ALTERATIONS:
        yield how, altered(quote, how, chance)
    for how, change in MORE.items():
        yield how, change(quote)


def inline(pattern: str) -> Callable[[str, Citation], str]:
    """A sentence with `{q}` for the words, with its locator behind it or as `{l}`."""
    whole = pattern if "{l}" in pattern or "{k}" in pattern else f"{pattern} ({{l}})."

    def write(quote: str, cited: Citation) -> str:
        key = f"{cited.ref.replace('#', '-')}:{cited.sha256[:8]}"
        who = cited.speaker.partition(" ")[0]
        return whole.format(q=quote, l=f"{cited.ref}, sha256:{cited.sha256}", t=cited.quote, k=key, w=who)

    return write


def below(pattern: str) -> Callable[[str, Citation], str]:
    """What `cite` writes in Markdown, with another quote and around it."""
    return lambda quote, cited: pattern.format(q=quote, a=cited.markdown.rpartition("\n> ")[2])


LAYOUTS: dict[str, Callable[[str, Citation], str]] = {
    "cite": below("> {q}\n>\n> {a}"),
    "below": below("> {q}\n\n{a}"),
    "two quotes": below("> {q}\n\n> {a}"),
    "wrapped": lambda quote, cited: below("> {q}\n>\n> {a}")(quote.replace(" ", "\n> ", 3), cited),
    "straight": inline('Alice said "{q}"'),
    "curly": inline("Alice said “{q}”"),
    "German": inline("Alice sagte „{q}“"),
    "Swiss": inline("Alice sagte »{q}«"),
    "French": inline("Alice a dit «\u00a0{q}\u00a0»"),
    "French, spaced": inline("Alice a dit « {q} »"),
    "single": inline("Alice said ‘{q}’"),
    "single, straight": inline("It wasn't long till Alice's crew said '{q}'"),
    "corners": inline("Alice 「{q}」"),
    "emphasis": inline("Alice said *{q}*"),
    "underlined": inline("Alice said _{q}_"),
    "code": inline("Alice said `{q}`"),
    "behind": inline("As {l} says: “{q}”"),
    "behind, below": inline("As {l} says:\n\n> {q}"),
    "true before": inline("She said “{t}”, and then “{q}”"),
    "true behind": inline("She said “{q}”, and then “{t}”"),
    "other sentence": inline("She said “{q}.” Nobody knew it. Then she left"),
    "unclosed": inline("She said “{q}"),
    "glued": inline('She said,"{q}"'),
    "dash": inline("She said —“{q}”—"),
    "footnote": inline("Alice said “{q}”.[^1]\n\nMore.\n\n[^1]: See {l}."),
    "footnote of a quote": inline("> {q}[^n]\n\nMore.\n\n[^n]: See {l}."),
    "table": inline("| said | where |\n|---|---|\n| “{q}” | {l} |\n"),
    "list": inline("- Alice said “{q}” ({l})\n- Nobody else did"),
    "bold before": inline("**What was said of it:** “{q}”"),
    "shortened": lambda quote, cited: inline("Alice said “{q}”")(quote, cited).replace(cited.sha256[20:], ""),
    "capitals": lambda quote, cited: inline("Alice said “{q}”")(quote, cited).replace(
        cited.sha256, cited.sha256.upper()
    ),
    "no digest": lambda quote, cited: inline("Alice said “{q}”")(quote, cited).replace(f", sha256:{cited.sha256}", ""),
}

SIGNS = ("[1]", "¹", "†", "\\*", "[*]", "(1)", "^1^", "<sup>1</sup>", "<sup>a</sup>")
"""Of footnotes; those of all but the first kinds are known by standing behind a word, and before a paragraph."""


LAYOUTS |= {
    "beside it": inline("> {q} ({l})"),
    "behind it": inline("> {t}\n>\n> ({l}) {q}"),
    "on its line": below("> {a} {q}"),
    "anchor alone": lambda quote, cited: f"> {quote} ({cited.ref})",
    "name alone": lambda quote, cited: f"> {quote}, {cited.ref.partition('#')[0]}",
    "footnote in a quote": inline("> {q}[^n]\n>\n> — {w}, {l}\n\n[^n]: More of it."),
    "Finnish": inline("Alice sanoi »{q}»"),
    "Swedish": inline("Alice sa ”{q}”, or ’{q}’"),
    "spaced": inline("Alice said “ {q} ”"),
    "half corners": inline("Alice ｢{q}｣"),
    "number before": inline('Of "{t}" she said "{q}"'),
    "plural behind": inline("She said '{q}', the librarians' note says"),
    "plural within": inline("The librarians' crew said '{q}', as crews' notes do"),
    "wide colon": inline("As {l} says：\n\n> {q}"),
    "bold colon": inline("**As {l} says:**\n\n> {q}"),
    "no colon": inline("As said in {l}\n\n> {q}"),
    "two paragraphs below": inline("As {l} says:\n\n> {q}\n>\n> […]"),
    "behind each": inline("{l} “{t}”. {l} “{q}”."),
    "first of each": inline("{l} “{q}”. {l} “{t}”."),
    "emphasis around": inline("*{q} ({l})*"),
    "first of two": inline("> {q}\n\n> {t}\n>\n> — {w}, {l}"),
    "first of two above": inline("> {q}\n\n> {t}\n\n— {w}, {l}"),
    "last of three above": inline("> {t}\n\n> {t}\n\n> {q}\n\n— {w}, {l}"),
    "last of two below": inline("As {l} says:\n\n> {t}\n\n> {q}"),
    "one below, one above": inline("As {l} says:\n\n> {q}\n\n> {t}\n>\n> — {w}, {l}"),
    "another's above": inline("> Words of somebody else.\n>\n> — Kant\n\n> {q}\n>\n> — {w}, {l}"),
    **{f"endnote {sign}": inline(f"Alice said “{{q}}”{sign}.\n\nMore.\n\n## Notes\n\n1. See {{l}}.\n2. More.")
       for sign in ("[1]", "¹", "(1)", "^1^", "[^1]")},
}  # fmt: skip


MARKDOWN: dict[str, Callable[[str, Citation], str]] = {
    "in an item": inline("- > {q}\n  >\n  > — {w}, {l}"),
    "in a numbered item": inline("1. > {q}\n   > ({l})"),
    "in a tenth item": inline("10. > {q}\n    >\n    > — {w}, {l}\n\n11. More"),
    "an item in it": inline("> - {q}\n>\n> — {w}, {l}"),
    "a heading in it": inline("> ## {q}\n>\n> ({l})"),
    "alert": inline("> [!NOTE]\n> {q}\n>\n> — {w}, {l}"),
    "callout with a title": inline("> [!quote] The {w}\n> {q}\n>\n> ({l})"),
    "folded callout": inline("> [!cite]- Alice Smith\n> {q}\n>\n> — {w}, {l}"),
    "Pandoc's key": inline("Alice said “{q}” [@{{{k}}}, p. 3]."),
    "Pandoc's keys": inline("Bob said “nothing” [@bob]. Alice said “{q}” [see @{{{k}}}; @bob, p. 3]."),
    "key in a quote": inline("> {q} [@{{{k}}}]"),
    "key in the text": inline("As @{{{k}}} says: “{q}”"),
    "quote in a quote": inline("> > {q}\n> >\n> > — {w}, {l}"),
    "lazy": lambda quote, cited: inline("> {q}\n>\n> — {w}, {l}")(broken(quote), cited),
    "lazy paragraph": lambda quote, cited: inline("> {q} ({l})")(broken(quote), cited),
    "tag over lines": inline("<blockquote\ncite=x>\n{q}\n</blockquote>\n\n— {w}, {l}"),
    "ticks twice on a line": inline("```a``` ```\n\nAlice said “{q}”"),
    "fence in an item": inline("- a\n\n  ```\n  b\n  ```\n\nAlice said “{q}”"),
    "fence in a quote": inline("> ```\n> b\n> ```\n\nMore.\n\nAlice said “{q}”"),
    "entities": inline("Alice said &ldquo;{q}&rdquo;"),
    "numbers": inline("Alice said &#8220;{q}&#x201d;"),
    "plain entities": inline("Alice said &quot;{q}&quot;"),
    "escaped": inline('Alice said \\"{q}\\"'),
    "em": inline("Alice said <em>{q}</em>"),
    "i over lines": lambda quote, cited: inline("Alice said <i>{q}</i>")(quote.replace(" ", "\n", 2), cited),
    "q": inline("Alice said <q> {q} </q>"),
    "q in a table": inline("| a | b |\n|---|---|\n| <q>{q}</q> | {l} |\n"),
    "comment": inline("> {q} <!-- so -->\n>\n> — {w}, {l}"),
    "hidden citation": inline("Alice said “{q}” <!-- {l} -->"),
    "further cell": inline("| a |\n|---|\n| x | “{q}” {l} |\n"),
    "definition in it": inline("> [a]: /nowhere\n>\n> {q}\n>\n> — {w}, {l}"),
    "below front matter": inline("> {q}\n\n— {w}, {l}"),
    **{f"footnote {sign}": inline(f"Alice said “{{q}}”.{sign} So.\n\nMore.\n\n{sign} See {{l}}.") for sign in SIGNS},
    "endnote with a raised number": inline("Alice said “{q}”<sup>1</sup>.\n\nMore.\n\n1. {l}"),
    **{f"footnotes {sign}": inline(f"“{{t}}”[^x] and “{{q}}”{sign}.\n\n[^x]: {{l}}\n\n{sign} {{l}}") for sign in SIGNS},
}  # fmt: skip


ITEMS = {name: write for name, write in MARKDOWN.items() if "item" in name and "fence" not in name}


def broken(quote: str) -> str:
    """Words on lines of their own."""
    return quote.replace(" ", "\n").replace("\n", " ", 1)


DOUBTED: dict[str, Callable[[str, Citation], str]] = {
    name: inline(pattern)
    for name, pattern in {
        "accents": "Alice said ´{q}´", "primes": "Alice said ″{q}″", "one prime": "Alice said ′{q}′",
        "brackets": "Alice said 〈{q}〉", "mathematical": "Alice said ⟨{q}⟩", "Hebrew": "Alice said ״{q}״",
        "angles": "Alice said <<{q}>>", "commas": "Alice said ,,{q}''", "two apostrophes": "Alice said ''{q}''",
        "doubled": 'Alice said ""{q}""', "full width": "Alice said ＇{q}＇", "spaced straight": 'Alice said " {q} "',
        "after a bracket": 'Alice (then)"{q}"', "wide colon": "Alice：'{q}'", "after a digit": 'Said in 2026"{q}"',
        "after a picture": '😀"{q}"', "grave": "Alice said `{q}'", "TeX": "Alice said ``{q}''",
        "beside a true one": "She said “{t}”, and ″{q}″", "around it": "She said “{t} ({l}) {q}”",
        "never closed": "She said '{q}", "glued apostrophe": "She said'{q}'", "glued": "She said’{q}’",
        "elided": "She said '90s {q}'", "two commas": "She said ‚‚{q}‘‘", "entity-like": "She said ❮{q}❯",
    }.items()
}  # fmt: skip
"""Where nobody knows whether words are quoted: true words are not checked, too."""


NEARBY = (
    "“{q}”\n\n({l})", "“{q},” she said.\n\nSee {l}.", "See {l}.\n\n> {q}", "See {l}.\n\nShe said “{q}”",
    "*{q}*\n\nSee {l}.",
    "{l}:\n\n- “{t}”\n- “{q}”", "As {l} says:\n\n1. Alice: “{q}”\n2. More", "Both: “{t}” ({l}):\n\n- “{q}”",
    "{l}:\n\n| said | by |\n|---|---|\n| “{q}” | Alice |", "Alice said “{q}” (note 1).\n\nMore.\n\n1. See {l}.",
    "# More\n\nAlice said “{q}” (note 1).\n\n# Notes\n\n1. Alice, {l}\n2. Bob, {l}",
)  # fmt: skip
"""Words that are quoted beside a citation, and may be of another source."""


TEX_LAYOUTS: dict[str, Callable[[str, Citation], str]] = {
    "quotes": inline("Alice said ``{q}'' \\cite[p.~3]{{{k}}}. Bob said ``nothing'' \\parencite{{bob}}."),
    "enquote": inline("Alice said \\enquote{{{q}}} \\autocite{{{k}}}."),
    "footnote": inline("Alice said \\textquotedblleft {q}\\textquotedblright.\\footnote{{{l}}}"),
    "quote": inline("\\begin{{quote}}\n{q}\n\n--- x, {l}\n\\end{{quote}}"),
    "emph": inline("Alice said \\emph{{{q}}} ({l})."),
    "label": inline("\\begin{{quote}}\\label{{q1}}\n{q} \\Parencite{{{k}}}\n\\end{{quote}}"),
    "quote with a note": inline("\\begin{{quotation}}\n{q}\\footnote{{See {l}.}}\n\\end{{quotation}}\n\nMore."),
    "end note": inline("Alice said ``{q}''.\\footnote{{See {l}.}} % not\n\n\\begin{{quote}}Other words.\\end{{quote}}"),
    "order": inline("Alice said ``{q}'' \\cite{{bob, {k}}}."),
    "many": inline("Alice said ``{q}'' \\Textcites(see)(too)[3]{{bob}}[4]{{{k}}}."),
    "beside": inline("Alice said ``{q}'' \\cite{{bob}} \\footcite{{{k}}}."),
    "note of cite": inline("See \\cite[``{q}''][p.~3]{{{k}}}."),
    "textcquote": inline("As \\textcquote[3]{{{k}}}[.]{{{q}}} says."),
    "blockcquote": inline("As follows: \\foreignblockcquote{{german}}[3]{{{k}}}{{{q}}}"),
    "displaycquote": inline("\\begin{{displaycquote}}[p.~3]{{{k}}}\n{q}\n\\end{{displaycquote}}"),
    "displayquote": inline("\\begin{{displayquote}}[{l}]\n{q}\n\\end{{displayquote}}"),
    "quoting": inline("\\begin{{quoting}}[vskip=0pt]\n{q}\n\\end{{quoting}}\n--- x, {l}"),
    "say": inline("Alice said \\say{{{q}}} ({l})."),
    "foreign": inline("Alice sagte \\foreignquote{{german}}{{{q}}} ({l})."),
    "glqq": inline("Alice sagte \\glqq {q}\\grqq{{}} ({l})."),
    "German": inline('Alice sagte "`{q}"\' ({l}).'),
    "epigraph": inline("\\epigraph{{{q}}}{{{l}}}"),
    "item": inline("\\begin{{itemize}}\n\\item[``{q}''] ({l})\n\\end{{itemize}}"),
    "noindent": inline("\\noindent[``{q}''] ({l})"),
    "title": inline("\\title{{``{q}'' ({l})}}"),
    "italic": inline("Alice said {{\\itshape {q}}} ({l})."),
    "table": inline("\\begin{{tabular}}{{ll}}\n``{q}'' & {l} \\\\\na & b\n\\end{{tabular}}"),
    "bibitem": inline(
        "As ``{q}'' \\cite{{one}}.\\begin{{thebibliography}}{{9}}\\bibitem{{one}} {l}\\end{{thebibliography}}"
    ),
    "own command": inline("\\newcommand{{\\own}}[1]{{x}}\n\nAlice said ``{q}'' ({l})."),
}


HTML_LAYOUTS: dict[str, Callable[[str, Citation], str]] = {
    "cite": lambda quote, cited: to_html(cited).replace(escape(cited.quote, quote=False), quote),
    "two paragraphs": lambda quote, cited: to_html(cited).replace(
        escape(cited.quote, quote=False), f"{cited.quote}</p><p>{quote}"
    ),
    "q": inline("<p>Alice said <q>{q}</q> ({l}).</p>"),
    "cite element": inline("<p>Alice said <cite>{q}</cite> ({l}).</p>"),
    "em": inline("<p>Alice said <em>{q}</em> ({l}).</p>"),
    "code": inline("<p>Alice said <code>{q}</code> ({l}).</p>"),
    "entities": inline("<p>Alice said &ldquo;{q}&rdquo; ({l}).</p>"),
    "table": inline("<table><tr><td>“{q}”</td><td>{l}</td></tr></table>"),
    "terms": inline("<dl><dt>“{q}”</dt><dd>{l}</dd></dl>"),
    "behind it": inline("<blockquote><p>{t}</p><p>— x, {l}</p><p>{q}</p></blockquote>"),
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArchiveSources]:
    """A transcript of sentences that never repeat."""
    root = tmp_path_factory.mktemp("quotes") / "office"
    writer = Writer(7)
    turns = [writer.sentence() for _ in range(40)]
    text = "".join(f"## {'Assistant' if at % 2 else 'User'}\n\n{turn}\n\n" for at, turn in enumerate(turns))
    people = [{"position": "engineer", "session_arc": "arc-1"}, {"position": "director", "identity": "Ada Byron"}]
    write_transcript(root / "transcripts/engineer", LOAD, text=text, participants=people)
    write_org(root, positions=["engineer", "director", "strategist"])
    with open_folders(root) as (read, shelf):
        yield ArchiveSources(read, shelf.text, base_url=BASE)


def passages(archive: ArchiveSources) -> list[tuple[Item, Place]]:
    """The turns of all items."""
    items = list(map(archive.item, archive.names))
    return [(item, place) for item in items for anchor in item.turns if (place := item.place(anchor))]


def verdicts(document: str, suffix: str, archive: ArchiveSources) -> list[Checked]:
    """What is said of the citations of a document."""
    return [verify_citation(one, archive) for one in READERS[suffix](document)]


def said_of(document: str, suffix: str, archive: ArchiveSources) -> list[bool]:
    """Whether the citations of a document hold."""
    return [said.holds() for said in verdicts(document, suffix, archive)]


SUFFIXES = {"html4": ".html", "markdown-it": ".html", "latex": ".tex", "gfm": ".md", "markdown": ".md"}


def converted(documents: list[str], to: str, tmp_path: Path) -> list[str]:
    """What Pandoc or markdown-it makes of Markdown documents; they are read by one run."""
    text = "\n\nENDOFONE\n\n".join(documents)
    if to == "markdown-it":
        return [MarkdownIt().enable("table").render(document) for document in documents]
    if f".{to}" in CONVERTED_ENDINGS:
        path = tmp_path / f"x.{to}"
        subprocess.run(["pandoc", "-o", path], input=text.encode(), capture_output=True, check=True, timeout=600)
        done = re.sub("</?section[^>]*>", "", converted_text(path))  # they are around all of it
    else:
        command = ["pandoc", "-t", to]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=600).stdout
    return re.split(r"(?:<p>)?ENDOFONE(?:</p>)?", done)


def cases(archive: ArchiveSources, *, is_true: bool) -> Iterator[tuple[str, str, Citation]]:
    """What was done to the words, the words, and the citation of their passage."""
    chance = random.Random(3)
    for item, place in passages(archive)[: most(3, in_soak=12)]:
        cited = item.cite(place)
        words = cited.quote.rstrip(".")
        if is_true:
            yield "whole", words, cited
            yield "part", " ".join(words.split()[2:12]), cited
            if not {"not", "never"} & set(words.split()[4:6]):
                yield "omission", " ".join([*words.split()[:4], "[…]", *words.split()[6:]]), cited
        else:
            yield from ((how, false, cited) for how, false in changed(words, chance) if false not in ("", words))


def laid_out(how: str, cited: Citation, words: str) -> Iterator[tuple[str, str, str]]:
    """The layouts of each format: the name, the document, and the ending."""
    for name, write in LAYOUTS.items():
        yield name, f"# A paper\n\nFirst.\n\n{write(words, cited)}\n\nLast.\n", ".md"
        if name not in ("emphasis", "underlined", "code", "emphasis around"):
            yield name, f"First.\n\n{write(words, cited)}\n\nLast.\n", ".txt"
    for name, write in MARKDOWN.items():
        yield name, f"# A paper\n\nFirst.\n\n{write(words, cited)}\n\nLast.\n", ".md"
    for name, write in TEX_LAYOUTS.items():
        if "%" not in words:
            yield name, f"First.\n\n{write(words, cited).replace('#', chr(92) + '#')}\n\nLast.\n", ".tex"
    for name, write in HTML_LAYOUTS.items():
        if name != "two paragraphs" or how in (*ALTERATIONS, *MORE):
            yield name, f"<p>First.</p>\n{write(escape(words, quote=False), cited)}<p>Last.</p>", ".html"
    for entry, suffix in ((to_bibtex, ".bib"), (to_csl_json, ".json")):
        yield how, entry(cited).replace(cited.quote, words), suffix


def test_no_false_quote_holds(archive: ArchiveSources) -> None:
    """Each change in each layout of each format."""
    wrong = []
    for how, words, cited in cases(archive, is_true=False):
        for name, document, suffix in laid_out(how, cited, words):
            found = said_of(document, suffix, archive)
            if all(found):
                wrong.append((how, name, suffix, document))
    assert wrong == [], wrong[:3]


def test_where_it_is_not_clear_what_is_quoted_nothing_was_checked(archive: ArchiveSources) -> None:
    """The verdict names the mark and its line, whether words are true or not; it is neither a pass nor a refusal."""
    for how, words, cited in [*cases(archive, is_true=True), *cases(archive, is_true=False)][::5]:
        for name, write in DOUBTED.items():
            for suffix in (".md", ".txt"):
                document = f"First.\n\n{write(words, cited)}\n\nLast.\n"
                [said] = verdicts(document, suffix, archive)
                wanted = (
                    (Tier.UNREAD,)
                    if how in ("whole", "part", "omission")
                    else (Tier.UNREAD, Tier.CHANGED, Tier.NOT_FOUND)
                )
                assert said.tier in wanted, (how, name, suffix, document, said)
                assert said.tier is not Tier.UNREAD or "on line 3" in said.details[0]


def test_no_true_quote_is_refused(archive: ArchiveSources) -> None:
    """The same layouts with true words."""
    wrong = []
    for how, words, cited in cases(archive, is_true=True):
        for name, document, suffix in laid_out(how, cited, words):
            found = said_of(document, suffix, archive)
            if not found or not all(found):
                wrong.append((how, name, suffix, document, READERS[suffix](document)))
    assert wrong == [], wrong[:3]


NOT_KEPT = {("markdown", "table"), ("markdown", "spaced")}
"""What is another layout once Pandoc wrote it: tables that CommonMark does not have, straight marks between spaces."""


@pytest.mark.parametrize("to", ["html", "html4", "gfm", "markdown", "latex", "docx", "odt", "epub", "markdown-it"])
def test_what_converters_make_of_a_manuscript_says_the_same(to: str, archive: ArchiveSources, tmp_path: Path) -> None:
    """A false quote is none the less false, and a true one holds."""
    suffix = SUFFIXES.get(to, f".{to}")
    for is_true in (False, True):
        some = [
            (how, name, write(words, cited))
            for how, words, cited in cases(archive, is_true=is_true)
            for name, write in {**LAYOUTS, **ITEMS}.items()
            if not re.search("(?:foot|end)note", name)
            and (to, name) != ("odt", "name alone")  # it is no quote there
            and not (is_true and (to, name) in NOT_KEPT)
            and not (
                is_true and to == "docx" and re.search("of (?:two|three)|one below|another", name)
            )  # they are one there
        ]
        some = some[:: most(5, in_soak=2)]
        documents = converted([document for _, _, document in some], to, tmp_path)
        assert len(documents) == len(some)
        wrong = []
        for (how, name, document), made in zip(some, documents, strict=True):
            found = verdicts(made, suffix, archive)
            is_said = all(said.holds() and said.tier is not Tier.UNQUOTED for said in found)  # Word has no quoted lists
            is_torn = (to, name) == ("docx", "an item in it")  # Word has no lists in quotes
            is_torn = is_torn or (
                name in ITEMS and to in ("gfm", "markdown") and "in a" in name
            )  # cut at its first line
            is_lost = is_true and to == "odt" and all(said.tier in (Tier.UNREAD, Tier.UNQUOTED) for said in found)
            if not found or (is_said != (is_true and not is_torn) and not is_lost):
                wrong.append((how, name, document, made))
        assert wrong == [], wrong[:3]


HIDDEN = (
    *(
        "<span style='opacity:0.0'>not</span>",
        "<b class=x>not</b>",
        "<span hidden>not</span>",
        "<span popover>not</span>",
    ),
    *("<script style='display:inline'>not</script>", "<title style='display:inline'>not</title>", "<title>not</title>"),
    *(
        "<noembed>not</noembed>",
        "<details>not</details>",
        "<x-y>not</x-y>",
        "<svg><text>not</text></svg>",
        "<img src=x>",
    ),
    *("<font color=white>not</font>", "<bdo dir=rtl>not</bdo>", "<i data-x=y>not</i>", "<span dir=rtl>x</span>"),
)
AROUND = (
    "<div style='position:absolute;left:-9999px'>{}</div>", "<style>p{{display:n\\one}}</style>{}",
    "<details>{}</details>",
    "<link rel='StyleSheet' href=x>{}", "<?xml-stylesheet href=x?>{}",
    "<section hidden>{}", "<script>x()</script>{}",
)  # fmt: skip


def test_what_readers_of_a_page_may_not_see_is_not_checked(archive: ArchiveSources) -> None:
    """Whether words are hidden is never guessed: what may hide them is named, and the quote neither holds nor fails."""
    item, place = passages(archive)[0]
    cited = item.cite(place)
    first, rest = cited.quote.split(" ", 1)
    for name, write in HTML_LAYOUTS.items():
        pages = [(hidden, write(f"{first} {hidden} {rest}", cited)) for hidden in HIDDEN if name != "code"]
        pages += [(around, around.format(write(cited.quote, cited))) for around in AROUND]
        for what, page in pages:
            [said] = verdicts(f"<p>First.</p>{page}<p>Last.</p>", ".html", archive)
            tag = re.search(r"<\??([\w-]+)", what)
            assert said.tier is Tier.UNREAD and not said.holds(), (name, page, said)
            assert tag and tag[1] in said.details[0], (name, what, said.details)


BESIDE = (
    "It's the librarians' fault, they don't know: “{q}” ({l}).", "Hans' Haus sagt ‚{q}‘ ({l}).",
    "A 5\" pipe, 6'2\" tall, 40° 26′ 46″ N, 5'-6\" and 3\"–4\": “{q}” ({l}).", "He was goin' home: '{q}' ({l}).",
    "Aujourd'hui, d'accord, dans l’*Europe* : « {q} » ({l}).", "With `x = \"a` and `don't'` in code: “{q}” ({l}).",
    "’tis rock 'n' roll of the '90s and ’80s: “{q}” ({l}).", "O’Neill of Hawai‘i and Hawaiʻi: “{q}” ({l}).",
    "The function f'(x) or f′(x), x'' = 2: “{q}” ({l}).", "The readers’, not the Smiths’. “{q}” ({l}).",
    "'{q}' is the librarians' note ({l}).", "The librarians' note: '{q}' ({l}).", "“{q}” [{l}].",
    "„{q},“ sagte sie ({l}).", '(“{q}”; {l})', "“{q}” – {l}", "She wrote ‘{q}’—{l}",
    '"{q}," she wrote ({l}).', "»{q}«, sagte sie ({l}).",
    "> {q}\n>\n> — Alice Smith, {l}", "> {q}\n> [{l}]", "> {q} — {l}", "> {q}\n>\n> See {l}.",
    "> “{q}”\n>\n> — Alice, {l}", "> {q}\n>\n> Source: {l}", "> {q} (see `{l}`)",
    "> {q} (p. 3, {l})", "> {q} (S. 3–5; {l})",
)  # fmt: skip
"""Apostrophes, inches, code and what leads to a source: none of it is quoted."""


NAMED = (
    "> {q} (Alice and the crane, {l})", "> {q} [and more of it](x) ({l})",
    "> {q}\n>\n> — and the engineer of it all said this too, {l}",
    "> {q}\n>\n> — it was never so, {l}", "> {q}\n>\n> — Alice, {l} (but nobody saw it)",
)  # fmt: skip
"""What is beside a citation in a block quote, and may be more than a name."""


def test_what_is_beside_a_quote_changes_nothing_or_is_not_checked(archive: ArchiveSources) -> None:
    """True words hold, false ones do not; what may be words of the quote is not checked."""
    item, place = passages(archive)[0]
    cited = item.cite(place)
    false = " ".join(reversed(cited.quote.split()))
    for pattern in (*BESIDE, *NAMED):
        for suffix in (".md", ".txt"):
            [true] = verdicts(inline(pattern)(cited.quote.rstrip("."), cited), suffix, archive)
            [untrue] = verdicts(inline(pattern)(false, cited), suffix, archive)
            assert true.tier is (Tier.UNREAD if pattern in NAMED else Tier.EXACT), (pattern, suffix, true)
            assert not untrue.holds(), (pattern, suffix, untrue)


MISTOLD = (
    "> {q}\n\n{W}, {l}",
    "“{q}” ([{w}](https://example.org/), {l})",
    "> [!quote] The {w}\n> {q}\n>\n> ({l})",
    '> {q}\n>\n> — {w}, {l}',
    '> {q}\n\n— {w}, {l}',
    '> {q}\n>\n> — the {w}, {l}',
    '> {q}\n>\n> — {w} (arc-9), {l}',
    '> {q}\n>\n> — {w}, arc 9, {l}',
    'The {w} said:\n\n> {q}\n>\n> — {l}',
    'As the {w} says in {l}:\n\n> {q}',
    '{w}: “{q}” ({l})',
    '**{W}:** “{q}” ({l})',
    '- {W}: “{q}” ({l})',
    'The {w} said “{q}” ({l})',
    'The {w} said: “{q}” ({l})',
    'The {w} has also written that “{q}” ({l})',
    'The {w}, answering the {r}, said “{q}” ({l})',
    'Answering the {r}, the {w} told us: “{q}” ({l})',
    'The {r} asked, and the {w} answered: “{q}” ({l})',
    '“{q},” the {w} said ({l}).',
    '“{q}”, said the {w} ({l}).',
    '“{q}” ({l}), said the {w}.',
    '“{q}”, as the {w} put it ({l}).',
    '“{q}” ({w}, {l})',
    '“{q}” — {w}, {l}',
    '“{q}” (the {w}, in {l})',
    'According to the {w}, “{q}” ({l}).',
    'In the words of the {w}: “{q}” ({l}).',
    'In {l} the {w} says: “{q}”',
    'The {w} ({l}) said: “{q}”',
    "The {w}'s answer was “{q}” ({l}).",
    'The {w}’s words: “{q}” ({l}).',
    'The {w} said *{q}* ({l}).',
    'The {w} said “{q}”.[^1]\n\nMore.\n\n[^1]: {l}',
    'So “{q}”.[^1]\n\nMore.\n\n[^1]: {W}, {l}',
    '| {w}: “{q}” | {l} |\n|---|---|\n',
)  # fmt: skip
"""Ways in which a document says that `{w}` spoke, `{W}` with a capital, where `{r}` did."""


MENTIONED = (
    "> {q}\n\nThe {w} was asked for it; see {l}.",
    "> {q}\n\n{R}, to the {w}, {l}",
    'The {r}, answering the {w}, said “{q}” ({l}).',
    'The {r} told the {w}: “{q}” ({l}).',
    'The {r} said to the {w}: “{q}” ({l}).',
    'Answering the {w}, she said “{q}” ({l}).',
    'Asked by the {w}, the {r} said “{q}” ({l}).',
    'As the {w} had asked, the load was looked at: “{q}” ({l}).',
    'When the {w} asked, “{q}” was the answer ({l}).',
    'What the {w} wrote was answered with “{q}” ({l}).',
    'The {w} never said “{q}” ({l}); the {r} did.',
    'The {w} did not say “{q}” ({l}).',
    'The {w} was told “{q}” ({l}).',
    'The {w} and the {r} said “{q}” ({l}).',
    'The {r} and the {w} said “{q}” ({l}).',
    'The {r} wrote to the {w} about it: “{q}” ({l}).',
    'The answer to the {w}: “{q}” ({l}).',
    "The answer to the {w}'s question was “{q}” ({l}).",
    'The reply to what the {w} said: “{q}” ({l}).',
    'The memo that the {w} asked for says “{q}” ({l}).',
    '“{q}”, the {r} told the {w} ({l}).',
    '“{q}”, said the {r} to the {w} ({l}).',
    '“{q}.” The {w} said no more ({l}).',
    '“{q}” ({l}). The {w} said no more.',
    '“{q}” — the {w} was wrong about it ({l}).',
    '“{q}” (to the {w}, {l})',
    '“{q}” ({r} to {w}, {l})',
    '> {q}\n>\n> — {r}, to the {w}, {l}',
    '> {q}\n>\n> — to the {w}, {l}',
    '> {q}\n>\n> — Alice Smith, {l}',
    '> {q}\n>\n> — {R}, {l}',
    'The {w} asked whether it fits and got “{q}” ({l}).',
    'The {w} read it; “{q}” ({l}).',
    'The {w} asked. “{q}” ({l}), said the {r}.',
    "The {r}'s answer to the {w} was “{q}” ({l}).",
    'The {w} heard the {r} say “{q}” ({l}).',
    'The {w}, to whom the {r} said “{q}” ({l}), was away.',
    'The {r}, whom the {w} asked, said “{q}” ({l}).',
    'After the {w} said so, “{q}” was written ({l}).',
    "The {w}'s plan: “{q}” ({l}).",
    'The {w} asked the {r}, who said “{q}” ({l}).',
    'The {w} was answered by the {r}: “{q}” ({l}).',
)  # fmt: skip
"""Sentences that are true although they name somebody else."""


def test_who_did_not_say_it_is_never_taken_for_the_speaker(archive: ArchiveSources) -> None:
    """Somebody whom the archive knows, by the attribution or right beside the quote; who is only mentioned is none."""
    for item, place in passages(archive)[:2]:
        cited, right = item.cite(place), place.speaker.partition(" ")[0]
        for wrong in ("strategist", "director" if right == "engineer" else "engineer"):
            names = {"w": wrong, "W": wrong.title(), "r": right, "R": right.title()}
            for pattern in (*MISTOLD, *MENTIONED):
                for suffix in (".md", ".txt"):
                    holds = pattern in MENTIONED
                    document = pattern.format(
                        q=cited.quote.rstrip("."), l=f"{cited.ref}, sha256:{cited.sha256}", **names
                    )
                    if suffix == ".md" or "*{q}" not in pattern:
                        [said] = verdicts(document, suffix, archive)
                        tier = Tier.UNREAD if "arc" in pattern else Tier.EXACT
                        assert said.tier is tier and said.holds() == holds, (document, said)
                        told = f"said by {place.speaker}, not by {wrong}"
                        assert (told in said.details) != (holds or "arc" in pattern), (document, said)
        page = f"<blockquote><p>{cited.quote}</p></blockquote><p>— strategist, {cited.ref}, sha256:{cited.sha256}</p>"
        words = f"The strategist said ``{cited.quote}'' ({cited.ref}, sha256:{cited.sha256}).".replace("#", "\\#")
        person = f"Ada Byron said “{cited.quote}” ({cited.ref}, sha256:{cited.sha256}).\n"
        for document, suffix, holds in (
            (page, ".html", False),
            (page.replace("strategist", "Alice Smith"), ".html", True),
            (words, ".tex", False),
            (words.replace("strategist", right), ".tex", True),
            (person, ".md", right == "director"),
        ):
            assert said_of(document, suffix, archive) == [holds], document


def test_what_is_quoted_beside_a_citation_without_words_is_not_checked(archive: ArchiveSources) -> None:
    """True or false: nobody knows whether it is of that citation; what is cited itself, and short words, do not matter.

    Of markup that is not known, quotation marks alone are read.
    """
    item, place = passages(archive)[0]
    cited = item.cite(place)
    for pattern in NEARBY:
        for suffix in (".md", ".txt"):
            for words in (cited.quote.rstrip("."), "nobody in the yard believed any of it"):
                found = verdicts(inline(pattern)(words, cited), suffix, archive)
                is_emphasis = suffix == ".txt" and pattern.startswith("*")
                assert any(said.tier is Tier.UNREAD for said in found) or is_emphasis, (pattern, suffix, found)
    for pattern in (
        "The “load” of it.\n\nSee {l}.",
        "She said “{q}” ({l}).\n\nSee {l}.",
        "See {l}.\n\n- “{q}” ({l})",
        "Somebody said “words of anybody else here”.\n\nMore.\n\nSee {l}.\n\nMore.\n\n> Words of somebody else.",
        "She said “words of anybody else here”.\n\nMore.\n\n1. First, the load was looked at on the quay, as {l} says.",
    ):
        for suffix in (".md", ".txt"):
            assert all(said_of(inline(pattern)(cited.quote, cited), suffix, archive)), pattern
    indented = "As {l} says:\n\n    Nobody in the yard believed it.\n"
    assert said_of(inline(indented)("", cited), ".txt", archive) == [False]
    asciidoc = f"[quote]\n____\nNobody believed it.\n____\n\n{cited.ref}, sha256:{cited.sha256}\n"
    for ending in STRANGE_ENDINGS:
        for text, tier in ((asciidoc, Tier.UNREAD), (LAYOUTS["curly"](cited.quote, cited), Tier.EXACT)):
            [said] = (verify_citation(one, archive) for one in READERS[ending](text))
            assert said.tier is tier, (ending, text)


IN_MARKDOWN = (
    "{} <style>p{{display:none}}</style>", "{}\n\n```{{=html}}\n<p hidden>\n```", "{} <!-- a --!> -->", "{}\n\n<!-- a",
    "<div\n\n{}", "a <script>\n\n{}", "a <textarea> b\n\n{}", "<!--> x -->\n\n{}", "<?php ?>\n\n{}",
)  # fmt: skip


def test_html_in_markdown_is_read_by_the_same_rules(archive: ArchiveSources) -> None:
    """What may hide words in it is named, there and in the whole document; a document is never cut off by it."""
    item, place = passages(archive)[0]
    cited = item.cite(place)
    first, rest = cited.quote.split(" ", 1)
    writers = {
        name: write for name, write in {**LAYOUTS, **MARKDOWN}.items() if name in ("cite", "curly", "lazy", "em")
    }
    for name, write in writers.items():
        documents = [write(f"{first} {hidden} {rest}", cited) for hidden in (*HIDDEN, "<name>", "<y />")]
        documents += [around.format(write(cited.quote, cited)) for around in IN_MARKDOWN]
        documents += [f"---\n{key}: |\n  x\n---\n\n{write(cited.quote, cited)}" for key in ("header-includes", "css")]
        for document in documents:
            [said] = verdicts(f"{document}\n\nLast.\n", ".md", archive)
            assert said.tier is Tier.UNREAD and not said.holds(), (name, document, said)
    front = f"---\ntitle: x\nabstract: “{cited.quote}” ({cited.ref}, sha256:{cited.sha256})\n---\n\nMore.\n"
    assert [(said.tier, said.line) for said in verdicts(front, ".md", archive)] == [(Tier.EXACT, 3)]
    for code in ("```\n{}\n```", "- a\n\n  ~~~\n  {}", "<!-- more\n\n-->\n```\n{}"):
        assert verdicts(code.format(LAYOUTS["curly"](cited.quote, cited)), ".md", archive) == []


@pytest.mark.parametrize("to", ["html", "html4", "latex", "docx", "epub", "odt"])
def test_block_quotes_in_lists_are_judged_also_when_pandoc_converted_them(
    to: str, archive: ArchiveSources, tmp_path: Path
) -> None:
    """Of bullets and numbers; OpenDocument has no block quotes, so nothing is checked there."""
    items = [item.cite(place) for item, place in passages(archive)[:3]]
    for more, tier in (("", Tier.EXACT), (" So it was", Tier.CHANGED)):
        rows = [cited.markdown.replace(cited.quote, cited.quote + more).split("\n") for cited in items]
        text = "\n\n".join(
            sign + "\n    ".join(written) for sign, written in zip(("1.  ", "2.  ", "-   "), rows, strict=True)
        )
        [made] = converted([f"Text.\n\n{text}\n"], to, tmp_path)
        found = [said.tier for said in verdicts(made, SUFFIXES.get(to, f".{to}"), archive)]
        assert found == [Tier.UNREAD if to == "odt" else tier] * 3, made


WORD_PROCESSORS = (
    "<p style='margin-bottom: 0.28cm; line-height: 115%'><font face='Liberation Serif'>“{}” {}</font></p>",
    "<blockquote style='box-sizing: border-box'>{}<br><span style='font-size: 16px'>— x, {}</span></blockquote>",
    "<style>p.quotations {{ margin-left: 1cm }}</style><p class='quotations'>{}</p><p>— {}</p>",
    "<p>“{}”<a name='a1' href='#s1'><sup>1</sup></a></p><div id='d'><p><a name='s1' href='#a1'>1</a> {}</div>",
    "<p>“{}”<a href='#n1' name='r1'>[1]</a></p><div id='ftn1'><p><a href='#r1' name='n1'>[1]</a> {}</p></div>",
)
"""As LibreOffice writes HTML, a browser copies it, and Word notes it; these programs are not run here."""


def test_a_quotation_holds_all_that_is_in_it_and_a_citation_alone_is_of_what_is_above(archive: ArchiveSources) -> None:
    """A quotation in another one; below a figure, a quoted paragraph, or a sign without a link, nothing is checked."""
    item, place = passages(archive)[0]
    cited = item.cite(place)
    locator = f"{cited.ref}, sha256:{cited.sha256}"
    nested = f"\\enquote{{\\enquote{{{cited.quote}}} So it was}} ({locator})".replace("#", "\\#")
    for suffix, text in ((".html", f"<p><q><q>{cited.quote}</q> So it was</q> ({locator})</p>"), (".tex", nested)):
        assert [said.tier for said in verdicts(text, suffix, archive)] == [Tier.CHANGED], text
    for page in (
        "<figure><p>It is so</p><figcaption>— x, {}</figcaption></figure>",
        "<h2>“It is so”</h2><p>({})</p>",
        "<table><tr><td>“It is so”<tr><td>{}</table>",
        "<p>“It is so”<sup>1</sup></p><p><sup>1</sup> See {}.</p>",
    ):
        assert [said.tier for said in verdicts(page.format(locator), ".html", archive)] == [Tier.UNREAD], page


def test_what_word_processors_write_passes_nothing_false(archive: ArchiveSources) -> None:
    """Their styles and footnotes: the verdict is right, or nothing is checked."""
    item, place = passages(archive)[0]
    cited = item.cite(place)
    for page in WORD_PROCESSORS:
        for words in (cited.quote, f"{cited.quote} So it was"):
            [said] = verdicts(page.format(words, f"{cited.ref}, sha256:{cited.sha256}"), ".html", archive)
            right = Tier.EXACT if words == cited.quote else Tier.CHANGED
            assert said.tier in (right, *((Tier.UNREAD,) if "style" in page else ())), (page, said)
            if "quotations" not in page:
                assert said.quote, page


@pytest.mark.parametrize("to", ["html", "html4", "gfm", "latex", "docx", "odt"])
def test_a_footnote_cites_what_the_text_quotes_also_when_pandoc_moved_it(
    to: str, archive: ArchiveSources, tmp_path: Path
) -> None:
    """Each note has the words before its sign; without a quote, no words were checked."""
    item, place = passages(archive)[0]
    cited = item.cite(place)
    locator = f"{cited.ref}, sha256:{cited.sha256}"
    text = f"She said “{cited.quote}”,[^a] and “{cited.quote[4:]} So it was”.[^b] More.[^c]\n\n"
    text += "".join(f"[^{name}]: See {locator}.\n\n" for name in "abc")
    for document, suffix in ((text, ".md"), (converted([text], to, tmp_path)[0], SUFFIXES.get(to, f".{to}"))):
        tiers = [said.tier for said in verdicts(document, suffix, archive)]
        assert tiers == [Tier.EXACT, Tier.CHANGED, Tier.UNQUOTED], document


def test_editors_put_in_few_words_and_leave_out_by_any_ellipsis(archive: ArchiveSources) -> None:
    """Up to five words at one place, and no more than are quoted; beyond, nobody knows what it says."""
    item, place = passages(archive)[0]
    cited = item.cite(place)
    words = cited.quote.rstrip(".").split()
    for put_in, tier in (
        ("of the yard over there", Tier.EDITORIAL),
        ("of the yard over there, as everybody knew well", Tier.UNREAD),
        (f"of the yard {'and of the harbour ' * 40}", Tier.UNREAD),
        ("that never was", Tier.CHANGED),
    ):
        quote = " ".join([*words[:8], f"[{put_in}]", *words[8:]])
        for name in ("cite", "curly", "behind, below"):
            [said] = verdicts(LAYOUTS[name](quote, cited), ".md", archive)
            assert (said.tier, said.holds()) == (tier, tier is Tier.EDITORIAL), (quote, said)
    many = "the [of a yard] contract [of the harbour]"
    [said] = verdicts(LAYOUTS["curly"](f"The tested [of the yard] [of it all] {words[2]}", cited), ".md", archive)
    assert said.tier is Tier.UNREAD, many
    at = next(number for number in range(3, 9) if not {"not", "never"} & set(words[number : number + 2]))
    for ellipsis in ("…", "...", ". . .", ".\xa0.\xa0.", "[…]", "[...]", "[. . .]"):
        for false in (False, True):
            quote = " ".join([*words[:at], ellipsis, *words[at + 2 :][:: -1 if false else 1]])
            [said] = verdicts(LAYOUTS["curly"](quote, cited), ".md", archive)
            assert said.holds() != false and (false or said.tier is Tier.EDITORIAL), (quote, said)


def test_an_element_that_is_not_closed_is_named_with_its_line(archive: ArchiveSources) -> None:
    """In Markdown as in a page: all of the document is not checked."""
    item, place = passages(archive)[0]
    cited = item.cite(place)
    for suffix, text in (
        (".md", f"# A\n\nSome <b>words of\nit.\n\n{LAYOUTS['curly'](cited.quote, cited)}\n"),
        (".html", f"<p>x</p>\n\n<p>Some <b>words</p>\n{HTML_LAYOUTS['q'](cited.quote, cited)}"),
    ):
        [said] = verdicts(text, suffix, archive)
        assert said.tier is Tier.UNREAD and "<b> on line 3 " in said.details[0], said


def test_quotations_of_a_manuscript_with_such_marks_are_not_checked(archive: ArchiveSources) -> None:
    """`--quotes` finds the same marks, and gives no verdict on what they may quote."""
    item, place = passages(archive)[0]
    cited = item.cite(place)
    for name, write in DOUBTED.items():
        document = write(cited.quote.rstrip("."), cited).rpartition(" (")[0]
        found = find_quotations(markdown_blocks(f"{document} So it was."), positions=())
        is_pair = name not in ("never closed", "around it", "glued apostrophe", "glued", "elided")
        if is_pair:  # nothing begins or ends what the others quote
            assert any(one.unread or one.text == cited.quote.rstrip(".") for one in found), (name, document, found)


ODD_PAGES = (
    *("<!-->not<!-- -->", "<!--->not<!-- -->", "<!-- x --!>not<!-- -->", "<![CDATA[not]]>", "<?php not ?>", "</>not"),
    *("</p><table><tfoot><tr><td>not<tbody></table><p>", "</p><table>not<tr><td>x</table><p>", "<p title='x>not"),
    *("</p><table><tr><div>not</div><td>x</table><p>", "<td>not</td>", "</br>not", "<span hidden/>not</span>"),
    *("<xmp>not</xmp>", "<plaintext>not", "<select><option>not</select>", "<svg><text>not</text></svg>", "\0not"),
    *("<textarea><!-- </textarea>not<!-- --></textarea>", "<body hidden>", "<b class=x class=y>not</b>"),
    *("</p><li>not</li><p>", "<b><i>not</b></i>", "</p><ol start=-5><li>not</ol><p>", "<form><form>not</form>"),
    "<meta http-equiv=refresh content='0;url=x'>",
    *("<link rel=preload href=x onload=y>", "<img src=x onerror=y>"),
)
"""What browsers read in ways of their own, or what changes another paragraph than its own."""


def test_what_browsers_read_in_ways_of_their_own_is_not_checked(archive: ArchiveSources) -> None:
    """Before a quote, in it, and where nothing is quoted, since then nobody knows what is quoted."""
    item, place = passages(archive)[0]
    cited = item.cite(place)
    first, rest = cited.quote.split(" ", 1)
    locator = f"({cited.ref}, sha256:{cited.sha256})"
    heads: tuple[str, ...] = (
        "<!DOCTYPE html [<!ENTITY ldquo ''>]>",
        "<?xml version='1.0' encoding='koi8-r'?>",
        "<meta charset=koi8-r>",
    )
    heads += ("<table><tr><td rowspan=2>not</table>", "<p>x</p><body hidden>", "<b style='left:0'>not</b>")
    for odd in ODD_PAGES:
        for page in (f"<p>{odd}</p><p>“{cited.quote}” {locator}</p>", f"<p>“{first} {odd} {rest}” {locator}</p>"):
            assert [(said.tier, said.holds()) for said in verdicts(page, ".html", archive)] == [(Tier.UNREAD, False)], (
                page
            )
    for head in heads:
        for words in (f"“{cited.quote}” ", *([] if "not<" in head else [""])):
            [said] = verdicts(f"{head}<p>{words}{locator}</p>", ".html", archive)
            assert said.tier is Tier.UNREAD, head
    for fine in (
        "<!-- x - y -->",
        "<!DOCTYPE html>",
        "<?xml version='1.0' encoding='utf-8'?>\n<!doctype html public 'x'>",
    ):
        [said] = verdicts(f"{fine}<p>“{cited.quote}” {locator}<p>More<ul><li>a<li>b</ul>", ".html", archive)
        assert said.tier is Tier.EXACT, fine


TAGS = re.findall(
    r"<[^ ]+",
    "<p> </p> <div> </div> <blockquote> </blockquote> <b> </b> <ul> <li> </li> </ul> <ol> </ol> <table> <tr> <td> "
    "</td> </tr> </table> <q> </q> <br> <hr/> <thead> <tbody> <tfoot> </tfoot> <th> <dl> <dt> <dd> </dl> <caption> "
    "</caption> </h2> <pre> </pre> <!----> <!--> <select> </select> <svg> </svg> <xmp> </xmp> <body> </body> <a> </a> "
    "<s/> <col> <template> </template> <details> <summary> </details> <p/> </br> <title> <textarea> <ruby> <h2>",
)


def test_a_page_that_is_read_has_the_words_that_a_browser_shows(browser: Browser) -> None:
    """Of random tags: all words and in the same order, or nothing of the page is checked."""
    chance, page = random.Random(11), browser.new_page()
    read = 0
    for _ in range(most(6_000, in_soak=60_000)):
        tags = [f"{chance.choice(TAGS)} w{at} " for at in range(chance.randint(2, 7))]
        document = f"<!doctype html>{''.join(tags)}"
        blocks = list(html_blocks(document))
        if not any(block.unread for block in blocks):
            read += 1
            page.set_content(document)
            shown = page.evaluate("document.body ? document.body.innerText : ''")
            assert re.findall(r"w\d", "\n".join(block.text for block in blocks)) == re.findall(r"w\d", shown), document
    assert read > 20


ODD_TEX = (
    *("\\def\\x{not}", "\\let\\emph\\x", "\\renewcommand{\\emph}[1]{not}", "\\newcommand{\\enquote}[1]{not}"),
    *(
        "\\newenvironment{displayquote}{x}{not}",
        "\\catcode`x=14",
        "\\input{not}",
        "\\include{not}",
        "\\iffalse\\else not\\fi",
    ),
    *(
        "\\makeatletter",
        "\\usepackage{not}",
        "\\documentclass{not}",
        "\\color{white}",
        "\\begin{comment}\nx\\end{comment}",
    ),
    *(
        "\\setlength{\\parindent}{-5em}",
        "\\vspace{-3ex}",
        "{\\gdef\\x{not}}",
        "$\\global\\let\\emph\\x$",
        "\\csname x\\endcsname",
    ),
    *("\\DeclareQuoteStyle{x}{x}{x}", "}", "\\end{quote}", "\\verb|x\n"),
)
"""What may change all that follows."""


def test_what_latex_may_show_otherwise_is_not_checked(archive: ArchiveSources) -> None:
    """Before a quote, in it, and where nothing is quoted; code is shown, with the quotes in it."""
    item, place = passages(archive)[0]
    cited = item.cite(place)
    first, rest = cited.quote.split(" ", 1)
    locator = f"({cited.ref}, sha256:{cited.sha256})".replace("#", "\\#")
    whole = f"``{cited.quote}'' {locator}"
    texts = [f"{odd}\n\n{text}" for odd in ODD_TEX for text in (whole, f"It said so {locator}.")]
    local = (
        "\\phantom{not}",
        "$x$",
        "\\textcolor{white}{not}",
        "\\own{not}",
        "\\includegraphics{x}",
        "\\begin{own}x\\end{own}",
    )
    texts += [f"``{first} {odd} {rest}'' {locator}" for odd in (*local, *ODD_TEX)]
    texts += [f"\\own{{It said so}} {locator}", f"\\begin{{own}}It said so.\\end{{own}}\n\n{locator}"]
    texts += [f"Alice: \\own{{so}}.\\footnote{{{locator}}}", f"Alice said so\\footnotemark.\\footnotetext{{{locator}}}"]
    texts += [
        f"\\begin{{verbatim}}\nIt said so {locator}\n\\end{{verbatim}}".replace("\\#", "#"),
        f'\\usepackage[ngerman]{{babel}}\n"o {whole}',
    ]
    for text in texts:
        found = [(said.tier, said.holds()) for said in verdicts(text, ".tex", archive)]
        assert found == [(Tier.UNREAD, False)], (text, found)
    before = (
        "\\documentclass{article}\n\\usepackage[utf8]{inputenc}\n\\setlength{\\parindent}{0pt}\n\\begin{document}\n"
    )
    for text in (
        f"{before}{whole}\n\\end{{document}}\n\\def\\x{{}}",
        f"{{\\own x}}\n\n{whole}",
        f"\\begin{{comment}}\n{locator}\n\\end{{comment}}\n{whole}",
    ):
        assert [said.tier for said in verdicts(text, ".tex", archive)] == [Tier.EXACT], text


def test_bibtex_is_joined_as_bibtex_joins_it_or_not_checked(archive: ArchiveSources) -> None:
    """Values of several parts, names of `@string`, entries in values; what is inherited, defined or open."""
    item, place = passages(archive)[0]
    cited = item.cite(place)
    entry = to_bibtex(cited)
    half = cited.quote.split()[:5]
    whole = f"abstract = {{{cited.quote}}}"
    for parts, tier in (
        (f'{{{" ".join(half)}}} # " " # {{{" ".join(cited.quote.split()[5:])}}}', Tier.EXACT),
        (f"{{{' '.join(half)}}} # no", Tier.CHANGED),
        (f"{{{cited.quote}}} # {{ So it was}}", Tier.CHANGED),
        (f"{{{cited.quote} @misc{{x, so it was}}}}", Tier.CHANGED),
        (f"{{{cited.quote}}} # unknown", Tier.UNREAD),
        (f"{{{cited.quote}}}, crossref = {{x}}", Tier.UNREAD),
        (f"{{{cited.quote}}}, abstract = {{It is so}}", Tier.UNREAD),
        (f"{{{cited.quote} \\phantom{{not}}}}", Tier.UNREAD),
        (f"{{{cited.quote}", Tier.UNREAD),
    ):
        document = '@string{no = { nobody " knew}}\n' + entry.replace(whole, f"abstract = {parts}")
        for kind in (document, document.replace("@misc{", "@misc(", 1).rstrip()[:-1] + ")"):
            assert [said.tier for said in verdicts(kind, ".bib", archive)] == [tier], kind
    for odd in ("a { b", "} a {", "a {b} c"):
        [found] = read_bibtex(to_bibtex(replace(cited, quote=odd)))
        assert (found.quote, found.unread) == (odd, "")
    assert [said.tier for said in verdicts(f'@preamble{{"x"}}\n{entry}', ".bib", archive)] == [Tier.UNREAD]
