"""Reads the names in a reference, such as a value of `in_reply_to` (SPEC 3, references).

People write more than a file name there: paths, URLs, several names, sentences about them. Which artifact a name
stands for is decided with the whole archive (`resolve/replies.py`).
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal
from urllib.parse import unquote

from memosite.facts.names import BODY_SUFFIX, ENVELOPE_SUFFIX, base_name, is_denied, read_stamped_word

NAMES = 100
"""The most names of one value that count."""

Form = Literal["stamped", "file", "document", "stamp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """One name in a reference.

    `form` says what it can be: a whole `stamped` name, which is a memo even if it is missing; a `file`, by an
    envelope's or a body's suffix or as the whole value; a `document` or another file at a URL, which is never a memo
    that is missing; a bare `stamp`. `written` is it with its path, `stem` it alone and without suffix. With
    `is_aside` it is in parentheses.
    """

    form: Form
    written: str
    stem: str
    is_aside: bool = False


_NO_NAMES = frozenset({"none", "n/a", "tbd", "-"})
_TOKEN = 4_096
"""Longer texts are no names: no system has longer paths."""

_PIECE = re.compile(r"(?P<link>\]\()|(?P<open>[(（])|(?P<close>[)）])|[^\s,;()（）<>\"“”„«»\[\]{}|`]+")
_AROUND = ".:!?…*'’‘"
_AROUND_WORD = _AROUND + '`"“”„«»<>[](){}|,;'
_SEPARATOR = re.compile(r"[/\\]")
_QUERY = re.compile(r"[?#].*")
_FILE = re.compile(r"(?P<stem>.*?)(?P<suffix>\.openthing|\.body\.md|\.md)", re.IGNORECASE | re.ASCII)
_WHOLE = re.compile(r"(?:\S*[/\\])?(?P<stem>[^/\\]+?)(?:\.openthing|\.body\.md)?", re.IGNORECASE | re.ASCII)
_BARE_STAMP = re.compile(r"(?<![0-9A-Za-z-])[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{4}(?![0-9A-Za-z]|-+\w)")


def read_names(value: str) -> tuple[Name, ...]:
    """The names in a value, in the order written, the first 100; none if it says that it is no reply."""
    text = unicodedata.normalize("NFC", value).strip()
    if is_denied(text):
        return ()
    names = tuple(islice(_names(text), NAMES))
    is_prose = re.search(r"\s", text) and not text.lower().endswith((ENVELOPE_SUFFIX, BODY_SUFFIX))
    return names or (() if is_prose else tuple(_only_name(text)))


def whole_name(value: str) -> str:
    """The stem of the value as one file's name or path; "" if it is none.

    A name may hold white space and anything else, so this counts only if there is such a file.
    """
    text = unicodedata.normalize("NFC", value).strip()
    is_none = len(text) > _TOKEN or is_denied(text) or "://" in text or text.casefold() in _NO_NAMES
    match = None if is_none else _WHOLE.fullmatch(text)
    return match["stem"] if match else ""


def first_stem(values: Iterable[str]) -> str | None:
    """The first name in a reference that may be a memo's, without path and suffix."""
    names = (name for value in values for name in read_names(value) if name.form != "document")
    return next((name.stem for name in names), None)


def _names(text: str) -> Iterator[Name]:
    is_aside: list[bool] = [
        False
    ]  # for each open parenthesis; one around the target of a Markdown link changes nothing
    for piece in _PIECE.finditer(text):
        if piece["link"] or piece["open"]:
            is_aside.append(is_aside[-1] or not piece["link"])
        elif piece["close"]:
            is_aside[-1:] = is_aside[-1:] if len(is_aside) == 1 else ()
        elif len(piece[0]) <= _TOKEN:
            yield from _in_token(piece[0], is_aside=is_aside[-1])


def _in_token(token: str, *, is_aside: bool) -> Iterator[Name]:
    """The names in a token without white space: stamped ones, else one by its suffix or URL, else bare stamps."""
    token = _bare(token)
    base = _last_part(token)
    stems = tuple(_stamped_stems(base))
    for stem in stems:
        is_document = stem.lower().endswith(".md")
        form: Form = "document" if is_document else "stamped"
        yield Name(form=form, written=token, stem=stem[:-3] if is_document else stem, is_aside=is_aside)
    file = None if stems else _file(base)
    if file is not None:
        yield Name(form=file[0], written=token, stem=file[1], is_aside=is_aside)
    elif "://" in token and not stems:
        yield Name(form="document", written=token, stem=base, is_aside=is_aside)
    elif not stems:
        for stamp in _BARE_STAMP.finditer(base):
            yield Name(form="stamp", written=stamp[0], stem=stamp[0], is_aside=is_aside)


def _bare(token: str, *, around: str = _AROUND) -> str:
    """A token without what prose puts around it; a dot may begin a name."""
    return token.rstrip(around).lstrip(around.replace(".", ""))


def _last_part(token: str) -> str:
    """The file's name at the end of a path or URL."""
    is_url = "://" in token
    path = _QUERY.sub("", token) if is_url else token
    part = _SEPARATOR.split(path.rstrip("/\\"))[-1]
    return unquote(part) if is_url else part


def _stamped_stems(base: str) -> Iterator[str]:
    at = 0
    while (found := read_stamped_word(base, at)) is not None:
        stem, at = found
        yield stem


def _file(base: str) -> tuple[Form, str] | None:
    """What a token with a suffix names; a query or a fragment may follow that."""
    for text in (base, _QUERY.sub("", base)):
        file = _FILE.fullmatch(_bare(text))
        if file is not None and file["stem"].strip(". "):
            return ("document" if file["suffix"].lower() == ".md" else "file"), file["stem"]
    return None


def _only_name(text: str) -> Iterator[Name]:
    if len(text) > _TOKEN:
        return
    word = _bare(text, around=_AROUND_WORD)
    stem = base_name(word)
    if text.casefold() not in _NO_NAMES and any(map(str.isalnum, stem)):
        yield Name(form="file", written=word, stem=stem)
