"""Gives documents, libraries and records their ids, from their path or their own id.

Their ids follow SPEC 3 (`<source>.<path>` with `/` as `.` for documents, `<source>.<key>` for records); where two
claim one id, or ids that differ only by case, the ledger decides, else the first in the order of the sources keeps it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from memosite.archive.ledger import Ledger, identity_key
from memosite.archive.model import Copy, Life
from memosite.facts import rules
from memosite.facts.bounds import RECORDS
from memosite.facts.contents import NOTHING_SAID
from memosite.facts.findings import Finding, Location
from memosite.facts.names import make_id, short_hash
from memosite.facts.parsed import DocumentHead, FileFacts, Kind, LibraryCard, RecordCard, Ref, Text
from memosite.facts.times import Moment, read_stamp
from memosite.formats.systems import home_of, system_of
from memosite.resolve.lists import EntryLives, entry_keys

_STAMP_IN_NAME = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    """A document, a library or a record under its ref, with its copies; `key` is its key in the ledger.

    Of an entry of a list file `lives` are its own histories, by copy, and `former` are ids that it has had before.
    """

    ref: Ref
    key: str
    fact: DocumentHead | LibraryCard | RecordCard
    files: tuple[FileFacts, ...]
    lives: tuple[Life | None, ...] | None = None
    former: tuple[str, ...] = ()

    @property
    def text(self) -> Text:
        """Its text, for links: the text of a document or a record; of a library the files that it lists."""
        if not isinstance(self.fact, LibraryCard):
            return self.fact.text or NOTHING_SAID
        listed = tuple(item.file for item in self.fact.items if item.file)
        return replace(NOTHING_SAID, destinations=listed)

    @property
    def date(self) -> Moment | None:
        """Its date, of a record the one of its creation, else that in its file's name; libraries have none."""
        match self.fact:
            case DocumentHead():
                return self.fact.date
            case RecordCard():
                stamp = _STAMP_IN_NAME.search(self.fact.file.name)
                return self.fact.created or (read_stamp(stamp[0]) if stamp else None)
        return None

    @property
    def copies(self) -> tuple[Copy, ...]:
        """Its files as copies, with the histories that are its own."""
        body = body_path(self.fact) if isinstance(self.fact, RecordCard) else None
        lives = self.lives or (None,) * len(self.files)
        return tuple(
            Copy(file=file, mailbox=None, body_path=body, life=life)
            for file, life in zip(self.files, lives, strict=True)
        )


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


def file_records(cards: Iterable[RecordCard], ledger: Ledger, entries: EntryLives) -> tuple[Filed, ...]:
    """Records under their refs. Equal files of one source that hold one record of one id are copies."""
    copies: dict[tuple[str, str, str, str], list[RecordCard]] = {}
    known = tuple(cards)
    keyed = zip(known, entry_keys(known, ledger, entries), strict=True)
    for card, key in _with_pages(keyed, ledger):
        copies.setdefault((card.system, card.file.source, key, card.file.sha256), []).append(card)
    by_key = {
        identity_key(source, system, key, same[0].file.path): (key, same)
        for (system, source, key, _), same in copies.items()
    }
    ids = _ids("record", {key: f"{same[0].file.source}.{name}" for key, (name, same) in by_key.items()}, ledger)
    return tuple(_filed_record(ids[key], key, name, same, entries) for key, (name, same) in by_key.items())


def _filed_record(id_: str, key: str, name: str, same: list[RecordCard], entries: EntryLives) -> Filed:
    """A record by the name it is filed under, with what is known of it as an entry of a list."""
    files = tuple(card.file for card in same)
    first = same[0]
    if first.line is None:
        return Filed(ref=("record", id_), key=key, fact=first, files=files)
    found = [entries.of(card) for card in same]
    keys = dict.fromkeys(one for life in found if life for one in (*life.keys, *life.former))
    former = tuple(make_id(f"{first.file.source}.{one}") for one in keys if one != name)
    return Filed(
        ref=("record", id_),
        key=key,
        fact=replace(first, key=name),
        files=files,
        lives=tuple(entries.life(card) for card in same),
        former=tuple(one for one in former if one != id_),
    )


def _with_pages(named: Iterable[tuple[RecordCard, str]], ledger: Ledger) -> Iterator[tuple[RecordCard, str]]:
    """Those records, given with their keys, that get pages (SPEC 9).

    They are the first `RECORDS` of each file, those that had a page before, and the rest of the file if there is any.
    """
    counts: Counter[FileFacts] = Counter()
    has_rest: set[FileFacts] = set()
    for card, key in named:
        file = card.file
        counts[file] += 1
        if card.is_rest:
            is_shown = file in has_rest
        else:
            is_shown = counts[file] <= RECORDS or _record_key(card, key) in ledger.ids_by_key
        if is_shown:
            yield card, key
        else:
            has_rest.add(file)


def _record_key(card: RecordCard, key: str) -> tuple[Kind, str]:
    return "record", identity_key(card.file.source, card.system, key, card.file.path)


def _plain(card: RecordCard) -> str:
    return f"{card.file.source}.{card.key}"


def record_collisions(filed: Iterable[Filed]) -> Iterator[Finding]:
    """A finding on each record that has another's name; two nodes of one store already have one."""
    by_name: dict[str, list[Filed]] = defaultdict(list)
    for one in filed:
        if isinstance(one.fact, RecordCard):
            by_name[make_id(_plain(one.fact)).casefold()].append(one)
    for name, rivals in sorted(by_name.items()):
        first, *others = sorted(rivals, key=lambda one: (one.ref[1].casefold() != name, one.ref))
        stores = {_store(first)} - {None}
        for other in others:
            store = _store(other)
            if store in stores:
                continue
            stores.add(store)
            file, known = other.files[0], first.files[0]
            message = f"the name is also that of a record in {known.source}/{known.path}"
            yield Finding(
                rule=rules.ID_COLLISION, location=Location(source=file.source, path=file.path), message=message
            )


def _store(filed: Filed) -> tuple[str, str] | None:
    """The source and the folder of the store that a record is in, if its system compares the records of a store."""
    card = filed.fact
    if not isinstance(card, RecordCard) or system_of(card).join is None:
        return None
    return filed.files[0].source, home_of(filed.files[0].path)


def body_path(card: RecordCard) -> str | None:
    """The path of the file that holds a record's text, in its source; None if that is the record's own file."""
    return f"{home_of(card.file.path)}/{card.body_path}" if card.body_path and card.text else None


def _ids(kind: Kind, wanted: Mapping[str, str], ledger: Ledger) -> dict[str, str]:
    """An id for each key: its published one, else the wanted one if it is free, else with a hash."""
    known = ledger.ids_by_key
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
