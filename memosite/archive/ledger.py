"""[I/O] The ledger: an append-only file of the published site that keeps URLs and ids stable.

It holds, a JSON object a line, every artifact in its order of arrival with the id it was given, and every thread
and position that ever had a page. It outlives the cache, so that URLs, feed ids and the order of arrival never
change (SPEC 1, 3, 4 and 10). It holds no path, no mailbox and no time of a clock. Lines once written stay as they
are, byte for byte; new lines are appended.

- `{"v": 1, "n": 12, "kind": "memo", "id": "…", "key": "…"}`: artifact number 12; `key` keeps two artifacts of one
  name apart: 16 hex of SHA-256(stem NUL from NUL to NUL sent). The same line again with another key says that the
  artifact was edited and now has that key.
- `{"v": 1, "kind": "thread", "id": "…", "member": "memo/…"}`: a thread's page, and a member by which to find it
  again should its id change.
- `{"v": 1, "kind": "position", "id": "…"}`: a position's page and feed. Likewise `entity` and `ghost`, which have no
  feed; `name`, another name of a position, under which its feed is found, too; `changes`, the page of what was
  edited of an artifact; `captures`, the page that compares captures of a session; `month`; `week`; `digest`, a day or
  week with news; `saved`, a saved search by its name; `sessions`, the list of those of a source; and of a site with
  `lean: true`, `bundle`, the first of them after `lean`.
- `{"v": 1, "kind": "alias", "id": "memo/…", "to": "document/…"}`: what the address of a ghost leads to that turned out
  to be something else. Of several lines on one ghost the last counts.
- `{"v": 1, "kind": "block", "id": "positions/…/feed", "n": 2, "items": [51, …]}`: the second full archive document
  of a feed, with the numbers of its items: its items and their order never change (FEEDS, window).

The line of a record names its `system`, too, which is a part of its address. The ledger of a site for another audience
than `internal` begins with `{"v": 1, "kind": "audience", "id": "public"}`: it knows only what that may see.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

from memosite.facts.characters import expect_text
from memosite.facts.errors import OutputError
from memosite.facts.parsed import Kind, Ref
from memosite.facts.patterns import regex
from memosite.facts.values import Value, replace
from memosite.store.safe_files import read_file

LEDGER_PATH = "archive/ledger.jsonl"
LEAN = ("lean", "bundles")
"""In `others`: twins and originals are bundled by month (SPEC 4)."""
NUMBERS = 2**53
"""Artifacts are numbered below this: JSON's readers have no larger whole numbers (RFC 8259, 6)."""
FOLDER_BYTES = 240
"""The longest id that a ledger may hold, in bytes: an id of 200, and what tells it from a rival."""
_BUNDLE = regex(r"(\d{4}/(0[1-9]|1[0-2])|undated)/[1-9]\d{0,8}", re.ASCII)
_KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}


class Arrival(Value):
    """An artifact in the ledger. `number` counts from 1, in order of arrival; only records have a system."""

    number: int
    kind: Kind
    id: str
    key: str
    system: str = ""

    @property
    def ref(self) -> Ref:
        """The artifact's name in the archive."""
        return (self.kind, self.id)


class FeedBlock(Value):
    """A full archive document of a feed: the feed's path without extension, which one it is, numbers of arrivals."""

    feed: str
    number: int
    items: tuple[int, ...]


