"""Writes ZIP files, the same bytes for the same files wherever and whenever it is done."""

import io
from collections.abc import Mapping

_YEAR_ZERO = (1980, 1, 1, 0, 0, 0)  # the first time that a ZIP can hold


def zip_bytes(files: Mapping[str, bytes]) -> bytes:
    """A ZIP with these files by path, in their order.

    They are stored, not compressed: compressed bytes differ between versions of zlib, and a web server can give a part
    of what is stored.
    """
    from zipfile import ZIP_STORED, ZipFile, ZipInfo  # noqa: PLC0415 - few sites have ZIP files

    stream = io.BytesIO()
    with ZipFile(stream, "w", ZIP_STORED) as archive:
        for path, data in files.items():
            info = ZipInfo(path, _YEAR_ZERO)
            info.create_system = 3  # Unix, on every system, so that the permissions count
            info.external_attr = 0o100644 << 16
            archive.writestr(info, data)
    return stream.getvalue()
