"""Random edits of an organization: each is a function of it and a seeded generator, and says what it did.

An edit does what it can in whatever state it finds, and says "" where there is nothing to do: so that a list of edits
still means something when some of them are left out (`tests/support/trials.py`).
"""

import random
from collections.abc import Callable

from tests.support.organization import Organization

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
