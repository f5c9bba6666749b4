"""Says verdicts in words: the tier, what else is to be known, and a word diff of what differs."""

from collections.abc import Iterator, Sequence

from memosite.quotes.verdict import Change

_SHOWN = 60
"""The most words of a stretch that is the same."""


def diff_lines(changes: Sequence[Change], *, is_cut: bool) -> Iterator[str]:
    """The word diff of a changed quote as a line: `[-what the source says-]` `{+what the quote says+}`."""
    if not changes:
        return
    parts = []
    for kind, words in changes:
        said = words.split()
        if kind == "same" and len(said) > _SHOWN:
            said = [*said[: _SHOWN // 2], "…", *said[-_SHOWN // 2 :]]
        text = " ".join(said)
        parts.append({"same": text, "source": f"[-{text}-]", "quote": f"{{+{text}+}}"}[kind])
    yield f"    {' '.join(parts)}{' …' if is_cut else ''}"
