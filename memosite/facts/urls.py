"""Finds addresses of the web in texts: where one begins and ends in the middle of a sentence."""

import re
from collections.abc import Iterator

URL = r"(?<![A-Za-z0-9_\u00c0-\u1fff])(?i:https?)://[^\s<>\"`\u2018-\u201f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20]+"
"""The pattern of an address, with the punctuation that may follow it; see `without_punctuation`."""

LINES = re.compile(r"#(?:L|lines-)([0-9]{1,9})(?:C[0-9]{1,9})?(?:[-:]L?[0-9]{1,9}(?:C[0-9]{1,9})?)?(?![\w-])")
"""The fragment by which forges name lines of a file: `#L7`, `#L7-L9`, `#lines-7:9`."""

_URL = re.compile(URL)
_REST = re.compile(r"://[^\s<>\"`]+")  # begins with a literal character: `re` finds those many times faster
_FILE_PAGE = re.compile(r"//raw\.githubusercontent\.com/|/(?:blob|raw|tree|src|blame|edit|media|annotate)/")
_SCHEMES = (len("https"), len("http"))


def without_punctuation(url: str) -> str:
    """An address without what ends a sentence, and without a bracket that was opened before it."""
    end = len(url)
    surplus = url.count(")") - url.count("(")
    while end:
        if url[end - 1] == ")" and surplus > 0:
            surplus -= 1
        elif url[end - 1] not in ".,;:!?'*_~]|…":
            break
        end -= 1
    return url[:end]


def line_of(fragment: str) -> int | None:
    """The first line that a fragment names, written without `#` (see `LINES`); None if it names none."""
    match = LINES.fullmatch(f"#{fragment}")
    return int(match[1]) if match else None


def file_page_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where a text has addresses that may be those of files on a forge."""
    for rest in _REST.finditer(text):
        if not _FILE_PAGE.search(rest[0]):
            continue
        for scheme in _SCHEMES:
            url = _URL.match(text, max(0, rest.start() - scheme))
            if url is not None:
                yield url.start(), url.start() + len(without_punctuation(url[0]))
                break
