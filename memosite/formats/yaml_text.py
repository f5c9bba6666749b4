"""Reads YAML: the heads of records and documents tolerantly, memosite.yml strictly; independent of files (SPEC 2.2, 9).

Content is read as texts, lists and mappings. Scalars stay as written: types would turn `version: 1.10` into 1.1 and
`status: on` into true; only a plain `null` is None. Tags and aliases are refused everywhere: they allow attacks. Lines
are counted by LF as everywhere; YAML also counts NEL, LS and PS.

What can be read of broken YAML is read. Of a record (`read_yaml`), that is every field at the top that can be read by
itself, with the lines of its keys, and a value that merely lacks quotes is the text it was meant to be. Of a document
(`read_frontmatter`), those are the `key: value` lines.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import yaml

from memosite.facts import rules
from memosite.facts.characters import printable, quote
from memosite.facts.json_text import KeyPath, Problem, clean_text, shown
from memosite.facts.patterns import regex
from memosite.facts.values import Value, field

YAML_CHARS = 65_536
"""The longest YAML that is read, in characters."""

YAML_DEPTH = 20
"""How deep lists and mappings may be nested."""

NODES = 5_000
"""How many values one YAML may hold."""

FRONTMATTER_CHARS = 16_384
"""The longest frontmatter of a document that is read, in characters."""

INVALID = rules.FRONTMATTER_INVALID
REPEATED = rules.FRONTMATTER_DUPLICATE_KEY

YamlValue = Any
"""A text, None, a list of values, or a mapping of texts to values."""

_PROBLEMS = 20
_ALLOWANCE = 4 * YAML_CHARS  # characters read again to save what can be; without it a file of faults takes minutes
_LOAD = 200  # what beginning to read costs, in characters
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_NULL_TEXTS = ("null", "~")

_FORBIDDEN = yaml.reader.Reader.NON_PRINTABLE
_NO_FIELDS = "the frontmatter is not made of fields, `key: value`"
_TOO_LONG = f"the frontmatter is longer than {YAML_CHARS} characters; the rest was not read"

_BLANK_LINES = regex(r"(?>(?:[ \t\ufeff]*+\n)*)")
_OPENING = regex(r"---[ \t]*\n")
_CLOSING = regex(r"^(?:---|\.\.\.)[ \t]*$\n?", re.MULTILINE)
_BODY_BEGINS = regex(r"^(?:[ \t]*$|#{1,6}[ \t])", re.MULTILINE)
_KEY_LINE = regex(r"""["']?(?P<key>[\w .-]{1,100}?)["']?[ \t]*:(?:[ \t]+(?P<value>\S.*)|[ \t]*)""")
_FIELD_BEGINS = regex(r"^(?=[^\s#\-\]}])", re.MULTILINE)
_KEYED = regex(
    r"""(?P<head>[ ]*(?:-[ ]+)*(?:"[^"]{1,100}"|'[^']{1,100}'|[\w@$.][\w @$./-]{0,99}?)[ ]*:[ ]+)(?P<value>\S.*)"""
)
_LISTED = regex(r"(?P<head>[ ]*(?:-[ ]+)+)(?P<value>\S.*)")


class Head(Value):
    """The YAML at the head of a text, the line it begins at (1 = first), and the text after it.

    It begins at line 2, after the `---`, unless blank lines are before that, which `late` tells.

    `is_closed` is false where the closing `---` is missing; the head then ends at the first empty line or heading.
    """

    source: str
    line: int
    body: str
    is_closed: bool

    @property
    def late(self) -> Problem | None:
        """That blank lines are before the frontmatter."""
        message = f"the frontmatter begins in line {self.line - 1}, expected line 1"
        return Problem(rule=rules.FRONTMATTER_LATE, line=self.line - 1, message=message) if self.line > 2 else None


class Yaml(Value):
    """A mapping as read, the lines of its keys and entries, what is wrong with it, and fields that were left out."""

    fields: dict[str, YamlValue] = field(default_factory=dict)
    lines: dict[KeyPath, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    unread: frozenset[str] = frozenset()


def split_head(text: str) -> Head | None:
    """Cut a text (LF line ends) at its frontmatter; None if its first line that is not blank is no `---`."""
    blank = _BLANK_LINES.match(text)
    opening = _OPENING.match(text, blank.end() if blank else 0)
    if opening is None:
        return None
    start = opening.end()
    line = 1 + text.count("\n", 0, start)
    closing = _CLOSING.search(text, start)
    if closing is not None:
        return Head(source=text[start : closing.start()], line=line, body=text[closing.end() :], is_closed=True)
    end = _BODY_BEGINS.search(text, start)
    cut = end.start() if end else len(text)
    return Head(source=text[start:cut], line=line, body=text[cut:], is_closed=False)


def read_yaml(source: str, *, line: int = 1) -> Yaml:
    """Read a mapping whose first line is the file's line `line`. Never raises."""
    problems: list[Problem] = []
    if len(source) > YAML_CHARS:
        source = source[:YAML_CHARS].rpartition("\n")[0]
        problems.append(Problem(rule=INVALID, line=line, message=_TOO_LONG))
    forbidden = _FORBIDDEN.search(source)
    if forbidden:
        place = line + source.count("\n", 0, forbidden.start())
        message = f"{_forbidden(forbidden[0])}; it is read as U+FFFD"
        problems.append(Problem(rule=INVALID, line=place, message=message))
        source = _FORBIDDEN.sub("\ufffd", source)
    loaded = _load(source)
    if isinstance(loaded, _Fault):
        return _read_by_field(source, line, problems, loaded)
    if loaded.value is not None and not isinstance(loaded.value, dict):
        problems.append(Problem(rule=INVALID, line=line, message=_NO_FIELDS))
    lines = {path: line + number for path, number in loaded.lines.items()}
    problems += (_repeated(line + number, key) for number, key in loaded.repeated)
    fields = loaded.value if isinstance(loaded.value, dict) else {}
    return Yaml(fields=fields, lines=lines, problems=tuple(problems[:_PROBLEMS]))


def _forbidden(char: str) -> str:
    return f"a character YAML forbids (U+{ord(char):04X})"


def _repeated(line: int, key: str) -> Problem:
    return Problem(rule=REPEATED, line=line, message=f'"{shown(key)}" occurs again here; the last one counts')


class _Fault(Value):
    """Why YAML could not be read, the line (0 = first) to look at, and the lines that a fix by quoting may help."""

    line: int
    reason: str
    suspects: tuple[int, ...] = ()


class _Loaded(Value):
    """A value, the line (0 = first) of each key and entry, and the duplicate keys of each mapping."""

    value: YamlValue
    lines: dict[KeyPath, int]
    repeated: tuple[tuple[int, str], ...]


class _RefusedError(Exception):
    """Valid YAML that is refused: tags, anchors, aliases, keys that are not texts, too many or too deep values."""


def _load(source: str, *, nulls: frozenset[str] = _NULLS) -> _Loaded | _Fault:
    """Read YAML that must be without a fault; plain `nulls` are None."""
    builder = _Builder(nulls)
    index = 0
    try:
        for event in yaml.parse(source, Loader=yaml.BaseLoader):
            index = _index(event)
            builder.take(event)
    except _RefusedError as refusal:
        return _Fault(line=source.count("\n", 0, index), reason=str(refusal))
    except yaml.MarkedYAMLError as error:
        return _fault(source, error)
    except yaml.reader.ReaderError as error:
        return _Fault(line=source.count("\n", 0, error.position), reason=_forbidden(source[error.position]))
    except (yaml.YAMLError, ValueError, OverflowError):  # a directive or an escape that means nothing
        line = source.count("\n", 0, index)
        return _Fault(line=line, reason="it cannot be read", suspects=(line,))
    breaks = [match.start() for match in re.finditer("\n", source)]
    lines = {path: bisect_left(breaks, place) for path, place in builder.places.items()}
    repeated = tuple((bisect_left(breaks, place), key) for place, key in builder.repeated)
    return _Loaded(value=builder.root, lines=lines, repeated=repeated)


def _fault(source: str, error: yaml.MarkedYAMLError) -> _Fault:
    """The line of an error: the scanner has it where reading began, the parser where it stopped."""
    marks = [error.problem_mark, error.context_mark]
    if isinstance(error, yaml.scanner.ScannerError) and error.context_mark is not None:
        marks.reverse()
    if marks[0] is not None and marks[0].index >= len(source.rstrip()):  # something was never closed
        marks.reverse()
    lines = tuple(source.count("\n", 0, mark.index) for mark in marks if mark is not None)
    return _Fault(line=lines[0] if lines else 0, reason=error.problem or "it cannot be read", suspects=lines)


def _index(event: yaml.Event) -> int:
    return event.start_mark.index if event.start_mark else 0


class _Builder:
    """Builds values from YAML events, within the limits."""

    def __init__(self, nulls: frozenset[str]) -> None:
        self._nulls = nulls
        self.root: YamlValue = None
        self.places: dict[KeyPath, int] = {}
        self.repeated: list[tuple[int, str]] = []
        self._open: list[tuple[list[YamlValue] | dict[str, YamlValue], KeyPath]] = []
        self._keys: list[str | None] = []
        self._nodes = 0

    def take(self, event: yaml.Event) -> None:
        """Add one event."""
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _RefusedError("anchors and aliases are not read")
        if getattr(event, "tag", None) is not None:
            raise _RefusedError("tags are not read")
        if isinstance(event, yaml.ScalarEvent):
            is_null = event.implicit[0] and event.value in self._nulls and not self._is_key()
            self._add(None if is_null else clean_text(event.value), _index(event))
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if self._is_key():
                raise _RefusedError("a key must be a text")
            if len(self._open) >= YAML_DEPTH:
                raise _RefusedError(f"nested deeper than {YAML_DEPTH} levels")
            value: list[YamlValue] | dict[str, YamlValue] = {} if isinstance(event, yaml.MappingStartEvent) else []
            self._open.append((value, self._add(value, _index(event))))
            self._keys.append(None)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._open.pop()
            self._keys.pop()

    def _is_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1][0], dict) and self._keys[-1] is None

    def _add(self, value: YamlValue, index: int) -> KeyPath:
        self._nodes += 1
        if self._nodes > NODES:
            raise _RefusedError(f"more than {NODES} values")
        if not self._open:
            self.root = value
            return ()
        container, path = self._open[-1]
        if isinstance(container, list):
            path = (*path, len(container))
            container.append(value)
            self.places[path] = index
            return path
        key = self._keys[-1]
        if key is None:
            self._keys[-1] = value
            if value in container:
                self.repeated.append((index, value))
            self.places[(*path, value)] = index
            return path
        container[key] = value
        self._keys[-1] = None
        return (*path, key)


