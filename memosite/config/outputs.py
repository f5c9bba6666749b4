"""[I/O] Chooses where a site is written and for whom: `audience`, `output`, `outputs` and the cache (SPEC 2.1, 9)."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import get_args

from memosite.config.schema import Audience, Config, ConfigEntry, quote
from memosite.config.sources import LONGEST_PATH
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError, OutputError
from memosite.facts.layout import SITE_MARKER, place_of
from memosite.facts.names import BODY_SUFFIX, ENVELOPE_SUFFIX

OUTPUT_NAME = "_site"
CACHE_NAME = ".memosite"
AUDIENCES: Mapping[str, Audience] = {one: one for one in get_args(Audience)}
_NAMED = "internal or public"


def choose(
    fields: Mapping[str, ConfigEntry], folder: Path, *, audience: Audience | None, output: Path | None
) -> tuple[Audience, Path, Mapping[Audience, Path]]:
    """The audience, its output folder, and the outputs of memosite.yml; the command line's `audience` and `output` win.

    Where memosite.yml names several outputs, and nobody an audience, it is the one that sees least: so nothing is shown
    to more people than somebody asked for.
    """
    outputs = _read_outputs(fields, folder)
    least: Audience = "public" if "public" in outputs else "internal"
    named = _read_audience(fields["audience"]) if "audience" in fields else least
    chosen = audience or named
    if outputs and chosen not in outputs:
        raise fields["outputs"].error(f"none for the audience {chosen}", "one", "add it, or name another audience")
    if output is not None and len(outputs) > 1 and audience is None:
        shown = quote(str(output), longest=LONGEST_PATH)
        raise ConfigError(
            f"--output: found {shown}, but memosite.yml names several outputs, expected --audience {_NAMED} with it"
        )
    written = folder_to_write(output, "--output") or outputs.get(chosen)
    if written is None and "output" in fields:
        written = _read_output(fields["output"], folder)
    return chosen, written or (folder / OUTPUT_NAME).resolve(), outputs


def _read_audience(entry: ConfigEntry) -> Audience:
    text = entry.text(_NAMED)
    if text not in AUDIENCES:
        raise entry.error(quote(text), _NAMED)
    return AUDIENCES[text]


def _read_outputs(fields: Mapping[str, ConfigEntry], folder: Path) -> Mapping[Audience, Path]:
    """The output folders by audience; none may be in another, or one site would be published with the other."""
    if "outputs" not in fields:
        return MappingProxyType({})
    entry, found = fields["outputs"], dict[Audience, Path]()
    if "output" in fields:
        raise fields["output"].error("output beside outputs", "one of the two", "remove it: outputs names the folders")
    for name, below in entry.fields(tuple(AUDIENCES)).items():
        path = _read_output(below, folder)
        if any(path.is_relative_to(other) or other.is_relative_to(path) for other in found.values()):
            shown = quote(str(path), longest=LONGEST_PATH)
            raise below.error(shown, "a folder apart from that of every other output")
        found[AUDIENCES[name]] = path
    if not found:
        raise entry.error("no output", "a folder for internal, for public, or for both")
    return MappingProxyType(found)


def _read_output(entry: ConfigEntry, folder: Path) -> Path:
    text = entry.path_text("the path of a folder")
    resolved = _resolve(folder / text)
    if resolved is None:
        shown = quote(text, longest=LONGEST_PATH)
        raise entry.error(f"{shown}, which is no folder", "a folder to write, existing or not")
    return resolved


def cache_of(folder: Path) -> Path:
    """The cache of a site. A link in its place is not trusted: it may come from a cloned repo."""
    path = folder / CACHE_NAME
    if path.is_symlink():
        raise ConfigError(f"{printable(str(path))}: a symbolic link, expected a folder; remove it, or use --cache DIR")
    return path


def folder_to_write(path: Path | None, option: str) -> Path | None:
    """The absolute path of a folder that an option names."""
    if path is None:
        return None
    resolved = _resolve(path)
    if resolved is None:
        shown = quote(str(path), longest=LONGEST_PATH)
        raise ConfigError(f"{option}: found {shown}, which is no folder, expected one to write, existing or not")
    return resolved


def _resolve(path: Path) -> Path | None:
    """The absolute path of a folder that need not exist; None if something else is in its way."""
    try:
        resolved = path.resolve()
        there = (place for place in (resolved, *resolved.parents) if place.exists() or place.is_symlink())
        nearest = next(there)  # still a link only if links lead in a circle
        return resolved if nearest.is_dir() else None
    except (OSError, RuntimeError, ValueError):
        return None


def check_output(config: Config) -> None:
    """Refuse an output folder in which memosite would write over what it reads. Raises `OutputError`.

    Whether a folder that is not empty is memosite's own is checked where it is written.
    """
    output = config.output
    shown = printable(str(output))
    if config.site.is_relative_to(output):
        raise OutputError(f"{shown}: the output is the site folder or holds it; choose another, such as {OUTPUT_NAME}")
    if output.is_relative_to(config.cache) or config.cache.is_relative_to(output):
        raise OutputError(f"{shown}: the output and the cache {printable(str(config.cache))} share a folder")
    for source in config.sources:
        name = printable(source.name)
        if source.root is None:
            continue
        if source.root.is_relative_to(output):
            raise OutputError(f"{shown}: the output is the source {name} or holds it; choose another folder")
        if output.is_relative_to(source.root):
            inside = output.relative_to(source.root).as_posix()
            if place_of(f"{inside}/-") is not None:
                raise OutputError(f"{shown}: the output is among the files of the source {name}")
    artifact = None if (output / SITE_MARKER).exists() else next(_artifacts(output), None)
    if artifact is not None:
        raise OutputError(f"{shown}: the output has an item in it ({quote(artifact)}); choose another folder")


def _artifacts(folder: Path) -> Iterator[str]:
    """Names of envelopes and bodies below a folder, as far as it can be read."""
    for _, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if name.lower().endswith((ENVELOPE_SUFFIX, BODY_SUFFIX)):
                yield name
