"""[I/O] Watches one feed: fetches it, commits new items to the state, delivers pending ones.

With receipts, memos are announced again until they are received, then escalated once (FEEDS, receipts). Before each
announcement is a look: at the repo right before, or at the feed in the same round. What cannot be looked at waits, so
that nothing is announced after its receipt. A run that fails for good counts as an announcement that got lost: the
next one comes after its delay, and a broken command cannot keep a memo from being escalated.
"""

import datetime as dt
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from memosite.facts.characters import printable
from memosite.facts.values import Value, field, replace
from memosite.feeds.document import ReceivedItem, Rejected, read_document, refusal
from memosite.fetch import Failed, Fetched, Unchanged
from memosite.sources.folder import holding_repo
from memosite.sources.git import GitError, Repo, git
from memosite.watch import policy
from memosite.watch.deliver import AnnouncedMemo, Deliverer, Signals, locate, places
from memosite.watch.policy import UNCONDITIONAL_EACH, Bounds, Fate, Limit, Since
from memosite.watch.sources import FeedSource
from memosite.watch.state import Clocks, Delivery, FeedState, ReceiptState, Stage, UnwritableError, Waiting, WatchState

Receipt = Literal["received", "waiting", "unknown", "unseen"]
"""`unknown`: nothing will tell. `unseen`: something would, but cannot be read now."""


AGAIN = (900.0, 3600.0, 86_400.0)
"""The delays of announcements, in seconds, unless the user gives others."""


_NO_FEED = "compare it with those that the page feeds/ of the site lists"


class ReceiptRules(Value):
    """The delays between announcements, in seconds, and who is told in the end; None: only the user."""

    again: tuple[float, ...] = AGAIN
    escalate: Deliverer | None = None
    clocks: Clocks = field(default_factory=Clocks)


class WatchRules(Value):
    """The settings of a watch; times in seconds. Without `receipts`, each memo is announced once."""

    since: Since = "inbox"
    only_asked: bool = False
    is_batch: bool = False
    is_once: bool = False
    limit: Limit | None = None
    retries: int = 5
    interval: float = 60.0
    max_age: float | None = None
    receipts: ReceiptRules | None = None
    bounds: Bounds = field(default_factory=Bounds)


