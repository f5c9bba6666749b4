"""[I/O] Opens what citations are made of; verifies citations, quotations and sealed logs (SPEC 7)."""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memosite.archive import seals
from memosite.archive.seals import SEALS_PATH, Fault, SealCheck, is_hash
from memosite.citing import Sources
from memosite.citing.making import diff_lines
from memosite.citing.verifying import Checked, verify_citation
from memosite.commands.arguments import Tell
from memosite.commands.places import configured, site_of
from memosite.commands.report import limited
from memosite.config.loading import load_config
from memosite.facts.characters import printable, printable_json
from memosite.facts.errors import ConfigError, OutputError, SourceError
from memosite.facts.layout import CONFIG_NAME, SITE_MARKER
from memosite.facts.parsed import Written
from memosite.facts.rules import failures
from memosite.facts.texts import counted
from memosite.facts.values import as_dict, replace
from memosite.origins import RepoSources
from memosite.quotes.citations import (
    CONVERTED_ENDINGS,
    MARKDOWN_ENDINGS,
    READERS,
    read_bibtex,
    read_csl_json,
    read_html,
    read_markdown,
    read_tex,
)
from memosite.reading.archive import open_archive
from memosite.reading.as_of import PastContents
from memosite.reading.published import FolderSite, PublishedSite, WebSite, is_address
from memosite.reading.text_rows import QUOTES
from memosite.store.safe_files import read_file

if TYPE_CHECKING:
    from memosite.quotes.blocks import Block

# Opens what citations are made of and verified by, for `cite` and `verify`.


def published_site(named: "str | Path | None") -> PublishedSite | None:
    """The published site that `--site` names, by its address or its folder; None if it names a site folder."""
    if isinstance(named, str):
        return WebSite(named)
    if named is not None and (named / SITE_MARKER).is_file():
        return FolderSite(named)
    return None


@contextmanager
def opened_sources(options: argparse.Namespace) -> Iterator[Sources]:
    """The items of the site folder, or of the published site, that the command line names.

    Remotes are used as last fetched. Raises `SourceError` if a source cannot be read: what is not there cannot be told
    from what was not read.
    """
    if site := published_site(options.site_option):
        from memosite.origins import SiteSources  # noqa: PLC0415 - it parses originals

        is_address = isinstance(site, WebSite)
        yield SiteSources(site, base_url=site.name.rstrip("/") + "/" if is_address else "")
        return
    config = configured(options)
    with ExitStack() as stack:
        handle = stack.enter_context(open_archive(config, use_network=False))
        sources = {source.name: source for source in handle.opened.sources}
        archive = handle.recall()
        for failure in failures(archive.all_findings):
            raise SourceError(f"{failure}; what could not be read can be neither cited nor verified")
        past = PastContents(config, sources, stack)
        built = FolderSite(config.output)
        index = handle.text_rows(QUOTES)
        rows = index if index.is_current() else None
        yield RepoSources(archive, handle.shelf, past, base_url=config.base_url, built=built, rows=rows)


# Verifies the citations, or with `--quotes` the quotations, of documents (SPEC 7, verifying).


_MANUSCRIPTS = frozenset(READERS) - {".bib", ".json"}


_STDIN = "-"


