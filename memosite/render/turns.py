"""Prepares the turns of a conversation for `turns.html`, and the outline of what people asked.

TurnList ─► the turns of this part ─► ShownTurn (blocks as HTML, citation)
└─► OutlineRow for each turn of a person, with the turns that follow it
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from markupsafe import Markup

from memosite.archive.cite import Citation, quote_of
from memosite.facts.texts import cut_line, summarize
from memosite.formats.turns import Turn, TurnBlock, TurnList, blocks
from memosite.markdown.html import to_html
from memosite.pages.parts import OUTLINE, PAGE_CHARS, Body
from memosite.render.typed import TypedText, block_prefix, typed_parts

LEVEL: Final = 3
"""The level of a text's own headings: the page's title is h1, the heading above a text is h2."""

_SUMMARY_CHARS: Final = 110  # of a tool call's first line
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBlock:
    """A block of a turn as `turns.html` shows it. `summary` is the first line of a tool call's text."""

    block: TurnBlock
    summary: str
    html: Markup

    @property
    def kind(self) -> str:
        """The kind of the block."""
        return self.block.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTurn:
    """A turn as `turns.html` shows it. `utc` is ISO 8601, "" if it is not known."""

    turn: Turn
    utc: str
    blocks: tuple[ShownBlock | TypedText, ...]
    citation: Citation | None
    is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineRow:
    """A turn of a person (of anybody, if no participant is a person): where it is, and its first words.

    `elsewhere` are this turn and those after it, if they are on another part of the page: the outline has their
    anchors, so that a link to the first part finds them.
    """

    turn: Turn
    href: str
    summary: str
    elsewhere: tuple[Turn, ...]


def shown_turns(turns: Sequence[Turn], body: Body) -> Iterator[ShownTurn]:
    """Turns with their blocks rendered, until `PAGE_CHARS` are shown: a single turn may be longer than a page."""
    left = PAGE_CHARS
    links = dict(body.links)
    for turn in turns:
        text = turn.text[: max(left, 0)]
        is_cut = len(turn.text) > max(left, 0)
        left -= len(turn.text)
        yield ShownTurn(
            turn=turn,
            utc=_utc(turn),
            blocks=tuple(_shown_blocks(turn, text, links, body.prefix)),
            citation=_citation(turn, blocks(text), body),
            is_cut=is_cut,
        )


def outline(conversation: TurnList, body: Body) -> tuple[OutlineRow, ...]:
    """The turns of people in this part, and on the first part those of all parts; none for a short conversation."""
    first, end = body.turns or (0, len(conversation.turns))
    turns = conversation.turns[: OUTLINE if body.parts else end][first:]
    has_people = any(turn.is_person for turn in turns)
    if len(turns) < 3:
        return ()
    rows: list[OutlineRow] = []
    for place, turn in enumerate(turns, first):
        here = _part_of(place, body)
        if turn.is_person or not has_people or not rows:
            href = f"{here}#{body.prefix}{turn.anchor}"
            rows.append(OutlineRow(turn=turn, href=href, summary=_summary(turn), elsewhere=()))
        if here:
            rows[-1] = replace(rows[-1], elsewhere=(*rows[-1].elsewhere, turn))
    return tuple(rows)


def _part_of(place: int, body: Body) -> str:
    """The file of the part that a turn is in, counted from 0; "" for this one."""
    return next((href for start, href in reversed(body.parts) if place >= start), "")


def _utc(turn: Turn) -> str:
    return turn.at.isoformat(timespec="seconds").replace("+00:00", "Z") if turn.at else ""


def _summary(turn: Turn) -> str:
    """The first words of a turn, as far as it is speech."""
    spoken = (one.text for one in blocks(turn.text[:4_000]) if one.kind == "speech")
    return next((cut_line(summarize(text[:400]), 80) for text in spoken), "")


def _citation(turn: Turn, found: Sequence[TurnBlock], body: Body) -> Citation | None:
    whole = body.citation
    if whole is None:
        return None
    speakers = body.people if turn.is_person else body.models
    return replace(
        whole,
        ref=f"{whole.ref}#{turn.anchor}",
        url=f"{whole.url}#{turn.anchor}",
        speaker=speakers[0] if len(speakers) == 1 else turn.speaker,
        time=_utc(turn) or turn.stamp or whole.time,
        quote=quote_of(next((block.text for block in found if block.kind == "speech"), "")),
        sha256=turn.digest,
    )


def _shown_blocks(turn: Turn, text: str, links: dict[str, str], prefix: str) -> Iterator[ShownBlock | TypedText]:
    """The blocks of a turn: what a person typed is shown as typed, all else is Markdown."""
    if not turn.is_person:
        for number, block in enumerate(blocks(text)):
            yield _shown_block(block_prefix(prefix + turn.anchor, number), block, links)
        return
    for part in typed_parts(turn, text, links, prefix):
        yield part if isinstance(part, TypedText) else _shown_block(*part, links)


def _shown_block(prefix: str, block: TurnBlock, links: dict[str, str]) -> ShownBlock:
    lines = (line for line in block.text.split("\n") if line.strip() and not _FENCE.match(line))
    html = to_html(block.text, links=links, prefix=prefix, base_level=LEVEL, with_passages=True)
    return ShownBlock(
        block=block,
        summary=cut_line(next(lines, ""), _SUMMARY_CHARS) if block.kind == "tool" else "",
        html=Markup(html),  # noqa: S704 # what `to_html` has written
    )
