"""[I/O] Reads a manuscript from disk: Markdown, HTML, plain text, LaTeX; `.docx`, `.odt`, `.epub` by running Pandoc."""

import os
from pathlib import Path

from memosite.facts.errors import SourceError
from memosite.facts.parsed import Written
from memosite.quotes.blocks import Block, plain_blocks
from memosite.quotes.citations import CONVERTED_ENDINGS, HTML_ENDINGS, MARKDOWN_ENDINGS, bibtex_entries
from memosite.quotes.html import html_blocks
from memosite.quotes.latex import bibliographies, tex_blocks
from memosite.quotes.markdown import markdown_blocks
from memosite.run.processes import Child, Limits, SlowError, WordyError

_LIMITS = Limits(seconds=120, memory=4 << 30, output=256 << 20)


def read_manuscript(path: Path) -> tuple[Block, ...]:
    """The blocks of a manuscript. What Pandoc converts has for lines those of the HTML that it writes.

    Raises `SourceError` if it cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix in CONVERTED_ENDINGS:
        return tuple(html_blocks(converted_text(path)))
    text = _read(path).decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    if suffix in HTML_ENDINGS:
        return tuple(html_blocks(text))
    if suffix == ".tex":
        return tuple(tex_blocks(text, entries_beside(path, text)))
    return tuple(markdown_blocks(text) if suffix in MARKDOWN_ENDINGS else plain_blocks(text))


def entries_beside(path: Path, text: str) -> dict[str, Written]:
    """The citations in the BibTeX files that a LaTeX document names, by the names of their entries."""
    found: dict[str, Written] = {}
    for name in bibliographies(text):
        try:
            entries = (path.parent / name).read_bytes().decode("utf-8-sig", "replace")
        except OSError:
            continue  # what its entries cite is told by their names
        found |= dict(bibtex_entries(entries))
    return found


def converted_text(path: Path, data: bytes | None = None) -> str:
    """A `.docx`, `.odt` or `.epub` file, or its `data`, as HTML, a line for each paragraph, by Pandoc.

    Raises `SourceError` if it cannot be read.
    """
    data = _read(path) if data is None else data
    command = ["pandoc", f"--from={path.suffix[1:].lower()}", "--to=html", "--wrap=none", "--sandbox"]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    try:
        child = Child(command, limits=_LIMITS, environment=kept | {"LC_ALL": "C.UTF-8"}, folder=path.absolute().parent)
    except OSError as error:
        text = f"{path}: pandoc cannot be run ({error.strerror}); install it, or save the file as Markdown or HTML"
        raise SourceError(text) from error
    try:
        found = b"".join(child.pieces(data))
        if child.returncode:
            said = child.said.decode("utf-8", "replace").strip().split("\n")[-1]
            raise SourceError(f"{path}: pandoc cannot read it: {said}")
    except SlowError as error:
        raise SourceError(f"{path}: pandoc took more than {_LIMITS.seconds:.0f} seconds") from error
    except WordyError as error:
        raise SourceError(f"{path}: it is too large as text") from error
    finally:
        child.close()
    return found.decode("utf-8", "replace")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror})") from error
