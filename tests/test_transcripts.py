"""Transcripts: bodies of the known capture tools, what people paste into them, and what would break a parser."""

import datetime as dt
import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.facts.file import most_turns
from memosite.formats.turns import TurnBlock, TurnList, blocks, parse_conversation

STAMPED = """\
# A session

---

## 🧑 User <sub>5/21/2026, 9:22:47 PM</sub>

Please water the plants.

> **🔧 Bash** <sub>5/21/2026, 9:22:50 PM</sub>
> ```
> water --all
> ```

---

## 🤖 Assistant *(sonnet-9)* <sub>5/21/2026, 9:23:01 PM</sub>

Done.

---

The cactus was left out.
"""

PLAIN = """\
## User

Is it raining?

## Assistant

Not yet.
"""


def parse(text: str, started: dt.datetime | None = None) -> TurnList:
    """Read a body whose start, if not given, is unknown."""
    return parse_conversation(text, started=started)


def turn(stamp: str, text: str = "Hello.", speaker: str = "🧑 User") -> str:
    """Write a stamped turn as the capture tools do."""
    return f"---\n\n## {speaker} <sub>{stamp}</sub>\n\n{text}\n\n"


def utc(written: str) -> dt.datetime:
    """Return a moment in UTC."""
    return dt.datetime.fromisoformat(f"{written}+00:00")


def texts(conversation: TurnList) -> list[str]:
    """Return what was said, without the blank lines around it."""
    return [turn.text.strip() for turn in conversation.turns]


def stamps(*written: str) -> list[str | None]:
    """Return the stamps that start a turn in a body that has them all."""
    return [turn.stamp for turn in parse("".join(turn(stamp) for stamp in written)).turns]


def test_a_stamped_body_gives_speakers_models_stamps_and_lines() -> None:
    """The heading's parts are told apart; a plain body has turns without times."""
    found = parse(STAMPED)
    assert found.form == "stamped"
    assert found.preamble == "# A session"
    assert [
        (turn.ordinal, turn.speaker, turn.is_person, turn.model, turn.stamp, turn.line) for turn in found.turns
    ] == [
        (1, "User", True, None, "5/21/2026, 9:22:47 PM", 5),
        (2, "Assistant", False, "sonnet-9", "5/21/2026, 9:23:01 PM", 16),
    ]
    assert texts(parse(STAMPED))[1] == "Done.\n\n---\n\nThe cactus was left out."
    body = turn("5/21/2026, 9:00:00 AM", speaker="🧑 Director") + turn(
        "5/21/2026, 9:00:01 AM", speaker="🤖 garden-engineer *(opus (1m))*"
    )
    said = [(turn.speaker, turn.is_person, turn.model) for turn in parse(body).turns]
    assert said == [("Director", True, None), ("garden-engineer", False, "opus (1m)")]
    found = parse(PLAIN, utc("2026-05-22 11:50"))
    assert found.form == "plain"
    assert [(turn.speaker, turn.is_person, turn.stamp, turn.at) for turn in found.turns] == [
        ("User", True, None, None),
        ("Assistant", False, None, None),
    ]
    assert texts(found) == ["Is it raining?", "Not yet."]
    found = parse("## 🧑 Human\n\na\n\n## 🤖 Assistant *(m-1)*\n\nb\n\n## 🤖 User\n\nc\n")
    assert [(turn.speaker, turn.is_person, turn.model) for turn in found.turns] == [
        ("Human", True, None),
        ("Assistant", False, "m-1"),
        ("User", False, None),
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "Just prose.\n", "## Users\n\nx", "# User\n\nx", "### User\n\nx"])
def test_a_body_of_no_known_form_is_verbatim(text: str) -> None:
    """Nothing is lost: all of it is the preamble."""
    assert parse(text) == TurnList(form="verbatim", preamble=text, turns=())


