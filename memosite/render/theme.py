"""[I/O] Loads the theme, its templates, static files and the words of a language, as one value with a digest.

    bundled files ─┐
                   ├─► Theme ──► render (templates, words), output (static files), stale (digest)
    site's files ──┘  a site's file overrides the bundled one of the same name; of a catalogue, single texts

The bundled theme is beside the package in a checkout and inside it once installed.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from memosite.facts.errors import ConfigError
from memosite.facts.values import Value
from memosite.render.catalogue import ENGLISH, Catalogue, lean, read_catalogue, translate_script

_PACKAGE = Path(__file__).parent.parent
_PARTS = ("templates", "static", "languages")


class Theme(Value):
    """What pages are made with. Names are paths with `/` below `templates/` and `static/`, in sorted order.

    `words` is the language of the site, in which the scripts among the static files are already.

    `digest` is a SHA-256 in hex: with equal digests and equal models, the same program makes equal pages. `own` names
    the templates that come from the site's folder, whose faults the site's owner has to fix.
    """

    templates: Mapping[str, str]
    static: Mapping[str, bytes]
    digest: str
    own: frozenset[str] = frozenset()
    words: Catalogue = ENGLISH


def theme_folders(folder: Path | None) -> tuple[Path, ...]:
    """The folders that a theme is loaded from."""
    base = bundled_theme(_PACKAGE)
    own = (folder,) if folder is not None else ()
    return tuple(where / part for where in (base, *own) for part in _PARTS)


def load_theme(folder: Path | None, language: str = "en", *, package: Path = _PACKAGE) -> Theme:
    """The bundled theme, without comments in scripts and styles, overridden by a site's theme folder, in a language.

    `folder` holds `templates/` (`*.html`), `static/` (any files) and `languages/` (`de.po`), or some of them; hidden
    files and editors' backups (`name~`) are left out. Raises ConfigError if the folder or all of these are missing,
    if a file cannot be read or leads out of the folder, and if a template or a catalogue has an error.
    """
    base = bundled_theme(package)
    templates = {name: _text(path) for name, path in _files(base / "templates", suffix=".html")}
    static = {name: lean(name, _bytes(path)) for name, path in _files(base / "static")}
    own: dict[str, str] = {}
    if folder is not None:
        if not folder.is_dir():
            raise ConfigError(f"theme: {folder} is not a folder")
        if not any((folder / part).is_dir() for part in _PARTS):
            raise ConfigError(f"theme: {folder} holds none of the folders templates/, static/ and languages/")
        for name, path in _files(folder / "templates", within=folder, suffix=".html"):
            own[name] = _text(path)
            _check_syntax(path, own[name])
        static |= {name: _bytes(path) for name, path in _files(folder / "static", within=folder)}
    templates = dict(sorted((templates | own).items()))
    catalogues = _catalogues((base, folder) if folder is not None else (base,), language)
    words = _words(catalogues)
    static = {name: _in_words(name, static[name], words) for name in sorted(static)}
    digest = _digest(templates, static, catalogues)
    return Theme(templates=templates, static=static, digest=digest, own=frozenset(own), words=words)


def bundled_theme(package: Path) -> Path:
    """The folder that holds the bundled `templates/` and `static/`: the package itself, else the one around it."""
    for folder in (package, package.parent):
        if (folder / "templates" / "base.html").is_file() and (folder / "static").is_dir():
            return folder
    raise ConfigError(f"the bundled theme is missing in {package}: install memosite again")


def _catalogues(folders: Sequence[Path], language: str) -> dict[str, str]:
    """The catalogues of a language by their files: of `de-AT` if there is one, else of `de`; the site's own is last."""
    found = {
        path: name.removesuffix(".po").lower()
        for folder in folders
        for name, path in _files(folder / "languages", within=None if folder is folders[0] else folder, suffix=".po")
    }
    tag = language.lower()
    while tag and tag not in found.values():
        tag = tag.rpartition("-")[0]
    return {str(path): _text(path) for path, name in found.items() if name == tag}


def _words(catalogues: Mapping[str, str]) -> Catalogue:
    """One catalogue of several: of a text that two have, the last one counts."""
    words = ENGLISH
    for name, source in catalogues.items():
        own = read_catalogue(source, name)
        words = Catalogue(texts={**words.texts, **own.texts}, rule=own.rule)
    return words


def _in_words(name: str, data: bytes, words: Catalogue) -> bytes:
    """A static file, with the words of the language if it is a script that has some."""
    if not name.endswith(".js") or (b"_(" not in data and b"_n(" not in data):
        return data
    try:
        return translate_script(data.decode(), words).encode()
    except UnicodeDecodeError:
        return data


def _files(root: Path, *, within: Path | None = None, suffix: str = "") -> Iterator[tuple[str, Path]]:
    """Every visible file below `root` with its name; symbolic links to folders are not entered.

    `within` is the folder that no link may lead out of. The bundled theme has none: installers that save
    space put links to their cache in its place.
    """
    if within is not None and root.is_symlink():
        _check_link(root, within)
    for place, folders, names in os.walk(root, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted([*names, *(name for name in folders if Path(place, name).is_symlink())]):
            path = Path(place, name)
            if name.startswith(".") or name.endswith("~"):
                continue
            if within is not None and path.is_symlink():
                _check_link(path, within)
            if name.endswith(suffix) and path.is_file():
                yield path.relative_to(root).as_posix(), path


def _refuse(error: OSError) -> None:
    """Raise errors that `os.walk` would ignore, unless the folder is missing."""
    if not isinstance(error, FileNotFoundError):
        raise ConfigError(f"theme: {error.filename} cannot be read: {error.strerror}") from error


def _check_link(path: Path, within: Path) -> None:
    try:
        inside = path.resolve(strict=True).is_relative_to(within.resolve())
    except (OSError, RuntimeError):  # a loop of links is a RuntimeError up to Python 3.12
        inside = False
    if not inside:
        raise ConfigError(f"theme: the link {path} leads nowhere or out of the theme folder; put the file itself there")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"theme: {path} cannot be read: {error.strerror}") from error


def _text(path: Path) -> str:
    try:
        return _bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"theme: {path} is not UTF-8") from error


def _check_syntax(path: Path, source: str) -> None:
    import jinja2  # noqa: PLC0415 - the bundled theme needs no check

    from memosite.render.translating import Translating  # noqa: PLC0415 - likewise

    environment = jinja2.Environment(autoescape=True, extensions=[Translating])
    environment.words = ENGLISH  # type: ignore[attr-defined]
    try:
        environment.parse(source)
    except jinja2.TemplateSyntaxError as error:
        raise ConfigError(f"theme: {path}, line {error.lineno}: {error.message}") from error


def _digest(templates: Mapping[str, str], static: Mapping[str, bytes], catalogues: Mapping[str, str]) -> str:
    """SHA-256 over every name and content, each with its length before it."""
    parts: list[bytes] = []
    for name, source in templates.items():
        parts += (b"template", name.encode("utf-8", "surrogateescape"), source.encode())
    parts += (part for source in catalogues.values() for part in (b"words", source.encode()))
    for name, data in static.items():
        parts += (b"static", name.encode("utf-8", "surrogateescape"), data)
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()
