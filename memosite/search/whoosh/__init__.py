"""The index on disk by Whoosh: its fields; what our analyzer found goes in as it is, and is read back as it is.

Whoosh writes the schema into its index by pickling it. It is never read from there: whoever opens an index hands over
`schema()`, so that an index stays valid when these classes move to another module.

Whoosh would take texts apart itself, word by word through objects of its own; handing it terms with their positions
is several times as fast and leaves no second analyzer to keep in step.
"""

import warnings
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

with warnings.catch_warnings():
    # Compiled for the first time, a module of Whoosh may warn of its own spelling; nothing of it concerns us.
    warnings.simplefilter("ignore", SyntaxWarning)
    import whoosh.index  # noqa: F401 - is compiled here, with what it imports
    from whoosh import columns, fields, formats

Terms = Mapping[str, Sequence[int]]


UNDATED = -(2**63)
"""The date of what has none."""


class Positions(fields.FieldType):  # type: ignore[misc] # Whoosh has no types
    """A field whose value is a mapping from terms to their positions."""

    def __init__(self) -> None:
        super().__init__(formats.Positions(), None, scorable=True)

    def index(self, value: Terms, **_: Any) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Terms with frequency, weight and positions, as Whoosh stores them."""
        for term, positions in value.items():
            yield term.encode(), len(positions), float(len(positions)), array("I", positions).tobytes()


class Keys(fields.FieldType):  # type: ignore[misc] # Whoosh has no types
    """A field whose value is some terms, without positions."""

    def __init__(self) -> None:
        super().__init__(formats.Existence(), None, scorable=False)

    def index(self, value: Iterable[str], **_: Any) -> Iterator[tuple[bytes, int, float, bytes]]:
        """Terms, each once."""
        for term in value:
            yield term.encode(), 1, 1.0, b""


def schema() -> Any:
    """The fields of every index."""
    return fields.Schema(
        key=Keys(),
        text=Positions(),
        subject=Positions(),
        name=Positions(),
        keys=Keys(),
        date=fields.COLUMN(columns.NumericColumn("q", default=UNDATED)),
        order=fields.COLUMN(columns.VarBytesColumn()),
        facts=fields.STORED(),
    )


def read_positions(stored: bytes) -> "array[int]":
    """What `Positions` stored for a term in a document."""
    return array("I", stored)
