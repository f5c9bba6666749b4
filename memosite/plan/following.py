"""Plans how to follow a position: its feeds, commands that watch them, and a subscription list for feed readers."""

import shlex
from urllib.parse import quote

from memosite.archive.model import Position
from memosite.archive.urls import absolute, position_page
from memosite.facts.names import make_id
from memosite.feeds.json_feed import OutlineFeed, OutlineGroup, to_opml
from memosite.pages.feeds import Following
from memosite.plan.context import Context

LOCAL = "http://127.0.0.1:8000/"
"""Where `memosite serve` shows a site; for the commands of a site that knows no address of its own."""


def plan_following(context: Context, position: Position) -> Following:
    """The commands and the list are ready to copy: words for a shell are quoted, addresses absolute."""
    base = context.site.base_url or LOCAL
    page = position_page(position.id)
    feed = shlex.quote(absolute(base, f"{page}feed.xml"))
    full = shlex.quote(absolute(base, f"{page}feed-full.xml")) if context.feeds.full_content else feed
    return Following(
        watch_once=f"memosite watch --once {feed}",
        watch=f"memosite watch {feed}",
        run=f"memosite watch --exec ./on-memo {feed}",
        mail=f"r2e add {feed_name(position.id)} {full}",
        opml=_outline(context, position, base).decode(),
        is_local=context.site.base_url is None,
    )


def feed_name(id_: str) -> str:
    """A name for the feed of a position that rss2email takes and a shell leaves alone."""
    return quote(make_id(id_), safe="").replace("%", "-").replace("~", "-").lstrip("-")


def _outline(context: Context, position: Position, base: str) -> bytes:
    page, label = position_page(position.id), context.label(position.id)
    named = (("feed", f"memos to {label}"), ("notes", f"notes of {label}"), ("transcripts", f"transcripts of {label}"))
    feeds = tuple(
        OutlineFeed(
            title=f"{context.site.title}: {title}",
            address=absolute(base, f"{page}{name}.xml"),
            page=absolute(base, page),
        )
        for name, title in named
    )
    return to_opml(f"{context.site.title}: {label}", (OutlineGroup(title=label, feeds=feeds),))
