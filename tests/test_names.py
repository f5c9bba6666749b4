"""Ids, references and short subjects are made from names as SPEC 2.2 and 3 say."""

import hashlib
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from memosite.facts.names import (
    ID_BYTES,
    NO_SUBJECT,
    SHORT_SUBJECT,
    is_bare_name,
    make_id,
    read_reference,
    read_stamped_name,
    short_hash,
    short_subject,
    stem_of,
)

STEM = "2026-05-01-1430--engineer--director--gate-is-green"
OTHER = "2026-05-02-0900--director--engineer--thanks"


def sha8(text: str) -> str:
    """What SPEC 3 appends to an id that had to be changed."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def test_an_id_is_the_stem_with_one_dash_for_other_characters_and_at_most_200_bytes() -> None:
    """Letters and digits of any script, `.`, `_`, `-` stay; 8 hex of the SHA-256 of its NFC tell of a change."""
    for allowed in [STEM, "plan", "Plan_2.1", "日本語-の-名前", "x..y", "a-", "٣", "v0.2", "_draft", "-dash"]:
        assert make_id(allowed) == allowed
    for kept, stems in [
        *(("a-b", ("a b", "a  ,;  b", "a~b", "a/b")), ("what-s-new-", ("what's new?",)), ("-cup", ("½ cup",))),
        *(("-", ("~", "Ⅷ", "🎉")), ("hidden", (".hidden", "..hidden")), ("", ("...", "")), ("a-b-c", ("a\nb\tc",))),
    ]:
        assert [make_id(stem) for stem in stems] == [f"{kept}-{sha8(stem)}" for stem in stems], kept
    assert make_id(unicodedata.normalize("NFD", "café")) == "café"
    assert make_id(unicodedata.normalize("NFD", "café au lait")) == make_id("café au lait")
    assert make_id("é" * 100) == "é" * 100
    long = "x" + "é" * 100
    assert make_id(long) == "x" + "é" * 95 + "-" + sha8(long)
    assert len(make_id(long).encode()) == 200
    first, second = make_id("caf\udce9"), make_id("caf\udcea")
    assert first != second
    assert first.startswith("caf--")
    assert first.encode("utf-8")
    assert short_hash("gate is green ✓") == sha8("gate is green ✓")


@given(st.text())
@example("." * 300)
@example("e\u0301" * 150)
def test_an_id_is_always_fit_for_a_url_and_a_file_name(stem: str) -> None:
    """Never empty, never too long, no leading dot, nothing but what is allowed, and in NFC.

    An id of an id is the same, so that a ledger's ids can be looked up as stems.
    """
    id_ = make_id(stem)
    assert id_
    assert not id_.startswith(".")
    assert len(id_.encode()) <= ID_BYTES
    assert unicodedata.is_normalized("NFC", id_)
    assert all(unicodedata.category(char)[0] in "LN" or char in "._-" for char in id_)
    assert "~" not in id_
    assert make_id(id_) == id_


def test_a_stem_is_a_name_without_extension_and_tells_date_sender_recipient_and_subject() -> None:
    """As far as it can: a transcript's has a role and no recipient; an impossible date is none."""
    for filename, stem in [
        (f"{STEM}.openthing", STEM),
        (f"{STEM}.body.md", STEM),
        ("SHOUTED.OPENTHING", "SHOUTED"),
        ("handoff-v0.2.openthing", "handoff-v0.2"),
        ("brief.md", "brief"),
        ("catalog.opencatalog", "catalog"),
        ("no-extension", "no-extension"),
        (".openthing", ""),
        (".hidden", ".hidden"),
    ]:
        assert stem_of(filename) == stem
    for named, told in [
        (STEM, ("2026-05-01T14:30:00Z", "engineer", "director", "gate-is-green")),
        ("2026-05-01-1430--engineer--first-session", ("2026-05-01T14:30:00Z", "engineer", None, "first-session")),
        ("2026-05-01--a--b--x--y", ("2026-05-01T00:00:00Z", "a", "b", "x--y")),
        ("2026-05-01-1430--just-words", ("2026-05-01T14:30:00Z", None, None, "just-words")),
        ("2026-99-99-1430--a--b--x", (None, "a", "b", "x")),
        ("2026-05-01-1430----b--x", ("2026-05-01T14:30:00Z", None, "b", "x")),
        ("gate-is-green", (None, None, None, "gate-is-green")),
        ("٢٠٢٦-05-01-1430--a--b--x", (None, None, None, "٢٠٢٦-05-01-1430--a--b--x")),
    ]:
        name = read_stamped_name(named)
        assert name.date is None or name.date.origin == "name", named
        assert (name.date.utc if name.date else None, name.sender, name.recipient, name.slug) == told, named


