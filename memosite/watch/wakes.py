"""[I/O] Announces memos again until they are received, then escalates once (FEEDS, receipts).

Each announcement is preceded by a look: at the repo right before, or at the feed in the same round. What cannot be
looked at waits, so that nothing is announced after its receipt. A run that fails for good counts as an announcement
that got lost: the next one comes after its delay, and a broken command cannot keep a memo from being escalated.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from memosite.facts.characters import printable
from memosite.feeds.document import ReceivedItem
from memosite.sources.folder import holding_repo
from memosite.sources.git import GitError, Repo, git
from memosite.watch.deliver import AnnouncedMemo, Deliverer, locate, places
from memosite.watch.state import Clocks, ReceiptState, Waiting

# Looks whether a memo is received: committed, or out of `inbox/`, no matter who did it (FEEDS, receipts).


Receipt = Literal["received", "waiting", "unknown", "unseen"]
"""`unknown`: nothing will tell. `unseen`: something would, but cannot be read now."""


_LOOK_SECONDS = 60.0
"""The longest that git may take to look for one memo; a watch has others to announce."""


_OUT_OF_INBOX = frozenset({"read", "archive"})


def is_out_of_inbox(item: ReceivedItem) -> bool:
    """Whether the feed says that a memo was read."""
    return item.field("state") in _OUT_OF_INBOX


def look(item: ReceivedItem, repo: Path | None, *, is_read: bool) -> Receipt:
    """Whether a memo is received, by its repo or else by its feed; `is_read`: the feed was read in this round."""
    if is_out_of_inbox(item):
        return "received"
    if repo is not None:
        found = _look_in_repo(item.path, repo)
        if found != "unknown":
            return found
    if not is_read:
        return "unseen"
    return "waiting" if item.field("state") == "inbox" else "unknown"


def _look_in_repo(path: str, folder: Path) -> Receipt:
    located = locate(folder, path)
    if located.file is not None and located.path.split("/")[-2:-1] in (["read"], ["archive"]):
        return "received"
    held = holding_repo(folder.resolve(), site=folder.resolve(), enclosing=True)
    if held.repo is None:
        return "unknown"
    try:
        if _is_committed(held.repo, [f"{held.prefix}{place}" for place in places(path)]):
            return "received"
    except GitError:
        return "unseen"
    return "waiting" if located.file is not None else "unknown"


def _is_committed(repo: Repo, paths: list[str]) -> bool:
    """Whether a commit of any branch has one of these files; stashes do not count, since nobody sees them."""
    refs = git(repo, "for-each-ref", "--format=%(objectname)", "refs/heads", "refs/remotes", seconds=_LOOK_SECONDS)
    heads = set(refs.decode("ascii").split()) | _head(repo)
    if not heads:
        return False
    tips = "".join(f"{head}\n" for head in sorted(heads)).encode()
    return bool(git(repo, "rev-list", "-1", "--stdin", "--", *paths, given=tips, seconds=_LOOK_SECONDS).strip())


def _head(repo: Repo) -> set[str]:
    """The commit that is checked out, which may be on no branch; none before the first one."""
    try:
        return {git(repo, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", seconds=_LOOK_SECONDS).decode().strip()}
    except GitError as error:
        if "exit code 1" in str(error):
            return set()
        raise


# Announces memos again until they are received, then escalates once (FEEDS, receipts).


Record = Callable[[Sequence[Waiting]], None]


AGAIN = (900.0, 3600.0, 86_400.0)
"""The delays of announcements, in seconds, unless the user gives others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptRules:
    """The delays between announcements, in seconds, and who is told in the end; None: only the user."""

    again: tuple[float, ...] = AGAIN
    escalate: Deliverer | None = None
    clocks: Clocks = field(default_factory=Clocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What a round needs of its watcher. `allowed` says how many memos may be announced now."""

    deliverer: Deliverer
    look: Callable[[ReceivedItem], Receipt]
    located: Callable[[ReceivedItem], AnnouncedMemo]
    allowed: Callable[[], int]
    check: Callable[[], None]
    say: Callable[[str], None]
    note: Callable[[str], None]
    retries: int
    is_batch: bool


class Wakes:
    """The announced memos of one feed that are not received.

    `is_troubled` marks a failure in this round, `limited` counts memos that are due and wait for the limit.
    """

    def __init__(self, state: ReceiptState, rules: ReceiptRules, round_: Round) -> None:
        """Go on where the state ends."""
        self._state = state
        self._rules = rules
        self._round = round_
        self._unrecorded: list[Callable[[], None]] = []
        self._nowhere: set[str] = set()
        self.is_troubled = False
        self.limited = 0
        self._began = 0.0

    def record(self) -> None:
        """Record what was done. Raises `UnwritableError`, and keeps the rest."""
        while self._unrecorded:
            self._unrecorded[0]()
            self._unrecorded.pop(0)

    def wanted(self) -> frozenset[str]:
        """Memos whose mailbox the feed has to tell, unless all of it was searched for them before."""
        return frozenset(one.item.guid for one in self._state.waiting()) - self._nowhere

    def searched(self, wanted: frozenset[str], found: Sequence[ReceivedItem]) -> None:
        """Note which memos the feed and its archives do not have: they are not searched for in every round."""
        self._nowhere |= wanted - {item.guid for item in found}

    def begin_round(self) -> None:
        """Take up pending memos, and let go those that the feed says are read."""
        self.is_troubled, self.limited = False, 0
        self._began = self._state.now()
        self._state.begin_round()
        self._state.count_first()
        if read := [one for one in self._state.waiting() if is_out_of_inbox(one.item)]:
            self._received(read)

    def count_first(self) -> None:
        """Let the delays run of memos that were just announced for the first time."""
        self._state.count_first()

    def retry_failed(self) -> int:
        """Let failed escalations be tried again; return how many."""
        return self._state.retry_failed()

    def look(self, number: int, item: ReceivedItem) -> Receipt:
        """Look at a memo before its first announcement; if it is received, there will be none."""
        receipt = self._round.look(item)
        if receipt == "received":
            self._state.settle([number], "received")
            self._round.note(f"received before it was announced: {printable(item.path)}")
        elif receipt == "unseen":
            self._unseen(1, item)
        return receipt

    def run(self) -> None:
        """Announce or escalate what is due."""
        due = [one for one in self._state.waiting() if self._is_due(one)]
        unseen: list[Waiting] = []
        for some in [due] if self._round.is_batch else [[one] for one in due]:
            looked = [(one, self._look(one)) for one in some]
            unseen += [one for one, receipt in looked if receipt == "unseen"]
            self._received([one for one, receipt in looked if receipt == "received"])
            self._state.settle([one.number for one, receipt in looked if receipt == "unknown"], "unknown")
            waiting = [one for one, receipt in looked if receipt == "waiting"]
            self._announce([one for one in waiting if one.announced <= len(self._rules.again)])
            self._escalate([one for one in waiting if one.announced > len(self._rules.again)])
        if unseen:
            self._unseen(len(unseen), unseen[0].item)

    def _is_due(self, one: Waiting) -> bool:
        """Whether its delay had passed when the round began: no round announces a memo twice."""
        delays = self._rules.again
        return one.announced > 0 and self._began - one.at >= delays[min(one.announced, len(delays)) - 1]

    def _look(self, one: Waiting) -> Receipt:
        self._round.check()
        return self._round.look(one.item)

    def _received(self, some: Sequence[Waiting]) -> None:
        if some:
            self._state.settle([one.number for one in some], "received")

    def _unseen(self, count: int, item: ReceivedItem) -> None:
        self.is_troubled = True
        what = printable(item.path) if count == 1 else f"{count} memos"
        self._round.note(f"not announced now, it cannot be seen whether it is received: {what}")

    def _announce(self, some: Sequence[Waiting]) -> None:
        allowed = self._round.allowed() if some else 0
        self.limited += max(0, len(some) - allowed)
        self._deliver(some[:allowed], self._round.deliverer, done=self._announced, lost=self._announced)

    def _announced(self, some: Sequence[Waiting]) -> None:
        self._state.announced([one.number for one in some], self._state.now())

    def _escalate(self, some: Sequence[Waiting]) -> None:
        if self._rules.escalate is None:
            self._escalated(some)
        else:
            self._deliver(some, self._rules.escalate, done=self._escalated, lost=self._failed)

    def _escalated(self, some: Sequence[Waiting]) -> None:
        self._state.settle([one.number for one in some], "escalated")
        for one in some:
            what = "escalated" if self._rules.escalate else "not announced any more"
            self._round.say(f"not received after {one.announced} announcements, {what}: {printable(one.item.path)}")

    def _failed(self, some: Sequence[Waiting]) -> None:
        self._state.settle([one.number for one in some], "failed")

    def _deliver(self, some: Sequence[Waiting], deliverer: Deliverer, *, done: Record, lost: Record) -> None:
        """Run a deliverer, and record what was `done`; or what is `lost`, for want of further tries."""
        if not some:
            return
        numbers = [one.number for one in some]
        memos = [replace(self._round.located(one.item), announced=one.announced) for one in some]
        self._state.begin(numbers, time.time())
        try:
            outcome = deliverer.deliver(memos)
        except OSError:
            self._state.give_back(numbers, tries=0)
            raise
        if outcome.reason is None:
            self._unrecorded.append(partial(done, some))
            self.record()
            return
        self.is_troubled = True
        tries = [one.tries + int(outcome.is_try) for one in some]
        given_up = [one for one, count in zip(some, tries, strict=True) if count >= self._round.retries]
        lost(given_up)
        rest = [one.number for one in some if one not in given_up]
        self._state.give_back(rest, tries=int(outcome.is_try))
        what = printable(memos[0].path) if len(memos) == 1 else f"{len(memos)} memos"
        again = "tried again" if rest else f"failed after {max(tries)} tries"
        self._round.say(f"not delivered, {again}: {what}: {outcome.reason}")
