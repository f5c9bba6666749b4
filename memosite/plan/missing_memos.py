"""Plans the pages of missing memos: those that are replied to and in no repo (ghosts)."""

from memosite.archive.model import Ghost
from memosite.archive.notices import notice_on
from memosite.archive.urls import artifact_page
from memosite.pages.models import GhostPage
from memosite.plan.context import Context
from memosite.plan.dates import stamp
from memosite.plan.head import page_head
from memosite.plan.history import removal_line


def plan_missing_memo(context: Context, ghost: Ghost) -> GhostPage:
    """The page: what the file name says, who replies to it, and its removal if git knows of one."""
    start = artifact_page((ghost.kind, ghost.id))
    removal = context.archive.removed.get((ghost.kind, ghost.id))
    return GhostPage(
        life=removal_line(context, removal) if removal else None,
        **page_head(context, start, title=ghost.short_subject),
        notice=notice_on(ghost.kind, context.archive.erased.get((ghost.kind, ghost.id))),
        id=ghost.id,
        stem=ghost.stem,
        date=stamp(ghost.date),
        sender=context.named(start, ghost.sender) if ghost.sender else None,
        to=context.named(start, ghost.to) if ghost.to else None,
        replies=context.rows(start, ghost.replies),
        thread=context.thread(start, ghost.thread) if len(context.archive.threads[ghost.thread].memos) > 1 else None,
    )
