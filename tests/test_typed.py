"""What a person typed in a transcript is on its page as typed, character for character (SPEC 4).

A second, naive reader takes the turns out of the source by its own rules and compares them with what Chromium would
show of the page: the text of its elements.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from memosite.markdown.html import fences, to_html
from memosite.render.turns import BEGINNING, LONG
from tests.support.memos import write_memo, write_transcript
from tests.support.pages import bad_links
from tests.support.sites import EXAMPLE, build_site

PERSON = re.compile(r"## (?:🧑.*|User|Human)")
TURN = re.compile(r"## (?:[🧑🤖] (?!.*4/9/2026).*</sub>|User|Human|Assistant)\s*")
"""Headings of turns in the texts here; the example quotes a transcript of another day within a turn."""

NOT_IN_TEXT = re.compile(
    r"\]\([^()\s]*\)|^\s*\d+[.)]\s|^[>\s]*```.*|<sub>[^<\n]*[0-9]:[^<\n]*</sub>|</?sub>", re.MULTILINE
)
"""Where links lead, what a browser counts itself, what fences say of code, a mark of the capture tool, and the time
of a call, which pages show in another notation."""

LOG = "\n".join(f"{number:04} WARN  C:\\srv\\ferry\\log  <b>late</b>   by {number * 7} min\\" for number in range(900))
TYPED = {
    "a title that is none": "Here is what I see:\n-----\nand then nothing.\n\n=====\n# not a heading\n== nor this ==",
    "lines": "first line\nsecond line  \nthird line\\\nfourth line\n\n\n\nafter three empty ones",
    "spaces": "   indented\n\tby a tab\n    by four\na    b\u00a0c\u2003d",
    "backslashes": "C:\\Users\\ada\\.ferry\\_cache\\*.log and \\\\server\\share \\[x\\] \\<b\\>",
    "tags": "<seat>pilot</seat> <b>bold</b> <!-- not said --> &amp; &lt; <ide_opened_file>\n</b>",
    "marks": "**two** _one_ ~~no~~ `code` * * * [a][b] [^1] ![x](y.png) | a | b |\n\n[^1]: the note\n\n[b]: https://x.example",
    "a list": "3. three\n3. three again\n- [ ] open\n- [x] done\n  + deeper\n> quoted\n>> twice",
    "a table": "| ferry | dock |\n|---|---|\n| Ada | 4 |",
    "an aside": "See below.\n\n<ide_selection>the selected\n  lines</ide_selection>\n\nWhat is it?",
    "code": "Run this:\n```bash\nls  -l \\\n  *.md   # all\n```\nand\n~~~\nthat\n~~~\n````\n```\nnested\n```\n````",
    "an open fence": "```\nnever closed\n# still the same",
    "a log": f"Why?\n\n{LOG}\n\nThat is all of it.",
    "a long line": "x" * 30_000 + " end",
    "a long block of code": f"```\n{LOG}\n```",
    "other scripts": "早上好。\nשלום 123\n👩\u200d🚀 e\u0301",
    "a link": 'See [the plan](https://x.example/a_(b)?c=d_e_f#g "title") and https://x.example/~ada/__init__.py.',
    "a tool's call": "Look.\n\n> **🔧 Bash** <sub>2:30:05 PM</sub>\n> ```\n> ls  -l\n> ```\n\nAnd   after.\n-----",
    "nothing": "",
}
"""What people type, by what is odd in it."""


Talks: TypeAlias = Mapping[str, tuple[str, Path]]
"""Sources of transcripts and the folders of their pages, by name."""


def stamped(typed: str) -> str:
    """A transcript of one question and one answer, as the known tool captures it."""
    return (
        "# Claude Code Transcript\n\n---\n\n## 🧑 User <sub>5/1/2026, 2:30:00 PM</sub>\n\n"
        f"{typed}\n\n---\n\n## 🤖 Assistant *(model)* <sub>5/1/2026, 2:31:00 PM</sub>\n\n**Yes.** It is `so`.\n"
    )


def plain(typed: str) -> str:
    """The same in the form without times."""
    return f"## User\n\n{typed}\n\n## Assistant\n\n**Yes.** It is `so`.\n"


def build_talk(folder: Path, text: str) -> Path:
    """Build a site with one transcript, and give the folder of its page."""
    write_transcript(folder / "quay/transcripts/engineer", "2026-05-01-1430--engineer--talk", text=text)
    site = build_site(folder / "quay", output=folder / "out")
    return site / "transcripts/2026-05-01-1430--engineer--talk"


def turns_of(source: str) -> Iterator[tuple[bool, str]]:
    """Each turn: whether a person's, and its text, cut between headings by rules of this test's own."""
    lines = source.split("\n")
    starts = [number for number, line in enumerate(lines) if TURN.fullmatch(line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        text = re.sub(r"(\s*\n---)?\s*$", "", "\n".join(lines[start + 1 : end]))
        yield PERSON.fullmatch(lines[start]) is not None, text


def runs_of(typed: str) -> list[str]:
    """What is typed before, between and after the calls of tools, less one empty line next to each."""
    parts = re.split(r"(?:^|\n)> \*\*🔧.*(?:\n>.*)*(?:\n|$)", typed)
    return [part.strip("\n") for part in parts if part.strip()]


def sections(folder: Path) -> Iterator[html.HtmlElement]:
    """The turns on all parts of a transcript's page."""
    numbered = sorted(folder.glob("[0-9]*/index.html"), key=lambda path: int(path.parent.name))
    for path in (folder / "index.html", *numbered):
        yield from html.parse(path).xpath("//section[contains(@class, 'turn')]")


