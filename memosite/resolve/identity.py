"""Identity: which files are copies of one artifact, with which bodies, and which id each artifact has (SPEC 2.2, 3).

    envelopes that count ─► with their bodies ─► copies and variants of one artifact ─► its id

An envelope counts below a `memos/`, `notes/` or `transcripts/` folder, where an orgdef's `x.org.memo_location`
says, or where the configuration includes it; elsewhere it is named in a note and left out.

Documents, libraries and records have their ids from their path or their own id (`<source>.<path>` with `/` as `.` for
documents, `<source>.<key>` for records). Where two artifacts claim one id, or ids that differ only by case, the ledger
decides; else the earliest memo keeps it, and of what has no sender the first in the order of the sources.
"""

import datetime as dt
import posixpath
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from functools import cached_property
from math import inf

from memosite.archive import model
from memosite.archive.ledger import Ledger, identity_key
from memosite.facts import rules
from memosite.facts.contents import bare_envelope
from memosite.facts.file import NAMED, RECORDS
from memosite.facts.findings import Finding, Placed, finding_in
from memosite.facts.layout import Place, matches_any, memo_folder, place_of, sibling_folders
from memosite.facts.names import BODY_SUFFIX, ENVELOPE_SUFFIX, make_id, read_stamped_name, short_hash, stem_of
from memosite.facts.parsed import (
    FILE,
    NOTHING_SAID,
    BodyFile,
    DocumentHead,
    Envelope,
    FileFacts,
    Kind,
    LibraryCard,
    LineOf,
    Organization,
    Parsed,
    RecordCard,
    Ref,
    Seat,
    SessionFile,
    Text,
    Withheld,
)
from memosite.facts.patterns import regex
from memosite.facts.times import Moment, read_stamp
from memosite.facts.values import Struct, Value, field, replace
from memosite.formats.systems import home_of, is_part, system_of
from memosite.formats.turns import fits, settled
from memosite.resolve.lives import EntryLives, entry_keys, former_names
from memosite.run.recall import FORGETFUL, Recall

# Sorts the facts of single files by kind, and leaves out envelopes in other places (SPEC 2.2).


class Collected(Value):
    """Facts by kind, each in the order of the sources, then by path; and the folders that orgdefs name for memos."""

    envelopes: tuple[Envelope, ...]
    bodies: Mapping[tuple[str, str], BodyFile]
    organizations: tuple[Organization, ...]
    libraries: tuple[LibraryCard, ...]
    documents: tuple[DocumentHead, ...]
    memo_folders: tuple[str, ...]
    findings: tuple[Finding, ...]


def memo_folders(organizations: Iterable[Organization]) -> tuple[str, ...]:
    """The folders that `x.org.memo_location` of these organizations names, beside `memos`."""
    named = (memo_folder(said) for organization in organizations for said in organization.memo_locations)
    return tuple(sorted({folder for folder in named if folder}))


def operational_place(path: str, *, memo_folders: tuple[str, ...], include: Iterable[str]) -> Place | None:
    """The place of an envelope if it counts: in a store, or in an included folder, which is read as flat memos."""
    place = place_of(path, memo_folders=memo_folders)
    if place is None and matches_any(path, include):
        folder = path.rpartition("/")[0]
        return Place(store="memos", root=folder, folder=folder, mailbox="flat")
    return place


def source_order(sources: Iterable[model.SourceInfo]) -> Callable[[Placed], tuple[int, str, str]]:
    """The key that sorts files by their source, in this order, then by path."""
    numbers = {source.name: number for number, source in enumerate(sources)}
    return lambda file: (numbers.get(file.source, len(numbers)), file.source, file.path)


def collect(parsed: Iterable[Parsed], sources: tuple[model.SourceInfo, ...], *, is_loose: bool) -> Collected:
    """Sort the facts, records apart; with `is_loose`, envelopes count wherever they are."""
    include = {source.name: source.include for source in sources}
    ordered = sorted(parsed, key=source_order(sources))
    listed = tuple(file.fact for file in ordered if isinstance(file.fact, Organization))
    folders = memo_folders(listed)
    findings: list[Finding] = []
    envelopes: list[Envelope] = []
    for file in ordered:
        if isinstance(file.fact, SessionFile):
            envelopes += file.fact.sessions
        if isinstance(file.fact, Envelope):
            included = include.get(file.source, ())
            if not (is_loose or operational_place(file.path, memo_folders=folders, include=included)):
                message = f"a {file.fact.kind} outside memos/, notes/ and transcripts/"
                findings.append(finding_in(file, rules.OUTSIDE_CONVENTION, message))
                continue
            envelopes.append(file.fact)
        if not is_part(file):
            findings.extend(file.findings)
    envelopes, left_out = _newest_sessions(envelopes)
    organizations, differing = _distinct(listed)
    bodies = (file.fact for file in ordered if isinstance(file.fact, BodyFile))
    return Collected(
        envelopes=tuple(envelopes),
        bodies={body.file.place: body for body in bodies},
        organizations=organizations,
        libraries=tuple(file.fact for file in ordered if isinstance(file.fact, LibraryCard)),
        documents=tuple(file.fact for file in ordered if isinstance(file.fact, DocumentHead)),
        memo_folders=folders,
        findings=(*findings, *left_out, *differing),
    )


