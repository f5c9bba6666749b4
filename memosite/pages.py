"""The parts of page models: references, rows, bodies, pictures, and words for values of the data.

A picture holds the table that it draws:

    rows × columns of numbers ─┬─► marks (`templates/pictures.html` draws them as SVG)
                               └─► the same numbers as a table, folded below

`Bars` draws a row as one bar, its columns stacked, `Spans` one that begins on a day; `Grid` a cell for each number, the
darker the more; `Sparks` a row as small bars upward, a column each. The unit of every drawing is the number itself or
the cell, and the page stretches it, so the numbers can be read in the SVG, which a test does.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

from memosite.archive.cite import Citation
from memosite.archive.mailboxes import ShownAction
from memosite.archive.model import CitationState
from memosite.facts.file import TURNS
from memosite.facts.findings import Finding
from memosite.facts.parsed import Kind, Mailbox
from memosite.facts.phrases import phrase, phrases
from memosite.facts.texts import Sentence
from memosite.facts.times import Moment
from memosite.facts.values import Value
from memosite.formats.turns import Turn


class PagePart(Value):
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


class Reference(Value):
    """A label that leads somewhere, or nowhere (`href` None)."""

    label: str
    href: str | None = None
    title: str = ""


class Site(Value):
    """What all pages of a site share."""

    title: str
    language: str
    base_url: str | None
    generator: str
    has_records: bool = False
    """Whether the archive has records of other memory systems, so that the navigation leads to them."""
    has_positions: bool = True
    """Whether the archive has positions, or an orgdef; without, there is no page of the organization."""
    is_lean: bool = False
    """Whether twins and originals are bundled by month."""
    has_sessions: bool = False
    """Whether the archive has sessions of logs, so that the navigation leads to them."""
    person: str = ""
    """Who typed in these sessions, by the name of a position; "" for nobody in particular."""
    has_thinking: bool = False
    """Whether the thoughts in session logs are published."""


class Page(Value):
    """What every page has. `path` is its file, `root` leads from it to the top of the site."""

    template: ClassVar[str]

    site: Site
    path: str
    root: str
    title: str
    section: str = ""
    canonical: str | None = None
    description: str = ""
    feeds: tuple[Reference, ...] = ()
    twins: tuple[Reference, ...] = ()
    parts: tuple[PagePart, ...] = ()


class Row(Value):
    """One artifact in a list, or one memo in a thread (then `depth` counts).

    `type` says of a record what its system calls it. What is superseded is struck; `successor` is what took its place.
    """

    kind: Kind
    href: str
    short_subject: str
    sender: Reference | None = None
    to: tuple[Reference, ...] = ()
    date: Moment | None = None
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
    excerpt: str = ""
    """A line of its text."""
    is_kind_said: bool = False
    """Whether a heading above it says what it is, so that the row does not."""
    waits_for: tuple[Reference, ...] = ()
    age: str = ""
    """Of what waits: for whom of several people, and how old it is, counted to the newest date of the archive."""


class MentionRow(Value):
    """An artifact with the sentence of a mention, None if there is none: it may be named in a field alone.

    `places` lead to the mention, or to further ones; `more` counts those that are not named.
    """

    row: Row
    sentence: Sentence | None = None
    places: tuple[Reference, ...] = ()
    more: int = 0


class Neighbours(Value):
    """Links to the artifacts before and after one; `of` is what each is: "memo to director"."""

    of: str
    previous: Reference | None
    next: Reference | None


class SharedRow(Value):
    """A passage that a text shares with another: what the one is to the other, where it is here, and where there.

    `begins` are its first words.
    """

    relation: str
    here: str
    there: Reference
    words: int
    begins: str


class LifeStep(Value):
    """One step of a history: what happened, when, by whom, how long after the step before it, in which commit."""

    label: str
    date: Moment | None
    who: str
    after: str = ""
    commit: Reference | None = None
    merge: Reference | None = None
    changes: Reference | None = None


class LifeLine(Value):
    """The history of one copy. `pending` is what is not committed, `why_not` why git cannot say.

    `left_out` is how many steps before the last ones are not shown.
    """

    source: str
    steps: tuple[LifeStep, ...]
    pending: str
    why_not: str
    left_out: int = 0


class CopyRow(Value):
    """One file of the artifact; `original` is its published copy, `web` where the forge shows it."""

    source: str
    path: str
    mailbox: Mailbox | None
    variant: int
    original: str | None
    web: str | None
    body: str | None


class TrackStep(Value):
    """A step on the way of a decision: a proposal, a decision, or a record of it. `standing` is "" if unknown."""

    role: str
    item: Reference
    date: Moment | None
    standing: str
    source: str
    is_current: bool


class ShownImage(NamedTuple):
    """An image of a text: where it is written, its file as seen from this page, its size; or why it is not shown."""

    written: str
    href: str = ""
    width: int = 0
    height: int = 0
    why_not: str = ""


class TurnRange(Value):
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


class Body(Value):
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
    thoughts: str = ""
    """Of a session log whose thoughts are published: the digest of these."""
    tied: tuple[tuple[str, str, Reference], ...] = ()
    """Of its turns: the anchor, what is done there (`started`, `wrote`, `committed`), and what that leads to."""
    agents: tuple[tuple[str, Reference], ...] = ()
    """The sessions that its tool calls started, by their keys."""
    copied: tuple[int, int, Reference] | None = None
    """How many of its first turns an older session has, too, from which turn of that on, and that session's page."""


