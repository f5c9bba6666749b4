"""Plans what the pages of all artifacts share: head, originals, copies, texts, variants, decisions and mentions."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from memosite import pages
from memosite.archive.lines import original_sha256
from memosite.archive.model import Artifact, Copy, Document, Memo, Record, SourceInfo, TextImage, Transcript, Variant
from memosite.archive.urls import copy_name, image_file, original_name, page_of, relative
from memosite.facts.parsed import Ref, Text
from memosite.facts.phrases import joined, phrase
from memosite.facts.texts import cut_line
from memosite.formats.status import sort_of, standing_of
from memosite.passages import SUMMARY
from memosite.plan.context import Context, few
from memosite.plan.health import finding_row
from memosite.plan.history import history_lines, history_summary
from memosite.plan.indexes import neighbours_of
from memosite.plan.mentions import PlaceFinder, at_anchor, citation_of, cited_by, mention_rows, shared_rows
from memosite.plan.page import bundled_name, file_address, head_of, twins_of_artifact
from memosite.sources.forges import file_url


def memo_bodies(
    context: Context, start: str, memo: Memo, *, prefix: str = ""
) -> tuple[pages.Body | None, pages.Body | None]:
    """The triage summary (only beside a body file) and the text of a memo; a broken file is shown raw.

    A memo without content has neither.
    """
    if memo.withheld:
        return None, None
    variant = memo.variants[0]
    inline = variant.envelope.body
    if variant.envelope.shape == "broken":
        file = variant.envelope.file
        raw = pages.Body(sha256=file.sha256, form="verbatim", chars=file.bytes)
        return raw, body_of(context, start, memo, variant.body.text, prefix=prefix) if variant.body else None
    if variant.body is None:
        return None, body_of(context, start, memo, inline, prefix=prefix)
    summary = body_of(context, start, memo, inline, prefix=f"{prefix}{SUMMARY}")
    return summary, body_of(context, start, memo, variant.body.text, prefix=prefix)


# Follows decisions: from the proposal to the decision and to what took its place, across systems and repos.


_STEPS = 20
"""The most decisions that a track names before and after one."""


_LINKS = 1_000
"""The most links of one artifact that are followed."""


def track_of(context: Context, start: str, artifact: Artifact) -> tuple[pages.TrackStep, ...]:
    """The steps of a decision or a proposal in the order of time; none if there is no other than itself."""
    if sort_of(artifact) == "other" or artifact.withheld:
        return ()
    shown = context.archive.artifacts[context.same_decisions.get(artifact.ref, (artifact.ref,))[0]]
    ends = (artifact,) if shown is artifact else (artifact, shown)
    older = [step for end in ends for step in _older(context, end)]
    chain = [*reversed(older), shown, *(step for end in ends for step in _newer(context, end))]
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
    return tuple(
        pages.TrackStep(
            role=role,
            item=context.artifact(start, one.ref),
            date=one.date,
            standing=pages.standing_word(standing_of(one) or ""),
            source=one.copies[0].file.source,
            is_current=one.ref == artifact.ref,
        )
        for role, one in (ordered if len(ordered) > 1 else ())
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
    """The proposals that a decision was made on, the oldest first."""
    return _found(context, decision.decides if isinstance(decision, Document) else ())


def decisions_on(context: Context, proposal: Artifact) -> list[Artifact]:
    """The documents that decide on a proposal, the oldest first."""
    return _found(context, proposal.decided_in if isinstance(proposal, Document) else ())


def _found(context: Context, refs: Iterable[Ref]) -> list[Artifact]:
    found = (context.archive.artifacts[ref] for ref in refs if ref in context.archive.artifacts)
    return sorted(found, key=lambda one: one.sort_key)


def records_of(context: Context, decision: Artifact) -> list[Artifact]:
    """What other systems have of a decision, if it is the one that lists show; the oldest first."""
    first, *others = context.same_decisions.get(decision.ref, (decision.ref,))
    return _found(context, others)[:_STEPS] if first == decision.ref else []


def outdated_citations(context: Context, start: str, artifact: Artifact) -> tuple[pages.OutdatedCitation, ...]:
    """The decisions that a memo, a note or a record cites and that are not in force any more."""
    if not isinstance(artifact, Memo | Record) or artifact.withheld:
        return ()
    cited = dict.fromkeys(
        link.to for link in artifact.links[:_LINKS] if link.to and link.to[0] in {"document", "record"}
    )
    found: list[pages.OutdatedCitation] = []
    for decision in (context.archive.artifacts.get(ref) for ref in cited if ref != artifact.ref):
        if decision is None or sort_of(decision) != "decision" or standing_of(decision) != "superseded":
            continue
        ref = successor_of(decision)
        if ref != artifact.ref:
            newer, link = context.archive.artifacts.get(ref) if ref else None, context.artifact(start, decision.ref)
            since = newer.date if newer else None
            found.append(
                pages.OutdatedCitation(decision=link, successor=context.successor(start, decision), since=since)
            )
    return tuple(found)


SUBJECT_CHARS = 5_000
"""The longest subject that a page shows whole; the original has it all."""


FINDINGS, TAGS = 100, 100
"""The most findings and tags on an artifact's page, which says how many there are."""


