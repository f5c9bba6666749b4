"""Parses documents: Markdown files that memos cite, in `decisions/`, `proposals/`, `docs/adr/` or a configured glob.

Title, status and date come from the frontmatter, else from the head of the text (`**Disposition:** Accept`,
`Status: accepted`, `**Decided:** 2026-05-01`, a `## Status` section), else from the name (SPEC 2.2, documents).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from memosite.archive.model import SHORT_STATUS
from memosite.facts.file import File
from memosite.facts.json_text import clean_text
from memosite.facts.names import stem_of
from memosite.facts.parsed import DocumentHead, Parsed
from memosite.facts.patterns import regex
from memosite.facts.texts import cut_line, describe_text, of_which_is_said, one_line, without_comments
from memosite.facts.times import Moment, read_moment, read_stamp
from memosite.facts.values import Struct, field, replace
from memosite.formats.fields import show_json
from memosite.formats.status import read_status
from memosite.formats.system import Adapter
from memosite.formats.systems import RECORD_IDS
from memosite.formats.yaml_text import Frontmatter, read_frontmatter
from memosite.quotes.citations import cited_in

_TITLE_CHARS = 20_000
_HEAD_LINES = 40
_LINE_CHARS = 400
_SHOWN_TITLE = 300
_STATUS_CHARS = 2_000

_STATUS_NAMES = ("status", "disposition", "state")
_DATE_NAMES = ("decided", "date", "accepted", "ratified", "created", "proposed", "updated")
_BY_NAMES = (
    *("decided by", "deciders", "decider", "decision makers", "decision maker", "ratified by", "approved by"),
    *("accepted by", "adopted by", "signed off by", "approvers", "approver"),
)
_ON_NAMES = (
    *("decided", "ratified", "approved", "accepted", "adopted", "decided on", "ratified on", "approved on"),
    *("accepted on", "date decided", "date ratified", "date approved", "date accepted", "approved date"),
    *("decision date", "ratification date", "approval date"),
)
_ORIGIN_NAMES = ("origin", "proposal", "proposals", "decides", "decides on", "decision on", "resolves", "ratifies")
_OUTCOME_NAMES = ("decision", "decided in", "decision record", "outcome", "resolution")
_TIES = {*_ORIGIN_NAMES, *_OUTCOME_NAMES}
"""Fields whose lines are text, too: `Decision: we take oak.`"""
_COLUMNS = {*_STATUS_NAMES, *_BY_NAMES, "date", "decided on"}
_FIELD_NAMES = {*_STATUS_NAMES, *_DATE_NAMES, *_BY_NAMES, *_ON_NAMES, *_ORIGIN_NAMES, *_OUTCOME_NAMES}
_FIELD = regex(
    r"(?:[-*+>] +){0,2}(?:\*\*|__)?(?P<name>"
    + "|".join(name.replace(" ", "[ _-]") for name in sorted(_FIELD_NAMES, key=lambda name: (-len(name), name)))
    + r") *(?:\*\*|__)? *: *(?:\*\*|__)?(?P<value>.*)",
    re.IGNORECASE | re.ASCII,
)
_GOES_ON = regex(r"(?![-*+>|#=`~]|\d+[.)] |(?:\*\*|__)?[A-Z][\w /-]{0,40}(?:\*\*|__)? *:)\S")
"""A line that goes on with the field of the line before: no list, table or heading, and no other field."""
_RULING = regex(
    r"[^\w\[`]{0,8}(?:(?P<supersedes>supersedes|replaces)\b|(?P<superseded>(?:super[sc]ee?ded|replaced) by)\b)"
    r"[\s|*_:]*(?P<value>.*)",
    re.IGNORECASE,
)
"""A line of the head that says what took the place of what."""
_STATUS_BEFORE = regex(
    r"[^\w\[`]{0,8}(?:status|disposition|state)[\s|*_]*:[\s|*_]*(?:~~[^~]*~~[\s:*_]*)?(?=\S)", re.IGNORECASE
)
_OLDER_NAMES = ("supersedes", "replaces")
_NEWER_NAMES = ("superseded by", "replaced by")
_RULING_NAMES = ("disposition", "decided", "ratified", *_BY_NAMES)
_VALUE_CHARS, _VALUES = 300, 20
_SEVERAL = regex(r"\s[|·•]\s")
_FENCE = regex(r" {0,3}(`{3,}|~{3,})")
_HEADING = regex(r" {0,3}#{1,6}[ \t]+(\S.*)")
_UNDERLINE = regex(r" {0,3}=+[ \t]*")
_DATE_IN_TEXT = regex(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}[\d:.]*\s?(?:Z|[+-]\d{2}:?\d{2})?)?", re.ASCII)
_STAMP_IN_NAME = regex(r"(?<!\d)(?P<date>\d{4}-\d{2}-\d{2})(?:-\d{4})?(?!\d)", re.ASCII)
_INLINE_MARK = regex(
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
    known = of_which_is_said(replace(known, citations=cited_in(matter.body)), without_comments("\n".join(said)))
    named = one_line(_STAMP_IN_NAME.sub(" ", stem_of(file.name)).replace("-", " ").replace("_", " "))
    title = _plain(matter.text("title")) or _plain(without_comments(head.title)) or named or file.name
    status = _status(matter) or _status(head)
    date = _date(matter) or _date(head)
    decided_by, decided_on = _decision(matter, head, status[1] if status else "")
    fact = DocumentHead(
        file=file.facts,
        title=cut_line(title, _SHOWN_TITLE),
        status=status[1] if status else None,
        date=date[1] if date else _date_in_name(file.name),
        text=known,
        key=cut_line(matter.text("id"), _SHOWN_TITLE),
        tags=matter.list("tags"),
        extra=clean_text(show_json(left)) if (left := left_fields(matter)) else "",
        decided_by=decided_by,
        decided_on=decided_on,
        origins=_named(matter, head, _ORIGIN_NAMES),
        outcomes=tuple(
            said for said in _named(matter, head, (*_OUTCOME_NAMES, *_STATUS_NAMES)) if ".md" in said or "](" in said
        ),
        supersedes=(*_listed(matter, _OLDER_NAMES), *head.older)[:_VALUES],
        superseded_by=(*_listed(matter, _NEWER_NAMES), *head.newer)[:_VALUES],
        is_ruling=any(_listed(matter, [name]) or head.text(name) for name in _RULING_NAMES),
    )
    return file.parsed(fact, findings, file.data, data)


class _Head(Struct):
    """The head of a text: its first heading, and its fields by their names in lower case.

    `lines` are the numbers (0 = first) of their lines. `older` and `newer` are what it says that it supersedes, and
    that it is superseded by.
    """

    title: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    lines: set[int] = field(default_factory=set)
    older: list[str] = field(default_factory=list)
    newer: list[str] = field(default_factory=list)

    def text(self, name: str) -> str:
        return self.fields.get(name, "")


def _read_head(body: str) -> _Head:
    head, table = _Head(), _Table()
    section = before = goes_on = ""
    for (number, line), (_, below) in pairwise((*_prose_lines(body[:_TITLE_CHARS]), (0, ""))):
        heading = _HEADING.fullmatch(line)
        is_underline = heading is None and before and _UNDERLINE.fullmatch(line)
        title = without_closing(heading[1]) if heading else before if is_underline else ""
        if title and not head.title:
            head.title = title
            head.lines |= {number - 1, number} if is_underline else {number}
        if number < _HEAD_LINES:
            _read_ruling(line, head)
            fields = [_FIELD.fullmatch(part.strip()) for part in table.parts(line.strip(), below.strip())]
            found = [(_folded(match["name"]), match["value"].strip()) for match in fields if match]
            if section and not heading and line.strip():
                found.append((section, line.strip().lstrip("-*+> ")))
                section = ""
            if not found and goes_on and _GOES_ON.match(rest := line.strip().removeprefix("> ")):
                head.fields[goes_on] += f" {rest}"
                if goes_on not in _TIES:
                    head.lines.add(number)
            else:
                goes_on = found[-1][0] if found and (fields[-1] or not any(fields)) else ""
                goes_on = "" if goes_on in head.fields or line.lstrip().startswith("|") else goes_on
            if heading:
                name = title.strip(" :*").lower()
                section = name if name in _STATUS_NAMES + _DATE_NAMES else ""
            for name, value in found:
                head.fields.setdefault(name, value)
            if section or any(name not in _TIES for name, _ in found):
                head.lines.add(number)
        elif head.title:
            break
        before = line.strip()
    for name, value in table.fields():
        head.fields.setdefault(name, value)
    return head


class _Table:
    """The table at the head of a text: `| Status | accepted |`, or names in a row and their values in the one below."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._rows: list[list[str]] = []
        self._is_open = False

    def parts(self, line: str, below: str = "") -> list[str]:
        """The parts of a line that may each be a field; a row of a table with two cells is one."""
        if not line.startswith("|"):
            self._is_open = False
            return _SEVERAL.split(line)
        cells = [cell.strip(" *:") for cell in line.strip("|").split("|")]
        known = sum(_folded(cell) in _COLUMNS for cell in cells)
        is_head = known > (len(cells) == 2) and "-" in below and not below.strip("|-: ")
        if is_head and not self._names:
            self._names, self._is_open = [_folded(cell) for cell in cells], True
        elif self._is_open and any(cell.strip("-: ") for cell in cells):
            self._rows.append(cells)
        return [": ".join(cells)] if len(cells) == 2 and not self._is_open else []

    def fields(self) -> Iterator[tuple[str, str]]:
        """The fields of a table whose names are in a row; one with several rows below is a list of something."""
        if len(self._rows) == 1:
            yield from ((name, value) for name, value in zip(self._names, self._rows[0], strict=False) if value)


