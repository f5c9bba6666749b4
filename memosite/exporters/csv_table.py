"""Exports CSV for spreadsheets: a row for each artifact, with its main fields (RFC 4180).

UTF-8 without byte-order mark, CRLF, a header row, lists joined by `; `. A spreadsheet must not run a memo's text:
one that looks like a formula gets a leading apostrophe (OWASP, CSV Injection).
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator

from memosite.exporters.job import Export
from memosite.exporters.target import Target, write_chunks

COLUMNS = (
    *("id", "kind", "system", "url", "subject", "summary", "chars", "from", "to", "date", "thread", "parent"),
    *("ghost_parent", "mailbox", "copies", "action", "recipients", "positions", "tags", "findings", "sha256"),
)
"""The columns, in order; `body` follows if it is asked for."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""What would change a terminal; tables show none of them. Tabs and line ends stay."""

_FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")


def write(job: Export, target: Target) -> None:
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