@pytest.mark.parametrize(
    "before", ["Some words.\n\n", "---\n", "---\nWords.\n\n", "- - -\n\n", "  ---\n\n", "----\n\n"]
)
def test_a_stamped_heading_counts_only_after_a_rule_and_a_blank_line(before: str) -> None:
    """Anything else is a heading that someone wrote."""
    first = turn("5/21/2026, 9:00:00 AM", "Hello.")
    assert len(parse(f"{first}{before}## 🧑 User <sub>5/21/2026, 9:05:00 AM</sub>\n").turns) == 1


def test_the_first_heading_decides_the_form() -> None:
    """What is pasted later, or goes back in time, is no turn; the first may stand at the start of the body."""
    pasted = turn("5/20/2026, 8:00:00 AM", "Old question.") + turn("5/20/2026, 8:01:00 AM", "Old answer.")
    body = turn("5/21/2026, 9:00:00 AM", pasted) + turn("5/21/2026, 9:00:00 AM", "And now?")
    found = parse(body)
    assert len(found.turns) == 2
    assert "Old answer." in found.turns[0].text
    assert texts(found)[1] == "And now?"
    found = parse("## User\n\nSee this:\n\n" + turn("5/20/2026, 8:00:00 AM") + "## Assistant\n\nI see.\n")
    assert (found.form, len(found.turns)) == ("plain", 2)
    found = parse(turn("5/21/2026, 9:00:00 AM", "Plan:\n\n## User\n\nwants tea"))
    assert (found.form, len(found.turns)) == ("stamped", 1)
    found = parse(turn("5/21/2026, 9:00:00 AM").removeprefix("---\n\n"))
    assert (found.form, found.preamble, found.turns[0].line) == ("stamped", "", 1)
    assert parse("Intro.\n\n---\n\n" + turn("5/21/2026, 9:00:00 AM")).preamble == "Intro."


@pytest.mark.parametrize("fence", ["```", "~~~~", "```markdown"])
def test_headings_in_fenced_code_start_no_turn(fence: str) -> None:
    """An example of the format is not a conversation, even if its times fit."""
    closing = fence.removesuffix("markdown")
    example = f"{fence}\n{turn('12/31/2026, 9:00:00 AM')}{turn('12/31/2026, 9:00:01 AM')}\n## User\n{closing}"
    stamped = turn("5/21/2026, 9:00:00 AM", example) + turn("5/21/2026, 9:10:00 AM", "Thanks.")
    assert texts(parse(stamped)) == [example.strip(), "Thanks."]
    plain = f"## User\n\n{example}\n\n## Assistant\n\nThanks."
    assert texts(parse(plain)) == [example.strip(), "Thanks."]


@pytest.mark.parametrize("dangling", ["```", "```python\nx = 1", "````\n```", "~~~"])
@pytest.mark.parametrize("later", ["Words.", "```\nb\n```", "```sh\nb\n```\n\n~~~\nc\n~~~"])
def test_a_fence_left_open_does_not_swallow_the_turns_after_it(dangling: str, later: str) -> None:
    """Models forget to close fences; the next turns, with fences of their own or not, still stand."""
    stamped = turn("5/21/2026, 9:00:00 AM", dangling) + turn("5/21/2026, 9:01:00 AM", later) * 2
    assert texts(parse(stamped)) == [dangling, later, later]
    plain = f"## User\n\n{dangling}\n\n" + f"## Assistant\n\n{later}\n\n" * 2
    assert texts(parse(plain)) == [dangling, later, later]


@pytest.mark.parametrize("inside", ["~~~", "``", "```sh", "``` `"])
def test_code_ends_only_at_a_fence_like_the_one_it_starts_with(inside: str) -> None:
    """Other marks in it, however like a fence, are code."""
    assert len(parse(f"## User\n\n```\n{inside}\n\n## User\n```\n\n## Assistant\n").turns) == 2


