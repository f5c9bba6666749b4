"""[I/O] Reads the first bytes of a file, by which some records are told from other Markdown (SPEC 2.2)."""

import os
import stat
from pathlib import Path

from memosite.formats.systems import begins_as_record
from memosite.sources.listing import SNIFFED


def starts_as_record(path: Path) -> bool:
    """Whether a regular file begins as a record does."""
    return begins_as_record(head_of(path))


def head_of(path: Path) -> bytes:
    """The first bytes of a regular file; none if it cannot be read, or is a link."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(handle, "rb", buffering=0) as stream:
            return os.read(stream.fileno(), SNIFFED) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    except OSError:
        return b""
