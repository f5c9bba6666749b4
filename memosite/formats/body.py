"""Parses bodies: the `.body.md` files (or those that `body_ref` names) with the text of an envelope."""

from dataclasses import replace

from memosite.facts.file import File
from memosite.facts.layout import place_of
from memosite.facts.names import BODY_SUFFIX
from memosite.facts.parsed import BodyFile, Parsed
from memosite.facts.texts import describe_text, summarize
from memosite.formats.turns import parse_conversation

NAME = "body"


def matches(file: File) -> bool:
    """Whether the file's name is that of a body."""
    return file.name.lower().endswith(BODY_SUFFIX)


def parse(file: File) -> Parsed:
    """Read one body; of those below transcripts/, also the number of turns, their times and the text of the first."""
    text = file.markdown
    known, data = describe_text(text)
    place = place_of(file.path)
    if place is not None and place.store == "transcripts":
        found = parse_conversation(text, started=None)
        first = next((turn.text for turn in found.turns if turn.text.strip()), text)
        known = replace(known, turns=len(found.turns), span=found.span, summary=summarize(first))
    fact = BodyFile(file=file.facts, text=known)
    return Parsed(source=file.source, path=file.path, fact=fact, findings=file.text_findings, shelve=(file.data, data))
