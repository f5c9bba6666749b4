"""[I/O] Loads the `Config` of every command from memosite.yml, or from discovery if there is none; loads the contract.

Schema and rules are SPEC 2.1. Every error is one line that names file, line and key, what was found and what was
expected. Discovery recognizes stores by the names of folders and files alone; only Markdown that may be a record of no
store is recognized by its first bytes. The contract is in a folder beside the package in a checkout, and inside the
package once installed.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar, get_args

import memosite
from memosite.config import SecretsMode, schema
from memosite.config.schema import Audience, Config, ConfigEntry, SourceConfig
from memosite.facts.characters import printable, quote
from memosite.facts.errors import ConfigError, OutputError, SourceError
from memosite.facts.layout import CONFIG_NAME, SITE_MARKER, SKIPPED_FOLDERS, UNREAD_FOLDERS, place_of
from memosite.facts.names import BODY_SUFFIX, CATALOG_SUFFIX, ENVELOPE_SUFFIX, make_id
from memosite.facts.parsed import Discharge
from memosite.facts.patterns import regex
from memosite.facts.values import Value, replace
from memosite.formats.sessions.places import CHECKPOINTS, place_of_log
from memosite.formats.systems import SYSTEMS, has_record_name
from memosite.search_language import QueryError
from memosite.sources.folder import holding_repo, starts_as_record
from memosite.sources.forges import FORM, refusal, repo_name
from memosite.store.safe_files import beginning_of, open_file

# Reads `sources` of memosite.yml: folders, git repos by address, and refs of either (SPEC 2.1, 2.3).


LONGEST_PATH = 4096
"""Paths are shown whole in errors: nobody can open half a path."""

_KEYS = ("path", "git", "ref", "name", "include", "exclude", "web")
_REF_FORM = "the name of a branch or tag, or a commit's hash"
_NO_REF = regex(r"[-/.]|.*(?:[\s\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.)|.*(?:[./]|\.lock)$|@$", re.DOTALL)


def read_sources(entry: ConfigEntry, folder: Path) -> tuple[SourceConfig, ...]:
    """All sources, each with a name of its own and each folder, address and ref once. Raises `ConfigError`."""
    items = entry.items('a list of entries such as "- path: governance"')
    if not items:
        raise entry.error("an empty list", "at least one source", "remove the key to have sources discovered")
    sources: list[SourceConfig] = []
    names: dict[str, int] = {}
    places: dict[tuple[Path | str | None, str | None], int] = {}
    for item in items:
        source = _source(item, folder)
        named, place = source.name.casefold(), (source.root or source.git, source.ref)
        if named in names:
            raise item.error(
                f"the name {quote(source.name)} again, first in line {names[named]}",
                "a name of its own for each source",
                "add name: to one of the two",
            )
        if place in places:
            what, each = ("folder", "each folder once") if source.root else ("address", "each address and ref once")
            raise item.error(f"the {what} of the source in line {places[place]} again", each, "remove one of them")
        names[named], places[place] = item.line, item.line
        sources.append(source)
    return tuple(sources)


def _source(item: ConfigEntry, folder: Path) -> SourceConfig:
    fields = item.fields(_KEYS)
    if "path" not in fields and "git" not in fields:
        raise item.error("no path", "the path of a folder", "add path:, or git: with an address")
    if "path" in fields and "git" in fields:
        raise fields["git"].error("path and git", "one of the two", "remove path: to read the repo at the address")
    root = existing_folder(fields["path"], folder) if "path" in fields else None
    git = _git_url(fields["git"]) if "git" in fields else None
    ref = _ref(fields["ref"], root) if "ref" in fields else None
    default = root.name if root else repo_name(git or "")
    return SourceConfig(
        name=_name(fields["name"]) if "name" in fields else schema.clean_name(default),
        root=root,
        git=git,
        ref=ref,
        include=read_globs(fields["include"]) if "include" in fields else (),
        exclude=read_globs(fields["exclude"]) if "exclude" in fields else (),
        web=schema.read_web(fields["web"]) if "web" in fields else None,
    )


def _name(entry: ConfigEntry) -> str:
    text = entry.text("a name")
    if "/" in text or text in {".", ".."}:
        raise entry.error(quote(text), "a name without /", "the folder itself is named by path:")
    return text


def _git_url(entry: ConfigEntry) -> str:
    text = entry.text(FORM)
    found = refusal(text)
    if found is None:
        return text
    if "://" not in text and ":" not in text:
        raise entry.error(found, FORM, "a repo on this machine is named by path:, with ref: if it has no checkout")
    if found.startswith("a user or password"):
        raise entry.error(found, "none", "remove it, and use ssh with an agent for repos that are not public")
    raise entry.error(found, FORM)


def _ref(entry: ConfigEntry, root: Path | None) -> str:
    text = entry.text(_REF_FORM)
    if _NO_REF.match(text):
        raise entry.error(quote(text), _REF_FORM)
    holding = holding_repo(root, site=root, enclosing=True) if root else None
    if holding is not None and holding.repo is None:
        shown = printable(str(root))
        raise entry.error(
            f"a ref of {shown}, but {holding.why_not}", "the folder of a git repo", "remove ref:, or correct path:"
        )
    return text


def existing_folder(entry: ConfigEntry, folder: Path) -> Path:
    """A folder that is there, absolute and free of links; the path is relative to `folder`."""
    text = entry.path_text("the path of a folder")
    shown = quote(text, longest=LONGEST_PATH)
    try:
        resolved = (folder / text).resolve(strict=True)
        is_folder = resolved.is_dir()
    except FileNotFoundError as error:
        advice = f"a path is relative to {printable(str(folder))}"
        raise entry.error(f"{shown}, which does not exist", "an existing folder", advice) from error
    except (OSError, RuntimeError, ValueError) as error:  # a file in the way, a circle of links, half a character
        raise entry.error(f"{shown}, which cannot be opened", "an existing folder") from error
    if not is_folder:
        raise entry.error(f"{shown}, which is a file", "an existing folder", "name the folder it is in")
    return resolved


_FOLDER = {"the source": "the source's folder"}


def read_globs(entry: ConfigEntry, *, below: str = "the source") -> tuple[str, ...]:
    """Globs below a source, or below another folder."""
    return tuple(one.glob for one in read_withheld_globs(entry, below=below))


def read_withheld_globs(entry: ConfigEntry, *, below: str = "the source") -> tuple[schema.WithheldGlob, ...]:
    """Globs below a source, with their lines."""
    items = entry.items('a list of globs such as ["docs/**/*.md"]')
    for item in items:
        text = item.text("a glob")
        if text.startswith("/") or ".." in text.split("/"):
            raise item.error(quote(text), f"a glob below {below}", f"write it relative to {_FOLDER.get(below, below)}")
    return tuple(schema.WithheldGlob(glob=item.text(), line=item.line) for item in items)


# Finds the sources below a folder without a memosite.yml: folders that hold a store, or their git repos.


FOLDER_DEPTH = 40
"""How many folders below the site are entered, one in the other."""

FOLDER_LIMIT = 200_000
"""How many folders are looked into in all."""

SNIFF_LIMIT = 20_000
"""How many Markdown files are looked into in all, to find records among them."""

_PACKED_LIMIT = 1_000_000
_CHECKPOINTS = regex(rf"refs/(?:heads/({CHECKPOINTS}/[\w.-]+)|remotes/(origin/{CHECKPOINTS}/[\w.-]+))$", re.MULTILINE)

_STORES = ("memos", "notes", "transcripts")
_STORE_DEPTH = 3
_DOCUMENTS = tuple(f"{folder}/" for folder in schema.DOCUMENT_FOLDERS)
_ENVIRONMENT = "pyvenv.cfg"


class VisitedFolder(Value):
    """One folder on the way: its parts below the site, the names of its files, and the git repo around it.

    `repo` is the number of parts that lead to the repo's top, None outside every repo. Links are left out.
    """

    parts: tuple[str, ...]
    files: tuple[str, ...]
    repo: int | None


def _memodef_store(parts: Sequence[str], files: Sequence[str]) -> int | None:
    if not any(name.lower().endswith((ENVELOPE_SUFFIX, BODY_SUFFIX)) for name in files):
        return None
    first = max(0, len(parts) - _STORE_DEPTH)
    order = (*range(first, len(parts)), *range(first - 1, -1, -1))
    return next((index for index in order if parts[index] in _STORES), None)


def _orgdef_store(parts: Sequence[str], files: Sequence[str]) -> int | None:
    has_any = any(name.lower().endswith((ENVELOPE_SUFFIX, CATALOG_SUFFIX)) for name in files)
    return len(parts) - 1 if has_any and parts and parts[-1] == "org" else None


def _log_store(parts: Sequence[str], files: Sequence[str]) -> int | None:
    """SpecStory's folder is made to be committed, and its files are transcripts."""
    is_history = tuple(parts[-2:]) == (".specstory", "history")
    return len(parts) - 2 if is_history and any(name.endswith(".md") for name in files) else None


