"""Reads the session logs of Claude Code: JSON Lines, a record a block (SPEC 2.2, sessions, Claude Code).

    lines ─► records of the session, and of each subagent in the file ─► turns ─► what a person took back

A record names its parent, so a log is a tree; it is read in the order of the file all the same.
"""

import re
from typing import Final

from memosite.facts.json_text import clean_text
from memosite.facts.patterns import regex
from memosite.formats.sessions.building import (
    Conversation,
    Draft,
    Place,
    call_of,
    image,
    joined,
    key_of,
    paths,
    readable,
    stamp_of,
    words,
)
from memosite.formats.sessions.lines import Record, blocks, first_records, nested, read_lines, string
from memosite.formats.sessions.model import HARNESS, PARENT, PERSON, PUT_BY_CLAUDE, Part, Problem, Session, cut

SYSTEM: Final = "claude-code"

_MARKERS = frozenset(
    (
        *("file-history-snapshot", "queue-operation", "summary", "last-prompt", "mode", "permission-mode"),
        *("custom-title", "ai-title"),
    )
)
_CONTINUED = "This session is being continued from a previous "  # before `isCompactSummary` was written
_CONTEXT = regex(r"\s*<(ide_opened_file|ide_selection|ide_diagnostics)>(.*?)</\1>\s*", re.DOTALL)
_AGENT = regex(r"\bagentId: ([0-9A-Za-z_-]{1,64})")
_PATH_KEYS = {"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
_MOST_AGENTS = 1000
_SYNTHETIC = "<synthetic>"
_COMPACTED = "the session was compacted here"


def matches(data: bytes) -> bool:
    """Whether a file is a log of Claude Code, by its first records."""
    return any(
        "parentUuid" in record
        or (string(record, "type") in _MARKERS and ("sessionId" in record or "leafUuid" in record))
        for record in first_records(data)
    )


def read(data: bytes) -> tuple[Session, ...]:
    """The session of a log, and those of subagents whose records are in it; none if it has no turn."""
    problems: list[Problem] = []
    logs: dict[str, _Log] = {}
    unread: list[Part] = []
    log: _Log | None = None
    for line, record in read_lines(data, problems):
        if isinstance(record, str):
            part = Part(kind="verbatim", line=line, text=record)
            unread.append(part) if log is None else log.turns.aside(part)
            continue
        agent = key_of(record.get("agentId")) if record.get("isSidechain") is True else ""
        if agent not in logs:
            if len(logs) > _MOST_AGENTS:
                message = (
                    f"the file has records of more than {_MOST_AGENTS} subagents; from this line on it is not shown"
                )
                problems.append(Problem(rule="session-bounds", line=line, message=message))
                break
            logs[agent] = _Log(agent)
        log = logs[agent]
        log.turns.aside(*unread)
        unread.clear()
        log.read(record, line)
        if log.turns.is_full(line, problems):
            break
    found = [log for log in logs.values() if log.turns.drafts]
    return tuple(log.session(tuple(problems) if log is found[0] else ()) for log in found)


class _Log:
    """The records of one session, or of one subagent."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.turns = Conversation("Claude Code")
        self.id = ""
        self.folder = self.branch = self.version = ""
        self.titles: dict[str, str] = {}
        self.summaries: dict[str, str] = {}
        self.chains: dict[str, str] = {}
        self.prompts = _Prompts()

    def read(self, record: Record, line: int) -> None:
        """Adds a record."""
        type_, uuid = string(record, "type"), string(record, "uuid")
        if type_ in {"user", "assistant", "system"}:
            self.id = self.id or key_of(record.get("sessionId"))
            self.folder = self.folder or words(record.get("cwd"))
            self.branch = self.branch or words(record.get("gitBranch"))
            self.version = self.version or words(record.get("version"))
        if uuid and not self.prompts.follow(uuid, string(record, "parentUuid")):
            return  # a replay
        place = Place(line, stamp_of(record.get("timestamp")), key_of(uuid), self._chain(record, uuid, line))
        is_shown = True
        if type_ == "user":
            is_shown = self._user(record, place)
        elif type_ == "assistant":
            is_shown = self._assistant(record, place)
        elif type_ == "attachment":
            is_shown = self._queued(record, place)
        elif type_ == "system" and record.get("subtype") == "compact_boundary":
            self.turns.mark(_COMPACTED, line)
        elif type_ == "pr-link":
            self.turns.pull(string(record, "prUrl"))
        else:
            is_shown = False
            if type_ == "summary":
                self.summaries[string(record, "leafUuid")] = words(record.get("summary"))
            elif type_ in {"custom-title", "ai-title"}:
                title = words(record.get("customTitle" if type_ == "custom-title" else "aiTitle"))
                self.titles[type_] = title or self.titles.get(type_, "")
        if not is_shown:
            self.turns.skip(type_)

    def session(self, problems: tuple[Problem, ...]) -> Session:
        """What was read."""
        self.prompts.mark_rewound(self.turns.drafts)
        own = [title for leaf, title in self.summaries.items() if leaf in self.prompts.above]
        id_ = self.id or next((draft.place.record for draft in self.turns.drafts if draft.place.record), "")
        session = Session(
            system=SYSTEM,
            key=f"{id_ or 'unnamed'}.agent-{self.agent}" if self.agent else id_,
            title=self.titles.get("custom-title") or self.titles.get("ai-title") or (own[-1] if own else ""),
            parent=id_ if self.agent else "",
            folder=self.folder,
            branch=self.branch,
            version=self.version,
        )
        return self.turns.session(session, problems)

    def _chain(self, record: Record, uuid: str, line: int) -> str:
        """The sidechain within this log that a record is of: named by the first record of it."""
        if self.agent or record.get("isSidechain") is not True:
            return ""
        chain = self.chains.get(string(record, "parentUuid")) or key_of(uuid) or f"line-{line}"
        if uuid:
            self.chains[uuid] = chain
        return chain

    def _user(self, record: Record, place: Place) -> bool:
        content = nested(record, "message").get("content")
        found = [{"type": "text", "text": content}] if isinstance(content, str) else blocks(content)
        results = [block for block in found if string(block, "type").endswith("tool_result")]
        names_agent = not self.agent and bool(key_of(record.get("agentId")))
        told = record if names_agent else nested(record, "toolUseResult")
        for block in results:
            self._result(block, place, told if len(results) == 1 and not place.chain else {})
        text = joined([block for block in found if block.get("type") == "text"])
        images = tuple(part for block in found if (part := _image(block, place.line)))
        if not text and not images:
            return bool(results)
        said = whose(record, text, place, images)
        self._say(said, record.get("parentUuid", "") if not results else "")
        return True

    def _queued(self, record: Record, place: Place) -> bool:
        """What was typed while the agent worked; it is written here alone."""
        attachment = nested(record, "attachment")
        if attachment.get("type") != "queued_command":
            return False
        prompt = attachment.get("prompt")
        found = [{"type": "text", "text": prompt}] if isinstance(prompt, str) else blocks(prompt)
        text = joined([block for block in found if block.get("type") == "text"])
        images = tuple(part for block in found if (part := _image(block, place.line)))
        if not text and not images:
            return False
        is_put = (attachment.get("commandMode") or "prompt") != "prompt"
        self._say(whose({**record, **attachment}, text, place, images, is_put=is_put), "")
        return True

    def _say(self, said: Draft, parent: object) -> None:
        """Adds what is no answer; of a prompt that may have taken another back, with its parent."""
        origin = self.turns.say(said)
        if said.kind == "person" and said.place.record:
            self.prompts.add(said.place.record, parent, len(self.turns.drafts) - 1, origin)

    def _assistant(self, record: Record, place: Place) -> bool:
        message = nested(record, "message")
        content = message.get("content")
        found = [{"type": "text", "text": content}] if isinstance(content, str) else blocks(content)
        model = words(message.get("model"))
        is_synthetic = model == _SYNTHETIC or record.get("isApiErrorMessage") is True
        speaker, model = (HARNESS, "") if is_synthetic else ("", model)
        run: list[Record] = []
        for block in (*found, {}):
            type_ = string(block, "type")
            if type_ == "text":
                run.append(block)
                continue
            self.turns.answer(joined(run), place, model=model, speaker=speaker)
            run = []
            if type_ == "thinking":
                self.turns.think(clean_text(string(block, "thinking")), place, model=model)
            elif type_.endswith("tool_use"):
                self._call(block, place, model)
            elif type_.endswith("tool_result"):
                self._result(block, place, {})
            elif part := _image(block, place.line):
                self.turns.aside(part)
        return bool(found)

    def _call(self, block: Record, place: Place, model: str) -> None:
        name, call, given = words(block.get("name")), call_of(block.get("id")), block.get("input")
        command = string(given, "command") if isinstance(given, dict) and name in {"Bash", "PowerShell"} else ""
        text, more = readable(command or given)
        written = [given.get(_PATH_KEYS[name])] if isinstance(given, dict) and name in _PATH_KEYS else []
        part = Part(kind="tool", line=place.line, name=name, text=text, more=more, call=call, wrote=paths(written))
        self.turns.call(part, place, model=model, is_command=bool(command))

    def _result(self, block: Record, place: Place, told: Record) -> None:
        call, content = call_of(block.get("tool_use_id")), block.get("content")
        found = blocks(content)
        images = tuple(part for inner in found if (part := _image(inner, place.line)))
        others = [inner for inner in found if string(inner, "type") not in {"text", "image"}]
        text = clean_text(content) if isinstance(content, str) else joined(found)
        if others and not text:
            text = readable(others)[0]
        part = self.turns.called(call)
        agent = key_of(told.get("agentId"))
        if not agent and part is not None and part.name in {"Task", "Agent"}:
            match = _AGENT.search(text, 0, 2000)
            agent = match[1] if match else ""
        if agent and self.id:
            agent = f"{self.id}.agent-{agent}"
        is_error = block.get("is_error") is True
        self.turns.result(call, text, place, is_error=is_error, agent=agent, images=images)


class _Prompts:
    """Which prompts a person took back: of two with one parent, the earlier one, with all that came of it.

    Each record is below at most one prompt, the nearest; a prompt may be below another.
    """

    def __init__(self) -> None:
        self.above: dict[str, int] = {}
        """For each record the prompt that it is, or is below, -1 if there is none."""

        self._places: list[int] = []  # of each prompt the turn that it is
        self._below: list[int] = []  # of each prompt the one that it is below
        self._until: list[int] = []  # of each prompt the turn at which it was taken back
        self._last: dict[str | None, int] = {}
        self._followed: set[int] = set()
        self._numbers: dict[str, int] = {}  # of each prompt by what identifies it

    def follow(self, uuid: str, parent: str) -> bool:
        """Takes a record in; False if it was there before."""
        if uuid in self.above:
            return False
        prompt = self.above.get(parent, -1)
        self.above[uuid] = prompt
        self._followed.add(prompt)
        return True

    def add(self, uuid: str, parent: object, turn: int, origin: str) -> None:
        """Takes in that a record is a prompt, or is the copy of one.

        At the root, where its parent is None, another prompt was taken back only if something came of it: some
        programs write logs without parents.
        """
        if origin in self._numbers:
            self.above[uuid] = self._numbers[origin]
            return
        number = self._numbers[origin] = len(self._places)
        self._places.append(turn)
        self._below.append(self.above.get(uuid, -1))
        self._until.append(0)
        self.above[uuid] = number
        if parent is None or (isinstance(parent, str) and parent):
            earlier = self._last.get(parent)
            if earlier is not None and (parent is not None or earlier in self._followed):
                self._until[earlier] = turn
            self._last[parent] = number

    def mark_rewound(self, drafts: list[Draft]) -> None:
        """Marks the turns of branches that were taken back; a prompt that came later within one goes on with it."""
        if not any(self._until):
            return
        until = self._until
        for number, (place, below) in enumerate(zip(self._places, self._below, strict=True)):
            if below >= 0 and place < until[below]:
                until[number] = max(until[number], until[below])
        for draft in drafts:
            prompt = self.above.get(draft.place.record, -1)
            draft.is_rewound = prompt >= 0 and until[prompt] > 0


def whose(record: Record, text: str, place: Place, images: tuple[Part, ...], *, is_put: bool = False) -> Draft:
    """What a record of a user says, and who says it."""
    lead: list[Part] = []
    start = 0
    while match := _CONTEXT.match(text, start):
        kept, more = cut(match[2])
        lead.append(Part(kind="context", line=place.line, name=match[1], text=kept, more=more))
        start = match.end()
    rest = text[start : start + 100].lstrip()
    is_put = (
        is_put
        or record.get("isMeta") is True
        or record.get("isVisibleInTranscriptOnly") is True
        or record.get("promptSource") == "system"
        or nested(record, "origin").get("kind", "human") != "human"
        or rest.startswith(PUT_BY_CLAUDE)
        or not (rest or images)
    )
    if record.get("isCompactSummary") is True or text[:100].lstrip().startswith(_CONTINUED):
        return Draft(kind="summary", speaker=HARNESS, place=place, text=text, lead=[*images])
    if is_put or record.get("isSidechain") is True:
        return Draft(kind="system", speaker=HARNESS if is_put else PARENT, place=place, text=text, lead=[*images])
    return Draft(kind="person", speaker=PERSON, place=place, text=text, words_from=start, lead=[*lead, *images])


def _image(block: Record, line: int) -> Part | None:
    """The image, or another file, that a block holds."""
    if string(block, "type") not in {"image", "document"}:
        return None
    source = nested(block, "source")
    return image(source.get("media_type"), source.get("data") if source.get("type") == "base64" else None, line)
