"""Reports what a build did: its report, `status.json` (SPEC 4), and who is told while it writes."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from memosite import __version__
from memosite.facts.findings import Severity
from memosite.facts.json_text import to_json
from memosite.facts.parsed import Ref
from memosite.facts.rules import failures, redacted_places, unread_files, withheld_for_secrets
from memosite.remake.manifest import BuildSeal
from memosite.remake.memory import STATUS_PATH, Memory
from memosite.store.output import OutputFolder

if TYPE_CHECKING:
    from memosite.archive.model import Archive

# The interface that is notified of written files during a build: the live preview uses it to reload browsers early.


class Listener:
    """Is called while a site is built. This one does nothing; subclasses override it."""

    def output_written(self, path: str) -> None:
        """An output is new; its unit's other outputs, and those of all units before it, are written."""

    def all_written(self) -> None:
        """All pages for people are written, and some are new; what only programs read comes after."""


NO_LISTENER = Listener()


# Reports what a build did: its report, and `status.json` (SPEC 4).


Clock = Callable[[], dt.datetime]


class BuildReport(BuildSeal):
    """What a build read and did; the next build needs the seal in it to see that nothing has changed.

    `is_ledger_lost` says that the site was there and its ledger was not, so that its addresses had to be made anew.
    """

    written: int
    unchanged: int
    removed: int
    seconds: float
    is_ledger_lost: bool = False
    failed: tuple[str, ...] = ()
    """The sources that could not be read, each with the reason."""
    taken_back: tuple[Ref, ...] = ()
    """What was published before and is withheld now."""


def of_build(
    archive: "Archive",
    output: OutputFolder,
    *,
    inputs: str,
    status: Mapping[str, object],
    seconds: float,
    is_ledger_lost: bool,
    taken_back: tuple[Ref, ...],
) -> BuildReport:
    """The report of a build that read this archive and wrote into this folder.

    `inputs` is the digest of all that was read, and `status` what `status.json` says.
    """
    redacted, failed = redacted_places(archive.all_findings), failures(archive.all_findings)
    return BuildReport(
        inputs="" if failed else inputs,  # the next build tries again
        status=status,
        files=output.written + output.unchanged,
        kinds=Counter(artifact.kind for artifact in archive.artifacts.values()),
        sources=len(archive.sources),
        findings=Counter(str(finding.severity) for finding in archive.all_findings),
        written=output.written,
        unchanged=output.unchanged,
        removed=output.removed,
        collisions=tuple(output.collisions),
        seconds=seconds,
        is_ledger_lost=is_ledger_lost,
        failed=failed,
        withheld=withheld_for_secrets(archive.all_findings),
        redacted=(len(redacted), len(set(redacted))),
        unread=unread_files(archive.all_findings),
        taken_back=taken_back,
    )


def of_unchanged(
    output: OutputFolder, memory: Memory, last: BuildSeal, *, clock: Clock, began: dt.datetime
) -> BuildReport:
    """The report of a build that finds the site up to date: only `status.json` is written, since it holds the time."""
    with output.writing():
        finished = clock()
        is_ours = memory.is_ours(output)
        state = output.write(STATUS_PATH, status_bytes({**last.status, "built": in_utc(finished)}))
        if is_ours:
            memory.note_status(state)
    return BuildReport(
        kinds=last.kinds,
        sources=last.sources,
        findings=last.findings,
        written=output.written,
        unchanged=last.files,
        removed=0,
        collisions=last.collisions,
        seconds=max(0.0, (finished - began).total_seconds()),  # the clock may have been set back
        withheld=last.withheld,
        redacted=last.redacted,
        unread=last.unread,
    )


def status_of(archive: "Archive", now: dt.datetime) -> dict[str, object]:
    """The contents of `status.json`, the only file that depends on the clock."""
    severities = Counter(finding.severity for finding in archive.findings)
    return {
        "v": 1,
        "built": in_utc(now),
        "outcome": "ok",
        "generator": f"memosite {__version__}",
        "artifacts": len(archive.artifacts),
        "findings": {str(severity): severities[severity] for severity in Severity},
        "sources": [
            {
                "name": source.name,
                "commit": source.commit or None,
                "date": source.committed.utc if source.committed else None,
                "last_fetched": source.last_fetched.utc if source.last_fetched else None,
            }
            for source in archive.sources
        ],
    }


def status_bytes(value: Mapping[str, object]) -> bytes:
    """The bytes of `status.json`."""
    return to_json(value)


def in_utc(now: dt.datetime) -> str:
    """A time as `status.json` writes it."""
    return now.astimezone(dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
