"""Reads the fields, links and times of a MIF record: each gives a usable value, with a finding if it was not one.

A field is taken out as it is read, under any of its names (0.1 writes `valid_from`, 1.0 `validFrom`); fields not
read are left to be shown. The levels of findings are those of MIF's own validation rules (SPEC 2.2, mif).

Links are looked for outside of code, line by line. In a section called Relationships every word before a link is a
relation; elsewhere only those that MIF names, or that are plainly names (MIF 1.0, 5.3, 8).

Times are relative to the record's own dates, never to the clock: a site built twice is the same (MIF 1.0, 9).
"""

import calendar
import datetime as dt
import re
from collections.abc import Iterator
from typing import Any

from memosite.facts import rules
from memosite.facts.file import File
from memosite.facts.findings import Finding, Rule
from memosite.facts.json_text import KeyPath, shown
from memosite.facts.parsed import Entity, Relation
from memosite.facts.patterns import regex
from memosite.facts.texts import cut_line, one_line
from memosite.facts.times import Moment, read_moment
from memosite.facts.values import Struct, Value, field
from memosite.formats import mif as mif_rules
from memosite.formats.fields import FINDINGS, show_json
from memosite.formats.mif import INVERSE
from memosite.formats.yaml_text import Yaml, YamlValue

# Finds links in a MIF record's text: `- relates-to [[id]]`, `- relates-to [Text](/path.md)`, `@[[Entity|Type]]`.


LINKS = 1_000
"""The most relations, entities and mentions, each, that are read off one text."""

_SECTIONS = frozenset({"relationships", "relations", "related", "related memories"})
_FENCE = regex(r"[ \t]{0,12}(`{3,}|~{3,})([^\n]*)")
_HEADING = regex(r" {0,3}#{1,6}[ \t]+(\S.*)")
_CODE = regex(r"(?<!`)(`{1,3})(?!`)[^\n]{1,300}?(?<!`)\1(?!`)")
_WORD = r"[^\W\d_][\w-]{0,60}"

_ITEM = regex(
    r" {0,3}[-*+] {1,4}(?:\*\*|__|`)?"
    rf"(?P<predicate>{_WORD}(?::{_WORD})?)(?:\*\*|__|`)?[ \t]?:?(?:\*\*)?[ \t]{{1,4}}(?=@?\[)"
)

_LINK = regex(
    r"(?<!\\)(?P<at>@?)\[\[(?P<target>[^\[\]|\n]{1,300})(?:\|(?P<shown>[^\[\]\n]{0,300}))?\]\]"
    r"|(?<![!\\])\[(?P<text>[^\[\]\n]{0,300})\]\("
    r"(?:<(?P<pointed>[^<>\n]{1,1000})>|(?P<path>[^()\s<>]{1,1000}))(?:[ \t]+\"[^\"\n]{0,200}\")?\)"
)

_BETWEEN = regex(r"\s{0,3}(?:[,;&+]|and)?\s{0,3}(?:and\s{1,3})?")
_ELSEWHERE = regex(r"(?!urn:|mif:)[A-Za-z][A-Za-z0-9+.-]+:|#")
_HUMP = regex(r"(?<=[^\W_])(?=[A-Z])")


class BodyLinks(Value):
    """What a text links to, and its first heading with its line (0 = first; None if there is no heading)."""

    title: str = ""
    title_line: int | None = None
    relations: tuple[Relation, ...] = ()
    entities: tuple[Entity, ...] = ()
    mentions: tuple[str, ...] = ()


class _Found(Struct):
    """What has been found so far, each once, in the order written."""

    relations: dict[tuple[str, str], Relation] = field(default_factory=dict)
    entities: dict[tuple[str, str], Entity] = field(default_factory=dict)
    mentions: dict[str, None] = field(default_factory=dict)


def predicate_of(name: str) -> str:
    """The name of a relation as MIF 1.0 stores it: `RelatesTo`, `relates_to` and `relates to` are `relates-to` (8.1.1).

    A name in capitals throughout is taken as one word.
    """
    name = re.sub(r"[\s_-]+", "-", name.strip())
    return (name if name.isupper() else _HUMP.sub("-", name)).lower()


