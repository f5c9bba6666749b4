"""Parses session logs (SPEC 2.2, sessions) to envelopes of transcripts, with their turns as data.

    file ─► the first form that it is of ─► sessions (`model`) ─► turns as data (`kept`) + an envelope each

A module for each form knows what is in its files; `places` says which files are read. The form is told by content
alone.
"""

import datetime as dt
import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from memosite.facts import rules
from memosite.facts.file import File
from memosite.facts.findings import Finding
from memosite.facts.parsed import Envelope, Parsed, SessionFile, SessionLog
from memosite.facts.texts import cut_line, describe_text, summarize
from memosite.facts.times import Moment
from memosite.facts.values import Value, replace
from memosite.formats.sessions import aider, claude_code, codex, entire, gemini, specstory
from memosite.formats.sessions.kept import keep, key_without_secret, without_files, without_secrets
from memosite.formats.sessions.model import Part, Session, SessionTurn, called_for, is_put_there, title_of
from memosite.formats.system import Adapter
from memosite.formats.systems import RECORD_IDS

_TITLE: Final = 300  # characters
_LINKS: Final = 500  # of each kind of one session
_PRINT: Final = 8


class Form(Value, kw_only=False):
    """A form of logs: whether bytes are of it, and what sessions they hold; `name` is the file's."""

    matches: Callable[[bytes], bool]
    read: Callable[[bytes, str], tuple[Session, ...]]


FORMS: Final = (
    Form(claude_code.matches, lambda data, _: claude_code.read(data)),
    Form(codex.matches, lambda data, _: codex.read(data)),
    Form(gemini.matches, lambda data, _: gemini.read(data)),
    Form(specstory.matches, lambda data, name: specstory.read(data, name=name)),
    Form(aider.matches, lambda data, name: aider.read(data, name=name)),
)
_ENDINGS: Final = (".jsonl", ".json", ".md")


def form_of(file: File) -> Form | None:
    """The form of a file, None if it is of none."""
    if not file.name.lower().endswith(_ENDINGS):
        return None
    return next((form for form in FORMS if form.matches(file.data)), None)


def parse(file: File) -> Parsed:
    """Read a log. A file of no known form gives no fact."""
    form = form_of(file)
    return parse_sessions(file, form.read(file.data, file.name)) if form else file.parsed()


def parse_checkpoints(file: File, log: entire.Log) -> Parsed:
    """Read a log that was joined from checkpoints; the file has its path and its bytes."""
    first, *others = entire.read(log) or (None,)
    if first is None:
        return file.parsed(None, _findings((Session(system="", key="", problems=log.problems),), file))
    return parse_sessions(file, (replace(first, turns=tuple(_placed(turn, log) for turn in first.turns)), *others))


def _placed(turn: SessionTurn, log: entire.Log) -> SessionTurn:
    """A turn of a joined log, with its place in the file of its checkpoint."""
    path, line = log.place(turn.line)
    return replace(turn, file=path, line=line, last_line=line + max(turn.last_line - turn.line, 0))


def parse_sessions(file: File, found: Iterable[Session]) -> Parsed:
    """The sessions of a log as envelopes, with what is to be shelved of them."""
    sessions = [_named(one, file) for one in found]
    shelve: list[bytes] = []
    envelopes = tuple(_envelope(one, file, shelve) for one in sessions if one.turns)
    guarded: tuple[Envelope, ...] = ()
    if file.is_redacted:
        guarded = tuple(_envelope(without_secrets(one), file, shelve) for one in sessions if one.turns)
    fact = SessionFile(file=file.facts, sessions=envelopes, guarded=guarded)
    return file.parsed(fact, _findings(sessions, file), *shelve)


ADAPTER: Final = Adapter(matches=lambda file: form_of(file) is not None, parse=parse)


def _named(session: Session, file: File) -> Session:
    """A session under its key; that of aider is a local time, so the source is part of it."""
    key = key_without_secret(session) if file.is_redacted else session.key
    return replace(without_files(session), key=f"{file.source}.{key}" if session.system == "aider" else key)