STORES = (_memodef_store, _orgdef_store, _log_store, *(system.store_in for system in SYSTEMS))
"""What tells a store: given a folder, as parts and the names of its files, how many parts lead to what holds it."""


def discover(site: Path, *, ignore: Sequence[Path], with_logs: bool = False) -> tuple[SourceConfig, ...]:
    """The sources at or below a folder, by path. Output and cache are ignored; links are not followed.

    Folders that hold nothing but session logs of tools are found where there is nothing else, or `with_logs`; where
    nothing at all is, a branch of checkpoints of sessions.

    Raises `ConfigError` if there are none, `SourceError` if the folder cannot be read or holds too many.
    """
    site = site.resolve()
    found = _roots(site, walk(site, ignore=ignore)) or _document_roots(walk(site, ignore=ignore))
    if with_logs or not found:
        found |= {parts for parts in _log_roots(walk(site, ignore=ignore)) if not _is_inside(parts, found)}
    if not found and (branch := _checkpoint_branch(site)):
        return (SourceConfig(name=next(iter(_names(site, [()]))), root=site, ref=branch),)
    if not found:
        raise ConfigError(_nothing_found(site))
    roots = sorted(found)
    return tuple(
        SourceConfig(name=name, root=site.joinpath(*parts))
        for name, parts in zip(_names(site, roots), roots, strict=True)
    )


