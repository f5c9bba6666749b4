"""Exports an mbox: all messages in one file, each after a `From ` line.

No line of a message begins with `From ` or `>From ` (see `mail`), so the file reads the same as mboxo, mboxrd and
by readers that unquote nothing. `Status` and `X-Status` hold the flags, as mutt, Dovecot and Python understand them.
"""

import datetime as dt
from collections.abc import Iterator

from memosite.archive.model import Artifact
from memosite.exporters.flags import is_answered, is_flagged, is_unread
from memosite.exporters.job import Export
from memosite.exporters.mail import Composer
from memosite.exporters.target import Target, write_chunks

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def write(job: Export, target: Target) -> None:
    """Write all messages, in order of arrival."""
    write_chunks(target, _messages(job))


def _messages(job: Export) -> Iterator[bytes]:
    composer = Composer(job)
    for artifact in job.artifacts():
        # ctime() gives the names of C's asctime, whatever the locale
        date = (artifact.date.instant if artifact.date else _EPOCH).ctime()
        yield f"From {composer.sender_address(artifact)} {date}\n{_status(artifact)}".encode("ascii")
        yield composer.compose(artifact)
        yield b"\n"


def _status(artifact: Artifact) -> str:
    marks = ("A" if is_answered(artifact) else "") + ("F" if is_flagged(artifact) else "")
    status = "" if is_unread(artifact) else "Status: RO\n"
    return status + (f"X-Status: {marks}\n" if marks else "")
