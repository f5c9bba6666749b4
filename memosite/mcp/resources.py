"""The resources that models are offered: positions, threads and memos, by addresses of their own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final
from urllib.parse import quote, unquote

from memosite.agents.items import day_and_time, who_of
from memosite.archive.model import Archive
from memosite.facts.errors import ConfigError
from memosite.facts.parsed import Ref
from memosite.facts.texts import cut_line
from memosite.mcp.tools import Request

PAGE: Final = 100
"""How many resources are listed at once."""

SCHEME: Final = "memosite://"
TEMPLATES: Final = (
    ("position", "What a position has to know and to do: its brief"),
    ("thread", "The memos of a thread in reading order, with their summaries"),
    ("memo", "A memo: who wrote it to whom, its state, its text"),
)
"""The kinds of resources, and what each of them is."""

_COMMANDS: Final = {"position": ("brief",), "thread": ("thread", "--brief"), "memo": ("show",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A resource in a list."""

    address: str
    title: str
    what: str


def listed(archive: Archive, cursor: str | None) -> tuple[Sequence[Listed], str | None]:
    """The resources after one, or from the beginning, and the last of them if there are more.

    Positions come first, then threads, then memos, the newest first. Raises `ConfigError` if the one is not there.
    """
    names = _names(archive)
    if cursor is not None and not any(address_of(*name) == cursor for name in names):
        raise ConfigError(
            f"{cursor[:200]}: found no such resource any more, expected a cursor of this list; begin anew"
        )
    page = list(islice(names, PAGE + 1))
    more = address_of(*page[PAGE - 1]) if len(page) > PAGE else None
    return [_listed(archive, *name) for name in page[:PAGE]], more


def _names(archive: Archive) -> Iterator[tuple[str, str]]:
    """The kinds and ids of all resources; no more than these is loaded of an archive that is kept."""
    yield from (("position", id_) for id_, one in archive.positions.items() if not one.union_of)
    yield from (("thread", id_) for id_ in reversed(tuple(archive.threads)))
    yield from (("memo", id_) for kind, id_ in reversed(tuple(archive.artifacts)) if kind == "memo")


def address_of(kind: str, id_: str) -> str:
    """The address of a resource."""
    return f"{SCHEME}{kind}/{quote(id_, safe='~')}"


def _listed(archive: Archive, kind: str, id_: str) -> Listed:
    address = address_of(kind, id_)
    if kind == "position":
        position = archive.positions[id_]
        return Listed(address=address, title=cut_line(position.name, 100), what=f"position {id_}")
    if kind == "thread":
        count = len(archive.threads[id_].entries)
        return Listed(address=address, title=archive.thread_label(id_), what=f"thread of {count}")
    ref: Ref = ("memo", id_)
    memo = archive.artifacts[ref]
    return Listed(address=address, title=memo.short_subject, what=f"memo, {day_and_time(memo.date)}, {who_of(memo)}")


def request_of(address: str) -> Request:
    """The command that shows a resource. Raises `ConfigError`."""
    kind, _, id_ = address.removeprefix(SCHEME).partition("/")
    if not address.startswith(SCHEME) or kind not in _COMMANDS or not id_:
        forms = ", ".join(f"{SCHEME}{kind}/ID" for kind in _COMMANDS)
        raise ConfigError(f"{address[:200]}: found no such resource, expected one of {forms}")
    name = unquote(id_)
    return Request(words=(*_COMMANDS[kind], "--", f"memo/{name}" if kind == "memo" else name))
