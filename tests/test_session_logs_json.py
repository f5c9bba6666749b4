"""Session logs of JSON become turns: Claude Code, Codex, Gemini CLI (SPEC 2.2, sessions).

All logs here are invented; Gemini CLI, compactions, forks and doubled chains were not at hand as real files. They have
the shape that the contract describes.
"""

import base64
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memosite.formats.sessions import claude_code, codex, gemini, lines
from memosite.formats.sessions.model import MOST_SHOWN, Part, Session, SessionTurn, title_of
from tests.support.mutations import mutated, mutated_json

Json = dict[str, Any]

ID = "5f0c1d6e-7a6b-4c61-9a56-1f7f5f0f9a01"
OTHER_ID = "0b9d3c52-6a44-4d0e-8a07-3c1d5b7e2f02"
FORMS = (claude_code, codex, gemini)


def jsonl(*records: Any, end: str = "\n") -> bytes:
    """Records as lines; a string is a line as it is."""
    texts = (record if isinstance(record, str) else json.dumps(record, ensure_ascii=False) for record in records)
    return "".join(text + end for text in texts).encode("utf-8", "surrogatepass")


def stamp(number: int) -> str:
    """A time, later for larger numbers."""
    return f"2026-05-01T{14 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"


class Claude:
    """A log of Claude Code that grows: each record follows the last one."""

    def __init__(self, prefix: str = "u") -> None:
        self.records: list[Json] = []
        self.prefix = prefix
        self.last: str | None = None

    def add(self, type_: str, content: Any = None, *, parent: str | None = "", **more: Any) -> str:
        """Adds a record, and gives its id."""
        number = len(self.records)
        record: Json = {
            "parentUuid": self.last if parent == "" else parent,
            "isSidechain": False,
            "cwd": "/srv/tides",
            "sessionId": ID,
            "version": "2.1.9",
            "gitBranch": "main",
            "type": type_,
            "uuid": f"{self.prefix}{number}",
            "timestamp": stamp(number),
        }
        if content is not None:
            record["message"] = {"role": type_, "content": content}
            if type_ == "assistant":
                record["message"]["model"] = "model-9"
        self.records.append(record | more)
        self.last = record["uuid"]
        return str(record["uuid"])

    def ask(self, text: Any, **more: Any) -> str:
        """What a person typed, or what stands in that place."""
        return self.add("user", text, **more)

    def say(self, text: str, **more: Any) -> str:
        """A text of the agent."""
        return self.add("assistant", [{"type": "text", "text": text}], **more)

    def think(self, text: str) -> str:
        """A thought of the agent."""
        return self.add("assistant", [{"type": "thinking", "thinking": text, "signature": "c2ln"}])

    def call(self, name: str, given: Any, id_: str = "") -> str:
        """A call of a tool; gives the id of the call."""
        id_ = id_ or f"call{len(self.records)}"
        self.add("assistant", [{"type": "tool_use", "id": id_, "name": name, "input": given}])
        return id_

    def back(self, call: str, output: Any, *, is_error: bool = False, **more: Any) -> str:
        """The result of a call."""
        block = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": is_error}
        return self.add("user", [block], **more)

    def run(self, name: str, given: Any, output: Any, **more: Any) -> None:
        """A call with its result."""
        self.back(self.call(name, given), output, **more)

    @property
    def data(self) -> bytes:
        """The log as it is in its file."""
        return jsonl(*self.records)

    @property
    def session(self) -> Session:
        """The one session of the log."""
        return the_session(claude_code, self.data)


def the_session(form: ModuleType, data: bytes) -> Session:
    """The one session of a log."""
    assert form.matches(data)
    (session,) = form.read(data)
    assert isinstance(session, Session)
    return session


def outline(session: Session) -> list[tuple[str, str]]:
    """Kind and text of each turn."""
    return [(turn.kind, turn.text) for turn in session.turns]


def kinds(session: Session) -> list[str]:
    """The kind of each turn."""
    return [turn.kind for turn in session.turns]


def parts(session: Session, kind: str) -> list[Part]:
    """All parts of a kind."""
    return [part for turn in session.turns for part in (*turn.lead, *turn.parts) if part.kind == kind]


def rules(session: Session) -> list[tuple[str, int]]:
    """The rules that the log broke, with the lines."""
    return [(problem.rule, problem.line) for problem in session.problems]


# Lines


def test_lines_may_end_in_crlf_and_blank_lines_are_nothing() -> None:
    """They count as lines all the same: a line number is that of the file."""
    log = Claude()
    log.ask("Which ferry?")
    log.say("The grey one.")
    windows = jsonl(log.records[0], "", "   ", log.records[1], end="\r\n")
    session = the_session(claude_code, windows)
    assert outline(session) == outline(log.session)
    assert [turn.line for turn in session.turns] == [1, 4]
    assert session.problems == ()


def test_a_line_that_is_no_object_is_a_finding_and_is_shown_where_it_stands() -> None:
    """Before the first turn, or behind the last one so far."""
    log = Claude()
    log.ask("Which ferry?")
    log.say("The grey one.")
    session = the_session(claude_code, jsonl("// copied from a gist", log.records[0], "[1, 2]", log.records[1]))
    assert rules(session) == [("session-line", 1), ("session-line", 3)]
    first = session.turns[0]
    assert [(part.kind, part.text, part.line) for part in (*first.lead, *first.parts)] == [
        ("verbatim", "// copied from a gist", 1),
        ("verbatim", "[1, 2]", 3),
    ]


def test_only_the_first_hundred_such_lines_are_told_one_by_one() -> None:
    """The others are counted: a file may have a million."""
    log = Claude()
    log.ask("Which ferry?")
    session = the_session(claude_code, jsonl(log.records[0], *["x"] * 300))
    assert len(parts(session, "verbatim")) == 100
    assert rules(session)[-1] == ("session-bounds", 0)
    assert session.problems[-1].message == "200 more lines are no JSON objects"


def test_a_half_written_last_line_is_being_written_and_a_whole_one_without_line_end_counts() -> None:
    """No finding, and nothing of it is shown."""
    log = Claude()
    log.ask("Which ferry?")
    log.say("The grey one.")
    whole = log.data.removesuffix(b"\n")
    assert kinds(the_session(claude_code, whole)) == ["person", "assistant"]
    half = the_session(claude_code, whole[:-20])
    assert kinds(half) == ["person"]
    assert rules(half) == [("session-being-written", 2)]
    assert not parts(half, "verbatim")


def test_a_byte_order_mark_and_a_raw_tab_in_a_string_are_no_obstacle() -> None:
    """As in all other JSON that memosite reads."""
    log = Claude()
    log.ask("A\\tB")
    assert the_session(claude_code, b"\xef\xbb\xbf" + log.data.replace(b"\\\\t", b"\t")).turns[0].text == "A\tB"


