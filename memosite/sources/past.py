"""[I/O] What git tells of a source for one build: its history, and the former contents that pages show of it."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from memosite.facts import BodyFile, Envelope, Parsed, RecordFile, Text
from memosite.history import History, LifeEvent, file_key
from memosite.layout import place_of
from memosite.names import ENVELOPE_SUFFIX
from memosite.shelf import Shelf
from memosite.sources.git import GitError, Repo
from memosite.sources.history import find_commits, read_contents, read_history
from memosite.withhold import is_confidential

EDITS = 50
"""How many edits of one file are shown, the newest."""

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


def read_past(
    repo: Repo,
    parsed: Iterable[Parsed],
    shelf: Shelf,
    *,
    prefix: str = "",
    commit: str = "HEAD",
    line: str = "HEAD",
    cache: Path | None,
) -> History:
    """The history of a source whose files were parsed. Former contents are on the shelf afterwards.

    `cache` is the folder of all caches; what is kept there is called by `line`, which outlives the commit it leads to.
    """
    parsed = tuple(parsed)
    history = read_history(repo, prefix=prefix, commit=commit, cache=_cache_file(cache, repo, prefix, line))
    if not history.events:
        return history
    edits = [
        event for one in parsed if isinstance(one.fact, Envelope | BodyFile) for event in _edits(history, one.path)
    ]
    removed = {key: events[-1].before for key, events in history.events.items() if _is_removed(key, events)}
    contents: dict[str, str] = {}
    confidential = set(removed.values())
    try:
        for id_, data in read_contents(repo, (*removed.values(), *_contents_of(edits))):
            contents[id_] = shelf.put(data.decode("utf-8", "replace").replace("\r\n", "\n").encode())
            if id_ in confidential and not is_confidential(data):
                confidential.discard(id_)
    except GitError:  # a partial clone: what is not there is not shown
        pass
    return replace(
        history,
        blobs=contents,
        confidential=frozenset(key for key, blob in removed.items() if blob in confidential),
        commits=find_commits(repo, _mentioned(parsed)),
    )


def _cache_file(cache: Path | None, repo: Repo, prefix: str, line: str) -> Path | None:
    if cache is None:
        return None
    name = f"{repo.git_dir}\0{prefix}\0{line}".encode("utf-8", "surrogateescape")
    return cache / "history" / f"{hashlib.sha256(name).hexdigest()[:24]}.json"


def _edits(history: History, path: str) -> list[LifeEvent]:
    place = place_of(path)
    if place is not None and place.store == "transcripts":  # they grow while they go on
        return []
    return [event for event in history.events.get(file_key(path), ()) if event.kind == "edited"][-EDITS:]


def _contents_of(edits: Iterable[LifeEvent]) -> Iterator[str]:
    for event in edits:
        yield event.before
        yield event.after


def _is_removed(key: str, events: tuple[LifeEvent, ...]) -> bool:
    return events[-1].kind == "removed" and key.endswith(ENVELOPE_SUFFIX) and place_of(key) is not None


def _mentioned(parsed: Iterable[Parsed]) -> Iterator[str]:
    """What texts write as a commit may be written."""
    for one in parsed:
        for text in _texts(one):
            yield from (name for name in text.mentions if _COMMIT.fullmatch(name))


def _texts(parsed: Parsed) -> Iterator[Text]:
    fact = parsed.fact
    records = fact.records if isinstance(fact, RecordFile) else (fact,)
    for record in records:
        text = record.body if isinstance(record, Envelope) else getattr(record, "text", None)
        if isinstance(text, Text):
            yield text