def _read_by_field(source: str, line: int, problems: list[Problem], fault: _Fault) -> Yaml:
    """Read each top-level field by itself, so that a fault in one costs none of the others."""
    fields: dict[str, YamlValue] = {}
    lines: dict[KeyPath, int] = {}
    unread: set[str] = set()
    before, allowance = len(problems), _ALLOWANCE
    for offset, part in _parts(source):
        first = line + offset
        loaded, faults, cost = _load_mending(part, allowance)
        allowance -= cost
        problems += (_broken(first, one) for one in faults)
        if isinstance(loaded, _Loaded) and (loaded.value is None or isinstance(loaded.value, dict)):
            here = loaded.value or {}
            problems += (_repeated(first + number, key) for number, key in loaded.repeated)
            again = (key for key in here if key in fields)  # in a part before it
            problems += [_repeated(first + loaded.lines.get((key,), 0), key) for key in again]
            fields.update(here)
            lines.update((path, first + number) for path, number in loaded.lines.items())
        else:
            if isinstance(loaded, _Loaded):
                problems.append(_broken(first, _Fault(line=0, reason="expected `key: value`")))
            unread.add(part.partition(":")[0].strip(" \t\n\"'"))
        if allowance < 0 or len(problems) >= _PROBLEMS:
            del problems[_PROBLEMS - 1 :]
            problems.append(_broken(first, _Fault(line=0, reason="too many errors; the rest is skipped")))
            break
    if len(problems) == before:
        problems.append(_broken(line, fault))
    return Yaml(fields=fields, lines=lines, problems=tuple(problems[:_PROBLEMS]), unread=frozenset(unread))


