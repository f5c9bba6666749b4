"""Makes the turns of a session from its records, in file order (SPEC 2.2, sessions).

An answer of the agent is one turn: at most one text, with the thinking before it and the tool calls behind it. What a
record says is added once, so a turn depends on earlier records alone; only results go to where their call is.
"""

import datetime as dt
import hashlib
import json
import re
from collections import Counter
from typing import Any, Final, NamedTuple

from memosite.facts.json_text import clean_text
from memosite.facts.patterns import regex
from memosite.facts.times import read_moment
from memosite.facts.values import Struct, field, replace
from memosite.formats.sessions.lines import MOST_TURNS
from memosite.formats.sessions.model import Part, Problem, Session, SessionTurn, TurnKind, cut, numbered

_ID = regex(r"[0-9A-Za-z][0-9A-Za-z._-]{0,127}")
_TYPE = regex(r"[\w.-]{1,60}", re.ASCII)
_FORMAT = regex(r"(?:[\w.-]+/)?(?:x-)?([A-Za-z0-9]{1,12})(?:[+;.-].*)?", re.ASCII)
_COMMIT = regex(r"^(?:Output: )?\[[^\[\]\n]{1,200} ([0-9a-f]{7,40})\] ", re.MULTILINE)
_COMMITTING = regex(r"\bgit\s(?:[^\n;&|]{0,200}\s)?(?:commit|cherry-pick|revert)\b")
_PATCHED = regex(r"^\*\*\* (?:Add File|Update File|Move to): (.{1,1000})$", re.MULTILINE)
_LONGEST_STAMP: Final = 60
_MOST_TYPES: Final = 200
_MOST_PATHS: Final = 200
_MOST_PULLS: Final = 1000


class Place(NamedTuple):
    """Where a record is: its line, its time as written, its id, the inline sidechain that it is of, its last line."""

    line: int
    stamp: str = ""
    record: str = ""
    chain: str = ""
    last_line: int = 0  # 0: the first


class Draft(Struct, kw_only=True, eq=False):
    """A turn that is being made."""

    kind: TurnKind
    speaker: str
    place: Place
    model: str = ""
    text: str = ""
    words_from: int = 0
    lead: list[Part] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    has_call: bool = False
    is_rewound: bool = False
    origin: str = ""


