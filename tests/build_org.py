"""Builds small organizations for tests: files in folders, envelopes in memory, and the archives read from them.

Everything has a sensible default, so that a test names only what it is about.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, Memo, SourceInfo, Transcript
from memosite.facts.findings import Finding
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
    Ref,
    Seat,
    Text,
)
from memosite.facts.times import read_moment
from memosite.reading.reader import read_archive
from memosite.resolve import Rules, resolve
from memosite.sources.folder import FolderSource
from memosite.store.shelf import Shelf

DOCUMENTS = ("decisions/**/*.md", "proposals/**/*.md", "docs/adr/**/*.md")
EMPTY = Ledger()


# Files


def write_json(path: Path, value: object) -> Path:
    """Write a value as a JSON file, with the folders it lies in."""
    return write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> Path:
    """Write a text file, with the folders it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def write_memo(folder: Path, name: str, *, extra: Mapping[str, object] | None = None, **fields: object) -> Path:
    """Write a typed memo `<name>.openthing`; `sender` is its `from`, a field given as None is left out."""
    known: dict[str, object] = {
        "catdef": "1.4",
        "memodef": "0.4.0",
        "type": "memodef:Memo",
        "from": fields.pop("sender", "engineer"),
        "to": "director",
        "subject": f"About {name}",
        "sent": "2026-05-01T14:30:00Z",
        "body": f"The text of {name}.",
    }
    return _write_envelope(folder, name, known | fields | dict(extra or {}))


def write_note(folder: Path, name: str, **fields: Any) -> Path:
    """Write a memo to file."""
    return write_memo(folder, name, **{"to": "file", **fields})


def write_legacy_memo(folder: Path, name: str, **fields: object) -> Path:
    """Write a memo in the `x.memo.*` form; `sender` is its `x.memo.from`."""
    said = {"from": fields.pop("sender", "engineer"), "to": "director", "sent": "2026-05-01T14:30:00Z"}
    said |= {"subject": f"About {name}"} | fields
    legacy = {f"x.memo.{field}": value for field, value in said.items()}
    return _write_envelope(folder, name, {"catdef": "1.4", "type": "thing", "body": f"The text of {name}."} | legacy)


def write_transcript(folder: Path, name: str, *, text: str = "## User\n\nHello.\n", **fields: object) -> Path:
    """Write a transcript's envelope and, unless `text` is empty, the body it names."""
    known: dict[str, object] = {
        "catdef": "1.4",
        "memodef": "0.4.0",
        "type": "memodef:Transcript",
        "participants": [{"position": "engineer", "session_arc": "arc-1"}],
        "started": "2026-05-01T14:30:00Z",
        "subject": f"About {name}",
        "body_ref": f"{name}.body.md",
        "transport": "terminal",
        "capture_tool": "capture",
        "capture_format": "markdown",
        "metadata": {"redaction_status": "redacted"},
    }
    if text:
        write_body(folder, name, text)
    return _write_envelope(folder, name, known | fields)


def write_body(folder: Path, name: str, text: str = "A long text.\n") -> Path:
    """Write `<name>.body.md`."""
    return write_text(folder / f"{name}.body.md", text)


def write_org(folder: Path, id_: str = "acme", *, positions: Iterable[object] = (), **fields: object) -> Path:
    """Write an orgdef; a position is its id alone, or an object."""
    seats = [{"id": one, "name": one.title()} if isinstance(one, str) else one for one in positions]
    known: dict[str, object] = {"type": "orgdef:Organization", "id": id_, "name": id_.title(), "positions": seats}
    return write_json(folder / f"{id_}-organization.openthing", known | fields)


def _write_envelope(folder: Path, name: str, fields: Mapping[str, object]) -> Path:
    return write_json(folder / f"{name}.openthing", {field: v for field, v in fields.items() if v is not None})


# Archives read from folders


def folder_source(root: Path, **settings: Any) -> FolderSource:
    """A source that is named like its folder and has the default documents."""
    return FolderSource(**{"name": root.name, "root": root, "documents": DOCUMENTS, **settings})


def read_sources(
    *sources: FolderSource | Path, ledger: Ledger = EMPTY, web: Mapping[str, str] | None = None, **rules: Any
) -> tuple[Archive, Ledger]:
    """Read folders as `memosite build` does; `rules` are fields of `Rules`."""
    read = [source if isinstance(source, FolderSource) else folder_source(source) for source in sources]
    known = tuple(
        SourceInfo(name=source.name, include=source.include, web=(web or {}).get(source.name)) for source in read
    )
    with Shelf() as shelf:
        return read_archive(read, Rules(sources=known, **rules), ledger, shelf)


def read_folders(*sources: FolderSource | Path, **settings: Any) -> Archive:
    """The archive of some folders."""
    return read_sources(*sources, **settings)[0]


# Facts and archives in memory


def envelope(stem: str = "m", path: str = "", *, source: str = "repo", kind: Kind = "memo", **fields: Any) -> Envelope:
    """An envelope in memory. `to` may be one string; `sent` is a text; `content` stands for what the file says."""
    path = path or f"memos/{stem}.openthing"
    to = fields.pop("to", ("director",))
    sent = fields.pop("sent", "2026-05-01T14:30:00Z")
    content = fields.pop("content", "")
    known: dict[str, Any] = {
        "kind": kind,
        "shape": "typed",
        "file": facts(path, source=source, content=f"{path} {content}"),
        "stem": stem,
        "content_sha256": digest(content),
        "sender": "engineer",
        "to": (to,) if isinstance(to, str) else tuple(to),
        "subject": f"About {stem}",
        "sent": read_moment(sent),
        "sent_text": sent,
    }
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
    *found: Fact, sources: Sequence[str] = ("repo", "other"), ledger: Ledger = EMPTY, **rules: Any
) -> tuple[Archive, Ledger]:
    """Resolve facts; `rules` are fields of `Rules`, with `closed` as a set of ids."""
    closed = {id_: Discharge() for id_ in rules.pop("closed", ())}
    known = tuple(SourceInfo(name=name) for name in sources)
    return resolve([parsed_of(fact) for fact in found], Rules(sources=known, closed=closed, **rules), ledger, no_line)


def archive_of(*found: Fact, **settings: Any) -> Archive:
    """The archive of facts."""
    return resolve_facts(*found, **settings)[0]


def parsed_of(fact: Fact) -> Parsed:
    """A fact as if its file had been parsed without findings."""
    if isinstance(fact, Organization):
        return Parsed(source=fact.source, path=fact.path, fact=fact)
    return Parsed(source=fact.file.source, path=fact.file.path, fact=fact)


# Looking at archives


def memo(archive: Archive, id_: str, kind: Kind = "memo") -> Memo:
    """A memo or note by its id."""
    found = archive.artifacts[(kind, id_)]
    assert isinstance(found, Memo)
    return found


def transcript_of(archive: Archive, id_: str) -> Transcript:
    """A transcript by its id."""
    found = archive.artifacts[("transcript", id_)]
    assert isinstance(found, Transcript)
    return found


def findings(archive: Archive, *rules: str) -> list[Finding]:
    """The findings of these rules, or all of them."""
    return [finding for finding in archive.findings if not rules or finding.rule.id in rules]


def rules_found(archive: Archive) -> set[str]:
    """The rules that have findings."""
    return {finding.rule.id for finding in archive.findings}


def links(archive: Archive, ref: Ref) -> dict[str, Ref | str | None]:
    """Where the mentions of an artifact lead, by what is written."""
    return {link.written: link.to or link.url for link in archive.artifacts[ref].links}
