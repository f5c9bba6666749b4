"""[I/O] `memosite search`: asks the index in the cache, which is brought up to date first if anything changed."""

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from memosite.commands.hits import as_json, as_text
from memosite.commands.withheld import check_command, named_audience, withheld_note
from memosite.config.loading import Config, load_config
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.secret_rules import withheld_for_secrets
from memosite.facts.source_rules import failures
from memosite.reading.archive import open_archive
from memosite.search.answer import Search, read_query
from memosite.search.whoosh.index import IndexSeal, locked, open_reader, read_seal, write_seal
from memosite.search.whoosh.reader import IndexReader


def run(options: argparse.Namespace, *, show: Callable[[str], None], say: Callable[[str], None]) -> bool:
    """Answer the query; whether anything was found, in sources that could all be read.

    The query is read before anything else. That something is withheld for a secret is said, and no failure: a script
    has to be able to tell that nothing was found.
    """
    if options.limit < 1:
        raise ConfigError(f"--limit {options.limit}: found {options.limit}, expected 1 or more")
    query = read_query(" ".join(options.query))
    config = load_config(
        options.site_option or Path(),
        base_url=options.base_url,
        cache=options.cache,
        secrets=options.secrets,
        audience=options.audience,
    )
    check = check_command(options, named_audience(options, config))
    with _open(config, check, say) as (opened, is_whole):
        answer = opened.find(query, sort=options.sort, limit=options.limit)
    if options.json:
        show(as_json(answer, query, base_url=config.base_url))
    elif not options.quiet:
        show(as_text(answer, base_url=config.base_url, color=sys.stdout.isatty()))
    return answer.total > 0 and is_whole


@contextlib.contextmanager
def _open(config: Config, check: str, say: Callable[[str], None]) -> Iterator[tuple[Search, bool]]:
    """The index, brought up to date. The archive is read only if its sources have changed.

    With it goes whether all sources could be read. Remotes are used as last fetched: a search waits for no network.
    What is withheld for a secret is said, with the command (`check`) that names it.
    """
    kept = replace(config, base_url=None)  # no part of the index
    with open_archive(kept, use_network=False) as handle:
        with locked(config.cache / config.audience) as folder:
            seal, _ = read_seal(folder)
            inputs = handle.inputs(seal.inputs if seal else "")
            current = open_reader(folder, _renewed(folder, seal, inputs.digest)) if seal and inputs.is_same else None
        if current is not None:
            _tell(current.withheld, check, say)
            with contextlib.closing(current.reader):
                yield Search(reader=IndexReader(index=current)), True
            return
        from memosite.search.command import open_search  # noqa: PLC0415 - an index that is up to date needs no indexing

        archive, _ = handle.read()
        failed = failures(archive.all_findings)
        for one in failed:
            say(f"memosite: failed: {printable(one)}")
        digest = "" if failed else inputs.digest  # the next search tries again
        withheld = withheld_for_secrets(archive.all_findings)
        _tell(withheld, check, say)
        with open_search(archive, handle.shelf, config, say=say, inputs=digest, withheld=withheld) as search:
            yield search, not failed


def _tell(withheld: tuple[str, ...], check: str, say: Callable[[str], None]) -> None:
    if withheld:
        say(f"memosite: {withheld_note(withheld, check)}")


def _renewed(folder: Path, seal: IndexSeal, inputs: str) -> IndexSeal:
    """The seal, renewed with a digest that is faster to compare."""
    if seal.inputs != inputs:
        seal = replace(seal, inputs=inputs)
        write_seal(folder, seal)
    return seal
