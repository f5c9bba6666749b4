"""Plans how copies with other content are compared with the one that is shown (SPEC 3, copies)."""

from memosite.archive.model import Memo, Transcript, Variant
from memosite.facts.phrases import joined, phrase
from memosite.pages.parts import VariantRow

_MOST = 20  # variants of one artifact
_COPIES = 10


def variant_rows(artifact: Memo | Transcript) -> tuple[VariantRow, ...]:
    """The texts of each further variant, beside those of the one that is shown."""
    shown_envelope, shown_body = _digests(artifact.variants[0])
    rows = []
    for number, variant in enumerate(artifact.variants[1 : _MOST + 1], 1):
        envelope, body = _digests(variant)
        rows.append(
            VariantRow(
                label=_holders(artifact, number),
                shown_envelope=shown_envelope,
                other_envelope=envelope,
                shown_body=shown_body,
                other_body=body,
            )
        )
    return tuple(rows)


def _holders(artifact: Memo | Transcript, number: int) -> str:
    """The copies that have a variant."""
    holders = [f"{copy.file.source}/{copy.file.path}" for copy in artifact.copies if copy.variant == number]
    more = len(holders) - _COPIES
    return joined(", ", (*holders[:_COPIES], phrase("and {more} more", more=more)) if more > 0 else holders)


def _digests(variant: Variant) -> tuple[str, str]:
    return variant.envelope.file.sha256, variant.body.text.sha256 if variant.body else ""
