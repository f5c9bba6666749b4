"""Parses memodef 0.1 to 0.4: memos, notes to file and transcripts in `.openthing` files, their bodies, and libraries.

A memo is typed, or in the legacy form, which is always valid: `x.memo.*` extension fields on a generic catdef thing.
Bodies are `.body.md` files (or those that `body_ref` names), libraries `.opencatalog` files that list templates and
memos.

The rules are memodef's SCHEMA as SPEC 2.2 gives them: MUST fields are errors, SHOULD fields warnings. Everything
is kept: a memo that breaks every rule still becomes an envelope, with its findings.
"""

import hashlib
import unicodedata
from collections.abc import Iterable
from typing import Any, Literal

from memosite.facts import rules
from memosite.facts.file import File
from memosite.facts.json_text import clean_text, shown
from memosite.facts.layout import Place, place_of
from memosite.facts.names import (
    BODY_SUFFIX,
    CATALOG_SUFFIX,
    ENVELOPE_SUFFIX,
    is_bare_name,
    read_names,
    read_reference,
    stem_of,
)
from memosite.facts.parsed import (
    BROADCAST,
    FILE,
    BodyFile,
    Discharge,
    Envelope,
    Kind,
    LibraryCard,
    LibraryItem,
    Parsed,
    Participant,
    Text,
)
from memosite.facts.patterns import regex
from memosite.facts.texts import describe_text, summarize
from memosite.facts.values import replace
from memosite.formats.fields import Fields, canonical_json
from memosite.formats.sessions.model import is_put_there
from memosite.formats.system import Adapter
from memosite.formats.systems import RECORD_IDS
from memosite.formats.turns import Turn, all_readings, blocks, settled
from memosite.quotes.citations import cited_in

MEMO_TYPE = "memodef:Memo"
TRANSCRIPT_TYPE = "memodef:Transcript"
LIBRARY_TYPE = "memodef:Library"

_NAMESPACE = "memodef:"
_LEGACY_FIELDS = ("x.memo.from", "x.memo.to", "x.memo.subject", "x.memo.sent")
_GENERIC_TYPES = (None, "thing", "catdef:Thing")
_RESERVED = "x.memodef"
_MEMO_TELLS = ("from", "to", "subject", "sent", "body")
_TRANSCRIPT_TELLS = ("participants", "started", "body_ref")
_IGNORED = ("catdef", "memodef", "type")
_MEMO_FIELDS = ("from", "to", "action_required", "in_reply_to", "thread_id")
_EXTENSIONS = ("", ENVELOPE_SUFFIX, BODY_SUFFIX)
_REDACTION = ("raw", "partial", "redacted")

_ORG_FOLDER = "org"
_ORGDEF = regex(r'"(?:orgdef"\s*:|orgdef:)')
_LOOKED_AT = 100_000


def _is_envelope(file: File) -> bool:
    """Whether the file is a typed memo or transcript, or looks like one whose type is missing or misspelt."""
    fields = file.json.fields
    if fields is None or not file.name.lower().endswith(ENVELOPE_SUFFIX):
        return False
    type_ = fields.get("type")
    if type_ in (MEMO_TYPE, TRANSCRIPT_TYPE):
        return True
    if _is_legacy(file):
        return False
    if isinstance(type_, str) and type_.lower().startswith(_NAMESPACE):
        return type_ != LIBRARY_TYPE
    if "memodef" not in fields and type_ not in _GENERIC_TYPES:
        return False
    least = 2 if "memodef" in fields else 3
    return _tells(fields, _MEMO_TELLS) >= least or _tells(fields, _TRANSCRIPT_TELLS) >= 2


def _is_legacy(file: File) -> bool:
    """Whether the file is a thing that carries a memo in extension fields."""
    fields = file.json.fields or {}
    return file.name.lower().endswith(ENVELOPE_SUFFIX) and any(name in fields for name in _LEGACY_FIELDS)