class CitedRow(Value):
    """One citation: what makes it, at which place, and what it cites; the words, and whether they hold.

    `changes` are words that are the `same`, or of the `source` or the `quote` alone.
    """

    by: Reference
    to: Reference
    quote: str
    state: CitationState
    said: str
    changes: tuple[tuple[str, str], ...] = ()


class FindingRow(Value):
    """One finding, with the page of the artifact it is about, and what it rests on in pieces, some of them links.

    `anchor` is its id on the page, if it is the first of its rule.
    """

    finding: Finding
    clause: tuple[Reference, ...] = ()
    page: Reference | None = None
    anchor: str = ""


class OutdatedCitation(Value):
    """A decision that is cited and not in force any more, and what took its place, since when."""

    decision: Reference
    successor: Reference | None
    since: Moment | None


class ArtifactPage(Page):
    """What the pages of all artifacts have in common."""

    kind: Kind
    id: str
    subject: str
    date: Moment | None
    date_written: str = ""
    body: Body | None = None
    copies: tuple[CopyRow, ...]
    originals: tuple[Reference, ...]
    extra: str = ""
    tags: tuple[str, ...]
    findings: tuple[FindingRow, ...]
    backlinks: tuple[MentionRow, ...]
    lives: tuple[LifeLine, ...] = ()
    lives_summary: str = ""  # of many copies, whose histories are collapsed
    citation: Citation | None = None
    is_cut: bool = False  # whether the body is longer than a page may be, so that only its beginning is shown
    extra_left_out: int = 0  # how many characters of `extra` a page cannot hold
    findings_total: int = 0  # how many of these there are in all, where a page cannot hold them
    backlinks_total: int = 0
    track: tuple[TrackStep, ...] = ()  # of a decision or a proposal
    outdated: tuple[OutdatedCitation, ...] = ()  # of a memo or a record: what it cites and is not in force
    written_in: tuple[Reference, ...] = ()  # the turns of sessions that wrote its file
    cited_by: tuple[CitedRow, ...] = ()
    cited_by_total: int = 0
    shared: tuple[SharedRow, ...] = ()
    shared_total: int = 0
    around: Neighbours | None = None  # in the list that readers page through
    is_pending: bool = False  # of a document or a record that waits for somebody
    waits_for: tuple[Reference, ...] = ()  # by name, of many the first; none of a memo whose state says it


class ListSection(Value):
    """A heading with rows under it; `anchor` is its id on the page, `empty` what to say when there are none."""

    heading: str
    anchor: str
    rows: tuple[Row, ...]
    total: int
    empty: str = ""
    is_known: bool = True  # else an empty list may be missing some
    targets: tuple[str, ...] = ()
    """Anchors that were published for what it shows."""


class ListPage(Page):
    """Sections of rows: a month, decisions, a system, part of a long list; `views` are other ways to group the same."""

    template: ClassVar[str] = "list.html"

    intro: str
    sections: tuple[ListSection, ...]
    views: tuple[Reference, ...] = ()
    previous: Reference | None = None
    next: Reference | None = None