def _read_ruling(line: str, head: _Head) -> None:
    """What a line of the head says of a decision, wherever `Status: superseded by x` or a row of a table has it."""
    for part in _Table().parts(line.strip()):
        match = _RULING.match(_STATUS_BEFORE.sub("", part.strip()))
        if match is None or not match["value"].strip():
            continue
        value = cut_line(match["value"].strip(" |*"), _VALUE_CHARS)
        (head.older if match["supersedes"] else head.newer).append(value)


def _folded(name: str) -> str:
    """The name of a field as it is compared: `Decision-Makers` is `decision makers`."""
    return re.sub(r"[ _-]+", " ", name).casefold().strip()


def _listed(matter: Frontmatter, names: Iterable[str]) -> list[str]:
    """The texts of the first of these fields that has any."""
    keys = {_folded(key): key for key in reversed(matter.fields)}
    found = (list(matter.list(keys[name])) for name in names if name in keys)
    return next(([cut_line(text, _VALUE_CHARS) for text in texts] for texts in found if texts), [])


def _named(matter: Frontmatter, head: _Head, names: Sequence[str]) -> tuple[str, ...]:
    """What these fields of both heads say, with the marks of Markdown: other documents are named in it."""
    said = [text for name in names for text in (*_listed(matter, [name]), head.text(name)) if text]
    return tuple(cut_line(text, _STATUS_CHARS) for text in said[:_VALUES])


