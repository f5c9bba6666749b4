"""[I/O] Reads the past: sources as of a former time (SPEC 8), and what one file held before.

    COMMIT ─► its repo at that commit, its date ─┐
    DATE ────────────────────────────────────────┴─► each other source at its last commit by then ─► Config

The configuration that comes of it is read as any other, with a cache of its own (`past_cache`).

What one file held before is read for those who verify citations. It passes the screen; a content with a secret is left
out, as is all that a public audience might not see.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from types import MappingProxyType

from memosite.archive.history import file_key, paths_of
from memosite.config.schema import Config, SourceConfig
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError, SourceError
from memosite.facts.file import File
from memosite.facts.json_text import clean_text
from memosite.facts.patterns import regex
from memosite.facts.times import Moment, asked_date, read_moment
from memosite.facts.values import Value, replace
from memosite.reading.past_cache import past_cache
from memosite.sources import objects
from memosite.sources.folder import holding_repo
from memosite.sources.forges import file_template
from memosite.sources.git import GitError, Holding, Repo, git, viewed
from memosite.sources.listing import Source
from memosite.sources.tree import NO_REF, fetch

# Finds the commits at which the sources of an archive are read as of a former time (SPEC 8, reading the past).


FORMS = "expected a date (2026-05-01 or 2026-05-01T14:30Z), a commit of a source (3a835a6), or SOURCE:REF (engine:main)"


_HASH = regex(r"[0-9a-f]{4,64}")


_DAY = regex(r"\d{4}-\d\d-\d\d", re.ASCII)


class Past(Value):
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


class _Line(Value):
    """A source in git: the repo, the source's folder in it ("" or ending in a slash), and the commit it is at now."""

    source: SourceConfig
    repo: Repo
    prefix: str = ""
    tip: objects.CommitHead | None = None


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
    lines = [line for line in read.values() if isinstance(line, _Line)]
    left_out = {name: why for name, why in read.items() if isinstance(why, str)}
    if not lines:
        raise _no_git(written, left_out)
    day = asked_date(written, of="--as-of", expected=FORMS)
    commit = None if day else _named(lines, written)
    moment = _end_of(written, day) if day else _date_of(commit, written)
    sources = []
    for line in lines:
        hash_ = _commit_then(line, moment, commit)
        if not hash_ and objects.is_shallow(line.repo):
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


def since_when(config: Config, written: str) -> tuple[Moment | None, bool]:
    """The beginning of a date, or when a commit was made, as `past_of` takes them, and whether it is a commit.

    None if it is neither. Raises `ConfigError` for an invalid date, and for a commit that several repos have.
    """
    if day := asked_date(written, of="--since", expected="expected one such as 2026-05-01"):
        return day, False
    if config.audience != "internal":  # commits are not published
        return None, False
    lines = [line for line in (_line(config, source) for source in config.sources) if isinstance(line, _Line)]
    found = list(_commits(lines, written))
    if any(line.repo != found[0][0].repo for line, _ in found):
        names = ", ".join(dict.fromkeys(line.source.name for line, _ in found))
        raise ConfigError(f'--since "{printable(written)}": found it in {names}, expected one repo; write SOURCE:REF')
    return (found[0][1].committed if found else None), bool(found)


def _no_git(written: str, left_out: Mapping[str, str]) -> ConfigError:
    reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items()) or "there are no sources"
    return ConfigError(
        f'--as-of "{printable(written)}": found no source with a git history ({reasons}), expected one: nothing else '
        "knows the past; leave --as-of out, or name clones of the repos as sources"
    )


def _too_early(written: str, lines: Iterable[_Line]) -> ConfigError:
    """No source had a commit by then: which one was the first."""
    known = [
        (line, objects.commit_at(line.repo, objects.first_commit(line.repo, line.tip.hash)))
        for line in lines
        if line.tip
    ]
    dated = [(head.committed, line.source.name) for line, head in known if head and head.committed]
    first = min(dated, key=lambda one: (one[0].instant, one[1]), default=None)
    what = f"the first is of {first[0].utc}, in {first[1]}" if first else "there are none"
    names = ", ".join(line.source.name for line in lines)
    return ConfigError(
        f'--as-of "{printable(written)}": found no commit by then in {names}: {what}; expected a later date'
    )


def _line(config: Config, source: SourceConfig) -> _Line | str:
    """A source in git; else why it is not."""
    ref = source.ref or objects.HEAD
    if source.root is None:
        url = source.git or ""
        fetched = fetch(url, ref, cache=config.cache, use_network=False)
        bare = replace(source, root=fetched.repo.git_dir, git=None, web=source.web or file_template(url))
        return _Line(source=bare, repo=fetched.repo, tip=fetched.commit)
    encloses = config.history == "enclosing" or source.ref is not None
    holding = holding_repo(source.root, site=config.site, enclosing=encloses)
    if holding.repo is None:
        return holding.why_not
    return _Line(source=source, repo=holding.repo, prefix=holding.prefix, tip=objects.commit_at(holding.repo, ref))


def _at(line: _Line, commit: str) -> SourceConfig:
    has_it = bool(commit) and (not line.prefix or objects.has_folder(line.repo, commit, line.prefix.rstrip("/")))
    return replace(line.source, ref=commit if has_it else NO_REF)


def _end_of(written: str, moment: Moment) -> Moment:
    """The moment; of a day, its last second: what came on that day was known on it."""
    if not _DAY.fullmatch(written.strip()):
        return moment
    return replace(moment, instant=moment.instant + dt.timedelta(days=1, seconds=-1))


