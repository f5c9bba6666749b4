"""What can be cited: the passages of bodies, with their place in the sources and its hash (SPEC 7, docs/citations.md).

    artifact ─► SourceBody ─┬─► Markdown: the spans of its passages
                            └─► transcript: what comes before the first turn; each turn, then the passages of its blocks
    spans ─► Passage: file, bytes, text, SHA-256

The text of a body is a file itself, its end behind front matter, an entry of a list, or a string of its JSON. What
memosite has made of a file is in none of these ways in it: such a text is the `body` of the artifact's `index.json`.

A page may hold several texts, which are told apart by the beginnings of their anchors. Anchors of headings hold no ".",
so no anchor of one text is that of another.
"""

import datetime as dt
import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import accumulate, islice
from typing import Any, Final, Literal, TypeAlias

from memosite.archive.model import Artifact, Document, Memo, Record, Transcript
from memosite.facts.json_text import clean_text, read_json_text
from memosite.facts.names import ENVELOPE_SUFFIX
from memosite.facts.parsed import FileFacts, Ref, Text
from memosite.facts.patterns import regex
from memosite.facts.values import Value, replace
from memosite.formats.sessions.kept import read_conversation
from memosite.formats.turns import REDACTED, Turn, TurnBlock, TurnList, blocks, parse_formerly
from memosite.pages import PAGE_CHARS

# The beginnings of anchors that tell apart the texts of one page: the parts of a transcript, the summary of a memo.


PREAMBLE: Final = "preamble-"
"""Of a transcript, what comes before the first turn."""


OUTPUT: Final = "output"
"""The part of a session log that its tools put out."""


SUMMARY: Final = "summary."
"""Of a memo with a body file, the text in its envelope."""


def block_prefix(turn: str, number: int) -> str:
    """What is put before the anchors of the passages of a turn's block, counted from 0; `turn` is the turn's anchor."""
    return f"{turn}.{number + 1}-" if number else f"{turn}-"


# Finds the bodies of an artifact that its page shows with anchors, and where their texts are in its files.


MADE: Final = "index.json#/body"
"""The part in which a text is that memosite has made of its file."""


TextOf: TypeAlias = Callable[[str], str]
"""Gives the text, or the file, of a SHA-256."""


_JSON: Final = (ENVELOPE_SUFFIX, ".json")


_FIRST: Final = ("body", "x.memo.body")  # fields that are looked at before others, which may say the same


class SourceBody(Value, dict=True):
    """A text with anchors, and where it is: `source` and `path` name its file, `part` what of it (see `Passage`).

    `before` are the bytes of that part that come before the text, `lines_before` its lines. `prefix` is what its
    anchors begin with. `started` is when a conversation did, by which its stamps are read; `is_misread` if its turns
    are those that memosite told apart formerly. Of a session log `turns` gives the turns as data, if
    they are not `known`; what its tools put out is a body of its own, whose part is `OUTPUT`.
    """

    ref: Ref
    text: str
    source: str
    path: str
    part: str = ""
    before: int = 0
    lines_before: int = 0
    prefix: str = ""
    is_conversation: bool = False
    started: dt.datetime | None = None
    is_misread: bool = False
    is_redacted: bool = False
    turns: Callable[[], str] | None = None
    known: TurnList | None = None

    @cached_property
    def conversation(self) -> TurnList:
        """Its turns, if it is a conversation; a manuscript may cite each of them."""
        if self.known:
            return self.known
        if self.is_misread:
            return parse_formerly(self.text)
        return read_conversation(self.turns() if self.turns else self.text, started=self.started)


def bodies_of(artifact: Artifact, text_of: TextOf) -> Iterator[SourceBody]:
    """The bodies of an artifact in the order of its page; none of what is shown verbatim, or withheld."""
    redacted = artifact.is_redacted
    is_conversation = isinstance(artifact, Transcript)
    started = artifact.started if isinstance(artifact, Transcript) else None
    own = artifact.copies[0].body_path if isinstance(artifact, Record) else None  # may be a file of its own
    for text, file, is_whole, prefix in _texts(artifact):
        if text.log:
            yield from log_bodies(artifact.ref, text, file, text_of)
            continue
        written = text_of(text.sha256)
        part, ahead = ("", "") if is_whole else _place(artifact, written, file, text_of)
        yield SourceBody(
            ref=artifact.ref,
            text=written.removeprefix("\ufeff"),
            source=file.source,
            path=own or file.path,
            part=part,
            before=len(ahead.encode()),
            lines_before=ahead.count("\n"),
            prefix=prefix,
            is_conversation=is_conversation,
            started=started,
            is_redacted=redacted,
        )


