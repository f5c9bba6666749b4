"""Finds what of a wyren memory is no entry: HTML comments, and placeholders such as `(none yet)` and `<fact>`.

Both count in the keys of records as they always did, so that what was published stays (`parse._Keys`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

_MARK = re.compile(r"`+|<!--|-->")
_BEGIN, _END = "<!--", "-->"

_TAG = re.compile(r"\[(?:session|raised|updated)\b[^\[\]]*\]", re.IGNORECASE)
_BOX = re.compile(r"\A\s*\[[ xX]?\]")
_BLANK = re.compile(r"<[^<>:@/\n]+>")
_WORD = re.compile(r"[^\W_]+")
_DASHES = re.compile(r"[\s\-–—….*_()]+")
_LONGEST = 200
_NOTHING = ("none", "nothing", "empty", "tbd", "tba", "todo", "placeholder")
_NO_ENTRIES = frozenset({"entry", "entries", "item", "items", "content"})
_FILLERS = frozenset(
    {"yet", "so", "far", "here", "now", "currently", "at", "this", "time", "the", "moment", "to", "report", "recorded"}
    | {"noted", "known"}
)


def without_comments(lines: Sequence[str], longest: Mapping[str, Sequence[int]]) -> Sequence[str | None]:
    """The lines without comments, which may span lines; None for one that held nothing else.

    What looks like a comment in code is text, and so is one without an end. `longest` is, for each sign of fences,
    the longest end of a fence from each line on.
    """
    last_end = max((index for index, line in enumerate(lines) if _END in line), default=-1)
    if not any(_BEGIN in line for line in lines[: last_end + 1]):
        return lines
    shown: list[str | None] = []
    fence, is_inside = "", False
    for index, line in enumerate(lines):
        mark = _fence_of(line)
        if fence or (mark and not is_inside and longest[mark[0]][index + 1] >= len(mark)):
            ends = bool(fence) and mark.startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if ends else fence or mark
            shown.append(line)
            continue
        text, is_inside = _outside(line, is_inside=is_inside, has_end=last_end > index)
        shown.append(line if text == line else text if text.strip() else None)
    return shown


def _fence_of(line: str) -> str:
    """The marks of a fence that a line begins with, "" for none."""
    text = line.strip()
    marks = text[: len(text) - len(text.lstrip(text[0]))] if text.startswith(("```", "~~~")) else ""
    return "" if marks.startswith("`") and "`" in text[len(marks) :] else marks


def _outside(line: str, *, is_inside: bool, has_end: bool) -> tuple[str, bool]:
    """The parts of a line outside of comments, and whether one goes on; `has_end` if a later line may end it."""
    marks = list(_MARK.finditer(line))
    last = {mark[0]: mark.start() for mark in marks}
    kept: list[str] = []
    at, code = 0, ""
    for mark in marks:
        if is_inside:
            is_inside, at = mark[0] != _END, mark.end()
        elif code:
            code = "" if mark[0] == code else code
        elif mark[0] == _BEGIN and (has_end or last.get(_END, -1) > mark.start()):
            kept.append(line[at : mark.start()])
            is_inside = True
        elif mark[0].startswith("`") and last[mark[0]] > mark.start():
            code = mark[0]
    return "".join(kept) + ("" if is_inside else line[at:]), is_inside


def is_placeholder(text: str, section: str) -> bool:
    """Whether an entry only says that a section has none, or is a form to fill in: `(none)`, `<fact>`, `—`."""
    return len(text) <= 2 * _LONGEST and _is_placeholder(text, section)


@lru_cache(maxsize=5_000)  # most entries are in thousands of versions of a memory
def _is_placeholder(text: str, section: str) -> bool:
    bare = _BOX.sub("", _TAG.sub("", text)).strip()
    if not bare or len(bare) > _LONGEST or "`" in bare or "\n" in bare:
        return False
    left = _BLANK.sub("", bare)
    words = [word.casefold() for word in _WORD.findall(left)]
    if not words:
        return left != bare or _DASHES.fullmatch(bare) is not None
    return left == bare and (words == ["n", "a"] or _says_none(words, section))


def _says_none(words: list[str], section: str) -> bool:
    """Whether words say that there is none: `none yet`, `no open questions`."""
    if words[0] != "no":
        return words[0] in _NOTHING and _FILLERS.issuperset(words[1:])
    nouns = _NO_ENTRIES.union(_spellings(section))
    return bool(nouns.intersection(words)) and all(word in nouns or word in _FILLERS for word in words[1:])


def _spellings(section: str) -> Iterator[str]:
    """The words of a section's name, in plural and singular."""
    for word in _WORD.findall(section.casefold()):
        yield from (word, word.removesuffix("s"))
