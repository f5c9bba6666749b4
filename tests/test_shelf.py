"""The shelf: what it says when there is no room."""

import resource

import pytest

from memosite.facts.errors import OutputError
from memosite.store.shelf import Shelf


def test_a_full_disk_is_said_with_the_folder_that_is_full() -> None:
    """It has no name to tell, and standard output is not to blame."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Shelf() as shelf:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
        try:
            with pytest.raises(OutputError, match="name another folder in TMPDIR"):
                shelf.put(b"x" * 2_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
