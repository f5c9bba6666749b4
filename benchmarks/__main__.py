"""[I/O] Measures all that has a bar in one run: `python -m benchmarks --memos 2000 10000` (see README.md)."""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import build, commands, serve
from benchmarks.arguments import parser
from benchmarks.table import USUAL

PARTS = {"build": build.main, "serve": serve.main, "commands": commands.main}


def main(arguments: Sequence[str]) -> None:
    """Measure builds at each size, the server and the commands at the largest one that is no larger than 10,000."""
    options = parser("", __doc__, parts=tuple(PARTS)).parse_args(arguments)
    one = max((memos for memos in options.memos if memos <= USUAL), default=min(options.memos))
    said: dict[str, object] = {}
    for name in options.only or PARTS:
        with tempfile.TemporaryDirectory(prefix="memosite-benchmark-", dir=options.work) as work:
            sizes = options.memos if name == "build" else [one]
            given = [f"--rounds={options.rounds}", f"--seed={options.seed}", f"--work={work}", f"--json={work}/said"]
            PARTS[name](["--memos", *map(str, sizes), *given])
            said[name] = json.loads(Path(work, "said").read_text())
    if options.json:
        options.json.write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
