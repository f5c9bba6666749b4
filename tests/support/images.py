"""Makes small images by hand: a PNG that browsers draw, and the heads of other formats."""

import struct
import zlib


def png(width: int = 3, height: int = 2, *, shade: int = 0, text: bytes = b"") -> bytes:
    """A grey PNG, with a text in it if one is given."""
    rows = (b"\0" + bytes([shade]) * width) * height
    said = _chunk(b"tEXt", b"Comment\0" + text) if text else b""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = _chunk(b"IHDR", head) + said + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_head(width: int, height: int) -> bytes:
    """The head of a PNG that says it is so large, and nothing after it."""
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))


def gif(width: int, height: int) -> bytes:
    """The head of a GIF."""
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0;"


def jpeg(width: int, height: int, *, orientation: int = 1) -> bytes:
    """The head of a JPEG as a camera writes it: EXIF, tables, then the frame."""
    entry = struct.pack(">HHIHH", 0x0112, 3, 1, orientation, 0)
    exif = b"Exif\0\0MM\0*" + struct.pack(">IH", 8, 1) + entry + b"\0\0\0\0"
    parts = ((0xE1, exif), (0xDB, bytes(65)), (0xC2, struct.pack(">BHHB", 8, height, width, 3) + bytes(9)))
    return b"\xff\xd8" + b"".join(b"\xff" + struct.pack(">BH", mark, len(one) + 2) + one for mark, one in parts)


def webp(kind: bytes, width: int, height: int) -> bytes:
    """The head of a WebP: lossy (`VP8 `), lossless (`VP8L`) or extended (`VP8X`)."""
    data = {
        b"VP8 ": b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height),
        b"VP8L": b"\x2f" + struct.pack("<I", width - 1 | (height - 1) << 14),
        b"VP8X": bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"),
    }[kind]
    return b"RIFF" + struct.pack("<I", len(data) + 12) + b"WEBP" + kind + struct.pack("<I", len(data)) + data


def avif(width: int, height: int) -> bytes:
    """The boxes of an AVIF that tell its size: of a thumbnail, and of the image."""
    sizes = b"".join(_box(b"ispe", struct.pack(">III", 0, *size)) for size in ((16, 9), (width, height)))
    meta = _box(b"meta", bytes(4) + _box(b"iprp", _box(b"ipco", sizes)))
    return _box(b"ftyp", b"avif\0\0\0\0mif1avif") + meta


def _box(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data) + 8) + kind + data
