"""What may be published, as settings (SPEC 9): what is done about secrets, and which are allowed."""

from dataclasses import dataclass
from typing import Literal

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
