"""Follows decisions: from the proposal to the decision and to what took its place, across systems and repos."""

from collections.abc import Iterator

from memosite.archive.model import Artifact, Document, Memo, Record
from memosite.facts.parsed import Ref
from memosite.facts.phrases import phrase
from memosite.formats.standing import sort_of, standing_of
from memosite.pages.parts import Stamp
from memosite.pages.tracks import OutdatedCitation, TrackStep
from memosite.pages.words import standing_word
from memosite.plan.context import Context
from memosite.plan.dates import stamp

_STEPS = 20
"""The most decisions that a track names before and after one."""

_LINKS = 1_000
"""The most links of one artifact that are followed."""


def track_of(context: Context, start: str, artifact: Artifact) -> tuple[TrackStep, ...]:
    """The steps of a decision or a proposal in the order of time; none if there is no other than itself."""
    if sort_of(artifact) == "other" or artifact.withheld:
        return ()
    chain = [*reversed(list(_older(context, artifact))), artifact, *_newer(context, artifact)]
    steps: list[tuple[str, Artifact]] = []
    for one in chain:
        if sort_of(one) == "decision":
            steps += [(phrase("Proposal"), proposal) for proposal in proposals_of(context, one)]
            steps.append((phrase("Decision"), one))
            steps += [(phrase("Recorded in"), record) for record in records_of(context, one)]
        else:
            steps.append((phrase("Proposal"), one))
            steps += [(phrase("Decision"), decision) for decision in decisions_on(context, one)]
    once = {one.ref: (role, one) for role, one in reversed(steps)}
    ordered = [once.pop(one.ref) for _, one in steps if one.ref in once]
    return tuple(_step(context, start, role, one, artifact) for role, one in ordered) if len(ordered) > 1 else ()


def _step(context: Context, start: str, role: str, one: Artifact, here: Artifact) -> TrackStep:
    return TrackStep(
        role=role,
        item=context.artifact(start, one.ref),
        date=stamp(one.date),
        standing=standing_word(standing_of(one) or ""),
        source=one.copies[0].file.source,
        is_current=one.ref == here.ref,
    )


def _newer(context: Context, artifact: Artifact) -> Iterator[Artifact]:
    seen = {artifact.ref}
    while len(seen) <= _STEPS and (ref := successor_of(artifact)) is not None and ref not in seen:
        found = context.archive.artifacts.get(ref)
        if found is None:
            return
        seen.add(ref)
        yield (artifact := found)


def _older(context: Context, artifact: Artifact) -> Iterator[Artifact]:
    """What it took the place of, the newest first."""
    seen, ahead = {artifact.ref}, [artifact]
    while ahead and len(seen) <= _STEPS:
        for ref in _predecessors(ahead.pop(0)):
            found = context.archive.artifacts.get(ref)
            if found is not None and ref not in seen and successor_of(found) is not None:
                seen.add(ref)
                ahead.append(found)
                yield found


def successor_of(artifact: Artifact) -> Ref | None:
    """What took the place of a decision, if that is in the archive."""
    return artifact.superseded_by if isinstance(artifact, Document | Record) else None


def _predecessors(artifact: Artifact) -> tuple[Ref, ...]:
    if isinstance(artifact, Document):
        return artifact.supersedes
    if isinstance(artifact, Record):
        stated = (one.to for one in artifact.relations if one.to and "supersede" in one.predicate.replace("_", "-"))
        return tuple(dict.fromkeys(ref for ref in (*artifact.supersedes, *stated) if ref))
    return ()


def proposals_of(context: Context, decision: Artifact) -> list[Artifact]:
    """The proposals that a decision mentions, or that mention it, and that are no younger."""
    found = [one for one in _near(context, decision) if sort_of(one) == "proposal" and _comes_before(one, decision)]
    return sorted(found, key=lambda one: one.sort_key)


def decisions_on(context: Context, proposal: Artifact) -> list[Document]:
    """The documents that decide on a proposal."""
    found = (one for one in _near(context, proposal) if isinstance(one, Document) and sort_of(one) == "decision")
    return sorted((one for one in found if _comes_before(proposal, one)), key=lambda one: one.sort_key)


def records_of(context: Context, decision: Artifact) -> list[Record]:
    """Records of decisions that mention a decision of documents: the same, as other systems have it."""
    if not isinstance(decision, Document):
        return []
    found = (one for one in _near(context, decision) if isinstance(one, Record) and sort_of(one) == "decision")
    return sorted((one for one in found if one.ref not in decision.supersedes), key=lambda one: one.sort_key)[:_STEPS]


def _near(context: Context, artifact: Artifact) -> Iterator[Artifact]:
    """Documents and records that an artifact mentions, or that mention it."""
    refs = (*(link.to for link in artifact.links[:_LINKS] if link.to), *artifact.backlinks[:_LINKS])
    for ref in dict.fromkeys(refs):
        if ref[0] in {"document", "record"} and ref in context.archive.artifacts:
            yield context.archive.artifacts[ref]


def _comes_before(proposal: Artifact, decision: Artifact) -> bool:
    """Whether a proposal is no younger than a decision; without dates, whether the decision mentions it."""
    if proposal.date is None or decision.date is None:
        return any(link.to == proposal.ref for link in decision.links)
    return proposal.date.day <= decision.date.day


def _since(context: Context, decision: Artifact) -> Stamp | None:
    """The date of what took its place."""
    ref = successor_of(decision)
    newer = context.archive.artifacts.get(ref) if ref else None
    return stamp(newer.date) if newer else None


def outdated_citations(context: Context, start: str, artifact: Artifact) -> tuple[OutdatedCitation, ...]:
    """The decisions that a memo, a note or a record cites and that are not in force any more."""
    if not isinstance(artifact, Memo | Record) or artifact.withheld:
        return ()
    cited = dict.fromkeys(
        link.to for link in artifact.links[:_LINKS] if link.to and link.to[0] in {"document", "record"}
    )
    found = (context.archive.artifacts.get(ref) for ref in cited if ref != artifact.ref)
    return tuple(
        OutdatedCitation(
            decision=context.artifact(start, one.ref),
            successor=context.successor(start, one),
            since=_since(context, one),
        )
        for one in found
        if one is not None
        and sort_of(one) == "decision"
        and standing_of(one) == "superseded"
        and successor_of(one) != artifact.ref
    )
