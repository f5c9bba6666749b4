"""Tests of how Markdown bodies become HTML, outlines and plain text."""

import hashlib
import re
from html import escape, unescape
from pathlib import Path

import pytest
from lxml import html

from memosite.markdown import tokens as markdown_tokens
from memosite.markdown.html import to_html
from memosite.markdown.naming import Heading
from memosite.markdown.tokens import read_body
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.plain import plain_text
from tests.support.repos import Repo
from tests.support.sites import build_site
from tests.support.strict_html import passage_ids, read

LINKS = {
    "x.md": "../x/index.html", "decisions/x.md": "../dx/index.html", "../decisions/x.md": "../up/index.html",
    "2026-04-30-1100--a--b--c": "../id/index.html", "2026-04-30-1100--a--b--c.openthing": "../file/index.html",
    "s:/projects/y/memos/m.openthing": "../win/index.html", "a b+(1).md": "../odd/index.html",
    "决定/一.md": "../cjk/index.html",
}  # fmt: skip
REL = ' rel="noopener noreferrer nofollow"'


def seen(html: str) -> str:
    """Return what a reader sees, on one line."""
    return " ".join("".join(read(html).words).split())


def html_of(text: str) -> str:
    """Return the HTML of a body that mentions some files."""
    return to_html(text, links=LINKS)


def headings(text: str) -> tuple[Heading, ...]:
    """Return the headings of a body, in order."""
    return read_body(text).headings


def inner(text: str) -> str:
    """Return the HTML of a body of one paragraph without the paragraph."""
    html = html_of(text)
    assert html.startswith("<p>")
    return html.removeprefix("<p>").removesuffix("</p>\n")


def test_raw_html_is_shown_as_text_and_sections_between_equal_signs_are_headings() -> None:
    """Tags of any kind are text for the reader and never elements; `== Section ==` ends all other blocks."""
    for tag in [
        *("<ide_opened_file>", "<seat>", "<script>alert(1)</script>", "<div>\na\n</div>", "<xs:element>"),
        "<!-- never closed",
    ]:
        assert seen(html_of(f"see {tag} here")) == " ".join(f"see {tag} here".split())
        assert seen(html_of(tag)) == " ".join(tag.split())
    assert seen(html_of("`<!-- a -->`\n\n    <!-- b -->\n\n```\n<!-- c\n```\n\nd -->")) == (
        "<!-- a --> <!-- b --> <!-- c d -->"
    )
    assert inner("&copy; &lt;b&gt; &amp;amp;") == "© &lt;b&gt; &amp;amp;"
    assert inner("a\x00b\x1bc\ud800d\x85e\uffff&#1;&#xD800;") == "a\ufffdb\ufffdc\ufffdd\ufffde\ufffd\ufffd\ufffd"
    assert html_of("\ufeff# A\r\nb\rc") == html_of("# A\nb\nc")
    assert plain_text("> " * 40 + "\r\na\rb").endswith("> \na\nb")
    html = html_of("before\n== The ask ==\nafter\n=== More ===\nend")
    assert seen(html) == "before The ask after More end"
    assert [(found.level, found.text) for found in headings("a\n== B ==\nc\n=== D ===")] == [(2, "B"), (3, "D")]
    assert '<h2 id="the-ask">The ask <a class="anchor" href="#the-ask"' in html
    assert '<h3 id="more">' in html
    assert [found.text for found in headings("a\n== B ==\n\nc\n==\n")] == ["B", "c"]
    html = html_of("> quote\n== A ==\n- item\n== B ==\n| a |\n|---|\n| b |\n== C ==")
    assert re.findall(r"<(blockquote|h2|ul|table)", html) == ["blockquote", "h2", "ul", "h2", "table", "h2"]
    assert html_of("> a\n    == B ==") == "<blockquote>\n<p>a\n== B ==</p>\n</blockquote>\n"
    for text in [
        *("```\n== A ==\n```", "    == A ==", "== A =", "=== A ==", "==A==", "== ==", "====", "x == y ==", "== A or"),
        *("======= A =======", "> a\n    == B =="),
    ]:
        assert headings(text) == ()


