"""Reads the bundles of a lean site as a program of somebody else would: by what the contract says of them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag
from zipfile import ZipFile


def keys_of(bundle: Path) -> list[str]:
    """The keys in a file of a bundle, in its order."""
    match bundle.suffix:
        case ".jsonl":
            return list(json_of(bundle))
        case ".md":
            return list(markdown_of(bundle))
        case _:
            return list(files_of(bundle))


def json_of(bundle: Path) -> dict[str, Any]:
    """The twins of a bundle by key, as JSON."""
    lines = [json.loads(line) for line in bundle.read_text(encoding="utf-8").split("\n") if line]
    found = {line.pop("key"): line for line in lines}
    assert len(found) == len(lines)
    return found


def markdown_of(bundle: Path) -> dict[str, str]:
    """The twins of a bundle by key, as Markdown: each from its line to that of the next, less an empty one between."""
    lines = bundle.read_text(encoding="utf-8").split("\n")
    head = lines[: lines.index("---")]
    begins = [re.fullmatch(r"- (\d+): (\S+)", line) for line in head if line.startswith("- ")]
    places = [(int(one[1]) - 1, one[2]) for one in begins if one]
    ends = [line for line, _ in places] + [len(lines) - 1]
    return {key: "\n".join(lines[line : end - 1]) + "\n" for (line, key), end in zip(places, ends[1:], strict=True)}


def files_of(bundle: Path) -> dict[str, bytes]:
    """The files in the ZIP of a bundle by path."""
    with ZipFile(bundle) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def bundles_of(site: Path, pattern: str) -> Iterator[Path]:
    """The files of this name in all bundles of a site."""
    yield from sorted((site / "archive").rglob(pattern))


def followed(start: Path, href: str) -> tuple[Path, str]:
    """Where a link into a bundle leads from a folder: the file, and the key."""
    path, fragment = urldefrag(href)
    return (start / unquote(path)).resolve(), unquote(fragment)
