"""Reads `secrets` of memosite.yml: what is done about secrets, and which are allowed and why (SPEC 9)."""

import re

from memosite.config.policy import SECRETS_MODES, AllowedSecret, SecretsConfig, SecretsMode
from memosite.config.schema import ConfigEntry, quote

_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_MODE_FORM = "withhold, redact or fail"
_FINGERPRINT_FORM = "16 hex digits, as memosite check shows"


def read_secrets(entry: ConfigEntry) -> SecretsConfig:
    """The mode and the exceptions; each has a reason."""
    fields = entry.fields(("mode", "allow"))
    default = SecretsConfig()
    items = fields["allow"].items("a list of {fingerprint, why}") if "allow" in fields else ()
    return SecretsConfig(
        mode=_mode(fields["mode"]) if "mode" in fields else default.mode, allow=tuple(map(_allowed, items))
    )


def _mode(entry: ConfigEntry) -> SecretsMode:
    text = entry.text(_MODE_FORM)
    for mode in SECRETS_MODES:
        if text == mode:
            return mode
    raise entry.error(quote(text), _MODE_FORM)


def _allowed(entry: ConfigEntry) -> AllowedSecret:
    fields = entry.fields(("fingerprint", "why"))
    for name, expected in (("fingerprint", _FINGERPRINT_FORM), ("why", "the reason why it may be published")):
        if name not in fields:
            raise entry.error(f"no {name}", expected, f"add {name}:")
    fingerprint = fields["fingerprint"].scalar(_FINGERPRINT_FORM)
    if not _FINGERPRINT.fullmatch(fingerprint):
        raise fields["fingerprint"].error(quote(fingerprint), _FINGERPRINT_FORM)
    return AllowedSecret(fingerprint=fingerprint, why=fields["why"].prose(), line=entry.line)
