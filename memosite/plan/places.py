"""Finds where on an artifact's page the fragment of a link leads: a heading, a passage, a turn, a line of the file."""

import re
from collections.abc import Callable
from urllib.parse import unquote

from memosite.archive.model import Artifact, Document, Memo, Record, Transcript
from memosite.facts.json_text import clean_text
from memosite.facts.names import ENVELOPE_SUFFIX
from memosite.facts.parsed import FileFacts, Ref, Text
from memosite.facts.urls import line_of
from memosite.formats.turns import parse_conversation
from memosite.markdown.places import Places, read_places
from memosite.pages.parts import PAGE_CHARS
from memosite.passages.passage import passages_of

_PREFIXED = re.compile(r"t[1-9][0-9]*[.-].|preamble-.|summary\..")
"""An anchor of a passage within a turn or a part of the page."""

TextOf = Callable[[str], str]


class PlaceFinder:
    """Finds the places of links from one page; what several of them lead to is read once."""

    def __init__(self, text_of: TextOf) -> None:
        """Take texts from here, by their digests."""
        self._text_of = text_of
        self._places: dict[str, Places] = {}
        self._before: dict[tuple[str, str], int] = {}
        self._prefixed: dict[Ref, frozenset[str]] = {}

    def anchor(self, artifact: Artifact, written: str) -> str:
        """The anchor on an artifact's page to which a link, as written, leads; "" for the top of the page.

        A line is one of the original that the link names. No link leads to another place than it says.
        """
        name, _, fragment = written.partition("#")
        shown = _shown(artifact)
        if not fragment or shown is None:
            return ""
        text, file = shown
        if text.sha256 not in self._places:
            read = _turns if isinstance(artifact, Transcript) else read_places
            self._places[text.sha256] = read(self._text_of(text.sha256))
        places = self._places[text.sha256]
        line = line_of(fragment)
        if line is None:
            name = unquote(fragment)
            return places.named(name) or (name if self._is_prefixed(artifact, name) else "")
        if name.partition("?")[0].lower().endswith(ENVELOPE_SUFFIX) or not file.sha256:  # which is not published
            return ""
        return places.at_line(line - self._lines_before(text, file)) or ""

    def _is_prefixed(self, artifact: Artifact, name: str) -> bool:
        """Whether a passage has this anchor that a text of the page has with a prefix."""
        if not _PREFIXED.match(name):
            return False
        if artifact.ref not in self._prefixed:
            self._prefixed[artifact.ref] = frozenset(one.anchor for one in passages_of(artifact, self._text_of))
        return name in self._prefixed[artifact.ref]

    def _lines_before(self, text: Text, file: FileFacts) -> int:
        """How many lines of a file are before its text, as its front matter is; all where the text is not in it."""
        key = text.sha256, file.sha256
        if key not in self._before:
            original = clean_text(self._text_of(file.sha256))
            at = original.rfind(self._text_of(text.sha256).rstrip())
            self._before[key] = original.count("\n", 0, at) if at >= 0 else original.count("\n") + 1
        return self._before[key]


def _shown(artifact: Artifact) -> tuple[Text, FileFacts] | None:
    """The text that an artifact's page shows with anchors, and the file that it is in."""
    found: tuple[Text | None, FileFacts] | None = None
    if artifact.withheld:
        return None
    if isinstance(artifact, Document):
        found = artifact.head.text, artifact.head.file
    elif isinstance(artifact, Record):
        found = artifact.card.text, artifact.card.file
    elif isinstance(artifact, Memo | Transcript) and not artifact.broken:
        variant = artifact.variants[0]
        found = variant.text, variant.body.file if variant.body else variant.envelope.file
    if found is None or found[0] is None or (found[0].chars > PAGE_CHARS and artifact.kind != "transcript"):
        return None
    return found[0], found[1]


def _turns(text: str) -> Places:
    """The places of a transcript: its turns, as far as links from elsewhere name them."""
    turns = parse_conversation(text, started=None).turns
    return Places(
        anchors=frozenset(anchor for turn in turns for anchor in (turn.anchor, turn.hash_anchor) if anchor),
        lines=tuple((turn.line, turn.anchor) for turn in turns),
        end=text.count("\n") + 1,
    )
