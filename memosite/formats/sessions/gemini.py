"""Reads the session logs of Gemini CLI: one JSON object, or JSON Lines (SPEC 2.2, sessions, Gemini CLI).

    object, or lines ─► messages by id, as they were written last ─► turns

A message is written again whenever something is added to it; it stays at its first place. `$set` holds what the model
is shown from now on: messages of it that were not there before are added, none is taken away. `$rewindTo` takes back.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from memosite.facts.json_text import clean_text, key_places
from memosite.facts.values import Struct, replace
from memosite.formats.sessions.building import (
    Conversation,
    Draft,
    Place,
    call_of,
    image,
    joined,
    key_of,
    origin_of,
    paths,
    read_time,
    readable,
    stamp_of,
    words,
)
from memosite.formats.sessions.lines import FILE_BYTES, Record, blocks, first_records, nested, parse, read_lines, string
from memosite.formats.sessions.model import HARNESS, PERSON, PUT_BY_GEMINI, Part, Problem, Session, cut

SYSTEM: Final = "gemini"

_SNAPSHOT = "<state_snapshot>"
_THANKS = "Got it. Thanks for the additional context!"  # what the program has the model say to its own words
_HEADS = ("projectHash", "messages", "startTime")
_WRITING = frozenset(("write_file", "replace", "edit"))
_SNIFFED = 64 * 2**10
_FAILED = frozenset(("error", "cancelled"))


def matches(data: bytes) -> bool:
    """Whether a file is a log of Gemini CLI, by its first record, or the first keys of its object."""
    head = next(first_records(data, 1), None)
    if head is not None and _is_head(head):
        return True
    text = str(data[:_SNIFFED], "utf-8", "replace").lstrip("\ufeff \t\r\n")
    if not text.startswith("{") or '"sessionId"' not in text:
        return False
    keys = {path[0] for path, _ in key_places(text) if len(path) == 1}
    return "sessionId" in keys and not keys.isdisjoint(_HEADS) and "type" not in keys


def _is_head(record: Record) -> bool:
    is_other = "type" in record or "parentUuid" in record
    return bool(string(record, "sessionId")) and not is_other and any(key in record for key in _HEADS)


def read(data: bytes) -> tuple[Session, ...]:
    """The session of a log; none if it has no turn."""
    problems: list[Problem] = []
    log = _Log()
    whole = _whole(data)
    for line, record in ((1, whole),) if whole is not None else read_lines(data, problems):
        if isinstance(record, str):
            log.add_line(Part(kind="verbatim", line=line, text=record))
        elif whole is not None:
            log.read(record, _lines_of_messages(str(data, "utf-8", "replace")))
        else:
            log.read(record, [line])
    return log.sessions(problems)


def _whole(data: bytes) -> Record | None:
    """The object that a file is, if it is one of several lines."""
    if len(data) > FILE_BYTES or next(first_records(data, 1), None) is not None:
        return None
    value = parse(str(data, "utf-8", "replace").removeprefix("\ufeff"))
    return value if isinstance(value, dict) else None


def _lines_of_messages(text: str) -> list[int]:
    """The lines at which the messages of an object begin, of as many as is known."""
    lines: list[int] = []
    line, counted = 1, 0
    for path, offset in key_places(text):
        if len(path) == 2 and path[0] == "messages" and path[1] == len(lines):
            line += text.count("\n", counted, offset)
            counted = offset
            lines.append(line)
    return lines or [1]


class _Message(Struct, kw_only=True, eq=False):
    """A message as it was written last: who says it, its thoughts, its text, its calls with their results."""

    said: Draft | None = None
    line_part: Part | None = None
    place: Place
    text: str = ""
    model: str = ""
    thoughts: tuple[str, ...] = ()
    calls: tuple[tuple[Part, bool], ...] = ()
    results: tuple[tuple[str, str, bool], ...] = ()
    images: tuple[Part, ...] = ()
    is_rewound: bool = False


class _Log:
    """The records of a log."""

    def __init__(self) -> None:
        self.head: Record = {}
        self.type_counts: list[str] = []
        self._messages: list[_Message] = []
        self._numbers: dict[str, int] = {}  # of messages by their ids
        self._by_text: dict[str, int] = {}
        self._calls: set[str] = set()
        self._live: list[int] = []

    def add_line(self, part: Part) -> None:
        """Adds a line that is no record."""
        self._messages.append(_Message(line_part=part, place=Place(part.line)))

    def read(self, record: Record, lines: list[int]) -> None:
        """Adds a record; its messages begin at these lines, the last of which holds for all others."""
        change = nested(record, "$set")
        if "$rewindTo" in record:
            self._rewind(string(record, "$rewindTo"))
        elif change or _is_head(record):
            known = ("startTime", "summary", "directories", *(() if self.head.get("sessionId") else ("sessionId",)))
            source = change or record
            self.head |= {key: source[key] for key in known if source.get(key)}
            for number, message in enumerate(blocks(source.get("messages"))):
                self._add(message, lines[min(number, len(lines) - 1)], is_context=bool(change))
        elif string(record, "id") and string(record, "type"):
            self._add(record, lines[0])
        else:
            self.type_counts.append(string(record, "type"))

    def sessions(self, problems: list[Problem]) -> tuple[Session, ...]:
        """What was read."""
        turns = Conversation("Gemini CLI")
        for type_ in self.type_counts:
            turns.skip(type_)
        for message in self._messages:
            began = len(turns.drafts)
            self._tell(message, turns)
            if message.is_rewound:
                for draft in islice(turns.drafts, began, None):
                    draft.is_rewound = True
            if turns.is_full(message.place.line, problems):
                break
        if not turns.drafts:
            return ()
        start_text = stamp_of(self.head.get("startTime"))
        start = read_time(start_text)
        folders = self.head.get("directories")
        session = Session(
            system=SYSTEM,
            key=key_of(self.head.get("sessionId")),
            start=start,
            start_text=start_text if start else "",
            title=words(self.head.get("summary")),
            folder=words(folders[0]) if isinstance(folders, list) and folders else "",
        )
        return (turns.session(session, tuple(problems)),)

    def _rewind(self, id_: str) -> None:
        """Takes back a message and all after it. An id that is not known changes nothing."""
        first = self._numbers.get(id_)
        while first is not None and self._live and self._live[-1] >= first:
            self._messages[self._live.pop()].is_rewound = True

    def _add(self, record: Record, line: int, *, is_context: bool = False) -> None:
        id_, type_ = string(record, "id"), string(record, "type")
        message = _message(record, Place(line, stamp_of(record.get("timestamp")), key_of(id_)))
        if message is None:
            self.type_counts.append(type_)
            return
        number = self._numbers.get(id_) if id_ else None
        calls = {part.call for part, _ in message.calls}
        mark = origin_of(type_, Place(0, "-"), message.text)
        if number is None and is_context:  # with new ids, it may be what was there before
            number = self._by_text.get(mark) if message.text else None
            if number is not None or (not message.text and calls <= self._calls):
                if id_ and number is not None:
                    self._numbers[id_] = number
                return
        self._calls |= calls
        if number is None:
            number = len(self._messages)
            self._messages.append(message)
            self._live.append(number)
        else:
            former = self._messages[number]
            if message.text == former.text:
                message.place = former.place
            message.is_rewound = former.is_rewound
            self._messages[number] = message
        if id_:
            self._numbers[id_] = number
        if message.text:
            self._by_text.setdefault(mark, number)

    @staticmethod
    def _tell(message: _Message, turns: Conversation) -> None:
        """Adds to the turns what a message says."""
        place, model = message.place, message.model
        if message.line_part is not None:
            turns.aside(message.line_part)
            return
        if message.said is not None:
            message.said.place = place
            turns.say(message.said)
        for thought in message.thoughts:
            turns.think(thought, place, model=model)
        if message.said is None:
            turns.answer(message.text, place, model=model)
        for part, is_command in message.calls:
            turns.call(part, place, model=model, is_command=is_command)
        for call, text, is_error in message.results:
            part_called = turns.called(call)
            if part_called is None or part_called.result is None:
                turns.result(call, text, place, is_error=is_error)
        if message.said is None and message.images:
            turns.aside(*message.images)


def _message(record: Record, place: Place) -> _Message | None:
    """What a message says; None if it is of a type that is not shown, or says nothing."""
    type_ = string(record, "type")
    found = _parts(record.get("content"))
    images = tuple(_images(found, place.line))
    results = tuple(_responses(found))
    shown = _parts(record.get("displayContent"))
    texts = [part for part in (shown or found) if part.get("thought") is not True]
    if type_ == "gemini":
        calls, more = _calls(record, found, place.line)
        text = joined(texts)
        if text.strip() == _THANKS:
            said = Draft(kind="system", speaker=HARNESS, place=place, text=text)
            return _Message(said=said, place=place, text=text)
        message = _Message(place=place, text=text, model=words(record.get("model")), calls=calls, images=images)
        message.thoughts = tuple(_thoughts(record, found))
        message.results = (*results, *more)
        return message if text or calls or message.thoughts or message.results or images else None
    if type_ not in {"user", "info", "error", "warning"}:
        return None
    own: list[Record] = []
    put: list[Record] = []
    for part in texts:
        (put if string(part, "text").lstrip().startswith(PUT_BY_GEMINI) else own).append(part)
    is_mixed = any(string(part, "text").strip() for part in own)
    text = joined(own if is_mixed else texts)
    if not text.strip() and not images:
        return _Message(place=place, results=results) if results else None
    said = Draft(kind="person", speaker=PERSON, place=place, text=text)
    if type_ != "user" or (put and not is_mixed):
        said.kind, said.speaker = "system", HARNESS
    elif text.lstrip().startswith(_SNAPSHOT):
        said.kind, said.speaker = "summary", HARNESS
    elif is_mixed:
        context = joined(put)
        if shown:
            context = joined([part for part in found if string(part, "text") not in {string(own[0], "text"), ""}])
        if context:
            kept, left = cut(context)
            said.lead.append(Part(kind="context", line=place.line, name="context", text=kept, more=left))
    said.lead.extend(images)
    return _Message(said=said, place=place, text=text, results=results)


def _parts(content: object) -> list[Record]:
    """The parts of a content: a text, a part, or a list of both."""
    listed = content if isinstance(content, list) else [content]
    return [part if isinstance(part, dict) else {"text": part} for part in listed if isinstance(part, dict | str)]


def _images(found: list[Record], line: int) -> Iterator[Part]:
    for part in found:
        data = nested(part, "inlineData") or nested(part, "fileData")
        if data:
            yield image(data.get("mimeType"), data.get("data"), line)


def _thoughts(record: Record, found: list[Record]) -> Iterator[str]:
    listed = blocks(record.get("thoughts"))
    for thought in listed:
        text = clean_text("\n\n".join(filter(None, (string(thought, "subject"), string(thought, "description")))))
        if text.strip():
            yield text
    if not listed:
        yield from (
            clean_text(string(part, "text"))
            for part in found
            if part.get("thought") is True and string(part, "text").strip()
        )


def _responses(found: list[Record]) -> Iterator[tuple[str, str, bool]]:
    """The results of tools among parts: the id of the call, the text, whether it is an error."""
    for part in found:
        response = nested(part, "functionResponse")
        if response:
            yield call_of(response.get("id")), *_output(response.get("response"))


def _output(response: Any) -> tuple[str, bool]:
    """The text of a response, and whether it is an error."""
    if isinstance(response, dict):
        for key in ("output", "error"):
            if isinstance(response.get(key), str):
                return clean_text(response[key]), key == "error"
    return (clean_text(response) if isinstance(response, str) else readable(response)[0]), False


def _calls(
    record: Record, found: list[Record], line: int
) -> tuple[tuple[tuple[Part, bool], ...], tuple[tuple[str, str, bool], ...]]:
    """The calls of a message, whether they are commands, and the results that are known with them."""
    listed = blocks(record.get("toolCalls"))
    calls, results = [], []
    for tool in listed or [nested(part, "functionCall") for part in found if nested(part, "functionCall")]:
        name, call, given = words(tool.get("name")), call_of(tool.get("id")), tool.get("args")
        arguments = given if isinstance(given, dict) else {}
        command = string(arguments, "command") if name == "run_shell_command" else ""
        text, more = readable(command or given)
        has_failed = string(tool, "status") in _FAILED
        part = Part(
            kind="tool",
            line=line,
            name=name or "tool",
            text=text,
            more=more,
            call=call,
            wrote=paths([arguments.get("file_path")]) if name in _WRITING else (),
            agent=key_of(tool.get("agentId")),
        )
        result = tool.get("result")
        outputs = list(_responses(_parts(result)))
        told = "\n\n".join(output for _, output, _ in outputs) or joined(_parts(result))
        told = told or clean_text(string(tool, "resultDisplay"))
        has_failed = has_failed or any(is_error for _, _, is_error in outputs)
        has_result = bool(told or outputs or has_failed)
        if has_result and call:
            results.append((call, told, has_failed))
        elif has_result:
            kept, left = cut(told)
            part = replace(part, result=kept, result_line=line, result_more=left, is_error=has_failed)
        calls.append((part, bool(command)))
    return tuple(calls), tuple(results)