def test_a_file_a_line_and_a_session_have_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is beyond is told; a line that is too long hides no other."""
    monkeypatch.setattr(lines, "LINE_BYTES", 2000)
    log = Claude()
    log.ask("Which ferry?")
    log.say("x" * 3000)
    log.say("The grey one.")
    session = log.session
    assert outline(session) == [("person", "Which ferry?"), ("assistant", "The grey one.")]
    assert rules(session) == [("session-bounds", 2)]
    monkeypatch.setattr(lines, "LINE_BYTES", 16 * 2**20)
    monkeypatch.setattr(lines, "FILE_BYTES", 3500)
    assert rules(log.session) == [("session-bounds", 2)]
    monkeypatch.setattr(lines, "FILE_BYTES", 64 * 2**20)
    monkeypatch.setattr(lines, "MOST_LINES", 2)
    assert [turn.line for turn in log.session.turns] == [1, 2]


def test_a_session_has_at_most_20000_turns() -> None:
    """As many as that are no problem."""
    log = Claude()
    for number in range(20_001):
        log.ask(f"Question {number}")
    session = log.session
    assert len(session.turns) == 20_000
    assert rules(session) == [("session-bounds", 20_001)]
    del log.records[-1]
    assert log.session.problems == ()


# Turns


def test_an_answer_is_one_text_with_the_thinking_before_it_and_the_calls_behind_it() -> None:
    """Line, time and record of a turn are those of its text."""
    log = Claude()
    log.ask("Which ferry?")
    log.think("Look it up.")
    log.say("I look.")
    log.run("Read", {"file_path": "ferries.md"}, "grey, blue")
    log.run("Grep", {"pattern": "grey"}, "1 match")
    log.say("The grey one.")
    log.think("Is that all?")
    log.run("Read", {"file_path": "times.md"}, "9:00")
    log.think("It is.")
    log.say("At nine.")
    session = log.session
    assert [(len(turn.lead), turn.text, [part.name for part in turn.parts]) for turn in session.turns] == [
        (0, "Which ferry?", []),
        (1, "I look.", ["Read", "Grep"]),
        (0, "The grey one.", []),
        (1, "", ["Read"]),
        (1, "At nine.", []),
    ]
    assert [turn.line for turn in session.turns] == [1, 3, 8, 9, 13]
    assert session.turns[1].stamp == stamp(2), "the time of its text, not that of its thought"
    assert session.turns[1].model == "model-9"
    assert session.models == ("model-9",)


def test_a_call_alone_opens_a_turn_and_a_text_behind_a_call_opens_the_next() -> None:
    """A turn without a text has no digest and no anchor of its words."""
    log = Claude()
    log.ask("Go on")
    log.run("Read", {"file_path": "a"}, "A")
    log.say("Done.")
    assert [(turn.kind, turn.text) for turn in log.session.turns][1:] == [("assistant", ""), ("assistant", "Done.")]
    assert log.session.turns[1].hash_anchor is None


def test_adjacent_texts_of_a_record_are_joined_and_others_are_turns_of_their_own() -> None:
    """A blank line is between those that are joined."""
    texts = [{"type": "text", "text": text} for text in ("One", "Two", "Three")]
    log = Claude()
    log.ask(texts)
    log.add("assistant", [*texts[:2], {"type": "tool_use", "id": "c", "name": "Read", "input": {}}, texts[2]])
    joined = "One\n\nTwo\n\nThree"
    assert outline(log.session) == [("person", joined), ("assistant", "One\n\nTwo"), ("assistant", "Three")]


def test_the_digest_is_that_of_the_decoded_text_with_nothing_trimmed() -> None:
    """CRLF counts as LF."""
    log = Claude()
    log.ask("  tab\tand ümlaut\r\nand more \n")
    (turn,) = log.session.turns
    text = "  tab\tand ümlaut\nand more \n"
    assert turn.digest == hashlib.sha256(text.encode()).hexdigest()
    assert turn.hash_anchor == f"t-{turn.digest[:8]}"


def test_a_result_belongs_to_its_call_wherever_it_stands() -> None:
    """Without a call it is shown where it stands; a call without a result has none."""
    log = Claude()
    log.ask("Both")
    one, two = log.call("Bash", {"command": "sleep 9; echo one"}), log.call("Bash", {"command": "echo two"})
    log.back(two, "two")
    log.say("The second is there.")
    log.back(one, [{"type": "text", "text": "one"}], is_error=True)
    log.back("never-called", "lost")
    log.call("Read", {"file_path": "x"})
    first, second, orphan, open_ = parts(log.session, "tool")
    assert (first.text, first.result, first.is_error, first.result_line) == ("sleep 9; echo one", "one", True, 6)
    assert (second.result, second.is_error) == ("two", False)
    assert (orphan.result, orphan.is_orphan, orphan.line) == ("lost", True, 7)
    assert open_.result is None


def test_a_second_result_of_a_call_is_shown_where_it_stands_and_changes_nothing() -> None:
    """What was cited of the first one stays."""
    log = Claude()
    call = log.call("Bash", {"command": "make"})
    log.back(call, "made")
    log.say("Made.")
    log.back(call, "made again")
    first, again = parts(log.session, "tool")
    assert (first.result, again.result, again.name, again.is_orphan) == ("made", "made again", "Bash", False)
    assert log.session.turns[1].parts == (again,)


def test_results_that_hold_no_text_are_shown_as_json_and_tools_of_the_model_are_tools() -> None:
    """A search that the model's own server ran has call and result in one record."""
    log = Claude()
    log.run("ToolSearch", {}, [{"type": "tool_reference", "tool_name": "Deploy"}])
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"type": "text", "text": "ferries"}]}
    log.add("assistant", [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, found])
    first, second = parts(log.session, "tool")
    assert "Deploy" in (first.result or "")
    assert (second.name, second.result) == ("web_search", "ferries")


def test_records_without_a_time_are_no_replays_of_each_other() -> None:
    """Nothing says that they are the same."""
    log = Claude()
    log.ask("Go", timestamp=None)
    log.ask("Go", timestamp=7)
    first, second = log.session.turns
    assert (first.at, first.stamp, first.origin, second.origin) == (None, "", "u0", "u1")
    assert title_of(log.session) == "Go"


def test_long_input_and_output_are_cut_and_say_how_much_is_missing() -> None:
    """In bytes, and between characters."""
    log = Claude()
    log.run("Bash", {"command": "é" * MOST_SHOWN}, "y" * (MOST_SHOWN + 7))
    (tool,) = parts(log.session, "tool")
    assert (len(tool.text.encode()), tool.more) == (MOST_SHOWN, MOST_SHOWN)
    assert (len(tool.result or ""), tool.result_more) == (MOST_SHOWN, 7)


def test_other_input_is_shown_as_json() -> None:
    """With indentation, and with letters as they are."""
    log = Claude()
    log.run("Glob", {"pattern": "*.md", "deep": [1, {"ü": None}]}, "")
    assert parts(log.session, "tool")[0].text == json.dumps(
        {"pattern": "*.md", "deep": [1, {"ü": None}]}, indent=2, ensure_ascii=False
    )


def test_images_are_named_with_format_and_size_and_not_kept() -> None:
    """In a prompt, alone, and in what a tool gave back."""
    png = base64.b64encode(b"p" * 1000).decode()
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png}}
    log = Claude()
    log.ask([{"type": "text", "text": "Look"}, picture])
    log.ask([picture])
    log.run("Read", {"file_path": "a.png"}, [{"type": "text", "text": "read"}, picture])
    session = log.session
    assert kinds(session) == ["person", "person", "assistant"]
    assert [(part.name, part.size) for part in parts(session, "image")] == [("PNG", 1000)] * 3
    assert png[:40] not in repr(session)


def test_paths_that_tools_wrote_are_known_unless_the_tool_failed() -> None:
    """Reading a file is not writing it."""
    log = Claude()
    log.run("Write", {"file_path": "/srv/tides/a.md", "content": "x"}, "ok")
    log.run("NotebookEdit", {"notebook_path": "n.ipynb", "new_source": ""}, "ok")
    log.run("Edit", {"file_path": "b.md"}, "denied", is_error=True)
    log.run("MultiEdit", {"file_path": "c.md", "edits": []}, "ok")
    log.run("Read", {"file_path": "d.md"}, "ok")
    wrote = [part.wrote for part in parts(log.session, "tool")]
    assert wrote == [("/srv/tides/a.md",), ("n.ipynb",), (), ("c.md",), ()]


def test_commits_are_those_that_git_printed_behind_a_commit() -> None:
    """The same lines in a file that was read are none."""
    printed = "On branch\n[main 1a2b3c4] Tide tables\n 2 files changed\n[fix/x (root-commit) 0123456789abcdef] More"
    log = Claude()
    log.run("Bash", {"command": "git add -A && git commit -m 'Tide tables'"}, printed)
    log.run("Bash", {"command": "cat notes/log.txt"}, printed)
    log.run("Read", {"file_path": "git commit"}, printed)
    assert [part.commits for part in parts(log.session, "tool")] == [("1a2b3c4", "0123456789abcdef"), (), ()]


# Claude Code


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"parentUuid": None, "type": "user"}, True),
        ({"type": "summary", "summary": "x", "leafUuid": "u1"}, True),
        ({"type": "ai-title", "sessionId": ID}, True),
        ({"type": "file-history-snapshot", "messageId": "m"}, False),
        ({"type": "mode", "mode": "normal"}, False),
        ({"sessionId": ID, "type": "anything"}, False),
        ({"type": ["user"], "sessionId": {}}, False),
    ],
)
def test_claude_code_is_told_by_its_records(record: Json, expected: bool) -> None:
    """By one of the first 50, whatever else is in the file."""
    assert claude_code.matches(jsonl("not json", record)) is expected
    assert claude_code.matches(jsonl(*[{}] * 49, record)) is expected
    assert not claude_code.matches(jsonl(*[{}] * 50, record))


