"""Transcripts: bodies of the known capture tools, what people paste into them, and what would break a parser."""

import datetime as dt
import hashlib
import re

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


def said(conversation: TurnList) -> list[tuple[str, bool, str | None]]:
    """Return who speaks in each turn, whether that is a person, and the model."""
    return [(turn.speaker, turn.is_person, turn.model) for turn in conversation.turns]


def stamps(*written: str) -> list[str | None]:
    """Return the stamps that start a turn in a body that has them all."""
    return [turn.stamp for turn in parse("".join(turn(stamp) for stamp in written)).turns]


def test_a_stamped_body_gives_speakers_models_stamps_and_texts() -> None:
    """The heading's parts are told apart; a text is what can be hashed without memosite, equal ones are numbered."""
    found = parse(STAMPED)
    assert found.form == "stamped"
    assert found.preamble == "# A session"
    assert said(found) == [("User", True, None), ("Assistant", False, "sonnet-9")]
    places = [(turn.ordinal, turn.stamp, turn.line) for turn in found.turns]
    assert places == [(1, "5/21/2026, 9:22:47 PM", 5), (2, "5/21/2026, 9:23:01 PM", 16)]
    assert texts(parse(STAMPED))[1] == "Done.\n\n---\n\nThe cactus was left out."
    body = turn("5/21/2026, 9:00:00 AM", speaker="🧑 Director")
    body += turn("5/21/2026, 9:00:01 AM", speaker="🤖 garden-engineer *(opus (1m))*")
    assert said(parse(body)) == [("Director", True, None), ("garden-engineer", False, "opus (1m)")]
    found = parse(PLAIN, utc("2026-05-22 11:50"))
    assert found.form == "plain"
    assert said(found) == [("User", True, None), ("Assistant", False, None)]
    assert [(turn.stamp, turn.at) for turn in found.turns] == [(None, None)] * 2
    assert texts(found) == ["Is it raining?", "Not yet."]
    found = parse("## 🧑 Human\n\na\n\n## 🤖 Assistant *(m-1)*\n\nb\n\n## 🤖 User\n\nc\n")
    assert said(found) == [("Human", True, None), ("Assistant", False, "m-1"), ("User", False, None)]
    body = turn("5/21/2026, 9:00:00 AM", "  First.  \n\n---\n\n---\n \t")
    body += turn("5/21/2026, 9:01:00 AM", "Last.\n\n---")
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


def test_the_first_heading_decides_the_form_and_those_in_fenced_code_start_no_turn() -> None:
    """What is pasted later, or goes back in time, is no turn; a fence that was left open swallows none."""
    for text in ["", "\n\n", "Just prose.\n", "## Users\n\nx", "# User\n\nx", "### User\n\nx"]:
        assert parse(text) == TurnList(form="verbatim", preamble=text, turns=())
    for before in ["Some words.\n\n", "---\n", "---\nWords.\n\n", "- - -\n\n", "  ---\n\n", "----\n\n"]:
        first = turn("5/21/2026, 9:00:00 AM", "Hello.")
        assert len(parse(f"{first}{before}## 🧑 User <sub>5/21/2026, 9:05:00 AM</sub>\n").turns) == 1
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
    for fence in ["```", "~~~~", "```markdown"]:
        closing = fence.removesuffix("markdown")
        example = f"{fence}\n{turn('12/31/2026, 9:00:00 AM')}{turn('12/31/2026, 9:00:01 AM')}\n## User\n{closing}"
        stamped = turn("5/21/2026, 9:00:00 AM", example) + turn("5/21/2026, 9:10:00 AM", "Thanks.")
        assert texts(parse(stamped)) == [example.strip(), "Thanks."]
        plain = f"## User\n\n{example}\n\n## Assistant\n\nThanks."
        assert texts(parse(plain)) == [example.strip(), "Thanks."]
    for dangling in ["```", "```python\nx = 1", "````\n```", "~~~"]:
        for later in ["Words.", "```\nb\n```", "```sh\nb\n```\n\n~~~\nc\n~~~"]:
            stamped = turn("5/21/2026, 9:00:00 AM", dangling) + turn("5/21/2026, 9:01:00 AM", later) * 2
            assert texts(parse(stamped)) == [dangling, later, later]
            plain = f"## User\n\n{dangling}\n\n" + f"## Assistant\n\n{later}\n\n" * 2
            assert texts(parse(plain)) == [dangling, later, later]
    for inside in ["~~~", "``", "```sh", "``` `"]:
        assert len(parse(f"## User\n\n```\n{inside}\n\n## User\n```\n\n## Assistant\n").turns) == 2
    turns = "## User\n\nHm.\n\n" * 40
    assert len(parse(f"## User\n\n```\n\n{turns}```\n## User\n```\n").turns) == 41
    assert len(parse("## User\n" + "```\n## User\n```\n" * 30 + "## Assistant\n").turns) == 2
    text = "~~~x\n## User\n" * 50_000
    found = parse(text)
    assert len(found.turns) == most_turns(len(text))
    assert found.rest.count("## User") == 50_000 - len(found.turns)


