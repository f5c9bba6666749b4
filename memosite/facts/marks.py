"""Tells which texts may name a file or a commit, by a row of each text, without the text.

    text ─► its runs of letters and digits, of commits' ids the beginning ─► a number of 24 bits each ─► a row

A name that stands alone in a text has each of its runs there as a whole. So a text that has it is found for certain;
of others one in thousands is, too, and has to be read.
"""

import re
from collections.abc import Iterable
from typing import Final
from zlib import crc32

BEGINNING: Final = 7
"""By how many characters the id of a commit is found: no shorter ones count as ids."""

_RUNS: Final = re.compile(r"[0-9A-Za-z]+")
_ID: Final = re.compile(r"[0-9a-f]{7,}")


def make_row(text: str) -> bytes:
    """The marks of a text, in order."""
    return b"".join(sorted(marks_of(text)))


def marks_of(text: str) -> set[bytes]:
    """The marks of a text; a row that has all those of a name may be of a text with that name.

    The name is a file's, or the beginning of a commit's id. One without letters and digits of ASCII has no marks, and
    may be in any text.
    """
    return {crc32(one.encode()).to_bytes(4)[1:] for one in _shortened(set(_RUNS.findall(text)))}


def _shortened(runs: Iterable[str]) -> Iterable[str]:
    return {run[:BEGINNING] if len(run) > BEGINNING and _ID.fullmatch(run) else run for run in runs}
