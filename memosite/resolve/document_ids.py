"""Finds documents by the ids that their frontmatter gives them (SPEC 2.2)."""

from collections import defaultdict
from collections.abc import Iterable

from memosite.facts.parsed import DocumentHead, Ref
from memosite.formats.systems import without_prefix
from memosite.resolve.filed import Filed


class DocumentIds:
    """Documents by their own ids, which several may have."""

    def __init__(self, documents: Iterable[Filed]) -> None:
        """Index the documents that have an id."""
        self._by_id: dict[str, list[tuple[str, Ref]]] = defaultdict(list)
        for one in documents:
            if isinstance(one.fact, DocumentHead) and one.fact.key:
                self._by_id[without_prefix(one.fact.key)].append((one.fact.file.source, one.ref))

    def find(self, name: str, source: str) -> Ref | None:
        """The document of this id: the only one of the source, else the only one that there is."""
        found = self._by_id.get(without_prefix(name.strip()), [])
        own = [ref for home, ref in found if home == source]
        fitting = own or [ref for _, ref in found]
        return fitting[0] if len(fitting) == 1 else None
