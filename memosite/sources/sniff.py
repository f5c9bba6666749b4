"""[I/O] Looks at the beginning of a Markdown file, to tell whether it may be a record of MIF 1.0 (SPEC 2.2, mif)."""

import os
import re
import stat
from pathlib import Path

SNIFFED = 2048
"""How many bytes of a file are looked at."""

_OPENINGS = (b"---\n", b"---\r\n", b"--- ", b"---\t", b"\xef\xbb\xbf---")
_FIELDS = tuple(re.compile(rf"^[\"']?{name}[\"']?[ \t]*:".encode(), re.MULTILINE) for name in ("id", "type", "created"))


def has_record_head(path: Path) -> bool:
    """Whether a regular file begins with `---` and has lines `id:`, `type:` and `created:` in its first bytes."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(handle, "rb", buffering=0) as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return False
            head = os.read(stream.fileno(), SNIFFED).replace(b"\r\n", b"\n")
    except OSError:
        return False
    return head.startswith(_OPENINGS) and all(field.search(head) for field in _FIELDS)
