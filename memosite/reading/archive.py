"""[I/O] Opens archives, for every command: no other way skips the two steps of the gate.

    open_archive ─► ArchiveHandle ─┬─ inputs(former) ─► whether anything has changed; nothing is read
                                   ├─ read() ─────────► Archive and Ledger, as its audience may see them
                                   └─ recall() ───────► Archive: as it was kept if nothing has changed, else `read`

`read` imports the modules that only reading needs: those imports take longer than finding that nothing changed.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from memosite.archive.ledger import Ledger, read_ledger
from memosite.config.schema import Audience, Config
from memosite.facts.errors import MemositeError, MovedError, SecretsError
from memosite.reading.inputs import Inputs, compare_inputs
from memosite.sources.look import Look, LookAt, look_at
from memosite.store.cache import open_part

if TYPE_CHECKING:
    from memosite.archive.model import Archive
    from memosite.archive.snapshots import Days
    from memosite.reading.keeping import Keeping
    from memosite.reading.kept import Kept
    from memosite.reading.opening import Opened
    from memosite.reading.parse_cache import SourceCaches
    from memosite.reading.screen import Screen
    from memosite.reading.text_rows import RowKind, TextRows
    from memosite.run.progress import Progress
    from memosite.run.recall import Recall
    from memosite.sources.listing import Source
    from memosite.store.shelf import Shelf

_READINGS = 3
"""How often sources are read in which files are moved meanwhile."""


@contextmanager
def open_archive(
    config: Config, *, audience: Audience | None = None, use_network: bool = True, shelf: "Shelf | None" = None
) -> Iterator["ArchiveHandle"]:
    """The archive of a site for an audience (default: the configuration's), to be compared and read within the block.

    Without `use_network` remotes are read from the cache, if they are there. Texts and originals are put on the
    `shelf` (default: one that is closed with the block).
    """
    with ExitStack() as stack:
        yield ArchiveHandle(config, audience or config.audience, stack, use_network=use_network, shelf=shelf)


class ArchiveHandle:
    """An archive that is not read yet. Sources are opened when they are first needed, and closed once they are read."""

    def __init__(
        self, config: Config, audience: Audience, stack: ExitStack, *, use_network: bool, shelf: "Shelf | None"
    ) -> None:
        """Only for `open_archive`. The stack closes everything that is opened."""
        self._config = config
        self._audience = audience
        self._stack = stack
        self._sources = stack.enter_context(ExitStack())
        self._use_network = use_network
        self._given_shelf = shelf
        self._looks: dict[str, Look] = {}
        self._taken: dict[str, Look] = {}
        self._promised: set[str] = set()
        self._is_read = False
        self._token = ""
        self._days: Callable[[], Days] = dict
        self._ledger: Ledger | None = None

    @cached_property
    def opened(self) -> "Opened":
        """The sources, opened. Remotes are fetched for it.

        Raises `SourceError` for a ref that is not there, and for a remote that was never fetched and cannot be.
        """
        from memosite.reading.opening import open_sources  # noqa: PLC0415 - a search that is up to date opens nothing

        try:
            return self._sources.enter_context(open_sources(self._config, use_network=self._use_network))
        except MemositeError:  # it may quote the configuration
            from memosite.reading.own_texts import own_texts, refuse_secrets  # noqa: PLC0415
            from memosite.reading.screen import Screen  # noqa: PLC0415

            refuse_secrets(own_texts(self._config), Screen(allowed=self._config.secrets.fingerprints))
            raise

    @cached_property
    def shelf(self) -> "Shelf":
        """The shelf with texts and originals."""
        from memosite.store.shelf import Shelf  # noqa: PLC0415 - as above

        return self._given_shelf or self._stack.enter_context(Shelf())

    @cached_property
    def screen(self) -> "Screen":
        """Screens what a command shows of git itself; where secrets are in that is known the next time."""
        from memosite.reading.scans import KnownScans  # noqa: PLC0415 - as above
        from memosite.reading.screen import Screen  # noqa: PLC0415 - as above

        part = self._part if self._audience == "internal" else None  # the name of a scan is the digest of its content
        scans = KnownScans(part / "scans" / "commits.cache" if part else None)
        self._stack.callback(scans.write)
        return Screen(scans, self._config.secrets.fingerprints)

    def inputs(
        self,
        former: str,
        *,
        also: Iterable[Path] = (),
        opened: Iterable[object] = (),
        with_ledger: bool = True,
        look: LookAt = look_at,
    ) -> Inputs:
        """Whether anything has changed since the digest `former` was taken, and the digest now (`compare_inputs`).

        Call it before `read`, which then uses the same snapshots of folders.
        """
        words = (self._audience, *opened)
        found = compare_inputs(self._config, former, also=also, opened=words, with_ledger=with_ledger, look=look)
        self._looks = found.looks
        self._taken = dict(found.looks)
        return found

    def recall(self, *, ledger: Ledger | None = None) -> "Archive":
        """The archive as of now: as it was kept if nothing has changed since then, else read, and kept.

        What was kept is loaded as far as it is asked for, within the block of `open_archive`. `ledger` is the one to
        continue (default: that of the published site); of the same sources always the same.
        """
        self._ledger = ledger
        keeping = self.keeping()
        found = keeping.recalled() if keeping is not None else None
        if found is not None:
            self._stack.callback(found.close)
            self.shelf.fetch_missing(partial(self._fetch, found))
            archive = found.archive()
            self._token = found.token
            self._days = found.days
            return archive
        archive, _ = self._read_all(ledger)
        self._days = partial(_days_of, archive)
        if keeping is not None:
            keeping.keep(archive, self._caches.holders())
            keeping.seal()
            self._token = keeping.token
        return archive

    def _read_all(self, ledger: Ledger | None) -> "tuple[Archive, Ledger]":
        from memosite.run.workers import default_jobs  # noqa: PLC0415 - most commands read nothing

        return self.read(ledger=ledger, jobs=default_jobs())

    def days(self) -> "Days":
        """What happened on each day in the archive that `recall` gave."""
        return self._days()

    def text_rows(self, kind: "RowKind") -> "TextRows":
        """An index of texts (`text_rows.QUOTES`), kept with the archive that `recall` gave if that is kept."""
        from memosite.reading.kept import is_kept  # noqa: PLC0415 - most commands need no such index
        from memosite.reading.text_rows import TextRows  # noqa: PLC0415 - as above

        part, token = self._part, self._token
        if part is None or not token:
            return TextRows(kind=kind)
        return TextRows(kind=kind, part=part, token=token, is_current=partial(is_kept, part, token))

    def keeping(self) -> "Keeping | None":
        """Where the archive is kept for commands, as of now; None if it cannot be known whether anything has changed.

        To be called before `read`.
        """
        from memosite.reading.keeping import Keeping  # noqa: PLC0415 - a build that changes nothing keeps nothing

        config = self._config
        is_remote = self._use_network and any(source.root is None for source in config.sources)
        part = self._part
        if part is None:
            return None
        if is_remote or config.erase:
            self._forget_kept()
            return None
        keeping = Keeping(config, self._audience, part, self._taken, has_ledger=self._ledger is None)
        self._stack.callback(keeping.close)
        self._looks = self._looks or dict(keeping.looks)
        return keeping

    def _fetch(self, kept: "Kept", digest: str) -> bytes | None:
        """Find a text in its file; else promise what its source has; else read everything, such as former contents."""
        place = kept.holder(digest)
        if place is not None and not self._is_read:
            name, path = place
            source = next(one for one in self.opened.sources if one.name == name)
            if (data := _text_in(source, path, digest)) is not None:
                return data
            if name not in self._promised:
                self._promised.add(name)
                self._promise(source)
        if not (self.shelf.has(digest) or self._is_read):
            self._read_all(self._ledger)
        return None

    def _promise(self, source: "Source") -> None:
        from memosite.reading.reader import SourceReader  # noqa: PLC0415 - as above
        from memosite.reading.screen import Screen  # noqa: PLC0415 - what files do not say as it is is rarely needed

        screen = Screen(self._caches.scans(source.name), self._config.secrets.fingerprints)
        SourceReader(source, self.shelf, screen, cache=self._caches.of(source.name)).promise()

    def read(
        self,
        *,
        ledger: Ledger | None = None,
        previous: str | None = None,
        parsed: "SourceCaches | None" = None,
        recall: "Recall | None" = None,
        jobs: int = 1,
        progress: "Progress | None" = None,
    ) -> tuple["Archive", Ledger]:
        """Read the archive, once, and return it with the ledger that has its new entries; neither is written.

        `ledger` is the one to continue (default: that of the published site), `previous` another published site that is
        continued. A caller that reads repeatedly gives `parsed`, which it writes itself, and a `recall`; else the
        cache is used, if there is one. Files are read and parsed by `jobs` processes.
        """
        from memosite.reading.opening import read_citations  # noqa: PLC0415 - as below
        from memosite.reading.own_texts import own_texts  # noqa: PLC0415
        from memosite.reading.past_cache import forget_past, prune_past  # noqa: PLC0415
        from memosite.reading.published import published_digests, published_file  # noqa: PLC0415
        from memosite.reading.reader import read_archive, rules_of  # noqa: PLC0415
        from memosite.reading.withholding import policy_of  # noqa: PLC0415 - takes half a second, rarely needed
        from memosite.run.progress import silent  # noqa: PLC0415
        from memosite.run.recall import FORGETFUL  # noqa: PLC0415
        from memosite.secrets.engine import loading_rules  # noqa: PLC0415

        if self._is_read:
            raise ValueError("a handle reads its archive once")
        self._is_read = True
        config, opened = self._config, self.opened
        if config.cache.is_dir():
            prune_past(config)
        continued = read_ledger(config.output) if ledger is None else ledger
        if continued.audience != self._audience:  # what others were shown is nothing that this audience may learn from
            continued = Ledger(audience=self._audience)
        published = published_digests(config.erase, continued, published_file(config.output, previous))

        caches = self._caches if parsed is None else parsed

        def read(looks: dict[str, Look]) -> "tuple[Archive, Ledger]":
            return read_archive(
                opened.sources,
                rules_of(config, opened.infos),
                continued,
                self.shelf,
                parsed=caches,
                recall=recall or FORGETFUL,
                looks=looks,
                jobs=jobs,
                policy=policy_of(config, self._audience, published=published, texts=own_texts(config)),
                progress=progress or silent,
            )

        with self._sources, loading_rules():
            try:
                archive, continued = _read_again(read, self._looks)
                found = read_citations(config, self._audience, archive, self.shelf, caches.scans("")), continued
                if parsed is None:
                    caches.write()
                return found
            except SecretsError as error:
                self._forget_kept()
                forget_past(config)
                audience = self._audience if len(config.outputs) > 1 else ""
                raise SecretsError(error.places, audience) from error

    @cached_property
    def _part(self) -> Path | None:
        """The part of the cache for the audience, if there is a cache: only building makes one."""
        return open_part(self._config.cache, self._audience) if self._config.cache.is_dir() else None

    @cached_property
    def _caches(self) -> "SourceCaches":
        """What is kept of single files."""
        from memosite.reading.parse_cache import SourceCaches  # noqa: PLC0415 - as above

        return SourceCaches(self._part, keeps_history=self._audience == "internal")

    def _forget_kept(self) -> None:
        """Keep no archive that may have a secret in it."""
        from memosite.reading.kept import forget_kept  # noqa: PLC0415 - rarely needed

        if self._part is not None:
            with suppress(OSError):
                forget_kept(self._part)


def _days_of(archive: "Archive") -> "Days":
    from memosite.archive.snapshots import days_of  # noqa: PLC0415 - most commands compare nothing

    return days_of(archive)


def _text_in(source: "Source", path: str, digest: str) -> bytes | None:
    from memosite.facts.file import File  # noqa: PLC0415 - most commands show no text
    from memosite.reading.finders import known_text  # noqa: PLC0415 - as above

    file = source.read_file(path)
    return known_text(file, digest) if isinstance(file, File) else None


def _read_again(
    read: "Callable[[dict[str, Look]], tuple[Archive, Ledger]]", looks: dict[str, Look]
) -> "tuple[Archive, Ledger]":
    """Read, and once more if files were moved meanwhile; snapshots of before do not count then."""
    for _ in range(_READINGS - 1):
        try:
            return read(looks)
        except MovedError:
            looks.clear()
    return read(looks)
