"""Parses documents: Markdown files that memos cite, in `decisions/`, `proposals/`, `docs/adr/` or a configured glob.

Title, status and date come from the frontmatter, else from the head of the text (`**Disposition:** Accept`,
`Status: accepted`, `**Decided:** 2026-05-01`, a `## Status` section), else from the name (SPEC 2.2, documents).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from memosite.facts.file import File
from memosite.facts.json_text import clean_text
from memosite.facts.names import stem_of
from memosite.facts.parsed import DocumentHead, Parsed
from memosite.facts.texts import cut_line, describe_text, one_line, summarize, without_comments
from memosite.facts.times import Moment, read_moment, read_stamp
from memosite.formats.fields import show_json
from memosite.formats.system import Adapter
from memosite.formats.systems import RECORD_IDS
from memosite.formats.yaml_text import Frontmatter, read_frontmatter
from memosite.quotes.citations import cited_in

_TITLE_CHARS = 20_000
_HEAD_LINES = 40
_LINE_CHARS = 400
_SHOWN_TITLE = 300
_STATUS_CHARS = 60

_STATUS_NAMES = ("status", "disposition", "state")
_DATE_NAMES = ("decided", "date", "accepted", "ratified", "created", "proposed", "updated")
_FIELD = re.compile(
    rf"(?:[-*+>] +)?(?:\*\*|__)?(?P<name>{'|'.join(_STATUS_NAMES + _DATE_NAMES)})"
    r" *(?:\*\*|__)? *: *(?:\*\*|__)?(?P<value>.*)",
    re.IGNORECASE | re.ASCII,
)
_RULING = re.compile(
    r"[^\w\[`]{0,8}(?:(?P<by>(?:decided|ratified|approved|accepted) by|decision[ -]makers?|deciders?)[\s|*_]*:"
    r"|(?P<supersedes>supersedes|replaces)\b|(?P<superseded>(?:super[sc]ee?ded|replaced) by)\b)[\s|*_:]*(?P<value>.*)",
    re.IGNORECASE,
)
"""A line of the head that says by whom it was decided, or what took the place of what."""
_STATUS_BEFORE = re.compile(
    r"[^\w\[`]{0,8}(?:status|disposition|state)[\s|*_]*:[\s|*_]*(?:~~[^~]*~~[\s:*_]*)?(?=\S)", re.IGNORECASE
)
_BY_NAMES = ("decided_by", "decided-by", "deciders", "decision-makers", "decision_makers", "ratified_by", "approved_by")
_OLDER_NAMES = ("supersedes", "replaces")
_NEWER_NAMES = ("superseded_by", "superseded-by", "superseded by", "replaced_by", "replaced-by")
_RULING_NAMES = ("disposition", "decided", "ratified", *_BY_NAMES)
_VALUE_CHARS, _VALUES = 300, 20
_SEVERAL = re.compile(r"\s[|·•]\s")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(\S.*)")
_UNDERLINE = re.compile(r" {0,3}=+[ \t]*")
_DATE_IN_TEXT = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}[\d:.]*\s?(?:Z|[+-]\d{2}:?\d{2})?)?", re.ASCII)
_STAMP_IN_NAME = re.compile(r"(?<!\d)(?P<date>\d{4}-\d{2}-\d{2})(?:-\d{4})?(?!\d)", re.ASCII)
_INLINE_MARK = re.compile(
    r"(?P<ticks>`{1,3})(?P<code>[^`]{1,300})(?P=ticks)"
    r"|!?\[(?P<label>[^\]]{0,300})\](?:\([^)\s]{0,1000}\)|\[[^\]]{0,300}\])"
    r"|\*{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)"
)


def matches(file: File) -> bool:
    """Whether the file is Markdown; the scanner's globs select which Markdown files are documents."""
    return file.name.lower().endswith((".md", ".markdown"))


def parse(file: File) -> Parsed:
    """Read one document. The text on the shelf is without its frontmatter."""
    matter = read_frontmatter(file.markdown)
    findings = (*file.text_findings, *file.findings_of([matter.problem] if matter.problem else ()))
    head = _read_head(matter.body)
    known, data = describe_text(matter.body, RECORD_IDS)
    said = (line for number, line in enumerate(matter.body[:_TITLE_CHARS].split("\n")) if number not in head.lines)
    known = replace(known, summary=summarize(without_comments("\n".join(said))), citations=cited_in(matter.body))
    named = one_line(_STAMP_IN_NAME.sub(" ", stem_of(file.name)).replace("-", " ").replace("_", " "))
    title = _plain(matter.text("title")) or _plain(without_comments(head.title)) or named or file.name
    status = _status(matter) or _status(head)
    date = _date(matter) or _date(head)
    fact = DocumentHead(
        file=file.facts,
        title=cut_line(title, _SHOWN_TITLE),
        status=status[1] if status else None,
        date=date[1] if date else _date_in_name(file.name),
        text=known,
        key=cut_line(matter.text("id"), _SHOWN_TITLE),
        tags=matter.list("tags"),
        extra=clean_text(show_json(left)) if (left := left_fields(matter)) else "",
        decided_by=cut_line(_plain(", ".join(_named(matter, _BY_NAMES)) or head.text("by")), _VALUE_CHARS),
        supersedes=(*_named(matter, _OLDER_NAMES), *head.older)[:_VALUES],
        superseded_by=(*_named(matter, _NEWER_NAMES), *head.newer)[:_VALUES],
        is_ruling=any(matter.text(name) or head.text(name) for name in _RULING_NAMES) or bool(head.text("by")),
    )
    return file.parsed(fact, findings, file.data, data)


