"""The beginnings of anchors that tell apart the texts of one page: the parts of a transcript, the summary of a memo.

Anchors of headings hold no ".", so no anchor of one text is that of another.
"""

from typing import Final

__all__ = ["PREAMBLE", "SUMMARY", "block_prefix"]

PREAMBLE: Final = "preamble-"
"""Of a transcript, what comes before the first turn."""

SUMMARY: Final = "summary."
"""Of a memo with a body file, the text in its envelope."""


def block_prefix(turn: str, number: int) -> str:
    """What is put before the anchors of the passages of a turn's block, counted from 0; `turn` is the turn's anchor."""
    return f"{turn}.{number + 1}-" if number else f"{turn}-"
