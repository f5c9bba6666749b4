"""Prepares the turns of a conversation for `turns.html`: what was typed, attachments, outline, pieces, the strip.

    TurnList ─┬─► OutlineRow, for each turn of a person that says something
              ├─► Strip: all turns as one picture
              └─► the turns of this part ─► pieces ─► blocks ─► ShownTurn (blocks as HTML, citation)
                                                        └─ of a person: tool calls, and between them TypedText

Blocks keep the numbers that they have in the whole turn, so that anchors are the same wherever a turn is split. What
was attached to a turn is in no transcript: only the marks are, and the text keeps them as they were written.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Final

from markupsafe import Markup

from memosite.archive.cite import Citation, quote_of
from memosite.facts.patterns import regex
from memosite.facts.phrases import joined, phrase, phrases
from memosite.facts.texts import cut_line, first_words, one_line
from memosite.facts.values import Value, replace
from memosite.formats.sessions.model import LONG_PATH, PARENT
from memosite.formats.turns import Turn, TurnBlock, TurnList, blocks, clock_of, local_time, notation
from memosite.markdown.html import fences, passage_anchors, to_html, to_typed_html
from memosite.pages import OUTLINE, Body, Cell, Grid, PictureColumn, PictureRow, Reference, TurnRange
from memosite.passages import block_prefix
from memosite.quotes.judge import judge, says

# Names the images and attachments of a turn, by the marks that capture tools leave where they were (SPEC 4).


MOST: Final = 20
"""The most that are named of one turn."""


_LOOKED_AT: Final = 100_000  # characters of one turn


_NAME_CHARS: Final = 80


_MARK: Final = regex(
    r"\[(?:Image|Screenshot|Attachment|Attached file|File|Document|PDF)"
    r"(?P<number> ?\#[0-9]{1,6})?(?:: *(?:source: *)?(?P<name>[^\[\]\n]{1,1000}))?\]"
    r"|!\[(?P<label>[^\[\]\n]{0,300})\]\((?P<to>[^()\s]{1,1000})(?: \"[^\"\n]{0,300}\")?\)",
    re.IGNORECASE,
)


def attached(text: str) -> tuple[str, ...]:
    """The names of what was attached to a turn, each once, in order; the last one says how many more there are."""
    found = dict.fromkeys(_name(match) for match in _MARK.finditer(text[:_LOOKED_AT]))
    names = tuple(cut_line(name, _NAME_CHARS) for name in found)
    return names if len(names) <= MOST else (*names[:MOST], phrase("{more} more", more=len(names) - MOST))


def _name(match: "re.Match[str]") -> str:
    """Of a path the last part; without a name, what the mark says."""
    written = match["name"] or match["to"]
    if not written:
        return match[0][1:-1]
    if written.startswith("data:"):
        return match["label"] or phrase("image")
    return re.split(r"[/\\]", written.strip().rstrip("/\\"))[-1] or written


# Makes the outline of a conversation: what people asked, with its number and the time, without noise.


_INTERRUPTED: Final = regex(r"\[Request interrupted\b", re.IGNORECASE)


class OutlineRow(Value):
    """A turn of a person (of anybody, if no participant is a person): where it is, when, and its first words.

    `day` is "" on the day of the row before, and at first on that of the page. `elsewhere` are this turn and those
    after it, if they are on another part of the page: the outline has their anchors, so that a link to the first part
    finds them.
    """

    turn: Turn
    href: str
    summary: str
    day: str
    time: str
    elsewhere: tuple[Turn, ...]


def outline(conversation: TurnList, body: Body) -> tuple[OutlineRow, ...]:
    """The turns of people in this part, and on the first part those of all parts; none for a short conversation.

    Turns without a word, and notes that an answer was interrupted, have no row.
    """
    part = body.turns or TurnRange(first=0, end=len(conversation.turns))
    first = part.begins
    turns = conversation.turns[: OUTLINE if body.parts else part.end][first:]
    has_people = any(turn.is_person for turn in turns)
    if len(turns) < 3:
        return ()
    rows: list[OutlineRow] = []
    last_day = body.day
    for place, turn in enumerate(turns, first):
        here = part_of(place, body)
        summary = _first_words(turn) if turn.is_person or not has_people else ""
        if summary or not rows:
            day, time = _clock(turn)
            href = f"{here}#{body.prefix}{turn.anchor}"
            rows.append(
                OutlineRow(
                    turn=turn, href=href, summary=summary, day="" if day == last_day else day, time=time, elsewhere=()
                )
            )
            last_day = day or last_day
        if here:
            rows[-1] = replace(rows[-1], elsewhere=(*rows[-1].elsewhere, turn))
    is_machine = bool(rows) and rows[0].turn.place is not None and not rows[0].summary and not rows[0].elsewhere
    return tuple(rows[1:] if is_machine and len(rows) > 1 else rows)


def part_of(place: int, body: Body) -> str:
    """The file of the part that a turn is in, counted from 0; "" for this one."""
    return next((href for start, href in reversed(body.parts) if place >= start), "")


def _clock(turn: Turn) -> tuple[str, str]:
    """The day and the time of a turn by its own stamp, "" for none."""
    if turn.place and turn.at:
        return f"{turn.at:%Y-%m-%d}", f"{turn.at:%H:%M}"
    local = local_time(turn.stamp, turn.order)
    return (f"{local:%Y-%m-%d}", f"{local:%H:%M}") if local else ("", "")


def _first_words(turn: Turn) -> str:
    """The first words of a turn, as far as it is speech; else what was attached; "" for noise."""
    spoken = (one.text for one in blocks(turn.text[:4_000]) if one.kind == "speech")
    lines = (cut_line(first_words(text[:400]), 80) for text in spoken)
    found = next((line for line in lines if any(map(str.isalnum, line))), "")
    if _INTERRUPTED.match(found):
        return ""
    return found or ", ".join(attached(turn.text[:4_000]))


# Takes pieces of turns that are too long for one page (SPEC 4): a part shows one piece, the next part goes on.


class Piece(Value):
    """Some lines of a turn, all of them unless it is split, and its blocks, each with its number in the turn.

    Lines are counted from 0 in the piece. What of a block is on other parts is left out of it.
    """

    lines: Sequence[str]
    blocks: tuple[tuple[int, TurnBlock], ...]
    whole: tuple[TurnBlock, ...]
    """The blocks of the whole turn, by the lines of the whole turn."""
    before: int
    """How many lines the piece comes after; one that is split between pieces does not count."""
    begins_in_line: bool

    def anchors(self, number: int) -> Iterator[tuple[int, str]]:
        """The anchors of a block's passages that begin in this piece, each with its line."""
        block = self.whole[number]
        for line, anchor in passage_anchors(block.text):
            here = block.start + line - self.before
            if self.begins_in_line <= here < len(self.lines):
                yield here, anchor


