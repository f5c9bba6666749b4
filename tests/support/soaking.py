"""How much a test tries: a part for each commit, and all of it in `make soak`, which runs every night."""

import os
from typing import TypeVar

_T = TypeVar("_T")
SOAKS = "MEMOSITE_SOAK" in os.environ
"""Whether this is `make soak`."""


def most(few: _T, *, in_soak: _T) -> _T:
    """What is tried for each commit; in `make soak` the other, which is more."""
    return in_soak if SOAKS else few