def log_bodies(ref: Ref, text: Text, file: FileFacts, text_of: TextOf) -> Iterator[SourceBody]:
    """The bodies of a session log: what was said in it, and what its tools put out."""
    words = SourceBody(
        ref=ref,
        text=text_of(text.sha256),
        source=file.source,
        path=file.path,
        is_conversation=True,
        is_redacted=file.is_redacted,
        turns=partial(text_of, text.log),
    )
    yield words
    if text.outputs:
        yield replace(words, text=text_of(text.outputs), part=OUTPUT, is_conversation=False)


def texts_of(artifact: Artifact, text_of: TextOf) -> Iterator[str]:
    """The texts of these bodies, as they were written: no file is looked into for where they are."""
    return map(text_of, digests_of(artifact))


def digests_of(artifact: Artifact) -> Iterator[str]:
    """The digests of these texts."""
    return (one for text, _ in prefixed_texts(artifact) for one in (text.sha256, text.outputs) if one)


def prefixed_texts(artifact: Artifact) -> Iterator[tuple[Text, str]]:
    """The facts of these texts, but of those of tools, each with what its anchors begin with."""
    return ((text, prefix) for text, _, _, prefix in _texts(artifact))


def _texts(artifact: Artifact) -> Iterator[tuple[Text, FileFacts, bool, str]]:
    """The texts with anchors: each with its file, whether it is all of that, and the prefix of its anchors."""
    found = _texts_of_page(artifact)
    return (text for text in found if text[0].chars <= PAGE_CHARS or isinstance(artifact, Transcript))


def _texts_of_page(artifact: Artifact) -> Iterator[tuple[Text, FileFacts, bool, str]]:
    if artifact.withheld:
        return
    if isinstance(artifact, Document):
        yield artifact.head.text, artifact.head.file, False, ""
    elif isinstance(artifact, Record):
        if artifact.card.text:
            yield artifact.card.text, artifact.card.file, bool(artifact.copies[0].body_path), ""
    elif isinstance(artifact, Memo | Transcript):
        envelope, body = artifact.envelope, artifact.variants[0].body
        is_read = envelope.shape != "broken"
        if envelope.body and is_read and not (body and isinstance(artifact, Transcript)):
            yield envelope.body, envelope.file, envelope.log is not None, SUMMARY if body else ""
        if body and (is_read or isinstance(artifact, Memo)):
            yield body.text, body.file, True, ""


def _place(artifact: Artifact, text: str, file: FileFacts, text_of: TextOf) -> tuple[str, str]:
    """In which part of its file a text is, and what of that comes before it."""
    original = clean_text(text_of(file.sha256)).lstrip("\ufeff")
    if file.name.lower().endswith(_JSON):
        return _field(original, text)
    begin = len(original) - len(text) if original.endswith(text) else -1
    line = artifact.card.line if isinstance(artifact, Record) else None
    if line is not None:
        begin = _entry(original, text, line)
    return ("", original[:begin]) if begin >= 0 else (MADE, "")


def _field(original: str, text: str) -> tuple[str, str]:
    """Of an object's own strings, the one that a text is but for white space around it, and what comes before it."""
    fields: Any = read_json_text(original)[0]
    for name in (*_FIRST, *fields) if isinstance(fields, dict) else ():
        value = clean_text(fields[name]) if isinstance(fields.get(name), str) else ""
        if value.strip() == text.strip() and text in value:
            value = value.removeprefix("\ufeff")
            pointer = name.replace("~", "~0").replace("/", "~1")
            return f"/{pointer}", value[: value.find(text.removeprefix("\ufeff"))]
    return MADE, ""


def _entry(original: str, text: str, line: int) -> int:
    """Where in a list an entry's text begins, on this line, counted from 1; -1 if it is not there as it is."""
    begin = 0
    for _ in range(line - 1):
        begin = original.find("\n", begin) + 1
    end = original.find("\n", begin)
    found = original.find(text, begin)
    return found if end < 0 or found <= end else -1


# Cuts bodies into passages: turns, headings, paragraphs, items, code, with their source and its hash (SPEC 7).


PassageKind: TypeAlias = Literal["turn", "heading", "paragraph", "item", "code"]


_DEPTH = 50
"""Among so many passages before a character, the one that it is in is looked for: lists hold lists."""


_TURN = regex(r"t(?:(?P<ordinal>[1-9]\d*)(?P<within>[.-].*)?|-[0-9a-f]{8}(?:-\d+)?)", re.ASCII | re.DOTALL)


class Passage(Value):
    """What can be cited of an artifact: `anchor` names it on the artifact's page.

    Its text is UTF-8 with LF, from the byte `begin` on and before the byte `end` of a part of its file: of all of it
    (`part` is ""), of a string in its JSON (then `part` is a JSON pointer), or of what memosite has made of it
    (`MADE`). `sha256` is of these bytes; "" of one that cannot be cited, since it is empty or holds a redaction.
    `also` is the second anchor of a turn, by its hash.
    """

    ref: Ref
    anchor: str
    kind: PassageKind
    source: str
    path: str
    part: str
    begin: int
    end: int
    text: str
    sha256: str
    also: str = ""


