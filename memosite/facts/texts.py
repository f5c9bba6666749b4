"""Derives from a text, once, what the archive keeps of it: length, summary, mentions, link targets, images, marks.

Mentions are names of files, paths, addresses of files on a forge, ids of records, commits and sessions. Where one is,
the sentence around it can be cut out as plain words.

Marks tell which texts may name a file or a commit, without the text:

    text ─► its runs of letters and digits, of commits' ids the beginning ─► a number of 24 bits each ─► a row

A name that stands alone in a text has each of its runs there as a whole. So a text that has it is found for certain;
of others one in thousands is, too, and has to be read.
"""

import hashlib
import posixpath
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import dropwhile, islice, pairwise
from string import hexdigits
from typing import Final
from urllib.parse import unquote
from zlib import crc32

from memosite.facts.parsed import Text
from memosite.facts.patterns import regex
from memosite.facts.values import Value, replace

# Finds addresses of the web in texts: where one begins and ends in the middle of a sentence.


URL = r"(?<![A-Za-z0-9_\u00c0-\u1fff])(?i:https?)://[^\s<>\"`\u2018-\u201f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20]+"
"""The pattern of an address, with the punctuation that may follow it; see `without_punctuation`."""

LINES = regex(r"#(?:L|lines-)([0-9]{1,9})(?:C[0-9]{1,9})?(?:[-:]L?[0-9]{1,9}(?:C[0-9]{1,9})?)?(?![\w-])")
"""The fragment by which forges name lines of a file: `#L7`, `#L7-L9`, `#lines-7:9`."""

_URL = regex(URL)
_URL_REST = regex(r"://[^\s<>\"`]+")  # begins with a literal character: `re` finds those many times faster
_FILE_PAGE = regex(r"//raw\.githubusercontent\.com/|/(?:blob|raw|tree|src|blame|edit|media|annotate)/")
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
    for rest in _URL_REST.finditer(text):
        if not _FILE_PAGE.search(rest[0]):
            continue
        for scheme in _SCHEMES:
            url = _URL.match(text, max(0, rest.start() - scheme))
            if url is not None:
                yield url.start(), url.start() + len(without_punctuation(url[0]))
                break


# Images of a source's own repo that texts show: which files they may be (SPEC 4).


IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif")
"""The endings of files that are looked at; their format is told by their bytes."""

_ELSEWHERE = regex(r"[a-zA-Z][a-zA-Z0-9+.-]+:|//")


def is_elsewhere(written: str) -> bool:
    """Whether a destination is no path of a file, but an address with a scheme or a host."""
    return _ELSEWHERE.match(written.strip()) is not None


def image_place(written: str, folder: str) -> str | None:
    """The path in its source that a destination names, as seen from the folder of its text; None if it leads out.

    A path that begins with a slash is seen from the source's root, as forges do.
    """
    path = unquote(re.split(r"[?#]", written.strip(), maxsplit=1)[0]).replace("\\", "/")
    place = posixpath.normpath(path.lstrip("/") if path.startswith("/") else posixpath.join(folder, path))
    return None if is_elsewhere(written) or place == ".." or place.startswith(("../", "/")) else place


# Finds paths without an extension in texts: `memos/inbox/<stem>`, `decisions/gate`.


_SEGMENT = r"A-Za-z0-9_\u00aa\u00b5\u00ba\u00c0-\u1fff~@%"
WORD = rf"{_SEGMENT}/\\"
"""What continues a path or a word: ASCII and the alphabets. Scripts without spaces do not, so that a name is found in
the middle of a Chinese sentence."""

MESSAGE_FOLDERS = ("memos", "notes", "transcripts")
"""The names of folders below which a name is that of a memo, a note or a transcript."""

_LOOK_BACK = 300
_NOT_OF_PATH = regex(rf"[^{WORD}.:-]|:(?![/\\])")
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


SUMMARY = 240
"""The longest summary, in characters."""

_BEGINNING = 6_000
"""In so many characters of a text its summary is found."""

MENTIONS = 10_000
"""The most mentions, and the most destinations, that are read off one text."""

IMAGES = 200
"""The most images that are read off one text."""

_Span = tuple[int, int]

IdForm = tuple[str, re.Pattern[str]]
"""A form of the ids of records: the least common part of each, by which it is sought, and what it is from there on.

Texts are long, and few name a record: only where a text has the part, the pattern is searched for.
"""

