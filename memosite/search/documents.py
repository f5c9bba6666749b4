"""Makes search documents: the words, names and values by which artifacts are found, and their lines.

    Artifact ──► Card (no texts; its digest changes with its content) ──► SearchDocument, one or more
                                                   text_of

An artifact is one document; a transcript has one more for each turn, and one more for the output of a turn's tools,
so that a hit opens the turn and only `in:tools` finds such output (SPEC 5). Of each document a hit shows some lines:
`match.make_excerpt` chooses them for commands, `static/search.js` does for the search page, which loads few stretches
of a long text.

    parts of the body ──► lines: the words of a block, and the anchor that leads to it ──► stretches, for the browser
"""

import datetime as dt
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby, pairwise, repeat
from operator import itemgetter, sub
from typing import NamedTuple, TypeAlias

from memosite.archive import model
from memosite.archive.mailboxes import is_unread_by_any, states_of
from memosite.archive.urls import index_file, page_of, part_page
from memosite.facts.file import most_turns_found
from memosite.facts.names import read_stamped_name
from memosite.facts.parsed import Kind
from memosite.facts.patterns import regex
from memosite.facts.texts import cut_line, listed, one_line
from memosite.facts.values import Value, replace
from memosite.formats.sessions.kept import read_conversation
from memosite.formats.status import STANDINGS, sort_of, standing_of
from memosite.formats.turns import Turn, blocks
from memosite.markdown.plain import PlainLine, front_matter, plain_lines
from memosite.pages import cut_turns
from memosite.passages import PREAMBLE, prefixed_texts
from memosite.search_language import Analyzer, WordField, milliseconds, prepare
from memosite.store.values import digest_of

MOST_CHARS = 1_000_000
"""The most characters of one document that are searched."""


WHO_CHARS = 120
"""The longest line that says who wrote to whom."""


TextOf = Callable[[str], str]


Choose = Callable[[Collection[str]], AbstractSet[str]]
"""Chooses terms of those of a text."""


class Card(Value):
    """The searchable metadata of an artifact, with its texts by SHA-256.

    `date` is milliseconds since 1970 in UTC, `day` the writer's day, as pages show it; `keys` are fields and folded
    values; `positions` are called as pages call them, for facets; `names` are id, paths and digests. `texts` are
    digests on the shelf, each with what its anchors begin with on the page, None if it has none there; `extra` are
    texts that are not on the shelf. `conversation` is the digest of a transcript's body.
    `group` is what it is shown with: its thread, or the session that it is a capture of; "" if it is so named itself.
    `copied` are the first turns of a session that an older one has, too; `wrote` are the files that turns of it wrote,
    as values of `file:`, each with the ordinal of the turn.
    """

    kind: Kind
    id: str
    system: str
    arrival: int
    page: str
    path: str
    subject: str
    short_subject: str
    who: str
    date: int | None
    day: str
    status: str = ""
    waits_for: tuple[str, ...] = ()
    owing: str = ""
    keys: tuple[tuple[str, str], ...]
    positions: tuple[str, ...]
    names: tuple[str, ...]
    slug: str
    texts: tuple[tuple[str, str | None], ...]
    extra: tuple[str, ...]
    conversation: str | None
    started: dt.datetime | None
    group: str
    copied: int = 0
    wrote: tuple[tuple[int, str], ...] = ()

    @property
    def digest(self) -> str:
        """The digest of everything but the order of arrival: equal digests mean equal documents."""
        return digest_of(replace(self, arrival=0))

    @property
    def words(self) -> "Card":
        """The same without what changes in its life: when it is read, moved, answered, or joined to a thread."""
        return replace(
            self, arrival=0, path="", status="", waits_for=(), owing="", keys=(), positions=(), names=(), group=""
        )

    @property
    def key(self) -> str:
        """`memo/<id>`: the name of the artifact among all."""
        return f"{self.kind}/{self.id}"


class Part(NamedTuple):
    """A text of a body, and what its anchors begin with on the page; None if it has none there."""

    text: str
    prefix: str | None = None