class Watcher:
    """Watches one feed. `due` is the time of the next fetch (monotonic); `is_troubled` marks a present error."""

    def __init__(
        self,
        source: FeedSource,
        state: WatchState,
        deliverer: Deliverer,
        rules: WatchRules,
        signals: Signals,
        *,
        say: Callable[[str], None],
        note: Callable[[str], None],
    ) -> None:
        """Watch a source; `say` prints errors, `note` prints information."""
        self._source = source
        self.state = state
        self.deliverer = deliverer
        self.rules = rules
        self.signals = signals
        self._say = say
        self._note = note
        self._failures = 0
        self._told: dict[str, str | None] = {}
        self._unrecorded: list[tuple[int, ...]] = []
        self.due = 0.0
        self.is_troubled = False
        self._is_read = False
        self._limit = rules.limit.text if rules.limit else ""
        self._wakes = None
        if rules.receipts is not None:
            receipts = ReceiptState(state, source.address, rules.receipts.clocks)
            self._wakes = Wakes(self, receipts, rules.receipts)

    def start(self, *, is_retrying: bool) -> None:
        """Report unfinished deliveries of a former watch; if `is_retrying`, queue again those that were given up."""
        for path in self.state.interrupted(self._source.address):
            self.note(f"interrupted delivery, may arrive twice: {printable(path)}")
        count = self.state.retry_failed(self._source.address) if is_retrying else 0
        if is_retrying and self._wakes is not None:
            count += self._wakes.state.retry_failed()
        if count:
            self.note(f"{count} failed before, tried again")

    def cycle(self) -> None:
        """Fetch, if it is due, and deliver. Raises `StateError` for a damaged state."""
        self.is_troubled = self._is_read = False
        try:
            self._record()
            if time.monotonic() >= self.due:
                self._poll()
                self._look_at_publisher()
            if self._wakes is None:
                self._deliver()
            else:
                self._wake(self._wakes)
            self._tell_once("state", None)
        except UnwritableError as error:
            self.is_troubled = True
            self.due = min(self.due, time.monotonic() + self.rules.interval)
            self._tell_once("state", f"the state cannot be written, nothing is lost: {error}")

    def _wake(self, wakes: "Wakes") -> None:
        """Announce what is new, then again what is not received."""
        wakes.begin_round()
        self._deliver()
        wakes.run()
        self.is_troubled |= wakes.is_troubled
        waiting = f"{wakes.limited} more wait to be announced again: the limit is {self._limit}"
        self._tell_once("limit again", waiting if wakes.limited else None)

    # Fetching

    def _poll(self) -> None:
        known = self.state.feed(self._source.address)
        now = time.time()
        alone = policy.time_alone(known.not_before, now)
        if alone:
            self.due = time.monotonic() + alone
            self.is_troubled = True
            self._tell_once("feed", f"asks to wait {policy.duration(alone)} (Retry-After)")
            return
        is_conditional = known.etag is not None and known.unchanged % UNCONDITIONAL_EACH != UNCONDITIONAL_EACH - 1
        with self.signals.interruptible():
            answer = self._source.read(known, is_conditional=is_conditional)
            if isinstance(answer, Fetched):
                answer, items = self._read(answer)
        if isinstance(answer, Fetched):
            self._commit(known, answer, items)
            # sources that could not be read; the memos that are known are announced all the same
            self.is_troubled |= bool(answer.problems)
            self._tell_once("sources", "; ".join(map(printable, answer.problems)) or None)
        elif isinstance(answer, Unchanged):
            unchanged = known.unchanged + 1
            self.state.note(self._source.address, error=None, unchanged=unchanged, not_before=None, now=now)
        if isinstance(answer, Failed):
            self._fail(answer, known)
        else:
            self._failures = 0
            self._is_read = True
            self.due = 0.0  # at the next round, one interval after this one began
            self._tell_once("feed", None)

    def _read(self, answer: Fetched) -> tuple[Fetched | Failed, tuple[ReceivedItem, ...]]:
        """The items of a feed and of the archives that have to be read with it."""
        document = read_document(answer.data)
        if isinstance(document, Rejected):
            return Failed(reason=document.reason), ()
        if answer.is_whole:
            document = replace(document, previous=None)
        address = self._source.address
        wanted = self._wakes.wanted() if self._wakes is not None else frozenset[str]()
        items = policy.walk(
            document,
            answer.address,
            unknown=lambda guids: self.state.unknown(address, guids),
            get=self._source.get,
            bounds=self.rules.bounds,
            wanted=wanted,
        )
        if self._wakes is not None and not isinstance(items, Failed):
            self._wakes.searched(wanted, items)
        if isinstance(items, Failed):
            return items, ()
        # What a publisher names in a repo of ours; a feed made of the repos names what they have.
        is_of_repo = not answer.is_whole and self._source.repo_of("") is not None
        return answer, tuple(replace(item, is_of_repo=is_of_repo) for item in items)

    def _commit(self, known: FeedState, answer: Fetched, items: Sequence[ReceivedItem]) -> None:
        rules = self.rules
        fates: list[tuple[ReceivedItem, Fate]] = [
            (item, policy.fate(item, since=rules.since, is_first=not known.is_known, only_asked=rules.only_asked))
            for item in items
        ]
        feed = replace(known, etag=answer.etag, last_modified=answer.last_modified, ledger=answer.ledger)
        for item, what in self.state.commit(feed, fates, time.time()):
            if what == "refused":
                self.is_troubled = True
                self.say(f"refused: {refusal(item)}: {printable(item.path)[:200]} ({printable(item.guid)})")

    def _fail(self, answer: Failed, known: FeedState) -> None:
        self.is_troubled = True
        self._failures += 1
        seconds = policy.pause(self.rules.interval, self._failures, answer.wait)
        self.due = time.monotonic() + seconds
        now = time.time()
        not_before = now + seconds if answer.wait else None
        again = "run it again" if self.rules.is_once else f"asked again in {policy.duration(seconds)}"
        advice = f"no feed is at this address; {_NO_FEED}" if answer.is_missing else "nothing is lost"
        self._tell_once("feed", f"{answer.reason}; {advice}, {again}", answer.reason)
        unchanged = known.unchanged + 1
        self.state.note(self._source.address, error=answer.reason, unchanged=unchanged, not_before=not_before, now=now)

    def _look_at_publisher(self) -> None:
        if self.rules.max_age is None:
            return
        with self.signals.interruptible():
            problem = self._source.problem(self.rules.max_age, dt.datetime.now(dt.UTC))
        self.is_troubled |= problem is not None
        self._tell_once("publisher", problem, problem and problem[:20])

    # Delivering

    def _deliver(self) -> None:
        while not self._unrecorded:
            self.signals.check()
            allowed = self.allowed()
            count = min(allowed, 10_000) if self.rules.is_batch else 1
            waiting = self.state.pending(self._source.address, max(1, count))
            if not waiting or not allowed:
                more = self.state.counts(self._source.address).get("pending", 0) if waiting else 0
                self._tell_once("limit", f"{more} more wait: the limit is {self._limit}" if more else None)
                return
            if self._wakes is not None:
                looked = [(memo, self._wakes.look(memo.number, memo.item)) for memo in waiting]
                waiting = tuple(one for one, receipt in looked if receipt not in {"received", "unseen"})
                if any(receipt == "unseen" for _, receipt in looked):
                    return  # the order stays, and nothing is lost
            if waiting and not self._deliver_some(waiting):
                return

    def allowed(self) -> int:
        """How many memos may be delivered now."""
        limit, now = self.rules.limit, time.time()
        if limit is None:
            return 10_000
        return max(0, limit.count - self.state.tried(self._source.address, now - limit.seconds, now))

    def _deliver_some(self, waiting: Sequence[Delivery]) -> bool:
        """Deliver these together; return whether to continue."""
        numbers = tuple(one.number for one in waiting)
        memos = [self.located(one.item) for one in waiting]
        if self._wakes is not None:
            memos = [replace(memo, announced=0) for memo in memos]
        self.state.begin(numbers, time.time())
        try:
            outcome = self.deliverer.deliver(memos)
        except OSError:
            self.state.give_back(numbers, tries=0, retries=self.rules.retries)
            raise
        retries = self.rules.retries
        if outcome.reason is None:
            self._unrecorded.append(numbers)
            self._record()
        else:
            self.state.give_back(numbers, tries=int(outcome.is_try), retries=retries)
        if self._wakes is not None:
            self._wakes.state.count_first()
        if outcome.reason is None:
            return True
        self.is_troubled = True
        tries = [one.tries + int(outcome.is_try) for one in waiting]
        given_up = [memo for memo, count in zip(memos, tries, strict=True) if count >= retries]
        rest = [memo for memo, count in zip(memos, tries, strict=True) if count < retries]
        if given_up:
            self.say(f"failed after {max(tries)} tries: {_named(given_up)}: {outcome.reason} (--retry-failed)")
        if rest:
            again = f"try {max(count for count in tries if count < retries)} of {retries}"
            again = again if outcome.is_try else "it waits"
            self.say(f"not delivered, {again}: {_named(rest)}: {outcome.reason}")
        return not rest

    def _record(self) -> None:
        """Record what was delivered. Until that works, nothing else is delivered: it would come twice."""
        while self._unrecorded:
            self.state.finish(self._unrecorded[0])
            self._unrecorded.pop(0)
        if self._wakes is not None:
            self._wakes.record()

    def receipt_of(self, item: ReceivedItem) -> Receipt:
        """Whether a memo is received."""
        return look(item, self._source.repo_of(item.field("repo")), is_read=self._is_read)

    def located(self, item: ReceivedItem) -> AnnouncedMemo:
        """A memo with the place where it is now."""
        repo: Path | None = self._source.repo_of(item.field("repo"))
        if repo is None:
            return AnnouncedMemo(feed=self._source.address, item=item, path=item.path)
        found = locate(repo, item.path)
        if found.file is None:
            self.note(f"not found in {repo}: {printable(item.path)}")
        elif found.has_moved:
            self.note(f"moved: {printable(item.path)} is now {printable(found.path)}")
        return AnnouncedMemo(feed=self._source.address, item=item, path=found.path, file=found.file)

    # Reporting

    def say(self, text: str) -> None:
        """Print an error."""
        self._say(f"{printable(self._source.address)}: {text}")

    def note(self, text: str) -> None:
        """Print information."""
        self._note(f"{printable(self._source.address)}: {text}")

    def _tell_once(self, subject: str, text: str | None, key: str | None = None) -> None:
        """Report a problem when it begins and when it ends, not at every poll."""
        key = key or text
        if self._told.get(subject) == key:
            return
        if text is not None:
            self.say(text)
        elif not subject.startswith("limit"):
            self.note(f"{subject}: works again")
        self._told[subject] = key


