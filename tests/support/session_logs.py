"""Writes session logs of all forms, of what is said and done in them: a few steps give a log of each form."""

import datetime as dt
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.support.files import write_text

Step = tuple[str, ...]
"""What happens: `person`, `assistant`, `thinking`, `put` (a machine in a person's place), each with its text; `call`
with the name of the tool, its input and its output."""

BEGIN = dt.datetime(2026, 5, 1, 9, 0, 0, tzinfo=dt.UTC)
SESSION = "5c1e8a50-7d0f-4f3b-9a53-2f6a0d1b7c11"


def _times(steps: Iterable[Step]) -> Iterator[tuple[int, str, str, Step]]:
    """Steps with their numbers, their times, and the same as Markdown forms write it; ten seconds apart."""
    for number, step in enumerate(steps):
        at = BEGIN + dt.timedelta(seconds=10 * number)
        yield number, f"{at:%Y-%m-%dT%H:%M:%S}.000Z", f"{at:%Y-%m-%d %H:%M:%S}Z", step


def _lines(records: Iterable[object]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def claude_code(steps: Iterable[Step], session: str = SESSION) -> str:
    """A log of Claude Code, a record a step and two for a call."""

    def records() -> Iterator[dict[str, Any]]:
        for number, at, _, (kind, *said) in _times(steps):
            id_, before = f"{session[:8]}-{number}", f"{session[:8]}-{number - 1}" if number else None
            base: dict[str, Any] = {"uuid": id_, "parentUuid": before, "sessionId": session, "timestamp": at}
            base |= {"cwd": "/home/ann/casks", "version": "2.1.0"}
            if kind in ("person", "put"):
                yield {**base, "type": "user", "isMeta": kind == "put", "message": {"role": "user", "content": said[0]}}
                continue
            blocks: dict[str, dict[str, Any]] = {
                "assistant": {"type": "text", "text": said[0]},
                "thinking": {"type": "thinking", "thinking": said[0]},
                "call": {"type": "tool_use", "id": f"c{number}", "name": said[0], "input": {"command": said[-2:][0]}},
            }
            message = {"role": "assistant", "model": "claude-x", "content": [blocks[kind]]}
            yield {**base, "type": "assistant", "message": message}
            if kind == "call":
                result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": said[2]}
                yield {**base, "uuid": f"{id_}r", "type": "user", "message": {"role": "user", "content": [result]}}

    return _lines(records())


def codex(steps: Iterable[Step], session: str = SESSION) -> str:
    """A rollout of Codex."""

    def items(number: int, kind: str, said: list[str]) -> Iterator[dict[str, Any]]:
        if kind in ("person", "put"):
            text = f"<environment_context>{said[0]}</environment_context>" if kind == "put" else said[0]
            yield {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        elif kind == "assistant":
            yield {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said[0]}]}
        elif kind == "thinking":
            yield {"type": "reasoning", "summary": [{"type": "summary_text", "text": said[0]}]}
        else:
            given = json.dumps({"command": ["bash", "-lc", said[1]]})
            yield {"type": "function_call", "name": said[0], "arguments": given, "call_id": f"c{number}"}
            yield {"type": "function_call_output", "call_id": f"c{number}", "output": said[2]}

    def records() -> Iterator[dict[str, Any]]:
        start = f"{BEGIN:%Y-%m-%dT%H:%M:%S}.000Z"
        meta = {"id": session, "timestamp": start, "cwd": "/home/ann/casks", "cli_version": "0.99"}
        yield {"timestamp": start, "type": "session_meta", "payload": meta}
        for number, at, _, (kind, *said) in _times(steps):
            yield from (
                {"timestamp": at, "type": "response_item", "payload": item} for item in items(number, kind, said)
            )

    return _lines(records())


def gemini(steps: Iterable[Step], session: str = SESSION) -> str:
    """A session of Gemini CLI: one object."""

    def messages() -> Iterator[dict[str, Any]]:
        for number, at, _, (kind, *said) in _times(steps):
            base: dict[str, Any] = {"id": f"m{number}", "timestamp": at}
            if kind in ("person", "put"):
                yield {**base, "type": "user" if kind == "person" else "info", "content": said[0]}
                continue
            answer: dict[str, Any] = {**base, "type": "gemini", "model": "gemini-x", "content": ""}
            if kind == "assistant":
                answer["content"] = said[0]
            elif kind == "thinking":
                answer["thoughts"] = [{"subject": "", "description": said[0], "timestamp": at}]
            else:
                result = [{"functionResponse": {"id": f"c{number}", "name": said[0], "response": {"output": said[2]}}}]
                call = {"id": f"c{number}", "name": said[0], "args": {"command": said[1]}, "result": result}
                answer["toolCalls"] = [{**call, "status": "success", "timestamp": at}]
            yield answer

    said = {"sessionId": session, "projectHash": "0" * 64, "startTime": f"{BEGIN:%Y-%m-%dT%H:%M:%S}.000Z"}
    return json.dumps(
        {**said, "lastUpdated": f"{BEGIN:%Y-%m-%dT%H:%M:%S}.000Z", "messages": list(messages())}, indent=2
    )


