"""Parses wyren, the shared memory of a team's coding sessions: `memory.md` and the files of `broadcast/` (SPEC 2.2).

Each bullet of a memory is one record. Its tags are read and taken off the text, as documented and as seen:
`[session 7a2e, turn 12]`, `[session X, turn 193; updated Y, turn 7]`, `[raised session X]`, `[session X, turn 22–26]`,
`[session X, 2026-05-09]`. What a record is called, by its section and its text, stays the same when it moves within the
file (SPEC 3, identity). The rules checked are wyren's own (memory.md schema, hygiene rules), of those the ones that
SPEC 2.2 names.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise

from memosite.facts.file import File
from memosite.facts.findings import Finding
from memosite.facts.names import RecordEntry, short_hash, short_subject, stem_of
from memosite.facts.parsed import DocumentHead, Parsed, RecordCard, RecordFile, Text
from memosite.facts.patterns import regex
from memosite.facts.texts import cut_line, describe_text, first_words, of_which_is_said, one_line
from memosite.facts.times import Moment, read_moment
from memosite.facts.values import Struct, Value, field, replace
from memosite.formats import wyren as wyren_rules
from memosite.formats.document import left_fields
from memosite.formats.document import parse as parse_document
from memosite.formats.fields import FINDINGS, show_json
from memosite.formats.system import Adapter
from memosite.formats.systems import RECORD_IDS
from memosite.formats.wyren import HANDOFF, MEMORY_NAME, ROOTS, SECTIONS
from memosite.formats.wyren.outline import OUTLINE_CHARS, Outline, OutlineBlock, Section, is_placeholder, read_outline
from memosite.formats.yaml_text import Frontmatter, read_frontmatter

# Parses and removes the tags at the end of a wyren entry, which name its session and turn.


_TAG = regex(r"(?<!`)\[(?P<said>(?:session|raised|updated)\s[^\[\]]{1,300})\](?![`(\[:])", re.IGNORECASE)
_TAG_STARTS = ("[session ", "[raised ", "[updated ")

_WHO = regex(r"(?:(?P<verb>raised|updated)(?: (?:by|in))?(?: session)?|session) (?P<id>[^\s`]{1,100})", re.IGNORECASE)

_CURRENT = "current"
_TURN = regex(r"(?:turns? )?(?P<turn>[0-9]{1,9}(?: ?[-–—] ?[0-9]{1,9})?)", re.IGNORECASE)


class Clause(Struct, kw_only=True):
    """One part of a tag: who noted, raised or updated an entry, in which turns, and when if that is said."""

    verb: str
    session: str
    turns: list[str] = field(default_factory=list)
    date: Moment | None = None
    date_text: str = ""
    others: list[str] = field(default_factory=list)

    @property
    def is_sure(self) -> bool:
        """Whether this is certainly a part of a tag."""
        return bool(self.turns or self.date)

    def fields(self) -> Iterator[tuple[str, str]]:
        """The clause as labels and values to be shown. wyren counts turns from where it last distilled a session."""
        turns = f"{', '.join(self.turns)} by wyren's count" if self.turns else ""
        if self.verb:
            said = (self.session, f"turn {turns}" if turns else "", self.date_text)
            yield self.verb.capitalize(), ", ".join(filter(None, said))
        else:
            yield "Session", self.session
            if turns:
                yield "Turn", turns
        for other in self.others:
            yield "Tag", other


class Tags(Value):
    """A text without its tags, and their clauses. `keyed` is the text that keys are made of (SPEC 3, identity).

    That one still has the tag `[session current]`: it was not read as a tag when keys were first published.
    """

    text: str
    keyed: str
    clauses: tuple[Clause, ...]

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """What the tags say, as labels and values to be shown."""
        return tuple(pair for clause in self.clauses for pair in clause.fields())


def read_tags(text: str) -> Tags:
    """Take the tags off a text. One that says neither turn nor date counts only at the end of a line."""
    clauses: list[Clause] = []
    spans: list[tuple[int, int]] = []
    named: list[tuple[int, int]] = []
    for match in _TAG.finditer(text):
        found = _clauses(match["said"])
        if not found or not (any(clause.is_sure for clause in found) or _ends_line(text, match.end())):
            continue
        clauses += found
        spans.append(match.span())
        if not _is_current(found):
            named.append(match.span())
    return Tags(text=_without(text, spans), keyed=_without(text, named), clauses=tuple(clauses))


def _is_current(clauses: list[Clause]) -> bool:
    """Whether a tag says no more than `session current`."""
    said = [pair for clause in clauses for pair in clause.fields()]
    return len(said) == 1 and said[0][0] == "Session" and said[0][1].casefold() == _CURRENT


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    kept: list[str] = []
    at = 0
    for start, end in spans:
        kept.append(text[at:start].rstrip(" \t"))
        at = end
    kept.append(text[at:])
    begins_with_tag = len(kept) > 1 and not kept[0].strip()
    left = "".join(kept).strip("\n").rstrip()
    return left.lstrip() if begins_with_tag else left


def _ends_line(text: str, at: int) -> bool:
    """Whether nothing follows but a full stop or another tag."""
    rest = text[at : at + 20].split("\n", 1)[0].strip(" \t.;,")
    return not rest or rest.lower().startswith(_TAG_STARTS)


def _clauses(said: str) -> list[Clause]:
    """The clauses of a tag: `session X, turn 193; updated Y, turn 7`.

    None for words in brackets that are no tag: it begins with a session, and where it says nothing but who, the
    name has a digit in it, is `current`, or is that of whoever raised a question.
    """
    found: list[Clause] = []
    for part in filter(None, (one_line(part) for part in re.split("[;,]", said))):
        who = _WHO.fullmatch(part)
        if who is not None and (found or "session" in part.lower()):
            found.append(Clause(verb=(who["verb"] or "").lower(), session=who["id"]))
            continue
        if not found:
            return []
        turn, date = _TURN.fullmatch(part), read_moment(part)
        if date is not None:
            found[-1].date, found[-1].date_text = date, part
        elif turn is not None:
            found[-1].turns.append(turn["turn"])
        else:
            found[-1].others.append(part)
    says_more = any(clause.is_sure or (clause.verb and not clause.others) for clause in found)
    is_name = _is_current(found) or (len(found) == 1 and any(map(str.isdigit, found[0].session)))
    names_one = is_name and not found[0].others
    return found if says_more or names_one else []


BROADCAST_FOLDER = "broadcast"
SECTION_LINES = 30
"""The most lines of a section that wyren allows."""

FILE_LINES = 60
"""The most lines of a memory that wyren allows."""

_SKILLS = "skills"
_NO_SECTION = "Memory"
_SLUG_CHARS = 60
_TITLE_CHARS = 2_000
_TITLE_LEAST = 11
_REMEMBERED_CHARS = 2_000
_STAMP = regex(r"\[(?P<moment>[0-9TtZz:.,+ -]{8,40})\]\s*")
_DISTILLED = regex(r"[\s_*]*last distilled\b.*", re.IGNORECASE)
_SECOND_PART = regex(r"\n[ \t]*(?:\n|[-*+] |[0-9]{1,9}[.)] )")
_FENCE_LINE = regex(r"^ *(?:`{3,}[^`\n]*|~{3,}.*)$", re.MULTILINE)
_BOX = regex(r"\A\[[ xX]\]\s+")
_SLUG_WORD = regex(r"[^\W_]+")


def matches(file: File) -> bool:
    """Whether the file is a wyren memory, by its sections and its name, or is below `broadcast/`.

    A `memory.md` outside wyren's folders must have tags as well: any file may have a section "Decisions".
    """
    if broadcast_path(file.path):
        return True
    sections = read_outline(file.text).sections if file.name.lower() == MEMORY_NAME else ()
    if not any(section.name in SECTIONS for section in sections):
        return False
    is_placed = file.path.split("/")[-2:-1] in [[root] for root in ROOTS]
    return is_placed or bool(read_tags(file.markdown[:OUTLINE_CHARS]).clauses)


def broadcast_path(path: str) -> tuple[str, ...]:
    """The folders and the name of a Markdown file below `.wyren/broadcast/` or `.relay/broadcast/`; () for others."""
    parts = tuple(path.split("/"))
    if not parts[-1].lower().endswith(".md"):
        return ()
    pairs = enumerate(pairwise(parts[:-1]), 1)
    place = next((index for index, (root, part) in pairs if root in ROOTS and part == BROADCAST_FOLDER), None)
    return parts[place + 1 :] if place is not None else ()


def parse(file: File) -> Parsed:
    """Read one memory, a record for each bullet, or one file of `broadcast/` as one record."""
    below = broadcast_path(file.path)
    if below:
        return _parse_broadcast(file, below)
    outline = read_outline(file.text)
    cards: list[RecordCard] = []
    shelve = [file.data]
    for section, entry, key in _keyed(file, outline):
        card, data = _record(file, section, entry, key)
        cards.append(card)
        shelve.append(data)
    fact = RecordFile(system="wyren", file=file.facts, records=tuple(cards))
    findings = (*file.text_findings, *islice(_check(file, outline), FINDINGS))
    return file.parsed(fact, findings, *shelve)


def _split_file(file: File) -> Iterator[RecordEntry]:
    """The entries of a memory; the rest of `broadcast/` has none."""
    for section, entry, key in () if broadcast_path(file.path) else _keyed(file, read_outline(file.text)):
        said, name = _said(entry.text), _slug(section.name or _NO_SECTION)
        place = "\0".join((name, *said.place)) if said.place else ""
        yield RecordEntry(key=key, section=name, said=said.text, written=said.written, place=place)


class _Said(Value):
    """What an entry says, as digests: for its key, without its tags, with them; and its session and turn."""

    key: str
    text: str
    written: str
    place: tuple[str, ...]


def _said(text: str) -> _Said:
    """The digests of an entry. Most entries are in thousands of versions of a memory."""
    return _read_said_once(text) if len(text) < _REMEMBERED_CHARS else _read_said(text)


def _read_said(text: str) -> _Said:
    tags = read_tags(text)
    first = next((clause for clause in tags.clauses if clause.verb != "updated"), None)
    return _Said(
        key=short_hash(tags.keyed or text),
        text=short_hash(tags.text),
        written=short_hash(text),
        place=(first.session, *first.turns) if first is not None and first.turns else (),
    )


_read_said_once = lru_cache(maxsize=5_000)(_read_said)


def _keyed(file: File, outline: Outline) -> Iterator[tuple[Section, OutlineBlock, str]]:
    """What is to be a record, with its section and its key."""
    keys = _Keys(read_outline(file.text, with_comments=True) if "<!--" in file.text else outline)
    for section in outline.sections:
        blocks = [block for block in section.blocks if not is_placeholder(block.text, section.name)]
        for entry in _entries(section.name, blocks):
            yield section, entry, keys.of(section, entry)


class _Keys:
    """The keys of a memory's entries: section, and digest of the text without tags.

    Comments and placeholders were records once. They still count in keys, and have keys of their own that no entry
    gets, so that each entry has the key it was published with. Equal entries of a section get `-2`, `-3` in the file's
    order.
    """

    def __init__(self, outline: Outline) -> None:
        """Make the keys of an outline with comments."""
        self._taken: Counter[str] = Counter()
        pairs = [(section, entry) for section in outline.sections for entry in _entries(section.name, section.blocks)]
        self._lines = [entry.line for _, entry in pairs]
        self._keys = [self._numbered(section, entry) for section, entry in pairs]
        self._next = 0
        self._is_free = False

    def of(self, section: Section, entry: OutlineBlock) -> str:
        """The key of an entry, given in the file's order: that of what was at its line, or around it."""
        while self._next < len(self._lines) and self._lines[self._next] < entry.line:
            self._next += 1
            self._is_free = True
        if self._next < len(self._lines) and self._lines[self._next] == entry.line:
            self._next += 1
        elif not self._is_free:
            return self._numbered(section, entry)
        self._is_free = False
        return self._keys[self._next - 1]

    def _numbered(self, section: Section, entry: OutlineBlock) -> str:
        key = f"{_slug(section.name or _NO_SECTION)}.{_said(entry.text).key}"
        self._taken[key] += 1
        number = self._taken[key]
        return key if number == 1 else f"{key}-{number}"


