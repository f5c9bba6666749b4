"""Answers why a line of a file is there: the commits that wrote it, their sessions, and who names them.

    git's own words in a tool call, [main 3a835a6] Subject ─┐
    a session's id, or a checkpoint, in the message ────────┤
    a commit in a tool call with its message ───────────────┼─► the best class that any session has
    an edit of the file with the line in it ────────────────┘    one session in it: that one; several: uncertain
    the file written, its line not shown; ──────────────────┐
    the commit's id, in any text ───────────────────────────┴─► uncertain: whoever reads a log names it, too

One chain for each commit: commit ─► session, with its turns ─► memos and decisions. Whatever is not shown by what
is read is uncertain, and says why.
"""

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from enum import IntEnum
from typing import Any, Final

from memosite.agents.items import Reader, day_and_time, line_of
from memosite.archive.cite import ArchiveNames, ref_named
from memosite.archive.model import Archive, Artifact, Envelopes, Library, Transcript, sessions_of
from memosite.facts.characters import printable, printable_json
from memosite.facts.errors import ConfigError
from memosite.facts.parsed import Ref, Text
from memosite.facts.patterns import regex
from memosite.facts.texts import BEGINNING, counted, make_row, marks_of
from memosite.facts.values import Value, replace
from memosite.formats.sessions.kept import read_conversation
from memosite.formats.status import sort_of
from memosite.formats.turns import Turn, blocks
from memosite.sources.objects import CommitFacts

# Judges which session made a commit, by what its transcript shows within its times.


SLACK = dt.timedelta(minutes=5)
"""How far clocks and dates in whole minutes may differ."""


OPEN = dt.timedelta(hours=24)
"""How long a session may be that does not say when it ended."""


LAST_TURN = dt.timedelta(hours=2)
"""How long the last turn may go on."""


_SAID_BY_GIT = regex(r"\[[^\]\n]{1,200}? ([0-9a-f]{7,64})\] ([^\n]*)")


_EDITOR = regex(r"(?!todo).*(?:edit|write|patch|replace|create|insert)", re.IGNORECASE)


_SHELL = regex(r"bash|shell|terminal|command|exec", re.IGNORECASE)


_WRITING = regex(r"\bsed -i|\bperl -i|\btee\b|\bapply_patch\b|<<|>> ?")
"""What a shell does when it edits a file, and not when it prints it."""


_LEAST_SUBJECT, _LEAST_LINE = 8, 8


class Proof(IntEnum):
    """What a transcript shows of a commit, the best last."""

    NAMED = 1
    WROTE = 2
    AMENDED = 3
    EDITED = 4
    COMMITTED = 5
    TRAILER = 6
    SAID_BY_GIT = 7


_WORDS = {
    Proof.NAMED: "names the commit",
    Proof.WROTE: "wrote the file",
    Proof.AMENDED: "made a commit with this message",
    Proof.EDITED: "edited the file, with this text",
    Proof.COMMITTED: "ran the commit",
    Proof.TRAILER: "is named by the commit's message",
    Proof.SAID_BY_GIT: "made the commit",
}


_DOUBTS = {
    Proof.NAMED: "it names the commit, but does not show that it made it",
    Proof.WROTE: "it wrote the file, but does not show this line",
    Proof.AMENDED: "its commit had another id; it may have been amended or rebased since",
}


class Work(Value):
    """What is looked for: a commit, the names of the file, the lines that it wrote, and the commits around it.

    `nearby` are the first lines of messages by hash, of all commits of about that time.
    """

    commit: CommitFacts
    paths: tuple[str, ...]
    lines: tuple[str, ...]
    nearby: Mapping[str, str]


class ShownTurn(Value):
    """A turn that shows something of a commit; without an anchor, the session as a whole does."""

    anchor: str
    proof: Proof

    @property
    def words(self) -> str:
        """What it shows."""
        return _WORDS[self.proof]


