"""Parses file names and the names in references and in texts; makes ids and short subjects from them.

The source of the rules is SPEC 2.2 (folders and names) and SPEC 3 (references, identity, short subject). In references
people write more than a file name: paths, URLs, several names, sentences about them. Which artifact a name stands for
is decided with the whole archive (`resolve/threads.py`).
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Literal
from urllib.parse import unquote

from memosite.facts.patterns import regex
from memosite.facts.texts import cut_line, is_visible, one_line
from memosite.facts.times import Moment, read_stamp
from memosite.facts.values import Value

# Parses file names and references; makes ids and short subjects from them.


ENVELOPE_SUFFIX = ".openthing"
CATALOG_SUFFIX = ".opencatalog"
BODY_SUFFIX = ".body.md"
WITHHELD = "[withheld]"
"""What is written in the place of a name that an audience may not see (SPEC 9)."""

ID_BYTES = 200
"""The longest id, in bytes of UTF-8: a file system takes 255, and a collision adds nine."""

_STAMPED_NAME = regex(r"(?P<stamp>[0-9]{4}-[0-9]{2}-[0-9]{2}(?:-[0-9]{4})?)--(?P<rest>.+)", re.DOTALL)
_STAMP = regex(r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?:-[0-9]{4})?--(?=\w)")
_STAMPED_WORD = regex(r"[\w.-]+(?::-[\w.-]+)*")  # the subject "Re: gate" gives the slug re:-gate
_SUFFIX = regex(rf"{re.escape(ENVELOPE_SUFFIX)}|{re.escape(BODY_SUFFIX)}", re.IGNORECASE | re.ASCII)
_NOT_BARE = regex(r"[/\\\0]|^(?:[a-z]|file|data|urn|mailto|javascript):", re.IGNORECASE | re.ASCII)
_PROSE = regex(r"[\s/\\,;()<>\"\[\]]")
_PROSE_IN_WHOLE = regex(r"[/\\\n(]|[.,;:]\s")
_NO_REPLY = regex(r"\W*not in-reply-to", re.IGNORECASE | re.ASCII)


class StampedName(Value):
    """The parts of a name such as `2026-05-01-1430--engineer--director--gate-is-green`; any may be absent."""

    stamp: str
    sender: str | None
    recipient: str | None
    slug: str

    @property
    def date(self) -> Moment | None:
        """The time of its stamp; most names are read for their other parts."""
        return read_stamp(self.stamp) if self.stamp else None


def stem_of(filename: str) -> str:
    """The bare name without `.openthing` or `.body.md` (else without its last extension)."""
    for suffix in (ENVELOPE_SUFFIX, BODY_SUFFIX):
        if filename.lower().endswith(suffix):
            return filename[: -len(suffix)]
    return filename.rpartition(".")[0] or filename


@lru_cache(maxsize=65_536)
def read_stamped_name(stem: str) -> StampedName:
    """Read the recommended name `YYYY-MM-DD-HHMM--<from>--<to>--<short-subject>`; anything else is all slug.

    Transcripts name only one position, `YYYY-MM-DD-HHMM--<role>--<short-subject>`: the role is the sender.
    """
    match = _STAMPED_NAME.fullmatch(stem)
    if match is None:
        return StampedName(stamp="", sender=None, recipient=None, slug=stem)
    parts = match["rest"].split("--", 2)
    sender = parts[0] if len(parts) > 1 else None
    recipient = parts[1] if len(parts) > 2 else None
    return StampedName(stamp=match["stamp"], sender=sender or None, recipient=recipient or None, slug=parts[-1])


def read_reference(text: str) -> str | None:
    """The stem a reference names, however it is written (SPEC 3, references), in NFC.

    A value that begins "Not in-reply-to" names nothing. Else the first stamped name counts, else the base
    name; without `.openthing` or `.body.md` either way, and without whatever follows these.
    """
    text = unicodedata.normalize("NFC", text).strip()
    if is_denied(text):
        return None
    stamp = _STAMP.search(text)
    name = _stamped_name(text[stamp.start() :]) if stamp else base_name(text)
    return name if name.strip(". ") else None


def _stamped_name(text: str) -> str:
    """The name at the beginning of a text: up to its suffix, else as far as letters, digits and `.`, `_`, `-` go."""
    word = _STAMPED_WORD.match(text)
    end = word.end() if word else 0
    suffix = _SUFFIX.search(text)
    if suffix is not None:
        before = text[: suffix.start()]
        # A name may hold other characters, even spaces if there is nothing else; a sentence is not part of it.
        prose = _PROSE_IN_WHOLE if suffix.end() == len(text) else _PROSE
        if suffix.start() < end or not (prose.search(before) or _STAMP.search(before, end)):
            return before
    return text[:end].rstrip(".-")


def read_stamped_word(text: str, start: int) -> tuple[str, int] | None:
    """The first stamped name at or after `start` of a text without white space, and where it ends; None if none."""
    stamp = _STAMP.search(text, start)
    word = _STAMPED_WORD.match(text, stamp.start()) if stamp else None
    if stamp is None or word is None:
        return None
    suffix = _SUFFIX.search(text, stamp.start())
    if suffix is not None and (suffix.start() <= word.end() or not _STAMP.search(text, word.end(), suffix.start())):
        return text[stamp.start() : suffix.start()], suffix.end()
    is_emphasized = text[stamp.start() - 1 : stamp.start()] == "_"
    stem = word[0].rstrip("._-" if is_emphasized else ".-")
    return stem, stamp.start() + len(stem)


def is_denied(text: str) -> bool:
    """Whether a value says itself that it is no reference: "Not in-reply-to …", or what is left of one (SPEC 9)."""
    return _NO_REPLY.match(text) is not None or text.strip() == WITHHELD


def base_name(text: str) -> str:
    """The last part of a path, less its suffix and whatever follows that."""
    suffix = _SUFFIX.search(text)
    if suffix is None:
        text = text.rstrip("/\\")
    elif suffix.start() > 0 and text[suffix.start() - 1] not in "/\\":
        text = text[: suffix.start()]
    else:
        return ""
    return re.split(r"[/\\]", text)[-1].strip()


def is_bare_name(text: str) -> bool:
    """Whether a reference is a bare file name, as memodef requires: no folder, no drive, no scheme."""
    return text not in {"", ".", ".."} and not _NOT_BARE.search(text)


_PLAIN_ID = regex(rf"[A-Za-z0-9_-][A-Za-z0-9._-]{{0,{ID_BYTES - 1}}}")
"""Names that are ids unchanged, as nearly all are."""

_NOT_IN_ID = regex(r"[^A-Za-z0-9._-]+")


def make_id(stem: str) -> str:
    """The id of a stem (SPEC 3): letters, digits, `.`, `_`, `-`; a hash is added if that changed it.

    The same name in NFC and NFD has one id: the stem is taken in NFC, for the hash too. An id is never empty.
    """
    if _PLAIN_ID.fullmatch(stem):
        return stem
    text = unicodedata.normalize("NFC", stem)
    if text.isascii():
        cleaned = _NOT_IN_ID.sub("-", text).lstrip(".")
    else:
        cleaned = re.sub("\0+", "-", "".join(char if _is_allowed(char) else "\0" for char in text)).lstrip(".")
    if cleaned and cleaned == text and len(cleaned.encode("utf-8")) <= ID_BYTES:
        return cleaned
    beginning = cleaned.encode("utf-8")[: ID_BYTES - 9].decode("utf-8", "ignore")
    return f"{beginning}-{short_hash(text)}"


def _is_allowed(char: str) -> bool:
    if char.isascii():
        return char.isalnum() or char in "._-"
    category = unicodedata.category(char)
    return category[0] == "L" or category == "Nd"


def blob_id(data: bytes, *, like: str = "") -> str:
    """The id that git gives to content: SHA-1 in hex, or SHA-256 if `like` another id that is one."""
    whole = b"blob %d\0" % len(data) + data
    if len(like) == 64:
        return hashlib.sha256(whole).hexdigest()
    return hashlib.sha1(whole, usedforsecurity=False).hexdigest()


def short_hash(text: str) -> str:
    """The first 8 hex digits of the SHA-256 of the text's UTF-8.

    A lone surrogate, which stands for a byte in a file name that is not UTF-8, counts as its three bytes.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


