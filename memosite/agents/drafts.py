"""Drafts memos: the envelope of a reply or of a new memo, its file name, and where its recipients look for it.

A draft is a value, as of a given time; nothing is written. What it says is memodef 0.4 (SPEC 2.2).
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Final

from memosite.agents.items import Reader, find_position, names_line
from memosite.archive.model import Archive, Copy, Memo, Position
from memosite.facts.errors import ConfigError
from memosite.facts.layout import join_path, memo_folder, place_of
from memosite.facts.names import BODY_SUFFIX, ENVELOPE_SUFFIX, make_id, stem_of
from memosite.facts.parsed import BROADCAST, FILE, Kind
from memosite.facts.patterns import regex
from memosite.facts.texts import cut_line, one_line, summarize
from memosite.facts.values import Value, field

# How a memo that is written now names a position: by its present name, as memos use it.


_LOOKED_AT = 50  # of a position's items, the newest: what it is called now


def name_of(archive: Archive, position: Position, aliases: Mapping[str, str]) -> str:
    """The name of a position in `from` and `to`: its id, but what memos call it now where they never use the id.

    Former names, the keys of `aliases`, are not used any more.
    """
    own = _own_name(position, aliases)
    used = [name for name in position.names if name not in aliases]
    if own in used or not used:
        return own
    return next((name for name in _newest_names(archive, position) if name in used), used[0])


def _own_name(position: Position, aliases: Mapping[str, str]) -> str:
    """The name by which its organization lists it; of one that only memos name, the name that gives its id."""
    if position.seats:
        organization, seat = position.seats[0]
        return seat.id if position.id == make_id(seat.id) else f"{organization}/{seat.id}"
    known = (*position.names, *aliases.values())
    return next((name for name in known if make_id(name) == position.id and name not in aliases), position.id)


def _newest_names(archive: Archive, position: Position) -> Iterable[str]:
    """The names that memos use for a position, that of the newest memo first."""
    for ref in reversed(archive.groups.get(f"position/{position.id}", ())[-_LOOKED_AT:]):
        artifact = archive.artifacts[ref]
        for name in (artifact.sender, *artifact.to) if isinstance(artifact, Memo) else ():
            if archive.position_of.get(name) == position.id:
                yield name


# Where a memo to a position is put: the folder of its repo in which its memos are (SPEC 2.2, folders).


class Target(Value):
    """A folder that gets the files of a memo, and for whom. `repo` is the source, `folder` the path in it."""

    positions: tuple[str, ...]
    repo: str
    folder: str


def targets_of(
    archive: Archive, sender: Position, to: Sequence[Position | str], name: str
) -> tuple[tuple[Target, ...], tuple[str, ...]]:
    """The folders for a memo's recipients, each once; and what is not known. `name` is that of the sender."""
    recipients = [recipient for recipient in to if isinstance(recipient, Position)]
    if FILE in to:
        recipients = [sender]
    elif BROADCAST in to:
        recipients = [one for one in archive.positions.values() if not one.union_of and one.id != sender.id]
    places: dict[tuple[str, str], list[str]] = {}
    for position in recipients:
        if repo := position.repo:
            is_note = FILE in to
            folder = _notes_folder(archive, sender, repo, name) if is_note else _memo_folder(archive, position, repo)
            places.setdefault((repo, folder), []).append(position.id)
    targets = tuple(Target(positions=tuple(ids), repo=repo, folder=folder) for (repo, folder), ids in places.items())
    homeless = [position.id for position in recipients if not position.repo]
    unknown = f"no repo of this archive is that of {names_line(homeless, 20)}; hand the memo over in another way"
    return targets, (unknown,) if homeless else ()


def _memo_folder(archive: Archive, position: Position, repo: str) -> str:
    """Where new memos to a position are: beside the newest ones, in `inbox/` unless these are in a flat folder."""
    named = [
        (one.id, folder)
        for one in archive.organizations
        for said in one.memo_locations
        if (folder := memo_folder(said))
    ]
    folders = tuple(dict.fromkeys(folder for _, folder in named))  # beside `memos`
    copies = _copies(archive, position, repo, "memo")
    places = [place for copy in copies if (place := place_of(copy.file.path, memo_folders=folders))]
    if not places:
        own = {organization for organization, _ in position.seats}
        return f"{next((folder for id_, folder in named if id_ in own), 'memos')}/inbox"
    folder = places[0].folder
    boxes = {place.mailbox for place in places if place.folder == folder}
    return folder if "flat" in boxes and not boxes & {"inbox", "read"} else f"{folder}/inbox"


def _notes_folder(archive: Archive, position: Position, repo: str, name: str) -> str:
    """Where the notes of a position are."""
    newest = next(_copies(archive, position, repo, "note"), None)
    place = place_of(newest.file.path) if newest else None
    if newest and place and place.store == "notes":
        return newest.file.path.rpartition("/")[0]
    return join_path("notes", name.replace("/", "-"))