class Session(Value):
    """A session that made a commit, or may have: then `doubt` says why it is uncertain."""

    transcript: Transcript
    turns: tuple[ShownTurn, ...]
    doubt: str = ""

    @property
    def best(self) -> Proof:
        """The best that any turn shows."""
        return max(turn.proof for turn in self.turns)


def span_of(transcript: Transcript) -> tuple[dt.datetime, dt.datetime] | None:
    """From when to when a session may have made commits; None if it does not say when it began."""
    begin = transcript.envelope.sent
    if begin is None:
        return None
    if transcript.ended:
        end = transcript.ended.instant + SLACK
    elif transcript.last_turn:
        end = transcript.last_turn.instant + LAST_TURN
    else:
        end = begin.instant + OPEN
    return begin.instant - SLACK, end


def is_within(transcript: Transcript, commit: CommitFacts) -> bool:
    """Whether a commit was written or committed within the times of a session."""
    span = span_of(transcript)
    return span is not None and any(span[0] <= moment <= span[1] for moment in commit.moments)


def session_of(transcript: Transcript, turns: Iterable[Turn], work: Work) -> Session | None:
    """What a transcript shows of a commit; None if it shows nothing. Of copied turns the session has nothing itself."""
    made = list(_made(transcript, work.commit))
    own = (turn for turn in turns if turn.ordinal > transcript.copied)
    shown = [
        ShownTurn(anchor=turn.anchor, proof=proof)
        for turn in own
        if (proof := max(_proofs(turn, work), default=None)) and turn.anchor not in {one.anchor for one in made}
    ]
    known = {one.anchor for one in (*made, *shown)}
    shown += [one for one in _wrote(transcript, work) if one.anchor not in known]
    shown = sorted((*made, *shown), key=lambda one: int(one.anchor[1:] or 0))
    if not shown:
        return None
    if not made and not is_within(transcript, work.commit):
        told = [turn for turn in shown if turn.proof == Proof.SAID_BY_GIT]
        doubt = "the commit is not within the times of this session"
        return Session(transcript=transcript, turns=tuple(told), doubt=doubt) if told else None
    best = max(turn.proof for turn in shown)
    kept = [turn for turn in shown if turn.proof > Proof.AMENDED] or [turn for turn in shown if turn.proof == best]
    return Session(transcript=transcript, turns=tuple(kept), doubt=_DOUBTS.get(best, ""))


def _made(transcript: Transcript, commit: CommitFacts) -> Iterator[ShownTurn]:
    """What a session log shows of having made a commit that its source has."""
    for one in transcript.commits:
        if one.id == commit.hash:
            proof = Proof.SAID_BY_GIT if one.how == "printed" else Proof.TRAILER
            yield ShownTurn(anchor=f"t{one.ordinal}" if one.ordinal else "", proof=proof)


def _wrote(transcript: Transcript, work: Work) -> Iterator[ShownTurn]:
    """The turns of a session log whose tools wrote the file."""
    log = transcript.log
    for ordinal, path in log.wrote if log else ():
        plain = "/" + path.replace("\\", "/").removeprefix("/")
        if ordinal > transcript.copied and any(plain.endswith(f"/{name}") for name in work.paths):
            yield ShownTurn(anchor=f"t{ordinal}", proof=Proof.WROTE)


def best_sessions(found: Sequence[Session]) -> list[Session]:
    """Of all sessions that show something of a commit those that show most; several are in doubt."""
    certain = [session for session in found if not session.doubt]
    if certain:
        best = max(session.best for session in certain)
        chosen = list(_without_captures(session for session in certain if session.best == best))
        if len(chosen) == 1:
            return chosen
        return [replace(session, doubt=f"{len(chosen)} sessions show it") for session in chosen]
    best = max((session.best for session in found), default=Proof.NAMED)
    return [session for session in found if session.best == best]


def _without_captures(found: Iterable[Session]) -> Iterator[Session]:
    """Sessions, each once: of its captures the agent's own log, else any log, else the first."""
    known: set[str] = set()
    for session in sorted(found, key=lambda one: (not one.transcript.log, bool(one.transcript.envelope.capture_tool))):
        ids = set(sessions_of(session.transcript))
        if not ids or known.isdisjoint(ids):
            yield session
        known |= ids


