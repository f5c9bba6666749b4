"""The turns of a session as data on the shelf, written once when its log is parsed, and read by whoever shows them.

    Session ─► words (the texts of its turns) + turns as JSON + thoughts as JSON ─► TurnList

Nobody parses a log twice: pages, twins, search, `cite` and `verify` read these. The words are a text of the archive
like any other; the text of each turn begins behind a blank line there, which is the turn's `line`. Thoughts are apart,
since they are published only if memosite.yml says so.
"""

import datetime as dt
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from memosite.facts.patterns import regex
from memosite.facts.phrases import joined, phrase, phrases
from memosite.facts.times import read_moment
from memosite.facts.values import replace
from memosite.formats.sessions.model import MOST_SHOWN, Part, Session, SessionTurn, call_line, cut
from memosite.formats.turns import REDACTED, Turn, TurnBlock, TurnList, TurnPlace, parse_conversation

_MARK: Final = "\0session\n"
"""What turns as data begin with: no text of the archive holds a NUL (`clean_text`)."""

_TICKS: Final = "`"
_RUNS: Final = regex("`+")
_TOOLS: Final = 60_000  # bytes of tools that any session may show
_WRITTEN_LONGER: Final = (("&", 4), ("<", 3), (">", 3), ('"', 5))
_OF_WORDS: Final = 1  # and for each byte of its words
_FIELDS: Final = (
    "kind",
    "speaker",
    "model",
    "stamp",
    "line",
    "last_line",
    "file",
    "record",
    "text",
    "digest",
    "hash_anchor",
    "words_from",
)


class Kept(NamedTuple):
    """What is kept of a session: its words, its turns as JSON, its thoughts as JSON, and what its tools put out.

    Of the last two, "" if there is none.
    """

    words: str
    turns: str
    thoughts: str
    outputs: str


def keep(session: Session) -> Kept:
    """A session as it is kept."""
    turns = [_without_thoughts(turn) for turn in _bounded(session.turns)]
    thoughts = {
        f"{turn.ordinal}": [[one.line, one.text, one.more] for one in _thoughts(turn)]
        for turn in session.turns
        if any(_thoughts(turn))
    }
    return Kept(
        words="".join(f"\n{turn.text}\n" for turn in turns),
        turns=_MARK + json.dumps([_kept(turn) for turn in turns], ensure_ascii=False, separators=(",", ":")),
        thoughts=json.dumps(thoughts, ensure_ascii=False, separators=(",", ":")) if thoughts else "",
        outputs="".join(f"\n{part.result}\n" for turn in turns for part in turn.parts if _has_output(part)),
    )


def _has_output(part: Part) -> bool:
    """Whether a part has an output of its own; one that is in the text of its turn, too, is there."""
    return part.kind == "tool" and bool(part.result) and not part.last_line


def _without_thoughts(turn: SessionTurn) -> SessionTurn:
    """A turn in whose text no thought is: where one was there are blank lines. Its digest is that of the source."""
    found = [part for part in turn.parts if part.kind == "thinking" and part.last_line]
    if not found:
        return turn
    lines = turn.text.split("\n")
    for part in found:
        first, end = max(part.line - turn.line, 0), max(part.last_line - turn.line + 1, 0)
        lines[first:end] = [""] * len(lines[first:end])
    return replace(turn, text="\n".join(lines))


def _bounded(turns: Sequence[SessionTurn]) -> list[SessionTurn]:
    """Turns whose tools show so much in all that a session publishes no more than SPEC 9 allows, the shortest whole."""
    parts = [part for turn in turns for part in (*turn.lead, *turn.parts) if part.kind != "thinking"]
    sizes = sorted(_weight(text) for part in parts for text in (part.text, part.result or "") if text)
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


def _weight(text: str) -> int:
    """How many bytes a text takes in HTML, where some signs are written as their names."""
    return len(text.encode()) + sum(text.count(sign) * more for sign, more in _WRITTEN_LONGER)