MOST_SESSIONS = 5_000
"""The most sessions of one source, the newest (SPEC 9)."""


def _newest_sessions(envelopes: list[Envelope]) -> tuple[list[Envelope], list[Finding]]:
    """The envelopes without those of the oldest sessions of a source that has too many; a note for each source."""
    count = Counter(one.file.source for one in envelopes if one.log)
    findings = []
    for source, number in count.items():
        if number <= MOST_SESSIONS:
            continue
        logs = [one for one in envelopes if one.log and one.file.source == source]
        logs.sort(key=lambda one: (one.sent.instant.timestamp() if one.sent else -inf, one.stem))
        oldest = {id(one) for one in logs[: number - MOST_SESSIONS]}
        envelopes = [one for one in envelopes if id(one) not in oldest]
        message = f"found {number:,} sessions, expected at most {MOST_SESSIONS:,}: the oldest are not shown"
        findings.append(rules.SESSION_BOUNDS.finding(message, source=source))
    return envelopes, findings


def with_position(envelope: Envelope, globs: Iterable[tuple[str, str]], person: str = "") -> Envelope:
    """The envelope of a session with the position that the first glob gives to its file, and with who typed."""
    log = envelope.log
    if log is None:
        return envelope
    named = next((position for glob, position in globs if matches_any(envelope.file.path, (glob,))), "")
    placed = replace(log, position=named or log.position, person=person)
    return replace(envelope, log=placed) if placed != log else envelope


def _distinct(listed: Iterable[Organization]) -> tuple[tuple[Organization, ...], tuple[Finding, ...]]:
    """Each organization once: of copies, as forks have them, the first counts; a finding if they differ."""
    first: dict[tuple[str, ...], Organization] = {}
    findings = []
    for organization in listed:
        key = (organization.id,) if organization.id else (organization.source, organization.path)
        counted = first.setdefault(key, organization)
        if replace(organization, source=counted.source, path=counted.path, rest=counted.rest) != counted:
            message = f'"{organization.id[:60]}" is also in {counted.source}/{counted.path}, which counts'
            findings.append(finding_in(organization, rules.COPIES_DIFFER, message))
    return tuple(first.values()), tuple(findings)


def within_bounds(collected: Collected, ledger: Ledger) -> Collected:
    """With those positions of orgdefs that get pages (SPEC 9).

    They are the first of each file, those that had a page before, and those that an envelope names, which would get a
    page as unlisted ones. What is left of a file is shown as a library.
    """
    organizations, libraries = [], list(collected.libraries)
    paged = ledger.position_ids
    if any(orgdef.more_seats for orgdef in collected.organizations):
        paged |= {make_id(name) for envelope in collected.envelopes for name in _names(envelope)}
    for orgdef in collected.organizations:
        known = tuple(seat for seat in orgdef.more_seats if _has_page(orgdef, seat, paged))
        if orgdef.rest and len(known) < len(orgdef.more_seats):
            libraries.append(orgdef.rest)
        seats = orgdef.seats + known
        organizations.append(replace(orgdef, seats=seats, more_seats=(), rest=None) if orgdef.rest else orgdef)
    return replace(collected, organizations=tuple(organizations), libraries=tuple(libraries))


def _names(envelope: Envelope) -> Iterable[str]:
    """The names of positions in an envelope that may make pages."""
    if not envelope.is_speechless:
        participants = (participant.position for participant in envelope.participants[:NAMED])
        yield from (envelope.sender, *envelope.to[:NAMED], *participants)


def _has_page(organization: Organization, seat: Seat, paged: Set[str]) -> bool:
    id_ = make_id(seat.id)
    return not paged.isdisjoint((id_, f"{make_id(organization.id)}~{id_}"))


# Joins envelopes with their bodies, within one source (SPEC 2.2): same folder first, then the sibling mailboxes.


_ABSOLUTE = regex(r"/|[A-Za-z]:/|[A-Za-z][A-Za-z0-9+.-]*://")


class JoinedCopy(Value):
    """One file of an artifact with the body that belongs to it."""

    envelope: Envelope
    body: BodyFile | None

    @property
    def files(self) -> tuple[FileFacts, FileFacts | None]:
        """The file of the envelope, and that of the body."""
        return self.envelope.file, self.body.file if self.body else None


