"""Reads a transcript's body text into the turns of its speakers, their stamps, and a turn's text into its blocks.

    body text → lines → marks (headings, code fences) → headings outside of quoted examples → turns

Two forms are known (SPEC 4). *Stamped*: `---`, a blank line and a heading that ends in a local time; bodies
hold pasted transcripts, so the stamps must not go back. *Plain*: `## User` and `## Assistant`. The first
heading that fits decides which form a body has, so that appended text cannot change it. A body of
neither form is *verbatim*. Any text gives a result, in time linear in its size.
"""

import datetime as dt
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, TypeAlias

from memosite.facts.file import most_turns

# Reads the stamps of turns, which are local times without a zone, and tells what they are in UTC (SPEC 4).


_CLOCK = r"(?:, *| +|T)(?P<h>[0-9]{1,2}):(?P<min>[0-9]{2})(?::(?P<s>[0-9]{2}))?(?: *(?P<half>[AaPp])\.?[Mm]\.?)?"

_STAMPS = (
    re.compile(r"(?P<m>[0-9]{1,2})/(?P<d>[0-9]{1,2})/(?P<y>[12][0-9]{3})" + _CLOCK),
    re.compile(r"(?P<d>[0-9]{1,2})\.(?P<m>[0-9]{1,2})\.(?P<y>[12][0-9]{3})" + _CLOCK),
    re.compile(r"(?P<y>[12][0-9]{3})-(?P<m>[0-9]{1,2})-(?P<d>[0-9]{1,2})" + _CLOCK),
)

_SPACES = {0x00A0: " ", 0x2009: " ", 0x202F: " "}  # white space that locales put before AM and PM
_FURTHEST_OFFSET = dt.timedelta(hours=14, minutes=30)


def local_time(written: str) -> dt.datetime | None:
    """Return the time of a stamp in US, German or ISO form; None for anything else."""
    text = written.translate(_SPACES)
    match = next((match for pattern in _STAMPS if (match := pattern.fullmatch(text))), None)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(match[part] or 0) for part in ("y", "m", "d", "h", "min", "s"))
    half = match["half"]
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + (12 if half in "Pp" else 0)
    with suppress(ValueError):  # 2/30/2026
        return dt.datetime(year, month, day, hour, minute, second)
    return None


def clock_of(written: str | None, day: str = "") -> str:
    """A stamp in the notation of all pages, with seconds if it has them: without its day if that is `day`."""
    local = local_time(written or "")
    if written is None or local is None:
        return written or ""
    clock = f"{local:%H:%M:%S}" if written.count(":") > 1 else f"{local:%H:%M}"
    return clock if f"{local.date()}" == day else f"{local.date()} {clock}"


def utc_offset(started: dt.datetime | None, first: dt.datetime | None) -> dt.timedelta | None:
    """Return local time less UTC, from the same moment given in both; None where no time zone has that offset."""
    if started is None or first is None:
        return None
    instant = started if started.utcoffset() is not None else started.replace(tzinfo=dt.UTC)
    minute = dt.timedelta(minutes=1)
    offset = round((first.replace(tzinfo=dt.UTC) - instant) / minute) * minute
    return offset if abs(offset) <= _FURTHEST_OFFSET and not offset % (15 * minute) else None


def last_turn_at(span: tuple[dt.datetime, dt.datetime] | None, *, started: dt.datetime | None) -> dt.datetime | None:
    """The UTC time of the last turn, by the `span` of a conversation; None where it cannot be told."""
    offset = utc_offset(started, span[0]) if span else None
    return (span[1] - offset).replace(tzinfo=dt.UTC) if span and offset is not None else None