def test_anchors_are_words_and_headings_are_shifted_to_the_base_level() -> None:
    """Joined by hyphens, of any script, unique; a heading skips no level, and ends at h6; an empty one is text."""
    text = "# Why: `it` *is* so!\n# U\u0308berblick 决定 2\n# ???\n# A_b [c](d)\n"
    assert [found.anchor for found in headings(text)] == ["why-it-is-so", "überblick-决定-2", "section", "a-b-c"]
    assert headings("# &nbsp;") == (Heading(level=1, text="section", anchor="section"),)
    text = "# See [it][that]\n"
    assert headings(text)[0].anchor == headings(text + "\n[that]: https://a.example\n")[0].anchor
    assert [found.anchor for found in headings("# a\n# a-2\n# a\n# a\n# a-2")] == ["a", "a-2", "a-3", "a-4", "a-2-2"]
    anchors = [found.anchor for found in headings(f"# {'word ' * 40}\n" * 3)]
    assert len(set(anchors)) == 3
    assert max(map(len, anchors)) <= 60
    anchors = [found.anchor for found in headings("# a\n" * 5_000 + "# a-7\n" * 5_000)]
    assert len(set(anchors)) == 10_000
    text = "### a\n## b\n###### c\n###### d\n### e\n# f\n"
    assert re.findall(r"<h(\d)", to_html(text, links={}, base_level=3)) == ["3", "3", "4", "4", "4", "3"]
    deep = "".join(f"{'#' * level} a\n" for level in range(1, 7))
    assert re.findall(r"<h(\d)", to_html(deep, links={}, base_level=3)) == ["3", "4", "5", "6", "6", "6"]
    assert re.findall(r"<h(\d)", to_html(text, links={}, base_level=1)) == ["1", "1", "2", "2", "2", "1"]
    assert headings("### a")[0] == Heading(level=3, text="a", anchor="a")
    assert html_of("##\n") == "<p>##</p>\n"
    assert headings("##\n") == ()
    html = to_html("# A\n[b](#a)", links={}, prefix='m1-"')
    assert read(html).ids == ['m1-"a']
    assert read(html).hrefs == ['#m1-"a', '#m1-"a']


def test_links_to_the_web_and_the_archive_are_kept_and_other_destinations_are_text() -> None:
    """They tell the other site nothing and lend it no weight."""
    assert inner("[a](<https://a.example/b c>)") == f'<a href="https://a.example/b%20c"{REL}>a</a>'
    for url in ["https://a.example/b?c=d&e", "http://a.example", "mailto:a@b.example", "HTTPS://A.b"]:
        assert inner(f"[a]({url})") == f'<a href="{url.replace("&", "&amp;")}"{REL}>a</a>'
    assert inner('[a](déjà%20"vu.md)') == '<span class="path" title="déjà%20&quot;vu.md">a</span>'
    for target in [
        *("javascript:alert(1)", "JaVaScript:alert(1)", "java&#10;script:alert(1)", "&#x6A;avascript:alert(1)"),
        *("data:text/html;base64,AA==", "vbscript:x", "file:///etc/passwd", "s:/projects/x", "C:\\Users\\x"),
        *("//evil.example/x", "/root.md", "unknown.md", "#nowhere", "https:evil", "blob:https://a.example/1"),
    ]:
        html = html_of(f"[label](<{target}>)")
        assert re.fullmatch(r'<p><span class="path" title="[^"]+">label</span></p>\n', html)
        assert target not in read(html_of(f"<{target}>")).hrefs
    assert inner("<https://a.example/b>") == f'<a href="https://a.example/b"{REL}>https://a.example/b</a>'
    assert inner("<a@b.example>") == f'<a href="mailto:a@b.example"{REL}>a@b.example</a>'
    assert inner("<https://a.example/%C3%A9>").endswith(">https://a.example/%C3%A9</a>")
    assert inner("<memodef:Memo>") == "&lt;memodef:Memo&gt;"
    looked_past = inner("![[![cask](c.png)*](https://a.example/)")  # where a link ends is sought beyond its images
    assert looked_past == f'![<a href="https://a.example/"{REL}>image: cask*</a>'
    assert inner("![![![cask](c.png)](https://a.example)](u.png)").count("<a ") == 0
    text = "# What's new?\n[a](#what-s-new) [b](#whats-new) [c](#What%27s-new) [d](#new)"
    assert read(html_of(text)).hrefs == ["#what-s-new"] * 4
    assert '<span class="path" title="#new">d</span>' in html_of(text)
    assert inner("[a](../decisions/x.md)") == '<a href="../up/index.html">a</a>'
    assert inner("[a](../decisions/x.md#b)") == '<a href="../up/index.html#b">a</a>'
    assert inner("[a](a%20b+(1).md)") == '<a href="../odd/index.html">a</a>'
    assert inner('[a](x.md "t")') == '<a href="../x/index.html" title="t">a</a>'
    assert inner("[`a`][r]\n\n[r]: s:/projects/y/memos/m.openthing") == '<a href="../win/index.html"><code>a</code></a>'


