"""[I/O] The programs that are measured, each as a way to make its input, to add a memo, and to build."""

import os
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from benchmarks.as_hugo import add_to_hugo, write_hugo
from benchmarks.as_memodef import add_to_site, write_site
from benchmarks.interpreter import environment
from benchmarks.measure import Measured, run
from benchmarks.organization import Artifact
from benchmarks.table import OURS
from memosite.facts.values import Value

ROOT = Path(__file__).parent.parent
PACKAGES = "benchmarks/.venv/lib/python*/site-packages"
HUGO, PAGEFIND, CLAUDE_CODE_LOG = (
    f"{PACKAGES}/hugo/binaries/hugo",
    f"{PACKAGES}/pagefind_bin/pagefind",
    "benchmarks/.venv/bin/claude-code-log",
)
"""Called as they are, without the Python that wraps them: it would count as theirs."""


class Tool(Value):
    """A site generator.

    `folder` is that of its site, `output` the one in it that it builds, and `search` in that the one of its search.
    `made` is all that it makes: without these folders, the next build is a full one.
    """

    name: str
    folder: str
    prepare: Callable[[Path, Iterable[Artifact]], None]
    add: Callable[[Path, Artifact], None]
    build: Callable[[Path], Measured]
    output: str
    search: str
    made: tuple[str, ...]


def program(pattern: str) -> Path:
    """A program that `scripts/set-up bench` installs. Raises `SystemExit` that says so."""
    found = next(ROOT.glob(pattern), None)
    if found is None:
        raise SystemExit(f"benchmarks: {pattern} is missing: run scripts/set-up bench")
    return found


def run_module(module: str, *arguments: str | Path, folder: Path) -> Measured:
    """Run a module of this checkout, `memosite` or one of the benchmarks."""
    command = [sys.executable, "-m", module, *arguments]
    return run(command, folder=folder, environment=environment(PYTHONPATH=str(ROOT)))


def run_hugo(site: Path) -> Measured:
    """Run Hugo, then Pagefind over what it built."""
    command: list[str | Path] = [program(HUGO), "--source", site, "--quiet", "--noBuildLock"]
    cache = environment(HUGO_CACHEDIR=str(site / "cache"))
    return run(command, folder=site.parent, environment=cache).then(run_pagefind(site / "public"))


def run_pagefind(pages: Path) -> Measured:
    """Run Pagefind over a folder of pages; its files are `pagefind/` in it.

    It may take nine tenths of the memory there is: should it need more, it fails alone, and not the machine.
    """
    limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 9 // 10
    command: list[str | Path] = ["prlimit", f"--as={limit}", program(PAGEFIND), "--site", pages, "--quiet"]
    return run(command, folder=pages.parent)


def run_claude_code_log(sessions: Path) -> Measured:
    """Run claude-code-log over a folder of sessions: a page each beside them, like ours, without one of all together.

    Raises `SystemExit` if a page is missing: without its cache it ends well and writes none.
    """
    command: list[str | Path] = [program(CLAUDE_CODE_LOG), "convert", sessions, "--combined", "no"]
    measured = run(command, folder=sessions.parent, environment=environment(HOME=str(sessions.parent)))
    pages, wanted = len(list(sessions.glob("session-*.html"))), len(list(sessions.glob("*.jsonl")))
    if pages < wanted:
        raise SystemExit(f"claude-code-log: found {pages} pages in {sessions}, expected {wanted}")
    return measured


def build_site(site: Path) -> Measured:
    """A whole `memosite build`, with feeds and search."""
    return run_module("memosite", "build", site, "--quiet", folder=site.parent)


def memosite(*, with_git: bool) -> Tool:
    """The program of this checkout, over plain folders, or over repos with their history."""
    prepare = partial(write_site, with_git=with_git)
    return Tool(
        name=OURS,
        folder="memosite",
        prepare=prepare,
        add=add_to_site,
        build=build_site,
        output="_site",
        search="search",
        made=("_site", ".memosite"),
    )


def hugo() -> Tool:
    """Hugo and Pagefind."""
    return Tool(
        name="Hugo + Pagefind",
        folder="hugo",
        prepare=write_hugo,
        add=add_to_hugo,
        build=run_hugo,
        output="public",
        search="pagefind",
        made=("public", "resources", "cache"),
    )
