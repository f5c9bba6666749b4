"""Joins envelopes with their bodies, within one source (SPEC 2.2): same folder first, then the sibling mailboxes."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from memosite.facts import rules
from memosite.facts.findings import Finding, Location, Rule
from memosite.facts.layout import Place, place_of, sibling_folders
from memosite.facts.names import BODY_SUFFIX, ENVELOPE_SUFFIX, read_stamped_name, stem_of
from memosite.facts.parsed import FILE, BodyFile, Envelope, FileFacts, LineOf
from memosite.run.recall import FORGETFUL, Recall

_ABSOLUTE = re.compile(r"/|[A-Za-z]:/|[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedCopy:
    """One file of an artifact with the body that belongs to it."""

    envelope: Envelope
    body: BodyFile | None


def body_candidates(envelope: Envelope, *, memo_folders: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The paths, best first, where the body of an envelope may be; never outside its folder and its store.

    As written from its own folder, then the base name there and in the sibling mailboxes. The written path
    is untrusted; an envelope is never a body.
    """
    path = envelope.file.path
    folders = sibling_folders(path, memo_folders=memo_folders)
    if envelope.body_ref is None:
        return tuple(f"{folder}/{envelope.stem}{BODY_SUFFIX}".lstrip("/") for folder in folders)
    written = envelope.body_ref.replace("\\", "/")
    base = written.rpartition("/")[2]
    found = []
    if base != written and not _ABSOLUTE.match(written):
        found.append(posixpath.normpath(posixpath.join(folders[0], written)))
    if base not in {"", ".", ".."}:
        found += [f"{folder}/{base}".lstrip("/") for folder in folders]
    place = place_of(path, memo_folders=memo_folders)
    store = place.folder if place is not None else folders[0]
    return tuple(
        dict.fromkeys(
            candidate
            for candidate in found
            if (
                candidate.startswith(f"{store}/")
                or (not store and "/" not in candidate and candidate not in {".", ".."})
            )
            and "\0" not in candidate
            and not candidate.lower().endswith(ENVELOPE_SUFFIX)
        )
    )


def join_bodies(
    envelopes: Iterable[Envelope],
    bodies: Mapping[tuple[str, str], BodyFile],
    line_of: LineOf,
    *,
    memo_folders: tuple[str, ...] = (),
    recall: Recall = FORGETFUL,
) -> tuple[tuple[JoinedCopy, ...], tuple[Finding, ...]]:
    """Give each envelope its body, and each remaining body a new envelope; both with findings.

    `bodies` is keyed by source and path.
    """
    joined: list[JoinedCopy] = []
    findings: list[Finding] = []
    used: set[tuple[str, str]] = set()
    candidates, copy = recall.calls(_candidates), recall.calls(_copy)
    for envelope in envelopes:
        source, here = envelope.file.source, (envelope.file.source, envelope.file.path)
        paths = candidates(here, envelope, memo_folders)
        body = next((bodies[source, path] for path in paths if (source, path) in bodies), None)
        if body is not None:
            used.add((source, body.file.path))
        if body is None and envelope.body_ref is not None:
            findings.append(_missing(envelope, line_of))
        one, odd = copy(here, envelope, body, memo_folders)
        joined.append(one)
        findings += odd
    for key in sorted(bodies.keys() - used):
        place = place_of(key[1], memo_folders=memo_folders)
        if place is None or not key[1].lower().endswith(BODY_SUFFIX):
            continue
        body = bodies[key]
        joined.append(recall.calls(_bare_copy)(key, body, place))
        message = f"no envelope names {body.file.name}"
        findings.append(_finding(rules.BODY_WITHOUT_ENVELOPE, body.file, message))
    return tuple(joined), tuple(findings)


def _candidates(envelope: Envelope, memo_folders: tuple[str, ...]) -> tuple[str, ...]:
    return body_candidates(envelope, memo_folders=memo_folders)


def _copy(
    envelope: Envelope, body: BodyFile | None, memo_folders: tuple[str, ...]
) -> tuple[JoinedCopy, tuple[Finding, ...]]:
    odd = tuple(_join_findings(envelope, body, memo_folders)) if body is not None else ()
    return JoinedCopy(envelope=_read_off_name(envelope), body=body), odd


def _bare_copy(body: BodyFile, place: Place) -> JoinedCopy:
    return JoinedCopy(envelope=_bare_envelope(body.file, place), body=body)


def _missing(envelope: Envelope, line_of: LineOf) -> Finding:
    message = f'"body_ref" is "{(envelope.body_ref or "")[:120]}"; expected a file in this or a sibling mailbox'
    line = line_of(envelope.file, "body_ref") or line_of(envelope.file, "x.memo.body_ref")
    return _finding(rules.BODY_REF_MISSING, envelope.file, message, line)


def _join_findings(envelope: Envelope, body: BodyFile, memo_folders: tuple[str, ...]) -> Iterator[Finding]:
    if envelope.body_ref is None and envelope.shape != "broken":
        message = f'{body.file.name} is beside it, but "body_ref" is missing'
        yield _finding(rules.BODY_NOT_REFERENCED, envelope.file, message)
    if envelope.file.path.rpartition("/")[0] != body.file.path.rpartition("/")[0]:
        mine = place_of(envelope.file.path, memo_folders=memo_folders)
        its = place_of(body.file.path, memo_folders=memo_folders)
        if mine is not None and its is not None and mine.mailbox != its.mailbox:
            message = f"the envelope is in {_shown(mine)}, its body in {_shown(its)}"
            yield _finding(rules.BODY_SPLIT, envelope.file, message)
    if envelope.kind == "transcript" and body.text.turns == 0 and body.text.summary:
        yield _finding(rules.TRANSCRIPT_FORM, body.file, "no turns could be told apart")


def _shown(place: Place) -> str:
    return f"{place.folder}/" if place.mailbox in {None, "flat"} else f"{place.folder}/{place.mailbox}/"


def _finding(rule: Rule, file: FileFacts, message: str, line: int | None = None) -> Finding:
    return Finding(rule=rule, location=Location(source=file.source, path=file.path, line=line), message=message)


def _bare_envelope(file: FileFacts, place: Place) -> Envelope:
    """An envelope for a body that has none, made from its file name."""
    envelope = Envelope(kind=place.kind, shape="bare", file=file, stem=stem_of(file.name), content_sha256=file.sha256)
    return _read_off_name(envelope)


def _read_off_name(envelope: Envelope) -> Envelope:
    """An envelope without sender and recipient, with those of its file name."""
    if envelope.shape not in {"bare", "broken"} or envelope.kind == "transcript":
        return envelope
    name = read_stamped_name(envelope.stem)
    return replace(
        envelope,
        kind="note" if name.recipient == FILE else envelope.kind,
        sender=name.sender or "",
        to=(name.recipient,) if name.recipient else (),
    )
