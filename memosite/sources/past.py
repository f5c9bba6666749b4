"""[I/O] Reads a source's git history for one build, and the former contents that pages show."""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from memosite.archive.confidential import is_confidential
from memosite.archive.history import FormerSecrets, History, LifeEvent, file_key
from memosite.facts.file import File
from memosite.facts.layout import place_of
from memosite.facts.names import ENVELOPE_SUFFIX
from memosite.facts.parsed import BodyFile, Envelope, Parsed, RecordFile, Text
from memosite.sources.former import CONTENTS_LIMIT, find_commits, read_contents
from memosite.sources.git import GitError, Holding, Repo
from memosite.sources.history import read_history
from memosite.sources.known_history import KnownHistory, name_of
from memosite.sources.screen import Screen
from memosite.store.shelf import Shelf

EDITS = 50
"""How many edits of one file are shown, the newest."""

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


class KnownPast:
    """Keeps the git history of one source between builds, so that git is asked for new commits only.

    It holds only the last history and its inputs. Former contents must stay on the shelf as long as it lives.
    """

    def __init__(self, folder: Path | None, holding: Holding) -> None:
        """Load the cache file, which is named after the line (a branch): that stays while its commits change."""
        self.holding = holding
        self._known = KnownHistory(_cache_file(folder, holding))
        self.state, self._base = self._last()
        self._contents: dict[str, str] = {}
        self._is_open: dict[str, bool] = {}
        self._secrets: dict[str, FormerSecrets] = {}
        self._allowed: frozenset[str] = frozenset()
        self._commits: dict[str, str] = {}

    def _last(self) -> tuple[str, History]:
        """The state of the repo in which its history was cached, and that history: no git is asked for it."""
        repo, prefix, ref = self.holding.repo, self.holding.prefix, self.holding.commit
        name = name_of(repo, prefix) if repo else ""
        state = self._known.state(name, ref) if repo else ""
        return state, self._known.get(name).history if state else History()

    def write(self) -> None:
        """Save new entries to the cache."""
        self._known.write()

    def read(self, repo: Repo, parsed: Sequence[Parsed], shelf: Shelf, *, state: str, screen: Screen) -> History:
        """The history of a source whose files were parsed. Former contents are on the shelf afterwards, screened.

        `state` is a digest of the repo's HEAD and objects, taken before.
        """
        if state != self.state or self._base.why_not:
            self.state = state
            self._base = read_history(
                repo, screen.names, prefix=self.holding.prefix, commit=self.holding.commit, known=self._known
            )
            if not self._base.why_not:
                self._known.note_state(self.holding.commit, state)
            self._commits = {}
        if screen.allowed != self._allowed:
            self._allowed = screen.allowed
            self._contents, self._is_open, self._secrets = {}, {}, {}
        history = self._base
        if not history.events:
            return history
        gone = {key: events[-1] for key, events in history.events.items() if _is_removed(key, events)}
        removed = {key: event.before for key, event in gone.items()}
        facts = (one for one in parsed if isinstance(one.fact, Envelope | BodyFile))
        edits = (event for one in facts for event in _edits(history, one.path))
        self._read_contents(repo, _paths_of((*gone.values(), *edits)), removed.values(), shelf, screen)
        self._find_commits(repo, parsed)
        return replace(
            history,
            blobs=self._contents,
            secrets=self._secrets,
            confidential=frozenset(key for key, blob in removed.items() if not self._is_open.get(blob)),
            commits={one: id_ for one, id_ in self._commits.items() if id_},
        )

    def _read_contents(
        self, repo: Repo, paths: Mapping[str, str], removed: Collection[str], shelf: Shelf, screen: Screen
    ) -> None:
        """Put contents on the shelf by their blob ids, each with a former path; `removed` are checked for secrecy."""
        wanted = list(paths)[:CONTENTS_LIMIT]
        judged = frozenset(removed).intersection(wanted)
        contents = {id_: self._contents[id_] for id_ in wanted if id_ in self._contents}
        is_open = {id_: self._is_open[id_] for id_ in judged if id_ in self._is_open}
        secrets = {id_: self._secrets[id_] for id_ in contents if id_ in self._secrets}
        new = [id_ for id_ in wanted if id_ not in contents or (id_ in judged and id_ not in is_open)]
        try:
            for id_, read in read_contents(repo, new):
                screened = screen.file(File(source="", path=paths[id_], data=read))
                contents[id_] = shelf.put(screened.file.data.decode("utf-8", "replace").replace("\r\n", "\n").encode())
                if screened.hits:
                    secrets[id_] = FormerSecrets(path=paths[id_], hits=screened.hits)
                if id_ in judged:
                    is_open[id_] = not is_confidential(screened.file)
        except GitError:  # a partial clone: what is not there is not shown
            pass
        self._contents = {id_: contents[id_] for id_ in wanted if id_ in contents}
        self._is_open, self._secrets = is_open, secrets

    def _find_commits(self, repo: Repo, parsed: Iterable[Parsed]) -> None:
        mentioned = dict.fromkeys(_mentioned(parsed))
        new = [one for one in mentioned if one not in self._commits]
        try:
            found = find_commits(repo, new)
        except GitError:
            found, new = {}, []
        known = self._commits | {one: found.get(one, "") for one in new}
        self._commits = {one: known[one] for one in mentioned if one in known}


def _cache_file(cache: Path | None, holding: Holding) -> Path | None:
    if cache is None or holding.repo is None:
        return None
    name = f"{holding.repo.git_dir}\0{holding.prefix}\0{holding.line}".encode("utf-8", "surrogateescape")
    return cache / "history" / f"{hashlib.sha256(name).hexdigest()[:24]}.json"


def _edits(history: History, path: str) -> list[LifeEvent]:
    place = place_of(path)
    if place is not None and place.store == "transcripts":  # they grow while they go on
        return []
    return [event for event in history.events.get(file_key(path), ()) if event.kind == "edited"][-EDITS:]


def _paths_of(events: Iterable[LifeEvent]) -> dict[str, str]:
    """The ids of the contents that pages show of these events, each with its first path."""
    paths: dict[str, str] = {}
    for event in events:
        for id_ in (event.before, event.after) if event.kind == "edited" else (event.before,):
            paths.setdefault(id_, event.path)
    return paths


def _is_removed(key: str, events: tuple[LifeEvent, ...]) -> bool:
    return events[-1].kind == "removed" and key.endswith(ENVELOPE_SUFFIX) and place_of(key) is not None


def _mentioned(parsed: Iterable[Parsed]) -> Iterator[str]:
    """The words in texts that look like commit ids."""
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
