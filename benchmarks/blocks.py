"""[I/O] Reads a site and makes its search blocks, nothing else: `python -m benchmarks.blocks SITE FOLDER`."""

import sys
from functools import partial
from pathlib import Path

from memosite.build import load_archive
from memosite.config import load_config
from memosite.search.analyzer import Analyzer
from memosite.search.blocks import Block, cut_blocks, list_blocks, render_block
from memosite.search.documents import describe
from memosite.shelf import Shelf
from memosite.workers import default_jobs, run


def main(site: Path, folder: Path) -> None:
    """Write the blocks as a build does."""
    with Shelf() as shelf:
        archive, _ = load_archive(load_config(site), shelf)
        analyzer = Analyzer()
        cut = cut_blocks(archive.artifacts.values(), lambda artifact: artifact.arrival)
        blocks = (
            Block(name=name, cards=tuple(describe(archive, artifact, analyzer) for artifact in members))
            for name, members in cut
        )
        _write(folder, [list_blocks([name for name, _ in cut])])
        for files in run(partial(render_block, read_text=shelf.text), blocks, jobs=default_jobs(), batch=1):
            _write(folder, files)


def _write(folder: Path, files: list[tuple[str, bytes]]) -> None:
    for path, data in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
