"""Tolerant readers for the fields of a JSON object: a value of the wrong type is converted and gives a finding.

`null` counts as absent (SPEC 2.2). A field may be known by several wire names; the first that is there counts,
which is how a typed field wins over its legacy `x.memo.*` form. What could not be used is in `rest`.
"""

import json
from collections.abc import Iterable
from typing import Any

from memosite.facts import rules
from memosite.facts.file import File
from memosite.facts.findings import Finding, Rule
from memosite.facts.json_text import KeyPath, NumberText, clean_text, shown, type_name
from memosite.facts.parsed import Fact, Parsed
from memosite.facts.times import Moment, read_moment

JsonValue = Any

NAMES = 500
"""The most recipients of one memo that count: each has pages and a feed of its own."""
_OF_ANY_FORMAT = frozenset({rules.FIELD_MISSING, rules.FIELD_TYPE, rules.DATE_INVALID, rules.DATE_WITHOUT_ZONE})
FINDINGS = 100
"""The most findings on one file; a file with more of them has one fault, many times."""


class Fields:
    """Reads the fields of one object and collects the findings on them; `rest` gives the fields not read."""

    def __init__(self, file: File, values: dict[str, JsonValue], *, parent: KeyPath = (), clause: str = "") -> None:
        """Read from `values`, which are in `file` below the keys `parent`.

        `clause` is the specification of the fields, if that is not memodef's SCHEMA.
        """
        self.file = file
        self._clause = clause
        self.findings: list[Finding] = []
        self._values = values
        self._parent = parent
        self._read: set[str] = set()
        self._unused: set[str] = set()

    @classmethod
    def of_file(cls, file: File, *, findings: Iterable[Finding] | None = None, clause: str = "") -> "Fields":
        """The fields of a file's object, none if it is no object; `findings` are what is wrong with its JSON."""
        fields = cls(file, file.json.fields or {}, clause=clause)
        fields.findings.extend(file.json.findings if findings is None else findings)
        return fields

    def parsed(self, fact: Fact, *shelve: bytes) -> Parsed:
        """The result of parsing the file: this fact, and the findings on the fields."""
        return self.file.parsed(fact, self.findings, *shelve)

    def value(self, *names: str) -> tuple[str, JsonValue]:
        """The first of these fields that is there and not null, and its name; else the first name and None."""
        self._read.update(names)
        found = next((name for name in names if self._values.get(name) is not None), None)
        if found is None:
            return names[0], None
        value = self._values[found]
        self._unused.update(name for name in names if self._values.get(name) not in (None, value))
        return found, value

    def peek(self, name: str) -> JsonValue:
        """A field as it is, None if it is absent; it still counts as not read."""
        return self._values.get(name)

    def text(self, *names: str, required: bool = False) -> str:
        """A string; "" if absent. A number is taken as its text, with a finding."""
        name, value = self.value(*names)
        if isinstance(value, str) and not isinstance(value, NumberText):
            if required and not value.strip():
                self.note(rules.FIELD_MISSING, f'"{name}" is empty, expected text', name)
            return clean_text(value)
        if value is None:
            if required:
                self.note(rules.FIELD_MISSING, f'"{names[0]}" is missing; it must be a string that is not empty')
            return ""
        self.wrong_type(name, value, "a string")
        if isinstance(value, NumberText | int | float) and not isinstance(value, bool):
            return str(value)
        self._unused.add(name)
        return ""

    def string_or_strings(self, name: str) -> tuple[str, ...]:
        """A string, or the strings of an array, without those that are empty. An array still counts as not read."""
        value = self.peek(name)
        found = value if isinstance(value, list) else [self.text(name)]
        return tuple(text for item in found if isinstance(item, str) and (text := clean_text(item).strip()))

    def optional_text(self, *names: str) -> str | None:
        """A string, or None if it is absent or empty."""
        return self.text(*names).strip() or None

    def flag(self, *names: str) -> bool:
        """True or false; false if absent. The strings "true" and "yes" are understood, with a finding."""
        name, value = self.value(*names)
        if value is None or isinstance(value, bool):
            return bool(value)
        self.wrong_type(name, value, "true or false")
        said = value.strip().lower() if isinstance(value, str) else None
        if said not in {"true", "yes", "false", "no"}:
            self._unused.add(name)
        return said in {"true", "yes"}

    def names(self, *names: str) -> tuple[str, ...]:
        """A comma list of names in one string; an array is understood, with a finding. There must be a name."""
        name, value = self.value(*names)
        if isinstance(value, list):
            self.wrong_type(name, value, "a string")
            items = [item for item in value if isinstance(item, str)]
            if len(items) < len(value):
                self._unused.add(name)
        else:
            items = self.text(*names, required=True).split(",")
        found = tuple(dict.fromkeys(part for item in items if (part := clean_text(item).strip())))
        if len(found) > NAMES:
            self.note(rules.FIELD_TYPE, f'"{name}" holds {len(found)} names; the first {NAMES} count', name)
            found = found[:NAMES]
        if not found and isinstance(value, str) and value.strip():
            self.note(rules.FIELD_MISSING, f'"{name}" is "{shown(value)}", expected a name', name)
        return found

    def strings(self, name: str) -> tuple[str, ...]:
        """An array of strings; others in it are left out, with a finding. A lone string is taken as its one item."""
        _, value = self.value(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.wrong_type(name, value, "an array of strings")
            if isinstance(value, str):
                return (clean_text(value),)
            self._unused.add(name)
            return ()
        for index, item in enumerate(value):
            if not isinstance(item, str):
                self.note(rules.FIELD_TYPE, f'"{name}[{index}]" is {type_name(item)}, expected a string', name)
                self._unused.add(name)
                break
        return tuple(clean_text(item) for item in value if isinstance(item, str))

    def objects(self, name: str, *, required: bool = False) -> tuple["Fields", ...]:
        """An array of objects, each as fields that share these findings; others are left out, with a finding."""
        _, value = self.value(name)
        if value is None and not required:
            return ()
        if not isinstance(value, list):
            if value is None:
                self.note(rules.FIELD_MISSING, f'"{name}" is missing; it must be an array of objects')
            else:
                self.wrong_type(name, value, "an array of objects")
                self._unused.add(name)
            return ()
        if required and not value:
            self.note(rules.FIELD_MISSING, f'"{name}" is empty, expected at least one object', name)
        found = []
        for index, item in enumerate(value):
            if isinstance(item, dict):
                found.append(self._child(item, name, index))
            else:
                self.note(rules.FIELD_TYPE, f'"{name}[{index}]" is {type_name(item)}, expected an object', name)
                self._unused.add(name)
        return tuple(found)

    def object(self, *names: str) -> "Fields":
        """An object as fields whose findings are added to these; empty if absent or of another type."""
        name, value = self.value(*names)
        if value is not None and not isinstance(value, dict):
            self.wrong_type(name, value, "an object")
            self._unused.add(name)
        return self._child(value if isinstance(value, dict) else {}, name)

    def _child(self, values: dict[str, JsonValue], *keys: str | int) -> "Fields":
        child = Fields(self.file, values, parent=(*self._parent, *keys), clause=self._clause)
        child.findings = self.findings
        return child

    def quiet(self) -> "Fields":
        """The same fields without findings, for values that no rule covers."""
        return Fields(self.file, self._values, parent=self._parent)

    def moment(self, *names: str, required: bool = False) -> tuple[Moment | None, str]:
        """A date and the text it was written as; None with a finding if it is not a date."""
        name, value = self.value(*names)
        text = self.text(*names, required=required).strip()
        moment = read_moment(text)
        if not text or not isinstance(value, str):
            return moment, text
        if moment is None:
            self.note(rules.DATE_INVALID, f'"{name}" is "{shown(text)}", expected ISO 8601', name)
        elif moment.offset is None:
            self.note(rules.DATE_WITHOUT_ZONE, f'"{name}" is "{shown(text)}", which names no zone', name)
        return moment, text

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self._values.get(name) is not None

    @property
    def place(self) -> KeyPath:
        """The keys that lead to the object these fields are in."""
        return self._parent

    @property
    def names_written(self) -> tuple[str, ...]:
        """The names of all fields, as written."""
        return tuple(self._values)

    def note(self, rule: Rule, message: str, *keys: str) -> None:
        """Keep a finding, at the line of the field where one is named, else of the object these fields are in."""
        if len(self.findings) < FINDINGS:
            clause = self._clause if rule in _OF_ANY_FORMAT else ""
            finding = self.file.finding(rule, message, *self._parent, *keys, clause=clause)
            if finding not in self.findings:
                self.findings.append(finding)

    def wrong_type(self, name: str, value: JsonValue, expected: str) -> None:
        """Keep a finding on a field of the wrong type."""
        self.note(rules.FIELD_TYPE, f'"{name}" is {type_name(value)}, expected {expected}', name)

    def left(self, *, ignore: tuple[str, ...] = (), keep: tuple[str, ...] = ()) -> dict[str, JsonValue]:
        """The fields not read or not usable, and those of `keep` that are not empty, in the order written."""
        kept = {name for name in keep if self._values.get(name) not in (None, "", {}, [])}
        unwanted = ((self._read - self._unused) | set(ignore)) - kept
        return {name: value for name, value in self._values.items() if name not in unwanted}

    def rest(self, *, ignore: tuple[str, ...] = (), keep: tuple[str, ...] = ()) -> str:
        """The fields of `left`, as indented JSON; "" if there are none."""
        left = self.left(ignore=ignore, keep=keep)
        return show_json(left) if left else ""


def show_json(value: JsonValue) -> str:
    """JSON for people: indented, in the order written, characters as they are."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def canonical_json(value: JsonValue) -> bytes:
    """JSON for comparing: sorted keys, no spaces, UTF-8 (SPEC 2.2)."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
