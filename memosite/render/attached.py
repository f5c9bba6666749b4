"""Names the images and attachments of a turn, by the marks that capture tools leave where they were (SPEC 4).

Their content is in no transcript; the text keeps the marks as they were written.
"""

import re
from typing import Final

from memosite.facts.phrases import phrase
from memosite.facts.texts import cut_line

MOST: Final = 20
"""The most that are named of one turn."""

_LOOKED_AT: Final = 100_000  # characters of one turn
_NAME_CHARS: Final = 80
_MARK: Final = re.compile(
    r"\[(?:Image|Screenshot|Attachment|Attached file|File|Document|PDF)"
    r"(?P<number> ?\#[0-9]{1,6})?(?:: *(?:source: *)?(?P<name>[^\[\]\n]{1,1000}))?\]"
    r"|!\[(?P<label>[^\[\]\n]{0,300})\]\((?P<to>[^()\s]{1,1000})(?: \"[^\"\n]{0,300}\")?\)",
    re.IGNORECASE,
)


def attached(text: str) -> tuple[str, ...]:
    """The names of what was attached to a turn, each once, in order; the last one says how many more there are."""
    found = dict.fromkeys(_name(match) for match in _MARK.finditer(text[:_LOOKED_AT]))
    names = tuple(cut_line(name, _NAME_CHARS) for name in found)
    return names if len(names) <= MOST else (*names[:MOST], phrase("{more} more", more=len(names) - MOST))


def _name(match: "re.Match[str]") -> str:
    """Of a path the last part; without a name, what the mark says."""
    written = match["name"] or match["to"]
    if not written:
        return match[0][1:-1]
    if written.startswith("data:"):
        return match["label"] or phrase("image")
    return re.split(r"[/\\]", written.strip().rstrip("/\\"))[-1] or written