def _entries(section: str, blocks: Sequence[OutlineBlock]) -> Iterator[OutlineBlock]:
    """What is to be a record: each bullet and each text; of handoff notes those with a time, and the rest together."""
    if section == HANDOFF:
        yield from _handoff_notes(blocks)
        return
    for block in blocks:
        if section or block.bullet:
            yield block
            continue
        # "_Last distilled: …_" is changed by every run of wyren's; it is no content.
        lines = [line for line in block.text.split("\n") if not _DISTILLED.fullmatch(line)]
        if any(line.strip() for line in lines):
            yield OutlineBlock(line=block.line, text="\n".join(lines).strip("\n"), under=block.under)


def _handoff_notes(blocks: Iterable[OutlineBlock]) -> list[OutlineBlock]:
    stamped: list[OutlineBlock] = []
    rest: list[OutlineBlock] = []
    for block in blocks:
        (stamped if block.bullet and _stamp(block.text) else rest).append(block)
    if not rest:
        return stamped
    parts: list[str] = []
    for block, before in zip(rest, (None, *rest), strict=False):
        if before is not None:
            parts.append("\n" if block.bullet and before.bullet else "\n\n")
        mark = f"{block.bullet} " if block.bullet else ""
        parts.append(mark + block.text.replace("\n", "\n" + " " * len(mark)))
    together = OutlineBlock(line=rest[0].line, text="".join(parts), under=rest[0].under)
    return sorted((*stamped, together), key=lambda block: block.line)


