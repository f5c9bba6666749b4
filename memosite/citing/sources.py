"""What citations are made of and verified by: items by their names, from repos or from a published site."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from memosite.archive.named import Named
from memosite.citing.item import Item, Place
from memosite.quotes.index import QuoteIndex

_CANDIDATES = 50


class Sources(Named):
    """Items by their names, `<kind>/<id>`."""

    base_url: str = ""
    """Where the site is published, "" if that is not known."""

    @abstractmethod
    def item(self, name: str) -> Item:
        """The item of a name that is in `names`."""

    @abstractmethod
    def former(self, item: Item) -> Iterator[Item]:
        """Former versions of an item, the newest first, each with the commit that made it."""

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

    def holders(self, quotes: Sequence[str]) -> list[list[Item]]:
        """For each quote the items that may hold it, the oldest first."""
        order = {name: number for number, name in enumerate(self.names)}
        kept = {name: self.item(name) for name in self.names}
        texts = (((name, at), body.text) for name, item in kept.items() for at, body in enumerate(item.bodies))
        index = QuoteIndex.of(texts)
        found = index.find(quotes, limit=_CANDIDATES)
        return [[kept[name] for name in sorted({one.key[0] for one in some}, key=order.__getitem__)] for some in found]
