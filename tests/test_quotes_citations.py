"""memosite's own citations: written in every format, read back out of documents, and read by Pandoc (SPEC 7)."""

import json
import subprocess
import textwrap

import pytest
from hypothesis import strategies as st

from memosite.archive.cite import Citation, quote_of
from memosite.facts.parsed import Written
from memosite.facts.values import replace
from memosite.quotes.citations import read_bibtex, read_csl_json, read_html, read_markdown, read_plain, read_tex
from memosite.quotes.forms import to_bibtex, to_csl_json, to_html
from memosite.quotes.judge import judge
from tests.support.fuzzing import fuzz
from tests.support.mutations import mutated_lines
from tests.support.plain import plain_text

PLAIN = Citation(
    ref="transcript/2026-04-21-1300--strategist--the-load#t12",
    url="https://archive.example.org/transcripts/2026-04-21-1300--strategist--the-load/index.html#t12",
    title="The load",
    speaker="strategist",
    time="2026-04-21T13:00:00Z",
    quote="Two loads, and no more of it",
    sha256="0f" * 32,
    commit="49d4640",
)
HOSTILE = r"""*a* [b](javascript:c) <script> # d `e` |f| &amp; $x$ {y} 50% a_b^c ~ \n "q" 'r' -- ---"""
ODD = replace(PLAIN, title=HOSTILE, quote=HOSTILE, speaker="Ada \\& Søn", sha256="ab" * 32, note="raw")


def markdown_document(cited: Citation) -> str:
    """A citation as a page offers it, in a document."""
    return f"# Notes\n\nAs was said:\n\n{cited.markdown}\n\nMore.\n"


FORMATS = {
    "markdown": (markdown_document, read_markdown),
    "line": (lambda cited: f"# Notes\n\n{cited.text}\n\nMore.\n", read_markdown),
    "text": (lambda cited: f"Notes\n\n{cited.text}\n", read_plain),
    "html": (lambda cited: f"<!doctype html><title>x</title><p>Notes</p>\n{to_html(cited)}<p>More.</p>", read_html),
    "bibtex": (to_bibtex, read_bibtex),
    "json": (to_csl_json, read_csl_json),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("cited", [PLAIN, ODD], ids=["plain", "odd"])
def test_citations_are_read_back(name: str, cited: Citation) -> None:
    """With reference, address, words, digest, commit and time; what a document holds beside them is ignored."""
    write, read = FORMATS[name]
    document = write(cited)
    (found,) = read(document)
    assert (found.ref, found.url, found.sha256) == (cited.ref, cited.url, cited.sha256)
    assert (found.commit, found.time, found.note) == (cited.commit, cited.time, cited.note)
    assert found.quote == " ".join(cited.quote.split())
    assert cited.sha256 in document.split("\n")[found.line - 1]
    if name != "html":
        assert found.speaker == cited.speaker


@pytest.mark.parametrize("name", FORMATS)
def test_several_citations_are_read_in_their_order(name: str) -> None:
    """Each with its own words, also the same one twice."""
    write, read = FORMATS[name]
    cited = [replace(PLAIN, quote=f"Words of number {n}", sha256=f"{n:02x}" * 32) for n in (1, 2, 1)]
    document = "\n".join(map(write, cited))
    if name == "json":
        document = json.dumps([json.loads(write(one))[0] for one in cited], indent=1)
    found = read(document)
    assert [(one.quote, one.sha256) for one in found] == [(one.quote, one.sha256) for one in cited]
    assert sorted({one.line for one in found}) == [one.line for one in found]


def test_a_citation_names_what_checks_it_and_words_stay_words() -> None:
    """Who, what, where, when, and the hash of the source; that a source is raw, before anybody quotes it."""
    where = "[The load](<https://a.example/memos/a/>), `memo/a`"
    cited = replace(PLAIN, ref="memo/a", url="https://a.example/memos/a/", commit="")
    assert cited.text == (
        "strategist: “Two loads, and no more of it”. The load (memo/a). 2026-04-21T13:00:00Z. "
        f"https://a.example/memos/a/. sha256:{'0f' * 32}"
    )
    assert cited.markdown == (
        f"> Two loads, and no more of it\n>\n> — strategist, {where}, 2026-04-21T13:00:00Z, sha256:{'0f' * 32}"
    )
    raw = replace(cited, note="raw")
    assert raw.text.endswith(" (raw)") and raw.markdown.endswith(" (raw)")
    bare = replace(cited, speaker="", time="", quote="")
    assert bare.text == f"The load (memo/a). https://a.example/memos/a/. sha256:{'0f' * 32}"
    assert bare.markdown.startswith("— [The load]")
    for write, read in FORMATS.values():
        assert [one.ref for one in read(write(bare))] == ["memo/a"]
    assert "author" not in to_bibtex(bare) + to_csl_json(bare)
    hostile = "*a* [b](javascript:c) <script>\n# d `e` |f| &amp;"
    cited = replace(PLAIN, ref="memo/a", quote=hostile, title=hostile, speaker=hostile)
    words = " ".join(hostile.split())
    assert plain_text(cited.markdown).startswith(f"{words}\n— {words}, {words}, memo/a")
    assert "<script" not in to_html(ODD)
    assert quote_of("Yes, **all** of `it`.") == "Yes, all of it."
    assert quote_of("## Plan\n\n" + "word " * 100).endswith("word […]")
    assert quote_of("") == ""


SIGNS = dict.fromkeys(map(ord, "'`\"‘’“”"), "'")


def pandoc(text: str, *arguments: str) -> str:
    """What Pandoc makes of a text."""
    command = ["pandoc", *arguments]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=600)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("cited", [PLAIN, ODD], ids=["plain", "odd"])
