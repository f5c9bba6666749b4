"""What citations are made of and verified by: items by their names, from repos or from a published site."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from memosite.archive.named import Named
from memosite.citing.item import Item, Place
from memosite.quotes.index import QuoteIndex, letters_of, words_of

_CANDIDATES = 50


class Sources(Named):
    """Items by their names, `<kind>/<id>`."""

    base_url: str = ""
    """Where the site is published, "" if that is not known."""

    other_hash: str = "its hash is of no version that is known"
    """What is said of a citation whose words are there, and whose hash is of nothing that is known."""

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
        index = self.index_for(quotes)
        order = {name: number for number, (name, _) in enumerate(index.rows)}
        found = index.find(quotes, limit=_CANDIDATES)
        return [
            [self.item(name) for name in sorted({one.key[0] for one in some}, key=order.__getitem__)] for some in found
        ]

    def with_words(self, quote: str) -> list[Item]:
        """The oldest items that may hold a quote of fewer words than an index finds: all texts are read."""
        return list(islice(self.items_with(words_of(quote)), _CANDIDATES))

    def index_for(self, quotes: Sequence[str]) -> "QuoteIndex[tuple[str, int]]":
        """The bodies that may hold these quotes, by the name of their item and their number in it."""
        kept = self.items_with(letters_of(quotes))
        return QuoteIndex.of(((item.ref, at), body.text) for item in kept for at, body in enumerate(item.bodies))

    def items_with(self, may_have: Callable[[str], bool]) -> Iterator[Item]:
        """The items with a body of which this is true, the oldest first."""
        for item in map(self.item, self.names):
            if any(may_have(body.text) for body in item.bodies):
                yield item