def test_the_session_is_named_by_its_first_record_and_knows_where_it_was() -> None:
    """Records of other types may be of another session."""
    log = Claude()
    log.records.append({"type": "last-prompt", "sessionId": OTHER_ID, "lastPrompt": None})
    log.ask("Which ferry?")
    log.ask("And when?", sessionId=OTHER_ID, gitBranch="other")
    session = log.session
    assert (session.system, session.key, session.folder, session.branch, session.version) == (
        *("claude-code", ID, "/srv/tides", "main", "2.1.9"),
    )
    assert (session.start_text, session.start) == (stamp(1), session.turns[0].at)
    assert session.is_utc


@pytest.mark.parametrize("forged", ["../../etc/passwd", "<b>", "a\nb", "x" * 500, {"a": 1}, 7, "", None, "-x"])
def test_an_id_that_could_not_be_in_an_address_is_none(forged: Any) -> None:
    """The first record of the session names it then."""
    log = Claude()
    log.ask("Which ferry?", sessionId=forged)
    assert log.session.key == "u0"
    log.ask("Look", agentId="a1", isSidechain=True, sessionId=forged)
    assert claude_code.read(log.data)[1].key == "u1.agent-a1"
    del log.records[1]
    assert log.session.turns[0].text == "Which ferry?"


PUT_THERE = [
    "<local-command-stdout>ok</local-command-stdout>",
    "<command-name>/clear</command-name>",
    "<bash-input>ls</bash-input>",
    "<task-notification>\n<task-id>a1</task-id>",
    "<system-reminder>remember</system-reminder>",
    '<teammate-message teammate_id="x">hi',
    "[Request interrupted by user for tool use]",
    "Base directory for this skill: /x",
]


@pytest.mark.parametrize("text", PUT_THERE)
def test_nobody_is_quoted_for_what_the_harness_put_there(text: str) -> None:
    """In the midst of a prompt the same is what somebody typed."""
    log = Claude()
    log.ask(text)
    log.ask([{"type": "text", "text": text}])
    log.ask(f"I see {text}")
    assert [(turn.kind, turn.speaker) for turn in log.session.turns] == [
        ("system", "the harness"),
        ("system", "the harness"),
        ("person", "a person"),
    ]


@pytest.mark.parametrize(
    "flag",
    [
        {"isMeta": True},
        {"isVisibleInTranscriptOnly": True},
        {"promptSource": "system"},
        {"origin": {"kind": "task-notification"}},
    ],
)
def test_a_record_that_says_nobody_typed_it_is_system(flag: Json) -> None:
    """Whatever its words are."""
    log = Claude()
    log.ask("Plain words", **flag)
    log.ask("Typed words", promptSource="typed", origin={"kind": "human"})
    assert kinds(log.session) == ["system", "person"]


def test_what_an_editor_put_before_the_words_is_folded_and_the_rest_is_the_persons() -> None:
    """Without a rest, or without an end, it is nobody's."""
    opened = "<ide_opened_file>The user opened\n/a.md</ide_opened_file>"
    chosen = "<ide_selection>lines 1 to 2</ide_selection>"
    log = Claude()
    log.ask([{"type": "text", "text": text} for text in (opened, chosen, "Explain this")])
    log.ask(opened)
    log.ask("<ide_selection>never closed, Explain this")
    typed, alone, unclosed = log.session.turns
    assert typed.text == f"{opened}\n\n{chosen}\n\nExplain this", "what is hashed is what the file has"
    assert typed.text[typed.words_from :] == "Explain this"
    assert [(part.kind, part.name, part.text) for part in typed.lead] == [
        ("context", "ide_opened_file", "The user opened\n/a.md"),
        ("context", "ide_selection", "lines 1 to 2"),
    ]
    assert [alone.kind, unclosed.kind] == ["system", "system"]
    assert title_of(log.session) == "Explain this"


def test_a_prompt_queued_while_the_agent_worked_is_a_persons() -> None:
    """It is in no other record. What else waits in the queue is not typed."""
    log = Claude()
    log.ask("Go")
    for queued in (
        {"prompt": "Faster", "commandMode": "prompt"},
        {"prompt": [{"type": "text", "text": "Here"}, {"type": "image", "source": {"media_type": "image/png"}}]},
        {"prompt": "<task-notification>done", "commandMode": "task-notification"},
        {"prompt": "I am a peer", "commandMode": "prompt", "isMeta": True},
        {"prompt": "Another mode", "commandMode": "bash"},
    ):
        log.add("attachment", attachment={"type": "queued_command", **queued})
    log.add("attachment", attachment={"type": "hook_success", "content": "quiet"})
    session = log.session
    assert outline(session)[1:3] == [("person", "Faster"), ("person", "Here")]
    assert kinds(session)[3:] == ["system"] * 3
    assert session.unshown == (("attachment", 1),)


def test_what_the_harness_says_in_the_agents_place_is_a_turn_of_its_own() -> None:
    """What the agent thought or called is not added to it."""
    log = Claude()
    log.ask("Go")
    log.think("I go.")
    log.say("API Error: overloaded", isApiErrorMessage=True)
    log.run("Read", {"file_path": "a"}, "A")
    assert [(turn.speaker, turn.text) for turn in log.session.turns][1:] == [
        ("Claude Code", ""),
        ("the harness", "API Error: overloaded"),
        ("Claude Code", ""),
    ]