def verify_documents(options: argparse.Namespace, show: Tell, say: Tell) -> bool:
    """Verify the documents that the command line names, and show a verdict for each citation; whether all hold."""
    files = [file for named in options.where for file in _files(named, is_quotes=options.quotes)]
    for name in files:  # before an archive is read, which may take long
        if name != _STDIN and not Path(name).exists():
            raise _unreadable(name, "No such file or directory")
    _say_what_is_opened(options, say)
    with opened_sources(options) as sources:
        checked = [(name, one) for name in files for one in _checked(name, sources, is_quotes=options.quotes)]
        if options.bundle is not None:
            from memosite.citing.bundle import write_bundle  # noqa: PLC0415 - rarely asked for

            said = [(one, _fields(name, one, is_strict=options.strict)) for name, one in checked]
            write_bundle(options.bundle, said, sources)
    what = "quotation" if options.quotes else "citation"
    if options.json:
        show(printable_json([_fields(name, one, is_strict=options.strict) for name, one in checked], indent=2))
    elif not options.quiet:
        for name, one in checked:
            for line in _lines(name, one, is_quotes=options.quotes):
                show(printable(line))
        show(_summary(what, [one for _, one in checked], is_strict=options.strict))
    with_some = {name for name, _ in checked}
    without = [name for name in files if name not in with_some]
    if not options.quiet:
        for name in without:
            say(f"memosite: {printable(name)}: found no {what} of the archive in it")
        may_quote = (name == _STDIN or Path(name).suffix.lower() in _MANUSCRIPTS for name in without)
        if not options.quotes and any(may_quote):
            option = '"quotations": true' if options.is_tool else "--quotes"
            say(f"memosite: verify checks citations; to check quotations without one, add {option}")
    is_missing = options.require and (without or not files)
    return not is_missing and all(one.holds(is_strict=options.strict) for _, one in checked)


def _say_what_is_opened(options: argparse.Namespace, say: Tell) -> None:
    """Of a folder that nothing says to be a site, and in which several places were found: that all of them are read."""
    folder = site_of(options) if not isinstance(options.site_option, str) else None
    if options.quiet or options.is_tool or folder is None or published_site(folder):
        return
    if not (folder / CONFIG_NAME).is_file() and (count := len(configured(options).sources)) > 1:
        named = printable(str(folder)) if options.site_option else "this folder"
        say(f"memosite: reads {count} sources found in {named}, which has no {CONFIG_NAME}; name a site with --site")


def _files(named: str, *, is_quotes: bool) -> Iterator[str]:
    """A file, or those of a folder that may hold citations."""
    if named == _STDIN or not Path(named).is_dir():
        yield named
        return
    wanted = _MANUSCRIPTS if is_quotes else frozenset(READERS)
    for folder, folders, names in os.walk(named):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one != "node_modules")
        yield from (str(Path(folder, name)) for name in sorted(names) if Path(name).suffix.lower() in wanted)


def _checked(name: str, sources: Sources, *, is_quotes: bool) -> Iterator[Checked]:
    if is_quotes:
        from memosite.citing.verifying import verify_manuscript  # noqa: PLC0415 - citations need none of it

        yield from verify_manuscript(_blocks(name), sources)
        return
    suffix = Path(name).suffix.lower()
    if suffix in CONVERTED_ENDINGS:
        from memosite.quotes.manuscript import converted_text  # noqa: PLC0415 - few documents are in these formats

        text = converted_text(Path(name))
    else:
        text = _text(name)
    if suffix == ".tex" or suffix in MARKDOWN_ENDINGS:
        from memosite.quotes.manuscript import entries_beside  # noqa: PLC0415 - as above

        reads = read_tex if suffix == ".tex" else read_markdown
        yield from (verify_citation(one, sources) for one in reads(text, entries_beside(Path(name), text)))
        return
    reader = READERS.get(suffix) or _reader_of(text)
    yield from (verify_citation(citation, sources) for citation in reader(text))


def _blocks(name: str) -> "Sequence[Block]":
    """The blocks of a manuscript."""
    from memosite.quotes.html import html_blocks  # noqa: PLC0415 - as above
    from memosite.quotes.manuscript import read_manuscript  # noqa: PLC0415
    from memosite.quotes.markdown import markdown_blocks  # noqa: PLC0415 - as above

    if name != _STDIN:
        return read_manuscript(Path(name))
    text = _text(name)
    return tuple((html_blocks if text.lstrip().startswith("<") else markdown_blocks)(text))


def _reader_of(text: str) -> Callable[[str], Sequence[Written]]:
    """The reader of a text whose name does not tell what it is."""
    begin = text.lstrip()[:1]
    known = {"[": read_csl_json, "{": read_csl_json, "@": read_bibtex, "<": read_html, "\\": read_tex}
    reader = known.get(begin, read_markdown)
    return reader if reader(text) else read_markdown


