"""Runs a check on inputs that a machine made up: the same few in the test command, ever new ones in `make soak`.

    @fuzz(mutated(SEEDS, WORDS), examples=300, known=[b"what once made it fail"])
    def test_a_feed_is_read_or_refused(data: bytes) -> None: ...

MEMOSITE_FUZZ=SECONDS gives each check so much processor time, with new seeds. It then prints how many inputs it tried
in how much time; Hypothesis keeps an input that fails, made small, in `.hypothesis`, and the next run begins with it.
"""

import os
import random
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import HealthCheck, given, seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.errors import HypothesisWarning
from hypothesis.strategies import SearchStrategy

from tests.support.files import ROOT
from tests.support.mutations import as_bytes
from tests.support.sites import EXAMPLE

SOAK = float(os.environ.get("MEMOSITE_FUZZ", "0"))
"""How many seconds of processor time each check gets; without it, each tries the examples it names."""

SLOW = 20.0
"""The most seconds of processor time that one input may take in a soak; in the test command nothing is timed."""

ROUND = 500
"""How many inputs a soak tries with one seed: Hypothesis compares all of a round with each other."""

SHARE = 5
"""The test command tries this part of the examples that a check names; the soak every night tries many times more."""

_CALM = settings(deadline=None, suppress_health_check=list(HealthCheck))
_SEARCHING = settings(
    _CALM, derandomize=False, print_blob=True, database=DirectoryBasedExampleDatabase(ROOT / ".hypothesis/examples")
)

_T = TypeVar("_T")


def fuzz(
    inputs: SearchStrategy[_T], *, examples: int, known: Sequence[_T] = ()
) -> Callable[[Callable[[_T], None]], Callable[[], None]]:
    """Make a test of a check that has to hold for each of these inputs, and for the `known` ones first."""

    def decorate(check: Callable[[_T], None]) -> Callable[[], None]:
        def test() -> None:
            for one in known:
                check(one)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", HypothesisWarning)  # that a large input takes long to print
                if SOAK:
                    _soak(check, inputs)
                else:
                    settings(_CALM, max_examples=max(3, examples // SHARE))(given(inputs)(check))()

        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        return test

    return decorate


def _soak(check: Callable[[_T], None], inputs: SearchStrategy[_T]) -> None:
    """Try new inputs until the time is up, and say how many there were and which took longest."""
    begun, count, longest = _processor_time(), 0, 0.0

    def timed(value: _T) -> None:
        nonlocal count, longest
        count += 1
        start = _processor_time()
        check(value)
        took = _processor_time() - start
        longest = max(longest, took)
        assert took < SLOW, f"it took {took:.1f} s"

    timed.__name__ = check.__name__  # what fails is kept under this name
    chance = random.SystemRandom()
    try:
        while _processor_time() - begun < SOAK:
            settings(_SEARCHING, max_examples=ROUND)(seed(chance.getrandbits(64))(given(inputs)(timed)))()
    finally:
        spent = _processor_time() - begun
        print(f"{check.__name__}: {count:,} inputs in {spent:.0f} s of processor time, at most {longest:.2f} s for one")


def _processor_time() -> float:
    """The processor time of this process and of the children that have ended."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8", "replace")
    for folder in (EXAMPLE, ROOT / "docs", ROOT / "tests/cases")
    for path in sorted(folder.glob("**/*.md"))
    if "_site" not in path.parts
}
"""Markdown that people wrote: the example, the documents, the cases."""


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for one input."""
    with tempfile.TemporaryDirectory(prefix="memosite-tests-") as folder:
        yield Path(folder)


LEDGER_LINES: list[dict[str, Any]] = [
    {"v": 1, "n": 1, "kind": "memo", "id": "2026-05-01-1430--a--b--c", "key": "0123456789abcdef"},
    {"v": 1, "n": 2, "kind": "record", "id": "decision.x", "key": "0123456789abcdee", "system": "mif"},
    {"v": 1, "kind": "thread", "id": "2026-05-01-1430--a--b--c", "member": "memo/2026-05-01-1430--a--b--c"},
    {"v": 1, "kind": "position", "id": "director"},
    {"v": 1, "kind": "month", "id": "2026/05"},
    {"v": 1, "kind": "ghost", "id": "memo/x"},
    {"v": 1, "kind": "alias", "id": "memo/x", "to": "document/y"},
    {"v": 1, "kind": "block", "id": "positions/director/feed", "n": 1, "items": [1, 2]},
    {"v": 1, "kind": "changes", "id": "memo/2026-05-01-1430--a--b--c"},
]
"""One of each kind."""


def jsonl(lines: Any) -> bytes:
    """Lines of JSON, as far as it is a list."""
    return b"\n".join(as_bytes(line).replace(b"\n", b"") for line in (lines if isinstance(lines, list) else [lines]))
