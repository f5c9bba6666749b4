"""The gate: everything that a command sees of an archive passes its two places (SPEC 9).

    bytes of a file, now or formerly ─► screen ─► parse, shelf, cache ─► resolve ─► withhold ─► plan, search, export …
                                       (secrets)                                   (audience)

No rules are built yet: both places let everything pass. They are here so that rules are written once, and so that no
command can leave them out: `open_archive` is the only way to an archive, and passes both.

What is passed are the contents of files, as they are and as git has former ones, with their paths. Names that git
tells (of files that are gone, of who made a commit) come with the history and are not screened on their own.
"""

from dataclasses import dataclass

from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive
from memosite.config.schema import Audience
from memosite.facts.file import File
from memosite.facts.findings import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """The bytes of a file as they may be stored, and what was found in them; no finding repeats a secret."""

    data: bytes
    findings: tuple[Finding, ...] = ()


def screen(file: File) -> Screened:
    """Take secrets out of a file before anything of it is stored: parse results, shelf, cache, index.

    Called for each content that is read: a file of a source, a former content from git (under the path it had then),
    and a file that is checked without an archive. What the parse cache remembers is screened again only when its bytes
    are needed; it was parsed from screened bytes.

    No rules are built yet: the bytes stay as they are, and nothing is found.
    """
    return Screened(data=file.data)


def withhold(archive: Archive, ledger: Ledger, audience: Audience) -> tuple[Archive, Ledger]:
    """Leave out what an audience may not see, before anything is planned, exported, searched, watched or compared.

    `ledger` is the one that holds this archive; what is left out must not be new in it either.

    No rules are built yet: `internal`, the only audience, sees everything, so archive and ledger stay as they are.
    """
    if audience != "internal":
        raise ValueError(f"audience {audience}: nothing says yet what it may see")
    return archive, ledger