def read_target(text: str) -> str:
    """The target of a relation without the brackets, the shown text and the heading it may be written with."""
    text = one_line(text).removeprefix("@").removeprefix("[[").removesuffix("]]")
    return text.partition("|")[0].partition("#")[0].strip()


def read_body(text: str) -> BodyLinks:
    """What a text (LF line ends) links to."""
    found = _Found()
    title, title_line, is_section = "", None, False
    for number, line in _prose_lines(text):
        heading = _HEADING.match(line)
        if heading is not None:
            name = heading[1].strip().rstrip("#").strip()
            is_section = name.strip(" :*").lower() in _SECTIONS
            if title_line is None and name:
                title, title_line = name, number
        if "[" in line:
            _read_line(line, found, is_section=is_section)
    return BodyLinks(
        title=title,
        title_line=title_line,
        relations=tuple(found.relations.values())[:LINKS],
        entities=tuple(found.entities.values())[:LINKS],
        mentions=tuple(found.mentions)[:LINKS],
    )


def _prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines outside of fenced code, with their numbers; a fence that is never closed ends with the text."""
    fence = ""
    for number, line in enumerate(text.split("\n")):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
        else:
            yield number, line


def _read_line(line: str, found: _Found, *, is_section: bool) -> None:
    """Keep what one line links to: a relation's targets, then whatever else it mentions."""
    item = _ITEM.match(line)
    written = item["predicate"] if item else ""
    start = end = item.end() if item else 0
    prose = line[:start] + _CODE.sub(lambda match: " " * len(match[0]), line[start:])
    for match in _LINK.finditer(prose, start):
        follows = bool(item) and (match.start() == start or _BETWEEN.fullmatch(prose, end, match.start()) is not None)
        if follows:
            end = match.end()
        else:
            item = None
        target = _target(match)
        if match["at"]:
            _add_entity(target, match["shown"], predicate_of(written) if follows else "mentions", found)
        elif target and follows and (is_section or _is_relation(written, is_wiki=match["target"] is not None)):
            key = (predicate_of(written), target)
            label = one_line(match["shown"] or match["text"] or "") or _remark(prose[match.end() :])
            found.relations.setdefault(key, Relation(predicate=key[0], target=target, label=cut_line(label, 200)))
        elif target and match["target"] is not None:
            found.mentions.setdefault(target)


def _target(match: re.Match[str]) -> str:
    """What a link leads to, "" if it leads into the page itself or to an address elsewhere."""
    if match["target"] is not None:
        return match["target"].strip() if match["at"] else read_target(match["target"])
    path = match["pointed"] or match["path"]
    return "" if _ELSEWHERE.match(path) else path.partition("#")[0].strip()


def _is_relation(written: str, *, is_wiki: bool) -> bool:
    """Whether a word before a link is a relation, outside of a section of them."""
    if predicate_of(written) in INVERSE:
        return is_wiki or written.islower()
    return is_wiki and any(mark in written for mark in "-_:")


def _remark(rest: str) -> str:
    """What is said of a relation after its link, unless that goes on to other links."""
    return "" if "[" in rest else one_line(rest).strip(" -–—:,;.()")


def _add_entity(name: str, kind: str | None, relation: str, found: _Found) -> None:
    name = one_line(name)
    known = found.entities.get((name, relation))
    if name and (known is None or known.type is None):
        found.entities[name, relation] = Entity(name=name, type=one_line(kind or "") or None, relation=relation)


# Reads the fields of a MIF record's frontmatter: each gives a usable value and keeps a finding if it was not.


