"""[I/O] Reads the files of a published site: from its folder, or by its address."""

import hashlib
import io
import json
import os
import re
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

from memosite.facts.errors import OutputError
from memosite.store.output import is_unfinished
from memosite.store.safe_files import read_file

_INDEX = "archive/index.json"
_BUNDLE = re.compile(r"(?:\d{4}/\d{2}|undated)/files-\d+\.zip", re.ASCII)
_ORIGINAL = re.compile(
    r"(?:memos|notes|transcripts|libraries|documents|records/[^/]+)/[^/]+/(?:original[^/]*|copies/[^/]+)"
)
"""The paths of originals (`original_name` and `copy_name` in `archive/urls`)."""
_FOLDERS = ("memos", "notes", "transcripts", "libraries", "documents", "records")
_LIMIT = 512 * 2**20
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
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
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

    def __init__(self, address: str) -> None:
        """Read from this address, with the credentials for it."""
        from memosite.fetch.client import Fetcher  # noqa: PLC0415 - few commands ask the network
        from memosite.fetch.credentials import read_credentials  # noqa: PLC0415

        self.name = address
        self._base = address.rstrip("/") + "/"
        self._fetcher = Fetcher(read_credentials([address]), limit=_LIMIT, whole=600)

    def read(self, path: str) -> bytes | None:
        """The bytes of a file; None if the server says that there is none."""
        from memosite.fetch.answers import Failed, Fetched  # noqa: PLC0415

        address = urljoin(self._base, quote(path))
        answer = self._fetcher.get(address)
        if isinstance(answer, Fetched):
            return answer.data
        if isinstance(answer, Failed) and answer.is_missing:
            return None
        raise OutputError(f"{address}: {getattr(answer, 'reason', 'no answer')}; try again")

    def hashes_beside(self, paths: Iterable[str]) -> dict[str, str]:
        """The SHA-256 of the originals at these paths that are there; others cannot be found."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            found = pool.map(self._hash, paths)
            return {path: sha256 for path, sha256 in found if sha256}

    def _hash(self, path: str) -> tuple[str, str]:
        data = self.read(path)
        return path, hashlib.sha256(data).hexdigest() if data is not None else ""
