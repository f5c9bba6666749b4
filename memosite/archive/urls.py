"""Makes all paths, links and ids of the published site (SPEC 4); no other module does.

A *page* is named by its folder, such as `memos/<id>/`; the file in it is `index.html`. Links are relative and end
in a file name, because `file://` shows folders as listings; canonical links, feeds and citations name the folder.
"""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from memosite.facts.names import CATALOG_SUFFIX, ENVELOPE_SUFFIX, make_id
from memosite.facts.parsed import Kind, Ref
from memosite.facts.patterns import regex

if TYPE_CHECKING:
    from memosite.archive.model import Artifact

FOLDERS: dict[Kind, str] = {
    "memo": "memos",
    "note": "notes",
    "transcript": "transcripts",
    "library": "libraries",
    "document": "documents",
}

HOME = ""
ORGANIZATION = "org/"
ACTIONS = "actions/"
HEALTH = "health/"
SEARCH = "search/"
TIMELINE = "timeline/"
THREADS = "timeline/threads/"
WAITING_THREADS = "timeline/threads/waiting/"
"""Not below `threads/`, where a thread may have any id."""
DECISIONS = "decisions/"
CITATIONS = "citations/"
SYSTEMS = "systems/"
ENTITIES = "entities/"
SESSIONS = "sessions/"
SESSION_PARTS = "timeline/sessions/"
"""The parts of the list of all sessions are not below `sessions/`, where a source may have any name."""
DIGESTS = "digests/"
WEEKS = "weeks/"
FEEDS = "feeds/"
SPECIFICATION = "spec/"
SPECIFICATION_OF_FEEDS = "spec/feeds/"
OTHER_SPECIFICATIONS = "other-specifications-that-findings-cite"
"""The anchor, on the page of the contract, of the list of other documents that findings cite."""
UNDATED_MONTH = "undated"

TwinForm = Literal["json", "md"]
"""In which form a twin says what its page says."""

_PLAIN = regex(r"[A-Za-z0-9/._~-]*")

_PUBLISHED_AS_THEY_ARE = {ENVELOPE_SUFFIX, CATALOG_SUFFIX, ".json", ".jsonl", ".md"}


def artifact_page(ref: Ref) -> str:
    """The page of an artifact of memodef, of a document, or of a ghost; that of a record names its system, too."""
    kind, id_ = ref
    return f"{FOLDERS[kind]}/{id_}/"


def record_page(system: str, id_: str) -> str:
    """The page of a record."""
    return f"records/{system}/{id_}/"


def page_of(artifact: "Artifact") -> str:
    """The page of any artifact of the archive."""
    return record_page(artifact.system, artifact.id) if artifact.kind == "record" else artifact_page(artifact.ref)


def changes_page(artifact: "Artifact") -> str:
    """The page of edits after receipt."""
    return f"{page_of(artifact)}changes/"


def captures_page(page: str) -> str:
    """The page that compares a transcript with earlier captures of its session."""
    return f"{page}captures/"


def turn_lines(page: str) -> str:
    """The file with all turns of a transcript, for programs."""
    return f"{page}turns.jsonl"


def system_page(system: str) -> str:
    """The page of one of the other memory systems."""
    return f"{SYSTEMS}{system}/"


def source_sessions(source: str) -> str:
    """The page of the sessions whose logs are in a source."""
    return f"{SESSIONS}{make_id(source).casefold()}/"


def entity_page(id_: str) -> str:
    """The page of an entity that records name."""
    return f"{ENTITIES}{id_}/"


def saved_page(name: str) -> str:
    """The page of a saved search."""
    return f"saved/{name}/"


def thread_page(id_: str) -> str:
    """The page of a thread of two or more."""
    return f"threads/{id_}/"


def position_page(id_: str) -> str:
    """The page of a position."""
    return f"positions/{id_}/"


def position_actions(id_: str) -> str:
    """The page of what a position has to do and waits for."""
    return f"{position_page(id_)}{ACTIONS}"


def digest_page(day: str) -> str:
    """The page of a digest, named by its first day."""
    return f"{DIGESTS}{day}/"


