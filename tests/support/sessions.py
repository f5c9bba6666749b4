"""Writes invented session logs, as Claude Code writes them, for tests of what is made of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ID = "5f0c1d6e-7a6b-4c61-9a56-1f7f5f0f9a01"
FOLDER = "/srv/tides"


class SessionWriter:
    """A log that grows record by record, a minute each, from `begin` on (`2026-05-01T14`)."""

    def __init__(self, id_: str = ID, *, begin: str = "2026-05-01T14", agent: str = "", **common: Any) -> None:
        self.records: list[dict[str, Any]] = []
        self._begin = begin
        self._common = {"sessionId": id_, "cwd": FOLDER, "gitBranch": "main", "version": "2.1.9", **common}
        if agent:
            self._common |= {"isSidechain": True, "agentId": agent}

    def add(self, type_: str, content: Any = None, **more: Any) -> "SessionWriter":
        """Adds a record."""
        number = len(self.records)
        record: dict[str, Any] = {
            "type": type_,
            "uuid": f"r{number}",
            "parentUuid": f"r{number - 1}" if number else None,
        }
        record["timestamp"] = f"{self._begin}:{number:02}:00.000Z"
        if content is not None:
            record["message"] = {"role": type_, "content": content}
            if type_ == "assistant":
                record["message"]["model"] = "model-9"
        self.records.append(self._common | record | more)
        return self

    def ask(self, text: Any, **more: Any) -> "SessionWriter":
        """What a person typed, or what stands in that place."""
        return self.add("user", text, **more)

    def say(self, text: str, **more: Any) -> "SessionWriter":
        """A text of the agent."""
        return self.add("assistant", [{"type": "text", "text": text}], **more)

    def run(self, name: str, given: Mapping[str, Any], output: Any = "done", **more: Any) -> "SessionWriter":
        """A call of a tool, and its result."""
        id_ = f"call{len(self.records)}"
        self.add("assistant", [{"type": "tool_use", "id": id_, "name": name, "input": given}])
        return self.ask([{"type": "tool_result", "tool_use_id": id_, "content": output}], **more)

    def write(self, file: Path) -> Path:
        """Writes the log."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{json.dumps(record)}\n" for record in self.records), encoding="utf-8")
        return file
