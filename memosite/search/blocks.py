"""Search blocks: what the browser searches, as small files that are loaded when a query needs them.

    cards by arrival ──► Block (4,096 artifacts, or 256 at the end) ──► its files, a pure function of its documents

A block's documents are numbered newest first, as hits are shown. Its files, below `search/<block>/`:

    block.js   how many documents, the dates they lie between, and with which term each shard begins
    d.js       dates; f.js  documents by kind, system and position
    t<n>.js    a shard of the terms, in order, each with its documents; p<n>.js  where they stand, for phrases
    r<n>.js    rows: what a hit shows; e<n>.js  the beginning of each text, for excerpts

Each file calls `memositeBlock(name, value)`: script tags work from `file://` and under the content security policy.
`docs/search.md` describes the files, `static/search.js` reads them.
"""

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from memosite.search.analyzer import Analyzer
from memosite.search.documents import Card, ReadText, SearchDocument, documents, positions_of
from memosite.texts import cut_line
from memosite.urls import SEARCH

FULL = 4_096
"""Artifacts of a full block: it changes only by edits."""

TAIL = 256
"""Artifacts of a block at the end: a new artifact changes one of these."""

SHARD_BYTES = 4_000
ROWS = 16
EXCERPTS = 8
EXCERPT_CHARS = 600

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
"""Digits of numbers: five bits each, the lowest first; the sixth bit says that more follow."""

_EPOCH = dt.datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Some artifacts that follow one another by arrival; the model that a block's files are made from."""

    name: str
    cards: tuple[Card, ...]