class Conversation:
    """The turns of one session while its records are read, and what else its log says of it."""

    def __init__(self, speaker: str) -> None:
        self.speaker = speaker
        self.drafts: list[Draft] = []
        self.models: dict[str, None] = {}
        self.unshown: Counter[str] = Counter()
        self.pulls: dict[str, int] = {}
        self._open: dict[str, Draft] = {}
        self._calls: dict[str, tuple[Draft, int]] = {}
        self._committing: set[str] = set()
        self._waiting: list[Part] = []
        self._seen: set[str] = set()

    def is_full(self, line: int, problems: list[Problem]) -> bool:
        """Whether it has more turns than are shown of a session, which are cut then; that is a problem of this line."""
        if len(self.drafts) <= MOST_TURNS:
            return False
        del self.drafts[MOST_TURNS:]
        message = f"the session has more than {MOST_TURNS:,} turns; from this line on it is not shown"
        problems.append(Problem(rule="session-bounds", line=line, message=message))
        return True

    def say(self, said: Draft) -> str:
        """A turn that is no answer: what a person typed, what the program put there, what a compaction left.

        Gives what identifies it, also if it is a replay, which is no turn again.
        """
        content = said.text or str([part.size for part in said.lead])
        said.origin = origin_of(said.kind, said.place, content)
        if self._is_new(said.place, said.origin):
            self._open.pop(said.place.chain, None)
            self._begin(said)
        return said.origin

    def answer(self, text: str, place: Place, *, model: str = "", speaker: str = "") -> None:
        """A text of the agent: of the open turn, if that has neither text nor call, else of a new one."""
        origin = origin_of("assistant", place, text) if text else ""
        if text and self._is_new(place, origin):
            draft = self._answering(place, model, speaker, is_text=True)
            draft.text, draft.origin, draft.place = text, origin, place
            draft.model = model or draft.model

    def think(self, text: str, place: Place, *, model: str = "") -> None:
        """A thought of the agent, which begins a turn if the open one has a text or a call."""
        origin = origin_of("thinking", place, text)
        if text.strip() and self._is_new(place, origin):
            draft = self._answering(place, model, "", is_text=True)
            kept, more = cut(text)
            draft.lead.append(Part(kind="thinking", line=place.line, text=kept, more=more))
            draft.origin = draft.origin or origin

    def call(self, part: Part, place: Place, *, model: str = "", is_command: bool = False, mark: str = "") -> None:
        """A call of a tool, which is of the open turn whatever that has; a command may be one that makes commits.

        Of a log that does not tell all of its calls, `mark` tells them apart.
        """
        origin = origin_of("call", place, mark or part.call or f"{part.name}\0{part.text}")
        if not self._is_new(place, origin):
            return
        draft = self._answering(place, model, "", is_text=False)
        draft.has_call = True
        draft.parts.append(part)
        draft.origin = draft.origin or origin
        if part.call:
            self._calls[part.call] = draft, len(draft.parts) - 1
            self._committing.discard(part.call)
            if is_command and is_committing(part.text):
                self._committing.add(part.call)

    def called(self, call: str) -> Part | None:
        """The last call with an id, None if there was none."""
        found = self._calls.get(call)
        return found[0].parts[found[1]] if found else None

    def result(
        self,
        call: str,
        text: str,
        place: Place,
        *,
        is_error: bool = False,
        agent: str = "",
        images: tuple[Part, ...] = (),
    ) -> None:
        """What came back from a tool: at its call wherever that is; without one where it stands."""
        if call and not self._is_new(place, origin_of("result", place, call)):
            return
        kept, more = cut(text)
        draft, index = self._calls.get(call, (None, 0))
        part = draft.parts[index] if draft else Part(kind="tool", line=place.line, call=call, is_orphan=True)
        is_again = part.result is not None
        if is_again:
            part = Part(kind="tool", line=place.line, name=part.name, call=call)
        part = replace(
            part,
            result=kept,
            result_line=place.line,
            result_more=more,
            is_error=is_error,
            wrote=() if is_error else part.wrote,
            commits=commits_in(text) if call in self._committing and not is_again else (),
            agent=agent or part.agent,
        )
        if draft is None or is_again:
            self.aside(part, *images)
        else:
            draft.parts[index] = part
            draft.parts.extend(images)

    def aside(self, *parts: Part) -> None:
        """What is shown where it stands: behind all that was before it; before the first turn, if nothing was."""
        if self.drafts:
            self.drafts[-1].parts.extend(parts)
        else:
            self._waiting.extend(parts)

    def mark(self, text: str, line: int) -> None:
        """A line to be drawn here."""
        self.aside(Part(kind="mark", line=line, text=text))

    def pull(self, address: str) -> None:
        """An address of a pull request, named behind the last turn."""
        if re.fullmatch(r"https?://[^\s<>\"'\x00-\x1f\x7f]{1,500}", address) and len(self.pulls) < _MOST_PULLS:
            self.pulls.setdefault(address, len(self.drafts))

    def skip(self, type_: object) -> None:
        """Counts a record of a type that is not shown."""
        name = type_ if isinstance(type_, str) and _TYPE.fullmatch(type_) else "unknown"
        self.unshown[name if name in self.unshown or len(self.unshown) < _MOST_TYPES else "unknown"] += 1

    def session(self, session: Session, problems: tuple[Problem, ...]) -> Session:
        """The session with its turns, and with what is known by them alone."""
        turns = numbered(_turn(draft) for draft in self.drafts)
        first = next((turn for turn in turns if turn.at is not None), None)
        start, start_text = session.start, session.start_text
        if start is None and first is not None:
            start, start_text = first.at, first.stamp
        return replace(
            session,
            key=session.key or next((turn.digest[:8] for turn in turns if turn.digest), "unnamed"),
            start=start,
            start_text=start_text,
            turns=turns,
            models=tuple(self.models),
            unshown=tuple(sorted(self.unshown.items(), key=lambda item: (-item[1], item[0]))),
            pulls=tuple((ordinal, address) for address, ordinal in self.pulls.items()),
            problems=problems,
        )

    def _is_new(self, place: Place, origin: str) -> bool:
        """Whether no block of this kind, time and content was before; without a time nothing says so."""
        is_new = not place.stamp or origin not in self._seen
        self._seen.add(origin)
        return is_new

    def _begin(self, draft: Draft) -> None:
        draft.lead[:0] = self._waiting
        self._waiting.clear()
        self.drafts.append(draft)

    def _answering(self, place: Place, model: str, speaker: str, *, is_text: bool) -> Draft:
        speaker = speaker or self.speaker
        draft = self._open.get(place.chain)
        if draft is None or draft.speaker != speaker or (is_text and (draft.text or draft.has_call)):
            draft = self._open[place.chain] = Draft(kind="assistant", speaker=speaker, place=place, model=model)
            self._begin(draft)
        if model and speaker == self.speaker:
            self.models.setdefault(model)
        return draft


