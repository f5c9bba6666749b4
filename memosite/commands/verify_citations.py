"""[I/O] Verifies the citations, or with `--quotes` the quotations, of documents (SPEC 7, verifying)."""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from memosite.citing.sources import Sources
from memosite.citing.verifying import Checked, verify_citation
from memosite.citing.words import diff_lines
from memosite.commands.citing import opened_sources
from memosite.commands.nouns import plural
from memosite.facts.characters import printable, printable_json
from memosite.facts.errors import SourceError
from memosite.facts.written import Written
from memosite.quotes.citations import READERS, read_bibtex, read_csl_json, read_html, read_markdown
from memosite.store.safe_files import read_file

if TYPE_CHECKING:
    from memosite.quotes.blocks import Block

Say = Callable[[str], None]

_MANUSCRIPTS = frozenset(READERS) - {".bib", ".json"}
_STDIN = "-"


def verify_documents(options: argparse.Namespace, *, show: Say, say: Say) -> bool:
    """Verify the documents that the command line names, and show a verdict for each citation; whether all hold."""
    files = [one for named in options.where for one in _files(named, is_quotes=options.quotes)]
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
    if not options.quiet:
        without = [name for name in files if not any(name == other for other, _ in checked)]
        for name in without:
            say(f"memosite: {printable(name)}: found no {what} of the archive in it")
        if not options.quotes and any(_may_quote(name) for name in without):
            option = '"quotations": true' if options.is_tool else "--quotes"
            say(f"memosite: verify checks citations; to check quotations without one, add {option}")
    return all(one.holds(is_strict=options.strict) for _, one in checked)


def _may_quote(name: str) -> bool:
    return name == _STDIN or Path(name).suffix.lower() in _MANUSCRIPTS


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
        from memosite.citing.manuscripts import verify_manuscript  # noqa: PLC0415 - citations need none of it

        yield from verify_manuscript(_blocks(name), sources)
        return
    suffix = Path(name).suffix.lower()
    text = _docx_text(name) if suffix == ".docx" else _text(name)
    reader = READERS.get(suffix) or _reader_of(text)
    yield from (verify_citation(one, sources) for one in reader(text))


def _blocks(name: str) -> "Sequence[Block]":
    """The blocks of a manuscript."""
    from memosite.quotes.blocks import markdown_blocks  # noqa: PLC0415 - as above
    from memosite.quotes.html_blocks import html_blocks  # noqa: PLC0415
    from memosite.quotes.manuscript import read_manuscript  # noqa: PLC0415

    if name != _STDIN:
        return read_manuscript(Path(name))
    text = _text(name)
    return tuple((html_blocks if text.lstrip().startswith("<") else markdown_blocks)(text))


def _docx_text(name: str) -> str:
    from memosite.quotes.manuscript import docx_text  # noqa: PLC0415 - few documents are in this format

    return docx_text(Path(name))


def _reader_of(text: str) -> Callable[[str], Sequence[Written]]:
    """The reader of a text whose name does not tell what it is."""
    begin = text.lstrip()[:1]
    known = {"[": read_csl_json, "{": read_csl_json, "@": read_bibtex, "<": read_html}
    reader = known.get(begin, read_markdown)
    return reader if reader(text) else read_markdown


def _text(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == _STDIN else read_file(name)
    except OSError as error:
        said = f"{name}: cannot be read ({error.strerror or error}); name a file, a folder, or - for standard input"
        raise SourceError(said) from error
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _lines(name: str, one: Checked, *, is_quotes: bool) -> Iterator[str]:
    speaker = ""
    if is_quotes and one.tier.holds and not one.quoted_in:
        speaker = f", said by {one.speaker}" if one.check == "right" else ", speaker not checked"
        speaker = "" if one.check == "wrong" else speaker
    ref = f": {one.ref}" if one.ref else ""
    yield f"{name}:{one.line}: {one.said}{speaker}{ref}"
    if not one.tier.holds or one.version:
        yield from diff_lines(one.changes, is_cut=one.is_cut)


def _summary(what: str, checked: Sequence[Checked], *, is_strict: bool) -> str:
    failed = [one for one in checked if not one.holds(is_strict=is_strict)]
    counts = Counter(
        "wrong speaker" if one.tier.holds and one.check == "wrong"
        else "changed since" if one.tier.holds else one.tier.label for one in failed
    )  # fmt: skip
    said = "".join(f", {count} {label}" for label, count in sorted(counts.items()))
    number = len(checked) - len(failed)
    return f"{len(checked)} {plural(what, len(checked))}: {number} hold{'s' if number == 1 else ''}{said}"


def _fields(name: str, one: Checked, *, is_strict: bool) -> dict[str, object]:
    fields: dict[str, object] = {"file": name, **asdict(one)}
    del fields["source"], fields["turns"], fields["former"], fields["digest"]
    fields["tier"] = one.tier.label
    fields["holds"] = one.holds(is_strict=is_strict)
    fields["sha256"] = one.digest or None
    fields["changes"] = [list(change) for change in one.changes]
    return json.loads(json.dumps(fields))  # type: ignore[no-any-return] # tuples as lists
