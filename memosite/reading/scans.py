"""[I/O] Caches where secrets are in contents, by the ids of the contents, so that none is scanned twice.

A file of the cache holds the scans of one source. It says where secrets are, by which rules, and holds none. It is
signed, as that of parse results is: whoever could write it could hide a secret from the gate.
"""

from collections.abc import Mapping
from pathlib import Path

from memosite.reading.redaction import Span, find_spans
from memosite.secrets import DIGEST
from memosite.store.cache import program_digest, read_signed, write_signed
from memosite.store.values import read_value, value_bytes

SCANS_LIMIT = 500_000
"""The most contents of one source whose scans are saved, those that were asked for last."""

Spans = tuple[Span, ...]
Scanned = Mapping[str, Spans]
"""By ids of contents, where secrets are in them."""


class KnownScans:
    """The scans of one source. Without a file nothing is saved."""

    def __init__(self, file: Path | None = None) -> None:
        """The file is read when a scan is asked for."""
        self._file = file
        self._program = f"{program_digest()} {DIGEST} ".encode()
        self._known: dict[bytes, Spans] | None = None
        self._is_new = False

    def spans(self, id_: str, text: str) -> Spans:
        """Where secrets are in a text, by the id of the content it is decoded from."""
        known = self._load()
        key = bytes.fromhex(id_)
        spans = known.pop(key, None)
        if spans is None:
            spans, self._is_new = find_spans(text), True
        known[key] = spans  # the last one asked for
        return spans

    def note(self, scanned: Scanned) -> None:
        """Note what another process scanned."""
        for id_, spans in scanned.items():
            key = bytes.fromhex(id_)
            self._is_new = self._is_new or key not in self._load()
            self._load()[key] = spans

    def write(self) -> None:
        """Save the scans, if there are new ones."""
        if self._file is not None and self._known is not None and self._is_new:
            kept = dict(list(self._known.items())[-SCANS_LIMIT:])
            write_signed(self._file, self._program + value_bytes(kept))
        self._is_new = False

    def _load(self) -> dict[bytes, Spans]:
        if self._known is None:
            data = read_signed(self._file) if self._file is not None else None
            is_ours = data is not None and data.startswith(self._program)  # other rules find others
            self._known = read_value(data[len(self._program) :]) if data and is_ours else {}
        return self._known
