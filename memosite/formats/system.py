"""The interface of a record system, as one value: where its files are, and what its records mean.

Each system is a folder beside this module that exports such a value, and one line in `formats/systems.py`. Nothing
outside its folder knows its name. Parsers are imported only when a file is read, since sources are also discovered,
listed and compared by commands that read nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Protocol

from memosite.facts.file import File
from memosite.facts.findings import Finding, Rule
from memosite.facts.names import RecordEntry
from memosite.facts.parsed import FileFacts, LineOf, Parsed, RecordCard, RecordEvent
from memosite.facts.texts import IdForm
from memosite.facts.values import Value, field

DataOf = Callable[[FileFacts], bytes | None]
"""The bytes of a file as they were read, None if they are not kept."""

FilePlace = tuple[str, str]
"""A source and a path in it."""

GroupOrder = tuple[int, int, str]
"""The place of a group among the groups of its system."""


class JoinedRecords(Value):
    """Records that were joined from the parts of several files.

    `history` holds the recorded events by the source and path of a record's file, oldest first, what has no date last.
    `beside` gives, likewise, the other files whose findings concern a record. `findings` are all that are to be
    reported on the system's files, those of single files included.
    """

    records: tuple[RecordCard, ...] = ()
    history: Mapping[FilePlace, tuple[RecordEvent, ...]] = field(default_factory=dict)
    beside: Mapping[FilePlace, tuple[FilePlace, ...]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


class Join(Protocol):
    """Joins the parts of one system's records (see `Adapter.join`)."""

    def __call__(self, parsed: Sequence[Parsed], line_of: LineOf, data_of: DataOf, *, is_loose: bool) -> JoinedRecords:
        """Join the results of the system's files, sorted by source and path; any other file is ignored.

        Files without a fact and without a finding are those at the system's places that no adapter matched. With
        `is_loose`, for checking single files, rules that need all files are not applied (SPEC 8).
        """


class Adapter(Value, kw_only=False):
    """How files of one format are recognized, by their shape, and parsed, which never raises for content.

    Of a record system also: `join` makes records of several files; without it, each file's records are whole. `split`
    gives the entries of a list file, without all that a record has: git knows thousands of versions of one. Without
    it, they are made of the records.
    """

    matches: Callable[[File], bool]
    parse: Callable[[File], Parsed]
    join: Join | None = None
    split: Callable[[File], Iterable[RecordEntry]] | None = None


def _nowhere(*_: object) -> None:
    """The `home`, `root` and `store_in` of a system without places of its own."""


def _never(_: object) -> bool:
    return False


def _none(_: object) -> tuple[()]:
    return ()


class RecordSystem(Value):
    """One record system. Paths are relative to a source, with `/`; functions of a path depend on it alone.

    `parser` is the name of the module with its `ADAPTER`; `ids` are the forms of its ids, by which texts are searched.

    Where files are:
    - `endings` are those of the names of its files. Of a file with one of them `owns` decides whether it belongs to
      the system by its place; None if the place does not decide.
    - `home` is the folder of the store that a file is in, None outside; `root` the folder that paths in records start
      from.
    - `store_in` tells discovery whether a folder, given as parts and the names of its files, is a store: the number of
      parts that lead to what holds the store. `store_names` are names of folders that are a store by themselves.
    - `suffix` marks the names of its files anywhere; `begins` recognizes its Markdown by a file's first bytes.
    - `together` are the paths of further files that one is to be checked with.
    - `key_at` is the key of a record by the path of its file, if it has no other; then another name is another key.
    - `older` are the paths at which the system kept a file before it moved to this one.
    - `is_list` is whether what was at a path, and is removed, was a list file: one whose records are its entries.
    - `foreign` describes a file at the system's place that holds none of its records.

    What records mean:
    - `lost_reference` is the rule for a broken reference at `reference_key`; without it there is no finding.
    - `is_bound_in_store`: relations lead to records of the same store only. `has_titles`: a title names its record.
      `has_stems`: the stem of a file's name does. `uri_prefix` may precede an id. `has_short_sessions`: it names
      sessions by fewer than 8 digits of their ids.
    - `rank` sorts records of one name: references mean the smallest.
    - `inverse` names a predicate from its other end; `predicate_mark` is what separates the words of one.
    - `is_decision` and `is_rejected` classify a record; `group` sorts it on the system's page.
    """

    name: str
    intro: str
    rules: tuple[Rule, ...]
    ids: tuple[IdForm, ...]
    endings: tuple[str, ...]
    parser: str
    owns: Callable[[str], bool | None]
    foreign: Callable[[str], str]
    group: Callable[[RecordCard], tuple[GroupOrder, str]]
    is_decision: Callable[[RecordCard], bool]
    is_rejected: Callable[[RecordCard], bool] = _never
    home: Callable[[str], str | None] = _nowhere
    root: Callable[[str], str | None] = _nowhere
    store_in: Callable[[Sequence[str], Sequence[str]], int | None] = _nowhere
    store_names: tuple[str, ...] = ()
    suffix: str = ""
    begins: Callable[[bytes], bool] = _never
    together: Callable[[str], tuple[str, ...]] = _none
    key_at: Callable[[str], str | None] = _nowhere
    older: Callable[[str], tuple[str, ...]] = _none
    is_list: Callable[[str], bool] = _never
    lost_reference: Rule | None = None
    reference_key: str = ""
    is_bound_in_store: bool = False
    has_titles: bool = False
    has_stems: bool = True
    uri_prefix: str = ""
    has_short_sessions: bool = False
    rank: Callable[[str], tuple[bool, ...]] = _none
    inverse: Mapping[str, str] = field(default_factory=dict)
    predicate_mark: str = " "

    @property
    def adapter(self) -> Adapter:
        """How its files are parsed; its parser is imported now."""
        adapter: Adapter = import_module(self.parser).ADAPTER
        return adapter

    @property
    def join(self) -> Join | None:
        """What makes records of several of its files, None if each file's records are whole."""
        return self.adapter.join

    def status(self, card: RecordCard) -> str:
        """The status of a record, "" if it has none."""
        return card.status or ("rejected" if self.is_rejected(card) else "")

    def spell(self, words: str) -> str:
        """A predicate, given as words, as the system writes it."""
        return words.replace(" ", self.predicate_mark)

    def inverse_of(self, predicate: str) -> str:
        """A predicate as seen from its other end. One without an inverse is worded as the other record's."""
        words = predicate.replace("_", " ").replace("-", " ").casefold()
        return self.inverse.get(self.spell(words)) or f"{words}, said by"


def capitalized(words: str) -> str:
    """A type or a section as a heading."""
    return words[:1].upper() + words[1:] if words.strip() else "No type"


def and_others(count: int, folder: str) -> str:
    """How a note on one file goes on to tell of others in the same folder; "" if there are none."""
    files = "another file" if count == 1 else f"{count} other files"
    return f"; so {'is' if count == 1 else 'are'} {files} in {folder or '.'}/" if count else ""


def rank_in(order: Sequence[str], name: str) -> int:
    """The index of a name in an order; names not in it come last."""
    return order.index(name) if name in order else len(order)
