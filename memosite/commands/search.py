"""[I/O] `memosite search`: asks the index in the cache, and looks itself into what the index does not hold."""

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memosite.archive.ledger import Ledger
from memosite.commands.hits import as_json, as_text
from memosite.commands.withheld import check_command, named_audience, withheld_note
from memosite.config.loading import Config, load_config
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.secret_rules import withheld_for_secrets
from memosite.facts.source_rules import failures
from memosite.reading.archive import ArchiveHandle, open_archive
from memosite.search.answer import Search, read_query
from memosite.search.whoosh.index import making_index, open_index
from memosite.search.whoosh.reader import IndexReader

if TYPE_CHECKING:
    from memosite.search.command import Searchable

Say = Callable[[str], None]


def run(options: argparse.Namespace, *, show: Callable[[str], None], say: Say) -> bool:
    """Answer the query; whether anything was found, in sources that could all be read.

    The query is read before anything else. That something is withheld for a secret is said, and no failure: a script
    has to be able to tell that nothing was found. With `--index` the query may be left out.
    """
    if options.limit < 1:
        raise ConfigError(f"--limit must be 1 or more, not {options.limit}")
    if not options.query and not options.index:
        raise ConfigError("search: found no QUERY, expected one; for example: memosite search 'from:engineer tide'")
    query = read_query(" ".join(options.query)) if options.query else None
    if options.as_of and (options.index or options.sort == "score"):
        raise ConfigError("--as-of: the search index is of now; omit --index and --sort score")
    if options.sort == "score" and options.index is False:
        raise ConfigError("--sort score --no-index: only the search index ranks results; omit one of the two")
    config = _load(options)
    with _opened(options, config, say) as opened:
        if query is None:
            return opened.is_whole
        answer = opened.search.find(query.node, sort=options.sort, limit=options.limit)
    if options.json:
        show(as_json(answer, query, base_url=config.base_url))
    elif not options.quiet:
        show(as_text(answer, base_url=config.base_url, color=sys.stdout.isatty()))
    opened.index_much()
    return answer.total > 0 and opened.is_whole


def _load(options: argparse.Namespace) -> Config:
    return load_config(
        options.site_option or Path(),
        base_url=options.base_url,
        cache=options.cache,
        secrets=options.secrets,
        audience=options.audience,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """A search, whether all sources could be read, and what begins to index what it had to look into."""

    search: Search
    is_whole: bool = True
    index_much: Callable[[], None] = lambda: None


@contextlib.contextmanager
def _opened(options: argparse.Namespace, config: Config, say: Say) -> Iterator[_Opened]:
    """The search of an archive, which is read only if its sources have changed since it was indexed.

    Remotes are used as last fetched: a search waits for no network. Who waits for the index holds its lock before
    anything is read, so that it holds nothing that is left out meanwhile.
    """
    if options.as_of:
        with _opened_past(options, config, say) as opened:
            yield opened
        return
    with open_archive(_indexed(config), use_network=False) as handle:
        with open_index(config.cache / config.audience) as index:
            inputs = handle.inputs(index.seal.inputs if index else "")
            if index and inputs.is_same:
                index.renew(inputs.digest)
                _tell(index.seal.withheld, _check(options, config), say)
                yield _Opened(search=Search(index=IndexReader(index=index, newest_date=index.seal.newest)))
                return
        if not (options.index or options.sort == "score"):
            from memosite.commands.indexing import keep_index  # noqa: PLC0415 - as below

            found, is_whole = _read(handle, inputs.digest, options, config, say)
            index_much = keep_index(found, options, config)
            with found.search() as search:
                yield _Opened(search=search, is_whole=is_whole, index_much=index_much)
            return
    if not options.index:
        say("memosite: --sort score waits for the search index")
    with making_index(config.cache / config.audience) as partial:
        config = _load(options)
        with open_archive(_indexed(config), use_network=False) as handle:
            found, is_whole = _read(handle, handle.inputs("").digest, options, config, say)
            if partial is not None:
                found.index(partial, say)
            with found.search() as search:
                yield _Opened(search=search, is_whole=is_whole)


@contextlib.contextmanager
def _opened_past(options: argparse.Namespace, config: Config, say: Say) -> Iterator[_Opened]:
    """The search of an archive as of a former time. It is scanned: what is indexed is of now."""
    from memosite.reading.as_of import past_of  # noqa: PLC0415 - rarely needed
    from memosite.run.workers import default_jobs  # noqa: PLC0415 - as below
    from memosite.search.command import searchable  # noqa: PLC0415

    past = past_of(config, options.as_of)
    with open_archive(past.config, use_network=False) as handle:
        archive, _ = handle.read(ledger=Ledger(audience=config.audience))
        is_whole = _say_failures((*failures(archive.all_findings), *past.left_out_lines), say)
        _tell(withheld_for_secrets(archive.all_findings), _check(options, config), say)
        with searchable(archive, handle.shelf, past.config, jobs=default_jobs()).search() as search:
            yield _Opened(search=search, is_whole=is_whole)


def _say_failures(failed: Sequence[str], say: Say) -> bool:
    """Say what could not be read; whether all could."""
    for one in failed:
        say(f"memosite: failed: {printable(one)}")
    return not failed


def _indexed(config: Config) -> Config:
    """The configuration as far as the index depends on it."""
    return replace(config, base_url=None)


def _read(
    handle: ArchiveHandle, inputs: str, options: argparse.Namespace, config: Config, say: Say
) -> "tuple[Searchable, bool]":
    """What is searched of an archive, and whether all sources could be read: if not, that is said."""
    from memosite.run.workers import default_jobs  # noqa: PLC0415 - an index that is up to date needs no scan
    from memosite.search.command import searchable  # noqa: PLC0415

    archive = handle.recall()
    is_whole = _say_failures(failures(archive.all_findings), say)
    _tell(withheld_for_secrets(archive.all_findings), _check(options, config), say)
    digest = inputs if is_whole else ""  # the next search tries again
    return searchable(archive, handle.shelf, config, jobs=default_jobs(), inputs=digest), is_whole


def _check(options: argparse.Namespace, config: Config) -> str:
    """The command that names what is withheld for a secret."""
    return check_command(options, named_audience(options, config))


def _tell(withheld: tuple[str, ...], check: str, say: Say) -> None:
    if withheld:
        say(f"memosite: {withheld_note(withheld, check)}")