class RelationshipRow(Value):
    """One edge of the organization."""

    type: str
    sender: Reference
    to: Reference
    description: str
    extra: str = ""


_CITED: Mapping[str, str] = {
    "memo": phrase("Cite this memo"),
    "note": phrase("Cite this note"),
    "transcript": phrase("Cite this transcript"),
    "library": phrase("Cite this library"),
    "record": phrase("Cite this record"),
    "document": phrase("Cite this document"),
}


_STANDINGS: Mapping[str, str] = {
    "pending": phrase("pending"),
    "accepted": phrase("accepted"),
    "rejected": phrase("rejected"),
    "superseded": phrase("superseded"),
    "unclear": phrase("unclear"),
}


def standing_word(standing: str) -> str:
    """The word for how a decision stands."""
    return _STANDINGS.get(standing, standing)


def cite_words(kind: str) -> str:
    """What the citation of an artifact of this kind is called."""
    return _CITED[kind]


def severity_word(severity: str) -> str:
    """The word for how serious a finding is; a note of this kind is no memo."""
    return {"error": phrase("error"), "warning": phrase("warning")}.get(severity, phrase("note", context="finding"))


def severities(severity: str, number: int) -> str:
    """So many findings that are so serious."""
    match severity:
        case "error":
            return phrases("{n:,} error", "{n:,} errors", number)
        case "warning":
            return phrases("{n:,} warning", "{n:,} warnings", number)
        case _:
            return phrases("{n:,} note", "{n:,} notes", number, context="finding")


# Where long conversations and texts are cut, so that no page gets too long (SPEC 4).


PAGE_CHARS = 250_000
"""The most characters of source text on one page: in scripts of three bytes a character, less than 1 MB (SPEC 4)."""


VERBATIM_CHARS = 150_000
"""The same for a part of a verbatim text: `&` takes five bytes, so that any text is less than 1 MB."""


OUTLINE = 2_000
"""The most turns that the outline of a long conversation names."""


TURN_CHARS = 400
"""The overhead of a turn on a page besides its text, in characters."""


_ROW_CHARS = 30  # the same for a row of the outline, which the first part has of all turns


def cut_turns(turns: Sequence[Turn]) -> list[TurnRange]:
    """The turns of each part of a transcript.

    A part ends between turns, before it gets longer than a page; a turn that is longer than a page alone is split
    (SPEC 4). The first part has room for a full outline, however many turns there are, so that its end does not move
    when turns are appended.
    """
    folded = [turn.folded_chars for turn in turns]
    if fits_one_page(sum(_weight(turn.text) for turn in turns) + sum(folded), len(turns)):
        return [TurnRange(first=0, end=len(turns))]
    ranges: list[TurnRange] = []
    first, start, size = 0, 0, OUTLINE * _ROW_CHARS
    for index, turn in enumerate(turns):
        text = turn.text
        weight = _weight(text) + folded[index] + TURN_CHARS
        if size + weight > PAGE_CHARS and index > first:
            ranges.append(TurnRange(first=first, end=index, start=start))
            first, start, size = index, 0, 0
        while weight > PAGE_CHARS and (stop := _split(text, start)) < len(text):
            ranges.append(TurnRange(first=index, end=index + 1, start=start, stop=stop))
            first, start, size = index, stop, 0
            weight = _weight(text[stop:]) + folded[index] + TURN_CHARS
        size += weight
    return [*ranges, TurnRange(first=first, end=len(turns), start=start)]


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


class VariantRow(Value):
    """A text that differs from the one shown: the texts to compare, by digest ("" = none); `file` has the one shown."""

    label: str
    file: str
    shown_envelope: str
    other_envelope: str
    shown_body: str
    other_body: str
    started: tuple[str, str] = ("", "")
    """Of transcripts: when each of the two began."""


class View(Value):
    """A list or filter: a link to a page of its own, and how many it has; the one that is shown is no link."""

    page: Reference
    total: int | None


class Seal(Value):
    """The newest root of the sealed log, of which month, and how many leaves it seals; "" and 0 if there is none.

    So many more leaves are `waiting` for their month to close.
    """

    log: Reference
    month: str
    root: str
    sealed: int
    waiting: int