def is_envelope_like(file: File) -> bool:
    """Whether an object of unknown type is kept as an envelope: it is in a store, and no other tool claims it."""
    fields = file.json.fields
    if fields is None or place_of(file.path) is None:
        return False
    type_ = fields.get("type")
    return not (isinstance(type_, str) and ":" in type_) and _tells(fields, _MEMO_TELLS) >= 3


def _tells(fields: dict[str, Any], names: tuple[str, ...]) -> int:
    return sum(name in fields for name in names)


def parse_envelope(file: File) -> Parsed:
    """Read one typed envelope."""
    values = file.json.fields or {}
    fields = Fields.of_file(file)
    is_transcript = values.get("type") == TRANSCRIPT_TYPE
    if not is_transcript and values.get("type") != MEMO_TYPE:
        is_transcript = _tells(values, _TRANSCRIPT_TELLS) > 1 and _tells(values, _MEMO_TELLS) < 3
        _note_type(fields)
    for name in ("catdef", "memodef"):
        if not fields.has(name):
            fields.note(rules.FIELD_MISSING, f'"{name}" is missing, expected the version')
    return _read_transcript(fields) if is_transcript else _read_memo(fields, shape="typed")


def _note_type(fields: Fields) -> None:
    _, type_ = fields.value("type")
    expected = f'"{MEMO_TYPE}" or "{TRANSCRIPT_TYPE}"'
    if type_ is None:
        fields.note(rules.FIELD_MISSING, f'"type" is missing; it must be {expected}')
    elif isinstance(type_, str):
        fields.note(rules.FIELD_TYPE, f'"type" is "{shown(type_)}", expected {expected}', "type")
    else:
        fields.wrong_type("type", type_, expected)


def _note_reserved(fields: Fields) -> None:
    for name in fields.names_written:
        if name == _RESERVED or name.startswith(f"{_RESERVED}."):
            message = f'"{shown(name)}" is in the reserved namespace {_RESERVED}.*'
            fields.note(rules.FIELD_RESERVED, message, name)


def _read_memo(fields: Fields, *, shape: Literal["typed", "legacy"]) -> Parsed:
    """Read the fields of a memo or note; each may be typed or legacy, the typed one wins (SPEC 2.2, legacy memo)."""
    file = fields.file
    place = place_of(file.path)
    _note_reserved(fields)
    sender = fields.text("from", "x.memo.from", required=True).strip()
    to = fields.names("to", "x.memo.to")
    subject = _subject(fields, shape)
    sent, sent_text = fields.moment("sent", "x.memo.sent", required=True)
    thread_id = fields.optional_text("thread_id", "x.memo.thread_id")
    action_required = fields.flag("action_required", "x.memo.action_required")
    body, shelved = _inline_body(fields, "body", "x.memo.body", required=True)
    body_ref = _body_ref(fields, "body_ref", "x.memo.body_ref", required=False)
    metadata = fields.object("metadata").quiet()
    in_reply_to = _in_reply_to(fields, metadata)
    kind: Kind = "note" if to == (FILE,) or (place is not None and place.store == "notes") else "memo"
    if kind == "note":
        _check_note(fields, place, to, action_required=action_required)
    envelope = Envelope(
        kind=kind,
        shape=shape,
        file=file.facts,
        stem=stem_of(file.name),
        content_sha256=hashlib.sha256(canonical_json(file.json.fields)).hexdigest(),
        sender=sender,
        to=to,
        subject=subject,
        sent=sent,
        sent_text=sent_text,
        in_reply_to=in_reply_to,
        thread_id=thread_id,
        action_required=action_required,
        body=body,
        body_ref=body_ref,
        supersedes=metadata.string_or_strings("supersedes"),
        discharge=_discharge(metadata),
        session=metadata.optional_text("sender_session_arc", "drafted_by_session"),
        tags=_tags(metadata),
        extra=fields.rest(ignore=_ignored(fields), keep=("metadata",)),
    )
    return fields.parsed(envelope, file.data, *shelved)


