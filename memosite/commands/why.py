"""[I/O] `memosite why FILE[:LINE]`: finds the commits that wrote a file, and prints what `agents/why.py` answers."""

import argparse
import difflib
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memosite.agents.items import Reader
from memosite.agents.mentions import Mentions, list_items
from memosite.agents.sessions import OPEN, Work
from memosite.agents.why import Asked, Cause, as_json, as_text, why
from memosite.commands.nouns import plural
from memosite.config.loading import load_config
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.findings import Finding
from memosite.facts.source_rules import failures
from memosite.reading.archive import ArchiveHandle, open_archive
from memosite.reading.screen import Screen
from memosite.reading.text_rows import NAMES
from memosite.sources.blame import CommitFacts, Written, blame, commit_facts, subjects_between
from memosite.sources.folder import FolderSource
from memosite.sources.git import GitError, Repo, viewed
from memosite.sources.listing import FILE_LIMIT, Source
from memosite.sources.objects import Objects, commit_at
from memosite.sources.tree import read_tree

Say = Callable[[str], None]

_LINES = re.compile(r":([0-9]+)-[0-9]+$")
_NAMED = 3

MOST_COMMITS = 5
"""How many commits are shown of a whole file, the newest."""


def run(options: argparse.Namespace, *, show: Say, say: Say) -> bool:
    """Print the chains; whether all sources could be read."""
    config = load_config(
        options.site_option or Path(), cache=options.cache, secrets=options.secrets, audience=options.audience
    )
    if config.audience != "internal":
        raise ConfigError(
            f"why: found the audience {config.audience}, expected internal: commits are not published; "
            "add --audience internal"
        )
    with open_archive(config, use_network=False) as handle:
        asked, causes = _causes(handle, options.file)
        archive = handle.recall()
        failed = failures(archive.all_findings)
        for one in failed:
            say(f"memosite: failed: {printable(one)}")
        same = ("--site", str(options.site_option)) if options.site_option else ()
        reader = Reader(archive=archive, text_of=handle.shelf.text, options=same)
        items, rows = handle.text_rows(NAMES).read(lambda: list_items(archive), handle.shelf.text)
        chains = why(reader, Mentions(items, rows), asked, causes)
        show(as_json(asked, chains) if options.json else as_text(reader, asked, chains))
    return not failed


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A file of a source: its path in the source and in the repo, and the commit that the repo is at."""

    source: Source
    path: str
    repo: Repo
    prefix: str
    commit: str

    @property
    def shown(self) -> str:
        """The file as it is named."""
        return f"{self.source.name}/{self.path}"


def _causes(handle: ArchiveHandle, written: str) -> tuple[Asked, list[Cause]]:
    """The file, and the commits that wrote its lines, the newest first."""
    sources = handle.opened.sources
    source, path, line = _find(handle, written)
    holding = source.holding
    if holding is None or holding.repo is None:
        why_not = holding.why_not if holding else "it is not a git repo"
        raise ConfigError(f"{written}: {source.name} has no history ({why_not}), expected a git repo")
    with viewed(holding.repo) as repo:
        head = commit_at(repo, holding.commit)
        if head is None:
            raise ConfigError(f"{written}: found no commit in {source.name}, expected a committed file")
        file = _File(source=source, path=path, repo=repo, prefix=holding.prefix, commit=head.hash)
        found = _written(file, line)
        facts = [commit_facts(repo, commit) for commit in dict.fromkeys(one.commit for one in found)]
        newest = sorted(facts, key=_when, reverse=True)[:MOST_COMMITS]
        causes = [
            _cause(handle.screen, file, one, [part for part in found if part.commit == one.hash]) for one in newest
        ]
    others = tuple(one.name for one in sources if one.name != source.name and one.has_file(path))
    asked = Asked(source=source.name, path=path, line=line, others=others, more=len(facts) - len(newest))
    return asked, causes


def _when(commit: CommitFacts) -> tuple[float, str]:
    return (commit.committed.instant.timestamp() if commit.committed else 0.0, commit.hash)


def _find(handle: ArchiveHandle, written: str) -> tuple[Source, str, int | None]:
    """The source and path that are meant, by a file on disk or by `SOURCE/path`, and the line."""
    sources = handle.opened.sources
    name, colon, number = written.rpartition(":")
    is_line = bool(colon) and number.isascii() and number.isdigit() and 0 < int(number) < 10**9
    tried = [(name, int(number))] if is_line else []
    for text, line in (*tried, (written, None)):
        place = Path(text).absolute()
        inside = [
            (source, place.relative_to(source.root).as_posix())
            for source in sources
            if isinstance(source, FolderSource) and place.is_relative_to(source.root)
        ]
        head = [(one, text.removeprefix(f"{one.name}/")) for one in sources if text.startswith(f"{one.name}/")]
        for source, path in (*sorted(inside, key=lambda one: len(one[1])), *head):
            if source.has_file(path):
                return source, path, line
    if several := _LINES.search(written):
        raise ConfigError(f"{written}: found several lines, expected one, such as {name}:{several[1]}")
    names = ", ".join(source.name for source in sources)
    near = _same_name(handle, name if is_line else written)
    such = f", such as {' or '.join(near)}" if near else ""
    raise ConfigError(
        f"{written}: found no such file in {names}, expected a file of a source, or SOURCE/path{such}; a repo without "
        "memos is a source if memosite.yml names it"
    )


def _same_name(handle: ArchiveHandle, written: str) -> list[str]:
    """Committed files of the same name, as far as these can be listed and no name has a secret."""
    found: list[str] = []
    for source in handle.opened.sources:
        holding = source.holding
        if holding is not None and holding.repo is not None:
            with suppress(GitError), viewed(holding.repo) as repo:
                paths = read_tree(repo, holding.commit, holding.prefix.rstrip("/")).blobs
                found += [f"{source.name}/{path}" for path in paths if Path(path).name == Path(written).name]
    hidden = handle.screen.names(found[:_NAMED])
    return [printable(one) for one in found[:_NAMED] if one not in hidden]


def _written(file: _File, line: int | None) -> list[Written]:
    """Which commits wrote the lines, as far as they are committed."""
    whole = f"{file.prefix}{file.path}"
    with Objects(file.repo) as objects:
        try:
            blob = objects.hash_of(f"{file.commit}:{whole}")
        except GitError as error:
            raise ConfigError(f"{file.shown}: not found in the last commit, expected a committed file") from error
        committed = objects.blob(blob, limit=FILE_LIMIT)
        if committed is None:
            raise ConfigError(f"{file.shown}: found a folder, expected a file")
    if not isinstance(committed, bytes):
        raise ConfigError(f"{file.shown}: found no file of up to {FILE_LIMIT:,} bytes in the last commit, expected one")
    return blame(file.repo, file.commit, whole, line=_committed_line(file, committed, line) if line else None)


def _committed_line(file: _File, committed: bytes, line: int) -> int:
    """The number that a line of a file as it is now has in the last commit."""
    read = file.source.read_file(file.path)
    now = (committed if isinstance(read, Finding) else read.data).split(b"\n")
    before = committed.split(b"\n")
    count = len(now) - (not now[-1])  # the last line feed begins no line
    if line > count:
        lines = f"{count:,} {plural('line', count)}"
        raise ConfigError(f"{file.shown}:{line}: found {lines}, expected one of them")
    if now == before:
        return line
    for block in difflib.SequenceMatcher(None, before, now, autojunk=False).get_matching_blocks():
        if block.b < line <= block.b + block.size:
            return block.a + line - block.b
    raise ConfigError(f"{file.shown}:{line}: this line is not committed yet, so no commit wrote it")


def _cause(screen: Screen, file: _File, facts: CommitFacts, written: Sequence[Written]) -> Cause:
    names = (one.path.removeprefix(file.prefix) for one in written)
    span = (min(facts.moments) - OPEN, max(facts.moments) + OPEN) if facts.moments else None
    hidden = screen.names((facts.subject, facts.author))
    return Cause(
        work=Work(
            commit=facts,
            paths=tuple(dict.fromkeys((file.path, *names))),
            lines=tuple(dict.fromkeys(text for one in written for _, text in one.lines)),
            nearby=subjects_between(file.repo, file.commit, *span) if span else {},
        ),
        numbers=tuple(sorted(number for one in written for number, _ in one.lines)),
        subject=hidden.get(facts.subject, facts.subject),
        author=hidden.get(facts.author, facts.author),
    )