class Around(Value):
    """Where a character of a body is: the anchor that leads to it, and the characters of its block.

    The block is the passage; of code, and of what is in no passage, as tables are, it is the line.
    """

    anchor: str
    begin: int
    end: int


class _Place(Value):
    """A passage of one text, in characters; `sha256` is given where that of its text is not that of its source."""

    anchor: str
    kind: PassageKind
    begin: int
    end: int
    also: str = ""
    sha256: str | None = None


def passages_of(artifact: Artifact, text_of: TextOf) -> Iterator[Passage]:
    """The passages of an artifact's bodies, in order: a turn, then those within it. Takes linear time."""
    return passages_in(bodies_of(artifact, text_of))


def passages_in(bodies: Iterable[SourceBody]) -> Iterator[Passage]:
    """The same of bodies, wherever they are from: an archive, a former version, a published site."""
    for body in bodies:
        yield from _passages(body, _places(body))


def find_passage(artifact: Artifact, anchor: str, text_of: TextOf) -> Passage | None:
    """The passage of this anchor; of a transcript, only the turn that it names is read."""
    return find_in(bodies_of(artifact, text_of), anchor)


def find_in(bodies: Iterable[SourceBody], anchor: str) -> Passage | None:
    """The same of bodies, wherever they are from."""
    for body in bodies:
        if anchor.startswith(body.prefix):
            found = [place for place in _places(body, anchor) if anchor in (place.anchor, place.also)]
            for passage in _passages(body, found[:1]):
                return passage
    return None


def around_in(body: SourceBody, chars: Sequence[int]) -> list[Around | None]:
    """Where each of these characters is; None where no anchor leads. Of a conversation, only their turns are cut."""
    if not body.is_conversation:
        places = _Places(_places(body))
        return [places.around(body.text, char) for char in chars]
    conversation = body.conversation
    starts = _starts(body.text, 0)
    begins = [min(starts[turn.line], len(body.text)) for turn in conversation.turns]
    known: dict[int, _Places] = {}
    found = []
    for char in chars:
        number = bisect_right(begins, char) - 1
        if number not in known:
            within = (
                _turn_places(conversation.turns[number], begins[number])
                if number >= 0
                else _of_conversation(body, PREAMBLE)
            )
            known[number] = _Places(within)
        found.append(known[number].around(body.text, char))
    return found


def anchors_at(text: str, chars: Iterable[int], *, prefix: str) -> list[str]:
    """The anchor of the passage that begins last before each of these characters of a Markdown text; "" if none."""
    places = list(_of_markdown(text, prefix))
    begins = [place.begin for place in places]
    return [places[number - 1].anchor if number else "" for number in (bisect_right(begins, at) for at in chars)]


def begins_of(text: str, conversation: TurnList) -> list[int]:
    """Where each turn of a conversation begins, in its text."""
    starts = _starts(text, 0)
    return [starts[turn.line] for turn in conversation.turns]


def turns_at(text: str, conversation: TurnList, chars: Iterable[int]) -> list[Turn | None]:
    """The turn of a conversation, given with its text, that has each of these characters; None where none has it."""
    turns, begins = conversation.turns, begins_of(text, conversation)
    found = [(bisect_right(begins, at) - 1, at) for at in chars]
    return [turns[n] if n >= 0 and at < begins[n] + len(turns[n].text) else None for n, at in found]


def _passages(body: SourceBody, places: Iterable[_Place]) -> Iterator[Passage]:
    count = _Counter(body.text)
    for place in places:
        text = body.text[place.begin : place.end]
        data = text.encode()
        begin = body.before + count.bytes_before(place.begin)
        is_citable = (text or place.sha256) and not (body.is_redacted and REDACTED.search(text)) and place.sha256 != ""
        yield Passage(
            ref=body.ref,
            anchor=place.anchor,
            kind=place.kind,
            source=body.source,
            path=body.path,
            part=body.part,
            begin=begin,
            end=begin + len(data),
            text=text,
            sha256=(place.sha256 or hashlib.sha256(data).hexdigest()) if is_citable else "",
            also=place.also if is_citable else "",
        )


