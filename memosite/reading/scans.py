"""[I/O] Keeps where secrets are in contents, by the ids of the contents, so that none is scanned twice.

A scan says where secrets are, by which rules, and holds none. Its row is signed, as all are: whoever could write one
could hide a secret from the gate.
"""

from collections.abc import Mapping

from memosite.reading.redaction import Span, find_spans
from memosite.store.state import SCANS, State
from memosite.store.values import read_value, value_bytes

SCANS_LIMIT = 500_000
"""The most contents of one source whose scans are saved."""

Spans = tuple[Span, ...]
Scanned = Mapping[str, Spans]
"""By ids of contents, where secrets are in them."""


class KnownScans:
    """The scans of one source, and those that this process makes. Without a state nothing is saved."""

    def __init__(self, state: State | None = None, source: str = "") -> None:
        """Each is read when it is asked for."""
        self._state = state or State(None)
        self._rows = self._state[SCANS]
        self._source = source
        self._known: dict[str, Spans] = {}
        self._asked: set[str] = set()
        self._new: set[str] = set()
        self._is_loaded = False

    def spans(self, id_: str, text: str) -> Spans:
        """Where secrets are in a text, by the id of the content it is decoded from."""
        self._asked.add(id_)
        if id_ not in self._known:
            value = None if self._is_loaded else self._rows.get(self._source, id_)
            if value is None:
                self.note({id_: find_spans(text)})
            else:
                self._known[id_] = read_value(value, Spans)
        return self._known[id_]

    def note(self, scanned: Scanned) -> None:
        """Note what was scanned, also by another process."""
        self._new.update(scanned.keys() - self._known)
        self._asked.update(scanned)
        self._known.update(scanned)

    def load(self) -> None:
        """Read all that is saved: processes that are forked afterwards cannot."""
        if not self._is_loaded:
            saved = {str(id_): read_value(value, Spans) for (_, id_), value in self._rows.items(self._source)}
            self._known, self._is_loaded = saved | self._known, True

    def write(self) -> None:
        """Save new scans, up to the limit: those that were not asked for make room."""
        if not self._new:
            return
        with self._state.writing():
            self._rows.put(((self._source, id_), value_bytes(self._known[id_])) for id_ in sorted(self._new))
            over = self._rows.count(self._source) - SCANS_LIMIT
            if over > 0:
                saved = sorted(self._rows.keys(self._source), key=lambda key: key[1] in self._asked)
                self._rows.remove(saved[:over])
        self._new.clear()