_PLAIN_SPEAKERS = frozenset({"User", "Assistant", "Human"})
_HEADING = re.compile(r"## +(?:([🧑🤖]\S*) +)?(.*)")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})(.*)")
_TOOL = re.compile(r"> ?\*\*🔧\ufe0f? *([^*\s][^*]*)\*\*(?: *<sub>([^<]*)</sub>)? *")
REDACTED = re.compile(r"\[REDACTED:[\w.-]+\]", re.ASCII)
_TAG_NAME = r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)+"  # HTML's own elements have neither - nor _ in their names
_OPENING = re.compile(rf"[ \t]*<({_TAG_NAME})>")
_CLOSING = re.compile(rf"</({_TAG_NAME})>")
_NIGHT = frozenset({23, 0, 1, 2})  # hours of local time in which clocks go back, worldwide
_HOUR = dt.timedelta(hours=1)
_MOST_EXAMPLES = 32  # headings in fenced code in a row: the bound on the work, and on what can be swallowed
_Fence: TypeAlias = tuple[str, int, bool]  # ` or ~, how many, and whether the line is bare, so that it can close
_Mark: TypeAlias = tuple[int, _Fence | None]  # index of a line; None: it counts only outside of fenced code


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One speaker's turn. `text` and `digest` are those of SPEC 7, see `parse_conversation`."""

    ordinal: int  # 1 = first
    speaker: str  # as written, without the face before it
    is_person: bool
    model: str | None
    stamp: str | None  # local time as written
    at: dt.datetime | None  # UTC, where it can be told
    line: int  # of the heading in the body, 1 = first
    text: str
    digest: str  # SHA-256 of the text's UTF-8, 64 hex digits
    anchor: str  # "t12"
    hash_anchor: str | None  # "t-1a2b3c4d", then "t-1a2b3c4d-2"; None for an empty turn


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnList:
    """A body as turns. `preamble` is the text before the first one, all of it when there is none.

    `span` are the local times of the first turn and of the last, by the clock of the first; None without stamps.
    `rest` is the text of turns that are too many to be read as such (SPEC 9), as it is.
    """

    form: Literal["stamped", "plain", "verbatim"]
    preamble: str
    turns: tuple[Turn, ...]
    span: tuple[dt.datetime, dt.datetime] | None = None
    rest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBlock:
    """A part of a turn. `text` is Markdown: of a tool without the `> `, of an aside without its two tags.

    `start` is the line of the turn's text on which the block begins, and `end` the line after its last.
    """

    kind: Literal["speech", "tool", "aside"]
    name: str | None  # of the tool or the tag
    stamp: str | None  # of the tool, as written
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heading:
    line: int  # index of its line
    cut: int  # index of the line before which the previous turn ends
    speaker: str
    is_person: bool
    model: str | None
    stamp: str | None
    time: dt.datetime | None  # local, without zone; None in the plain form
    set_back: dt.timedelta = dt.timedelta()  # by how much the clocks were, since the first turn


