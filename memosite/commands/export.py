"""[I/O] `memosite export`: writes an archive, or what a query finds in it, to a stream, a file or a maildir.

A file appears only once it is complete. To add a format: what makes its bytes in `export_forms`, and a line in `FORMS`.

Unread messages are in `new/`, the rest in `cur/` with the flags S (seen), F (its action is open) and R (answered).
Names are made of the order of arrival and the artifact's identity, so a message always keeps its name. A folder
that memosite wrote is brought up to date file by file: each appears complete; messages no longer exported are removed.
"""

import argparse
import hashlib
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO

from memosite.archive.lines import exported
from memosite.archive.model import Archive, Artifact
from memosite.commands import export_forms
from memosite.commands.arguments import COMMANDS, Tell
from memosite.commands.places import configured
from memosite.commands.report import fails, say_lacking
from memosite.config.schema import Config
from memosite.facts.errors import ConfigError, OutputError
from memosite.facts.patterns import regex
from memosite.facts.rules import withheld_for_secrets
from memosite.facts.texts import counted
from memosite.facts.values import replace
from memosite.reading.archive import ArchiveHandle, open_archive
from memosite.run.progress import without_reader
from memosite.run.workers import default_jobs
from memosite.store.safe_files import open_over

if TYPE_CHECKING:
    from memosite.search_language import QueryNode


def run_export(options: argparse.Namespace, _show: Tell, say: Tell) -> bool:
    """Write the export, to standard output unless a file is named.

    Returns whether all sources could be read, nothing was withheld for a secret, and the findings are below what fails.
    """
    if options.output is None and options.format == "maildir":
        raise ConfigError("export --format maildir: a maildir is a folder; name it with -o")
    config = configured(options)
    query = _read_query(options.query) if options.query is not None else None
    index_much: Callable[[], None] | None = None
    with open_archive(replace(config, base_url=None)) as handle:  # as `search` does, whose index is asked
        if query is None:
            archive = handle.recall()
        else:
            archive, index_much = _find(query, handle, options, config, say)
        with without_reader():
            job = export_forms.Export(
                archive=archive,
                shelf=handle.shelf,
                with_body=options.with_body,
                base_url=config.base_url,
                archive_id=config.archive_id,
                authority=config.authority,
            )
            export(job, options.format, options.output or sys.stdout.buffer)
    if index_much:
        index_much()
    if invalid := len(archive.artifacts) - sum(1 for _ in exported(archive)):
        say(f"memosite: {counted(invalid, 'invalid file')} skipped; run memosite check")
    is_whole = say_lacking(archive, options, config, say) and not withheld_for_secrets(archive.all_findings)
    return is_whole and not fails((finding.severity for finding in archive.all_findings), options.fail_on)


def _read_query(text: str) -> "QueryNode":
    from memosite.search.answer import read_query  # noqa: PLC0415 - few exports have a query, and need what it takes

    return read_query(text).node


def _find(
    query: "QueryNode", handle: ArchiveHandle, options: argparse.Namespace, config: Config, say: Tell
) -> tuple[Archive, Callable[[], None] | None]:
    """The archive with only what matches a query, and what begins to index what had to be looked into.

    Threads and positions are kept, for context. An index of the same sources tells what matches; only that is loaded.
    """
    refs = _ask_index(query, handle, config)
    archive = handle.recall()
    index_much = None
    if refs is None:
        from memosite.commands.search import keep_index  # noqa: PLC0415 - as above
        from memosite.search.command import searchable  # noqa: PLC0415 - as above

        searched = searchable(archive, handle.shelf, config, jobs=default_jobs())
        index_much = keep_index(searched, options, config, say)
        with searched.search() as found:
            (refs,) = found.refs([query])
    kept = {ref: archive.artifacts[ref] for ref in archive.artifacts if ref in refs}
    return replace(archive, artifacts=MappingProxyType(kept)), index_much


def _ask_index(query: "QueryNode", handle: ArchiveHandle, config: Config) -> frozenset[tuple[str, str]] | None:
    """What matches a query, if nothing has changed since the index was made; what is fetched may be newer than it."""
    if any(source.root is None for source in config.sources):
        return None
    from memosite.search.whoosh.index import open_index  # noqa: PLC0415 - as above
    from memosite.search.whoosh.reader import IndexReader  # noqa: PLC0415 - as above

    with open_index(config.cache / config.audience) as index:
        if index is None or not handle.inputs(index.seal.inputs).is_same:
            return None
        return IndexReader(index=index, newest=index.seal.newest).refs(query)


# Writes an export to a stream or a file.


Target = Path | BinaryIO
"""A file, a folder (maildir), or a stream of bytes such as standard output."""


def write_chunks(target: Target, chunks: Iterable[bytes]) -> None:
    """Write the chunks to a stream, or to a file that replaces the one of its name when all are written.

    A device or a pipe (`/dev/stdout`) is written to, never replaced; a symbolic link to a file stays one. Raises
    `OutputError` if a path cannot be written; errors of a stream are the caller's.
    """
    if not isinstance(target, Path):
        target.writelines(chunks)
        return
    try:
        path = target.resolve()
        mode = path.stat().st_mode if path.exists() else stat.S_IFREG
        if stat.S_ISDIR(mode):
            raise OutputError(f"{target}: found a folder, expected the name of a file")
        if stat.S_ISREG(mode):
            _replace(path, chunks)
        else:
            with path.open("wb") as stream:
                stream.writelines(chunks)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise OutputError(f"{target}: cannot be written ({reason})") from error


