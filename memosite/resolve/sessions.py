"""Ties sessions of logs to each other, to what they wrote and to their commits (SPEC 2.2, sessions).

    artifacts ─► sessions by key ─┬─► parents and those they started
                                  ├─► continued sessions: their first turns are records of an older one
                                  ├─► memos, documents and records whose files a tool wrote
    commits of the sources ───────┴─► commits whose hash was printed, or whose message names the session

Nothing is tied by time alone.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from memosite.archive.history import CommitCard
from memosite.archive.model import UNDATED, Artifact, SessionCommit, Transcript
from memosite.facts.names import short_subject
from memosite.facts.parsed import Ref, SessionLog
from memosite.facts.patterns import regex
from memosite.facts.values import replace

_WRITERS: Final = 20
"""The most turns that are told to have written one item."""

_PRINT: Final = regex(r"[0-9a-f]{8}|-")


class _Origin(NamedTuple):
    """A record of a session, and which of its turns that is, 1 = first."""

    ref: Ref
    ordinal: int


def tied_sessions(
    artifacts: Mapping[Ref, Artifact], cards: Mapping[str, Mapping[str, CommitCard]] = MappingProxyType({})
) -> dict[Ref, Artifact]:
    """The sessions that are tied to anything, and what they wrote, with their ties; `cards` are commits by source."""
    sessions = {ref: one for ref, one in artifacts.items() if isinstance(one, Transcript) and one.log}
    by_key = {(one.log.system, one.log.key): ref for ref, one in sessions.items() if one.log}
    files = _files(artifacts) if any(one.log and one.log.wrote for one in sessions.values()) else {}
    continued = dict(_continued(sessions, by_key))
    commits = _commits(sessions, continued, cards)
    found: dict[Ref, Transcript] = {}
    for ref, one in sessions.items():
        log = one.log
        if log is None or one.withheld:
            continue
        started = ((ordinal, by_key.get((log.system, key))) for ordinal, key in log.agents)
        wrote = ((ordinal, _written(path, log, one, files)) for ordinal, path in log.wrote)
        task = _task(one, log, sessions, by_key)
        tied = replace(
            one,
            subject=task or one.subject,
            short_subject=short_subject(task, stem=one.id) if task else one.short_subject,
            parent=by_key.get((log.system, log.parent)) if log.parent else None,
            children=tuple(dict.fromkeys((at, to) for at, to in started if to and to != ref)),
            wrote=tuple(dict.fromkeys((at, to) for at, to in wrote if to and to != ref)),
            commits=commits.get(ref, ()),
            **continued.get(ref, {}),
        )
        if tied != one:
            found[ref] = tied
    return {**found, **dict(_writers(artifacts, found))}


def _task(
    one: Transcript, log: SessionLog, sessions: Mapping[Ref, Transcript], by_key: Mapping[tuple[str, str], Ref]
) -> str:
    """What a session was started for, as the call of the session says that started it; "" if it does not."""
    parent = sessions.get(by_key.get((log.system, log.parent), one.ref)) if log.parent else None
    return dict(parent.log.tasks).get(log.key, "") if parent and parent.log and not parent.withheld else ""


def _files(artifacts: Mapping[Ref, Artifact]) -> dict[tuple[str, str], Ref]:
    """Items by their files; of files with many items, none."""
    found: dict[tuple[str, str], Ref | None] = {}
    for ref, one in artifacts.items():
        for place in one.files:
            found[place] = ref if found.get(place, ref) == ref else None
    return {place: ref for place, ref in found.items() if ref}


def _written(path: str, log: SessionLog, session: Transcript, files: Mapping[tuple[str, str], Ref]) -> Ref | None:
    """The item whose file is at a path that a tool wrote, below the session's folder, which is the source."""
    path = log.below(path)
    if path.startswith("/") or path[1:2] == ":":
        return None
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if ".." in parts:
        return None
    places = ((copy.file.source, "/".join(parts)) for copy in session.copies)
    return next(filter(None, map(files.get, places)), None)