class SearchDocument(Value):
    """One possible hit. `turn` is 0 for an artifact itself; `is_tools` for the output of a turn's tools.

    `texts` are searched by `text`, in order and apart: subject, words of the name, body, which is made of `parts`.
    `file` is the page's file with the anchor, `label` names the turn.
    """

    card: Card
    turn: int
    is_tools: bool
    file: str
    label: str
    texts: tuple[str, ...]
    parts: tuple[Part, ...]
    subject: str
    names: tuple[str, ...]

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """Fields and values, that of `in:` among them."""
        return (*self.card.keys, *self.files, ("in", "tools" if self.is_tools else "text"))

    @property
    def files(self) -> tuple[tuple[str, str], ...]:
        """The same of the files that it wrote: those of the turn, or all of the session."""
        wrote = (path for ordinal, path in self.card.wrote if self.turn in (0, ordinal))
        return tuple(("file", path) for path in dict.fromkeys(wrote))

    @property
    def fields(self) -> Mapping[WordField, Sequence[str]]:
        """The texts in which words are looked up, by field."""
        return {"text": self.texts, "subject": (self.subject,) if self.subject else (), "name": self.names}

    @property
    def order(self) -> bytes:
        """Sorts hits: newest first, those without a date last; then by id, kind and turn.

        No id holds a NUL, and UTF-8 sorts as its characters do.
        """
        card = self.card
        date = bytes([card.date is None]) + (2**63 - (card.date or 0)).to_bytes(8, "big")
        return date + f"{card.id}\0{card.kind}\0".encode() + self.turn.to_bytes(4, "big") + bytes([self.is_tools])


def describe(archive: model.Archive, artifact: model.Artifact, analyzer: Analyzer) -> Card:
    """The card of an artifact."""
    memo = artifact if isinstance(artifact, model.Memo) else None
    body = artifact.variants[0].text if isinstance(artifact, model.Transcript) and not artifact.broken else None
    is_unread = isinstance(artifact, model.Envelopes) and artifact.broken
    digests = [artifact.shown_file.sha256] if is_unread else [text.sha256 for text in artifact.texts]
    prefixes = {text.sha256: prefix for text, prefix in prefixed_texts(artifact)}
    return Card(
        kind=artifact.kind,
        id=artifact.id,
        system=artifact.system,
        arrival=artifact.arrival,
        page=page_of(artifact),
        path=f"{artifact.copies[0].file.source}/{artifact.shown_file.path}",
        subject=prepare(artifact.subject)[:MOST_CHARS],
        short_subject=artifact.short_subject,
        who=_who(artifact),
        date=milliseconds(artifact.date.instant.replace(tzinfo=None)) if artifact.date else None,
        day=artifact.date.day if artifact.date else "",
        status=(memo.action or "") if memo else artifact.short_status,
        waits_for=artifact.waits_for,
        owing=_owing(archive, artifact.waits_for) if artifact.waits_for else "",
        keys=tuple(sorted(_keys(archive, artifact, analyzer))),
        positions=tuple(sorted(set(map(archive.label, artifact.positions)))),
        names=tuple(dict.fromkeys(prepare(name) for name in _names(artifact))),
        slug=prepare(read_stamped_name(artifact.id).slug),
        texts=tuple(
            (digest, prefixes.get(digest)) for digest in dict.fromkeys(digests) if not (body and digest == body.sha256)
        ),
        extra=tuple(map(prepare, _extra(artifact))),
        conversation=body.conversation if body else None,
        started=artifact.started if isinstance(artifact, model.Transcript) else None,
        group=_group(artifact),
        copied=artifact.copied if isinstance(artifact, model.Transcript) else 0,
        wrote=tuple(_files(artifact, analyzer)) if isinstance(artifact, model.Transcript) else (),
    )


def _files(session: model.Transcript, analyzer: Analyzer) -> Iterator[tuple[int, str]]:
    """The files that turns of a session wrote, by their paths in its folder, and by their names alone."""
    if session.log is None or session.withheld:
        return
    for ordinal, written in session.log.wrote:
        path = session.log.below(written)
        for value in dict.fromkeys(map(analyzer.keyword, (path, path.rpartition("/")[2]))):
            if value:
                yield ordinal, value


def _owing(archive: model.Archive, owed_by: Sequence[str]) -> str:
    """For whom an item waits, as pages name them; of many the first."""
    return f"waits for {listed([archive.label(position) for position in owed_by], model.NAMED)}"