_NOBODY = regex(r"(?:tbd|tba|none|nobody|n/?a|pending|unassigned|unknown|names?|to be .*|not yet.*)?", re.IGNORECASE)
_UNDECIDED = regex(r"\W*(?:drafted|draft|proposed|pending|awaiting|not|no|never|tbd|to be)\b", re.IGNORECASE)
_NO_NAME = regex(
    r"[;:(\[\"“”]|[.,](?:\s|$)|\s[–—-]\s|\d"
    r"|(?<![\w-])(?:under|on|in|during|with|at|via|per|after|for|as|when|following|through|from|to|is|was|has"
    r"|merge|review|sign-off|directly)(?![\w-])",
    re.IGNORECASE,
)
"""Where words that began with a name go on."""
_OCCASION = regex(
    r"\b(?:session|review|meeting|call|vote|chat|directive|recorded|merge|items?|same day|phase|version|draft)\b",
    re.IGNORECASE,
)
_DAY = regex(r"(?<![\w-])\d{4}-\d{2}-\d{2}(?:(?=T\d)|(?![\w-]))", re.ASCII)
_SENTENCE = regex(r"(?<=[^\s.(][^\s.][^\s.])\.\s.*")
_RULED = r"(?:accepted|approved|ratified|adopted|decided|agreed|rejected|declined|withdrawn|confirmed|signed off)"
_RULED_ON = regex(rf"\b{_RULED}\b[^.;]{{0,40}}?(?P<day>{_DAY.pattern})", re.IGNORECASE | re.ASCII)
_RULED_BY = regex(rf"\b{_RULED}\b[^.;()]{{0,40}}?\bby\s+(?P<who>\S.{{0,200}})", re.IGNORECASE)
_RULER = regex(
    r"(?<![\w-])(?!(?:un|pre|non|self|not|design|part|re|co)[- ])(?P<who>[^\W\d_]\w*)"
    r"-(?:ratified|approved|accepted|decided)\b"
    r"|(?:^|[;.(]\s*)(?P<name>[^\W\d_][\w-]*) (?:ratified|approved|decided)\b",
    re.IGNORECASE,
)