def body_candidates(envelope: Envelope, memo_folders: tuple[str, ...] = ()) -> tuple[str, ...]:
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

    def is_inside(path: str) -> bool:
        return path.startswith(f"{store}/") or (not store and "/" not in path and path not in {".", ".."})

    found = [path for path in found if "\0" not in path and not path.lower().endswith(ENVELOPE_SUFFIX)]
    return tuple(dict.fromkeys(filter(is_inside, found)))


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
    candidates, copy = recall.calls(body_candidates), recall.calls(_copy)
    for envelope in envelopes:
        source, here = envelope.file.source, envelope.file.place
        paths = candidates(here, envelope, memo_folders)
        body = next((bodies[source, path] for path in paths if (source, path) in bodies), None)
        if body is not None:
            used.add((source, body.file.path))
        if body is None and envelope.body_ref is not None:
            message = f'"body_ref" is "{envelope.body_ref[:120]}"; expected a file in this or a sibling mailbox'
            line = line_of_key(line_of, envelope.file, "body_ref")
            findings.append(finding_in(envelope.file, rules.BODY_REF_MISSING, message, line))
        one, odd = copy(here, envelope, body, memo_folders)
        joined.append(one)
        findings += odd
    for key in sorted(bodies.keys() - used):
        place = place_of(key[1], memo_folders=memo_folders)
        if place is None or not key[1].lower().endswith(BODY_SUFFIX):
            continue
        body = bodies[key]
        joined.append(recall.calls(_bare_copy)(key, body, place))
        findings.append(finding_in(body.file, rules.BODY_WITHOUT_ENVELOPE, f"no envelope names {body.file.name}"))
    return tuple(joined), tuple(findings)


def line_of_key(line_of: LineOf, file: FileFacts, key: str) -> int | None:
    """The line of a field of an envelope, in either of the forms in which it may be written."""
    lines = (line_of(file, name) for name in (key, f"x.memo.{key}", f"metadata.{key}"))
    return next(filter(None, lines), None)


def _copy(
    envelope: Envelope, body: BodyFile | None, memo_folders: tuple[str, ...]
) -> tuple[JoinedCopy, tuple[Finding, ...]]:
    if body is not None:
        body = replace(body, text=settled(body.text, envelope.sent.instant if envelope.sent else None))
    odd = tuple(_join_findings(envelope, body, memo_folders)) if body is not None else ()
    return JoinedCopy(envelope=_read_off_name(envelope), body=body), odd


def _bare_copy(body: BodyFile, place: Place) -> JoinedCopy:
    """A body that has no envelope, with one that is made from its file name."""
    body = replace(body, text=settled(body.text, None))
    file = body.file
    envelope = Envelope(kind=place.kind, shape="bare", file=file, stem=stem_of(file.name), content_sha256=file.sha256)
    return JoinedCopy(envelope=_read_off_name(envelope), body=body)


def _join_findings(envelope: Envelope, body: BodyFile, memo_folders: tuple[str, ...]) -> Iterator[Finding]:
    if envelope.body_ref is None and envelope.shape != "broken":
        message = f'{body.file.name} is beside it, but "body_ref" is missing'
        yield finding_in(envelope.file, rules.BODY_NOT_REFERENCED, message)
    if envelope.file.folder != body.file.folder:
        mine = place_of(envelope.file.path, memo_folders=memo_folders)
        its = place_of(body.file.path, memo_folders=memo_folders)
        if mine is not None and its is not None and mine.mailbox != its.mailbox:
            message = f"the envelope is in {_shown(mine)}, its body in {_shown(its)}"
            yield finding_in(envelope.file, rules.BODY_SPLIT, message)
    if envelope.kind == "transcript":
        yield from _turn_findings(envelope, body)


def _turn_findings(envelope: Envelope, body: BodyFile) -> Iterator[Finding]:
    forms = body.text.forms
    if len(forms) > 1:
        said = f'"started" is {envelope.sent_text}' if envelope.sent else 'there is no "started"'
        message = f"its stamps can be read with the day or the month first, and {said}; expected one that tells which"
        yield finding_in(body.file, rules.TRANSCRIPT_FORM, message)
    elif body.text.turns == 0 and body.text.summary:
        yield finding_in(body.file, rules.TRANSCRIPT_FORM, "no turns could be told apart")
    for form in forms if len(forms) == 1 else ():
        if form.span and not fits(form, envelope.sent.instant if envelope.sent else None):
            message = f'"started" is {envelope.sent_text}, the first stamp {form.span[0].isoformat(" ")}'
            yield finding_in(body.file, rules.TRANSCRIPT_STARTED, message)
        if form.passed:
            do = "1 heading does" if form.passed == 1 else f"{form.passed:,} headings do"
            message = f"{do} not begin a turn, since times would go back, or have another form; this is the first"
            yield finding_in(body.file, rules.TRANSCRIPT_PASSED, message, form.passed_line)


def _shown(place: Place) -> str:
    return f"{place.folder}/" if place.mailbox in {None, "flat"} else f"{place.folder}/{place.mailbox}/"


