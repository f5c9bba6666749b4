"""The rules for findings on whole sources, and on what of them is not read (SPEC 2.1, 2.3, 9)."""

from collections.abc import Iterable

from memosite.facts.findings import Finding, Rule, Severity

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

FOLDER_TOO_LARGE = Rule(
    id="folder-too-large",
    severity=_W,
    meaning="A folder of a commit holds more than memosite reads; it is left out.",
    clause="SPEC 9",
    remedy="Keep what does not belong to the archive in another repo.",
)
HISTORY_UNREADABLE = Rule(
    id="history-unreadable",
    severity=_W,
    meaning="The git history of a source could not be read.",
    clause="SPEC 2.3",
    remedy="Run git fsck in the repo, and replace what is damaged or no regular file.",
)
SOURCE_FAILED = Rule(
    id="source-failed",
    severity=_E,
    meaning="A source or its history could not be read; what was last known of it is shown.",
    clause="SPEC 9",
    remedy="Read the message; run git fsck in the repo, or make it smaller.",
    fails_build=True,
)
LINK_NOT_FOLLOWED = Rule(
    id="link-not-followed",
    severity=_N,
    meaning="A symbolic link where an envelope or a store would lie.",
    clause="SPEC 9",
    remedy="Put the file itself there; memosite reads nothing outside a source.",
)
SUBMODULE_NOT_READ = Rule(
    id="submodule-not-read",
    severity=_N,
    meaning="A submodule; what lies in it is no part of the commit read.",
    clause="SPEC 2.3",
    remedy="Add its own repo to the sources, if it holds anything of the archive.",
)
REMOTE_NOT_FETCHED = Rule(
    id="remote-not-fetched",
    severity=_E,
    meaning="A remote could not be fetched; its last good state is shown.",
    clause="SPEC 9",
    remedy="Check address, network and ssh-agent; the next build tries again.",
    fails_build=True,
)

SOURCE_RULES = tuple(one for one in tuple(globals().values()) if isinstance(one, Rule))
"""All of them, in this order."""


def failures(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The findings that make a command fail whatever it fails on: sources that could not be read."""
    failed = (one for one in findings if one.rule.fails_build)
    return tuple(f"{one.location.source}: {one.message}" for one in sorted(failed, key=lambda one: one.sort_key))