_Record = Callable[[Sequence[Waiting]], None]


class Wakes:
    """The announced memos of one feed that are not received.

    `is_troubled` marks a failure in this round, `limited` counts memos that are due and wait for the limit.
    """

    def __init__(self, watcher: Watcher, state: ReceiptState, rules: ReceiptRules) -> None:
        """Go on where the state ends."""
        self._watcher = watcher
        self.state = state
        self._rules = rules
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
        return frozenset(memo.item.guid for memo in self.state.waiting()) - self._nowhere

    def searched(self, wanted: frozenset[str], found: Sequence[ReceivedItem]) -> None:
        """Note which memos the feed and its archives do not have: they are not searched for in every round."""
        self._nowhere |= wanted - {item.guid for item in found}

    def begin_round(self) -> None:
        """Take up pending memos, and let go those that the feed says are read."""
        self.is_troubled, self.limited = False, 0
        self._began = self.state.now()
        self.state.begin_round()
        self.state.count_first()
        self._settle([memo for memo in self.state.waiting() if is_out_of_inbox(memo.item)], "received")

    def look(self, number: int, item: ReceivedItem) -> Receipt:
        """Look at a memo before its first announcement; if it is received, there will be none."""
        receipt = self._watcher.receipt_of(item)
        if receipt == "received":
            self.state.settle([number], "received")
            self._watcher.note(f"received before it was announced: {printable(item.path)}")
        elif receipt == "unseen":
            self._unseen(1, item)
        return receipt

    def run(self) -> None:
        """Announce or escalate what is due."""
        due = [memo for memo in self.state.waiting() if self._is_due(memo)]
        unseen: list[Waiting] = []
        for some in [due] if self._watcher.rules.is_batch else [[one] for one in due]:
            looked = []
            for memo in some:
                self._watcher.signals.check()
                looked.append((memo, self._watcher.receipt_of(memo.item)))
            unseen += [one for one, receipt in looked if receipt == "unseen"]
            for stage in ("received", "unknown"):
                self._settle([one for one, receipt in looked if receipt == stage], stage)
            waiting = [one for one, receipt in looked if receipt == "waiting"]
            self._announce([one for one in waiting if one.announced <= len(self._rules.again)])
            self._escalate([one for one in waiting if one.announced > len(self._rules.again)])
        if unseen:
            self._unseen(len(unseen), unseen[0].item)

    def _is_due(self, one: Waiting) -> bool:
        """Whether its delay had passed when the round began: no round announces a memo twice."""
        delays = self._rules.again
        return one.announced > 0 and self._began - one.at >= delays[min(one.announced, len(delays)) - 1]

    def _settle(self, some: Sequence[Waiting], stage: Stage) -> None:
        if some:
            self.state.settle([memo.number for memo in some], stage)

    def _unseen(self, count: int, item: ReceivedItem) -> None:
        self.is_troubled = True
        what = printable(item.path) if count == 1 else f"{count} memos"
        self._watcher.note(f"not announced now, it cannot be seen whether it is received: {what}")

    def _announce(self, some: Sequence[Waiting]) -> None:
        allowed = self._watcher.allowed() if some else 0
        self.limited += max(0, len(some) - allowed)
        self._deliver(some[:allowed], self._watcher.deliverer, done=self._announced, lost=self._announced)

    def _announced(self, some: Sequence[Waiting]) -> None:
        self.state.announced([memo.number for memo in some], self.state.now())

    def _escalate(self, some: Sequence[Waiting]) -> None:
        if self._rules.escalate is None:
            self._escalated(some)
        else:
            lost = partial(self._settle, stage="failed")
            self._deliver(some, self._rules.escalate, done=self._escalated, lost=lost)

    def _escalated(self, some: Sequence[Waiting]) -> None:
        self._settle(some, "escalated")
        for memo in some:
            what = "escalated" if self._rules.escalate else "not announced any more"
            self._watcher.say(f"not received after {memo.announced} announcements, {what}: {printable(memo.item.path)}")

    def _deliver(self, some: Sequence[Waiting], deliverer: Deliverer, *, done: _Record, lost: _Record) -> None:
        """Run a deliverer, and record what was `done`; or what is `lost`, for want of further tries."""
        if not some:
            return
        numbers = [memo.number for memo in some]
        memos = [replace(self._watcher.located(memo.item), announced=memo.announced) for memo in some]
        self._watcher.state.begin(numbers, time.time())
        try:
            outcome = deliverer.deliver(memos)
        except OSError:
            self.state.give_back(numbers, tries=0)
            raise
        if outcome.reason is None:
            self._unrecorded.append(partial(done, some))
            self.record()
            return
        self.is_troubled = True
        tries = [memo.tries + int(outcome.is_try) for memo in some]
        given_up = [one for one, count in zip(some, tries, strict=True) if count >= self._watcher.rules.retries]
        lost(given_up)
        rest = [memo.number for memo in some if memo not in given_up]
        self.state.give_back(rest, tries=int(outcome.is_try))
        again = "tried again" if rest else f"failed after {max(tries)} tries"
        self._watcher.say(f"not delivered, {again}: {_named(memos)}: {outcome.reason}")


def _named(memos: Sequence[AnnouncedMemo]) -> str:
    return printable(memos[0].path) if len(memos) == 1 else f"{len(memos)} memos"


# Looks whether a memo is received: committed, or out of `inbox/`, no matter who did it (FEEDS, receipts).


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
