"""Makes a unit: plans it and renders the outputs that changed, in any process.

    unit ─► traced context ─► planned output ─► fingerprint ─┬─ known, and there: kept
                                                            └─ else: bytes

A unit is planned again if it is stale (`decide` in `stale.py`). An output is rendered only if its own model has
changed (early cut-off), or if a file made of that model is not as it was left. On this machine a process does all
of it. On a cluster, workers render what is planned here:

    planned outputs ─► pickle ─► the digests found in it ─► texts from the shelf ─► Parcel ─► files of each
    theme ─► templates, compressed ────────────────────────────────────────────────────────┘

A parcel is self-contained, as page models are: rendering needs nothing else, and can be retried elsewhere.
"""

import io
import pickle
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, MutableSet, Sequence
from contextlib import closing
from functools import lru_cache, partial
from typing import Final

from memosite.facts.patterns import regex
from memosite.facts.values import Value, replace
from memosite.feeds import FeedFile
from memosite.pages import Page
from memosite.plan.context import Context, Packed, Planned, Stored, Unit, Written
from memosite.plan.traced import Digests, TracedRead, common_values, traced
from memosite.remake.manifest import Made, Manifest, ManifestOutput, Reads, Units
from memosite.remake.memory import Memory
from memosite.remake.report import Listener
from memosite.remake.stale import Decision, IsThere, decide
from memosite.render.renderer import Renderer
from memosite.render.theme import Theme
from memosite.run.progress import Progress
from memosite.run.workers import BATCH, Run, run
from memosite.search.blocks import SearchBlock, StateBlock, render_states
from memosite.store.cache import program_digest
from memosite.store.output import OutputFolder
from memosite.store.values import digest_of

# Packs planned outputs with all that is needed to render them, so that any machine with the same memosite can do it.


Unrendered = Page | FeedFile | SearchBlock
"""A planned output that has to be rendered from its model and its texts."""


Files = list[tuple[str, bytes]]
"""A rendered output: files of the site, by path."""


_DIGEST: Final = regex(rb"\x8c@([0-9a-f]{64})")
"""A text of 64 characters as `pickle` writes it (SHORT_BINUNICODE), and these are a SHA-256 in hex."""


class Parcel(Value):
    """Some outputs to be rendered. `texts` are bytes by SHA-256, `theme` is the result of `pack_theme`."""

    planned: bytes
    texts: Mapping[str, bytes]
    theme: bytes
    weight: int = 1


def pack_theme(theme: Theme) -> bytes:
    """The templates of a theme; static files are not needed for rendering."""
    return zlib.compress(pickle.dumps(replace(theme, static={})))


def pack(planned: Sequence[Unrendered], theme: bytes, bytes_of: Callable[[str], bytes], *, weight: int = 1) -> Parcel:
    """Pack outputs with every text whose digest is in one of them.

    `bytes_of` gives the bytes of a digest, and raises `KeyError` for an unknown one: content may hold such digests.
    """
    pickled = pickle.dumps(planned, protocol=5)
    texts = {}
    for digest in dict.fromkeys(match.decode() for match in _DIGEST.findall(pickled)):
        try:
            texts[digest] = bytes_of(digest)
        except KeyError:
            continue
    return Parcel(planned=pickled, texts=texts, theme=theme, weight=weight)


def render_parcel(parcel: Parcel) -> list[Files]:
    """The files of each output, in their order. Raises `ConfigError` for a fault of the theme."""
    renderer, texts = _renderer(parcel.theme)
    texts.clear()
    texts.update(parcel.texts)
    outputs: Sequence[Unrendered] = pickle.loads(parcel.planned)  # noqa: S301 - the sender may run anything here anyway
    return [list(render(planned, renderer)) for planned in outputs]


def render(planned: Unrendered, renderer: Renderer) -> Iterator[tuple[str, bytes]]:
    """The files of one output: several of a search block, one of everything else."""
    match planned:
        case SearchBlock():
            yield from renderer.render_block(planned)
        case FeedFile():
            yield planned.path, renderer.render_feed(planned)
        case _:
            yield planned.path, renderer.render(planned)


