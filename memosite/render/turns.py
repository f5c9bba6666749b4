"""Prepares the turns of a conversation for `turns.html`.

TurnList ─► the turns of this part ─► ShownTurn (blocks as HTML, citation)
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from markupsafe import Markup

from memosite.archive.cite import Citation, quote_of
from memosite.facts.texts import cut_line
from memosite.formats.stamps import clock_of, local_time
from memosite.formats.turns import Turn, TurnBlock, TurnList
from memosite.markdown.html import to_html
from memosite.pages.parts import Body, Reference, TurnRange
from memosite.passages.anchors import block_prefix
from memosite.render.attached import attached
from memosite.render.pieces import Piece, piece_of
from memosite.render.typed import TypedText, typed_parts

LEVEL: Final = 3
"""The level of a text's own headings: the page's title is h1, the heading above a text is h2."""

_SUMMARY_CHARS: Final = 110  # of a tool call's first line
_TAG = re.compile(r"<[^<>]*>")
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBlock:
    """A block of a turn as `turns.html` shows it. `summary` is the first line of a tool call's text.

    `clock` is the time of a tool call, "" if it is that of its turn.
    """

    block: TurnBlock
    summary: str
    clock: str
    html: Markup

    @property
    def kind(self) -> str:
        """The kind of the block."""
        return self.block.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTurn:
    """A turn as `turns.html` shows it, or a piece of one that is split. `utc` is ISO 8601, "" if it is not known.

    `clock` is the time as written, in the notation of all pages, and `in_utc` the words for UTC beside it: each without
    a day that was said before.
    `is_continued` if it began on the part before, where its anchors and its citation are.
    """

    turn: Turn
    utc: str
    clock: str
    in_utc: str
    attached: tuple[str, ...]
    blocks: tuple[ShownBlock | TypedText, ...]
    citation: Citation | None
    is_continued: bool
    goes_on: bool
    shared: tuple[tuple[str, Reference], ...] = ()


def shown_turns(conversation: TurnList, body: Body) -> Iterator[ShownTurn]:
    """The turns of this part with their blocks rendered; the first may have begun on the part before."""
    part = body.turns or TurnRange(first=0, end=len(conversation.turns))
    links = dict(body.links)
    shared: defaultdict[str, list[tuple[str, Reference]]] = defaultdict(list)
    for anchor, relation, there in body.shared:
        shared[anchor].append((relation, there))
    for place in range(part.first, part.end):
        turn = conversation.turns[place]
        start = part.start if place == part.first else 0
        stop = part.stop if place == part.end - 1 else None
        piece = piece_of(turn.text, start, stop)
        yield ShownTurn(
            turn=turn,
            utc=_utc(turn),
            clock=clock_of(turn.stamp, body.day),
            in_utc=_in_utc(turn),
            attached=attached(turn.text) if turn.is_person and not start else (),
            blocks=tuple(_shown_blocks(turn, piece, links, body.prefix)),
            citation=None if start else _citation(turn, piece, body),
            is_continued=start > 0,
            goes_on=stop is not None,
            shared=() if start else tuple(shared.get(turn.anchor, ())),
        )


def lightened(turns: Sequence[ShownTurn], over: int) -> tuple[ShownTurn, ...]:
    """The turns with the texts whose HTML is longest shown as written, so many that it takes `over` bytes less.

    Lists of short items and highlighted code take ten times the bytes of their text, and no turn may be missing.
    """
    parts = [(at, number, part) for at, turn in enumerate(turns) for number, part in enumerate(turn.blocks)]
    plain = [(at, number, part, _as_written(part)) for at, number, part in parts]
    gains = sorted(((_bytes(part) - _bytes(new), at, number, new) for at, number, part, new in plain), key=_gain)
    chosen: dict[tuple[int, int], ShownBlock | TypedText] = {}
    for gain, at, number, new in gains:
        if over <= 0:
            break
        chosen[at, number] = new
        over -= gain
    return tuple(
        replace(turn, blocks=tuple(chosen.get((at, number), part) for number, part in enumerate(turn.blocks)))
        for at, turn in enumerate(turns)
    )


def _gain(found: tuple[int, int, int, object]) -> tuple[int, int, int]:
    gain, at, number, _ = found
    return -gain, at, number


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
    local = local_time(turn.stamp or "")
    if turn.at is None or local is None:
        return ""
    utc = turn.at.replace(tzinfo=None)
    clock = f"{utc:%H:%M:%S}" if (turn.stamp or "").count(":") > 1 else f"{utc:%H:%M}"
    if utc == local:
        return "UTC"
    return f"{clock} UTC" if utc.date() == local.date() else f"{utc.date()} {clock} UTC"


def _citation(turn: Turn, piece: Piece, body: Body) -> Citation | None:
    whole = body.citation
    if whole is None or turn.ordinal > body.cited or not turn.digest or not turn.text:
        return None
    speakers = body.people if turn.is_person else body.models
    return replace(
        whole,
        ref=f"{whole.ref}#{turn.anchor}",
        url=f"{whole.url}#{turn.anchor}",
        speaker=speakers[0] if len(speakers) == 1 else turn.speaker,
        time=_utc(turn) or turn.stamp or whole.time,
        quote=quote_of(next((block.text for _, block in piece.blocks if block.kind == "speech"), "")),
        sha256=turn.digest,
    )


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
    began = local_time(turn.stamp or "")
    return ShownBlock(
        block=block,
        summary=cut_line(next(lines, ""), _SUMMARY_CHARS) if block.kind == "tool" else "",
        clock="" if block.stamp == turn.stamp else clock_of(block.stamp, f"{began.date()}" if began else ""),
        html=Markup(html),  # noqa: S704 # what `to_html` has written
    )
