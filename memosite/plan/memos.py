"""Plans the pages of memos and notes, and the slices of threads they show."""

from dataclasses import replace

from memosite.archive.model import Ghost, Memo, Thread, Variant
from memosite.archive.urls import artifact_page, index_file
from memosite.facts.parsed import Discharge
from memosite.pages.models import GhostPage, MemoPage
from memosite.pages.parts import PAGE_CHARS, Body, RecipientRow, Reference, Row, VariantRow
from memosite.plan.common import body_of, common_fields, shown_extra
from memosite.plan.context import Context
from memosite.plan.dates import stamp
from memosite.plan.lives import removal_line

SLICE = 5
"""How many entries of its thread a memo's page shows before and after it."""


def memo_bodies(context: Context, start: str, memo: Memo, *, prefix: str = "") -> tuple[Body | None, Body | None]:
    """The triage summary (only beside a body file) and the text of a memo; a broken file is shown raw."""
    variant = memo.variants[0]
    inline = variant.envelope.body
    if variant.envelope.shape == "broken":
        file = variant.envelope.file
        raw = Body(sha256=file.sha256, form="verbatim", chars=file.bytes)
        return raw, body_of(context, start, memo, variant.body.text, prefix=prefix) if variant.body else None
    if variant.body is None:
        return None, body_of(context, start, memo, inline, prefix=prefix)
    summary = body_of(context, start, memo, inline, prefix=f"{prefix}summary.")
    return summary, body_of(context, start, memo, variant.body.text, prefix=prefix)


def plan_memo(context: Context, memo: Memo) -> MemoPage:
    """The page of a memo or note."""
    start = artifact_page(memo.ref)
    variant = memo.variants[0]
    envelope = variant.envelope
    summary, body = memo_bodies(context, start, memo)
    thread, place = context.placed[memo.ref]
    previous, following = _neighbours(context, start, thread, place)
    sender_label = memo.sender or "unknown"
    return MemoPage(
        **common_fields(context, memo, start),  # type: ignore[arg-type] # the fields are typed by the class
        section="",
        date_written=envelope.sent_text,
        body=body,
        is_cut=any(one is not None and one.chars > PAGE_CHARS for one in (summary, body)),
        extra=shown_extra(envelope.extra),
        sender=context.position(start, memo.sender_position, sender_label),
        to=tuple(context.named(start, name) for name in memo.to),
        role=context.position(start, memo.role) if memo.role else None,
        session=envelope.session or "",
        mailbox=memo.mailbox,
        action=memo.action,
        recipients=tuple(
            RecipientRow(position=context.position(start, state.position), action=state.action, unread=state.unread)
            for state in memo.recipients
        ),
        answers=memo.answers,
        discharge=_discharge_text(memo.discharge),
        summary=summary,
        thread=context.thread(start, memo.thread) if context.thread_sizes[thread.id] > 1 else None,
        thread_rows=thread_rows(context, start, thread, place) if len(thread.entries) > 1 else (),
        thread_total=len(thread.entries),
        previous=previous,
        next=following,
        variants=_variant_rows(memo),
        is_legacy=envelope.shape == "legacy",
        is_broken=memo.broken,
    )


def _discharge_text(discharge: Discharge | None) -> str:
    if discharge is None:
        return ""
    parts = []
    if discharge.on:
        parts.append(f"on {discharge.on}")
    if discharge.by:
        parts.append(f"by {discharge.by}")
    if discharge.via:
        parts.append(f"via {discharge.via}")
    text = " ".join(parts) or "as its metadata say"
    return f"{text}: {discharge.disposition}" if discharge.disposition else text


def thread_rows(context: Context, start: str, thread: Thread, place: int) -> tuple[Row, ...]:
    """The slice of a thread around one of its memos."""
    first = max(0, place - SLICE)
    entries = thread.entries[first : place + SLICE + 1]
    shallowest = min(entry.depth for entry in entries)
    return tuple(
        thread_row(context, start, thread, first + index, is_current=first + index == place, less_depth=shallowest)
        for index in range(len(entries))
    )


def thread_row(
    context: Context, start: str, thread: Thread, index: int, *, is_current: bool = False, less_depth: int = 0
) -> Row:
    """One entry of a thread."""
    entry = thread.entries[index]
    depth = entry.depth - less_depth
    if entry.is_ghost:
        row = context.ghost_row(start, context.archive.ghosts[entry.ref[1]], depth=depth)
    else:
        row = context.row(start, context.archive.artifacts[entry.ref], depth=depth)
    if not (is_current or entry.continues or entry.continued_from):
        return row
    return replace(
        row,
        is_current=is_current,
        continues=tuple(context.thread(start, id_) for id_ in entry.continues),
        continued_from=context.thread(start, entry.continued_from) if entry.continued_from else None,
    )


def _neighbours(context: Context, start: str, thread: Thread, place: int) -> tuple[Reference | None, Reference | None]:
    def nearest(step: int) -> Reference | None:
        index = place + step
        while 0 <= index < len(thread.entries) and abs(index - place) <= SLICE * 4:
            if not thread.entries[index].is_ghost:
                return context.artifact(start, thread.entries[index].ref)
            index += step
        return None

    return nearest(-1), nearest(1)


def _variant_rows(memo: Memo) -> tuple[VariantRow, ...]:
    def digests(variant: Variant) -> tuple[str, str]:
        return variant.envelope.file.sha256, variant.body.text.sha256 if variant.body else ""

    rows = []
    shown_envelope, shown_body = digests(memo.variants[0])
    for number, variant in enumerate(memo.variants[1:], 1):
        holders = [f"{copy.file.source}/{copy.file.path}" for copy in memo.copies if copy.variant == number]
        envelope, body = digests(variant)
        rows.append(
            VariantRow(
                label=", ".join(holders),
                shown_envelope=shown_envelope,
                other_envelope=envelope,
                shown_body=shown_body,
                other_body=body,
            )
        )
    return tuple(rows)


def plan_ghost(context: Context, ghost: Ghost) -> GhostPage:
    """The page of a memo that is not in the archive."""
    start = artifact_page((ghost.kind, ghost.id))
    removal = context.archive.removed.get((ghost.kind, ghost.id))
    return GhostPage(
        life=removal_line(context, removal) if removal else None,
        site=context.site,
        path=index_file(start),
        root="../" * start.count("/"),
        title=ghost.short_subject,
        canonical=context.canonical(start),
        id=ghost.id,
        stem=ghost.stem,
        date=stamp(ghost.date),
        sender=context.named(start, ghost.sender) if ghost.sender else None,
        to=context.named(start, ghost.to) if ghost.to else None,
        replies=context.rows(start, ghost.replies),
        thread=context.thread(start, ghost.thread) if len(context.archive.threads[ghost.thread].memos) > 1 else None,
    )