def test_stamps_of_many_locales_are_read_and_give_the_offset() -> None:
    """The start less the first stamp, if that can be a zone; impossible times start nothing."""
    for stamp in [
        *("5/21/2026, 9:22:47 PM", "5/21/2026, 9:22:47\u202fPM", "5/21/2026, 9:22:47\u00a0pm"),
        *("05/21/2026 9:22:47 p.m.", "5/21/2026, 21:22:47", "21.5.2026, 21:22:47"),
        *("2026-05-21 21:22:47", "2026-05-21T21:22:47"),
    ]:
        found = parse(turn(stamp), utc("2026-05-22 01:22:47"))
        assert (found.turns[0].stamp, found.turns[0].at) == (stamp, utc("2026-05-22 01:22:47"))
    for stamp in [
        *("2/30/2026, 9:00:00 AM", "13/13/2026, 9:00:00 AM", "5/21/2026, 0:00:00 AM", "5/21/2026, 13:00:00 PM"),
        *("5/21/2026, 24:00:00", "5/21/2026, 9:60:00 AM", "5/21/0026, 9:00:00 AM", "٥/٢١/٢٠٢٦, 9:00:00 AM"),
        *("5/21/2026", "yesterday", ""),
    ]:
        assert parse(turn(stamp)).form == "verbatim"
    for hours, minutes, is_offset in [
        *((0, 0, True), (-5, -45, True), (14, 30, True), (14, 45, False), (-15, 0, False), (1, 7, False)),
        (900, 0, False),
    ]:
        started = utc("2026-05-21 09:00") - dt.timedelta(hours=hours, minutes=minutes)
        found = parse(turn("5/21/2026, 9:00:00 AM"), started)
        assert found.turns[0].at == (started if is_offset else None)
    found = parse(STAMPED, dt.datetime(2026, 5, 22, 1, 22, 47, 944_000, tzinfo=dt.UTC))
    assert [turn.at for turn in found.turns] == [utc("2026-05-22 01:22:47"), utc("2026-05-22 01:23:01")]
    india = dt.timezone(dt.timedelta(hours=5, minutes=30))
    for started in (dt.datetime(2026, 5, 22, 6, 52, 47, tzinfo=india), dt.datetime(2026, 5, 22, 1, 22, 47)):
        assert parse(STAMPED, started).turns[0].at == utc("2026-05-22 01:22:47")
    body = turn("5/21/2026, 12:00:00 AM") + turn("5/21/2026, 12:00:00 PM")
    found = parse(body, utc("2026-05-21 00:00"))
    assert [turn.at for turn in found.turns] == list(map(utc, ("2026-05-21 00:00", "2026-05-21 12:00")))
    written = ["11/1/2026, 1:50:00 AM", "11/1/2026, 1:05:00 AM", "11/1/2026, 9:00:00 AM"]
    found = parse("".join(turn(stamp) for stamp in written), utc("2026-11-01 05:50"))
    assert [turn.stamp for turn in found.turns] == written
    times = ("2026-11-01 05:50", "2026-11-01 06:05", "2026-11-01 14:00")
    assert [turn.at for turn in found.turns] == list(map(utc, times))
    assert stamps("11/1/2026, 1:50:00 AM", "11/1/2026, 12:49:59 AM") == ["11/1/2026, 1:50:00 AM"]
    assert stamps("11/1/2026, 9:50:00 AM", "11/1/2026, 9:05:00 AM") == ["11/1/2026, 9:50:00 AM"]
    written = ["11/1/2026, 2:00:00 AM", "11/1/2026, 1:00:00 AM", "11/1/2026, 12:30:00 AM"]
    assert stamps(*written) == written[:2]


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
    """What a model forgot to close hides no call, and nothing that was said is folded away."""
    for text in ["", "\n \n"]:
        assert blocks(text) == ()
    for text in [
        *("```\n> **🔧 Bash**\n```", "```\n<a-tag>\n```\n\n</a-tag> here", "> A quotation with\n> **🔧 Bash**"),
        *("Words about <system-reminder>x</system-reminder>", "Words\n<system-reminder>x</system-reminder>"),
        *("<system-reminder>x</system-reminder> and more words", "<system-reminder>\nnever closed", "<b>HTML</b>"),
        *('<a-tag id="1">x</a-tag>', "> **🔧 **", "> **Bash**", "    code"),
    ]:
        (block,) = blocks(text)
        assert (block.kind, block.text, block.start, block.end) == ("speech", text, 0, len(text.split("\n")))
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
