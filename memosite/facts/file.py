"""One file of a source, decoded once: bytes to text to JSON; problems are kept as findings. Its bounds.

A file publishes at most 20 times its bytes and 3 MB. Each bound follows from this and from how much one of them takes
on pages, in feeds and in the search: of many that say next to nothing fewer are shown.
"""

import hashlib
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate
from typing import Any
from urllib.parse import quote

from memosite.facts import rules
from memosite.facts.findings import Finding, Location, Rule
from memosite.facts.json_text import KeyPath, Problem, clean_text, key_places, read_json_text, shown, type_name
from memosite.facts.names import blob_id
from memosite.facts.parsed import Fact, FileFacts, Parsed
from memosite.facts.values import Struct, Value

_BOM = b"\xef\xbb\xbf"
_LONGEST_MESSAGE = 500


class File(Struct, kw_only=True, dict=True):
    """A file's path and bytes. Decoding is lazy and happens once.

    Where secrets were redacted in the bytes, `blob` is the id that git gives to the file as it is in its source.
    """

    source: str
    path: str
    data: bytes
    blob: str = ""
    is_redacted: bool = False

    @property
    def name(self) -> str:
        """The bare file name."""
        return self.path.rpartition("/")[2]

    @cached_property
    def facts(self) -> FileFacts:
        """The file's path, and the digest and size of its bytes."""
        return FileFacts(
            source=self.source,
            path=self.path,
            sha256=hashlib.sha256(self.data).hexdigest(),
            bytes=len(self.data),
            blob=self.blob or blob_id(self.data),
            is_redacted=self.is_redacted,
        )

    def at(self, line: int | None = None) -> Location:
        """A location in this file."""
        return Location(source=self.source, path=self.path, line=line)

    @cached_property
    def _key_lines(self) -> dict[KeyPath, int]:
        lines: dict[KeyPath, int] = {}
        line, counted = 1, 0
        for path, offset in key_places(self.text):
            line += self.text.count("\n", counted, offset)
            counted = offset
            lines.setdefault(path, line)
        return lines

    def finding(self, rule: Rule, message: str, *keys: str | int, clause: str = "") -> Finding:
        """A finding on this file, at the line of a key of the JSON object if it is there.

        `("metadata", "discharged")` is a nested key, `("participants", 1)` the second entry of an array. `clause`
        overrides the rule's.
        """
        where = self.at(self._key_lines.get(keys) if keys else None)
        return Finding(rule=rule, location=where, message=shown(message, _LONGEST_MESSAGE), broken_clause=clause)

    def parsed(self, fact: Fact | None = None, findings: Iterable[Finding] = (), *shelve: bytes) -> Parsed:
        """The result of parsing this file; without a fact if no format recognized it."""
        return Parsed(source=self.source, path=self.path, fact=fact, findings=tuple(findings), shelve=shelve)

    def finding_at(self, line: int | None, rule: Rule, message: str) -> Finding:
        """A finding at a line of this file."""
        return Finding(rule=rule, location=self.at(line), message=message)

    def findings_of(self, problems: Iterable[Problem]) -> list[Finding]:
        """What is wrong with the text of this file, as findings."""
        return [self.finding_at(problem.line, problem.rule, problem.message) for problem in problems]

    @cached_property
    def _decoded(self) -> tuple[str, Finding | None]:
        start = len(_BOM) if self.data.startswith(_BOM) else 0
        problem = None
        try:
            text = self.data[start:].decode("utf-8")
        except UnicodeDecodeError as error:
            offset = start + error.start
            line = self.data.count(b"\n", 0, offset) + 1
            message = f"byte 0x{self.data[offset]:02x} at offset {offset} is not UTF-8"
            problem = self.finding_at(line, rules.UTF8_INVALID, message)
            text = self.data[start:].decode("utf-8", "replace")
        return text.lstrip("\ufeff"), problem

    @property
    def text(self) -> str:
        """The file as text without byte-order mark, line ends as they are; bad bytes as U+FFFD."""
        return self._decoded[0]

    @property
    def text_findings(self) -> tuple[Finding, ...]:
        """What is wrong with the bytes."""
        problem = self._decoded[1]
        return (problem,) if problem else ()

    @cached_property
    def json(self) -> "Json":
        """The file's JSON object, read once; the findings name the line and what was expected there."""
        value, problems = read_json_text(self.text)
        findings = [*self.text_findings, *self.findings_of(problems)]
        if isinstance(value, dict):
            return Json(fields=value, findings=tuple(findings))
        if not any(problem.rule == rules.JSON_INVALID for problem in problems):
            message = f"found {type_name(value)}, expected an object"
            findings.append(self.finding_at(1, rules.JSON_NOT_OBJECT, message))
        return Json(fields=None, findings=tuple(findings))

    @cached_property
    def markdown(self) -> str:
        """The file as a text of the archive: LF line ends, no byte-order mark, no NUL."""
        return clean_text(self.text)


class Json(Value):
    """The outcome of reading JSON: an object, or None and the findings that say why."""

    fields: dict[str, Any] | None
    findings: tuple[Finding, ...]


# The bounds of one file: how many of its records, positions and turns are shown one by one (SPEC 9).


RECORDS = 100
"""How many records of a file get pages; others only if they had one before."""

POSITIONS = 500
TURNS = 20_000
NAMED = 50
"""How many positions that no orgdef lists a memo, note or transcript adds; others only if they had a page before."""

LABEL_CHARS = 120
"""The longest name of a position that a page shows; the twins have it whole."""


def most_positions(chars: int, names: Iterable[tuple[str, str]]) -> int:
    """How many positions of an orgdef of this length get pages, given the id and the name of each.

    A position takes some 9 kB, and its id, which is in each of its addresses, is repeated 60 times.
    """
    sizes = (9_400 + 65 * len(quote(id_[:200])) + 8 * len(quote(name[:120])) for id_, name in names)
    left = 2_700_000 + 15 * chars
    return min(POSITIONS, sum(size <= left for size in accumulate(sizes)))


def most_turns(chars: int) -> int:
    """How many turns of a transcript of this length are read as such; each takes some 720 bytes."""
    return min(TURNS, 3_300 + chars // 65)


def most_citations(chars: int, turns: int, size: int) -> int:
    """How many turns of a transcript offer citations of their own, if one takes as many bytes."""
    return max(100, (2_400_000 + 10 * chars - 720 * turns) // size)


def most_turns_found(chars: int, size: int) -> int:
    """How many turns of a transcript a search finds one by one, if a result takes as many bytes."""
    return (300_000 + 4 * chars) // size
