"""[I/O] Reads the files of a published site, in a folder or at an address, and finds what a build goes on from.

That is the ledger, which records what was published under which URL, the sealed log, and of what is to be erased the
digests that were published. From a site in a folder, unchanged files also keep their times, so that a sync to a server
by time and size sends only changed files.
"""

import errno
import hashlib
import io
import json
import os
import re
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin

from memosite.archive.ledger import LEDGER_PATH, Ledger, parse_ledger, read_ledger
from memosite.archive.seals import SEALS_PATH, SealLog, parse_seals
from memosite.archive.urls import artifact_page, record_page
from memosite.config.schema import Audience, Config, Erasure
from memosite.facts.errors import OutputError
from memosite.facts.layout import SITE_MARKER
from memosite.facts.patterns import regex
from memosite.facts.values import replace
from memosite.store.output import is_unfinished
from memosite.store.safe_files import NotAFileError, read_file

if TYPE_CHECKING:
    from memosite.fetch import Failed

# Reads the files of a published site: from its folder, or by its address.


_INDEX = "archive/index.json"


_BUNDLE = regex(r"(?:\d{4}/\d{2}|undated)/files-\d+\.zip", re.ASCII)


_ORIGINAL = regex(r"(?:memos|notes|transcripts|libraries|documents|records/[^/]+)/[^/]+/(?:original[^/]*|copies/[^/]+)")
"""The paths of originals (`original_name` and `copy_name` in `archive/urls`)."""


_FOLDERS = ("memos", "notes", "transcripts", "libraries", "documents", "records")


_LIMIT = 512 * 2**20
"""The largest file that is fetched, in bytes: the ledger of a million artifacts has some 200 MB."""


_AT_ONCE = 8


class PublishedSite(ABC):
    """A published site, to be read. `name` is what messages call it."""

    name: str

    @abstractmethod
    def read(self, path: str) -> bytes | None:
        """The bytes of a file; None if there is none. Raises `OutputError` if that cannot be found out."""

    @abstractmethod
    def hashes_beside(self, paths: Iterable[str]) -> dict[str, str]:
        """The SHA-256 of originals that are files of their own: of these paths, or of all that are there."""

    def is_being_written(self) -> bool:
        """Whether a build is writing there, or was interrupted, as far as that can be known."""
        return False

    def hashes(self, paths: Iterable[str]) -> dict[str, str]:
        """The SHA-256 of the originals that are there, of these paths at least; those of a lean site are in ZIPs."""
        bundled = {path: sha256 for name in self._bundles() for path, sha256 in self._in_bundle(name)}
        return bundled | self.hashes_beside(path for path in paths if path not in bundled)

    def _bundles(self) -> Iterator[str]:
        """The ZIPs with originals, as the index names them. What is published is not trusted."""
        try:
            index: Any = json.loads(self.read(_INDEX) or b"{}")
            names = [one["files"] for month in index.get("months", ()) for one in month.get("bundles", ())]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise OutputError(f"{self.name}: {_INDEX} cannot be read ({error}); build the site again") from error
        yield from (f"archive/{name}" for name in names if _BUNDLE.fullmatch(str(name)))

    def _in_bundle(self, name: str) -> Iterator[tuple[str, str]]:
        """The originals in a ZIP. Memosite compresses none, so one that is compressed is not looked into."""
        try:
            with zipfile.ZipFile(io.BytesIO(self.read(name) or b"")) as bundle:
                for one in bundle.infolist():
                    if _ORIGINAL.fullmatch(one.filename) and one.compress_type == zipfile.ZIP_STORED:
                        yield one.filename, hashlib.sha256(bundle.read(one)).hexdigest()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, EOFError):
            return  # what is in it is missing then


class FolderSite(PublishedSite):
    """A published site in a folder."""

    def __init__(self, root: Path) -> None:
        """Read from this folder."""
        self.root = root
        self.name = str(root)

    def read(self, path: str) -> bytes | None:
        """The bytes of a file; None if there is none."""
        try:
            return read_file(self.root / path)
        except (FileNotFoundError, NotADirectoryError, NotAFileError):
            return None
        except OSError as error:
            if error.errno == errno.ELOOP:  # a link in its place, which memosite does not write
                return None
            raise OutputError(f"{self.root / path}: cannot be read ({error.strerror or error})") from error

    def is_being_written(self) -> bool:
        """Whether a build is writing there, or was interrupted."""
        return is_unfinished(self.root)

    def hashes_beside(self, paths: Iterable[str]) -> dict[str, str]:
        """The SHA-256 of all originals that are there."""
        there = {path: self.read(path) for path in dict.fromkeys((*paths, *self._originals()))}
        return {path: hashlib.sha256(data).hexdigest() for path, data in there.items() if data is not None}

    def _originals(self) -> Iterator[str]:
        for top in _FOLDERS:
            for folder, _, names in os.walk(self.root / top):
                below = Path(folder).relative_to(self.root).as_posix()
                yield from (path for name in names if _ORIGINAL.fullmatch(path := f"{below}/{name}"))


