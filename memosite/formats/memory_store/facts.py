"""Values read from a memory-store's files other than nodes: configuration, relations, events, bodies."""

from dataclasses import dataclass, replace
from typing import Self

from memosite.facts.contents import NOTHING_SAID
from memosite.facts.parsed import RecordEvent, RecordPart, Relation, Text
from memosite.facts.times import Moment
from memosite.facts.withheld import Withheld


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreConfig(RecordPart):
    """`config.json` of a memory-store: what makes its folder a store. `marker` is the commit of sync-state.json.

    `others` are the remaining settings as labels and values to be shown.
    """

    project: str
    name: str
    version: int
    marker: str | None = None
    others: tuple[tuple[str, str], ...] = ()

    def without_content(self, withheld: Withheld) -> Self:
        """What makes its folder a store."""
        return replace(self, name="", marker=None, others=(), withheld=withheld)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRelation(RecordPart):
    """A relation of a memory-store, with a content hash of its own."""

    id: str
    sender: str
    relation: Relation
    created: Moment | None = None
    hash_written: str | None = None
    hashed: bytes = b""

    def without_content(self, withheld: Withheld) -> Self:
        """The two nodes, and how they are related."""
        relation = Relation(predicate=self.relation.predicate, target=self.relation.target)
        return replace(self, relation=relation, created=None, hash_written=None, hashed=b"", withheld=withheld)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreEvents(RecordPart):
    """`events.jsonl` of a memory-store."""

    events: tuple[RecordEvent, ...]

    def without_content(self, withheld: Withheld) -> Self:
        """No event."""
        return replace(self, events=(), withheld=withheld)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreBody(RecordPart):
    """A Markdown file below a memory-store; its text (LF, no byte-order mark) is what content hashes are made over."""

    text: Text

    def without_content(self, withheld: Withheld) -> Self:
        """The file alone."""
        return replace(self, text=NOTHING_SAID, withheld=withheld)