SHORT_SUBJECT = 100
"""The longest short subject, in characters (SPEC 3)."""

NO_SUBJECT = "(no subject)"
"""The subject shown where neither the field nor the name gives one."""

_FILE_NAME = regex(r"[^\W\d_A-Z][^\W_A-Z]*(?:-[^\W_A-Z]+)+")
_CLAUSE_END = regex(r"(?:[.!?;:,](?=\s)|\s+[—–-]{1,2}(?=\s)|\s+(?=\()|[。！？；：，])")
_CLAUSE_LEAST = 24
_SAID_ALOUD = ("!", "?", "！", "？")


def short_subject(subject: str, *, stem: str) -> str:
    """The subject in at most 100 characters and one line, for lists, trees, titles and feeds.

    The subject itself if it is short; else its beginning, up to the end of the first clause that leaves at least
    24 characters; else a cut at a word, with an ellipsis; without a subject, the words of the name's slug, which begin
    as a sentence does.
    """
    slug = one_line(read_stamped_name(stem).slug.replace("-", " ").replace("_", " "))
    for text in (subject, slug[:1].upper() + slug[1:], stem):
        short = _shorten(one_line(text))
        if is_visible(short.rstrip("…")):
            return short
    return NO_SUBJECT


def spoken(title: str) -> str:
    """A title as words, if it is the name of a file: `after-the-county-file` as "After the county file"."""
    return title[:1].upper() + title[1:].replace("-", " ") if _FILE_NAME.fullmatch(title) else title