def _read_transcript(fields: Fields) -> Parsed:
    """Read the fields of a transcript's envelope."""
    file = fields.file
    _note_reserved(fields)
    participants = tuple(_participant(child) for child in fields.objects("participants", required=True))
    started, started_text = fields.moment("started", required=True)
    ended, _ = fields.moment("ended")
    subject = fields.text("subject", required=True)
    body_ref = _body_ref(fields, "body_ref", required=True)
    body: Text | None = None
    shelved: tuple[bytes, ...] = ()
    if fields.has("body"):
        message = '"body" is in a transcript\'s envelope, expected body_ref alone'
        fields.note(rules.TRANSCRIPT_BODY, message, "body")
        body, shelved = _inline_body(fields, "body", required=False)
    for memo_field in filter(fields.has, _MEMO_FIELDS):
        message = f'"{memo_field}" is a field of memos; transcripts have none'
        fields.note(rules.TRANSCRIPT_MEMO_FIELD, message, memo_field)
    said = {name: fields.optional_text(name) for name in ("transport", "capture_tool", "capture_format")}
    metadata = fields.object("metadata").quiet()
    redaction = metadata.optional_text("redaction_status")
    _check_said(fields, said, redaction)
    envelope = Envelope(
        kind="transcript",
        shape="typed",
        file=file.facts,
        stem=stem_of(file.name),
        content_sha256=hashlib.sha256(canonical_json(file.json.fields)).hexdigest(),
        subject=subject,
        sent=started,
        sent_text=started_text,
        ended=ended,
        participants=participants,
        body=body,
        body_ref=body_ref,
        related=tuple(name for written in fields.strings("related_memos") if (name := read_reference(written))),
        transport=said["transport"],
        capture_tool=said["capture_tool"],
        redaction_status=redaction,
        tags=_tags(metadata),
        extra=fields.rest(ignore=_ignored(fields), keep=("metadata", "capture_format")),
    )
    return fields.parsed(envelope, file.data, *shelved)


def parse_broken(file: File, place: Place) -> Parsed:
    """An envelope that cannot be read: kept under its name, so that it is shown raw with its findings."""
    envelope = Envelope(
        kind=place.kind, shape="broken", file=file.facts, stem=stem_of(file.name), content_sha256=file.facts.sha256
    )
    return file.parsed(envelope, file.json.findings, file.data)


def _ignored(fields: Fields) -> tuple[str, ...]:
    """Fields not shown to readers: versions, the type, and the wrapping of the legacy form."""
    thing = fields.peek("thing")
    inner = thing.get("fields") if isinstance(thing, dict) else None
    says_more = not isinstance(inner, dict) or set(inner) - {"Title"} or set(thing) - {"template", "fields"}
    return _IGNORED if says_more else (*_IGNORED, "thing")


def _subject(fields: Fields, shape: Literal["typed", "legacy"]) -> str:
    """The subject; the legacy form may have it as the title of the thing alone."""
    if shape == "legacy" and not fields.has("subject") and not fields.has("x.memo.subject"):
        thing = fields.peek("thing")
        inner = thing.get("fields") if isinstance(thing, dict) else None
        title = inner.get("Title") if isinstance(inner, dict) else None
        if isinstance(title, str) and title.strip():
            return clean_text(title)
    return fields.text("subject", "x.memo.subject", required=True)


def _inline_body(fields: Fields, *names: str, required: bool) -> tuple[Text | None, tuple[bytes, ...]]:
    text = fields.text(*names, required=required)
    if not text.strip():
        return None, ()
    body, data = describe_text(text, RECORD_IDS)
    return replace(body, citations=cited_in(text)), (data,)


def _body_ref(fields: Fields, *names: str, required: bool) -> str | None:
    body_ref = fields.text(*names, required=required).strip()
    if body_ref and not is_bare_name(body_ref):
        name, _ = fields.value(*names)
        fields.note(rules.BODY_REF_PATH, f'"{name}" is "{shown(body_ref, 120)}", expected a bare file name', name)
    return body_ref or None


