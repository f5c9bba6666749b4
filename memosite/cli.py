"""The command line: arguments, printing, exit codes (SPEC 8).

Exit 0 fine, 1 what was asked does not hold, 2 usage or configuration, 130 interrupted.
"""

import argparse
import contextlib
import datetime as dt
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memosite import __version__
from memosite.errors import ConfigError, MemositeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memosite.build import BuildReport
    from memosite.config import Config

EXIT_FINE, EXIT_NOT_SO, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that knows fewer characters than our findings
            stream.reconfigure(errors="backslashreplace")
    try:
        options = _parser().parse_args(arguments)
        code: int = options.run(options)
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memosite",
        description="Turns the memos, notes and transcripts in an organization's git repos into an archive to browse.",
        epilog="Each command has --help with an example.",
    )
    parser.add_argument("--version", action="version", version=f"memosite {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_build(commands)
    _add_serve(commands)
    _add_check(commands)
    _add_search(commands)
    _add_export(commands)
    _add_watch(commands)
    _add_init(commands)
    _add_mark_read(commands)
    return parser


Commands = argparse._SubParsersAction


def _command(
    commands: "Commands[argparse.ArgumentParser]", name: str, what: str, example: str
) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + ".",
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("--quiet", action="store_true", help="print nothing but errors")
    return command


def _add_site(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "site", nargs="?", type=Path, default=None, metavar="SITE", help="the site folder (default: --site)"
    )
    _add_site_option(command)


def _add_site_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--site", dest="site_option", type=Path, metavar="DIR", help="site folder (default: this folder)"
    )
    command.add_argument("--cache", type=Path, metavar="DIR", help="cache folder (default: SITE/.memosite)")


def _add_output(command: argparse.ArgumentParser) -> None:
    command.add_argument("-o", "--output", type=Path, metavar="DIR", help="output folder (default: SITE/_site)")
    command.add_argument("--base-url", metavar="URL", help="where the site is published, for feeds and links")


def _add_fail_on(command: argparse.ArgumentParser, default: str) -> None:
    command.add_argument(
        "--fail-on",
        choices=("error", "warning", "never"),
        default=default,
        help=f"exit 1 on findings of this severity or worse (default: {default})",
    )


def _add_build(commands: "Commands[argparse.ArgumentParser]") -> None:
    command = _command(
        commands,
        "build",
        "build the site",
        "memosite build example-org -o public --base-url https://memos.example.org/",
    )
    _add_site(command)
    _add_output(command)
    command.add_argument("--jobs", type=int, metavar="N", help="processes to render with (default: one a core)")
    _add_fail_on(command, "never")
    command.set_defaults(run=_build)


def _add_serve(commands: "Commands[argparse.ArgumentParser]") -> None:
    command = _command(
        commands,
        "serve",
        "build, serve on this machine, rebuild on change and reload the browser",
        "memosite serve example-org --port 8000",
    )
    _add_site(command)
    _add_output(command)
    command.add_argument("--port", type=int, default=8000, metavar="N", help="port on 127.0.0.1 (default: 8000)")
    command.set_defaults(run=_serve)


def _add_check(commands: "Commands[argparse.ArgumentParser]") -> None:
    command = _command(
        commands,
        "check",
        "say what is wrong in a site, in folders or in single files",
        "memosite check memos/inbox/2026-05-01-1430--a--b--c.openthing",
    )
    command.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="sites, folders or files (default: --site)"
    )
    _add_site_option(command)
    command.add_argument("--format", choices=("text", "json", "sarif"), default="text", help="default: text")
    _add_fail_on(command, "error")
    command.set_defaults(run=_check)


def _add_search(commands: "Commands[argparse.ArgumentParser]") -> None:
    command = _command(
        commands,
        "search",
        "find artifacts, newest first; docs/search.md has the whole language",
        "memosite search 'from:engineer \"tide tables\" after:2w'",
    )
    command.add_argument("query", nargs="+", metavar="QUERY", help='words, "phrases", prefix*, field:value, AND OR NOT')
    command.add_argument("--json", action="store_true", help="one JSON object")
    command.add_argument("--limit", type=int, default=20, metavar="N", help="hits to show (default: 20)")
    command.add_argument("--sort", choices=("date", "score"), default="date", help="default: date, newest first")
    command.add_argument("--base-url", metavar="URL", help="where the site is published, for the addresses")
    _add_site_option(command)
    command.set_defaults(run=_search)


def _add_export(commands: "Commands[argparse.ArgumentParser]") -> None:
    command = _command(
        commands,
        "export",
        "write the archive in another form",
        "memosite export --format mbox -o archive.mbox && mutt -f archive.mbox",
    )
    command.add_argument("query", nargs="?", metavar="QUERY", help="only what this finds (see memosite search --help)")
    command.add_argument(
        "--format", choices=("jsonl", "mbox", "maildir", "csv"), default="jsonl", help="default: jsonl"
    )
    command.add_argument("--with-body", action="store_true", help="put the texts into jsonl, too")
    command.add_argument(
        "-o", "--output", type=Path, metavar="PATH", help="file or maildir to write (default: standard output)"
    )
    command.add_argument("--base-url", metavar="URL", help="where the site is published, for the addresses in it")
    _add_site_option(command)
    _add_fail_on(command, "never")
    command.set_defaults(run=_export)


def _add_watch(commands: "Commands[argparse.ArgumentParser]") -> None:
    from memosite.watch.options import EXAMPLE, add_options

    command = _command(commands, "watch", "announce each new memo of a feed once, or run a command for it", EXAMPLE)
    add_options(command)
    _add_site_option(command)
    command.set_defaults(run=_watch)