def test_a_compaction_is_a_line_and_a_summary() -> None:
    """It begins a new tree, and takes nothing back."""
    log = Claude()
    log.ask("Go")
    log.say("Gone.")
    log.add("system", subtype="compact_boundary", parent=None, content="Conversation compacted")
    log.ask("This session is being continued…", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    log.ask("On")
    session = log.session
    assert kinds(session) == ["person", "assistant", "summary", "person"]
    assert [part.text for part in session.turns[1].parts] == ["the session was compacted here"]
    assert session.turns[2].speaker == "the harness"
    assert not any(turn.is_rewound for turn in session.turns)


def test_a_branch_that_was_taken_back_is_marked_and_keeps_its_place() -> None:
    """With all that came of it, up to the prompt that replaced it."""
    log = Claude()
    log.ask("First")
    answer = log.say("Answer")
    log.ask("Second, to be taken back")
    log.say("Lost answer")
    log.ask("Below the lost one")
    log.ask("Second, better", parent=answer)
    log.say("Better answer")
    session = log.session
    assert [turn.is_rewound for turn in session.turns] == [False, False, True, True, True, False, False]
    assert [turn.ordinal for turn in session.turns] == list(range(1, 8))


def test_what_comes_late_of_a_branch_is_marked_and_a_later_prompt_in_it_is_not() -> None:
    """Answers are written when they are there; a person may go back to a branch."""
    log = Claude()
    root = log.say("Hello")
    log.ask("Old", parent=root)
    old = log.say("Old answer")
    log.ask("New", parent=root)
    log.say("Late old answer", parent=old)
    log.ask("Old again", parent=old)
    log.say("Its answer")
    assert [turn.text for turn in log.session.turns if turn.is_rewound] == ["Old", "Old answer", "Late old answer"]


def test_what_follows_the_copy_of_a_prompt_is_of_its_branch() -> None:
    """The copy is no turn, and no branch of its own."""
    log = Claude()
    root = log.say("Hello")
    log.ask("Old", parent=root)
    log.ask("Old", parent="copied", timestamp=stamp(1))
    log.say("Answer to the copy")
    log.ask("New", parent=root)
    assert [(turn.text, turn.is_rewound) for turn in log.session.turns] == [
        ("Hello", False),
        ("Old", True),
        ("Answer to the copy", True),
        ("New", False),
    ]


def test_the_first_prompt_can_be_taken_back_too() -> None:
    """Both have no parent then."""
    log = Claude()
    log.ask("Typo")
    log.ask("[Request interrupted by user]")
    log.ask("No typo", parent=None)
    assert [turn.is_rewound for turn in log.session.turns] == [True, True, False]


def test_no_other_fork_is_a_branch() -> None:
    """Tools that run side by side fork the tree, as do notes of the harness and queued prompts."""
    log = Claude()
    log.ask("Go")
    one = log.call("Read", {"file_path": "a"})
    fork = log.last
    two = log.call("Read", {"file_path": "b"})
    log.back(one, "A", parent=fork)
    result = {"type": "tool_result", "tool_use_id": two, "content": "B"}
    log.ask([result, {"type": "text", "text": "Said with a result"}], parent=fork)
    log.ask("<command-name>/x</command-name>", parent=fork)
    log.ask("Words", parent=fork)
    log.add("attachment", parent=fork, attachment={"type": "queued_command", "prompt": "Queued"})
    assert not any(turn.is_rewound for turn in log.session.turns)


def test_prompts_without_parents_take_nothing_back() -> None:
    """Some programs write logs in which nothing has a parent."""
    log = Claude()
    for number in range(3):
        log.ask(f"Question {number}", parent=None)
    assert not any(turn.is_rewound for turn in log.session.turns)


def test_a_replayed_record_counts_once_at_its_first_place() -> None:
    """It has the id of an earlier one."""
    log = Claude()
    log.ask("Go")
    log.say("Gone.")
    log.run("Bash", {"command": "ls"}, "a")
    again = the_session(claude_code, log.data + log.data)
    assert (again.turns, again.models) == (log.session.turns, log.session.models)


def test_a_chain_that_was_written_twice_with_new_ids_counts_once() -> None:
    """As the extension of VS Code does; time, type and content are the same."""
    log = Claude()
    log.ask("Go")
    log.think("Now.")
    log.say("Gone.")
    log.run("Bash", {"command": "ls"}, "a")
    copies = [
        record | {"uuid": f"v{record['uuid']}", "parentUuid": record["parentUuid"] and f"v{record['parentUuid']}"}
        for record in log.records
    ]
    doubled = the_session(claude_code, jsonl(*log.records, *copies))
    assert doubled.turns == log.session.turns


def test_a_record_has_the_same_origin_wherever_it_is_copied() -> None:
    """With a new id, in a new session. The same words at another time are another record."""
    log = Claude()
    log.ask("Go")
    log.say("Gone.")
    log.call("Read", {"file_path": "a"})
    copies = [record | {"uuid": f"c{n}", "sessionId": OTHER_ID} for n, record in enumerate(log.records)]
    fork = the_session(claude_code, jsonl(*copies, {**log.records[0], "uuid": "n", "timestamp": stamp(99)}))
    assert [turn.origin for turn in fork.turns[:2]] == [turn.origin for turn in log.session.turns]
    assert fork.turns[2].text == "Go"
    assert len({turn.origin for turn in fork.turns}) == 3


def test_a_subagents_log_is_a_session_below_its_parent() -> None:
    """Its prompt is the parent's, and no person's."""
    log = Claude()
    log.ask("Write a poem about ferries", isSidechain=True, agentId="a1b2c3")
    log.say("Grey they go.", isSidechain=True, agentId="a1b2c3")
    session = log.session
    assert (session.key, session.parent) == (f"{ID}.agent-a1b2c3", ID)
    assert [(turn.kind, turn.speaker) for turn in session.turns] == [
        ("system", "the parent session"),
        ("assistant", "Claude Code"),
    ]


def test_a_subagent_within_its_parents_file_is_a_session_of_its_own() -> None:
    """The parent's turns are counted without it."""
    log = Claude()
    log.ask("Poems")
    log.ask("Write a poem", isSidechain=True, agentId="a1", parent=None)
    log.say("Started.", parent="u0")
    parent, agent = claude_code.read(log.data)
    assert [session.key for session in (parent, agent)] == [ID, f"{ID}.agent-a1"]
    assert [turn.ordinal for turn in parent.turns] == [1, 2]
    assert len(agent.turns) == 1


def test_a_call_knows_the_session_that_it_started() -> None:
    """By the record, else by the words of the result; those of other tools say nothing."""
    log = Claude()
    started = [{"type": "text", "text": "Async agent launched.\nagentId: a9 (internal)"}]
    log.run("Task", {"prompt": "Poem"}, "done", toolUseResult={"agentId": "a7", "status": "completed"})
    log.run("Agent", {"prompt": "Poem"}, started)
    log.run("Task", {"prompt": "Poem"}, "done", agentId="a8")
    log.run("Bash", {"command": "cat"}, "agentId: a9")
    agents = [part.agent for part in parts(log.session, "tool")]
    assert agents == [f"{ID}.agent-a7", f"{ID}.agent-a9", f"{ID}.agent-a8", ""]


def test_sidechains_within_a_session_are_chains_and_nobodys_words() -> None:
    """In old logs, without the id of an agent; two may be interleaved."""
    log = Claude()
    log.ask("Poems")
    first = log.ask("First poem", isSidechain=True, parent=None)
    second = log.ask("Second poem", isSidechain=True, parent=None)
    log.say("Grey.", isSidechain=True, parent=first)
    log.say("Blue.", isSidechain=True, parent=second)
    log.say("Both are there.", parent="u0")
    turns = log.session.turns
    assert [turn.chain for turn in turns] == ["", "u1", "u2", "u1", "u2", ""]
    assert [turn.kind for turn in turns] == ["person", "system", "system", "assistant", "assistant", "assistant"]


def test_an_answer_is_not_torn_by_a_sidechain_between_its_records() -> None:
    """Each chain has an answer of its own that is open."""
    log = Claude()
    log.ask("Go")
    log.say("I go.")
    log.ask("Side", isSidechain=True, parent=None)
    log.call("Read", {"file_path": "a"})
    assert [part.name for part in log.session.turns[1].parts] == ["Read"]


TITLES = [
    ({"type": "summary", "summary": "Of another session", "leafUuid": "elsewhere"}, "Which ferry?"),
    ({"type": "summary", "summary": "Ferries", "leafUuid": "u0"}, "Ferries"),
    ({"type": "ai-title", "aiTitle": "Grey ferries", "sessionId": ID}, "Grey ferries"),
    ({"type": "custom-title", "customTitle": "My ferries", "sessionId": ID}, "My ferries"),
    ({"type": "ai-title", "aiTitle": "Later, and weaker", "sessionId": ID}, "My ferries"),
    ({"type": "custom-title", "customTitle": "My last", "sessionId": ID}, "My last"),
]


def test_the_title_is_the_strongest_and_last_one_and_never_that_of_another_session() -> None:
    """A person's, a model's, a summary of this file, the first prompt."""
    log = Claude()
    log.ask("Which ferry?\nI wonder.")
    for record, expected in TITLES:
        log.records.append(record)
        assert title_of(log.session) == expected


@pytest.mark.parametrize(
    "none", ["", "  ", "Untitled", "Generating a name for the chat", "2026-01-16 16:48:38Z", "1/16/2026, 4:48:38 PM"]
)
def test_a_title_that_is_a_time_or_says_nothing_is_none(none: str) -> None:
    """The first line of the first prompt is the title then."""
    log = Claude()
    log.ask("\n\n  Which ferry?  ")
    log.add("custom-title", customTitle=none)
    assert title_of(log.session) == "Which ferry?"


@pytest.mark.parametrize("put", [*PUT_THERE, "<command-message>deploy is running…</command-message>", "<skill> deploy"])
def test_what_a_harness_put_there_is_no_title(put: str) -> None:
    """Neither of a title of its own nor of what seems to be a prompt: the first words of a person are."""
    log = Claude()
    log.ask(put)
    log.add("ai-title", aiTitle=put)
    log.ask("Which ferry?")
    assert title_of(log.session) == "Which ferry?"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("[02/20/26 17:41 dev ~/source/quay/ferry] go run ferry\nIt fails.", "go run ferry"),
        ("me@quay:~/ferry$ make test", "make test"),
        ("(venv) me@quay ferry % pytest -q", "pytest -q"),
        ("PS C:\\Users\\me> dir", "dir"),
        ("➜  ferry git:(main) ✗ make", "make"),
        ("$ make test", "make test"),
        ("Read /srv/tides/src/gate.py, please", "Read src/gate.py, please"),
        ("Fix all of /Users/me/quay-works/plans/may.md now", "Fix all of …/may.md now"),
        ("Look into C:\\Users\\me\\quay\\", "Look into …/quay"),
        ("See https://quay.example/a/b/c and /etc/hosts", "See https://quay.example/a/b/c and /etc/hosts"),
        ("[web/api] Add a gate for $ 5", "[web/api] Add a gate for $ 5"),
        ("[the plan](/a/b/c.md) says it", "[the plan](…/c.md) says it"),
        ("# Draw the gate", "# Draw the gate"),
        ("me@quay:~$", "me@quay:~$"),
    ],
)
def test_a_title_has_no_prompt_of_a_shell_and_no_long_path(said: str, title: str) -> None:
    """Of a title of its own, and of the first words of a person; paths of the session's folder are below it."""
    log = Claude()
    log.ask(said)
    assert title_of(log.session) == title
    log = Claude()
    log.ask("Which ferry?")
    log.add("custom-title", customTitle=said.split("\n", maxsplit=1)[0])
    assert title_of(log.session) == title


