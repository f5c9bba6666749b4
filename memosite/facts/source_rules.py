"""The rules for findings on whole sources, and on what of them is not read (SPEC 2.1, 2.3, 9)."""

from collections.abc import Iterable

from memosite.facts.findings import Finding, Rule, Severity

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

FOLDER_TOO_LARGE = Rule(
    id="folder-too-large",
    severity=_W,
    meaning="A folder of a commit has too many files; it is skipped.",
    clause="SPEC 9",
    remedy="Move files that are not for the archive to another repo.",
)
HISTORY_UNREADABLE = Rule(
    id="history-unreadable",
    severity=_W,
    meaning="The git history of a source could not be read.",
    clause="SPEC 2.3",
    remedy="Run git fsck in the repo, and repair what it reports.",
)
SOURCE_FAILED = Rule(
    id="source-failed",
    severity=_E,
    meaning="A source or its history could not be read; its last good state is shown.",
    clause="SPEC 9",
    remedy="Run git fsck in the repo, or make it smaller.",
    fails_build=True,
)
LINK_NOT_FOLLOWED = Rule(
    id="link-not-followed",
    severity=_N,
    meaning="Symbolic link not followed.",
    clause="SPEC 9",
    remedy="Replace it with the file.",
)
SUBMODULE_NOT_READ = Rule(
    id="submodule-not-read",
    severity=_N,
    meaning="Submodule not read.",
    clause="SPEC 2.3",
    remedy="Add its repo to the sources.",
)
REMOTE_NOT_FETCHED = Rule(
    id="remote-not-fetched",
    severity=_E,
    meaning="A remote could not be fetched; its last good state is shown.",
    clause="SPEC 9",
    remedy="Check the address, the network and ssh-agent, then build again.",
    fails_build=True,
)

SOURCE_RULES = tuple(one for one in tuple(globals().values()) if isinstance(one, Rule))
"""All of them, in this order."""


def failures(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The findings that make a command fail whatever it fails on: sources that could not be read."""
    failed = (one for one in findings if one.rule.fails_build)
    return tuple(f"{one.location.source}: {one.message}" for one in sorted(failed, key=lambda one: one.sort_key))
