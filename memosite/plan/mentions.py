"""Plans what mentions, cites and shares passages with an artifact, and the page of all citations (SPEC 3, 7)."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import ClassVar, get_args
from urllib.parse import quote, unquote

from memosite.archive.cite import Citation, called, cite_whole, participants
from memosite.archive.model import Artifact, CitationState, Document, MadeCitation, Memo, Record, Transcript
from memosite.archive.urls import CITATIONS, page_of, part_page, relative
from memosite.facts.json_text import clean_text
from memosite.facts.names import ENVELOPE_SUFFIX
from memosite.facts.parsed import FileFacts, Ref, Text
from memosite.facts.patterns import regex
from memosite.facts.phrases import joined, phrase
from memosite.facts.texts import cut_line, line_of, one_line
from memosite.facts.values import replace
from memosite.formats.sessions.kept import read_conversation
from memosite.markdown.plain import Places, read_places
from memosite.pages import PAGE_CHARS, CitedRow, MentionRow, Page, Reference, Row, SharedRow
from memosite.passages import passages_of
from memosite.plan.context import Context
from memosite.plan.dates import newest_first
from memosite.plan.indexes import MentionPlace
from memosite.plan.page import escaped, head_of, in_parts, part_links, twin_address
from memosite.plan.shared_passages import SharedLink

# Finds where on an artifact's page the fragment of a link leads: a heading, a passage, a turn, a line of the file.


_PREFIXED = regex(r"t[1-9][0-9]*[.-].|preamble-.|summary\..")
"""An anchor of a passage within a turn or a part of the page."""


TextOf = Callable[[str], str]


class PlaceFinder:
    """Finds the places of links from one page; what several of them lead to is read once."""

    def __init__(self, text_of: TextOf) -> None:
        """Take texts from here, by their digests."""
        self._text_of = text_of
        self._places: dict[tuple[str, dt.datetime | None], Places] = {}
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
        is_transcript = isinstance(artifact, Transcript)
        key = text.sha256, artifact.started if isinstance(artifact, Transcript) else None
        if key not in self._places:
            written = self._text_of(text.conversation if is_transcript else text.sha256)
            self._places[key] = _turns(written, key[1]) if is_transcript else read_places(written)
        places = self._places[key]
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
        if text.log:  # the lines of its turns are those of the file
            return 0
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


def _turns(text: str, started: dt.datetime | None) -> Places:
    """The places of a transcript: its turns, as far as links from elsewhere name them."""
    turns = read_conversation(text, started=started).turns
    lines = tuple((turn.place.line if turn.place else turn.line, turn.anchor) for turn in turns)
    is_log = any(turn.place for turn in turns)
    return Places(
        anchors=frozenset(anchor for turn in turns for anchor in (turn.anchor, turn.hash_anchor) if anchor),
        lines=tuple(sorted(lines)),
        end=max(turn.place.last_line for turn in turns if turn.place) if is_log else text.count("\n") + 1,
    )


# Plans the rows of mentions: "Mentioned in" of what is mentioned, and the related memos of a transcript.


BACKLINKS = 200
"""The most mentions on an artifact's page, which says how many there are, and the most with a sentence in its twin."""


_NAMED = 5


def mention_rows(context: Context, start: str, artifact: Artifact) -> tuple[MentionRow, ...]:
    """What mentions an artifact, the newest first: each row leads to the first place, and names further ones."""
    found = []
    for one in _newest(context, artifact):
        row, places = context.row(start, one), context.mentions.places(one, artifact.ref, context.text_of)
        shown = replace(row, href=at_anchor(row.href, places[0].anchor)) if places else row
        found.append(_mention(shown, row.href, places, 1))
    return tuple(found)


def _mention(row: Row, page: str, places: Sequence[MentionPlace], first: int) -> MentionRow:
    """A mention with its sentence, and links to its places on a page from the given one on, some of them."""
    sentence = places[0].sentence if places else None
    more = max(0, len(places) - first - _NAMED)
    return MentionRow(row=row, sentence=sentence, places=_links(page, places, first), more=more)


