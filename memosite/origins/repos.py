"""Items of an archive that is read from its repos, with their former versions from git."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from memosite.archive.cite import Citation
from memosite.archive.model import Archive, Artifact, Memo, Record, Removal, Transcript
from memosite.archive.seals import SEALS_PATH
from memosite.citing.archived import ArchiveSources
from memosite.citing.item import Item, Place
from memosite.facts.json_text import clean_text, read_json_text
from memosite.facts.names import ENVELOPE_SUFFIX
from memosite.facts.parsed import FileFacts
from memosite.passages.bodies import SourceBody, digests_of
from memosite.quotes.index import QuoteIndex
from memosite.reading.past_contents import FormerContent, PastContents
from memosite.reading.published import PublishedSite
from memosite.reading.text_rows import TextRows
from memosite.store.shelf import Shelf


class RepoSources(ArchiveSources):
    """Items of an archive; its texts are on the shelf."""

    def __init__(
        self,
        archive: Archive,
        shelf: Shelf,
        past: PastContents,
        *,
        base_url: str | None,
        built: PublishedSite,
        rows: TextRows | None = None,
    ) -> None:
        """Nothing is read yet but the archive; `built` is the site that was last built of it.

        Without `rows`, what is kept to find quotes, all texts are read for each.
        """
        super().__init__(archive, shelf.text, base_url=base_url)
        self._rows = rows
        self._built = built
        self._shelf = shelf
        self._past = past

    def index_for(self, quotes: Sequence[str]) -> QuoteIndex[tuple[str, int]]:
        """As `Sources` says; from kept rows that of all bodies, without their texts."""
        if self._rows is None:
            return super().index_for(quotes)
        items, rows = self._rows.read(self._digests, self._shelf.text)
        return QuoteIndex({(name, at): rows[one] for name, some, _ in items for at, one in enumerate(some)})

    def _digests(self) -> list[tuple[str, tuple[str, ...], None]]:
        return [(name, tuple(digests_of(self.artifact(name))), None) for name in self.names]

    def commit_of(self, item: Item, place: Place | None) -> str:
        """The commit that gave the file the text that a citation quotes; "" if none has it, or that is not known."""
        artifact = self.artifact(item.ref)
        body = item.bodies[place.body if place else -1] if item.bodies else None
        file = next((one for one in _files(artifact) if body is None or one.path == body.path), None)
        if file is None or not file.blob:
            return ""
        return _known_commit(artifact, file) or self._past.commit_of(file.source, file.path, file.blob)

    def originals(self, item: Item) -> Iterator[tuple[str, bytes]]:
        """The originals of an artifact as they are published; those of its copies are equal."""
        from memosite.plan.artifact_page import originals  # noqa: PLC0415 - only for evidence

        for _, path, digest in originals(self.artifact(item.ref)):
            if "/copies/" not in path:
                yield path, self._shelf.get(digest)

    def seals(self) -> str:
        """The sealed log of the site that was last built."""
        return (self._built.read(SEALS_PATH) or b"").decode("utf-8", "replace")

    def former(self, item: Item) -> Iterator[Item]:
        """Former versions of an artifact, one for each former content of each of its files."""
        if item.why_not:
            return
        for source, path, blob in self._places_of(item):
            for content in self._past.contents(source, path):
                if content.blob != blob:
                    yield _version(item, source, path, content)

    def _places_of(self, item: Item) -> Iterator[tuple[str, str, str]]:
        """The files of an artifact: source, path, and the id of what it holds now, "" if it is not there any more."""
        artifact = self.known(item.ref)
        if artifact:
            yield from ((one.source, one.path, one.blob) for one in _files(artifact))
            return
        removal = self._removals()[item.ref]
        path = removal.events[-1].path
        yield removal.source, path, ""
        yield removal.source, f"{path.removesuffix(ENVELOPE_SUFFIX)}.body.md", ""

    def _removals(self) -> Mapping[str, Removal]:
        return {"/".join(ref): one for ref, one in self._archive.removed.items()}

    def removed(self, name: str) -> Item | None:
        """What was removed from its repo, so that only former versions have its text."""
        removal = self._removals().get(name)
        if removal is None or not removal.stem or tuple(name.split("/")) in self._archive.erased:
            return None
        whole = Citation(ref=name, url="", title=removal.stem, speaker="", time="", quote="", sha256="")
        return Item(whole=whole, order=("", name), own_names=dict(self.positions))


def _known_commit(artifact: Artifact, file: FileFacts) -> str:
    """The commit as the archive has it, which asks no git; "" for an entry of a list, which has its own history."""
    if isinstance(artifact, Record) and artifact.card.line is not None:
        return ""
    copies = (
        one for one in artifact.copies if (one.file.source, one.body_path or one.file.path) == (file.source, file.path)
    )
    return next((one.life.commit for one in copies if one.life), "")


def _files(artifact: Artifact) -> list[FileFacts]:
    """The files that the bodies of an artifact are in, and those of its copies."""
    found = [copy.file for copy in artifact.copies]
    if isinstance(artifact, Memo | Transcript):
        bodies = [variant.body.file for variant in artifact.variants if variant.body]
        found = [*bodies, *(variant.envelope.file for variant in artifact.variants), *found]
    return list({(one.source, one.path): one for one in found}.values())


def _version(item: Item, source: str, path: str, content: FormerContent) -> Item:
    """An item as one of its files was before; without the text of the others."""
    is_conversation = item.ref.startswith("transcript/")
    text, part = content.text, ""
    if path.lower().endswith((ENVELOPE_SUFFIX, ".json")):
        fields = read_json_text(content.text)[0]
        written = fields.get("body", fields.get("x.memo.body", "")) if isinstance(fields, dict) else ""
        text, part = (clean_text(written) if isinstance(written, str) else ""), "/body"
    prefix = next((body.prefix for body in item.bodies if body.path == path), "")
    kind, _, id_ = item.ref.partition("/")
    body = SourceBody(
        ref=(kind, id_),  # type: ignore[arg-type] # as the item's
        text=text,
        source=source,
        path=path,
        part=part,
        prefix=prefix,
        is_conversation=is_conversation,
    )
    digests = frozenset({_digest(text), _digest(content.text)})
    return replace(item, bodies=(body,), digests=digests, commit=content.commit)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
