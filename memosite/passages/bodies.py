"""Finds the bodies of an artifact that its page shows with anchors, and where their texts are in its files.

A text is the file itself, its end behind front matter, an entry of a list, or a string of its JSON. What memosite has
made of a file is in none of these ways in it: such a text is the `body` of the artifact's `index.json`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from memosite.archive.lines import is_redacted
from memosite.archive.model import Artifact, Document, Memo, Record, Transcript
from memosite.facts.json_text import clean_text, read_json_text
from memosite.facts.names import ENVELOPE_SUFFIX
from memosite.facts.parsed import FileFacts, Ref, Text
from memosite.pages.parts import PAGE_CHARS
from memosite.passages.anchors import SUMMARY

__all__ = ["MADE", "SourceBody", "TextOf", "bodies_of", "digests_of", "prefixed_texts", "texts_of"]

MADE: Final = "index.json#/body"
"""The part in which a text is that memosite has made of its file."""

TextOf: TypeAlias = Callable[[str], str]
"""Gives the text, or the file, of a SHA-256."""

_JSON: Final = (ENVELOPE_SUFFIX, ".json")
_FIRST: Final = ("body", "x.memo.body")  # fields that are looked at before others, which may say the same


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceBody:
    """A text with anchors, and where it is: `source` and `path` name its file, `part` what of it (see `Passage`).

    `before` are the bytes of that part that come before the text. `prefix` is what its anchors begin with.
    """

    ref: Ref
    text: str
    source: str
    path: str
    part: str = ""
    before: int = 0
    prefix: str = ""
    is_conversation: bool = False
    is_redacted: bool = False


def bodies_of(artifact: Artifact, text_of: TextOf) -> Iterator[SourceBody]:
    """The bodies of an artifact in the order of its page; none of what is shown verbatim, or withheld."""
    redacted = is_redacted(artifact)
    is_conversation = isinstance(artifact, Transcript)
    for text, file, is_whole, prefix in _texts(artifact):
        written = text_of(text.sha256)
        part, before = ("", 0) if is_whole else _place(artifact, written, file, text_of)
        yield SourceBody(
            ref=artifact.ref,
            text=written.removeprefix("\ufeff"),
            source=file.source,
            path=_path(artifact, file),
            part=part,
            before=before,
            prefix=prefix,
            is_conversation=is_conversation,
            is_redacted=redacted,
        )


def texts_of(artifact: Artifact, text_of: TextOf) -> Iterator[str]:
    """The texts of these bodies, as they were written: no file is looked into for where they are."""
    return map(text_of, digests_of(artifact))


def digests_of(artifact: Artifact) -> Iterator[str]:
    """The digests of these texts."""
    return (text.sha256 for text, _ in prefixed_texts(artifact))


def prefixed_texts(artifact: Artifact) -> Iterator[tuple[Text, str]]:
    """The facts of these texts, each with what its anchors begin with."""
    return ((text, prefix) for text, _, _, prefix in _texts(artifact))


def _texts(artifact: Artifact) -> Iterator[tuple[Text, FileFacts, bool, str]]:
    """The texts with anchors: each with its file, whether it is all of that, and the prefix of its anchors."""
    found = _texts_of_page(artifact)
    return (one for one in found if one[0].chars <= PAGE_CHARS or isinstance(artifact, Transcript))


def _texts_of_page(artifact: Artifact) -> Iterator[tuple[Text, FileFacts, bool, str]]:
    if artifact.withheld:
        return
    if isinstance(artifact, Document):
        yield artifact.head.text, artifact.head.file, False, ""
    elif isinstance(artifact, Record):
        if artifact.card.text:
            yield artifact.card.text, artifact.card.file, bool(artifact.copies[0].body_path), ""
    elif isinstance(artifact, Memo | Transcript):
        envelope, body = artifact.variants[0].envelope, artifact.variants[0].body
        is_read = envelope.shape != "broken"
        if envelope.body and is_read and not (body and isinstance(artifact, Transcript)):
            yield envelope.body, envelope.file, False, SUMMARY if body else ""
        if body and (is_read or isinstance(artifact, Memo)):
            yield body.text, body.file, True, ""


def _path(artifact: Artifact, file: FileFacts) -> str:
    """The path of a text's file; a record's text may be in a file of its own."""
    own = artifact.copies[0].body_path if isinstance(artifact, Record) else None
    return own or file.path


def _place(artifact: Artifact, text: str, file: FileFacts, text_of: TextOf) -> tuple[str, int]:
    """In which part of its file a text is, and how many bytes of that come before it."""
    original = clean_text(text_of(file.sha256)).lstrip("\ufeff")
    if file.name.lower().endswith(_JSON):
        return _field(original, text)
    begin = len(original) - len(text) if original.endswith(text) else -1
    line = artifact.card.line if isinstance(artifact, Record) else None
    if line is not None:
        begin = _entry(original, text, line)
    return ("", len(original[:begin].encode())) if begin >= 0 else (MADE, 0)


def _field(original: str, text: str) -> tuple[str, int]:
    """Of an object's own strings, the one that a text is but for white space around it, and the bytes before it."""
    fields: Any = read_json_text(original)[0]
    for name in (*_FIRST, *fields) if isinstance(fields, dict) else ():
        value = clean_text(fields[name]) if isinstance(fields.get(name), str) else ""
        if value.strip() == text.strip() and text in value:
            value = value.removeprefix("\ufeff")
            pointer = name.replace("~", "~0").replace("/", "~1")
            return f"/{pointer}", len(value[: value.find(text.removeprefix("\ufeff"))].encode())
    return MADE, 0


def _entry(original: str, text: str, line: int) -> int:
    """Where in a list an entry's text begins, on this line, counted from 1; -1 if it is not there as it is."""
    begin = 0
    for _ in range(line - 1):
        begin = original.find("\n", begin) + 1
    end = original.find("\n", begin)
    found = original.find(text, begin)
    return found if end < 0 or found <= end else -1
