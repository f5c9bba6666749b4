"""Why an artifact is published without its content, as a value that its facts and the artifact itself carry."""

from dataclasses import dataclass
from typing import Literal

Reason = Literal["secret", "erased"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Withheld:
    """What is published in the place of a content: why it is not there, since when, and how that can be changed.

    `why` and `on` (a day, ISO 8601) are as the configuration says. `rules` name the kinds of secrets that were found,
    never a secret. `hashes` are the SHA-256 of files that may still be published, since they were before.
    `is_for_secret` is whether something was erased since it holds a secret.
    """

    reason: Reason
    why: str = ""
    on: str = ""
    rules: tuple[str, ...] = ()
    hashes: tuple[str, ...] = ()
    is_for_secret: bool = False

    @property
    def hides_hashes(self) -> bool:
        """Whether no hash may stay: by one a secret could be guessed."""
        return self.reason == "secret" or self.is_for_secret

    @property
    def is_place_hidden(self) -> bool:
        """Whether readers are not to be led to the secret: not told which kind it is, nor in which commits."""
        return self.reason == "secret" and not self.rules

    @property
    def word(self) -> str:
        """The word for it in lists."""
        return "erased" if self.reason == "erased" else "withheld"
