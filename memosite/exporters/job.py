"""The input of every exporter: the archive, its texts, and the names for ids and addresses."""

from collections.abc import Iterator
from dataclasses import dataclass

from memosite.archive.lines import artifact_line, body_texts, exported, join_texts, with_body
from memosite.archive.model import Archive, Artifact
from memosite.store.shelf import Shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One export. `archive_id` and `authority` are those of the configuration; `base_url` ends in `/`."""

    archive: Archive
    shelf: Shelf
    with_body: bool
    base_url: str | None
    archive_id: str
    authority: str

    def artifacts(self) -> Iterator[Artifact]:
        """What is exported, in order of arrival."""
        return exported(self.archive)

    def lines(self) -> Iterator[dict[str, object]]:
        """The line of each artifact (SPEC 8), with its body if asked for."""
        for artifact in self.artifacts():
            line = artifact_line(artifact, self.archive, base_url=self.base_url)
            if self.with_body and not artifact.withheld:
                line = with_body(line, join_texts(self.shelf.text(text.sha256) for text in body_texts(artifact)))
            yield line
