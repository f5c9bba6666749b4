"""[I/O] Writes transcripts as the session files of Claude Code, which claude-code-log reads."""

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
    """The lines of a session: each turn, and what a tool was asked in it."""
    before = None
    for number, turn in enumerate(transcript.turns):
        head: dict[str, object] = {
            "parentUuid": before,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/somebody/mainland",
            "sessionId": session,
            "version": "2.0.0",
            "uuid": (before := str(uuid.uuid5(uuid.UUID(session), str(number)))),
            "timestamp": f"{turn.at:%Y-%m-%dT%H:%M:%S.000Z}",
        }
        content: list[dict[str, object]] = [{"type": "text", "text": turn.text}]
        if turn.is_user:
            yield {**head, "type": "user", "message": {"role": "user", "content": content}}
            continue
        if turn.tool:
            command = {"command": turn.tool}
            content.append({"type": "tool_use", "id": f"tool-{number}", "name": "Bash", "input": command})
        message = {
            "id": f"message-{number}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-7",
            "content": content,
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        yield {**head, "type": "assistant", "message": message}
