"""Recognizes MIF files: by `.memory.md` in MIF 0.1, by the first lines of Markdown in MIF 1.0 (SPEC 2.2, mif)."""

import re

SUFFIX = ".memory.md"

_OPENINGS = (b"---\n", b"---\r\n", b"--- ", b"---\t", b"\xef\xbb\xbf---")
_FIELDS = tuple(re.compile(rf"^[\"']?{name}[\"']?[ \t]*:".encode(), re.MULTILINE) for name in ("id", "type", "created"))


def owns(path: str) -> bool | None:
    """Whether a file is named as a record of MIF 0.1; those of 1.0 may be anywhere, recognized by their head."""
    return path.lower().endswith(SUFFIX) or None


def begins(head: bytes) -> bool:
    """Whether a file begins with `---` and has lines `id:`, `type:` and `created:` in its first bytes (MIF 1.0)."""
    head = head.replace(b"\r\n", b"\n")
    return head.startswith(_OPENINGS) and all(name.search(head) for name in _FIELDS)
