"""Makes the outline of a conversation: what people asked, with its number and the time, without noise.

TurnList ─► OutlineRow for each turn of a person that says something, with the turns that follow it
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from memosite.facts.texts import cut_line, summarize
from memosite.formats.stamps import local_time
from memosite.formats.turns import Turn, TurnList, blocks
from memosite.pages.parts import OUTLINE, Body, TurnRange
from memosite.render.attached import attached

_INTERRUPTED: Final = re.compile(r"\[Request interrupted\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineRow:
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
        summary = _summary(turn) if turn.is_person or not has_people else ""
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
    return tuple(rows)


def part_of(place: int, body: Body) -> str:
    """The file of the part that a turn is in, counted from 0; "" for this one."""
    return next((href for start, href in reversed(body.parts) if place >= start), "")


def _clock(turn: Turn) -> tuple[str, str]:
    """The day and the time of a turn by its own stamp, "" for none."""
    local = local_time(turn.stamp or "")
    return (f"{local:%Y-%m-%d}", f"{local:%H:%M}") if local else ("", "")


def _summary(turn: Turn) -> str:
    """The first words of a turn, as far as it is speech; else what was attached; "" for noise."""
    spoken = (one.text for one in blocks(turn.text[:4_000]) if one.kind == "speech")
    lines = (cut_line(summarize(text[:400]), 80) for text in spoken)
    found = next((line for line in lines if any(map(str.isalnum, line))), "")
    if _INTERRUPTED.match(found):
        return ""
    return found or ", ".join(attached(turn.text[:4_000]))
