"""The turns of a session as data on the shelf, written once when its log is parsed, and read by whoever shows them.

    Session ─► words (the texts of its turns) + turns as JSON + thoughts as JSON ─► TurnList

Nobody parses a log twice: pages, twins, search, `cite` and `verify` read these. The words are a text of the archive
like any other; the text of each turn begins behind a blank line there, which is the turn's `line`. Thoughts are apart,
since they are published only if memosite.yml says so.
"""

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

from memosite.facts.phrases import joined, phrase, phrases
from memosite.facts.times import read_moment
from memosite.formats.sessions.model import MOST_SHOWN, Part, Session, SessionTurn, call_line, cut
from memosite.formats.turns import REDACTED, Turn, TurnBlock, TurnList, TurnPlace, parse_conversation

_MARK: Final = "\0session\n"
"""What turns as data begin with: no text of the archive holds a NUL (`clean_text`)."""

_TICKS: Final = "`"
_RUNS: Final = re.compile("`+")
_TOOLS: Final = 60_000  # bytes of tools that any session may show
_OF_WORDS: Final = 1  # and for each byte of its words
_FIELDS: Final = (
    "kind",
    "speaker",
    "model",
    "stamp",
    "line",
    "last_line",
    "record",
    "text",
    "digest",
    "hash_anchor",
    "words_from",
)


class Kept(NamedTuple):
    """What is kept of a session: its words, its turns as JSON, and its thoughts as JSON ("" if it has none)."""

    words: str
    turns: str
    thoughts: str


def keep(session: Session) -> Kept:
    """A session as it is kept."""
    turns = _bounded(session.turns)
    thoughts = {
        f"{turn.ordinal}": [[one.line, one.text, one.more] for one in _thoughts(turn)]
        for turn in session.turns
        if any(_thoughts(turn))
    }
    return Kept(
        words="".join(f"\n{turn.text}\n" for turn in session.turns),
        turns=_MARK + json.dumps([_kept(turn) for turn in turns], ensure_ascii=False, separators=(",", ":")),
        thoughts=json.dumps(thoughts, ensure_ascii=False, separators=(",", ":")) if thoughts else "",
    )


def _bounded(turns: Sequence[SessionTurn]) -> list[SessionTurn]:
    """Turns whose tools show so much in all that a session publishes no more than SPEC 9 allows, the shortest whole."""
    parts = [part for turn in turns for part in (*turn.lead, *turn.parts) if part.kind != "thinking"]
    sizes = sorted(len(text.encode()) for part in parts for text in (part.text, part.result or "") if text)
    left = _TOOLS + _OF_WORDS * sum(len(turn.text.encode()) for turn in turns)
    most = MOST_SHOWN
    for number, size in enumerate(sizes):
        if size * (len(sizes) - number) > left:
            most = left // (len(sizes) - number)
            break
        left -= size
    if not sizes or most >= sizes[-1]:
        return list(turns)
    return [
        replace(
            turn,
            lead=tuple(_shorter(one, most) for one in turn.lead),
            parts=tuple(_shorter(one, most) for one in turn.parts),
        )
        for turn in turns
    ]


def _shorter(part: Part, most: int) -> Part:
    if part.kind == "thinking":
        return part
    text, more = cut(part.text, most)
    result, result_more = cut(part.result or "", most)
    return replace(
        part,
        text=text,
        more=part.more + more,
        result=part.result and result,
        result_more=part.result_more + result_more,
    )


def read_conversation(text: str, *, started: dt.datetime | None) -> TurnList:
    """The turns of a conversation: of a session log as they were kept, else as its body is parsed."""
    return _turns_of(text) if text.startswith(_MARK) else parse_conversation(text, started=started)


def without_secrets(session: Session) -> Session:
    """A session in which the turns are empty that hold a redaction; their places stay."""
    return replace(session, turns=tuple(_emptied(turn) if _holds_secret(turn) else turn for turn in session.turns))


def _holds_secret(turn: SessionTurn) -> bool:
    parts = (part for part in (*turn.lead, *turn.parts))
    texts = (text for part in parts for text in (part.text, part.result or "", part.name, *part.wrote))
    return any(REDACTED.search(text) for text in (turn.text, *texts))


def _emptied(turn: SessionTurn) -> SessionTurn:
    return replace(turn, text="", lead=(), parts=(), digest="", hash_anchor=None, is_withheld=True)


def _thoughts(turn: SessionTurn) -> Iterator[Part]:
    return (part for part in (*turn.lead, *turn.parts) if part.kind == "thinking")


def _kept(turn: SessionTurn) -> dict[str, Any]:
    """A turn as JSON, without fields that are empty."""
    said = {name: getattr(turn, name) for name in _FIELDS}
    said["at"] = turn.at.isoformat() if turn.at else ""
    said["state"] = _state(turn)
    for name, parts in (("before", turn.lead), ("after", turn.parts)):
        said[name] = [_kept_part(part) for part in parts]
    return {name: value for name, value in said.items() if value}


