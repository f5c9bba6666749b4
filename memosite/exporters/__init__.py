"""Exports an archive as JSON Lines, CSV, mbox or maildir: one module for each, listed in `EXPORTERS`.

UTF-8 without byte-order mark, CRLF, a header row, lists joined by `; `. A spreadsheet must not run a memo's text:
one that looks like a formula gets a leading apostrophe (OWASP, CSV Injection).

No line of a message begins with `From ` or `>From ` (see `mail`), so the file reads the same as mboxo, mboxrd and
by readers that unquote nothing. `Status` and `X-Status` hold the flags, as mutt, Dovecot and Python understand them.

Artifacts are written in order of arrival and one at a time; memory holds one text, however large the archive.
Equal archives give equal bytes. To add a format: one file with a `write(job, target)`, one line in `EXPORTERS`.
"""

import csv
import datetime as dt
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from memosite.archive.lines import dump_line
from memosite.archive.model import Archive, Artifact
from memosite.exporters import target
from memosite.exporters.mail import Composer, Export, is_answered, is_flagged, is_unread
from memosite.exporters.target import Target, write_chunks
from memosite.facts.errors import ConfigError
from memosite.store.shelf import Shelf

# Exports JSON Lines, the stable machine interface: one line for each artifact (SPEC 8).


def write_jsonl(job: Export, target: Target) -> None:
    """Write one line for each artifact, in UTF-8, each with a line feed."""
    write_chunks(target, (f"{dump_line(line)}\n".encode() for line in job.lines()))


# Exports CSV for spreadsheets: a row for each artifact, with its main fields (RFC 4180).


COLUMNS = (
    *("id", "kind", "system", "url", "subject", "summary", "chars", "from", "to", "date", "thread", "parent"),
    *("ghost_parent", "mailbox", "copies", "action", "recipients", "positions", "tags", "findings", "sha256"),
)
"""The columns, in order; `body` follows if it is asked for."""


_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""What would change a terminal; tables show none of them. Tabs and line ends stay."""


_FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")


def write_csv(job: Export, target: Target) -> None:
    """Write a header and one row for each artifact."""
    write_chunks(target, _rows(job))


def _rows(job: Export) -> Iterator[bytes]:
    columns = (*COLUMNS, "body") if job.with_body else COLUMNS
    yield _row(columns)
    for line in job.lines():
        yield _row(_cell(line.get(column)) for column in columns)


def _row(cells: Iterable[str]) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\r\n").writerow(cells)
    return buffer.getvalue().encode("utf-8", "replace")


def _cell(value: object) -> str:
    text = "; ".join(map(_item, value)) if isinstance(value, list) else "" if value is None else str(value)
    text = _CONTROLS.sub("\ufffd", text)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _item(value: object) -> str:
    """An entry of a list: a copy as `source/path`, a recipient as `position: action`, anything else as it is."""
    match value:
        case {"source": source, "path": path}:
            return f"{source}/{path}"
        case {"position": position, "action": action}:
            return f"{position}: {action}" if action else str(position)
    return str(value)


# Exports an mbox: all messages in one file, each after a `From ` line.


_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def write_mbox(job: Export, target: Target) -> None:
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


# Exports an archive as JSON Lines, CSV, mbox or maildir: one module for each, listed in `EXPORTERS`.


Exporter = Callable[[Export, Target], None]


EXPORTERS: Mapping[str, Exporter] = MappingProxyType(
    {"jsonl": write_jsonl, "mbox": write_mbox, "maildir": target.write_maildir, "csv": write_csv}
)
"""The exporters by the names that `--format` takes."""


def export(
    archive: Archive,
    shelf: Shelf,
    *,
    format: str,  # noqa: A002 - the option's name
    with_body: bool,
    base_url: str | None,
    archive_id: str,
    authority: str,
    target: Target,
) -> None:
    """Write the archive to a file, a folder (maildir) or a stream in one of the formats of `EXPORTERS`.

    `with_body` adds the text to JSON Lines and CSV; a mail always has its text. A file appears only once it is
    complete. Raises `ConfigError` for an unknown format or a maildir without a folder, `OutputError` for a target
    that cannot be written or is not memosite's; errors of a stream, such as a closed pipe, are the caller's.
    """
    exporter = EXPORTERS.get(format)
    if exporter is None:
        raise ConfigError(f"--format: found {format!r}, expected {', '.join(EXPORTERS)}")
    job = Export(
        archive=archive, shelf=shelf, with_body=with_body, base_url=base_url, archive_id=archive_id, authority=authority
    )
    exporter(job, target)