def test_bare_urls_become_links_and_lead_into_the_archive_where_they_can() -> None:
    """What is linked is what a reader would copy."""
    for links in [{}, LINKS]:
        for text, url in [
            ("see https://a.example/b.", "https://a.example/b"),
            ("(https://a.example/b_(c)).", "https://a.example/b_(c)"),
            ("**https://a.example/**, x", "https://a.example/"),
            ('"https://a.example/b?c=1&d=2"!', "https://a.example/b?c=1&d=2"),
            ("看https://a.example/b。然后", "https://a.example/b"),
            ("http://a.example/#x…", "http://a.example/#x"),
        ]:
            reader = read(to_html(text, links=links))
            assert reader.hrefs == [url]
            assert "".join(reader.words).strip() == text.replace("**", "")
    url, other = "https://github.com/a/b/blob/main/x.md", "https://github.com/a/b/blob/main/y.md"
    text = f"{url}#part, `{url}`, [x]({url}#part), {other}"
    html = to_html(text, links={url: "../x/index.html"})
    assert re.findall(r'href="([^"]+)"', html) == [
        "../x/index.html#part", "../x/index.html", "../x/index.html#part", other,
    ]  # fmt: skip
    html = html_of("[see https://a.example x.md <https://b.example> ![i](x.md)](https://c.example)")
    assert read(html).hrefs == ["https://c.example"]
    assert seen(html) == "see https://a.example x.md https://b.example image: i"
    html = inner("[x.md](../../elsewhere/x.md)")
    assert (
        html
        == '<span class="path" title="../../elsewhere/x.md"><a class="mention" href="../x/index.html">x.md</a></span>'
    )
    assert read(html_of("`https://a.example` xhttps://b.example https:// https://.")).hrefs == []


def test_a_mention_becomes_a_link_if_it_is_a_whole_name() -> None:
    """File names, ids and paths are found in text and code spans; the longest key wins."""
    # A link must not claim that a different file is meant.
    for text, target in [
        *(("x.md", "x"), ("(x.md).", "x"), ("`x.md`", "x"), ("**x.md**, and", "x"), ("x.md:12", "x"), ("@x.md", "x")),
        *(("x.md's", "x"), ("# x.md", "x"), ("decisions/x.md", "dx"), ("../decisions/x.md", "up")),
        *(("2026-04-30-1100--a--b--c.", "id"), ("2026-04-30-1100--a--b--c.openthing.", "file")),
        *(("`s:/projects/y/memos/m.openthing`", "win"), ("see a b+(1).md, please", "odd"), ("请看x.md的", "x")),
        ("请看决定/一.md的", "cjk"),
    ]:
        hrefs = [href for href in read(html_of(text)).hrefs if not href.startswith("#")]
        assert hrefs == [f"../{target}/index.html"]
        assert f'<a class="mention" href="../{target}/index.html">' in html_of(text)
    for text in [
        *("foo/x.md", "x.mdx", "ax.md", "x.md/y", "-x.md", "x.md-old", "x.md.bak", "X.md"),
        *("2026-04-30-1100--a--b--c.body.md", "t:/s:/projects/y/memos/m.openthing", "a b+(1).mdx", "xa b+(1).md"),
        *("docs/决定/一.md", "```\nx.md\n```", "    x.md"),
    ]:
        assert read(html_of(text)).hrefs == []
    keys = {f"decisions/{number}.md": f"{number}/index.html" for number in range(200)}
    text = " ".join(keys)
    assert read(to_html(text, links=keys)).hrefs == list(keys.values())
    assert to_html("decisions/7.md", links=keys) == to_html("decisions/7.md", links={"decisions/7.md": "7/index.html"})
    assert to_html("a , b", links={"": "x"}) == "<p>a , b</p>\n"
    keys = {"a b": "short", "a b + c": "long"}
    assert read(to_html("a b, a b + c", links=keys)).hrefs == ["short", "long"]


