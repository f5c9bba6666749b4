"""[I/O] The cache folder: what costs only time to lose, kept out of git."""

from contextlib import suppress
from pathlib import Path


def open_cache(folder: Path) -> Path | None:
    """Make the cache folder ready, with a .gitignore that keeps it out of git; None where it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError:
        return None
    return folder


def write_whole(file: Path, data: bytes) -> None:
    """Write a file of the cache, whole or not at all; if it cannot be written, it is made again next time."""
    partial = file.with_name(f".{file.name}.partial")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(data)
        partial.replace(file)