def _roots(site: Path, folders: Iterable[VisitedFolder]) -> set[tuple[str, ...]]:
    """The parts that lead to each source.

    Some records may be in any folder: those outside of every repo and of every other source belong to the folder
    directly below the site that they are in.
    """
    found: set[tuple[str, ...]] = set()
    loose: list[tuple[str, ...]] = []
    left = SNIFF_LIMIT
    for folder in folders:
        root = _source_root(folder)
        repo = None if folder.repo is None else folder.parts[: folder.repo]
        if root is not None:
            found.add(root)
        if root is not None or (_is_inside(folder.parts, found) if repo is None else repo in found):
            continue
        has_record = any(map(has_record_name, folder.files))
        names = [] if has_record else _markdown_names(folder)[:left]
        left -= len(names)
        if has_record or any(starts_as_record(site.joinpath(*folder.parts, name)) for name in names):
            if repo is None:
                loose.append(folder.parts)
            else:
                found.add(repo)
    return found | {parts[:1] for parts in loose if not _is_inside(parts, found)}


def _document_roots(folders: Iterable[VisitedFolder]) -> set[tuple[str, ...]]:
    """The parts that lead to what holds a folder of documents, where no store is: the top of a repo, or no repo."""
    found: set[tuple[str, ...]] = set()
    for folder in folders:
        parts = folder.parts
        if _is_inside(parts, found) or not any(name.lower().endswith(".md") for name in folder.files):
            continue
        tops = range(len(parts)) if folder.repo is None else (folder.repo,)
        below = ((top, f"{'/'.join(parts[top:])}/") for top in tops)
        top = next((top for top, path in below if path.startswith(_DOCUMENTS)), None)
        if top is not None:
            found.add(parts[:top])
    return found


def _checkpoint_branch(repo: Path) -> str:
    """The last branch of a repo that holds checkpoints of sessions, its own, else that of `origin`; "" without one."""
    git = repo / ".git"
    known = [path.relative_to(git).as_posix() for path in git.glob(f"refs/*/**/{CHECKPOINTS}/*")]
    with suppress(OSError), (git / "packed-refs").open(encoding="utf-8", errors="replace") as packed:
        known.append(packed.read(_PACKED_LIMIT))
    found = [match.group(1, 2) for match in _CHECKPOINTS.finditer("\n".join(known))]
    return max((own for own, _ in found if own), default="") or max((other for _, other in found if other), default="")


def _log_roots(folders: Iterable[VisitedFolder]) -> set[tuple[str, ...]]:
    """The parts that lead to what holds session logs, where nothing else is: the top of a repo, or no repo."""
    found: set[tuple[str, ...]] = set()
    for folder in folders:
        parts = folder.parts
        paths = ("/".join((*parts, name)) for name in folder.files)
        places = (place_of_log(path) for path in paths)
        if not _is_inside(parts, found) and any(place and not place.is_sniffed for place in places):
            hidden = next((number for number, part in enumerate(parts) if part.startswith(".")), None)
            found.add(parts[: folder.repo] if folder.repo is not None else parts[:hidden] if hidden is not None else ())
    return found


