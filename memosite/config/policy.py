"""What may be published, as settings (SPEC 9): what is done about secrets, which are allowed, and what is erased."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from memosite.facts.parsed import Kind
from memosite.facts.withheld import Withheld

SecretsMode = Literal["withhold", "redact", "fail"]
SECRETS_MODES: tuple[SecretsMode, ...] = ("withhold", "redact", "fail")


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedSecret:
    """A secret that may be published: its fingerprint, and why. `line` is where memosite.yml has it."""

    fingerprint: str
    why: str
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretsConfig:
    """What is done about secrets: artifacts without content, redacted texts, or an error; and the exceptions."""

    mode: SecretsMode = "withhold"
    allow: tuple[AllowedSecret, ...] = ()

    @property
    def fingerprints(self) -> frozenset[str]:
        """The fingerprints of the exceptions."""
        return frozenset(one.fingerprint for one in self.allow)


DEFAULT_SECRETS = SecretsConfig()
"""What is done about secrets unless memosite.yml says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithheldGlob:
    """A glob of what only the audience `internal` sees. `line` is where memosite.yml has it."""

    glob: str
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """An artifact whose content is not to be published: its id, its kind if that is named, too, why, and since when.

    `is_secret` is whether the reason is a secret: then not even its digests are published. `line` is where
    memosite.yml has it.
    """

    id: str
    kind: Kind | None
    why: str
    on: str
    is_secret: bool = False
    line: int = 0

    @property
    def name(self) -> str:
        """The artifact as the configuration names it."""
        return f"{self.kind}/{self.id}" if self.kind else self.id

    def withheld(self, published: Collection[str] = ()) -> Withheld:
        """What its facts carry; `published` are the digests of its files that were published before."""
        hashes = () if self.is_secret else tuple(sorted(published))
        return Withheld(reason="erased", why=self.why, on=self.on, hashes=hashes, is_for_secret=self.is_secret)


def left_out_by(erasures: Iterable[Erasure], secrets: SecretsConfig) -> str:
    """By what content is left out, as one text: what is erased, and which secrets are found and allowed."""
    from memosite.secrets import DIGEST  # noqa: PLC0415 - it is read from files, and few commands need it

    return repr((sorted(entry.name for entry in erasures), secrets.mode, sorted(secrets.fingerprints), DIGEST))
