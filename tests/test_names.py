"""Ids, references and short subjects are made from names as SPEC 2.2 and 3 say; moments; characters of a terminal."""

import datetime as dt
import hashlib
import json
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from memosite.facts.characters import masked, printable, printable_json, without_surrogates
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
    spoken,
    stem_of,
)
from memosite.facts.times import UTC, Moment, read_moment, read_stamp

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
    assert make_id(long) == "x" + "é" * 95 + "-" + sha8(long) and len(make_id(long).encode()) == 200
    first, second = make_id("caf\udce9"), make_id("caf\udcea")
    assert first != second and first.startswith("caf--")
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
    assert id_ and not id_.startswith(".")
    assert len(id_.encode()) <= ID_BYTES and unicodedata.is_normalized("NFC", id_)
    assert all(unicodedata.category(char)[0] in "LN" or char in "._-" for char in id_)
    assert "~" not in id_ and make_id(id_) == id_


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


def test_a_title_that_is_the_name_of_a_file_is_said_in_words() -> None:
    """Any other stays: with a space, a capital or an underscore, a date, a number."""
    assert spoken("after-the-county-file") == "After the county file"
    assert (spoken("task-42"), spoken("été-ok")) == ("Task 42", "Été ok")
    for title in ("auth", "2026-05-01", "Auth-module", "a_b-c", "a -b", "list_reviews", "-a-", "", "a--b"):
        assert spoken(title) == title


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
    assert 0 < len(short) <= SHORT_SUBJECT and short == " ".join(short.split())
    assert not any(unicodedata.category(char) == "Cc" for char in short)
    assert short == short_subject(subject, stem=stem)


# Moments: read leniently, with the offset that was written, sorted by instant


def test_a_date_is_read_as_it_was_meant_and_a_names_stamp_as_a_last_resort() -> None:
    """ISO 8601 as people and tools write it, without a zone in UTC; no placeholder, no invented date."""
    for written, utc, zone in [
        ("2026-05-01T14:30:00Z", "2026-05-01T14:30:00Z", "+00:00"),
        ("2026-05-01t14:30:00z", "2026-05-01T14:30:00Z", "+00:00"),
        ("2026-05-01T14:30:00-04:00", "2026-05-01T18:30:00Z", "-04:00"),
        ("2026-05-01T14:30:00+0530", "2026-05-01T09:00:00Z", "+05:30"),
        ("2026-05-01T14:30:00+14", "2026-05-01T00:30:00Z", "+14:00"),
        ("2026-05-01 14:30 +02:00", "2026-05-01T12:30:00Z", "+02:00"),
        ("2026-05-01T14:30:00-00:00", "2026-05-01T14:30:00Z", "+00:00"),
        ("2026-05-01T14:30", "2026-05-01T14:30:00Z", None),
        ("2026-05-01T14", "2026-05-01T14:00:00Z", None),
        ("2026-05-01", "2026-05-01T00:00:00Z", None),
        (" 2026-05-01\n", "2026-05-01T00:00:00Z", None),
        ("20260501T143000Z", "2026-05-01T14:30:00Z", "+00:00"),
        ("20260501", "2026-05-01T00:00:00Z", None),
        ("2026-05-20T22:29:20.944Z", "2026-05-20T22:29:20.944Z", "+00:00"),
        ("2026-05-20T22:29:20,5Z", "2026-05-20T22:29:20.500Z", "+00:00"),
        ("2026-05-20T22:29:20.123456789Z", "2026-05-20T22:29:20.123Z", "+00:00"),
        ("2026-05-20T22:29:20.000000001Z", "2026-05-20T22:29:20Z", "+00:00"),
        ("2026-05-01T24:00:00Z", "2026-05-02T00:00:00Z", "+00:00"),
        ("2026-12-31T23:59:60Z", "2027-01-01T00:00:00Z", "+00:00"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "+00:00"),
        ("2024-02-29", "2024-02-29T00:00:00Z", None),
        *(
            (text, None, None)
            for text in (
                *("", "<ISO 8601 timestamp>", "YYYY-MM-DDTHH:MM:SSZ", "yesterday", "2026-02-29", "2026-13-01"),
                *("2026-00-10", "0000-01-01", "2026-05-01T25:00:00Z", "2026-05-01T24:01:00Z", "2026-05-01T14:60:00Z"),
                *("2026-05-01T14:30:61Z", "2026-05-01T14:30:00+24:00", "2026-05-01T14:30:00+01:60"),
                *("2026-05-01T14:3000Z", "2026-0501", "2026-05-01T", "2026-05-01T14:30:00 UTC"),
                *("9999-12-31T23:59:59-04:00", "0001-01-01T00:00:00+04:00", "٢٠٢٦-05-01"),
                *("2026-05-01Z", "2026-05-01T14.5"),
            )
        ),
    ]:
        moment = read_moment(written)
        assert (moment and moment.utc, moment and moment.zone) == (utc, zone), written
        assert moment is None or (moment.offset is None) == (zone is None), written
    for stamp, utc in [
        ("2026-05-01-1430", "2026-05-01T14:30:00Z"),
        ("2026-05-01", "2026-05-01T00:00:00Z"),
        ("2026-05-01-0000", "2026-05-01T00:00:00Z"),
        *((text, None) for text in ("2026-05-01-9999", "2026-13-01", "2026-05-01-14x0", "")),
    ]:
        moment = read_stamp(stamp)
        assert (moment and moment.utc) == utc, stamp
        assert moment is None or (moment.offset, moment.origin) == (None, "name"), stamp