def _proofs(turn: Turn, work: Work) -> Iterator[Proof]:
    made = work.commit.committed
    if names_commit(turn.text, work.commit.hash):
        yield Proof.NAMED
    said = (*turn.before, *turn.after) if turn.place else blocks(turn.text)  # a log's calls are not in its texts
    for call in (block for block in said if block.kind == "tool"):
        is_shell = bool(_SHELL.search(call.name or ""))
        if is_shell:
            yield from _committed(call.text, work)
        is_editing = bool(_EDITOR.match(call.name or "")) or (is_shell and bool(_WRITING.search(call.text)))
        is_before = turn.at is None or made is None or turn.at <= made.instant + SLACK
        if is_editing and is_before and _edits(call.text, work):
            yield Proof.EDITED


def _committed(text: str, work: Work) -> Iterator[Proof]:
    """What a call of a shell shows of making the commit: git's answer, or the command with the message."""
    subject = work.commit.subject
    said = [(id_, " ".join(words.split())) for id_, words in _SAID_BY_GIT.findall(text)]
    if any(work.commit.hash.startswith(id_) for id_, _ in said):
        yield Proof.SAID_BY_GIT
    elif others := tuple(id_ for id_, words in said if words == subject):
        if not any(known.startswith(others) for known in work.nearby):
            yield Proof.AMENDED
    elif len(subject) >= _LEAST_SUBJECT and "git commit" in text and subject in " ".join(text.split()):
        same = [id_ for id_, words in work.nearby.items() if words == subject and id_ != work.commit.hash]
        if not same:
            yield Proof.COMMITTED


def _edits(text: str, work: Work) -> bool:
    plain = text.replace("\\\\", "/").replace("\\", "/")
    is_there = any(re.search(rf"(?<![\w.-]){re.escape(path)}(?![\w-])", plain) for path in work.paths)
    return is_there and any(_says(text, line.strip()) for line in work.lines)


def _says(text: str, line: str) -> bool:
    """Whether a call has a line, also as JSON writes it."""
    if sum(char.isalnum() for char in line) < _LEAST_LINE:
        return False
    return line in text or json.dumps(line, ensure_ascii=False)[1:-1] in text


def names_commit(text: str, hash_: str) -> bool:
    """Whether a text has the id of a commit, or seven or more characters of its beginning."""
    if hash_[:7] not in text:
        return False
    return any(hash_.startswith(word) for word in re.findall(r"(?<![0-9A-Za-z])[0-9a-f]{7,64}(?![0-9A-Za-z])", text))


# Finds which items may name a file or a commit, and which files they are, without loading all of them.


Item = tuple[str, Sequence[str], Any]
"""The name of an artifact, the digests of its texts, and: the row of its subject, its files, its times."""


_SECOND: Final = 1.0
"""Times are kept as seconds, which are not exact."""


def list_items(archive: Archive) -> list[Item]:
    """What an index keeps of each artifact that can name something, in the order of the archive."""
    return [_item(artifact) for artifact in archive.artifacts.values() if not artifact.withheld]


def _item(artifact: Artifact) -> Item:
    span = span_of(artifact) if isinstance(artifact, Transcript) else None
    files = [copy.file.place for copy in artifact.copies]
    times = [moment.timestamp() for moment in span] if span else None
    digests = [text.sha256 for text in bodies_of(artifact)]
    commits = (one.id for one in artifact.commits) if isinstance(artifact, Transcript) else ()
    return "/".join(artifact.ref), digests, (make_row(" ".join((artifact.subject, *commits))), files, times)


def bodies_of(artifact: Artifact) -> tuple[Text, ...]:
    """The texts of an artifact that can name something."""
    is_unread = isinstance(artifact, Envelopes) and artifact.broken
    return () if is_unread or isinstance(artifact, Library) else artifact.texts