def test_an_open_fence_reaches_only_so_far() -> None:
    """One that would hold more headings than any example was left open; a turn may hold many examples."""
    turns = "## User\n\nHm.\n\n" * 40
    assert len(parse(f"## User\n\n```\n\n{turns}```\n## User\n```\n").turns) == 41
    assert len(parse("## User\n" + "```\n## User\n```\n" * 30 + "## Assistant\n").turns) == 2
    text = "~~~x\n## User\n" * 50_000
    found = parse(text)
    assert len(found.turns) == most_turns(len(text))
    assert found.rest.count("## User") == 50_000 - len(found.turns)


@pytest.mark.parametrize(
    "stamp",
    [
        *("5/21/2026, 9:22:47 PM", "5/21/2026, 9:22:47\u202fPM", "5/21/2026, 9:22:47\u00a0pm"),
        *("05/21/2026 9:22:47 p.m.", "5/21/2026, 21:22:47", "21.5.2026, 21:22:47"),
        *("2026-05-21 21:22:47", "2026-05-21T21:22:47"),
    ],
)
def test_stamps_of_many_locales_are_read(stamp: str) -> None:
    """All tell the same time, and each is kept as it is written."""
    found = parse(turn(stamp), utc("2026-05-22 01:22:47"))
    assert (found.turns[0].stamp, found.turns[0].at) == (stamp, utc("2026-05-22 01:22:47"))


@pytest.mark.parametrize(
    "stamp",
    [
        *("2/30/2026, 9:00:00 AM", "13/1/2026, 9:00:00 AM", "5/21/2026, 0:00:00 AM", "5/21/2026, 13:00:00 PM"),
        *("5/21/2026, 24:00:00", "5/21/2026, 9:60:00 AM", "5/21/0026, 9:00:00 AM", "٥/٢١/٢٠٢٦, 9:00:00 AM"),
        *("5/21/2026", "yesterday", ""),
    ],
)
def test_impossible_times_are_no_stamps(stamp: str) -> None:
    """A heading whose time does not exist starts nothing."""
    assert parse(turn(stamp)).form == "verbatim"


def test_the_offset_is_the_start_less_the_first_stamp() -> None:
    """`started` may be in any zone, and 12 AM begins the day; turns go on when the clocks go back, once."""
    found = parse(STAMPED, dt.datetime(2026, 5, 22, 1, 22, 47, 944_000, tzinfo=dt.UTC))
    assert [turn.at for turn in found.turns] == [utc("2026-05-22 01:22:47"), utc("2026-05-22 01:23:01")]
    india = dt.timezone(dt.timedelta(hours=5, minutes=30))
    for started in (dt.datetime(2026, 5, 22, 6, 52, 47, tzinfo=india), dt.datetime(2026, 5, 22, 1, 22, 47)):
        assert parse(STAMPED, started).turns[0].at == utc("2026-05-22 01:22:47")
    body = turn("5/21/2026, 12:00:00 AM") + turn("5/21/2026, 12:00:00 PM")
    assert [turn.at for turn in parse(body, utc("2026-05-21 00:00")).turns] == [
        utc("2026-05-21 00:00"),
        utc("2026-05-21 12:00"),
    ]
    written = ["11/1/2026, 1:50:00 AM", "11/1/2026, 1:05:00 AM", "11/1/2026, 9:00:00 AM"]
    found = parse("".join(turn(stamp) for stamp in written), utc("2026-11-01 05:50"))
    assert [turn.stamp for turn in found.turns] == written
    assert [turn.at for turn in found.turns] == [
        utc("2026-11-01 05:50"),
        utc("2026-11-01 06:05"),
        utc("2026-11-01 14:00"),
    ]
    assert stamps("11/1/2026, 1:50:00 AM", "11/1/2026, 12:49:59 AM") == ["11/1/2026, 1:50:00 AM"]
    assert stamps("11/1/2026, 9:50:00 AM", "11/1/2026, 9:05:00 AM") == ["11/1/2026, 9:50:00 AM"]
    assert stamps("11/1/2026, 2:00:00 AM", "11/1/2026, 1:00:00 AM", "11/1/2026, 12:30:00 AM") == [
        "11/1/2026, 2:00:00 AM",
        "11/1/2026, 1:00:00 AM",
    ]


