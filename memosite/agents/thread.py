"""Answers what a thread says: its memos in reading order, with their texts or their triage summaries."""

import re
from dataclasses import replace
from typing import Final
from urllib.parse import unquote, urlsplit

from memosite.agents.answer import Answer, Entry, Part
from memosite.agents.items import Reader, day_and_time, entry_of
from memosite.archive.model import Ghost, Memo, Thread, ThreadEntry
from memosite.archive.named import ArchiveNames
from memosite.facts.errors import ConfigError

_DEPTH = 12
_PAGE: Final = re.compile(r"(?:^|/)threads/(?P<id>[^/#]+)")


def thread(reader: Reader, written: str, *, is_brief: bool = False, begin: int = 1) -> Answer:
    """The thread of an id: its own, or that of one of its memos. Raises `ConfigError`.

    If not all of it fits, the lines come before the texts, and of both the first memo and the newest ones; from a
    number on, the order is that of reading.
    """
    found = find_thread(reader, written)
    words = ("--brief",) if is_brief else ()
    command = reader.command("thread", found.id, *words)
    entries = list(enumerate(found.entries, 1))[begin - 1 :]
    ranks = _ranks(reader, entries) if begin == 1 else {number: number for number, _ in entries}
    memos = sum(not one.is_ghost for one in found.entries)
    missing = len(found.entries) - memos
    counted = f"{memos} {'memo' if memos == 1 else 'memos'}" + (f" and {missing} missing" if missing else "")
    label = reader.archive.thread_label(found.id)
    part = Part(
        name="memos",
        title="Memos in reading order",
        entries=tuple(_entry(reader, one, is_brief=is_brief, rank=ranks[number]) for number, one in entries),
        more=command,
        step=max(1, len(entries)),
        empty="None.",
        first=min(begin, len(found.entries) + 1),
    )
    return Answer(
        lines=(f"Thread {found.id}", f"“{label}”; {counted}"),
        fields={"command": "thread", "thread": found.id, "short_subject": label, "count": memos, "missing": missing},
        parts=(part,),
        command=command,
        options=reader.suffix,
    )


def _ranks(reader: Reader, entries: list[tuple[int, ThreadEntry]]) -> dict[int, int]:
    """The first memo first, then the newest; memos without a date and missing ones last."""

    def key(numbered: tuple[int, ThreadEntry]) -> tuple[bool, float]:
        number, entry = numbered
        artifact = reader.archive.artifacts.get(entry.ref)
        return number > 1, -artifact.date.instant.timestamp() if artifact and artifact.date else 0

    return {number: rank for rank, (number, _) in enumerate(sorted(entries, key=key))}


def find_thread(reader: Reader, written: str) -> Thread:
    """The thread that a reference means."""
    archive = reader.archive
    page = _PAGE.search(unquote(urlsplit(written).path)) if "/" in written else None
    said = page["id"] if page else written.strip("/").removeprefix("thread/")
    if said in archive.threads:
        return archive.threads[said]
    try:
        name, _ = ArchiveNames(archive, ("memo", "note")).find(written)
    except ConfigError:
        begun = [id_ for id_ in archive.threads if id_.casefold().startswith(said.casefold())]
        if len(begun) != 1 or not said:
            raise
        return archive.threads[begun[0]]
    kind, _, id_ = name.partition("/")
    artifact = archive.artifacts[(kind, id_)]  # type: ignore[index] # the kind is one
    if not isinstance(artifact, Memo):
        raise ConfigError(
            f"{written}: found a {kind}, expected a memo, a note or the id of a thread; see: memosite show"
        )
    return archive.threads[artifact.thread]


def _entry(reader: Reader, entry: ThreadEntry, *, is_brief: bool, rank: int) -> Entry:
    if entry.is_ghost:
        made = _missing(reader.archive.ghosts[entry.ref[1]], rank)
    else:
        memo = reader.archive.artifacts[entry.ref]
        body = memo.variants[0].text if isinstance(memo, Memo) and not (is_brief or memo.withheld) else None
        made = entry_of(reader, memo, rank=rank, text=body)
    depth = "> " * min(entry.depth, _DEPTH)
    further = [f"goes on in thread {id_}" for id_ in entry.continues[:3]]
    further += [f"comes from thread {entry.continued_from}"] if entry.continued_from else []
    return replace(
        made,
        line="; ".join((f"{depth}{made.line}", *further)),
        fields={"depth": entry.depth, **made.fields, "other_threads": further},
        text_name=made.text_name if is_brief else "text",
    )


def _missing(ghost: Ghost, rank: int) -> Entry:
    """A memo that others reply to and that no source has: what its name says."""
    who = f"{ghost.sender or 'unknown'} → {ghost.to or 'unknown'}"
    return Entry(
        line=f"{day_and_time(ghost.date)}; {who}; missing memo; “{ghost.short_subject}”; {ghost.kind}/{ghost.id}",
        fields={
            "kind": ghost.kind,
            "id": ghost.id,
            "date": ghost.date.utc if ghost.date else None,
            "short_subject": ghost.short_subject,
            "from": ghost.sender,
            "to": [ghost.to] if ghost.to else [],
            "states": ["missing memo"],
        },
        rank=rank,
    )
