"""Finds secrets in bytes and replaces them with the names of their rules.

    bytes ─► text ─► what the detector finds, in whole escapes ─► text with [REDACTED:rule]

The detector undoes escapes and encodings. Here is what depends on the file: bytes that are not UTF-8, the NULs of
UTF-16, which stand between the letters of a key, and that JSON with a secret stays JSON without it.
"""

import hashlib
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from memosite.facts.patterns import regex
from memosite.facts.values import Value
from memosite.secrets import find_secrets

_ESCAPE = regex(r"\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)", re.DOTALL)
_LONGEST_ESCAPE = 6
_BREAK = regex(r"\r?\n\0?|\r\0?|(?<!\\)\\+[nr](?=[\s\S])")
_STRING_END = regex(r'(?>(?:[^"\\\n]|\\.)*)')
_KEY_LINES = regex(
    r"(?>(?:\n[ \t>|#*]*+(?:[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{1,63}={0,2}(?=[ \t\r]*\n[ \t>|#*]*+-----END)"
    r"|[A-Z][A-Za-z-]{2,20}: [^\n]*+|-----END [A-Z ]{0,60}-----|)[ \t\r\\]*+(?=\n|\Z))*)"
)
_KEY_RUN = regex(r"[A-Za-z0-9+/]{40,}={0,2}|-----END[ A-Z]{0,60}-----")
_SURROGATE = regex("[\ud800-\udfff]")
_NULS = regex("\0+")


class Span(Value):
    """Where in a text a secret is, and by which rule; `breaks` are the line breaks in it, as they are written."""

    rule: str
    start: int
    end: int
    breaks: str = ""


def decode(data: bytes) -> str:
    """Bytes as a text in which places are counted; each byte that is not UTF-8 is one character (PEP 383)."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """The bytes of a decoded text."""
    return text.encode("utf-8", "surrogateescape")


def find_spans(text: str) -> tuple[Span, ...]:
    """The secrets of a decoded text, in order and without overlaps."""
    found = [(one.rule, one.start, one.end) for one in find_secrets(_readable(text))]
    if "\0" in text:
        found += _without_nuls(text)
    return tuple(_apart(_span(text, *one) for one in found))


def within_records(text: str, spans: Iterable[Span], *, is_json: bool) -> tuple[Span, ...]:
    """The secrets of a session log, none of which goes on into another record.

    A key without its end is taken to be all that follows. In a log it ends with its string, in Markdown with its lines;
    what looks like a further part of it in the lines behind that is a secret of its own.
    """
    found: list[Span] = []
    for span in spans:
        line = text.find("\n", span.start, span.end)
        if line < 0:
            found.append(span)
            continue
        whole = _STRING_END.match(text, span.start, line) if is_json else _KEY_LINES.match(text, line, span.end)
        end = whole.end() if whole else line
        found.append(_span(text, span.rule, span.start, end))
        found += (_span(text, span.rule, *run.span()) for run in _KEY_RUN.finditer(text, end, span.end))
    return tuple(_apart(found))


def redact(text: str, spans: Iterable[Span]) -> str:
    """A text with the names of rules in the place of secrets. The number of its lines stays the same."""
    parts: list[str] = []
    done = 0
    for span in spans:
        parts += (text[done : span.start], _replacement(span))
        done = span.end
    return "".join((*parts, text[done:]))


def fingerprints(name: str, text: str, spans: Iterable[Span]) -> Iterator[str]:
    """For each span what identifies its place, and nothing that depends on the secret.

    It is made of the rule, the name of the file and the line with its secrets redacted: another secret at the same
    place of the same line has the same one.
    """
    spans = tuple(spans)
    redacted, shift = redact(text, spans), 0
    lines: dict[int, str] = {}
    for span in spans:
        begin = redacted.rfind("\n", 0, span.start + shift) + 1
        if begin not in lines:
            end = redacted.find("\n", begin)
            lines[begin] = _digest(redacted[begin : end if end >= 0 else None].strip())
        yield _digest(f"{span.rule}\0{name}\0{lines[begin]}")[:16]
        shift += len(_replacement(span)) - (span.end - span.start)


def _replacement(span: Span) -> str:
    return f"[REDACTED:{span.rule}]{span.breaks}"


def _digest(text: str) -> str:
    return hashlib.sha256(encode(text)).hexdigest()


def _readable(text: str) -> str:
    """A decoded text, of the same length, that any library takes."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _without_nuls(text: str) -> Iterator[tuple[str, int, int]]:
    """What is found once the NULs are left out, by places in the text."""
    starts, places = array("q", [0]), array("q", [0])
    left_out = 0
    for nuls in _NULS.finditer(text):
        starts.append(nuls.start() - left_out)
        places.append(nuls.end())
        left_out += nuls.end() - nuls.start()

    def place(index: int) -> int:
        piece = bisect_right(starts, index) - 1
        return places[piece] + index - starts[piece]

    for one in find_secrets(_readable(text.replace("\0", ""))):
        yield one.rule, place(one.start), place(one.end - 1) + 1


def _span(text: str, rule: str, start: int, end: int) -> Span:
    """The span of a secret, grown to whole escapes; one that begins in it and does not end in it is not part of it."""
    for escape in _escapes_at(text, start):
        start = escape.start()
    for escape in _escapes_at(text, end):
        end = escape.start() if text[escape.end() - 1] in '"nrt' else escape.end()
    return Span(rule=rule, start=start, end=end, breaks="".join(one[0] for one in _BREAK.finditer(text, start, end)))


def _escapes_at(text: str, place: int) -> Iterator[re.Match[str]]:
    """The escape that a place is in the middle of, if there is one."""
    begin = max(0, place - _LONGEST_ESCAPE)
    while begin and text[begin - 1] == "\\":  # whether a backslash begins an escape depends on those before it
        begin -= 1
    for escape in _ESCAPE.finditer(text, begin, place + _LONGEST_ESCAPE):
        if escape.start() < place < escape.end():
            yield escape
            return


def _apart(spans: Iterable[Span]) -> Iterator[Span]:
    """Spans in order; of those that overlap the first, which is the longest that begins there."""
    end = 0
    for one in sorted(spans, key=lambda span: (span.start, -span.end)):
        if one.start >= end:
            yield one
            end = one.end