def test_a_session_without_a_title_or_a_prompt_is_named_by_agent_and_start() -> None:
    """Something is always there to be clicked."""
    log = Claude()
    log.say("Hello")
    assert title_of(log.session) == "Claude Code, 2026-05-01 14:00"


def test_pull_requests_are_named_behind_a_turn_once_and_only_addresses() -> None:
    """The log repeats them; what is no address of the web is no link."""
    log = Claude()
    log.ask("Go")
    pull = {"type": "pr-link", "prNumber": 7, "prUrl": "https://forge.example/tides/pull/7"}
    log.records += [pull, pull, {"type": "pr-link", "prUrl": "javascript:alert(1)"}]
    log.say("Gone.")
    assert log.session.pulls == ((1, "https://forge.example/tides/pull/7"),)


def test_records_of_other_types_are_counted_and_no_finding() -> None:
    """New types appear with every version."""
    log = Claude()
    log.ask("Go")
    log.add("progress", data={"type": "agent_progress"})
    log.records += [{"type": "mode", "sessionId": ID}] * 2 + [{"type": "<b>"}, {"type": 7}, {}]
    assert log.session.unshown == (("unknown", 3), ("mode", 2), ("progress", 1))
    assert log.session.problems == ()


def test_a_log_without_a_turn_is_no_session() -> None:
    """It is still told to be a log."""
    assert claude_code.read(jsonl({"type": "mode", "sessionId": ID})) == ()


# Codex


def rollout(*items: Any, **head: Any) -> bytes:
    """A log of Codex: its head, and then items, each with its own time; a tuple has another type than an item."""
    meta = {"id": ID, "timestamp": stamp(0), "cwd": "/srv/tides", "cli_version": "0.77.0", **head}
    records = [
        ("session_meta", meta),
        *(item if isinstance(item, tuple) else ("response_item", item) for item in items),
    ]
    return jsonl(
        *(
            {"timestamp": stamp(number), "type": type_, "payload": payload}
            for number, (type_, payload) in enumerate(records)
        )
    )


def said(role: str, *texts: str) -> Json:
    """A message of Codex."""
    type_ = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": type_, "text": text} for text in texts]}


def codex_session(*items: Any, **head: Any) -> Session:
    """The session of such a log."""
    return the_session(codex, rollout(*items, **head))


def test_codex_is_told_by_its_records() -> None:
    """In both forms, and by more than a time."""
    assert codex.matches(rollout())
    assert codex.matches(jsonl({"id": ID, "timestamp": stamp(0), "instructions": None}, said("user", "Go")))
    assert not codex.matches(jsonl({"timestamp": stamp(0), "type": "other", "payload": {}}))
    assert not codex.matches(jsonl({"timestamp": stamp(0), "type": "event_msg", "payload": "x"}))
    assert not codex.matches(jsonl({"id": ID, "timestamp": stamp(0)}))
    assert not codex.matches(jsonl({}, {"id": ID, "timestamp": stamp(0), "instructions": None}))


def test_a_rollout_is_named_by_its_first_head_and_knows_where_it_was() -> None:
    """Later heads are of resumptions, or of the parent."""
    session = codex_session(
        ("turn_context", {"model": "model-5", "cwd": "/elsewhere"}),
        said("user", "Go"),
        ("session_meta", {"id": OTHER_ID, "timestamp": stamp(50), "cwd": "/other"}),
        said("assistant", "Gone."),
        git={"branch": "main", "commit_hash": "1a2b3c4"},
    )
    assert (session.system, session.key, session.folder, session.branch, session.version) == (
        *("codex", ID, "/srv/tides", "main", "0.77.0"),
    )
    assert (session.start_text, session.models) == (stamp(0), ("model-5",))
    assert [turn.model for turn in session.turns] == ["", "model-5"]


def test_the_old_form_has_bare_items_behind_its_head() -> None:
    """The output of a shell was JSON within JSON."""
    call = {"type": "function_call", "name": "shell", "arguments": '{"command": ["bash", "-lc", "ls"]}', "call_id": "c"}
    output = {
        "type": "function_call_output",
        "call_id": "c",
        "output": '{"output": "a\\n", "metadata": {"exit_code": 1}}',
    }
    head = {"id": ID, "timestamp": stamp(0), "instructions": None, "git": {"branch": "main"}}
    state = {"record_type": "state"}
    session = the_session(codex, jsonl(head, said("user", "Go"), state, call, output, said("assistant", "Gone.")))
    assert outline(session) == [("person", "Go"), ("assistant", ""), ("assistant", "Gone.")]
    (tool,) = parts(session, "tool")
    assert (tool.name, tool.text, tool.result, tool.is_error) == ("shell", "ls", "a\n", True)
    assert (session.key, session.branch, session.start_text) == (ID, "main", stamp(0))
    assert session.unshown == (("state", 1),)


CODEX_PUT_THERE = [
    "<user_instructions>\nx",
    "<environment_context>\nx",
    "<permissions instructions>x",
    "<app-context>x",
    "<turn_aborted>\nx",
    "<skill>\nx",
    "<INSTRUCTIONS>x",
    "# AGENTS.md instructions for /work",
    "<subagent_notification>x",
    "<user_shell_command>x",
]


@pytest.mark.parametrize("text", CODEX_PUT_THERE)
def test_nobody_is_quoted_for_what_codex_put_there(text: str) -> None:
    """In the midst of a prompt the same is what somebody typed."""
    session = codex_session(said("user", text), said("developer", "Be brief"), said("user", f"Why {text}"))
    assert kinds(session) == ["system", "system", "person"]


def test_reasoning_calls_and_results_of_codex_are_folded() -> None:
    """What is encrypted is not kept."""
    session = codex_session(
        said("user", "Go"),
        {"type": "reasoning", "summary": [], "encrypted_content": "Z0FB" * 100},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "**Looking**"}], "content": None},
        said("assistant", "I look."),
        {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "ls"}', "call_id": "a"},
        {"type": "web_search_call", "action": {"type": "search", "query": "ferries"}},
        {"type": "web_search_call", "action": ["open"]},
        {"type": "tool_search_call", "call_id": "s", "arguments": {"query": "js"}},
        {"type": "local_shell_call", "call_id": "l", "action": {"type": "exec", "command": ["ls", "-l"]}},
        {"type": "tool_search_output", "call_id": "s", "tools": [{"name": "js"}]},
        {"type": "function_call_output", "call_id": "a", "output": "Process exited with code 2\nOutput:\nno"},
        {"type": "function_call_output", "call_id": "l", "output": {"content": "ok", "success": True}},
    )
    (thought,) = parts(session, "thinking")
    assert thought.text == "**Looking**"
    found = {part.name: part for part in parts(session, "tool")}
    assert (found["exec_command"].text, found["exec_command"].is_error) == ("ls", True)
    assert (found["web_search_call"].text, found["web_search_call"].result) == ('[\n  "open"\n]', None)
    assert '"js"' in (found["tool_search_call"].result or "")
    assert (found["local_shell_call"].text, found["local_shell_call"].result) == ("ls -l", "ok")
    assert kinds(session) == ["person", "assistant"]
    assert "Z0FB" not in repr(session)


