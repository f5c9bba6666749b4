"""Answers why a line of a file is there: the commits that wrote it, their sessions, and who names them.

One chain for each commit: commit ─► session, with its turns ─► memos and decisions. Whatever is not shown by what
is read is uncertain, and says why.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from memosite.agents.items import Reader, day_and_time, line_of, of_archive
from memosite.agents.mentions import Mentions, bodies_of
from memosite.agents.sessions import Session, Work, best_sessions, is_within, names_commit, session_of
from memosite.archive.model import Artifact, Transcript
from memosite.archive.named import ArchiveNames
from memosite.facts.characters import printable, printable_json
from memosite.facts.errors import ConfigError
from memosite.facts.marks import BEGINNING
from memosite.facts.parsed import Ref
from memosite.formats.standing import sort_of
from memosite.formats.turns import parse_conversation
from memosite.sources.blame import CommitFacts

MOST_NAMED = 20
"""How many items that name a commit or a file are shown."""

_BEFORE, _AFTER = r"(?:(?<=\./)|(?<![\w./-]))", r"(?![\w-]|\.\w|/\w)"
_ENDING = re.compile(r"\.(?:body\.md|openthing|md)$")
_REFERENCE = re.compile(r"[\w./-]*\d{4}-\d\d-\d\d[\w./-]*|[\w.-]+(?:/[\w.-]+)+\.md", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A commit that wrote lines of the file: what is looked for, which lines, and how it may be shown.

    `subject` and `author` are without secrets.
    """

    work: Work
    numbers: tuple[int, ...]
    subject: str
    author: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """An item that names a commit, a file or a decision, and how; `doubt` says why that is uncertain."""

    artifact: Artifact
    words: str
    doubt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
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
    for artifact in of_archive(reader, mentions.sessions(work.commit.moments, work.commit.hash[:BEGINNING])):
        if not isinstance(artifact, Transcript) or artifact.broken:
            continue
        variant = artifact.variants[0]
        if variant.text is None:
            continue
        text = reader.text_of(variant.text.sha256)
        if not (is_within(artifact, work.commit) or names_commit(text, work.commit.hash)):
            continue
        sent = variant.envelope.sent
        found = session_of(artifact, parse_conversation(text, started=sent.instant if sent else None).turns, work)
        if found is not None:
            yield found


# Who names it


def _named(reader: Reader, mentions: Mentions, asked: Asked, commit: CommitFacts) -> list[Naming]:
    """Items that name the commit, the file, or what its message names: the certain ones first, then the newest."""
    artifacts = reader.archive.artifacts
    itself = {ref for ref in mentions.at(f"{asked.source}/{asked.path}") if _is_file(artifacts[ref], asked)}
    in_message = _in_message(reader, mentions, commit)
    decisions = {one.ref: one for one in in_message if _is_decision(one)}
    linking = {ref for one in itself for ref in artifacts[one].backlinks}
    found: list[Naming] = [Naming(artifact=one, words="the commit's message names it") for one in in_message]
    named = {ref for word in (asked.path.rpartition("/")[2], commit.hash[:BEGINNING]) for ref in mentions.naming(word)}
    about = {ref for decision in decisions.values() for ref in decision.backlinks}
    for ref in sorted(named | linking | about):
        if ref not in mentions or ref in itself or any(ref == one.ref for one in in_message):
            continue
        artifact = artifacts[ref]
        text = _text_of(reader, artifact) if ref in named else ""
        if names_commit(text, commit.hash):
            found.append(Naming(artifact=artifact, words="names the commit"))
        elif ref in linking:
            found.append(Naming(artifact=artifact, words="names the file"))
        elif naming := _names_file(artifact, text, asked):
            found.append(naming)
        elif decision := next((one for one in decisions.values() if ref in one.backlinks), None):
            found.append(Naming(artifact=artifact, words=f"names the decision {'/'.join(decision.ref)}"))
    found.sort(key=lambda one: one.artifact.sort_key, reverse=True)
    return sorted(found, key=lambda one: bool(one.doubt))


def _is_decision(artifact: Artifact) -> bool:
    return sort_of(artifact) == "decision"


