"""Reads the fields of a MIF record's frontmatter: each gives a usable value and keeps a finding if it was not.

A field is taken out as it is read, under any of its names (0.1 writes `valid_from`, 1.0 `validFrom`); fields not
read are left to be shown. The levels are those of MIF's own validation rules (SPEC 2.2, mif).
"""

import re
from collections.abc import Iterator
from typing import Any

from memosite.facts import rules
from memosite.facts.file import File
from memosite.facts.findings import Finding, Rule
from memosite.facts.json_text import KeyPath, shown
from memosite.facts.texts import one_line
from memosite.facts.times import Moment, read_moment
from memosite.formats.fields import FINDINGS, show_json
from memosite.formats.mif import rules as mif_rules
from memosite.formats.mif.links import read_target
from memosite.formats.yaml_text import Yaml, YamlValue

_LONGEST_VALUE = 2_000
_FRACTION = re.compile(r"[+-]?(?:[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?")
_CONSTANTS = ("@type", "@context")


class MifFields:
    """The fields of one mapping of the frontmatter, and the findings on the whole of it."""

    def __init__(
        self,
        file: File,
        yaml: Yaml,
        values: dict[str, YamlValue],
        *,
        path: KeyPath = (),
        findings: list[Finding] | None = None,
    ) -> None:
        """Read from `values`, which are in the frontmatter below the keys `path`."""
        self.findings: list[Finding] = [] if findings is None else findings
        self._file = file
        self._yaml = yaml
        self._values = values
        self._path = path
        for name in _CONSTANTS:
            values.pop(name, None)

    def _below(self, values: dict[str, YamlValue], *keys: str | int) -> "MifFields":
        return MifFields(self._file, self._yaml, values, path=(*self._path, *keys), findings=self.findings)

    def has(self, *names: str) -> bool:
        """Whether one of these fields is there and not null."""
        return any(self._values.get(name) is not None for name in names)

    def is_null(self, *names: str) -> bool:
        """Whether one of these fields is there and null."""
        return any(name in self._values and self._values[name] is None for name in names)

    def is_unread(self, name: str) -> bool:
        """Whether a field at the top is there, but could not be read; that has a finding already."""
        return name in self._yaml.unread

    def take(self, *names: str) -> tuple[str, YamlValue]:
        """The first of these fields that is there and not null, and its name; else the first name and None."""
        found = next((name for name in names if self._values.get(name) is not None), names[0])
        return found, self._values.pop(found, None)

    def text(self, *names: str) -> str:
        """A field as one line of text; "" if it is absent. A list or a mapping is a finding, and stays."""
        name, value = self.take(*names)
        if isinstance(value, list | dict):
            self._values[name] = value
            self.wrong(f'"{name}" is {_kind(value)}, expected a text', name)
        return self._line(value)

    def texts(self, *names: str) -> tuple[str, ...]:
        """A list of texts, each once; a lone text is taken as a list with commas. Other entries stay."""
        return tuple(dict.fromkeys(text for _, text in self.numbered_texts(*names)))

    def numbered_texts(self, *names: str) -> tuple[tuple[int, str], ...]:
        """A list of texts as `texts` reads it, but with their numbers in the list, and repeated ones too."""
        name, value = self.take(*names)
        if isinstance(value, str):
            value = value.strip("[] ").split(",")
        elif isinstance(value, dict):
            self._values[name] = value
            self.wrong(f'"{name}" is a mapping, expected a list of texts', name)
        entries = value if isinstance(value, list) else []
        others = [entry for entry in entries if isinstance(entry, list | dict)]
        if others:
            self._values[name] = others
            self.wrong(f'"{name}" holds {_kind(others[0])}, expected texts', name)
        lines = ((number, self._line(entry)) for number, entry in enumerate(entries))
        return tuple((number, line) for number, line in lines if line)

    def object(self, *names: str) -> "MifFields":
        """A mapping; an empty one if it is absent or of another type. What is not read of it stays."""
        name, value = self.take(*names)
        if value is not None:
            self._values[name] = value
        if isinstance(value, dict):
            return self._below(value, name)
        if value is not None:
            self.wrong(f'"{name}" is {_kind(value)}, expected a mapping', name)
        return self._below({}, name)

    def entries(self, *names: str) -> Iterator["MifFields | str"]:
        """The entries of a list, each a mapping or a text; others, and what is no list, are findings and stay."""
        name, value = self.take(*names)
        if value is None:
            return
        self._values[name] = value
        if not isinstance(value, list):
            self.wrong(f'"{name}" is {_kind(value)}, expected a list', name)
            return
        for index, entry in enumerate(value):
            if isinstance(entry, dict):
                yield self._below(entry, name, index)
            elif isinstance(entry, str):
                value[index] = None
                yield self._line(entry)
            else:
                self.wrong(f'"{name}" holds {_kind(entry)} as entry {index + 1}', name, index)

    def many(self, *names: str) -> Iterator["MifFields | str"]:
        """The entries of a list, or a lone value as the only entry: a mapping or a text."""
        name, value = self.take(*names)
        if isinstance(value, str):
            yield self._line(value)
            return
        if value is not None:
            self._values[name] = value
        if isinstance(value, dict):
            yield self._below(value, name)
        else:
            yield from self.entries(name)

    def target(self, *names: str) -> str:
        """The target in a field: a text, `[[a text]]` (to YAML a list in a list), or a mapping with an `@id`."""
        name, value = self.take(*names)
        while isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, dict):
            self._values[name] = value
            return self._below(value, name).text("@id", "id")
        if isinstance(value, list):
            self._values[name] = value
            self.wrong(f'"{name}" is a list, expected one target', name)
        return read_target(self._line(value))

    def moment(self, *names: str) -> tuple[Moment | None, str]:
        """A date and the text it was written as; None with a finding for what is no date."""
        name = next((name for name in names if self.has(name)), names[0])
        text = self.text(*names)
        moment = read_moment(text)
        if text and moment is None:
            self.note(mif_rules.DATE, f'"{name}" is "{shown(text)}", expected ISO 8601', name)
        elif moment is not None and moment.offset is None and len(text) > len("2026-01-31"):
            self.note(rules.DATE_WITHOUT_ZONE, f'"{name}" is "{shown(text)}", which names no zone', name)
        return moment, text

    def share(self, rule: Rule, *names: str) -> str:
        """A number from 0 to 1 as it was written; anything else is shown as well, with a finding of this rule."""
        name = next((name for name in names if self.has(name)), names[0])
        text = self.text(*names)
        if text and not (_FRACTION.fullmatch(text) and 0 <= float(text) <= 1):
            self.note(rule, f'"{name}" is "{shown(text)}", expected a number from 0.0 to 1.0', name)
        return text

    def note(self, rule: Rule, message: str, *keys: str | int) -> None:
        """Keep a finding, at the line of the field if it is there, else of its parent."""
        path = (*self._path, *keys)
        lines = (self._yaml.lines.get(path[:end]) for end in range(len(path), 0, -1))
        line = next(filter(None, lines), None)
        if len(self.findings) < FINDINGS:
            finding = Finding(rule=rule, location=self._file.at(line), message=shown(message, 500))
            if finding not in self.findings:
                self.findings.append(finding)

    def wrong(self, message: str, *keys: str | int) -> None:
        """Keep a finding on a field that cannot be used as it is."""
        self.note(mif_rules.FIELD, message, *keys)

    def rest(self) -> str:
        """The fields not read, as indented JSON; "" if there are none."""
        left = _without_empty(self._values)
        return show_json(left) if left else ""

    def _line(self, value: YamlValue) -> str:
        return one_line(value)[:_LONGEST_VALUE] if isinstance(value, str) else ""


def _kind(value: YamlValue) -> str:
    if value is None:
        return "nothing"
    return "a text" if isinstance(value, str) else "a list" if isinstance(value, list) else "a mapping"


def _without_empty(value: Any) -> Any:
    """A value without what is empty in it. It recurses, but YAML deeper than `yaml_text.DEPTH` is never read."""
    if isinstance(value, dict):
        pairs = ((key, _without_empty(entry)) for key, entry in value.items())
        return {key: entry for key, entry in pairs if entry not in (None, "", [], {})}
    if isinstance(value, list):
        return [entry for entry in map(_without_empty, value) if entry not in (None, "", [], {})]
    return value
