"""Plans the pages of memos and notes."""

from collections.abc import Iterator
from dataclasses import replace

from memosite.archive.model import Memo
from memosite.archive.urls import artifact_page
from memosite.facts.bounds import LABEL_CHARS
from memosite.facts.parsed import Discharge
from memosite.facts.phrases import joined, phrase
from memosite.facts.texts import cut_line
from memosite.pages.models import MemoPage
from memosite.pages.parts import PAGE_CHARS, Body, RecipientRow, Reference
from memosite.passages.anchors import SUMMARY
from memosite.plan.artifact_page import artifact_fields, body_of, shown_extra
from memosite.plan.context import Context
from memosite.plan.history import newest_edit
from memosite.plan.thread_facts import perhaps_answered_by, waiting_positions
from memosite.plan.thread_rows import neighbours, thread_slice
from memosite.plan.variants import variant_rows

_RELATED = 100
"""The most memos shown of one relation: a reference has no more names, but many may refer to one memo."""


def memo_bodies(context: Context, start: str, memo: Memo, *, prefix: str = "") -> tuple[Body | None, Body | None]:
    """The triage summary (only beside a body file) and the text of a memo; a broken file is shown raw.

    A memo without content has neither.
    """
    if memo.withheld:
        return None, None
    variant = memo.variants[0]
    inline = variant.envelope.body
    if variant.envelope.shape == "broken":
        file = variant.envelope.file
        raw = Body(sha256=file.sha256, form="verbatim", chars=file.bytes)
        return raw, body_of(context, start, memo, variant.body.text, prefix=prefix) if variant.body else None
    if variant.body is None:
        return None, body_of(context, start, memo, inline, prefix=prefix)
    summary = body_of(context, start, memo, inline, prefix=f"{prefix}{SUMMARY}")
    return summary, body_of(context, start, memo, variant.body.text, prefix=prefix)


def plan_memo(context: Context, memo: Memo) -> MemoPage:
    """The page of a memo or note."""
    start = artifact_page(memo.ref)
    variant = memo.variants[0]
    envelope = variant.envelope
    summary, body = memo_bodies(context, start, memo)
    thread, place = context.placed[memo.ref]
    previous, following = neighbours(context, start, thread, place)
    fields = artifact_fields(context, memo, start)
    return MemoPage(
        **fields,
        date_written=envelope.sent_text,
        body=body,
        is_cut=any(one is not None and one.chars > PAGE_CHARS for one in (summary, body)),
        extra=shown_extra(envelope.extra),
        sender=as_written(context, start, memo.sender_position, memo.sender or "unknown"),
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
        waits_for=waiting_positions(context, start, memo) if memo.is_broadcast else (),
        perhaps_answered_by=perhaps_answered_by(context, start, memo),
        answers=memo.answers,
        relations=tuple(_relations(context, start, memo)),
        discharge=_discharge_text(memo.discharge),
        summary=summary,
        thread=context.thread(start, memo.thread) if context.thread_sizes[thread.id] > 1 else None,
        thread_rows=thread_slice(context, start, thread, place) if len(thread.entries) > 1 else (),
        thread_total=len(thread.memos),
        previous=previous,
        next=following,
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


def _discharge_text(discharge: Discharge | None) -> str:
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
