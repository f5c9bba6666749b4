"""[I/O] Reads a site and makes its search blocks, nothing else: `python -m benchmarks.blocks SITE FOLDER`."""

import sys
from collections.abc import Iterable
from pathlib import Path

from memosite.config.loading import load_config
from memosite.facts.parsed import Ref
from memosite.plan import context_of
from memosite.plan.search import block_members, plan_block
from memosite.reading.archive import open_archive
from memosite.run.workers import BATCH, default_jobs, run
from memosite.search.blocks import list_blocks, render_block, render_states


def main(site: Path, folder: Path) -> None:
    """Write the blocks as a build does, one at a time and process."""
    config = load_config(site)
    with open_archive(config) as handle:
        archive, _ = handle.read()
        context = context_of(config, archive, handle.shelf)
        blocks = list(block_members(context))

        def make(block: tuple[str, tuple[Ref, ...]]) -> list[tuple[str, bytes]]:
            words, states = plan_block(context, *block)
            return [*render_block(words, text_of=handle.shelf.text), *render_states(states)]

        _write(folder, [list_blocks([name for name, _ in blocks])])
        for files in run(make, blocks, jobs=default_jobs(), weight=lambda _: BATCH):
            _write(folder, files)


def _write(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    for path, data in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