@given(st.datetimes(timezones=st.just(UTC)), st.integers(-24 * 60, 24 * 60))
def test_a_local_time_never_raises_even_at_the_ends_of_time(instant: dt.datetime, offset: int) -> None:
    """Where the wall clock would leave years 1 to 9999, UTC stands in."""
    local = Moment(instant=instant, offset=offset).local
    assert local.tzinfo is None


@given(st.datetimes(min_value=dt.datetime(2, 1, 1), max_value=dt.datetime(9998, 1, 1)), st.integers(-1439, 1439))
def test_what_python_writes_is_read_back(naive: dt.datetime, minutes: int) -> None:
    """Any instant in any offset of whole minutes, to the microsecond; the writer's clock is kept, without its zone."""
    written = naive.replace(tzinfo=dt.timezone(dt.timedelta(minutes=minutes)))
    moment = read_moment(written.isoformat())
    assert moment == Moment(instant=written.astimezone(UTC), offset=minutes)
    assert moment is not None and moment.local == naive


# Characters that no terminal may act on, and that no file may hold


TEXTS = st.text(st.characters())  # lone surrogates, too


def test_what_a_terminal_would_act_on_is_escaped_or_masked_and_halves_replaced_for_a_file() -> None:
    """No text clears the screen, begins a line or turns the direction; whole characters stay in a file."""
    text = "a\x1b[2Jb\nc\u202ed\ud800 Ж"
    assert printable(text) == r"a\x1b[2Jb\nc\u202ed\ud800 Ж"
    assert masked(text) == "a\ufffd[2Jb\ufffdc\ufffdd\ufffd Ж"
    assert without_surrogates("a\ud83d b\udc80 \U0001f600\x1b\n") == "a\ufffd b\ufffd \U0001f600\x1b\n"


@given(TEXTS)
def test_whatever_a_text_holds_it_can_be_shown_and_written(text: str) -> None:
    """Any text becomes one printable line, and text that is UTF-8; a clean text is left as it is."""
    assert printable(text).isprintable()
    written = printable_json({text: [text]})
    assert written.isprintable()
    json.loads(written)
    assert masked(text).isprintable() and len(masked(text)) == len(text)
    assert json.loads(json.dumps(without_surrogates(text)).encode()) == without_surrogates(text)
    without_surrogates(text).encode()
    if all(unicodedata.category(char)[0] in "LNPS" for char in text):
        assert printable(text) == masked(text) == text
