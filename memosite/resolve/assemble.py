"""Assembles the artifacts of the archive from the results of the other steps."""

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from memosite.archive.images import TextImage
from memosite.archive.ledger import Ledger
from memosite.archive.model import UNDATED, Artifact
from memosite.facts.bounds import NAMED
from memosite.facts.names import read_stamped_name
from memosite.facts.parsed import FileFacts, RecordCard, Ref, Text
from memosite.facts.times import Moment
from memosite.resolve.artifacts import ArtifactMaker, ResolvedLinks, role_folder
from memosite.resolve.collect import Collected
from memosite.resolve.filed import Filed, file_documents, file_libraries
from memosite.resolve.identity import CopyGroup
from memosite.resolve.links import TextOrigin, origin_of
from memosite.resolve.lives import Lives
from memosite.resolve.positions import NameUse
from memosite.resolve.withheld import without_digests
from memosite.run.recall import Recall


class Assembler:
    """Holds the groups, documents, libraries and records under their refs, and makes artifacts of them at the end."""

    def __init__(
        self,
        collected: Collected,
        groups: list[CopyGroup],
        records: tuple[Filed, ...],
        ledger: Ledger,
        lives: Lives,
        *,
        recall: Recall,
    ) -> None:
        """Give documents and libraries their ids; groups and records have theirs."""
        self._lives = lives
        self._recall = recall
        self._memo_folders = collected.memo_folders
        self._groups = {group.ref: group for group in groups}
        self._ledger = ledger
        filed = (*file_documents(collected.documents, ledger), *file_libraries(collected.libraries, ledger))
        self._filed = {one.ref: one for one in (*filed, *records)}

    def files_by_path(self) -> Iterator[tuple[Ref, FileFacts]]:
        """What can be mentioned by its path, records apart."""
        for ref, filed in self._filed.items():
            for file in filed.files if ref[0] != "record" else ():
                yield ref, file

    def documents(self) -> Iterator[Filed]:
        """Documents, with their refs."""
        return (filed for ref, filed in self._filed.items() if ref[0] == "document")

    def citing(self) -> Iterator[tuple[Ref, FileFacts, int | None]]:
        """Memos, notes and records with the file, and the line of a list, that they are in."""
        for ref, group in self._groups.items():
            if group.kind != "transcript":
                yield ref, group.envelope.file, None
        for ref, filed in self._filed.items():
            if isinstance(filed.fact, RecordCard):
                yield ref, filed.files[0], filed.fact.line

    @cached_property
    def texts(self) -> tuple[tuple[Ref, Text, TextOrigin], ...]:
        """Each artifact's text with its file's place, for links. An envelope's and its body's are joined."""
        return tuple(self._read_texts())

    def _read_texts(self) -> Iterator[tuple[Ref, Text, TextOrigin]]:
        spoken = self._recall.calls(_spoken)
        for ref, group in self._groups.items():
            text, origin = spoken(ref, group)
            if text is not None:
                yield ref, text, origin
        for ref, filed in self._filed.items():
            yield ref, filed.text, replace(origin_of(filed.files[0]), is_near=ref[0] == "record")

    def name_uses(self) -> Iterator[NameUse]:
        """Every name of a position in memos, notes and transcripts, and the folders named after roles."""
        uses = self._recall.calls(_uses)
        for ref, group in self._groups.items():
            yield from uses(ref, group, self._memo_folders)

    def artifacts(
        self, joined: ResolvedLinks, images: Mapping[Ref, tuple[TextImage, ...]]
    ) -> tuple[dict[Ref, Artifact], Ledger]:
        """All artifacts in order of arrival, and the ledger with the new ones."""
        dates = {ref: _date(group) or self._received(ref) for ref, group in self._groups.items()}
        dates |= {ref: filed.date or self._received(ref) for ref, filed in self._filed.items()}
        known = self._ledger.keys_by_ref
        new = [ref for ref in dates if known.get(ref) != self._key(ref)]
        new.sort(key=lambda ref: _arrival_key(ref, self._received(ref) or dates[ref]))
        ledger = self._ledger.with_arrivals((*ref, self._key(ref)) for ref in new)
        numbers = ledger.numbers
        maker = ArtifactMaker(
            joined, dates, numbers, self._memo_folders, self._groups, filed=self._filed, lives=self._lives,
            recall=self._recall,
        )  # fmt: skip
        made: dict[Ref, Artifact] = {}
        as_published, with_images = self._recall.calls(without_digests), self._recall.calls(_with_images)
        for ref in sorted(dates, key=numbers.__getitem__):
            group = self._groups.get(ref)
            one = as_published(ref, maker.filed(self._filed[ref]) if group is None else maker.group(group))
            made[ref] = with_images(ref, one, images[ref]) if ref in images else one
        return made, ledger

    def _received(self, ref: Ref) -> Moment | None:
        """When the earliest of its copies was first committed."""
        group = self._groups.get(ref)
        if group is None and self._filed[ref].lives is not None:
            return min(filter(None, (copy.received for copy in self._filed[ref].copies)), key=_instant, default=None)
        files = [copy.envelope.file for copy in group.copies] if group else list(self._filed[ref].files)
        if len(files) == 1:
            return self._lives.received(files[0])
        found = [moment for file in files if (moment := self._lives.received(file)) is not None]
        return min(found, key=_instant, default=None)

    def _key(self, ref: Ref) -> str:
        return self._groups[ref].key if ref in self._groups else self._filed[ref].key


