"""Takes the comments out of the theme's own scripts and styles: readers need not load them.

Only comments that have lines of their own: telling others from code would need a parser. No string of the bundled files
spans lines. A comment on the first line says what the file is, and stays.
"""

import re

_COMMENT = re.compile(rb"(?<=\n)[ \t]*(?://[^\n]*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)\n")
_BLANK = re.compile(rb"\n{2,}")


def lean(name: str, data: bytes) -> bytes:
    """A bundled static file as it is published."""
    return _BLANK.sub(b"\n", _COMMENT.sub(b"", data)) if name.endswith((".js", ".css")) else data
