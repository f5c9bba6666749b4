"""Anchors: the paths and globs by which a record names files of its repo (SPEC 2.2, memory-store; SPEC 3, links).

Globs come from content, so they are matched without backtracking, and only so many comparisons are made in all.
"""

import posixpath
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from memosite.facts import FileFacts, Ref
from memosite.model import Link
from memosite.resolve.links import LinkResolver, Origin

MATCHES = 50
"""The most files that one anchor is linked to."""

COMPARISONS = 1_000_000
"""The most comparisons of a glob with a path in one archive."""

_LONGEST = 1_000
_LINE = re.compile(r":[0-9]{1,9}(?:[-:][0-9]{1,9})?$")
_WILD = re.compile(r"[*?]")


class AnchorIndex:
    """The files of artifacts by source and path, asked with paths and globs."""

    def __init__(self, files: Iterable[tuple[Ref, FileFacts]], resolver: LinkResolver) -> None:
        """Index these files; `resolver` knows what else a path may lead to."""
        self._resolver = resolver
        self._left = COMPARISONS
        found: dict[str, dict[str, Ref]] = defaultdict(dict)
        for ref, file in files:
            found[file.source].setdefault(file.path, ref)
        self._files = {source: sorted(paths.items()) for source, paths in found.items()}
        self._paths = {source: [path for path, _ in files] for source, files in self._files.items()}

    def links(self, anchor: str, *, source: str, root: str) -> tuple[Link, ...]:
        """Where an anchor leads, seen from the folder that holds the store: artifacts, else an address on the web."""
        if len(anchor) > _LONGEST:
            return ()
        path = posixpath.normpath(_LINE.sub("", anchor.split("#", 1)[0].strip().replace("\\", "/")))
        if path in {"", "."} or path.startswith(("/", "../")) or "\0" in path:
            return ()
        origin = Origin(source=source, folder=root)
        wild = _WILD.search(path)
        if wild is None:
            link = self._resolver.follow(path, origin, written=anchor)
            return (link,) if link else ()
        literal = path[: path.rfind("/", 0, wild.start()) + 1]
        found = islice(self._matching(path, literal, source, root), MATCHES)
        links = tuple(Link(written=anchor, to=ref) for ref in dict.fromkeys(found))
        if links or not literal:
            return links
        link = self._resolver.follow(literal.rstrip("/"), origin, written=anchor)
        return (link,) if link else ()

    def _matching(self, glob: str, literal: str, source: str, root: str) -> Iterator[Ref]:
        """The artifacts whose files match; only those below the folders that the glob writes out are compared."""
        base = f"{root}/" if root else ""
        pattern = glob.split("/")
        files = self._files.get(source, [])
        for at in range(bisect_left(self._paths.get(source, []), base + literal), len(files)):
            path, ref = files[at]
            if not path.startswith(base + literal) or self._left <= 0:
                return
            self._left -= 1
            if fits(pattern, path[len(base) :].split("/")):
                yield ref


def fits(pattern: Sequence[str], path: Sequence[str]) -> bool:
    """Whether the parts of a path fit those of a glob: `**` stands for any folders, `*` and `?` stay within one."""
    at = 0
    mark = None
    index = 0
    while at < len(path):
        if index < len(pattern) and pattern[index] == "**":
            index, mark = index + 1, (index + 1, at)
        elif index < len(pattern) and _part_fits(pattern[index], path[at]):
            index, at = index + 1, at + 1
        elif mark is not None:
            mark = (mark[0], mark[1] + 1)
            index, at = mark
        else:
            return False
    return all(part == "**" for part in pattern[index:])


def _part_fits(pattern: str, name: str) -> bool:
    """Whether one name fits; on a mismatch only the last `*` is tried again, which is enough, and never exponential."""
    at = 0
    mark = None
    index = 0
    while at < len(name):
        if index < len(pattern) and pattern[index] == "*":
            index, mark = index + 1, (index + 1, at)
        elif index < len(pattern) and pattern[index] in ("?", name[at]):
            index, at = index + 1, at + 1
        elif mark is not None:
            mark = (mark[0], mark[1] + 1)
            index, at = mark
        else:
            return False
    return not pattern[index:].strip("*")
