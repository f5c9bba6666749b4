"""[I/O] Looks at the beginning of a file, to tell whether it may be a record of MIF 1.0 (SPEC 2.2, mif)."""

import os
import stat
from pathlib import Path

from memosite.sources.listing import SNIFFED, has_record_head


def starts_as_record(path: Path) -> bool:
    """Whether a regular file begins as a record of MIF 1.0 does."""
    return has_record_head(head_of(path))


def head_of(path: Path) -> bytes:
    """The first bytes of a regular file; none if it cannot be read, or is a link."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(handle, "rb", buffering=0) as stream:
            return os.read(stream.fileno(), SNIFFED) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    except OSError:
        return b""
