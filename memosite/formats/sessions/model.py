"""What a session log says, as values: sessions with their turns, and the folded parts of these (SPEC 2.2, sessions).

    bytes of a file ─► records (lines of JSON, or headed parts of Markdown) ─► sessions ─► turns with parts

All forms give these values; nothing here knows a form. Lines are those of the file, 1 = first. Texts have LF for line
ends, and U+FFFD for what cannot be written as UTF-8 (`clean_text`); of a tool's input or output `MOST_SHOWN` bytes are
kept.
"""

import datetime as dt
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from memosite.facts.patterns import regex
from memosite.facts.values import Value, replace
from memosite.formats.turns import REDACTED

PERSON: Final = "a person"
HARNESS: Final = "the harness"
PARENT: Final = "the parent session"
"""Who speaks, if it is no agent: whoever typed, the program around the agent, the session that started this one."""

MOST_SHOWN: Final = 20_000
"""The most bytes that are kept of one tool's input, its output, or a thought (SPEC 9)."""

TurnKind: TypeAlias = Literal["person", "assistant", "system", "summary"]
PartKind: TypeAlias = Literal["thinking", "tool", "context", "image", "mark", "verbatim"]

_LONGEST_TITLE = 200
_TELLING: Final = (
    *("command", "cmd", "file_path", "path", "notebook_path", "target_file", "pattern", "query", "url"),
    *("description", "title", "prompt", "message"),
)
"""The fields of a tool's input that tell most of what the call does, the best first."""
_FIRST_VALUE: Final = regex(r'":\s*"((?:[^"\\]|\\.){1,400})')
_PATCHED: Final = regex(r"^\*\*\* (?:Add|Update|Delete) File: .+$", re.MULTILINE)
_QUOTED = regex("`[^`]+`")
_NO_TITLE = regex(r"untitled|generating a name for the chat", re.IGNORECASE)
_TIME = regex(r"[0-9]{1,4}[-/.:][0-9]{1,2}[-/.:][0-9][0-9TZ\s:/.,+-]*(?:[ap]\.?m\.?)?\s*(?:utc|gmt)?", re.IGNORECASE)


class Part(Value):
    """What is folded in a turn, or drawn in it.

    - `thinking`: `text`.
    - `tool`: `name` is the tool, `text` its input as people read it (a command, else JSON with indentation), `result`
      what came back, None if nothing did. `is_orphan`: it is a result whose call is missing.
    - `context`: what an editor put before a person's words; `name` is its tag. Also what aider printed: `aider`.
    - `image`: `name` is its format (`PNG`), `size` its bytes.
    - `mark`: `text` is a line that is drawn there: `interrupted`, `rolled back`, `the session was compacted here`.
    - `verbatim`: `text` is a line of the file that could not be read.

    `last_line` is where a part ends that is in the text of its turn, too (SpecStory's extensions write one text for a
    whole answer), else 0. `more` and `result_more` are the bytes that were left out. `call` is the id of the call.
    `wrote` are the paths that the tool wrote, as it says; `commits` the hashes of commits that its output says it made
    (7 to 40 hex digits); `agent` is the key of the session of the subagent that it started.
    """

    kind: PartKind
    line: int
    last_line: int = 0
    name: str = ""
    text: str = ""
    more: int = 0
    size: int = 0
    call: str = ""
    result: str | None = None
    result_line: int = 0
    result_more: int = 0
    is_error: bool = False
    is_orphan: bool = False
    wrote: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    agent: str = ""


class SessionTurn(Value):
    """One turn. Of its text `digest` is the SHA-256 of the UTF-8 (64 hex digits), "" without a text.

    `speaker` is who speaks, as people read it (`a person`, `Claude Code`, `the harness`), `model` what an agent names.
    `at` is the time of its text, UTC; `stamp` as written. `line` is where its text is, `last_line` where that ends
    (JSON: the same), in `file` if a log is in several, `record` the id of that record, "" if it has none. `lead`
    are the parts before the text, `parts` those behind it. From `words_from` on (an offset in the text) it is the
    speaker's own: before that is what an editor put there, which is in `lead`, too. `chain` names the inline
    sidechain that it is of; `is_rewound`: a person took its branch back. `is_withheld`: it is empty, since it held
    a secret. `origin` identifies the record wherever it was copied to, "" if nothing does (SPEC 2.2, sessions).
    """

    kind: TurnKind
    speaker: str
    model: str = ""
    at: dt.datetime | None = None
    stamp: str = ""
    line: int
    last_line: int = 0
    file: str = ""
    record: str = ""
    text: str = ""
    words_from: int = 0
    lead: tuple[Part, ...] = ()
    parts: tuple[Part, ...] = ()
    chain: str = ""
    is_rewound: bool = False
    is_withheld: bool = False
    origin: str = ""
    ordinal: int = 0
    digest: str = ""
    hash_anchor: str | None = None


class Problem(Value):
    """Something to be told of a log: the name of a rule (`session-line`), the line, and what was found."""

    rule: str
    line: int
    message: str


