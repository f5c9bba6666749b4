"""[I/O] Matches rules with Kingfisher: those of its catalog and those in `rules.yml`, in one pass and linear time.

Kingfisher compiles its rules in three seconds. It keeps the result, which holds nothing that was read, in the user's
cache folder (`KF_RULE_CACHE_DIR`, else `kingfisher/` in `XDG_CACHE_HOME` or `~/.cache`), and loads it in 0.3 s.
Nothing is loaded before the first text is scanned.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from memosite.store.digests import digest_of

if TYPE_CHECKING:
    from kingfisher_sdk import Rules, Scanner

OWN_RULES = Path(__file__).with_name("rules.yml")
ENCODED = "base64-of-text"
"""The rule that finds what may hold secrets once it is decoded; it is not visible, so it is no secret itself."""

_SPELLED = {"api": "API", "gcp": "GCP", "jwt": "JWT", "oauth": "OAuth", "pat": "PAT", "uri": "URI", "url": "URL"}


@dataclass(frozen=True, slots=True)
class Match:
    """A rule and the place of what it matched."""

    rule: str
    start: int
    end: int


def match_rules(data: bytes) -> Iterator[Match]:
    """Everything that a rule matches. `data` is ASCII without NUL, so that no other encoding is guessed."""
    for finding in _load()[1].scan(data):
        rule = _short(finding.rule_id)
        if finding.visible or rule == ENCODED:
            place = finding.location
            yield Match(rule, place["start_offset"], place["end_offset"])


def read_rules() -> Mapping[str, str]:
    """The rules by their stable names, and what people call what they find; ours come first where both name one."""
    named = {_short(rule["id"]): rule for rule in _load()[0].metadata() if rule["visible"]}
    ours = {_short(rule["id"]) for rule in named.values() if rule["id"].startswith("memosite.")}
    return {name: named[name]["name"] if name in ours else _spelled(name) for name in sorted(named)}


def digest_rules() -> str:
    """The digest of all rules: ours by their text, Kingfisher's by its version."""
    return digest_of((OWN_RULES.read_bytes(), version("kingfisher-secret-scanner")))


@lru_cache(maxsize=1)
def _load() -> "tuple[Rules, Scanner]":
    import kingfisher_sdk  # noqa: PLC0415 - a command that reads nothing does not pay for it

    rules = kingfisher_sdk.Rules([OWN_RULES])
    return rules, kingfisher_sdk.Scanner(rules, base64=False)


@lru_cache(maxsize=1024)
def _short(rule_id: str) -> str:
    """The name of a rule without the catalog it is from: `github-pat` for `betterleaks.github-pat`."""
    name = re.sub(r"^(betterleaks\.|veles\.secrets/|memosite\.)", "", rule_id)
    return re.sub(r"\.1$", "", name).replace(".", "-").replace("/", "-")


def _spelled(name: str) -> str:
    words = [_SPELLED.get(word, word) for word in name.split("-")]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])