def _copies(archive: Archive, position: Position, repo: str, kind: Kind) -> Iterator[Copy]:
    """The copies in a repo of the newest memos to a position, or of its notes, the newest first."""
    for ref in reversed(archive.groups.get(f"position/{position.id}", ())[-_LOOKED_AT:]):
        memo = archive.artifacts[ref] if ref[0] == kind else None
        if isinstance(memo, Memo) and (kind == "note" or position.id in {state.position for state in memo.recipients}):
            yield from (copy for copy in memo.copies if copy.file.source == repo)


LONG: Final = 2_000
"""Characters from which on a text is in a body file; the envelope then has a summary of it."""


NO_BODY: Final = "Write the text of this memo here."
"""The body of a draft without a text: memodef wants one that is not empty."""


_SENDER_BYTES, _TO_BYTES, _SLUG_BYTES = 40, 60, 60


_RE: Final = regex(r"(?:\s*re\s*(?:\[\d{1,4}\]\s*)?[:：])+\s*", re.IGNORECASE)


_NOT_IN_NAME: Final = regex(r"(?:[^\w.]|\.(?!\w))+")


class Wanted(Value):
    """What a memo shall say, as its writer has it; "" where that is left to the draft.

    `sender` and `to` are names of positions, `to` several with commas; `summary` is for the envelope of a body file.
    """

    sender: str
    to: str = ""
    subject: str = ""
    body: str = ""
    summary: str = ""
    is_action: bool = False


class Draft(Value):
    """A memo that is to be written: its name without suffix, its envelope, the text of its body file if it has one.

    `notes` are what its writer has to know before it is sent.
    """

    name: str
    envelope: Mapping[str, object]
    body: str | None
    targets: Sequence[Target]
    notes: tuple[str, ...]


class Drafting(Value):
    """Makes drafts as of a time. `aliases` are former names of positions with the present ones."""

    reader: Reader
    now: dt.datetime
    aliases: Mapping[str, str] = field(default_factory=dict)

    def reply(self, written: str, wanted: Wanted) -> Draft:
        """A reply to the memo that a reference means; to its sender by default. Raises `ConfigError`."""
        memo, _ = self.reader.find(written)
        if not isinstance(memo, Memo):
            raise ConfigError(
                f"{written}: found a {memo.kind}, expected a memo or a note; to write about it: memosite new"
            )
        sender = self._one(wanted.sender, "--from")
        to = self._named(wanted.to) if wanted.to else self._answered(memo, sender)
        subject = one_line(wanted.subject) or _reply_subject(memo, written)
        name = memo.copies[0].file.name
        is_own = make_id(stem_of(name)) == memo.id  # else it shares the name with another memo, but not its id
        fields: dict[str, object] = {"in_reply_to": name if is_own else f"{memo.id}{ENVELOPE_SUFFIX}"}
        if thread := _thread_id(self.reader.archive, memo):
            fields["thread_id"] = thread
        return self._draft(sender, to, subject, wanted, fields, notes=tuple(self._doubts(memo, sender)))

    def new(self, wanted: Wanted) -> Draft:
        """A memo that begins a thread. Raises `ConfigError`."""
        subject = one_line(wanted.subject)
        if not subject:
            raise ConfigError("--subject: found no text, expected the subject of the memo")
        return self._draft(self._one(wanted.sender, "--from"), self._named(wanted.to), subject, wanted, {}, notes=())

    def _one(self, written: str, option: str) -> Position:
        """The one position that a name means, also of those that several organizations have."""
        try:
            return find_position(self.reader.archive, written)
        except ConfigError as error:
            raise ConfigError(f"{option} {error}") from error

    def _named(self, written: str) -> list[Position | str]:
        """The recipients of a list with commas: positions, each once, or `all`, or `file`."""
        names = [name.strip() for name in written.split(",") if name.strip()]
        if not names:
            raise ConfigError(f"--to: found no position, expected some with commas, {BROADCAST} or {FILE}")
        if len(names) > 1 and {BROADCAST, FILE}.intersection(names):
            raise ConfigError(f"--to {written}: found more beside {BROADCAST} or {FILE}, which is for nobody else")
        found = [name if name in {BROADCAST, FILE} else self._one(name, "--to") for name in names]
        return list({one if isinstance(one, str) else one.id: one for one in found}.values())

    def _answered(self, memo: Memo, sender: Position) -> list[Position | str]:
        """Whom a reply goes to: the sender of the memo, or where that is who replies, its recipients."""
        if memo.sender_position and memo.sender_position != sender.id:
            return [self._one(memo.sender_position, "--to")]
        if memo.kind == "note":
            return [FILE]
        found = [state.position for state in memo.recipients]
        if not memo.sender_position or not found:
            raise ConfigError(f"--to: {memo.kind}/{memo.id} does not say who wrote it, expected --to POSITION")
        return [BROADCAST] if BROADCAST in found else [self._one(one, "--to") for one in found]

    def _doubts(self, memo: Memo, sender: Position) -> Iterator[str]:
        """What may be wrong with a reply."""
        involved = {memo.sender_position, memo.role, *(state.position for state in memo.recipients)}
        if memo.kind == "memo" and not memo.is_broadcast and involved.isdisjoint(sender.members):
            yield f"{sender.id} is neither sender nor recipient of {memo.kind}/{memo.id}"
        if memo.date and memo.date.instant > self.now:
            yield f"{memo.kind}/{memo.id} is dated {memo.date.utc}, after this reply"

    def _draft(
        self,
        sender: Position,
        to: Sequence[Position | str],
        subject: str,
        wanted: Wanted,
        fields: Mapping[str, object],
        *,
        notes: tuple[str, ...],
    ) -> Draft:
        if FILE in to and wanted.is_action:
            raise ConfigError(f"--action: a note to {FILE} has no recipient who could do anything; omit --action")
        names = [
            recipient if isinstance(recipient, str) else name_of(self.reader.archive, recipient, self.aliases)
            for recipient in to
        ]
        own = name_of(self.reader.archive, sender, self.aliases)
        name = self._free_name(own, names, subject, "note" if FILE in to else "memo")
        said, body, more = _body(wanted, name)
        envelope = {
            "catdef": "1.4",
            "memodef": "0.4.0",
            "type": "memodef:Memo",
            "from": own,
            "to": ", ".join(names),
            "subject": subject,
            "sent": f"{self.now:%Y-%m-%dT%H:%M:%SZ}",
            **fields,
            "action_required": wanted.is_action,
            **said,
        }
        targets, missing = targets_of(self.reader.archive, sender, to, own)
        return Draft(name=name, envelope=envelope, body=body, targets=targets, notes=(*notes, *more, *missing))

    def _free_name(self, sender: str, to: Sequence[str], subject: str, kind: str) -> str:
        """A file name without suffix that nothing in the archive has: stamp, sender, recipients, short subject."""
        parts = (
            f"{self.now:%Y-%m-%d-%H%M}",
            _slug(_last(sender), _SENDER_BYTES) or "unknown",
            _slug("-and-".join(map(_last, to)), _TO_BYTES) or "unknown",
            _slug(subject.casefold(), _SLUG_BYTES) or kind,
        )
        plain = "--".join(parts)
        names = chain((plain,), (f"{plain}-{number}" for number in count(2)))
        return next(name for name in names if not self._is_taken(make_id(name)))

    def _is_taken(self, id_: str) -> bool:
        archive = self.reader.archive
        return ("memo", id_) in archive.artifacts or ("note", id_) in archive.artifacts or id_ in archive.ghosts


