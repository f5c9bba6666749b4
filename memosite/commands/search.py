"""[I/O] `memosite search`: asks the index in the cache, looks into what it does not hold, and keeps it."""

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from memosite.archive.ledger import Ledger
from memosite.commands.arguments import Tell
from memosite.commands.places import configured
from memosite.commands.report import as_json, as_text, say_failures, say_lacking, say_withheld
from memosite.config.schema import Config
from memosite.facts.characters import masked
from memosite.facts.errors import ConfigError, OutputError
from memosite.facts.rules import failures
from memosite.facts.texts import counted
from memosite.facts.values import Value, replace
from memosite.reading.archive import ArchiveHandle, open_archive
from memosite.run.processes import start_detached
from memosite.run.progress import show_styled
from memosite.run.workers import default_jobs
from memosite.search.answer import Search, read_query
from memosite.search.command import Searchable, searchable
from memosite.search.whoosh.index import making_index, open_index, starting_maker
from memosite.search.whoosh.reader import IndexReader
from memosite.search_language import FIELDS, Ago, leaves, moment_of, no_fields

if TYPE_CHECKING:
    from memosite.reading.as_of import Past

# Keeps the search index for whoever searches: little is indexed at once, much by a process of its own.


def keep_index(
    found: Searchable, options: argparse.Namespace, config: Config, say: Tell = lambda _: None
) -> Callable[[], None]:
    """Index what is little before an answer; what is returned begins to index much, to be called after the answer.

    That is said before the answer, which takes long then. The configuration is that of now, also where the archive is
    of a former time. With `--no-index` nothing is indexed, but what nothing may hold any more is removed.
    """
    found.remove_outdated()
    if options.index is False or found.index_little() or not _is_writable(found.part):
        return lambda: None
    if lacking := found.unindexed():
        items = counted(lacking, "item", ",")
        say(f"memosite: the search index lacks {items}: this search reads their texts, and a process adds them")
    return lambda: _index_meanwhile(found, options, config)


def _is_writable(part: Path) -> bool:
    folder = next(folder for folder in (part.absolute(), *part.absolute().parents) if folder.exists())
    return folder.is_dir() and os.access(folder, os.W_OK)


def _index_meanwhile(found: Searchable, options: argparse.Namespace, config: Config) -> None:
    """Start `memosite search --index` for the same archive, unless it was started, or the index was made since.

    What is started holds a lock from its first moment: of searches at once, one starts it.
    """
    words = ["search", "--index", "--quiet", "--site", str((options.site_option or Path()).absolute())]
    words += ["--cache", str(config.cache.absolute()), "--audience", config.audience]
    words += ["--secrets", options.secrets] if options.secrets else []
    words += ["--as-of", options.as_of] if options.as_of else []
    with contextlib.suppress(OutputError), starting_maker(found.part) as lock:
        if lock is not None and not found.is_indexed():
            start_detached(words, holding=[lock.handle])


# Answers a query.


def run_search(options: argparse.Namespace, show: Tell, say: Tell) -> bool:
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
        newest = None if options.quiet else opened.search.newest
        if newest is not None and any(isinstance(leaf, Ago) for leaf, _ in leaves(query.node)):
            say(f"memosite: counted back from {moment_of(newest):%Y-%m-%d}, the newest date of the archive")
        for name in no_fields(query.text) if not answer.total and not options.quiet else ():
            fields = ", ".join(f"{one}:" for one in FIELDS)
            say(f"memosite: there is no filter {masked(name)}: so it was searched as text; filters are {fields}")
        for name in answer.nobody if not options.quiet else ():
            say(f"memosite: no item is from or to {masked(name)}: nobody in the archive has that name")
    if options.json:
        show(as_json(answer, query, base_url=asked.base_url))
    elif not options.quiet:
        is_terminal = sys.stdout.isatty()
        (show_styled if is_terminal else show)(as_text(answer, base_url=asked.base_url, color=is_terminal))
    opened.index_much()
    return answer.total > 0 and opened.is_whole