class Mentions:
    """The index of an archive: its items, and the rows of their texts by digest."""

    def __init__(self, items: Sequence[Item], rows: Mapping[str, bytes]) -> None:
        """Take them as `list_items` has them."""
        self._items = {ref_named(name): more for name, _, more in items}
        self._rows = {
            ref_named(name): b"".join((more[0], *(rows[digest] for digest in digests))) for name, digests, more in items
        }

    def __contains__(self, ref: Ref) -> bool:
        """Whether an artifact can name something, and is no transcript."""
        return ref in self._items and not _is_transcript(ref)

    def named(self, name: str) -> set[Ref]:
        """The artifact of this name, if it can name something and is no transcript."""
        return {ref for ref in (ref_named(name),) if ref in self}

    def naming(self, written: str) -> Iterator[Ref]:
        """The artifacts, but transcripts, that may name this; of others it is certain that they do not."""
        marks = marks_of(written)
        return (ref for ref in self._items if not _is_transcript(ref) and self._has(ref, marks))

    def at(self, ending: str) -> set[Ref]:
        """The artifacts, but transcripts, one of whose files is at a path that ends in this, after a `/`."""
        return {
            ref
            for ref, (_, files, _) in self._items.items()
            if not _is_transcript(ref) and any(f"/{source}/{path}".endswith(f"/{ending}") for source, path in files)
        }

    def sessions(self, moments: Sequence[datetime], written: str) -> Iterator[Ref]:
        """The transcripts within whose times one of these moments may be, or that may name this."""
        marks, seconds = marks_of(written), [moment.timestamp() for moment in moments]
        for ref, (_, _, times) in self._items.items():
            is_open = times and any(times[0] - _SECOND <= second <= times[1] + _SECOND for second in seconds)
            if _is_transcript(ref) and (is_open or self._has(ref, marks)):
                yield ref

    def _has(self, ref: Ref, marks: set[bytes]) -> bool:
        row = self._rows[ref]
        return all(mark in row for mark in marks)


def _is_transcript(ref: Ref) -> bool:
    return ref[0] == "transcript"


MOST_NAMED = 20
"""How many items that name a commit or a file are shown."""


_BEFORE, _AFTER = r"(?:(?<=\./)|(?<![\w./-]))", r"(?![\w-]|\.\w|/\w)"


_ENDING = regex(r"\.(?:body\.md|openthing|md)$")


_REFERENCE = regex(r"[\w./-]*\d{4}-\d\d-\d\d[\w./-]*|[\w.-]+(?:/[\w.-]+)+\.md", re.ASCII)


class Asked(Value):
    """A file of a source, by its path in it, and the line that is asked about, if it is one.

    `others` are the sources in which there is a file at the same path. `more` is how many commits are not shown.
    """

    source: str
    path: str
    line: int | None = None
    others: tuple[str, ...] = ()
    more: int = 0

    @property
    def shown(self) -> str:
        """The file as it is named."""
        return f"{self.source}/{self.path}" + (f":{self.line}" if self.line else "")


class Cause(Value):
    """A commit that wrote lines of the file: what is looked for, which lines, and how it may be shown.

    `subject` and `author` are without secrets.
    """

    work: Work
    numbers: tuple[int, ...]
    subject: str
    author: str


class Naming(Value):
    """An item that names a commit, a file or a decision, and how; `doubt` says why that is uncertain."""

    artifact: Artifact
    words: str
    doubt: str = ""


class Chain(Value):
    """Why some lines are there."""

    cause: Cause
    sessions: tuple[Session, ...]
    named: tuple[Naming, ...]
    more: int = 0


def why(reader: Reader, mentions: Mentions, asked: Asked, causes: Sequence[Cause]) -> list[Chain]:
    """The chain of each commit; `mentions` is the index of the reader's archive."""
    return [_chain(reader, mentions, asked, cause) for cause in causes]


