"""What the gate revises: all that an archive is resolved from, and the settings that decide what stays."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from memosite.archive.history import History
from memosite.archive.ledger import Ledger
from memosite.config.policy import DEFAULT_SECRETS, Erasure, SecretsConfig
from memosite.config.schema import Audience
from memosite.facts.parsed import Parsed, Ref
from memosite.facts.withheld import Withheld
from memosite.formats.system import FilePlace
from memosite.reading.own_texts import OwnTexts


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What an archive may hold: the settings of both steps.

    `published` are the digests of files of what is to be erased that were published before, by `kind/id`.
    `texts` are the operator's own.
    """

    audience: Audience = "internal"
    secrets: SecretsConfig = DEFAULT_SECRETS
    erase: tuple[Erasure, ...] = ()
    published: Mapping[str, Collection[str]] = field(default_factory=dict)
    texts: OwnTexts = field(default_factory=OwnTexts)

    @property
    def revises(self) -> bool:
        """Whether `revise` may change anything; if not, sources are resolved once."""
        return self.audience != "internal" or bool(self.erase)


ALL = Policy()
"""That of an archive that holds everything."""


@dataclass(frozen=True, slots=True)
class Content:
    """All that an archive is resolved from: the facts of files, git histories by source, and the ledger to continue.

    `absent` are files, by source and path, that count as if they were not there. `unstored` are those of which the
    cache keeps nothing: files that are absent, and files of which only a part is left. `erased` are artifacts that were
    erased and are in no source any more.
    """

    facts: tuple[Parsed, ...]
    histories: Mapping[str, History]
    ledger: Ledger
    absent: frozenset[FilePlace] = frozenset()
    unstored: frozenset[FilePlace] = frozenset()
    erased: Mapping[Ref, Withheld] = field(default_factory=dict)