def shown_runs(section: html.HtmlElement) -> list[str]:
    """What is shown of what was typed; a browser drops the first line end in a `pre`."""
    runs = (run.xpath(".//pre[@class='typed']") for run in section.xpath("./div[contains(@class, 'speech')]"))
    return ["".join(pre.text_content().removeprefix("\n") for pre in run) for run in runs]


def letters(text: str) -> Counter[str]:
    """How often each letter and digit is in a text."""
    return Counter(filter(str.isalnum, text))


def missing(folder: Path, source: str) -> list[str]:
    """The turns of which something is missing on the page."""
    faults = []
    for section, (is_person, text) in zip(sections(folder), turns_of(source), strict=True):
        if is_person and [run.strip("\n") for run in shown_runs(section)] != runs_of(text):
            faults.append(f"{section.get('id')}: {runs_of(text)!r} is shown as {shown_runs(section)!r}"[:2_000])
        shown = " ".join(part.text_content() for part in section.xpath("./*[not(self::header or @class='cite')]"))
        lost = letters(NOT_IN_TEXT.sub("", text)) - letters(shown)
        if lost:
            faults.append(f"{section.get('id')}: {lost}")
    return faults


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Talks:
    """All of one site."""
    quay = tmp_path_factory.mktemp("talks") / "quay"
    sources = {f"stamped {name}": stamped(typed) for name, typed in TYPED.items()}
    sources |= {f"plain {name}": plain(typed) for name, typed in TYPED.items()}
    sources |= {f"huge {name}": plain(typed) for name, typed in HUGE.items()}
    sources |= {form: f"## User\n\nWell?\n\n## Assistant\n\n{written(form)}\n" for form in FORMS}
    sources |= {f"folded {number}": plain(case[0]) for number, case in enumerate(FOLDED)}
    for number, source in enumerate(sources.values()):
        write_transcript(quay / "transcripts/engineer", f"talk-{number}", text=source)
    site = build_site(quay)
    assert [one for one in bad_links(site) if "/talk-" not in one.href] == []  # parts of others are found by script
    return {name: (source, site / f"transcripts/talk-{n}") for n, (name, source) in enumerate(sources.items())}


@pytest.mark.parametrize("form", ["stamped", "plain"])
@pytest.mark.parametrize("name", TYPED)
def test_everything_typed_is_shown_as_typed(talks: Talks, name: str, form: str) -> None:
    """Every character, in order; white space, too."""
    source, folder = talks[f"{form} {name}"]
    assert missing(folder, source) == []


