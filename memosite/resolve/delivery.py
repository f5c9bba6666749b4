"""Audits delivery: finds memos that are missing in their recipient's repo, misnamed, or never committed there.

A broadcast belongs in the repo of every position, any other memo into those of its recipients; the sender's copy
is a copy (SPEC 3, copies and positions). No clock is asked: a memo
is overdue when its repo has newer commits without it.
"""

from collections.abc import Iterable, Iterator, Mapping

from memosite.archive.history import History
from memosite.facts import rules
from memosite.facts.findings import Finding, Location, Rule
from memosite.facts.names import read_stamped_name
from memosite.facts.parsed import BROADCAST, FILE
from memosite.resolve.identity import CopyGroup
from memosite.resolve.lives import Lives
from memosite.resolve.positions import Naming
from memosite.run.recall import Recall, Same

OVERDUE_DAYS = 7
"""How many days a memo may lie in a repo before it is committed, counted to the repo's last commit."""

_NAMED = 5


def delivery_findings(
    groups: Iterable[CopyGroup], naming: Naming, histories: Mapping[str, History], lives: Lives, *, recall: Recall
) -> Iterator[Finding]:
    """Findings on the delivery of memos; all are notes."""
    addressing, named = recall.calls(_addressing), Same(naming)
    for group in groups:
        if group.kind != "memo" or group.envelope.shape in {"broken", "bare"}:
            continue
        missing, misnamed = addressing(group.ref, group, named)
        yield from missing
        yield from _overdue(group, histories, lives)
        yield from misnamed


def _addressing(group: CopyGroup, named: Same[Naming]) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    naming = named.value
    return tuple(_missing(group, naming)), tuple(_misnamed(group, naming))


def _missing(group: CopyGroup, naming: Naming) -> Iterator[Finding]:
    repo_of = naming.repo_of
    sources = {copy.envelope.file.source for copy in group.copies}
    sender = naming.position_of.get(group.envelope.sender)
    home = repo_of.get(sender) if sender else None
    for name in group.envelope.to:
        if name == FILE:
            continue
        if name == BROADCAST:
            lacking = [repo for repo in naming.repos if repo not in sources and repo != home]
            if lacking and len(sources) > 1:
                more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
                message = f"a broadcast, but no copy in {', '.join(lacking[:_NAMED])}{more}"
                yield _finding(rules.DELIVERY_MISSING, group, message)
            continue
        position = naming.position_of.get(name)
        repo = repo_of.get(position) if position else None
        if repo is not None and repo not in sources:
            only = "the sender's copy" if sources == {home} else ", ".join(sorted(sources))
            message = f'to "{name[:80]}", whose repo is {repo}; found only {_in(sources, only)}'
            yield _finding(rules.DELIVERY_MISSING, group, message)


def _in(sources: set[str], only: str) -> str:
    return f"{only} in {', '.join(sorted(sources))}" if only == "the sender's copy" else f"in {only}"


def _overdue(group: CopyGroup, histories: Mapping[str, History], lives: Lives) -> Iterator[Finding]:
    sent = group.envelope.sent
    for copy in group.copies:
        file = copy.envelope.file
        history = histories.get(file.source)
        if sent is None or history is None or history.committed is None or not lives.is_delivered(file):
            continue
        days = (history.committed.instant - sent.instant).days
        if days >= OVERDUE_DAYS:
            message = f"sent {sent.utc[:10]}; {file.source} was committed to {days} days later, still without it"
            yield _finding(rules.DELIVERY_UNCOMMITTED, group, message, file.source, file.path)


def _misnamed(group: CopyGroup, naming: Naming) -> Iterator[Finding]:
    """A finding on a file name with another sender or recipient than the envelope; only for known names."""
    name, envelope = read_stamped_name(group.stem), group.envelope
    said = naming.position_of.get(name.sender or "")
    written = naming.position_of.get(envelope.sender)
    if said is not None and written is not None and said != written:
        yield _finding(
            rules.NAME_DISAGREES, group, f'the file name has from "{name.sender}", the envelope "{envelope.sender}"'
        )
    to = {naming.position_of.get(one, one) for one in envelope.to}
    said = BROADCAST if name.recipient == BROADCAST else naming.position_of.get(name.recipient or "")
    if said is not None and to and said not in to and BROADCAST not in to:
        shown = ", ".join(envelope.to)[:80]
        yield _finding(rules.NAME_DISAGREES, group, f'the file name has to "{name.recipient}", the envelope "{shown}"')


def _finding(rule: Rule, group: CopyGroup, message: str, source: str = "", path: str = "") -> Finding:
    file = group.envelope.file
    where = Location(source=source or file.source, path=path or file.path)
    return Finding(rule=rule, location=where, message=message)