def _replace(path: Path, chunks: Iterable[bytes]) -> None:
    # Beside the target, so that the last step is a rename; named for the process, so that two do not share it.
    temporary = path.with_name(f".memosite-{os.getpid()}.tmp")
    try:
        with os.fdopen(open_over(temporary), "wb") as stream:
            stream.writelines(chunks)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


# Exports a maildir: a folder with a file for each message, which mail readers open directly.


MARKER = ".memosite-maildir"
"""The file that says memosite made the folder and may replace what it wrote there."""


_MARKER_TEXT = b"memosite exports to this maildir; the next export replaces the messages of this one.\n"


_FOLDERS = ("tmp", "new", "cur")


_OURS = regex(r"\d{10,}\.[0-9a-f]{16}\.memosite(?::2,[A-Z]*)?", re.ASCII)


_LATEST = 2**31 - 1


def write_maildir(job: export_forms.Export, target: Target) -> None:
    """Write one file for each artifact, and remove those of an earlier export that are not among them.

    Raises `ConfigError` for a stream, `OutputError` for a folder that is not memosite's maildir.
    """
    if not isinstance(target, Path):
        raise ConfigError("--format maildir: found no folder to write, expected one; name it with -o")
    try:
        _prepare(target)
        _prune(target, keep=_deliver_all(job, target))
    except OSError as error:
        raise OutputError(f"{target}: cannot be written ({error.strerror})") from error


def _prepare(root: Path) -> None:
    if root.exists() and not root.is_dir():
        raise OutputError(f"{root}: found a file, expected a folder for the maildir")
    root.mkdir(exist_ok=True)
    names = {path.name for path in root.iterdir()}
    if names and MARKER not in names:
        raise OutputError(f"{root}: found a folder that is not empty and not memosite's; name a new or an empty one")
    if any((root / name).is_symlink() for name in (MARKER, *_FOLDERS)):
        raise OutputError(f"{root}: found symbolic links in memosite's maildir, expected folders; remove them")
    with os.fdopen(open_over(root / MARKER), "wb") as stream:
        stream.write(_MARKER_TEXT)
    for name in _FOLDERS:
        (root / name).mkdir(exist_ok=True)


def _deliver_all(job: export_forms.Export, root: Path) -> set[str]:
    """Write every message, first into `tmp/`; the names of all, below the folder."""
    composer = export_forms.Composer(job)
    delivered = set()
    for artifact in job.artifacts():
        name = file_name(artifact)
        temporary = root / "tmp" / name.rpartition("/")[2]
        with os.fdopen(open_over(temporary), "wb") as stream:
            stream.write(composer.compose(artifact))
        # Some readers show a file's time as the date of delivery; it must not be that of the export.
        seconds = min(max(int(artifact.date.instant.timestamp()), 0), _LATEST) if artifact.date else 0
        os.utime(temporary, (seconds, seconds))
        temporary.replace(root / name)
        delivered.add(name)
    return delivered


def _prune(root: Path, *, keep: set[str]) -> None:
    """Remove messages of earlier exports; other files in the maildir stay."""
    for folder in _FOLDERS:
        for path in sorted((root / folder).iterdir()):
            if _OURS.fullmatch(path.name) and f"{folder}/{path.name}" not in keep:
                path.unlink()


def file_name(artifact: Artifact) -> str:
    """The path of an artifact's message in the maildir: `new/…`, or `cur/…` with its flags in order."""
    identity = hashlib.sha256("/".join(artifact.ref).encode("utf-8")).hexdigest()[:16]
    name = f"{artifact.arrival:010d}.{identity}.memosite"
    if export_forms.is_unread(artifact):
        return f"new/{name}"
    flagged = "F" if export_forms.is_flagged(artifact) else ""
    return f"cur/{name}:2,{flagged}{'R' if export_forms.is_answered(artifact) else ''}S"


FORMS: Mapping[str, Callable[[export_forms.Export], Iterable[bytes]]] = MappingProxyType(
    {"jsonl": export_forms.json_lines, "mbox": export_forms.mbox_messages, "csv": export_forms.csv_rows}
)
"""What makes the bytes of each format that is one file; a maildir is a folder."""


def export(job: export_forms.Export, form: str, target: Target) -> None:
    """Write the archive to a file, a folder (maildir) or a stream in one of the formats.

    Raises `ConfigError` for an unknown format or a maildir without a folder, `OutputError` for a target that cannot be
    written or is not memosite's; errors of a stream, such as a closed pipe, are the caller's.
    """
    if form == "maildir":
        write_maildir(job, target)
    elif form in FORMS:
        write_chunks(target, FORMS[form](job))
    else:
        known = COMMANDS["export"].option("--format").settings["choices"]
        raise ConfigError(f"--format: found {form!r}, expected {', '.join(known)}")
