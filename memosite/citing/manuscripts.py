"""Verifies the quotations of a manuscript, cited or not, with who said them (SPEC 7, verifying)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memosite.citing.item import CARRIED, Item, Place
from memosite.citing.sources import Sources
from memosite.citing.verifying import Checked
from memosite.facts.errors import ConfigError
from memosite.quotes.appraisal import Appraisal, Origin, appraise
from memosite.quotes.blocks import Block
from memosite.quotes.quotations import Quotation, find_quotations
from memosite.quotes.verdict import Tier

_FORMER = 3
"""Of how many of the likeliest sources the former versions are looked into."""

_Key = tuple[str, int]


def verify_manuscript(blocks: Iterable[Block], sources: Sources) -> list[Checked]:
    """A verdict on each quotation of 8 words or more."""
    known = sources.positions
    found = find_quotations(blocks, positions=known.keys())
    named = [replace(one, speakers=tuple(dict.fromkeys(known[name] for name in one.speakers))) for one in found]
    holders = sources.holders([one.text for one in named]) if named else []
    return [_verify(one, items, sources) for one, items in zip(named, holders, strict=True)]


def _verify(quotation: Quotation, items: Sequence[Item], sources: Sources) -> Checked:
    readable = [item for item in items if not item.why_not]
    cited = _cited(quotation, sources)
    if cited:
        item, anchor = cited
        place = item.place(anchor) if anchor else None
        found = _told(_in_place(quotation, item, place) if place else appraise(quotation, item.origins), [item])
        if found.tier.holds and bool(anchor) == bool(place):
            if found.check == "not checked" and not found.quoted_in and anchor and not quotation.speakers:
                return replace(found, check="right")  # the citation says whose words they are
            return found
    found = _told(appraise(quotation, _origins(readable)), readable)
    if found.tier.holds and cited:
        name = f"{cited[0].ref}#{cited[1]}" if cited[1] else cited[0].ref
        return replace(found, check="wrong", details=(*found.details, f"not in {name}, which the sentence cites"))
    if not found.tier.holds:
        likely = dict.fromkeys([item.ref for item in ([cited[0]] if cited else [])] + [one.ref for one in readable])
        for name in list(likely)[:_FORMER]:
            if then := _formerly(quotation, sources.item(name), sources, found):
                return then
    return found


def _origins(items: Iterable[Item]) -> list[Origin[_Key]]:
    return [origin for item in items for origin in item.origins]


def _cited(quotation: Quotation, sources: Sources) -> tuple[Item, str] | None:
    """The item, and the place of it, that a link in the sentence or below the quotation leads to."""
    for link in quotation.links:
        try:
            name, anchor = sources.find(link, is_exact=True)
        except ConfigError:
            continue
        item = sources.item(name)
        if not item.why_not:
            return item, anchor
    return None


def _in_place(quotation: Quotation, item: Item, place: Place) -> Appraisal[_Key]:
    """By the passage alone that the sentence cites: others may have the same words, by others."""
    voices = item.origins[place.body].voices_at([(place.start, place.end)])
    cut = [(max(one.start, place.start), min(one.end, place.end), one) for one in voices]
    within = [replace(one, start=start - place.start, end=end - place.start) for start, end, one in cut]
    found = appraise(quotation, [Origin((item.ref, place.body), place.text, within)])
    spans = tuple((start + place.start, end + place.start) for start, end in found.verdict.spans)
    return replace(found, verdict=replace(found.verdict, spans=spans))


def _told(appraisal: Appraisal[_Key], items: Iterable[Item]) -> Checked:
    verdict = appraisal.verdict
    asked = Checked(line=appraisal.quotation.line, quote=appraisal.quotation.text, tier=verdict.tier)
    if appraisal.key is None:
        return asked
    name, body = appraisal.key
    item = next(one for one in items if one.ref == name)
    place = item.around(verdict.spans[0][0], verdict.spans[-1][1], body) if verdict.spans else None
    details = list(verdict.details)
    if verdict.tier.holds and appraisal.quoted_in:
        details.append(f"{CARRIED} it, not said by it")
    elif appraisal.check == "wrong":
        details.append(f"said by {appraisal.speaker}, not by {', '.join(appraisal.quotation.speakers)}")
    return replace(
        asked,
        ref=f"{name}#{place.anchor}" if place else name,
        details=tuple(details),
        changes=verdict.changes,
        is_cut=verdict.is_cut,
        speaker=appraisal.speaker,
        quoted_in=appraisal.quoted_in and verdict.tier.holds,
        check=appraisal.check,
    )


def _formerly(quotation: Quotation, item: Item, sources: Sources, now: Checked) -> Checked | None:
    """The verdict by a former version of a likely source."""
    for version in sources.former(item):
        then = appraise(quotation, version.origins)
        if then.verdict.tier.holds:
            told = _told(then, [version])
            changes = now.changes if now.tier is Tier.CHANGED else ()
            return replace(told, version=version.commit, details=(*told.details, "changed since"), changes=changes)
    return None