def test_a_reference_is_its_first_stamped_name_or_its_base_name() -> None:
    """However it is written; the base name is the last part of a path, less its extension; some refer to nothing."""
    for written, stem in [
        ("welcome.openthing", "welcome"),
        ("../read/welcome.openthing", "welcome"),
        ("read\\welcome.openthing and more", "welcome"),
        ("welcome.openthing and/or not", "welcome"),
        ("read/welcome/", "welcome"),
        ("session-handoff-v0.2.openthing", "session-handoff-v0.2"),
        ("2026-05-01--a--b--x (by day)", "2026-05-01--a--b--x"),
        ("2026-05-01-1430--a--b--what's new.openthing", "2026-05-01-1430--a--b--what's new"),
        ("memos/2026-05-01-1430--a--b--c&d (copy).openthing", "2026-05-01-1430--a--b--c"),
        ("2026-05-01-1430--a--b--x. Also plan.openthing", "2026-05-01-1430--a--b--x"),
        ("2026-05-01-1430--engineer--director--cafe\u0301.openthing", "2026-05-01-1430--engineer--director--café"),
        ("İstanbul.openthing, later", "İstanbul"),
        ("memos/2026-05-01-1430--a--b--re:-gate-7.openthing", "2026-05-01-1430--a--b--re:-gate-7"),
        ("2026-05-01-1430--a--b--re:-gate-7 (again)", "2026-05-01-1430--a--b--re:-gate-7"),
        ("2026-05-01-1430--a--b--x: the part about the gate", "2026-05-01-1430--a--b--x"),
        *(
            (text, None)
            for text in (
                *("", "  ", f"Not in-reply-to {STEM}.openthing", "not in-reply-to anything", '"Not in-reply-to" x'),
                *("..", "/", ".openthing"),
            )
        ),
        *(
            (text, STEM)
            for text in (
                f"{STEM}.openthing",
                STEM,
                f"{STEM}.body.md",
                f"memos/inbox/{STEM}.openthing",
                f"./{STEM}.openthing",
                f"S:\\projects\\gate\\memos\\read\\{STEM}.openthing",
                f"s:/projects/gate/memos/{STEM}.openthing",
                f"file:///srv/gate/{STEM}.openthing",
                f"https://git.example.org/gate/blob/main/memos/{STEM}.openthing?plain=1#L3",
                f"{STEM}.openthing (the second of two)",
                f"{STEM} - see the part about the gate",
                f"{STEM}; and {OTHER}.openthing",
                f"{STEM}, not {OTHER}",
                f"{STEM}.",
                f"  `{STEM}.openthing`\n",
                f"In reply to {STEM}.openthing",
                f"{STEM}.OPENTHING",
            )
        ),
    ]:
        assert read_reference(written) == stem


@given(st.text())
def test_a_reference_is_none_or_a_name_without_a_folder(written: str) -> None:
    """Whatever the text, no separator survives but inside a name that has none to give, and nothing raises."""
    reference = read_reference(written)
    assert reference is None or (reference.strip(". ") and "/" not in reference and "\\" not in reference)


@given(st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{4}--[a-z]{1,5}--[a-z]{1,5}--[a-z0-9]{1,9}", fullmatch=True))
def test_a_stem_refers_to_itself_with_and_without_extension(stem: str) -> None:
    """Reading a reference once more changes nothing."""
    assert read_reference(stem) == read_reference(f"{stem}.openthing") == stem


def test_a_bare_name_has_no_folder_drive_or_scheme() -> None:
    """What memodef asks of `body_ref` and `in_reply_to`."""
    for text, is_bare in (
        [(text, True) for text in ("a.body.md", "a b.md", "2026-05-01-1430--a--b--re:-gate.body.md", "re:-gate.md")]
        + [(text, False) for text in ("a/b.md", "a\\b.md", "c:b.md", "", ".", "..", "https://x.org/a.md", "a\0.md")]
        + [(text, False) for text in ("file:a.md", "data:text/html,x", "C:")]
    ):
        assert is_bare_name(text) is is_bare


def test_a_short_subject_is_the_first_clause_that_says_enough_else_the_name_speaks() -> None:
    """Long ones end at a clause, a word, or the bound; never nothing; marks, joined emoji and skin tones stay."""
    for subject, short in [
        ("Gate is green", "Gate is green"),
        ("  Gate\n is\t green ", "Gate is green"),
        ("x" * 100, "x" * 100),
        ("x" * 101, "x" * 99 + "…"),
        ("The gate went green at noon; " + "and then " * 20, "The gate went green at noon"),
        ("Why did the gate go green at noon? " + "and then " * 20, "Why did the gate go green at noon?"),
        ("Gate: " + "and then " * 20, "Gate: " + "and then " * 10 + "and…"),
        ("word " * 40, "word " * 19 + "word…"),
        ("門が緑になりました。" * 20, "門が緑になりました。門が緑になりました。門が緑になりました"),
        ("Handoff after the second session — what was built (and why) " * 3, "Handoff after the second session"),
    ]:
        assert short_subject(subject, stem=STEM) == short
    for stem, short in [
        (STEM, "Gate is green"),
        ("plan_of_may", "Plan of may"),
        ("---", "---"),
        ("", NO_SUBJECT),
        ("\u200b", NO_SUBJECT),
    ]:
        assert short_subject("", stem=stem) == short_subject(" \u200b\n", stem=stem) == short
    for tail in ["e\u0301", "👩\u200d👩\u200d👧", "👍🏽"]:
        for length in range(90, 101):
            short = short_subject("x" * length + tail * 20, stem=STEM)
            assert unicodedata.category(short[-2]) != "Mn" or short[-3:-1] == "e\u0301", tail
            assert not short.endswith(("\u200d…", "👍…")), tail


@given(subject=st.text(max_size=400), stem=st.text(max_size=250))
@example(subject="\u2028\u0085\x1b[31m", stem="")
@example(subject="x" * 24 + " —" * 50, stem="")
@example(subject=", " * 200, stem="a")
def test_a_short_subject_is_one_visible_line_of_at_most_100_characters(subject: str, stem: str) -> None:
    """Whatever stands in the field: one line, no control characters, never empty, the same each time."""
    short = short_subject(subject, stem=stem)
    assert 0 < len(short) <= SHORT_SUBJECT
    assert short == " ".join(short.split())
    assert not any(unicodedata.category(char) == "Cc" for char in short)
    assert short == short_subject(subject, stem=stem)
