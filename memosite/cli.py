"""The command line: arguments, printing, exit codes (SPEC 8).

Exit 0 fine, 1 what was asked does not hold, 2 usage or configuration, 130 interrupted.
"""

import argparse
import contextlib
import datetime as dt
import gc
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memosite import __version__
from memosite.commands.arguments import parser
from memosite.facts.errors import ConfigError, MemositeError

if TYPE_CHECKING:
    from threading import Event

    from memosite.config.loading import Config
    from memosite.remake.audience import Audience
    from memosite.remake.order import BuildReport
    from memosite.run.workers import Run
    from memosite.serve.server import Changed

EXIT_FINE, EXIT_NOT_SO, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    gc.set_threshold(50_000, 20, 100)  # an archive is many values that live to the end: looking for garbage took 7 %
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that knows fewer characters than our findings
            stream.reconfigure(errors="backslashreplace")
    try:
        options = parser().parse_args(arguments)
        code = _COMMANDS[options.run](options)
        sys.stdout.flush()
    except MemositeError as error:
        print(f"memosite: {error}", file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has had enough; what Python still holds back must not raise again.
        _forget_output()
        return EXIT_FINE
    except OSError as error:
        print(f"memosite: {error.filename or 'standard output'}: {error.strerror}", file=sys.stderr)
        _forget_output()
        return EXIT_USAGE
    return code


def _forget_output() -> None:
    """Let what Python still holds back for standard output go nowhere, so that it does not raise at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# What the commands do. Imports stand inside, so that each starts with no more than it needs.


def _site(options: argparse.Namespace) -> Path:
    if options.site is not None and options.site_option is not None:
        raise ConfigError(f"found both {options.site} and --site {options.site_option}; name the site once")
    return options.site or options.site_option or Path()


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def _jobs(wanted: int | None) -> int:
    from memosite.run.workers import default_jobs

    if wanted is not None and wanted < 1:
        raise ConfigError(f"--jobs {wanted}: found {wanted}, expected 1 or more")
    return wanted or default_jobs()


def _build(options: argparse.Namespace) -> int:
    from memosite.build import build
    from memosite.commands.report import fails
    from memosite.config.loading import load_config
    from memosite.run.progress import Profile, shown, silent

    config = load_config(_site(options), output=options.output, base_url=options.base_url, cache=options.cache)
    elsewhere = _elsewhere(options.cluster)
    with contextlib.nullcontext(silent) if options.quiet else shown() as told:
        profile = Profile(told)
        report = build(
            config,
            clock=_now,
            jobs=_jobs(options.jobs),
            run_elsewhere=elsewhere,
            previous=options.previous,
            progress=profile,
        )
    if not options.quiet:
        print(_summary(report, config, options))
    if options.profile:
        print("\n".join(profile.lines()))
    return EXIT_NOT_SO if fails(report.findings, options.fail_on) else EXIT_FINE


def _elsewhere(cluster: str | None) -> "Run | None":
    if cluster is None:
        return None
    from memosite.run.cluster import cluster_at

    return cluster_at(cluster).run


def _summary(report: "BuildReport", config: "Config", options: argparse.Namespace) -> str:
    from memosite.commands.summary import summary

    return summary(report, index=_shown(config.output / "index.html"), site=_shown(_site(options)))


def _shown(path: Path) -> str:
    """A path as short as it can be said from here."""
    with contextlib.suppress(ValueError):
        return path.resolve().relative_to(Path.cwd()).as_posix()
    return str(path)


def _serve(options: argparse.Namespace) -> int:
    from memosite.build import build
    from memosite.config.loading import load_config
    from memosite.remake.memory import Memory
    from memosite.run.progress import shown, silent
    from memosite.serve.server import Rebuilt, check_port, serve

    def say(text: str) -> None:
        if not options.quiet:
            print(text, flush=True)

    def warn(text: str) -> None:
        print(f"memosite: {text}", file=sys.stderr, flush=True)

    def load() -> "Config":
        return load_config(_site(options), output=options.output, base_url=options.base_url, cache=options.cache)

    def rebuild(changed: "Changed", stop: "Event", audience: "Audience") -> "Rebuilt":
        def go_on(_stage: str, _done: int, _total: int) -> None:
            if stop.is_set():
                raise MemositeError("interrupted")

        config = load()
        if config.output != served:
            raise ConfigError(f"output: now {config.output}, but {served} is served; start memosite serve again")
        gc.disable()  # looking for garbage takes a tenth of the time that somebody waits for
        try:
            report = build(
                config,
                clock=_now,
                jobs=_jobs(None),
                use_network=False,
                progress=go_on,
                audience=audience,
                memory=memory,
                changed=changed,
            )
        finally:
            gc.enable()
        is_new = report.written > 1 or report.removed > 0  # status.json is written in any case
        if is_new:
            say(_summary(report, config, options))
        return Rebuilt(config=config, is_new=is_new)

    def settle() -> bool:
        is_whole = memory.check()  # first: what fails to be written down takes nothing back
        memory.write()
        return is_whole

    check_port(options.port)
    config = load()
    served = config.output
    with Memory() as memory:
        with contextlib.nullcontext(silent) if options.quiet else shown() as told:
            report = build(config, clock=_now, jobs=_jobs(None), progress=told, memory=memory)
        say(_summary(report, config, options))
        memory.write()
        memory.is_thorough = True  # once more while nobody waits: what was made elsewhere is not remembered here
        serve(config, port=options.port, rebuild=rebuild, settle=settle, say=say, warn=warn)
    return EXIT_FINE


def _explain(options: argparse.Namespace) -> int:
    from memosite.commands.explain import explain
    from memosite.config.loading import load_config

    config = load_config(_site(options), output=options.output, cache=options.cache)
    print("\n".join(explain(config, options.path)))
    return EXIT_FINE


def _check(options: argparse.Namespace) -> int:
    from memosite.commands.check import check
    from memosite.commands.report import fails, to_json, to_sarif, to_text

    checked = check(options.paths or [options.site_option or Path()], cache=options.cache)
    if options.format == "json":
        text = to_json(checked.findings)
    elif options.format == "sarif":
        text = to_sarif(checked.findings, version=__version__, root_of=checked.root_of)
    else:
        text = to_text(checked.findings, root_of=checked.root_of)
    if not options.quiet or (
        options.format == "text" and fails((one.severity for one in checked.findings), options.fail_on)
    ):
        print(text)
    return EXIT_NOT_SO if fails((one.severity for one in checked.findings), options.fail_on) else EXIT_FINE


def _export(options: argparse.Namespace) -> int:
    from memosite.commands.report import fails
    from memosite.commands.summary import unreadable
    from memosite.config.loading import load_config
    from memosite.exporters import export
    from memosite.remake.pipeline import load_archive
    from memosite.search.command import restrict
    from memosite.store.shelf import Shelf

    if options.output is None and options.format == "maildir":
        raise ConfigError("export --format maildir: a maildir is a folder; name it with -o")
    config = load_config(options.site_option or Path(), base_url=options.base_url, cache=options.cache)
    with Shelf() as shelf:
        archive, _ = load_archive(config, shelf)
        if options.query is not None:
            archive = restrict(archive, shelf, config, options.query, say=_sayer(options))
        export(
            archive,
            shelf,
            format=options.format,
            with_body=options.with_body,
            base_url=config.base_url,
            archive_id=config.archive_id,
            authority=config.authority,
            target=options.output or sys.stdout.buffer,
        )
    if not options.quiet and (said := unreadable(archive)):
        print(f"memosite: {said}", file=sys.stderr)
    return EXIT_NOT_SO if fails((one.severity for one in archive.findings), options.fail_on) else EXIT_FINE


def _sayer(options: argparse.Namespace) -> "Callable[[str], None]":
    """Says on standard error what takes time, unless told to be quiet."""
    return (lambda _: None) if options.quiet else (lambda text: print(text, file=sys.stderr, flush=True))


def _search(options: argparse.Namespace) -> int:
    from memosite.commands.search import search

    return EXIT_FINE if search(options, say=_sayer(options), show=print) else EXIT_NOT_SO


def _watch(options: argparse.Namespace) -> int:
    from memosite.watch.command import watch

    return watch(options, say=lambda text: print(f"memosite watch: {text}", file=sys.stderr, flush=True), show=print)


def _init(options: argparse.Namespace) -> int:
    from memosite.commands.init import write_config

    path = write_config(options.folder)
    if not options.quiet:
        print(f"wrote {_shown(path)}; now: memosite serve {_shown(path.parent)}")
    return EXIT_FINE


def _mark_read(options: argparse.Namespace) -> int:
    from memosite.commands.mark_read import mark, told

    for done in mark(options.files, box="archive" if options.archive else "read", commit=options.commit):
        for line in told(done, shown=_shown) if not options.quiet else ():
            print(line)
    return EXIT_FINE


def _diff(options: argparse.Namespace) -> int:
    from memosite.commands.diff import diff, to_json, to_markdown, to_text

    found = diff(options.between, site=options.site_option or Path(), cache=options.cache, source=options.source)
    print({"text": to_text, "markdown": to_markdown, "json": to_json}[options.format](found))
    return EXIT_FINE


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "build": _build,
    "serve": _serve,
    "explain": _explain,
    "check": _check,
    "search": _search,
    "export": _export,
    "watch": _watch,
    "init": _init,
    "diff": _diff,
    "mark_read": _mark_read,
}
