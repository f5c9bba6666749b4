"""Recognizes the parts of a memory-store, and reads what they share: ids, conflict markers, hashed bytes.

A store is the `.memory/` folder of a repo (SPEC 2.2). What its tool generates (`index/`, `schema/`, `recovery/`,
`.backup/`) is no part of it.
"""

import re
from typing import Any, Literal

from memosite.facts import rules
from memosite.facts.file import File, shown
from memosite.facts.findings import Finding
from memosite.formats.fields import canonical_json
from memosite.formats.memory_store import rules as store_rules
from memosite.formats.memory_store.places import store_of

KINDS = (
    *("project", "feature", "decision", "gotcha", "question"),
    *("architecture", "constraint", "fact", "source", "synthesis", "workflow", "note", "concept"),
)
"""Kinds of nodes: the five of version 5, then those of version 4 alone."""

StorePart = Literal["config", "marker", "events", "relation", "node", "body"]

_FILES: dict[str, StorePart] = {"config.json": "config", "sync-state.json": "marker", "events.jsonl": "events"}
_KIND_OF_FOLDER = {"syntheses": "synthesis", **{f"{kind}s": kind for kind in KINDS if kind != "synthesis"}}
_MARKER = re.compile(r"(?:<{7}|>{7}|\|{7}) \S.*")
_BETWEEN = "======="
_NODE_ID = re.compile(r"[a-z][a-z0-9_]*\.[a-z0-9][a-z0-9-]*")
_RELATION_ID = re.compile(r"rel\.[a-z0-9][a-z0-9-]*")


def part_of(path: str) -> StorePart | None:
    """Which part of a store a file would be by its place; its shape has to agree."""
    place = store_of(path)
    below = place[1] if place else ""
    if below.startswith("relations/") and below.endswith(".json"):
        return "relation"
    if below.startswith("memory/"):
        return "node" if below.endswith(".json") else "body" if below.endswith(".md") else None
    return _FILES.get(below)


def is_node_id(text: str) -> bool:
    """Whether a text is an id of the form `kind.slug`."""
    return _NODE_ID.fullmatch(text) is not None


def is_relation_id(text: str) -> bool:
    """Whether a text is an id of the form `rel.slug`."""
    return _RELATION_ID.fullmatch(text) is not None


def key_of_path(path: str) -> str:
    """The id that a sidecar's place suggests: `memory/gotchas/tides.json` is `gotcha.tides`, a flat one its stem."""
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    kind = _KIND_OF_FOLDER.get(folder.rpartition("/")[2])
    return f"{kind}.{stem}" if kind else stem


def hashed_bytes(values: dict[str, Any]) -> bytes:
    """The canonical JSON that a content hash is made over (SPEC 2.2): all fields but the hash itself."""
    return canonical_json({name: value for name, value in values.items() if name != "content_hash"})


def lines_of(file: File) -> list[str]:
    """The lines of a file as findings count them, each without its end."""
    return [line.removesuffix("\r") for line in file.text.split("\n")]


def conflict_lines(lines: list[str]) -> tuple[int, ...]:
    """The lines (1 = first) that git has left in an unresolved merge.

    A line of `=======` alone may underline a heading; it counts only in the company of the other marks.
    """
    marks = [number for number, line in enumerate(lines, 1) if _MARKER.fullmatch(line)]
    if not marks:
        return ()
    between = (number for number, line in enumerate(lines, 1) if line == _BETWEEN)
    return tuple(sorted((*marks, *between)))


def file_findings(file: File) -> list[Finding]:
    """What is wrong with a file before its fields are read. A merge conflict is the cause of JSON that is broken."""
    marks = conflict_lines(lines_of(file))
    found = list(file.text_findings if file.path.endswith((".md", ".jsonl")) else file.json.findings)
    if not marks:
        return found
    message = f"line {marks[0]} is a marker of an unresolved merge" + (
        f", as are {len(marks) - 1} more" if len(marks) > 1 else ""
    )
    conflict = Finding(rule=store_rules.CONFLICT, location=file.at(marks[0]), message=shown(message, 200))
    return [conflict, *(one for one in found if one.rule not in {rules.JSON_INVALID, rules.JSON_NOT_OBJECT})]
