"""Anchors: the paths and globs by which a record names files of its repo (SPEC 3, links).

Globs come from content, so they are matched without backtracking, and only so many steps are made in all.
"""

import posixpath
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from memosite.archive.model import Link
from memosite.facts import rules
from memosite.facts.findings import Finding, Location
from memosite.facts.parsed import FileFacts, Ref
from memosite.formats.systems import root_of_record
from memosite.resolve.links import LinkResolver, Origin

MATCHES = 50
"""The most files that one anchor is linked to."""

STEPS = 20_000_000
"""The most steps of comparing globs with paths in one archive, each of one character: a few seconds."""

_LONGEST = 1_000
_LINE = re.compile(r":[0-9]{1,9}(?:[-:][0-9]{1,9})?$")
_WILD = re.compile(r"[*?]")


class AnchorIndex:
    """The files of artifacts by source and path, asked with paths and globs."""

    def __init__(self, files: Iterable[tuple[Ref, FileFacts]], resolver: LinkResolver) -> None:
        """Index these files; `resolver` knows what else a path may lead to."""
        self._resolver = resolver
        self._left = STEPS
        self._cut: FileFacts | None = None
        found: dict[str, dict[str, Ref]] = defaultdict(dict)
        for ref, file in files:
            found[file.source].setdefault(file.path, ref)
        self._files = {source: sorted(paths.items()) for source, paths in found.items()}
        self._paths = {source: [path for path, _ in files] for source, files in self._files.items()}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """A note on the record at whose globs the steps ran out."""
        if self._cut is None:
            return ()
        where = Location(source=self._cut.source, path=self._cut.path)
        message = "comparing the globs of anchors with files takes too long; from here on they lead nowhere"
        return (Finding(rule=rules.ANCHORS_CUT, location=where, message=message),)

    def links(self, anchor: str, file: FileFacts) -> tuple[Link, ...]:
        """Where an anchor in a file leads, seen from the folder that holds its store: artifacts, else the web."""
        if len(anchor) > _LONGEST:
            return ()
        path = posixpath.normpath(_LINE.sub("", anchor.split("#", 1)[0].strip().replace("\\", "/")))
        if path in {"", "."} or path.startswith(("/", "../")) or "\0" in path:
            return ()
        origin = Origin(source=file.source, folder=root_of_record(file.path))
        wild = _WILD.search(path)
        if wild is None:
            link = self._resolver.follow(path, origin, written=anchor)
            return (link,) if link else ()
        literal = path[: path.rfind("/", 0, wild.start()) + 1]
        found = islice(self._matching(path, literal, file), MATCHES)
        links = tuple(Link(written=anchor, to=ref) for ref in dict.fromkeys(found))
        if links or not literal:
            return links
        link = self._resolver.follow(literal.rstrip("/"), origin, written=anchor)
        return (link,) if link else ()

    def _matching(self, glob: str, literal: str, file: FileFacts) -> Iterator[Ref]:
        """The artifacts whose files match; only those below the folders that the glob writes out are compared."""
        root = root_of_record(file.path)
        base = f"{root}/" if root else ""
        pattern = glob.split("/")
        files = self._files.get(file.source, [])
        for at in range(bisect_left(self._paths.get(file.source, []), base + literal), len(files)):
            path, ref = files[at]
            if not path.startswith(base + literal):
                return
            if self._left <= 0:
                self._cut = self._cut or file
                return
            is_fit, steps = compare(pattern, path[len(base) :].split("/"))
            self._left -= steps
            if is_fit:
                yield ref


def compare(pattern: Sequence[str], path: Sequence[str]) -> tuple[bool, int]:
    """Whether the parts of a path fit those of a glob, and the steps it took to know.

    `**` stands for any folders, `*` and `?` stay within one.
    """
    at = 0
    mark = None
    index = 0
    steps = 1
    while at < len(path):
        is_fit = False
        if index < len(pattern) and pattern[index] != "**":
            is_fit, more = _part_fits(pattern[index], path[at])
            steps += more
        steps += 1
        if index < len(pattern) and pattern[index] == "**":
            index, mark = index + 1, (index + 1, at)
        elif is_fit:
            index, at = index + 1, at + 1
        elif mark is not None:
            mark = (mark[0], mark[1] + 1)
            index, at = mark
        else:
            return False, steps
    return all(part == "**" for part in pattern[index:]), steps


def _part_fits(pattern: str, name: str) -> tuple[bool, int]:
    """Whether one name fits; on a mismatch only the last `*` is tried again, which is enough, and never exponential."""
    steps = 0
    at = 0
    mark = None
    index = 0
    while at < len(name):
        steps += 1
        if index < len(pattern) and pattern[index] == "*":
            index, mark = index + 1, (index + 1, at)
        elif index < len(pattern) and pattern[index] in ("?", name[at]):
            index, at = index + 1, at + 1
        elif mark is not None:
            mark = (mark[0], mark[1] + 1)
            index, at = mark
        else:
            return False, steps
    return not pattern[index:].strip("*"), steps