PLACES = 1_000
"""The most links with a fragment of one artifact whose places are looked up; others lead to the top of a page."""


EXTRA_CHARS = 100_000
"""The most characters of other fields that a page shows."""


PART_CHARS = 2_000
"""The same for one of many: a participant, an entry of a library, a relationship."""


def originals(artifact: Artifact) -> Iterable[tuple[str, str, str]]:
    """The originals of an artifact: name, published path, and digest of the bytes. One without content has none."""
    if not _has_originals(artifact):
        return
    page = page_of(artifact)
    shown = artifact.shown_file
    yield "original", page + original_name(shown.path, is_body=False), original_sha256(artifact, shown)
    if isinstance(artifact, Memo | Transcript):
        body = artifact.variants[0].body
        if body is not None and body.file.path != shown.path:
            yield "body", page + original_name(body.file.path, is_body=True), body.file.sha256
    if isinstance(artifact, Record) and artifact.card.body_path and artifact.card.text:
        # In the form that its content hash covers: without a byte-order mark, with LF.
        yield "body", page + original_name(artifact.card.body_path, is_body=True), artifact.card.text.sha256
    names = _copy_names(artifact) if len(artifact.copies) > 1 else ()
    for copy, (name, body_name) in zip(artifact.copies, names, strict=False):
        yield f"copy in {copy.file.source}", page + name, original_sha256(artifact, copy.file)
        body = artifact.variants[copy.variant].body if isinstance(artifact, Memo | Transcript) else None
        if body is not None and body_name:
            yield f"body in {copy.file.source}", page + body_name, body.file.sha256


def _has_originals(artifact: Artifact) -> bool:
    """Whether its files are published: not of what is withheld, and no log, in which more is than is shown."""
    return not (artifact.withheld or (isinstance(artifact, Transcript) and artifact.log))


def _copy_names(artifact: Artifact) -> list[tuple[str, str]]:
    """The published names of copies and of their bodies, within the artifact's folder."""
    seen: dict[str, int] = {}
    names = []
    for copy in artifact.copies:
        seen[copy.file.source] = number = seen.get(copy.file.source, 0) + 1
        name = copy_name(copy.file.source, number, original_name(copy.file.path, is_body=False))
        has_body = isinstance(artifact, Memo | Transcript) and copy.body_path not in {None, copy.file.path}
        body = (
            copy_name(copy.file.source, number, original_name(copy.body_path or "", is_body=True)) if has_body else ""
        )
        names.append((name, body))
    return names


_OF_KIND = frozenset({"body", "date_written", "extra", "extra_left_out", "is_cut"})
"""Fields of `pages.ArtifactPage` that do not follow from what all artifacts have."""


