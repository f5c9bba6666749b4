"""Reads the session logs of Codex, which it calls rollouts: JSON Lines of items and events (SPEC 2.2, sessions, Codex).

An event that repeats an item is left out. In a fork the items of the parent are copied, with the time of the copy.
"""

import re
from typing import Any, Final

from memosite.facts.json_text import clean_text
from memosite.facts.patterns import regex
from memosite.formats.sessions.building import (
    Conversation,
    Draft,
    Place,
    call_of,
    image_of_address,
    joined,
    key_of,
    patched,
    read_time,
    readable,
    stamp_of,
    words,
)
from memosite.formats.sessions.lines import Record, blocks, first_records, nested, parse, read_lines, string
from memosite.formats.sessions.model import HARNESS, PARENT, PERSON, PUT_BY_CODEX, Part, Problem, Session, cut

SYSTEM: Final = "codex"

_TYPES = frozenset(("session_meta", "response_item", "event_msg", "turn_context", "compacted"))
_MARKS = {"turn_aborted": "interrupted", "thread_rolled_back": "rolled back"}
_REPEATED = frozenset(("user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content"))
_SHELLS = frozenset(("shell", "shell_command", "exec_command", "local_shell_call", "container.exec"))
_IMAGE_TAG = regex(r"<image(?: [^>]*)?>|</image>")
_CONTEXT = regex(r"\s*# (?:Context from my IDE setup|Files mentioned by the user):")
_REQUEST = regex(r"^## My request for Codex:[ \t]*\n?", re.MULTILINE)
_EXIT = regex(r"(?:Exit code: |Process exited with code )(-?[0-9]{1,9})$", re.MULTILINE)
_REFUSED = "apply_patch verification failed"
_COMPACTED = "the session was compacted here"


def matches(data: bytes) -> bool:
    """Whether a file is a log of Codex, by its first records."""
    return any(
        (string(record, "type") in _TYPES and "timestamp" in record and isinstance(record.get("payload"), dict))
        or (number == 0 and _is_old_head(record))
        for number, record in enumerate(first_records(data))
    )


def _is_old_head(record: Record) -> bool:
    """Whether a record is the first line of the form before `session_meta` was written."""
    is_named = key_of(record.get("id")) and string(record, "timestamp")
    return bool(is_named and "instructions" in record and "type" not in record)


def read(data: bytes) -> tuple[Session, ...]:
    """The session of a log; none if it has no turn."""
    problems: list[Problem] = []
    log = _Log()
    for line, record in read_lines(data, problems):
        if isinstance(record, str):
            log.turns.aside(Part(kind="verbatim", line=line, text=record))
            continue
        log.read(record, line)
        if log.turns.is_full(line, problems):
            break
    return (log.session(tuple(problems)),) if log.turns.drafts else ()