def _broken(line: int, fault: _Fault) -> Problem:
    reason = f"the frontmatter is not YAML: {shown(clean_text(fault.reason), 120)}"
    return Problem(rule=INVALID, line=line + fault.line, message=reason)


def _parts(source: str) -> Iterator[tuple[int, str]]:
    """The top-level fields as texts, each with the number of its first line (0 = first)."""
    starts = [match.start() for match in _FIELD_BEGINS.finditer(source)]
    number, last = 0, 0
    for start, end in pairwise([*starts, len(source)]):
        number += source.count("\n", last, start)
        last = start
        yield number, source[start:end]


def _load_mending(part: str, allowance: int) -> tuple[_Loaded | _Fault, list[_Fault], int]:
    """Read one field, quoting what lacks quotes; also what was wrong, and what reading cost, in characters."""
    faults: list[_Fault] = []
    cost = 0
    while True:
        loaded = _load(part)
        cost += len(part) + _LOAD
        if isinstance(loaded, _Loaded):
            return loaded, faults, cost
        mended = _mend(part, loaded.suspects) if cost <= allowance else None
        if mended is None:
            return loaded, [*faults, loaded], cost
        line, part = mended
        faults.append(_Fault(line=line, reason=f"{loaded.reason}; the value is read as plain text"))


