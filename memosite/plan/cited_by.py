"""Plans rows of citations: the list "Cited by" of what is cited, and the lists of the page of all citations."""

from itertools import islice
from urllib.parse import quote

from memosite.archive.citations import MadeCitation
from memosite.archive.urls import relative
from memosite.facts.parsed import Ref
from memosite.facts.phrases import phrase
from memosite.pages.cited import CitedRow
from memosite.pages.parts import Reference
from memosite.plan.context import Context

SHOWN = 200
"""The most citations on the page of what they cite, which says how many there are."""


def citation_row(context: Context, start: str, one: MadeCitation, *, is_own_page: bool = False) -> CitedRow:
    """A citation as the page `start` shows it; the page of what is cited names only the passage."""
    by = Reference(label=str(one.location))
    if one.by is not None:
        by = Reference(label=context.archive.short_subject(one.by), href=_href(context, start, one.by, one.by_anchor))
    to = Reference(label=one.written)
    if one.to is not None:
        label = f"#{one.anchor}" if one.anchor else phrase("all of it")
        if not is_own_page:
            subject = context.archive.short_subject(one.to)
            label = f"{subject} #{one.anchor}" if one.anchor else subject
        to = Reference(label=label, href=_href(context, start, one.to, one.anchor))
    return CitedRow(by=by, to=to, quote=one.quote, state=one.state, said=one.said)


def cited_by(context: Context, start: str, ref: Ref) -> tuple[CitedRow, ...]:
    """What cites an artifact, the newest first, as its own page shows it."""
    newest = reversed(context.citations_of.get(ref, ()))
    return tuple(citation_row(context, start, one, is_own_page=True) for one in islice(newest, SHOWN))


def _href(context: Context, start: str, ref: Ref, anchor: str) -> str:
    """Where a passage is; a range of turns begins with the first."""
    first = anchor.partition("-t")[0] if anchor.startswith("t") and "-t" in anchor else anchor
    href = relative(start, context.page(ref))
    return f"{href}#{quote(first, safe='-._~')}" if first else href
