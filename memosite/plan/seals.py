"""Plans the sealed log: which leaves what is published now adds to it (docs/sealed-log.md)."""

from collections.abc import Iterable, Iterator, Sequence, Set

from memosite.archive.history import LifeEvent
from memosite.archive.ledger import Ledger, ref_of
from memosite.archive.lines import is_redacted
from memosite.archive.model import Artifact, Memo, Record, Transcript
from memosite.archive.seals import SEALS_PATH, Leaf, SealLog
from memosite.archive.urls import HEALTH, relative
from memosite.facts.names import WITHHELD
from memosite.facts.parsed import Ref
from memosite.facts.times import Moment
from memosite.facts.withheld import Withheld
from memosite.pages.parts import Reference
from memosite.pages.seals import Seal
from memosite.plan.artifact_page import originals
from memosite.plan.context import Context
from memosite.plan.dates import month_name

_PLACEHOLDERS = ("[REDACTED:", WITHHELD)


def continued(context: Context, ledger: Ledger, log: SealLog) -> SealLog:
    """The log with what is new: originals in order of arrival, then those that changed, then those that are gone.

    It knows nothing that the ledger does not: where that begins anew, as when something published is withheld from an
    audience, so does the log.
    """
    begun = log if ledger.published else SealLog()
    known = begun.latest()
    new: list[Leaf] = []
    changed: list[Leaf] = []
    seen: set[str] = set()
    may_hide = ledger.audience != "internal"
    for artifact in context.archive.artifacts.values():
        for _, path, sha256 in originals(artifact):
            seen.add(path)
            before = known.get(path)
            if before is None or before.sha256 != sha256:
                leaf = _leaf(context, artifact, path, sha256, is_new=before is None, may_hide=may_hide)
                (new if before is None else changed).append(leaf)
    gone = _gone(context, (leaf for path, leaf in known.items() if path not in seen))
    return begun.without_hashes(_guessable(context, begun, changed)).with_leaves((*new, *changed, *gone))


def _leaf(context: Context, artifact: Artifact, path: str, sha256: str, *, is_new: bool, may_hide: bool) -> Leaf:
    source, event = _commit(artifact, sha256)
    text = context.text_of(sha256) if may_hide or is_redacted(artifact) else ""
    return Leaf(
        id="/".join(artifact.ref),
        path=path,
        sha256=sha256,
        month=_month(_arrived(artifact)) if is_new else _month(event.at if event else None),
        source=source,
        commit=event.commit if event else "",
        redacted=sum(text.count(mark) for mark in _PLACEHOLDERS),
    )


def _commit(artifact: Artifact, sha256: str) -> tuple[str, LifeEvent | None]:
    """The commit that made the bytes of an original, with its source; None if they are in none, or it is not known."""
    files = [copy.file for copy in artifact.copies]
    if isinstance(artifact, Memo | Transcript):
        files += [variant.body.file for variant in artifact.variants if variant.body]
    blobs = {file.blob for file in files if file.sha256 == sha256 and file.blob}
    is_part = isinstance(artifact, Record) and not blobs  # the text of an entry, whose history is its own
    for copy in artifact.copies:
        for event in reversed(copy.life.events if copy.life else ()):
            if is_part or event.after in blobs:
                return copy.file.source, event
    return "", None


def _arrived(artifact: Artifact) -> Moment | None:
    """When an artifact arrived: its first commit, else its own date."""
    received = [copy.received for copy in artifact.copies if copy.received]
    return min(received, key=lambda moment: moment.instant, default=artifact.date)


def _month(moment: Moment | None) -> str:
    return f"{moment.instant.year:04d}/{moment.instant.month:02d}" if moment else ""


def _gone(context: Context, leaves: Iterable[Leaf]) -> Iterator[Leaf]:
    """The leaves on originals that are not published any more, unless the log says so already."""
    for leaf in leaves:
        withheld = _withheld(context, leaf)
        why = withheld.word if withheld else "removed"
        if leaf.sha256 or (withheld and leaf.why != why):
            yield Leaf(id=leaf.id, path=leaf.path, why=why)


def _withheld(context: Context, leaf: Leaf) -> Withheld | None:
    """Why the artifact of a leaf is published without its content; None if it is not."""
    ref = ref_of(leaf.id)
    artifact = context.archive.artifacts.get(ref)
    return artifact.withheld if artifact else context.archive.erased.get(ref)


def _guessable(context: Context, log: SealLog, changed: Sequence[Leaf]) -> Set[int]:
    """The leaves with a hash by which a secret could be guessed (SPEC 9): no hash of these may stay.

    Those of what is withheld or erased for a secret, and those of bytes in which less was redacted than now.
    """
    redacted = {leaf.path: leaf.redacted for leaf in changed if leaf.redacted}
    hidden: set[str] = set()
    for ref, withheld in _without_content(context):
        if withheld.hides_hashes:
            hidden.add("/".join(ref))
    if not redacted and not hidden:
        return frozenset()
    hashes = {
        leaf.sha256
        for leaf in log.leaves
        if leaf.sha256 and (leaf.id in hidden or leaf.redacted < redacted.get(leaf.path, 0))
    }
    return {leaf.number for leaf in log.leaves if leaf.sha256 in hashes}  # files of many entries are in several leaves


def _without_content(context: Context) -> Iterator[tuple[Ref, Withheld]]:
    for ref, artifact in context.archive.artifacts.items():
        if artifact.withheld:
            yield ref, artifact.withheld
    yield from context.archive.erased.items()


def plan_seal(log: SealLog) -> Seal:
    """What the health page says of the log."""
    newest = log.months[-1] if log.months else None
    return Seal(
        log=Reference(label=SEALS_PATH.rpartition("/")[2], href=relative(HEALTH, SEALS_PATH)),
        month=month_name(newest.month) if newest else "",
        root=newest.root if newest else "",
        sealed=newest.leaves if newest else 0,
        waiting=len(log.leaves) - (newest.leaves if newest else 0),
    )
