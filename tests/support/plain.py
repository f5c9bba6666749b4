"""Says what a body says, in plain text."""

from memosite.markdown.plain import plain_lines


def plain_text(text: str) -> str:
    """The words of a body without markup: a line for each block and each row of a table."""
    return "\n".join(one.text for one in plain_lines(text))
