"""[I/O] Writes transcripts as the session files of Claude Code, which claude-code-log reads."""

import datetime as dt
import json
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.organization import Artifact


def write_sessions(folder: Path, transcripts: Iterable[Artifact]) -> None:
    """Write a JSONL file each transcript."""
    folder.mkdir(parents=True)
    for transcript in transcripts:
        session = str(uuid.uuid5(uuid.NAMESPACE_URL, transcript.name))
        lines = (json.dumps(entry, ensure_ascii=False) + "\n" for entry in _entries(transcript, session))
        (folder / f"{session}.jsonl").write_text("".join(lines))


def _entries(transcript: Artifact, session: str) -> Iterator[dict[str, object]]:
    """The lines of a session: turns, tool calls, and a word each for their results, which captures leave out."""
    before = None
    for number, (role, at, content) in enumerate(_messages(transcript)):
        message: dict[str, object] = {"role": role, "content": [content]}
        if role == "assistant":
            message |= {"id": f"message-{number}", "type": "message", "model": "claude-opus-4-7"}
            message |= {"stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}}
        yield {
            "parentUuid": before,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/somebody/mainland",
            "sessionId": session,
            "version": "2.0.0",
            "uuid": (before := str(uuid.uuid5(uuid.UUID(session), str(number)))),
            "timestamp": f"{at:%Y-%m-%dT%H:%M:%S.000Z}",
            "type": role,
            "message": message,
        }


def _messages(transcript: Artifact) -> Iterator[tuple[str, dt.datetime, dict[str, object]]]:
    """Who says what at which time."""
    for place, turn in enumerate(transcript.turns):
        yield "user" if turn.is_user else "assistant", turn.at, {"type": "text", "text": turn.text}
        for number, call in enumerate(turn.calls):
            name = f"tool-{place}-{number}"
            yield "assistant", call.at, {"type": "tool_use", "id": name, "name": call.name, "input": call.given}
            yield "user", call.at, {"type": "tool_result", "tool_use_id": name, "content": "done"}
