"""[I/O] Measures how fast secrets are looked for, beside parsing: `python -m benchmarks.secrets` (see README.md)."""

import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from benchmarks.arguments import parser
from benchmarks.as_memodef import write_site
from benchmarks.organization import artifacts
from benchmarks.table import MEGABYTE, align
from memosite.facts.file import File
from memosite.formats.adapters import parse
from memosite.secrets import find_secrets


def main(arguments: Sequence[str]) -> None:
    """Look through the files of an organization of each size, parse them, and print MB a second of one core."""
    options = parser("secrets", __doc__, parts=("find", "parse")).parse_args(arguments)
    find_secrets("")  # the rules are loaded once in a process
    lines = [["artifacts", "files", "MB", "find, MB/s", "found", "parse, MB/s", "find / parse"]]
    for memos in sorted(options.memos):
        with tempfile.TemporaryDirectory(prefix="memosite-benchmark-", dir=options.work) as work:
            site = Path(work) / "site"
            write_site(site, islice(artifacts(memos, seed=options.seed), memos), with_git=False)
            paths = sorted(path for path in site.rglob("*") if path.is_file())
            files = [File(source="site", path=path.name, data=path.read_bytes()) for path in paths]
        texts = [file.data.decode() for file in files]
        size = sum(len(file.data) for file in files) / MEGABYTE
        began = time.process_time()
        found = sum(len(find_secrets(text)) for text in texts)
        middle = time.process_time()
        for file in files:
            parse(file)
        finding, parsing = middle - began, time.process_time() - middle
        speeds = (f"{size / finding:.1f}", str(found), f"{size / parsing:.1f}", f"{finding / parsing:.2f} ×")
        lines.append([f"{memos:,}", f"{len(files):,}", f"{size:.1f}", *speeds])
    print(align(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
