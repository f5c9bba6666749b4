"""Plans the list of passages that an artifact shares with others, for its page and its twins."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from urllib.parse import quote

from memosite.archive.model import Artifact, Transcript
from memosite.archive.urls import page_of, relative
from memosite.facts.parsed import Ref
from memosite.facts.phrases import phrase
from memosite.facts.texts import one_line
from memosite.pages.parts import Reference
from memosite.pages.shared import SharedRow
from memosite.plan.addresses import twin_address
from memosite.plan.context import Context
from memosite.plan.shared_passages import SharedLink
from memosite.plan.twins import escaped

SHOWN, AT_TURNS = 100, 1_000
"""The most shared passages in the list of one page, which says how many there are, and at the turns of a transcript."""

_RELATIONS: Mapping[str, str] = MappingProxyType(
    {
        "drafted in": phrase("Drafted in"),
        "draft of": phrase("Draft of"),
        "quotes": phrase("Quotes"),
        "quoted in": phrase("Quoted in"),
    }
)


def shared_rows(context: Context, start: str, artifact: Artifact) -> tuple[SharedRow, ...]:
    """The first shared passages of an artifact as its page shows them."""
    here = page_of(artifact)
    return tuple(
        SharedRow(
            relation=_RELATIONS[link.relation],
            here=_at("" if start == here else relative(start, here), link.anchor),
            there=_there(context, start, link),
            words=link.words,
            begins=link.begins,
        )
        for link in context.shared.get(artifact.ref, ())[:SHOWN]
    )


def shared_at_turns(context: Context, start: str, transcript: Transcript) -> tuple[tuple[str, str, Reference], ...]:
    """The same at the turns of a transcript: the anchor of each, what the one is to the other, and where that is."""
    links = context.shared.get(transcript.ref, ())[:AT_TURNS]
    return tuple((link.anchor, _RELATIONS[link.relation], _there(context, start, link)) for link in links)


def _there(context: Context, start: str, link: SharedLink) -> Reference:
    href = relative(start, context.page(link.other))
    return Reference(label=_label(context, link), href=_at(href, link.other_anchor))


def _label(context: Context, link: SharedLink) -> str:
    subject = context.archive.short_subject(link.other)
    return f"{subject}, {link.other_anchor}" if link.other[0] == "transcript" and link.other_anchor else subject


def _at(href: str, anchor: str) -> str:
    return f"{href}#{quote(anchor, safe='-._~')}" if anchor else href


def shared_fields(context: Context, ref: Ref) -> list[dict[str, object]]:
    """All shared passages of an artifact, for its JSON."""
    return [
        {
            "relation": link.relation,
            "anchor": link.anchor or None,
            "words": link.words,
            "with": "/".join(link.other),
            "with_anchor": link.other_anchor or None,
        }
        for link in context.shared.get(ref, ())
    ]


def shared_lines(context: Context, start: str, ref: Ref) -> Iterator[str]:
    """The same as lines of Markdown."""
    for link in context.shared.get(ref, ()):
        label = escaped(one_line(_label(context, link)))
        target = f"[{label}]({twin_address(context, start, link.other, 'md')})"
        where = f" (#{link.anchor})" if link.anchor else ""
        yield f"- {link.relation.capitalize()} {target}, {link.words} words{where}: {escaped(link.begins)}\n"