def test_every_turn_of_the_example_is_shown_as_in_its_source_and_what_is_missing_is_noticed(
    example_site: Path, talks: Talks
) -> None:
    """What people typed character for character; of what assistants wrote, each letter and digit."""
    bodies = sorted(EXAMPLE.glob("*/transcripts/**/*.body.md"))
    assert len(bodies) == 2
    for body in bodies:
        source = body.read_text(encoding="utf-8")
        folder = example_site / "transcripts" / body.name.removesuffix(".body.md")
        assert missing(folder, source) == []
    source, folder = talks["plain backslashes"]
    for old, new in (("\\*.log", "\\\\*.log"), ("and ", "and  "), ("Yes", "Yess")):
        assert len(missing(folder, source.replace(old, new))) == 1


SHORT = "\n".join(f"line {number}" for number in range(LONG))
FOLDED: tuple[tuple[str, int, str | None], ...] = (
    (SHORT, LONG, None),
    (f"{SHORT}\none more", BEGINNING, f"{LONG + 1 - BEGINNING} more lines"),
    ("word " * 6_000, 0, "(1 line)"),
    (f"Look:\n```\n{SHORT}\n```\nSo?", 1, f"{LONG + 3} more lines"),
)


def test_long_inputs_are_folded_and_passages_that_had_anchors_keep_them_on_their_lines(talks: Talks) -> None:
    """The beginning is shown; the rest opens, and says how much it is. Earlier versions published anchors."""
    for number in range(len(FOLDED)):
        _, shown, summary = FOLDED[number]
        (section, _) = sections(talks[f"folded {number}"][1])
        heads = section.xpath(".//div[contains(@class, 'speech')]/pre")
        assert [len(pre.text_content().strip("\n").split("\n")) for pre in heads] == ([shown] if shown else []), number
        summaries = [one.text_content() for one in section.xpath(".//details[@class='long']/summary")]
        assert (summary is None and not summaries) or (len(summaries) == 1 and summaries[0].endswith(str(summary)))
        assert section.xpath(".//details[@open]") == [], number
    for name, typed in TYPED.items():
        text = to_html(typed.strip("\n"), links={}, prefix="t1-", with_passages=True)
        (section, _) = sections(talks[f"plain {name}"][1])
        ids = [str(id_) for id_ in section.xpath(".//@id")]
        if name not in {"an aside", "a tool's call"}:  # in blocks
            assert set(re.findall(r'id="([^"]+)"', text)) <= set(ids), name
        assert len(ids) == len(set(ids)), name


HUGE = {
    "a log": "\n".join(f"{number:06} WARN  C:\\srv\\log  <b>late</b> " + "-" * 40 for number in range(7_000)),
    "one line": "0123456789 \\ and so on, and so on, " * 8_000,
    "marks of HTML": "<a&b>" * 55_000,
    "another script": "会議の記録。" * 45_000,
    "fences": "````\n```x\n" * 25_000,
    "addresses": "http://a.example and so on, " * 10_000,
    "an aside and code": f"<ide_note>{LOG * 6}</ide_note>\n\n```\n{LOG * 6}\n```\n\n> **🔧 Bash**\n> ls\n\nSo?",
}
"""What is too long for one page of 250,000 characters, the first for two."""


FORMS = ("{}", "> **🔧 Bash**\n> ```\n> {}\n> ```", "```\n{}\n```", "<ide_note>{}</ide_note>")
"""What an assistant writes that is too long."""
WORDS = 5_000


def written(form: str) -> str:
    """A long text in one of the forms, in words of its own."""
    lines = (f"{FORMS.index(form)}word{number} {'x' * 50}" for number in range(WORDS))
    return form.format(("\n> " if form.startswith(">") else "\n").join(lines))


