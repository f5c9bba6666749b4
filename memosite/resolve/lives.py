"""Looks up the git history of artifacts' files, and of removed ones (SPEC 2.3)."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memosite.archive.history import History, LifeEvent, file_key
from memosite.archive.model import Life, Removal, WorkState
from memosite.facts.layout import MAILBOXES, place_of
from memosite.facts.names import ENVELOPE_SUFFIX, blob_id, make_id, stem_of
from memosite.facts.parsed import FileFacts, Ref
from memosite.facts.times import Moment
from memosite.formats.system import DataOf
from memosite.run.recall import FORGETFUL, Recall, Same


class Lives:
    """The histories of files by source and path. `data_of` gives the bytes of a file as it is in its folder."""

    def __init__(self, histories: Mapping[str, History], data_of: DataOf, *, recall: Recall = FORGETFUL) -> None:
        """Use these histories, by the name of the source."""
        self._histories = {name: Same(history) for name, history in histories.items()}
        self._data_of = data_of
        self._read = recall.calls(_read)

    def of(self, file: FileFacts, body: FileFacts | None = None) -> Life | None:
        """The history of an envelope and its body: its own events, and the edits of both. None if git was not asked."""
        history = self._histories.get(file.source)
        if history is None:
            return None
        asked = (file.source, file.path, body.path if body else None)
        return self._read(asked, history, file, body, self._data_of)

    def received(self, file: FileFacts) -> Moment | None:
        """When a file was first committed."""
        history = self._histories.get(file.source)
        events = _events(history.value, file.path) if history is not None else ()
        return events[0].at if events else None

    def is_delivered(self, file: FileFacts) -> bool:
        """Whether a file is newly delivered: never committed, and in no other mailbox before."""
        history = self._histories.get(file.source)
        if history is None or history.value.tree is None or file.path in history.value.tree:
            return False
        life = self.of(file)
        return life is not None and life.state == "delivered"

    def last_change(self, file: FileFacts, body: FileFacts | None) -> float:
        """When a file was last committed, in seconds; minus infinity if git does not know."""
        history = self._histories.get(file.source)
        if history is None:
            return float("-inf")
        events = [history.value.events.get(file_key(one.path), ()) for one in (file, body) if one is not None]
        dates = [steps[-1].at for steps in events if steps]
        return max((date.instant.timestamp() for date in dates if date), default=float("-inf"))


def _read(of: Same[History], file: FileFacts, body: FileFacts | None, data_of: DataOf) -> Life:
    history = of.value
    if _is_foreign(history, file.path):
        return Life(why_not="it is in a repo inside the source's repo")
    events = _events(history, file.path)
    commit = _commit(_events(history, (body or file).path), (body or file).blob)
    if body is not None and body.path != file.path:  # a body without an envelope is its own file
        events = _with_edits(events, history.events.get(file_key(body.path), ()))
    return Life(events=events, state=_state(history, file, body, data_of), commit=commit, why_not=history.why_not)


def _commit(events: Sequence[LifeEvent], blob: str) -> str:
    """The commit that gave a file its content: moves since then are passed over."""
    came = ""
    for event in reversed(events):
        if event.after == blob:
            came = event.commit
        elif came:
            break
    return came


def _events(history: History, path: str) -> tuple[LifeEvent, ...]:
    return () if _is_foreign(history, path) else history.events.get(file_key(path), ())


def _is_foreign(history: History, path: str) -> bool:
    return bool(history.foreign) and any(path.startswith(f"{folder}/") for folder in history.foreign)


def _state(history: History, file: FileFacts, body: FileFacts | None, data_of: DataOf) -> WorkState | None:
    if history.tree is None:
        return None
    committed = history.tree.get(file.path)
    if committed is None:
        return "moved" if _lay_elsewhere(history, file.path) else "delivered"
    if _is_edited(committed, file, data_of) or (
        body is not None and _is_edited(history.tree.get(body.path), body, data_of)
    ):
        return "edited"
    return "committed"


def _is_edited(committed: str | None, file: FileFacts, data_of: DataOf) -> bool:
    if committed == file.blob:
        return False
    data = data_of(file)
    if committed is None or data is None:
        return False
    # A checkout may have other line ends than the commit; that is no edit.
    return committed not in {blob_id(one, like=committed) for one in (data, data.replace(b"\r\n", b"\n"))}


def _lay_elsewhere(history: History, path: str) -> bool:
    """Whether the last commit has the file in another mailbox."""
    folder, _, name = file_key(path).rpartition("/")
    prefix = f"{folder}/" if folder else ""
    places = (f"{prefix}{name}", *(f"{prefix}{box}/{name}" for box in MAILBOXES))
    return any(place in (history.tree or ()) for place in places)


def _with_edits(events: tuple[LifeEvent, ...], of_body: Iterable[LifeEvent]) -> tuple[LifeEvent, ...]:
    """The events of an envelope merged with the edits of its body, one for each commit."""
    edits = [event for event in of_body if event.kind == "edited"]
    if not edits or not events:
        return events
    joined: list[LifeEvent] = []
    rest = iter(edits)
    edit = next(rest, None)
    for event in events:
        while edit is not None and edit.at and event.at and edit.at.instant < event.at.instant:
            joined.append(edit)
            edit = next(rest, None)
        joined.append(event)
    return (*joined, *([edit, *rest] if edit is not None else ()))


def removals(histories: Mapping[str, History], present: Iterable[Ref], stems: Iterable[str]) -> dict[Ref, Removal]:
    """Artifacts removed from the repos that are in none of them any more, by the id from their name.

    `present` are the artifacts of the archive, `stems` their names. Of one name in several repos the last removed one
    counts. One that is confidential in any of them keeps only its dates, under the id it may have been published by.
    Names that differ only by case count as one: many file systems and hosts do not distinguish them.
    """
    found: dict[Ref, tuple[Ref, Removal]] = {}
    gone = [
        (source, key, events, place)
        for source, history in histories.items()
        for key, events in history.events.items()
        if events[-1].kind == "removed" and key.endswith(ENVELOPE_SUFFIX) and (place := place_of(key)) is not None
    ]
    if not gone:
        return {}
    taken, named = {_folded(ref) for ref in present}, {stem.casefold() for stem in stems}
    for source, key, events, place in gone:
        stem = unicodedata.normalize("NFC", stem_of(key.rpartition("/")[2]))
        ref: Ref = (place.kind, make_id(stem))
        if _folded(ref) in taken or stem.casefold() in named:
            continue
        is_secret = key in histories[source].confidential
        one = (ref, Removal(kind=place.kind, stem="" if is_secret else stem, source=source, events=events))
        known = found.get(_folded(ref), one)
        last = max(known, one, key=lambda pair: _instant(pair[1]))
        if not (known[1].stem and one[1].stem):
            last = (last[0], replace(last[1], stem=""))
        found[_folded(ref)] = last
    return dict(sorted(found.values(), key=lambda pair: pair[0]))


def _folded(ref: Ref) -> Ref:
    return ref[0], ref[1].casefold()


def _instant(removal: Removal) -> float:
    at = removal.events[-1].at
    return at.instant.timestamp() if at else float("-inf")
