"""Defines the parts of page models: references, stamps, rows, bodies (see `pages`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memosite.archive.cite import Citation
from memosite.archive.model import Action
from memosite.facts.bounds import TURNS
from memosite.facts.findings import Severity
from memosite.facts.parsed import Kind, Mailbox
from memosite.pages.images import ShownImage
from memosite.pages.words import ShownAction

PAGE_CHARS = 250_000
"""The most characters of source text on one page: in scripts of three bytes a character, less than 1 MB (SPEC 4)."""


VERBATIM_CHARS = 150_000
"""The same for a part of a verbatim text: `&` takes five bytes, so that any text is less than 1 MB."""

OUTLINE = 2_000
"""The most turns that the outline of a long conversation names."""

TURN_CHARS = 400
"""The overhead of a turn on a page besides its text, in characters."""

_ROW_CHARS = 30  # the same for a row of the outline, which the first part has of all turns


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRange:
    """The turns of one part of a transcript, counted from 0: `first` and all others before `end`.

    Of the first turn, what comes before the character `start` is on the part before; of the last, what comes from the
    character `stop` on is on the next part.
    """

    first: int
    end: int
    start: int = 0
    stop: int | None = None

    @property
    def begins(self) -> int:
        """The first turn that begins on this part or after it."""
        return self.first + (self.start > 0)


def cut_turns(texts: Sequence[str]) -> list[TurnRange]:
    """The turns of each part of a transcript, from their texts.

    A part ends between turns, before it gets longer than a page; a turn that is longer than a page alone is split
    (SPEC 4). The first part has room for a full outline, however many turns there are, so that its end does not move
    when turns are appended.
    """
    if fits_one_page(sum(map(_weight, texts)), len(texts)):
        return [TurnRange(first=0, end=len(texts))]
    ranges: list[TurnRange] = []
    first, start, size = 0, 0, OUTLINE * _ROW_CHARS
    for index, text in enumerate(texts):
        weight = _weight(text) + TURN_CHARS
        if size + weight > PAGE_CHARS and index > first:
            ranges.append(TurnRange(first=first, end=index, start=start))
            first, start, size = index, 0, 0
        while weight > PAGE_CHARS and (stop := _split(text, start)) < len(text):
            ranges.append(TurnRange(first=index, end=index + 1, start=start, stop=stop))
            first, start, size = index, stop, 0
            weight = _weight(text[stop:]) + TURN_CHARS
        size += weight
    return [*ranges, TurnRange(first=first, end=len(texts), start=start)]


def _split(text: str, start: int) -> int:
    """Where the part of a long turn ends that begins at a character: after an empty line, a line, or anywhere."""
    most = PAGE_CHARS - TURN_CHARS
    while _weight(text[start : start + most]) > PAGE_CHARS:
        most //= 2
    end = start + most
    if end >= len(text):
        return len(text)
    for mark in ("\n\n", "\n"):
        found = text.rfind(mark, start + most // 2, end)
        if found >= 0:
            return found + len(mark)
    return end


def _weight(text: str) -> int:
    """The length of a text; more if it takes more than three bytes a character as HTML."""
    written = len(text.encode("utf-8", "replace")) + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))
    return max(len(text), written // 3)


def cut_text(text: str, start: int = 0) -> list[tuple[int, int]]:
    """The characters of each part of a verbatim text from `start` on, as half-open ranges that end at line ends."""
    ranges: list[tuple[int, int]] = []
    while len(text) - start > VERBATIM_CHARS:
        end = text.rfind("\n", start, start + VERBATIM_CHARS) + 1 or start + VERBATIM_CHARS
        ranges.append((start, end))
        start = end
    return [*ranges, (start, len(text))]


def fits_one_page(chars: int, turns: int) -> bool:
    """Whether so many turns, of so many characters in all, fit on one page together with their outline."""
    return chars + turns * TURN_CHARS + min(turns, OUTLINE) * _ROW_CHARS <= PAGE_CHARS


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What all pages of a site share."""

    title: str
    language: str
    base_url: str | None
    generator: str
    has_records: bool = False
    """Whether the archive has records of other memory systems, so that the navigation leads to them."""
    is_lean: bool = False
    """Whether twins and originals are bundled by month."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A label that leads somewhere, or nowhere (`href` None)."""

    label: str
    href: str | None = None
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """A date for `<time>`: `utc` for machines, `shown` for people with the written offset, `day` alone."""

    utc: str
    shown: str
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One artifact in a list, or one memo in a thread (then `depth` counts).

    `type` says of a record what its system calls it. What is superseded is struck; `successor` is what took its place.
    """

    kind: Kind
    href: str
    subject: str
    sender: Reference | None = None
    to: tuple[Reference, ...] = ()
    date: Stamp | None = None
    mailbox: Mailbox | None = None
    action: ShownAction | None = None
    unread: str = ""
    """What is said of a memo that is unread for the position of the list; without one, for any recipient."""
    is_ghost: bool = False
    is_current: bool = False
    depth: int = 0
    way: str = ""
    """In the stream of a position: `sent`, `received`, or else its kind."""
    anchor: str = ""
    """Its id on the page, if it is the first of a week."""
    is_next: bool = False
    """Whether it is the only reply to the row above it in a thread, so that it is drawn at the same depth."""
    type: str = ""
    status: str = ""
    is_superseded: bool = False
    successor: Reference | None = None
    source: str = ""
    continues: tuple[Reference, ...] = ()
    continued_from: Reference | None = None
    waits_for: tuple[Reference, ...] = ()
    age: str = ""
    """Of what waits: for whom of several people, and how old it is, counted to the newest date of the archive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A text to be rendered in place. `links` maps what is written to where it leads from this page.

    Of an image that is not among `images`, only the words are shown.
    """

    sha256: str
    form: Literal["markdown", "verbatim", "transcript"]
    chars: int
    links: tuple[tuple[str, str], ...] = ()
    images: tuple[ShownImage, ...] = ()
    prefix: str = ""
    span: tuple[int, int] | None = None
    """Of a verbatim text in parts: its first character on this one and the one after the last, counted from 0."""
    started: str | None = None
    day: str = ""
    """Of a transcript: the day at the head of its page, which turns of that day do not repeat."""
    turns: TurnRange | None = None
    """For a transcript in parts: the turns of this one."""
    parts: tuple[tuple[int, str], ...] = ()
    """On the first part of a transcript: of each other part the first turn that begins there, from 0, and its file."""
    citation: Citation | None = None
    """Of the whole transcript; those of its turns are made from it."""
    is_redacted: bool = False
    """Whether secrets were redacted in it: turns that hold a redaction have no hash and cannot be cited."""
    cited: int = TURNS
    """How many turns offer a citation of their own."""
    people: tuple[str, ...] = ()
    """Participants of a transcript that are people; `models` are the others."""
    models: tuple[str, ...] = ()
    cited_turns: tuple[str, ...] = ()
    """Anchors of a transcript that citations name, on its first part; `mentioned_turns` those that links name."""
    mentioned_turns: tuple[str, ...] = ()
    shared: tuple[tuple[str, str, Reference], ...] = ()
    """Of turns with passages that others have, too: the anchor, what the one is to the other, and where that is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """One finding, with the page of the artifact it is about, and what it rests on in pieces, some of them links."""

    severity: Severity
    rule: str
    place: str
    message: str
    remedy: str
    clause: tuple[Reference, ...] = ()
    page: Reference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePart:
    """One part of a long page.

    Of a transcript, `turn` is the first turn that begins there or after it, counted from 1, and `within` the turn that
    the part goes on with, if it begins within one. `is_listed` if the outline on the first part has the anchors of all
    its turns.
    """

    label: str
    href: str
    is_current: bool
    turn: int | None = None
    within: int | None = None
    is_listed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A source the archive was read from.

    `commit` is the one that it is at, in short and with its page on the forge, and `committed` its date; `ref` what
    was asked for. `last_fetched` is given if the remote could not be fetched: the source is as old as that.
    """

    name: str
    artifacts: int
    commit: Reference | None = None
    committed: Stamp | None = None
    ref: str = ""
    last_fetched: Stamp | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSection:
    """A heading with rows under it; `anchor` is its id on the page, `empty` what to say when there are none."""

    heading: str
    anchor: str
    rows: tuple[Row, ...]
    total: int
    empty: str = ""
    is_known: bool = True  # else an empty list may be missing some
    targets: tuple[str, ...] = ()
    """Anchors that were published for what it shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientRow:
    """One recipient and how far the action asked of it is; `unread` is what is said if it has not read the memo."""

    position: Reference
    action: Action | None
    unread: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyRow:
    """One file of the artifact; `original` is its published copy, `web` where the forge shows it."""

    source: str
    path: str
    mailbox: Mailbox | None
    variant: int
    original: str | None
    web: str | None
    body: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantRow:
    """A text that differs from the one shown: the texts to compare, by digest ("" = none)."""

    label: str
    shown_envelope: str
    other_envelope: str
    shown_body: str
    other_body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticipantRow:
    """A participant of a conversation."""

    position: Reference
    who: str
    extra: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryEntry:
    """One entry of a library."""

    name: str
    version: str
    description: str
    file: Reference
    extra: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationRow:
    """A relation of a record, with what else is said of it; `is_inverse` if it is written in the other record."""

    predicate: str
    target: Reference
    status: str
    confidence: str
    label: str
    is_inverse: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorRow:
    """An anchor of a record, with a link where it leads to one place; `files` are the artifacts that a glob fits.

    `is_cut` if there may be more of them.
    """

    anchor: Reference
    files: tuple[Reference, ...] = ()
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """One line of a record's history."""

    event: str
    at: Stamp | None
    actor: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationRow:
    """A source outside that a record names; only an address of the web is a link."""

    source: Reference
    type: str
    author: str
    date: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRow:
    """An entity that a record names, and how."""

    entity: Reference
    type: str
    relation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRow:
    """One of the other memory systems: its records by type, the sources they are in, and how many more there are."""

    system: Reference
    total: int
    types: tuple[tuple[str, int], ...]
    sources: tuple[str, ...]
    more_types: int = 0
    more_sources: int = 0