@lru_cache(maxsize=1)
def _renderer(theme: bytes) -> tuple[Renderer, dict[str, bytes]]:
    """A renderer and its texts; cached, since it has compiled its templates and caches texts shown twice."""
    texts: dict[str, bytes] = {}
    read_theme = pickle.loads(zlib.decompress(theme))  # noqa: S301 - as above
    return Renderer(read_theme, lambda digest: texts[digest].decode("utf-8", "replace")), texts


# Writes ZIP files, the same bytes for the same files wherever and whenever it is done.


_YEAR_ZERO = (1980, 1, 1, 0, 0, 0)  # the first time that a ZIP can hold


def zip_bytes(files: Mapping[str, bytes]) -> bytes:
    """A ZIP with these files by path, in their order.

    They are stored, not compressed: compressed bytes differ between versions of zlib, and a web server can give a part
    of what is stored.
    """
    from zipfile import ZIP_STORED, ZipFile, ZipInfo  # noqa: PLC0415 - few sites have ZIP files

    stream = io.BytesIO()
    with ZipFile(stream, "w", ZIP_STORED) as archive:
        for path, data in files.items():
            info = ZipInfo(path, _YEAR_ZERO)
            info.create_system = 3  # Unix, on every system, so that the permissions count
            info.external_attr = 0o100644 << 16
            archive.writestr(info, data)
    return stream.getvalue()


# Makes units: their pages, and the other files.


Bytes = tuple[str, str, bytes | None]
"""An output: its path, the fingerprint of its model, and its bytes; None if it stays as it is."""


class MadeUnit(Value):
    """A unit with its outputs, and the digests of what it is given and of its reads (None if it was not traced)."""

    given: str
    reads: Mapping[TracedRead, str] | None
    outputs: tuple[Bytes, ...]


class Fresh(Value):
    """An output that has to be rendered, and the fingerprint of its model."""

    planned: Planned
    fingerprint: str


class Draft(Value):
    """A unit that other machines render: as `MadeUnit`, with fingerprints for the outputs that are not rendered yet."""

    given: str
    reads: Mapping[TracedRead, str] | None
    outputs: tuple[Bytes | str, ...]

    def finish(self, files: Iterable[Files]) -> MadeUnit:
        """The unit, completed with the files of each missing output, in their order."""
        rendered = iter(files)
        outputs: list[Bytes] = []
        for output in self.outputs:
            if isinstance(output, str):
                outputs += ((path, output, data) for path, data in next(rendered))
            else:
                outputs.append(output)
        return MadeUnit(given=self.given, reads=self.reads, outputs=tuple(outputs))


