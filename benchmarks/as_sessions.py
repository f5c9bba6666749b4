"""[I/O] Writes transcripts as the session logs of Claude Code, which memosite and claude-code-log read.

Tools put out two thirds of all characters, as in real logs; every third answer has a thought before it.
"""

import datetime as dt
import json
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

from benchmarks.organization import Artifact

MEDIAN_OUTPUT, MOST_OUTPUT = 900, 60_000
"""Characters of what a tool puts out."""


def write_sessions(folder: Path, transcripts: Iterable[Artifact]) -> None:
    """Write a JSONL file each transcript."""
    folder.mkdir(parents=True)
    for transcript in transcripts:
        session = str(uuid.uuid5(uuid.NAMESPACE_URL, transcript.name))
        lines = (json.dumps(entry, ensure_ascii=False) + "\n" for entry in _entries(transcript, session))
        (folder / f"{session}.jsonl").write_text("".join(lines))


def _entries(transcript: Artifact, session: str) -> Iterator[dict[str, object]]:
    """The lines of a session: turns, thoughts, tool calls, and their results."""
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
    """Who says what at which time. What a tool puts out is cut from what is said elsewhere in the session."""
    said = "\n".join(turn.text for turn in transcript.turns)
    rng = Random(transcript.name)
    for place, turn in enumerate(transcript.turns):
        if not turn.is_user and rng.random() < 1 / 3:
            yield "assistant", turn.at, {"type": "thinking", "thinking": _cut(said, rng, 600), "signature": "s" * 300}
        yield "user" if turn.is_user else "assistant", turn.at, {"type": "text", "text": turn.text}
        for number, call in enumerate(turn.calls):
            name = f"tool-{place}-{number}"
            yield "assistant", call.at, {"type": "tool_use", "id": name, "name": call.name, "input": call.given}
            output = _cut(said, rng, MEDIAN_OUTPUT)
            yield "user", call.at, {"type": "tool_result", "tool_use_id": name, "content": output}


def _cut(text: str, rng: Random, median: int) -> str:
    """A piece of a text, repeated if it is too short."""
    size = min(int(rng.lognormvariate(0, 1.6) * median) + 20, MOST_OUTPUT)
    begin = rng.randrange(len(text))
    return (text[begin:] + text * (size // len(text) + 1))[:size]
