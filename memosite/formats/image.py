"""Measures images by the bytes of their headers; nothing is decoded (SPEC 4).

The format is what the first bytes say, whatever the file is called: PNG, JPEG, GIF, WebP, AVIF. A size in pixels that
no screen needs is refused, since whoever looks at the page would decode it.
"""

from collections.abc import Iterator
from typing import Final

from memosite.facts.file import File
from memosite.facts.names import blob_id
from memosite.facts.parsed import ImageFile, Parsed
from memosite.facts.patterns import regex

IMAGE_LIMIT: Final = 5 * 1024 * 1024
"""The most bytes of an image that is published."""

_MOST_SIDE, _MOST_PIXELS = 16_000, 40_000_000
_MOST_PARTS = 10_000  # of a file whose header is searched for its size
_TURNED = frozenset({5, 6, 7, 8})  # orientations of EXIF that swap width and height
_NOT_TOLD = "its size cannot be read"

_WORDS: Final = regex(rb"(?:[\x20-\x7e]|[\xc2-\xf4][\x80-\xbf]{1,3}){6,}")

_Size = tuple[str, int, int]
"""The ending of a format, width and height."""


def parse(file: File) -> Parsed:
    """Measure one image; only one that is published goes on the shelf."""
    found = refusal(file) or _measured(file.data)
    if isinstance(found, str):
        return file.parsed(ImageFile(file=file.facts, why_not=found))
    form, width, height = found
    return file.parsed(ImageFile(file=file.facts, form=form, width=width, height=height), (), file.data)


def refusal(file: File) -> str:
    """Why a file is not looked at as an image; "" if it is."""
    size = len(file.data)
    if size > IMAGE_LIMIT:
        return f"{size / 2**20:.1f} MB; at most {IMAGE_LIMIT // 2**20} MB are shown"
    is_whole = not file.is_redacted and file.blob in ("", blob_id(file.data))
    return "" if is_whole else "it holds what must not be published"


def words_in(data: bytes) -> bytes:
    """What of an image may be text, such as a comment: a line for each run of characters.

    Each is there also without its last characters: a comment of a PNG is followed by a checksum of four bytes.
    """
    return b"\n".join(run[: len(run) - cut] for run in _WORDS.findall(data) for cut in range(5))


def _measured(data: bytes) -> _Size | str:
    """Format and size of an image by its header, or why it is none to be shown."""
    try:
        size = _size(data)
    except (IndexError, ValueError):
        return _NOT_TOLD
    if size is None:
        return "not a PNG, JPEG, GIF, WebP or AVIF file"
    _, width, height = size
    if min(width, height) < 1:
        return _NOT_TOLD
    if max(width, height) > _MOST_SIDE or width * height > _MOST_PIXELS:
        return f"{width:,} × {height:,} pixels are too many"
    return size


def _size(data: bytes) -> _Size | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        if data[12:16] != b"IHDR":
            raise ValueError(_NOT_TOLD)
        return "png", _big(data, 16, 4), _big(data, 20, 4)
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "gif", _little(data, 6, 2), _little(data, 8, 2)
    if data.startswith(b"\xff\xd8\xff"):
        return "jpg", *_of_jpeg(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp", *_of_webp(data)
    if data[4:8] == b"ftyp" and b"avif" in _brands(data):
        return "avif", *_of_avif(data)
    return None


def _big(data: bytes, at: int, count: int) -> int:
    return int.from_bytes(_exactly(data, at, count), "big")


def _little(data: bytes, at: int, count: int) -> int:
    return int.from_bytes(_exactly(data, at, count), "little")


def _exactly(data: bytes, at: int, count: int) -> bytes:
    found = data[at : at + count]
    if len(found) != count:
        raise ValueError(_NOT_TOLD)
    return found


def _of_jpeg(data: bytes) -> tuple[int, int]:
    """The size that the first frame has, turned as EXIF says."""
    at, is_turned = 2, False
    for _ in range(_MOST_PARTS):
        while data[at] == 0xFF and data[at + 1] == 0xFF:  # fill bytes
            at += 1
        if data[at] != 0xFF:
            break
        marker, length = data[at + 1], _big(data, at + 2, 2)
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = _big(data, at + 5, 2), _big(data, at + 7, 2)
            return (height, width) if is_turned else (width, height)
        if marker == 0xE1 and data[at + 4 : at + 10] == b"Exif\0\0":
            is_turned = _orientation(data[at + 10 : at + 2 + length]) in _TURNED
        if marker in {0xD9, 0xDA} or length < 2:
            break
        at += 2 + length
    raise ValueError(_NOT_TOLD)


def _orientation(tiff: bytes) -> int:
    """The orientation in the first directory of EXIF; 1 is as stored."""
    number = _little if tiff.startswith(b"II") else _big
    try:
        directory = number(tiff, 4, 4)
        for index in range(number(tiff, directory, 2)):
            entry = directory + 2 + 12 * index
            if number(tiff, entry, 2) == 0x0112:
                return number(tiff, entry + 8, 2)
    except ValueError:
        pass
    return 1


def _of_webp(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X":
        return _little(data, 24, 3) + 1, _little(data, 27, 3) + 1
    if kind == b"VP8L" and data[20] == 0x2F:
        bits = _little(data, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        return _little(data, 26, 2) & 0x3FFF, _little(data, 28, 2) & 0x3FFF
    raise ValueError(_NOT_TOLD)


def _brands(data: bytes) -> tuple[bytes, ...]:
    end = min(_big(data, 0, 4), 256)
    return tuple(data[at : at + 4] for at in (8, *range(16, end, 4)))


def _of_avif(data: bytes) -> tuple[int, int]:
    """The largest size that the file's properties name: of the image, not of its thumbnail."""
    where = (0, len(data))
    for name, head in ((b"meta", 4), (b"iprp", 0), (b"ipco", 0)):
        start, end = next((box for kind, *box in _boxes(data, *where) if kind == name), (0, 0))
        where = (start + head, end)
    sizes = [
        (_big(data, start + 4, 4), _big(data, start + 8, 4))
        for kind, start, _ in _boxes(data, *where)
        if kind == b"ispe"
    ]
    if not sizes:
        raise ValueError(_NOT_TOLD)
    return max(width for width, _ in sizes), max(height for _, height in sizes)


def _boxes(data: bytes, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """The boxes in a part of a file: the name of each, where its content begins and ends."""
    for _ in range(_MOST_PARTS):
        if start + 8 > end:
            return
        size, kind = _big(data, start, 4), data[start + 4 : start + 8]
        if size < 8 or start + size > end:
            return
        yield kind, start + 8, start + size
        start += size