def _mend(part: str, suspects: tuple[int, ...]) -> tuple[int, str] | None:
    """The text after quoting the value of the first line that needs it, and that line; None if none does."""
    lines = part.split("\n")
    for number in suspects:
        match = (_KEYED.fullmatch(lines[number]) or _LISTED.fullmatch(lines[number])) if number < len(lines) else None
        if match is None:
            continue
        value = match["value"].rstrip()
        if value[0] in "&*![{":
            continue
        quoted = _quote(value)
        if quoted != value:
            lines[number] = match["head"] + quoted
            return number, "\n".join(lines)
    return None


def _quote(value: str) -> str:
    """A value in single quotes, without the quotes it may have had."""
    mark = value[0] if value[0] in "'\"" else ""
    text = value[len(mark) :]
    if mark and len(value) > 1 and value.endswith(mark):
        text = text[:-1]
    text = text.replace('\\"', '"') if mark == '"' else text.replace("''", "'") if mark else text
    return "'" + text.replace("'", "''") + "'"


# The frontmatter of documents


class Frontmatter(Value):
    """The fields at a text's head, by key in lower case, the text after them, and what is wrong with them."""

    body: str
    fields: dict[str, object] = field(default_factory=dict)
    problem: Problem | None = None

    def text(self, name: str) -> str:
        """A field that is one text; "" if it is absent, null or anything else."""
        value = self.fields.get(name)
        return "" if not isinstance(value, str) or value.lower() in _NULL_TEXTS else clean_text(value)

    def list(self, name: str) -> tuple[str, ...]:
        """A field that is a list of texts, or one text with commas; each once."""
        value = self.fields.get(name)
        entries = value if isinstance(value, list) else self.text(name).split(",")
        texts = (clean_text(entry).strip() for entry in entries if isinstance(entry, str))
        return tuple(dict.fromkeys(text for text in texts if text))