def _shorten(line: str) -> str:
    if len(line) <= SHORT_SUBJECT:
        return line
    first = _CLAUSE_END.search(line, _CLAUSE_LEAST, SHORT_SUBJECT + 2)
    if first is not None:
        end = first.end() if first[0] in _SAID_ALOUD else first.start()
        clause = line[:end].rstrip(" ,;:")
        if end <= SHORT_SUBJECT and is_visible(clause):
            return clause
    return cut_line(line, SHORT_SUBJECT)


# Reads the names in a reference, such as a value of `in_reply_to` (SPEC 3, references).


NAMES = 100
"""The most names of one value that count."""

Form = Literal["stamped", "file", "document", "stamp"]


class Name(Value):
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

_PIECE = regex(r"(?P<link>\]\()|(?P<open>[(（])|(?P<close>[)）])|[^\s,;()（）<>\"“”„«»\[\]{}|`]+")
_AROUND = ".:!?…*'’‘"
_AROUND_WORD = _AROUND + '`"“”„«»<>[](){}|,;'
_SEPARATOR = regex(r"[/\\]")
_QUERY = regex(r"[?#].*")
_FILE = regex(r"(?P<stem>.*?)(?P<suffix>\.openthing|\.body\.md|\.md)", re.IGNORECASE | re.ASCII)
_WHOLE = regex(r"(?:\S*[/\\])?(?P<stem>[^/\\]+?)(?:\.openthing|\.body\.md)?", re.IGNORECASE | re.ASCII)
_BARE_STAMP = regex(r"(?<![0-9A-Za-z-])[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{4}(?![0-9A-Za-z]|-+\w)")


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
    # for each open parenthesis; one around the target of a Markdown link changes nothing
    is_aside = [False]
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


# What tells the entries of a list file of records apart.


class RecordEntry(Value):
    """What tells an entry of a list file apart from others, in one version of the file.

    `key` is as in `RecordCard`, `section` its part of the list. `said` is a digest of what it says, `written` of that
    with its tags. An entry of equal, not empty `place` that comes as this one goes is an update of it.
    """

    key: str
    section: str
    said: str
    written: str
    place: str = ""
