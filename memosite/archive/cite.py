"""Writes citations of artifacts and of turns: a link, Markdown and plain text (SPEC 7).

A citation names what is cited (`transcript/<id>#t12`), who said it and when, a quote, the URL, and the SHA-256
of the source text, which lets readers verify it without this site.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from memosite.facts.texts import SUMMARY, plain_line, summarize

_MARKS: Final = re.compile(r"([\\`*_\[\]<>#|~&])")
_QUOTED: Final = 400  # characters of source that a quote is taken from
_LAST: Final = 120  # characters of the end of a range that are quoted
_CUT: Final = " […]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """The fields of a citation. `url` is absolute, or a path within the site if the site has no base URL.

    `ref` is `<kind>/<id>` with the anchor of a turn; `sha256` is that of the source text, 64 hex digits. `note` is a
    warning about the source: that it is raw, or confidential. `commit` is where the source has this text, if known.
    """

    ref: str
    url: str
    title: str
    speaker: str
    time: str
    quote: str
    sha256: str
    note: str = ""
    commit: str = ""

    @property
    def text(self) -> str:
        """The citation as one line of plain text."""
        said = ": ".join(part for part in (self.speaker, f"“{self.quote}”" if self.quote else "") if part)
        parts = (said, f"{self.title} ({self.ref})", self.time, self.url, self.check)
        return " ".join(". ".join(part for part in parts if part).split())

    @property
    def markdown(self) -> str:
        """The citation as Markdown: the quote, below it who, where and when."""
        where = f"[{_escaped(self.title)}](<{self.url}>)"
        parts = [_escaped(self.speaker), where, f"`{self.ref}`", _escaped(self.time), _escaped(self.check)]
        line = f"— {', '.join(part for part in parts if part)}"
        return f"> {_escaped(self.quote)}\n>\n> {line}" if self.quote else line

    @property
    def check(self) -> str:
        """The digest that verifies the source, the commit that has it, and the warning about it."""
        commit = f", commit {self.commit}" if self.commit else ""
        return f"sha256:{self.sha256}{commit}" + (f" ({self.note})" if self.note else "")


def range_source(digests: Iterable[str]) -> str:
    """What is hashed of a range of turns: the digests of its turns, a line each.

    So a page can tell it from what it says of each turn, and whoever has the digests can check it with `sha256sum`.
    """
    return "".join(f"{digest}\n" for digest in digests)


def range_digest(digests: Iterable[str]) -> str:
    """The SHA-256 by which a range of turns is cited."""
    return sha256(range_source(digests).encode()).hexdigest()


def quote_of(text: str) -> str:
    """The first words of a text as a citation quotes them; omissions are marked as an editor marks them."""
    words = summarize(text[:_QUOTED])
    is_cut = len(text) > _QUOTED or len(words) >= SUMMARY - 1 or words.endswith("…")
    return f"{words.removesuffix('…').rstrip()}{_CUT}" if words and is_cut else words


def quote_of_range(texts: Sequence[str]) -> str:
    """What a citation quotes of a range, of what is said in its turns: all if that is short, else its ends."""
    said = list(filter(None, (plain_line(text) for text in texts if len(text) <= _QUOTED)))
    whole = f"{_CUT} ".join(said)
    if len(said) == len(texts) and len(whole) <= SUMMARY:
        return whole
    end = plain_line(texts[-1][-_QUOTED:])
    if len(end) > _LAST:
        end = end[-_LAST:].partition(" ")[2]
    return f"{quote_of(texts[0]).removesuffix(_CUT)}{_CUT} {end}"


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
