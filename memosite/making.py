"""Makes a unit: plans it, and renders what of it did not stay as it was; in any process.

A unit is planned once more if anything that it read has changed, and each of its outputs rendered only if its own
model has:

    unit ─► traced context ─► planned output ─► fingerprint ─┬─ known, and there: kept
                                                            └─ else: bytes
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memosite.feeds import FeedFile
from memosite.manifest import Made, Manifest, Output, Reads, Units
from memosite.output import OutputFolder
from memosite.plan import Context, Planned, Stored, Unit, Written
from memosite.plan.traced import Digests, Read, traced
from memosite.progress import Progress
from memosite.render import Renderer
from memosite.search.blocks import Block, render_block
from memosite.stale import decide
from memosite.values import digest_of
from memosite.workers import run

Bytes = tuple[str, str, bytes | None]
"""An output: its path, the fingerprint of its model, and its bytes; None if it stays as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUnit:
    """A unit with the digests of what it is about and of its reads, or None if it was not traced, and its outputs."""

    given: str
    reads: Mapping[Read, str] | None
    outputs: tuple[Bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """What units are made with. `last` is what the last build made, `common` what all units are made of now."""

    context: Context
    digests: Digests
    renderer: Renderer
    read_bytes: Callable[[str], bytes]
    last: Manifest
    common: Mapping[str, str]
    output: OutputFolder

    def known(self, unit: Unit) -> Made | None:
        """The unit as it was made last, if what is common to all is what it was."""
        return self.last.units.get(unit.name) if self.last.common == self.common else None

    def make(self, unit: Unit) -> MadeUnit:
        """Plan and render one unit. Raises `ConfigError` for a fault of the theme."""
        reads: set[Read] = set()
        context = traced(self.context, reads) if unit.is_traced else self.context
        made = self.known(unit)
        before: dict[str, list[Output]] = {}
        for output in made.outputs if made else ():
            before.setdefault(output.fingerprint, []).append(output)
        outputs = [found for planned in unit.make(context) for found in self._outputs(planned, before)]
        if not unit.is_traced:
            return MadeUnit(given="", reads=None, outputs=tuple(outputs))
        noted = {read: self.digests.of_read(read) for read in reads}
        return MadeUnit(given=self.digests.of_value(unit.given), reads=noted, outputs=tuple(outputs))

    def _outputs(self, planned: Planned, before: Mapping[str, Iterable[Output]]) -> Iterator[Bytes]:
        fingerprint = digest_of(planned)
        same = before.get(fingerprint)
        if same is not None and all(self.output.is_as_left(one.path, one.state) for one in same):
            for output in same:
                yield output.path, fingerprint, None
            return
        for path, data in self._render(planned):
            yield path, fingerprint, data

    def _render(self, planned: Planned) -> Iterable[tuple[str, bytes]]:
        match planned:
            case Block():
                return render_block(planned, read_text=self.context.read_text)
            case FeedFile():
                return [(planned.path, self.renderer.render_feed(planned))]
            case Stored():
                return [(planned.path, self.read_bytes(planned.sha256))]
            case Written():
                return [(planned.path, planned.data)]
        return [(planned.path, self.renderer.render(planned))]


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeSite:
    """What was made of what, and the files that the last build made and that may be there no longer."""

    manifest: Manifest
    former: tuple[str, ...]


def make_site(units: Sequence[Unit], maker: Maker, *, jobs: int, progress: Progress) -> MadeSite:
    """Make the units that are stale, by `jobs` processes, write what is new of them, and note what was made of what.

    Outputs are written in the order of the units, whoever makes them.
    """
    progress("decide", 0, 0)
    output, last = maker.output, maker.last
    decisions = decide(units, last, common=maker.common, digests=maker.digests, is_there=output.is_as_left)
    stale = [one.unit for one in decisions if one.why]
    weights = [unit.weight for unit in stale]
    results = run(lambda place: maker.make(stale[place]), range(len(stale)), jobs=jobs, weight=weights.__getitem__)
    noted = Manifest(common=maker.common, reads=Reads(last.reads) if last.common == maker.common else Reads())
    former: list[str] = []
    done = 0
    for decision in decisions:
        unit, made = decision.unit, decision.made
        if made is not None and not decision.why:
            _keep(unit.name, made, last.units, noted.units, output=output)
            continue
        progress("make", done, len(stale))
        done += 1
        former += (one.path for one in made.outputs) if made else ()
        result = next(results)
        reads = None if result.reads is None else tuple(noted.reads.note(*read) for read in result.reads.items())
        noted.units.note(unit.name, Made(given=result.given, reads=reads, outputs=_write(result, made, output)))
    next(results, None)  # there is no more, and so the processes end
    gone = (last.units[name] for name in last.units if name not in noted.units)
    former += (one.path for made in gone for one in made.outputs)
    return MadeSite(manifest=noted, former=tuple(former))


def _keep(name: str, made: Made, known: Units, noted: Units, *, output: OutputFolder) -> None:
    states = [output.keep(one.path, one.state) for one in made.outputs]
    if all(state == one.state for state, one in zip(states, made.outputs, strict=True)):
        noted.keep(name, made, known)
        return
    kept = (replace(one, state=state) for state, one in zip(states, made.outputs, strict=True))
    noted.note(name, replace(made, outputs=tuple(kept)))  # another unit has taken one of its paths


def _write(result: MadeUnit, made: Made | None, output: OutputFolder) -> tuple[Output, ...]:
    states = {one.path: one.state for one in made.outputs} if made else {}
    return tuple(
        Output(
            path=path,
            fingerprint=fingerprint,
            state=output.keep(path, states[path]) if data is None else output.write(path, data),
        )
        for path, fingerprint, data in result.outputs
    )