def plan_blocks(cards: Iterable[Card]) -> tuple[Block, ...]:
    """The blocks of an archive: full ones as long as there are artifacts enough, then small ones."""
    found: dict[tuple[int, str], list[Card]] = defaultdict(list)
    ordered = sorted(cards, key=lambda card: card.arrival)
    last = ordered[-1].arrival if ordered else 0
    for card in ordered:
        place = card.arrival - 1
        full = place // FULL
        is_full = (full + 1) * FULL <= last
        found[(full * FULL, f"f{full}") if is_full else (place // TAIL * TAIL, f"t{place // TAIL}")].append(card)
    return tuple(Block(name=name, cards=tuple(found[start, name])) for start, name in sorted(found))


def list_blocks(blocks: Sequence[Block]) -> tuple[str, bytes]:
    """The file that names all blocks; it changes when there is one more, not with every artifact."""
    return _file("blocks", {"v": 1, "blocks": [block.name for block in blocks]})


def render_block(block: Block, read_text: ReadText) -> list[tuple[str, bytes]]:
    """The files of a block, as paths and bytes; equal cards and texts give equal bytes."""
    built = _Builder()
    rows: list[list[object]] = []
    excerpts: list[str] = []
    for card in sorted(block.cards, key=lambda card: (card.date is None, -(card.date or 0), card.id, card.kind)):
        for document in documents(card, read_text):
            built.add(document)
            rows.append(_row(document))
            excerpts.append(cut_line(document.body[: 2 * EXCERPT_CHARS], EXCERPT_CHARS))
    files = list(_term_files(block.name, built))
    shards = [first for first, _ in files]
    head = {
        "documents": len(rows),
        "newest": max((date for date in built.dates), default=None),
        "oldest": min((date for date in built.dates), default=None),
        "tools": encode(built.tools),
        "terms": shards,
    }
    found = [_file(f"{block.name}/block", head), *(file for _, pair in files for file in pair)]
    found.append(_file(f"{block.name}/d", _dates(built.dates)))
    found.append(_file(f"{block.name}/f", _facets(built.facets)))
    found += [_file(f"{block.name}/r{n}", rows[n * ROWS : (n + 1) * ROWS]) for n in range(-(-len(rows) // ROWS))]
    count = -(-len(rows) // EXCERPTS)
    found += [_file(f"{block.name}/e{n}", excerpts[n * EXCERPTS : (n + 1) * EXCERPTS]) for n in range(count)]
    return found


def _file(name: str, value: object) -> tuple[str, bytes]:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"{SEARCH}{name}.js", f'memositeBlock("{name}",{text})\n'.encode("utf-8", "replace")


def encode(numbers: Iterable[int]) -> str:
    """Ascending numbers as their gaps."""
    before = -1
    found = []
    for number in numbers:
        found.append(digits(number - before - 1))
        before = number
    return "".join(found)


def digits(number: int) -> str:
    """A number from 0 on."""
    if number < 32:
        return DIGITS[number]
    found = ""
    while number >= 32:
        found += DIGITS[32 + number % 32]
        number //= 32
    return found + DIGITS[number]


@dataclass(slots=True)
class _Term:
    """The documents of a term so far, and where it stands in each."""

    last: int = -1
    documents: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Builder:
    """Collects terms, dates and facets, document by document in their order."""

    count: int = 0
    analyzer: Analyzer = field(default_factory=Analyzer)
    terms: dict[str, _Term] = field(default_factory=lambda: defaultdict(_Term))
    dates: list[int] = field(default_factory=list)
    tools: list[int] = field(default_factory=list)
    facets: dict[str, dict[str, list[int]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))

    def add(self, document: SearchDocument) -> None:
        """Add the next document."""
        number, card = self.count, document.card
        self.count += 1
        if card.date is not None:
            self.dates.append(card.date)
        if document.is_tools:
            self.tools.append(number)
        self._add_words("o" if document.is_tools else "t", document.texts, number)
        self._add_words("s", (document.subject,), number)
        self._add_words("n", document.names, number)
        for name, value in card.keys:
            self._note(f"k:{name}:{value}", number)
        self.facets["kind"][card.kind].append(number)
        self.facets["system"][card.system].append(number)
        for position in card.positions:
            self.facets["position"][position].append(number)

    def _add_words(self, family: str, texts: Iterable[str], number: int) -> None:
        for term, positions in positions_of(texts, self.analyzer).items():
            found = self._note(f"{family}:{term}", number)
            found.places.append(digits(len(positions)) + encode(positions))

    def _note(self, key: str, number: int) -> _Term:
        found = self.terms[key]
        found.documents.append(digits(number - found.last - 1))
        found.last = number
        return found


def _term_files(block: str, built: _Builder) -> Iterator[tuple[str, tuple[tuple[str, bytes], ...]]]:
    """Shards of the terms: for each the beginning that tells it from the one before, and its two files."""
    keys = sorted(built.terms)
    start, number, before = 0, 0, ""
    while start < len(keys):
        entries: list[str] = []
        places: list[str] = []
        size, last, end = 0, "", start
        while end < len(keys) and (size < SHARD_BYTES or end == start):
            term = built.terms[keys[end]]
            shared = _shared(last, keys[end])
            common = len(keys[end][:shared].encode("utf-16-le")) // 2
            entries.append(f"{digits(common)}{keys[end][shared:]} {''.join(term.documents)}")
            places.append("".join(term.places))
            size += len(entries[-1].encode())
            last = keys[end]
            end += 1
        files = (_file(f"{block}/t{number}", ",".join(entries)), _file(f"{block}/p{number}", ",".join(places)))
        first = keys[start]
        yield first[: _shared(before, first) + 1], files
        start, number, before = end, number + 1, last


def _shared(one: str, other: str) -> int:
    """How many characters two keys begin with in common."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _dates(dates: Sequence[int]) -> dict[str, object]:
    """Dates, newest first, as steps back from the newest; in seconds where all are whole ones."""
    scale = 1 if any(date % 1000 for date in dates) else 1000
    steps = (digits((before - date) // scale) for before, date in zip((*dates[:1], *dates), dates, strict=False))
    return {"scale": scale, "steps": "".join(steps)}


def _facets(facets: dict[str, dict[str, list[int]]]) -> dict[str, dict[str, str]]:
    return {
        name: {value: encode(facets[name][value]) for value in sorted(facets[name])} for name in sorted(facets)
    }  # fmt: skip


def _row(document: SearchDocument) -> list[object]:
    """What a hit shows: kind, id, turn, whether of tools, subject, which turn, who, date, file."""
    card = document.card
    date = ""
    if card.date is not None:
        moment = _EPOCH + dt.timedelta(milliseconds=card.date)
        date = moment.isoformat(timespec="milliseconds" if card.date % 1000 else "seconds") + "Z"
    tools = int(document.is_tools)
    return [card.kind, card.id, document.turn, tools, card.short_subject, document.label, card.who, date, document.file]
