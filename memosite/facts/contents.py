"""Takes the content off the facts of a file: what is left says who sent it to whom, when, where it is, and why.

    fact ─► without_content ─► the same fact: its identity and address, its place in threads, feeds and lists
                               no subject, no text, no field of free words, no mention, no finding

So whatever is made of the facts (pages, feeds, twins, search, exports) cannot hold what must not be published. The
files' digests stay: they tell copies from rivals. `resolve` takes them off the artifact (`resolve/withheld.py`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from memosite.facts.parsed import (
    BodyFile,
    Discharge,
    DocumentHead,
    Envelope,
    Fact,
    ImageFile,
    LibraryCard,
    Organization,
    Parsed,
    Participant,
    RecordCard,
    RecordFile,
    RecordPart,
    Relationship,
    Seat,
    Text,
)
from memosite.facts.references import read_names
from memosite.facts.withheld import Withheld

NOTHING_SAID = Text(sha256="", chars=0, summary="")
"""The text of what has none; it is not on the shelf."""

_REDACTION_STATES = frozenset({"raw", "partial", "redacted"})


def without_content(parsed: Parsed, withheld: Withheld) -> Parsed:
    """The result of a file without its content, and without findings, which may quote it; nothing goes on the shelf."""
    fact = bare_fact(parsed.fact, withheld) if parsed.fact is not None else None
    return replace(parsed, fact=fact, findings=(), shelve=())


def bare_fact(fact: Fact, withheld: Withheld) -> Fact:
    """A fact without its content."""
    match fact:
        case Envelope():
            return bare_envelope(fact, withheld)
        case LibraryCard():
            return bare_library(fact, withheld)
        case Organization():
            return _bare_organization(fact, withheld)
        case DocumentHead():
            return _bare_document(fact, withheld)
        case BodyFile():
            return bare_body(fact, withheld)
        case RecordFile():
            return _bare_records(fact, withheld)
        case ImageFile():
            return replace(fact, form="", width=0, height=0, why_not="withheld", withheld=withheld)
        case RecordPart():
            return fact.without_content(withheld)


def bare_envelope(envelope: Envelope, withheld: Withheld) -> Envelope:
    """An envelope without its content. What a reference says besides names goes, too."""
    return replace(
        envelope,
        subject="",
        in_reply_to=tuple(_names_only(envelope.in_reply_to)),
        supersedes=tuple(_names_only(envelope.supersedes)),
        body=None,
        discharge=Discharge() if envelope.discharge else None,
        session=None,
        participants=tuple(Participant(position=one.position) for one in envelope.participants),
        related=(),
        transport=None,
        capture_tool=None,
        redaction_status=envelope.redaction_status if envelope.redaction_status in _REDACTION_STATES else None,
        tags=(),
        extra="",
        withheld=withheld,
    )


def _names_only(references: Iterable[str]) -> Iterator[str]:
    """References reduced to the names of memos in them, which mean the same as before (`facts/references.py`)."""
    for value in references:
        names = (name for name in read_names(value) if name.form != "document")
        yield " ".join(dict.fromkeys(f"({name.written})" if name.is_aside else name.written for name in names))


def bare_body(body: BodyFile, withheld: Withheld) -> BodyFile:
    """A body without its text."""
    return replace(body, text=NOTHING_SAID, withheld=withheld)


def bare_library(card: LibraryCard, withheld: Withheld) -> LibraryCard:
    """A library without its name and its entries."""
    return replace(
        card, name="", version="", description="", items=(), extra="", broken=None, rest=None, withheld=withheld
    )


def _bare_organization(organization: Organization, withheld: Withheld) -> Organization:
    """An organization without its texts: positions, their relationships, and where memos are."""
    return replace(
        organization,
        name=organization.id,
        version="",
        mission="",
        charter=(),
        seats=tuple(map(_bare_seat, organization.seats)),
        more_seats=tuple(map(_bare_seat, organization.more_seats)),
        relationships=tuple(
            Relationship(type=edge.type, sender=edge.sender, to=edge.to) for edge in organization.relationships
        ),
        rest=bare_library(organization.rest, withheld) if organization.rest else None,
        withheld=withheld,
    )


def _bare_seat(seat: Seat) -> Seat:
    """A position by what makes its page and finds its repo."""
    return Seat(id=seat.id, name=seat.id, role_id=seat.role_id, working_directory=seat.working_directory)


def _bare_document(head: DocumentHead, withheld: Withheld) -> DocumentHead:
    return replace(
        head,
        title="",
        status=None,
        text=NOTHING_SAID,
        tags=(),
        extra="",
        decided_by="",
        supersedes=(),
        superseded_by=(),
        is_ruling=False,
        withheld=withheld,
    )


def _bare_records(file: RecordFile, withheld: Withheld) -> RecordFile:
    """A file of records without what any of them says."""
    return replace(
        file,
        records=tuple(bare_record(card, withheld) for card in file.records),
        rest=bare_record(file.rest, withheld) if file.rest else None,
    )


def bare_record(card: RecordCard, withheld: Withheld) -> RecordCard:
    """A record without its content: its key, its file, its type and section, when it was made."""
    return RecordCard(
        system=card.system,
        key=card.key,
        file=card.file,
        type=card.type,
        title="",
        line=card.line,
        section=card.section,
        created=card.created,
        body_path=card.body_path,
        is_rest=card.is_rest,
        withheld=withheld,
    )