class _Log:
    """The records of a log."""

    def __init__(self) -> None:
        self.turns = Conversation("Codex")
        self.head: Record | None = None
        self.is_started_by_agent = False
        self.folder = self.branch = self.model = ""
        self.has_prompt = False
        self.title = ""

    def read(self, record: Record, line: int) -> None:
        """Adds a record."""
        stamp = stamp_of(record.get("timestamp"))
        type_, payload = string(record, "type"), nested(record, "payload")
        if "payload" not in record:
            if _is_old_head(record) and self.head is None:
                self._begin(record, stamp)
                return
            type_, payload = "response_item", record
        elif type_ not in _TYPES or not payload:
            self.turns.skip(type_)
            return
        place = Place(line, stamp, key_of(payload.get("id")))
        name = string(payload, "type")
        is_shown = True
        if type_ == "session_meta":
            if self.head is None:
                self._begin(payload, stamp)
        elif type_ == "response_item":
            is_shown = self._item(payload, name, place)
        elif type_ == "compacted":
            text = clean_text(string(payload, "message"))
            part = Part(kind="mark", line=line, text=_COMPACTED)
            self.turns.say(Draft(kind="summary", speaker=HARNESS, place=place, text=text, lead=[part]))
        elif type_ == "turn_context":
            self.model = words(payload.get("model")) or self.model
            self.folder = self.folder or words(payload.get("cwd"))
        elif name in _MARKS:
            self.turns.mark(_MARKS[name], line)
        else:
            is_shown = name in _REPEATED
        if not is_shown:
            self.turns.skip(name or string(record, "record_type") or type_)

    def session(self, problems: tuple[Problem, ...]) -> Session:
        """What was read."""
        head = self.head or {}
        start_text = stamp_of(head.get("timestamp"))
        start = read_time(start_text)
        spawn = nested(nested(nested(head, "source"), "subagent"), "thread_spawn")
        session = Session(
            system=SYSTEM,
            key=key_of(head.get("id")),
            start=start,
            start_text=start_text if start else "",
            title=self.title,
            parent=key_of(spawn.get("parent_thread_id")),
            forked_from=key_of(head.get("forked_from_id")),
            folder=words(head.get("cwd")) or self.folder,
            branch=self.branch,
            version=words(head.get("cli_version")),
        )
        return self.turns.session(session, problems)

    def _begin(self, head: Record, stamp: str) -> None:
        """Takes the head of the log, without the long texts that it may hold."""
        kept = ("id", "timestamp", "cwd", "cli_version", "source", "forked_from_id")
        self.head = {"timestamp": stamp} | {key: head[key] for key in kept if key in head}
        self.branch = words(nested(head, "git").get("branch"))
        self.is_started_by_agent = "subagent" in nested(head, "source")

    def _item(self, item: Record, name: str, place: Place) -> bool:
        if name == "message":
            return self._message(item, place)
        if name == "reasoning":
            thought = joined([*blocks(item.get("summary")), *blocks(item.get("content"))])
            self.turns.think(thought, place, model=self.model)
        elif name.endswith("_call"):
            self._call(item, name, place)
        elif name.endswith("_output"):
            self._result(item, place)
        else:
            return False
        return True

    def _message(self, item: Record, place: Place) -> bool:
        role, content = string(item, "role"), item.get("content")
        found = [{"type": "input_text", "text": content}] if isinstance(content, str) else blocks(content)
        images = [image_of_address(_address(block), place.line) for block in found if _is_image(block)]
        if images:  # what Codex puts around an image is not said by anybody
            found = [block for block in found if not _IMAGE_TAG.fullmatch(string(block, "text"))]
        text = joined(found)
        if not text and not images:
            return False
        if role == "assistant":
            self.turns.answer(text, place, model=self.model)
            self.turns.aside(*images)
            return True
        is_put = role != "user" or text.lstrip().startswith(PUT_BY_CODEX)
        if is_put or self.is_started_by_agent:
            speaker = HARNESS if is_put else PARENT
            self.turns.say(Draft(kind="system", speaker=speaker, place=place, text=text, lead=images))
        else:
            self._prompt(text, place, images)
        return True

    def _prompt(self, text: str, place: Place, images: list[Part]) -> None:
        """Adds what a person typed, with what an editor put before it."""
        request = _REQUEST.search(text)
        draft = Draft(kind="person", speaker=PERSON, place=place, text=text, lead=images)
        if request and _CONTEXT.match(text):
            kept, more = cut(text[: request.start()].strip())
            draft.words_from = request.end()
            draft.lead.insert(0, Part(kind="context", line=place.line, name="context", text=kept, more=more))
        if request and not self.has_prompt:
            self.title = words(text[request.end() :].lstrip().split("\n", 1)[0])
        self.has_prompt = True
        self.turns.say(draft)

    def _call(self, item: Record, type_: str, place: Place) -> None:
        name = words(item.get("name")) or type_
        call = call_of(item.get("call_id")) or call_of(item.get("id"))
        given: Any = next((item[key] for key in ("arguments", "input", "action") if key in item), {})
        parsed = parse(given) if isinstance(given, str) and given.startswith("{") else given
        given = parsed if isinstance(parsed, dict) else given
        command = _command(given)
        text, more = readable(command or given)
        patch = given.get("input") if isinstance(given, dict) else given
        wrote = patched(command or (patch if isinstance(patch, str) else ""))
        space = words(item.get("namespace"))
        shown = f"{space}.{name}" if space and not name.startswith(space) else name
        part = Part(kind="tool", line=place.line, name=shown, text=text, more=more, call=call, wrote=wrote)
        self.turns.call(part, place, model=self.model, is_command=name in _SHELLS)

    def _result(self, item: Record, place: Place) -> None:
        call = call_of(item.get("call_id"))
        output: Any = next((item[key] for key in ("output", "tools", "result") if key in item), "")
        code: Any = None
        images: list[Part] = []
        if isinstance(output, str) and output.startswith('{"output":'):  # before 2025-10 a shell's was JSON
            parsed = parse(output)
            if isinstance(parsed, dict) and isinstance(parsed.get("output"), str):
                output, code = parsed["output"], nested(parsed, "metadata").get("exit_code")
        elif isinstance(output, dict) and ("content" in output or "content_items" in output):
            code = 1 if output.get("success") is False else None
            output = output.get("content_items") or output.get("content")
        if isinstance(output, list):
            found = blocks(output)
            images = [image_of_address(_address(block), place.line) for block in found if _is_image(block)]
            texts = [block for block in found if isinstance(block.get("text"), str)]
            output = joined(texts) if texts or images else output
        text = clean_text(output) if isinstance(output, str) else readable(output)[0]
        if code is None and (told := _EXIT.search(text, 0, 500)):
            code = int(told[1])
        is_error = text.startswith(_REFUSED) or (isinstance(code, int) and code != 0)
        agent = ""
        part = self.turns.called(call)
        if part is not None and part.name.endswith("spawn_agent"):
            started = parse(text)
            agent = key_of(started.get("agent_id")) if isinstance(started, dict) else ""
        self.turns.result(call, text, place, is_error=is_error, agent=agent, images=tuple(images))


def _command(given: object) -> str:
    """The command that a shell was given: of a list such as `bash -lc SCRIPT` the script."""
    if not isinstance(given, dict):
        return ""
    command = given.get("cmd") or given.get("command")
    if isinstance(command, list):
        argv = [word for word in command if isinstance(word, str)]
        is_script = len(argv) == 3 and argv[1].startswith("-") and argv[1].endswith("c")
        return argv[2] if is_script else " ".join(argv)
    return command if isinstance(command, str) else ""


def _is_image(block: Record) -> bool:
    return string(block, "type") in {"input_image", "output_image", "image"}


def _address(block: Record) -> object:
    """Where the image of a block is: an address, which may hold it."""
    found = block.get("image_url")
    return found.get("url") if isinstance(found, dict) else found