def related_rows(context: Context, start: str, transcript: Transcript) -> tuple[MentionRow, ...]:
    """The related memos of a transcript, each with the sentence in which it is mentioned, and where that is."""
    page = relative(start, page_of(transcript))
    found = []
    for ref in transcript.related:
        places = context.mentions.places(transcript, ref, context.text_of)
        found.append(_mention(context.row(start, context.archive.artifacts[ref]), page, places, 0))
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
            yield {"by": "/".join(one.ref), "url": at_anchor(page, place.anchor), "sentence": place.sentence.line}


def _newest(context: Context, artifact: Artifact) -> list[Artifact]:
    known: Iterable[Artifact] = (context.archive.artifacts[ref] for ref in artifact.backlinks)
    return newest_first(known)[:BACKLINKS]


def _links(page: str, places: Sequence[MentionPlace], first: int) -> tuple[Reference, ...]:
    """Links to places, some of them: to turns by their number."""
    return tuple(
        Reference(
            label=phrase("turn {number}", number=one.turn[1:])
            if one.turn
            else phrase("mention {number}", number=number),
            href=at_anchor(page, one.anchor),
        )
        for number, one in enumerate(places[first : first + _NAMED], first + 1)
    )


def at_anchor(page: str, anchor: str) -> str:
    """A link to an anchor of a page; to the page without one."""
    return f"{page}#{quote(anchor, safe='-._~')}" if anchor else page


# Plans the list of passages that an artifact shares with others, for its page and its twins.


SHARED_SHOWN, AT_TURNS = 100, 1_000
"""The most shared passages in the list of one page, which says how many there are, and at the turns of a transcript."""


_RELATIONS: Mapping[str, str] = {
    "drafted in": phrase("Drafted in"),
    "draft of": phrase("Draft of"),
    "quotes": phrase("Quotes"),
    "quoted in": phrase("Quoted in"),
}


def shared_rows(context: Context, start: str, artifact: Artifact) -> tuple[SharedRow, ...]:
    """The first shared passages of an artifact as its page shows them."""
    here = page_of(artifact)
    return tuple(
        SharedRow(
            relation=_RELATIONS[link.relation],
            here=at_anchor("" if start == here else relative(start, here), link.anchor),
            there=_there(context, start, link),
            words=link.words,
            begins=link.begins,
        )
        for link in context.shared.get(artifact.ref, ())[:SHARED_SHOWN]
    )


def shared_at_turns(context: Context, start: str, transcript: Transcript) -> tuple[tuple[str, str, Reference], ...]:
    """The same at the turns of a transcript: the anchor of each, what the one is to the other, and where that is."""
    links = context.shared.get(transcript.ref, ())[:AT_TURNS]
    return tuple((link.anchor, _RELATIONS[link.relation], _there(context, start, link)) for link in links)


def _there(context: Context, start: str, link: SharedLink) -> Reference:
    href = at_anchor(relative(start, context.page(link.other)), link.other_anchor)
    return Reference(label=_label(context, link), href=href)


def _label(context: Context, link: SharedLink) -> str:
    subject = context.archive.short_subject(link.other)
    return f"{subject}, {link.other_anchor}" if link.other[0] == "transcript" and link.other_anchor else subject


def shared_fields(context: Context, ref: Ref) -> list[dict[str, object]]:
    """All shared passages of an artifact, for its JSON."""
    return [
        {
            "relation": link.relation,
            "anchor": link.anchor or None,
            "words": link.words,
            "with": "/".join(link.other),
            "with_anchor": link.other_anchor or None,
        }
        for link in context.shared.get(ref, ())
    ]


def shared_lines(context: Context, start: str, ref: Ref) -> Iterator[str]:
    """The same as lines of Markdown."""
    for link in context.shared.get(ref, ()):
        label = escaped(one_line(_label(context, link)))
        target = f"[{label}]({twin_address(context, start, link.other, 'md')})"
        where = f" (#{link.anchor})" if link.anchor else ""
        yield f"- {link.relation.capitalize()} {target}, {link.words} words{where}: {escaped(link.begins)}\n"


# Plans how artifacts are cited: the citation of the whole, from which those of its turns are made (SPEC 7).


def citation_of(context: Context, artifact: Artifact) -> Citation:
    """How a whole artifact is cited, with the address of its page, and the commit if it is known."""
    page = page_of(artifact)
    return replace(cite_whole(artifact, context.canonical(page) or page), commit=_commit(artifact))


