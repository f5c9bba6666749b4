"""Verifies citations, quotations of a manuscript, and all citations that an archive makes of itself (SPEC 7).

    citation ─► the place it names, if its source text has that hash ─► a place with that hash, named otherwise now
             ─► a former version with that hash ─► the same words elsewhere ─► what is nearest

An archive's own citations were found when its files were parsed. Each holds, is broken or is not judged by the archive
as it is: former versions are not looked into, since `verify` says in which one a citation held. Only what is cited is
cut into passages.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise, zip_longest

from memosite.archive.cite import ref_named
from memosite.archive.lines import notice_on
from memosite.archive.model import Archive, Artifact, CitationState, Document, MadeCitation, Memo
from memosite.citing import CARRIED, MISREAD, ArchiveSources, Item, Place, Sources
from memosite.citing.making import holding_places, shown_changes
from memosite.facts.errors import ConfigError
from memosite.facts.findings import Finding, Location
from memosite.facts.json_text import clean_text
from memosite.facts.parsed import LineOf, Ref, Written
from memosite.facts.patterns import regex
from memosite.facts.rules import CITATION_BROKEN
from memosite.facts.texts import cut_line
from memosite.facts.values import Value, replace
from memosite.markdown.plain import read_places
from memosite.passages import SourceBody, bodies_of
from memosite.quotes.blocks import Block
from memosite.quotes.citations import is_name
from memosite.quotes.judge import judge, says
from memosite.quotes.quotations import Appraisal, Origin, Quotation, SpeakerCheck, appraise, find_quotations
from memosite.quotes.source import Change, Span, Tier, Verdict, word_count

# Verifies citations: finds the passage, by its name or its hash, and judges the quote by it (SPEC 7, verifying).


_SHORT = 7


_WHOLE = 64


_WEB = ("http:", "https:")


_DIGITS = regex(r"\d+")  # the names of sessions have them


_TURNS = regex(r"t([1-9]\d{0,8})(?:-t([1-9]\d{0,8}))?(?=[.:-]|\Z)", re.ASCII)


_NUMBERED = regex(r"-\d+\Z")  # of equal texts


_WHO = regex(r" \([^()]*\)?")


class Checked(Value):
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
    """The verdict on a citation: of all words that its paragraph quotes the one that holds least."""
    quotes = [*zip_longest((written.quote, *written.others), written.around, fillvalue="")]
    quotes = [pair for pair in quotes if pair[0]] or [("", "")]
    found = [_verified(replace(written, quote=one, others=(), around=(said,)), sources) for one, said in quotes]
    kept = [one for one in found if one.holds() or not (one.quote and _is_title(one.quote, written, sources))]
    kept = kept or [_verified(replace(written, quote="", others=()), sources)]
    doubt, speaker = written.doubt, written.speaker
    is_unknown = kept[0].check == "not checked" and not (kept[0].quoted_in or is_name(_DIGITS.sub("", speaker)))
    if is_unknown and not _is_title(speaker, written, sources):
        doubt = doubt or "who is said to speak is nobody that is known, so that it may be quoted"
    if doubt:
        kept.append(replace(kept[0], tier=Tier.UNREAD, details=(doubt,), changes=(), version=""))
    return max(kept, key=lambda one: (not one.holds(), one.tier))


def _is_title(quote: str, written: Written, sources: Sources) -> bool:
    """Whether words in quotation marks are the name of what is cited, or of who speaks there."""
    try:
        whole = sources.item(sources.find(written.ref or written.url, is_exact=True)[0]).whole
    except ConfigError:
        return False
    names = f"{whole.title}\n\n{whole.speaker}"
    return word_count(quote) <= word_count(names) and says(names, quote)


def _verified(written: Written, sources: Sources) -> Checked:
    asked = _asked(written)
    try:
        name, anchor = sources.find(written.ref or written.url, is_exact=True)
    except ConfigError as error:
        return _of_removed(written, sources) or replace(asked, details=(str(error),))
    item = sources.item(name)
    asked = replace(asked, ref=f"{name}#{anchor}" if anchor else name)
    if item.why_not:
        return replace(asked, details=(item.why_not,))
    if written.unread:
        return replace(asked, tier=Tier.UNREAD, details=(written.unread,))
    for way in (_unhashed, _as_named, _by_hash, _formerly, _elsewhere):
        found = way(asked, written, anchor, item, sources)
        if found:
            return _noted(found, *_misleading(written, item, sources)) if found.tier.holds else found
    return _nearest(asked, written, anchor, item)


def _misleading(written: Written, item: Item, sources: Sources) -> Iterator[str]:
    """That the address of a citation leads readers to something else than its reference names."""
    if not written.url:
        return
    here, said = item.whole.url, written.url
    try:
        name, _ = sources.find(said, is_exact=True)
    except ConfigError:
        name = ""
    if name != item.ref:
        yield f"its address leads to {name}" if name else "its address leads to nothing in the archive"
    elif here.startswith(_WEB) and said.startswith(_WEB) and not said.startswith(here):
        yield "its address is on another site"
    turns, led = (_TURNS.match(one.partition("#")[2]) for one in (written.ref, said))
    if name == item.ref and turns and led and not int(turns[1]) <= int(led[1]) <= int(turns[2] or turns[1]):
        yield f"its address leads to #t{led[1]}"


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
    return replace(found or asked, details=(sources.missing(name),))


# The ways


def _unhashed(asked: Checked, written: Written, anchor: str, item: Item, _sources: Sources) -> Checked | None:
    """Of a citation without a whole hash, the place that is named as it is, with what is missing."""
    digits = len(written.sha256)
    if digits == _WHOLE:
        return None
    now = _now(asked, written, anchor, item)
    if now is None:
        return replace(asked, tier=Tier.CHANGED, details=(f"{item.ref} has no #{anchor} now",))
    place = item.place(anchor) if anchor else None
    hashes = [place.sha256] if place else item.digests
    if not digits:
        return _noted(now, "it names no hash, so that a later change of its source would not be seen")
    is_other = not any(one.startswith(written.sha256) for one in hashes)
    if is_other and not written.quote:
        return replace(now, tier=Tier.CHANGED, details=("its text is another one now",))
    cut = f"its hash is cut to {digits} of {_WHOLE} digits"
    return _noted(now, f"{cut}, and begins otherwise than that of the source" if is_other else cut)


def _as_named(asked: Checked, written: Written, anchor: str, item: Item, _sources: Sources) -> Checked | None:
    """The place that is named, if its source text has the hash."""
    if anchor:
        place = item.place(anchor)
        return _in_place(asked, written, place, item) if place and place.sha256 == written.sha256 else None
    if written.sha256 in item.digests:
        return _in_whole(asked, written, item)
    is_begun = any(_begins_with(body.text, written.sha256) for body in item.bodies)
    return _noted(_in_whole(asked, written, item), "it was appended to since") if is_begun else None


def _by_hash(asked: Checked, written: Written, anchor: str, item: Item, sources: Sources) -> Checked | None:
    """A place with the hash that has another name now: a re-capture shifts ordinals. Else it is another place."""
    place = item.with_digest(written.sha256, anchor) if anchor else None
    if place is None:
        return None
    found = _in_place(replace(asked, ref=f"{item.ref}#{place.anchor}"), written, place, item)
    is_equal = _NUMBERED.sub("", anchor) == _NUMBERED.sub("", place.anchor)
    if is_equal or not sources.knows_former or any(_has(one, anchor, written.sha256) for one in sources.former(item)):
        return _noted(found, f"#{anchor} is #{place.anchor} now, found by its hash")
    told = f"its hash is that of #{place.anchor}, and of no version of #{anchor} that is known"
    return _noted(replace(found, tier=Tier.ELSEWHERE) if found.tier.holds else found, told)


def _has(version: Item, anchor: str, digest: str) -> bool:
    """Whether a version has a place of this name with this hash."""
    place = version.place(anchor)
    return place is not None and place.sha256 == digest


def _formerly(asked: Checked, written: Written, anchor: str, item: Item, sources: Sources) -> Checked | None:
    """A former version with the hash; if its words are still in the place, the verdict is on that."""
    for version in sources.former(item):
        then = _as_named(asked, written, anchor, version, sources)
        if then is None:
            continue
        if not then.tier.holds:
            return _noted(then, f"so it was at {version.commit[:_SHORT]}, too")
        now = _now(asked, written, anchor, item)
        if now and now.tier.holds:
            around = f"the text around it was changed since {version.commit[:_SHORT]}"
            return _noted(now, version.since if version.since == MISREAD else around)
        changes = now.changes if now else ()
        return replace(
            _noted(then, version.since), version=version.commit, former=_all(version), changes=changes, ref=asked.ref
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
        then = _now(asked, written, anchor, version) if version.since != MISREAD else None
        if then and then.tier.holds:
            unknown = _noted(then, "changed since", "its hash is of no version that is known")
            return replace(unknown, version=version.commit, former=_all(version), changes=now.changes if now else ())
    found = next(iter(holding_places(item, written.quote)), None) if anchor else None
    return _in_other(asked, written, anchor, item, found) if found else None


def _in_other(asked: Checked, written: Written, anchor: str, item: Item, found: tuple[Place, Verdict]) -> Checked:
    """The words in another place than the one that is named: those of the citation, if its speaker said them."""
    place, verdict = found
    if item.is_carried(place.body, verdict.spans):
        return replace(asked, details=(f"only {CARRIED} #{place.anchor}",), quoted_in=True)
    if not written.speaker or _positions(written.speaker) == _positions(place.speaker):
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
    if written.quote and place.sha256 and not place.text:
        return replace(asked, tier=Tier.UNREAD, details=("its words are only on its page, which is not read",))
    verdict = _of_part(written.quote, (place.start, place.end), item, place.body) if written.quote else None
    return _told(asked, verdict or Verdict(tier=Tier.UNQUOTED), place, item, written)


def _of_part(quote: str, part: Span, item: Item, body: int, passages: Sequence[Span] = ()) -> Verdict:
    """By a part of a body: own words are looked for before those that it carries."""
    best = Verdict(tier=Tier.NOT_FOUND)
    for text in (item.bodies[body].text, item.own_words[body]):
        verdict = judge(quote, text[slice(*part)], passages).moved(part[0])
        if best.tier.holds and not verdict.tier.holds:
            return best
        best = verdict
        if not best.tier.holds or not item.is_carried(body, best.spans):
            return best
    return best


def _told(asked: Checked, verdict: Verdict, place: Place, item: Item, written: Written) -> Checked:
    """A verdict with who speaks: a citation must not name a speaker for what a turn only read in."""
    spans = verdict.spans if written.quote else ()
    is_read_in = bool(place.carrier) or item.is_read_in(place.body, spans)
    is_carried = is_read_in or item.is_carried(place.body, spans)
    details, check = verdict.details, _check(written, place, item, spans, is_read_in=is_read_in)
    if is_carried and verdict.tier.holds:
        name = f"#{place.anchor}" if place.anchor else "it"
        details = (*details, f"{CARRIED} {name}" + (", not said by its speaker" if is_read_in else ""))
    other = written.speaker
    if spans and check == "not checked" and (is_read_in or not is_carried):
        within = (item.around(start, end, place.body) for start, end in spans) if place.turns else ()
        speakers = [] if is_read_in else [place.speaker, *(one.speaker for one in within if one)]
        other = item.other_teller("".join(written.around), speakers)
        check = "wrong" if other else check
    if check == "wrong" and not is_read_in and verdict.tier.holds:
        details = (*details, f"said by {place.speaker}, not by {other}")
    if written.time and place.time and verdict.tier.holds and written.time not in (place.time, item.whole.time):
        details = (*details, f"its time is {place.time}, not {written.time}")
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
        check="not checked" if is_carried and check == "right" else check,
    )


def _check(written: Written, place: Place, item: Item, spans: Sequence[Span], *, is_read_in: bool) -> SpeakerCheck:
    if not written.speaker or not item.whole.speaker or (not place.speaker and not is_read_in):
        return "not checked"
    if is_read_in:
        return "wrong"
    named, all_ = _positions(written.speaker), _positions(item.whole.speaker)
    if named == _positions(place.speaker) or (named == all_ and len(all_) > 1):
        return "right"
    around = [item.around(start, end, place.body) for start, end in spans if place.turns]
    return "right" if around and all(one and named == _positions(one.speaker) for one in around) else "wrong"


def _positions(speaker: str) -> list[str]:
    """The positions of a speaker, or those of a range, as citations name them: without sessions and persons."""
    return [" ".join(name.casefold().split()) for name in _WHO.sub("", speaker).split(", ")]


def _in_whole(asked: Checked, written: Written, item: Item) -> Checked:
    """By all bodies of an item: the best verdict, with who speaks there."""
    held = (one.text for one in item.bodies if sha256(one.text.encode()).hexdigest() == written.sha256)
    asked = replace(asked, source=next(held, ""))
    if not written.quote:
        return replace(asked, tier=Tier.UNQUOTED)
    passages = ([(voice.start, voice.end) for voice in origin.voices] for origin in item.origins)
    found = [
        _of_part(written.quote, (0, len(body.text)), item, number, spans)
        for number, (body, spans) in enumerate(zip(item.bodies, passages, strict=True))
    ]
    body, best = min(enumerate(found), key=lambda one: one[1].tier, default=(0, Verdict(tier=Tier.NOT_FOUND)))
    told = _told(asked, best, _place_of(best.spans, body, item), item, written)
    return replace(told, source=asked.source, turns=())


def _place_of(spans: Sequence[Span], body: int, item: Item) -> Place:
    """All of a body; of a conversation the turn that has the words."""
    is_said = bool(spans) and item.bodies[body].is_conversation
    turn = item.around(spans[0][0], spans[-1][1], body) if is_said else None
    who, when = item.whole.speaker, item.whole.time
    return turn or Place(anchor="", body=body, start=0, end=0, text="", sha256="", speaker=who, time=when)


def _all(version: Item) -> str:
    return "\n".join(body.text for body in version.bodies)


def _noted(checked: Checked, *notes: str) -> Checked:
    return replace(checked, details=(*checked.details, *notes))


def _begins_with(text: str, digest: str) -> bool:
    """Whether the text up to the end of some line has this digest: what was cited before more was appended."""
    whole = sha256()
    for piece in (b"", *re.split(rb"(\n)", text.encode("utf-8", "surrogatepass"))):
        whole.update(piece)
        if whole.hexdigest() == digest:
            return True
    return False


# Verifies the quotations of a manuscript, cited or not, with who said them (SPEC 7, verifying).


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
    if quotation.unread:
        asked = Checked(line=quotation.line, quote=quotation.text, tier=Tier.UNREAD)
        return replace(asked, details=(quotation.unread,))
    readable = [item for item in items if not item.why_not]
    cited = _cited(quotation, sources)
    if cited:
        item, anchor = cited
        place = item.place(anchor) if anchor else None
        found = _told_of_quotation(
            _appraised_in_place(quotation, item, place) if place else appraise(quotation, item.origins), [item]
        )
        if found.tier.holds and bool(anchor) == bool(place):
            if found.check == "not checked" and not found.quoted_in and anchor and not quotation.speakers:
                return replace(found, check="right")  # the citation says whose words they are
            return found
    found = _told_of_quotation(appraise(quotation, [origin for item in readable for origin in item.origins]), readable)
    if found.tier.holds and cited:
        name = f"{cited[0].ref}#{cited[1]}" if cited[1] else cited[0].ref
        return _noted(replace(found, tier=Tier.ELSEWHERE), f"not in {name}, which the sentence cites")
    if not found.tier.holds:
        likely = dict.fromkeys([item.ref for item in ([cited[0]] if cited else [])] + [one.ref for one in readable])
        for name in list(likely)[:_FORMER]:
            if then := _appraised_formerly(quotation, sources.item(name), sources, found):
                return then
    return found


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


def _appraised_in_place(quotation: Quotation, item: Item, place: Place) -> Appraisal[_Key]:
    """By the passage alone that the sentence cites: others may have the same words, by others."""
    voices = item.origins[place.body].voices_at([(place.start, place.end)])
    cut = [(max(voice.start, place.start), min(voice.end, place.end), voice) for voice in voices]
    within = [replace(one, start=start - place.start, end=end - place.start) for start, end, one in cut]
    found = appraise(quotation, [Origin((item.ref, place.body), place.text, within)])
    return replace(found, verdict=found.verdict.moved(place.start))


def _told_of_quotation(appraisal: Appraisal[_Key], items: Iterable[Item]) -> Checked:
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


def _appraised_formerly(quotation: Quotation, item: Item, sources: Sources, now: Checked) -> Checked | None:
    """The verdict by a former version of a likely source."""
    for version in sources.former(item):
        then = appraise(quotation, version.origins)
        if then.verdict.tier.holds:
            told = _told_of_quotation(then, [version])
            changes = now.changes if now.tier is Tier.CHANGED else ()
            return replace(told, version=version.commit, details=(*told.details, "changed since"), changes=changes)
    return None


# Judges the citations that an archive makes of itself, and those of manuscripts, by the archive as it is (SPEC 7).


TextOf = Callable[[str], str]


_REDACTED = "secrets in it were redacted, so that its text cannot be compared"


_VERBATIM = "it is not cut into passages, so that its text cannot be compared"


_QUOTE, _SAID, _WRITTEN = 240, 300, 300


def citations_of(
    archive: Archive,
    manuscripts: Mapping[str, Iterable[Written]],
    text_of: TextOf,
    line_of: LineOf,
    *,
    base_url: str | None,
) -> tuple[MadeCitation, ...]:
    """All citations that memos, notes and documents make of the archive, in order of arrival; then of manuscripts.

    `manuscripts` are the citations of each, by the path that readers are shown.
    """
    judge = _AsItIs(archive, text_of, base_url=base_url)
    found: list[MadeCitation] = []
    for artifact in archive.artifacts.values():
        if isinstance(artifact, Memo | Document) and any(text.citations for text in artifact.texts):
            found += _of_artifact(artifact, judge, text_of, line_of)
    for path, citations in manuscripts.items():
        for citation in citations:
            found += judge.made(citation, Location(source="", path=path, line=citation.line), None, "")
    return tuple(found)


def with_citations(archive: Archive, citations: tuple[MadeCitation, ...], others: Iterable[Finding]) -> Archive:
    """The archive with its citations, with a finding on each of them that does not hold, and with other findings."""
    findings = {citation: finding_on(citation) for citation in citations if citation.state == "broken"}
    others = tuple(others)
    if not (findings or others):
        return replace(archive, citations=citations)
    artifacts = dict(archive.artifacts)
    for one, finding in findings.items():
        if one.by is not None:
            artifact = artifacts[one.by]
            artifacts[one.by] = replace(artifact, findings=_sorted((*artifact.findings, finding)))
    every = _sorted((*archive.findings, *findings.values(), *others))
    return replace(archive, citations=citations, artifacts=artifacts, findings=every)


def finding_on(citation: MadeCitation) -> Finding:
    """The finding on a citation that does not hold."""
    said = ", ".join((citation.said, *_in_words(citation.changes)))
    message = f"citation of {citation.written} does not hold: {said}"
    return Finding(rule=CITATION_BROKEN, location=citation.location, message=message)


_TOLD = 3
"""The most differences that a finding tells."""


def _in_words(changes: Sequence[Change]) -> Iterator[str]:
    """What differs: `the source has "seven", not "five"`."""
    found: list[dict[str, str]] = []
    for (before, _), (kind, words) in pairwise([("same", ""), *changes]):
        if kind != "same":
            found += [{}] if before == "same" or kind in found[-1] else []
            found[-1][kind] = cut_line(words, 80)
    told = [
        f'the source has "{one["source"]}", not "{one["quote"]}"' if len(one) > 1
        else f'the source also has "{one["source"]}"' if "source" in one
        else f'the source does not have "{one["quote"]}"'
        for one in found[:_TOLD]
    ]  # fmt: skip
    if told:
        yield ", ".join(told) + (", …" if len(found) > _TOLD else "")


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(set(findings), key=lambda finding: finding.sort_key))


def _of_artifact(artifact: Artifact, judge: "_AsItIs", text_of: TextOf, line_of: LineOf) -> Iterator[MadeCitation]:
    written = {text.sha256: text.citations for text in artifact.texts}
    for body in bodies_of(artifact, text_of):
        citations = written.get(sha256(body.text.encode()).hexdigest(), ())
        if not citations:
            continue
        places, line_at = read_places(body.text), _lines(artifact, body, text_of, line_of)
        for citation in citations:
            anchor = places.at_line(citation.line) or ""
            where = Location(source=body.source, path=body.path, line=line_at(citation.line))
            yield from judge.made(citation, where, artifact.ref, body.prefix + anchor if anchor else "")


def _lines(artifact: Artifact, body: SourceBody, text_of: TextOf, line_of: LineOf) -> Callable[[int], int | None]:
    """From the lines of a body to those of its file; in JSON, to the line of the string."""
    if body.part:
        envelope = artifact.envelope.file if isinstance(artifact, Memo) else None
        line = line_of(envelope, body.part.removeprefix("/")) if envelope else None
        return lambda _: line
    if not body.before:
        return lambda line: line
    file = next(copy.file for copy in artifact.copies if copy.file.path == body.path)
    original = clean_text(text_of(file.sha256)).removeprefix("\ufeff").encode()
    before = original.count(b"\n", 0, body.before)
    return lambda line: before + line


def _cut(changes: Iterable[Change]) -> Iterator[Change]:
    """The first words of a word diff."""
    left = _SAID
    for kind, words in changes:
        if left <= 0:
            yield "same", "…"
            return
        yield kind, cut_line(words, left)
        left -= len(words)


class _AsItIs(ArchiveSources):
    """Items of an archive by their whole names, for whoever sees this archive: nothing of git is said."""

    other_hash = "its source text is another one now"
    knows_former = False

    def made(self, one: Written, where: Location, by: Ref | None, anchor: str) -> Iterator[MadeCitation]:
        """A citation with its verdict; none if it is of another archive."""
        name = self.named(one)
        if name is None and not self.is_ours(one):
            return
        checked = verify_citation(one, self)
        state, said = self._state(checked, name, one)
        artifact = self.artifact(name) if name else None
        is_withheld = state == "not judged" and (artifact is None or artifact.withheld is not None)
        place = checked.ref.partition("#")[2] if artifact else ""
        if place and name and state != "not judged" and self.item(name).place(place) is None:
            said, place = (said if f"#{place}" in said else f"{said}; it has no #{place}"), ""
        yield MadeCitation(
            location=where,
            by=by,
            by_anchor=anchor,
            to=artifact.ref if artifact else None,
            anchor=place,
            written=cut_line(one.ref or one.url, _WRITTEN),
            quote="" if is_withheld else cut_line(one.quote, _QUOTE),  # nor do pages show what was erased
            state=state,
            said=cut_line(said, _SAID),
            changes=() if state == "not judged" else tuple(_cut(shown_changes(checked.changes, is_cut=checked.is_cut))),
        )

    def _state(self, checked: Checked, name: str | None, one: Written) -> tuple[CitationState, str]:
        said = "; ".join(checked.details) if not checked.tier.holds and checked.details else checked.said
        if name is None:
            erased = self.erased(one.ref.partition("#")[0])
            return ("not judged", erased) if erased else ("broken", said)
        if checked.holds():
            return "holds", said
        item = self.item(name)
        if item.why_not:
            return "not judged", item.why_not
        if any(body.is_redacted for body in item.bodies):
            return "not judged", _REDACTED
        if not item.bodies:
            return "not judged", _VERBATIM
        return "broken", said

    def named(self, one: Written) -> str | None:
        """The name of what a citation means; None if that is not in the archive."""
        try:
            return self.find(one.ref or one.url, is_exact=True)[0]
        except ConfigError:
            return None

    def is_ours(self, one: Written) -> bool:
        """Whether a citation of nothing that is known is one of this archive, as far as its address tells."""
        is_here = not one.url.startswith(_WEB) or (self.base_url and one.url.startswith(self.base_url))
        return bool(one.ref and is_here)

    def erased(self, name: str) -> str:
        """What happened to an artifact that was erased and is in no source any more; "" of any other."""
        ref = ref_named(name)
        notice = notice_on(ref[0], self._archive.erased.get(ref))
        return notice.reason if notice else ""

    def missing(self, name: str) -> str:
        """Whether it was removed; not by which commit, which not everybody may know."""
        is_removed = ref_named(name) in self._archive.removed
        return "it was removed" if is_removed else "nothing of this name is in the archive"

    def _named(self, said: str, written: str, *, is_exact: bool) -> str:  # noqa: ARG002 - names of citations are whole
        if self.has(said) or said in self.renamed:
            return self.renamed.get(said, said)
        raise ConfigError(self.missing(said))
