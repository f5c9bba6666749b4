"""Checkpoint branches of Entire as logs of sessions (SPEC 2.2, sessions). All logs here are made up."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.formats.sessions import entire
from memosite.formats.sessions.model import Session

KEY = "0f5d1c9a-3c7e-4b1f-9a55-2f7f0c1d2e3b"
ONE, TWO, THREE = "0a/0123456789", "0b/0123456789", "0c/0123456789"


def record(number: int, text: str = "", **more: Any) -> bytes:
    """A line of a log of Claude Code: a question, or an answer, by its number."""
    who = "assistant" if number % 2 else "user"
    said = text or f"Turn {number}"
    content: Any = [{"type": "text", "text": said}] if number % 2 else said
    return json.dumps(
        {
            "type": who,
            "uuid": f"u{number}",
            "parentUuid": f"u{number - 1}" if number else None,
            "sessionId": "another-id",
            "timestamp": f"2026-01-21T10:00:{number:02}Z",
            "message": {"role": who, "content": content},
            **more,
        }
    ).encode()


def log(*numbers: int) -> bytes:
    """A log of these records."""
    return b"".join(record(number) + b"\n" for number in numbers)


def branch(*entries: tuple[str, str, bytes | None], key: str = KEY, **more: Any) -> dict[str, bytes]:
    """The files of a branch: of each entry its checkpoint, its clock and its log."""
    files: dict[str, bytes] = {}
    for place, clock, data in entries:
        id_ = place.replace("/", "")
        said = {"checkpoint_id": id_, "session_id": key, "created_at": f"2026-01-21T{clock}:00Z", **more}
        named = {"metadata": f"/{place}/0/metadata.json", "transcript": f"/{place}/0/full.jsonl", "prompt": ""}
        files[f"{place}/metadata.json"] = json.dumps({"checkpoint_id": id_, "sessions": [named]}).encode()
        files[f"{place}/0/metadata.json"] = json.dumps(said).encode()
        if data is not None:
            files[f"{place}/0/full.jsonl"] = data
            files[f"{place}/0/content_hash.txt"] = f"sha256:{hashlib.sha256(data).hexdigest()}".encode()
    return files


def only(files: dict[str, bytes]) -> tuple[entire.Log, Session]:
    """The one log of a branch, with its session."""
    (joined,) = entire.join(files)
    (session,) = entire.read(joined)
    return joined, session


def texts(session: Session) -> list[str]:
    """What was said."""
    return [turn.text for turn in session.turns]


def test_a_branch_is_known_by_the_file_of_a_checkpoint() -> None:
    """Its place and its id: other files may be called so."""
    assert entire.matches(f"{ONE}/metadata.json", b'{"checkpoint_id": "0a0123456789"}')
    assert not entire.matches(f"{ONE}/metadata.json", b"{}")
    assert not entire.matches(f"{ONE}/metadata.json", b"[" * 100_000)
    assert not entire.matches("docs/metadata.json", b'{"checkpoint_id": "0a0123456789"}')


def test_of_logs_that_are_written_whole_the_last_one_is_read_and_lines_stay_where_they_were_first() -> None:
    """Each checkpoint is at the first turn that is new in it, whatever order their names have."""
    joined, session = only(
        branch((TWO, "10:00", log(0, 1)), (ONE, "11:00", log(0, 1, 2)), (THREE, "12:00", log(0, 1, 2, 3)))
    )
    assert joined.data == log(0, 1, 2, 3)
    assert texts(session) == ["Turn 0", "Turn 1", "Turn 2", "Turn 3"]
    assert [joined.place(turn.line) for turn in session.turns] == [
        (f"{TWO}/0/full.jsonl", 1),
        (f"{TWO}/0/full.jsonl", 2),
        (f"{ONE}/0/full.jsonl", 3),
        (f"{THREE}/0/full.jsonl", 4),
    ]
    assert session.checkpoints == ((1, "0b0123456789"), (3, "0a0123456789"), (4, "0c0123456789"))


def test_pieces_are_joined_and_what_they_repeat_counts_once() -> None:
    """The first tools wrote only what was new; a record that comes again may be written in another way."""
    again = record(1, extra=1) + b"\n"
    joined, session = only(branch((ONE, "10:00", log(0, 1)), (TWO, "11:00", again + log(2)), (THREE, "12:00", log(3))))
    assert texts(session) == ["Turn 0", "Turn 1", "Turn 2", "Turn 3"]
    assert joined.data == log(0, 1, 2, 3)
    assert [joined.place(line) for line in (2, 3, 4)] == [
        (f"{ONE}/0/full.jsonl", 2),
        (f"{TWO}/0/full.jsonl", 2),
        (f"{THREE}/0/full.jsonl", 1),
    ]


def test_a_last_line_without_a_line_end_is_not_joined_with_the_next_one() -> None:
    """So are the logs that Codex leaves."""
    joined, session = only(branch((ONE, "10:00", log(0, 1).rstrip()), (TWO, "11:00", log(0, 1, 2).rstrip())))
    assert (joined.data, len(session.turns)) == (log(0, 1, 2), 3)


def test_a_log_that_is_written_whole_keeps_lines_that_are_alike() -> None:
    """Codex gives its records no ids."""
    line = b'{"type": "response_item", "payload": {}}\n'
    (joined,) = entire.join(branch((ONE, "10:00", line * 2), (TWO, "11:00", line * 3)))
    assert joined.data == line * 3


def test_an_older_copy_adds_nothing() -> None:
    """Checkpoints of two branches may be written in another order than their logs."""
    joined, session = only(branch((ONE, "10:00", log(0, 1, 2)), (TWO, "11:00", log(0, 1))))
    assert (joined.data, len(joined.checkpoints)) == (log(0, 1, 2), 2)
    assert texts(session) == ["Turn 0", "Turn 1", "Turn 2"]


def test_the_branch_tells_the_id_of_a_session_without_the_day_before_it() -> None:
    """The day is that of the checkpoint, so one session has several."""
    first = branch((ONE, "10:00", log(0, 1)), key=f"2026-01-21-{KEY}")
    joined, session = only(first | branch((TWO, "11:00", log(0, 1, 2)), key=f"2026-01-22-{KEY}"))
    assert joined.key == session.key == KEY and len(session.turns) == 3
    (without,) = entire.join(branch((ONE, "10:00", log(0, 1)), key="../x"))
    assert (without.key, entire.read(without)[0].key) == ("", "another-id")


def test_sessions_of_a_checkpoint_are_logs_of_their_own() -> None:
    """Those without an id are not joined."""
    files = (
        branch((ONE, "10:00", log(0, 1)))
        | branch((TWO, "09:00", log(0, 1)), key="b")
        | branch((THREE, "08:00", log(0)), key="")
    )
    assert [joined.key for joined in entire.join(files)] == ["", "b", KEY]


@pytest.mark.parametrize(
    ("start", "ordinal"), [(0, 1), (2, 3), (3, 4), (99, 4), (-1, 1), (True, 1), ("2", 1), (None, 1)]
)
def test_a_checkpoint_is_where_its_file_says_that_it_began(start: object, ordinal: int) -> None:
    """Behind as many lines as were there before; without such a number, where its log adds something."""
    _, session = only(branch((ONE, "10:00", log(0, 1, 2, 3)), checkpoint_transcript_start=start))
    assert session.checkpoints == ((ordinal, "0a0123456789"),)
    _, other = only(branch((ONE, "10:00", log(0, 1, 2, 3)), transcript_lines_at_start=start))
    assert other.checkpoints == session.checkpoints


def test_a_hash_that_is_another_and_a_named_file_that_is_missing_are_told() -> None:
    """The log is read all the same."""
    files = branch((ONE, "10:00", log(0, 1)), (TWO, "11:00", None))
    files[f"{ONE}/0/content_hash.txt"] = b"sha256:00\n"
    joined, session = only(files)
    assert [(problem.rule, problem.line) for problem in session.problems] == [
        ("session-hash", 1),
        ("session-not-read", 3),
    ]
    assert f"{TWO}/0/full.jsonl" in session.problems[1].message
    assert len(joined.checkpoints) == 2 and len(session.turns) == 2


def test_prompts_and_contexts_are_never_turns() -> None:
    """They repeat the log."""
    files = branch((ONE, "10:00", log(0, 1)))
    files |= {f"{ONE}/0/prompt.txt": b"Not mine.", f"{ONE}/0/context.md": b"# Not mine."}
    assert "Not mine." not in str(only(files)[1].turns)


def test_a_log_of_one_object_is_replaced_by_the_next_one() -> None:
    """So does Gemini CLI write it, over many lines, and Entire calls it by the same name."""

    def written(*said: str) -> bytes:
        messages = [
            {"id": str(n), "type": "user", "timestamp": "2026-01-21T10:00:00Z", "content": text}
            for n, text in enumerate(said)
        ]
        return json.dumps({"sessionId": "x", "projectHash": "y", "messages": messages}, indent=2).encode()

    joined, session = only(branch((ONE, "10:00", written("One")), (TWO, "11:00", written("One", "Two"))))
    assert texts(session) == ["One", "Two"]
    assert joined.place(5) == (f"{TWO}/0/full.jsonl", 5)


def test_what_a_checkpoint_says_of_itself_is_kept() -> None:
    """Which files were touched, on which branch; what is no such value is nothing."""
    (joined,) = entire.join(branch((ONE, "10:00", log(0)), files_touched=["a.py", 1, "b.py"], branch="main"))
    (kept,) = joined.checkpoints
    assert (kept.files, kept.branch, kept.stamp) == (("a.py", "b.py"), "main", "2026-01-21T10:00:00Z")
    (odd,) = entire.join(branch((ONE, "10:00", log(0)), files_touched={"a": 1}, branch=[1], created_at=5))
    assert (odd.checkpoints[0].files, odd.checkpoints[0].branch, odd.checkpoints[0].at) == ((), "", None)


def test_while_checkpoints_are_added_finished_turns_stay() -> None:
    """Number, digest and place, whether logs are whole or in pieces."""
    for logs in (
        [log(*range(end)) for end in range(1, 9)],
        [log(number) for number in range(8)],
        [log(0, 1), log(0, 1, 2), log(3), log(2, 3, 4), log(*range(7))],
    ):
        entries = [(f"{number:02x}/0123456789", f"10:{number:02}", data) for number, data in enumerate(logs)]
        last: list[object] = []
        for number in range(1, len(entries) + 1):
            joined, session = only(branch(*entries[:number]))
            known: list[object] = [(turn.ordinal, turn.digest, joined.place(turn.line)) for turn in session.turns]
            assert known[: max(len(last) - 1, 0)] == last[:-1]
            last = known
        assert len(last) >= 7


VALUES: st.SearchStrategy[object] = st.sampled_from(
    ("", KEY, "/0a/0123456789/0/full.jsonl", "../../x", 0, -1, 10**30, None, True, 1.5, [], {}, [{}], "\ud800")
)
NAMES = (
    *("checkpoint_id", "session_id", "created_at", "sessions", "files_touched", "branch", "metadata", "transcript"),
    *("checkpoint_transcript_start", "transcript_lines_at_start", "prompt", "messages", "sessionId", "uuid", "type"),
)
OBJECTS = st.dictionaries(st.sampled_from(NAMES), VALUES | st.lists(VALUES, max_size=2), max_size=5)
PATHS = st.sampled_from(
    [
        f"{place}/{name}"
        for place in (ONE, TWO)
        for name in ("metadata.json", "0/metadata.json", "0/full.jsonl", "1/metadata.json")
    ]
    + [f"{ONE}/0/content_hash.txt", "x", f"{ONE}/999999/metadata.json"]
)
DATA = (
    st.lists(OBJECTS.map(lambda value: json.dumps(value).encode()) | st.sampled_from((b"", b"{", b"// x", record(1))))
    .map(b"\n".join)
    .flatmap(lambda data: st.sampled_from((data, data + b"\n", data.replace(b"\n", b"\r\n"))))
) | st.binary(max_size=40)  # fmt: skip


@given(st.dictionaries(PATHS, DATA, max_size=9))
def test_any_branch_gives_logs_whose_lines_have_a_place(files: dict[str, bytes]) -> None:
    """Each line of a joined log is one of the file that it names."""
    for joined in entire.join(files):
        entire.read(joined)
        for number, line in enumerate(joined.data.split(b"\n")[:-1], 1):
            path, place = joined.place(number)
            assert files[path].split(b"\n")[place - 1] == line


def test_joining_takes_time_in_proportion_to_a_branch() -> None:
    """Thousands of checkpoints, each with one more record, and a log that is cut into single ones."""
    entries = [(f"{number >> 8:02x}/{number:010x}", f"10:{number % 60:02}", record(number)) for number in range(5_000)]
    joined, session = only(branch(*entries))
    assert len(joined.checkpoints) == len(joined.pieces) == len(session.checkpoints) == 5_000