def documents(card: Card, text_of: TextOf) -> Iterator[SearchDocument]:
    """The documents of an artifact: itself, then those of its turns in order."""
    turns: tuple[Turn, ...] = ()
    pages: list[str] = []
    parts = [_part(text_of(digest), prefix) for digest, prefix in card.texts]
    if card.conversation is not None:
        conversation = read_conversation(text_of(card.conversation), started=card.started)
        most = most_turns_found(
            sum(len(part.text) for part in parts) + sum(len(turn.text) for turn in conversation.turns), _size(card)
        )
        pages = list(_pages_of_turns(card.page, conversation.turns))
        turns, others = conversation.turns[:most], conversation.turns[max(most, card.copied) :]
        parts.append(_part(conversation.preamble, PREAMBLE))
        parts += [Part(prepare(text)) for text in (conversation.rest, *(turn.text for turn in others))]
    parts += map(Part, card.extra)
    yield SearchDocument(
        card=card,
        turn=0,
        is_tools=False,
        file=index_file(card.page),
        label="",
        texts=(card.subject, card.slug, _body(parts)),
        parts=tuple(parts),
        subject=card.subject,
        names=card.names,
    )
    for turn in turns[card.copied :]:
        yield from _turn_documents(card, turn, pages[turn.ordinal - 1])


def _part(written: str, prefix: str | None) -> Part:
    """A text as it is searched; anchors are made of what was written."""
    text = prepare(written)
    return Part(text, prefix if text == written else None)


def _body(parts: Iterable[Part]) -> str:
    return "\n\n".join(part.text for part in parts)[:MOST_CHARS]


def _group(artifact: model.Artifact) -> str:
    """The thread by the name of the memo that it begins with, or the session; it changes with neither's size."""
    if isinstance(artifact, model.Memo):
        return f"memo/{artifact.thread}" if artifact.thread != artifact.id else ""
    if isinstance(artifact, model.Transcript):
        return next(iter(model.sessions_of(artifact)), "")
    return ""


def _size(card: Card) -> int:
    """How many bytes a result takes that is a turn of this artifact."""
    named = card.id + card.page + card.short_subject + card.who
    return 150 + len(named.encode("utf-8", "replace"))


def _turn_documents(card: Card, turn: Turn, page: str) -> Iterator[SearchDocument]:
    said: list[str] = []
    output: list[str] = []
    for block in (*turn.before, *blocks(turn.text), *turn.after):
        if block.kind not in ("thinking", "mark"):
            (output if block.kind == "tool" else said).append(f"{block.name or ''}\n{block.text}".strip())
    who = " ".join(part for part in (turn.speaker, f"({turn.model})" if turn.model else "") if part)
    for is_tools, found in ((False, said), (True, output)):
        parts = tuple(Part(prepare(text)) for text in found)
        if body := _body(parts):
            yield SearchDocument(
                card=card,
                turn=turn.ordinal,
                is_tools=is_tools,
                file=f"{index_file(page)}#{turn.anchor}",
                label=f"turn {turn.ordinal}, {cut_line(who, 60)}{', tools' if is_tools else ''}",
                texts=(body,),
                parts=parts,
                subject="",
                names=(),
            )


def _pages_of_turns(page: str, turns: tuple[Turn, ...]) -> Iterator[str]:
    """The page that shows each turn: long transcripts are cut into parts, of which the first is the page itself."""
    for number, part in enumerate(cut_turns(turns), 1):
        yield from repeat(page if number == 1 else part_page(page, number), part.end - part.begins)


def _extra(artifact: model.Artifact) -> Iterator[str]:
    """Words that are in no text: the items of a library, the fields of a record."""
    if isinstance(artifact, model.Library):
        yield artifact.card.description
        for item in artifact.card.items:
            yield f"{item.name} {item.description} {item.file}"
    if isinstance(artifact, model.Record):
        for label, value in artifact.card.fields:
            yield f"{label}: {value}"


def _names(artifact: model.Artifact) -> Iterator[str]:
    yield artifact.id
    for copy in artifact.copies:
        yield f"{copy.file.source}/{copy.file.path}"
        if copy.body_path:
            yield f"{copy.file.source}/{copy.body_path}"
    yield from filter(None, (copy.file.sha256 for copy in artifact.copies))
    if isinstance(artifact, model.Record):
        yield artifact.card.key


def _who(artifact: model.Artifact) -> str:
    said = f"{artifact.system} {artifact.card.type}" if isinstance(artifact, model.Record) else artifact.who.line()
    return cut_line(said, WHO_CHARS)


