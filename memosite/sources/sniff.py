"""[I/O] Reads the first bytes of a file, which distinguish some records from other Markdown (SPEC 2.2)."""

from pathlib import Path

from memosite.formats.systems import begins_as_record
from memosite.sources.listing import SNIFFED
from memosite.store.safe_files import beginning_of


def starts_as_record(path: Path) -> bool:
    """Whether a regular file begins as a record does."""
    return begins_as_record(head_of(path))


def head_of(path: Path) -> bytes:
    """The first bytes of a regular file; none if it cannot be read, or is a link."""
    return beginning_of(path, SNIFFED) or b""
