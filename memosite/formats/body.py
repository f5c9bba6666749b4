"""Parses bodies: the `.body.md` files (or those that `body_ref` names) with the text of an envelope."""

from dataclasses import replace

from memosite.facts import rules
from memosite.facts.file import File
from memosite.facts.findings import Finding
from memosite.facts.layout import place_of
from memosite.facts.names import BODY_SUFFIX
from memosite.facts.parsed import BodyFile, Parsed
from memosite.facts.texts import describe_text, summarize
from memosite.formats.turns import TurnList, parse_conversation
from memosite.quotes.citations import cited_in

NAME = "body"


def matches(file: File) -> bool:
    """Whether the file's name is that of a body."""
    return file.name.lower().endswith(BODY_SUFFIX)


def parse(file: File) -> Parsed:
    """Read one body; of those below transcripts/, also the number of turns, their times and the text of the first."""
    text = file.markdown
    known, data = describe_text(text)
    place = place_of(file.path)
    findings = file.text_findings
    if place is not None and place.store == "transcripts":
        found = parse_conversation(text, started=None)
        first = next((turn.text for turn in found.turns if turn.text.strip()), text)
        known = replace(known, turns=len(found.turns), span=found.span, summary=summarize(first))
        if found.rest:
            findings += (_too_many(file, found),)
    else:
        known = replace(known, citations=cited_in(text))
    fact = BodyFile(file=file.facts, text=known)
    return Parsed(source=file.source, path=file.path, fact=fact, findings=findings, shelve=(file.data, data))


def _too_many(file: File, found: TurnList) -> Finding:
    message = f"it holds more than {len(found.turns):,} turns; the rest is shown unchanged"
    line = file.markdown.count("\n", 0, len(file.markdown) - len(found.rest)) + 1
    return Finding(rule=rules.FILE_BOUNDED, location=file.at(line), message=message)