def test_passages_are_named_by_their_own_words_and_code_keeps_its_language_and_is_marked() -> None:
    """Wherever they stand, repeats numbered; a plain word of the author's is a class, all else is shown, with boxes."""
    for info, tag in [
        *(("", "<code>"), ("c#", '<code class="language-c#">'), ("mermaid", '<code class="language-mermaid">')),
        *((' xyz title="x"', '<code class="language-xyz">'), ('"><script>', "<code>"), ("{note} Who & why", "<code>")),
        ("k&quot;onload", '<code class="language-k">'),
    ]:
        html = html_of(f"```{info}\n<b>\n```")
        said = info.strip() if re.search(r"[^\w#]", info.strip()) else ""
        assert html.endswith(f'<pre tabindex="0">{tag}&lt;b&gt;\n</code></pre>\n')
        assert html.startswith(f'<p class="fence">{escape(said, quote=False)}</p>\n' if said else "<pre")
        assert plain_text(f"```{info}\n<b>\n```") == f"{said}\n<b>".strip()
    assert seen(html_of("- [ ] a\n- [x] b\n\n- [X] **c** [ ] d\n")) == "☐ a ☑ b ☑ c [ ] d"
    assert seen(html_of("[ ] a\n\n- [x]b")) == "[ ] a [x]b"
    assert html_of("7. a\n8. b").startswith('<ol start="7">\n<li>a</li>')
    assert html_of("> a *b* __c__  \n> d\n\n---\n") == (
        "<blockquote>\n<p>a <em>b</em> <strong>c</strong><br>\nd</p>\n</blockquote>\n<hr>\n"
    )
    assert html_of("    a  <b") == '<pre tabindex="0"><code>a  &lt;b\n</code></pre>\n'
    one = passage_ids("# a\n\nSome *words*.\n\n- item\n\n  more\n- item\n\n> Some *words*.")
    digests = [hashlib.sha256(part.encode()).hexdigest()[:8] for part in ("Some *words*.", "item", "more")]
    words, item, more = (f"p-{digest}" for digest in digests)
    assert one == {"a", words, item, more, f"{item}-2", f"{words}-2"}
    assert {words, item} <= passage_ids("New text before it.\n\nSome *words*.\n\n1. item\n   - more")
    html = html_of('```py\ndef f(x):  # <why>\n    return "a" + 1\n```')
    assert '<span class="hl-k">def </span><span class="hl-f">f</span>(x):' in html
    assert '<span class="hl-c"># &lt;why&gt;\n    </span>' in html
    assert seen(html) == 'def f(x): # <why> return "a" + 1'
    assert '<span class="hl-ins">+b\n</span>' in html_of("```diff\n-a\n+b\n```")
    short, long = "```json\n[1]\n```\n", f"```json\n[{'1,' * 2_500}1]\n```\n"
    assert "hl-" not in html_of(long)
    many = f"```json\n[{'1,' * 2_400}1]\n```\n" * 9
    assert html_of(short).count("hl-n") == 1
    assert html_of(many + short).count("<code") == 10
    assert html_of(many + short).endswith("[1]\n</code></pre>\n")


def test_footnotes_stand_last_and_lead_back_and_plain_text_has_no_markup() -> None:
    """What nothing refers to is not dropped; plain text has a line per block and row, whose cells end in a bar."""
    html = to_html("a[^n] b[^n]\n\n[^n]: Why *so*.\n\nc", links={}, prefix="p-")
    assert (
        '<sup class="footnote-ref" id="p-fnref.1"><a href="#p-fn.1">[1]</a></sup> b<sup class="footnote-ref">' in html
    )
    assert seen(html) == "a[1] b[1] c Why so."
    assert html.index("<p>c</p>") < html.index('<li id="p-fn.1" value="1">')
    assert '<a class="anchor" href="#p-fnref.1" aria-label="Back to the text">' in html
    assert plain_text("a[^n]\n\n[^n]: Why *so*.") == "a[1]\nWhy so."
    text = "a[^b]\n\n[^a]: one\n[^b]: two\n[^b]:\n\n    - three\n\n[^c] is no reference"
    html = to_html(text, links={}, prefix="p-")
    assert seen(html) == "a[1] [^a]: one [^b]: three [^c] is no reference two"
    assert read(html).ids == ["p-fnref.1", "p-fn.2", "p-fn.3", "p-fn.1"]
    assert plain_text(text) == "a[1]\n[^a]: one\n[^b]:\nthree\n[^c] is no reference\ntwo"
    text = "[^1]: a\n\n" + "[^b" * 40_000
    assert seen(html_of(text)) == "[^1]: a " + "[^b" * 40_000
    text = "# A *b*\nc\nd [e](f) ![g](h)\n\n- [x] i\n- `j`\n\n| k | l |\n|---|---|\n| m | n |\n\n```\no\n  p\n```\n> q"
    assert plain_text(text) == "A b\nc d e g\n☑ i\nj\nk | l |\nm | n |\no\n  p\nq"
    assert plain_text("== A ==\n<b> &amp;") == "A\n<b> &"