def week_page(week: str) -> str:
    """The page of a week, `2026-W22`."""
    return f"{WEEKS}{week}/"


def month_of(artifact: "Artifact") -> str:
    """The month an artifact belongs to, `2026/05`, by its instant in UTC; `undated` if it has no date."""
    if artifact.date is None:
        return UNDATED_MONTH
    return f"{artifact.date.instant.year:04d}/{artifact.date.instant.month:02d}"


def month_page(month: str) -> str:
    """The page of a month given as `2026/05` or `undated`."""
    return f"{TIMELINE}{month}/"


def archive_lines(month: str) -> str:
    """The file of the machine's archive for a month."""
    return f"archive/{month}.jsonl"


def bundle_folder(bundle: str) -> str:
    """The folder of a bundle named `2026/05/1`: a month, and which of its bundles."""
    return f"archive/{bundle.rpartition('/')[0]}/"


def bundle_twins(bundle: str, form: TwinForm) -> str:
    """The file of a bundle with its twins: a JSON object a line, or one text in Markdown."""
    return f"{bundle_folder(bundle)}twins-{bundle.rpartition('/')[2]}.{'jsonl' if form == 'json' else form}"


def bundle_files(bundle: str) -> str:
    """The ZIP of a bundle with its originals and turns, each under the path that it has in a site without bundles."""
    return f"{bundle_folder(bundle)}files-{bundle.rpartition('/')[2]}.zip"


def in_bundle(start: str, file: str, key: str) -> str:
    """The link from the page `start` to what a file of a bundle has under a key."""
    return f"{relative(start, file)}#{quote(key, safe='/-._~')}"


def image_file(sha256: str, form: str) -> str:
    """The file of an image that texts show, named by its content."""
    return f"images/{sha256}.{form}"


def part_page(page: str, number: int) -> str:
    """A part of a page that is too long for one file; parts count from 1, the oldest."""
    return f"{page}{number}/"


def section_anchor(number: str) -> str:
    """The anchor of a numbered section of the contract, on its page: `2-2` of section 2.2."""
    return number.replace(".", "-")


def index_file(page: str) -> str:
    """The HTML file of a page."""
    return f"{page}index.html"


def relative(start: str, target: str) -> str:
    """The link from the page `start` to `target`, a page or a file, percent-encoded; it ends in a file name."""
    file = index_file(target) if target == "" or target.endswith("/") else target
    here = _folders(start)
    if not here or not file.startswith(f"{here[0]}/"):
        return "../" * len(here) + _quoted(file)
    there = file.split("/")
    common = 0
    while common < min(len(here), len(there) - 1) and here[common] == there[common]:
        common += 1
    return "../" * (len(here) - common) + _quoted("/".join(there[common:]))


@lru_cache(maxsize=100)
def _folders(start: str) -> tuple[str, ...]:
    return tuple(start.split("/")[:-1])


@lru_cache(maxsize=10_000)
def _quoted(path: str) -> str:
    return path if _PLAIN.fullmatch(path) else quote(path, safe="/-._~")


ADDRESS = "ADDRESS/"
"""What commands say for the address of a site that knows none: a script or `serve` writes it where a page is read."""


def absolute(base_url: str, page: str) -> str:
    """The canonical address of a page or file."""
    return base_url + _quoted(page)


def original_name(path: str, *, is_body: bool) -> str:
    """The published name of an original: `original.openthing`, `original.body.md`.

    An extension that a browser or server might run or show as a page gets `.txt` (SPEC 4).
    """
    suffix = re.search(r"\.[A-Za-z0-9]{1,16}$", path)
    extension = suffix[0].lower() if suffix else ""
    name = f"original{'.body' if is_body else ''}{extension}"
    return name if extension in _PUBLISHED_AS_THEY_ARE else f"{name}.txt"


def copy_name(source: str, number: int, original: str) -> str:
    """The published name of a copy: its source, a number from the second copy in one source on, the extension."""
    again = f"~{number}" if number > 1 else ""  # `~` is in no id, so in no other source's name
    return f"copies/{make_id(source)}{again}{original.removeprefix('original')}"
