"""A process that stays and builds again, as `memosite serve` does: all that tests know of how it remembers."""

from collections.abc import Iterable
from typing import Self

from memosite.build import build
from memosite.commands.build import now
from memosite.config.schema import Config
from memosite.remake.memory import Memory
from memosite.run.progress import Progress, silent

MADE = frozenset({"resolve", "plan", "decide", "make"})
"""The stages of a build that has found that something changed."""


class Staying:
    """What a server remembers from build to build. It is the caller who says which paths have changed, if he knows."""

    def __init__(self) -> None:
        self._memory = Memory()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._memory.__exit__(None, None, None)

    def build(self, config: Config, *, changed: Iterable[str] | None = None, progress: Progress = silent) -> None:
        """Build as a server does after a change; what it believed is checked, and if it was wrong it builds again."""
        build(config, clock=now, progress=progress, memory=self._memory, changed=changed)
        if not self.settle():
            build(config, clock=now, progress=progress, memory=self._memory)
            assert self.settle(), "the second build left files that are not as they were written"

    def settle(self) -> bool:
        """What a server does when nobody waits; whether the site is whole then."""
        is_whole = self._memory.check()
        self._memory.write()
        return is_whole
