"""Writes conversations as the common capture tool does: turns as Markdown, tool calls as quotes between them."""

import datetime as dt
import json

from benchmarks.conversations import ToolCall, Turn
from benchmarks.organization import Artifact

BARE = frozenset({"Read", "Edit", "Write", "Glob"})
"""Of these calls the capture has only the name and the time; results it has of none."""


def body_text(artifact: Artifact) -> str:
    """The text of an artifact."""
    if artifact.kind != "transcript":
        return artifact.text
    return "# Claude Code Transcript\n\n---\n\n" + "\n---\n\n".join(map(_turn, artifact.turns))


def _turn(turn: Turn) -> str:
    who = "🧑 User" if turn.is_user else "🤖 Assistant *(claude-opus-4-7)*"
    return f"## {who} {_stamp(turn.at)}\n\n{turn.text}\n" + "".join(f"\n{_quote(call)}\n" for call in turn.calls)


def _quote(call: ToolCall) -> str:
    head = f"> **🔧 {call.name}** {_stamp(call.at)}"
    if call.name in BARE:
        return head
    said = str(call.given["command"]) if call.name == "Bash" else json.dumps(call.given, indent=2, ensure_ascii=False)
    return "\n".join((head, "> ```", *(f"> {line}" for line in said.splitlines()), "> ```"))


def _stamp(at: dt.datetime) -> str:
    clock = f"{at.hour % 12 or 12}:{at:%M:%S} {'AM' if at.hour < 12 else 'PM'}"
    return f"<sub>{at.month}/{at.day}/{at.year}, {clock}</sub>"
