"""Images of texts, as pages show them."""

from typing import NamedTuple


class ShownImage(NamedTuple):
    """An image of a text: where it is written, its file as seen from this page, its size; or why it is not shown."""

    written: str
    href: str = ""
    width: int = 0
    height: int = 0
    why_not: str = ""
