"""Verifies citations: finds the passage, by its name or its hash, and judges the quote by it (SPEC 7, verifying).

citation ─► the place it names, if its source text has that hash ─► a place with that hash, named otherwise now
         ─► a former version with that hash ─► the same words elsewhere ─► what is nearest
"""

from dataclasses import dataclass, replace
from hashlib import sha256

from memosite.citing.item import CARRIED, Item, Place
from memosite.citing.making import holding_places
from memosite.citing.sources import Sources
from memosite.facts.errors import ConfigError
from memosite.facts.written import Written
from memosite.quotes.appraisal import SpeakerCheck
from memosite.quotes.judge import judge
from memosite.quotes.verdict import Change, Tier, Verdict

_SHORT = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What is said of one citation, or of one quotation of a manuscript: `line` is where it is.

    `version` is the commit in which it held, if it does not hold as it is now. `changes` is the word diff of what
    differs, `is_cut` says that it goes on. `source` is what was hashed, `turns` the texts of a range by their anchors,
    `former` all of the text that `version` had, `digest` the SHA-256 that the citation names.
    """

    line: int
    quote: str
    tier: Tier
    ref: str = ""
    details: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    is_cut: bool = False
    version: str = ""
    speaker: str = ""
    quoted_in: bool = False
    check: SpeakerCheck = "not checked"
    source: str = ""
    turns: tuple[tuple[str, str], ...] = ()
    former: str = ""
    digest: str = ""

    def holds(self, *, is_strict: bool = False) -> bool:
        """Whether the source says this; strictly, whether it still does."""
        return self.tier.holds and self.check != "wrong" and not (is_strict and self.version)

    @property
    def said(self) -> str:
        """The verdict in words."""
        label = f"{self.tier.label} at {self.version[:_SHORT]}" if self.version else self.tier.label
        return "; ".join((label, *self.details))


def verify_citation(written: Written, sources: Sources) -> Checked:
    """The verdict on a citation."""
    asked = _asked(written)
    try:
        name, anchor = sources.find(written.ref or written.url, is_exact=True)
    except ConfigError as error:
        return _of_removed(written, sources) or replace(asked, details=(str(error),))
    item = sources.item(name)
    asked = replace(asked, ref=f"{name}#{anchor}" if anchor else name)
    if item.why_not:
        return replace(asked, details=(item.why_not,))
    ways = (_as_named, _by_hash, _formerly, _elsewhere)
    for way in ways:
        found = way(asked, written, anchor, item, sources)
        if found:
            return found
    return _nearest(asked, written, anchor, item)


def _asked(written: Written) -> Checked:
    return Checked(line=written.line, quote=written.quote, tier=Tier.NOT_FOUND, ref=written.ref, digest=written.sha256)


def _of_removed(written: Written, sources: Sources) -> Checked | None:
    """By the former versions of what is in no source any more."""
    name, _, anchor = written.ref.partition("#")
    item = sources.removed(name)
    if item is None:
        return None
    asked = _asked(written)
    found = _formerly(asked, written, anchor, item, sources)
    why = (sources.missing(name),)
    return replace(found, details=why) if found else replace(asked, details=why)


# The ways


def _as_named(asked: Checked, written: Written, anchor: str, item: Item, _sources: Sources) -> Checked | None:
    """The place that is named, if its source text has the hash."""
    if anchor:
        place = item.place(anchor)
        return _in_place(asked, written, place, item) if place and place.sha256 == written.sha256 else None
    if written.sha256 in item.digests:
        return _in_whole(asked, written, item)
    if any(_begins_with(body.text, written.sha256) for body in item.bodies):
        return _noted(_in_whole(asked, written, item), "it was appended to since")
    return None


def _by_hash(asked: Checked, written: Written, anchor: str, item: Item, _sources: Sources) -> Checked | None:
    """A place with the hash that has another name now: a re-capture shifts ordinals."""
    place = item.with_digest(written.sha256, anchor) if anchor else None
    if place is None:
        return None
    moved = replace(asked, ref=f"{item.ref}#{place.anchor}")
    return _noted(_in_place(moved, written, place, item), f"#{anchor} is #{place.anchor} now, found by its hash")


def _formerly(asked: Checked, written: Written, anchor: str, item: Item, sources: Sources) -> Checked | None:
    """A former version with the hash; if its words are still in the place, the verdict is on that."""
    for version in sources.former(item):
        then = _as_named(asked, written, anchor, version, sources) or _by_hash(asked, written, anchor, version, sources)
        if then is None:
            continue
        if not then.tier.holds:
            return _noted(then, f"so it was at {version.commit[:_SHORT]}, too")
        now = _now(asked, written, anchor, item)
        if now and now.tier.holds:
            return _noted(now, f"the text around it was changed since {version.commit[:_SHORT]}")
        changes = now.changes if now else ()
        return replace(
            _noted(then, "changed since"), version=version.commit, former=_all(version), changes=changes, ref=asked.ref
        )
    return None


def _elsewhere(asked: Checked, written: Written, anchor: str, item: Item, sources: Sources) -> Checked | None:
    """The words where the citation names them, in another source text; or in other places; or formerly."""
    if not written.quote:
        return None
    now = _now(asked, written, anchor, item)
    if now and now.tier.holds:
        return _noted(now, sources.other_hash)
    for version in sources.former(item):
        then = _now(asked, written, anchor, version)
        if then and then.tier.holds:
            unknown = _noted(then, "changed since", "its hash is of no version that is known")
            return replace(unknown, version=version.commit, former=_all(version), changes=now.changes if now else ())
    found = next(iter(holding_places(item, written.quote)), None) if anchor else None
    return _in_other(asked, written, anchor, item, found) if found else None


def _in_other(asked: Checked, written: Written, anchor: str, item: Item, found: tuple[Place, Verdict]) -> Checked:
    """The words in another place than the one that is named: those of the citation, if its speaker said them."""
    place, verdict = found
    if item.is_carried(place.body, verdict.spans[0][0]):
        return replace(asked, details=(f"only {CARRIED} #{place.anchor}",), quoted_in=True)
    if not written.speaker or _position(written.speaker) == _position(place.speaker):
        told = _told(asked, verdict, place, item, written)
        return _noted(replace(told, ref=f"{item.ref}#{place.anchor}"), f"in #{place.anchor}, not in #{anchor}")
    said = f"these words are in #{place.anchor}, by {place.speaker}, not by {written.speaker}"
    return replace(asked, tier=Tier.CHANGED, details=(said,), check="wrong", speaker=place.speaker)


def _nearest(asked: Checked, written: Written, anchor: str, item: Item) -> Checked:
    """What is nearest to a quote that is nowhere; without a quote, that the text is another one."""
    now = _now(asked, written, anchor, item)
    if now:
        is_other = not written.quote
        return replace(now, tier=Tier.CHANGED, details=("its text is another one now",)) if is_other else now
    whole = replace(_in_whole(asked, written, item), details=()) if written.quote else asked
    tier = max(whole.tier, Tier.CHANGED)
    return replace(whole, tier=tier, details=(f"{item.ref} has no #{anchor} now",))


# Judging


def _now(asked: Checked, written: Written, anchor: str, item: Item) -> Checked | None:
    """The verdict by the place that is named, whatever its hash."""
    if not anchor:
        return _in_whole(asked, written, item)
    place = item.place(anchor)
    return _in_place(asked, written, place, item) if place else None


def _in_place(asked: Checked, written: Written, place: Place, item: Item) -> Checked:
    verdict = judge(written.quote, place.text) if written.quote else Verdict(tier=Tier.EXACT)
    spans = tuple((start + place.start, end + place.start) for start, end in verdict.spans)
    return _told(asked, replace(verdict, spans=spans), place, item, written)


def _told(asked: Checked, verdict: Verdict, place: Place, item: Item, written: Written) -> Checked:
    """A verdict with who speaks: a citation must not name a speaker for what a turn only read in."""
    start = verdict.spans[0][0] if verdict.spans else place.start
    is_carried = bool(place.carrier) or (bool(written.quote) and item.is_carried(place.body, start))
    is_read_in = bool(place.carrier) or (bool(written.quote) and item.is_read_in(place.body, start))
    details, check = verdict.details, _check(written, place, item, is_read_in=is_read_in)
    if is_carried and verdict.tier.holds:
        details = (*details, f"{CARRIED} #{place.anchor}" + (", not said by its speaker" if is_read_in else ""))
    elif check == "wrong" and verdict.tier.holds:
        details = (*details, f"said by {place.speaker}, not by {written.speaker}")
    return replace(
        asked,
        tier=verdict.tier,
        details=details,
        changes=verdict.changes,
        is_cut=verdict.is_cut,
        speaker=place.speaker,
        source=place.hashed,
        turns=place.turns,
        quoted_in=is_carried,
        check=check,
    )


def _check(written: Written, place: Place, item: Item, *, is_read_in: bool) -> SpeakerCheck:
    if not written.speaker or not item.whole.speaker or (not place.speaker and not is_read_in):
        return "not checked"
    is_right = not is_read_in and _position(written.speaker) == _position(place.speaker)
    return "right" if is_right else "wrong"


def _position(speaker: str) -> str:
    """The position of a speaker as citations name it, without session and person."""
    return " ".join(speaker.partition(" (")[0].casefold().split())


def _in_whole(asked: Checked, written: Written, item: Item) -> Checked:
    """By all bodies of an item: the best verdict."""
    held = (one.text for one in item.bodies if sha256(one.text.encode()).hexdigest() == written.sha256)
    asked = replace(asked, source=next(held, ""))
    if not written.quote:
        return replace(asked, tier=Tier.EXACT)
    found = [
        judge(written.quote, origin.source, [(one.start, one.end) for one in origin.voices]) for origin in item.origins
    ]
    best = min(found, key=lambda one: one.tier, default=Verdict(tier=Tier.NOT_FOUND))
    return replace(asked, tier=best.tier, details=best.details, changes=best.changes, is_cut=best.is_cut)


def _all(version: Item) -> str:
    return "\n".join(body.text for body in version.bodies)


def _noted(checked: Checked, *notes: str) -> Checked:
    return replace(checked, details=(*checked.details, *notes))


def _begins_with(text: str, digest: str) -> bool:
    """Whether the text up to the end of some line has this digest: what was cited before more was appended."""
    whole = sha256()
    for number, line in enumerate(text.encode("utf-8", "surrogatepass").split(b"\n")):
        whole.update(b"\n" if number else b"")
        if whole.hexdigest() == digest:
            return True
        whole.update(line)
        if whole.hexdigest() == digest:
            return True
    return False
