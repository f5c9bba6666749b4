"""Anchors: the paths and globs by which a record names files of its repo (SPEC 3, links).

Globs come from content, so the work of matching them is bounded in all.
"""

import posixpath
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from memosite.archive.model import Link
from memosite.facts import rules
from memosite.facts.findings import Finding, Location
from memosite.facts.layout import matches_glob
from memosite.facts.parsed import FileFacts, Ref
from memosite.formats.systems import root_of_record
from memosite.resolve.links import LinkResolver, TextOrigin

MATCHES = 50
"""The most files that one anchor is linked to."""

STEPS = 2_000_000_000
"""The most steps of comparing globs with paths in one archive: some seconds. Comparing takes at most as many as the
length of the glob times that of the path; each takes up to 4 ns."""

_COMPILING = 5_000
"""Steps for each character of a glob, before it is compared at all."""

_LONGEST = 1_000
_LINE = re.compile(r":[0-9]{1,9}(?:[-:][0-9]{1,9})?$")
_WILD = re.compile(r"[*?]")


class AnchorIndex:
    """An index of artifacts' files by source and path, for paths and globs."""

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
        """A note on the record at which the limit on matching steps was reached."""
        if self._cut is None:
            return ()
        where = Location(source=self._cut.source, path=self._cut.path)
        message = "comparing globs with files takes too long; this and later globs are ignored"
        return (Finding(rule=rules.ANCHORS_CUT, location=where, message=message),)

    def links(self, anchor: str, file: FileFacts) -> tuple[Link, ...]:
        """The targets of an anchor, relative to the folder that contains its store: artifacts, else the web."""
        if len(anchor) > _LONGEST:
            return ()
        path = posixpath.normpath(_LINE.sub("", anchor.split("#", 1)[0].strip().replace("\\", "/")))
        if path in {"", "."} or path.startswith(("/", "../")) or "\0" in path:
            return ()
        origin = TextOrigin(source=file.source, folder=root_of_record(file.path))
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
        """The artifacts whose files match; only those below the glob's literal folders are compared."""
        root = root_of_record(file.path)
        base = f"{root}/" if root else ""
        pattern = glob.replace("[", "[[]")  # only `*` and `?` mean something here
        self._left -= len(glob) * _COMPILING
        files = self._files.get(file.source, [])
        for at in range(bisect_left(self._paths.get(file.source, []), base + literal), len(files)):
            path, ref = files[at]
            if not path.startswith(base + literal):
                return
            if self._left <= 0:
                self._cut = self._cut or file
                return
            self._left -= len(glob) * len(path)
            if matches_glob(path[len(base) :], pattern):
                yield ref
