"""Which former contents and events of files everybody may see, and how (SPEC 9, audience)."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import takewhile

from memosite.archive.confidential import is_confidential
from memosite.archive.history import History, LifeEvent
from memosite.facts.file import File
from memosite.reading.mentions import Mentions
from memosite.store.shelf import Shelf


def since_hidden(events: Sequence[LifeEvent], is_hidden: Callable[[str], bool]) -> Sequence[LifeEvent]:
    """The events of a file after the last at a hidden path, as if it had come from nowhere then; all if none was."""
    start = max((number for number, event in enumerate(events, 1) if is_hidden(event.path)), default=0)
    if not start or start == len(events):
        return events[start:]
    commit = events[start].commit
    came = list(takewhile(lambda event: event.commit == commit, events[start:]))
    left = [replace(came[0], kind="received", after=came[-1].after), *events[start + len(came) :]]
    seen = {event.after for event in left}
    return tuple(replace(event, before=event.before if event.before in seen else "") for event in left)


def former_contents(
    history: History, artifacts: Iterable[Set[str]], mentions: Mentions, shelf: Shelf, *, were_hidden: Set[str]
) -> Mapping[str, str]:
    """The digests of former contents by blob id, for artifacts by the keys of their files.

    If one content was confidential then, the others of that artifact are left out, too: its body has no marks of its
    own. What mentions withheld names is rewritten. Of an artifact with a file that was at a withheld path, only the
    contents of that file are there, which `since_hidden` has left.
    """
    blobs: dict[str, str] = {}
    closed: set[str] = set()
    for keys in artifacts:
        paths = {
            blob: event.path
            for key in (keys & were_hidden or keys)
            for event in history.events.get(key, ())
            for blob in (event.before, event.after)
            if blob in history.blobs
        }
        files = [
            (blob, File(source="", path=path, data=shelf.get(history.blobs[blob]))) for blob, path in paths.items()
        ]
        if any(is_confidential(file) for _, file in files):
            closed.update(paths)
            continue
        for blob, file in files:
            data = mentions.without(file.data, file.name)
            blobs[blob] = history.blobs[blob] if data is None else shelf.put(data)
    return {blob: digest for blob, digest in blobs.items() if blob not in closed}
