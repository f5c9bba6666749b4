"""[I/O] Opens archives, for every command: no other way skips the two steps of the gate.

    open_archive ─► ArchiveHandle ─┬─ inputs(former) ─► whether anything has changed; nothing is read
                                   ├─ read() ─────────► Archive and Ledger, as its audience may see them
                                   └─ recall() ───────► Archive: as it was kept if nothing has changed, else `read`

`read` imports the modules that only reading needs: those imports take longer than finding that nothing changed.

Files that belong to no archive are checked by themselves (`check_listing`): the one way to resolve without
`open_archive`. They pass the first step of the gate, and since the result is only findings, there is nothing to
withhold.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from memosite.archive.ledger import Ledger, read_ledger
from memosite.config.schema import Config, SecretsConfig
from memosite.facts.errors import MemositeError, MovedError, SecretsError
from memosite.facts.names import ENVELOPE_SUFFIX
from memosite.reading.inputs import Inputs, compare_inputs
from memosite.sources.look import Look, LookAt, look_at
from memosite.store.cache import open_part

if TYPE_CHECKING:
    from memosite.archive.model import Archive
    from memosite.archive.snapshots import Days
    from memosite.facts.findings import Finding
    from memosite.facts.parsed import Fact, Parsed
    from memosite.reading.keeping import Keeping
    from memosite.reading.opening import Opened
    from memosite.reading.parse_cache import SourceCaches
    from memosite.reading.screen import Screen
    from memosite.reading.text_rows import RowKind, TextRows
    from memosite.run.progress import Progress
    from memosite.run.recall import Recall
    from memosite.sources.listing import Listing, Source
    from memosite.store.shelf import Shelf
    from memosite.store.state import State

_READINGS = 3
"""How often sources are read in which files are moved meanwhile."""


@contextmanager
def open_archive(
    config: Config, *, use_network: bool = True, shelf: "Shelf | None" = None, state: "State | None" = None
) -> Iterator["ArchiveHandle"]:
    """The archive of a site for the audience of its configuration, to be compared and read within the block.

    Without `use_network` remotes are read from the cache, if they are there. Texts and originals are put on the
    `shelf` (default: one that is closed with the block). A caller that has the cache open gives its `state`.
    """
    with ExitStack() as stack:
        handle = ArchiveHandle(config, stack, use_network=use_network, shelf=shelf, state=state)
        yield handle
        handle.say_what_was_lost()


class ArchiveHandle:
    """An archive that is not read yet. Sources are opened when they are first needed, and closed once they are read."""

    def __init__(
        self, config: Config, stack: ExitStack, *, use_network: bool, shelf: "Shelf | None", state: "State | None"
    ) -> None:
        """Only for `open_archive`. The stack closes everything that is opened."""
        self._config = config
        self._stack = stack
        self._sources = stack.enter_context(ExitStack())
        self._use_network = use_network
        self._given_shelf = shelf
        self._given_state = state
        self._looks: dict[str, Look] = {}
        self._taken: dict[str, Look] = {}
        self._promised: set[str] = set()
        self._is_read = False
        self._token = ""
        self._recalled: Archive | None = None
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
            from memosite.reading.reader import refuse_secrets  # noqa: PLC0415
            from memosite.reading.screen import Screen  # noqa: PLC0415

            refuse_secrets(self._config, Screen(allowed=self._config.secrets.fingerprints))
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

        is_internal = self._config.audience == "internal"  # the name of a scan is the digest of its content
        scans = KnownScans(self._state if is_internal else None)
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
        words = (self._config.audience, *opened)
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
        if keeping is not None and found is not None:
            self.shelf.fetch_missing(self._fetch)
            archive = found.archive()
            self._token = keeping.token
            self._recalled = archive
            return archive
        archive, _ = self._read_all(ledger)
        self._recalled = archive
        if keeping is not None:
            keeping.keep(archive)
            keeping.seal()
            self._token = keeping.token
        return archive

    def _read_all(self, ledger: Ledger | None) -> "tuple[Archive, Ledger]":
        from memosite.run.workers import default_jobs  # noqa: PLC0415 - most commands read nothing

        return self.read(ledger=ledger, jobs=default_jobs())

    def days(self) -> "Days":
        """What happened on each day in the archive that `recall` gave, kept from when it is first asked."""
        from memosite.reading.kept import kept_days  # noqa: PLC0415 - few commands ask for it

        return kept_days(self._state, self._token, self.recall() if self._recalled is None else self._recalled)

    def text_rows(self, kind: "RowKind") -> "TextRows":
        """An index of texts (`text_rows.QUOTES`), kept with the archive that `recall` gave if that is kept."""
        from memosite.reading.kept import is_kept  # noqa: PLC0415 - most commands need no such index
        from memosite.reading.text_rows import TextRows  # noqa: PLC0415 - as above

        if not self._token:
            return TextRows(kind=kind)
        return TextRows(kind=kind, state=self._state, is_current=partial(is_kept, self._state, self._token))

    def keeping(self) -> "Keeping | None":
        """Where the archive is kept for commands, as of now; None if it cannot be known whether anything has changed.

        To be called before `read`.
        """
        from memosite.reading.keeping import Keeping  # noqa: PLC0415 - a build that changes nothing keeps nothing

        config = self._config
        is_remote = self._use_network and any(source.root is None for source in config.sources)
        if self._part is None:
            return None
        if is_remote or config.erase:
            self._forget_kept()
            return None
        keeping = Keeping(config, config.audience, self._state, self._taken, has_ledger=self._ledger is None)
        self._stack.callback(keeping.close)
        self._looks = self._looks or dict(keeping.looks)
        return keeping

    def _fetch(self, digest: str) -> bytes | None:
        """Find a text in its file; else promise what its source has; else read everything, such as former contents."""
        from memosite.store.state import HOLDERS  # noqa: PLC0415 - as above

        held = self._state[HOLDERS].items(digest) if not self._is_read else []
        places = {str(source): str(path) for (_, source, path, _), _ in held}
        for source in self.opened.sources if places else ():
            if source.name in places:
                if (data := _text_in(source, places[source.name], digest)) is not None:
                    return data
                if source.name not in self._promised:
                    self._promised.add(source.name)
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
        from memosite.reading.past_cache import forget_past, prune_past  # noqa: PLC0415 - as below
        from memosite.reading.published import published_digests, published_file  # noqa: PLC0415
        from memosite.reading.reader import read_archive, read_citations, rules_of  # noqa: PLC0415
        from memosite.reading.withholding import Policy  # noqa: PLC0415 - takes half a second, rarely needed
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
        if continued.audience != config.audience:  # what others were shown is nothing that this audience may learn from
            continued = Ledger(audience=config.audience)
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
                policy=Policy(config=config, published=published),
                progress=progress or silent,
            )

        with self._sources, loading_rules():
            try:
                archive, continued = _read_again(read, self._looks)
                found = read_citations(config, archive, self.shelf, caches.scans("")), continued
                if parsed is None:
                    caches.write()
                return found
            except SecretsError as error:
                self._forget_kept()
                forget_past(config)
                raise SecretsError(error.places, config.audience if len(config.outputs) > 1 else "") from error

    @cached_property
    def _part(self) -> Path | None:
        """The part of the cache for the audience, if there is a cache: only building makes one."""
        return open_part(self._config.cache, self._config.audience) if self._config.cache.is_dir() else None

    def say_what_was_lost(self) -> None:
        """Say on standard error, once, why nothing was remembered."""
        if "_state" in self.__dict__ and self._state.why_not:
            from memosite.run.progress import say  # noqa: PLC0415 - a cache is rarely damaged

            say(f"memosite: {self._state.why_not}")
            self._state.why_not = ""

    @cached_property
    def _state(self) -> "State":
        """What the cache remembers for the audience."""
        from memosite.store.state import State  # noqa: PLC0415 - as above

        return self._given_state or self._stack.enter_context(State(self._part))

    @cached_property
    def _caches(self) -> "SourceCaches":
        """What is kept of single files."""
        from memosite.reading.parse_cache import SourceCaches  # noqa: PLC0415 - as above

        return SourceCaches(self._state, keeps_history=self._config.audience == "internal")

    def _forget_kept(self) -> None:
        """Keep no archive that may have a secret in it."""
        from memosite.reading.kept import forget_kept  # noqa: PLC0415 - rarely needed

        if self._part is not None:
            forget_kept(self._state)


def _text_in(source: "Source", path: str, digest: str) -> bytes | None:
    """A file, its text, or a string of its JSON: whichever has this digest; None if none of them has.

    What has the digest is what was let through, so it need not pass the gate again; what has another one never counts.
    """
    from memosite.facts.file import File  # noqa: PLC0415 - most commands show no text
    from memosite.facts.json_text import clean_text  # noqa: PLC0415 - as above

    try:
        file = source.read_file(path)
    except MovedError:  # it has moved since; or its name is not UTF-8, and the archive has another form of it
        return None
    if not isinstance(file, File):
        return None

    def texts() -> Iterator[bytes]:
        yield file.data
        yield file.markdown.encode("utf-8", "replace")
        if file.name.lower().endswith((ENVELOPE_SUFFIX, ".json")):
            strings = (value for value in (file.json.fields or {}).values() if isinstance(value, str))
            yield from (clean_text(text).encode("utf-8", "replace") for text in strings)

    return next((data for data in texts() if hashlib.sha256(data).hexdigest() == digest), None)


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


def check_listing(
    listing: "Listing", secrets: SecretsConfig
) -> "tuple[tuple[Finding, ...], Mapping[str, Fact | None]]":
    """The findings on the files of a listing, without those that need an archive, and what its files are (SPEC 8).

    Each is checked by itself, with the files beside it as bodies. A file of no known format, with nothing to find, is
    nothing.
    """
    with loose_archive(listing, secrets) as (archive, parsed, _):
        return archive.findings, {one.path: one.fact for one in parsed if one.fact is not None or one.findings}


@contextmanager
def loose_archive(listing: "Listing", secrets: SecretsConfig) -> "Iterator[tuple[Archive, tuple[Parsed, ...], Shelf]]":
    """The files of a listing as an archive of their own: what is told by the archive, what each file is, and texts."""
    from memosite.archive.model import SourceInfo  # noqa: PLC0415 - as for `read`
    from memosite.reading.reader import DataFinder, LineFinder  # noqa: PLC0415
    from memosite.reading.screen import Screen, with_mode, without_hidden_names  # noqa: PLC0415
    from memosite.resolve import ResolveRules, resolve  # noqa: PLC0415
    from memosite.store.shelf import Shelf  # noqa: PLC0415

    with Shelf() as shelf:
        named = without_hidden_names(listing, Screen())
        parsed, _ = with_mode(read_source(named, shelf, secrets.fingerprints), {}, secrets)
        rules = ResolveRules(sources=(SourceInfo(name=listing.source.name),), is_loose=True)
        archive, _ = resolve(parsed, rules, Ledger(), LineFinder(shelf), data_of=DataFinder(shelf))
        yield archive, parsed, shelf


def read_source(listing: "Listing", shelf: "Shelf", allowed: frozenset[str] = frozenset()) -> "list[Parsed]":
    """Read and parse the candidates of one source by itself, and the bodies that its envelopes name."""
    from memosite.facts.parsed import Organization  # noqa: PLC0415
    from memosite.reading.reader import SourceReader  # noqa: PLC0415
    from memosite.reading.screen import Screen  # noqa: PLC0415
    from memosite.resolve.identity import memo_folders  # noqa: PLC0415

    reader = SourceReader(listing.source, shelf, Screen(allowed=allowed))
    parsed = reader.candidates(listing)
    folders = memo_folders(result.fact for result in parsed if isinstance(result.fact, Organization))
    return reader.with_named_files(listing, parsed, memo_folders=folders)