def _was(on: str | None, moment: Moment) -> bool:
    closed = read_moment(on) if on else None
    return closed is None or closed.instant <= moment.instant


class _Named(Value):
    """The commit that was named, and its repo."""

    head: objects.CommitHead
    repo: Repo


def _commit_then(line: _Line, moment: Moment, named: _Named | None) -> str:
    """The commit at which a source is read; "" if there was none."""
    if named and line.repo == named.repo:
        return named.head.hash
    if line.tip is None:
        return ""
    is_now = line.tip.committed is not None and line.tip.committed.instant <= moment.instant
    return line.tip.hash if is_now else objects.commit_before(line.repo, line.tip.hash, moment.instant)


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
    if colon and source in names:
        return f'found no such commit or branch "{printable(ref)}" in {source} (see: git log)'
    if colon:
        return f'found no such source "{printable(source)}" with a git history, but {", ".join(names)}'
    return f"found no such commit in {', '.join(names)}"


def _commits(lines: Sequence[_Line], written: str) -> Iterator[tuple[_Line, objects.CommitHead]]:
    name, colon, ref = written.rpartition(":")
    line = next((line for line in lines if colon and line.source.name == name), None)
    if line is not None:
        head = objects.commit_at(line.repo, ref) if ref and "\n" not in ref else None
        if head is not None:
            yield line, head
    elif _HASH.fullmatch(written):
        for each in lines:
            head = objects.commit_at(each.repo, written)
            if head is not None and head.hash.startswith(written):  # a branch may have the name of a commit
                yield each, head


# Reads from git what one file held before, for those who verify citations: also of transcripts, which grow.


MOST = 500
"""The most versions of one file that are read."""


MOST_REMOVED = 100
"""The most removed files that are looked into."""


class FormerContent(Value):
    """A content that a file had, as a text; `commit` is the one that gave it to the file."""

    commit: str
    blob: str
    text: str


class PastContents:
    """The former contents of the files of an archive, read when they are asked for."""

    def __init__(self, config: Config, sources: Mapping[str, Source], stack: ExitStack) -> None:
        """Read from the repos of these sources, by their names, until the stack is closed."""
        is_open = config.audience == "internal"
        self._holdings = {name: source.holding for name, source in sources.items() if is_open}
        self._repos: dict[str, Repo] = {}
        self._stack = stack
        self._allowed = config.secrets.fingerprints

    def commit_of(self, source: str, path: str, blob: str) -> str:
        """The commit that gave a file the content with this id; "" if it is in none, or that is not known."""
        came = ""
        for commit, id_ in self._versions(source, path):
            if id_ == blob:
                came = commit
            elif came:
                break
        return came

    def contents(self, source: str, path: str) -> Iterator[FormerContent]:
        """What a file held, the newest first, each content once with the commit that brought it."""
        from memosite.reading.screen import Screen  # noqa: PLC0415 - most citations need no former content

        screen = Screen(allowed=self._allowed)
        versions = self._versions(source, path)
        first = {blob: commit for commit, blob in versions}  # the oldest commit of each is set last
        repo = self._repo(source)
        if repo is None or not first:
            return
        try:
            for blob, data in objects.read_contents(repo, first):
                screened = screen.file(File(source=source, path=path, data=data))
                if not any(not hit.is_allowed for hit in screened.hits):
                    text = clean_text(data.decode("utf-8", "replace")).removeprefix("\ufeff")
                    yield FormerContent(commit=first[blob], blob=blob, text=text)
        except GitError:  # a partial clone: what is not there cannot be compared
            return

    def removed(self, source: str, ending: str) -> Iterator[str]:
        """The files with an ending that were removed from a source, the last one first, of many some."""
        holding, repo = self._holdings.get(source), self._repo(source)
        if holding is None or repo is None:
            return
        names = ("--diff-filter=D", "--no-renames", "--format=", "--name-only", "-z", f"--max-count={MOST}")
        try:
            listed = git(repo, "log", *names, holding.commit, "--", *filter(None, [holding.prefix]))
        except GitError:
            return
        paths = (path.lstrip("\n") for path in listed.decode("utf-8", "surrogateescape").split("\0"))
        found = dict.fromkeys(path.removeprefix(holding.prefix) for path in paths if path.endswith(ending))
        yield from islice(found, MOST_REMOVED)

    def _versions(self, source: str, path: str) -> list[tuple[str, str]]:
        """The commits that changed a file, the newest first, each with the id of its content then."""
        holding, repo = self._holdings.get(source), self._repo(source)
        if holding is None or repo is None:
            return []
        paths = [holding.prefix + one for one in paths_of(file_key(path))]
        try:
            listed = git(repo, "rev-list", f"--max-count={MOST}", "--full-history", holding.commit, "--", *paths)
            commits = listed.decode("ascii").split()
            heads = objects.object_heads(repo, (f"{commit}:{path}" for commit in commits for path in paths))
        except GitError:
            return []
        found: dict[str, str] = {}
        for name, head in heads.items():
            if head.kind == "blob":
                found.setdefault(name.partition(":")[0], head.hash)
        return [(commit, found[commit]) for commit in commits if commit in found]

    def _repo(self, source: str) -> Repo | None:
        holding: Holding | None = self._holdings.get(source)
        if holding is None or holding.repo is None:
            return None
        if source not in self._repos:
            self._repos[source] = self._stack.enter_context(viewed(holding.repo))
        return self._repos[source]