def _chain(reader: Reader, mentions: Mentions, asked: Asked, cause: Cause) -> Chain:
    named = _named(reader, mentions, asked, cause.work.commit)
    return Chain(
        cause=cause,
        sessions=tuple(best_sessions(list(_sessions(reader, mentions, cause.work)))),
        named=tuple(named[:MOST_NAMED]),
        more=max(0, len(named) - MOST_NAMED),
    )


# Sessions


def _sessions(reader: Reader, mentions: Mentions, work: Work) -> Iterator[Session]:
    for ref in mentions.sessions(work.commit.moments, work.commit.hash[:BEGINNING]):
        artifact = reader.archive.artifacts[ref]
        if not isinstance(artifact, Transcript) or artifact.broken:
            continue
        variant = artifact.variants[0]
        if variant.text is None:
            continue
        text = reader.text_of(variant.text.conversation)
        is_made = any(one.id == work.commit.hash for one in artifact.commits)
        if not (is_made or is_within(artifact, work.commit) or names_commit(text, work.commit.hash)):
            continue
        found = session_of(artifact, read_conversation(text, started=artifact.started).turns, work)
        if found is not None:
            yield found


# Who names it


def _named(reader: Reader, mentions: Mentions, asked: Asked, commit: CommitFacts) -> list[Naming]:
    """Items that name the commit, the file, or what its message names: the certain ones first, then the newest."""
    artifacts = reader.archive.artifacts
    files = mentions.at(f"{asked.source}/{asked.path}")
    itself = {ref for ref in files if (asked.source, asked.path) in artifacts[ref].own_files}
    in_message = _in_message(reader, mentions, commit)
    decisions = [one for one in in_message if sort_of(one) == "decision"]
    linking = {ref for one in itself for ref in artifacts[one].backlinks}
    found: list[Naming] = [Naming(artifact=one, words="the commit's message names it") for one in in_message]
    named = {ref for word in (asked.path.rpartition("/")[2], commit.hash[:BEGINNING]) for ref in mentions.naming(word)}
    about = {ref for decision in decisions for ref in decision.backlinks}
    for ref in sorted(named | linking | about):
        if ref not in mentions or ref in itself or any(ref == one.ref for one in in_message):
            continue
        artifact = artifacts[ref]
        text = _text_of(reader, artifact) if ref in named else ""
        if names_commit(text, commit.hash):
            found.append(Naming(artifact=artifact, words="names the commit"))
        elif ref in linking:
            found.append(Naming(artifact=artifact, words="names the file"))
        elif (doubt := _doubt_of_file(artifact, text, asked)) is not None:
            found.append(Naming(artifact=artifact, words="names the file", doubt=doubt))
        elif decision := next((one for one in decisions if ref in one.backlinks), None):
            found.append(Naming(artifact=artifact, words=f"names the decision {'/'.join(decision.ref)}"))
    found.sort(key=lambda one: one.artifact.sort_key, reverse=True)
    return sorted(found, key=lambda one: bool(one.doubt))


def _text_of(reader: Reader, artifact: Artifact) -> str:
    return "\n".join((artifact.subject, *(reader.text_of(text.sha256) for text in bodies_of(artifact))))


def _in_message(reader: Reader, mentions: Mentions, commit: CommitFacts) -> list[Artifact]:
    """The memos, decisions and records that a commit's message names, by a whole id or by a path."""
    names = ArchiveNames(reader.archive)
    found: dict[Ref, Artifact] = {}
    for match in dict.fromkeys(_REFERENCE.findall(f"{commit.subject}\n{commit.body}")):
        written = match.rstrip(".").removeprefix("./")
        at = mentions.at(written) if "/" in written else set()
        if not at:
            with suppress(ConfigError):  # it may name what is in no source
                name, _ = names.find(_ENDING.sub("", written.rpartition("/")[2]), is_exact=True)
                at = mentions.named(name)
        if len(at) == 1:
            [ref] = at
            found[ref] = reader.archive.artifacts[ref]
    return list(found.values())