def test_a_turn_too_long_for_a_page_is_on_several(talks: Talks) -> None:
    """With every character, but a line end where it is split; each piece of speech, output or code is one."""
    for name, typed in HUGE.items():
        _, folder = talks[f"huge {name}"]
        pages = list(folder.rglob("index.html"))
        assert len(pages) > 1, name
        assert all(page.stat().st_size < 1_000_000 for page in pages), name
        *pieces, _ = sections(folder)
        assert [piece.get("id") for piece in pieces] == ["t1"] + [None] * (len(pieces) - 1), name
        shown = "".join(run for piece in pieces for run in shown_runs(piece))
        assert shown.replace("\n", "") == "".join(runs_of(typed)).replace("\n", "")
        assert sum(len(piece.xpath("./details[@class='cite']")) for piece in pieces) == 1, name
    for form in FORMS:
        _, folder = talks[form]
        assert all(part_file.stat().st_size < 1_000_000 for part_file in folder.rglob("index.html")), form
        _, *pieces = sections(folder)
        listed = [part.xpath("./*[not(self::header or @class='cite' or @class='notice')]") for part in pieces]
        assert len(listed) > 1, form
        assert all(len(parts) == 1 for parts in listed), form
        assert len({parts[0].tag for parts in listed}) == 1, form
        prose = (
            parts[0].xpath("descendant-or-self::*[contains(@class, 'prose')]")[0].text_content() for parts in listed
        )
        assert re.findall(r"word(\d+)", " ".join(prose)) == [str(number) for number in range(WORDS)], form
        assert all(bool(parts[0].xpath(".//pre")) == ("```" in form) for parts in listed), form


def test_an_anchor_is_on_its_line_and_links_are_recognised_with_all_their_characters(tmp_path: Path) -> None:
    """Also after an aside and after the call of a tool; what leads nowhere is text."""
    aside = "<ide_note>Two.\n\nThree.</ide_note>"
    talk = f"One.\n\n{aside}\n\n# Four\n\n> **🔧 Bash**\n> ls\n\n- Five\n\nSix.[^1]\n\n[^1]: Seven."
    (section, _) = sections(build_talk(tmp_path, plain(talk)))
    lines = {span.get("id"): span.text_content().strip() for span in section.xpath(".//pre[@class='typed']//span[@id]")}
    by_words = {words: id_ for id_, words in lines.items() if words}
    assert by_words["<ide_note>Two."].startswith("t1.2-p-")
    assert by_words["Three.</ide_note>"].startswith("t1.2-p-") and by_words["# Four"] == "t1.3-four"
    assert by_words["- Five"].startswith("t1.5-p-")
    assert {"t1.5-fn.1", "t1.5-fnref.1"} <= set(lines)
    name = "2026-05-02-0900--engineer--director--m"
    write_memo(tmp_path / "quay/memos/inbox", name)
    memo = f"../../memos/inbox/{name}.openthing"
    typed = (
        f"https://x.example/a_b, [it](https://y.example/c) {name}.openthing [no](javascript:alert) [the memo]({memo})"
    )
    folder = build_talk(tmp_path, plain(typed))
    (section, _) = sections(folder)
    found = {link.text_content(): link.get("href") for link in section.xpath(".//pre//a")}
    assert found == {
        "https://x.example/a_b": "https://x.example/a_b",
        "[it](https://y.example/c)": "https://y.example/c",
        f"{name}.openthing": f"../../memos/{name}/index.html",
        f"[the memo](../../memos/inbox/{name}.openthing)": f"../../memos/{name}/index.html",
    }
    assert missing(folder, plain(typed)) == []


@given(st.lists(st.sampled_from(["```", "````", "~~~", "~~~~", "```a", "a", "    ```", "``` a b"])))
def test_fences_are_those_that_a_reader_finds_line_by_line(lines: list[str]) -> None:
    """By looking for the end of each from its beginning."""
    naive: list[tuple[int, int]] = []
    number = 0
    while number < len(lines):
        mark = re.match("`{3,}|~{3,}", lines[number])
        ends = (n for n in range(number + 1, len(lines)) if mark and re.fullmatch(f"{mark[0]}{mark[0][0]}*", lines[n]))
        end = next(ends, None)
        if end is not None:
            naive.append((number, end + 1))
            number = end
        number += 1
    assert fences(lines) == naive
