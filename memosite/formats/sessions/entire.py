"""Reads a checkpoint branch of Entire: logs of other forms, of which each checkpoint has a copy or a piece (SPEC 2.2).

    files of the branch ─► entries, by time ─► logs, joined ─► sessions of the form that they have

A log is joined from its beginning on, so a line stays where it was first: citations name that checkpoint.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from memosite.facts.patterns import regex
from memosite.facts.times import Moment, read_moment
from memosite.facts.values import Struct, Value, field, replace
from memosite.formats.sessions import claude_code, codex, gemini
from memosite.formats.sessions.building import key_of, paths, stamp_of, words
from memosite.formats.sessions.lines import Record, blocks, parse, string
from memosite.formats.sessions.model import Problem, Session

_ROOT = regex(r"([0-9a-f]{2})/([0-9a-f]{10})/metadata\.json")
_ENTRY = regex(r"([0-9a-f]{2})/([0-9a-f]{10})/([0-9]{1,6})/metadata\.json")
_DATED = regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}-(?=.)")
_FORMS = (claude_code, codex, gemini)
_LOG, _HASH = "full.jsonl", "content_hash.txt"
_NAMED: Final = ("metadata", "transcript", "content_hash", "prompt", "context")
_MOST_TOLD = 100


class Checkpoint(Value):
    """A moment at which Entire kept a session: its id, when, what had been written, and how many lines there were."""

    id: str
    path: str
    at: Moment | None
    stamp: str
    lines: int
    files: tuple[str, ...] = ()
    branch: str = ""


class Piece(NamedTuple):
    """Lines of a joined log that are from one file: the first of them in the log and in the file (1 = first)."""

    path: str
    line: int
    line_in_file: int


class Log(Value):
    """The log of one session, joined from its checkpoints. `key` is "" if the branch does not tell it."""

    key: str
    data: bytes
    pieces: tuple[Piece, ...]
    checkpoints: tuple[Checkpoint, ...]
    problems: tuple[Problem, ...] = ()

    def place(self, line: int) -> tuple[str, int]:
        """The file, and the line in it, of a line of the joined log."""
        piece = self.pieces[max(bisect_right(self.pieces, line, key=lambda piece: piece.line) - 1, 0)]
        return piece.path, line - piece.line + piece.line_in_file


def matches(path: str, data: bytes) -> bool:
    """Whether this file says that a branch is one of checkpoints: `<2 hex>/<10 hex>/metadata.json` with an id."""
    return bool(_ROOT.fullmatch(path)) and bool(string(_object(data), "checkpoint_id"))


def join(files: Mapping[str, bytes]) -> tuple[Log, ...]:
    """The logs of a branch by its files, in the order in which their sessions were first kept.

    `prompt.txt` and `context.md` repeat what is in the logs, and are not read.
    """
    entries: dict[str, list[_Entry]] = {}
    for path in sorted(files):
        if match := _ENTRY.fullmatch(path):
            entry = _entry(path, match[1] + match[2], int(match[3]), _object(files[path]))
            entries.setdefault(entry.key or path, []).append(entry)
    missing = _missing(files)
    groups = sorted((sorted(group, key=_order) for group in entries.values()), key=lambda group: _order(group[0]))
    return tuple(_joined(group, files, missing) for group in groups)


def read(log: Log) -> tuple[Session, ...]:
    """The sessions of a joined log, by its form; none if it has none that is known.

    The first has the key that the branch gives it, and each checkpoint with the first turn behind what it had before.
    Lines are those of the joined log.
    """
    form = next((form for form in _FORMS if form.matches(log.data)), None)
    sessions = form.read(log.data) if form else ()
    if not sessions:
        return ()
    first = sessions[0]
    lines = list(accumulate((turn.line for turn in first.turns), max))
    marks = ((min(bisect_right(lines, kept.lines) + 1, len(lines)), kept.id) for kept in log.checkpoints)
    first = replace(
        first, key=log.key or first.key, checkpoints=tuple(marks), problems=(*log.problems, *first.problems)
    )
    return first, *sessions[1:]


class _Entry(Value):
    """One session in one checkpoint. `start` is how many lines of its log were there before, None if it is not told."""

    folder: str
    checkpoint: str
    number: int
    key: str
    stamp: str
    at: Moment | None
    start: int | None
    files: tuple[str, ...]
    branch: str


class _Joined(Struct, kw_only=True, eq=False):
    """The lines of a log while it is joined, and what is known of them."""

    lines: list[bytes] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    seen: set[bytes] | None = None

    def add(self, path: str, data: bytes) -> None:
        """Takes in the log of a later checkpoint: all of it again, or what is new since the last one."""
        found = data.split(b"\n")
        if not found[-1]:
            found.pop()
        if found and not _is_record(found[0]):  # one object over many lines has no pieces
            self.lines, self.pieces, self.seen = found, [Piece(path, 1, 1)], None
        elif found[: len(self.lines)] == self.lines:
            self._extend(path, found, range(len(self.lines), len(found)))
        else:
            if self.seen is None:
                self.seen = {_id(line) for line in self.lines}
            new = []
            for number, line in enumerate(found):
                id_ = _id(line)
                if id_ not in self.seen:
                    self.seen.add(id_)
                    new.append(number)
            self._extend(path, found, new)

    def _extend(self, path: str, found: Sequence[bytes], numbers: Iterable[int]) -> None:
        last = -2
        for number in numbers:
            if number != last + 1:
                self.pieces.append(Piece(path, len(self.lines) + 1, number + 1))
            self.lines.append(found[number])
            if self.seen is not None:
                self.seen.add(_id(found[number]))
            last = number


def _joined(group: Sequence[_Entry], files: Mapping[str, bytes], missing: Mapping[str, list[str]]) -> Log:
    log = _Joined()
    checkpoints, problems = [], []
    for entry in group:
        data = files.get(entry.folder + _LOG)
        before = len(log.lines)
        if data is not None:
            written = files.get(entry.folder + _HASH, b"").decode("ascii", "replace").strip()
            if written and written != f"sha256:{hashlib.sha256(data).hexdigest()}":
                message = f"{entry.folder}{_HASH} is not the hash of {_LOG}"
                problems.append(Problem(rule="session-hash", line=before + 1, message=message))
            log.add(entry.folder + _LOG, data)
        for path in missing.get(entry.folder, ()):
            message = f"{path} is named in its checkpoint and missing"
            problems.append(Problem(rule="session-not-read", line=before + 1, message=message))
        checkpoints.append(
            Checkpoint(
                id=entry.checkpoint,
                path=entry.folder,
                at=entry.at,
                stamp=entry.stamp,
                lines=before if entry.start is None else entry.start,
                files=entry.files,
                branch=entry.branch,
            )
        )
    return Log(
        key=group[0].key,
        data=b"\n".join((*log.lines, b"")),
        pieces=tuple(log.pieces) or (Piece(group[0].folder + _LOG, 1, 1),),
        checkpoints=tuple(checkpoints),
        problems=tuple(problems[:_MOST_TOLD]),
    )


def _entry(path: str, checkpoint: str, number: int, record: Record) -> _Entry:
    stamp = stamp_of(record.get("created_at"))
    starts = (record.get(name) for name in ("checkpoint_transcript_start", "transcript_lines_at_start"))
    touched = record.get("files_touched")
    return _Entry(
        folder=path.removesuffix("metadata.json"),
        checkpoint=checkpoint,
        number=number,
        key=key_of(_DATED.sub("", string(record, "session_id"), count=1)),
        stamp=stamp,
        at=read_moment(stamp),
        start=next((start for start in starts if type(start) is int and start >= 0), None),
        files=paths(touched) if isinstance(touched, list) else (),
        branch=words(record.get("branch")),
    )


def _order(entry: _Entry) -> tuple[bool, float, str, int]:
    """By time, then by name; what has no time is last."""
    seconds = entry.at.instant.timestamp() if entry.at else 0.0
    return entry.at is None, seconds, entry.checkpoint, entry.number


def _missing(files: Mapping[str, bytes]) -> dict[str, list[str]]:
    """The files that checkpoints name and the branch does not have, by the folder of their entry."""
    found: dict[str, list[str]] = {}
    for path in sorted(files):
        if _ROOT.fullmatch(path):
            for session in blocks(_object(files[path]).get("sessions")):
                for name in _NAMED:
                    named = string(session, name).removeprefix("/")
                    folder = named[: named.rfind("/") + 1]
                    if named and named not in files and _ENTRY.fullmatch(f"{folder}metadata.json"):
                        found.setdefault(folder, []).append(named)
    return found


def _object(data: bytes) -> Record:
    value = parse(data.decode("utf-8", "replace"))
    return value if isinstance(value, dict) else {}


def _is_record(line: bytes) -> bool:
    """Whether a first line stands for itself: an object, or text that is no beginning of one."""
    text = line.decode("utf-8", "replace").strip()
    return isinstance(parse(text), dict) or not text.startswith(("{", "["))


def _id(line: bytes) -> bytes:
    """What tells a record from others: its id, else all that it says."""
    value = parse(line.decode("utf-8", "replace")) if b'"uuid"' in line else None
    id_ = string(value, "uuid") if isinstance(value, dict) else ""
    return hashlib.sha256(f"uuid {id_}".encode() if id_ else line.strip()).digest()
