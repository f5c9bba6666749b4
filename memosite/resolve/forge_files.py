"""Finds the files of the archive's repos in URLs of forges (SPEC 3, references and links)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from memosite.archive.model import SourceInfo
from memosite.sources.forges import RepoPages, plain_address, repo_key, repo_pages, shown_file

SourceFile = tuple[str, str]
"""The name of a source, and a path in it."""


class ForgeFiles:
    """The sources by the addresses at which forges show their files."""

    def __init__(self, sources: Iterable[SourceInfo]) -> None:
        """Index these sources; a source without an address counts as a repo of its name on any known forge."""
        self._pages: dict[str, list[tuple[RepoPages, SourceInfo]]] = defaultdict(list)
        self._elsewhere: dict[str, str] = {}
        for source in sources:
            pages = repo_pages(source.web) if source.web else None
            if pages is not None:
                self._pages[pages.repo].append((pages, source))
            elif not source.web:
                self._elsewhere.setdefault(source.name.casefold(), source.name)

    def files(self, url: str) -> tuple[SourceFile, ...]:
        """The files that a page shows, if it is one of a file of these sources; that of its branch is first.

        There may be several where several branches or folders of one repo are sources, and none need exist.
        """
        found = sorted(self._at(url), key=lambda entry: entry[0])
        if found:
            return tuple(dict.fromkeys(file for _, file in found))
        shown = shown_file(url) if self._elsewhere else None
        source = self._elsewhere.get(shown.repo.rpartition("/")[2]) if shown else None
        return ((source, shown.path),) if shown and source else ()

    def _at(self, url: str) -> Iterator[tuple[bool, SourceFile]]:
        """The files, each with whether another branch is its source's."""
        parts = (plain_address(url) or "").split("/")
        for length in range(1, len(parts)):
            for pages, source in self._pages.get(repo_key("/".join(parts[:length])), ()):
                file = pages.file("/".join(parts[length:]))
                if file is not None:
                    yield file.ref not in {source.ref, source.commit, source.web_ref}, (source.name, file.path)
