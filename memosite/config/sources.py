"""[I/O] Reads `sources` of memosite.yml: folders, git repos by address, and refs of either (SPEC 2.1, 2.3)."""

import re
from pathlib import Path

from memosite.config.policy import WithheldGlob
from memosite.config.schema import ConfigEntry, SourceConfig, clean_name, quote
from memosite.config.values import read_web
from memosite.facts.characters import printable
from memosite.sources.git_urls import FORM, refusal, repo_name
from memosite.sources.repos import holding_repo

LONGEST_PATH = 4096
"""Paths are shown whole in errors: nobody can open half a path."""

_KEYS = ("path", "git", "ref", "name", "include", "exclude", "web")
_REF_FORM = "the name of a branch or tag, or a commit's hash"
_NO_REF = re.compile(r"[-/.]|.*(?:[\s\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.)|.*(?:[./]|\.lock)$|@$", re.DOTALL)


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
        name=_name(fields["name"]) if "name" in fields else clean_name(default),
        root=root,
        git=git,
        ref=ref,
        include=read_globs(fields["include"]) if "include" in fields else (),
        exclude=read_globs(fields["exclude"]) if "exclude" in fields else (),
        web=read_web(fields["web"]) if "web" in fields else None,
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


def read_withheld_globs(entry: ConfigEntry, *, below: str = "the source") -> tuple[WithheldGlob, ...]:
    """Globs below a source, with their lines."""
    items = entry.items('a list of globs such as ["docs/**/*.md"]')
    for item in items:
        text = item.text("a glob")
        if text.startswith("/") or ".." in text.split("/"):
            raise item.error(quote(text), f"a glob below {below}", f"write it relative to {_FOLDER.get(below, below)}")
    return tuple(WithheldGlob(glob=item.text(), line=item.line) for item in items)