def specstory(steps: Iterable[Step], session: str = SESSION) -> str:
    """A session as the command line tool of SpecStory writes it."""

    def parts() -> Iterator[str]:
        start = f"{BEGIN:%Y-%m-%d %H:%M:%S}Z"
        yield f"<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# {start}\n\n"
        yield f"<!-- Claude Code Session {session} ({start}) -->\n"
        for _, _, at, (kind, *said) in _times(steps):
            if kind in ("person", "put"):
                text = f"<command-name>{said[0]}</command-name>" if kind == "put" else said[0]
                yield f"\n_**User ({at})**_\n\n{text}\n\n---\n"
                continue
            yield f"\n_**Agent (claude-x {at})**_\n\n"
            if kind == "assistant":
                yield f"{said[0]}\n"
            elif kind == "thinking":
                yield f"<think><details><summary>Thought Process</summary>\n{said[0]}\n</details></think>\n"
            else:
                yield f'<tool-use data-tool-type="shell" data-tool-name="{said[0]}"><details>\n'
                yield f"<summary>Tool use: **{said[0]}**</summary>\n`{said[1]}`\n\n```text\n{said[2]}\n```\n"
                yield "</details></tool-use>\n"

    return "".join(parts())


def aider(steps: Iterable[Step], session: str = SESSION) -> str:
    """A history of aider with one run; what it thinks it does not write."""

    def parts() -> Iterator[str]:
        number = int(session[:4], 16)
        yield f"\n# aider chat started at 2026-05-01 {number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}\n\n"
        yield "> Model: x with diff edit format  \n"
        for _, _, _, (kind, *said) in _times(steps):
            lines = said[-1].split("\n")
            if kind == "person":
                yield "\n" + "".join(f"#### {line}  \n" for line in lines)
            elif kind == "assistant":
                yield f"\n{said[0]}\n"
            elif kind in ("call", "put"):
                yield "\n" + "".join(f"> {line}  \n" for line in lines)

    return "".join(parts())


FORMS: Mapping[str, tuple[str, Callable[..., str]]] = {
    "claude-code": ("sessions/{}.jsonl", claude_code),
    "codex": ("sessions/{}.jsonl", codex),
    "gemini": ("sessions/{}.json", gemini),
    "specstory": (".specstory/history/{}.md", specstory),
    "aider": ("sessions/{}.md", aider),
}
"""Of each form where a log is read without being asked for, and what writes one."""


ASKED = "Oil the hinges of the north gate, please."


class ClaudeLog:
    """A session of Claude Code that grows; each call adds what it says."""

    def __init__(self, key: str, *, folder: str = "/srv/quay", day: str = "2026-05-01") -> None:
        self.key, self.folder, self.day = key, folder, day
        self.records: list[str] = []

    def add(self, type_: str, content: object, **more: Any) -> "ClaudeLog":
        """A record, a minute after the one before."""
        number = len(self.records)
        record = {
            "parentUuid": f"{self.key}-{number - 1}" if number else None,
            "cwd": self.folder,
            "sessionId": self.key,
            "type": type_,
            "uuid": f"{self.key}-{number}",
            "timestamp": f"{self.day}T{9 + number // 60:02}:{number % 60:02}:00.000Z",
            "message": {"role": type_, "content": content, "model": "model-9"},
        }
        self.records.append(json.dumps(record | more, ensure_ascii=False))
        return self

    def ask(self, text: str = ASKED) -> "ClaudeLog":
        """What a person typed."""
        return self.add("user", text)

    def say(self, text: str) -> "ClaudeLog":
        """A text of the agent."""
        return self.add("assistant", [{"type": "text", "text": text}])

    def run(self, tool: str, given: dict[str, str], output: str) -> "ClaudeLog":
        """A call of a tool, and its result."""
        call = f"call{len(self.records)}"
        self.add("assistant", [{"type": "tool_use", "id": call, "name": tool, "input": given}])
        return self.add("user", [{"type": "tool_result", "tool_use_id": call, "content": output}])

    def commit(self, said: str, command: str = "git commit -am Hinges") -> "ClaudeLog":
        """A shell that commits, and what git says."""
        return self.run("Bash", {"command": command}, said)

    def pull(self, url: str) -> "ClaudeLog":
        """A pull request that the agent opened."""
        self.records.append(json.dumps({"type": "pr-link", "sessionId": self.key, "prUrl": url, "prNumber": 7}))
        return self

    @property
    def text(self) -> str:
        """All that is in the file."""
        return "".join(f"{record}\n" for record in self.records)

    def write(self, path: Path) -> Path:
        """Write it as it is now."""
        return write_text(path, self.text)
