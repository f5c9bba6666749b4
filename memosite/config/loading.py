"""[I/O] Loads the `Config` of every command from memosite.yml, or from discovery if there is none.

The schema is SPEC 2.1. Every error is one line that names file, line and key, what was found and what was
expected. Features that are not built yet are an error that says so, never ignored.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeVar

from memosite.config.discovery import discover
from memosite.config.erase import read_erase
from memosite.config.outputs import cache_of, check_output, choose, folder_to_write
from memosite.config.policy import DEFAULT_SECRETS, SecretsMode
from memosite.config.schema import (
    DEFAULT_DOCUMENTS,
    Audience,
    Config,
    ConfigEntry,
    FeedsConfig,
    SourceConfig,
    clean_name,
    quote,
    read_yaml,
)
from memosite.config.secrets import read_secrets
from memosite.config.sources import existing_folder, read_globs, read_sources, read_withheld_globs
from memosite.config.values import (
    BASE_URL_FORM,
    normalize_base_url,
    read_archive_id,
    read_authority,
    read_base_url,
    read_language,
)
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.layout import CONFIG_NAME
from memosite.facts.names import make_id
from memosite.facts.parsed import Discharge
from memosite.search_language.syntax import QueryError
from memosite.store.safe_files import beginning_of, open_file

__all__ = ["Config", "FeedsConfig", "SourceConfig", "check_output", "load_config"]

SIZE_LIMIT = 1 << 20
"""Largest memosite.yml, in bytes."""

KEYS = (
    *("title", "base_url", "archive_id", "authority", "language", "sources", "history", "positions"),
    *("documents", "citations", "actions", "feeds", "theme", "secrets", "audience", "withhold", "withhold_raw"),
    *("erase", "output", "outputs", "lean"),
)
UNBUILT_KEYS: tuple[str, ...] = ()
FEEDS_KEYS = ("window", "days", "ttl", "full_content", "digest", "searches")

_T = TypeVar("_T")
_NOTHING: tuple[str, ...] = ()
_NO_ENTRIES: Mapping[str, str] = MappingProxyType({})
_NO_POSITIONS: tuple[Mapping[str, str], tuple[str, ...] | None] = (_NO_ENTRIES, None)


def load_config(
    site: Path,
    *,
    output: Path | None = None,
    base_url: str | None = None,
    cache: Path | None = None,
    secrets: SecretsMode | None = None,
    audience: Audience | None = None,
) -> Config:
    """The configuration of a site folder: its memosite.yml, or the defaults with the discovered sources.

    `output`, `base_url`, `cache`, `secrets` and `audience` come from the command line, override the file; paths are
    relative to the
    current folder. Raises `ConfigError`, also if no source is found; `SourceError` if there is too much to search.
    """
    try:
        return _load(site, output=output, base_url=base_url, cache=cache, secrets=secrets, audience=audience)
    except ConfigError:
        _refuse_to_quote(site / CONFIG_NAME)
        raise


def _refuse_to_quote(file: Path) -> None:
    """Raise a `ConfigError` that quotes nothing if there is a secret in a file whose errors would quote it.

    Whether it is allowed cannot be told: the file could not be read.
    """
    from memosite.secrets import RULES, find_secrets  # noqa: PLC0415 - only what fails waits for it

    data = beginning_of(os.path.realpath(file), SIZE_LIMIT) or b""
    text = data.decode("utf-8", "replace")
    for found in find_secrets(text):
        line = text.count("\n", 0, found.start) + 1
        message = f"found a secret ({RULES.get(found.rule, found.rule)}), expected none; rotate it and remove it"
        raise ConfigError(f"{printable(str(file))}:{line}: {message}; other errors of the file are shown then")


def _load(
    site: Path,
    *,
    output: Path | None,
    base_url: str | None,
    cache: Path | None,
    secrets: SecretsMode | None,
    audience: Audience | None,
) -> Config:
    folder = _open_site(site)
    top = _read_file(site / CONFIG_NAME)
    fields = top.fields(KEYS, UNBUILT_KEYS) if top else {}
    chosen, output_folder, outputs = choose(fields, folder, audience=audience, output=output)
    cache_folder = folder_to_write(cache, "--cache") or cache_of(folder)
    aliases, people = _get(fields, "positions", _positions, _NO_POSITIONS)
    feeds, searches = _get(fields, "feeds", _feeds, (FeedsConfig(), _NO_ENTRIES))
    address = _get(fields, "base_url", read_base_url, None)
    known_secrets = _get(fields, "secrets", read_secrets, DEFAULT_SECRETS)
    return Config(
        site=folder,
        title=_get(fields, "title", ConfigEntry.prose, clean_name(folder.name)),
        base_url=_option_base_url(base_url) or address,
        address=address,
        archive_id=_get(fields, "archive_id", read_archive_id, "archive"),
        authority=_get(fields, "authority", read_authority, "memosite.invalid,2026"),
        language=_get(fields, "language", read_language, "en"),
        history=_get(fields, "history", _history, "own"),
        aliases=aliases,
        people=people,
        documents=_get(fields, "documents", _documents, DEFAULT_DOCUMENTS),
        citations=_get(fields, "citations", lambda entry: read_globs(entry, below="the site folder"), ()),
        closed=_get(fields, "actions", _closed, MappingProxyType({})),
        feeds=feeds,
        searches=searches,
        theme=_get(fields, "theme", lambda entry: existing_folder(entry, folder), None),
        sources=_get(fields, "sources", lambda entry: read_sources(entry, folder), ())
        or discover(folder, ignore=(output_folder, *outputs.values(), cache_folder)),
        output=output_folder,
        cache=cache_folder,
        secrets=replace(known_secrets, mode=secrets or known_secrets.mode),
        erase=_get(fields, "erase", read_erase, ()),
        audience=chosen,
        outputs=outputs,
        withhold=_get(fields, "withhold", read_withheld_globs, ()),
        withhold_raw=_get(fields, "withhold_raw", ConfigEntry.flag, default=True),
        lean=_get(fields, "lean", ConfigEntry.flag, default=False),
        lean_line=fields["lean"].line if "lean" in fields else 0,
        file=folder / CONFIG_NAME if (site / CONFIG_NAME).exists() else None,
    )


def _get(fields: Mapping[str, ConfigEntry], name: str, read: Callable[[ConfigEntry], _T], default: _T) -> _T:
    return read(fields[name]) if name in fields else default


# Files and folders


def _open_site(site: Path) -> Path:
    try:
        folder = site.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"{printable(str(site))}: found no such folder, expected a site folder") from error
    if not folder.is_dir():
        raise ConfigError(f"{printable(str(site))}: found a file, expected a site folder; name the folder it is in")
    return folder


def _read_file(file: Path) -> ConfigEntry | None:
    """The top of memosite.yml; None if there is none, or nothing in it."""
    shown = printable(str(file))
    try:
        with open_file(os.path.realpath(file)) as stream:
            data = stream.read(SIZE_LIMIT + 1) or b""
    except FileNotFoundError as error:
        other = file.with_suffix(".yaml")
        if other.exists():
            raise ConfigError(f"{printable(str(other))}: expected the name {CONFIG_NAME}; rename the file") from error
        return None
    except OSError as error:
        raise ConfigError(f"{shown}: cannot be read ({error.strerror or 'a pipe'}), expected a file") from error
    if len(data) > SIZE_LIMIT:
        raise ConfigError(f"{shown}: found more than {SIZE_LIMIT} bytes, expected a configuration")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{shown}:{line}: found bytes that are not UTF-8, expected UTF-8; save it so") from error
    return read_yaml(text, shown)


def _option_base_url(text: str | None) -> str | None:
    if text is None:
        return None
    address = normalize_base_url(text.strip())
    if address is None:
        raise ConfigError(f"--base-url: found {quote(text)}, expected {BASE_URL_FORM}")
    return address


# Groups of values


def _documents(entry: ConfigEntry) -> tuple[str, ...]:
    """The default globs and those given; none at all if the list is empty."""
    globs = read_globs(entry)
    return tuple(dict.fromkeys((*DEFAULT_DOCUMENTS, *globs))) if globs else ()


def _history(entry: ConfigEntry) -> Literal["own", "enclosing"]:
    text = entry.text("own or enclosing")
    if text not in {"own", "enclosing"}:
        raise entry.error(quote(text), "own or enclosing")
    return "enclosing" if text == "enclosing" else "own"


def _positions(entry: ConfigEntry) -> tuple[Mapping[str, str], tuple[str, ...] | None]:
    fields = entry.fields(("aliases", "people"))
    people = fields.get("people")
    return (
        _get(fields, "aliases", _aliases, _NO_ENTRIES),
        people.texts("a list of positions such as [director]") if people else None,
    )


def _aliases(entry: ConfigEntry) -> Mapping[str, str]:
    """Former to present names; a position renamed twice leads to its last name from both former ones."""
    entries = entry.entries("a mapping of former to present names")
    written = {former: below.text("the present name of the position") for former, below in entries.items()}
    present: dict[str, str] = {}
    for former in written:
        name, passed = former, dict.fromkeys([former])
        while name in written and name not in present:
            name = written[name]
            if name in passed:
                raise entries[former].error("names that lead back to themselves", "a last name", "remove one of them")
            passed[name] = None
        last = present.get(name, name)
        present |= {each: last for each in passed if each in written}
    return MappingProxyType({former: present[former] for former in written})


def _closed(entry: ConfigEntry) -> Mapping[str, Discharge]:
    closed = entry.fields(("closed",)).get("closed")
    if closed is None:
        return MappingProxyType({})
    entries = closed.entries("a mapping from memo ids to {on, by, why}")
    return MappingProxyType({id_: _discharge(below) for id_, below in entries.items()})


def _discharge(entry: ConfigEntry) -> Discharge:
    fields = entry.fields(("on", "by", "why"))
    return Discharge(
        on=_get(fields, "on", ConfigEntry.date, None),
        by=_get(fields, "by", ConfigEntry.text, None),
        disposition=_get(fields, "why", ConfigEntry.prose, None),
    )


def _feeds(entry: ConfigEntry) -> tuple[FeedsConfig, Mapping[str, str]]:
    """The settings of feeds, and the saved searches, each of which has a feed."""
    fields = entry.fields(FEEDS_KEYS)
    default = FeedsConfig()
    feeds = FeedsConfig(
        window=_get(fields, "window", lambda below: below.number(1, 10_000), default.window),
        days=_get(fields, "days", lambda below: below.number(0, 3_660), default.days),
        ttl=_get(fields, "ttl", lambda below: below.number(1, 10_080), default.ttl),
        full_content=_get(fields, "full_content", ConfigEntry.flag, default.full_content),
        digest=_get(fields, "digest", _digest, default.digest),
    )
    return feeds, _get(fields, "searches", _searches, _NO_ENTRIES)


def _digest(entry: ConfigEntry) -> Literal["daily", "weekly"]:
    text = entry.text("daily or weekly")
    if text == "daily":
        return "daily"
    if text == "weekly":
        return "weekly"
    raise entry.error(quote(text), "daily or weekly")


def _searches(entry: ConfigEntry) -> Mapping[str, str]:
    """Saved queries by name; a name is an id, since it is the folder of a page, and a query one that can be read."""
    entries = entry.entries("a mapping from names to queries")
    seen: dict[str, str] = {}
    if entries:
        from memosite.search_language.analyzer import Analyzer  # noqa: PLC0415 - few sites save searches
        from memosite.search_language.query import parse_query  # noqa: PLC0415
    for name, below in entries.items():
        if make_id(name) != name:
            raise below.error(f"the name {quote(name)}", "a name of letters, digits, `.`, `_` and `-`")
        if seen.setdefault(name.casefold(), name) != name:
            raise below.error(f"the name {quote(name)} beside {quote(seen[name.casefold()])}", "names that differ")
        query = below.text("a query")
        try:
            parse_query(query, Analyzer())
        except QueryError as error:
            raise below.error(quote(query), "a query", str(error)) from error
    return MappingProxyType({name: below.text() for name, below in entries.items()})