_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")
_BREAK = r"\s`'\"()<>\[\]{}|,;*!?“”‘’«»=—、。，；：！？（）「」『』【】《》"


# Patterns searched for in whole texts begin with a literal character: `re` finds those many times faster.
_SUFFIX = r"\.(?:openthing|opencatalog|md)"
_SUFFIXED = regex(rf"{_SUFFIX}(?:{_SUFFIX})*(?![A-Za-z0-9_-]|\.[A-Za-z0-9])", re.IGNORECASE | re.ASCII)
_BREAKS = regex(rf"[{_BREAK}]")
_COLON = regex(r":(?![/\\])")
_STAMP = r"(?<![A-Za-z0-9-])[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{4}--"
_STAMP_START = regex(_STAMP)
_STAMP_CHARS = len("2026-03-09-0950--")
_STAMP_END = regex(rf"--(?<={_STAMP})")
_STAMPED = regex(r"[\w.-]{1,250}(?::-[\w.-]{1,250})?")  # the subject "Re: gate" gives the slug re:-gate
_DRIVE_PATH = regex(rf":[/\\][^{_BREAK}:]{{1,{_LOOK_BACK}}}")
_ROOTED_PATH = regex(rf"/[\w.@+-]{{1,100}}/[\w.@+/-]{{0,{_LOOK_BACK}}}")
_COMMIT = regex(r"`([0-9a-f]{7,64})(?=`)")
_SESSION = regex(
    r"(?<![\w./\\-])[0-9A-Fa-f]{4}"
    r"(?:[0-9A-Fa-f]{4}[0-9A-Fa-f-]{0,28}(?:\.agent-[\w-]{1,60})?|(?:-[0-9A-Fa-f]{4}){0,2}-[0-9A-Fa-f]{12})"
    r"(?<!-)(?![\w/\\-]|\.\w)"
)
_HEX_DIGITS = bytes(ord("h" if chr(code) in hexdigits else " ") for code in range(256))
_RECORD_START = regex(r"(?<![\w./\\-])[\w-]{0,100}(?:\.[\w-]{1,100}){0,4}\.?\Z")
_RECORD_BEFORE = 250
_OPENING = frozenset(" \t\n`'\"(<[{|“‘«（「")
_TARGET = r"(?:<([^<>\n]{1,1000})>|([^()\s<>]{1,1000}(?:\([^()\s<>]{0,200}\)[^()\s<>]{0,200}){0,5}))"
_INLINE = rf"\]\([ \t]{{0,20}}\n?[ \t]{{0,20}}{_TARGET}"
_INLINE_DESTINATION = regex(_INLINE)

_DESTINATION = regex(
    _INLINE + rf"|^ {{0,3}}\[[^\]\n^][^\]\n]{{0,200}}\]:[ \t]{{0,20}}\n?[ \t]{{0,20}}{_TARGET}", re.MULTILINE
)


# The target of an image, after a text that may hold links; or the label of its definition.
_ALT = r"!\[((?:[^\[\]]|\[[^\[\]]{0,300}\](?:\([^()\s]{0,300}\))?){0,500})"
_IMAGE = regex(rf"{_ALT}(?:{_INLINE}|\](?:\[([^\[\]]{{0,300}})\])?)")

_DEFINITION = regex(rf"^ {{0,3}}\[([^\]\n^][^\]\n]{{0,200}})\]:[ \t]{{0,20}}\n?[ \t]{{0,20}}{_TARGET}", re.MULTILINE)

_NOT_HERE = ("http:", "https:", "mailto:", "#")
_FRONTMATTER = regex(r"\A---\n[\w-]+:.*?\n---\n", re.DOTALL)

_BLOCK_MARK = regex(r"^[ \t]*(?:#{1,6}(?:[ \t]+|$)|[>*+-][ \t]+|\d{1,9}[.)][ \t]+|==+[ \t]*|\||`{3,}.*)", re.MULTILINE)

