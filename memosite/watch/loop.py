"""[I/O] Watches one feed: fetches it, commits new items to the state, delivers pending ones."""

import datetime as dt
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from memosite.facts.characters import printable
from memosite.feeds.document import ReceivedItem, Rejected, read_document, refusal
from memosite.fetch import Failed, Fetched, Unchanged
from memosite.watch.deliver import AnnouncedMemo, Deliverer, Signals, locate
from memosite.watch.policy import (
    UNCONDITIONAL_EACH,
    Bounds,
    Fate,
    Limit,
    Since,
    duration,
    fate,
    pause,
    time_alone,
    walk,
)
from memosite.watch.sources import FeedSource
from memosite.watch.state import Delivery, FeedState, ReceiptState, UnwritableError, WatchState
from memosite.watch.wakes import ReceiptRules, Round, Wakes, look


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRules:
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
        self._state = state
        self._deliverer = deliverer
        self._rules = rules
        self._signals = signals
        self._say = say
        self._note = note
        self._failures = 0
        self._told: dict[str, str | None] = {}
        self._unrecorded: list[tuple[int, ...]] = []
        self.due = 0.0
        self.is_troubled = False
        self._is_read = False
        self._wakes = None if rules.receipts is None else self._waking(rules.receipts)

    def _waking(self, rules: ReceiptRules) -> Wakes:
        round_ = Round(
            deliverer=self._deliverer,
            look=lambda item: look(item, self._source.repo_of(item.field("repo")), is_read=self._is_read),
            located=self._located,
            allowed=self._allowed,
            check=self._signals.check,
            say=lambda text: self._tell(self._say, text),
            note=lambda text: self._tell(self._note, text),
            retries=self._rules.retries,
            is_batch=self._rules.is_batch,
        )
        return Wakes(ReceiptState(self._state, self._source.address, rules.clocks), rules, round_)

    def start(self, *, is_retrying: bool) -> None:
        """Report unfinished deliveries of a former watch; if `is_retrying`, queue again those that were given up."""
        for path in self._state.interrupted(self._source.address):
            self._tell(self._note, f"interrupted delivery, may arrive twice: {printable(path)}")
        count = self._state.retry_failed(self._source.address) if is_retrying else 0
        if is_retrying and self._wakes is not None:
            count += self._wakes.retry_failed()
        if count:
            self._tell(self._note, f"{count} failed before, tried again")

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
            self.due = min(self.due, time.monotonic() + self._rules.interval)
            self._tell_once("state", f"the state cannot be written, nothing is lost: {error}")

    def _wake(self, wakes: Wakes) -> None:
        """Announce what is new, then again what is not received."""
        wakes.begin_round()
        self._deliver()
        wakes.run()
        self.is_troubled |= wakes.is_troubled
        limit = self._rules.limit.text if self._rules.limit else ""
        waiting = f"{wakes.limited} more wait to be announced again: the limit is {limit}"
        self._tell_once("limit again", waiting if wakes.limited else None)

    # Fetching

    def _poll(self) -> None:
        known = self._state.feed(self._source.address)
        now = time.time()
        alone = time_alone(known.not_before, now)
        if alone:
            self.due = time.monotonic() + alone
            self.is_troubled = True
            self._tell_once("feed", f"asks to wait {duration(alone)} (Retry-After)")
            return
        is_conditional = known.etag is not None and known.unchanged % UNCONDITIONAL_EACH != UNCONDITIONAL_EACH - 1
        with self._signals.interruptible():
            answer = self._source.read(known, is_conditional=is_conditional)
            if isinstance(answer, Fetched):
                answer, items = self._read(answer)
        if isinstance(answer, Fetched):
            self._commit(known, answer, items)
            self._tell_problems(answer.problems)
        elif isinstance(answer, Unchanged):
            unchanged = known.unchanged + 1
            self._state.note(self._source.address, error=None, unchanged=unchanged, not_before=None, now=now)
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
        items = walk(
            document,
            answer.address,
            unknown=lambda guids: self._state.unknown(address, guids),
            get=self._source.get,
            bounds=self._rules.bounds,
            wanted=wanted,
        )
        if self._wakes is not None and not isinstance(items, Failed):
            self._wakes.searched(wanted, items)
        return (items, ()) if isinstance(items, Failed) else (answer, items)

    def _commit(self, known: FeedState, answer: Fetched, items: Sequence[ReceivedItem]) -> None:
        rules = self._rules
        fates: list[tuple[ReceivedItem, Fate]] = [
            (item, fate(item, since=rules.since, is_first=not known.is_known, only_asked=rules.only_asked))
            for item in items
        ]
        feed = replace(known, etag=answer.etag, last_modified=answer.last_modified, ledger=answer.ledger)
        for item, what in self._state.commit(feed, fates, time.time()):
            if what == "refused":
                self.is_troubled = True
                self._tell(
                    self._say, f"refused: {refusal(item)}: {printable(item.path)[:200]} ({printable(item.guid)})"
                )

    def _tell_problems(self, problems: Sequence[str]) -> None:
        """Report sources that could not be read; the memos that are known are announced all the same."""
        self.is_troubled |= bool(problems)
        self._tell_once("sources", "; ".join(map(printable, problems)) or None)

    def _fail(self, answer: Failed, known: FeedState) -> None:
        self.is_troubled = True
        self._failures += 1
        seconds = pause(self._rules.interval, self._failures, answer.wait)
        self.due = time.monotonic() + seconds
        now = time.time()
        not_before = now + seconds if answer.wait else None
        again = "run it again" if self._rules.is_once else f"asked again in {duration(seconds)}"
        self._tell_once("feed", f"{answer.reason}; nothing is lost, {again}", answer.reason)
        unchanged = known.unchanged + 1
        self._state.note(self._source.address, error=answer.reason, unchanged=unchanged, not_before=not_before, now=now)

    def _look_at_publisher(self) -> None:
        if self._rules.max_age is None:
            return
        with self._signals.interruptible():
            problem = self._source.problem(self._rules.max_age, dt.datetime.now(dt.UTC))
        self.is_troubled |= problem is not None
        self._tell_once("publisher", problem, problem and problem[:20])

    # Delivering

    def _deliver(self) -> None:
        while not self._unrecorded:
            self._signals.check()
            allowed = self._allowed()
            count = min(allowed, 10_000) if self._rules.is_batch else 1
            waiting = self._state.pending(self._source.address, max(1, count))
            if not waiting or not allowed:
                self._tell_waiting(bool(waiting))
                return
            if self._wakes is not None:
                looked = [(one, self._wakes.look(one.number, one.item)) for one in waiting]
                waiting = tuple(one for one, receipt in looked if receipt not in {"received", "unseen"})
                if any(receipt == "unseen" for _, receipt in looked):
                    return  # the order stays, and nothing is lost
            if waiting and not self._deliver_some(waiting):
                return

    def _allowed(self) -> int:
        limit, now = self._rules.limit, time.time()
        if limit is None:
            return 10_000
        return max(0, limit.count - self._state.tried(self._source.address, now - limit.seconds, now))

    def _tell_waiting(self, is_limited: bool) -> None:  # noqa: FBT001 - private
        count = self._state.counts(self._source.address).get("pending", 0) if is_limited else 0
        limit = self._rules.limit.text if self._rules.limit else ""
        self._tell_once("limit", f"{count} more wait: the limit is {limit}" if count else None)

    def _deliver_some(self, waiting: Sequence[Delivery]) -> bool:
        """Deliver these together; return whether to continue."""
        numbers = tuple(one.number for one in waiting)
        memos = [self._located(one.item) for one in waiting]
        if self._wakes is not None:
            memos = [replace(memo, announced=0) for memo in memos]
        self._state.begin(numbers, time.time())
        try:
            outcome = self._deliverer.deliver(memos)
        except OSError:
            self._state.give_back(numbers, tries=0, retries=self._rules.retries)
            raise
        if outcome.reason is None:
            self._unrecorded.append(numbers)
            self._record()
            self._count_first()
            return True
        self._state.give_back(numbers, tries=int(outcome.is_try), retries=self._rules.retries)
        self._count_first()
        self.is_troubled = True
        retries = self._rules.retries
        tries = [one.tries + int(outcome.is_try) for one in waiting]
        given_up = [memo for memo, count in zip(memos, tries, strict=True) if count >= retries]
        rest = [memo for memo, count in zip(memos, tries, strict=True) if count < retries]
        if given_up:
            self._tell(
                self._say, f"failed after {max(tries)} tries: {_named(given_up)}: {outcome.reason} (--retry-failed)"
            )
        if rest:
            again = f"try {max(count for count in tries if count < retries)} of {retries}"
            again = again if outcome.is_try else "it waits"
            self._tell(self._say, f"not delivered, {again}: {_named(rest)}: {outcome.reason}")
        return not rest

    def _count_first(self) -> None:
        if self._wakes is not None:
            self._wakes.count_first()

    def _record(self) -> None:
        """Record what was delivered. Until that works, nothing else is delivered: it would come twice."""
        while self._unrecorded:
            self._state.finish(self._unrecorded[0])
            self._unrecorded.pop(0)
        if self._wakes is not None:
            self._wakes.record()

    def _located(self, item: ReceivedItem) -> AnnouncedMemo:
        repo: Path | None = self._source.repo_of(item.field("repo"))
        if repo is None:
            return AnnouncedMemo(feed=self._source.address, item=item, path=item.path)
        found = locate(repo, item.path)
        if found.file is None:
            self._tell(self._note, f"not found in {repo}: {printable(item.path)}")
        elif found.has_moved:
            self._tell(self._note, f"moved: {printable(item.path)} is now {printable(found.path)}")
        return AnnouncedMemo(feed=self._source.address, item=item, path=found.path, file=found.file)

    # Reporting

    def _tell(self, channel: Callable[[str], None], text: str) -> None:
        channel(f"{printable(self._source.address)}: {text}")

    def _tell_once(self, subject: str, text: str | None, key: str | None = None) -> None:
        """Report a problem when it begins and when it ends, not at every poll."""
        key = key or text
        if self._told.get(subject) == key:
            return
        if text is not None:
            self._tell(self._say, text)
        elif not subject.startswith("limit"):
            self._tell(self._note, f"{subject}: works again")
        self._told[subject] = key


def _named(memos: Sequence[AnnouncedMemo]) -> str:
    return printable(memos[0].path) if len(memos) == 1 else f"{len(memos)} memos"