def _add_init(commands: "Commands[argparse.ArgumentParser]") -> None:
    command = _command(
        commands, "init", "write a commented memosite.yml from what is discovered", "memosite init ~/organization"
    )
    command.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="default: this folder")
    command.set_defaults(run=_init)


def _add_mark_read(commands: "Commands[argparse.ArgumentParser]") -> None:
    command = _command(
        commands,
        "mark-read",
        "move memos to read/ with git mv, envelope and body together",
        "memosite mark-read --commit memos/inbox/2026-05-01-1430--a--b--c.openthing",
    )
    command.add_argument("files", nargs="+", type=Path, metavar="FILE", help="envelopes or their bodies, in any repos")
    command.add_argument("--archive", action="store_true", help="move them to archive/ instead")
    command.add_argument("--commit", action="store_true", help="commit the move, and nothing else")
    command.set_defaults(run=_mark_read)


# What the commands do. Imports stand inside, so that each starts with no more than it needs.


def _site(options: argparse.Namespace) -> Path:
    if options.site is not None and options.site_option is not None:
        raise ConfigError(f"found both {options.site} and --site {options.site_option}; name the site once")
    return options.site or options.site_option or Path()


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def _jobs(wanted: int | None) -> int:
    from memosite.workers import default_jobs

    if wanted is not None and wanted < 1:
        raise ConfigError(f"--jobs {wanted}: found {wanted}, expected 1 or more")
    return wanted or default_jobs()


def _build(options: argparse.Namespace) -> int:
    from memosite.build import build
    from memosite.config import load_config
    from memosite.report import fails

    config = load_config(_site(options), output=options.output, base_url=options.base_url, cache=options.cache)
    report = build(config, clock=_now, jobs=_jobs(options.jobs))
    if not options.quiet:
        print(_summary(report, config, options))
    return EXIT_NOT_SO if fails(report.archive.findings, options.fail_on) else EXIT_FINE


def _summary(report: "BuildReport", config: "Config", options: argparse.Namespace) -> str:
    from memosite.summary import summary

    return summary(report, index=_shown(config.output / "index.html"), site=_shown(_site(options)))


def _shown(path: Path) -> str:
    """A path as short as it can be said from here."""
    with contextlib.suppress(ValueError):
        return path.resolve().relative_to(Path.cwd()).as_posix()
    return str(path)


def _serve(options: argparse.Namespace) -> int:
    from memosite.build import build
    from memosite.config import load_config
    from memosite.serve import check_port, serve

    def say(text: str) -> None:
        if not options.quiet:
            print(text, flush=True)

    def load() -> "Config":
        return load_config(_site(options), output=options.output, base_url=options.base_url, cache=options.cache)

    def rebuild() -> None:
        try:
            config = load()
            say(_summary(build(config, clock=_now, use_network=False), config, options))
        except MemositeError as error:
            print(f"memosite: {error}", file=sys.stderr, flush=True)

    check_port(options.port)
    config = load()
    say(_summary(build(config, clock=_now), config, options))
    serve(config, port=options.port, rebuild=rebuild, announce=say)
    return EXIT_FINE


def _check(options: argparse.Namespace) -> int:
    from memosite.check import check
    from memosite.report import fails, to_json, to_sarif, to_text

    checked = check(options.paths or [options.site_option or Path()], cache=options.cache)
    if options.format == "json":
        text = to_json(checked.findings)
    elif options.format == "sarif":
        text = to_sarif(checked.findings, version=__version__, root_of=checked.root_of)
    else:
        text = to_text(checked.findings, root_of=checked.root_of)
    if not options.quiet or (options.format == "text" and fails(checked.findings, options.fail_on)):
        print(text)
    return EXIT_NOT_SO if fails(checked.findings, options.fail_on) else EXIT_FINE


def _export(options: argparse.Namespace) -> int:
    from memosite.build import load_archive
    from memosite.config import load_config
    from memosite.exporters import export
    from memosite.report import fails
    from memosite.search.command import restrict
    from memosite.shelf import Shelf
    from memosite.summary import unreadable

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
    return EXIT_NOT_SO if fails(archive.findings, options.fail_on) else EXIT_FINE


def _sayer(options: argparse.Namespace) -> "Callable[[str], None]":
    """Says on standard error what takes time, unless told to be quiet."""
    return (lambda _: None) if options.quiet else (lambda text: print(text, file=sys.stderr, flush=True))


def _search(options: argparse.Namespace) -> int:
    from memosite.search.run import search

    return EXIT_FINE if search(options, say=_sayer(options), show=print) else EXIT_NOT_SO


def _watch(options: argparse.Namespace) -> int:
    from memosite.watch.command import watch

    return watch(options, say=lambda text: print(f"memosite watch: {text}", file=sys.stderr, flush=True), show=print)


def _init(options: argparse.Namespace) -> int:
    from memosite.init import write_config

    path = write_config(options.folder)
    if not options.quiet:
        print(f"wrote {_shown(path)}; now: memosite serve {_shown(path.parent)}")
    return EXIT_FINE


def _mark_read(options: argparse.Namespace) -> int:
    from memosite.mark_read import mark

    for done in mark(options.files, box="archive" if options.archive else "read", commit=options.commit):
        if options.quiet:
            continue
        for path in done.already:
            print(f"{_shown(done.top / path)} is there already")
        for move in done.moves:
            print(f"{_shown(done.top / move.old)} -> {_shown(done.top / move.new)}")
        if done.commit:
            print(f"committed {done.commit[:8]}")
    return EXIT_FINE