def test_a_definition_that_nothing_refers_to_is_text_where_it_is_written() -> None:
    """So is a further one of a label. One that is referred to is not shown; its title is, if its link leads nowhere."""
    text = "Who:\n\n[ada]: yes\n[Ben]: <no> 'not now'\n[12:03]: put off\n\n- [cy]: abstains\n  why\n- d\n\n> [e]:\n> f"
    for shown in (seen(html_of(text)), " ".join(plain_text(text).split())):
        assert shown == "Who: [ada]: yes [Ben]: <no> 'not now' [12:03]: put off [cy]: abstains why d [e]: f"
    assert "<p>[ada]: yes\n[Ben]: " in html_of(text)
    assert html_of("- [a]: b\n- c") == "<ul>\n<li>[a]: b</li>\n<li>c</li>\n</ul>\n"
    text = "[a]: b.md\n[c]: d.md\n[A]: e.md 'f'\n\n[one][a] ![two *[c]*](x)"
    assert seen(html_of(text)) == "[c]: d.md A: e.md 'f' one image: two c"
    assert read(to_html(text, links={"b.md": "x.html"})).hrefs == ["x.html", "x.html"]
    assert 'title="nowhere.md its title"' in html_of("[a]\n\n[a]: nowhere.md 'its title'")
    assert 'title="its title"' in html_of("[![a](b 'its title')](https://c.example)")


def test_a_cell_beyond_the_columns_of_the_header_is_shown() -> None:
    """What is empty adds none, and what is less than the header's is filled up."""
    table = "| who | vote |\n|---|--:|\n| a | no | *until* \\| June | |\nb | c | d\n| e || |\n"
    assert plain_text(table) == "who | vote |\na | no | until | June |\nb | c | d |\ne |  |"
    assert '<td class="align-right">no</td><td><em>until</em> | June</td></tr>' in html_of(
        f"> {table}".replace("\n", "\n> ")
    )
    assert html_of(table).count("<td") == 8


def test_comments_are_not_shown_and_leave_their_anchors() -> None:
    """In a line, as a block, and over several blocks: none of these is shown, and no heading is in the outline."""
    text = (
        "# A <!-- omit -->\n\n<!-- b -->\n\nc <!-- *d* -->\n<!-- e\n\n## f\n\n- g\n- h\n\n| i |\n|---|\n| j |\n\n"
        "```\nk\n```\n***\n[l]: m\n\n[^n]: o\n\n--> p\n\n- <!-- q -->\n- r\n\n1. <!-- s -->\n\n[t <!-- u -->](v)"
    )
    assert seen(html_of(text)) == "A c p r t"
    assert plain_text(text).split() == ["A", "c", "p", "r", "t"]
    assert [found.text for found in headings(text)] == ["A"]
    assert {
        "a-omit",
        "f",
        *(f"p-{hashlib.sha256(part).hexdigest()[:8]}" for part in (b"<!-- b -->", b"g", b"--> p")),
    } <= (passage_ids(text))
    assert html_of("3. <!-- a -->\n\n---\n") == "<hr>\n"
    for text in (
        "<!-- a\n\n```\nb -->\n```\n\nc",
        "| <!-- a | b --> |\n|---|---|",
        "a <!-- b\n\nc -->",
        "\\<!-- a -->",
    ):
        assert re.findall(r"<!--|-->|\w", seen(html_of(text))) == re.findall(r"<!--|-->|\w", text)
    for text in ("<!-- a\n\n" * 20_000, "<!--" * 60_000, "- <!-- a -->\n" * 15_000, "<!-- a\n\nb -->\n\n" * 12_000):
        html_of(text)  # in quadratic time this would not end


