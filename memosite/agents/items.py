"""Describes artifacts for answers: a line, the same as fields, and the triage summary."""

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from memosite.agents.answer import Entry
from memosite.archive.mailboxes import is_unread_for, is_unreceived_by, open_for
from memosite.archive.model import Archive, Artifact, Document, Memo, Position, Record, Transcript
from memosite.archive.notices import notice_of
from memosite.archive.possible_replies import PossibleReplies
from memosite.facts.parsed import BROADCAST, Ref, Text
from memosite.facts.texts import cut_line
from memosite.facts.times import Moment
from memosite.formats.status import status_of

TextOf = Callable[[str], str]
"""Gives a text by its SHA-256."""

NAME_CHARS = 60
NAMED = 4
_STATES = {"discharged": "closed"}


@dataclass(frozen=True, kw_only=True)
class Reader:
    """The archive that is asked, its texts, and the options that further commands need to find it again."""

    archive: Archive
    text_of: TextOf
    options: tuple[str, ...] = ()

    @cached_property
    def possible_replies(self) -> PossibleReplies:
        """The missing memos that may have answered memos."""
        return PossibleReplies(self.archive)

    def command(self, *words: str) -> str:
        """A further command, without the options."""
        return shlex.join(("memosite", *words))

    @property
    def suffix(self) -> str:
        """The options that every further command takes, as they are typed."""
        return shlex.join(self.options)


def members_of(position: Position) -> tuple[str, ...]:
    """A position and those that it joins, by id."""
    return (position.id, *position.union_of)


def day_and_time(moment: Moment | None) -> str:
    """A date as people are shown it, by the writer's clock; the day alone where no time was given."""
    if moment is None:
        return "undated"
    local = moment.local
    is_day = moment.offset is None and (local.hour, local.minute, local.second) == (0, 0, 0)
    return moment.day if is_day else f"{moment.day} {local:%H:%M}"


def names_line(names: Sequence[str], limit: int = NAMED) -> str:
    """Names as a line: of many, the first ones."""
    shown = ", ".join(cut_line(one, NAME_CHARS) for one in names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown


def action_word(action: str | None) -> str:
    """The state of an action as people are shown it."""
    return _STATES.get(action or "", action or "")


def who_of(artifact: Artifact) -> str:
    """Who wrote an artifact to whom; of what has no author, the source."""
    match artifact:
        case Memo(kind="memo"):
            return f"{cut_line(artifact.sender or 'unknown', NAME_CHARS)} → {names_line(artifact.to)}"
        case Memo():
            return cut_line(artifact.role or artifact.sender or "unknown", NAME_CHARS)
        case Transcript():
            return names_line([one.position for one in artifact.variants[0].envelope.participants])
    return artifact.copies[0].file.source


def states_of(reader: Reader, artifact: Artifact, viewer: Position | None) -> list[str]:
    """In words: whether it can be read, is unread for a position, and how far its action or status is."""
    if artifact.withheld:
        return [artifact.withheld.word]
    if not isinstance(artifact, Memo):
        status = status_of(artifact)
        return [f"status {cut_line(status, NAME_CHARS)}"] if status else []
    found = ["unreadable"] if artifact.broken else []
    action: str | None = artifact.action
    if viewer is not None:
        members = members_of(viewer)
        repos = [reader.archive.positions[one].repo for one in members]
        if is_unread_for(artifact, members, repos):
            found += ["unread", *(["delivered, not received"] if is_unreceived_by(artifact, repos) else [])]
        action = next((one.action for one in artifact.recipients if one.position in members and one.action), action)
        action = "open" if open_for(artifact, members) else action
    return found + ([f"action {action_word(action)}"] if action else []) + _waits_for(reader, artifact)


def _waits_for(reader: Reader, memo: Memo) -> list[str]:
    """Who of several has not done what a memo asks (of one the state says it), and what may have answered it."""
    if not memo.owed_by:
        return []
    names = [reader.archive.label(one) for one in memo.owed_by]
    missing = [f"{ghost.kind}/{ghost.id}" for ghost in reader.possible_replies.of(memo)]
    found = [f"perhaps answered by missing {', '.join(missing[:NAMED])}"] if missing else []
    if len(memo.recipients) > 1 or memo.is_broadcast:
        found.append(f"not answered by {'anybody' if names == [BROADCAST] else names_line(names)}")
    return found


def line_of(reader: Reader, artifact: Artifact, viewer: Position | None = None) -> str:
    """An artifact in a list: when, who, in which state, its short subject, its name, and how long it is."""
    states = states_of(reader, artifact, viewer)
    parts = (
        day_and_time(artifact.date),
        who_of(artifact),
        *states,
        f"“{artifact.short_subject}”",
        "/".join(artifact.ref),
        f"{artifact.chars:,} characters",
    )
    return "; ".join(parts)


def fields_of(reader: Reader, artifact: Artifact, viewer: Position | None = None) -> dict[str, object]:
    """The same as fields for programs; names as in `export`, the date in UTC."""
    fields: dict[str, object] = {
        "kind": artifact.kind,
        "id": artifact.id,
        "date": artifact.date.utc if artifact.date else None,
        "short_subject": artifact.short_subject,
        "chars": artifact.chars,
    }
    if isinstance(artifact, Memo):
        fields |= {"from": artifact.sender or None, "to": list(artifact.to[:NAMED]), "thread": artifact.thread}
        if len(artifact.to) > NAMED:
            fields["to_more"] = len(artifact.to) - NAMED
        if artifact.owed_by:
            fields["waits_for"] = list(artifact.owed_by[:NAMED])
            fields["waits_for_total"] = len(artifact.owed_by)
    else:
        fields["who"] = who_of(artifact)
    return fields | {"states": states_of(reader, artifact, viewer)}


def triage(artifact: Artifact) -> Text | str:
    """What helps to decide whether to read all of it: the summary beside a body file, else how its text begins."""
    notice = notice_of(artifact)
    if notice:
        return notice.reason
    if isinstance(artifact, Memo) and not artifact.broken:
        variant = artifact.variants[0]
        if variant.body and variant.envelope.body:
            return variant.envelope.body
    return artifact.summary


def entry_of(
    reader: Reader, artifact: Artifact, viewer: Position | None = None, *, rank: int = 0, text: Text | str | None = None
) -> Entry:
    """An artifact in a list, with its triage summary, or another text."""
    said = triage(artifact) if text is None else text
    load, chars = loader(reader, said)
    return Entry(
        line=line_of(reader, artifact, viewer),
        fields=fields_of(reader, artifact, viewer),
        text=load,
        text_name="summary",
        chars=chars,
        more=reader.command("show", "/".join(artifact.ref)),
        is_summary=text is None,
        rank=rank,
    )


def loader(reader: Reader, text: Text | str) -> tuple[Callable[[], str], int]:
    """What loads a text, and how many characters it has."""
    if isinstance(text, str):
        return lambda: text, len(text)
    return lambda: reader.text_of(text.sha256), text.chars


def of_archive(reader: Reader, refs: Iterable[Ref]) -> list[Artifact]:
    """Artifacts by their names."""
    return [reader.archive.artifacts[ref] for ref in refs]


def kind_facts(artifact: Artifact) -> list[str]:
    """What is said of an artifact by its kind: the type of a record, the turns of a transcript."""
    if isinstance(artifact, Record):
        return [f"{artifact.system} {artifact.card.type}".strip()]
    if isinstance(artifact, Transcript):
        text = artifact.variants[0].text
        return [f"{text.turns} turns"] if text and text.turns else []
    if isinstance(artifact, Document):
        return [artifact.head.file.path]
    return []
