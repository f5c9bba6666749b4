"""Plans the rows of mentions: "Mentioned in" of what is mentioned, and the related memos of a transcript."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from urllib.parse import quote

from memosite.archive.model import Artifact, Transcript
from memosite.archive.urls import page_of, relative
from memosite.facts.phrases import phrase
from memosite.pages.mentions import MentionRow
from memosite.pages.parts import Reference
from memosite.plan.context import Context
from memosite.plan.dates import newest_first
from memosite.plan.mentioned import MentionPlace
from memosite.plan.places import PlaceFinder

BACKLINKS = 200
"""The most mentions on an artifact's page, which says how many there are, and the most with a sentence in its twin."""

_NAMED = 5


def mention_rows(context: Context, start: str, artifact: Artifact) -> tuple[MentionRow, ...]:
    """What mentions an artifact, the newest first: each row leads to the first place, and names further ones."""
    return tuple(_mentioned_in(context, start, one, artifact) for one in _newest(context, artifact))


def _mentioned_in(context: Context, start: str, one: Artifact, artifact: Artifact) -> MentionRow:
    row = context.row(start, one)
    places = context.mentions.places(one, artifact.ref, context.text_of)
    if not places:
        return MentionRow(row=row)
    page = row.href
    return MentionRow(
        row=replace(row, href=_at(page, places[0])),
        sentence=places[0].sentence,
        places=_links(page, places, 1),
        more=max(0, len(places) - 1 - _NAMED),
    )


def related_rows(context: Context, start: str, transcript: Transcript) -> tuple[MentionRow, ...]:
    """The related memos of a transcript, each with the sentence in which it is mentioned, and where that is."""
    page = relative(start, page_of(transcript))
    found = []
    for ref in transcript.related:
        places = context.mentions.places(transcript, ref, context.text_of)
        found.append(
            MentionRow(
                row=context.row(start, context.archive.artifacts[ref]),
                sentence=places[0].sentence if places else None,
                places=_links(page, places, 0),
                more=max(0, len(places) - _NAMED),
            )
        )
    return tuple(found)


def mentioned_turns(context: Context, transcript: Transcript) -> tuple[str, ...]:
    """The anchors of a transcript to which links of the newest artifacts that mention it lead, in order."""
    places = PlaceFinder(context.text_of)
    links = (link for one in _newest(context, transcript) for link in one.links)
    named = {link.written for link in links if link.to == transcript.ref and "#" in link.written}
    return tuple(sorted({places.anchor(transcript, written) for written in named} - {""}))


def mention_lines(context: Context, start: str, artifact: Artifact) -> Iterator[dict[str, object]]:
    """What mentions an artifact, as its twin says it: by what, and where; the newest first."""
    for one in _newest(context, artifact):
        page = relative(start, page_of(one))
        for place in context.mentions.places(one, artifact.ref, context.text_of):
            yield {"by": "/".join(one.ref), "url": _at(page, place), "sentence": place.sentence.line}


def _newest(context: Context, artifact: Artifact) -> list[Artifact]:
    known: Iterable[Artifact] = (context.archive.artifacts[ref] for ref in artifact.backlinks)
    return newest_first(known)[:BACKLINKS]


def _links(page: str, places: Sequence[MentionPlace], first: int) -> tuple[Reference, ...]:
    """Links to places, some of them: to turns by their number."""
    numbered = enumerate(places[first : first + _NAMED], first + 1)
    return tuple(
        Reference(
            label=phrase("turn {number}", number=one.turn[1:]) if one.turn else phrase("place {number}", number=number),
            href=_at(page, one),
        )
        for number, one in numbered
    )


def _at(page: str, place: MentionPlace) -> str:
    return f"{page}#{quote(place.anchor, safe='-._~')}" if place.anchor else page