_INLINE_MARK = regex(
    r"(?=[`!\[_*\\])(?:"  # the first characters of all of them: five times faster
    r"(?P<ticks>`{1,3})(?P<code>[^`\n]{1,300})(?P=ticks)"
    r"|!?\[(?P<label>[^\[\]\n]{0,300})\]\([^)\s]{0,1000}\)"
    r"|(?<!\w)__(?P<strong>[^_\n]{1,300})__(?!\.?\w)"
    r"|(?<![\w/*])(?P<stars>\*|\*{3})(?P<slanted>[^\s*](?:[^*\n]{0,300}[^\s*])?)(?P=stars)(?!\w)"
    r"|(?<!\w)_(?P<underlined>[^\s_](?:[^_\n]{0,300}[^\s_])?)_(?!\w)"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|\*\*(?!/)|`+)"
)
_WIKI_LINK = regex(r"!?(?P<is_entity>@)?\[\[(?P<to>[^\[\]|\n]{1,200})(?:\|(?P<label>[^\[\]\n]{1,200}))?\]\]")

TABLE_RULE = regex(r"-\s?:?\|\s?:?-")
"""What is left of the line below the head of a table, in a summary."""

_RULE = regex(r"^[ \t]*(?:[-*_=]{3,}|==+)[ \t]*$|[ \t]==+[ \t]*$", re.MULTILINE)


def describe_text(text: str, ids: Sequence[IdForm]) -> tuple[Text, bytes]:
    """The metadata of a text, and its bytes for the shelf. The text must be clean (LF, no surrogates).

    `ids` are the forms that ids of records have (`formats/systems.py`).
    """
    data = text.encode("utf-8")
    known = Text(
        sha256=hashlib.sha256(data).hexdigest(),
        chars=len(text),
        summary="",
        mentions=find_mentions(text, ids),
        destinations=find_destinations(text),
        sessions=find_sessions(text),
        images=find_images(text),
    )
    return of_which_is_said(known, without_comments(text[:_BEGINNING])), data


def without_comments(text: str) -> str:
    """A text without its HTML comments, which pages do not show; in linear time."""
    parts: list[str] = []
    at = 0
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin + 2)) >= 0:
        parts.append(text[at:begin])
        at = end + 3
    return "".join((*parts, text[at:]))


def of_which_is_said(known: Text, said: str) -> Text:
    """The metadata of a text of which lists and citations say only this: the rest are fields of its page."""
    summary, opening = summarize(said), first_words(said)
    return replace(known, summary=summary, opening="" if opening == summary else opening)


def first_words(text: str) -> str:
    """The beginning of a text as one plain line of at most 240 characters, with every word, as a citation quotes it."""
    head = _behind_table(_FRONTMATTER.sub("", text[:_BEGINNING]).lstrip())[:800]
    head = _INLINE_MARK.sub(_plain, _BLOCK_MARK.sub("", _RULE.sub("", head)))
    return cut_line(head, SUMMARY)


def _behind_table(text: str) -> str:
    """A text from behind the table or the block of code that it begins with; all of it if nothing is there."""
    lines = text.split("\n", 200)
    behind, code, is_in_table = 0, "", False
    for number, line in enumerate(map(str.strip, lines)):
        is_fence = line.startswith(code or ("```", "~~~"))
        rule = lines[number + 1] if "|" in line and number + 1 < len(lines) else ""
        is_in_table = line.startswith("|") or ("|" in line and (is_in_table or bool(TABLE_RULE.search(rule))))
        if is_fence or code or is_in_table:
            code = code if not is_fence else "" if code else line[:3]
            behind = number + 1
        elif line and not line.startswith(("#", "==")):
            return "\n".join(lines[behind:]).lstrip() if behind else text
    return text


def plain_line(text: str) -> str:
    """A piece of Markdown as one plain line."""
    line = one_line(_BLOCK_MARK.sub("", _RULE.sub("", text)))
    return one_line(_INLINE_MARK.sub(_plain, _INLINE_MARK.sub(_plain, line)))  # a label may hold code


def _plain(match: re.Match[str]) -> str:
    if said := match["slanted"] or match["underlined"]:
        return _INLINE_MARK.sub(_plain, said)
    return match["code"] or match["label"] or match["strong"] or match["escaped"] or ""


def one_line(text: str) -> str:
    """A text as one line: white space and control characters as single spaces."""
    if text.isprintable() and "  " not in text:  # most are one line already: there is no other white space in them
        return text.strip(" ")
    line = " ".join(text.split())
    return line if line.isprintable() else " ".join(line.translate(_CONTROLS).split())  # few hold control characters


def is_visible(text: str) -> bool:
    """Whether a text shows anything at all: white space, control and format characters do not."""
    return any(not (char.isspace() or unicodedata.category(char) in {"Cc", "Cf", "Cs"}) for char in text)


def cut_line(text: str, limit: int, *, is_prose: bool = False) -> str:
    """A text as one line of at most `limit` characters, cut at a word, with an ellipsis if anything was cut.

    In prose the ellipsis stands apart from a full stop.
    """
    line = one_line(text)
    if len(line) <= limit:
        return line
    cut = line.rfind(" ", 0, limit)
    if cut <= limit // 2:
        cut = limit - 1
        while cut > limit // 2 and _are_one(line[cut - 1], line[cut]):
            cut -= 1
    kept = line[:cut].rstrip(" ,;:-–—·" if is_prose else " ,;:-–—")
    return f"{kept} …" if is_prose and kept[-1:] in ".!?" and len(kept) + 2 <= limit else f"{kept}…"


def beginning(text: str, limit: int) -> str:
    """The beginning of a text, of at most so many characters, cut after a paragraph, a line or a word."""
    if limit <= 0:
        return ""
    if limit >= len(text):
        return text
    for mark in ("\n\n", "\n", " "):
        end = text.rfind(mark, 0, limit)
        if end > limit * 3 // 4:
            return text[: end + len(mark)]
    return text[:limit]


def shared_room(sizes: Sequence[int], room: int) -> list[int]:
    """How many characters of each text have room: an equal share, and what others leave of theirs to the first ones."""
    given = [min(size, room // len(sizes)) for size in sizes]
    left = room - sum(given)
    for place, size in enumerate(sizes):
        more = min(size - given[place], left)
        given[place] += more
        left -= more
    return given


def listed(names: Sequence[str], limit: int, *, chars: int = 0) -> str:
    """Names as a line: of more than `limit` the first ones, and how many more there are; each of at most `chars`."""
    shown = ", ".join([cut_line(name, chars) for name in names[:limit]] if chars else names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown


def counted(number: int, noun: str, form: str = "") -> str:
    """A number of something, in this form (`,` groups its digits): `1 memo`, `2 memos`, `3 libraries`."""
    many = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{number:{form}} {noun if number == 1 else many}"


def _are_one(before: str, char: str) -> bool:
    """Whether two characters belong to one visible character (marks, joiners, skin tones) and must not be cut apart."""
    is_mark = unicodedata.category(char) in {"Mn", "Me", "Mc"} or "\U0001f3fb" <= char <= "\U0001f3ff"
    return is_mark or "\u200d" in (before, char)


def find_mentions(text: str, ids: Sequence[IdForm]) -> tuple[str, ...]:
    """File names, stamped ids, paths, and URLs of files on a forge, as written, in order, each once, up to `MENTIONS`.

    Paths are those to envelopes, catalogs or Markdown files, without their extension if their folders tell what they
    are, and those that begin at a drive or a root. Ids are also
    those that records may have, by their forms, and those of commits, in code spans.
    """
    return tuple(dict.fromkeys(text[start:end] for start, end in mention_spans(text, ids)))[:MENTIONS]


def find_sessions(text: str) -> tuple[str, ...]:
    """Words that may be ids of sessions or the beginnings of some, as written, in order, each once, up to `MENTIONS`.

    They begin with 8 hex digits, or are the last groups of a UUID.
    """
    return tuple(dict.fromkeys(text[start:end] for start, end in session_spans(text)))[:MENTIONS]


def mention_spans(text: str, ids: Sequence[IdForm]) -> list[_Span]:
    """Where in a text its mentions are, in order; `session_spans` has those of sessions."""
    spans = list(file_page_spans(text))
    for found in (
        _suffixed_spans(text),
        _stamped_spans(text),
        _drive_spans(text),
        _rooted_spans(text),
        folder_spans(text),
        _record_spans(text, ids),
        _commit_spans(text),
    ):
        spans = _with_others(spans, found)
    return spans


def _suffixed_spans(text: str) -> Iterator[_Span]:
    last = 0
    for match in _SUFFIXED.finditer(text):
        start = max(last, match.start() - _LOOK_BACK)
        before = _BREAKS.split(text[start : match.start()])[-1]
        if ":" in before:
            stamp = _STAMP_START.search(before)
            colons = list(_COLON.finditer(before, 0, stamp.start() if stamp else len(before)))
            before = before[colons[-1].end() :] if colons else before
        lines = LINES.match(text, match.end())
        last = lines.end() if lines else match.end()
        if before.strip("./\\"):
            yield match.start() - len(before), last


def _stamped_spans(text: str) -> Iterator[_Span]:
    last = 0
    for stamp in _STAMP_END.finditer(text):
        start = stamp.end() - _STAMP_CHARS
        match = _STAMPED.match(text, stamp.end()) if start >= last else None
        if match is not None:
            last = match.end()
            begin = path_start(text, start)
            is_emphasized = begin > 0 and text[begin - 1] == "_"
            yield begin, start + len(text[start:last].rstrip("._-" if is_emphasized else ".-"))


def _drive_spans(text: str) -> Iterator[_Span]:
    for match in _DRIVE_PATH.finditer(text):
        drive = match.start() - 1
        if drive < 0 or not (text[drive].isascii() and text[drive].isalpha()) or text[drive - 1 : drive].isalnum():
            continue
        yield drive, match.start() + len(match[0].rstrip("."))


def _rooted_spans(text: str) -> Iterator[_Span]:
    for match in _ROOTED_PATH.finditer(text):
        start = match.start() - 1 if text[match.start() - 1 : match.start()] == "~" else match.start()
        if start == 0 or text[start - 1] in _OPENING:
            yield start, match.start() + len(match[0].rstrip("."))


def _commit_spans(text: str) -> Iterator[_Span]:
    for match in _COMMIT.finditer(text):
        if not match[1].isdigit():
            yield match.span(1)


def session_spans(text: str) -> Iterator[_Span]:
    """Where in a text the words are that may be ids of sessions. Most texts have no 8 hex digits in a row."""
    may_have = b"h" * 8 in text.encode("utf-8", "replace").translate(_HEX_DIGITS)
    return (match.span() for match in _SESSION.finditer(text)) if may_have else iter(())


def _record_spans(text: str, ids: Sequence[IdForm]) -> Iterator[_Span]:
    """Matches with the form of a record's id; `resolve` finds whether there is such a record."""
    found: dict[int, int] = {}
    for part, pattern in ids:
        for match in islice(pattern.finditer(text), 2 * MENTIONS) if part in text else ():
            least = max(0, match.start() - _RECORD_BEFORE)
            before = _RECORD_START.search(text[least : match.start()])
            if before is not None:
                start = least + before.start()
                found[start] = max(found.get(start, 0), match.start() + len(match[0].rstrip("-")))
    yield from sorted(found.items())


def _with_others(spans: list[_Span], others: Iterable[_Span]) -> list[_Span]:
    """Both in order; a span of the others that overlaps one of the first is dropped."""
    starts = [start for start, _ in spans]
    added: list[_Span] = []
    for start, end in others:
        index = bisect_right(starts, start)
        before = max(spans[index - 1][1] if index else 0, added[-1][1] if added else 0)
        if before <= start and (index == len(spans) or end <= starts[index]):
            added.append((start, end))
    return sorted(spans + added) if added else spans


def find_destinations(text: str) -> tuple[str, ...]:
    """The targets of Markdown links as written, in order, each once; those with a web scheme are left out."""
    targets = (text[start:end] for start, end in destination_spans(text))
    return tuple(dict.fromkeys(target for target in targets if not target.lower().startswith(_NOT_HERE)))[:MENTIONS]


def find_images(text: str) -> tuple[str, ...]:
    """The targets of Markdown images as written, in order, each once, up to `IMAGES`."""
    if "![" not in text:
        return ()
    defined: dict[str, str] = {}
    for match in _DEFINITION.finditer(text) if "]:" in text else ():
        defined.setdefault(one_line(match[1]).casefold(), match[2] or match[3])
    found: dict[str, None] = {}
    for match in _IMAGE.finditer(text):
        label = one_line(match[4] or match[1]).casefold()
        target = match[2] or match[3] or defined.get(label)
        if target:
            found[target] = None
    return tuple(found)[:IMAGES]


def destination_spans(text: str) -> Iterator[_Span]:
    """Where in a text the targets of its Markdown links are, in order."""
    pattern = _DESTINATION if "]:" in text else _INLINE_DESTINATION
    for match in pattern.finditer(text):
        yield match.span(match.lastindex or 0)


# Says in one line what a text is about, as rows of lists do.


_UNDERLINE: Final = regex(r"={2,}|-{3,}")
_HEADING: Final = regex(r"#{1,6}(?:[ \t]+|\Z)|={2,}[ \t]*(?=[^=])")
_ITEM: Final = regex(r"(?:[*+-]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_CALLOUT: Final = regex(r"\[![A-Za-z]+\]")
_FIELD: Final = regex(
    r"(?:\*\*|__)?(?:status|state|disposition|date|from|to|cc|subject|re|authors?|owner|deciders?|supersedes|replaces"
    r"|decided(?:[ _-](?:by|on))?|(?:approved|ratified|proposed|superseded|replaced)[ _-]by|type|version|tags?|labels?"
    r"|in[ _-]reply[ _-]to|(?:last[ _-])?updated|created|priority|session|thread|origin|proposal)"
    r"(?:\*\*|__)? *: *(?:\*\*|__)?.{0,160}",
    re.IGNORECASE | re.ASCII,
)
_ENDED: Final = regex(r"[.!?:;,…。！？：；，、][\"'”’»)\]]*\Z")
_SAYS: Final = ("text", "item")
_FENCES: Final = ("```", "~~~")

_Block = tuple[str, list[str]]
"""What a block is, and its lines without the marks of what it is. Code is called by its fence."""


def summarize(text: str) -> str:
    """What a text says first, as one plain line of at most 240 characters.

    Headings, fields such as `Status: open`, tables and code before the first sentence are no part of it, unless there
    is nothing else. A heading between sentences ends in a colon, a block without a full stop in a point; for a table or
    code there is an ellipsis.
    """
    every = list(_blocks(text))
    said = list(_behind_head(every)) or [("text", _cells(lines) if kind == "table" else lines) for kind, lines in every]
    return cut_line(_joined(said), SUMMARY, is_prose=True)


def _blocks(text: str) -> Iterator[_Block]:
    """The blocks with which a text begins."""
    kind, block, chars = "", list[str](), 0
    lines = [line.strip() for line in _FRONTMATTER.sub("", text[:_BEGINNING]).lstrip().split("\n")]
    for line, below in pairwise([*lines, ""]):
        begun, words = _read_line(line, below, kind)
        if begun is not None:
            if block:
                yield kind, block
                chars += sum(map(len, block)) if kind in _SAYS else 0
            kind, block = begun, []
        if words:
            block.append(words)
        if chars > 2 * SUMMARY:
            return
    if block:
        yield kind, block


def _read_line(line: str, below: str, kind: str) -> tuple[str | None, str]:
    """What begins with a line, None if the block of this kind goes on with it; and the words of the line."""
    if kind in _FENCES:
        return ("", "") if line.startswith(kind) else (None, line)
    if line.startswith(">"):
        line = line.lstrip("> \t")
        line = "" if _CALLOUT.fullmatch(line) else line
    if line[:3] in _FENCES:
        return line[:3], ""
    if not line or _RULE.fullmatch(line):
        return "", ""
    if line.startswith("|") or ("|" in line and (kind == "table" or TABLE_RULE.search(below))):
        return None if kind == "table" else "table", line
    if (match := _HEADING.match(line)) and (line[0] == "#" or line.endswith("==")):
        words = line[match.end() :]
        bare = words.rstrip(line[0])
        return "heading", bare.strip() if line[0] == "=" or not bare.strip() or bare[-1].isspace() else words
    if match := _ITEM.match(line):
        return "item", line[match.end() :]
    if kind not in _SAYS and _UNDERLINE.fullmatch(below):
        return "heading", line
    return None if kind in _SAYS else "text", line


def _behind_head(blocks: Iterable[_Block]) -> Iterator[_Block]:
    """The blocks from the first sentence on."""
    is_head = True
    for kind, lines in blocks:
        said = list(dropwhile(_FIELD.fullmatch, lines)) if is_head and kind in _SAYS else lines
        is_head = is_head and not (kind in _SAYS and said)
        if said and not is_head:
            yield kind, said


def _cells(lines: Iterable[str]) -> list[str]:
    """The cells of a table, as one line."""
    cells = (one_line(cell) for line in lines for cell in line.split("|"))
    return [" · ".join(cell for cell in cells if cell.strip(":- "))]


def _joined(blocks: Iterable[_Block]) -> str:
    line = heading = ""
    for kind, lines in blocks:
        words = " ".join(lines)
        words = one_line(_INLINE_MARK.sub(_plain, _WIKI_LINK.sub(_name_of, words) if "[[" in words else words))
        if kind == "heading":
            heading = words
        elif kind not in _SAYS:
            line += "" if line.endswith("…") else " …"
        elif words:
            said = f"{heading}{'' if _ENDED.search(heading) else ':'} {words}" if heading else words
            line = f"{line}{'' if _ENDED.search(line) else ' ·'} {said}" if line else said
            heading = ""
    return line


def _name_of(link: re.Match[str]) -> str:
    """What a wiki link calls its target; one to an entity has its type behind the bar."""
    return (link["to"] if link["is_entity"] else link["label"] or link["to"]).strip("# ")


# Finds the sentence around a place in a piece of Markdown, as plain words.


CHARS: Final = 240
"""About the longest sentence that is shown, in characters; the words in the middle are always there."""

_NEAR: Final = 1_500
_WORDS: Final = 160
_FIRST, _LAST = "\ue000", "\ue001"
_OWN: Final = str.maketrans(_FIRST + _LAST, "  ")
_STOP = regex(r"(?:(?<!\b[A-Za-z])\.|[!?…])[\"'”’»)]{0,3}(?=\s|\Z)|[。！？]")


class Sentence(Value):
    """A sentence with some of its words marked; one that was cut has an ellipsis. `marked` may be ""."""

    before: str = ""
    marked: str = ""
    after: str = ""

    @property
    def line(self) -> str:
        """All of it."""
        return self.before + self.marked + self.after


def sentence_around(block: str, start: int, end: int) -> Sentence:
    """The sentence of a block that has the characters from `start` to before `end`, with these marked."""
    first = max(0, start - _NEAR)
    pieces = (block[first:start], block[start:end], block[end : end + _NEAR])
    before, marked, after = (piece.translate(_OWN) for piece in pieces)
    line = plain_line(_WIKI_LINK.sub(_name_with_marks, f"{before}{_FIRST}{marked}{_LAST}{after}"))
    before, found, rest = line.partition(_FIRST)
    marked, ended, after = rest.partition(_LAST)
    if not (found and ended and marked):
        return Sentence(before=cut_line(line.translate(_OWN), CHARS))
    stops = list(_STOP.finditer(before))
    before = before[stops[-1].end() :] if stops else before
    stop = _STOP.search(after)
    after = after[: stop.end()] if stop else after
    marked = cut_line(marked, _WORDS)
    before, after = before.lstrip(), after.rstrip()
    room = CHARS - len(marked)
    return Sentence(
        before=_tail(before, max(room // 2, room - len(after))),
        marked=marked,
        after=_head(after, max(room // 2, room - len(before))),
    )


def _name_with_marks(link: re.Match[str]) -> str:
    """What a wiki link calls its target; all of the link where that has not the marks of what is sought."""
    name = _name_of(link)
    return name if all(name.count(mark) == link[0].count(mark) for mark in (_FIRST, _LAST)) else link[0]


def _tail(text: str, limit: int) -> str:
    """The end of a text, from a word on."""
    if len(text) <= limit:
        return text
    cut = text.find(" ", len(text) - limit)
    return f"… {text[cut + 1 :]}" if 0 <= cut < len(text) - 1 else f"…{text[-limit:]}"


def _head(text: str, limit: int) -> str:
    """The beginning of a text, up to a word."""
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", 0, limit)
    return f"{text[:cut]} …" if cut > 0 else f"{text[:limit]}…"


# Tells which texts may name a file or a commit, by a row of each text, without the text.


BEGINNING: Final = 7
"""By how many characters the id of a commit is found: no shorter ones count as ids."""

_RUNS: Final = regex(r"[0-9A-Za-z]+")
_ID: Final = regex(r"[0-9a-f]{7,}")


def make_row(text: str) -> bytes:
    """The marks of a text, in order."""
    return b"".join(sorted(marks_of(text)))


def marks_of(text: str) -> set[bytes]:
    """The marks of a text; a row that has all those of a name may be of a text with that name.

    The name is a file's, or the beginning of a commit's id. One without letters and digits of ASCII has no marks, and
    may be in any text.
    """
    runs = set(_RUNS.findall(text))
    shortened = {run[:BEGINNING] if len(run) > BEGINNING and _ID.fullmatch(run) else run for run in runs}
    return {crc32(run.encode()).to_bytes(4)[1:] for run in shortened}