def _read_off_name(envelope: Envelope) -> Envelope:
    """An envelope without sender and recipient, with those of its file name."""
    if not envelope.is_speechless or envelope.kind == "transcript":
        return envelope
    name = read_stamped_name(envelope.stem)
    return replace(
        envelope,
        kind="note" if name.recipient == FILE else envelope.kind,
        sender=name.sender or "",
        to=(name.recipient,) if name.recipient else (),
    )


# Artifacts without content: all copies of one are without, and the artifact has no digest of what they held.


def alike(copies: tuple[JoinedCopy, ...]) -> tuple[JoinedCopy, ...]:
    """The copies of one artifact: if one of them, or its body, has no content, none of them has any."""
    reasons = (copy.envelope.withheld or (copy.body.withheld if copy.body else None) for copy in copies)
    withheld = next(filter(None, reasons), None)
    if withheld is None:
        return copies
    return tuple(
        JoinedCopy(
            envelope=bare_envelope(copy.envelope, withheld),
            body=copy.body.without_content(withheld) if copy.body else None,
        )
        for copy in copies
    )


def without_digests(artifact: model.Artifact) -> model.Artifact:
    """An artifact whose facts have no content, as it may be published; any other as it is.

    Of its files only those digests stay that `Withheld.hashes` names. A record beside one without content has none of
    the file that they share, nor has a session of a log that holds a secret.
    """
    withheld = _reason(artifact)
    if withheld is None:
        is_alone = isinstance(artifact, model.Record) and artifact.card.is_alone
        if isinstance(artifact, model.Transcript) and artifact.log:
            is_alone = artifact.is_redacted or any(
                one.envelope.log and one.envelope.log.is_alone for one in artifact.variants
            )
        return _hide_files(artifact, ()) if is_alone else artifact
    artifact = _hide_files(artifact, withheld.hashes)
    if isinstance(artifact, model.Memo | model.Transcript):
        return replace(artifact, broken=False, withheld=withheld)
    return replace(artifact, withheld=withheld)


def _hide_files(artifact: model.Artifact, kept: Collection[str]) -> model.Artifact:
    """An artifact whose files have no digests but those that are kept."""
    copies = tuple(replace(copy, file=_hidden(copy.file, kept)) for copy in artifact.copies)
    artifact = replace(artifact, copies=copies)
    match artifact:
        case model.Memo() | model.Transcript():
            shown = (variant.envelope for variant in artifact.variants)
            hidden = (replace(one, file=_hidden(one.file, kept), content_sha256="") for one in shown)
            return replace(artifact, variants=tuple(model.Variant(envelope=envelope) for envelope in hidden))
        case model.Library():
            return replace(artifact, card=replace(artifact.card, file=_hidden(artifact.card.file, kept)))
        case model.Record():
            return replace(artifact, card=replace(artifact.card, file=_hidden(artifact.card.file, kept)))
        case model.Document():
            return replace(artifact, head=replace(artifact.head, file=_hidden(artifact.head.file, kept)))
    return artifact


def _reason(artifact: model.Artifact) -> Withheld | None:
    match artifact:
        case model.Memo() | model.Transcript():
            return artifact.envelope.withheld
        case model.Library() | model.Record():
            return artifact.card.withheld
        case model.Document():
            return artifact.head.withheld
    return None


def _hidden(file: FileFacts, kept: Collection[str]) -> FileFacts:
    """A file without its digests and its size, which tell of its content."""
    digest = file.sha256 if file.sha256 in kept else ""
    return replace(file, sha256=digest, bytes=0, blob="")


# Groups copies, and gives each group its id.


class CopyGroup(Struct, kw_only=True, dict=True):
    """The copies of one artifact, and the id they were given; `variants` are in display order.

    `plain` is the id that its name alone gives, `former` are ids by names that its files had before. They and `id` are
    set in each resolve, even if the group is memoized: memoized calls must get the id as a separate argument.
    """

    kind: Kind
    stem: str
    sender: str
    to: tuple[str, ...]
    sent: str
    instant: dt.datetime
    copies: tuple[JoinedCopy, ...] = ()
    variants: list[model.Variant] = field(default_factory=list)
    variant_of: list[int] = field(default_factory=list)
    plain: str = ""
    id: str = ""
    former: tuple[str, ...] = ()

    @property
    def ref(self) -> Ref:
        """The artifact's name in the archive."""
        return (self.kind, self.id)

    @cached_property
    def key(self) -> str:
        """The key that distinguishes it from other artifacts of its name."""
        return self.key_of(self.stem)

    def key_of(self, stem: str) -> str:
        """The key that it would have with another name."""
        if self.copies and (log := self.copies[0].envelope.log):
            return identity_key(log.system, log.key, "", "")
        is_speechless = bool(self.variants) and self.envelope.is_speechless
        return identity_key(stem, self.sender, ",".join(self.to), "?" if is_speechless else self.sent)

    @property
    def date(self) -> Moment | None:
        """`sent` or `started`, else the name's stamp (SPEC 3, dates)."""
        return self.envelope.sent or read_stamped_name(self.stem).date

    @property
    def sent_at(self) -> dt.datetime:
        """When it was sent, as it says itself, else as its name's stamp does."""
        stamp = read_stamped_name(self.stem).date if self.instant == model.UNDATED else None
        return stamp.instant if stamp else self.instant

    @property
    def envelope(self) -> Envelope:
        """The envelope of the variant shown first."""
        return self.variants[0].envelope