def _keys(archive: model.Archive, artifact: model.Artifact, analyzer: Analyzer) -> set[tuple[str, str]]:
    """Each field with its folded value; a field may have several."""
    found: list[tuple[str, str]] = [("kind", artifact.kind), ("system", artifact.system)]
    found += [("repo", copy.file.source) for copy in artifact.copies]
    found += [("box", copy.mailbox) for copy in artifact.copies if copy.mailbox]
    found += [("tag", tag) for tag in artifact.tags]
    found += [("with", name) for position in artifact.positions for name in (position, archive.label(position))]
    found += [("is", state) for state in states_of(artifact)]
    if isinstance(artifact, model.Memo):
        found += _memo_keys(archive, artifact)
    if isinstance(artifact, model.Document | model.Record) and not artifact.withheld:
        status = artifact.short_status if isinstance(artifact, model.Document) else artifact.card.status or ""
        words = {status, status.partition(" ")[0]}
        if sort_of(artifact) != "other" and (standing := standing_of(artifact)):
            words = {word for word in words if word.strip(".,;:").casefold() not in STANDINGS} | {standing}
        found += [("status", word) for word in words if word]
    if isinstance(artifact, model.Transcript):
        envelope = artifact.envelope
        found += [
            ("with", name) for person in envelope.participants for name in (person.position, person.identity or "")
        ]
        found += [("status", envelope.redaction_status or ""), ("transcript", artifact.id)]
        if log := envelope.log:
            found += [("with", log.agent), ("branch", log.branch), *(("model", model_) for model_ in log.models)]
    folded = ((name, analyzer.keyword(value)) for name, value in found)
    return {(name, value) for name, value in folded if value}


def _memo_keys(archive: model.Archive, memo: model.Memo) -> Iterator[tuple[str, str]]:
    senders = {memo.sender, memo.sender_position or "", memo.role or ""}
    recipients = {*memo.to, *(state.position for state in memo.recipients)}
    for field, names in (("from", senders), ("to", recipients)):
        for name in names:
            position = archive.position_of.get(name, name)
            for form in {name, name.rpartition("/")[2], position, archive.label(position)}:
                yield field, form
                yield "with", form
    for name in {memo.thread, archive.threads[memo.thread].name, archive.thread_label(memo.thread)}:
        yield "thread", name
    if memo.kind == "memo":
        states = (memo.is_broadcast and "broadcast", is_unread_by_any(memo) and "unread")
        yield from (("is", state) for state in states if state)


def positions_of(texts: Iterable[str], analyzer: Analyzer, choose: Choose | None = None) -> dict[str, list[int]]:
    """The terms of several texts with their positions; no phrase reaches from one text into the next.

    With `choose` only the chosen terms: that takes a quarter of the time.
    """
    found: dict[str, list[int]] = defaultdict(list)
    start = 0
    for text in texts:
        words, parts = analyzer.terms(text)
        chosen = None if choose is None else choose({*words, *(part for part, _ in parts)})
        if chosen is None:
            for place, word in enumerate(words, start):
                found[word].append(place)
        elif chosen:
            for place in [place for place, word in enumerate(words) if word in chosen]:
                found[words[place]].append(start + place)
        for part, place in parts:
            if chosen is not None and part not in chosen:
                continue
            places = found[part]
            index = bisect_left(places, start + place)
            if places[index : index + 1] != [start + place]:  # a part may be a word at the same place
                places.insert(index, start + place)
        start += max(len(words) + 1, 2)
    return found


def terms_of(texts: Iterable[str], analyzer: Analyzer) -> set[str]:
    """The terms of several texts: where they are takes twice as long to find."""
    found: set[str] = set()
    for text in texts:
        words, parts = analyzer.terms(text)
        found.update(words, (part for part, _ in parts))
    return found


# Cuts what is searched of a document into lines with anchors, and these into stretches of a few kilobytes.


STRETCH = 8_000
"""Characters after which a stretch ends: a hit loads one of them, and the short texts that are loaded together."""


BodyLine: TypeAlias = tuple[int, str, str]
"""The number, anchor and text of a `PlainLine`: a block of a Markdown text, or a line of code, in one line."""


FindLines: TypeAlias = Callable[[str], list[BodyLine]]
"""Finds the lines of a text as `body_lines` does."""


_END = regex(r"\r\n?|\n")


class Stretch(Value):
    """Consecutive lines of a document, as `written_lines`; before them its texts have `start` words."""

    start: int
    text: str


def body_lines(body: str) -> list[BodyLine]:
    """The lines of a Markdown text in the order of the source."""
    found = sorted(plain_lines(body), key=itemgetter(0))
    return [(number, anchor, line) for number, anchor, words in found if (line := one_line(words))]


