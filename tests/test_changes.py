"""Changes as the system tells of them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memosite.config.loading import load_config
from memosite.serve import each_change
from tests.support.files import write_text
from tests.support.memos import write_memo

NAME = "2026-05-01-1430--a--b--first"


@contextmanager
def changes(site: Path, due: list[bool]) -> Iterator[Iterator[frozenset[str] | None]]:
    """The changes of a site; whoever waits for ever is told to stop."""
    stop = threading.Event()
    patience = threading.Timer(60, stop.set)
    patience.start()
    config = load_config(site)
    try:
        yield each_change(lambda: config, stop, is_due=lambda: bool(due and due.pop()))
    finally:
        patience.cancel()
        stop.set()


def test_folders_that_are_made_anew_under_their_names_and_manuscripts_are_watched(tmp_path: Path) -> None:
    """What is written into them later is seen; a manuscript's own folder is no source."""
    inbox = tmp_path / "memos/inbox"
    write_memo(inbox, NAME)
    with changes(tmp_path, []) as told:
        assert next(told) is None
        inbox.rename(tmp_path / "memos/kept")
        inbox.mkdir()
        while next(told) is not None:  # and then it is watched anew
            pass
        path = write_memo(inbox, NAME)
        assert str(path) in (next(told) or ())
    written = tmp_path / "written"
    write_memo(written / "office/memos/inbox", NAME)
    write_text(written / "memosite.yml", 'sources: [{path: office}]\ncitations: ["book/**/*.md"]\n')
    with changes(written, []) as told:
        assert next(told) is None
        (written / "book/part").mkdir(parents=True)
        while next(told) is not None:  # and then it is watched anew
            pass
        path = write_text(written / "book/part/one.md", "# One\n")
        assert str(path) in (next(told) or ())


def test_what_is_due_is_done_although_nothing_happens(tmp_path: Path) -> None:
    """Nobody knows then what has changed."""
    write_memo(tmp_path / "memos/inbox", NAME)
    with changes(tmp_path, [True]) as told:
        assert [next(told), next(told)] == [None, None]
