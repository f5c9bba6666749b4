"""[I/O] Checks a site, folders or single files, and gives their findings (SPEC 8, check).

A folder with a memosite.yml or with stores in it is checked as a site, with all rules that span files. A single
file, or a folder without any store, is checked file by file, wherever it is: for editors and for pre-commit. A file
that is not read is said to be none that was checked.
"""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from memosite import __version__
from memosite.commands.arguments import Tell
from memosite.commands.report import fails, to_json, to_sarif, to_text
from memosite.config import SecretsMode
from memosite.config.loading import contract_folder, discover, load_config
from memosite.config.schema import DEFAULT_SECRETS, Audience, SecretsConfig
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.file import File
from memosite.facts.findings import Finding
from memosite.facts.layout import CONFIG_NAME, place_of
from memosite.facts.names import BODY_SUFFIX, CATALOG_SUFFIX, ENVELOPE_SUFFIX
from memosite.facts.parsed import DocumentHead
from memosite.facts.rules import SECRET_IN_NAME
from memosite.facts.values import Value, replace
from memosite.formats.sessions.parsing import form_of
from memosite.formats.systems import owner_of, root_of_record
from memosite.reading.archive import check_listing, open_archive
from memosite.sources.folder import FolderSource
from memosite.sources.listing import LOG_LIMIT, Listing

_ENVELOPES = (ENVELOPE_SUFFIX, CATALOG_SUFFIX)
_EXPECTED = 'expected an .openthing file with a "type" such as memodef:Memo'
_UNREAD = (
    f"not checked: found no memo, note, transcript, session log, library, orgdef or record, {_EXPECTED}; "
    'of a draft, save its "envelope" as its "name"'
)
_DOCUMENT = f"found Markdown; of a memo, {_EXPECTED}"


class Checked(Value):
    """Findings, and for each source in them the path by which the user can open its files.

    Of the files that were named, `unread` are of no format that is read; `documents` are Markdown and no more.
    """

    findings: tuple[Finding, ...]
    root_of: Mapping[str, str]
    unread: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()


def run(options: argparse.Namespace, show: Tell, say: Tell) -> bool:
    """Show the findings on what the command line names; whether all are below the severity that fails.

    Raises `ConfigError` if nothing was checked. Envelopes and catalogs of other tools are only said not to be.
    """
    site = options.site_option or Path()
    checked = check(
        options.paths or [site], site=site, cache=options.cache, mode=options.secrets, audience=options.audience
    )
    unchecked = [f"{printable(path)}: {_UNREAD}" for path in checked.unread]
    is_nothing = len(checked.unread) == len(options.paths) > 0
    if is_nothing and not all(path.endswith(_ENVELOPES) for path in checked.unread):
        raise ConfigError("\n".join(unchecked))
    as_documents = [f"{printable(path)}: checked as a document alone: {_DOCUMENT}" for path in checked.documents]
    for line in (*unchecked, *as_documents):
        say(f"memosite: {line}")
    is_fine = not fails((finding.severity for finding in checked.findings), options.fail_on)
    if options.format == "json":
        text = to_json(checked.findings)
    elif options.format == "sarif":
        text = to_sarif(checked.findings, version=__version__, root_of=checked.root_of)
    else:
        text = to_text(checked.findings, root_of=checked.root_of, contract=str(contract_folder()))
    is_said = options.format == "text" and is_nothing
    if (not options.quiet and not is_said) or (options.format == "text" and not is_fine):
        show(text)
    return is_fine


def check(
    paths: Sequence[Path],
    *,
    site: Path | None = None,
    cache: Path | None = None,
    mode: SecretsMode | None = None,
    audience: Audience | None = None,
) -> Checked:
    """Check each path; remotes are fetched into `cache`. Raises `ConfigError` for a path that is not there.

    What the memosite.yml of `site` allows counts for single files, too. In any mode secrets are findings here.
    """
    known = load_config(site).secrets if site is not None and (site / CONFIG_NAME).exists() else DEFAULT_SECRETS
    others_of: dict[Path, frozenset[str]] = {}
    all_checked = []
    for path in paths:
        if not path.exists():
            raise ConfigError(f"{path}: no such file or folder")
        folder = path.parent if path.name == CONFIG_NAME else path
        if folder.is_dir() and _is_site(folder):
            checked = _check_site(folder, cache, mode, audience)
        else:
            checked = _check_loose(path, others_of, _unfailing(known, mode))
        all_checked.append(_by_path(checked) if len(paths) > 1 else checked)  # two sites may have sources of one name
    return Checked(
        findings=tuple(dict.fromkeys(finding for checked in all_checked for finding in checked.findings)),
        root_of={name: root for checked in all_checked for name, root in checked.root_of.items()},
        unread=tuple(path for checked in all_checked for path in checked.unread),
        documents=tuple(path for checked in all_checked for path in checked.documents),
    )


def _is_site(folder: Path) -> bool:
    if (folder / CONFIG_NAME).exists():
        return True
    try:
        return bool(discover(folder.resolve(), ignore=()))
    except ConfigError:
        if any(_files_below(folder)):
            return False
        raise


