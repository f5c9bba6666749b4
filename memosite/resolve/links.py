"""Resolves mentions in texts to artifacts of the archive or to web addresses, and finds their images (SPEC 3, 4)."""

import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import unquote

from memosite.archive.model import Link, SourceInfo, TextImage
from memosite.facts.names import BODY_SUFFIX, ENVELOPE_SUFFIX, read_reference, stem_of
from memosite.facts.parsed import DocumentHead, FileFacts, ImageFile, Organization, Parsed, Ref, Text
from memosite.facts.patterns import regex
from memosite.facts.texts import IMAGE_SUFFIXES, MESSAGE_FOLDERS, image_place, is_elsewhere, line_of
from memosite.facts.values import Value
from memosite.formats.system import FilePlace
from memosite.formats.systems import is_record_uri, record_suffixes, without_prefix
from memosite.resolve.identity import Filed
from memosite.resolve.positions import last_segment
from memosite.resolve.threads import NameIndex, inverse
from memosite.sources.forges import RepoPages, commit_url, file_url, plain_address, repo_key, repo_pages, shown_file

# Finds the files of the archive's repos in URLs of forges (SPEC 3, references and links).


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


# Finds documents by the ids that their frontmatter gives them (SPEC 2.2).


class DocumentIds:
    """Documents by their own ids, which several may have."""

    def __init__(self, documents: Iterable[Filed]) -> None:
        """Index the documents that have an id."""
        self._by_id: dict[str, list[tuple[str, Ref]]] = defaultdict(list)
        for entry in documents:
            if isinstance(entry.fact, DocumentHead) and entry.fact.key:
                self._by_id[without_prefix(entry.fact.key)].append((entry.fact.file.source, entry.ref))

    def find(self, name: str, source: str) -> Ref | None:
        """The document of this id: the only one of the source, else the only one that there is."""
        found = self._by_id.get(without_prefix(name.strip()), [])
        fitting = [ref for home, ref in found if home == source] or [ref for _, ref in found]
        return fitting[0] if len(fitting) == 1 else None


HasFile = Callable[[str, str], bool]
"""Whether a source (by name) has a file or folder at a path."""


FindRecord = Callable[[str, str], Ref | None]
"""The record that a text in a source (by name) calls by its id or its key."""


_STAMPED = regex(r"\d{4}-\d{2}-\d{2}(?:-\d{4})?--")


_SCHEME = regex(r"[a-zA-Z][a-zA-Z0-9+.-]+:")


_ABSOLUTE = regex(r"/|~/|[a-zA-Z]:")


_FOLDER_ENDING = "/index.md"


FILE_ENDINGS = (".md", *(suffix for suffix in record_suffixes() if suffix.count(".") > 1))


_ENDINGS = (".md", _FOLDER_ENDING, *FILE_ENDINGS[1:])
"""What is tried behind a path without an extension."""


_NO_NAMES = frozenset({"", ".", ".."})


_MESSAGES = frozenset(MESSAGE_FOLDERS)


TAIL = 16
"""How many folders of a path are looked at from its end, and on the way up from a file: there are deeper ones."""


class TextOrigin(Value):
    """The origin of a text: its source, and the folder of its file in it.

    `page` is the file's name without its extension: the folder of its page on a documentation site. `is_near` says
    that a path with a slash before it is seen from that folder, then from those above, not from the source's root.
    """

    source: str
    folder: str
    page: str = ""
    is_near: bool = False


def origin_of(file: FileFacts) -> TextOrigin:
    """The origin of what a file says."""
    page = stem_of(file.name)
    is_folder = page.casefold() in {"index", "readme"}
    return TextOrigin(source=file.source, folder=file.folder, page="" if is_folder else page)