def test_a_patch_says_what_it_wrote_and_a_shell_what_it_committed() -> None:
    """A file that was deleted was not written."""
    patch = (
        "*** Begin Patch\n*** Update File: a.md\n*** Move to: b.md\n@@\n-x\n*** Add File: c.md\n*** Delete File: d.md\n"
    )
    commit = json.dumps({"cmd": "git commit -m x"})
    session = codex_session(
        {"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": "p"},
        {"type": "function_call", "name": "shell", "arguments": json.dumps({"command": ["bash", "-lc", patch]})},
        {"type": "function_call", "name": "exec_command", "arguments": commit, "call_id": "g"},
        {"type": "function_call_output", "call_id": "g", "output": "Exit code: 0\nOutput:\n[main 1a2b3c4] x\n"},
    )
    first, second, third = parts(session, "tool")
    assert first.wrote == second.wrote == ("a.md", "b.md", "c.md")
    assert third.commits == ("1a2b3c4",)


def test_events_repeat_items_or_are_marks_or_are_counted() -> None:
    """What they repeat is not told twice."""
    session = codex_session(
        said("user", "Go"),
        ("event_msg", {"type": "user_message", "message": "Go"}),
        ("event_msg", {"type": "token_count", "info": None}),
        said("assistant", "Gone."),
        ("event_msg", {"type": "agent_message", "message": "Gone."}),
        ("event_msg", {"type": "turn_aborted", "reason": "interrupted"}),
        ("event_msg", {"type": "thread_rolled_back", "num_turns": 1}),
    )
    assert kinds(session) == ["person", "assistant"]
    assert [part.text for part in session.turns[1].parts] == ["interrupted", "rolled back"]
    assert session.unshown == (("token_count", 1),)


def test_a_compaction_of_codex_is_a_summary_without_the_history_it_holds() -> None:
    """That is in the log already."""
    history = [said("user", "Old words")]
    session = codex_session(
        said("user", "Go"), ("compacted", {"message": "They went.", "replacement_history": history}), said("user", "On")
    )
    assert outline(session) == [("person", "Go"), ("summary", "They went."), ("person", "On")]
    assert "Old words" not in repr(session)


def test_what_an_editor_put_before_a_request_is_folded_and_the_request_is_the_title() -> None:
    """Only that of the first prompt is."""
    before = "# Context from my IDE setup:\n\n## Open tabs:\n- a.md\n\n"
    session = codex_session(
        said("user", f"{before}## My request for Codex:\nWhich ferry?\nThe grey one?\n"), said("user", "Now?")
    )
    turn = session.turns[0]
    assert turn.text[turn.words_from :] == "Which ferry?\nThe grey one?\n"
    assert [part.kind for part in turn.lead] == ["context"]
    assert session.title == "Which ferry?"
    plain = codex_session(said("user", "Plain"), said("user", f"{before}## My request for Codex:\nLater"))
    assert title_of(plain) == "Plain"


def test_what_codex_puts_around_an_image_is_nobodys_words() -> None:
    """Without an image the same is what somebody typed."""
    picture = {"type": "input_image", "image_url": "data:image/jpeg;base64," + base64.b64encode(b"j" * 300).decode()}
    tags = [{"type": "input_text", "text": text} for text in ('<image name=[Image #1] path="/x.jpg">', "</image>")]
    message = said("user", "Look")
    message["content"] += [tags[0], picture, tags[1]]
    session = codex_session(message, said("user", "</image>"))
    assert [turn.text for turn in session.turns] == ["Look", "</image>"]
    assert [(part.name, part.size) for part in parts(session, "image")] == [("JPEG", 300)]


def test_lines_and_items_of_codex_that_are_none_are_shown_or_counted() -> None:
    """As in every log of lines."""
    session = the_session(codex, rollout(said("user", "Go"), {"type": "ghost_snapshot"}, said("user", "")) + b"oops\n")
    assert kinds(session) == ["person"]
    assert rules(session) == [("session-line", 5)]
    assert [part.text for part in session.turns[0].parts] == ["oops"]
    assert session.unshown == (("ghost_snapshot", 1), ("message", 1))


def test_a_fork_and_a_subagent_name_where_they_come_from() -> None:
    """And the call names the session that it started."""
    assert codex_session(said("user", "Go"), forked_from_id=OTHER_ID).forked_from == OTHER_ID
    source = {"subagent": {"thread_spawn": {"parent_thread_id": OTHER_ID, "depth": 1}}}
    child = codex_session(said("user", "Look into the tides"), source=source)
    assert child.parent == OTHER_ID
    assert [(turn.kind, turn.speaker) for turn in child.turns] == [("system", "the parent session")]
    spawn = {"type": "function_call", "name": "spawn_agent", "arguments": "{}", "call_id": "s"}
    parent = codex_session(
        spawn, {"type": "function_call_output", "call_id": "s", "output": json.dumps({"agent_id": OTHER_ID})}
    )
    assert parts(parent, "tool")[0].agent == OTHER_ID


def test_an_item_with_the_time_and_content_of_an_earlier_one_counts_once() -> None:
    """At another time it counts again."""
    call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}
    output = {"type": "function_call_output", "call_id": "c", "output": "a"}
    data = rollout(said("user", "Go"), said("assistant", "Gone."), call, output)
    assert the_session(codex, data + data).turns == the_session(codex, data).turns
    later = jsonl({"timestamp": stamp(9), "type": "response_item", "payload": said("user", "Go")})
    assert kinds(the_session(codex, data + later)) == ["person", "assistant", "person"]


# Gemini CLI


def message(id_: str, type_: str, content: Any, **more: Any) -> Json:
    """A message of Gemini CLI."""
    return {"id": id_, "timestamp": stamp(1), "type": type_, "content": content} | more


HEAD = {"sessionId": ID, "projectHash": "f" * 64, "startTime": stamp(0), "lastUpdated": stamp(9)}
SHELL = {"id": "c1", "name": "run_shell_command", "args": {"command": "git commit -m x"}, "status": "executing"}
ANSWERED = SHELL | {
    "status": "success",
    "result": [{"functionResponse": {"id": "c1", "response": {"output": "Output: [main 1a2b3c4] x\n"}}}],
}


def test_gemini_is_told_by_its_object_or_its_first_line() -> None:
    """By keys at the first level."""
    assert gemini.matches(json.dumps({**HEAD, "messages": []}, indent=2).encode())
    assert gemini.matches(jsonl(HEAD, {"$set": {}}))
    assert not gemini.matches(json.dumps({"id": ID, "inner": HEAD}, indent=2).encode())
    assert not gemini.matches(jsonl({"sessionId": ID}))
    assert not gemini.matches(b"")


def test_no_log_is_of_two_forms() -> None:
    """So the order in which they are tried says nothing."""
    log = Claude()
    log.ask("Go")
    logs = (log.data, rollout(said("user", "Go")), jsonl(HEAD, message("a", "user", "Go")))
    assert [[form.matches(data) for form in FORMS] for data in logs] == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]


TALK = [
    message("i", "info", "Update available"),
    message("a", "user", [{"text": "Which ferry?"}]),
    message(
        "b",
        "gemini",
        "I commit it.",
        thoughts=[{"subject": "Committing", "description": "It is ready."}],
        toolCalls=[ANSWERED, {"id": "c2", "name": "write_file", "args": {"file_path": "a.md"}, "status": "success"}],
        model="model-g",
    ),
    message("e", "error", "Quota exceeded"),
]


@pytest.mark.parametrize(
    "data",
    [
        jsonl(HEAD, *TALK, {"$set": {"summary": "Ferry choice"}}),
        json.dumps({**HEAD, "messages": TALK, "summary": "Ferry choice"}, indent=2).encode(),
        json.dumps({**HEAD, "messages": TALK, "summary": "Ferry choice"}).encode(),
    ],
    ids=["lines", "pretty", "one line"],
)
def test_messages_of_gemini_are_turns(data: bytes) -> None:
    """In each form, with thoughts and tools."""
    session = the_session(gemini, data)
    assert outline(session) == [
        ("system", "Update available"),
        ("person", "Which ferry?"),
        ("assistant", "I commit it."),
        ("system", "Quota exceeded"),
    ]
    assert [turn.record for turn in session.turns] == ["i", "a", "b", "e"]
    assert (session.key, session.title, session.models, session.start_text) == (
        *(ID, "Ferry choice", ("model-g",), stamp(0)),
    )
    assert [part.text for part in parts(session, "thinking")] == ["Committing\n\nIt is ready."]
    shell, write = parts(session, "tool")
    assert (shell.text, shell.commits) == ("git commit -m x", ("1a2b3c4",))
    assert (write.wrote, write.result) == (("a.md",), None)


