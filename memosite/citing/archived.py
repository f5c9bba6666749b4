"""Items of an archive, each made when it is first asked for; none has former versions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from memosite.archive.cited import cite_whole, participants
from memosite.archive.lines import all_texts, is_broken, shown_file
from memosite.archive.model import UNDATED, Archive, Artifact, Memo, Transcript
from memosite.archive.named import position_names, what_became
from memosite.archive.notices import notice_of
from memosite.archive.urls import absolute, page_of
from memosite.citing.item import Item
from memosite.citing.sources import Sources
from memosite.facts.parsed import Participant
from memosite.passages.bodies import bodies_of, texts_of


class ArchiveSources(Sources):
    """Items of an archive; `text_of` gives a text by its digest."""

    def __init__(self, archive: Archive, text_of: Callable[[str], str], *, base_url: str | None = None) -> None:
        """Nothing is read yet but the archive."""
        self.base_url = base_url or ""
        self._archive = archive
        self._text_of = text_of
        self._items: dict[str, Item] = {}

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of all artifacts, the oldest first."""
        found = sorted(self._archive.artifacts.values(), key=lambda one: (one.date is None, one.sort_key))
        return ["/".join(one.ref) for one in found]

    @cached_property
    def unordered(self) -> Sequence[str]:
        """The names of all artifacts; none of them is loaded."""
        return ["/".join(ref) for ref in self._archive.artifacts]

    def has(self, name: str) -> bool:
        """Whether there is an artifact of this name: only that one is loaded."""
        return self.known(name) is not None

    def known(self, name: str) -> Artifact | None:
        """The artifact of a name, if there is one."""
        kind, _, id_ = name.partition("/")
        known: Mapping[Any, Artifact] = self._archive.artifacts
        return known.get((kind, id_))

    def artifact(self, name: str) -> Artifact:
        """The artifact of a name that is in `names`."""
        found = self.known(name)
        if found is None:
            raise KeyError(name)
        return found

    @cached_property
    def positions(self) -> Mapping[str, str]:
        """From the names of positions to their ids."""
        return position_names(self._archive)

    def missing(self, name: str) -> str:
        """What became of an artifact that was there."""
        return what_became(self._archive, name)

    def item(self, name: str) -> Item:
        """The item of an artifact."""
        if name not in self._items:
            self._items[name] = self._made(self.artifact(name))
        return self._items[name]

    def items_with(self, may_have: Callable[[str], bool]) -> Iterator[Item]:
        """As `Sources` says; of other artifacts no item is made."""
        for name in self.names:
            if any(map(may_have, texts_of(self.artifact(name), self._text_of))):
                yield self.item(name)

    def _made(self, artifact: Artifact) -> Item:
        page = page_of(artifact)
        people: tuple[Participant, ...] = ()
        models: tuple[Participant, ...] = ()
        started = None
        if isinstance(artifact, Transcript):
            people, models = participants(self._archive, artifact)
            sent = artifact.variants[0].envelope.sent
            started = sent.instant if sent else None
        position = (artifact.sender_position or artifact.sender) if isinstance(artifact, Memo) else ""
        bodies = tuple(bodies_of(artifact, self._text_of))
        return Item(
            whole=cite_whole(artifact, absolute(self.base_url, page) if self.base_url else page),
            order=((artifact.date.instant if artifact.date else UNDATED).isoformat(), artifact.id),
            bodies=bodies,
            digests=frozenset((*(one.sha256 for one in all_texts(artifact)), shown_file(artifact).sha256)),
            started=started,
            people=people,
            models=models,
            position=position,
            why_not=_why_not(artifact),
            own_names=dict(self.positions),
        )

    def former(self, item: Item) -> Iterator[Item]:  # noqa: ARG002 - an archive is as it is now
        """None: git is not asked."""
        return iter(())


def _why_not(artifact: Artifact) -> str:
    """Why an artifact can neither be cited nor verified."""
    notice = notice_of(artifact)
    if notice:
        return notice.reason
    if is_broken(artifact):
        return "its file cannot be parsed (memosite check names the line); there is no text to cite"
    return ""