class LinkResolver:
    """Resolves mentions. No path is opened or followed: it is matched against the files that were read.

    Only `has_file` is asked whether a linked file exists, before its web address is made.
    """

    def __init__(
        self,
        names: NameIndex,
        files: Iterable[tuple[Ref, FileFacts]],
        organizations: Iterable[Organization],
        sources: Iterable[SourceInfo],
        has_file: HasFile | None = None,
        *,
        record_files: Iterable[tuple[Ref, FileFacts]] = (),
        find_record: FindRecord = lambda _name, _source: None,
        commits: Mapping[str, Mapping[str, str]] | None = None,
        find_session: Callable[[str], Ref | None] = lambda _: None,
    ) -> None:
        """Index everything that can be mentioned; `files` are those known by path (documents, libraries).

        `record_files` are used only where no other file has the same end of a path. `commits` are full commit ids
        by source and by their abbreviation in texts.
        """
        self._commits = commits or {}
        self._find_session = find_session
        self._names = names
        self._has_file = has_file
        self._sources = {source.name: source for source in sources}
        self._forge_files = ForgeFiles(self._sources.values())
        self._by_path: dict[tuple[str, str], Ref] = {}
        self._by_tail: dict[tuple[str | None, str], Ref | None] = {}  # by source and in all sources; None for several
        self._find_record = find_record
        for listed in (files, record_files):
            by_path, by_tail = _index(listed)
            self._by_path = by_path | self._by_path
            self._by_tail = by_tail | self._by_tail
        self._bases = {path.rpartition("/")[2] for _, path in self._by_path} | _NO_NAMES
        self._has_index = _FOLDER_ENDING[1:] in self._bases
        self._stems = {base.removesuffix(one) for base in self._bases for one in FILE_ENDINGS if base.endswith(one)}
        self._directories = self._working_directories(organizations)

    def _working_directories(self, organizations: Iterable[Organization]) -> list[tuple[str, str]]:
        """The working directories that are sources, in small letters and with a slash at the end, longest first."""
        by_name = {name.casefold(): name for name in reversed(self._sources)}
        found = set()
        for organization in organizations:
            for seat in organization.seats:
                name = by_name.get(last_segment(seat.working_directory).casefold())
                if name is not None:
                    found.add((_normal(seat.working_directory or "").rstrip("/ ").lower() + "/", name))
        return sorted(found, key=lambda entry: (-len(entry[0]), entry))

    def resolve(self, text: Text, origin: TextOrigin) -> tuple[Link, ...]:
        """The mentions and link targets of a text that can be resolved, in the order written."""
        links = []
        destinations = set(text.destinations)
        for written in dict.fromkeys((*text.mentions, *text.destinations)):
            link = self._resolve(written, origin, is_destination=written in destinations)
            if link is not None:
                links.append(link)
        known = {link.written for link in links}
        named = ((word, self._find_session(word)) for word in text.sessions if word not in known)
        return (*links, *(Link(written=word, to=to) for word, to in named if to is not None))

    def _resolve(self, written: str, origin: TextOrigin, *, is_destination: bool) -> Link | None:
        if _SCHEME.match(written):
            # A web address, or an unsupported scheme; a drive letter is one character.
            found = self._by_url(written, origin)
            return Link(written=written, to=found) if found else None
        commit = self._commits.get(origin.source, {}).get(written)
        if commit is not None and not is_destination:
            url = commit_url(self._sources[origin.source].web or "", commit)
            return Link(written=written, url=url) if url else None
        path = written.split("#", 1)[0]
        if is_destination:
            path = unquote(path.split("?", 1)[0])
        path = _normal(path)
        if not path or "\0" in path:
            return None
        to = self._artifact(path, origin) or self._find_record(path, origin.source)
        if to is not None:
            return Link(written=written, to=to)
        url = self._web_address(path, origin, is_destination=is_destination)
        if not url:
            return None
        fragment = written.partition("#")[2]
        return Link(written=written, url=f"{url}#{fragment}" if line_of(fragment) else url)

    def _by_url(self, url: str, origin: TextOrigin) -> Ref | None:
        """The record of a URI, or the artifact whose file a forge shows; a stamped name counts in any repo."""
        if is_record_uri(url):
            return self._find_record(url, origin.source)
        for source, path in self._forge_files.files(url):
            found = self._named(path, source) or self._by_path.get((source, path))
            if found is not None:
                return found
        shown = shown_file(url)
        is_stamped = shown is not None and _STAMPED.match(shown.path.rpartition("/")[2])
        return self._named(shown.path, origin.source) if shown and is_stamped else None

    def follow(self, path: str, origin: TextOrigin, *, written: str) -> Link | None:
        """The target of a path that a record gives: an artifact, else a file on the web."""
        to = self.artifact(path, origin)
        if to is not None:
            return Link(written=written, to=to)
        url = None if _SCHEME.match(path) else self._web_address(_normal(path), origin, is_destination=True)
        return Link(written=written, url=url) if url else None

    def artifact(self, name: str, origin: TextOrigin) -> Ref | None:
        """The artifact of a path, a file name or a URL; a path from the source's root may begin with a slash."""
        if _SCHEME.match(name):
            return self._by_url(name, origin)
        path = _normal(name.split("#", 1)[0])
        return None if not path or "\0" in path else self._artifact(path, origin)

    def written_in(self, name: str, file: FileFacts) -> Ref | None:
        """The artifact of what is written in a file."""
        return self.artifact(name, origin_of(file))

    def _artifact(self, path: str, origin: TextOrigin) -> Ref | None:
        found = self._named(path, origin.source)
        if found is None and path.rstrip("/").rpartition("/")[2] in self._bases:
            found = self._at(path, origin) or self._by_suffix(path, origin)
        return found or self._without_extension(path, origin)

    def _at(self, path: str, origin: TextOrigin) -> Ref | None:
        """The artifact at exactly this path, as seen from the text's folder, else from the nearest above it."""
        if path.rstrip("/").rpartition("/")[2] not in self._bases:
            return None  # most paths in texts name nothing that was read: few are looked for in all folders
        is_rooted = path.startswith("/") and not origin.is_near
        candidates = [path[1:]] if is_rooted else _inside(path.removeprefix("/"), origin.folder)
        return next(filter(None, (self._by_path.get((origin.source, candidate)) for candidate in candidates)), None)

    def _without_extension(self, path: str, origin: TextOrigin) -> Ref | None:
        """The artifact whose path is written without its extension, or as a page of a documentation site.

        On such a site `a.md` is the page `a/`, so that `../b/` in it is the file `b.md` beside it.
        """
        name = path.rstrip("/")
        if name.endswith(".") or "/" not in path:
            return None
        if path.endswith("/") and origin.page and not path.startswith("/"):
            beside = posixpath.normpath(posixpath.join(origin.folder, origin.page, f"{name}.md"))
            if (origin.source, beside) in self._by_path:
                return self._by_path[origin.source, beside]
        *folders, base = name.split("/")
        if base in self._stems or self._has_index:  # most paths in texts name nothing that was read
            has_folder = not _NO_NAMES.issuperset(folders)
            for ending in _ENDINGS:
                if not (self._has_index if ending == _FOLDER_ENDING else base + ending in self._bases):
                    continue
                longer = name + ending
                found = self._at(longer, origin) or (self._by_suffix(longer, origin) if has_folder else None)
                if found is not None:
                    return found
        is_message = not _MESSAGES.isdisjoint(folders)
        return self._named(name + ENVELOPE_SUFFIX, origin.source) if is_message else None

    def _named(self, path: str, source: str) -> Ref | None:
        """The memo, note or transcript whose file has the name at the end of a path."""
        base = path.rpartition("/")[2]
        if not (base.lower().endswith((ENVELOPE_SUFFIX, BODY_SUFFIX)) or _STAMPED.match(base)):
            return None
        stems = filter(None, (base, read_reference(base)))  # an id may hold `~`, a reference does not
        return next(filter(None, (self._names.find(stem, source=source) for stem in stems)), None)

    def _by_suffix(self, path: str, origin: TextOrigin) -> Ref | None:
        """By the longest end of the path that names one artifact: in the source that the path names, else its own.

        A bare file name is enough in its own source; elsewhere it needs a folder, and exactly one match.
        """
        parts = [part for part in path.split("/") if part not in _NO_NAMES]
        if not parts or parts[-1] not in self._bases:
            return None
        for index in range(max(0, len(parts) - TAIL), len(parts)):
            tail = "/".join(parts[index:])
            if (None, tail) not in self._by_tail:
                continue
            named = next((part for part in reversed(parts[:index]) if part in self._sources), None)
            if named is not None:
                exact = self._by_path.get((named, tail)) if parts[index - 1] == named else None
                return exact or (self._by_tail.get((named, tail)) if "/" in tail else None)
            if "/" not in tail and index > 0:
                return None
            if (origin.source, tail) in self._by_tail:
                return self._by_tail[(origin.source, tail)]
            return self._by_tail[(None, tail)] if "/" in tail else None
        return None

    def _web_address(self, path: str, origin: TextOrigin, *, is_destination: bool) -> str | None:
        lowered = path.lower()
        for directory, name in self._directories:
            if lowered.startswith(directory):
                return self._address(name, path[len(directory) :])
        if not is_destination or _ABSOLUTE.match(path):
            return None
        candidates = _inside(path, origin.folder)
        if self._has_file is None:
            return self._address(origin.source, candidates[0]) if candidates else None
        for candidate in candidates:
            if self._has_file(origin.source, candidate):
                return self._address(origin.source, candidate)
        source, *rest = [part for part in path.split("/") if part not in _NO_NAMES] or [""]
        if source in self._sources and rest and self._has_file(source, "/".join(rest)):
            return self._address(source, "/".join(rest))
        return None

    def _address(self, source: str, path: str) -> str | None:
        known = self._sources[source]
        if known.web is None or ".." in path.split("/"):
            return None
        return file_url(known.web, known.web_ref, path)


