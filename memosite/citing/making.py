"""Makes citations: of what a reference names, or of the sources that hold a quote (SPEC 7, citations)."""

import shlex
from collections.abc import Iterable, Iterator, Sequence

from memosite.archive.cite import Citation
from memosite.citing import Item, Place, Sources
from memosite.facts.errors import ConfigError
from memosite.facts.values import Value, field, replace
from memosite.formats.turns import REDACTED
from memosite.quotes.index import LEAST
from memosite.quotes.judge import judge
from memosite.quotes.source import Change, Tier, Verdict, folded_words

# Says verdicts in words: the tier, what else is to be known, and a word diff of what differs.


_SHOWN = 60
"""The most words of a stretch that is the same."""


def shown_changes(changes: Sequence[Change], *, is_cut: bool) -> Iterator[Change]:
    """The word diff of a changed quote as it is shown: of a long stretch that is the same the ends."""
    for kind, words in changes:
        said = words.split()
        if kind == "same" and len(said) > _SHOWN:
            said = [*said[: _SHOWN // 2], "…", *said[-_SHOWN // 2 :]]
        yield kind, " ".join(said)
    if changes and is_cut:
        yield "same", "…"


def marked(changes: Iterable[Change]) -> str:
    """A word diff in a line: `[-what the source says-]` `{+what the quote says+}`."""
    return " ".join({"same": text, "source": f"[-{text}-]", "quote": f"{{+{text}+}}"}[kind] for kind, text in changes)


def diff_lines(changes: Sequence[Change], *, is_cut: bool) -> Iterator[str]:
    """The word diff of a changed quote as a line, if there is one."""
    if changes:
        yield f"    {marked(shown_changes(changes, is_cut=is_cut))}"


MOST = 20
"""The most candidates for a bare quote that are listed."""


class Made(Value):
    """A citation, and how the quote that was given agrees with it; or why there is none, in one line or more.

    `where` names file, lines and bytes of the source text.
    """

    citation: Citation | None = None
    verdict: Verdict | None = None
    is_carried: bool = False
    where: dict[str, object] = field(default_factory=dict)
    problem: tuple[str, ...] = ()


def cite_reference(sources: Sources, written: str, quote: str) -> Made:
    """The citation of what a reference names; the quote, if there is one, has to be in it.

    Raises `ConfigError` if the reference means nothing.
    """
    name, anchor = sources.find(written)
    item = sources.item(name)
    if item.why_not:
        return Made(problem=(f"{written}: {item.why_not}",))
    place = item.place(anchor) if anchor else None
    if anchor and place is None:
        raise ConfigError(f"{written}: {name} has no passage #{anchor}; {_anchors(item)}")
    if quote:
        return _with_quote(item, place, quote, written, sources)
    if why := _uncitable(item, place):
        return Made(problem=(f"{written}: {why}",))
    is_carried = place is not None and item.is_all_carried(place)
    citation = item.cite(place, commit=sources.commit_of(item, place), is_carried=is_carried)
    return Made(citation=citation, where=item.where(place))


def _anchors(item: Item) -> str:
    """Which anchors an item has, in a few words."""
    if item.turns:
        return f"expected a turn from t1 to t{len(item.turns)}, a range such as t1-t2, or the anchor of a passage"
    found = [place.anchor for place in item.places()]
    return f"expected an anchor of its page, such as #{found[0]}" if found else "it has no passages; leave out the #"


def _uncitable(item: Item, place: Place | None) -> str:
    """Why a place has no hash: only what is there, and is not redacted, can be cited."""
    if place is None:
        held = any(body.is_redacted for body in item.bodies)
        if held and any(turn.is_withheld for turn in item.turns.values()):
            return "a turn of it is withheld, since a secret is in it; cite another turn, or a range without it"
        return "secrets in it were redacted; cite a passage that holds none, such as #t1" if held else ""
    if place.sha256:
        return ""
    turns = item.turns_of(place)
    if any(turn.is_withheld for turn in turns):
        return f"{'a turn of it' if len(turns) > 1 else 'it'} is withheld, since a secret is in it"
    if not place.text.strip():
        return "it is empty"
    if any(turn.place for turn in turns) and not REDACTED.search(place.text):
        return "only its beginning is kept, or not all of it is published, so it cannot be cited"
    return "a secret in it was redacted, so it cannot be cited"


def _with_quote(item: Item, place: Place | None, quote: str, written: str, sources: Sources) -> Made:
    if place is None:
        held = next(holding_places(item, quote), None)
        if held:
            return _made(item, *held, quote, sources)
        verdict = judge(quote, "\n\n".join(body.text for body in item.bodies))
        if verdict.tier.holds:  # over several passages
            return _made(item, None, verdict, quote, sources, name=written)
    else:
        verdict = judge(quote, place.text)
        if verdict.tier.holds:
            return _made(item, place, verdict.moved(place.start), quote, sources)
    differences = diff_lines(verdict.changes, is_cut=verdict.is_cut)
    return Made(problem=(f"{written}: the quote is not in it: {verdict.tier.label}", *differences))


def _made(item: Item, place: Place | None, verdict: Verdict, quote: str, sources: Sources, *, name: str = "") -> Made:
    """The citation of a place, or of all that is called `name`, with a quote that is there."""
    if why := _uncitable(item, place):
        return Made(problem=(f"{f'{item.ref}#{place.anchor}' if place else name}: {why}",))
    is_carried = place is not None and (bool(place.carrier) or item.is_carried(place.body, verdict.spans))
    words = " ".join(quote.split()) if place else quote
    citation = item.cite(place, words, commit=sources.commit_of(item, place), is_carried=is_carried)
    return Made(citation=citation, verdict=verdict, is_carried=is_carried, where=item.where(place))


def holding_places(item: Item, quote: str) -> Iterator[tuple[Place, Verdict]]:
    """The places that hold a quote, those in which somebody says it first."""
    carried: list[tuple[Place, Verdict]] = []
    for number, origin in enumerate(item.origins):
        verdict = judge(quote, origin.source, [(voice.start, voice.end) for voice in origin.voices])
        if not verdict.tier.holds:
            continue
        own = origin.own_verdicts(quote) if item.is_carried(number, verdict.spans) else ()
        for spans in (*(one.spans for one in own), verdict.spans):
            place = item.around(spans[0][0], spans[-1][1], number)
            if place:
                found = (place, replace(verdict, spans=spans))
                if item.is_carried(number, spans):
                    carried.append(found)
                else:
                    yield found
    yield from carried


def cite_quote(sources: Sources, quote: str) -> list[Made]:
    """The citations of the sources that hold a quote, the oldest first; what only carries it after all others."""
    is_short = len(folded_words(quote)) < LEAST
    items = sources.with_words(quote) if is_short else sources.holders([quote])[0]
    held = (_holding(item, quote, sources) for item in items if not item.why_not)
    found = sorted(filter(None, held), key=lambda one: one.is_carried)
    return found[:MOST] or [Made(problem=tuple(_nowhere(items, quote)))]


def _holding(item: Item, quote: str, sources: Sources) -> Made | None:
    """The citation of the first place with a quote, or of the whole: tables have no anchors, and some span passages."""
    held = next(holding_places(item, quote), None)
    if held:
        return _made(item, *held, quote, sources)
    for number, body in enumerate(item.bodies):
        verdict = judge(quote, body.text)
        if verdict.tier.holds:
            is_carried = item.is_carried(number, verdict.spans)
            return replace(_made(item, None, verdict, quote, sources, name=item.ref), is_carried=is_carried)
    return None


def _nowhere(items: Iterable[Item], quote: str) -> Iterator[str]:
    """That no source holds a quote, and which one is nearest."""
    found = [(judge(quote, body.text), item) for item in items for body in item.bodies]
    near = min(found, key=lambda one: (one[0].tier, one[0].changed_words), default=None)
    words, search = len(folded_words(quote)), shlex.join(("memosite", "search", f'"{" ".join(quote.split())}"'))
    if near is None or near[0].tier is Tier.NOT_FOUND:
        few = f", and something like it is looked for from {LEAST} words on; see: {search}"
        yield f"no source holds this quote{few if words < LEAST else '; nothing like it was found'}"
        return
    yield f"no source holds this quote; the nearest is in {near[1].ref}:"
    yield from diff_lines(near[0].changes, is_cut=near[0].is_cut)
