"""The shelf: what it says when there is no room."""

import hashlib
import resource

import pytest

from memosite.facts.errors import OutputError
from memosite.run.workers import run
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


def test_what_is_fetched_is_not_written_where_other_processes_read() -> None:
    """Forked processes share the file: each of them would write its text in the place of the others'."""
    texts = {hashlib.sha256(data).hexdigest(): data for data in (b"%d" % number * 5_000 for number in range(200))}
    with Shelf() as shelf:
        shelf.fetch_missing(texts.get)
        for _ in range(2):
            found = run(lambda digest: shelf.get(digest) == texts[digest], list(texts), jobs=3)
            assert list(found) == [True] * len(texts)
        shelf.put(b"another one")
        assert all(shelf.get(digest) == data for digest, data in texts.items())
        assert [*shelf._places] == [hashlib.sha256(b"another one").hexdigest()]