def _doubt_of_file(artifact: Artifact, text: str, asked: Asked) -> str | None:
    """Why it is uncertain that a text names the file, "" if it is certain; None if it does not."""
    name = asked.path.rpartition("/")[2]
    if name not in text:
        return None
    plain = text.replace("\\", "/")

    def has(written: str) -> bool:
        return re.search(f"{_BEFORE}{re.escape(written)}{_AFTER}", plain) is not None

    if has(f"{asked.source}/{asked.path}"):
        return ""
    if "/" in asked.path and has(asked.path):
        is_own = any(copy.file.source == asked.source for copy in artifact.copies)
        return "" if is_own or not asked.others else f"a file at this path is also in {', '.join(asked.others)}"
    return "it names only the file's name" if has(name) else None


# As text and JSON


def as_text(reader: Reader, asked: Asked, chains: Sequence[Chain]) -> str:
    """For people and sessions: what others have written is within a line."""
    lines = [asked.shown]
    known: set[Ref] = set()  # what a former chain has shown
    for chain in chains:
        commit = chain.cause.work.commit
        numbers = "" if asked.line else f"; wrote {counted(len(chain.cause.numbers), 'line')}"
        who = f"{commit.hash[:12]}, {day_and_time(commit.committed)}, {chain.cause.author}"
        lines += ["", f"Commit {who}: “{chain.cause.subject}”{numbers}"]
        lines += ["  Session", *([] if chain.sessions else ["    no transcript shows it"])]
        lines += [line for session in chain.sessions for line in _session_lines(reader, session)]
        lines += [f"  Named in ({len(chain.named) + chain.more})"]
        new = [naming for naming in chain.named if naming.artifact.ref not in known]
        lines += [f"  - {_doubted(naming.doubt)}{naming.words}: {line_of(reader, naming.artifact)}" for naming in new]
        lines += [f"    {chain.more} more are older"] if chain.more else []
        old = len(chain.named) - len(new)
        lines += [f"    {old} {'is' if old == 1 else 'are'} named above"] if old else []
        known.update(naming.artifact.ref for naming in new)
    lines += ["", f"{counted(asked.more, 'more commit')} wrote other lines: name a line"] if asked.more else []
    return "\n".join(map(printable, lines))


def _session_lines(reader: Reader, session: Session) -> Iterator[str]:
    yield f"  - {_doubted(session.doubt)}{line_of(reader, session.transcript)}"
    for turn in session.turns:
        if not turn.anchor:
            yield f"    {turn.words}"
            continue
        place = f"{'/'.join(session.transcript.ref)}#{turn.anchor}"
        yield f"    #{turn.anchor} {turn.words}: {reader.command('show', place)}"


def _doubted(doubt: str) -> str:
    return f"uncertain ({doubt}): " if doubt else ""


def as_json(asked: Asked, chains: Sequence[Chain]) -> str:
    """The same as one JSON object."""
    head = {"v": 1, "command": "why", "source": asked.source, "path": asked.path, "line": asked.line}
    return printable_json({**head, "chains": list(map(_object, chains)), "commits_not_shown": asked.more})


def _object(chain: Chain) -> dict[str, object]:
    commit = chain.cause.work.commit
    return {
        "commit": {
            "id": commit.hash,
            "date": commit.committed.utc if commit.committed else None,
            "author": chain.cause.author,
            "subject": chain.cause.subject,
            "lines": list(chain.cause.numbers),
        },
        "sessions": [
            {
                "id": session.transcript.id,
                "turns": [{"anchor": turn.anchor or None, "shows": turn.words} for turn in session.turns],
                "uncertain": session.doubt or None,
            }
            for session in chain.sessions
        ],
        "named_in": [
            {
                "kind": naming.artifact.kind,
                "id": naming.artifact.id,
                "short_subject": naming.artifact.short_subject,
                "date": naming.artifact.date.utc if naming.artifact.date else None,
                "shows": naming.words,
                "uncertain": naming.doubt or None,
            }
            for naming in chain.named
        ],
        "named_in_not_shown": chain.more,
    }