_LONGEST_VALUE = 2_000
_FRACTION = regex(r"[+-]?(?:[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(?:[eE][+-]?[0-9]{1,3})?")
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

    def or_top(self, top: "MifFields", *names: str) -> "MifFields":
        """Where one of these fields is: in this mapping, else at the top, where they are understood as well."""
        return top if not self.has(*names) and top.has(*names) else self

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

    def named_text(self, *names: str) -> tuple[str, str]:
        """A field as one line of text, and the name it has here."""
        return next(filter(self.has, names), names[0]), self.text(*names)

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
        name, text = self.named_text(*names)
        moment = read_moment(text)
        if text and moment is None:
            self.note(mif_rules.DATE, f'"{name}" is "{shown(text)}", expected ISO 8601', name)
        elif moment is not None and moment.offset is None and len(text) > len("2026-01-31"):
            self.note(rules.DATE_WITHOUT_ZONE, f'"{name}" is "{shown(text)}", which names no zone', name)
        return moment, text

    def share(self, rule: Rule, *names: str) -> str:
        """A number from 0 to 1 as it was written; anything else is shown as well, with a finding of this rule."""
        name, text = self.named_text(*names)
        if text and not (_FRACTION.fullmatch(text) and 0 <= float(text) <= 1):
            self.note(rule, f'"{name}" is "{shown(text)}", expected a number from 0.0 to 1.0', name)
        return text

    def note(self, rule: Rule, message: str, *keys: str | int) -> None:
        """Keep a finding, at the line of the field if it is there, else of its parent."""
        path = (*self._path, *keys)
        lines = (self._yaml.lines.get(path[:end]) for end in range(len(path), 0, -1))
        line = next(filter(None, lines), None)
        if len(self.findings) < FINDINGS:
            finding = self._file.finding_at(line, rule, shown(message, 500))
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
    """A value without what is empty in it. It recurses, but YAML deeper than `yaml_text.YAML_DEPTH` is never read."""
    if isinstance(value, dict):
        pairs = ((key, _without_empty(entry)) for key, entry in value.items())
        return {key: entry for key, entry in pairs if entry not in (None, "", [], {})}
    if isinstance(value, list):
        return [entry for entry in map(_without_empty, value) if entry not in (None, "", [], {})]
    return value


# Reads the times of a MIF record as rows to be shown: validity, time to live, decay and use.


_PART = r"([0-9]{1,9}(?:[.,][0-9]{1,9})?)"

_DURATION = regex(
    r"P(?=[0-9T])(?:([0-9]{1,6})Y)?(?:([0-9]{1,6})M)?"
    rf"(?:{_PART}W)?(?:{_PART}D)?(?P<clock>T(?=[0-9])(?:{_PART}H)?(?:{_PART}M)?(?:{_PART}S)?)?"
)

FieldRow = tuple[str, str]
"""A label and a value to be shown."""


def show_moment(moment: Moment) -> str:
    """A date for people, with the writer's time of day and zone: `2026-01-24`, `2026-01-24 14:30 UTC`."""
    local = moment.local
    if local.time() == dt.time():
        return local.date().isoformat()
    zone = "" if moment.zone is None else " UTC" if not moment.offset else f" {moment.zone}"
    return f"{local.isoformat(' ', timespec='minutes')}{zone}"


