"""Tells an edit of a memo's file in words, and what changed in its text word by word, within bounds (SPEC 4).

file before, file after ─► envelopes ─► what a person would say of it: closed by whom, which recipient was added
                       └─► texts ─► changed words, with the lines around them
"""

import difflib
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from html import escape
from typing import Final, Literal, TypeAlias

from memosite.facts.file import File
from memosite.facts.json_text import read_json_text
from memosite.facts.parsed import Envelope
from memosite.facts.patterns import regex
from memosite.facts.phrases import phrase, phrases
from memosite.facts.texts import beginning, cut_line, listed
from memosite.facts.values import Value
from memosite.formats.adapters import parse
from memosite.render.difference import CHARS, LINES, equal_ends

_AROUND: Final = 200
"""The most characters that are shown of a line that did not change."""


_REFINED: Final = 100_000
"""How many pairs of words are compared in all, between what stays before and behind a change."""


_WORD = regex(r"\s+|\S+")


Piece: TypeAlias = tuple[str, Literal["same", "ins", "del"]]


class Told(Value):
    """An edit: sentences, and the lines of the text around what changed, in pieces; a line without any is a gap.

    `is_cut` says that not all of it is shown or was compared, `is_envelope` that more than the text is in the file.
    """

    is_envelope: bool
    said: tuple[str, ...]
    text: tuple[tuple[Piece, ...], ...]
    is_cut: bool

    @property
    def bytes(self) -> int:
        """About how many bytes it takes as HTML, at most."""
        return 60 * len(self.said) + sum(map(_size, map(_alone, self.said))) + sum(map(_size, self.text))


def _alone(words: str) -> tuple[Piece, ...]:
    return ((words, "same"),)


def _size(line: tuple[Piece, ...]) -> int:
    return sum(40 + len(escape(words).encode("utf-8", "replace")) for words, _ in line)


def tell(path: str, before: str, after: str, *, limit: int, of_copies: bool = False) -> Told:
    """What an edit of the file at `path` changed, in at most `limit` bytes of HTML beside the sentences.

    If it is `of_copies`, what the one of two copies, which is shown, has otherwise than the other.
    """
    (was, old), (now, new) = _read(path, before), _read(path, after)
    said = list(_said(was, now)) if was and now else []
    lines, is_cut = _lines(old, new)
    if (was is None) != (now is None):
        said, lines = [_INVALID[of_copies][now is None]], []
    said += _counted(lines)
    if not said:
        said = [_SAME_WORDS[of_copies]]
    shown = []
    for line in lines:
        limit -= _size(line)
        if limit < 0:
            is_cut = True
            break
        shown.append(line)
    return Told(is_envelope=bool(was or now), said=tuple(said), text=tuple(shown), is_cut=is_cut)


_INVALID = (
    (phrase("An invalid file became valid"), phrase("The file became invalid")),
    (phrase("That copy is not a valid memo file"), phrase("The copy above is not a valid memo file")),
)
_SAME_WORDS = (
    phrase("No word changed: only spaces, line ends, or the order of fields"),
    phrase("No word differs: only spaces, line ends, or the order of fields"),
)
"""What is said of an edit, and of two copies."""


def _read(path: str, content: str) -> tuple[Envelope | None, str]:
    """The envelope of a file if it is one, and its text."""
    parsed = parse(File(source="", path=path, data=content.encode("utf-8", "surrogatepass")))
    fact = parsed.fact
    if not isinstance(fact, Envelope) or fact.shape not in ("typed", "legacy"):
        return None, content
    texts = {sha256(data).hexdigest(): data for data in parsed.shelve} if fact.body else {}
    text = texts.get(fact.body.sha256, b"") if fact.body else b""
    return fact, text.decode("utf-8", "replace")


# What a person would say of two envelopes.


_NAMED, _NAME, _VALUE = 5, 80, 160