@pytest.mark.parametrize(("write", "suffix"), [(to_csl_json, "json"), (to_bibtex, "bib")])
def test_pandoc_cites_it(tmp_path, cited: Citation, write, suffix: str) -> None:  # type: ignore[no-untyped-def]
    """With `--citeproc`: author, year, title and address are in the list of references."""
    library = tmp_path / f"library.{suffix}"
    library.write_text(write(cited))
    key = f"transcript/2026-04-21-1300--strategist--the-load-t12:{cited.sha256[:8]}"
    text = pandoc(f"As said [@{{{key}}}].\n", "--citeproc", f"--bibliography={library}", "-t", "plain", "--wrap=none")
    assert "2026" in text
    assert cited.speaker.split()[0] in text
    assert cited.url in text
    assert "??" not in text


@pytest.mark.parametrize("cited", [PLAIN, ODD], ids=["plain", "odd"])
def test_pandoc_reads_the_same_from_both(cited: Citation) -> None:
    """Character for character, but that TeX sets typographic quotation marks."""
    for text, kind in ((to_bibtex(cited), "bibtex"), (to_csl_json(cited), "csljson")):
        item = json.loads(pandoc(text, "-f", kind, "-t", "csljson"))[0]
        if kind == "bibtex":
            assert item["title"].translate(SIGNS) == cited.title.translate(SIGNS)
            assert item["author"] == [{"literal": cited.speaker}]
        assert item["issued"]["date-parts"][0][:2] == [2026, 4]
        assert item["URL"] == cited.url
        (found,) = read_csl_json(json.dumps([item], ensure_ascii=False))
        assert (found.ref, found.sha256, found.commit) == (cited.ref, cited.sha256, cited.commit)


SEEN = (
    ("I do <span hidden>not</span> agree", "I do not agree"),
    ("I do <i style='display: none'>not</i> agree", "I do not agree"),
    ("I do <del>not</del> agree", "I do not agree"),
    ("I do <img src=not.png> agree", "I do agree"),
    ("I do <input value=not> agree", "I do agree"),
    ("I saw 10<sup>5</sup> barges", "I saw 105 barges"),
    ("I do not agree.</p><p>They left", "They left"),
)


def test_html_is_quoted_as_readers_see_it_and_citations_below_one_quote_share_it() -> None:
    """Nothing is judged by hidden or struck words, or beside images; of a very long quote, the first has it."""
    for shown, words in SEEN:
        (found,) = read_html(to_html(PLAIN).replace(PLAIN.quote, shown))
        assert not judge(found.quote, words).tier.holds, shown
    (same,) = read_html(to_html(PLAIN).replace(PLAIN.quote, "10<sup>th</sup> <b>load</b></p><p>of all</p><img>"))
    assert same.quote.strip("\ufffc ") == "10th load of all"
    # An address is no reference, also one that ends in the name of a kind.
    digests = "".join(f"> — `memo/{number}`, sha256:{number:064x}\n" for number in range(3))
    for words, quotes in (("few words", ["few words"] * 3), ("words " * 4_000, [("words " * 4_000).strip(), "", ""])):
        assert [one.quote for one in read_markdown(f"> {words}\n>\n{digests}")] == quotes
    cited = replace(PLAIN, ref="memo/a-memo", url="https://archive.example.org/memos/a-memo/")
    for write, read in FORMATS.values():
        assert [one.ref for one in read(write(cited))] == ["memo/a-memo"]


@pytest.mark.parametrize("name", ["markdown", "line", "text"])
def test_wrapped_lines_change_nothing(name: str) -> None:
    """Editors and mail programs break long lines between words."""
    cited = replace(PLAIN, quote="Two loads, and no more of it. " * 4, speaker="strategist (arc-1 of May)")
    write, read = FORMATS[name]
    for width in (60, 100, 200, 400):
        wrapped = []
        for line in write(cited).split("\n"):
            mark = "> " if line.startswith(">") else ""
            broken = textwrap.wrap(line.removeprefix(mark), width, break_long_words=False, break_on_hyphens=False)
            wrapped += [f"{mark}{one}" for one in broken or [""]]
        (found,), (whole,) = read("\n".join(wrapped)), read(write(cited))
        assert replace(found, line=1) == replace(whole, line=1)
        assert cited.sha256 in wrapped[found.line - 1]