class Maker(Value):
    """Makes units. `last` is the manifest of the last build, `common` the digests of what all units are made of now.

    `is_there` says of units that did not change whether their outputs are there unchanged. `is_last_known`
    says that `last` is what was built last in this output folder, and not empty.
    """

    context: Context
    digests: Digests
    renderer: Renderer
    bytes_of: Callable[[str], bytes]
    last: Manifest
    common: Mapping[str, str]
    output: OutputFolder
    is_there: IsThere
    is_last_known: bool

    def known(self, unit: Unit) -> Made | None:
        """The unit as the last build made it, if what is common to all units has not changed."""
        return self.last.units.get(unit.name) if self.last.common == self.common else None

    def warm(self) -> None:
        """Compute before forking what each process would otherwise compute for itself."""
        self.renderer.warm()
        _ = self.context.seats

    def make(self, unit: Unit) -> MadeUnit:
        """Plan and render one unit. Raises `ConfigError` for a fault of the theme."""
        reads: set[TracedRead] = set()
        outputs = tuple(found for one in self._planned(unit, reads) for found in self._rendered(one))
        given, noted = self._noted(unit, reads)
        return MadeUnit(given=given, reads=noted, outputs=outputs)

    def draft(self, unit: Unit, theme: bytes) -> tuple[Draft, Parcel]:
        """Plan one unit, and pack its outputs to be rendered with the theme as packed by `pack_theme`."""
        reads: set[TracedRead] = set()
        outputs: list[Bytes | str] = []
        unrendered: list[Unrendered] = []
        for one in self._planned(unit, reads):
            if isinstance(one, Fresh) and not isinstance(one.planned, StateBlock | Stored | Written | Packed):
                outputs.append(one.fingerprint)
                unrendered.append(one.planned)
            else:
                outputs += self._rendered(one)
        given, noted = self._noted(unit, reads)
        draft = Draft(given=given, reads=noted, outputs=tuple(outputs))
        return draft, pack(unrendered, theme, self.bytes_of, weight=unit.weight)

    def _planned(self, unit: Unit, reads: MutableSet[TracedRead]) -> Iterator[Bytes | Fresh]:
        context = traced(self.context, reads) if unit.is_traced else self.context
        made = self.known(unit)
        before: dict[str, list[ManifestOutput]] = {}
        for output in made.outputs if made else ():
            before.setdefault(output.fingerprint, []).append(output)
        for planned in unit.make(context):
            fingerprint = digest_of(planned)
            same = before.get(fingerprint)
            if same is not None and all(self.output.is_as_left(one.path, one.state) for one in same):
                for output in same:
                    yield output.path, fingerprint, None
            else:
                yield Fresh(planned=planned, fingerprint=fingerprint)

    def _noted(self, unit: Unit, reads: Iterable[TracedRead]) -> tuple[str, Mapping[TracedRead, str] | None]:
        if not unit.is_traced:
            return "", None
        return self.digests.of_value(unit.given), {read: self.digests.of_read(read) for read in reads}

    def _rendered(self, one: Bytes | Fresh) -> Iterator[Bytes]:
        if not isinstance(one, Fresh):
            yield one
            return
        match one.planned:
            case Stored():
                yield one.planned.path, one.fingerprint, self.bytes_of(one.planned.sha256)
            case Written():
                yield one.planned.path, one.fingerprint, one.planned.data
            case Packed():
                files = {file.path: self._bytes(file) for file in one.planned.files}
                yield one.planned.path, one.fingerprint, zip_bytes(files)
            case StateBlock():
                for path, data in render_states(one.planned):
                    yield path, one.fingerprint, data
            case planned:
                for path, data in render(planned, self.renderer):
                    yield path, one.fingerprint, data

    def _bytes(self, file: Stored | Written) -> bytes:
        return file.data if isinstance(file, Written) else self.bytes_of(file.sha256)


def common_digests(context: Context, digests: Digests, *, theme: str) -> dict[str, str]:
    """Digests of what every unit depends on besides its reads, by name; `theme` is the digest of the theme."""
    return {"program": program_digest(), "theme": theme, "site": digests.of_value(common_values(context))}


def maker_of(context: Context, theme: Theme, memory: Memory, output: OutputFolder) -> Maker:
    """The maker of a build that continues from what is remembered; to be called before it writes any unit."""
    digests = Digests(context, before=memory.digests)
    return Maker(
        context=context,
        digests=digests,
        renderer=memory.renderer(theme),
        bytes_of=memory.shelf.get,
        last=memory.manifest,
        common=common_digests(context, digests, theme=theme.digest),
        output=output,
        is_last_known=bool(memory.manifest.units) and memory.is_ours(output),
        is_there=memory.will_build(output),
    )


class MadeSite(Value):
    """The manifest of a build, and the only files that may have to be removed; None if those are not known."""

    manifest: Manifest
    former: tuple[str, ...] | None