_LISTS: Final[Sequence[tuple[str, Callable[[str], str], Callable[[str], str]]]] = (
    (
        "to",
        lambda names: phrase("Recipient added: {names}", names=names),
        lambda names: phrase("Recipient removed: {names}", names=names),
    ),
    (
        "in_reply_to",
        lambda names: phrase("Replies to {names} now", names=names),
        lambda names: phrase("No longer replies to {names}", names=names),
    ),
    (
        "supersedes",
        lambda names: phrase("Supersedes {names} now", names=names),
        lambda names: phrase("No longer supersedes {names}", names=names),
    ),
    (
        "related",
        lambda names: phrase("Related memo added: {names}", names=names),
        lambda names: phrase("Related memo removed: {names}", names=names),
    ),
    (
        "tags",
        lambda names: phrase("Tag added: {names}", names=names),
        lambda names: phrase("Tag removed: {names}", names=names),
    ),
)
"""Fields with several names: what is said of those that came, and of those that went."""


def _said(was: Envelope, now: Envelope) -> Iterator[str]:
    yield from _closing(was, now)
    if was.action_required != now.action_required:
        yield phrase("An action is requested now") if now.action_required else phrase("No action is requested any more")
    for field, added, removed in _LISTS:
        old, new = getattr(was, field), getattr(now, field)
        if come := [name for name in new if name not in set(old)]:
            yield added(_names(come))
        if gone := [name for name in old if name not in set(new)]:
            yield removed(_names(gone))
    speakers, others = ([one.position for one in each.participants] for each in (was, now))
    if come := [name for name in others if name not in speakers]:
        yield phrase("Participant added: {names}", names=_names(come))
    if gone := [name for name in speakers if name not in others]:
        yield phrase("Participant removed: {names}", names=_names(gone))
    for name, before, after in (
        (phrase("Subject"), was.subject, now.subject),
        (phrase("Sender"), was.sender, now.sender),
        (phrase("Date"), was.sent_text, now.sent_text),
        (phrase("Thread"), was.thread_id, now.thread_id),
        (phrase("End"), was.ended and was.ended.shown, now.ended and now.ended.shown),
        (phrase("Body file"), was.body_ref, now.body_ref),
        (phrase("Session"), was.session, now.session),
        (phrase("Transport"), was.transport, now.transport),
        (phrase("Capture tool"), was.capture_tool, now.capture_tool),
        (phrase("Redaction"), was.redaction_status, now.redaction_status),
    ):
        if before != after:
            yield _changed(name, before or "", after or "")
    yield from _others(was.extra, now.extra)


def _closing(was: Envelope, now: Envelope) -> Iterator[str]:
    if was.discharge == now.discharge:
        return
    if now.discharge is None:
        yield phrase("Opened again")
        return
    who, day = cut_line(now.discharge.by or "", _NAME), cut_line(now.discharge.on or "", _NAME)
    if who and day:
        yield phrase("Closed by {who} on {day}", who=who, day=day)
    elif who:
        yield phrase("Closed by {who}", who=who)
    else:
        yield phrase("Closed on {day}", day=day) if day else phrase("Closed")
    if now.discharge.disposition:
        yield phrase("Closing note: “{words}”", words=cut_line(now.discharge.disposition, _VALUE))
    if now.discharge.via:
        yield phrase("Closed through {name}", name=cut_line(now.discharge.via, _VALUE))


def _names(names: Sequence[str]) -> str:
    return listed([cut_line(name, _NAME) for name in names], _NAMED)


def _changed(name: str, before: str, after: str) -> str:
    old, new = cut_line(before, _VALUE), cut_line(after, _VALUE)
    if not before:
        return phrase("{name} added: “{new}”", name=name, new=new)
    if not after:
        return phrase("{name} removed: “{old}”", name=name, old=old)
    return phrase("{name} changed from “{old}” to “{new}”", name=name, old=old, new=new)


def _others(before: str, after: str) -> Iterator[str]:
    """Of fields that memosite does not use, which were added, removed or changed."""
    was, now = (read_json_text(text)[0] if text else {} for text in (before, after))
    if before == after or not isinstance(was, dict) or not isinstance(now, dict):
        return
    old, new = _flat(was), _flat(now)
    come = [name for name in new if name not in old]
    gone = [name for name in old if name not in new]
    other = [name for name in new if name in old and new[name] != old[name]]
    if come:
        yield phrase("Other field added: {names}", names=_names(come))
    if gone:
        yield phrase("Other field removed: {names}", names=_names(gone))
    if other:
        yield phrase("Other field changed: {names}", names=_names(other))


