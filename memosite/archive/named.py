"""Finds what a reference means: a name, an id or the beginning of one, a part of it, the address of a page, a file."""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from heapq import nlargest
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from memosite.archive.model import Archive, Artifact
from memosite.archive.notices import notice_on
from memosite.archive.urls import FOLDERS
from memosite.facts.errors import ConfigError
from memosite.facts.parsed import FileFacts

_KIND_OF: Final = {folder: kind for kind, folder in FOLDERS.items()}
_PAGE: Final = re.compile(rf"(?:^|/)(?:(?P<folder>{'|'.join(_KIND_OF)})|records/[^/]+)/(?P<id>[^/#]+)")
_MESSAGE: Final = re.compile(r"(?P<stem>[^/]+?)(?:\.body\.md|\.openthing)$")
_SHOWN, _COMPARED = 5, 100


def position_names(archive: Archive) -> dict[str, str]:
    """From all names of positions, as orgdefs and memos write them, to their ids."""
    known = {name: id_ for id_, one in archive.positions.items() for name in (id_, one.name, *one.names)}
    return {**known, **archive.position_of}


class Named(ABC):
    """Artifacts by their names, `<kind>/<id>`."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """The names of all artifacts, the oldest first."""

    @property
    def unordered(self) -> Sequence[str]:
        """The same names in any order: of a kept archive, ordering them by date loads every artifact."""
        return self.names

    def has(self, name: str) -> bool:
        """Whether there is an artifact of this name."""
        return name in self.names

    def at_file(self, path: str, *, is_known: bool) -> Sequence[str]:  # noqa: ARG002 - others know
        """The names of the artifacts in a file; if its path may be the address of a page, only what has its name."""
        return ()

    def missing(self, name: str) -> str:  # noqa: ARG002 - others know
        """Why there is nothing of a name that is not in `names`; "" if that is not known."""
        return ""

    def find(self, written: str, *, is_exact: bool = False) -> tuple[str, str]:
        """The name of the artifact and the anchor that a reference means.

        If it has to be exact, only whole names and ids count.
        Raises `ConfigError` if it means nothing, or several artifacts.
        """
        said, _, anchor = written.partition("#")
        if "/" in said and not _is_name(said):
            said = self._addressed(said, written, is_exact=is_exact)
        return self._named(said.strip("/"), written, is_exact=is_exact), unquote(anchor).partition(":~:")[0]

    def _addressed(self, said: str, written: str, *, is_exact: bool) -> str:
        """The name or id that the address of a page or the path of a file stands for; itself if it is neither."""
        page = _PAGE.search(unquote(urlsplit(said).path))
        named = f"{_KIND_OF[page['folder']] if page['folder'] else 'record'}/{page['id']}" if page else said
        if is_exact or self.has(named):
            return named
        found = self.at_file(said, is_known=page is not None)
        if len(found) > 1:
            raise ConfigError(f"{written}: found {len(found)} items in that file: {_listed(found)}; name one of them")
        message = _MESSAGE.search(said)
        return found[0] if found else message["stem"] if message else named

    def _named(self, said: str, written: str, *, is_exact: bool) -> str:
        if self.has(said):
            return said
        names = self.unordered
        folded = said.casefold()
        ids = {name: name.casefold().partition("/")[2] for name in names}
        same = [name for name in names if folded in (name.casefold(), ids[name])]
        begun = [name for name in names if name.casefold().startswith(folded) or ids[name].startswith(folded)]
        held = [name for name in names if folded in name.casefold()]
        for found in (same,) if is_exact else (same, begun, held):
            if len(found) == 1:
                return found[0]
            if found and said:
                several = set(found)
                listed = _listed([name for name in self.names if name in several])
                raise ConfigError(f"{written}: found {len(found)} items of that name: {listed}; write more of the id")
        if why := self.missing(said):
            raise ConfigError(f"{written}: {why}")
        near = nearest(said, self.names)
        raise ConfigError(
            f"{written}: found no item of that name, expected an id of the archive, such as {near}"
            if near
            else f"{written}: found no item at all; is this the folder of a site? Name it with --site"
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _is_name(said: str) -> bool:
    return said.partition("/")[0] in {*FOLDERS, "record"} and said.count("/") == 1


def nearest(said: str, names: Sequence[str]) -> str:
    """The name that is most like another one, "" if there are none at all."""
    ids = {name.partition("/")[2] or name: name for name in names}
    wanted = said.rpartition("/")[2]
    pieces = _pieces(wanted)
    some = nlargest(_COMPARED, ids, key=lambda id_: len(pieces & _pieces(id_)))  # comparing letter by letter is slow
    close = get_close_matches(wanted, some, n=1, cutoff=0.0)
    return ids[close[0]] if close else ""


def _pieces(text: str) -> set[str]:
    folded = text.casefold()
    return {folded[at : at + 3] for at in range(len(folded))}


class ArchiveNames(Named):
    """The artifacts of an archive; of one that is kept, no more than their names are loaded."""

    def __init__(self, archive: Archive, kinds: Collection[str] = ()) -> None:
        """Nothing is looked at yet; of several kinds, only these."""
        self._archive = archive
        self._kinds = kinds

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of all artifacts, in order of arrival."""
        return ["/".join(ref) for ref in self._archive.artifacts if not self._kinds or ref[0] in self._kinds]

    def has(self, name: str) -> bool:
        """Whether there is an artifact of this name: only that one is loaded."""
        kind, _, id_ = name.partition("/")
        known: Mapping[Any, object] = self._archive.artifacts
        return (kind, id_) in known

    def at_file(self, path: str, *, is_known: bool) -> Sequence[str]:
        """The names of the artifacts in a file; if its path may be the address of a page, only what has its name.

        A memo moves to another mailbox when it is read: its file may also be named as it was before.
        """
        message = _MESSAGE.search(path)
        stem = message["stem"] if message else path.rpartition("/")[2].partition(".")[0]
        near = [name for name in self.unordered if stem.casefold() in name.casefold()]
        found = [name for name in near if self._is_in(name, path)]
        if found or message or is_known:
            return found or [name for name in near if message and name.partition("/")[2] == stem]
        return [name for name in self.names if self._is_in(name, path)]

    def _is_in(self, name: str, path: str) -> bool:
        kind, _, id_ = name.partition("/")
        known: Mapping[Any, Artifact] = self._archive.artifacts
        return any(is_at(copy.file, path) for copy in known[kind, id_].copies)

    def missing(self, name: str) -> str:
        """What became of an artifact that was there, or what is known of a missing memo or a thread of this name."""
        if found := what_became(self._archive, name):
            return found
        if found := _of_ghosts(self._archive, name.partition("/")[2] or name):
            return found
        thread = name.removeprefix("threads/").removeprefix("thread/")
        is_thread = thread in self._archive.threads
        return f"it is a thread, expected an item; see: memosite thread {thread}" if is_thread else ""


