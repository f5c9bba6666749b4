"""Artifacts without content: all copies of one are without, and the artifact has no digest of what they held."""

from collections.abc import Collection
from dataclasses import replace

from memosite.archive.model import Artifact, Document, Library, Memo, Record, Transcript, Variant
from memosite.facts.contents import bare_body, bare_envelope
from memosite.facts.parsed import FileFacts
from memosite.facts.withheld import Withheld
from memosite.resolve.bodies import JoinedCopy


def alike(copies: tuple[JoinedCopy, ...]) -> tuple[JoinedCopy, ...]:
    """The copies of one artifact: if one of them, or its body, has no content, none of them has any."""
    found = (_withheld(copy) for copy in copies)
    withheld = next((one for one in found if one is not None), None)
    return copies if withheld is None else tuple(_bare(copy, withheld) for copy in copies)


def _withheld(copy: JoinedCopy) -> Withheld | None:
    return copy.envelope.withheld or (copy.body.withheld if copy.body else None)


def _bare(copy: JoinedCopy, withheld: Withheld) -> JoinedCopy:
    return JoinedCopy(
        envelope=bare_envelope(copy.envelope, withheld), body=bare_body(copy.body, withheld) if copy.body else None
    )


def without_digests(artifact: Artifact) -> Artifact:
    """An artifact whose facts have no content, as it may be published; any other as it is.

    Of its files only those digests stay that `Withheld.hashes` names. A record beside one without content has none of
    the file that they share.
    """
    withheld = _reason(artifact)
    if withheld is None:
        is_alone = isinstance(artifact, Record) and artifact.card.is_alone
        return _hide_files(artifact, ()) if is_alone else artifact
    artifact = _hide_files(artifact, withheld.hashes)
    if isinstance(artifact, Memo | Transcript):
        return replace(artifact, broken=False, withheld=withheld)
    return replace(artifact, withheld=withheld)


def _hide_files(artifact: Artifact, kept: Collection[str]) -> Artifact:
    """An artifact whose files have no digests but those that are kept."""
    copies = tuple(replace(copy, file=_hidden(copy.file, kept)) for copy in artifact.copies)
    artifact = replace(artifact, copies=copies)
    match artifact:
        case Memo() | Transcript():
            variants = tuple(_hidden_variant(variant, kept) for variant in artifact.variants)
            return replace(artifact, variants=variants)
        case Library():
            return replace(artifact, card=replace(artifact.card, file=_hidden(artifact.card.file, kept)))
        case Record():
            return replace(artifact, card=replace(artifact.card, file=_hidden(artifact.card.file, kept)))
        case Document():
            return replace(artifact, head=replace(artifact.head, file=_hidden(artifact.head.file, kept)))
    return artifact


def _reason(artifact: Artifact) -> Withheld | None:
    match artifact:
        case Memo() | Transcript():
            return artifact.variants[0].envelope.withheld
        case Library() | Record():
            return artifact.card.withheld
        case Document():
            return artifact.head.withheld
    return None


def _hidden_variant(variant: Variant, kept: Collection[str]) -> Variant:
    file = _hidden(variant.envelope.file, kept)
    return Variant(envelope=replace(variant.envelope, file=file, content_sha256=""))


def _hidden(file: FileFacts, kept: Collection[str]) -> FileFacts:
    """A file without its digests and its size, which tell of its content."""
    digest = file.sha256 if file.sha256 in kept else ""
    return replace(file, sha256=digest, bytes=0, blob="")
