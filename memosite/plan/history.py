"""Plans the history of artifacts from git: what happened to each copy, and changes after receipt (SPEC 2.3)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from memosite.archive.history import LifeEvent
from memosite.archive.model import Artifact, Copy, Life, Memo, Removal
from memosite.archive.urls import changes_page, page_of, relative
from memosite.facts.phrases import phrase
from memosite.facts.times import Moment
from memosite.facts.values import Value, replace
from memosite.pages import LifeLine, LifeStep, Page, Reference
from memosite.plan.context import Context
from memosite.plan.dates import duration, seconds_between
from memosite.plan.page import head_of


class EditRow(Value):
    """An edit after receipt: the contents before and after by digest, "" where they cannot be had."""

    anchor: str
    date: Moment | None
    who: str
    source: str
    file: str
    commit: Reference
    before: str
    after: str


class ChangesPage(Page):
    """The edits of a memo after its receipt; `left_out` is how many edits before those are not shown."""

    template: ClassVar[str] = "changes.html"

    artifact: Reference
    edits: tuple[EditRow, ...]
    left_out: int = 0


class MovementRow(Value):
    """Something that happened to a memo in its repo."""

    date: Moment | None
    label: str
    item: Reference
    source: str
    who: str


# Plans the page of changes: the edits of a memo or a note after its receipt (SPEC 2.3).


EDITS = 50
"""The most edits that a page of changes shows, the last ones."""


def plan_changes(context: Context, artifact: Artifact) -> Iterator[ChangesPage]:
    """The page of edits after receipt, if there are any."""
    edits = _edits(artifact)
    if not edits:
        return
    start = changes_page(artifact)
    blobs = context.archive.blobs
    yield ChangesPage(
        **head_of(context, start, title=artifact.short_subject),
        artifact=Reference(label=artifact.short_subject, href=relative(start, page_of(artifact))),
        edits=tuple(
            EditRow(
                anchor=_anchor(number),
                date=event.at,
                who=event.who,
                source=source,
                file=event.path,
                commit=context.commit(source, event.commit),
                before=blobs.get(event.before, ""),
                after=blobs.get(event.after, ""),
            )
            for number, (source, event) in enumerate(edits[-EDITS:], 1)
        ),
        left_out=max(len(edits) - EDITS, 0),
    )


def has_changes(artifact: Artifact) -> bool:
    """Whether an artifact has a page of changes."""
    if artifact.kind not in {"memo", "note"} or artifact.withheld:
        return False
    for copy in artifact.copies:
        for event in copy.life.events if copy.life else ():
            if event.kind == "edited":
                return True
    return False


def _edit_anchors(artifact: Artifact) -> Mapping[tuple[str, str], str]:
    """Where on the page of changes each edit is shown, by source and commit."""
    shown = enumerate(_edits(artifact)[-EDITS:], 1)
    return {(source, event.commit): _anchor(number) for number, (source, event) in shown}


def _anchor(number: int) -> str:
    return f"e{number}"


def _edits(artifact: Artifact) -> list[tuple[str, LifeEvent]]:
    """The edits of a memo or a note after its receipt, with their sources, oldest first."""
    if artifact.kind not in {"memo", "note"} or artifact.withheld:
        return []
    found = ((copy.file.source, event) for copy in artifact.copies if copy.life for event in copy.life.events)
    edits = [(source, event) for source, event in found if event.kind == "edited"]
    return sorted(edits, key=lambda edit: (edit[1].at.instant.timestamp() if edit[1].at else 0.0, edit[0]))


FEW = 3
"""The most copies whose histories are shown at once: more would be longer than the text beside them."""


LINES = 20
"""The most copies whose histories a page shows."""


STEPS = 40
"""The most steps of one history, the last ones."""


_IN_BOX = {
    "read": phrase("read", context="event"),
    "archive": phrase("archived"),
    "inbox": phrase("moved back to the inbox"),
    "flat": phrase("moved"),
}


_EVENTS = {
    "received": phrase("received"),
    "moved": phrase("moved"),
    "renamed": phrase("renamed"),
    "edited": phrase("edited"),
    "removed": phrase("removed"),
}


EDITED = phrase("edited after receipt")


SENT = phrase("sent")
"""The label of the step that is not from git."""


_OF_RECORD = {"received": phrase("committed")}


_WHY_NOT = {
    str(why): why
    for why in (
        phrase("it is not a git repo"),
        phrase("the repo has no commit yet"),
        phrase("the clone is shallow: its first commits are missing"),
        phrase("it is in a repo inside the source's repo"),
        phrase("git does not have all versions of its file"),
    )
}
"""Why there is no history, where that is the same for every repo."""


_PENDING = {
    "delivered": phrase("delivered, not committed yet"),
    "moved": phrase("moved since, not committed yet"),
    "edited": phrase("edited since, not committed yet"),
}


def history_lines(context: Context, artifact: Artifact, start: str) -> tuple[LifeLine, ...]:
    """The history of each copy of an artifact, as far as git was read; two of the same words are one."""
    anchors = _edit_anchors(artifact)
    lines = (_line(context, artifact, copy, start, anchors) for copy in artifact.copies[:LINES] if copy.life)
    return tuple(dict.fromkeys(lines))


def history_summary(artifact: Artifact) -> str:
    """What became of copies whose histories are collapsed; "" if they are few."""
    copies = [copy for copy in artifact.copies if copy.life]
    if len(copies) <= FEW:
        return ""
    received = {copy.file.source for copy in copies if copy.received}
    read = {copy.file.source for copy in copies if copy.received and copy.mailbox in {"read", "archive"}}
    if not received:
        return phrase("History of {n:,} copies", n=len(copies))
    repos = len({copy.file.source for copy in copies})
    said = phrase("Received in {received:,} of {n:,} repos", received=len(received), n=repos)
    return phrase("{received}, read in {n:,}", received=said, n=len(read)) if read else said


def _line(
    context: Context, artifact: Artifact, copy: Copy, start: str, anchors: Mapping[tuple[str, str], str]
) -> LifeLine:
    source, life = copy.file.source, copy.life or Life()
    sent: list[LifeStep] = []
    # One commit changes both an envelope and its body.
    events = list({(event.commit, event.kind): event for event in life.events}.values())
    if isinstance(artifact, Memo) and artifact.kind == "memo" and artifact.date and life.events:
        sent.append(LifeStep(label=SENT, date=artifact.date, who=artifact.sender))
    is_told = shows_commits(artifact)

    def step(event: LifeEvent) -> LifeStep:
        anchor = anchors.get((source, event.commit)) if event.kind == "edited" else None
        changes = f"{relative(start, changes_page(artifact))}#{anchor}" if anchor else None
        return LifeStep(
            label=event_label(artifact, event),
            date=event.at,
            who=event.who,
            commit=context.commit(source, event.commit) if is_told else None,
            merge=context.commit(source, event.merge) if event.merge and is_told else None,
            changes=Reference(label=phrase("changes"), href=changes) if changes else None,
        )

    return LifeLine(
        source=source if len(artifact.copies) > 1 else "",
        steps=(*sent, *_last_steps(events, step, since=sent[0].date if sent else None)),
        pending=_PENDING.get(life.state or "", ""),
        why_not=_WHY_NOT.get(life.why_not, life.why_not),
        left_out=max(len(events) - STEPS, 0),
    )


def _last_steps(
    events: Sequence[LifeEvent], step: Callable[[LifeEvent], LifeStep], *, since: Moment | None = None
) -> Iterator[LifeStep]:
    """The last events as steps, with how long each came after the one before; the first one after `since`."""
    left_out = max(len(events) - STEPS, 0)
    before = events[left_out - 1].at if left_out else since
    for event in events[left_out:]:
        yield replace(step(event), after=latency(before, event.at))
        before = event.at or before


def shows_commits(artifact: Artifact) -> bool:
    """Whether its history names commits: not where they would lead everybody to a secret."""
    return artifact.withheld is None or not artifact.withheld.is_place_hidden


def event_label(artifact: Artifact, event: LifeEvent) -> str:
    """The label of a step of a history."""
    is_memo = artifact.kind == "memo"
    if event.kind == "moved":
        return _IN_BOX[event.mailbox] if is_memo else phrase("moved")
    if event.kind == "received":
        if not is_memo:
            return phrase("committed")
        if event.mailbox in {"read", "archive"}:
            return phrase("received in {mailbox}/", mailbox=event.mailbox)
        return phrase("received")
    if event.kind == "edited":
        return EDITED if is_memo else phrase("edited")
    return _EVENTS.get(event.kind, event.kind)


def newest_edit(lines: Iterable[LifeLine]) -> Reference | None:
    """A link to what was edited after receipt last, with the day; None if nothing was."""
    steps = [step for line in lines for step in line.steps if step.label == EDITED]
    if not steps:
        return None
    last = max(steps, key=lambda step: step.date.utc if step.date else "")
    label = phrase("Edited after receipt")
    if last.date:
        label = phrase("Edited after receipt, {day}", day=last.date.day)
    return Reference(label=label, href=last.changes.href if last.changes else None)


def latency(before: Moment | None, after: Moment | None) -> str:
    """How long a step took, in the largest fitting unit; "" if it is not known, or if the clocks disagree."""
    seconds = seconds_between(before, after)
    if seconds is None:
        return ""
    return phrase("after {time}", time=duration(seconds)) if seconds >= 60 else phrase("at once")


def removal_line(context: Context, removal: Removal) -> LifeLine:
    """The history of something that was removed: dates, who, and in which commit."""

    def step(event: LifeEvent) -> LifeStep:
        own = _OF_RECORD if removal.kind == "record" else {"moved": _IN_BOX[event.mailbox]}
        label = own.get(event.kind) or _EVENTS.get(event.kind, event.kind)
        commit = context.commit(removal.source, event.commit)
        return LifeStep(label=label, date=event.at, who=event.who, commit=commit)

    steps, left_out = tuple(_last_steps(removal.events, step)), max(len(removal.events) - STEPS, 0)
    return LifeLine(source=removal.source, steps=steps, pending="", why_not="", left_out=left_out)