def _in_reply_to(fields: Fields, metadata: Fields) -> tuple[str, ...]:
    """What this memo says it answers, as written, from the first of the three fields that is not empty."""
    for owner, name in ((fields, "in_reply_to"), (fields, "x.memo.in_reply_to"), (metadata, "in_reply_to")):
        values = owner.string_or_strings(name)
        if not values:
            continue
        if isinstance(owner.peek(name), list):
            owner.note(rules.REPLY_PATH, f'"{name}" is an array, expected a bare file name', name)
        elif read_names(values[0]) and not _is_file_name(values[0], read_reference(values[0]) or ""):
            owner.note(rules.REPLY_PATH, f'"{name}" is "{shown(values[0], 120)}", expected a bare file name', name)
        return values
    return ()


def _is_file_name(written: str, stem: str) -> bool:
    """Whether a reference was a file name and nothing else; its extension may be left out."""
    name = unicodedata.normalize("NFC", written)
    return is_bare_name(name) and name.startswith(stem) and name[len(stem) :].lower() in _EXTENSIONS


def _discharge(metadata: Fields) -> Discharge | None:
    """The value of `metadata.discharged`: an object, or in practice also `true`, a date, or a list of objects."""
    _, value = metadata.value("discharged")
    if isinstance(value, list):
        value = next((item for item in value if isinstance(item, dict)), None)
    if isinstance(value, dict):
        if all(entry in (None, "", False) for entry in value.values()):
            return None  # a template that was not filled in
        said = Fields(metadata.file, value)
        return Discharge(**{name: said.optional_text(name) for name in ("on", "by", "via", "disposition")})
    if isinstance(value, str):
        text = metadata.text("discharged").strip()
        return None if text.lower() in {"", "false", "no"} else Discharge(on=text)
    return Discharge() if value is True else None


def _tags(metadata: Fields) -> tuple[str, ...]:
    _, value = metadata.value("tags")
    tags = value.split(",") if isinstance(value, str) else metadata.strings("tags")
    return tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))


def _check_note(fields: Fields, place: Place | None, to: tuple[str, ...], *, action_required: bool) -> None:
    whom = "to" if fields.has("to") else "x.memo.to"
    if action_required:
        name = "action_required" if fields.has("action_required") else "x.memo.action_required"
        fields.note(rules.NOTE_ACTION, f'"{name}" is true, but a note to file has no recipient', name)
    if place is not None and place.store == "memos":
        fields.note(rules.NOTE_IN_MAILBOX, 'the memo is to "file" and in a mailbox, expected notes/<role>/', whom)
    if to and to != (FILE,):
        said = "everybody" if to == (BROADCAST,) else shown(", ".join(to), 80)
        fields.note(rules.NOTE_RECIPIENT, f'"{whom}" is "{said}" for a memo below notes/, expected "file"', whom)


def _check_said(fields: Fields, said: dict[str, str | None], redaction: str | None) -> None:
    for name, text in (*said.items(), ("metadata.redaction_status", redaction)):
        if text is None and isinstance(fields.peek(name), str | None):
            fields.note(rules.FIELD_SHOULD, f'"{name}" is missing, recommended for transcripts')
    if redaction is not None and redaction not in _REDACTION:
        message = f'"metadata.redaction_status" is "{shown(redaction)}", expected {", ".join(_REDACTION)}'
        fields.note(rules.FIELD_SHOULD, message, "metadata", "redaction_status")


def _participant(fields: Fields) -> Participant:
    session, identity = fields.optional_text("session_arc"), fields.optional_text("identity")
    position = fields.text("position", required=True).strip()
    if session is None and identity is None:
        message = f'participant "{shown(position)}" has neither session_arc nor identity'
        fields.note(rules.FIELD_MISSING, message)
    return Participant(position=position, session_arc=session, identity=identity, extra=fields.rest())


# Libraries


