"""Renders search blocks: the browser's search index, of which a query loads a little.

A piece is what a query loads at once: a shard of terms, a few hits, the dates. A file is consecutive pieces of a kind,
each a line that calls a function:

    memositeBlock("f0/t12@5ae1f09c","…")

So a script tag loads all pieces of a file (from disk), and a request for a range of bytes loads one (from a server).
The head of a block lists for each file its key, a digest of all it holds, and the length of each line. As lines name
the key, nobody takes a piece of one build for that of another.

    cards by arrival ──► block (4,096 artifacts, or 256 at the end) ─┬─► words, a pure function of its documents
                                                                     └─► states: what changes while its artifacts live

A block's artifacts and documents are numbered newest first, as hits are shown. Its files are below `search/<block>/`:

    head.js   how many artifacts and documents, between which dates, with which term each shard begins, where pieces are
    i<n>.js   dates
    t<n>.js   shards of the terms, in order, each with its documents; p<n>.js  where they stand, for phrases
    h<n>.js   hits: what is shown of each document; e<n>.js  their texts, for excerpts
    states/   fields and names: head.js names the words whose artifacts it numbers, t<n>.js and p<n>.js are as above,
              i<n>.js artifacts by kind, system and position, g<n>.js the group that each is shown with

`docs/search.md` describes them, `static/search.js` reads them.
"""

from array import array
from base64 import urlsafe_b64encode
from bisect import bisect_left
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from memosite.archive.urls import FOLDERS, SEARCH
from memosite.facts.json_text import to_json_line
from memosite.facts.values import Value
from memosite.search.documents import (
    Card,
    FindLines,
    SearchDocument,
    Stretch,
    TextOf,
    TextPieces,
    body_lines,
    documents,
    positions_of,
    stretches_of,
)
from memosite.search_language import Analyzer, moment_of
from memosite.store.values import digest_of

# Writes the numbers of search blocks: five bits a digit, the lowest first; ascending ones as gaps or as bits.


DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
"""Digits of numbers: five bits each, the lowest first; the sixth bit says that more follow."""


def gaps(numbers: Sequence[int]) -> bytes:
    """Ascending numbers as their gaps."""
    before, found = -1, []  # most are few: a loop takes half of the time of a chain of iterators
    for number in numbers:
        found.append(_GAPS[number - before])
        before = number
    return b"".join(found)