class WebSite(PublishedSite):
    """A published site at an address."""

    def __init__(self, address: str, *, limit: int = _LIMIT, whole: float = 600) -> None:
        """Read from this address, with the credentials for it; `limit` and `whole` are those of a `Fetcher`."""
        from memosite.fetch.client import Fetcher, read_credentials  # noqa: PLC0415 - few commands ask the network

        self.name = address
        self._base = address.rstrip("/") + "/"
        self._fetcher = Fetcher(read_credentials([address]), limit=limit, whole=whole)

    def read(self, path: str) -> bytes | None:
        """The bytes of a file; None if the server says that there is none."""
        answer = self.ask(path)
        if isinstance(answer, bytes):
            return answer
        if answer.is_missing:
            return None
        raise OutputError(f"{self.address_of(path)}: {answer.reason}; try again")

    def address_of(self, path: str) -> str:
        """The address of a file."""
        return urljoin(self._base, quote(path))

    def ask(self, path: str) -> "bytes | Failed":
        """The bytes of a file, or why they cannot be had."""
        from memosite.fetch import Failed, Fetched  # noqa: PLC0415

        answer = self._fetcher.get(self.address_of(path))
        if isinstance(answer, Fetched):
            return answer.data
        return answer if isinstance(answer, Failed) else Failed(reason="no answer")

    def hashes_beside(self, paths: Iterable[str]) -> dict[str, str]:
        """The SHA-256 of the originals at these paths that are there; others cannot be found."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return {path: sha256 for path, sha256 in pool.map(self._hash, paths) if sha256}

    def _hash(self, path: str) -> tuple[str, str]:
        data = self.read(path)
        return path, hashlib.sha256(data).hexdigest() if data is not None else ""


# The published site that a build goes on from, where the output folder is new: as in every run of CI.


_NO_SEALS = SealLog()


PublishedFile = Callable[[str], bytes | None]
"""The bytes of a file of the published site by its path; None if there is none."""


TWIN_LIMIT = 64 * 2**20
"""The largest twin that is fetched, in bytes."""


_BUNDLE_LINK = regex(r'href="(?P<path>[./]*archive/[0-9a-z/]+/twins-\d+\.jsonl)#')


_KEY = regex(rb'\{"key": "(?P<key>[^"\\]*)"')


def is_address(previous: str) -> bool:
    """Whether a site is named by its address rather than by its folder."""
    return previous.startswith(("http://", "https://"))


def previous_folder(previous: str | None) -> Path | None:
    """The folder of a previous site; None if there is none. Raises `OutputError` if it is no site."""
    if previous is None or is_address(previous):
        return None
    folder = Path(previous)
    if not (folder / SITE_MARKER).is_file():
        raise OutputError(
            f"--previous {previous}: found no {SITE_MARKER} there, expected a site that memosite published; "
            "leave the option out the first time"
        )
    return folder


def known_ledger(config: Config, previous: str | None, last: Ledger | None) -> Ledger:
    """The ledger that a build goes on from: that of its output, or that of the previous site if that knows more.

    What the `last` build read need not be read again.

    Raises `OutputError` if a ledger cannot be had, if the two were written apart from one another, or if one is that of
    a site for another audience.
    """
    output = config.output
    own = of_audience(read_ledger(output, last), config.audience, str(output))
    if previous is None:
        return own
    if is_address(previous):
        address, data = _fetched(previous, LEDGER_PATH)
        other = parse_ledger((data or b"").decode("utf-8", "replace"), name=address)
    else:
        other = read_ledger(Path(previous))
    other = of_audience(other, config.audience, f"--previous {previous}")
    if own.published.startswith(other.published):
        return own
    if other.published.startswith(own.published):
        return other
    raise OutputError(
        f"--previous {previous}: its ledger and {output / LEDGER_PATH} went on differently, expected that one "
        "continues the other; give the one that readers know, and build into an empty folder"
    )


def known_seals(config: Config, previous: str | None, ledger: Ledger, last: SealLog = _NO_SEALS) -> SealLog:
    """The sealed log that a build goes on from: that beside the `ledger` which it goes on from.

    A site of an earlier version has none. Only what was appended to the `last` one that was known is read anew.
    Raises `OutputError` if it cannot be had, or is damaged.
    """
    own = _seals_in(config.output, last)
    if previous is None or (own is not None and ledger.published == read_ledger(config.output, ledger).published):
        return own or _NO_SEALS
    if not is_address(previous):
        return _seals_in(Path(previous)) or own or _NO_SEALS
    address, data = _fetched(previous, SEALS_PATH)
    return (_seals(data, address) if data is not None else None) or own or _NO_SEALS


def _seals_in(output: Path, last: SealLog = _NO_SEALS) -> SealLog | None:
    """The sealed log of a site in a folder; None if it has none."""
    path = output / SEALS_PATH
    try:
        return _seals(read_file(path), str(path), last)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OutputError(f"{path}: the sealed log cannot be read ({error}); restore it from a backup") from error


def _fetched(previous: str, path: str) -> tuple[str, bytes | None]:
    """The address of a file of the previous site, and its bytes: None if there is none; an error for a ledger."""
    site = WebSite(previous)
    answer, address = site.ask(path), site.address_of(path)
    if isinstance(answer, bytes):
        return address, answer
    if answer.is_missing and path != LEDGER_PATH:
        return address, None
    raise OutputError(f"--previous {previous}: {address}: {answer.reason}; leave the option out the first time")


def _seals(data: bytes, name: str, last: SealLog = _NO_SEALS) -> SealLog:
    try:
        return parse_seals(data.decode("utf-8"), last)
    except ValueError as error:
        raise OutputError(
            f"{name}: the sealed log is damaged ({error}). Restore it from a backup. Without it a new one begins, "
            "and roots from before do not hold any more"
        ) from error


def of_audience(ledger: Ledger, audience: Audience, name: str) -> Ledger:
    """A ledger of a site for this audience. Raises `OutputError` for that of another: it knows what others may not."""
    if ledger.published and ledger.audience != audience:
        raise OutputError(
            f"{name}: found the ledger of a site for the audience {ledger.audience}, expected one for {audience}; "
            "name the site that was published for it, or leave the option out the first time"
        )
    return replace(ledger, audience=audience)


def published_digests(erasures: Iterable[Erasure], ledger: Ledger, files: PublishedFile) -> dict[str, frozenset[str]]:
    """The digests that the published twins of what is to be erased name, by `kind/id`; none where a secret is why."""
    named = {(entry.kind, entry.id) for entry in erasures if not entry.is_secret}
    bundled = _BundledTwins(files) if ledger.is_lean else None
    found: dict[str, frozenset[str]] = {}
    for arrival in ledger.arrivals if named else ():
        if named.isdisjoint({(arrival.kind, arrival.id), (None, arrival.id)}):
            continue
        page = record_page(arrival.system, arrival.id) if arrival.kind == "record" else artifact_page(arrival.ref)
        name = "/".join(arrival.ref)
        found[name] = _digests_in(bundled.find(page, name) if bundled else files(f"{page}index.json"))
    return found


class _BundledTwins:
    """Finds twins in the bundles of a published site, each of which is read once."""

    def __init__(self, files: PublishedFile) -> None:
        self._files = files
        self._bundles: dict[str, dict[str, bytes]] = {}

    def find(self, page: str, key: str) -> bytes | None:
        """The twin of this key, in the bundle that the page names; None if there is none."""
        for link in _BUNDLE_LINK.finditer((self._files(f"{page}index.html") or b"").decode("utf-8", "replace")):
            bundle = normpath(page + link["path"])
            if not bundle.startswith("archive/"):  # what is published is not trusted
                continue
            if bundle not in self._bundles:
                self._bundles[bundle] = dict(_keyed_lines(self._files(bundle) or b""))
            if key in self._bundles[bundle]:
                return self._bundles[bundle][key]
        return None


def _keyed_lines(bundle: bytes) -> Iterator[tuple[str, bytes]]:
    """The twins of a bundle by their keys, which are first in their lines."""
    for line in bundle.split(b"\n"):
        begin = _KEY.match(line)
        if begin:
            yield begin["key"].decode("utf-8", "replace"), line


def published_file(output: Path, previous: str | None) -> PublishedFile:
    """Reads files that are published: those of the output, else of the previous site."""
    site = WebSite(previous, limit=TWIN_LIMIT, whole=60) if previous and is_address(previous) else None
    folders = (output, *([Path(previous)] if previous and not site else ()))

    def read(path: str) -> bytes | None:
        for folder in folders:
            try:
                return read_file(folder / path)
            except OSError:
                continue
        answer = site.ask(path) if site else None
        return answer if isinstance(answer, bytes) else None

    return read


def _digests_in(twin: bytes | None) -> frozenset[str]:
    """The digests of files that a twin names. What is published is not trusted: it may hold anything."""
    try:
        said = json.loads(twin or b"{}")
        values = (said.get("sha256"), *(copy.get("sha256") for copy in said.get("copies") or ()))
        return frozenset(str(value) for value in values if value)
    except (ValueError, AttributeError, TypeError, RecursionError):
        return frozenset()
