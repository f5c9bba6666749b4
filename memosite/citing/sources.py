"""What citations are made of and verified by: items by their names, from repos or from a published site."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from urllib.parse import unquote, urlsplit

from memosite.archive.urls import FOLDERS
from memosite.citing.item import Item, Place
from memosite.facts.errors import ConfigError
from memosite.quotes.index import QuoteIndex, letters_of

_KIND_OF = {folder: kind for kind, folder in FOLDERS.items()}
_PAGE = re.compile(rf"(?:^|/)(?:(?P<folder>{'|'.join(_KIND_OF)})|records/[^/]+)/(?P<id>[^/#]+)")
_SHOWN = 5
_CANDIDATES = 50


class Sources(ABC):
    """Items by their names, `<kind>/<id>`."""

    base_url: str = ""
    """Where the site is published, "" if that is not known."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """The names of all items, the oldest first."""

    def has(self, name: str) -> bool:
        """Whether there is an item of this name."""
        return name in self.names

    @abstractmethod
    def item(self, name: str) -> Item:
        """The item of a name that is in `names`."""

    @abstractmethod
    def former(self, item: Item) -> Iterator[Item]:
        """Former versions of an item, the newest first, each with the commit that made it."""

    def missing(self, name: str) -> str:  # noqa: ARG002 - others know
        """Why there is nothing of a name that is not in `names`; "" if that is not known."""
        return ""

    def removed(self, name: str) -> Item | None:  # noqa: ARG002 - others know
        """An item without bodies for what is in no source any more, but has former versions; None if there is none."""
        return None

    def commit_of(self, item: Item, place: Place | None) -> str:  # noqa: ARG002 - others know
        """The commit that gave the file of a place its content; "" if that is not known."""
        return ""

    def originals(self, item: Item) -> Iterator[tuple[str, bytes]]:  # noqa: ARG002 - others know
        """The originals of an item: their paths in the published site, and their bytes."""
        return iter(())

    def seals(self) -> str:
        """The sealed log of the published site, "" if there is none."""
        return ""

    @property
    def positions(self) -> Mapping[str, str]:
        """From the names of positions to their ids."""
        return {}

    def find(self, written: str, *, is_exact: bool = False) -> tuple[str, str]:
        """The name of the item and the anchor that a reference means: a name, the beginning of an id, or an address.

        If it has to be exact, only whole names and ids count.
        Raises `ConfigError` if it means nothing, or several items.
        """
        said, _, anchor = written.partition("#")
        anchor = unquote(anchor).partition(":~:")[0]
        page = _PAGE.search(unquote(urlsplit(said).path)) if "/" in said and not self._is_name(said) else None
        if page:
            said = f"{_KIND_OF[page['folder']] if page['folder'] else 'record'}/{page['id']}"
        return self._named(said.strip("/"), written, is_exact=is_exact), anchor

    def _is_name(self, said: str) -> bool:
        return said.partition("/")[0] in {*FOLDERS, "record"} and said.count("/") == 1

    def _named(self, said: str, written: str, *, is_exact: bool) -> str:
        if self.has(said):
            return said
        names = self.names
        folded = said.casefold()
        ids = {name: name.casefold().partition("/")[2] for name in names}
        same = [name for name in names if folded in (name.casefold(), ids[name])]
        begun = [name for name in names if name.casefold().startswith(folded) or ids[name].startswith(folded)]
        held = [name for name in names if folded in name.casefold()]
        for found in (same,) if is_exact else (same, begun, held):
            if len(found) == 1:
                return found[0]
            if found and said:
                listed = ", ".join(found[:_SHOWN]) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
                raise ConfigError(f"{written}: found {len(found)} items of that name: {listed}; write more of the id")
        if why := self.missing(said):
            raise ConfigError(f"{written}: {why}")
        near = nearest(said, names)
        raise ConfigError(
            f"{written}: found no item of that name, expected an id of the archive, such as {near}"
            if near
            else f"{written}: found no item at all; is this the folder of a site? Name it with --site"
        )

    def holders(self, quotes: Sequence[str]) -> list[list[Item]]:
        """For each quote the items that may hold it, the oldest first."""
        index = self.index_for(quotes)
        order = {name: number for number, (name, _) in enumerate(index.rows)}
        found = index.find(quotes, limit=_CANDIDATES)
        return [
            [self.item(name) for name in sorted({one.key[0] for one in some}, key=order.__getitem__)] for some in found
        ]

    def index_for(self, quotes: Sequence[str]) -> "QuoteIndex[tuple[str, int]]":
        """The bodies that may hold these quotes, by the name of their item and their number in it."""
        kept = self.items_with(letters_of(quotes))
        return QuoteIndex.of(((item.ref, at), body.text) for item in kept for at, body in enumerate(item.bodies))

    def items_with(self, may_have: Callable[[str], bool]) -> Iterator[Item]:
        """The items with a body of which this is true, the oldest first."""
        for item in map(self.item, self.names):
            if any(may_have(body.text) for body in item.bodies):
                yield item


def nearest(said: str, names: Sequence[str]) -> str:
    """The name that is most like another one, "" if there are none at all."""
    ids = {name.partition("/")[2]: name for name in names}
    close = get_close_matches(said.rpartition("/")[2], ids, n=1, cutoff=0.0)
    return ids[close[0]] if close else ""