def make_site(
    units: Sequence[Unit], maker: Maker, *, jobs: int, progress: Progress, run_elsewhere: Run | None, listener: Listener
) -> MadeSite:
    """Make the stale units in `jobs` processes, write their new outputs, and note the reads and outputs of each.

    Outputs are written in the order of the units, wherever they are made: they are planned here and rendered by
    `run_elsewhere`, if there is one.
    """
    progress("decide", 0, 0)
    output, last = maker.output, maker.last
    decisions = decide(units, last, common=maker.common, digests=maker.digests, is_there=maker.is_there)
    stale = [one.unit for one in decisions if one.why]
    if len(stale) > BATCH:
        maker.renderer.share_texts()
        if jobs > 1:
            maker.warm()
    # A cluster client has started threads by a second round, and a process with threads must not fork.
    run_here: Run = partial(run, jobs=jobs, is_renewed=run_elsewhere is None)
    results = _made_elsewhere(stale, maker, run_here, run_elsewhere) if run_elsewhere else _made(stale, maker, run_here)
    noted = Manifest(common=maker.common, reads=Reads(last.reads) if last.common == maker.common else Reads())
    former: list[str] = []
    used: set[int] = set()
    done = 0
    is_told = False
    with closing(results):
        for decision in decisions:
            unit, made = decision.unit, decision.made
            if unit.is_for_programs and not is_told:
                is_told = True
                if output.written:
                    listener.all_written()
            if made is not None and not decision.why:
                _keep(unit.name, made, last.units, noted.units, output=output)
                used.update(made.reads or ())
                continue
            progress("make", done, len(stale))
            done += 1
            former += (one.path for one in made.outputs) if made else ()
            result = next(results)
            if unit.synced == "never":
                output.sync()  # what has to be kept is in its place before anything else follows
            reads = None if result.reads is None else tuple(noted.reads.note(*read) for read in result.reads.items())
            used.update(reads or ())
            noted.units.note(
                unit.name, Made(given=result.given, reads=reads, outputs=_write(result, decision, output, listener))
            )
        next(results, None)  # there is no more, and so the processes end
    noted.reads.keep(used)
    gone = (last.units[name] for name in last.units if name not in noted.units)
    former += (one.path for made in gone for one in made.outputs)
    return MadeSite(manifest=noted, former=tuple(former) if maker.is_last_known else None)


Results = Generator[MadeUnit, None, None]


def _made(units: Sequence[Unit], maker: Maker, run_here: Run) -> Results:
    return run_here(lambda place: maker.make(units[place]), range(len(units)), weight=lambda place: units[place].weight)


def _made_elsewhere(units: Sequence[Unit], maker: Maker, run_here: Run, run_elsewhere: Run) -> Results:
    """Other machines do not have the archive. So units are planned here, and sent with their texts to be rendered."""
    theme = pack_theme(maker.renderer.theme)
    under_way: deque[Draft] = deque()
    drafted = run_here(
        lambda place: maker.draft(units[place], theme), range(len(units)), weight=lambda place: units[place].weight
    )

    def parcels() -> Iterator[Parcel]:
        for draft, parcel in drafted:
            under_way.append(draft)
            yield parcel

    with closing(drafted), closing(run_elsewhere(render_parcel, parcels(), weight=lambda one: one.weight)) as rendered:
        for files in rendered:
            yield under_way.popleft().finish(files)


def _keep(name: str, made: Made, known: Units, noted: Units, *, output: OutputFolder) -> None:
    if output.keep_all([one.path for one in made.outputs]):
        noted.keep(name, made, known)
        return
    states = [output.keep(one.path, one.state) for one in made.outputs]
    if all(state == one.state for state, one in zip(states, made.outputs, strict=True)):
        noted.keep(name, made, known)
        return
    kept = (replace(one, state=state) for state, one in zip(states, made.outputs, strict=True))
    noted.note(name, replace(made, outputs=tuple(kept)))  # another unit has taken one of its paths


def _write(
    result: MadeUnit, decision: Decision, output: OutputFolder, listener: Listener
) -> tuple[ManifestOutput, ...]:
    made, synced = decision.made, decision.unit.synced
    states = {one.path: one.state for one in made.outputs} if made else {}
    outputs: list[ManifestOutput] = []
    new: list[str] = []
    for path, fingerprint, data in result.outputs:
        before = output.written
        state = output.keep(path, states[path]) if data is None else output.write(path, data, synced=synced)
        if output.written > before:
            new.append(path)
        outputs.append(ManifestOutput(path=path, fingerprint=fingerprint, state=state))
    for path in new:
        listener.output_written(path)
    return tuple(outputs)