def _with_images(artifact: Artifact, images: tuple[TextImage, ...]) -> Artifact:
    return artifact if artifact.withheld else replace(artifact, images=images)


def _instant(moment: Moment) -> dt.datetime:
    return moment.instant


def _arrival_key(ref: Ref, date: Moment | None) -> tuple[dt.datetime, str, str]:
    return (date.instant if date else UNDATED, ref[1], ref[0])


def _date(group: CopyGroup) -> Moment | None:
    """`sent` or `started`, else the name's stamp (SPEC 3, dates)."""
    return group.envelope.sent or read_stamped_name(group.stem).date


def _spoken(group: CopyGroup) -> tuple[Text | None, TextOrigin]:
    """The texts of an artifact, of its envelope and its body, with their places."""
    body = group.variants[0].body
    known = [text for text in (group.envelope.body, body.text if body else None) if text]
    return _join_texts(known) if known else None, origin_of(group.envelope.file)


def _uses(group: CopyGroup, memo_folders: tuple[str, ...]) -> tuple[NameUse, ...]:
    """The names of positions in the copies of an artifact."""
    found = []
    for copy in group.copies:
        envelope, file = copy.envelope, copy.envelope.file
        is_guess = envelope.shape in {"broken", "bare"}
        found.append(NameUse(name=envelope.sender, file=file, is_guess=is_guess))
        delivered_to = file.source if envelope.kind == "memo" else None
        found += (
            NameUse(name=name, file=file, delivered_to=delivered_to, is_guess=is_guess, is_further=number >= NAMED)
            for number, name in enumerate(envelope.to)
        )
        found += (
            NameUse(name=participant.position, file=file, is_further=number >= NAMED)
            for number, participant in enumerate(envelope.participants)
        )
        role = role_folder(envelope, memo_folders)
        if role:
            found.append(NameUse(name=role, file=file, delivered_to=file.source))
    return tuple(found)


def _join_texts(texts: list[Text]) -> Text:
    if len(texts) == 1:
        return texts[0]
    return replace(
        texts[0],
        mentions=tuple(dict.fromkeys(mention for text in texts for mention in text.mentions)),
        destinations=tuple(dict.fromkeys(target for text in texts for target in text.destinations)),
        images=tuple(dict.fromkeys(image for text in texts for image in text.images)),
    )
