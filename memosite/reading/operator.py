"""Keeps what is for the operator alone out of what everybody may see: where which secret is (SPEC 9, secrets).

Whoever reads a public site could go to the repo and take the key. What memosite.yml names in vain, too, is for who
wrote it: a name of what is withheld may be in it. Commands report these findings all the same.
"""

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

from memosite.archive.model import Archive, Artifact
from memosite.facts import rules
from memosite.facts.findings import Finding
from memosite.facts.secret_rules import SECRET_RULES

_RULES = frozenset((*SECRET_RULES, rules.ERASE_UNKNOWN, rules.ERASE_AMBIGUOUS, rules.WITHHOLD_IN_VAIN))


def for_everybody(archive: Archive) -> Archive:
    """The archive with the findings for its operator apart, and with no kinds of secrets."""
    return replace(
        archive,
        findings=_published(archive.findings),
        for_operator=tuple(one for one in archive.findings if one.rule in _RULES),
        artifacts=MappingProxyType({ref: _without(one) for ref, one in archive.artifacts.items()}),
    )


def _published(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(one for one in findings if one.rule not in _RULES)


def _without(artifact: Artifact) -> Artifact:
    """An artifact without such findings and kinds; the same object if it has none."""
    withheld = artifact.withheld
    if any(one.rule in _RULES for one in artifact.findings):
        artifact = replace(artifact, findings=_published(artifact.findings))
    if withheld is not None and withheld.rules:
        artifact = replace(artifact, withheld=replace(withheld, rules=()))
    return artifact
