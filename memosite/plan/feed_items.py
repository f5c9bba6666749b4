"""Plans the items of feeds: how each artifact is announced (FEEDS, item)."""

import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from memosite.archive.lines import original_sha256, shown_file
from memosite.archive.mailboxes import copies_at
from memosite.archive.model import Artifact, Copy, Memo, Position, Transcript
from memosite.archive.notices import notice_of
from memosite.archive.urls import absolute, artifact_page, page_of
from memosite.facts.names import ENVELOPE_SUFFIX
from memosite.facts.parsed import Ref
from memosite.facts.references import first_stem
from memosite.facts.texts import cut_line, is_visible
from memosite.feeds.rss import CONTROLS, ITEM_BYTES, Enclosure, FeedItem, tag_uri
from memosite.pages.parts import Body
from memosite.plan.artifact_page import SUBJECT_CHARS, originals
from memosite.plan.context import Context
from memosite.plan.memos import memo_bodies

ALL_ITEMS_BYTES = 1_000_000
"""The most bytes that the text of one memo takes in all feeds together."""

_ADDRESSEE_CHARS = 2_000
_FURTHEST = ("archive", "read", "inbox", "flat", None)
_TYPES = ((".md", "text/markdown"), (".jsonl", "application/jsonl"), (".txt", "text/plain"))


def plan_item(context: Context, artifact: Artifact, position: Position | None, *, has_content: bool) -> FeedItem:
    """An artifact as a feed announces it; of a memo, the copy in the repo of the position the feed is for.

    `has_content` adds the texts of memos, and of what was erased the reason.
    """
    base = context.site.base_url
    copy = _copy_for(context, artifact, position)
    sent = artifact.date if artifact.date and artifact.date.origin == "field" else None
    known: dict[str, Any] = {"sender": copy.file.source, "to": "", "action_required": False}
    known["title"] = artifact.short_subject if is_visible(artifact.short_subject) else artifact.id
    known["subject"] = cut_line(artifact.subject, SUBJECT_CHARS)
    if isinstance(artifact, Memo):
        known |= _of_memo(context, artifact, copy, position)
        known["contents"] = tuple(_contents(context, artifact)) if has_content else ()
        known["most_bytes"] = _most_bytes(context, artifact)
    elif isinstance(artifact, Transcript):
        envelope = artifact.variants[0].envelope
        speakers = [one.position for one in envelope.participants]
        known["sender"] = context.label(artifact.role) if artifact.role else next(iter(speakers), copy.file.source)
        known["to"] = cut_line(", ".join(speakers), _ADDRESSEE_CHARS)
        known["body_ref"] = envelope.body_ref
    path, original = _without_controls(copy.file.path), shown_file(artifact)
    if artifact.withheld:  # the item has the path alone (SPEC 9)
        known |= {"title": path, "subject": path, "body_ref": None}
        known["reason"] = _reason(artifact) if has_content else ""
    return FeedItem(
        guid=tag_uri(context.authority, context.archive_id, artifact.kind, artifact.id),
        path=path,
        repo=copy.file.source,
        sha256="" if original.is_redacted else original_sha256(artifact, original),
        link=absolute(base, page_of(artifact)) if base else None,
        date=sent,
        sent=sent.utc if sent else "",
        enclosure=_enclosure(context, base, artifact) if base and not artifact.withheld else None,
        **known,
    )


def _reason(artifact: Artifact) -> str:
    """When and why an artifact was erased; "" for one with a secret, of which the path alone is announced."""
    notice = notice_of(artifact)
    return notice.reason if notice and artifact.withheld and artifact.withheld.reason == "erased" else ""


