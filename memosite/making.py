"""Makes a unit: plans it, and renders what of it did not stay as it was; in any process.

unit ─► traced context ─► planned output ─► fingerprint ─┬─ known, and there: kept
└─ else: bytes
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from memosite.feeds import FeedFile
from memosite.manifest import Made, Output
from memosite.plan import Context, Planned, Stored, Unit, Written
from memosite.plan.traced import Digests, Read, traced
from memosite.render import Renderer
from memosite.search.blocks import Block, render_block
from memosite.stale import GIVEN, IsThere
from memosite.values import digest_of

Bytes = tuple[str, str, bytes | None]
"""An output: its path, the fingerprint of its model, and its bytes; None if it stays as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUnit:
    """A unit with its reads, or None if it was not traced, and its outputs."""

    reads: Mapping[Read, str] | None
    outputs: tuple[Bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """What units are made with. `known` gives what is known of a unit from the last build, by its name."""

    context: Context
    digests: Digests
    renderer: Renderer
    read_bytes: Callable[[str], bytes]
    known: Callable[[str], Made | None]
    is_there: IsThere

    def make(self, unit: Unit) -> MadeUnit:
        """Plan and render one unit. Raises `ConfigError` for a fault of the theme."""
        reads: set[Read] = set()
        context = traced(self.context, reads) if unit.is_traced else self.context
        made = self.known(unit.name)
        before: dict[str, list[Output]] = {}
        for output in made.outputs if made else ():
            before.setdefault(output.fingerprint, []).append(output)
        outputs = [found for planned in unit.make(context) for found in self._outputs(planned, before)]
        if not unit.is_traced:
            return MadeUnit(reads=None, outputs=tuple(outputs))
        noted = {read: self.digests.of_read(read) for read in reads} | {GIVEN: self.digests.of_value(unit.given)}
        return MadeUnit(reads=noted, outputs=tuple(outputs))

    def _outputs(self, planned: Planned, before: Mapping[str, Iterable[Output]]) -> Iterator[Bytes]:
        fingerprint = digest_of(planned)
        same = before.get(fingerprint)
        if same is not None and all(self.is_there(one.path, one.state) for one in same):
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
