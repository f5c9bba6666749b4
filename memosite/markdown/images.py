"""Defines images that a text may show."""

from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import NamedTuple


class Image(NamedTuple):
    """An image that may be shown: a trusted `src` and its size in pixels; or why it is not."""

    src: str
    width: int
    height: int
    why_not: str = ""

    def tag(self, words: str, title: str) -> str:
        """Its HTML. The size keeps its place on the page until it is loaded."""
        said = f' title="{escape(title)}"' if title else ""
        size = f'width="{self.width}" height="{self.height}"'
        return f'<img src="{escape(self.src)}" alt="{escape(words)}" {size} loading="lazy"{said}>'


NO_IMAGES: Mapping[str, Image] = MappingProxyType({})