FormerPaths = Callable[[FileFacts], Iterable[str]]
"""Where a file was before, the oldest first."""


LastChange = Callable[[JoinedCopy], float]
"""When a copy was last committed, in seconds; the beginning of time if that is not known."""


_Key = tuple[object, ...]


def group_copies(
    joined: Iterable[JoinedCopy], last_change: LastChange = lambda _copy: -inf, *, recall: Recall = FORGETFUL
) -> list[CopyGroup]:
    """Group the copies, in the order of the sources, and find the variants among the copies of each artifact."""
    found: dict[_Key, list[JoinedCopy]] = {}
    speechless: list[JoinedCopy] = []
    key_of = recall.calls(_key)
    for copy in joined:
        envelope = copy.envelope
        if envelope.is_speechless:
            speechless.append(copy)
        else:
            found.setdefault(key_of(envelope.file.place, envelope), []).append(copy)
    by_name = _by_name(found) if speechless else {}
    for copy in speechless:  # only their name is known: copies of the one artifact of that name
        name = _name(copy.envelope)
        for place in (name, (*name, copy.envelope.file.source)):
            if len(named := by_name.get(place, ())) == 1:
                found[next(iter(named))].append(copy)
                break
        else:
            found.setdefault(name, []).append(copy)
    grouped = recall.calls(_group)
    return [
        grouped(key, alike(tuple(copies)), tuple(map(last_change, copies)) if len(copies) > 1 else ())
        for key, copies in found.items()
    ]


def _by_name(found: Mapping[_Key, Iterable[JoinedCopy]]) -> dict[_Key, set[_Key]]:
    """The keys of artifacts by name, and by name and source."""
    by_name: dict[_Key, set[_Key]] = defaultdict(set)
    for key, copies in found.items():
        name = key[:2]
        by_name[name].add(key)
        for copy in copies:
            by_name[(*name, copy.envelope.file.source)].add(key)
    return by_name


def _name(envelope: Envelope) -> _Key:
    return (envelope.kind == "transcript", unicodedata.normalize("NFC", envelope.stem))


def _key(envelope: Envelope) -> _Key:
    """Copies are of one name, sender, recipient and time; `Z` and `+00:00` are one time."""
    if log := envelope.log:
        return (True, log.system, log.key, "")
    sent = envelope.sent_text.strip()
    instant = envelope.sent.instant if envelope.sent else model.UNDATED
    return (*_name(envelope), _sender(envelope), envelope.to, sent if instant == model.UNDATED else instant)


def _sender(envelope: Envelope) -> str:
    if envelope.kind == "transcript":
        return ",".join(participant.position for participant in envelope.participants)
    return envelope.sender


def _group(copies: tuple[JoinedCopy, ...], changes: tuple[float, ...]) -> CopyGroup:
    """The group of these copies. `changes` are the times of their last commits, if there are several."""
    envelope = copies[0].envelope
    group = CopyGroup(
        kind=envelope.kind,
        stem=unicodedata.normalize("NFC", envelope.stem),
        sender=_sender(envelope),
        to=envelope.to,
        sent=envelope.sent_text.strip(),
        instant=envelope.sent.instant if envelope.sent else model.UNDATED,
        copies=copies,
    )
    _find_variants(group, changes)
    return group


def _find_variants(group: CopyGroup, changes: tuple[float, ...]) -> None:
    """Find the variants. The first is a readable one: that with the latest commit, else with `discharged`.

    If neither decides, it is the first found (SPEC 3, copies).
    """
    found: dict[tuple[str, str | None], list[int]] = defaultdict(list)
    for index, key in enumerate(_variant_keys(group)):
        found[key].append(index)

    def rank(indexes: list[int]) -> tuple[bool, float, bool, int]:
        envelope = group.copies[indexes[0]].envelope
        changed = max(changes[index] for index in indexes) if len(found) > 1 else 0.0
        return (envelope.is_speechless, -changed, envelope.discharge is None, indexes[0])

    group.variant_of = [0] * len(group.copies)
    for number, (key, indexes) in enumerate(sorted(found.items(), key=lambda item: rank(item[1]))):
        copies = [group.copies[index] for index in indexes]
        body = next((copy.body for copy in copies if copy.body is not None), None)
        shown = next((one.envelope for one in copies if one.envelope.content_sha256 == key[0]), copies[0].envelope)
        group.variants.append(model.Variant(envelope=shown, body=body))
        for index in indexes:
            group.variant_of[index] = number
    group.kind = group.envelope.kind