class Ledger(Value, dict=True, apart=("published", "counts")):
    """What earlier builds published.

    `arrivals` hold each artifact once, in order of arrival, with its first key; `renewals` the keys it was given
    since. `threads` maps a thread's id to a member of it. `others` are further pages that were published: ghosts
    (`("ghost", "memo/<id>")`), other names of positions (`("name", "<id>")`), pages of changes (`("changes",
    "memo/<id>")`) and of captures (`("captures", "transcript/<id>")`), months (`("month", "2026/05")`), weeks
    (`("week", "2026-W22")`), digests (`("digest", "<day>")`), saved searches (`("saved", "<name>")`) and bundles
    (`("bundle", "2026/05/1")`); `LEAN` says that twins and originals are published in these alone. `entities` are those
    that records name, `blocks` the full archive documents of feeds, `aliases` what former ghosts lead to. `published`
    are the lines as they were read, with the numbers of arrivals, renewals, threads, positions, others, entities,
    blocks and aliases that they hold.
    """

    arrivals: tuple[Arrival, ...] = ()
    threads: tuple[tuple[str, Ref], ...] = ()
    positions: tuple[str, ...] = ()
    renewals: tuple[Arrival, ...] = ()
    others: tuple[tuple[str, str], ...] = ()
    entities: tuple[str, ...] = ()
    blocks: tuple[FeedBlock, ...] = ()
    aliases: tuple[tuple[str, Ref], ...] = ()
    audience: str = "internal"
    published: str = ""
    counts: tuple[int, ...] = (0,) * 8

    @cached_property
    def ids_by_key(self) -> Mapping[tuple[Kind, str], str]:
        """The id that was given to an artifact, by its kind and key."""
        return {(known.kind, known.key): known.id for known in (*self.arrivals, *self.renewals)}

    @cached_property
    def keys_by_ref(self) -> Mapping[Ref, str]:
        """The last key of each artifact."""
        return {known.ref: known.key for known in (*self.arrivals, *self.renewals)}

    @cached_property
    def published_ids(self) -> Mapping[tuple[Kind, str], str]:
        """Published ids by their kind and case-folded form; of two ids with one form the first."""
        return {(known.kind, known.id.casefold()): known.id for known in reversed(self.arrivals)}

    @cached_property
    def numbers(self) -> Mapping[Ref, int]:
        """The number of each artifact in the order of arrival."""
        return {arrival.ref: arrival.number for arrival in self.arrivals}

    @cached_property
    def ghosts(self) -> tuple[Ref, ...]:
        """The ghosts that had a page, also those whose memo was found since."""
        return tuple(page_ref(id_) for kind, id_ in self.others if kind == "ghost")

    @property
    def is_lean(self) -> bool:
        """Whether twins and originals are published in bundles alone."""
        return LEAN in self.others

    @cached_property
    def position_ids(self) -> frozenset[str]:
        """The ids of positions that had a page."""
        return frozenset(self.positions)

    def with_arrivals(self, found: Iterable[tuple[Kind, str, str]]) -> "Ledger":
        """The ledger with these artifacts (kind, id, key): the new ones numbered in this order, new keys noted.

        Raises `OutputError` if there is no number left, as with a forged ledger.
        """
        numbers, keys = dict(self.numbers), dict(self.keys_by_ref)
        following = max(numbers.values(), default=0) + 1
        arrivals, renewals = [], []
        for kind, id_, key in found:
            ref = (kind, id_)
            if keys.get(ref) == key:
                continue
            keys[ref] = key
            if ref in numbers:
                renewals.append(Arrival(number=numbers[ref], kind=kind, id=id_, key=key))
            else:
                numbers[ref] = following
                arrivals.append(Arrival(number=following, kind=kind, id=id_, key=key))
                following += 1
        if following > NUMBERS:
            raise OutputError(
                f"{LEDGER_PATH}: its items are numbered up to {following - 1}, expected less than {NUMBERS}; "
                "restore it from a backup, or go on from another --previous"
            )
        return replace(self, arrivals=self.arrivals + tuple(arrivals), renewals=self.renewals + tuple(renewals))

    def with_pages(
        self, threads: Iterable[tuple[str, Ref]], positions: Iterable[str], others: Iterable[tuple[str, str]] = ()
    ) -> "Ledger":
        """The ledger with new threads, positions and other pages appended, in order of id."""
        known, seen = {id_ for id_, _ in self.threads}, set(self.positions)
        return replace(
            self,
            threads=self.threads + tuple(sorted(entry for entry in threads if entry[0] not in known)),
            positions=self.positions + tuple(sorted(id_ for id_ in positions if id_ not in seen)),
            others=self.others + tuple(sorted(set(others) - set(self.others))),
        )

    def with_records(self, systems: Mapping[Ref, str], entities: Iterable[str]) -> "Ledger":
        """The ledger with the system of each record that had none yet, and the new entities, in order of id."""
        seen = set(self.entities)
        return replace(
            self,
            arrivals=tuple(
                replace(known, system=systems[known.ref]) if not known.system and known.ref in systems else known
                for known in self.arrivals
            ),
            entities=self.entities + tuple(sorted(id_ for id_ in entities if id_ not in seen)),
        )

    def with_aliases(self, aliases: Iterable[tuple[str, Ref]]) -> "Ledger":
        """The ledger with what former ghosts lead to, where it does not say so already, in order of id."""
        known = dict(self.aliases)
        new = sorted((id_, ref) for id_, ref in aliases if known.get(id_) != ref)
        return replace(self, aliases=(*self.aliases, *new))

    def with_feeds(self, blocks: Iterable[FeedBlock], digests: Iterable[str]) -> "Ledger":
        """The ledger with the archive documents that became full, in the order given, and the digests it lacked."""
        others = {("digest", id_) for id_ in digests} - set(self.others)
        return replace(self, blocks=self.blocks + tuple(blocks), others=self.others + tuple(sorted(others)))

    def not_in(self, other: "Ledger") -> tuple[Ref, ...]:
        """The artifacts that another ledger does not know."""
        return tuple(arrival.ref for arrival in self.arrivals if arrival.ref not in other.numbers)

    def to_jsonl(self) -> str:
        """The ledger as it is published: the old lines, then the new ones."""
        arrivals, renewals, threads, positions, others, entities, blocks, aliases = self.counts
        lines: list[dict[str, object]] = []
        if not self.published and self.audience != "internal":
            lines.append({"v": 1, "kind": "audience", "id": self.audience})
        for known in (*self.arrivals[arrivals:], *self.renewals[renewals:]):
            line: dict[str, object] = {"v": 1, "n": known.number, "kind": known.kind, "id": known.id, "key": known.key}
            lines.append(line | {"system": known.system} if known.system else line)
        lines += [{"v": 1, "kind": "thread", "id": i, "member": "/".join(ref)} for i, ref in self.threads[threads:]]
        lines += [{"v": 1, "kind": "position", "id": id_} for id_ in self.positions[positions:]]
        lines += [{"v": 1, "kind": kind, "id": id_} for kind, id_ in self.others[others:]]
        lines += [{"v": 1, "kind": "entity", "id": id_} for id_ in self.entities[entities:]]
        lines += [
            {"v": 1, "kind": "block", "id": block.feed, "n": block.number, "items": block.items}
            for block in self.blocks[blocks:]
        ]
        lines += [{"v": 1, "kind": "alias", "id": i, "to": "/".join(ref)} for i, ref in self.aliases[aliases:]]
        return self.published + "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def identity_key(stem: str, sender: str, to: str, sent: str) -> str:
    """The key that distinguishes two artifacts of one name: 16 hex digits, made of these four only."""
    return hashlib.sha256("\0".join((stem, sender, to, sent)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_ledger(output: Path, known: Ledger | None = None) -> Ledger:
    """Read the ledger of a published site; an empty one if there is none yet. The `known` part is not read again.

    A line that cannot be read is an `OutputError`: going on without it would give URLs a new meaning.
    """
    path = output / LEDGER_PATH
    try:
        text = read_file(path).decode("utf-8")
    except FileNotFoundError:
        return Ledger()
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"{path}: the ledger cannot be read ({error}); restore it from a backup") from error
    return parse_ledger(text, name=str(path), known=known)


def parse_ledger(text: str, *, name: str, known: Ledger | None = None) -> Ledger:
    """Read a ledger's text; `name` is what errors call it. If it begins with a `known` one, only the rest is read."""
    begun = known if known is not None and known.published and text.startswith(known.published) else Ledger()
    lines = _Lines(begun)
    first = begun.published.count("\n") + 1
    for number, line in enumerate(text[len(begun.published) :].split("\n"), first):
        if not line.strip():
            continue
        try:
            lines.add(json.loads(line))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise OutputError(
                f"{name}:{number}: the ledger is damaged here; expected one JSON object with kind and id. "
                "Restore it from a backup: without it, published URLs would change their meaning"
            ) from error
    return lines.ledger(text if not text or text.endswith("\n") else text + "\n")


class _Lines:
    """The entries of a ledger, by kind. Of a line that occurs twice the first counts."""

    def __init__(self, ledger: Ledger) -> None:
        """Begin with those of this one."""
        self.arrivals = {known.ref: known for known in ledger.arrivals}
        self.renewals = list(ledger.renewals)
        self.threads = dict(ledger.threads)
        self.positions = dict.fromkeys(ledger.positions)
        self.others = dict.fromkeys(ledger.others)
        self.entities = dict.fromkeys(ledger.entities)
        self.blocks = list(ledger.blocks)
        self.aliases = list(ledger.aliases)
        self.audience = ledger.audience

    def add(self, entry: Any) -> None:
        """Add one line. Raises `ValueError`, `KeyError` or `TypeError` for one that does not belong in a ledger."""
        kind = expect_text(entry["kind"])
        id_ = expect_text(entry["id"])
        _check_page(kind, id_)
        if kind == "audience":
            self.audience = id_
        elif kind == "thread":
            self.threads.setdefault(id_, ref_of(expect_text(entry["member"])))
        elif kind == "alias":
            self.aliases.append((id_, ref_of(expect_text(entry["to"]))))
        elif kind == "position":
            self.positions[id_] = None
        elif kind == "block":
            items = tuple(map(_number, entry["items"]))
            self.blocks.append(FeedBlock(feed=id_, number=_number(entry["n"]), items=items))
        elif kind in {
            "ghost",
            "name",
            "changes",
            "captures",
            "month",
            "digest",
            "week",
            "saved",
            "sessions",
            "lean",
            "bundle",
        }:
            self.others[kind, id_] = None
        elif kind == "entity":
            self.entities[id_] = None
        else:
            known = _arrival(entry, _KINDS[kind], id_)
            if self.arrivals.setdefault(known.ref, known) is not known:
                self.renewals.append(known)

    def ledger(self, published: str) -> Ledger:
        """The ledger of these lines."""
        parts = (
            self.arrivals, self.renewals, self.threads, self.positions, self.others, self.entities, self.blocks,
            self.aliases,
        )  # fmt: skip
        return Ledger(
            arrivals=tuple(sorted(self.arrivals.values(), key=lambda arrival: arrival.number)),
            renewals=tuple(self.renewals),
            threads=tuple(self.threads.items()),
            positions=tuple(self.positions),
            published=published,
            others=tuple(self.others),
            entities=tuple(self.entities),
            blocks=tuple(self.blocks),
            aliases=tuple(self.aliases),
            audience=self.audience,
            counts=tuple(map(len, parts)),
        )


def _arrival(entry: Any, kind: Kind, id_: str) -> Arrival:
    system = expect_text(entry.get("system", ""))
    if system:
        _check_folder(system)
    return Arrival(number=_number(entry["n"]), kind=kind, id=id_, key=expect_text(entry["key"]), system=system)


def page_ref(name: str) -> Ref:
    """The memo or note that the ledger calls `memo/<id>` or `note/<id>`."""
    return ("note" if name.startswith("note/") else "memo", name.partition("/")[2])


def ref_of(name: str) -> Ref:
    """The artifact that the ledger calls `<kind>/<id>`. Raises `KeyError` for another kind."""
    kind, _, id_ = name.partition("/")
    return (_KINDS[kind], id_)


def _number(value: object) -> int:
    if not isinstance(value, int) or not 0 < value < NUMBERS:
        raise ValueError(f"found {value!r}, expected a number")
    return value


def _check_page(kind: str, id_: str) -> None:
    """Refuse an id that cannot be a page or feed of its kind."""
    if kind == "month":
        if not re.fullmatch(r"\d{4}/\d{2}|undated", id_, re.ASCII):
            raise ValueError(f"found {id_!r}, expected a month such as 2026/05")
    elif kind == "bundle":
        if not _BUNDLE.fullmatch(id_):
            raise ValueError(f"found {id_!r}, expected a bundle such as 2026/05/1")
    elif kind == "block":
        for part in id_.split("/"):
            _check_folder(part)
    else:
        _check_folder(id_.partition("/")[2] if kind in {"ghost", "changes", "captures", "alias"} else id_)


def _check_folder(id_: str) -> None:
    """Refuse an id that is no folder of the site: the output is untrusted."""
    is_odd = not id_ or id_.startswith(".") or not id_.isprintable() or any(char in id_ for char in '/\\:*?"<>|')
    if is_odd or len(id_.encode("utf-8")) > FOLDER_BYTES:
        raise ValueError(f"found {id_!r}, expected an id")