def _last(name: str) -> str:
    """The name of a position without its organization."""
    return name.rpartition("/")[2]


def _slug(text: str, limit: int) -> str:
    """A text as part of a file name: letters and digits, joined by single hyphens, cut at a word."""
    words = [word for word in _NOT_IN_NAME.sub("-", one_line(text)).replace("_", "-").split("-") if word.strip(".")]
    found = ""
    for word in words:
        longer = f"{found}-{word}" if found else word
        if len(longer.encode()) > limit:
            return found or word.encode()[:limit].decode("utf-8", "ignore").rstrip(".")
        found = longer
    return found


def _reply_subject(memo: Memo, written: str) -> str:
    """The subject of a memo with one `re: ` before it."""
    subject = one_line(memo.subject)
    plain = _RE.sub("", subject if 0 < len(subject) <= 200 else memo.short_subject, count=1)
    if not plain:
        raise ConfigError(f"{written}: it has no subject, expected --subject TEXT")
    return f"re: {plain}"


def _thread_id(archive: Archive, memo: Memo) -> str | None:
    """The thread of a memo as its replies name it; None if no field can, or if its first memo is missing.

    That one may name its thread otherwise once it is found.
    """
    written = memo.envelope.thread_id if memo.variants else None
    if written and make_id(written) == memo.thread:
        return written
    return memo.thread if memo.thread not in archive.ghosts and make_id(memo.thread) == memo.thread else None


def _body(wanted: Wanted, name: str) -> tuple[dict[str, object], str | None, tuple[str, ...]]:
    """The fields of the text, the text of the body file if there has to be one, and what is to be done about it."""
    text = wanted.body.strip("\n")
    if not text.strip():
        return {"body": wanted.summary or NO_BODY}, None, () if wanted.summary else ("body has no text yet; write one",)
    if len(text) <= LONG and not wanted.summary:
        return {"body": text}, None, ()
    summary = wanted.summary or summarize(text) or cut_line(text, LONG)
    notes = () if wanted.summary else ("body is how the text begins; give one to three sentences with --summary",)
    return {"body": summary, "body_ref": f"{name}{BODY_SUFFIX}"}, f"{text}\n", notes