def _is_library(file: File) -> bool:
    """Whether the file is a catalog of memodef templates or memos."""
    is_named = file.name.lower().endswith((CATALOG_SUFFIX, ENVELOPE_SUFFIX))
    return is_named and (file.json.fields or {}).get("type") == LIBRARY_TYPE


def _parse_library(file: File) -> Parsed:
    """Read one library; its items are at the top or under `data`."""
    fields = Fields.of_file(file)
    entries = fields.objects("items") or fields.object("data").objects("items")
    id_ = fields.text("id").strip() or stem_of(file.name)
    card = LibraryCard(
        file=file.facts,
        id=id_,
        name=fields.text("name").strip() or id_,
        version=fields.text("version"),
        description=fields.text("description"),
        items=tuple(map(_item, entries)),
        extra=fields.rest(ignore=_IGNORED),
    )
    return fields.parsed(card, file.data)


def _item(fields: Fields) -> LibraryItem:
    id_ = fields.text("id").strip()
    return LibraryItem(
        id=id_,
        name=fields.text("name").strip() or id_,
        version=fields.text("version"),
        description=fields.text("description"),
        file=fields.text("file").strip(),
        extra=fields.rest(),
    )


def broken_kind(file: File) -> Literal["library", "orgdef"] | None:
    """The intended kind of a file that is not a JSON object, by its name, place and content; None if unknown."""
    name = file.name.lower()
    if not name.endswith((CATALOG_SUFFIX, ENVELOPE_SUFFIX)) or not file.text.lstrip().startswith("{"):
        return None
    said = file.text[:_LOOKED_AT]
    if _ORGDEF.search(said) or (_ORG_FOLDER in file.path.split("/")[:-1] and LIBRARY_TYPE not in said):
        return "orgdef"
    return "library" if LIBRARY_TYPE in said or name.endswith(CATALOG_SUFFIX) else None


def parse_broken_catalog(file: File, kind: Literal["library", "orgdef"]) -> Parsed:
    """Keep a catalog or an orgdef that cannot be read, to be shown raw with its findings (SPEC 2.2)."""
    id_ = stem_of(file.name) or kind
    return file.parsed(LibraryCard(file=file.facts, id=id_, name=id_, broken=kind), file.json.findings, file.data)


# Bodies


def parse_body(file: File) -> Parsed:
    """Read one body; of those below transcripts/, also the number of turns, their times and the text of the first."""
    text = file.markdown
    known, data = describe_text(text, RECORD_IDS)
    place = place_of(file.path)
    findings = file.text_findings
    if place is not None and place.store == "transcripts":
        readings = all_readings(text)
        forms = []
        for form, found in readings:
            forms.append(replace(form, summary=summarize(_first_words(found.turns) or text)))
        known = replace(settled(replace(known, turns=0, forms=tuple(forms)), None), forms=tuple(forms))
        for found in [found for _, found in readings if found.rest][:1]:
            message = f"it holds more than {len(found.turns):,} turns; the rest is shown unchanged"
            line = text.count("\n", 0, len(text) - len(found.rest)) + 1
            findings += (file.finding_at(line, rules.FILE_BOUNDED, message),)
    else:
        known = replace(known, citations=cited_in(text))
    return file.parsed(BodyFile(file=file.facts, text=known), findings, file.data, data)


def _first_words(turns: Iterable[Turn]) -> str:
    """What was said first, without tool calls and what a harness put there; "" if nothing was."""
    said = (block.text for turn in turns for block in blocks(turn.text) if block.kind == "speech")
    return next((words for words in said if words.strip() and not is_put_there(words)), "")


MEMODEF = Adapter(_is_envelope, parse_envelope)
LEGACY = Adapter(_is_legacy, lambda file: _read_memo(Fields.of_file(file), shape="legacy"))
LIBRARY = Adapter(_is_library, _parse_library)
BODY = Adapter(lambda file: file.name.lower().endswith(BODY_SUFFIX), parse_body)
