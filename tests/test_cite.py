"""Citations as text and as Markdown, and the words they quote."""

import dataclasses

from memosite.archive.cite import Citation, quote_of
from tests.support.plain import plain_text

PLAIN = Citation(
    ref="memo/a",
    url="https://archive.example.org/memos/a/",
    title="The load",
    speaker="strategist",
    time="2026-04-21T13:00:00Z",
    quote="Two loads",
    sha256="0f" * 32,
)


def test_a_citation_names_everything_that_is_needed_to_check_it() -> None:
    """Who, what, where, when, and the hash of the source."""
    assert PLAIN.text == (
        "strategist: “Two loads”. The load (memo/a). 2026-04-21T13:00:00Z. "
        f"https://archive.example.org/memos/a/. sha256:{'0f' * 32}"
    )
    assert PLAIN.markdown == (
        "> Two loads\n>\n> — strategist, [The load](<https://archive.example.org/memos/a/>), `memo/a`, "
        f"2026-04-21T13:00:00Z, sha256:{'0f' * 32}"
    )


def test_a_raw_source_is_said_to_be_one() -> None:
    """A reader must know before quoting."""
    raw = dataclasses.replace(PLAIN, note="raw")
    assert raw.text.endswith(" (raw)")
    assert raw.markdown.endswith(" (raw)")


def test_what_is_not_known_is_left_out() -> None:
    """Without words, date and speaker, a citation is one line."""
    bare = dataclasses.replace(PLAIN, speaker="", time="", quote="")
    assert bare.text == f"The load (memo/a). https://archive.example.org/memos/a/. sha256:{'0f' * 32}"
    assert bare.markdown.startswith("— [The load]")


def test_words_stay_words_in_markdown() -> None:
    """What is quoted and who is named cannot become markup or a second line."""
    hostile = "*a* [b](javascript:c) <script>\n# d `e` |f| &amp;"
    cited = dataclasses.replace(PLAIN, quote=hostile, title=hostile, speaker=hostile)
    words = " ".join(hostile.split())
    assert plain_text(cited.markdown).startswith(f"{words}\n— {words}, {words}, memo/a")


def test_a_quote_is_cut_as_editors_do() -> None:
    """What is left out is marked in brackets; a short text is quoted whole and plain."""
    assert quote_of("Yes, **all** of `it`.") == "Yes, all of it."
    assert quote_of("## Plan\n\n" + "word " * 100).endswith("word […]")
    assert quote_of("") == ""
