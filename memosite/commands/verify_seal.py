"""[I/O] Checks a published site against a root of its sealed log, or a copy of that log (SPEC 7, sealed log)."""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from memosite.archive.seal_check import Fault, SealCheck, check_against, check_copy, check_originals, sealed_paths
from memosite.archive.seals import SEALS_PATH, is_hash
from memosite.commands.nouns import plural
from memosite.commands.places import site_of
from memosite.config.loading import load_config
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError, OutputError
from memosite.facts.layout import SITE_MARKER
from memosite.reading.previous import is_address
from memosite.reading.published import FolderSite, PublishedSite, WebSite
from memosite.store.safe_files import read_file

_SHOWN = 200


def verify_seal(options: argparse.Namespace, where: str | None, *, show: Callable[[str], None]) -> bool:
    """Check the site that the command line names against its `--seal`, and show what was found; whether it holds."""
    kept = _kept(options.seal)
    site = _site(options, where)
    checked = check_site(site, kept)
    for line in _lines(checked, site, is_quiet=options.quiet):
        show(printable(line))
    return checked.holds


def check_site(site: PublishedSite, kept: str) -> SealCheck:
    """Check the log and the originals of a published site against a root, or against a copy of the log.

    Raises `OutputError` if it has no log, or if it cannot be read.
    """
    data = site.read(SEALS_PATH)
    if data is None:
        raise OutputError(
            f"{site.name}: found no {SEALS_PATH}, expected a site that memosite built with a sealed log; "
            "build it again, or name another site"
        )
    text = data.decode("utf-8", "replace")
    checked = check_against(kept, text) if is_hash(kept) else _check_copy(kept, text)
    wrong = check_originals(text, site.hashes(sealed_paths(text)))
    return replace(checked, faults=(*checked.faults, *wrong))


def _check_copy(kept: str, text: str) -> SealCheck:
    try:
        return check_copy(kept, text)
    except ValueError as error:
        raise ConfigError(f"--seal: the file is no copy of {SEALS_PATH} ({error}), expected one or a root") from error


def _kept(seal: str) -> str:
    """What was kept: a root of 64 hexadecimal digits, or the text of a file that was named."""
    root = "".join(seal.split()).lower()
    if is_hash(root):
        return root
    try:
        text = read_file(seal).decode("utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"--seal {seal}: found neither a root nor a file, expected 64 hexadecimal digits, or a copy of {SEALS_PATH}"
        ) from error
    root = "".join(text.split()).lower()
    return root if is_hash(root) else text


def _site(options: argparse.Namespace, where: str | None) -> PublishedSite:
    """The published site that is named: by its address, its folder, or the site folder that it is built from."""
    if where is not None and options.site_option is not None:
        raise ConfigError(f"found both {where} and --site {options.site_option}; name the site once")
    if where is not None and is_address(where):
        return WebSite(where)
    if isinstance(options.site_option, str):
        return WebSite(options.site_option)
    folder = Path(where) if where is not None else site_of(options)
    if (folder / SITE_MARKER).is_file():
        return FolderSite(folder)
    return FolderSite(load_config(folder, cache=options.cache, audience=options.audience).output)


def _lines(checked: SealCheck, site: PublishedSite, *, is_quiet: bool) -> Iterator[str]:
    if not is_quiet and checked.sealed:
        upto = f", up to {checked.month}" if checked.month else ""
        yield f"sealed    {checked.sealed} of {checked.leaves} leaves{upto}"
    if not is_quiet:
        yield from _listed("since     ", checked.since)
    for what in ("removed", "changed", "cut off", "added"):
        yield from _listed(f"{what:10}", [one for one in checked.faults if one.what == what])
    if checked.holds and not is_quiet:
        yield (
            "verified  everything the root seals is unchanged, except what the log names"
            if checked.since
            else ("verified  everything the root seals is unchanged")
        )
    if not checked.holds:
        number = len(checked.faults)
        yield f"failed    {number} {plural('problem', number)}: what was sealed was changed or removed"
    if not checked.holds and site.is_being_written():
        yield "note      a build is writing there, or was interrupted: build again, then verify again"


def _listed(label: str, faults: "list[Fault] | tuple[Fault, ...]") -> Iterator[str]:
    for one in faults[:_SHOWN]:
        yield f"{label}{one.id}: {one.said}" if one.id else f"{label}{one.said}"
    if len(faults) > _SHOWN:
        yield f"{label}and {len(faults) - _SHOWN} more"