def piece_of(text: str, start: int = 0, stop: int | None = None) -> Piece:
    """The piece of a turn's text between two characters."""
    begins_in_line = start > 0 and text[start - 1] != "\n"
    ends_in_line = stop is not None and text[stop - 1] != "\n"
    lines = text[start:stop].split("\n")
    if stop is not None and not ends_in_line:
        lines.pop()  # the next piece has it
    before = text.count("\n", 0, start)
    whole = blocks(text)
    first, end = before + begins_in_line, before + len(lines) - ends_in_line  # the lines that are here as a whole
    found: list[tuple[int, TurnBlock]] = []
    for number, block in enumerate(whole):
        here = replace(block, start=max(block.start - before, 0), end=min(block.end - before, len(lines)))
        if here.start >= here.end:
            continue
        if block.start < first or block.end > end:
            offset = here.start + before - block.start
            here = replace(here, text=_text_of_piece(block, lines[here.start : here.end], offset))
        found.append((number, here))
    return Piece(lines=lines, blocks=tuple(found), whole=whole, before=before, begins_in_line=begins_in_line)


def _text_of_piece(block: TurnBlock, lines: Sequence[str], offset: int) -> str:
    """The text of some lines of a block, from the given one on; code that is split has its fences in each piece."""
    text = list(lines)
    if block.kind == "tool":
        text = [line[1:].removeprefix(" ") if line.startswith(">") else line for line in text[offset == 0 :]]
        offset = max(offset - 1, 0)
    all_lines = block.text.split("\n")
    end = offset + len(text)
    for first, last in fences(all_lines):
        if first < offset < last:
            text.insert(0, all_lines[first])
        if first < end < last:
            text.append(all_lines[last - 1])
    return "\n".join(text)