def _turn(draft: Draft) -> SessionTurn:
    place = draft.place
    return SessionTurn(
        kind=draft.kind,
        speaker=draft.speaker,
        model=draft.model,
        at=read_time(place.stamp),
        stamp=place.stamp,
        line=place.line,
        last_line=place.last_line or place.line,
        record=place.record,
        text=draft.text,
        words_from=draft.words_from,
        lead=tuple(draft.lead),
        parts=tuple(draft.parts),
        chain=place.chain,
        is_rewound=draft.is_rewound,
        origin=draft.origin,
    )


def read_time(stamp: str) -> dt.datetime | None:
    """The moment of a stamp, UTC; None if it is no time."""
    moment = read_moment(stamp) if stamp else None
    return moment.instant if moment else None


def stamp_of(value: object) -> str:
    """A time as written, of a length that can be shown; "" if it is no string."""
    return clean_text(value[:_LONGEST_STAMP]) if isinstance(value, str) else ""


def key_of(value: object) -> str:
    """An id of a session, an agent or a record; "" if it is none, or could not be in an address."""
    return value if isinstance(value, str) and _ID.fullmatch(value) else ""


def call_of(value: object) -> str:
    """The id of a call, cut; "" if it is no string."""
    return clean_text(value[:200]) if isinstance(value, str) else ""


def words(value: object) -> str:
    """A string as people may be shown it on one line (a model, a branch, a tool); "" if it is none."""
    return " ".join(clean_text(value[:300]).split()) if isinstance(value, str) else ""


def origin_of(kind: str, place: Place, content: str) -> str:
    """What identifies a block wherever it is copied: its kind, time and content; without a time its record's id."""
    if not place.stamp:
        return place.record
    return hashlib.sha256(f"{kind}\0{place.stamp}\0{content}".encode()).hexdigest()[:32]


def readable(value: Any) -> tuple[str, int]:
    """The input of a tool as people read it: a text as it is, else JSON; what is kept of it, and the bytes left out."""
    if isinstance(value, str):
        return cut(clean_text(value))
    if value is None or value == {}:
        return "", 0
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= 40_000:
        text = json.dumps(value, ensure_ascii=False, indent=2)
    return cut(clean_text(text))


def image(format_: object, data: object, line: int) -> Part:
    """An image in its place: its format, and its size when decoded. What it shows is not kept."""
    match = _FORMAT.fullmatch(format_[:100]) if isinstance(format_, str) else None
    size = max(0, len(data) * 3 // 4 - data[-2:].count("=")) if isinstance(data, str) else 0
    return Part(kind="image", line=line, name=match[1].upper() if match else "", size=size)


def image_of_address(address: object, line: int) -> Part:
    """An image that is named by its address, which may hold it (`data:image/png;base64,…`)."""
    head, comma, data = address.partition(",") if isinstance(address, str) else ("", "", "")
    holds = bool(comma) and head.startswith("data:")
    return image(head[5:].partition(";")[0] if holds else "", data if holds else None, line)


def is_committing(command: str) -> bool:
    """Whether a command may make commits."""
    return bool(_COMMITTING.search(command))


def commits_in(output: str) -> tuple[str, ...]:
    """The commits that git says it made: `[main 1a2b3c4] Subject`."""
    return tuple(dict.fromkeys(_COMMIT.findall(output)))[:_MOST_PATHS]


def patched(text: str) -> tuple[str, ...]:
    """The files that a patch of `apply_patch` writes."""
    return paths(_PATCHED.findall(text)) if "*** Begin Patch" in text else ()


def paths(found: list[Any]) -> tuple[str, ...]:
    """Paths as a tool names them, each once."""
    clean = (clean_text(path).strip() for path in found if isinstance(path, str) and 0 < len(path) <= 1000)
    return tuple(dict.fromkeys(path for path in clean if path and "\n" not in path))[:_MOST_PATHS]


def joined(found: list[dict[str, Any]], key: str = "text") -> str:
    """The texts of blocks, with a blank line between them."""
    return clean_text("\n\n".join(block[key] for block in found if isinstance(block.get(key), str)))