def _commit(artifact: Artifact) -> str:
    """The commit that gave the text that is shown its content, "" if it is not known."""
    file = artifact.shown_file
    copies = (copy for copy in artifact.copies if copy.file.place == file.place)
    return next((copy.life.commit for copy in copies if copy.life), "")


def speakers(context: Context, transcript: Transcript) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which participants of a conversation are people, and which are models, as pages call them."""
    people, models = participants(context.archive, transcript)
    return tuple(cut_line(called(one), 200) for one in people), tuple(cut_line(called(one), 200) for one in models)


# Plans rows of citations: the list "Cited by" of what is cited, and the lists of the page of all citations.


CITED_SHOWN = 200
"""The most citations on the page of what they cite, which says how many there are."""


def citation_row(context: Context, start: str, one: MadeCitation, *, is_own_page: bool = False) -> CitedRow:
    """A citation as the page `start` shows it; the page of what is cited names only the passage."""
    by = Reference(label=str(one.location))
    if one.by is not None:
        by = Reference(label=context.archive.short_subject(one.by), href=_href(context, start, one.by, one.by_anchor))
    to = Reference(label=one.written)
    if one.to is not None:
        label = (_place(one.anchor) or phrase("a passage")) if one.anchor else phrase("all of it")
        if not is_own_page:
            label = joined(", ", filter(None, (context.archive.short_subject(one.to), _place(one.anchor))))
        to = Reference(label=label, href=_href(context, start, one.to, one.anchor))
    return CitedRow(by=by, to=to, quote=one.quote, state=one.state, said=one.said, changes=one.changes)


_NAMED_PLACE = regex(r"t(\d+)(?:-t(\d+))?(?:[.-]\D.*)?")


_HASHED = regex(r"(?:.*[.-])?[pt]-[0-9a-f]{8}(?:-\d+)?")


def _place(anchor: str) -> str:
    """What a passage is called: by its turns, or the anchor of a heading; "" if its anchor is made of a hash."""
    if turns := _NAMED_PLACE.fullmatch(anchor):
        first, last = turns.groups()
        of_several = phrase("turns {first} to {last}", first=first, last=last)
        return of_several if last else phrase("turn {number}", number=first)
    return f"#{anchor}" if anchor and not _HASHED.fullmatch(anchor) else ""


def cited_by(context: Context, start: str, ref: Ref) -> tuple[CitedRow, ...]:
    """What cites an artifact, the newest first, as its own page shows it."""
    newest = reversed(context.citations_of.get(ref, ()))
    return tuple(citation_row(context, start, one, is_own_page=True) for one in islice(newest, CITED_SHOWN))


def _href(context: Context, start: str, ref: Ref, anchor: str) -> str:
    """Where a passage is; a range of turns begins with the first."""
    first = anchor.partition("-t")[0] if anchor.startswith("t") and "-t" in anchor else anchor
    return at_anchor(relative(start, context.page(ref)), first)


class CitationsPage(Page):
    """All citations of the archive, those that do not hold first."""

    template: ClassVar[str] = "citations.html"

    counts: tuple[tuple[CitationState, int], ...]
    rows: tuple[CitedRow, ...]


# Plans the page of all citations that are made of the archive: those that do not hold come first (SPEC 7).


_STATES: tuple[CitationState, ...] = get_args(CitationState)


def plan_citations(context: Context) -> Iterator[CitationsPage]:
    """The page of all citations, 500 a part."""
    citations = sorted(context.archive.citations, key=lambda one: _STATES.index(one.state))
    counted = Counter(one.state for one in citations)
    chunks = in_parts(citations)
    for number, chunk in enumerate(chunks, 1):
        start = CITATIONS if number == 1 else part_page(CITATIONS, number)
        yield CitationsPage(
            **head_of(context, start, title=phrase("Citations"), section="health"),
            parts=part_links(start, CITATIONS, len(chunks), number, first=CITATIONS) if len(chunks) > 1 else (),
            counts=tuple((state, counted[state]) for state in _STATES if counted[state]),
            rows=tuple(citation_row(context, start, one) for one in chunk),
        )
