"""Makes facts in memory, as if files had been parsed, and resolves them to archives."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, SourceInfo
from memosite.facts.parsed import (
    BodyFile,
    Discharge,
    Envelope,
    Fact,
    FileFacts,
    Kind,
    Organization,
    Parsed,
    Participant,
    Seat,
    Text,
)
from memosite.facts.times import read_moment
from memosite.facts.values import Value
from memosite.resolve import ResolveRules, resolve
from tests.support.archives import EMPTY


def envelope(stem: str = "m", path: str = "", *, source: str = "repo", kind: Kind = "memo", **fields: Any) -> Envelope:
    """An envelope in memory. `sent` is a text, and `content` stands for what the file says.

    `to`, `in_reply_to` and `supersedes` may be one string each.
    """
    path = path or f"memos/{stem}.openthing"
    to = fields.pop("to", ("director",))
    sent = fields.pop("sent", "2026-05-01T14:30:00Z")
    content = fields.pop("content", "")
    known: dict[str, Any] = {
        "kind": kind, "shape": "typed", "file": facts(path, source=source, content=f"{path} {content}"),
        "stem": stem, "content_sha256": digest(content), "sender": "engineer",
        "to": (to,) if isinstance(to, str) else tuple(to), "subject": f"About {stem}", "sent": read_moment(sent),
        "sent_text": sent,
    }  # fmt: skip
    for name in ("in_reply_to", "supersedes"):
        value = fields.get(name)
        if not isinstance(value, tuple):
            fields[name] = (value,) if value else ()
    return Envelope(**known | fields)


def transcript(stem: str = "t", *, positions: Sequence[str] = ("engineer",), **fields: Any) -> Envelope:
    """A transcript's envelope in memory."""
    participants = tuple(Participant(position=position, session_arc="arc-1") for position in positions)
    known: dict[str, Any] = {"sender": "", "to": (), "participants": participants}
    known["path"] = f"transcripts/{positions[0] if positions else 'engineer'}/{stem}.openthing"
    return envelope(stem, kind="transcript", **known | fields)


def body_file(path: str, text: str = "A long text.", *, source: str = "repo") -> BodyFile:
    """A body in memory."""
    return BodyFile(file=facts(path, source=source, content=text), text=text_of(text))


def text_of(text: str, *, mentions: Sequence[str] = (), destinations: Sequence[str] = ()) -> Text:
    """A text in memory; what it mentions is given, not sought."""
    return Text(
        sha256=digest(text), chars=len(text), summary=text, mentions=tuple(mentions), destinations=tuple(destinations)
    )


def facts(path: str, *, source: str = "repo", content: str = "") -> FileFacts:
    """A file of a source."""
    return FileFacts(source=source, path=path, sha256=digest(content), bytes=len(content))


def digest(text: str) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def organization(id_: str = "acme", *seats: Seat | str, **fields: Any) -> Organization:
    """An organization in memory; a seat may be its id alone."""
    known: dict[str, Any] = {"id": id_, "name": id_, "source": "repo", "path": f"org/{id_}.openthing"}
    listed = tuple(seat if isinstance(seat, Seat) else Seat(id=seat, name=seat.title()) for seat in seats)
    return Organization(**known | {"seats": listed} | fields)


def no_line(_file: FileFacts, _key: str) -> None:
    """Where lines do not matter."""


def resolve_facts(
    *found: Fact, sources: Sequence[str | SourceInfo] = ("repo", "other"), ledger: Ledger = EMPTY, **rules: Any
) -> tuple[Archive, Ledger]:
    """Resolve facts; `rules` are fields of `ResolveRules`, with `closed` as a set of ids."""
    closed = {id_: Discharge() for id_ in rules.pop("closed", ())}
    known = tuple(one if isinstance(one, SourceInfo) else SourceInfo(name=one) for one in sources)
    return resolve(
        [parsed_of(fact) for fact in found], ResolveRules(sources=known, closed=closed, **rules), ledger, no_line
    )


def archive_of(*found: Fact, **settings: Any) -> Archive:
    """The archive of facts."""
    return resolve_facts(*found, **settings)[0]


def parsed_of(fact: Fact) -> Parsed:
    """A fact as if its file had been parsed without findings."""
    if isinstance(fact, Organization):
        return Parsed(source=fact.source, path=fact.path, fact=fact)
    return Parsed(source=fact.file.source, path=fact.file.path, fact=fact)


def texts_in(value: Any) -> Iterator[str]:
    """Every string in a result, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for entry in value:
            yield from texts_in(entry)
    elif isinstance(value, Value):
        for one in value.__struct_fields__:
            yield from texts_in(getattr(value, one))
