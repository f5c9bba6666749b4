"""[I/O] Finds the commits at which the sources of an archive are read as of a former time (SPEC 8, reading the past).

    COMMIT ─► its repo at that commit, its date ─┐
    DATE ────────────────────────────────────────┴─► each other source at its last commit by then ─► Config

The configuration that comes of it is read as any other, with a cache of its own (`past_cache`).
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from memosite.config.schema import Config, SourceConfig
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError, SourceError
from memosite.facts.times import Moment, read_moment
from memosite.reading.past_cache import past_cache
from memosite.sources.forges import file_template
from memosite.sources.former_commits import commit_before, first_commit, has_folder, is_shallow
from memosite.sources.git import Repo
from memosite.sources.objects import HEAD, CommitHead, commit_at
from memosite.sources.remote import fetch
from memosite.sources.repos import holding_repo
from memosite.sources.tree import NO_REF

FORMS = "expected a date (2026-05-01 or 2026-05-01T14:30Z), a commit of a source (3a835a6), or SOURCE:REF (engine:main)"

_HASH = re.compile(r"[0-9a-f]{4,64}")
_LIKE_DAY = re.compile(r"\d{4}-\d", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """An archive as of a former time: the configuration that reads it, and the moment.

    `commit` is the one that was named, of the sources `named`; "" if a date was. `left_out` are sources that are not in
    git, with the reasons: nothing is known of their past.
    """

    config: Config
    moment: Moment
    commit: str = ""
    named: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def left_out_lines(self) -> tuple[str, ...]:
        """What is said of the sources that are left out."""
        return tuple(f"{name}: not read as of then: {why}" for name, why in self.left_out)

    @property
    def line(self) -> str:
        """For people: as of when, and of which commit."""
        where = f"; {', '.join(self.named)} at commit {self.commit[:12]}" if self.commit else ""
        return f"As of {self.moment.utc}{where}"

    @property
    def fields(self) -> dict[str, object]:
        """The same for programs."""
        return {"date": self.moment.utc, "commit": self.commit or None, "sources": list(self.named)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A source in git: the repo, the source's folder in it ("" or ending in a slash), and the commit it is at now."""

    source: SourceConfig
    repo: Repo
    prefix: str = ""
    tip: CommitHead | None = None


def past_of(config: Config, written: str) -> Past:
    """The archive as of a date, or as of a commit. Raises `ConfigError` if it is neither.

    What is written in memosite.yml is that of now, except for actions that it closed later.
    """
    if config.audience != "internal":
        raise ConfigError(
            f"--as-of: found the audience {config.audience}, expected internal: what is withheld now "
            "may have been open then; add --audience internal"
        )
    read = {source.name: _line(config, source) for source in config.sources}
    lines = [one for one in read.values() if isinstance(one, _Line)]
    left_out = {name: why for name, why in read.items() if isinstance(why, str)}
    if not lines:
        raise _no_git(written, left_out)
    day = read_moment(written) if "-" in written else None
    commit = None if day else _named(lines, written)
    moment = _end_of(written, day) if day else _date_of(commit, written)
    sources = []
    for line in lines:
        hash_ = _commit_then(line, moment, commit)
        if not hash_ and is_shallow(line.repo):
            left_out[line.source.name] = "the clone is shallow: its first commits are missing"
        else:
            sources.append(_at(line, hash_))
    if commit is None and sources and all(source.ref == NO_REF for source in sources):
        raise _too_early(written, lines)
    closed = {id_: one for id_, one in config.closed.items() if _was(one.on, moment)}
    cache = past_cache(config, sources)
    return Past(
        config=replace(config, sources=tuple(sources), cache=cache, citations=(), closed=MappingProxyType(closed)),
        moment=moment,
        commit=commit.head.hash if commit else "",
        named=tuple(line.source.name for line in lines if commit and line.repo == commit.repo),
        left_out=tuple(left_out.items()),
    )


def _no_git(written: str, left_out: Mapping[str, str]) -> ConfigError:
    reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items()) or "there are no sources"
    return ConfigError(
        f'--as-of "{printable(written)}": found no source with a git history ({reasons}), expected one: nothing else '
        "knows the past; leave --as-of out, or name clones of the repos as sources"
    )