def without_hashes(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Turns of a transcript with redactions: those that hold one have neither digest nor hash anchor.

    A hash is always that of the true source (SPEC 7), and that of a text with a short secret would let it be guessed.
    """
    return tuple(replace(turn, digest="", hash_anchor=None) if REDACTED.search(turn.text) else turn for turn in turns)


def parse_conversation(text: str, *, started: dt.datetime | None) -> TurnList:
    """Split a body into turns; never raises.

    A turn's text (SPEC 7): LF line ends, from the line after its heading (the blank line there included) to
    before the next turn's separator (stamped: its `---`; plain: its heading), less trailing blank lines, less
    one final `---`, less the blank lines before that; without a final line end. A byte order mark is dropped.

    `started` is the envelope's (without zone: UTC). It less the first stamp, rounded to the minute, is the
    offset, if at most 14:30 h and a multiple of 15 minutes; else no turn has a UTC time. Once a stamp shows
    that the clocks went back, one hour is added from there on. A change of the clocks that no stamp
    shows (forward, or back during a pause of more than an hour) cannot be told: times after it are an hour off.
    """
    source = text.removeprefix("\ufeff").replace("\r\n", "\n")
    lines = source.split("\n")
    headings = _turn_headings(lines)
    if not headings:
        return TurnList(form="verbatim", preamble=source, turns=())
    first, last, rest = headings[0], headings[-1], ""
    most = most_turns(len(source))
    if len(headings) > most:
        end = headings[most].cut
        rest, lines, headings = "\n".join(lines[end:]), lines[:end], headings[:most]
    offset = utc_offset(started, first.time)
    ends = [heading.cut for heading in headings[1:]] + [len(lines)]
    seen: Counter[str] = Counter()
    turns = []
    for ordinal, (heading, end) in enumerate(zip(headings, ends, strict=True), start=1):
        turn_text = _trimmed(lines[heading.line + 1 : end])
        # Lone surrogates come from files that are not UTF-8; they are hashed rather than refused.
        digest = hashlib.sha256(turn_text.encode("utf-8", "surrogatepass")).hexdigest()
        short = f"t-{digest[:8]}"
        seen[short] += 1
        at = None
        if heading.time is not None and offset is not None:
            at = (heading.time - offset + heading.set_back).replace(tzinfo=dt.UTC)
        turns.append(
            Turn(
                ordinal=ordinal,
                speaker=heading.speaker,
                is_person=heading.is_person,
                model=heading.model,
                stamp=heading.stamp,
                at=at,
                line=heading.line + 1,
                text=turn_text,
                digest=digest,
                anchor=f"t{ordinal}",
                hash_anchor=(short if seen[short] == 1 else f"{short}-{seen[short]}") if turn_text else None,
            )
        )
    preamble = _trimmed(lines[: first.cut])
    span = (first.time, last.time + last.set_back) if first.time and last.time else None
    return TurnList(form="stamped" if span else "plain", preamble=preamble, turns=tuple(turns), span=span, rest=rest)


@lru_cache(maxsize=256)  # outline, picture, page and twin of a transcript ask for those of each turn
def blocks(text: str) -> tuple[TurnBlock, ...]:
    """Split a turn's text into speech, tool calls and asides, in order; only blank lines between them are dropped.

    A tool call is a quote whose first line is `> **🔧 Name** <sub>stamp</sub>` (the stamp may be missing). An
    aside is the text between `<tag-name>` at the start of a paragraph and `</tag-name>` at the end of a line,
    the name with a `-` or `_` in it. Both count only outside of fenced code; a tag never closed is speech.
    """
    lines = text.split("\n")
    asides = _asides(lines)
    marks: list[_Mark] = []
    for number, line in enumerate(lines):
        starts_quote = line.startswith(">") and not (number and lines[number - 1].startswith(">"))
        if number in asides or (starts_quote and _TOOL.fullmatch(line)):
            marks.append((number, None))
        elif fence := _fence(line):
            marks.append((number, fence))
    found: list[TurnBlock] = []
    position = 0
    for start in _outside_fences(marks):
        if start < position:  # it is inside the aside before it
            continue
        found += _speech(lines, position, start)
        found.append(_aside(lines, start, asides[start] + 1) if start in asides else _tool(lines, start))
        position = found[-1].end
    found += _speech(lines, position, len(lines))
    return tuple(found)


def _turn_headings(lines: Sequence[str]) -> list[_Heading]:
    """Return the headings that start a turn: all of the form that the first of them has."""
    candidates: dict[int, _Heading] = {}
    marks: list[_Mark] = []
    cut: int | None = 0  # where a stamped turn would be cut off, were there one on this line; start of the body
    after_blank = True
    for number, line in enumerate(lines):
        if _is_blank(line):
            after_blank = True
            continue
        if heading := _heading(line, number, cut if after_blank else None):
            candidates[number] = heading
            marks.append((number, None))
        elif fence := _fence(line):
            marks.append((number, fence))
        cut = number if _is_rule(line) else None
        after_blank = False
    outside = [candidates[number] for number in _outside_fences(marks)]
    if outside and outside[0].time is None:
        return [heading for heading in outside if heading.time is None]
    return list(_in_order(outside))


def _heading(line: str, number: int, cut: int | None) -> _Heading | None:
    """Return the turn heading that this line can be; `cut` is None where no stamped one can be."""
    match = _HEADING.fullmatch(line)
    if match is None:
        return None
    face, rest = match[1] or "", match[2].rstrip()
    stamp, time = None, None
    if rest.endswith("</sub>"):
        rest, _, stamp = rest.removesuffix("</sub>").rpartition("<sub>")
        stamp = stamp.strip()
        time = local_time(stamp)
        if time is None or cut is None:
            return None
    speaker, model = rest.strip(), None
    if speaker.endswith(")*") and "*(" in speaker:
        speaker, _, model = speaker.removesuffix(")*").rpartition("*(")
        speaker = speaker.rstrip()
    if not speaker or (time is None and speaker not in _PLAIN_SPEAKERS):
        return None
    return _Heading(
        line=number,
        cut=number if time is None or cut is None else cut,
        speaker=speaker,
        is_person=face.startswith("🧑") or (not face and speaker in {"User", "Human"}),
        model=model,
        stamp=stamp,
        time=time,
    )


def _in_order(headings: Iterable[_Heading]) -> Iterator[_Heading]:
    """Yield the stamped headings in order of time; it may go back once, with the clocks.

    By day, a stamp slightly earlier comes from a piece of the same conversation pasted into it.
    """
    last, set_back = dt.datetime.min, dt.timedelta()
    for heading in headings:
        if heading.time is None:
            continue
        if heading.time < last:
            at_night = last.hour in _NIGHT and heading.time.hour in _NIGHT
            if set_back or not at_night or last - heading.time > _HOUR:
                continue
            set_back = _HOUR
        last = heading.time
        yield replace(heading, set_back=set_back)


def _outside_fences(marks: Sequence[_Mark]) -> Iterator[int]:
    """Yield the lines of the marks that are not fences and not in fenced code.

    Fences are counted afresh from each mark that is given, and an open one may be an error: models forget to
    close them, or nest them, and one such turn must not swallow those after it. See `_is_example`.
    """
    fence: _Fence | None = None
    for position, (line, border) in enumerate(marks):
        if border is not None:
            fence = _after(fence, border)
        elif fence is None or not _is_example(marks, position, fence):
            fence = None
            yield line


def _is_example(marks: Sequence[_Mark], position: int, fence: _Fence) -> bool:
    """Say whether the mark at `position`, where this fence is open, is part of an example in fenced code.

    There are two ways to read on from it: within the open fence, or with no fence open. At the next mark outside
    of fenced code in the first way (or at the end), it is an example if only that way has left no fence open.
    """
    kept: _Fence | None = fence
    fresh: _Fence | None = None
    headings = 1
    for number in range(position + 1, len(marks)):
        border = marks[number][1]
        if border is not None:
            kept, fresh = _after(kept, border), _after(fresh, border)
        elif kept is None or headings == _MOST_EXAMPLES:
            break
        else:
            headings += 1
    return kept is None and fresh is not None


def _after(fence: _Fence | None, border: _Fence) -> _Fence | None:
    """Return the fence that is open after this line, where `fence` was open before it."""
    if fence is None:
        return border
    sign, length, is_bare = border
    return None if is_bare and sign == fence[0] and length >= fence[1] else fence


def _fence(line: str) -> _Fence | None:
    match = _FENCE.fullmatch(line)
    return (match[1][0], len(match[1]), _is_blank(match[2])) if match else None


def _asides(lines: Sequence[str]) -> dict[int, int]:
    """Map the first line of each element that can be an aside to its last line."""
    found: dict[int, int] = {}
    closings: dict[str, int] = {}  # the nearest one below, as the lines are read from the last to the first
    for number in range(len(lines) - 1, -1, -1):
        if name := _closing_tag(lines[number]):
            closings[name] = number
        opening = _OPENING.match(lines[number])
        before = lines[number - 1] if number else ""
        starts_paragraph = _is_blank(before) or before.startswith(">") or _closing_tag(before)
        if opening and opening[1] in closings and starts_paragraph:
            found[number] = closings[opening[1]]
    return found


def _closing_tag(line: str) -> str | None:
    """Return the name of the tag that is closed at the end of this line."""
    end = line.rstrip()
    match = _CLOSING.fullmatch(end, max(end.rfind("</"), 0))
    return match[1] if match else None


def _aside(lines: Sequence[str], start: int, end: int) -> TurnBlock:
    """Return the aside of these lines."""
    whole = "\n".join(lines[start:end])
    tag, _, inner = whole[: whole.rindex("</")].partition(">")
    return TurnBlock(kind="aside", name=tag.strip(" \t<"), stamp=None, text=inner, start=start, end=end)


def _tool(lines: Sequence[str], start: int) -> TurnBlock:
    """Return the tool call that starts here."""
    end = start + 1
    while end < len(lines) and lines[end].startswith(">"):
        end += 1
    heading = _TOOL.fullmatch(lines[start])
    name, stamp = heading.groups() if heading else ("", None)
    text = "\n".join(line[1:].removeprefix(" ") for line in lines[start + 1 : end])
    return TurnBlock(kind="tool", name=name.rstrip(), stamp=stamp, text=text, start=start, end=end)


def _speech(lines: Sequence[str], start: int, end: int) -> list[TurnBlock]:
    """Return the speech of these lines, less blank ones around it; none if all are blank."""
    while start < end and _is_blank(lines[start]):
        start += 1
    end = start + _filled_end(lines[start:end], end - start)
    if start == end:
        return []
    text = "\n".join(lines[start:end])
    return [TurnBlock(kind="speech", name=None, stamp=None, text=text, start=start, end=end)]


def _trimmed(lines: Sequence[str]) -> str:
    """Join lines less trailing blank ones, one final `---`, and the blank ones before that."""
    end = _filled_end(lines, len(lines))
    if end and _is_rule(lines[end - 1]):
        end = _filled_end(lines, end - 1)
    return "\n".join(lines[:end])


def _filled_end(lines: Sequence[str], end: int) -> int:
    """Return where the lines before `end` end, less trailing blank ones."""
    while end and _is_blank(lines[end - 1]):
        end -= 1
    return end


def _is_blank(line: str) -> bool:
    return not line.strip(" \t\r")


def _is_rule(line: str) -> bool:
    return line.rstrip(" \t\r") == "---"