def _unreadable(name: str, why: str) -> SourceError:
    return SourceError(f"{name}: cannot be read ({why}); name a file, a folder, or - for standard input")


def _text(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == _STDIN else read_file(name)
    except OSError as error:
        raise _unreadable(name, error.strerror or str(error)) from error
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _lines(name: str, one: Checked, *, is_quotes: bool) -> Iterator[str]:
    speaker = ""
    if is_quotes and one.tier.holds and not one.quoted_in and one.check != "wrong":
        speaker = f", said by {one.speaker}" if one.check == "right" else ", speaker not checked"
    ref = f": {one.ref}" if one.ref else ""
    yield f"{name}:{one.line}: {one.said}{speaker}{ref}"
    if not one.tier.holds or one.version:
        yield from diff_lines(one.changes, is_cut=one.is_cut)


def _summary(what: str, checked: Sequence[Checked], *, is_strict: bool) -> str:
    failed = [one for one in checked if not one.holds(is_strict=is_strict)]
    counts = Counter(
        "wrong speaker" if verdict.tier.holds and verdict.check == "wrong"
        else "changed since" if verdict.tier.holds else verdict.tier.label for verdict in failed
    )  # fmt: skip
    said = "".join(f", {count} {label}" for label, count in sorted(counts.items()))
    number = len(checked) - len(failed)
    return f"{counted(len(checked), what)}: {number} hold{'s' if number == 1 else ''}{said}"


def _fields(name: str, one: Checked, *, is_strict: bool) -> dict[str, object]:
    fields: dict[str, object] = {"file": name, **as_dict(one)}
    del fields["source"], fields["turns"], fields["former"], fields["digest"]
    fields["tier"] = one.tier.label
    fields["holds"] = one.holds(is_strict=is_strict)
    fields["sha256"] = one.digest or None
    fields["changes"] = [list(change) for change in one.changes]
    return json.loads(json.dumps(fields))  # type: ignore[no-any-return] # tuples as lists


# Checks a published site against a root of its sealed log, or a copy of that log (SPEC 7, sealed log).


_SHOWN = 200


def verify_seal(options: argparse.Namespace, where: str | None, show: Tell) -> bool:
    """Check the site that the command line names against its `--seal`, and show what was found; whether it holds."""
    kept = _kept(options.seal)
    site = _site(options, where)
    checked = check_site(site, kept)
    for line in _seal_lines(checked, site, is_quiet=options.quiet):
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
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:  # its lines are hashed as they are
        raise OutputError(f"{site.name}: {SEALS_PATH} is not UTF-8 ({error}), so it was changed") from error
    checked = seals.check_against(kept, text) if is_hash(kept) else _check_copy(kept, text)
    wrong = seals.check_originals(text, site.hashes(seals.sealed_paths(text)))
    return replace(checked, faults=(*checked.faults, *wrong))


def _check_copy(kept: str, text: str) -> SealCheck:
    try:
        return seals.check_copy(kept, text)
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


def _seal_lines(checked: SealCheck, site: PublishedSite, *, is_quiet: bool) -> Iterator[str]:
    if not is_quiet:
        if checked.sealed:
            upto = f", up to {checked.month}" if checked.month else ""
            yield f"sealed    {checked.sealed} of {checked.leaves} leaves{upto}"
        yield from (f"since     {line}" for line in limited(list(map(_said, checked.since)), _SHOWN))
    for what in ("removed", "changed", "cut off", "added"):
        faults = [_said(fault) for fault in checked.faults if fault.what == what]
        yield from (f"{what:10}{line}" for line in limited(faults, _SHOWN))
    if not checked.holds:
        yield f"failed    {counted(len(checked.faults), 'problem')}: what was sealed was changed or removed"
        if site.is_being_written():
            yield "note      a build is writing there, or was interrupted: build again, then verify again"
    elif not is_quiet:
        excepted = ", except what the log names" if checked.since else ""
        yield f"verified  everything the root seals is unchanged{excepted}"


def _said(fault: Fault) -> str:
    return f"{fault.id}: {fault.said}" if fault.id else fault.said