@pytest.mark.parametrize(
    ("hours", "minutes", "is_offset"),
    [(0, 0, True), (-5, -45, True), (14, 30, True), (14, 45, False), (-15, 0, False), (1, 7, False), (900, 0, False)],
)
def test_only_what_can_be_a_zone_is_an_offset(hours: int, minutes: int, *, is_offset: bool) -> None:
    """A start that belongs to something else gives no times rather than wrong ones."""
    started = utc("2026-05-21 09:00") - dt.timedelta(hours=hours, minutes=minutes)
    found = parse(turn("5/21/2026, 9:00:00 AM"), started)
    assert found.turns[0].at == (started if is_offset else None)


def test_a_turns_text_is_what_can_be_hashed_without_memosite() -> None:
    """Without blank lines and one rule at its end; line ends change no hash, and equal texts are numbered."""
    body = turn("5/21/2026, 9:00:00 AM", "  First.  \n\n---\n\n---\n \t") + turn(
        "5/21/2026, 9:01:00 AM", "Last.\n\n---"
    )
    first, last = parse(body).turns
    assert first.text == "\n  First.  \n\n---"
    assert last.text == "\nLast."
    assert last.digest == hashlib.sha256(b"\nLast.").hexdigest()
    assert (last.anchor, last.hash_anchor) == ("t2", f"t-{last.digest[:8]}")
    assert parse("\ufeff" + STAMPED.replace("\n", "\r\n")) == parse(STAMPED)
    assert parse("\ufeff" + PLAIN.replace("\n", "\r\n")) == parse(PLAIN)
    assert parse("## User\n\n\udcff").turns[0].hash_anchor is not None
    found = parse("## User\n\nYes.\n\n## User\n\n## Assistant\n\nYes.\n\n## User\n\n---\n\n## User\n\nYes.")
    anchor = "t-" + hashlib.sha256(b"\nYes.").hexdigest()[:8]
    assert [turn.hash_anchor for turn in found.turns] == [anchor, None, f"{anchor}-2", None, f"{anchor}-3"]
    assert [turn.anchor for turn in found.turns] == ["t1", "t2", "t3", "t4", "t5"]
    assert found.turns[1].text == found.turns[3].text == ""


LINES = st.sampled_from(
    [
        *("", "Words.", "---", "# Title", "## User", "## 🤖 Assistant *(m)*"),
        *("## 🧑 User <sub>5/21/2026, 9:00:00 AM</sub>", "## 🤖 Assistant *(m)* <sub>5/21/2026, 9:30:00 AM</sub>"),
        *("## 🤖 seat <sub>11/1/2026, 1:40:00 AM</sub>", "## seat <sub>11/1/2026, 1:10:00 AM</sub>"),
        *("> **🔧 Bash** <sub>5/21/2026, 9:00:01 AM</sub>", "> **🔧 Read**", "> quoted", ">"),
        *("<note-tag>inside</note-tag>", "<note-tag>", "</note-tag>", "text </note-tag>"),
    ]
)
FENCES = st.sampled_from(["```", "````md", "~~~", "> ```", "```a`b"])
EXAMPLES = st.sampled_from(["```\n## User\n```", "~~~md\n---\n\n## seat <sub>12/1/2026, 1:10:00 AM</sub>\n~~~"])
BODIES = st.lists(LINES | EXAMPLES).map("\n".join)
WILD_BODIES = st.lists(LINES | FENCES | EXAMPLES | st.text(), max_size=60).map("\n".join)