def _index(
    files: Iterable[tuple[Ref, FileFacts]],
) -> tuple[dict[tuple[str, str], Ref], dict[tuple[str | None, str], Ref | None]]:
    """Files by source and path; and by each end of their paths, in their source and in all, None for several."""
    by_path: dict[tuple[str, str], Ref] = {}
    by_tail: dict[tuple[str | None, str], Ref | None] = {}
    for ref, file in files:
        by_path[file.place] = ref
        parts = file.path.split("/")[-TAIL:]
        for index in range(len(parts)):
            tail = "/".join(parts[index:])
            for source in (file.source, None):
                known = by_tail.setdefault((source, tail), ref)
                by_tail[(source, tail)] = ref if known == ref else None
    return by_path, by_tail


def _inside(path: str, folder: str) -> list[str]:
    """The path as seen from its file's folder, then from each folder above; only what stays in the source."""
    if _ABSOLUTE.match(path):
        return []
    parts = folder.split("/") if folder else []
    depths = [*range(len(parts), max(0, len(parts) - TAIL), -1), 0]
    candidates = (posixpath.normpath(posixpath.join(*parts[:depth], path)) for depth in depths)
    inside = (candidate for candidate in candidates if not candidate.startswith("../") and candidate not in {"..", "."})
    return list(dict.fromkeys(inside))


