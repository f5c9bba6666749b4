"""Reads `memosite.yml`, or discovers what to read without one.

The command line shows these words: what else is here loads a parser of YAML.
"""

from typing import Literal

SecretsMode = Literal["withhold", "redact", "fail"]
SECRETS_MODES: tuple[SecretsMode, ...] = ("withhold", "redact", "fail")
"""What may be done about secrets (SPEC 9)."""