def _text_of(reader: Reader, artifact: Artifact) -> str:
    return "\n".join((artifact.subject, *(reader.text_of(one.sha256) for one in bodies_of(artifact))))


def _is_file(artifact: Artifact, asked: Asked) -> bool:
    return any((copy.file.source, copy.file.path) == (asked.source, asked.path) for copy in artifact.copies)


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


def _names_file(artifact: Artifact, text: str, asked: Asked) -> Naming | None:
    """How a text names the file: with its source, by its whole path, or by a part of that."""
    name = asked.path.rpartition("/")[2]
    if name not in text:
        return None
    plain = text.replace("\\", "/")

    def has(written: str) -> bool:
        return re.search(f"{_BEFORE}{re.escape(written)}{_AFTER}", plain) is not None

    if has(f"{asked.source}/{asked.path}"):
        return Naming(artifact=artifact, words="names the file")
    is_own = any(copy.file.source == asked.source for copy in artifact.copies)
    if "/" in asked.path and has(asked.path):
        if is_own or not asked.others:
            return Naming(artifact=artifact, words="names the file")
        doubt = f"a file at this path is also in {', '.join(asked.others)}"
        return Naming(artifact=artifact, words="names the file", doubt=doubt)
    if has(name):
        return Naming(artifact=artifact, words="names the file", doubt="it names only the file's name")
    return None


# As text and JSON


def as_text(reader: Reader, asked: Asked, chains: Sequence[Chain]) -> str:
    """For people and sessions: what others have written is within a line."""
    lines = [asked.shown]
    known: set[Ref] = set()  # what a former chain has shown
    for chain in chains:
        commit = chain.cause.work.commit
        numbers = "" if asked.line else f"; wrote {_counted(len(chain.cause.numbers), 'line')}"
        who = f"{commit.hash[:12]}, {day_and_time(commit.committed)}, {chain.cause.author}"
        lines += ["", f"Commit {who}: “{chain.cause.subject}”{numbers}"]
        lines += ["  Session", *([] if chain.sessions else ["    no transcript shows it"])]
        lines += [line for one in chain.sessions for line in _session_lines(reader, one)]
        lines += [f"  Named in ({len(chain.named) + chain.more})"]
        new = [one for one in chain.named if one.artifact.ref not in known]
        lines += [f"  - {_doubted(one.doubt)}{one.words}: {line_of(reader, one.artifact)}" for one in new]
        lines += [f"    {chain.more} more are older"] if chain.more else []
        old = len(chain.named) - len(new)
        lines += [f"    {old} {'is' if old == 1 else 'are'} named above"] if old else []
        known.update(one.artifact.ref for one in new)
    lines += ["", f"{_counted(asked.more, 'more commit')} wrote other lines: name a line"] if asked.more else []
    return "\n".join(map(printable, lines))


def _session_lines(reader: Reader, session: Session) -> Iterator[str]:
    yield f"  - {_doubted(session.doubt)}{line_of(reader, session.transcript)}"
    for turn in session.turns:
        place = f"{'/'.join(session.transcript.ref)}#{turn.anchor}"
        yield f"    #{turn.anchor} {turn.words}: {reader.command('show', place)}"


def _doubted(doubt: str) -> str:
    return f"uncertain ({doubt}): " if doubt else ""


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def as_json(asked: Asked, chains: Sequence[Chain]) -> str:
    """The same as one JSON object."""
    value = {
        "v": 1,
        "command": "why",
        "source": asked.source,
        "path": asked.path,
        "line": asked.line,
        "chains": [_object(chain) for chain in chains],
        "commits_not_shown": asked.more,
    }
    return printable_json(value)


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
                "id": one.transcript.id,
                "turns": [{"anchor": turn.anchor, "shows": turn.words} for turn in one.turns],
                "uncertain": one.doubt or None,
            }
            for one in chain.sessions
        ],
        "named_in": [
            {
                "kind": one.artifact.kind,
                "id": one.artifact.id,
                "short_subject": one.artifact.short_subject,
                "date": one.artifact.date.utc if one.artifact.date else None,
                "shows": one.words,
                "uncertain": one.doubt or None,
            }
            for one in chain.named
        ],
        "named_in_not_shown": chain.more,
    }
