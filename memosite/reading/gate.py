"""The gate: two filters, for secrets and for the audience, that all content passes (SPEC 9).

    bytes of a file, now or formerly ─► screen ─► parse, shelf, cache ─► resolve ─► withhold ─► plan, search, export …
                                       (secrets)                                   (audience)

No rules are built yet: both filters let everything pass. They are here so that rules are written once, and so that no
command can skip them: `open_archive` is the only way to an archive, and applies both.

They filter the contents of files, present and former ones from git, with their paths. Names from git (of removed
files, of authors of commits) come with the history and are not screened separately.
"""

from dataclasses import dataclass

from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive
from memosite.config.schema import Audience
from memosite.facts.file import File
from memosite.facts.findings import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """The bytes of a file as they may be stored, and the findings on them; no finding repeats a secret."""

    data: bytes
    findings: tuple[Finding, ...] = ()


def screen(file: File) -> Screened:
    """Remove secrets from a file before anything of it is stored: parse results, shelf, cache, index.

    Called for each content that is read: a file of a source, a former content from git (under the path it had then),
    and a file that is checked without an archive. A cached parse result is not screened again until its bytes
    are needed; it was parsed from screened bytes.

    No rules are built yet: the bytes stay as they are, without findings.
    """
    return Screened(data=file.data)


def withhold(archive: Archive, ledger: Ledger, audience: Audience) -> tuple[Archive, Ledger]:
    """Remove artifacts that an audience may not see, before anything is planned, exported, searched or watched.

    `ledger` belongs to this archive; removed artifacts must not be new in it either.

    No rules are built yet: `internal`, the only audience, sees everything, so archive and ledger stay as they are.
    """
    if audience != "internal":
        raise ValueError(f"audience {audience}: nothing says yet what it may see")
    return archive, ledger