def after(moment: Moment, duration: str) -> Moment | None:
    """The moment an ISO 8601 duration later, in the writer's calendar; None if there is no such moment.

    A month later than the 31st is the last day of the month; years and months are whole numbers.
    """
    match = _DURATION.fullmatch(duration)
    if match is None:
        return None
    years, months = int(match[1] or 0), int(match[2] or 0)
    weeks, days, hours, minutes, seconds = (float((match[part] or "0").replace(",", ".")) for part in (3, 4, 6, 7, 8))
    local = moment.local
    month = local.year * 12 + local.month - 1 + years * 12 + months
    try:
        last = calendar.monthrange(month // 12, month % 12 + 1)[1]
        local = local.replace(year=month // 12, month=month % 12 + 1, day=min(local.day, last))
        local += dt.timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
        instant = local.replace(tzinfo=dt.UTC) - dt.timedelta(minutes=moment.offset or 0)
    except (ValueError, OverflowError):
        return None
    return Moment(instant=instant, offset=moment.offset)


def read_times(
    top: MifFields, *, created: Moment | None, modified: Moment | None, is_early: bool
) -> tuple[FieldRow, ...]:
    """The rows of `temporal`; its fields are understood at the top as well. `is_early` asks for the rules of 0.1."""
    times = _Times(top, created=created, modified=modified)
    if is_early and times.start and times.recorded and times.start.instant > times.recorded.instant:
        message = f'"valid_from" is {show_moment(times.start)}, after "recorded_at", {show_moment(times.recorded)}'
        times.below.note(mif_rules.VALID_FROM, message, "valid_from")
    return tuple(times.rows())


class _Times:
    """The dates and durations of one record."""

    def __init__(self, top: MifFields, *, created: Moment | None, modified: Moment | None) -> None:
        self.below = top.object("temporal")
        self._top = top
        self._decay = (self.below if self.below.has("decay") else top).object("decay")
        self.is_open = self._place("valid_until", "validUntil").is_null("valid_until", "validUntil")
        self.start, self.end, self.recorded, self.accessed = (
            self._place(*names).moment(*names)[0]
            for names in (
                ("valid_from", "validFrom"),
                ("valid_until", "validUntil"),
                ("recorded_at", "recordedAt"),
                ("last_accessed", "lastAccessed"),
            )
        )
        self.reinforced, _ = self._decay.moment("last_reinforced", "lastReinforced")
        self.created, self.modified = created, modified

    def _place(self, *names: str) -> MifFields:
        return self.below.or_top(self._top, *names)

    def rows(self) -> Iterator[FieldRow]:
        """What is to be shown, in this order."""
        valid = self._valid()
        if valid:
            yield "Valid", valid
        if self.recorded:
            yield "Recorded", show_moment(self.recorded)
        decay = self._faded()
        if decay:
            yield "Decay", decay
        names = ("access_count", "accessCount")
        count = self._place(*names).text(*names)
        times = f"{count} {'time' if count == '1' else 'times'}" if count else ""
        last = f"last {show_moment(self.accessed)}" if self.accessed else ""
        if times or last:
            yield "Recalled", ", ".join(filter(None, (times, last)))

    def _valid(self) -> str:
        ttl = self._duration(self._place("ttl"), "ttl")
        base, name = (self.recorded, "recorded_at") if self.recorded else (self.created, "created")
        limit = after(base, ttl) if ttl and base else None
        until = ""
        if limit:
            is_by_day = "T" not in ttl
            until = limit.local.date().isoformat() if is_by_day else show_moment(limit)
        because = f"ttl {ttl} from {name}" if limit else f"ttl {ttl}" if ttl else ""
        start = show_moment(self.start) if self.start else ""
        if self.end:
            span = f"{start} to {show_moment(self.end)}" if start else f"until {show_moment(self.end)}"
            return f"{span}; {because}" + (f" ends {until}" if until else "") if because else span
        if until:
            return f"{start} to {until} ({because})" if start else f"until {until} ({because})"
        span = f"from {start}" + (", no end" if self.is_open else "") if start else ""
        return "; ".join(filter(None, (span, because)))

    def _faded(self) -> str:
        """The decay, and its strength with the latest date the record gives: when the strength was written."""
        decay = self._decay
        half_life = self._duration(decay, "half_life", "halfLife")
        strength = decay.share(mif_rules.FIELD, "strength", "currentStrength", "current_strength")
        if strength:
            dates = (self.reinforced, self.accessed, self.modified, self.recorded, self.created)
            known = [moment for moment in dates if moment]
            latest = max(known, key=lambda moment: moment.instant, default=None)
            strength = f"strength {strength}" + (f" as of {show_moment(latest)}" if latest else "")
        parts = (decay.text("model"), half_life and f"half-life {half_life}", strength)
        return ", ".join(filter(None, parts))

    def _duration(self, fields: MifFields, *names: str) -> str:
        name, text = fields.named_text(*names)
        if text and _DURATION.fullmatch(text) is None:
            fields.note(
                mif_rules.DATE, f'"{name}" is "{shown(text)}", expected an ISO 8601 duration such as P90D', name
            )
        return text