def _unfailing(secrets: SecretsConfig, mode: SecretsMode | None) -> SecretsConfig:
    """What is done about secrets, but that findings are shown where a build would fail."""
    wanted = mode or secrets.mode
    return replace(secrets, mode="withhold" if wanted == "fail" else wanted)


def _check_site(folder: Path, cache: Path | None, mode: SecretsMode | None, audience: Audience | None) -> Checked:
    config = load_config(folder, cache=cache, audience=audience)
    config = replace(config, secrets=_unfailing(config.secrets, mode))
    with open_archive(config) as handle:
        archive = handle.recall()
    roots = {source.name: _from_here(source.root) for source in config.sources if source.root}
    return Checked(findings=archive.all_findings, root_of={"": _from_here(config.site)} | roots)


def _by_path(checked: Checked) -> Checked:
    """The same findings with each source called by its path."""
    findings = (
        replace(finding, location=replace(finding.location, source=checked.root_of.get(finding.location.source, "")))
        for finding in checked.findings
    )
    return replace(checked, findings=tuple(findings), root_of={root: root for root in checked.root_of.values()})


def _check_loose(path: Path, others_of: dict[Path, frozenset[str]], secrets: SecretsConfig) -> Checked:
    """Check files one by one; bodies are sought beside each, findings that need an archive are not made.

    `others_of` memoizes what is in each folder, since many files are in one.
    """
    files = sorted(_files_below(path)) if path.is_dir() else [path.resolve()]
    findings: list[Finding] = []
    root_of: dict[str, str] = {}
    unread, documents = [], []
    for file in files:
        log = listing_of_log(file)
        root = file.parent if log else _root_of(file)
        name = _from_here(root)
        listing = log or _one_file(FolderSource(name=name, root=root), file, others_of)
        relative = file.relative_to(root).as_posix()
        found, read = check_listing(listing, secrets)
        here = [one for one in found if one.location.path == relative or one.rule == SECRET_IN_NAME]
        findings += here
        root_of[name] = name
        if here or path.is_dir():
            continue
        if relative not in read:
            unread.append(str(path))
        elif isinstance(read[relative], DocumentHead):
            documents.append(str(path))
    return Checked(findings=tuple(findings), root_of=root_of, unread=tuple(unread), documents=tuple(documents))


def _files_below(folder: Path) -> Iterator[Path]:
    """What is checked in a folder: envelopes, catalogs, and what is where other systems keep records."""
    for parent, folders, names in os.walk(folder.resolve()):
        folders[:] = sorted(name for name in folders if name not in {".git", "node_modules"})
        files = (Path(parent, name) for name in names)
        yield from (file for file in files if file.name.endswith(_ENVELOPES) or owner_of(_below_root(file)) is not None)


def _below_root(file: Path) -> str:
    return file.as_posix().lstrip("/")


def _root_of(file: Path) -> Path:
    """The working root of a file: above its memos/, notes/ or transcripts/ folder or its store, else its own folder."""
    path = _below_root(file)
    if owner_of(path) is not None:
        return Path("/") / root_of_record(path)
    place = place_of(path)
    return Path("/") / place.root if place is not None else file.parent


def listing_of_log(file: Path) -> Listing | None:
    """A listing of one session log, wherever it is (SPEC 2.2, sessions); None if the file is none."""
    file = file.resolve()
    try:
        data = file.read_bytes() if file.is_file() and file.stat().st_size <= LOG_LIMIT else b""
    except OSError:
        return None
    if form_of(File(source="", path=file.name, data=data)) is None:
        return None
    source, paths = FolderSource(name=_from_here(file.parent), root=file.parent), (file.name,)
    return Listing(source=source, candidates=paths, others=frozenset(), findings=(), sessions=frozenset(paths))


def _one_file(source: FolderSource, file: Path, others_of: dict[Path, frozenset[str]]) -> Listing:
    """A listing of one file, with whatever is in its store for bodies; a body and what names it together."""
    path = file.relative_to(source.root).as_posix()
    owner = owner_of(path)
    if owner is not None:
        beside = (other for other in owner.together(path) if (source.root / other).is_file())
        paths = (path, *(one for one in beside if not (source.root / one).is_symlink()))
        return Listing(source=source, candidates=paths, others=frozenset(), findings=(), records=frozenset(paths))
    place = place_of(path)
    folder = source.root / place.folder if place is not None else source.root
    if folder not in others_of:
        others_of[folder] = _files_in(source, folder, is_store=place is not None)
    others = others_of[folder]
    stem = path.removesuffix(BODY_SUFFIX)
    envelopes = [other for other in others if stem != path and other == stem + ENVELOPE_SUFFIX]
    return Listing(source=source, candidates=(path, *envelopes), others=others - {path, *envelopes}, findings=())


def _files_in(source: FolderSource, folder: Path, *, is_store: bool) -> frozenset[str]:
    if not is_store:
        return frozenset(entry.name for entry in folder.iterdir() if entry.is_file() and not entry.is_symlink())
    around = FolderSource(name=source.name, root=folder).list_files()
    prefix = folder.relative_to(source.root).as_posix()
    return frozenset(f"{prefix}/{name}" for name in (*around.candidates, *around.others))


def _from_here(path: Path) -> str:
    """A path as seen from the current folder, if it is below it."""
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.resolve().as_posix()
