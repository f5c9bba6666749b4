"""Finds a text again in its file, by the digest that it had when the gate let it through.

What has the digest is what was let through, so it need not pass the gate again; what has another one never counts.
"""

import hashlib
from collections.abc import Iterator

from memosite.facts.file import File
from memosite.facts.json_text import clean_text
from memosite.facts.names import ENVELOPE_SUFFIX

_JSON = (ENVELOPE_SUFFIX, ".json")


def known_text(file: File, digest: str) -> bytes | None:
    """The file, its text, or a string of its JSON: whichever has this digest; None if none of them has."""
    return next((data for data in _texts(file) if hashlib.sha256(data).hexdigest() == digest), None)


def _texts(file: File) -> Iterator[bytes]:
    yield file.data
    yield file.markdown.encode("utf-8", "replace")
    if file.name.lower().endswith(_JSON):
        strings = (value for value in (file.json.fields or {}).values() if isinstance(value, str))
        yield from (clean_text(one).encode("utf-8", "replace") for one in strings)
