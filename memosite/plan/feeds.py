"""Plans the feed of each position: memos to it and to `all`, in the window that FEEDS gives."""

import datetime as dt
from collections.abc import Sequence

from memosite.feeds import Feed, FeedItem, tag_uri
from memosite.model import Copy, Memo, Position
from memosite.names import ENVELOPE_SUFFIX
from memosite.plan.common import originals
from memosite.plan.context import Context
from memosite.plan.positions import received
from memosite.resolve.actions import copies_at
from memosite.urls import absolute, artifact_page, position_page


def plan_feed(context: Context, position: Position) -> Feed:
    """The feed of a position. Items stand newest first by (sent, id); the window goes by arrival."""
    page = position_page(position.id)
    label = context.label(position.id)
    base = context.site.base_url
    chosen = _window(context, position, received(context, position))
    chosen.sort(key=lambda memo: (memo.sort_key[0] if memo.date else dt.datetime.min.replace(tzinfo=dt.UTC), memo.id))
    return Feed(
        title=f"{context.site.title}: memos to {label}",
        description=f"Memos to {label} and to all. The description of each item is the memo's path.",
        language=context.site.language,
        generator=context.site.generator,
        position=position.id,
        fallback_link=f"urn:memosite:{context.archive_id}",
        items=tuple(_item(context, position, memo) for memo in reversed(chosen)),
        link=absolute(base, page) if base else None,
        address=absolute(base, page + "feed.xml") if base else None,
        ttl=context.feeds.ttl,
    )


def _window(context: Context, position: Position, memos: Sequence[Memo]) -> list[Memo]:
    """All unread memos, the newest 50, and those of 30 days before the newest, by arrival (FEEDS, window)."""
    if not memos:
        return []
    newest = max((memo.date.instant for memo in memos if memo.date), default=None)
    try:
        since = newest - dt.timedelta(days=context.feeds.days) if newest else None
    except OverflowError:
        since = None
    recent = {memo.ref for memo in memos[-context.feeds.window :]}
    return [
        memo
        for memo in memos
        if memo.ref in recent
        or (since is not None and memo.date is not None and memo.date.instant >= since)
        or context.is_unread(memo, position.id)
    ]


def _item(context: Context, position: Position, memo: Memo) -> FeedItem:
    copy = _copy_for(context, position, memo)
    envelope = memo.variants[copy.variant].envelope
    base = context.site.base_url
    page = artifact_page(memo.ref)
    _, original, _ = next(iter(originals(memo)))
    is_envelope = original.endswith(ENVELOPE_SUFFIX)
    ghost = context.archive.ghosts.get(memo.ghost_parent or "")
    parent = memo.parent or ((ghost.kind, ghost.id) if ghost else None)
    return FeedItem(
        guid=tag_uri(context.authority, context.archive_id, memo.kind, memo.id),
        title=memo.short_subject,
        path="".join(char if char.isprintable() else "\ufffd" for char in copy.file.path),
        repo=copy.file.source,
        sender=memo.sender,
        to=", ".join(memo.to),
        subject=memo.subject,
        sha256=memo.variants[0].envelope.file.sha256,
        action_required=envelope.action_required,
        is_open=memo.action == "open",
        link=absolute(base, page) if base else None,
        date=memo.date if memo.date and memo.date.origin == "field" else None,
        thread_id=envelope.thread_id,
        in_reply_to=envelope.in_reply_to,
        parent_guid=tag_uri(context.authority, context.archive_id, *parent) if parent else None,
        body_ref=envelope.body_ref,
        state=copy.mailbox,
        enclosure=(absolute(base, original), memo.variants[0].envelope.file.bytes) if base and is_envelope else None,
    )


def _copy_for(context: Context, position: Position, memo: Memo) -> Copy:
    """The copy in the position's own repo (of a union, in any of its repos), else the first."""
    for id_ in (position.id, *position.union_of):
        repo = context.archive.positions[id_].repo if id_ in context.archive.positions else None
        here = copies_at(memo.copies, repo)
        if here and here[0].file.source == repo:
            return here[0]
    return memo.copies[0]