def _is_inside(parts: tuple[str, ...], roots: Collection[tuple[str, ...]]) -> bool:
    return any(parts[:depth] in roots for depth in range(len(parts) + 1))


def _markdown_names(folder: VisitedFolder) -> list[str]:
    if place_of("/".join((*folder.parts, "-"))) is not None:
        return []
    names = (name for name in folder.files if name.lower().endswith(".md"))
    return [name for name in names if not name.lower().endswith(BODY_SUFFIX)]


def _source_root(folder: VisitedFolder) -> tuple[str, ...] | None:
    """The parts that lead to the source a folder belongs to, None if it is not part of a store."""
    for tell in STORES:
        holder = tell(folder.parts, folder.files)
        if holder is not None:
            return folder.parts[: holder if folder.repo is None else folder.repo]
    return None


def walk(site: Path, *, ignore: Sequence[Path]) -> Iterator[VisitedFolder]:
    """Every folder that may hold artifacts, a folder before those in it, by name.

    Left out are ignored folders and those of samples (see `layout`), virtual environments, sites
    written by memosite, what is to be ignored, and what cannot be read. The site's own name does not matter.
    """
    ignored = {str(path.resolve()) for path in ignore}
    waiting: list[tuple[tuple[str, ...], int | None]] = [((), None)]
    looked_into = 0
    while waiting:
        parts, repo = waiting.pop()
        looked_into += 1
        if looked_into > FOLDER_LIMIT:
            raise SourceError(
                f"{printable(str(site))}: more than {FOLDER_LIMIT:,} folders to search; name sources in memosite.yml"
            )
        try:
            files, folders, is_repo = _list(site.joinpath(*parts))
        except OSError as error:
            if not parts:
                raise SourceError(f"{printable(str(site))}: cannot be read ({error.strerror})") from error
            continue
        if SITE_MARKER in files or (parts and _ENVIRONMENT in files):
            continue
        repo = len(parts) if is_repo else repo
        yield VisitedFolder(parts=parts, files=files, repo=repo)
        if len(parts) < FOLDER_DEPTH:
            waiting += [
                ((*parts, name), repo)
                for name in reversed(folders)
                if name not in UNREAD_FOLDERS | SKIPPED_FOLDERS and str(site.joinpath(*parts, name)) not in ignored
            ]


def _list(folder: Path) -> tuple[tuple[str, ...], list[str], bool]:
    """The names of the files and of the folders in a folder, sorted, and whether it is the top of a git repo."""
    files, folders = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            elif entry.is_file(follow_symlinks=False):
                files.append(entry.name)
    return tuple(sorted(files)), sorted(folders), ".git" in files or ".git" in folders