def _variant_keys(group: CopyGroup) -> list[tuple[str, str | None]]:
    """The keys of variants: the envelope's content, and the body.

    A copy without its body is no variant of its own beside one that has it, nor is a body without its envelope if
    another copy has the same body.
    """
    with_body: dict[str, tuple[str, str | None]] = {}
    of_body: dict[str, tuple[str, str | None]] = {}
    for copy in group.copies:
        if copy.body is not None and not copy.envelope.is_speechless:
            key = (copy.envelope.content_sha256, copy.body.text.sha256)
            with_body.setdefault(key[0], key)
            of_body.setdefault(copy.body.text.sha256, key)
    if group.copies[0].envelope.log:
        return _log_keys(group)
    keys = []
    for copy in group.copies:
        content, body = copy.envelope.content_sha256, copy.body.text.sha256 if copy.body else None
        if body is None:
            keys.append(with_body.get(content, (content, None)))
        elif copy.envelope.shape == "bare":
            keys.append(of_body.get(body, ("", body)))
        else:
            keys.append((content, body))
    return keys


def _log_keys(group: CopyGroup) -> list[tuple[str, str | None]]:
    """Of logs of one session, what is the beginning of another is a copy of that, not a variant."""
    prints = [copy.envelope.log.prints if copy.envelope.log else "" for copy in group.copies]
    longest: list[int] = []
    for number in sorted(range(len(prints)), key=lambda number: -len(prints[number])):
        if not any(prints[one].startswith(prints[number]) for one in longest):
            longest.append(number)
    whole = (next(one for one in longest if prints[one].startswith(some)) for some in prints)
    return [(group.copies[one].envelope.content_sha256, None) for one in whole]


def assign_ids(groups: list[CopyGroup], ledger: Ledger) -> tuple[Finding, ...]:
    """Give each group its id; where several claim one, the ledger decides, else the earliest keeps it."""
    ids, keys = ledger.ids_by_key, ledger.keys_by_ref
    published = ledger.published_ids
    claims: dict[tuple[Kind, str], list[CopyGroup]] = defaultdict(list)
    for group in groups:
        group.plain = make_id(group.stem)
        group.id = ids.get((group.kind, group.key), "") or group.plain
        claims[(group.kind, group.id.casefold())].append(group)
    taken = {*claims, *published}
    contested = [
        (claim, claimants)
        for claim, claimants in claims.items()
        if len(claimants) > 1 or claimants[0].id != published.get(claim, claimants[0].id)
    ]
    for claim, claimants in sorted(contested, key=lambda item: item[0]):
        rivals = sorted(claimants, key=lambda group: _precedence(group, ids, keys)) if len(claimants) > 1 else claimants
        is_taken = rivals[0].id != published.get(claim, rivals[0].id)  # by a removed artifact, in another case
        for loser in rivals if is_taken else rivals[1:]:
            loser.id = _other_id(loser, taken)
            taken.add((loser.kind, loser.id.casefold()))
    return tuple(_collisions(groups))


def note_former(groups: Iterable[CopyGroup], ledger: Ledger, paths_of: FormerPaths) -> None:
    """Note the ids that artifacts had by former names of their files, the oldest first; none that one has now.

    The name of a session log is no id.
    """
    present = {(group.kind, group.id.casefold()) for group in groups}
    for group in groups:
        if group.envelope.log:
            group.former = ()
            continue
        names = former_names(path for copy in group.copies for path in paths_of(copy.envelope.file))
        stems = dict.fromkeys(unicodedata.normalize("NFC", stem_of(name)) for name in names)
        if group.id == group.plain:
            stems.pop(group.stem, None)  # most files kept their names; this one's id is that of its name
        ids = dict.fromkeys(ledger.ids_by_key.get((group.kind, group.key_of(one)), make_id(one)) for one in stems)
        group.former = tuple(id_ for id_ in ids if (group.kind, id_.casefold()) not in present)


def _collisions(groups: Iterable[CopyGroup]) -> Iterator[Finding]:
    """A finding on each artifact that has another's name, whether it got its id now or in an earlier build."""
    by_name: dict[tuple[Kind, str], list[CopyGroup]] = {}
    for group in groups:
        by_name.setdefault((group.kind, group.plain.casefold()), []).append(group)
    for claim in sorted(claim for claim, rivals in by_name.items() if len(rivals) > 1):
        rivals = sorted(by_name[claim], key=lambda group: (group.id.casefold() != group.plain.casefold(), group.id))
        winner = rivals[0].envelope.file
        for loser in rivals[1:]:
            message = f"the name is also that of {winner.source}/{winner.path}, a different {loser.kind}"
            yield finding_in(loser.envelope.file, rules.ID_COLLISION, message)


def _precedence(
    group: CopyGroup, ids: Mapping[tuple[Kind, str], str], keys: Mapping[Ref, str]
) -> tuple[bool, bool, dt.datetime, str, str, str, str]:
    """In the ledger under this id, in the ledger at all, else the smallest (sent, from, to)."""
    is_current = keys.get(group.ref) == group.key
    is_known = (group.kind, group.key) in ids
    return (not is_current, not is_known, group.instant, group.sender, ",".join(group.to), group.sent, group.stem)