def _normal(path: str) -> str:
    return path.replace("\\", "/").strip()


def backlinks(
    links: Mapping[Ref, Iterable[Link]], others: Iterable[tuple[Ref, Ref]] = ()
) -> dict[Ref, tuple[Ref, ...]]:
    """For each artifact, those that mention it, in order of kind and id; `others` are (from, to) pairs."""
    mentioned = ((ref, link.to) for ref, some in links.items() for link in some if link.to is not None)
    return inverse((*others, *(pair for pair in mentioned if pair[0] != pair[1])))


# Finds the images that texts show among the files of their own source (SPEC 4).


_WITHOUT = frozenset({"transcript", "library"})


def text_images(
    texts: Iterable[tuple[Ref, Text, TextOrigin]], parsed: Iterable[Parsed]
) -> dict[Ref, tuple[TextImage, ...]]:
    """The images of memos, notes, documents and records, in the order written."""
    files = {(file.source, file.path): file.fact for file in parsed if isinstance(file.fact, ImageFile)}
    return {
        ref: tuple(_image(written, origin, files) for written in text.images)
        for ref, text, origin in texts
        if text.images and ref[0] not in _WITHOUT
    }


def _image(written: str, origin: TextOrigin, files: Mapping[FilePlace, ImageFile]) -> TextImage:
    place = image_place(written, origin.folder)
    found = files.get((origin.source, place)) if place else None
    if found is None or found.why_not:
        return TextImage(written=written, why_not=found.why_not if found else _why_not(written, place))
    return TextImage(written=written, sha256=found.file.sha256, form=found.form, width=found.width, height=found.height)


def _why_not(written: str, place: str | None) -> str:
    """Why there is no file for what is written."""
    if is_elsewhere(written):
        return "not a file of its repo, so it is not loaded"
    if place is None:
        return "outside of its source"
    if place.lower().endswith((".svg", ".svgz")):
        return "SVG is not shown"
    if not place.lower().endswith(IMAGE_SUFFIXES):
        return "not a PNG, JPEG, GIF, WebP or AVIF file"
    return "not found"