def artifact_fields(context: Context, artifact: Artifact, start: str, *, section: str = "") -> dict[str, Any]:
    """The fields that the pages of all artifacts share, for the class of its kind, which has more (see `PageHead`).

    What holds a redaction cannot be cited (SPEC 7).
    """
    redacted = " (secrets redacted)" if artifact.is_redacted else ""
    zipped = bundled_name(context, artifact)
    is_asked_of_one = isinstance(artifact, Memo) and not artifact.is_broadcast  # its state says it
    page = pages.ArtifactPage(
        **head_of(context, start, title=artifact.short_subject, section=section, description=artifact.summary),
        twins=twins_of_artifact(context, start, artifact),
        kind=artifact.kind,
        id=artifact.id,
        subject=cut_line(artifact.subject, SUBJECT_CHARS),
        date=artifact.date,
        copies=_copy_rows(context, artifact, start),
        originals=tuple(
            pages.Reference(
                label=path.rpartition("/")[2] + zipped + redacted,
                href=file_address(context, start, artifact, path),
                title=what,
            )
            for what, path, _ in originals(artifact)
            if "/copies/" not in path
        ),
        tags=tuple(_tags(artifact)),
        findings=tuple(finding_row(start, finding) for finding in artifact.findings[:FINDINGS]),
        findings_total=len(artifact.findings),
        backlinks=mention_rows(context, start, artifact),
        backlinks_total=len(artifact.backlinks),
        cited_by=cited_by(context, start, artifact.ref),
        cited_by_total=len(context.citations_of.get(artifact.ref, ())),
        shared=shared_rows(context, start, artifact),
        shared_total=len(context.shared.get(artifact.ref, ())),
        lives=history_lines(context, artifact, start),
        lives_summary=history_summary(artifact),
        citation=None if artifact.withheld or redacted else citation_of(context, artifact),
        track=track_of(context, start, artifact),
        written_in=written_in(context, start, artifact),
        outdated=outdated_citations(context, start, artifact),
        around=neighbours_of(start, context.list_places.get(artifact.ref)),
        is_pending=bool(artifact.owed_by) and artifact.kind != "memo",
        waits_for=() if is_asked_of_one else few(artifact.waits_for, partial(context.position, start)),
    )
    return {name: getattr(page, name) for name in page.__struct_fields__ if name not in _OF_KIND}


def written_in(context: Context, start: str, artifact: Artifact) -> tuple[pages.Reference, ...]:
    """The turns of sessions in which a tool wrote a file of the artifact, the first of many; the oldest first."""
    return tuple(
        pages.Reference(
            label=phrase("{session}, turn {turn}", session=context.archive.short_subject(ref), turn=ordinal),
            href=f"{relative(start, context.page(ref))}#t{ordinal}",
        )
        for ref, ordinal in artifact.written_by
    )


def _tags(artifact: Artifact) -> Iterator[str]:
    yield from (cut_line(tag, 100) for tag in artifact.tags[:TAGS])
    if len(artifact.tags) > TAGS:
        yield f"and {len(artifact.tags) - TAGS} more (see JSON)"


def _copy_rows(context: Context, artifact: Artifact, start: str) -> tuple[pages.CopyRow, ...]:
    here = page_of(artifact)
    sources = {source.name: source for source in context.archive.sources}
    rows = []
    for copy, (name, body) in zip(artifact.copies, _copy_names(artifact), strict=True):
        is_published = len(artifact.copies) > 1 and _has_originals(artifact)
        rows.append(
            pages.CopyRow(
                source=copy.file.source,
                path=copy.file.path,
                mailbox=copy.mailbox,
                variant=copy.variant,
                original=file_address(context, start, artifact, here + name) if is_published else None,
                body=file_address(context, start, artifact, here + body) if is_published and body else None,
                web=None if artifact.withheld else _copy_address(sources.get(copy.file.source), copy),
            )
        )
    return tuple(rows)