def _flat(fields: dict[str, object]) -> dict[str, object]:
    """The fields, those of a field by their names behind its own; without what was told."""
    inner = {
        f"{name}.{key}": value
        for name, values in fields.items()
        if isinstance(values, dict)
        for key, value in values.items()
        if key not in _TOLD
    }
    return {name: value for name, value in fields.items() if not isinstance(value, dict)} | inner


_TOLD: Final = ("discharged", "supersedes", "tags", "redaction_status")


# What changed in two texts, word by word.


_Lines: TypeAlias = list[tuple[Piece, ...]]


def _lines(before: str, after: str) -> tuple[_Lines, bool]:
    """The lines around what changed, "" for those between; and whether not everything was compared."""
    if before == after:
        return [], False
    old, new = (beginning(text, CHARS).rstrip("\n").split("\n") for text in (before, after))
    is_cut = max(len(before), len(after)) > CHARS or max(len(old), len(new)) > LINES
    found: _Lines = []
    gone: list[str] = []
    come: list[str] = []
    left = _REFINED

    def flush() -> None:
        nonlocal left
        if gone or come:
            line, left = _compared("\n".join(gone), "\n".join(come), left)
            found.extend([line] if line else [])
            gone.clear()
            come.clear()

    for number, line in enumerate(difflib.unified_diff(old[:LINES], new[:LINES], lineterm="", n=2)):
        if number < 2:
            continue
        if line[0] in "-+":
            (gone if line[0] == "-" else come).append(line[1:])
            continue
        flush()
        found.append(((_around(line[1:]), "same"),) if line[0] == " " else ())
    flush()
    while found and "".join(words for words, _ in found[0]) == "":  # a gap, and blank lines before the first words
        del found[0]
    return found, is_cut


def _around(line: str) -> str:
    return line if len(line) <= _AROUND else f"{line[:_AROUND]}…"


def _compared(old: str, new: str, left: int) -> tuple[tuple[Piece, ...], int]:
    """Two texts as one in pieces; `left` is how many pairs of words may still be compared, and are after it."""
    if not old or not new:
        return tuple((words, sign) for words, sign in ((old, "del"), (new, "ins")) if words), left  # type: ignore[misc]
    words, others = _WORD.findall(old), _WORD.findall(new)
    head, tail = equal_ends(words, others)
    middle, other_middle = words[head : len(words) - tail], others[head : len(others) - tail]
    pieces: list[Piece] = [("".join(words[:head]), "same")]
    cost = len(middle) * len(other_middle)
    if cost <= left:
        left -= cost
        for kind, begin, end, other, other_end in difflib.SequenceMatcher(
            None, middle, other_middle, autojunk=False
        ).get_opcodes():
            if kind == "equal":
                pieces.append(("".join(middle[begin:end]), "same"))
            else:
                pieces += [("".join(middle[begin:end]), "del"), ("".join(other_middle[other:other_end]), "ins")]
    else:
        pieces += [("".join(middle), "del"), ("".join(other_middle), "ins")]
    pieces.append(("".join(words[len(words) - tail :]), "same"))
    return tuple(piece for piece in pieces if piece[0]), left


def _counted(lines: _Lines) -> list[str]:
    """How many words changed; none if only spaces did."""
    gone, come = (
        sum(len(words.split()) for line in lines for words, kind in line if kind == sign) for sign in ("del", "ins")
    )
    if gone and come:
        return [phrases("{n:,} word of the text changed", "{n:,} words of the text changed", max(gone, come))]
    if come:
        return [phrases("{n:,} word added to the text", "{n:,} words added to the text", come)]
    return [phrases("{n:,} word removed from the text", "{n:,} words removed from the text", gone)] if gone else []