def _of_ghosts(archive: Archive, written: str) -> str:
    """What is known of the missing memo of an id or its beginning, "" if there is none."""
    folded = written.casefold()
    begun = [id_ for id_ in archive.ghosts if folded and id_.casefold().startswith(folded)]
    if written in archive.ghosts:
        begun = [written]
    if len(begun) > 1:
        return f"found {len(begun)} missing memos of that name: {_listed(begun)}; write more of the id"
    for id_ in begun:
        ghost = archive.ghosts[id_]
        replies = ", ".join("/".join(ref) for ref in ghost.replies[:_SHOWN])
        what = "it is a missing memo" if id_ == written else f"{ghost.kind}/{id_} is a missing memo"
        return f"{what}: no source has it; replies to it: {replies}"
    return ""


def is_at(file: FileFacts, path: str) -> bool:
    """Whether a path means a file: from the file's source on, from further up, or from a folder in it."""
    whole, written = f"/{file.source}/{file.path}", path.removeprefix(".").lstrip("/")
    return "/" in written and (whole.endswith(f"/{written}") or f"/{written}".endswith(whole))


def what_became(archive: Archive, name: str) -> str:
    """What became of an artifact that was there, "" if that is not known."""
    for (kind, id_), removal in archive.removed.items():
        if name in (f"{kind}/{id_}", id_):
            last = removal.events[-1]
            on = f" on {last.at.utc[:10]}" if last.at else ""
            return f"it was removed{on}, with commit {last.commit[:8]}; look for it there: git show {last.commit}^"
    for (kind, id_), withheld in archive.erased.items():
        if name in (f"{kind}/{id_}", id_):
            notice = notice_on(kind, withheld)
            return notice.reason if notice else ""
    return ""
