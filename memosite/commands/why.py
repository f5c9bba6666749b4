"""[I/O] `memosite why FILE[:LINE]`: finds the commits that wrote a file, and prints what `agents/why.py` answers."""

import argparse
import difflib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from memosite.agents.items import Reader
from memosite.agents.why import OPEN, Asked, Cause, Mentions, Work, as_json, as_text, list_items, why
from memosite.commands.arguments import Tell
from memosite.commands.places import configured
from memosite.commands.report import say_failures
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.findings import Finding
from memosite.facts.patterns import regex
from memosite.facts.rules import failures
from memosite.facts.texts import counted
from memosite.facts.values import Value
from memosite.reading.archive import ArchiveHandle, open_archive
from memosite.reading.screen import Screen
from memosite.reading.text_rows import NAMES
from memosite.sources.folder import FolderSource
from memosite.sources.git import GitError, Repo, viewed
from memosite.sources.listing import FILE_LIMIT, Source
from memosite.sources.objects import CommitFacts, Objects, Written, blame, commit_at, commit_facts, subjects_between
from memosite.sources.tree import read_tree

_LINES = regex(r":([0-9]+)-[0-9]+$")


_NAMED = 3


MOST_COMMITS = 5
"""How many commits are shown of a whole file, the newest."""


def run_why(options: argparse.Namespace, show: Tell, say: Tell) -> bool:
    """Print the chains; whether all sources could be read."""
    config = configured(options)
    if config.audience != "internal":
        raise ConfigError(
            f"why: found the audience {config.audience}, expected internal: commits are not published; "
            "add --audience internal"
        )
    with open_archive(config, use_network=False) as handle:
        asked, causes = _causes(handle, options.file)
        archive = handle.recall()
        is_whole = say_failures(failures(archive.all_findings), say)
        reader = Reader(archive=archive, text_of=handle.shelf.text)
        items, rows = handle.text_rows(NAMES).read(lambda: list_items(archive), handle.shelf.text)
        chains = why(reader, Mentions(items, rows), asked, causes)
        if not options.quiet:
            show(as_json(asked, chains) if options.json else as_text(reader, asked, chains))
    return is_whole


class _File(Value):
    """A file of a source: its path in the source and in the repo, the commit that the repo is at."""

    source: Source
    path: str
    repo: Repo
    prefix: str
    commit: str

    @property
    def shown(self) -> str:
        """How it is named."""
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
        times = {one.hash: one.committed.instant.timestamp() if one.committed else 0.0 for one in facts}
        newest = sorted(facts, key=lambda one: (times[one.hash], one.hash), reverse=True)[:MOST_COMMITS]
        causes = [
            _cause(handle.screen, file, commit, [part for part in found if part.commit == commit.hash])
            for commit in newest
        ]
    others = tuple(other.name for other in sources if other.name != source.name and other.has_file(path))
    asked = Asked(source=source.name, path=path, line=line, others=others, more=len(facts) - len(newest))
    return asked, causes


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
    near = _same_name(handle, name if is_line else written)
    such = f", such as {' or '.join(near)}" if near else ""
    raise ConfigError(
        f"{written}: found no such file in {', '.join(one.name for one in sources)}, expected a file of a source, "
        f"or SOURCE/path{such}; a repo without memos is a source if memosite.yml names it"
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
        raise ConfigError(f"{file.shown}:{line}: found {counted(count, 'line', ',')}, expected one of them")
    if now == before:
        return line
    for block in difflib.SequenceMatcher(None, before, now, autojunk=False).get_matching_blocks():
        if block.b < line <= block.b + block.size:
            return block.a + line - block.b
    raise ConfigError(f"{file.shown}:{line}: this line is not committed yet, so no commit wrote it")


def _cause(screen: Screen, file: _File, facts: CommitFacts, written: Sequence[Written]) -> Cause:
    names = (piece.path.removeprefix(file.prefix) for piece in written)
    span = (min(facts.moments) - OPEN, max(facts.moments) + OPEN) if facts.moments else None
    hidden = screen.names((facts.subject, facts.author))
    return Cause(
        work=Work(
            commit=facts,
            paths=tuple(dict.fromkeys((file.path, *names))),
            lines=tuple(dict.fromkeys(text for piece in written for _, text in piece.lines)),
            nearby=subjects_between(file.repo, file.commit, *span) if span else {},
        ),
        numbers=tuple(sorted(number for piece in written for number, _ in piece.lines)),
        subject=hidden.get(facts.subject, facts.subject),
        author=hidden.get(facts.author, facts.author),
    )
