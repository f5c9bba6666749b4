"""The arguments that all benchmarks take."""

import argparse
from collections.abc import Sequence
from pathlib import Path


def parser(name: str, said: str | None, *, parts: Sequence[str]) -> argparse.ArgumentParser:
    """The arguments of `python -m benchmarks.<name>`, which consists of these parts."""
    found = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}".rstrip("."), description=said)
    found.add_argument("--memos", type=int, nargs="+", default=[1_000], help="artifacts, one size or several")
    found.add_argument("--only", choices=parts, action="append", help="measure this part; may be given again")
    found.add_argument("--rounds", type=int, default=3, metavar="N", help="measure all so often; medians count")
    found.add_argument("--seed", type=int, default=1, help="another seed invents another organization")
    found.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured to FILE")
    found.add_argument("--work", type=Path, metavar="DIR", help="make the sites below DIR, not in the temporary folder")
    return found
