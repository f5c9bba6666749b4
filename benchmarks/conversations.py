"""Invents conversations of a person with a position: turns, and the tool calls between them, as in real recordings."""

import datetime as dt
from collections.abc import Iterator, Mapping

from benchmarks.markup import Prose, length
from memosite.facts.values import Value

TOOLS = {
    "Bash": 24, "Read": 13, "Edit": 6, "Write": 5, "TodoWrite": 5, "WebFetch": 2, "ToolSearch": 2, "AskUserQuestion": 2,
    "Glob": 1,
}  # fmt: skip
"""How often each was called in a real recording of 35 turns."""

CALLS = (0, 0, 0, 1, 1, 2, 3, 4, 5)
"""How many calls follow a turn."""

COMMANDS = ("ls", "ls -la", "cat", "head -30", "grep -rn status", "find . -name", "mkdir -p", "npm run compile --")
LONG = 500
"""Turns that are longer have headings and lists."""


class ToolCall(Value):
    """A tool that was called, when, and what it was given."""

    name: str
    at: dt.datetime
    given: Mapping[str, object]


class Turn(Value):
    """A turn of a conversation, and the calls that the assistant made after it."""

    is_user: bool
    at: dt.datetime
    text: str
    calls: tuple[ToolCall, ...] = ()


def converse(prose: Prose, begin: dt.datetime) -> Iterator[Turn]:
    """The turns of one conversation. People say a sentence or two; answers are of any length, like memos."""
    rng, at, is_user = prose.rng, begin, True
    for _ in range(rng.randint(20, 120)):
        began, calls = at, []
        for _ in range(rng.choice(CALLS)):
            at += dt.timedelta(seconds=rng.randint(1, 40))
            calls.append(_call(prose, at))
        yield Turn(is_user=is_user, at=began, text=_said(prose, is_user=is_user), calls=tuple(calls))
        at += dt.timedelta(seconds=rng.randint(5, 240))
        is_user = not is_user and rng.random() < 0.65


def _said(prose: Prose, *, is_user: bool) -> str:
    """The text of a turn; in one of twenty, the editor first says which file is open."""
    size = length(prose.rng, median=110 if is_user else 420, spread=1.0, most=4_000)
    text = prose.markdown(size).strip() if size > LONG else prose.remark(size)
    if is_user and prose.rng.random() < 0.05:
        opened = f"The user opened the file {prose.words.path()} in the IDE."
        return f"<ide_opened_file>{opened}</ide_opened_file>\n\n{text}"
    return text


def _call(prose: Prose, at: dt.datetime) -> ToolCall:
    (name,) = prose.rng.choices(tuple(TOOLS), tuple(TOOLS.values()))
    return ToolCall(name=name, at=at, given=_given(prose, name))


def _given(prose: Prose, name: str) -> dict[str, object]:
    """What a tool is given, by the names of Claude Code."""
    rng, words = prose.rng, prose.words
    if name == "Bash":
        pipe = rng.choice(("", "", "2>&1", f"| grep -i {words.one()}", f"&& git log {words.path()}"))
        return {"command": f"{rng.choice(COMMANDS)} {words.path()} {pipe}".strip()}
    if name == "TodoWrite":
        return {"todos": [_todo(prose) for _ in range(rng.randint(3, 6))]}
    if name == "AskUserQuestion":
        options = [{"label": words.phrase(1, 3), "description": prose.sentence()} for _ in range(rng.randint(2, 4))]
        return {"questions": [{"question": prose.sentence(), "header": words.phrase(1, 2), "options": options}]}
    if name == "WebFetch":
        return {"url": words.address(), "prompt": prose.sentence()}
    if name == "ToolSearch":
        return {"query": f"select:{words.identifier()}", "max_results": 1}
    if name == "Glob":
        return {"pattern": f"{words.one()}/**/*.md"}
    changes = {"Write": {"content": words.one()}, "Edit": {"old_string": words.one(), "new_string": words.one()}}
    return {"file_path": words.path(), **changes.get(name, {})}


def _todo(prose: Prose) -> dict[str, object]:
    what = prose.words.phrase(3, 9)
    return {"content": what, "activeForm": what, "status": prose.rng.choice(("pending", "in_progress", "completed"))}