def pack(numbers: Sequence[int]) -> str:
    """Ascending numbers in the shorter of two forms: their gaps, or `!` and a bit for each number, six a digit."""
    if len(numbers) == 1:
        return digits(numbers[0])
    count = numbers[-1] // 6 + 1 if numbers else 0
    written = gaps(numbers).decode() if len(numbers) <= count + 1 else ""
    if 0 < len(written) <= count + 1 or not numbers:
        return written
    bits = bytearray(b"0") * (numbers[-1] + 1)
    for number in numbers:
        bits[number] = _ONE
    whole = int(bits[::-1], 2).to_bytes(-(-count // 4) * 3, "big")
    return "!" + urlsafe_b64encode(whole)[::-1][:count].decode()  # whose digits are `DIGITS`, the highest first


def with_places(words: Mapping[str, Sequence[int]]) -> dict[str, bytes]:
    """Words with the positions of each: how many, then their gaps."""
    return {
        word: _SINGLE[places[0]] if len(places) == 1 else _COUNTS[len(places)] + gaps(places)
        for word, places in words.items()
    }


def digits(number: int) -> str:
    """A number from 0 on."""
    if number < 32:
        return DIGITS[number]
    found = ""
    while number >= 32:
        found += DIGITS[32 + number % 32]
        number //= 32
    return found + DIGITS[number]


class _Codes(dict[int, bytes]):
    """Memoizes the digits of small numbers; nearly all of the millions written are small."""

    def __init__(self, written: Callable[[int], str]) -> None:
        super().__init__()
        self._written = written

    def __missing__(self, number: int) -> bytes:
        found = self._written(number).encode()
        if number < _FEW:
            self[number] = found
        return found


_FEW = 10_000


_ONE = ord("1")


_GAPS = _Codes(lambda difference: digits(difference - 1))


_COUNTS = _Codes(digits)


_SINGLE = _Codes(lambda place: digits(1) + digits(place))


# Joins the pieces of a search block into few files: a host counts files, and a query shall load little.


FILE_BYTES: Mapping[str, int] = {"i": 64_000, "g": 64_000, "t": 64_000, "h": 96_000, "e": 384_000, "p": 256_000}
"""After how many bytes a file of a kind ends: larger where fewer queries ask, as all of it comes from a plain disk."""


Listed = dict[str, list[str]]
"""For each kind the files: key, then the lengths of lines."""


_KEY_BYTES = 4


def file_of(name: str, value: object) -> tuple[str, bytes]:
    """A file that is a single call."""
    return f"{SEARCH}{name}.js", _call(name, to_json_line(value))


def join_pieces(block: str, kinds: Mapping[str, Iterable[object]]) -> tuple[Listed, list[tuple[str, bytes]]]:
    """What the head lists, and the files, of the pieces of all kinds of a block."""
    listed: Listed = {}
    files: list[tuple[str, bytes]] = []
    for kind, pieces in kinds.items():
        number = 0
        listed[kind] = []
        for joined in _cut(map(to_json_line, pieces), FILE_BYTES[kind]):
            key = blake2b(b"\n".join(joined), digest_size=_KEY_BYTES).hexdigest()
            calls = [_call(f"{block}/{kind}{at}@{key}", piece) for at, piece in enumerate(joined, number)]
            files.append((f"{SEARCH}{block}/{kind}{len(listed[kind])}.js", b"".join(calls)))
            listed[kind].append(key + "".join(digits(len(call)) for call in calls))
            number += len(joined)
    return listed, files


def _cut(pieces: Iterable[bytes], most: int) -> Iterator[list[bytes]]:
    joined: list[bytes] = []
    size = 0
    for piece in pieces:
        if joined and size + len(piece) > most:
            yield joined
            joined, size = [], 0
        joined.append(piece)
        size += len(piece)
    if joined:
        yield joined


def _call(name: str, value: bytes) -> bytes:
    return f'memositeBlock("{name}",'.encode() + value + b")\n"


T = TypeVar("T")


FULL = 4_096
"""Artifacts of a full block: it changes only by edits."""


TAIL = 256
"""Artifacts of a block at the end: a new artifact changes one of these."""


class Sizes(NamedTuple):
    """How many artifacts blocks have, full ones and those at the end, and the letters of their names."""

    full: int
    tail: int
    letters: str


LOGS = Sizes(256, 16, "gs")
"""A session log takes as much as a dozen memos."""


FULL_SHARD = 7_000


TAIL_SHARD = 4_000
"""Bytes after which a shard of terms ends; there are more small blocks than full ones, and each is asked."""


MOST_BYTES = 16 * 2**20
"""What `Analyses` keep, as far as they count it: about three small blocks."""


_WORD_BYTES = 110


_TEXT_TIMES = 2  # with the places of its words


_DOCUMENT_BYTES = 1_000
"""What a word and a document take besides their texts."""


PACKED = 1_000
"""Documents after which what is collected of frequent terms is packed: as numbers and lists it takes ten times more."""


_FREQUENT = 32


HITS = 8
"""Hits that are loaded together."""


GROUPS = 256
"""Artifacts whose groups are loaded together."""


_GROUP_DIGITS = 6


VERSION = 4
"""Of how blocks are written and artifacts numbered; a page that knows another version reads none."""


class SearchBlock(Value):
    """The words of consecutive artifacts by arrival, in the order of hits: all that does not change while they live."""

    name: str
    cards: tuple[Card, ...]

    @property
    def key(self) -> str:
        """The name of these words: states of the same name have the same artifacts under the same numbers."""
        return digest_of((VERSION, self.cards))[:16]


class ItemState(Value):
    """What changes in the life of an artifact: its mailbox, who waits, its thread. As `Card` has it."""

    facets: tuple[tuple[str, str], ...]
    keys: tuple[tuple[str, str], ...]
    names: tuple[str, ...]
    group: str


class StateBlock(Value):
    """The states of the artifacts of a block, in the order of its `words`, which are named by their key."""

    name: str
    words: str
    states: tuple[ItemState, ...]


def make_block(name: str, cards: Iterable[Card]) -> tuple[SearchBlock, StateBlock]:
    """A block of these artifacts: what becomes of them, not of what they say, leaves the first part equal."""
    ordered = sorted(cards, key=lambda card: (card.date is None, -(card.date or 0), card.id, card.kind))
    words = SearchBlock(name=name, cards=tuple(card.words for card in ordered))
    return words, StateBlock(name=name, words=words.key, states=tuple(map(_state, ordered)))


def _state(card: Card) -> ItemState:
    facets = ("kind", card.kind), ("system", card.system), *(("position", position) for position in card.positions)
    return ItemState(facets=facets, keys=card.keys, names=card.names, group=card.group or card.key)


def cut_blocks(
    items: Iterable[T], arrival: Callable[[T], int], sizes: Sizes | None = None
) -> list[tuple[str, list[T]]]:
    """Group items into blocks by arrival: full blocks as far as possible, then small ones.

    Names are the size (`f` full, `t` small) and a number: `f0` begins with the first artifact, `t16` with the 4,097th.
    """
    full, tail, letters = sizes or Sizes(FULL, TAIL, "ft")
    ordered = sorted(items, key=arrival)
    places = [arrival(item) - 1 for item in ordered]
    found: list[tuple[str, list[T]]] = []
    first = 0
    while first < len(ordered):
        place = places[first]
        is_full = (place // full + 1) * full <= places[-1] + 1
        number, size = (place // full, full) if is_full else (place // tail, tail)
        after = bisect_left(places, (number + 1) * size, first)
        found.append((f"{letters[0] if is_full else letters[1]}{number}", ordered[first:after]))
        first = after
    return found


def list_blocks(names: Sequence[str]) -> tuple[str, bytes]:
    """The file that lists all blocks; it changes when a block is added, not with every artifact."""
    return file_of("blocks", {"v": VERSION, "blocks": list(names)})


class BlockHit(Value):
    """What a block holds of one document, independent of its number there.

    `words` are those of each family, each with its positions, as digits; `files` what `file:` finds it by.
    """

    is_tools: bool
    words: tuple[tuple[str, Mapping[str, bytes]], ...]
    files: tuple[tuple[str, str], ...]
    row: list[object]
    stretches: tuple[Stretch, ...]


class Analyses:
    """Memoizes the analysis of artifacts in small blocks, which are rendered again with each arrival.

    At most `MOST_BYTES` are kept; the least recently used are dropped first.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._known: OrderedDict[Card, tuple[tuple[BlockHit, ...], int]] = OrderedDict()
        self._bytes = 0

    def get(self, card: Card, find: Callable[[Card], Iterable[BlockHit]]) -> tuple[BlockHit, ...]:
        """The memoized analysis of a card's documents; `find` computes a missing one."""
        found = self.peek(card)
        if found is None:
            found = tuple(find(card))
            self.add(card, found)
        else:
            self._known.move_to_end(card)
        return found

    def peek(self, card: Card) -> tuple[BlockHit, ...] | None:
        """The memoized analysis of a card's documents; None if there is none."""
        return self._known.get(card, (None, 0))[0]

    def add(self, card: Card, found: tuple[BlockHit, ...]) -> None:
        """Keep an analysis that is not known yet."""
        size = _bytes_of(card, found)
        self._known[card] = found, size
        self._bytes += size
        while self._bytes > MOST_BYTES:
            self._bytes -= self._known.popitem(last=False)[1][1]


def _bytes_of(card: Card, found: Iterable[BlockHit]) -> int:
    said = sum(map(_length, (getattr(card, name) for name in Card.__struct_fields__)))
    return said + sum(
        _DOCUMENT_BYTES
        + _TEXT_TIMES * sum(len(stretch.text) for stretch in hit.stretches)
        + sum(map(_length, hit.row))
        + sum(_WORD_BYTES * len(words) for _, words in hit.words)
        for hit in found
    )


def _length(value: object) -> int:
    """The characters of a text, and of the texts in a list of them."""
    if isinstance(value, str):
        return len(value)
    return sum(map(_length, value)) if isinstance(value, tuple | list) else 0


def render_block(
    block: SearchBlock, text_of: TextOf, analyses: Analyses | None = None, find_lines: FindLines = body_lines
) -> list[tuple[str, bytes]]:
    """The files of a block's words, as paths and bytes; equal cards and texts give equal bytes.

    `analyses` memoize small blocks for the next time they are rendered. `find_lines` may know the lines of texts.
    """
    analyzer = Analyzer()
    find = partial(_find, text_of=text_of, analyzer=analyzer, find_lines=find_lines)
    get = partial(analyses.get, find=find) if analyses is not None and len(block.cards) <= TAIL else find
    built = _Builder()
    hits: list[list[object]] = []
    texts = TextPieces()
    for card in block.cards:
        built.begin(card)
        for hit in get(card):
            built.add_hit(hit)
            hits.append(["".join(map(digits, texts.add(hit.stretches))), *hit.row])
    kinds: dict[str, Iterable[object]] = {
        "i": (_dates(built.dates),),
        "h": (hits[first : first + HITS] for first in range(0, len(hits), HITS)),
        "e": texts.give_up(),
    }
    head = {
        "key": block.key,
        "artifacts": built.artifacts,
        "documents": len(hits),
        "more": built.more,
        "newest": built.dates[0] if built.dates else None,
        "oldest": built.dates[-1] if built.dates else None,
        "years": _years(built.dates),
        "tools": pack(built.tools),
    }
    return _files(block.name, head, built, kinds, is_full=len(block.cards) > TAIL)


def render_states(block: StateBlock) -> list[tuple[str, bytes]]:
    """The files of a block's states, as paths and bytes."""
    analyzer, built = Analyzer(), _Terms()
    facets: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, state in enumerate(block.states):
        for name, value in state.facets:
            facets[name][value].append(number)
        built.add(number, "k", ((f"{name}:{value}", b"") for name, value in state.keys))
        built.add(number, "n", with_places(positions_of(state.names, analyzer)).items())
    groups = "".join(_code(state.group) for state in block.states)
    size = GROUPS * _GROUP_DIGITS
    kinds: dict[str, Iterable[object]] = {
        "i": ({name: {value: pack(some[value]) for value in sorted(some)} for name, some in sorted(facets.items())},),
        "g": (groups[first : first + size] for first in range(0, len(groups), size)),
    }
    return _files(f"{block.name}/states", {"words": block.words}, built, kinds, is_full=len(block.states) > TAIL)


def _code(group: str) -> str:
    """A short name of a group; the page only asks whether those of two hits are the same."""
    digest = blake2b(group.encode("utf-8", "surrogatepass"), digest_size=_GROUP_DIGITS).digest()
    return urlsafe_b64encode(digest)[:_GROUP_DIGITS].decode()


def _files(
    name: str, head: Mapping[str, object], built: "_Terms", kinds: Mapping[str, Iterable[object]], *, is_full: bool
) -> list[tuple[str, bytes]]:
    """The head with this name, and the files of these pieces and of terms."""
    shards = deque(_shards(built, FULL_SHARD if is_full else TAIL_SHARD))
    first_terms = ",".join(shard.first for shard in shards)
    of_terms = {"t": (shard.terms for shard in shards), "p": (shards.popleft().places for _ in range(len(shards)))}
    listed, files = join_pieces(name, {**kinds, **of_terms})
    return [file_of(f"{name}/head", {**head, "terms": first_terms, "files": listed}), *files]


def _find(card: Card, text_of: TextOf, analyzer: Analyzer, find_lines: FindLines) -> Iterator[BlockHit]:
    for document in documents(card, text_of):
        spoken = "o" if document.is_tools else "t"
        families = (spoken, document.texts), ("s", (document.subject,))
        yield BlockHit(
            is_tools=document.is_tools,
            words=tuple((family, with_places(positions_of(texts, analyzer))) for family, texts in families),
            files=document.files,
            row=_row(document),
            stretches=stretches_of(document, analyzer, find_lines),
        )


_Term = list[Any]
"""The documents of a term since it was packed last, each followed by where it stands there, as digits.

One list of both: with an object and two of them for each term a block took a fifth longer.
"""


class _Terms:
    """Collects terms of what is numbered, in ascending order."""

    def __init__(self) -> None:
        self.terms: dict[str, dict[str, _Term]] = defaultdict(lambda: defaultdict(list))
        self._packed: dict[str, tuple[array[int], bytearray]] = defaultdict(lambda: (array("I"), bytearray()))

    def add(self, number: int, family: str, words: Iterable[tuple[str, bytes]]) -> None:
        """Add words of a family, each with where it stands there."""
        terms = self.terms[family]
        for word, places in words:
            terms[word].extend((number, places))

    def pack_frequent(self) -> None:
        """Pack the terms that many have."""
        for key, term in self.named_terms():
            if len(term) > 2 * _FREQUENT:
                self._pack(key, term)

    def _pack(self, key: str, term: _Term) -> None:
        numbers, places = self._packed[key]
        numbers.extend(term[::2])
        places += b"".join(term[1::2])
        term.clear()

    def named_terms(self) -> Iterator[tuple[str, _Term]]:
        """The terms of all families under the names they have in shards."""
        return ((f"{family}:{word}", term) for family, terms in self.terms.items() for word, term in terms.items())

    def postings(self, key: str, term: _Term) -> tuple[Sequence[int], bytes | bytearray]:
        """The numbers of all that have a term, and where it stands in each; it is not kept."""
        if key in self._packed:
            self._pack(key, term)
            return self._packed.pop(key)
        return term[::2], b"".join(term[1::2])


class _Builder(_Terms):
    """Collects terms and dates, artifact by artifact and document by document in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.documents = 0
        self.dates: list[int] = []
        self.tools: list[int] = []
        self._sizes: list[int] = []

    @property
    def artifacts(self) -> int:
        """How many there are."""
        return len(self._sizes)

    def begin(self, card: Card) -> None:
        """Begin the next artifact; its documents follow."""
        if card.date is not None:
            self.dates.append(card.date)
        self._sizes.append(0)

    def add_hit(self, found: BlockHit) -> None:
        """Add the next document of the artifact."""
        number = self.documents
        self.documents += 1
        self._sizes[-1] += 1
        if found.is_tools:
            self.tools.append(number)
        for family, words in found.words:
            self.add(number, family, words.items())
        self.add(number, "k", ((f"{name}:{value}", b"") for name, value in found.files))
        if self.documents % PACKED == 0:
            self.pack_frequent()

    @property
    def more(self) -> str:
        """The artifacts with several documents: for each the gap to the one before, and the documents beyond one."""
        found, before = "", -1
        for number, size in enumerate(self._sizes):
            if size > 1:
                found += digits(number - before - 1) + digits(size - 1)
                before = number
        return found


class _Shard(Value):
    """Consecutive terms of a family. `first` is the shortest beginning that differs from the term before."""

    first: str
    terms: str
    places: str


def _shards(built: _Terms, limit: int) -> Iterator[_Shard]:
    """The terms in shards; one ends with its family, so that a memo that is read or moved changes few of the states."""
    before = ""
    for _, family in groupby(sorted(built.named_terms(), key=itemgetter(0)), key=lambda entry: entry[0][0]):
        terms = list(family)
        start = 0
        while start < len(terms):
            entries: list[str] = []
            stand: list[str] = []
            size, last, end = 0, "", start
            while end < len(terms) and (size < limit or end == start):
                key, term = terms[end]
                shared = _shared(last, key)
                common = shared if key.isascii() else len(key[:shared].encode("utf-16-le")) // 2
                numbers, places = built.postings(key, term)
                entries.append(f"{digits(common)}{key[shared:]} {pack(numbers)}")
                stand.append(places.decode())
                size += len(entries[-1].encode())
                last = key
                end += 1
            first = terms[start][0]
            yield _Shard(first=first[: _shared(before, first) + 1], terms=",".join(entries), places=",".join(stand))
            start, before = end, last


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


def _years(dates: Sequence[int]) -> list[list[object]]:
    """How many artifacts there are of each year in UTC, the newest first."""
    counts = Counter(f"{moment_of(date).year:04d}" for date in dates)
    return [[year, counts[year]] for year in sorted(counts, reverse=True)]


def _row(document: SearchDocument) -> list[object]:
    """What a hit shows: kind, id, turn, whether of tools, subject, which turn, who, day, file ("" for the usual)."""
    card = document.card
    usual = f"{FOLDERS.get(card.kind, '')}/{card.id}/index.html" + (f"#t{document.turn}" if document.turn else "")
    file = "" if document.file == usual else document.file
    row = [card.kind, card.id, document.turn, int(document.is_tools), card.short_subject, document.label, card.who]
    return [*row, card.day, file]