PATHOLOGICAL = {
    "brackets": "[" * 50_000, "image brackets": "![" * 25_000, "open links": "[a](" * 12_500,
    "emphasis": "*a " * 16_000, "mixed emphasis": "*a_b~~ " * 7_000,
    "backticks": "".join("`" * count + " " for count in range(1, 300)), "less-than signs": "<" * 50_000,
    "ampersands": "&" * 50_000, "wide table without rows": "|a" * 20_000 + "|\n" + "|-" * 19_999 + "|",
    "parentheses after a URL": "https://a" + ")" * 50_000, "names": "a/" * 25_000,
    "dots after names": ("x.md" + "." * 500 + "é") * 50,
}  # fmt: skip


def test_bodies_that_nest_too_deep_or_cost_too_much_are_shown_verbatim() -> None:
    """The parser would drop what lies deeper, and an archive must not."""
    # What explodes in careless parsers comes out as it went in, in linear time: else this would not end.
    for text in [
        "> " * 25_000 + "end",
        "- " * 25_000 + "end",
        "1. " * 15_000 + "end",
        "\n".join("  " * d + "- end" for d in range(60)),
    ]:
        assert html_of(text) == f'<pre class="verbatim" tabindex="0">{text.replace(">", "&gt;")}</pre>\n'
        assert plain_text(text) == text
    for text in [
        "a" * 5_000_000,
        "a\n" * 400_000,
        "[" * 400_000,
        ("|" + "a|" * 256 + "\n|" + "-|" * 256 + "\n" + "|\n" * 256 + "\n") * 30,
    ]:
        assert html_of(text) == f'<pre class="verbatim" tabindex="0">{text}</pre>\n'
        assert headings(text) == ()
        assert plain_text(text) == text
    paragraph = "Some *words* of `x.md` and [a link](x.md), see <https://a.example>.\n\n- [ ] one\n- two\n\n"
    text = paragraph * (300_000 // len(paragraph))
    assert html_of(text).startswith("<p>Some <em>")
    text = "".join(f"[a{number}]: [a{number + 1}]\n" for number in range(2000)) + "\n[a0] [a1999]"
    assert read(html_of(text)).hrefs == []
    assert seen(html_of(text)).startswith("[a1]: [a2] [a2]: [a3] ")
    assert seen(html_of(text)).endswith("[a1998]: a1999 a0 a1999")
    for text in PATHOLOGICAL.values():
        letters = re.compile(r"[\s`~*_]")
        assert letters.sub("", seen(html_of(text))) == letters.sub("", text)


def test_a_parser_that_fails_costs_the_markup_and_not_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """One body that trips the parser is shown verbatim, and the build goes on."""

    def fail(*_: object) -> None:
        raise IndexError

    for owner, name in ((markdown_tokens, "read_quickly"), (markdown_tokens._parser(), "parse")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, fail)
            text = f"a[^1] *b* that trips {name}"  # footnotes are not read quickly
            assert html_of(text) == f'<pre class="verbatim" tabindex="0">{text}</pre>\n'
    markdown_tokens.read_body.cache_clear()


NAME = "2026-05-01-1430--engineer--director--barges"
FILLING = "The lock is full. " * 300


def shown(text: str) -> str:
    """The HTML of a text that mentions nothing."""
    return to_html(text, links={})


def parts(number: int) -> str:
    """A text under a title, with sections and one below each."""
    return "# Barges\n\n" + "".join(f"## Part {n}\n\n{FILLING}\n\n### Detail\n\nx\n\n" for n in range(number))


def listed(page: Path) -> list[tuple[str, str]]:
    """The list of contents: words and targets, each of which is on the page."""
    tree = html.parse(page)
    links = tree.xpath("//nav[@class='outline']//a")
    assert all(tree.xpath("//*[@id=$id]", id=link.get("href")[1:]) for link in links)
    return [(link.text_content(), link.get("href")) for link in links]


def test_long_memos_and_documents_have_contents_and_an_edit_after_receipt_is_in_the_head(tmp_path: Path) -> None:
    """Two levels below the title, unless short or with few headings; its day, and a link to what was changed."""
    write_memo(tmp_path / "memos/inbox", NAME, body=parts(3))
    write_text(tmp_path / "decisions/barges.md", f"---\ntitle: Barges\n---\n{parts(4)}")
    site = build_site(tmp_path)
    expected = [("Part 0", "#part-0"), ("Detail", "#detail"), ("Part 1", "#part-1"), ("Detail", "#detail-2")]
    assert listed(site / "memos" / NAME / "index.html")[:4] == expected
    (document,) = (site / "documents").glob("*/index.html")
    assert len(listed(document)) == 8
    tmp_path = tmp_path / "short"
    write_memo(tmp_path / "memos/inbox", NAME, body="## A\n\n## B\n\n## C\n\n## D\n\n## E\n")
    write_memo(tmp_path / "memos/inbox", "other", body=f"# A\n\n{FILLING}\n\n## B\n\n{FILLING}\n\n## C\n\nx\n")
    site = build_site(tmp_path)
    assert listed(site / "memos" / NAME / "index.html") == []
    assert listed(site / "memos/other/index.html") == []
    edited = tmp_path / "edited"
    repo = Repo(edited / "office")
    write_memo(repo.root / "memos/inbox", NAME, body="Forty barges.")
    repo.commit("received", at="2026-05-02T12:00:00Z")
    site = build_site(edited)
    page = site / "memos" / NAME / "index.html"
    assert "Edited after receipt" not in page.read_text()
    write_memo(repo.root / "memos/inbox", NAME, body="Thirty-nine barges.")
    repo.commit("corrected", at="2026-05-03T12:00:00Z")
    build_site(edited)
    (link,) = html.parse(page).xpath("//header[@class='title']//a[starts-with(., 'Edited after receipt, 2026-')]")
    path, _, anchor = link.get("href").partition("#")
    assert html.parse(page.parent / path).xpath("//*[@id=$id]", id=anchor)


def test_images_are_links_or_text_and_callouts_have_their_name() -> None:
    """Nothing is loaded; tables scroll and align; folded text loses nothing, and a diagram is code that says so."""
    assert inner("![a *b*](https://c.example/d.png)") == f'<a href="https://c.example/d.png"{REL}>image: a b</a>'
    assert inner("![a](x.md)") == '<a href="../x/index.html">image: a</a>'
    assert inner("![](y.png)") == '<span class="path" title="y.png">image: y.png</span>'
    assert inner("![a ![b](c) d](x.md)") == '<a href="../x/index.html">image: a !b d</a>'
    html = inner(f"![a](data:image/png;base64,{'A' * 9000})")
    assert html.endswith('A…">image: a</span>')
    assert len(html) < 500
    assert html_of("text\n| a |\n|---|\n").startswith("<p>text</p>\n<div")
    html = html_of("| a | b |\n|---|--:|\n| ~~1~~ | x.md |\n")
    assert html.startswith('<div class="scroll" tabindex="0" role="group" aria-label="Table">\n<table>')
    assert html.endswith("</table>\n</div>\n")
    assert '<td class="align-right"><a class="mention"' in html
    assert "<td><s>1</s></td>" in html
    assert shown("> [!NOTE]\n> Mind *this*.") == (
        '<blockquote>\n<p><strong class="callout">NOTE</strong><br>\nMind <em>this</em>.</p>\n</blockquote>\n'
    )
    assert '<strong class="callout">warning</strong></p>' in shown("> [!warning]\n>\n> Mind.")
    for other in (
        *("> [!NOTE] same line", "[!NOTE]\nno quotation", "> Mind.\n>\n> [!NOTE]\n> late"),
        *("> [!OTHER]\n> x", "> - [!NOTE]\n"),
    ):
        assert "callout" not in shown(other), other
    written = "<details open>\n<summary>The log & more</summary>\n\nA line.\n\n</details>\n"
    made = shown(written)
    assert '<span class="tag">&lt;summary&gt;</span><strong>The log &amp; more</strong>' in made
    assert "".join(unescape(re.sub(r"<[^>]*>", "", made)).split()) == "".join(written.split())
    assert "tag" not in shown("`<details>`\n\n```\n<details>\n```\n")
    assert plain_text(written).startswith("<details open>")
    assert '<code class="language-mermaid">' in shown("```mermaid\ngraph TD; A--&gt;B\n```\n")
    css = Path(__file__).parents[1].joinpath("static/memosite.css").read_text()
    assert '.language-mermaid::before { content: "Mermaid diagram' in css