def _within(text: str, most: int) -> tuple[str, int]:
    """The beginning of a text that takes at most so many bytes in HTML, more or less, and how many bytes are left."""
    weight = _weight(text)
    return cut(text, most * len(text.encode()) // weight) if weight > most else (text, 0)


def _shorter(part: Part, most: int) -> Part:
    if part.kind == "thinking":
        return part
    text, more = _within(part.text, most)
    result, result_more = _within(part.result or "", most)
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
    """A session in which the turns are empty that hold a redaction, in whatever part; their places stay."""
    turns = tuple(_emptied(turn) if any(map(REDACTED.search, _strings(turn))) else turn for turn in session.turns)
    return replace(
        session,
        turns=turns,
        pulls=tuple(pull for pull in session.pulls if not REDACTED.search(pull[1])),
        models=tuple(model for model in session.models if not REDACTED.search(model)),
        title=_clean(session.title),
        folder=_clean(session.folder),
        branch=_clean(session.branch),
        version=_clean(session.version),
        start_text=_clean(session.start_text),
    )


def _strings(turn: SessionTurn) -> Iterator[str]:
    """All that a turn says."""
    yield from (turn.text, turn.model, turn.stamp, turn.speaker)
    for part in (*turn.lead, *turn.parts):
        yield from (part.text, part.result or "", part.name, *part.wrote)


def _emptied(turn: SessionTurn) -> SessionTurn:
    return replace(
        turn,
        text="",
        words_from=0,
        lead=(),
        parts=(),
        digest="",
        hash_anchor=None,
        is_withheld=True,
        model=_clean(turn.model),
        stamp=_clean(turn.stamp),
    )


def _clean(text: str) -> str:
    """A text of one line; nothing of one that held a secret."""
    return "" if REDACTED.search(text) else text


def key_without_secret(session: Session) -> str:
    """The key of a session: where it was made of a text that holds a redaction, it is made of the heading instead."""
    made_of = (turn for turn in session.turns if turn.digest and turn.digest[: len(session.key)] == session.key)
    if not session.key or not any(REDACTED.search(turn.text) for turn in made_of):
        return session.key
    heading = f"{_clean(session.title)}\n{_clean(session.start_text)}"
    return hashlib.sha256(heading.encode()).hexdigest()[:8]


_ADDRESS = regex(r"(data:[\w.+-]{1,60}/[\w.+-]{1,60}(?:;[\w=.+-]{1,60}){0,3};base64,)[A-Za-z0-9+/=_-]+", re.ASCII)
_LONG = regex(r"[A-Za-z0-9+/_-]{1000,}={0,2}", re.ASCII)
_RECORD = regex(r"\s*[{\[]")


def without_files(session: Session) -> Session:
    """A session without the files that are written in it as base64: their sizes stay (SPEC 9).

    A text in which one was has no digest: what is published of it is not its source.
    """
    return replace(session, turns=tuple(map(_without_files, session.turns)))


def _without_files(turn: SessionTurn) -> SessionTurn:
    said = _ADDRESS.sub(_size_of_file, turn.text)
    if said != turn.text:
        turn = replace(turn, text=said, digest="", hash_anchor=None, words_from=min(turn.words_from, len(said)))
    lead, parts = (tuple(map(_part_without_files, some)) for some in (turn.lead, turn.parts))
    return replace(turn, lead=lead, parts=parts) if (lead, parts) != (turn.lead, turn.parts) else turn


def _part_without_files(part: Part) -> Part:
    """A part without files; of a record that could not be read only the size: a thought or an image may be in it."""
    if part.kind == "verbatim" and _RECORD.match(part.text):
        size, mark = len(part.text.encode()) + part.more, REDACTED.search(part.text)
        return replace(part, text=f"[{size_of(size)}]{mark[0] if mark else ''}", more=0)
    text, result = (
        _LONG.sub(_size_of_file, _ADDRESS.sub(_size_of_file, one)) for one in (part.text, part.result or "")
    )
    if text == part.text and result == (part.result or ""):
        return part
    more, result_more = len(part.text) - len(text), len(part.result or "") - len(result)
    return replace(
        part,
        text=text,
        more=part.more + max(more, 0),
        result=part.result and result,
        result_more=part.result_more + max(result_more, 0),
    )


def _size_of_file(found: re.Match[str]) -> str:
    head = found[1] if found.re.pattern == _ADDRESS.pattern else ""
    return f"{head}[{size_of((len(found[0]) - len(head)) * 3 // 4)}]"


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
    said = {name: getattr(part, name) for name in part.__struct_fields__}
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
                before=tuple(_blocks(said.get("before", ()), said["line"])),
                after=tuple(_blocks(said.get("after", ()), said["line"])),
                place=TurnPlace(
                    line=said["line"],
                    last_line=said.get("last_line") or said["line"],
                    file=said.get("file", ""),
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


def _blocks(parts: Iterable[Mapping[str, Any]], begin: int) -> Iterator[TurnBlock]:
    """Parts as blocks; those that are in the text of their turn, which begins on a line, with their place in it."""
    for part in parts:
        for block in _blocks_of(part):
            last = part.get("last_line", 0)
            yield replace(block, start=part["line"] - begin, end=last - begin + 1) if last else block


def _blocks_of(part: Mapping[str, Any]) -> Iterator[TurnBlock]:
    text, more = part.get("text", ""), _more(part.get("more", 0), part["line"])
    match part["kind"]:
        case "tool":
            line, is_cut = part.get("result_line") or part["line"], bool(part.get("result_more"))
            output = "" if part.get("last_line") else part.get("result", "")
            yield replace(_tool(part), output=output, line=line, is_cut=is_cut)
        case "image":
            yield _block("image", part.get("name", ""), size_of(part.get("size", 0)), "")
        case "thinking":
            yield _block("thinking", "", "", size_of(part.get("size", 0)))
        case "context":
            yield _block("aside", part.get("name", ""), text, more)
        case "verbatim":
            yield _block("tool", phrase("a line that is not a JSON object"), fenced(text), more)
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
