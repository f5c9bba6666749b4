"""Writes what stands in the place of a content that is not published: what happened, since when, what to do now."""

from collections.abc import Iterator
from dataclasses import dataclass

from memosite.archive.model import Artifact
from memosite.facts.parsed import Kind
from memosite.facts.phrases import joined, phrase
from memosite.facts.texts import cut_line
from memosite.facts.withheld import Withheld
from memosite.facts.words import kind_word

_WHY_CHARS = 1_000

_NOT_PUBLISHED = phrase("Its subject, its text, its originals and its former versions are not published.")
_TO_PUBLISH_IT = joined(
    " ",
    (
        _NOT_PUBLISHED,
        phrase(
            "To publish it: replace the secret wherever it is used, then remove it from the source. "
            "If it is no secret, allow it in memosite.yml with a reason."
        ),
    ),
)
_TO_READ_IT = phrase(
    "Its address, its dates and its place in threads and feeds stay. "
    "If you need the content, ask those who publish this archive."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What happened to a content, what is known of that as labels and values, and what can be done."""

    title: str
    facts: tuple[tuple[str, str], ...]
    advice: str

    @property
    def text(self) -> str:
        """The notice as one paragraph."""
        return joined(" ", (self.reason, self.advice))

    @property
    def reason(self) -> str:
        """What happened, when and why."""
        facts = (joined("", (label, ": ", value, ".")) for label, value in self.facts)
        return joined(" ", (self.title, *facts))


def notice_of(artifact: Artifact) -> Notice | None:
    """The notice on an artifact that is published without its content; None for any other."""
    return notice_on(artifact.kind, artifact.withheld)


def notice_on(kind: Kind, withheld: Withheld | None) -> Notice | None:
    """The notice on an artifact of this kind, also on one that is not there any more; None if nothing is withheld."""
    if withheld is None:
        return None
    if withheld.is_place_hidden:
        return Notice(
            title=phrase("The content of this {kind} is withheld.", kind=kind_word(kind)),
            facts=(),
            advice=_NOT_PUBLISHED,
        )
    is_erased = withheld.reason == "erased"
    if is_erased:
        title = phrase("The content of this {kind} was erased.", kind=kind_word(kind))
    else:
        title = phrase("The content of this {kind} is not published, because it holds a secret.", kind=kind_word(kind))
    return Notice(title=title, facts=tuple(_facts(withheld)), advice=_TO_READ_IT if is_erased else _TO_PUBLISH_IT)


def _facts(withheld: Withheld) -> Iterator[tuple[str, str]]:
    known = (
        (phrase("Since"), withheld.on),
        (phrase("Reason"), cut_line(withheld.why, _WHY_CHARS).rstrip(".")),
        (phrase("Kind of secret"), ", ".join(withheld.rules)),
    )
    return ((label, value) for label, value in known if value)