def erased_item(context: Context, ref: Ref) -> FeedItem:
    """What was erased and is in no source any more, in an archive document: its guid, and where git had it last.

    It is in no mailbox in which it would wait for anybody.
    """
    base = context.site.base_url
    removal = context.archive.removed.get(ref)
    path = _without_controls(removal.events[-1].path) if removal and removal.stem else f"{ref[1]}{ENVELOPE_SUFFIX}"
    return FeedItem(
        guid=tag_uri(context.authority, context.archive_id, *ref),
        title=path,
        path=path,
        repo=removal.source if removal else "",
        sender="unknown",
        to="",
        subject=path,
        sha256="",
        action_required=False,
        link=absolute(base, artifact_page(ref)) if base and ref[0] != "record" else None,
        state="archive",
    )


def _without_controls(path: str) -> str:
    """A path as it may be announced: on one line, in the order in which it is read."""
    if path.isprintable():  # most are, and a path is announced in several feeds
        return path
    return "".join("\ufffd" if unicodedata.category(char) in CONTROLS else char for char in path)


def _of_memo(context: Context, memo: Memo, copy: Copy, position: Position | None) -> dict[str, Any]:
    """The fields of a memo's item besides those of any artifact's item."""
    envelope = memo.variants[copy.variant].envelope
    viewer = position.id if position and position.id in context.archive.positions else None
    return {
        "sender": memo.sender if is_visible(memo.sender) else "unknown",
        "to": cut_line(", ".join(memo.to), _ADDRESSEE_CHARS),
        "action_required": envelope.action_required,
        "is_open": memo.kind == "memo" and (context.action(memo, viewer) == "open" if viewer else bool(memo.owed_by)),
        "thread_id": envelope.thread_id,
        "in_reply_to": first_stem(envelope.in_reply_to),
        "parent_guid": tag_uri(context.authority, context.archive_id, *memo.parent) if memo.parent else None,
        "body_ref": envelope.body_ref,
        "state": copy.mailbox,
    }


def _enclosure(context: Context, base: str, artifact: Artifact) -> Enclosure | None:
    """The original as it is published: of an entry of a long list that is its own text; none if it is in a bundle."""
    if context.site.is_lean:
        return None
    _, path, sha256 = next(iter(originals(artifact)))
    media_type = next((kind for ending, kind in _TYPES if path.endswith(ending)), "application/json")
    file = shown_file(artifact)
    length = file.bytes if sha256 == file.sha256 else len(context.text_of(sha256).encode("utf-8", "replace"))
    return Enclosure(url=absolute(base, path), length=length, type=media_type)


def _copy_for(context: Context, artifact: Artifact, position: Position | None) -> Copy:
    """The copy in the position's own repo (of a union, in any of its repos), furthest on its way; else the first.

    If the feed is for no position, the memo's recipients are used.
    """
    if not isinstance(artifact, Memo):
        return artifact.copies[0]
    ids = (position.id, *position.union_of) if position else tuple(one.position for one in artifact.recipients)
    for id_ in ids:
        repo = context.archive.positions[id_].repo if id_ in context.archive.positions else None
        here = copies_at(artifact.copies, repo)
        if here[0].file.source == repo:
            return min(here, key=lambda copy: _FURTHEST.index(copy.mailbox))
    return artifact.copies[0]


def _most_bytes(context: Context, memo: Memo) -> int:
    """How much of a feed a memo's texts may take: less if it is to so many that it is in very many feeds (SPEC 9)."""
    feeds = len(context.position_ids) if memo.is_broadcast else len(memo.recipients)
    return min(ITEM_BYTES, ALL_ITEMS_BYTES // max(feeds, 1))


def _contents(context: Context, memo: Memo) -> Iterable[Body]:
    """The texts of a memo with absolute links; without an address of the site there is nothing to link to."""
    base = context.site.base_url
    for body in memo_bodies(context, "", memo):
        if body is not None:
            links = tuple((written, _absolute(base, href)) for written, href in body.links) if base else ()
            yield replace(body, links=links, images=())


def _absolute(base: str, href: str) -> str:
    """A link from the top of the site, or to elsewhere, as an absolute one; pages are named by their folder."""
    if "://" in href or href.startswith("mailto:"):
        return href
    path, mark, fragment = href.partition("#")
    return base + path.removesuffix("index.html") + mark + fragment