def _other_id(group: CopyGroup, taken: set[tuple[Kind, str]]) -> str:
    """`~` and 8 hex of SHA-256(from NUL to NUL sent) (SPEC 3); again if that is taken too."""
    text = f"{group.sender}\0{','.join(group.to)}\0{group.sent}"
    id_ = group.plain
    while True:
        id_ = f"{id_}~{short_hash(text)}"
        if (group.kind, id_.casefold()) not in taken:
            return id_
        text += f"\0{group.stem}"  # same sender, recipient and time under names that differ by case alone


def variant_findings(groups: Iterable[CopyGroup]) -> Iterable[Finding]:
    """A finding for each further variant; unreadable ones have their own."""
    for group in groups:
        for variant in group.variants[1:]:
            if variant.envelope.is_speechless:
                continue
            other = group.envelope.file
            message = f"its content differs from that of {other.source}/{other.path}"
            yield finding_in(variant.envelope.file, rules.COPIES_DIFFER, message)


# Gives documents, libraries and records their ids, from their path or their own id.


_STAMP_IN_NAME = regex(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)", re.ASCII)


class Filed(Value):
    """A document, a library or a record under its ref, with its copies; `key` is its key in the ledger.

    `former` are ids that it has had before. Of an entry of a list file `lives` are its own histories, by copy.
    """

    ref: Ref
    key: str
    fact: DocumentHead | LibraryCard | RecordCard
    files: tuple[FileFacts, ...]
    lives: tuple[model.Life | None, ...] | None = None
    former: tuple[str, ...] = ()

    @property
    def text(self) -> Text:
        """Its text, for links: the text of a document or a record; of a library the files that it lists."""
        if not isinstance(self.fact, LibraryCard):
            return self.fact.text or NOTHING_SAID
        listed = tuple(item.file for item in self.fact.items if item.file)
        return replace(NOTHING_SAID, destinations=listed)

    @property
    def date(self) -> Moment | None:
        """Its date, of a record the one of its creation, else that in its file's name; libraries have none."""
        match self.fact:
            case DocumentHead():
                return self.fact.date
            case RecordCard():
                stamp = _STAMP_IN_NAME.search(self.fact.file.name)
                return self.fact.created or (read_stamp(stamp[0]) if stamp else None)
        return None

    @property
    def copies(self) -> tuple[model.Copy, ...]:
        """Its files as copies, with the histories that are its own."""
        body = body_path(self.fact) if isinstance(self.fact, RecordCard) else None
        lives = self.lives or (None,) * len(self.files)
        return tuple(
            model.Copy(file=file, mailbox=None, body_path=body, life=life)
            for file, life in zip(self.files, lives, strict=True)
        )


def file_documents(heads: Iterable[DocumentHead], ledger: Ledger, paths_of: FormerPaths) -> tuple[Filed, ...]:
    """Documents under their refs."""
    by_key = {identity_key(head.file.source, head.file.path, "", ""): head for head in heads}
    ids = _ids("document", {key: _document_id(*head.file.place) for key, head in by_key.items()}, ledger)
    present = {id_.casefold() for id_ in ids.values()}

    def former(file: FileFacts) -> Iterator[str]:
        for path in paths_of(file):
            published = ledger.ids_by_key.get(("document", identity_key(file.source, path, "", "")))
            id_ = published or make_id(_document_id(file.source, path))
            if id_.casefold() not in present:
                yield id_

    return tuple(
        Filed(
            ref=("document", ids[key]),
            key=key,
            fact=head,
            files=(head.file,),
            former=tuple(dict.fromkeys(former(head.file))),
        )
        for key, head in by_key.items()
    )


def _document_id(source: str, path: str) -> str:
    return f"{source}.{path.replace('/', '.')}"


def file_libraries(cards: Iterable[LibraryCard], ledger: Ledger) -> tuple[Filed, ...]:
    """Libraries under their refs; those of one id and one content, as forks have them, are copies of one."""
    copies: dict[tuple[str, str], list[LibraryCard]] = {}
    for card in cards:
        copies.setdefault((card.id, card.file.sha256), []).append(card)
    by_key = {identity_key(same[0].id, same[0].file.source, same[0].file.path, ""): same for same in copies.values()}
    ids = _ids("library", {key: same[0].id for key, same in by_key.items()}, ledger)
    return tuple(
        Filed(ref=("library", ids[key]), key=key, fact=same[0], files=tuple(card.file for card in same))
        for key, same in by_key.items()
    )