def _record(file: File, section: Section, block: OutlineBlock, key: str) -> tuple[RecordCard, bytes]:
    """One record and its text."""
    tags = read_tags(block.text)
    text = tags.text or block.text
    name = section.name or _NO_SECTION
    stamp = _stamp(text) if block.bullet else None
    moments = [clause.date for clause in tags.clauses if clause.verb != "updated"]
    updates = [clause.date for clause in tags.clauses if clause.verb == "updated"]
    known, data = describe_text(text, RECORD_IDS)
    shown = _without_stamp(_FENCE_LINE.sub("", text[:_TITLE_CHARS]))
    card = RecordCard(
        system="wyren",
        key=key,
        file=file.facts,
        type=cut_line(name, 100),
        title=_title(text, name),
        line=block.line,
        text=of_which_is_said(known, shown),
        section=cut_line(name, 100),
        created=next(filter(None, (stamp, *moments)), None),
        modified=next(filter(None, updates), None),
        sessions=tuple(dict.fromkeys(clause.session for clause in tags.clauses)),
        fields=(*((("Under", cut_line(block.under, 100)),) if block.under else ()), *tags.fields),
    )
    return card, data


def _stamp(text: str) -> Moment | None:
    """The time that a handoff note begins with: `- [2026-05-01T14:30:00Z] …`."""
    match = _STAMP.match(text)
    return read_moment(match["moment"]) if match else None