# Pictures as frozen values: each holds the table that it draws, and where its marks are.


LEVELS = 4
"""The shades of a grid."""


class Cell(Value):
    """A number with where it leads; `words` say in a drawing what it counts."""

    number: int
    href: str | None = None
    words: str = ""


class PictureRow(Value):
    """A row: its cells are as many as the picture has columns, None where there is nothing to count.

    `note` is drawn at the end of the row. `days` are, of what is counted by age, how many are 0, 1, 2 … days old, up to
    the last age that may still move to another column: from them a script counts to today.
    """

    label: Reference
    cells: tuple[Cell | None, ...]
    note: str = ""
    days: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        """The sum of its numbers."""
        return sum(cell.number for cell in self.cells if cell)

    @property
    def counted(self) -> tuple[tuple[int, Cell], ...]:
        """The cells with a number above 0, each with the place of its column."""
        return tuple((place, cell) for place, cell in enumerate(self.cells) if cell and cell.number)


class PictureColumn(Value):
    """A column of the table; `mark` is what a drawing writes at it, "" where there is no room for words."""

    label: str
    mark: str = ""


class Mark(Value):
    """A number that is drawn: from where, how far, and in which shade (from 1)."""

    at: int
    size: int
    shade: int
    cell: Cell


class Picture(Value):
    """A table that is drawn. `anchor` is its id on the page, `corner` what its rows are, `caption` what it shows."""

    anchor: str
    caption: str
    corner: str
    columns: tuple[PictureColumn, ...]
    rows: tuple[PictureRow, ...]

    def __post_init__(self) -> None:
        if any(len(row.cells) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of the picture {self.anchor} has not one cell for each column")

    @property
    def heads(self) -> tuple[tuple[int, str], ...]:
        """What is written at columns, with their numbers."""
        return tuple((number, column.mark) for number, column in enumerate(self.columns) if column.mark)

    @property
    def most(self) -> int:
        """The largest number, at least 1."""
        return max((cell.number for row in self.rows for cell in row.cells if cell), default=0) or 1

    @property
    def drawn(self) -> Iterator[tuple[PictureRow, tuple[Mark, ...]]]:
        """Each row with its marks."""
        for row in self.rows:
            yield row, tuple(self.marks(row))

    def marks(self, row: PictureRow) -> Iterator[Mark]:
        """The marks of the numbers of a row that are above 0."""
        raise NotImplementedError


class Bars(Picture):
    """One bar for each row, as long as its total: one column behind the other, later ones darker."""

    undrawn: ClassVar[int] = 0
    """How many columns before the first one that is drawn only say where that begins."""

    @property
    def keys(self) -> tuple[tuple[str, int], ...]:
        """What each shade stands for."""
        drawn = self.columns[self.undrawn :]
        return tuple((column.label, shade_of(place, len(drawn))) for place, column in enumerate(drawn, 1))

    @property
    def longest(self) -> int:
        """The largest total, at least 1."""
        return max((row.total for row in self.rows), default=0) or 1

    def marks(self, row: PictureRow) -> Iterator[Mark]:
        """Each mark begins where the one before it ends."""
        at = 0
        for place, cell in row.counted:
            if place >= self.undrawn:
                yield Mark(at=at, size=cell.number, shade=self.keys[place - self.undrawn][1], cell=cell)
            at += cell.number


class Spans(Bars):
    """Bars on one scale of days: the first column says on which day a bar begins."""

    undrawn: ClassVar[int] = 1


class Grid(Picture):
    """A cell for each number, on a pale ground."""

    def marks(self, row: PictureRow) -> Iterator[Mark]:
        """Each mark is in its column."""
        most = self.most
        for at, cell in row.counted:
            yield Mark(at=at, size=1, shade=shade_of(cell.number, most), cell=cell)


class Sparks(Picture):
    """Small bars upward, a drawing for each row; all have one scale."""

    def marks(self, row: PictureRow) -> Iterator[Mark]:
        """Each mark is in its column."""
        for at, cell in row.counted:
            yield Mark(at=at, size=cell.number, shade=1, cell=cell)


def shade_of(number: int, most: int) -> int:
    """The shade of a number above 0: equal steps up to the largest."""
    return -(-number * LEVELS // most)
