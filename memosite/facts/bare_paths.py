"""Finds paths without an extension in texts: `memos/inbox/<stem>`, `decisions/gate`."""

import re
from collections.abc import Iterator
from functools import cache

_SEGMENT = r"A-Za-z0-9_\u00aa\u00b5\u00ba\u00c0-\u1fff~@%"

WORD = rf"{_SEGMENT}/\\"
"""What continues a path or a word: ASCII and the alphabets. Scripts without spaces do not, so that a name is found in
the middle of a Chinese sentence."""

MESSAGE_FOLDERS = ("memos", "notes", "transcripts")
"""The names of folders below which a name is that of a memo, a note or a transcript."""

_LOOK_BACK = 300
_NOT_OF_PATH = re.compile(rf"[^{WORD}.:-]|:(?![/\\])")
_REST = rf"(?:[{_SEGMENT}-][{_SEGMENT}.-]{{0,250}}/){{0,9}}[{_SEGMENT}-]{{1,250}}(?![{WORD}(-]|\.\w)"
_FOLDERS = (*(f"{name}/" for name in MESSAGE_FOLDERS), "decisions/", "proposals/", "adr/")


def path_start(text: str, name: int) -> int:
    """Where the path begins that ends in the name at this place; a name within a web address has none."""
    least = max(0, name - _LOOK_BACK)
    before = _NOT_OF_PATH.split(text[least:name])[-1].lstrip("@_")
    return name if "://" in before or not before.endswith(("/", "\\")) else name - len(before)


@cache
def _below(folder: str) -> re.Pattern[str]:
    """Paths in a folder. The pattern begins with literal characters, which are sought first: few texts have them.

    It takes a millisecond to compile, so that is done when it is needed.
    """
    return re.compile(folder + _REST)


def folder_spans(text: str) -> Iterator[tuple[int, int]]:
    """Paths without an extension in folders whose names say what they hold."""
    found: dict[int, int] = {}
    for folder in _FOLDERS:
        for match in _below(folder).finditer(text) if folder in text else ():
            start = path_start(text, match.start() + len(folder))
            if start < match.start() + len(folder):
                found[start] = max(match.start() + len(match[0].rstrip("_-")), found.get(start, 0))
    yield from sorted(found.items())