class _Counter:
    """Counts the bytes before a character, from the one that was asked for last: passages are asked for in order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_ascii = text.isascii()
        self._char = self._byte = 0

    def bytes_before(self, char: int) -> int:
        if self._is_ascii:
            return char
        first, last = sorted((self._char, char))
        size = len(self._text[first:last].encode())
        self._byte += size if char > self._char else -size
        self._char = char
        return self._byte


class _Places:
    """The passages of a text, to be found by their characters."""

    def __init__(self, places: Iterable[_Place]) -> None:
        self._places = sorted(places, key=lambda place: (place.begin, -place.end))
        self._begins = [place.begin for place in self._places]

    def around(self, text: str, char: int) -> Around | None:
        """The innermost passage with a character, else the last one before it."""
        after = bisect_right(self._begins, char)
        nearest = self._places[max(0, after - _DEPTH) : after]
        if not nearest:
            return None
        inner = next((place for place in reversed(nearest) if char < place.end and place.kind != "turn"), None)
        if inner is not None and inner.kind != "code":
            return Around(anchor=inner.anchor, begin=inner.begin, end=inner.end)
        line = text.rfind("\n", 0, char) + 1
        end = text.find("\n", char)
        return Around(anchor=(inner or nearest[-1]).anchor, begin=line, end=end if end >= 0 else len(text))


def _places(body: SourceBody, anchor: str = "") -> Iterator[_Place]:
    """The passages of a body; if an anchor is given, at least the one that has it."""
    if body.part == OUTPUT:
        return _of_outputs(body)
    return _of_conversation(body, anchor) if body.is_conversation else _of_markdown(body.text, body.prefix)


def _of_outputs(body: SourceBody) -> Iterator[_Place]:
    """What each tool put out; it can be cited if all of it is kept."""
    begin = 1
    for turn in body.conversation.turns:
        for anchor, part in turn.parts:
            if part.output or part.digest:
                end = begin + len(part.output)
                sha256 = "" if part.is_cut else part.digest or None
                yield _Place(anchor=anchor, kind="code", begin=begin, end=end, sha256=sha256)
                begin = end + 2


def _of_markdown(text: str, prefix: str) -> Iterator[_Place]:
    from memosite.markdown.plain import front_matter  # noqa: PLC0415 - a turn is found without reading Markdown

    begin = len(front_matter(text))
    return _cut_out(text[begin:], prefix, lambda char: begin + char)


def _cut_out(text: str, prefix: str, place: Callable[[int], int]) -> Iterator[_Place]:
    """Passages of a text as those of the one that it is cut from; `place` tells where a character is in that."""
    from memosite.markdown.plain import read_spans  # noqa: PLC0415 - as above

    for span in sorted(read_spans(text), key=lambda span: span.begin):
        yield _Place(anchor=prefix + span.anchor, kind=span.kind, begin=place(span.begin), end=place(span.end))


def _of_conversation(body: SourceBody, anchor: str) -> Iterator[_Place]:
    text, found = body.text, body.conversation
    if not found.turns:
        return
    if not anchor or anchor.startswith(PREAMBLE):
        yield from _cut_out(found.preamble[:PAGE_CHARS], PREAMBLE, lambda char: char)
    named = _TURN.fullmatch(anchor)
    if anchor and not named:
        return
    starts = _starts(text, 0)
    ordinal = int(named["ordinal"][:9]) if named and named["ordinal"] else 0
    for turn in found.turns[ordinal - 1 : ordinal] if ordinal else found.turns:
        within = _turn_places(turn, min(starts[turn.line], len(text)))
        yield from within if not named or named["within"] else islice(within, 1)


def _turn_places(turn: Turn, begin: int) -> Iterator[_Place]:
    digest, also = turn.digest if turn.place else None, turn.hash_anchor or ""
    end = begin + len(turn.text)
    yield _Place(anchor=turn.anchor, kind="turn", begin=begin, end=end, also=also, sha256=digest)
    starts = _starts(turn.text, begin)
    for number, block in enumerate(blocks(turn.text)):
        yield from _cut_out(block.text, block_prefix(turn.anchor, number), _place_of(block, turn, starts))


def _place_of(block: TurnBlock, turn: Turn, starts: list[int]) -> Callable[[int], int]:
    """Where a character of a block is, if the lines of its turn begin at these places."""
    if block.kind != "tool":
        first = starts[block.start]
        if block.kind == "aside":  # behind its tag, on the same line
            first += turn.text.index(">", first - starts[0]) + 1 - (first - starts[0])
        return lambda char: first + char
    # Each line of a tool call has lost its mark, `>` or `> `.
    lines = block.text.split("\n")
    own = _starts(block.text, 0)
    ends = [start - 1 for start in starts[block.start + 2 : block.end + 1]]

    def place(char: int) -> int:
        line = bisect_right(own, char) - 1
        return ends[line] - (len(lines[line]) - (char - own[line]))

    return place


def _starts(text: str, first: int) -> list[int]:
    """Where each line begins, if the text begins at `first`; and where one after the last would."""
    return list(accumulate((len(line) + 1 for line in text.split("\n")), initial=first))