def _state(turn: SessionTurn) -> str:
    if turn.is_withheld:
        return "withheld"
    return "rewound" if turn.is_rewound else "sidechain" if turn.chain else ""


def _kept_part(part: Part) -> dict[str, Any]:
    """A part as JSON; a thought by its length alone."""
    said = {name: getattr(part, name) for name in part.__slots__}
    if part.kind == "thinking":
        said |= {"text": "", "size": len(part.text.encode()) + part.more, "more": 0}
    if part.kind == "tool":
        said["does"] = call_line(part)
    if part.result == "":
        said["is_empty"] = True  # something came back, and it was nothing
    return {name: value for name, value in said.items() if value}


@lru_cache(maxsize=32)  # the page of a session, its twins and its search documents ask one after the other
def _turns_of(data: str) -> TurnList:
    turns: list[Turn] = []
    line = 1
    for ordinal, said in enumerate(json.loads(data[len(_MARK) :]), 1):
        text = said.get("text", "")
        moment = read_moment(said.get("at", ""))
        turns.append(
            Turn(
                ordinal=ordinal,
                kind=said["kind"],
                speaker=said["speaker"],
                model=said.get("model"),
                stamp=said.get("stamp"),
                order=None,
                at=moment.instant if moment else None,
                line=line,
                text=text,
                digest=said.get("digest", ""),
                anchor=f"t{ordinal}",
                hash_anchor=said.get("hash_anchor"),
                before=tuple(_blocks(said.get("before", ()))),
                after=tuple(_blocks(said.get("after", ()))),
                place=TurnPlace(
                    line=said["line"],
                    last_line=said.get("last_line") or said["line"],
                    record=said.get("record", ""),
                    state=said.get("state", ""),
                    words_from=said.get("words_from", 0),
                ),
            )
        )
        line += text.count("\n") + 2
    return TurnList(form="session", preamble="", turns=tuple(turns))


@lru_cache(maxsize=8)
def thoughts_of(data: str) -> Mapping[int, tuple[TurnBlock, ...]]:
    """The thoughts of a session by the ordinals of their turns, in the order of their parts."""
    return {
        int(ordinal): tuple(_block("thinking", "", text, _more(more, line)) for line, text, more in some)
        for ordinal, some in (json.loads(data) if data else {}).items()
    }


def _blocks(parts: Iterable[Mapping[str, Any]]) -> Iterator[TurnBlock]:
    for part in parts:
        text, more = part.get("text", ""), _more(part.get("more", 0), part["line"])
        match part["kind"]:
            case "tool":
                yield _tool(part)
            case "image":
                yield _block("image", part.get("name", ""), size_of(part.get("size", 0)), "")
            case "thinking":
                yield _block("thinking", "", "", size_of(part.get("size", 0)))
            case "context":
                yield _block("aside", part.get("name", ""), text, more)
            case "verbatim":
                yield _block("tool", phrase("a line that is no JSON object"), fenced(text), more)
            case _:
                yield _block("mark", "", text, "")


def _block(kind: Any, name: str, text: str, note: str) -> TurnBlock:
    return TurnBlock(kind=kind, name=name or None, stamp=None, text=text, start=0, end=0, note=note)


def _tool(part: Mapping[str, Any]) -> TurnBlock:
    """A call with its input and its result, each as code."""
    notes = [_more(part.get("more", 0), part["line"]), _more(part.get("result_more", 0), part.get("result_line", 0))]
    result = part.get("result", "")
    if part.get("is_orphan"):
        notes.append(phrase("The log does not have the call."))
    elif not result and not part.get("is_empty"):
        notes.append(phrase("The log does not have a result."))
    if part.get("is_error"):
        notes.append(phrase("It failed."))
    text = "\n\n".join(fenced(one) for one in (part.get("text", ""), result) if one)
    block = _block("tool", part.get("name", ""), text, joined(" ", filter(None, notes)) if any(notes) else "")
    return replace(block, does=part.get("does", ""), agent=part.get("agent", ""))


def fenced(text: str) -> str:
    """A text as a block of code, whatever is in it."""
    longest = max(map(len, _RUNS.findall(text)), default=0) if _TICKS in text else 0
    fence = _TICKS * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _more(number: int, line: int) -> str:
    """What is said of what is left out."""
    return phrases("{n:,} byte more in the log, line {line}.", "{n:,} bytes more in the log, line {line}.", number,
                   line=line) if number else ""  # fmt: skip


def size_of(number: int) -> str:
    """A number of bytes, as people read it."""
    return f"{number:,} B" if number < 1_000 else f"{round(number / 1_000):,} kB"
