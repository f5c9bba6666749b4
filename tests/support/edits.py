"""Random edits of an organization: each is a function of it and a seeded generator, and says what it did.

An edit does what it can in whatever state it finds, and says "" where there is nothing to do: so that a list of edits
still means something when some of them are left out (`tests/support/trials.py`).
"""

import random
from collections.abc import Callable
from functools import wraps
from pathlib import Path

from tests.support.organization import Organization, pick

Edit = Callable[[Organization, random.Random], str]

EDITS: dict[str, Edit] = {}
"""Every edit by its name."""
WEIGHTS: dict[str, int] = {}
"""How often each is done, relative to the others."""


def edit(weight: int = 2) -> Callable[[Edit], Edit]:
    """Register an edit under the name of its function."""

    def register(function: Edit) -> Edit:
        EDITS[function.__name__] = function
        WEIGHTS[function.__name__] = weight
        return function

    return register


def edit_file(
    weight: int = 2, *, among: Callable[[Organization], list[Path]] = Organization.memos
) -> Callable[[Callable[[Organization, random.Random, Path], str]], Edit]:
    """Register an edit of one of these files, or of a memo; where there is none, it does nothing."""

    def register(function: Callable[[Organization, random.Random, Path], str]) -> Edit:
        @edit(weight)
        @wraps(function)
        def edited(org: Organization, rng: random.Random) -> str:
            file = pick(rng, among(org))
            return "" if file is None else function(org, rng, file)

        return edited

    return register
