"""Answers what a new holder of a position has to know, the most important first."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from memosite.agents.answer import Answer, Entry, Part
from memosite.agents.items import Reader, day_and_time, entry_of, who_of
from memosite.agents.positions import Involved, find_position, head_of, newest_first
from memosite.archive.model import Artifact, Document, Memo, Record, Thread
from memosite.facts.errors import ConfigError
from memosite.facts.parsed import Text
from memosite.formats.standing import standing_of

_HANDOFF: Final = re.compile(r"hand-?(?:off|over)s?|clos(?:ing-note|e-?out)", re.IGNORECASE)


def brief(reader: Reader, written: str, *, only: str = "", begin: int = 1) -> Answer:
    """The brief of a position; of one section, `only` that, from a number on. Raises `ConfigError`."""
    position = find_position(reader.archive, written)
    involved = Involved(reader=reader, position=position)
    lines, fields = head_of(reader, position)
    parts = [part for part in _parts(involved, only) if only in ("", part.name)]
    if not only and begin != 1:
        raise ConfigError("--from: found no --only, expected the section whose entries are counted")
    if only:
        [part] = parts
        first = min(begin, len(part.entries) + 1)
        parts = [replace(part, entries=part.entries[first - 1 :], first=first)]
    words = ("--only", only) if only else ()
    asking = len(involved.to_do_unread) if only == "to-do" else 0
    more = f"{asking} more {'action is' if asking == 1 else 'actions are'} open, in unread memos"
    return Answer(
        lines=(
            *lines,
            *([f"{more}: {reader.command('inbox', position.id)}"] if asking else []),
            *filter(None, [involved.unknown]),
        ),
        fields={
            "command": "brief",
            **fields,
            "unknown": involved.unknown or None,
            "has_handoff": bool(_handoffs(involved)),
            **({"open_in_unread": asking} if only == "to-do" else {}),
        },
        parts=tuple(parts),
        command=reader.command("brief", position.id, *words),
        options=reader.suffix,
    )


def _parts(involved: Involved, only: str) -> Iterable[Part]:
    reader, position = involved.reader, involved.position
    handoff = _newest_handoff(involved)
    word = "note" if handoff and not _handoffs(involved) else "hand-off"
    unread = [one for one in involved.unread if only == "unread" or one is not handoff]
    besides = " besides the hand-off" if len(unread) < len(involved.unread) else ""
    since = f" since the {word} of {handoff.date.day}" if handoff and handoff.date else ""
    new_decisions = _since(handoff, involved.decisions) if handoff else []
    new_notes = _since(handoff, involved.notes)
    known = {one.ref for one in new_decisions}
    in_force = [one for one in _in_force(involved) if one.ref not in known]

    def part(name: str, title: str, entries: Iterable[Entry], empty: str) -> Part:
        more = reader.command("brief", position.id, "--only", name)
        return Part(name=name, title=title, entries=tuple(entries), more=more, empty=empty)

    def listed(artifacts: Iterable[Artifact]) -> list[Entry]:
        return [entry_of(reader, one, position) for one in artifacts]

    first = [entry_of(reader, handoff, position, text=_text(handoff))] if handoff else []
    title = "Newest hand-off to itself" if word == "hand-off" else "No hand-off; its newest note instead"
    yield part("handoff", title, first, "None.")
    yield part("unread", f"Unread memos{besides}", listed(unread), involved.none_unread(besides=bool(besides)))
    yield part("to-do", f"To do, {involved.among_others}", listed(involved.to_do_read), "Nothing.")
    yield part("waiting", "Waiting on others", listed(involved.waiting), "Nothing.")
    yield part("new-decisions", f"New decisions{since}", listed(new_decisions), "None." if handoff else "No hand-off.")
    yield part("new-notes", f"Its notes{since}", listed(new_notes), "None.")
    yield part("decisions", "Decisions in force that concern it", listed(in_force), "None.")
    yield part("threads", "Threads it is in", [_thread(reader, *one) for one in involved.threads], "None.")


def _newest_handoff(involved: Involved) -> Artifact | None:
    """The newest hand-off; else its newest note, which is none."""
    found = _handoffs(involved) or involved.notes
    return found[0] if found else None


def _handoffs(involved: Involved) -> list[Artifact]:
    """Memos to itself, and notes and records that are called a hand-off, the newest first.

    A record is a position's own if it is in its repo, and nobody else has that repo.
    """
    archive = involved.reader.archive
    to_itself = [
        one
        for one in involved.memos
        if one.sender_position in involved.members
        and any(state.position in involved.members for state in one.recipients)
    ]
    called = [one for one in involved.notes if _HANDOFF.search(f"{one.id} {one.short_subject}")]
    others = {one.repo for one in archive.positions.values() if one.id not in involved.members}
    own = involved.repos - others
    records = [
        one
        for one in (archive.artifacts[ref] for ref in archive.groups.get("handoffs", ()))
        if isinstance(one, Record) and one.card.file.source in own
    ]
    return newest_first([*to_itself, *called, *records])


def _text(artifact: Artifact) -> Text | None:
    """All of a hand-off's text: who takes over reads it first."""
    if artifact.withheld:
        return None
    if isinstance(artifact, Memo) and not artifact.broken:
        return artifact.variants[0].text
    return artifact.card.text if isinstance(artifact, Record) else None


def _since(handoff: Artifact | None, artifacts: Iterable[Artifact]) -> list[Artifact]:
    """What is newer than a hand-off."""
    if handoff is None:
        return list(artifacts)
    return [one for one in artifacts if one.date and one.sort_key > handoff.sort_key and one.ref != handoff.ref]


def _in_force(involved: Involved) -> list[Artifact]:
    """Decisions that nothing has replaced or rejected, and that involve the position, its repo, or its memos."""
    own = {one.ref for one in involved.artifacts}
    return [
        one
        for one in involved.decisions
        if standing_of(one) in {"accepted", None}
        and (one.ref in own or _source(one) in involved.repos or own.intersection(one.backlinks))
    ]


def _source(artifact: Artifact) -> str:
    if isinstance(artifact, Document):
        return artifact.head.file.source
    return artifact.card.file.source if isinstance(artifact, Record) else ""


def _thread(reader: Reader, thread: Thread, newest: Memo) -> Entry:
    """A thread in a list: its name, how long it is, and what came last between it and the position."""
    label = reader.archive.thread_label(thread.id)
    memos = sum(not entry.is_ghost for entry in thread.entries)
    missing = len(thread.entries) - memos
    counted = f"{memos} {'memo' if memos == 1 else 'memos'}" + (f" and {missing} missing" if missing else "")
    last = f"{day_and_time(newest.date)}, {who_of(newest)}"
    return Entry(
        line=f"“{label}”; {counted}, newest here {last}; thread {thread.id}",
        fields={
            "thread": thread.id,
            "short_subject": label,
            "memos": memos,
            "missing": missing,
            "newest": "/".join(newest.ref),
            "date": newest.date.utc if newest.date else None,
        },
        more=reader.command("thread", thread.id, "--brief"),
    )