def _decision(matter: Frontmatter, head: _Head, status: str) -> tuple[str, str]:
    """Who decided, and on which day; "" for what neither a field nor the status says."""
    said = [_who(_plain(", ".join(_listed(matter, [name])) or head.text(name))) for name in _BY_NAMES]
    by = next(filter(None, said), "")
    day = ""
    for text in (_plain(", ".join(_listed(matter, [name])) or head.text(name)) for name in _ON_NAMES):
        date = _day_in(text) if not _UNDECIDED.match(text) else None
        day = day or (date[0] if date else "")
        by = by or (_beside(text, date) if date else "") or _ruler(text)
    if read_status(status) in {"accepted", "rejected"}:
        by = by or _ruler(status)
        ruled = _RULED_ON.search(status)
        day = day or (ruled["day"] if ruled and read_moment(ruled["day"]) else "")
    if by and not day:
        date = next(filter(None, (_day_in(head.text(name)) for name in _BY_NAMES)), None)
        day = date[0] if date else ""
    return cut_line(by, _VALUE_CHARS), day


def _day_in(text: str) -> re.Match[str] | None:
    """The first day that a text names; one that begins the name of a file is none."""
    return next((match for match in _DAY.finditer(text) if read_moment(match[0])), None)


def _who(value: str) -> str:
    """Who a field such as `Decided by` names, as written, without a day; "" for what is left to be filled in."""
    text = _DAY.sub("", _SENTENCE.sub("", value)).strip(" ,;.-–—_[]<>'\"")
    text = re.sub(r"\(\s*\)", "", re.sub(r"[\s,;]+(?=\))|,\s*(?=[,.;]|$)|\bon\s*$", "", text)).strip(" ,;.")
    is_left = value.lstrip().startswith(("<", "{")) or _NOBODY.fullmatch(text) or _UNDECIDED.match(text)
    return "" if is_left or not re.search(r"[^\W\d_]", text) else text


def _beside(text: str, date: re.Match[str]) -> str:
    """Whom a text names beside a day: `2026-05-01 by the council`, `2026-05-01 (Ada)`, `Ada, 2026-05-01`."""
    before, after = text[: date.start()].strip(" ,(-–—"), text[date.end() :].lstrip(" ,-–—")
    if match := re.match(r"by\s+(\S.*)", after, re.IGNORECASE):
        return _name(match[1])
    inside = re.match(r"\(([^()]{1,60})\)", after)
    words = inside[1] if inside else "" if re.fullmatch(r"(?:on|by|at)?", before, re.IGNORECASE) else before
    words = re.sub(r"^by\s+", "", words, flags=re.IGNORECASE)
    is_name = not _OCCASION.search(words) and len(words.split()) <= 4 and _name(words) == words
    return words if is_name else ""


def _ruler(text: str) -> str:
    """Whom a clause names as who decided: `accepted by the council`, `Director-ratified`."""
    if match := _RULED_BY.search(text):
        return _name(match["who"])
    return (match["who"] or match["name"]) if (match := _RULER.search(text)) else ""


def _name(text: str) -> str:
    """The name that a text begins with, up to what is no name any more."""
    end = _NO_NAME.search(text)
    said = " ".join(text[: end.start() if end else len(text)].split()[:8]).strip(" ,.'\"")
    return "" if said.casefold() in {"", "the", "a"} else said


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
    if status is not None and len(matter.text(status[0])) <= SHORT_STATUS:
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