class _Asked(Value):
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
    def may_index(self) -> bool:
        """Whether an index may be kept: not everything may be of former times."""
        return self.past is None or self.config.cache.is_dir()

    @property
    def left_out(self) -> tuple[str, ...]:
        """The sources that are not read as of a former time, with the reasons."""
        return self.past.left_out_lines if self.past else ()


def _load(options: argparse.Namespace) -> _Asked:
    config = configured(options)
    now = replace(config, base_url=None)
    if not options.as_of:
        return _Asked(now=now, base_url=config.base_url)
    from memosite.reading.as_of import past_of  # noqa: PLC0415 - rarely needed

    asked = _Asked(now=now, base_url=config.base_url, past=past_of(now, options.as_of))
    if not asked.may_index and (options.index or options.sort == "score"):
        why = "something is erased" if now.erase else "no build has made a cache"
        raise ConfigError(f"--as-of: {why}, so no index is kept of former times; omit --index and --sort score")
    return asked


class _Opened(Value):
    """A search, whether all sources could be read, and what begins to index what it had to look into."""

    search: Search
    is_whole: bool = True
    index_much: Callable[[], None] = lambda: None


@contextlib.contextmanager
def _opened(options: argparse.Namespace, asked: _Asked, say: Tell) -> Iterator[_Opened]:
    """The search of an archive, which is read only if its sources have changed since it was indexed.

    Remotes are used as last fetched: a search waits for no network. Who waits for the index holds its lock before
    anything is read, so that it holds nothing that is left out meanwhile.
    """
    with open_archive(asked.config, use_network=False) as handle:
        with _from_index(handle, options, asked, say) as (search, inputs):
            if search:
                yield search
                return
        if not (options.index or options.sort == "score"):
            found, is_whole = _read(handle, inputs, options, asked, say)
            tell = (lambda _: None) if options.quiet else say
            index_much = keep_index(found, options, asked.now, tell) if asked.may_index else lambda: None
            with found.search() as scanning:
                yield _Opened(search=scanning, is_whole=is_whole, index_much=index_much)
            return
    if not options.index:
        say("memosite: --sort score waits for the search index")
    with making_index(asked.part) as partial:
        asked = _load(options)
        with open_archive(asked.config, use_network=False) as handle:
            with _from_index(handle, options, asked, say) as (search, inputs):
                if search:  # somebody else made it, who was waited for
                    yield search
                    return
            found, is_whole = _read(handle, inputs, options, asked, say)
            if partial is not None:
                found.index(partial, say)
            with found.search() as made:
                yield _Opened(search=made, is_whole=is_whole)


@contextlib.contextmanager
def _from_index(
    handle: ArchiveHandle, options: argparse.Namespace, asked: _Asked, say: Tell
) -> Iterator[tuple[_Opened | None, str]]:
    """The search of the index alone, None if anything has changed since it was made; and the digest of the inputs."""
    with open_index(asked.part) as index:
        inputs = handle.inputs(index.seal.inputs if index else "", with_ledger=asked.past is None)
        if index and inputs.is_same:
            index.renew(inputs.digest)
            say_withheld(index.seal.withheld, options, asked.config, say)
            search = Search(index=IndexReader(index=index, newest=index.seal.newest))
            yield _Opened(search=search, is_whole=say_failures(asked.left_out, say)), inputs.digest
            return
    yield None, inputs.digest


def _read(
    handle: ArchiveHandle, inputs: str, options: argparse.Namespace, asked: _Asked, say: Tell
) -> "tuple[Searchable, bool]":
    """What is searched of an archive, and whether all sources could be read: if not, that is said."""
    archive = handle.recall(ledger=Ledger(audience=asked.config.audience) if asked.past else None)  # it continues none
    is_whole = say_lacking(archive, options, asked.config, say, left_out=asked.left_out)
    digest = "" if failures(archive.all_findings) else inputs  # the next search tries again
    found = searchable(archive, handle.shelf, asked.config, jobs=default_jobs(), inputs=digest)
    return replace(found, fallback=asked.now.cache / asked.now.audience if asked.past else None), is_whole