@given(BODIES, st.lists(LINES.filter(lambda line: "##" not in line)).map("\n".join))
def test_an_appended_turn_changes_no_turn_before_it(text: str, words: str) -> None:
    """Citations of a growing transcript stay valid: anchors, hashes, times, everything."""
    before = parse(text, utc("2026-05-21 09:00"))
    if before.form == "plain":
        grown = f"{text}\n\n## User\n\n{words}\n"
    else:
        grown = f"{text}\n\n{turn('12/31/2026, 9:00:00 PM', words)}"
    after = parse(grown, utc("2026-05-21 09:00"))
    assert after.turns[: len(before.turns)] == before.turns
    assert len(after.turns) == len(before.turns) + 1


def test_tool_calls_and_asides_are_told_from_speech() -> None:
    """Each block has what a page needs to fold it; what a model forgot to close hides no call."""
    text = """
<ide_opened_file>garden.md is open</ide_opened_file>
<system-reminder>
Be brief.
</system-reminder>

Let me look.

> **🔧 Bash** <sub>5/21/2026, 9:22:50 PM</sub>
> ```
> cat "a"
>
>   > b
> ```

> **🔧 mcp__garden__water**
<command-name>/water</command-name>

> A quotation.

Done.
"""
    found = [(block.kind, block.name, block.stamp, block.text) for block in blocks(text)]
    assert found == [
        ("aside", "ide_opened_file", None, "garden.md is open"),
        ("aside", "system-reminder", None, "\nBe brief.\n"),
        ("speech", None, None, "Let me look."),
        ("tool", "Bash", "5/21/2026, 9:22:50 PM", '```\ncat "a"\n\n  > b\n```'),
        ("tool", "mcp__garden__water", None, ""),
        ("aside", "command-name", None, "/water"),
        ("speech", None, None, "> A quotation.\n\nDone."),
    ]
    tool = blocks(text)[3]
    assert text.split("\n")[tool.start : tool.end][0].startswith("> **🔧 Bash**")
    (block,) = blocks("<a-tag>\n\n> **🔧 Bash**\n\n</a-tag>")
    assert (block.kind, block.text) == ("aside", "\n\n> **🔧 Bash**\n\n")
    assert [block.kind for block in blocks("```\nx\n\n> **🔧 Bash**\n\nWords.")] == ["speech", "tool", "speech"]


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_turn_has_no_blocks(text: str) -> None:
    """There is nothing to show."""
    assert blocks(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "```\n> **🔧 Bash**\n```",
        "```\n<a-tag>\n```\n\n</a-tag> here",
        "> A quotation with\n> **🔧 Bash**",
        "Words about <system-reminder>x</system-reminder>",
        "Words\n<system-reminder>x</system-reminder>",
        "<system-reminder>x</system-reminder> and more words",
        "<system-reminder>\nnever closed",
        "<b>HTML</b>",
        '<a-tag id="1">x</a-tag>',
        "> **🔧 **",
        "> **Bash**",
        "    code",
    ],
)
def test_what_only_looks_like_a_tool_call_or_an_aside_is_speech(text: str) -> None:
    """Nothing that was said is folded away."""
    (block,) = blocks(text)
    assert (block.kind, block.text, block.start, block.end) == ("speech", text, 0, len(text.split("\n")))


def source_of(block: TurnBlock) -> str:
    """Write a block as it stood in its turn."""
    if block.kind == "tool":
        stamp = f" <sub>{block.stamp}</sub>" if block.stamp is not None else ""
        return f"> **🔧 {block.name}**{stamp}\n" + "\n".join(f"> {line}" for line in block.text.split("\n"))
    return f"<{block.name}>{block.text}</{block.name}>" if block.kind == "aside" else block.text


@given(WILD_BODIES)
def test_blocks_hold_all_that_the_turn_holds(text: str) -> None:
    """Written one after the other they are the text again, but for white space and quote marks."""
    again = "\n\n".join(source_of(block) for block in blocks(text))
    assert re.sub(r"[\s>]", "", again) == re.sub(r"[\s>]", "", text)
