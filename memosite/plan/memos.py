"""Plans the pages of memos and notes, and of missing memos."""

from collections.abc import Iterator
from typing import ClassVar

from memosite.archive.lines import Notice, notice_on
from memosite.archive.mailboxes import ShownAction
from memosite.archive.model import Action, Ghost, Memo
from memosite.archive.urls import artifact_page
from memosite.facts.file import LABEL_CHARS
from memosite.facts.parsed import Discharge, Mailbox
from memosite.facts.phrases import joined, phrase
from memosite.facts.texts import cut_line
from memosite.facts.times import Moment
from memosite.facts.values import Value, replace
from memosite.pages import PAGE_CHARS, ArtifactPage, Body, LifeLine, Page, Reference, Row, VariantRow
from memosite.plan.artifact_page import artifact_fields, memo_bodies, shown_extra, variant_rows
from memosite.plan.context import Context
from memosite.plan.history import newest_edit, removal_line
from memosite.plan.page import head_of
from memosite.plan.threads import ThreadSlice, perhaps_answered_by, thread_slice


class RecipientRow(Value):
    """One recipient and how far the action asked of it is; `unread` is what is said if it has not read the memo."""

    position: Reference
    action: Action | None
    unread: str


class MemoPage(ArtifactPage):
    """A memo or a note."""

    template: ClassVar[str] = "memo.html"

    sender: Reference | None
    to: tuple[Reference, ...]
    role: Reference | None
    session: str
    mailbox: Mailbox | None
    unread: str
    action: ShownAction | None
    recipients: tuple[RecipientRow, ...]
    perhaps_answered_by: tuple[Reference, ...]
    answers: int
    relations: tuple[tuple[str, tuple[Reference, ...]], ...]
    discharge: str
    summary: Body | None
    in_thread: ThreadSlice | None
    variants: tuple[VariantRow, ...]
    is_legacy: bool
    is_broken: bool
    edited: Reference | None = None  # to the newest edit after receipt


class GhostPage(Page):
    """A memo that is replied to and not in the archive: what its name says, and who replies."""

    template: ClassVar[str] = "ghost.html"

    id: str
    stem: str
    date: Moment | None
    sender: Reference | None
    to: Reference | None
    replies: tuple[Row, ...]
    thread: Reference | None
    life: LifeLine | None = None  # its removal in git, if it was removed
    notice: Notice | None = None  # why it was erased, if it was


_RELATED = 100
"""The most memos shown of one relation: a reference has no more names, but many may refer to one memo."""


def plan_memo(context: Context, memo: Memo) -> MemoPage:
    """The page of a memo or note."""
    start = artifact_page(memo.ref)
    envelope = memo.variants[0].envelope
    summary, body = memo_bodies(context, start, memo)
    fields = artifact_fields(context, memo, start)
    return MemoPage(
        **fields,
        date_written=envelope.sent_text,
        body=body,
        is_cut=any(one is not None and one.chars > PAGE_CHARS for one in (summary, body)),
        extra=shown_extra(envelope.extra),
        sender=as_written(context, start, memo.sender_position, memo.author),
        to=tuple(as_written(context, start, context.archive.position_of.get(name), name) for name in memo.to),
        role=context.position(start, memo.role) if memo.role else None,
        session=envelope.session or "",
        mailbox=context.where(memo, None)[0],
        unread=context.unread(memo, None),
        action=context.shown_action(memo, None),
        recipients=tuple(
            RecipientRow(
                position=context.position(start, state.position),
                action=state.action,
                unread=context.unread(memo, state.position),
            )
            for state in memo.recipients
        ),
        perhaps_answered_by=perhaps_answered_by(context, start, memo),
        answers=memo.answers,
        relations=tuple(_relations(context, start, memo)),
        discharge=discharge_text(memo.discharge),
        summary=summary,
        in_thread=thread_slice(context, start, memo),
        variants=variant_rows(memo),
        is_legacy=envelope.shape == "legacy",
        is_broken=memo.broken,
        edited=newest_edit(fields["lives"]),
    )


def as_written(context: Context, start: str, id_: str | None, written: str) -> Reference:
    """A link to a position for what is quoted: another name that is written is shown, too."""
    found = context.position(start, id_, written)
    if found.href is None or written == found.label:
        return found
    words = phrase("{position} (written {name})", position=found.label, name=cut_line(written, LABEL_CHARS))
    return replace(found, label=words)


def _relations(context: Context, start: str, memo: Memo) -> Iterator[tuple[str, tuple[Reference, ...]]]:
    """What a memo's references say beside its parent, from both ends."""
    found = (
        (phrase("Also answers"), memo.also_answers),
        (phrase("Also answered by"), memo.also_answered_by),
        (phrase("Supersedes"), memo.supersedes),
        (phrase("Superseded by"), memo.superseded_by),
    )
    for label, refs in found:
        if refs:
            yield label, tuple(context.artifact(start, ref) for ref in refs[:_RELATED])


def discharge_text(discharge: Discharge | None) -> str:
    """On which day, by whom and by what an action was closed, and with which note; "" if it was not."""
    if discharge is None:
        return ""
    parts = []
    if discharge.on:
        parts.append(phrase("on {day}", day=discharge.on))
    if discharge.by:
        parts.append(phrase("by {who}", who=discharge.by))
    if discharge.via:
        parts.append(phrase("via {what}", what=discharge.via))
    text = joined(" ", parts) if parts else phrase("according to its metadata")
    return joined(": ", (text, discharge.disposition)) if discharge.disposition else text


# Plans the pages of missing memos: those that are replied to and in no repo (ghosts).


def plan_missing_memo(context: Context, ghost: Ghost) -> GhostPage:
    """The page: what the file name says, who replies to it, and its removal if git knows of one."""
    start = artifact_page((ghost.kind, ghost.id))
    removal = context.archive.removed.get((ghost.kind, ghost.id))
    return GhostPage(
        life=removal_line(context, removal) if removal else None,
        **head_of(context, start, title=ghost.short_subject),
        notice=notice_on(ghost.kind, context.archive.erased.get((ghost.kind, ghost.id))),
        id=ghost.id,
        stem=ghost.stem,
        date=ghost.date,
        sender=context.named(start, ghost.sender) if ghost.sender else None,
        to=context.named(start, ghost.to) if ghost.to else None,
        replies=context.rows(start, ghost.replies),
        thread=context.thread(start, ghost.thread) if len(context.archive.threads[ghost.thread].memos) > 1 else None,
    )