def _continued(
    sessions: Mapping[Ref, Transcript], by_key: Mapping[tuple[str, str], Ref]
) -> Iterator[tuple[Ref, dict[str, Any]]]:
    """The sessions whose first turns are records of an older one, with the fields that say so.

    A copy begins when its original did: the older one is that which ended first.
    """
    first: dict[str, _Origin] = {}
    for ref, one in sorted(sessions.items(), key=lambda item: _age(item[1])):
        log = one.log
        marks = _PRINT.findall(log.origins) if log else []
        origins = [first.get(mark) if mark != "-" else None for mark in marks]
        begun = origins[0] if origins else None
        if begun is not None:
            copied = next((number for number, origin in enumerate(origins) if not origin), len(origins))
            yield ref, {"continued_from": begun.ref, "copied": copied, "copied_at": begun.ordinal}
        elif log and log.forked_from and (to := by_key.get((log.system, log.forked_from))):
            yield ref, {"continued_from": to}
        for ordinal, mark in enumerate(marks, 1):
            if mark != "-":
                first.setdefault(mark, _Origin(ref, ordinal))


def _age(session: Transcript) -> tuple[Any, ...]:
    moments = (session.envelope.sent, session.ended)
    return (*(moment.instant if moment else UNDATED for moment in moments), session.sort_key)


def _commits(
    sessions: Mapping[Ref, Transcript],
    continued: Mapping[Ref, Mapping[str, Any]],
    cards: Mapping[str, Mapping[str, CommitCard]],
) -> dict[Ref, tuple[SessionCommit, ...]]:
    """The commits of each session, each once: those whose hash was printed first, then those whose message names it."""
    by_id: defaultdict[str, list[tuple[Ref, int]]] = defaultdict(list)
    by_checkpoint: defaultdict[str, list[tuple[Ref, int]]] = defaultdict(list)
    found: defaultdict[Ref, dict[str, SessionCommit]] = defaultdict(dict)

    def note(
        ref: Ref, card: CommitCard, ordinal: int, source: str, how: Literal["printed", "trailer", "checkpoint"]
    ) -> None:
        made = SessionCommit(ordinal=ordinal, id=card.id, subject=card.subject, source=source, how=how)
        found[ref].setdefault(card.id, made)

    for ref, one in sessions.items():
        if (log := one.log) is None or one.withheld:
            continue
        by_id[log.key.casefold()].append((ref, 0))
        for ordinal, checkpoint in log.checkpoints:
            by_checkpoint[checkpoint].append((ref, ordinal))
        sources = dict.fromkeys((*(copy.file.source for copy in one.copies), *cards))
        for ordinal, word in log.commits:
            source = next((name for name in sources if word in cards.get(name, ())), None)
            if source is not None and ordinal > continued.get(ref, {}).get("copied", 0):
                note(ref, cards[source][word], ordinal, source, "printed")
    for source, known in cards.items():
        for card in dict.fromkeys(known.values()):
            for checkpoint in card.checkpoints:
                for ref, ordinal in by_checkpoint.get(checkpoint, ()):
                    note(ref, card, ordinal, source, "checkpoint")
            for id_ in card.sessions:
                for ref, _ in by_id.get(id_, ()):
                    note(ref, card, 0, source, "trailer")
    return {ref: tuple(sorted(some.values(), key=lambda one: one.ordinal)) for ref, some in found.items()}


def _writers(artifacts: Mapping[Ref, Artifact], sessions: Mapping[Ref, Transcript]) -> Iterator[tuple[Ref, Artifact]]:
    """The items that sessions wrote, with the turns in which they did."""
    found: defaultdict[Ref, list[tuple[Ref, int]]] = defaultdict(list)
    for one in sorted(sessions.values(), key=lambda session: session.sort_key):
        for ordinal, ref in one.wrote:
            found[ref].append((one.ref, ordinal))
    for ref, some in found.items():
        item = sessions.get(ref, artifacts[ref])
        if not item.withheld:
            yield ref, replace(item, written_by=tuple(some[:_WRITERS]))
