"""[I/O] Keeps the history of a source in files of the cache: events of its files, its commits, the files of HEAD.

A file that is not ours, or damaged, is as good as none.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from memosite.archive.history import EventKind, FileChange, HistoryCommit, LifeEvent, RedactedName
from memosite.facts.times import Moment, read_moment
from memosite.store.cache import read_whole, write_whole

_KINDS = frozenset(get_args(EventKind))
_ID = re.compile(r"[0-9a-f]+")
_IDS = re.compile(r"[0-9a-f ]*")


# Events


KnownEvents = tuple[str, dict[str, tuple[LifeEvent, ...]], tuple[RedactedName, ...]]
"""A commit, the histories up to it, and the names that were not let through."""

_NOTHING: KnownEvents = "", {}, ()


def read_events(file: Path | None, name: str) -> KnownEvents:
    """What the cache has; nothing if the file is missing or not ours."""
    if file is None:
        return _NOTHING
    try:
        value = json.loads(read_whole(file) or b"{}")
        if value["name"] != name:
            return _NOTHING
        authors, dates = value["who"], [read_moment(text) for text in value["at"]]
        head, events = value["head"], {}
        for key, found in value["events"].items():
            events[key] = tuple(
                LifeEvent(
                    kind=cast(EventKind, kind),
                    at=dates[at],
                    who=authors[who],
                    commit=commit,
                    path=path,
                    before=before,
                    after=after,
                    merge=merge,
                )
                for kind, at, who, commit, path, before, after, merge in found
                if kind in _KINDS and isinstance(path, str) and _IDS.fullmatch(f"{commit} {before} {after} {merge}")
            )
            if not found or len(events[key]) != len(found):
                return _NOTHING
        is_ours = _ID.fullmatch(head) is not None and all(isinstance(one, str) for one in authors)
        return (head, events, _names(value["names"])) if is_ours else _NOTHING
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return _NOTHING


def _names(value: Any) -> tuple[RedactedName, ...]:
    names = tuple(RedactedName(kind, name) for kind, name in value)
    if not all(one.kind in {"path", "author"} and isinstance(one.name, str) for one in names):
        raise TypeError
    return names


def write_events(
    file: Path | None,
    name: str,
    head: str,
    events: Mapping[str, tuple[LifeEvent, ...]],
    names: tuple[RedactedName, ...] = (),
) -> None:
    """Keep these histories, with the names that were not let through, under a name."""
    if file is None:
        return
    who: dict[str, int] = {}
    at: dict[str, int] = {}
    lives = {
        key: [
            (
                one.kind,
                at.setdefault(_written(one.at), len(at)),
                who.setdefault(one.who, len(who)),
                *(one.commit, one.path, one.before, one.after, one.merge),
            )
            for one in found
        ]
        for key, found in events.items()
    }
    value = {"name": name, "head": head, "who": list(who), "at": list(at), "names": names, "events": lives}
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    write_whole(file, data)


# Commits


def read_commits(file: Path | None, name: str) -> tuple[str, dict[str, HistoryCommit]]:
    """The last commit in the cache, and all that lead up to it by their ids."""
    try:
        value = json.loads((read_whole(file) if file else None) or b"{}")
        if value["name"] != name:
            return "", {}
        found = _commits(value)
        return (value["head"], found) if value["head"] in found else ("", {})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return "", {}


def _commits(value: Mapping[str, Any]) -> dict[str, HistoryCommit]:
    """The commits of a file of the cache, each after its parents. Raises an error if they are not as we write them."""
    ids, authors, paths = _texts(value["ids"]), _texts(value["who"]), _texts(value["paths"])
    dates = [read_moment(text) for text in _texts(value["at"])]
    if not all(map(_ID.fullmatch, ids)):
        raise ValueError
    hidden = value["names"]
    found: dict[str, HistoryCommit] = {}
    for id_, (parents, at, who, changed, after) in zip(ids, value["commits"], strict=True):
        blobs = after.split(" ") if changed else []
        if not _IDS.fullmatch(after) or any(_place(one) >= len(found) for one in parents):
            raise ValueError
        found[id_] = HistoryCommit(
            id=id_,
            parents=tuple([ids[one] for one in parents]),
            at=dates[_place(at)],
            author=authors[_place(who)],
            changes=tuple(
                [FileChange(path=paths[_place(p)], after=blob) for p, blob in zip(changed, blobs, strict=True)]
            ),
            names=_names(hidden.get(id_, ())),
        )
    return found


def _texts(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise TypeError
    return value


def _place(value: object) -> int:
    if type(value) is not int or value < 0:
        raise TypeError
    return value


def write_commits(file: Path | None, name: str, head: str, commits: Mapping[str, HistoryCommit]) -> None:
    """Keep these commits, each after its parents, under a name.

    Ids, paths, people and times are written once, and named by their places.
    """
    if file is None:
        return
    ids = {id_: place for place, id_ in enumerate(commits)}
    at, who, paths = _Places(), _Places(), _Places()
    rows = [
        (
            [ids[parent] for parent in commit.parents],
            at.of(_written(commit.at)),
            who.of(commit.author),
            [paths.of(change.path) for change in commit.changes],
            " ".join(change.after for change in commit.changes),
        )
        for commit in commits.values()
    ]
    names = {commit.id: commit.names for commit in commits.values() if commit.names}
    places = {"who": [*who], "at": [*at], "paths": [*paths], "ids": [*ids]}
    value = {"name": name, "head": head, **places, "names": names, "commits": rows}
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    write_whole(file, data)


# The files of HEAD


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadFiles:
    """The files of a commit by path with their blob ids, and the folders in it that are repos of their own.

    `ref` led to the commit when the repo was in this `state`, a digest of its HEAD and objects; "" if it is not known.
    """

    head: str = ""
    ref: str = ""
    state: str = ""
    committed: Moment | None = None
    tree: Mapping[str, str] | None = None
    foreign: tuple[str, ...] = ()


def read_head_files(file: Path | None, name: str) -> HeadFiles:
    """What the cache has; nothing if the file is missing or not ours."""
    try:
        value = json.loads((read_whole(file) if file else None) or b"{}")
        if value["name"] != name:
            return HeadFiles()
        tree = dict(zip(_texts(value["paths"]), value["blobs"].split(" ") if value["blobs"] else (), strict=True))
        head, ref, state, at = _texts([value[key] for key in ("head", "ref", "state", "at")])
        if not _ID.fullmatch(head) or not all(map(_ID.fullmatch, tree.values())):
            return HeadFiles()
        foreign = tuple(_texts(value["foreign"]))
        return HeadFiles(head=head, ref=ref, state=state, committed=read_moment(at), tree=tree, foreign=foreign)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return HeadFiles()


def write_head_files(file: Path | None, name: str, files: HeadFiles) -> None:
    """Keep the files of a commit under a name."""
    if file is None or files.tree is None:
        return
    value = {
        "name": name, "head": files.head, "ref": files.ref, "state": files.state,
        "at": _written(files.committed), "foreign": files.foreign,
        "paths": list(files.tree), "blobs": " ".join(files.tree.values()),
    }  # fmt: skip
    write_whole(file, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


class _Places(dict[str, int]):
    """Texts in the order in which they first came."""

    def of(self, text: str) -> int:
        """The place of a text."""
        return self.setdefault(text, len(self))


def _written(moment: Moment | None) -> str:
    if moment is None:
        return ""
    sign = "-" if (moment.offset or 0) < 0 else "+"
    minutes = abs(moment.offset or 0)
    return f"{moment.local.isoformat()}{sign}{minutes // 60:02d}:{minutes % 60:02d}"
