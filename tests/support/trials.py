"""Runs random edits and builds, and cuts down those after which a build was wrong to the few that it needs.

A trial is a list of steps, each with a seed of its own: edits, and builds in the ways of `builders.WAYS`. The same list
does the same again, also with some steps left out; but for when a killed build dies.
"""

import itertools
import random
import shutil
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from memosite.facts.errors import MemositeError
from tests.support import edits_memos, edits_repos, edits_site  # noqa: F401 - all three register their edits
from tests.support.builders import WAYS, Builder, fault_of_build
from tests.support.edits import EDITS, WEIGHTS
from tests.support.edits_site import undo_last
from tests.support.organization import Organization, Settings
from tests.support.staying import Staying

SHRINKING_SECONDS = 240
CONTENT = frozenset(name for name, one in EDITS.items() if one.__module__ == edits_memos.__name__)
"""The edits of artifacts."""


@dataclass(frozen=True, slots=True)
class Step:
    """An edit by its name, or a build by its way."""

    name: str
    seed: int

    @property
    def is_build(self) -> bool:
        """Whether the site is built here."""
        return self.name in WAYS


@dataclass(slots=True)
class Outcome:
    """What the steps did, in words, and in what the last build was wrong; "" if in nothing."""

    done: list[str] = field(default_factory=list)
    fault: str = ""


def random_steps(seed: int, edits: int, *, ways: Sequence[str] = tuple(WAYS), is_each_once: bool = False) -> list[Step]:
    """So many edits, with a build before, and one after each small batch of them.

    A batch is of one kind: a commit or another title is a reason to make all pages again, and would hide what was
    forgotten of a memo. With `is_each_once` none is done twice before each was done once; else some come more often
    than others.
    """
    rng = random.Random(seed)
    names = rng.choices(list(WEIGHTS), list(WEIGHTS.values()), k=edits)
    if is_each_once:
        names = [*rng.sample(list(EDITS), len(EDITS)), *names][:edits]
    steps = [Step(ways[0], 0)]
    kinds = [[name for name in names if (name in CONTENT) == is_content] for is_content in (True, False)]
    while any(kinds):
        [kind] = rng.choices(kinds, [len(kind) for kind in kinds])
        batch = [kind.pop() for _ in range(min(len(kind), rng.randint(1, 3)))]
        steps += [Step(name, rng.randrange(2**32)) for name in batch]
        steps.append(Step(rng.choice(ways), rng.randrange(2**32)))
    return steps


def run_steps(
    folder: Path, steps: Sequence[Step], *, is_last_only: bool = False, settings: Settings | None = None
) -> Outcome:
    """Do the steps in a new organization until a build is wrong. With `is_last_only` other builds are not compared.

    `settings` are further ones of its configuration.
    """
    org, outcome = Organization(folder / "site", settings), Outcome()
    with Staying() as staying:
        builder = Builder(org, staying)
        for place, step in enumerate(steps):
            if not step.is_build:
                outcome.done.append(f"{step}: {do(org, step)}")
            elif is_last_only and place < len(steps) - 1:
                with suppress(MemositeError, AssertionError):
                    builder.build_all(WAYS[step.name])
            else:
                outcome.done.append(str(step))
                outcome.fault = _fault(builder, step, folder / "clean")
            if outcome.fault:
                break
    return outcome


def do(org: Organization, step: Step) -> str:
    """Do an edit, and say what it did."""
    undo_last(org)
    try:
        return EDITS[step.name](org, random.Random(step.seed)) or "nothing to do"
    except AssertionError as error:  # as a merge in the middle of another one
        if not str(error).startswith("git "):
            raise
        return f"refused: {str(error)[:150]}"


def _fault(builder: Builder, step: Step, clean: Path) -> str:
    try:
        return fault_of_build(builder, WAYS[step.name], clean)
    except Exception as error:  # a build that raises anything else is wrong, too
        return f"{error!r}\n{traceback.format_exc(limit=-6)}"


def check_steps(folder: Path, steps: Sequence[Step]) -> None:
    """Do the steps; if a build is wrong, raise an AssertionError with the few steps that this takes."""
    outcome = run_steps(folder / "trial", steps)
    shutil.rmtree(folder / "trial", ignore_errors=True)
    if not outcome.fault:
        return
    places = itertools.count()

    def is_wrong(some: Sequence[Step]) -> bool:
        there = folder / f"try{next(places)}"
        found = run_steps(there, some, is_last_only=True).fault
        shutil.rmtree(there)
        return bool(found)

    few = shrink(steps[: len(outcome.done)], is_wrong)
    repeated = run_steps(folder / "minimal", few)
    said = [
        f"after {len(outcome.done)} steps, {outcome.fault}",
        f"since the last build that was right: {_lines(_last(outcome.done, steps))}",
        f"these {len(few)} steps are enough: {_lines(repeated.done)}",
        f"which gives: {repeated.fault or 'nothing wrong, so it depends on the moment'}",
        f"once more: run_steps(folder, {few})",
    ]
    raise AssertionError("\n".join(said))


def _lines(done: Sequence[str]) -> str:
    return "".join(f"\n  {line}" for line in done)


def _last(done: Sequence[str], steps: Sequence[Step]) -> Sequence[str]:
    builds = [place for place in range(len(done) - 1) if steps[place].is_build]
    return done[builds[-1] + 1 :] if builds else done


def shrink(steps: Sequence[Step], is_wrong: Callable[[Sequence[Step]], bool]) -> Sequence[Step]:
    """The fewest steps found, in some minutes, after which the last one is wrong: ever smaller parts are left out."""
    end = time.monotonic() + SHRINKING_SECONDS
    builds = [place for place, step in enumerate(steps[:-1]) if step.is_build]
    for kept in (1, 2, 4, 8):  # most faults need the last builds alone
        some = [one for place, one in enumerate(steps[:-1]) if not one.is_build or place in builds[-kept:]]
        if is_wrong([*some, steps[-1]]):
            steps = [*some, steps[-1]]
            break
    size = len(steps)
    while size > 1 and time.monotonic() < end:
        size = max(1, size // 2)
        place = 0
        while place < len(steps) - 1 and time.monotonic() < end:
            few = [*steps[:place], *steps[min(place + size, len(steps) - 1) :]]
            if is_wrong(few):
                steps = few
            else:
                place += size
    return steps