def read_frontmatter(text: str) -> Frontmatter:
    """Split a text (LF line ends) into its frontmatter and its body. Never raises.

    What is between two `---` lines is frontmatter only if it is a mapping, or clearly meant to be one.
    """
    head = split_head(text)
    if head is None or not head.is_closed:
        return Frontmatter(body=text)
    source, body = head.source, head.body
    if head.late and not _is_meant(source[:FRONTMATTER_CHARS]):
        return Frontmatter(body=text)
    if not source.strip():
        return Frontmatter(body=body)
    if len(source) > FRONTMATTER_CHARS:
        if not _is_meant(source[:FRONTMATTER_CHARS]):
            return Frontmatter(body=text)
        message = f"the frontmatter is longer than {FRONTMATTER_CHARS} characters; it was not read"
        return Frontmatter(body=body, problem=Problem(rule=INVALID, line=1, message=message))
    loaded = _load(source, nulls=frozenset())
    if isinstance(loaded, _Fault):
        if not _is_meant(source):
            return Frontmatter(body=text)
        return Frontmatter(body=body, fields=_recover(source), problem=_broken(head.line, loaded))
    if not isinstance(loaded.value, dict):
        return Frontmatter(body=text)
    return Frontmatter(body=body, fields={key.lower(): entry for key, entry in loaded.value.items()}, problem=head.late)


def _is_meant(source: str) -> bool:
    """Whether the first line that is not empty is a `key:`, so that this was meant to be frontmatter."""
    lines = (line for line in source.split("\n") if line.strip() and not line.startswith("#"))
    return _KEY_LINE.fullmatch(next(lines, "")) is not None


def _recover(source: str) -> dict[str, object]:
    """The `key: value` lines, without values that are not plain text in YAML."""
    found: dict[str, object] = {}
    for line in source.split("\n"):
        match = _KEY_LINE.fullmatch(line)
        value = match["value"].strip() if match and match["value"] else ""
        if match is None or not value or value[0] in "{&*!|>%@`":
            continue
        entry: object = value.strip("'\"")
        if value.startswith("["):
            entry = [part.strip(" '\"") for part in value.strip("[]").split(",")]
        found.setdefault(match["key"].lower(), entry)
    return found


# The configuration of a site


class StrictError(Exception):
    """YAML that is refused: the line (1 = first), and in the text what was found and what was expected."""

    def __init__(self, line: int, said: str) -> None:
        super().__init__(said)
        self.line = line


def compose(text: str) -> yaml.Node | None:
    """The top of a YAML document, None if it holds nothing. Raises `StrictError` for the first fault."""
    try:
        _refuse_dangers(text)
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = line_of(error.problem_mark or error.context_mark)
        raise _not_yaml(line, " ".join(part for part in (error.context, error.problem) if part)) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _not_yaml(line, f"the character U+{ord(text[error.position]):04X}") from error
    except (ValueError, OverflowError) as error:
        raise _not_yaml(1, "an escape beyond the last character of Unicode") from error


def line_of(mark: object) -> int:
    """The line of a place in YAML."""
    line = getattr(mark, "line", 0)
    return line + 1 if isinstance(line, int) else 1


def _not_yaml(line: int, problem: str) -> StrictError:
    shown_problem = printable(" ".join(problem.split()))
    said = f"found what is not YAML ({shown_problem}), expected key: value; check indentation and quotes"
    return StrictError(line, said)


def _refuse_dangers(text: str) -> None:
    """Check the events, which needs no recursion, before PyYAML makes nodes of them."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = line_of(event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            raise StrictError(line, f"found the alias *{event.anchor}, expected a value; write it out here")
        tag: str | None = getattr(event, "tag", None)
        if tag is not None:
            raise StrictError(line, f"found the tag {quote(tag)}, expected a plain value; remove the tag")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > YAML_DEPTH:
            raise StrictError(line, f"found more than {YAML_DEPTH} levels, expected 4 at most; check the brackets")
