"""Checks files that belong to no archive: each by itself, with the files beside it as bodies."""

from collections.abc import Mapping

from memosite.archive.ledger import Ledger
from memosite.archive.model import SourceInfo
from memosite.config.schema import SecretsConfig
from memosite.facts.findings import Finding
from memosite.facts.parsed import Fact, Organization, Parsed
from memosite.reading.finders import DataFinder, LineFinder
from memosite.reading.reader import SourceReader
from memosite.reading.screen import Screen, with_mode, without_hidden_names
from memosite.resolve import ResolveRules, resolve
from memosite.resolve.identity import memo_folders
from memosite.sources.listing import Listing
from memosite.store.shelf import Shelf


def check_listing(listing: Listing, secrets: SecretsConfig) -> tuple[tuple[Finding, ...], Mapping[str, Fact | None]]:
    """The findings on the files of a listing, without those that need an archive, and what its files are (SPEC 8).

    A file of no known format, with nothing to find, is nothing.

    The one way to resolve without `open_archive`: the files pass the gate's `screen`, and since the result is only
    findings, there is nothing to withhold.
    """
    with Shelf() as shelf:
        named = without_hidden_names(listing, Screen())
        parsed, _ = with_mode(read_source(named, shelf, secrets.fingerprints), {}, secrets)
        rules = ResolveRules(sources=(SourceInfo(name=listing.source.name),), is_loose=True)
        archive, _ = resolve(parsed, rules, Ledger(), LineFinder(shelf), data_of=DataFinder(shelf))
    return archive.findings, {one.path: one.fact for one in parsed if one.fact is not None or one.findings}


def read_source(listing: Listing, shelf: Shelf, allowed: frozenset[str] = frozenset()) -> list[Parsed]:
    """Read and parse the candidates of one source by itself, and the bodies that its envelopes name."""
    reader = SourceReader(listing.source, shelf, Screen(allowed=allowed))
    parsed = reader.candidates(listing)
    folders = memo_folders(one.fact for one in parsed if isinstance(one.fact, Organization))
    return reader.with_named_files(listing, parsed, memo_folders=folders)