def _too_early(written: str, lines: Iterable[_Line]) -> ConfigError:
    """No source had a commit by then: which one was the first."""
    known = [(line, commit_at(line.repo, first_commit(line.repo, line.tip.hash))) for line in lines if line.tip]
    dated = [(head.committed, line.source.name) for line, head in known if head and head.committed]
    first = min(dated, key=lambda one: (one[0].instant, one[1]), default=None)
    what = f"the first is of {first[0].utc}, in {first[1]}" if first else "there are none"
    names = ", ".join(line.source.name for line in lines)
    return ConfigError(
        f'--as-of "{printable(written)}": found no commit by then in {names}: {what}; expected a later date'
    )


def _line(config: Config, source: SourceConfig) -> _Line | str:
    """A source in git; else why it is not."""
    ref = source.ref or HEAD
    if source.root is None:
        url = source.git or ""
        fetched = fetch(url, ref, cache=config.cache, use_network=False)
        bare = replace(source, root=fetched.repo.git_dir, git=None, web=source.web or file_template(url))
        return _Line(source=bare, repo=fetched.repo, tip=fetched.commit)
    encloses = config.history == "enclosing" or source.ref is not None
    holding = holding_repo(source.root, site=config.site, enclosing=encloses)
    if holding.repo is None:
        return holding.why_not
    return _Line(source=source, repo=holding.repo, prefix=holding.prefix, tip=commit_at(holding.repo, ref))


def _at(line: _Line, commit: str) -> SourceConfig:
    has_it = bool(commit) and (not line.prefix or has_folder(line.repo, commit, line.prefix.rstrip("/")))
    return replace(line.source, ref=commit if has_it else NO_REF)


def _end_of(written: str, moment: Moment) -> Moment:
    """The moment; of a day, its last second: what came on that day was known on it."""
    if not _DAY.fullmatch(written.strip()):
        return moment
    return replace(moment, instant=moment.instant + dt.timedelta(days=1, seconds=-1))


def _was(on: str | None, moment: Moment) -> bool:
    closed = read_moment(on) if on else None
    return closed is None or closed.instant <= moment.instant


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """The commit that was named, and its repo."""

    head: CommitHead
    repo: Repo


def _commit_then(line: _Line, moment: Moment, named: _Named | None) -> str:
    """The commit at which a source is read; "" if there was none."""
    if named and line.repo == named.repo:
        return named.head.hash
    if line.tip is None:
        return ""
    is_now = line.tip.committed is not None and line.tip.committed.instant <= moment.instant
    return line.tip.hash if is_now else commit_before(line.repo, line.tip.hash, moment.instant)


def _date_of(commit: "_Named | None", written: str) -> Moment:
    if commit is None or commit.head.committed is None:
        raise SourceError(f'--as-of "{printable(written)}": the date of this commit cannot be read')
    return commit.head.committed


def _named(lines: Sequence[_Line], written: str) -> _Named:
    """The commit that is named. Raises `ConfigError` unless there is one, in one repo."""
    found = list(_commits(lines, written))
    shown = printable(written)
    if not found:
        raise ConfigError(f'--as-of "{shown}": {_not_found(lines, written)}, {FORMS}')
    line, head = found[0]
    others = [other.source.name for other, _ in found if other.repo != line.repo]
    if others:
        name = line.source.name
        raise ConfigError(
            f'--as-of "{shown}": found it in {name} and {", ".join(others)}, expected one repo; write {name}:{shown}'
        )
    return _Named(head=head, repo=line.repo)


def _not_found(lines: Sequence[_Line], written: str) -> str:
    """What is wrong with a commit or a date that is none, and where it was sought."""
    names = [line.source.name for line in lines]
    source, colon, ref = written.rpartition(":")
    if _LIKE_DAY.match(written):
        return "found no such date"
    if colon and source in names:
        return f'found no such commit or branch "{printable(ref)}" in {source} (see: git log)'
    if colon:
        return f'found no such source "{printable(source)}" with a git history, but {", ".join(names)}'
    return f"found no such commit in {', '.join(names)}"


def _commits(lines: Sequence[_Line], written: str) -> Iterator[tuple[_Line, CommitHead]]:
    name, colon, ref = written.rpartition(":")
    line = next((line for line in lines if colon and line.source.name == name), None)
    if line is not None:
        head = commit_at(line.repo, ref) if ref and "\n" not in ref else None
        if head is not None:
            yield line, head
    elif _HASH.fullmatch(written):
        for each in lines:
            head = commit_at(each.repo, written)
            if head is not None and head.hash.startswith(written):  # a branch may have the name of a commit
                yield each, head