def _without_stamp(text: str) -> str:
    return _STAMP.sub("", text, count=1) if _stamp(text) else text


def _title(text: str, section: str) -> str:
    """The first clause of an entry as plain text; what is nested in it or follows a blank line does not count."""
    first = _SECOND_PART.split(_FENCE_LINE.sub("\n", text[:_TITLE_CHARS]).lstrip("\n"), maxsplit=1)[0]
    title = short_subject(first_words(_BOX.sub("", _without_stamp(first))).rstrip(" :"), stem=section)
    bracket = title.rfind(" (")
    is_torn = bracket > _TITLE_LEAST and title.count("(") > title.count(")")
    return title[:bracket] if is_torn else title


def _slug(name: str) -> str:
    return "-".join(_SLUG_WORD.findall(name.lower()))[:_SLUG_CHARS].rstrip("-") or "section"


def _check(file: File, outline: Outline) -> Iterator[Finding]:
    """The findings on wyren's hygiene rules."""
    if outline.fence is not None:
        yield file.finding_at(
            outline.fence, wyren_rules.FENCED, "the whole memory is in a code fence, which is ignored"
        )
    is_cut = len(file.text) > OUTLINE_CHARS
    if len(outline.places) > FILE_LINES or is_cut:
        count = f"more than {len(outline.places)}" if is_cut else str(len(outline.places))
        message = f"the memory has {count} lines, expected at most {FILE_LINES}"
        message += f"; only the first {OUTLINE_CHARS} characters are read" if is_cut else ""
        place = outline.places[min(FILE_LINES, len(outline.places) - 1)] if outline.places else 1
        yield file.finding_at(place, wyren_rules.LONG, message)
    for section in outline.sections:
        if section.name and section.lines > SECTION_LINES:
            name = cut_line(section.name, 60)
            message = f'"{name}" has {section.lines} lines, expected at most {SECTION_LINES}'
            yield file.finding_at(section.line, wyren_rules.SECTION_LONG, message)
    for line in outline.conflicts:
        yield file.finding_at(line, wyren_rules.CONFLICT, "a marker of an unresolved merge; both sides are shown")
    for line in outline.code:
        message = "code in the memory, expected the path of the file and what follows from it"
        yield file.finding_at(line, wyren_rules.CODE, message)


def _parse_broadcast(file: File, below: tuple[str, ...]) -> Parsed:
    """A file of `broadcast/`: free text, read like a document; below `skills/` it is a skill."""
    parsed = parse_document(file)
    head = parsed.fact
    if not isinstance(head, DocumentHead):
        return parsed
    is_skill = below[0] == _SKILLS and len(below) > 1
    matter = read_frontmatter(file.markdown)
    title = one_line(matter.text("name")) if is_skill else ""
    if not title and len(below) > 1 and head.title.upper() == "SKILL":
        title = below[-2]
    text: Text | None = head.text if head.text.chars else None
    card = RecordCard(
        system="wyren",
        key=".".join((BROADCAST_FOLDER, *below[:-1], stem_of(below[-1]))),
        file=file.facts,
        type="skill" if is_skill else BROADCAST_FOLDER,
        title=cut_line(title, 300) or head.title,
        text=text,
        status=head.status,
        created=head.date,
        fields=tuple(_frontmatter_fields(matter, without="name" if title and is_skill else "")),
        tags=head.tags,
    )
    return replace(parsed, fact=RecordFile(system="wyren", file=file.facts, records=(card,)))


def _frontmatter_fields(matter: Frontmatter, *, without: str) -> Iterator[tuple[str, str]]:
    for name, value in left_fields(matter).items():
        if name == without:
            continue
        said = value if isinstance(value, str) else ", ".join(matter.list(name)) or show_json(value)
        yield cut_line(name, 100).capitalize(), one_line(said)


ADAPTER = Adapter(matches, parse, split=_split_file)
