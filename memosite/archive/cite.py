"""Writes citations of artifacts and of turns: a link, Markdown and plain text (SPEC 7).

A citation names what is cited (`transcript/<id>#t12`), who said it and when, the words, the address, and the SHA-256
of the source text, by which it can be checked without this site.
"""

import re
from dataclasses import dataclass
from typing import Final

from memosite.facts.texts import SUMMARY, summarize

_MARKS: Final = re.compile(r"([\\`*_\[\]<>#|~&])")
_QUOTED: Final = 400  # characters of source that are looked at for the words


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """What a citation says. `url` is an address, or a path of the site where the site has none.

    `ref` is `<kind>/<id>` with the anchor of a turn; `sha256` is that of the source text, 64 hex digits. `note` warns
    of the source: that it is raw, or confidential.
    """

    ref: str
    url: str
    title: str
    speaker: str
    time: str
    quote: str
    sha256: str
    note: str = ""

    @property
    def text(self) -> str:
        """The citation as one line of plain text."""
        said = ": ".join(part for part in (self.speaker, f"“{self.quote}”" if self.quote else "") if part)
        parts = (said, f"{self.title} ({self.ref})", self.time, self.url, self.check)
        return " ".join(". ".join(part for part in parts if part).split())

    @property
    def markdown(self) -> str:
        """The citation as Markdown: the words as a quote, below them who, where and when."""
        where = f"[{_escaped(self.title)}](<{self.url}>)"
        parts = [_escaped(self.speaker), where, f"`{self.ref}`", _escaped(self.time), _escaped(self.check)]
        line = f"— {', '.join(part for part in parts if part)}"
        return f"> {_escaped(self.quote)}\n>\n> {line}" if self.quote else line

    @property
    def check(self) -> str:
        """By what the source can be checked, and what must be known of it."""
        return f"sha256:{self.sha256}" + (f" ({self.note})" if self.note else "")


def quote_of(text: str) -> str:
    """The first words of a text as a citation quotes them; what is left out is marked as an editor marks it."""
    words = summarize(text[:_QUOTED])
    is_cut = len(text) > _QUOTED or len(words) >= SUMMARY - 1 or words.endswith("…")
    return f"{words.removesuffix('…').rstrip()} […]" if words and is_cut else words


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