def test_a_message_of_a_pretty_object_has_the_line_at_which_it_begins() -> None:
    """The line with its brace; its id is in the next one."""
    text = json.dumps({**HEAD, "messages": TALK}, indent=2)
    session = the_session(gemini, text.encode())
    for turn in session.turns:
        assert text.split("\n")[turn.line] == f'      "id": "{turn.record}",'


def test_a_message_that_is_written_again_stays_at_its_first_place() -> None:
    """With what was added to it."""
    session = the_session(
        gemini,
        jsonl(
            HEAD,
            message("a", "user", "Go"),
            message("b", "gemini", "I go.", toolCalls=[SHELL]),
            {"$set": {"lastUpdated": stamp(5)}},
            message("b", "gemini", "I go.", toolCalls=[ANSWERED]),
            message(
                "r", "user", {"functionResponse": {"id": "c1", "response": {"output": "masked"}}}, timestamp=stamp(8)
            ),
            message("c", "gemini", "Gone."),
        ),
    )
    assert [(turn.text, turn.line) for turn in session.turns] == [("Go", 2), ("I go.", 3), ("Gone.", 7)]
    (tool,) = parts(session, "tool")
    assert tool.result == "Output: [main 1a2b3c4] x\n"


def test_what_was_taken_back_in_gemini_is_marked() -> None:
    """From that message on; an unknown one takes back nothing."""
    talk = [HEAD, *(message(id_, "user", f"Prompt {id_}") for id_ in "abc")]
    session = the_session(gemini, jsonl(*talk, {"$rewindTo": "b"}, message("d", "user", "New"), {"$rewindTo": "x"}))
    assert [turn.is_rewound for turn in session.turns] == [False, True, True, False]


def test_a_compression_of_gemini_adds_its_summary_and_takes_nothing_away() -> None:
    """What it keeps is there already, under another id."""
    kept = message("y", "gemini", [{"text": "First answer"}]) | {"timestamp": stamp(7)}
    thanks = message("z", "gemini", [{"text": "Got it. Thanks for the additional context!"}])
    session = the_session(
        gemini,
        jsonl(
            HEAD,
            {"$set": {"messages": [message("s", "user", [{"text": "<session_context>\nToday"}])]}},
            message("a", "user", "First"),
            message("b", "gemini", "First answer"),
            {"$set": {"messages": [message("x", "user", "<state_snapshot>They met.</state_snapshot>"), thanks, kept]}},
            message("c", "user", "Second"),
        ),
    )
    assert kinds(session) == ["system", "person", "assistant", "summary", "system", "person"]


def test_nobody_is_quoted_for_what_gemini_put_beside_the_words() -> None:
    """Hooks, files that were named, results of tools."""
    hook = "<hook_context>from a hook</hook_context>"
    files = [{"text": "Explain @a.md"}, {"text": "--- Content from referenced files ---\nbody"}]
    session = the_session(
        gemini,
        jsonl(
            HEAD,
            message("a", "user", [{"text": "Go"}, {"text": hook}]),
            message("b", "user", hook),
            message("c", "user", files, displayContent=[{"text": "Explain @a.md"}]),
            message("d", "user", [{"functionResponse": {"id": "nowhere", "response": {"output": "lost"}}}]),
        ),
    )
    assert outline(session) == [("person", "Go"), ("system", hook), ("person", "Explain @a.md")]
    assert [part.text for part in parts(session, "context")] == [hook, "--- Content from referenced files ---\nbody"]
    (orphan,) = parts(session, "tool")
    assert (orphan.result, orphan.is_orphan) == ("lost", True)


def test_tools_images_and_thoughts_of_gemini_are_read_in_each_of_their_forms() -> None:
    """A call may have no id, and stand among the parts of the content, with its result in a message of its own."""
    picture = {"inlineData": {"mimeType": "image/webp", "data": base64.b64encode(b"w" * 90).decode()}}
    response = {"functionResponse": {"id": "f", "response": {"error": "no such file"}}}
    session = the_session(
        gemini,
        jsonl(
            HEAD,
            message("a", "user", [{"text": "Look"}, picture]),
            message(
                "b", "gemini", [{"text": "Hm.", "thought": True}, {"functionCall": {"id": "f", "name": "read_file"}}]
            ),
            message("c", "user", response),
            message("d", "gemini", picture, toolCalls=[{"name": "glob", "args": {}, "resultDisplay": "2 found"}]),
            message(
                "e", "gemini", "", toolCalls=[{"id": "x", "name": "ask", "result": {"text": "said"}, "agentId": "a1"}]
            ),
            message("f", "mystery", "?"),
            {"unknown": True},
            "oops",
        ),
    )
    assert kinds(session) == ["person", "assistant"]
    assert [(part.name, part.size) for part in parts(session, "image")] == [("WEBP", 90)] * 2
    assert [part.text for part in parts(session, "thinking")] == ["Hm."]
    read, glob, ask = parts(session, "tool")
    assert (read.result, read.is_error) == ("no such file", True)
    assert (glob.result, ask.result, ask.agent) == ("2 found", "said", "a1")
    assert session.unshown == (("mystery", 1), ("unknown", 1))
    assert rules(session) == [("session-line", 9)]


# Growth, and hostile logs


def long_claude() -> bytes:
    """A log with everything in it."""
    log = Claude()
    log.ask("Go")
    log.think("Hm.")
    answer = log.say("I go.")
    slow = log.call("Bash", {"command": "make"})
    log.run("Task", {"prompt": "x"}, "agentId: a1")
    log.add("attachment", attachment={"type": "queued_command", "prompt": "Faster"})
    log.say("Faster now.")
    log.back(slow, "made")
    log.ask("Side", isSidechain=True, parent=None)
    log.ask("Better", parent=answer)
    log.add("system", subtype="compact_boundary", parent=None)
    log.ask("They went.", isCompactSummary=True)
    log.say("Gone.")
    log.say("Gone.")
    log.records.append({"type": "ai-title", "aiTitle": "Going", "sessionId": ID})
    return log.data


def long_codex() -> bytes:
    """The same of Codex."""
    call = {"type": "function_call", "name": "shell", "arguments": '{"command": "ls"}', "call_id": "c"}
    return rollout(
        said("user", "<environment_context>"),
        said("user", "Go"),
        {"type": "reasoning", "summary": [{"text": "Hm."}]},
        said("assistant", "I go."),
        call,
        said("assistant", "Still going."),
        {"type": "function_call_output", "call_id": "c", "output": "a"},
        ("event_msg", {"type": "turn_aborted"}),
        ("compacted", {"message": "They went."}),
        said("user", "On"),
        said("assistant", "Gone."),
    )


def long_gemini() -> bytes:
    """The same of Gemini CLI."""
    return jsonl(
        HEAD,
        *TALK,
        message("f", "gemini", "", toolCalls=[SHELL | {"id": "c9"}]),
        message("f", "gemini", "", toolCalls=[ANSWERED | {"id": "c9"}]),
        message("g", "gemini", "Gone."),
        {"$rewindTo": "g"},
        message("h", "user", "On"),
        {"$set": {"messages": TALK}},
    )


WHOLE: dict[ModuleType, Callable[[], bytes]] = {claude_code: long_claude, codex: long_codex, gemini: long_gemini}