def test_what_is_cited_stands_up_to_three_lines_before_the_digest() -> None:
    """In plain text with the words first; an address on the line of the digest does not hide it."""
    page = "https://archive.example.org/memos/a-memo/"
    for lines in range(1, 4):
        before = "\n".join(("(memo/a-memo#p-1), of", *("the day after," for _ in range(lines - 1))))
        (found,) = read_plain(f"{before}\n{page} sha256:{'9' * 64}\n")
        assert (found.ref, found.line) == ("memo/a-memo#p-1", lines + 1)


SEEDS = [markdown_document(ODD), to_html(ODD), to_bibtex(ODD), to_csl_json(ODD), PLAIN.text]


DOCUMENTS = mutated_lines(
    SEEDS, ["{", "}", '"', "sha256:", "“", "> ", "<blockquote>", "<q>", "\\", "[", "null", "@misc{"]
)


@fuzz(st.tuples(DOCUMENTS, st.text(max_size=60)), examples=150)
def test_any_document_is_read_and_any_words_are_read_back(case: tuple[str, str]) -> None:
    """Every reader gives citations with digests on lines of the document, whatever it is; words, as one line."""
    text, words = case
    for read in (read_markdown, read_plain, read_html, read_tex, read_bibtex, read_csl_json):
        for found in read(text):
            assert isinstance(found, Written)
            assert len(found.sha256) in (0, *range(6, 65))
            assert 1 <= found.line <= text.count("\n") + 1
    cited = replace(PLAIN, quote=f"a {words} b", title=f"T {words}", speaker="strategist")
    for name in ("bibtex", "json"):
        write, read = FORMATS[name]
        (found,) = read(write(cited))
        assert found.quote == " ".join(cited.quote.split())


LONG = {
    "open tags": (read_html, "<q " * 100_000),
    "open quotes": (read_html, "<a b='\"" * 100_000),
    "open attributes": (read_html, "](<a" * 100_000 + ">"),
    "fields": (read_bibtex, "@a{k, " + "a" * 300_000),
    "keys": (read_bibtex, "@a{" + " " * 300_000),
    "entries": (read_bibtex, f"@a{{k,note={{memo/a sha256:{0:064x}}},}}\n" * 10_000),
    "items": (read_csl_json, "[" + ",".join([f'{{"note":"memo/a sha256:{0:064x}"}}'] * 10_000) + "]"),
    "paragraphs": (read_html, "<blockquote>" + f"<p>a “b”, memo/a sha256:{0:064x}" * 5_000),
    "named": (read_html, "<blockquote>" + "<p>a memo/2026-01-01-0101--a--b c" * 5_000),
    "quotations": (read_markdown, "“a” [^1] " * 20_000 + f"\n\n[^1]: memo/a sha256:{0:064x}"),
    "notes": (read_markdown, f"“a” [^1]\n\n[^1]: memo/a sha256:{0:064x}\n\n" * 5_000),
    "apostrophes": (read_markdown, "'a \"b ‘c «d " * 20_000 + f"memo/a sha256:{0:064x}"),
    "emphasis": (read_markdown, "*a _b `c " * 20_000 + f"memo/a sha256:{0:064x}"),
    "groups": (read_tex, "\\emph{" * 50_000 + f"``a'' memo/a sha256:{0:064x}" + "\\cite{" * 20_000),
    "quote": (read_markdown, "> a\n" * 20_000 + f"> memo/a sha256:{0:064x}\n" * 2_000),
    "lines": (read_markdown, "— a\n" * 20_000 + f"memo/a sha256:{0:064x}\n" * 2_000),
    "doubts": (read_markdown, "´a ″b <<c ,,d ''e s' f' " * 10_000 + f"memo/a sha256:{0:064x}"),
    "possessives": (read_plain, "'a s' b " * 30_000 + f"memo/a sha256:{0:064x}"),
    "ticks": (read_markdown, "` `` ``` " * 20_000 + f"memo/a sha256:{0:064x}"),
    "tags": (read_markdown, "<a <b c='<!-- <? &x; \\" * 10_000 + f"memo/a sha256:{0:064x}"),
    "html blocks": (read_markdown, "<div a\n\n<!-- x\n\n--> <q " * 8_000 + f"\n\nmemo/a sha256:{0:064x}"),
    "quotes in items": (read_markdown, "- a\n  > b\n" * 10_000 + f"\nmemo/a sha256:{0:064x}"),
    "nested": (read_markdown, "- " * 3_000 + "> " * 3_000 + f"memo/a sha256:{0:064x}"),
    "front matter": (read_markdown, "---\na: b\n" * 20_000 + f"\n\nmemo/a sha256:{0:064x}"),
    "signs": (read_markdown, "a¹ b† c[1] ^2^ (3)\n\n" * 8_000 + f"¹ memo/a sha256:{0:064x}\n\n" * 2_000),
    "parts": (read_markdown, f"> a (see memo/a sha256:{0:064x})\n> b " * 3_000),
    "table": (read_markdown, "> " + " " * 300_000 + f"|x\n>\n> — memo/a sha256:{0:064x}"),
}


@pytest.mark.parametrize("name", LONG)
def test_long_documents_take_linear_time(name: str) -> None:
    """Otherwise each of these would take for ever."""
    read, text = LONG[name]
    assert len(read(text)) == text.count("memo/a sha256:")