def _copy_address(source: SourceInfo | None, copy: Copy) -> str | None:
    """Where a forge shows a copy: as of the commit that put it there, so that the link works after its next move."""
    life = copy.life
    if source is not None and source.web and life is not None and life.state == "committed" and life.events:
        return file_url(source.web, life.events[-1].arrival, copy.file.path)
    return web_address(source, copy.file.path)


def web_address(source: SourceInfo | None, path: str) -> str | None:
    """Where a forge shows a file of a source, if that is known."""
    return file_url(source.web, source.web_ref, path) if source and source.web else None


def shown_extra(text: str, *, limit: int = EXTRA_CHARS) -> str:
    """The fields that memosite does not interpret, as a page shows them; what is cut is counted."""
    return text if len(text) <= limit else f"{text[:limit]}\n… {len(text) - limit:,} more characters"


def link_targets(context: Context, start: str, artifact: Artifact) -> tuple[tuple[str, str], ...]:
    """The mentions in an artifact's text, with their targets relative to this page; fragments lead to their places."""
    targets: dict[str, str] = {}
    places, placed = PlaceFinder(context.text_of), 0
    for link in artifact.links:
        if link.to is None:
            targets.setdefault(link.written, link.url or "")
            continue
        href = relative(start, context.page(link.to))
        if "#" in link.written:
            placed += 1
            target = context.archive.artifacts.get(link.to) if placed <= PLACES else None
            anchor = places.anchor(target, link.written) if target else ""
            href = at_anchor(href, anchor)
        targets.setdefault(link.written, href)
    return tuple(targets.items())


def _shown(start: str, image: TextImage) -> pages.ShownImage:
    if image.why_not:
        return pages.ShownImage(image.written, why_not=image.why_not)
    href = relative(start, image_file(image.sha256, image.form))
    return pages.ShownImage(image.written, href, image.width, image.height)


def body_of(
    context: Context, start: str, artifact: Artifact, text: Text | None, *, prefix: str = ""
) -> pages.Body | None:
    """A text of an artifact as a page shows it; one that is longer than a page may be is cut when rendered."""
    if text is None:
        return None
    return pages.Body(
        sha256=text.sha256,
        form="markdown" if text.chars <= pages.PAGE_CHARS else "verbatim",
        chars=text.chars,
        links=link_targets(context, start, artifact),
        images=tuple(_shown(start, image) for image in artifact.images),
        prefix=prefix,
    )


# Plans how copies with other content are compared with the one that is shown (SPEC 3, copies).


_MOST = 20  # variants of one artifact


_COPIES = 10


def variant_rows(artifact: Memo | Transcript) -> tuple[pages.VariantRow, ...]:
    """The texts of each further variant, beside those of the one that is shown."""
    shown_envelope, shown_body = _digests(artifact.variants[0])
    rows = []
    for number, variant in enumerate(artifact.variants[1 : _MOST + 1], 1):
        envelope, body = _digests(variant)
        rows.append(
            pages.VariantRow(
                label=_holders(artifact, number),
                file=artifact.variants[0].envelope.file.path,
                shown_envelope=shown_envelope,
                other_envelope=envelope,
                shown_body=shown_body,
                other_body=body,
                started=(_started(artifact.variants[0]), _started(variant)),
            )
        )
    return tuple(rows)


def _started(variant: Variant) -> str:
    return variant.envelope.sent.utc if variant.envelope.kind == "transcript" and variant.envelope.sent else ""


def _holders(artifact: Memo | Transcript, number: int) -> str:
    """The copies that have a variant."""
    holders = [f"{copy.file.source}/{copy.file.path}" for copy in artifact.copies if copy.variant == number]
    more = len(holders) - _COPIES
    return joined(", ", (*holders[:_COPIES], phrase("and {more} more", more=more)) if more > 0 else holders)


def _digests(variant: Variant) -> tuple[str, str]:
    if variant.envelope.log:  # its file is not published
        return "", variant.text.conversation if variant.text else ""
    return variant.envelope.file.sha256, variant.body.text.sha256 if variant.body else ""
