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
    from memosite.reading.as_of import Past
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
    if options.sort == "score" and options.index is False:
        raise ConfigError("--sort score --no-index: only the search index ranks results; omit one of the two")
    asked = _load(options)
    with _opened(options, asked, say) as opened:
        if query is None:
            return opened.is_whole
        answer = opened.search.find(query.node, sort=options.sort, limit=options.limit)
    if options.json:
        show(as_json(answer, query, base_url=asked.base_url))
    elif not options.quiet:
        show(as_text(answer, base_url=asked.base_url, color=sys.stdout.isatty()))
    opened.index_much()
    return answer.total > 0 and opened.is_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """Which archive is asked for: that of now, or as of a former time.

    The index does not depend on `base_url`, so the configuration of now has none.
    """

    now: Config
    base_url: str | None
    past: "Past | None" = None

    @property
    def config(self) -> Config:
        """The configuration of the archive that is asked for."""
        return self.past.config if self.past else self.now

    @property
    def part(self) -> Path:
        """The part of the cache that has its index."""
        return self.config.cache / self.config.audience

    @property
    def fallback(self) -> Path | None:
        """The part with the index of now, where another archive is asked for."""
        return self.now.cache / self.now.audience if self.past else None

    @property
    def may_index(self) -> bool:
        """Whether an index may be kept: not everything may be of former times."""
        return self.past is None or self.config.cache.is_dir()

    @property
    def ledger(self) -> Ledger | None:
        """The ledger that the archive continues: of former times none."""
        return Ledger(audience=self.config.audience) if self.past else None


def _load(options: argparse.Namespace) -> _Asked:
    config = load_config(
        options.site_option or Path(),
        base_url=options.base_url,
        cache=options.cache,
        secrets=options.secrets,
        audience=options.audience,
    )
    now = replace(config, base_url=None)
    if not options.as_of:
        return _Asked(now=now, base_url=config.base_url)
    from memosite.reading.as_of import past_of  # noqa: PLC0415 - rarely needed

    asked = _Asked(now=now, base_url=config.base_url, past=past_of(now, options.as_of))
    if not asked.may_index and (options.index or options.sort == "score"):
        why = "something is erased" if now.erase else "no build has made a cache"
        raise ConfigError(f"--as-of: {why}, so no index is kept of former times; omit --index and --sort score")
    return asked


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """A search, whether all sources could be read, and what begins to index what it had to look into."""

    search: Search
    is_whole: bool = True
    index_much: Callable[[], None] = lambda: None


@contextlib.contextmanager
def _opened(options: argparse.Namespace, asked: _Asked, say: Say) -> Iterator[_Opened]:
    """The search of an archive, which is read only if its sources have changed since it was indexed.

    Remotes are used as last fetched: a search waits for no network. Who waits for the index holds its lock before
    anything is read, so that it holds nothing that is left out meanwhile.
    """
    with open_archive(asked.config, use_network=False) as handle:
        with open_index(asked.part) as index:
            inputs = handle.inputs(index.seal.inputs if index else "", with_ledger=asked.past is None)
            if index and inputs.is_same:
                index.renew(inputs.digest)
                _tell(index.seal.withheld, _check(options, asked.config), say)
                search = Search(index=IndexReader(index=index, newest_date=index.seal.newest))
                yield _Opened(search=search, is_whole=_say_failures(_left_out(asked), say))
                return
        if not (options.index or options.sort == "score"):
            from memosite.commands.indexing import keep_index  # noqa: PLC0415 - as below

            found, is_whole = _read(handle, inputs.digest, options, asked, say)
            index_much = keep_index(found, options, asked.now) if asked.may_index else lambda: None
            with found.search() as search:
                yield _Opened(search=search, is_whole=is_whole, index_much=index_much)
            return
    if not options.index:
        say("memosite: --sort score waits for the search index")
    with making_index(asked.part) as partial:
        asked = _load(options)
        with open_archive(asked.config, use_network=False) as handle:
            inputs = handle.inputs("", with_ledger=asked.past is None)
            found, is_whole = _read(handle, inputs.digest, options, asked, say)
            if partial is not None:
                found.index(partial, say)
            with found.search() as search:
                yield _Opened(search=search, is_whole=is_whole)


def _say_failures(failed: Sequence[str], say: Say) -> bool:
    """Say what could not be read; whether all could."""
    for one in failed:
        say(f"memosite: failed: {printable(one)}")
    return not failed


def _left_out(asked: _Asked) -> tuple[str, ...]:
    """The sources that are not read as of a former time, with the reasons."""
    return asked.past.left_out_lines if asked.past else ()


def _read(
    handle: ArchiveHandle, inputs: str, options: argparse.Namespace, asked: _Asked, say: Say
) -> "tuple[Searchable, bool]":
    """What is searched of an archive, and whether all sources could be read: if not, that is said."""
    from memosite.run.workers import default_jobs  # noqa: PLC0415 - an index that is up to date needs no scan
    from memosite.search.command import searchable  # noqa: PLC0415

    archive = handle.recall(ledger=asked.ledger)
    failed = failures(archive.all_findings)
    is_whole = _say_failures((*failed, *_left_out(asked)), say)
    _tell(withheld_for_secrets(archive.all_findings), _check(options, asked.config), say)
    digest = "" if failed else inputs  # the next search tries again
    found = searchable(archive, handle.shelf, asked.config, jobs=default_jobs(), inputs=digest)
    return replace(found, fallback=asked.fallback), is_whole


def _check(options: argparse.Namespace, config: Config) -> str:
    """The command that names what is withheld for a secret."""
    return check_command(options, named_audience(options, config))


def _tell(withheld: tuple[str, ...], check: str, say: Say) -> None:
    if withheld:
        say(f"memosite: {withheld_note(withheld, check)}")