def _names(site: Path, roots: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """A name for each root: its folder's; on a clash its path with `-`; if that clashes too, a number after it."""
    own = [schema.clean_name(site.joinpath(*parts).name) for parts in roots]
    times = Counter(name.casefold() for name in own)
    wanted = [
        schema.clean_name("-".join(parts)) if parts and times[name.casefold()] > 1 else name
        for name, parts in zip(own, roots, strict=True)
    ]
    reserved = {name.casefold() for name in wanted}
    taken: set[str] = set()
    for name in wanted:
        free, number = name, 1
        while free.casefold() in taken or (number > 1 and free.casefold() in reserved):
            number += 1
            free = f"{name}-{number}"
        taken.add(free.casefold())
        yield free


def _nothing_found(site: Path) -> str:
    shown = printable(str(site))
    if (site / SITE_MARKER).exists():
        return f"{shown}: found a site that memosite wrote, expected the repos it is made from; name their folder"
    alone = {folder.rpartition("/")[2] for folder in schema.DOCUMENT_FOLDERS}
    if site.name in (*_STORES, *sorted(alone), *(name for system in SYSTEMS for name in system.store_names)):
        return f"{shown}: found a {site.name} folder alone, expected the folder that holds it; name {site.parent}"
    *names, last = sorted(system.name for system in SYSTEMS)
    return (
        f"{shown}: found no memos/, notes/ or transcripts/ below it with an .openthing or .body.md file, no org/ "
        f"with an orgdef, no store of {', '.join(names)} or {last}, no session logs of agents, and no docs/adr/ or "
        "decisions/ with Markdown at the top of a repo, expected at least one; "
        "name the folder of the site with --site, or sources in memosite.yml, see memosite init --help"
    )


# Chooses where a site is written and for whom: `audience`, `output`, `outputs` and the cache (SPEC 2.1, 9).


OUTPUT_NAME = "_site"
CACHE_NAME = ".memosite"
AUDIENCES: Mapping[str, Audience] = {audience: audience for audience in get_args(Audience)}
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
    named = fields["audience"].choice(tuple(AUDIENCES.values())) if "audience" in fields else least
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


def _read_outputs(fields: Mapping[str, ConfigEntry], folder: Path) -> Mapping[Audience, Path]:
    """The output folders by audience; none may be in another, or one site would be published with the other."""
    if "outputs" not in fields:
        return MappingProxyType({})
    entry, found = fields["outputs"], dict[Audience, Path]()
    if "output" in fields:
        raise fields["output"].error("output beside outputs", "one of the two", "remove it: outputs names the folders")
    for name, below in entry.fields(AUDIENCES).items():
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


# Loads memosite.yml.


SIZE_LIMIT = 1 << 20
"""Largest memosite.yml, in bytes."""

KEYS = (
    *("title", "base_url", "archive_id", "authority", "language", "sources", "history", "positions"),
    *("documents", "citations", "actions", "feeds", "theme", "secrets", "audience", "withhold", "withhold_raw"),
    *("erase", "output", "outputs", "lean", "sessions"),
)

HISTORIES: tuple[schema.History, ...] = get_args(schema.History)
DIGESTS: tuple[schema.Digest, ...] = get_args(schema.Digest)
SESSIONS_KEYS = ("all", "include", "positions", "person", "thinking")
FEEDS_KEYS = ("window", "days", "ttl", "full_content", "digest", "searches")
_T = TypeVar("_T")
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
    with _quoting_no_secret(site / CONFIG_NAME):
        folder = _open_site(site)
        top = _read_file(site / CONFIG_NAME)
        fields = top.fields(KEYS) if top else {}
        chosen, output_folder, outputs = choose(fields, folder, audience=audience, output=output)
        cache_folder = folder_to_write(cache, "--cache") or cache_of(folder)
        aliases, people = _get(fields, "positions", _positions, _NO_POSITIONS)
        feeds, searches = _get(fields, "feeds", _feeds, (schema.FeedsConfig(), _NO_ENTRIES))
        address = _get(fields, "base_url", schema.read_base_url, None)
        sessions = _get(fields, "sessions", _sessions, schema.SessionsConfig())
        known_secrets = _get(fields, "secrets", schema.read_secrets, schema.DEFAULT_SECRETS)
        return Config(
            site=folder,
            title=_get(fields, "title", ConfigEntry.prose, schema.clean_name(folder.name)),
            base_url=_option_base_url(base_url) or address,
            address=address,
            archive_id=_get(fields, "archive_id", schema.read_archive_id, "archive"),
            authority=_get(fields, "authority", schema.read_authority, "memosite.invalid,2026"),
            language=_get(fields, "language", schema.read_language, "en"),
            history=_get(fields, "history", lambda entry: entry.choice(HISTORIES), "own"),
            aliases=aliases,
            people=people,
            documents=_get(fields, "documents", _documents, schema.DEFAULT_DOCUMENTS),
            citations=_get(fields, "citations", lambda entry: read_globs(entry, below="the site folder"), ()),
            closed=_get(fields, "actions", _closed, MappingProxyType({})),
            feeds=feeds,
            searches=searches,
            theme=_get(fields, "theme", lambda entry: existing_folder(entry, folder), None),
            sources=_get(fields, "sources", lambda entry: read_sources(entry, folder), ())
            or discover(folder, ignore=(output_folder, *outputs.values(), cache_folder), with_logs=sessions.is_all),
            output=output_folder,
            cache=cache_folder,
            secrets=replace(known_secrets, mode=secrets or known_secrets.mode),
            erase=_get(fields, "erase", schema.read_erase, ()),
            audience=chosen,
            outputs=outputs,
            withhold=_get(fields, "withhold", read_withheld_globs, ()),
            withhold_raw=_get(fields, "withhold_raw", ConfigEntry.flag, default=True),
            lean=_get(fields, "lean", ConfigEntry.flag, default=False),
            lean_line=fields["lean"].line if "lean" in fields else 0,
            sessions=sessions,
            file=folder / CONFIG_NAME if (site / CONFIG_NAME).exists() else None,
        )


def _sessions(entry: ConfigEntry) -> schema.SessionsConfig:
    """`true` or `false` for the logs in the folders of tools, or a mapping."""
    if entry.found.startswith("the truth value"):
        return schema.SessionsConfig(is_all=entry.flag())
    fields = entry.fields(SESSIONS_KEYS)
    positions = fields["positions"].entries("a mapping of globs to positions") if "positions" in fields else {}
    return schema.SessionsConfig(
        is_all=_get(fields, "all", ConfigEntry.flag, default=False),
        include=_get(fields, "include", read_globs, ()),
        positions=tuple((glob, one.text("the name of a position")) for glob, one in positions.items()),
        person=_get(fields, "person", lambda one: one.text("a name"), ""),
        thinking=_get(fields, "thinking", ConfigEntry.flag, default=False),
    )


@contextmanager
def _quoting_no_secret(file: Path) -> Iterator[None]:
    """Turn a `ConfigError` into one that quotes nothing if there is a secret in the file that it would quote.

    Whether it is allowed cannot be told: the file could not be read.
    """
    try:
        yield
    except ConfigError:
        _refuse_secrets(file)
        raise


def _refuse_secrets(file: Path) -> None:
    from memosite.secrets import find_secrets, kind_of  # noqa: PLC0415 - only what fails waits for it

    data = beginning_of(os.path.realpath(file), SIZE_LIMIT) or b""
    text = data.decode("utf-8", "replace")
    for found in find_secrets(text):
        line = text.count("\n", 0, found.start) + 1
        message = f"found a secret ({kind_of(found.rule)}), expected none; rotate it and remove it"
        raise ConfigError(f"{printable(str(file))}:{line}: {message}; other errors of the file are shown then")


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
    return schema.read_yaml(text, shown)


def _option_base_url(text: str | None) -> str | None:
    if text is None:
        return None
    address = schema.normalize_base_url(text.strip())
    if address is None:
        raise ConfigError(f"--base-url: found {quote(text)}, expected {schema.BASE_URL_FORM}")
    return address


# Groups of values


def _documents(entry: ConfigEntry) -> tuple[str, ...]:
    """The default globs and those given; none at all if the list is empty."""
    globs = read_globs(entry)
    return tuple(dict.fromkeys((*schema.DEFAULT_DOCUMENTS, *globs))) if globs else ()


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


def _feeds(entry: ConfigEntry) -> tuple[schema.FeedsConfig, Mapping[str, str]]:
    """The settings of feeds, and the saved searches, each of which has a feed."""
    fields = entry.fields(FEEDS_KEYS)
    default = schema.FeedsConfig()
    feeds = schema.FeedsConfig(
        window=_get(fields, "window", lambda below: below.number(1, 10_000), default.window),
        days=_get(fields, "days", lambda below: below.number(0, 3_660), default.days),
        ttl=_get(fields, "ttl", lambda below: below.number(1, 10_080), default.ttl),
        full_content=_get(fields, "full_content", ConfigEntry.flag, default.full_content),
        digest=_get(fields, "digest", lambda below: below.choice(DIGESTS), default.digest),
    )
    return feeds, _get(fields, "searches", _searches, _NO_ENTRIES)


def _searches(entry: ConfigEntry) -> Mapping[str, str]:
    """Saved queries by name; a name is an id, since it is the folder of a page, and a query one that can be read."""
    entries = entry.entries("a mapping from names to queries")
    seen: dict[str, str] = {}
    if entries:
        from memosite.search_language import Analyzer, parse_query  # noqa: PLC0415 - few sites save searches
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


# Loads the contract, the files of docs/spec, which each built site publishes.


_PACKAGE = Path(memosite.__file__).parent
_MAIN = "memosite.md"


class Contract(Value):
    """The contract as Markdown: the main part, that of feeds, and the guide to both (README.md)."""

    main: str
    feeds: str
    guide: str


def contract_folder(package: Path = _PACKAGE) -> Path:
    """The folder that holds the files. Raises `ConfigError` if there is none."""
    for folder in (package / "docs" / "spec", package.parent / "docs" / "spec"):
        if (folder / _MAIN).is_file():
            return folder
    raise ConfigError(f"the contract is missing in {package}: install memosite again")


def load_contract(package: Path = _PACKAGE) -> Contract:
    """The files as they are. Raises `ConfigError` for one that cannot be read."""
    folder = contract_folder(package)
    return Contract(main=_text(folder / _MAIN), feeds=_text(folder / "feeds.md"), guide=_text(folder / "README.md"))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the contract: {path} cannot be read: install memosite again") from error
