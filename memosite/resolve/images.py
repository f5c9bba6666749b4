"""Finds the images that texts show among the files of their own source (SPEC 4)."""

from collections.abc import Iterable, Mapping

from memosite.archive.images import TextImage
from memosite.facts.images import IMAGE_SUFFIXES, image_place, is_elsewhere
from memosite.facts.parsed import ImageFile, Parsed, Ref, Text
from memosite.formats.system import FilePlace
from memosite.resolve.links import TextOrigin

_WITHOUT = frozenset({"transcript", "library"})


def text_images(
    texts: Iterable[tuple[Ref, Text, TextOrigin]], parsed: Iterable[Parsed]
) -> dict[Ref, tuple[TextImage, ...]]:
    """The images of memos, notes, documents and records, in the order written."""
    files = {(one.source, one.path): one.fact for one in parsed if isinstance(one.fact, ImageFile)}
    return {
        ref: tuple(_image(written, origin, files) for written in text.images)
        for ref, text, origin in texts
        if text.images and ref[0] not in _WITHOUT
    }


def _image(written: str, origin: TextOrigin, files: Mapping[FilePlace, ImageFile]) -> TextImage:
    place = image_place(written, origin.folder)
    found = files.get((origin.source, place)) if place else None
    if found is None or found.why_not:
        return TextImage(written=written, why_not=found.why_not if found else _why_not(written, place))
    return TextImage(written=written, sha256=found.file.sha256, form=found.form, width=found.width, height=found.height)


def _why_not(written: str, place: str | None) -> str:
    """Why there is no file for what is written."""
    if is_elsewhere(written):
        return "not a file of its repo, so it is not loaded"
    if place is None:
        return "outside of its source"
    if place.lower().endswith((".svg", ".svgz")):
        return "SVG is not shown"
    if not place.lower().endswith(IMAGE_SUFFIXES):
        return "not a PNG, JPEG, GIF, WebP or AVIF file"
    return "not found"
