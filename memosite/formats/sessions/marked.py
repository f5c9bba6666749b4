"""What the Markdown forms of session logs share: lines, the text of a record, thoughts (SPEC 2.2, sessions).

A line here is an index, 0 = first; values have 1 = first, as `sed` counts. The text of a record is that of SPEC 7, so
`sed -n 'A,Bp' FILE | head -c -1 | sha256sum` gives its digest. Fences and trimming are those of all transcripts.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from memosite.facts.json_text import clean_text
from memosite.facts.patterns import regex
from memosite.formats.sessions.lines import FILE_BYTES, LINE_BYTES
from memosite.formats.sessions.model import Problem
from memosite.formats.turns import is_blank, trimmed

_BOM = b"\xef\xbb\xbf"
_THINKING = regex(r"[ \t]*<(think|thinking|thinking-content-[0-9a-f]{8,64})>")
_WRAPPED = regex(r"\s*<details>\s*(?:<summary>[^<\n]*</summary>)?(.*?)(?:</details>\s*)?", re.DOTALL)


class Words(NamedTuple):
    """A text with its lines in the file, 1 = first. Without a text both are 0."""

    text: str
    line: int
    last_line: int


def read_marked(data: bytes) -> tuple[list[str], list[Problem]]:
    """The lines of a Markdown log, and what is not shown of it. Bytes that are not UTF-8, and NUL, become U+FFFD."""
    problems = []
    start = len(_BOM) if data.startswith(_BOM) else 0
    if len(data) > FILE_BYTES:
        data = data[:FILE_BYTES]
        data = data[: data.rfind(b"\n") + 1]
        message = "the file has more than 64 MB; from this line on it is not shown"
        problems.append(Problem(rule="session-bounds", line=data.count(b"\n") + 1, message=message))
    text = data[start:].decode("utf-8", "replace").replace("\0", "\ufffd").replace("\r\n", "\n")
    lines = text.split("\n")
    if len(text) > LINE_BYTES:
        for number, line in enumerate(lines):
            if len(line) > LINE_BYTES:
                lines[number] = ""
                message = "this line is longer than 16 MB; it is not shown"
                problems.append(Problem(rule="session-bounds", line=number + 1, message=message))
    return lines, problems


def count_of(lines: Sequence[str]) -> int:
    """How many lines a file has, as `sed` counts: what follows the last line end is one only if it is not empty."""
    return len(lines) - (not lines[-1])


def words_of(lines: Sequence[str], start: int, end: int) -> Words:
    """The text of a record of these lines, the blank ones before it included (SPEC 7)."""
    text = trimmed(lines[start:end])
    return Words(text, start + 1, start + 1 + text.count("\n")) if text else Words("", 0, 0)


class Thought(NamedTuple):
    """Thinking, its line in the file (1 = first), and the index of the line behind it."""

    text: str
    line: int
    end: int


def thought(lines: Sequence[str], start: int, end: int) -> Thought | None:
    """The thinking with which a record of these lines begins; None if it begins otherwise.

    Thinking that is not closed goes on to the end: it is not shown as words of the agent.
    """
    first = next((number for number in range(start, end) if not is_blank(lines[number])), end)
    opening = _THINKING.match(lines[first]) if first < end else None
    if opening is None:
        return None
    closing = f"</{opening[1]}>"
    last = next((number for number in range(first, end) if lines[number].rstrip().endswith(closing)), end - 1)
    inner = "\n".join(lines[first : last + 1])[opening.end() :].rstrip().removesuffix(closing)
    if wrapped := _WRAPPED.fullmatch(inner):
        inner = wrapped[1]
    return Thought(clean_text(inner).strip(), first + 1, last + 1)
