"""Writes logs of invented sessions, record by record, as an agent would (SPEC 2.2, sessions)."""

import json
from pathlib import Path
from typing import Any

from tests.support.files import write_text

ASKED = "Oil the hinges of the north gate, please."


class ClaudeLog:
    """A session of Claude Code that grows; each call adds what it says."""

    def __init__(self, key: str, *, folder: str = "/work/quay", day: str = "2026-05-01") -> None:
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