def _envelope(session: Session, file: File, shelve: list[bytes]) -> Envelope:
    """The envelope of a session; its words and turns are put with what is to be shelved."""
    kept = keep(session)
    text, words = describe_text(kept.words, RECORD_IDS)
    data = [one.encode() for one in (kept.turns, kept.thoughts, kept.outputs)]
    digests = [hashlib.sha256(one).hexdigest() if one else "" for one in data]
    shelve += (words, *filter(None, data))
    began = session.start and session.start.replace(tzinfo=dt.UTC) if not session.is_utc else session.start
    start = Moment(instant=began, offset=0 if session.is_utc else None) if began else None
    last = max((turn.at for turn in session.turns if turn.at), default=None)
    stamp = f"{session.start:%Y-%m-%d-%H%M}" if session.start else "undated"
    return Envelope(
        kind="transcript",
        shape="session",
        file=file.facts,
        stem=f"{stamp}--{session.system}--{session.key}",
        content_sha256=digests[0],
        subject=cut_line(title_of(session), _TITLE),
        sent=start,
        sent_text=session.start_text,
        ended=Moment(instant=last, offset=0) if last else None,
        body=replace(
            text,
            summary=_summary(session),
            turns=len(session.turns),
            log=digests[0],
            thoughts=digests[1],
            outputs=digests[2],
        ),
        capture_tool="SpecStory" if session.system == "specstory" else None,
        redaction_status="raw",
        log=_log(session),
    )


def _summary(session: Session) -> str:
    """What a person says first, else anybody."""
    said = (
        turn.text[turn.words_from :]
        for kind in ("person", "assistant")
        for turn in session.turns
        if turn.kind == kind and not is_put_there(turn.text[turn.words_from :])
    )
    return summarize(next((text for text in said if text.strip()), "")[:1_000])


def _log(session: Session) -> SessionLog:
    turns = session.turns
    parts = [(turn.ordinal, part) for turn in turns for part in (*turn.lead, *turn.parts)]
    is_alone = session.system != "aider"
    return SessionLog(
        system=session.system,
        key=session.key,
        agent=session.agent,
        models=session.models[:10],
        parent=session.parent,
        forked_from=session.forked_from,
        folder=session.folder,
        branch=session.branch,
        version=session.version,
        attribution=session.attribution,
        prints="".join(turn.digest[:_PRINT] or "-" for turn in turns),
        people=sum(turn.kind == "person" for turn in turns),
        tools=sum(part.kind == "tool" for _, part in parts),
        withheld=sum(turn.is_withheld for turn in turns),
        commits=_linked((ordinal, one) for ordinal, part in parts for one in part.commits),
        wrote=_linked((ordinal, one) for ordinal, part in parts for one in part.wrote),
        agents=_linked((ordinal, part.agent) for ordinal, part in parts if part.agent),
        checkpoints=session.checkpoints[:_LINKS],
        tasks=tuple(_tasks(part for _, part in parts))[:_LINKS],
        pulls=session.pulls[:_LINKS],
        origins="".join(_print(turn.origin) for turn in turns),
        unshown=session.unshown,
        line=None if is_alone else session.first_line,
    )


def _tasks(parts: Iterable[Part]) -> Iterator[tuple[str, str]]:
    """What sessions were started for, by their keys."""
    return ((part.agent, task) for part in parts if part.agent and (task := called_for(part)))


def _print(origin: str) -> str:
    return hashlib.sha256(origin.encode()).hexdigest()[:_PRINT] if origin else "-"


def _linked(found: Iterable[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """What turns link to, each once for a turn."""
    return tuple(dict.fromkeys(found))[:_LINKS]


def _findings(sessions: Iterable[Session], file: File) -> Iterator[Finding]:
    for session in sessions:
        for problem in session.problems:
            yield file.finding_at(problem.line or None, rules.SESSION_RULES[problem.rule], problem.message)