def steps(data: bytes) -> Iterator[bytes]:
    """A log after each of its records, and with each record half-written."""
    records = data.splitlines(keepends=True)
    for number, record in enumerate(records):
        before = b"".join(records[:number])
        yield before + record[: len(record) // 2]
        yield before + record


def identity(turn: SessionTurn) -> tuple[object, ...]:
    """What a citation of a turn rests on."""
    return (turn.ordinal, turn.digest, turn.hash_anchor, turn.kind, turn.text, turn.line, turn.record, turn.origin)


@pytest.mark.parametrize("form", FORMS)
def test_a_log_that_grows_keeps_its_id_and_every_turn_but_the_last(form: ModuleType) -> None:
    """Record by record, and with each record half-written."""
    data = WHOLE[form]()
    final = the_session(form, data)
    seen = 0
    for step in steps(data):
        for session in form.read(step):
            seen += 1
            assert (session.key, session.start) == (final.key, final.start)
            finished = session.turns[:-1]
            assert [identity(turn) for turn in finished] == [identity(turn) for turn in final.turns[: len(finished)]]
    assert seen > len(final.turns)


def records_of(data: bytes) -> list[Json]:
    """The records of a log."""
    return [json.loads(line) for line in data.splitlines()]


def check(form: ModuleType, data: bytes) -> None:
    """What holds for any bytes."""
    form.matches(data)
    for session in form.read(data):
        assert session.turns
        repr(session).encode()  # no half of a surrogate pair
        assert [turn.ordinal for turn in session.turns] == list(range(1, len(session.turns) + 1))
        assert len({turn.hash_anchor for turn in session.turns if turn.digest}) == sum(
            bool(turn.digest) for turn in session.turns
        )
        for turn in session.turns:
            assert turn.digest == (hashlib.sha256(turn.text.encode()).hexdigest() if turn.text else "")
            assert 0 <= turn.words_from <= len(turn.text)
        assert title_of(session)
        assert not set(session.key) & set("/\\<>&\"' \n")


@pytest.mark.parametrize("form", FORMS)
def test_no_value_in_any_field_is_an_obstacle(form: ModuleType) -> None:
    """Nor keys that are missing or elsewhere."""

    @settings(max_examples=300)
    @given(mutated_json([records_of(WHOLE[form]())]))
    def never_raises(value: Any) -> None:
        records = value if isinstance(value, list) else [value]
        texts = (json.dumps(record, ensure_ascii=False) for record in records)
        data = "\n".join(texts).encode("utf-8", "surrogatepass")
        for each in FORMS:
            check(each, data)
        check(gemini, json.dumps({**HEAD, "messages": records}, indent=1).encode())

    never_raises()


def slots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place of a value, at any depth: what it is in, and its key or number there."""
    pending = [value]
    while pending:
        holder = pending.pop()
        if isinstance(holder, dict | list):
            for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
                yield holder, key
                pending.append(holder[key])


UNFIT: tuple[Any, ...] = (
    None,
    True,
    -1,
    "",
    "\ud800\0",
    [],
    {},
    ["open"],
    [{"type": ["text"]}],
    [[{}]],
    {"kind": [], "a": {}},
)
"""What no field is made for."""


@pytest.mark.parametrize("form", FORMS)
def test_each_field_takes_what_it_is_not_made_for(form: ModuleType) -> None:
    """One field after the other, at any depth."""
    records = records_of(WHOLE[form]())
    for holder, key in list(slots(records)):
        kept = holder[key]
        for holder[key] in UNFIT:
            check(form, jsonl(*(json.dumps(record) for record in records)))
        holder[key] = kept


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
KEYS = (
    *("type", "uuid", "parentUuid", "sessionId", "message", "timestamp", "isSidechain", "agentId", "attachment"),
    *("origin", "toolUseResult", "payload", "id", "content", "messages", "toolCalls", "$set", "$rewindTo", "subtype"),
)


@settings(max_examples=300)
@given(st.sampled_from(FORMS), st.integers(0, 14), st.dictionaries(st.sampled_from(KEYS), ANY_JSON, max_size=4))
def test_no_record_is_an_obstacle(form: ModuleType, number: int, fields: Json) -> None:
    """With any JSON in the fields that are read, at the top and one level below."""
    records = records_of(WHOLE[form]())
    record = records[number % len(records)]
    for inner in ("message", "payload", "attachment"):
        if isinstance(record.get(inner), dict):
            records.append({**record, inner: {**record[inner], **fields}, "uuid": "x", "id": "x"})
    records.append({**record, **fields})
    check(form, jsonl(*(json.dumps(each) for each in records)))


@pytest.mark.parametrize("form", FORMS)
def test_no_damage_to_the_bytes_is_an_obstacle(form: ModuleType) -> None:
    """Nor bytes that are no text."""

    @settings(max_examples=200)
    @given(mutated([WHOLE[form]()]))
    def never_raises(data: bytes) -> None:
        check(form, data)

    never_raises()


@pytest.mark.parametrize("depth", [99, 101, 500, 100_000])
def test_deep_nesting_is_a_line_that_cannot_be_read(depth: int) -> None:
    """Also where JSON is in a string."""
    log = Claude()
    log.ask("Go")
    deep = "[" * depth + "]" * depth
    line = json.dumps({"type": "assistant", "message": {"content": [{"type": "tool_use", "input": "DEEP"}]}})
    session = the_session(claude_code, log.data + line.replace('"DEEP"', deep).encode() + b"\n")
    assert rules(session) == ([("session-line", 2)] if depth + 4 > 100 else [])
    arguments = {"type": "function_call", "name": "x", "arguments": f'{{"a": {deep}}}', "call_id": "c"}
    assert len(codex_session(arguments).turns) == 1


def test_parents_that_form_a_circle_end() -> None:
    """Nothing follows parents."""
    log = Claude()
    log.ask("One", parent="u2")
    log.ask("Two", parent="u0")
    log.ask("Three", parent="u1")
    log.ask("Four", parent="u3")
    log.ask("Side", parent="u4", isSidechain=True)
    assert len(log.session.turns) == 5


def endless_prompts(count: int) -> bytes:
    """Prompts that take each other back."""
    log = Claude()
    for _ in range(count):
        log.ask("Again", parent="root", timestamp=stamp(len(log.records)))
    return log.data


def endless_rewinds(count: int) -> bytes:
    """Messages that are taken back to the first one, over and over."""
    return jsonl(HEAD, *(message(f"m{n}", "user", f"x{n}") for n in range(count)), *[{"$rewindTo": "m0"}] * count)


def endless_context(count: int) -> bytes:
    """What an editor put there, many times, and never closed at last."""
    log = Claude()
    log.ask("<ide_selection>a</ide_selection>\n" * count + "<ide_selection>" * count)
    return log.data


def endless_output(count: int) -> bytes:
    """Calls whose output nearly has commits, and whose command nearly commits."""
    log = Claude()
    for _ in range(count // 100):
        log.run("Bash", {"command": "git " * 200 + "git commit"}, "[a" * 200 + "\n[main 1a2b3c4]\n" * 50)
    return log.data


def endless_results(count: int) -> bytes:
    """Results of one call."""
    log = Claude()
    call = log.call("Bash", {"command": "ls"})
    for number in range(count):
        log.back(call, f"{number}")
    return log.data


def endless_agents(count: int) -> bytes:
    """A subagent a record."""
    log = Claude()
    for number in range(count):
        log.ask("x", isSidechain=True, agentId=f"a{number}")
    return log.data


def endless_bad_lines(count: int) -> bytes:
    """Lines that are nothing."""
    return jsonl(*[{"parentUuid": None}], *['{"a": '] * count)


@pytest.mark.parametrize(
    ("form", "make", "count"),
    [
        (claude_code, endless_prompts, 5000),
        (gemini, endless_rewinds, 5000),
        (claude_code, endless_context, 20_000),
        (claude_code, endless_output, 5000),
        (claude_code, endless_results, 5000),
        (claude_code, endless_agents, 5000),
        (claude_code, endless_bad_lines, 20_000),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_hostile_logs_take_linear_time(form: ModuleType, make: Callable[[int], bytes], count: int) -> None:
    """Four times as much takes at most ten times as long; quadratic time would take sixteen times."""
    taken = []
    for size in (count, 4 * count):
        data = make(size)
        began = time.process_time()
        form.matches(data)
        form.read(data)
        taken.append(time.process_time() - began)
    assert taken[1] < 10 * max(taken[0], 0.02)


def test_many_subagents_in_one_file_are_bounded() -> None:
    """A record each would cost more memory than the file."""
    sessions = claude_code.read(endless_agents(3000))
    assert len(sessions) == 1001
    assert rules(sessions[0]) == [("session-bounds", 1002)]


def test_a_line_of_16_megabytes_is_read_and_a_longer_one_is_not() -> None:
    """As the contract has it."""
    log = Claude()
    log.ask("Go")
    log.run("Bash", {"command": "yes"}, "y" * (16 * 2**20 - 1000))
    assert parts(log.session, "tool")[0].result_more == 16 * 2**20 - 1000 - MOST_SHOWN
    log.back("x", "y" * (16 * 2**20))
    assert rules(log.session) == [("session-bounds", 4)]
