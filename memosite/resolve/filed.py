"""Artifacts that are known by their path or their own id, not by an envelope's name: documents and libraries.

Their ids follow SPEC 3 (`<source>.<path>` with `/` as `.` for documents); where two claim one id, or ids that differ
only by case, the ledger decides, else the first in the order of the sources keeps it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memosite.facts import DocumentHead, FileFacts, Kind, LibraryCard, Ref, Text
from memosite.ledger import Ledger, identity_key
from memosite.model import Copy
from memosite.names import make_id, short_hash
from memosite.times import Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    """A document or a library under its ref, with its copies; `key` is what the ledger knows it by."""

    ref: Ref
    key: str
    fact: DocumentHead | LibraryCard
    files: tuple[FileFacts, ...]

    @property
    def text(self) -> Text:
        """What it says, for links: a document's text; of a library the files that it lists."""
        if isinstance(self.fact, DocumentHead):
            return self.fact.text
        listed = tuple(item.file for item in self.fact.items if item.file)
        return Text(sha256="", chars=0, summary="", destinations=listed)

    @property
    def date(self) -> Moment | None:
        """Its date; libraries have none."""
        return self.fact.date if isinstance(self.fact, DocumentHead) else None

    @property
    def copies(self) -> tuple[Copy, ...]:
        """Its files as copies."""
        return tuple(Copy(file=file, mailbox=None) for file in self.files)


def file_documents(heads: Iterable[DocumentHead], ledger: Ledger) -> tuple[Filed, ...]:
    """Documents under their refs."""
    by_key = {identity_key(head.file.source, head.file.path, "", ""): head for head in heads}
    wanted = {key: f"{head.file.source}.{head.file.path.replace('/', '.')}" for key, head in by_key.items()}
    ids = _ids("document", wanted, ledger)
    return tuple(
        Filed(ref=("document", ids[key]), key=key, fact=head, files=(head.file,)) for key, head in by_key.items()
    )


def file_libraries(cards: Iterable[LibraryCard], ledger: Ledger) -> tuple[Filed, ...]:
    """Libraries under their refs; those of one id and one content, as forks have them, are copies of one."""
    copies: dict[tuple[str, str], list[LibraryCard]] = {}
    for card in cards:
        copies.setdefault((card.id, card.file.sha256), []).append(card)
    by_key = {identity_key(same[0].id, same[0].file.source, same[0].file.path, ""): same for same in copies.values()}
    ids = _ids("library", {key: same[0].id for key, same in by_key.items()}, ledger)
    return tuple(
        Filed(ref=("library", ids[key]), key=key, fact=same[0], files=tuple(card.file for card in same))
        for key, same in by_key.items()
    )


def _ids(kind: Kind, wanted: Mapping[str, str], ledger: Ledger) -> dict[str, str]:
    """An id for each key: the one it was given before, else the wanted one if it is free, else with a hash."""
    known = ledger.ids_by_key()
    taken = {arrival.id.casefold(): arrival.id for arrival in reversed(ledger.arrivals) if arrival.kind == kind}
    ids = {key: known[(kind, key)] for key in wanted if (kind, key) in known}
    used = {id_.casefold() for id_ in ids.values()}
    for key, name in wanted.items():
        if key in ids:
            continue
        id_ = make_id(name)
        if id_.casefold() in used or taken.get(id_.casefold(), id_) != id_:
            id_ = f"{id_}~{short_hash(key)}"
        used.add(id_.casefold())
        ids[key] = id_
    return ids