# Prepares what a person typed for `turns.html`: verbatim, what is long folded (SPEC 4).


LONG: Final = 40
"""Inputs of more lines than these are folded, as far as they are higher than `BEGINNING`."""


BEGINNING: Final = 12
"""How many lines of a long input are shown."""


_WIDTH: Final = 90  # characters that fit on a line of a page, roughly


_FOLDED_CHARS: Final = 110


class TypedText(Value):
    """What was typed without a break: what is shown, and the folded rest with a line that says what it is."""

    kind: ClassVar[str] = "typed"
    shown: Markup
    rest: Markup
    summary: str


def typed_parts(piece: Piece, links: Mapping[str, str], turn: str) -> Iterator[TypedText | tuple[str, TurnBlock]]:
    """What was typed in a turn and its tool calls, each with the prefix of its anchors, in order.

    `turn` is the anchor of the turn.
    """
    lines = piece.lines
    targets: dict[int, list[str]] = defaultdict(list)
    position = 0
    for number, block in piece.blocks:
        prefix = block_prefix(turn, number)
        if block.kind == "tool":
            yield from _run(lines, position, block.start, targets, links)
            yield prefix, block
            position = block.end
        else:
            for line, anchor in piece.anchors(number):
                targets[line].append(prefix + anchor)
    yield from _run(lines, position, len(lines), targets, links)


def _run(
    lines: Sequence[str], start: int, end: int, targets: Mapping[int, Sequence[str]], links: Mapping[str, str]
) -> Iterator[TypedText]:
    """What is typed between two lines, less the blank line that the capture has put at either end."""
    if not any(map(str.strip, lines[start:end])):
        return
    start += not lines[start].strip()
    end -= end < len(lines) and not lines[end - 1].strip()
    run = lines[start:end]
    cut = _beginning(run)
    html = [
        to_typed_html(
            run[first:last],
            links=links,
            targets={
                line - start - first: targets[line] for line in range(start + first, start + last) if line in targets
            },
            is_end=last == len(run),
        )
        for first, last in ((0, cut), (cut, len(run)))
    ]
    yield TypedText(
        shown=Markup(html[0]),  # noqa: S704 # what `to_typed_html` has written
        rest=Markup(html[1]),  # noqa: S704
        summary=_folded_line(run, cut),
    )


