"""What an archive is resolved from, and the policy that says what of it may be in the archive."""

import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from memosite.archive.history import History
from memosite.archive.ledger import Ledger
from memosite.config.policy import DEFAULT_SECRETS, Erasure, SecretsConfig, WithheldGlob
from memosite.config.schema import Audience, Config
from memosite.facts.layout import matches_glob
from memosite.facts.parsed import Parsed, Ref
from memosite.facts.withheld import Withheld
from memosite.formats.system import FilePlace
from memosite.reading.own_texts import OwnTexts


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What an archive may hold: the settings that the gate decides by (SPEC 9).

    `published` are the digests of files of what is to be erased that were published before, by `kind/id`.
    `texts` are the operator's own.
    """

    audience: Audience = "internal"
    withhold: tuple[WithheldGlob, ...] = ()
    withhold_raw: bool = True
    secrets: SecretsConfig = DEFAULT_SECRETS
    erase: tuple[Erasure, ...] = ()
    published: Mapping[str, Collection[str]] = field(default_factory=dict)
    texts: OwnTexts = field(default_factory=OwnTexts)

    @property
    def revises(self) -> bool:
        """Whether the gate may change anything after `resolve`; if not, sources are resolved once."""
        return self.audience != "internal" or bool(self.erase)

    def hides(self, source: str, path: str) -> bool:
        """Whether a glob of `withhold` matches a file."""
        return self.audience != "internal" and any(is_match(one.glob, source, path) for one in self.withhold)


def is_match(glob: str, source: str, path: str) -> bool:
    """Whether a glob of `withhold` matches a file, by its path in the source, or with the source's name before.

    File systems compose characters as they like, so both sides are composed.
    """
    composed = unicodedata.normalize("NFC", glob)
    return any(matches_glob(unicodedata.normalize("NFC", one), composed) for one in (path, f"{source}/{path}"))


def policy_of(
    config: Config, audience: Audience, *, published: Mapping[str, Collection[str]], texts: OwnTexts
) -> Policy:
    """The policy of a site for an audience."""
    return Policy(
        audience=audience,
        withhold=config.withhold,
        withhold_raw=config.withhold_raw,
        secrets=config.secrets,
        erase=config.erase,
        published=published,
        texts=texts,
    )


ALL = Policy()
"""That of an archive that holds everything."""


@dataclass(frozen=True, slots=True)
class Content:
    """All that an archive is resolved from: the facts of files, git histories by source, and the ledger to continue.

    `absent` are files, by source and path, that count as if they were not there, and `unnamed` ids that no setting
    may name. `unstored` are files of which the cache keeps nothing: those that are absent, and those of which only
    a part is left. `erased` are artifacts that were erased and are in no source any more.
    """

    facts: tuple[Parsed, ...]
    histories: Mapping[str, History]
    ledger: Ledger
    absent: frozenset[FilePlace] = frozenset()
    unstored: frozenset[FilePlace] = frozenset()
    unnamed: frozenset[str] = frozenset()
    erased: Mapping[Ref, Withheld] = field(default_factory=dict)


Change = Callable[[bytes, str], bytes | None]
"""Other bytes for a file of this name; None if they stay as they are."""

Reread = Callable[[Parsed, Change], Parsed | None]
"""Parses a file again with other bytes; None if they stay as they are."""