def lines_of(document: SearchDocument, find: FindLines = body_lines) -> Iterator[PlainLine]:
    """The lines of a document's body, without front matter, in the order in which its words are counted."""
    before = 0
    for text, prefix in document.parts:
        front = front_matter(text)
        body = text[len(front) :][:MOST_CHARS]
        first = before + front.count("\n")
        for number, anchor, line in find(body):
            yield PlainLine(first + number, prefix + anchor if anchor and prefix is not None else "", line)
        before += len(_END.findall(text)) + 2


def written_lines(lines: Iterable[PlainLine]) -> str:
    """Lines as one text: before a line its anchor and a tab, if the line before has another. For `read_lines`."""
    same = groupby(lines, itemgetter(1))
    return "\n".join(
        f"{anchor}\t" * bool(anchor or at) + "\n".join(line.text for line in found)
        for at, (anchor, found) in enumerate(same)
    )


def read_lines(text: str) -> list[tuple[str, str]]:
    """The anchor and the words of each line."""
    found: list[tuple[str, str]] = []
    anchor = ""
    for line in text.split("\n") if text else ():
        before, tab, words = line.rpartition("\t")
        anchor = before if tab else anchor
        found.append((anchor, words))
    return found


def stretches_of(document: SearchDocument, analyzer: Analyzer, find: FindLines) -> tuple[Stretch, ...]:
    """The stretches of a document; none if its body says nothing."""
    lines = [short for line in lines_of(document, find) for short in _cut(line)]
    if not lines:
        return ()
    chosen: list[list[PlainLine]] = [[]]
    size = 0
    for line in lines:
        if size > 0 and size + len(line.text) > STRETCH:
            chosen.append([])
            size = 0
        chosen[-1].append(line)
        size += len(line.text) + 1
    starts = _starts(document, chosen, analyzer) if len(chosen) > 1 else [0]
    return tuple(Stretch(start=start, text=written_lines(lines)) for start, lines in zip(starts, chosen, strict=True))


class TextPieces:
    """Puts the stretches of documents into pieces of a block, in order: several short texts in one."""

    def __init__(self) -> None:
        """Without texts."""
        self._pieces: list[list[bytes]] = []  # a text with a single character beyond Latin-1 takes twice as much
        self._left = 0

    def add(self, stretches: Sequence[Stretch]) -> list[int]:
        """Add a document; gives the piece of its first stretch, the place there, and how many words each one has.

        The others are the first ones of the pieces that follow; of the last one the words are not given.
        """
        if not stretches:
            return []
        for stretch in stretches:
            if len(stretches) > 1 or len(stretch.text) > self._left:
                self._pieces.append([])
                self._left = STRETCH
            self._pieces[-1].append(stretch.text.encode("utf-8", "surrogatepass"))
            self._left -= len(stretch.text)
        first = len(self._pieces) - len(stretches)
        starts = [stretch.start for stretch in stretches]
        return [first, len(self._pieces[first]) - 1, *map(sub, starts[1:], (0, *starts[1:]))]

    def give_up(self) -> Iterator[list[str]]:
        """Yield the pieces in their order, and keep none."""
        self._pieces.reverse()
        while self._pieces:
            yield [text.decode("utf-8", "surrogatepass") for text in self._pieces.pop()]


def _cut(line: PlainLine) -> Iterator[PlainLine]:
    """A line that is longer than a stretch, as several."""
    text = line.text
    while len(text) > STRETCH:
        end = text.rfind(" ", 0, STRETCH) + 1 or STRETCH
        yield line._replace(text=text[:end].rstrip())
        text = text[end:]
    yield line._replace(text=text)


def _starts(document: SearchDocument, chosen: list[list[PlainLine]], analyzer: Analyzer) -> list[int]:
    """How many words come before each of these groups of lines: positions count so (`positions_of`)."""
    *others, body = document.texts
    written = _END.split(body)
    start = sum(max(_count(text, analyzer) + 1, 2) for text in others)
    found: list[int] = []
    number = 0
    for before, lines in pairwise([[], *chosen]):
        first = lines[0].line
        if before and before[0].line == first:  # both are of one long line
            found.append(found[-1] + _count(" ".join(line.text for line in before), analyzer))
            continue
        start += _count("\n".join(written[number:first]), analyzer)
        number = first
        found.append(start)
    return found


def _count(text: str, analyzer: Analyzer) -> int:
    return len(analyzer.terms(text)[0])
