"""Reads session logs of JSON, a record a line, whatever the lines are (SPEC 2.2, sessions; bounds: SPEC 9).

    bytes ─► lines (LF or CRLF) ─► objects, each with its line ─► a form

Nothing here raises or recurses for content, and a line that was read is not kept.
"""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, TypeAlias

from memosite.facts.json_text import JSON_DEPTH, clean_text, read_json_text
from memosite.formats.sessions.model import Problem, cut

FILE_BYTES: Final = 64 * 2**20
LINE_BYTES: Final = 16 * 2**20
MOST_LINES: Final = 1_000_000
MOST_TURNS: Final = 20_000
"""What is read of a file, of a line, of the lines of a file, and of the turns of a session."""

_BOM = b"\xef\xbb\xbf"
_MOST_TOLD = 100  # lines of one file that are no objects; the others are counted
_SNIFFED_BYTES = 4 * 2**20
_SNIFFED_LINES = 200

Record: TypeAlias = dict[str, Any]


def read_lines(data: bytes, problems: list[Problem]) -> Iterator[tuple[int, Record | str]]:
    """The records of a log, each with its line (1 = first). A line that is no JSON object is a string, cut to be shown.

    What is wrong is added to `problems`: lines that are no objects, a last line that is being written, what is beyond
    the bounds.
    """
    told = untold = 0
    for number, line, is_ended in _lines(data, problems):
        text = _decoded(line)
        value = parse(text)
        if isinstance(value, dict):
            yield number, value
        elif value is None and not is_ended:
            problems.append(Problem(rule="session-being-written", line=number, message="the last line is incomplete"))
        elif told == _MOST_TOLD:
            untold += 1
        else:
            told += 1
            problems.append(Problem(rule="session-line", line=number, message="this line is not a JSON object"))
            yield number, cut(clean_text(text))[0]
    if untold:
        message = f"{untold} more lines are no JSON objects"
        problems.append(Problem(rule="session-bounds", line=0, message=message))


def first_records(data: bytes, most: int = 50) -> Iterator[Record]:
    """The first records of a log, by which its form is told; of a long file only the beginning is read."""
    read = 0
    for _, line, _ in islice(_lines(data, []), _SNIFFED_LINES):
        value = parse(_decoded(line))
        if isinstance(value, dict):
            yield value
            most -= 1
        read += len(line)
        if read > _SNIFFED_BYTES or not most:
            return


def _lines(data: bytes, problems: list[Problem]) -> Iterator[tuple[int, bytes, bool]]:
    """Each line that is not blank, with its number, and whether a line end follows it."""
    start, number = len(_BOM) if data.startswith(_BOM) else 0, 0
    while start < len(data):
        found = data.find(b"\n", start)
        end = len(data) if found < 0 else found
        number += 1
        if end > FILE_BYTES or number > MOST_LINES:
            most = "64 MB" if end > FILE_BYTES else f"{MOST_LINES:,} lines"
            message = f"the file has more than {most}; from this line on it is not shown"
            problems.append(Problem(rule="session-bounds", line=number, message=message))
            return
        if end - start > LINE_BYTES:
            message = "this line is longer than 16 MB; it is not shown"
            problems.append(Problem(rule="session-bounds", line=number, message=message))
        else:
            line = data[start:end].strip()
            if line:
                yield number, line, found >= 0
        start = end + 1


def _decoded(line: bytes) -> str:
    return str(line, "utf-8", "replace")


def parse(text: str) -> Any:
    """The value of a text of JSON; None if it is none, or is nested too deeply."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return read_json_text(text, mends=False)[0]
    if text.count("{") + text.count("[") <= JSON_DEPTH:
        return value
    level: list[Any] = [value]
    for _ in range(JSON_DEPTH):
        inner = (node.values() if isinstance(node, dict) else node for node in level)
        level = [child for children in inner for child in children if isinstance(child, dict | list)]
        if not level:
            return value
    return None


def string(record: Record, key: str) -> str:
    """The string that a record has under a key, else ""."""
    value = record.get(key)
    return value if isinstance(value, str) else ""


def nested(record: Record, key: str) -> Record:
    """The object that a record has under a key, else an empty one."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def blocks(value: object) -> list[Record]:
    """The objects in a list; none if it is no list."""
    return [block for block in value if isinstance(block, dict)] if isinstance(value, list) else []