def file_records(
    cards: Iterable[RecordCard], ledger: Ledger, entries: EntryLives, paths_of: FormerPaths
) -> tuple[Filed, ...]:
    """Records under their refs. Equal files of one source that hold one record of one id are copies."""
    copies: dict[tuple[str, str, str, str], list[RecordCard]] = {}
    known = tuple(cards)
    keyed = zip(known, entry_keys(known, ledger, entries), strict=True)
    for card, key in _with_pages(keyed, ledger):
        copies.setdefault((card.system, card.file.source, key, card.file.sha256), []).append(card)
    by_key = {
        identity_key(source, system, key, same[0].file.path): (key, same)
        for (system, source, key, _), same in copies.items()
    }
    ids = _ids("record", {key: f"{same[0].file.source}.{name}" for key, (name, same) in by_key.items()}, ledger)
    present = {id_.casefold() for id_ in ids.values()}

    def former(card: RecordCard) -> Iterator[str]:
        for path in paths_of(card.file):
            key = system_of(card).key_at(path)
            known = ledger.ids_by_key.get(("record", identity_key(card.file.source, card.system, key or "", path)))
            id_ = known or make_id(f"{card.file.source}.{key}")
            if key and id_.casefold() not in present:
                yield id_

    return tuple(
        _filed_record(ids[key], key, name, same, entries)
        if same[0].line is not None
        else Filed(
            ref=("record", ids[key]),
            key=key,
            fact=same[0],
            files=tuple(card.file for card in same),
            former=tuple(dict.fromkeys(id_ for card in same for id_ in former(card))),
        )
        for key, (name, same) in by_key.items()
    )


def _filed_record(id_: str, key: str, name: str, same: list[RecordCard], entries: EntryLives) -> Filed:
    """An entry of a list by the name it is filed under, with what is known of it."""
    files = tuple(card.file for card in same)
    first = same[0]
    found = [entries.of(card) for card in same]
    keys = dict.fromkeys(one for life in found if life for one in (*life.keys, *life.former))
    former = tuple(make_id(f"{first.file.source}.{one}") for one in keys if one != name)
    return Filed(
        ref=("record", id_),
        key=key,
        fact=replace(first, key=name),
        files=files,
        lives=tuple(entries.life(card) for card in same),
        former=tuple(one for one in former if one != id_),
    )


def _with_pages(named: Iterable[tuple[RecordCard, str]], ledger: Ledger) -> Iterator[tuple[RecordCard, str]]:
    """Those records, given with their keys, that get pages (SPEC 9).

    They are the first `RECORDS` of each file, those that had a page before, and the rest of the file if there is any.
    """
    counts: Counter[FileFacts] = Counter()
    has_rest: set[FileFacts] = set()
    for card, key in named:
        file = card.file
        counts[file] += 1
        if card.is_rest:
            is_shown = file in has_rest
        else:
            known = ("record", identity_key(file.source, card.system, key, file.path))
            is_shown = counts[file] <= RECORDS or known in ledger.ids_by_key
        if is_shown:
            yield card, key
        else:
            has_rest.add(file)


def record_collisions(filed: Iterable[Filed]) -> Iterator[Finding]:
    """A finding on each record that has another's name; two nodes of one store already have one."""
    by_name: dict[str, list[Filed]] = defaultdict(list)
    for entry in filed:
        if isinstance(entry.fact, RecordCard):
            by_name[make_id(f"{entry.fact.file.source}.{entry.fact.key}").casefold()].append(entry)
    for name, rivals in sorted(by_name.items()):
        first, *others = sorted(rivals, key=lambda one: (one.ref[1].casefold() != name, one.ref))
        stores = {_store(first)} - {None}
        for other in others:
            store = _store(other)
            if store in stores:
                continue
            stores.add(store)
            known = first.files[0]
            message = f"the name is also that of a record in {known.source}/{known.path}"
            yield finding_in(other.files[0], rules.ID_COLLISION, message)


def _store(filed: Filed) -> tuple[str, str] | None:
    """The source and the folder of the store that a record is in, if its system compares the records of a store."""
    card = filed.fact
    if not isinstance(card, RecordCard) or system_of(card).join is None:
        return None
    return filed.files[0].source, home_of(filed.files[0].path)


def body_path(card: RecordCard) -> str | None:
    """The path of the file that holds a record's text, in its source; None if that is the record's own file."""
    return f"{home_of(card.file.path)}/{card.body_path}" if card.body_path and card.text else None


def _ids(kind: Kind, wanted: Mapping[str, str], ledger: Ledger) -> dict[str, str]:
    """An id for each key: its published one, else the wanted one if it is free, else with a hash."""
    known = ledger.ids_by_key
    ids = {key: known[(kind, key)] for key in wanted if (kind, key) in known}
    used = {id_.casefold() for id_ in ids.values()}
    for key, name in wanted.items():
        if key in ids:
            continue
        id_ = make_id(name)
        if id_.casefold() in used or ledger.published_ids.get((kind, id_.casefold()), id_) != id_:
            id_ = f"{id_}~{short_hash(key)}"
        used.add(id_.casefold())
        ids[key] = id_
    return ids
