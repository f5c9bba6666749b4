"""Artifacts without content: all copies of one are without, and the artifact has no digest of what they held."""

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

    Of its files only those digests stay that `Withheld.hashes` names.
    """
    withheld = _reason(artifact)
    if withheld is None:
        return artifact
    copies = tuple(replace(copy, file=_hidden(copy.file, withheld)) for copy in artifact.copies)
    artifact = replace(artifact, copies=copies, withheld=withheld)
    match artifact:
        case Memo() | Transcript():
            variants = tuple(_hidden_variant(variant, withheld) for variant in artifact.variants)
            return replace(artifact, variants=variants, broken=False)
        case Library():
            return replace(artifact, card=replace(artifact.card, file=_hidden(artifact.card.file, withheld)))
        case Record():
            return replace(artifact, card=replace(artifact.card, file=_hidden(artifact.card.file, withheld)))
        case Document():
            return replace(artifact, head=replace(artifact.head, file=_hidden(artifact.head.file, withheld)))
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


def _hidden_variant(variant: Variant, withheld: Withheld) -> Variant:
    file = _hidden(variant.envelope.file, withheld)
    return Variant(envelope=replace(variant.envelope, file=file, content_sha256=""))


def _hidden(file: FileFacts, withheld: Withheld) -> FileFacts:
    """A file without its digests and its size, which tell of its content; a digest that was published stays."""
    digest = file.sha256 if file.sha256 in withheld.hashes else ""
    return replace(file, sha256=digest, bytes=0, blob="")