@dataclass(slots=True)
class _Head:
    """The head of a text: its first heading, and its fields by their names in lower case.

    `lines` are the numbers (0 = first) of their lines. `older` and `newer` are what it says that it supersedes, and
    that it is superseded by; the field `by` is by whom it was decided.
    """

    title: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    lines: set[int] = field(default_factory=set)
    older: list[str] = field(default_factory=list)
    newer: list[str] = field(default_factory=list)

    def text(self, name: str) -> str:
        return self.fields.get(name, "")


def _read_head(body: str) -> _Head:
    head = _Head()
    section = before = ""
    for number, line in _prose_lines(body[:_TITLE_CHARS]):
        heading = _HEADING.fullmatch(line)
        is_underline = heading is None and before and _UNDERLINE.fullmatch(line)
        title = without_closing(heading[1]) if heading else before if is_underline else ""
        if title and not head.title:
            head.title = title
            head.lines |= {number - 1, number} if is_underline else {number}
        if number < _HEAD_LINES:
            _read_ruling(line, head)
            fields = filter(None, (_FIELD.fullmatch(part.strip()) for part in _parts(line.strip())))
            found = [(match["name"].lower(), match["value"].strip()) for match in fields]
            if section and not heading and line.strip():
                found.append((section, line.strip().lstrip("-*+> ")))
                section = ""
            if heading:
                name = title.strip(" :*").lower()
                section = name if name in _STATUS_NAMES + _DATE_NAMES else ""
            for name, value in found:
                head.fields.setdefault(name, value)
            if found or section:
                head.lines.add(number)
        elif head.title:
            break
        before = line.strip()
    return head


def _read_ruling(line: str, head: _Head) -> None:
    """What a line of the head says of a decision, wherever `Status: superseded by x` or a row of a table has it."""
    for part in _parts(line.strip()):
        match = _RULING.match(_STATUS_BEFORE.sub("", part.strip()))
        if match is None or not match["value"].strip():
            continue
        value = cut_line(match["value"].strip(" |*"), _VALUE_CHARS)
        if match["by"]:
            head.fields.setdefault("by", value)
        else:
            (head.older if match["supersedes"] else head.newer).append(value)


def _named(matter: Frontmatter, names: Iterable[str]) -> list[str]:
    """The texts of the first of these fields that has any."""
    found = (list(matter.list(name)) for name in names)
    return next(([cut_line(text, _VALUE_CHARS) for text in texts] for texts in found if texts), [])


def _prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines outside of fenced code, with their numbers."""
    fence = ""
    for number, line in enumerate(text.split("\n")):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence):
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            yield number, line[:_LINE_CHARS]


def without_closing(heading: str) -> str:
    """A heading without the `#` that may close it."""
    text = heading.strip()
    bare = text.rstrip("#")
    return bare.rstrip() if bare != text and (not bare or bare[-1].isspace()) else text


def _parts(line: str) -> list[str]:
    """The parts of a line that may each be a field; a row of a table with two cells is one."""
    cells = [cell.strip(" *:") for cell in line.strip("|").split("|")]
    return [": ".join(cells)] if line.startswith("|") and len(cells) == 2 else _SEVERAL.split(line)


def _status(fields: Frontmatter | _Head) -> tuple[str, str] | None:
    """The status, and the name of its field."""
    found = ((name, _plain(fields.text(name)).rstrip(". ")) for name in _STATUS_NAMES)
    return next(((name, cut_line(text, _STATUS_CHARS)) for name, text in found if text), None)


def _date(fields: Frontmatter | _Head) -> tuple[str, Moment] | None:
    """The date, and the name of its field."""
    for name in _DATE_NAMES:
        match = _DATE_IN_TEXT.search(fields.text(name))
        moment = (read_moment(match[0]) or read_moment(match[0][:10])) if match else None
        if moment is not None:
            return name, moment
    return None


def _date_in_name(name: str) -> Moment | None:
    stamp = _STAMP_IN_NAME.search(name)
    return (read_stamp(stamp[0]) or read_stamp(stamp["date"])) if stamp else None


def left_fields(matter: Frontmatter) -> dict[str, object]:
    """The fields of a frontmatter other than title, status, date and tags, in the order written, without empty ones."""
    title, status, date, tags = matter.text("title"), _status(matter), _date(matter), matter.fields.get("tags")
    told = {"title"} if _plain(title) and len(title) <= _SHOWN_TITLE else set()
    if status is not None and len(matter.text(status[0])) <= _STATUS_CHARS:
        told.add(status[0])
    if date is not None and _DATE_IN_TEXT.fullmatch(matter.text(date[0]).strip()):
        told.add(date[0])
    if isinstance(tags, str) or (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)):
        told.add("tags")
    told |= {name for name, value in matter.fields.items() if isinstance(value, str) and not matter.text(name)}
    return {name: value for name, value in matter.fields.items() if name not in told and value not in ([], {})}


def _plain(text: str) -> str:
    """A line of Markdown without its markup; code stays as it is."""
    return one_line(_INLINE_MARK.sub(lambda match: match["code"] or match["label"] or "", text))


ADAPTER = Adapter(matches, parse)