class Session(Value):
    """One conversation in a log.

    `system` is `claude-code`, `codex`, `specstory`, `aider` or `gemini`, `key` its id in full. `start` is when it
    began, by its own word, else that of its first turn: with UTC where `is_utc`, else in a local time without a
    zone; `start_text` as written. `title` is "" if it has none of its own (`title_of` makes one). `parent` is the
    key of the session that started it, `forked_from` of the one whose turns it began with. `unshown` counts the
    records of types that are not shown. `pulls` are addresses of pull requests, each with the ordinal of the turn
    behind which it was named. `checkpoints` are ids of Entire's, each with the ordinal of the first turn that is
    new in it. `first_line` and `last_line` are where it is in a file of several sessions. `agent_name` is what the
    log calls the agent, where its form tells of several (SpecStory). `attribution` is a caution for readers, "" if
    none is needed.
    """

    system: str
    key: str
    start: dt.datetime | None = None
    start_text: str = ""
    is_utc: bool = True
    title: str = ""
    turns: tuple[SessionTurn, ...] = ()
    models: tuple[str, ...] = ()
    parent: str = ""
    forked_from: str = ""
    folder: str = ""
    branch: str = ""
    version: str = ""
    agent_name: str = ""
    attribution: str = ""
    unshown: tuple[tuple[str, int], ...] = ()
    pulls: tuple[tuple[int, str], ...] = ()
    checkpoints: tuple[tuple[int, str], ...] = ()
    problems: tuple[Problem, ...] = ()
    first_line: int = 1
    last_line: int = 0

    @property
    def agent(self) -> str:
        """The agent, as people read it."""
        return self.agent_name or agent_of(self.system)


def agent_of(system: str) -> str:
    """The agent of a system, as people read it."""
    return {"claude-code": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI"}.get(system, system)


def title_of(session: Session) -> str:
    """The title of a session: its own, else the first line that a person wrote in it, else its agent and its start."""
    own = _line(session.title)
    if own and not _NO_TITLE.fullmatch(own) and not _TIME.fullmatch(own):
        return own
    for turn in session.turns:
        is_asked = turn.kind == "person" or (session.parent and turn.speaker == PARENT)
        if is_asked and (words := _line(turn.text[turn.words_from :])):
            return words
    return f"{session.agent}, {session.start:%Y-%m-%d %H:%M}" if session.start else f"{session.agent}, undated"


def call_line(part: Part) -> str:
    """What a call of a tool does, on one line: its command, the file, or the first other value of its input.

    "" if the input has none. Input that is cut is no JSON any more, and is searched for its first value.
    """
    text = part.text.lstrip()
    if not text.startswith("{"):
        patched = _PATCHED.search(text) if text.startswith("*** Begin Patch") else None
        if not patched and text.startswith("```") and part.wrote:  # SpecStory tells what a tool wrote, not where
            return _line(part.wrote[0])
        line = _line(patched[0].removeprefix("*** ") if patched else text)
        return line[1:-1] if _QUOTED.fullmatch(line) else line
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        found = _FIRST_VALUE.search(text)
        return _line(found[1].replace("\\n", "\n")) if found else ""
    values = (said.get(name) for name in _TELLING) if isinstance(said, dict) else ()
    others = said.values() if isinstance(said, dict) else ()
    return next(filter(None, map(_said, (*values, *others))), "")


def called_for(part: Part) -> str:
    """What a call that starts a subagent says that it is for, "" if it does not."""
    try:
        said = json.loads(part.text)
    except (ValueError, RecursionError):
        return ""
    return _said(said.get("description")) if isinstance(said, dict) else ""


def _said(value: object) -> str:
    """A value of a tool's input on one line: a text; a list of texts, which is a command; the first of a list."""
    if isinstance(value, str):
        return _line(value)
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return _line(value[-1] if value[1:2] == ["-lc"] else " ".join(value))
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return next((_line(one) for one in value[0].values() if isinstance(one, str) and one.strip()), "")
    return ""


def _line(text: str) -> str:
    """The first line of a text that is not blank, of a length that can be shown."""
    line = text.lstrip().split("\n", 1)[0].strip()
    return line if len(line) <= _LONGEST_TITLE else line[: _LONGEST_TITLE - 1] + "…"


def numbered(turns: Iterable[SessionTurn]) -> tuple[SessionTurn, ...]:
    """Turns with their ordinals, and with the digests and anchors of their texts (SPEC 7)."""
    seen: Counter[str] = Counter()
    found = []
    for ordinal, turn in enumerate(turns, 1):
        digest = hashlib.sha256(turn.text.encode()).hexdigest() if turn.text else ""
        short = f"t-{digest[:8]}"
        seen[short] += bool(digest)
        anchor = (short if seen[short] == 1 else f"{short}-{seen[short]}") if digest else None
        found.append(replace(turn, ordinal=ordinal, digest=digest, hash_anchor=anchor))
    return tuple(found)


def cut(text: str, most: int = MOST_SHOWN) -> tuple[str, int]:
    """The first bytes of a text, whole characters, and how many bytes are left out.

    Where a secret was taken out of what is left out, the mark of that stays: the gate withholds by it (SPEC 9).
    """
    data = text.encode()
    if len(data) <= most:
        return text, 0
    kept = data[:most].decode("utf-8", "ignore")
    more = len(data) - len(kept.encode())
    if not REDACTED.search(kept) and (mark := REDACTED.search(text)):
        kept = f"{kept}\n{mark[0]}"
    return kept, more