def _beginning(lines: Sequence[str]) -> int:
    """How many lines are shown: all, unless they are too many; fenced code is not cut apart."""
    heights = [1 + len(line) // _WIDTH for line in lines]
    if sum(heights) <= LONG:
        return len(lines)
    shown = height = 0
    while height + heights[shown] <= BEGINNING:
        height += heights[shown]
        shown += 1
    return next((start for start, end in fences(lines) if start < shown < end), shown)


def _folded_line(lines: Sequence[str], cut: int) -> str:
    """The line for what is folded: how much it is, and its first words if nothing of it is shown; "" for nothing."""
    rest = len(lines) - cut
    if not rest:
        return ""
    if cut:
        return phrases("{n:,} more line", "{n:,} more lines", rest)
    first = next((line for line in lines if line.strip()), "")
    return phrases("{begin} ({n:,} line)", "{begin} ({n:,} lines)", rest, begin=cut_line(first[:1_000], _FOLDED_CHARS))


LEVEL: Final = 3
"""The level of a text's own headings: the page's title is h1, the heading above a text is h2."""


_CALL_CHARS: Final = 110  # of a tool call's first line
_SEEN_CHARS: Final = 80  # of it, on a wide screen


_TAG = regex(r"<[^<>]*>")


_FENCE = regex(r"\s*(?:`{3,}|~{3,})")


class ShownBlock(Value):
    """A block of a turn as `turns.html` shows it. `summary` is the first line of a tool call's text.

    `clock` is the time of a tool call, "" if it is that of its turn. `anchor` is that of a part of a session log.
    """

    block: TurnBlock
    summary: str
    clock: str
    html: Markup
    anchor: str = ""
    started: Reference | None = None
    mark: str = ""

    @property
    def kind(self) -> str:
        """The kind of the block."""
        return self.block.kind


class ShownTurn(Value):
    """A turn as `turns.html` shows it, or a piece of one that is split. `utc` is ISO 8601, "" if it is not known.

    `clock` is the time as written, in the notation of all pages, and `in_utc` the words for UTC beside it: each without
    a day that was said before.
    `is_continued` if it began on the part before, where its anchors and its citation are.
    Of a session log `before` and `after` are the parts that are not in its text; `folded` says why it is folded, and
    begins as it does; `copied` is the turn of an older session that it was copied from.
    """

    turn: Turn
    speaker: str
    utc: str
    clock: str
    in_utc: str
    attached: tuple[str, ...]
    blocks: tuple[ShownBlock | TypedText, ...]
    citation: Citation | None
    is_continued: bool
    goes_on: bool
    shared: tuple[tuple[str, Reference], ...] = ()
    before: tuple[ShownBlock, ...] = ()
    after: tuple[ShownBlock, ...] = ()
    folded: str = ""
    copied: Reference | None = None
    is_withheld: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it is expanded at first though it is folded: what a session was asked for by the one before it."""
        return self.turn.speaker == PARENT and self.turn.ordinal == 1


def shown_turns(
    conversation: TurnList, body: Body, thoughts: Mapping[int, Sequence[TurnBlock]] = MappingProxyType({})
) -> Iterator[ShownTurn]:
    """The turns of this part with their blocks rendered; the first may have begun on the part before.

    `thoughts` are those of a session log, by the ordinals of turns, if they are published.
    """
    part = body.turns or TurnRange(first=0, end=len(conversation.turns))
    links = dict(body.links)
    shared: defaultdict[str, list[tuple[str, Reference]]] = defaultdict(list)
    for anchor, relation, there in body.shared:
        shared[anchor].append((relation, there))
    for anchor, relation, there in body.tied:
        shared[anchor].append((relation, there))
    for place in range(part.first, part.end):
        turn = conversation.turns[place]
        start = part.start if place == part.first else 0
        stop = part.stop if place == part.end - 1 else None
        piece = piece_of(turn.text, start or (turn.place.words_from if turn.place else 0), stop)
        before, after = _parts(turn, thoughts.get(turn.ordinal, ()), len(piece.whole), body)
        yield ShownTurn(
            turn=turn,
            speaker=_SAID.get(turn.speaker, turn.speaker) if turn.place else turn.speaker,
            utc=_utc(turn),
            clock=_session_clock(turn, body.day) if turn.place else clock_of(turn.stamp, turn.order, body.day),
            in_utc="UTC" if turn.place and turn.at else _in_utc(turn),
            attached=attached(turn.text) if turn.is_person and not start else (),
            blocks=tuple(_shown_blocks(turn, piece, links, body.prefix)),
            citation=None if start else _citation(turn, piece, body),
            is_continued=start > 0,
            goes_on=stop is not None,
            shared=() if start else tuple(shared.get(turn.anchor, ())),
            before=() if start else before,
            after=() if stop is not None else after,
            folded=_why_folded(turn, body),
            copied=_copied(turn, body),
            is_withheld=turn.place is not None and turn.place.state == "withheld",
        )


_SAID: Final = {
    "a person": phrase("a person"),
    "the harness": phrase("the program"),
    "the parent session": phrase("the parent session"),
    "interrupted": phrase("interrupted"),
    "rolled back": phrase("rolled back"),
    "the session was compacted here": phrase("From here the agent worked from a summary of what was before."),
}
"""Words for the speakers and marks that all forms of session logs give (`formats.sessions.model`)."""
_PROMPT: Final = phrase("Prompt of the session that started this one")
_MARKUP: Final = regex(r"</?[a-z][\w -]*>")
_WHY_FOLDED: Final = {"rewound": phrase("taken back"), "sidechain": phrase("of a subagent"), "copied": phrase("copied")}


def _why_folded(turn: Turn, body: Body) -> str:
    """Why a turn of a session log is folded, with its first words; "" for one that is shown."""
    if turn.place is None or turn.place.state == "withheld":
        return ""
    why = phrase("copied") if _copied(turn, body) else _WHY_FOLDED.get(turn.place.state, "")
    if not why and turn.kind == "summary":
        why = phrase("summary of what was before")
    if not why and turn.kind == "system":
        why = _PROMPT if turn.speaker == PARENT else phrase("put in by the program")
    if why == _PROMPT and turn.ordinal == 1:
        return why
    first = cut_line(one_line(_MARKUP.sub(" ", turn.text[:400])), _CALL_CHARS) if why else ""
    return joined(": ", (why, first)) if first else why


def _copied(turn: Turn, body: Body) -> Reference | None:
    """The turn of an older session that one was copied from."""
    if body.copied is None or turn.ordinal > body.copied[0]:
        return None
    number = body.copied[1] + turn.ordinal - 1
    there = body.copied[2]
    return Reference(label=phrase("turn {number}", number=number), href=f"{there.href}#t{number}")


def _session_clock(turn: Turn, day: str) -> str:
    """The time of a turn of a session log, in UTC if that is known: without its day if it is this one."""
    if turn.at is None:
        return turn.stamp or ""
    return f"{turn.at:%H:%M:%S}" if f"{turn.at.date()}" == day else f"{turn.at:%Y-%m-%d %H:%M:%S}"


def _parts(
    turn: Turn, thoughts: Sequence[TurnBlock], number: int, body: Body
) -> tuple[tuple[ShownBlock, ...], tuple[ShownBlock, ...]]:
    """The parts of a turn that are not in its text; their numbers go on behind those of its blocks."""
    said, agents = iter(thoughts), dict(body.agents)
    found: list[list[ShownBlock]] = []
    for parts in (turn.after, turn.before):
        shown = []
        for part in parts:
            block = next(said, part) if part.kind == "thinking" and parts is turn.before else part
            anchor = f"{body.prefix}{turn.anchor}.{number + 1}"
            number += 1
            if block.kind != "thinking" or block.text:
                started = agents.get(block.agent) if block.agent else None
                shown.append(replace(_shown_part(block, anchor), started=started))
        found.append(shown)
    after, before = found
    return tuple(before), tuple(after)


def _shown_part(block: TurnBlock, anchor: str) -> ShownBlock:
    lines = (line for line in block.text.split("\n") if line.strip() and not _FENCE.match(line))
    is_code = block.kind == "tool"
    html = to_html(block.text, links={}, prefix=f"{anchor}-", base_level=LEVEL, with_passages=False) if (
        is_code or block.kind in ("aside", "thinking")
    ) else ""  # fmt: skip
    return ShownBlock(
        block=block,
        summary=_call_line(block.does or next(lines, "")),
        clock="",
        html=Markup(html),  # noqa: S704 # what `to_html` has written
        anchor=anchor,
        mark=_SAID.get(block.text, block.text) if block.kind == "mark" else "",
    )


def _call_line(line: str) -> str:
    """What a call does, on a line: of long paths in a long one the end, which tells the files apart."""
    line = one_line(line[:1_000])
    if len(line) > _SEEN_CHARS:
        line = LONG_PATH.sub(lambda path: "…/" + "/".join(re.split(r"[/\\\\]", path[0])[-3:]), line)
    return cut_line(line, _CALL_CHARS)


def lightened(turns: Sequence[ShownTurn], over: int) -> tuple[ShownTurn, ...]:
    """The turns with the texts whose HTML is longest shown as written, so many that it takes `over` bytes less.

    Lists of short items and highlighted code take ten times the bytes of their text, and no turn may be missing.
    """
    parts = [(at, number, part) for at, turn in enumerate(turns) for number, part in enumerate(turn.blocks)]
    plain = [(at, number, part, _as_written(part)) for at, number, part in parts]
    gains = ((_bytes(part) - _bytes(new), at, number, new) for at, number, part, new in plain)
    chosen: dict[tuple[int, int], ShownBlock | TypedText] = {}
    for gain, at, number, new in sorted(gains, key=lambda found: (-found[0], *found[1:3])):
        if over <= 0:
            break
        chosen[at, number] = new
        over -= gain
    return tuple(
        replace(turn, blocks=tuple(chosen.get((at, number), part) for number, part in enumerate(turn.blocks)))
        for at, turn in enumerate(turns)
    )


def _as_written(part: ShownBlock | TypedText) -> ShownBlock | TypedText:
    """A text without anchors, links and highlighting."""
    if isinstance(part, TypedText):
        return replace(part, shown=_without_tags(part.shown), rest=_without_tags(part.rest))
    return replace(part, html=Markup('<pre class="verbatim" tabindex="0">\n{}</pre>\n').format(part.block.text))


def _without_tags(html: Markup) -> Markup:
    return Markup(_TAG.sub("", html))  # noqa: S704 # what is left was escaped


def _bytes(part: ShownBlock | TypedText) -> int:
    html = part.shown + part.rest if isinstance(part, TypedText) else part.html
    return len(html.encode("utf-8", "replace"))


def _utc(turn: Turn) -> str:
    return turn.at.isoformat(timespec="seconds").replace("+00:00", "Z") if turn.at else ""


def _in_utc(turn: Turn) -> str:
    """A turn's time in UTC: without the day if it is the written one, and no time at all if that is in UTC."""
    local = local_time(turn.stamp, turn.order)
    if turn.at is None or local is None:
        return ""
    utc = turn.at.replace(tzinfo=None)
    return "UTC" if utc == local else f"{notation(turn.stamp, utc, f'{local.date()}')} UTC"


def _citation(turn: Turn, piece: Piece, body: Body) -> Citation | None:
    whole = body.citation
    if whole is None or turn.ordinal > body.cited or not turn.digest or not turn.text:
        return None
    speakers = body.people if turn.is_person else body.models
    speaker = speakers[0] if len(speakers) == 1 else turn.speaker
    if turn.place:
        speaker = turn.speaker_in(whole.speaker, body.people[0] if body.people else "")
    return replace(
        whole,
        ref=f"{whole.ref}#{turn.anchor}",
        url=f"{whole.url}#{turn.anchor}",
        speaker=speaker,
        time=_utc(turn) or turn.stamp or whole.time,
        quote=_excerpt(next((block.text for _, block in piece.blocks if block.kind == "speech"), "")),
        sha256=turn.digest,
    )


_NUMBERED: Final = regex(r"^[ \t]*\d{1,9}[.)][ \t]", re.MULTILINE)


def _excerpt(text: str) -> str:
    """The first words of a text as a citation quotes them; none where the excerpt lost a number or kept a mark."""
    quote = quote_of(text)
    is_odd = any(mark in quote for mark in "*_`") or _NUMBERED.search(text[: 2 * len(quote)])
    return quote if not is_odd or _begins_with(text, quote) or judge(quote, text).tier.holds else ""


def _begins_with(text: str, quote: str) -> bool:
    """Whether the first paragraphs of a text have the words: the rest of it is then not looked at.

    Marks end with their paragraph, but a definition, behind all of them, may make a link of a bracket.
    """
    end = text.find("\n\n", 2 * len(quote))
    is_alone = end > 0 and "]:" not in text[end:]
    return is_alone and says(text[:end], quote)


def _shown_blocks(turn: Turn, piece: Piece, links: dict[str, str], prefix: str) -> Iterator[ShownBlock | TypedText]:
    """The blocks of a turn: what a person typed is shown as typed, all else is Markdown."""
    if not turn.is_person:
        for number, block in piece.blocks:
            yield _shown_block(block_prefix(prefix + turn.anchor, number), block, turn, links)
        return
    for part in typed_parts(piece, links, prefix + turn.anchor):
        yield part if isinstance(part, TypedText) else _shown_block(*part, turn, links)


def _shown_block(prefix: str, block: TurnBlock, turn: Turn, links: dict[str, str]) -> ShownBlock:
    lines = (line for line in block.text.split("\n") if line.strip() and not _FENCE.match(line))
    html = to_html(block.text, links=links, prefix=prefix, base_level=LEVEL, with_passages=True)
    began = local_time(turn.stamp, turn.order)
    day = f"{began.date()}" if began else ""
    return ShownBlock(
        block=block,
        summary=_call_line(next(lines, "")) if block.kind == "tool" else "",
        clock="" if block.stamp == turn.stamp else clock_of(block.stamp, turn.order, day),
        html=Markup(html),  # noqa: S704 # what `to_html` has written
    )


# Draws all turns of a transcript as one strip: who speaks, where tools are called, what is cited and mentioned.


COLUMNS: Final = 60
"""The most columns, however many turns there are."""


FEWEST: Final = 6
"""A shorter conversation is seen at a glance."""


_MARKS: Final = 4  # numbers above the drawing


_RANGE = regex(r"t([1-9][0-9]{0,8})(?:-t([1-9][0-9]{0,8}))?(?=[.-]|\Z)")


_HASH = regex(r"t-[0-9a-f]{8}(?:-[0-9]+)?(?=[.]|\Z)")


class Strip(Value):
    """The picture, and how many turns a column has."""

    picture: Grid
    turns: int


def strip_of(conversation: TurnList, body: Body) -> Strip | None:
    """The strip of a transcript; None for a short one, and on parts other than the first.

    A cell counts turns: of one column each if they are few, else of as many as make `COLUMNS` columns.
    """
    turns = conversation.turns
    is_first = body.turns is None or not (body.turns.first or body.turns.start)
    if len(turns) < FEWEST or not is_first:
        return None
    size = -(-len(turns) // COLUMNS)
    known = (body.cited_turns, body.mentioned_turns, tuple(anchor for anchor, _, _ in body.shared))
    cited, mentioned, shared = (_ordinals(anchors, turns) for anchors in known)
    rows: tuple[tuple[str, Callable[[Turn], bool]], ...] = (
        (phrase("People"), lambda turn: turn.is_person),
        (phrase("Assistant"), lambda turn: turn.kind == "assistant"),
        (phrase("Put in by the program"), lambda turn: turn.kind in ("system", "summary")),
        (phrase("With tool calls"), _calls_tools),
        (phrase("Cited"), lambda turn: turn.ordinal in cited),
        (phrase("Mentioned"), lambda turn: turn.ordinal in mentioned),
        (phrase("With shared passages"), lambda turn: turn.ordinal in shared),
    )
    found = [(label, [turn for turn in turns if belongs(turn)]) for label, belongs in rows]
    width = -(-len(turns) // size)
    picture = Grid(
        anchor="_strip",
        caption=_caption(len(turns), size, is_known=bool(cited or mentioned or shared)),
        corner=phrase("Turns"),
        columns=tuple(_columns(width, size, len(turns))),
        rows=tuple(_row(label, some, width, size, body) for label, some in found if some),
    )
    return Strip(picture=picture, turns=size)


def _caption(total: int, size: int, *, is_known: bool) -> str:
    said = (
        phrase("All {total:,} turns in order, {size:,} in each column.", total=total, size=size)
        if size > 1
        else phrase("All {total:,} turns in order.", total=total)
    )
    return said if is_known else joined(" ", (said, phrase("No turn is cited, mentioned or quoted elsewhere.")))


def _columns(width: int, size: int, total: int) -> Iterator[PictureColumn]:
    """A column for each group of turns; some have the number of their first one above the drawing."""
    step = max(1, -(-width // _MARKS))
    for place in range(width):
        first, last = place * size + 1, min((place + 1) * size, total)
        label = f"{first:,}" if first == last else f"{first:,}–{last:,}"
        yield PictureColumn(label=label, mark="" if place % step else f"{first:,}")


def _row(label: str, turns: Iterable[Turn], width: int, size: int, body: Body) -> PictureRow:
    """A cell leads to the first of the turns that it counts."""
    columns: list[list[Turn]] = [[] for _ in range(width)]
    for turn in turns:
        columns[(turn.ordinal - 1) // size].append(turn)
    return PictureRow(
        label=Reference(label=label),
        cells=tuple(_cell(label, some, body) if some else Cell(number=0) for some in columns),
    )


def _cell(label: str, turns: list[Turn], body: Body) -> Cell:
    return Cell(
        number=len(turns),
        href=f"{part_of(turns[0].ordinal - 1, body)}#{body.prefix}{turns[0].anchor}",
        words=phrase("{label}, from turn {turn}: {number}", label=label, turn=turns[0].ordinal, number=len(turns)),
    )


def _calls_tools(turn: Turn) -> bool:
    if any(block.kind == "tool" for block in turn.after):
        return True
    return "🔧" in turn.text and any(block.kind == "tool" for block in blocks(turn.text))


def _ordinals(anchors: Iterable[str], turns: tuple[Turn, ...]) -> set[int]:
    """The turns that anchors name: by number, as a range, by hash, or by a passage of one."""
    hashes = {turn.hash_anchor: turn.ordinal for turn in turns if turn.hash_anchor} if anchors else {}
    found: set[int] = set()
    for anchor in anchors:
        if match := _RANGE.match(anchor):
            first, last = int(match[1]), min(int(match[2] or match[1]), len(turns))
            found.update(range(first, last + 1))
        elif match := _HASH.match(anchor):
            found.update(filter(None, (hashes.get(match[0]),)))
    return found
