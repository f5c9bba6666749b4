"""Packs planned outputs with all that is needed to render them, so that any machine with the same memosite can do it.

    planned outputs ─► pickle ─► the digests found in it ─► texts from the shelf ─► Parcel ─► files of each
    theme ─► templates, compressed ────────────────────────────────────────────────────────┘

A parcel is self-contained, as page models are: rendering needs nothing else, and can be retried elsewhere.
"""

import pickle
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from memosite.feeds.rss import FeedFile
from memosite.pages.models import Page
from memosite.render.renderer import Renderer
from memosite.render.theme import Theme
from memosite.search.blocks import SearchBlock

Unrendered = Page | FeedFile | SearchBlock
"""A planned output that has to be rendered from its model and its texts."""

Files = list[tuple[str, bytes]]
"""A rendered output: files of the site, by path."""

_DIGEST: Final = re.compile(rb"\x8c@([0-9a-f]{64})")
"""A text of 64 characters as `pickle` writes it (SHORT_BINUNICODE), and these are a SHA-256 in hex."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """Some outputs to be rendered. `texts` are bytes by SHA-256, `theme` is the result of `pack_theme`."""

    planned: bytes
    texts: Mapping[str, bytes]
    theme: bytes
    weight: int = 1


def pack_theme(theme: Theme) -> bytes:
    """The templates of a theme; static files are not needed for rendering."""
    return zlib.compress(pickle.dumps(replace(theme, static={})))


def pack(planned: Sequence[Unrendered], theme: bytes, bytes_of: Callable[[str], bytes], *, weight: int = 1) -> Parcel:
    """Pack outputs with every text whose digest is in one of them.

    `bytes_of` gives the bytes of a digest, and raises `KeyError` for an unknown one: content may hold such digests.
    """
    pickled = pickle.dumps(planned, protocol=5)
    texts = {}
    for digest in dict.fromkeys(match.decode() for match in _DIGEST.findall(pickled)):
        try:
            texts[digest] = bytes_of(digest)
        except KeyError:
            continue
    return Parcel(planned=pickled, texts=texts, theme=theme, weight=weight)


def render_parcel(parcel: Parcel) -> list[Files]:
    """The files of each output, in their order. Raises `ConfigError` for a fault of the theme."""
    renderer, texts = _renderer(parcel.theme)
    texts.clear()
    texts.update(parcel.texts)
    outputs: Sequence[Unrendered] = pickle.loads(parcel.planned)  # noqa: S301 - the sender may run anything here anyway
    return [list(render(planned, renderer)) for planned in outputs]


def render(planned: Unrendered, renderer: Renderer) -> Iterator[tuple[str, bytes]]:
    """The files of one output: several of a search block, one of everything else."""
    match planned:
        case SearchBlock():
            yield from renderer.render_block(planned)
        case FeedFile():
            yield planned.path, renderer.render_feed(planned)
        case _:
            yield planned.path, renderer.render(planned)


@lru_cache(maxsize=1)
def _renderer(theme: bytes) -> tuple[Renderer, dict[str, bytes]]:
    """A renderer and its texts; cached, since it has compiled its templates and caches texts shown twice."""
    texts: dict[str, bytes] = {}
    return Renderer(pickle.loads(zlib.decompress(theme)), _reader(texts)), texts  # noqa: S301 - as above


def _reader(texts: Mapping[str, bytes]) -> Callable[[str], str]:
    """Reads texts by digest, as a shelf does."""
    return lambda digest: texts[digest].decode("utf-8", "replace")
