"""Images of a source's own repo that texts show: which files they may be (SPEC 4)."""

import posixpath
import re
from urllib.parse import unquote

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif")
"""The endings of files that are looked at; their format is told by their bytes."""

_ELSEWHERE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:|//")


def is_elsewhere(written: str) -> bool:
    """Whether a destination is no path of a file, but an address with a scheme or a host."""
    return _ELSEWHERE.match(written.strip()) is not None


def image_place(written: str, folder: str) -> str | None:
    """The path in its source that a destination names, as seen from the folder of its text; None if it leads out.

    A path that begins with a slash is seen from the source's root, as forges do.
    """
    path = unquote(re.split(r"[?#]", written.strip(), maxsplit=1)[0]).replace("\\", "/")
    place = posixpath.normpath(path.lstrip("/") if path.startswith("/") else posixpath.join(folder, path))
    return None if is_elsewhere(written) or place == ".." or place.startswith(("../", "/")) else place
