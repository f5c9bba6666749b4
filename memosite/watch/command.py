"""[I/O] `memosite watch`: makes watchers from its options, and runs them in rounds until it is stopped."""

import argparse
import hashlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

from memosite.config.loading import load_config
from memosite.facts.characters import printable_json
from memosite.facts.errors import ConfigError
from memosite.store.cache import state_home
from memosite.watch.deliver import Deliverer, Printer, Runner, Signals, StoppedError
from memosite.watch.loop import AGAIN, ReceiptRules, Watcher, WatchRules
from memosite.watch.policy import duration
from memosite.watch.sources import FeedSource, PositionFeed, PublishedFeed
from memosite.watch.state import Stage, WatchState, counts, open_state, read_state

Tell = Callable[[str], None]


_STAGE_NAMES: dict[Stage, str] = {
    "waiting": "waited for",
    "received": "received",
    "unknown": "unknown",
    "escalated": "escalated",
    "failed": "failed to escalate",
}


def watch(options: argparse.Namespace, show: Tell, tell: Tell) -> bool:
    """Run the command; whether nothing failed. `show` prints the output, `tell` messages for people."""
    if options.status:
        return _status(options, show)
    _check(options)

    def say(text: str) -> None:
        tell(f"memosite watch: {text}")

    with ExitStack() as stack:
        signals = stack.enter_context(Signals())
        try:
            watchers = _watchers(options, signals, stack, say=say)
            return _run(watchers, signals, interval=options.interval, is_once=options.once)
        except StoppedError:
            if signals.number == signal.SIGINT:
                raise KeyboardInterrupt from None
            return True


def _run(watchers: Sequence[Watcher], signals: Signals, *, interval: float, is_once: bool) -> bool:
    while True:
        started = time.monotonic()
        for watcher in watchers:
            signals.check()
            watcher.cycle()
        signals.check()
        if is_once:
            return not any(watcher.is_troubled for watcher in watchers)
        signals.sleep(started + interval - time.monotonic())


def _check(options: argparse.Namespace) -> None:
    if options.position and options.feeds:
        raise ConfigError(f"--position {options.position}: found {options.feeds[0]}, too; watch one or the other")
    if not options.position and not options.feeds:
        raise ConfigError("watch: found no feed, expected FEED, or --position with --site")
    if options.site_option and not options.position:
        raise ConfigError(f"--site {options.site_option}: expected --position with it")
    if options.batch and not options.command:
        raise ConfigError("--batch: expected --exec with it")
    for option, command in (("--exec", options.command), ("--escalate", options.escalate)):
        if command and shutil.which(command[0]) is None:
            raise ConfigError(f"{option}: found no command {command[0]}, expected one that can be run")
    if (options.again or options.escalate) and not options.until_received:
        raise ConfigError(f"{'--again' if options.again else '--escalate'}: expected --until-received with it")
    if options.repo and not Path(options.repo).is_dir():
        raise ConfigError(f"--repo {options.repo}: found no such folder, expected the repo of the memos")


def _watchers(options: argparse.Namespace, signals: Signals, stack: ExitStack, *, say: Tell) -> list[Watcher]:
    escalate = _runner(options.escalate, options, signals) if options.escalate else None
    receipts = ReceiptRules(again=options.again or AGAIN, escalate=escalate)
    rules = WatchRules(
        since=options.since,
        only_asked=options.only == "action",
        is_batch=options.batch,
        is_once=options.once,
        limit=options.limit,
        retries=options.retries,
        interval=options.interval,
        max_age=options.max_age,
        receipts=receipts if options.until_received else None,
    )
    deliverer: Deliverer = Printer(sys.stdout.buffer, is_json=options.json)
    if options.command:
        deliverer = _runner(options.command, options, signals)
    note: Tell = (lambda _: None) if options.quiet else say
    states: dict[Path, WatchState] = {}
    watchers = []
    for source in _sources(options, signals):
        path = state_path(source.address, options.state)
        if path not in states:
            states[path] = open_state(path)
            stack.callback(states[path].close)
        watchers.append(Watcher(source, states[path], deliverer, rules, signals, say=say, note=note))
        watchers[-1].start(is_retrying=options.retry_failed)
    return watchers


def _runner(command: Sequence[str], options: argparse.Namespace, signals: Signals) -> Runner:
    folder = Path(options.repo) if options.repo else None
    # By its absolute path, since it runs in another folder; or by its name, which is looked up each time.
    name = str(Path(command[0]).absolute()) if "/" in command[0] else command[0]
    return Runner((name, *command[1:]), timeout=options.timeout, is_json=options.json, folder=folder, signals=signals)


def _sources(options: argparse.Namespace, signals: Signals) -> list[FeedSource]:
    repo = Path(options.repo).absolute() if options.repo else None
    if options.position:
        site = options.site_option or Path()
        load = partial(load_config, site, cache=options.cache, secrets=options.secrets, audience=options.audience)
        return [PositionFeed(options.position, load, repo, signals.check)]
    from memosite.fetch.client import Fetcher, read_credentials  # noqa: PLC0415 - start-up time is felt

    addresses = list(dict.fromkeys(address_of(feed) for feed in options.feeds))
    fetcher = Fetcher(read_credentials(addresses))
    return [PublishedFeed(address, fetcher, repo) for address in addresses]


def address_of(feed: str) -> str:
    """The address of a feed as the user gives it: http, https, or a file. Raises `ConfigError` for anything else."""
    try:
        parts = urlsplit(feed)
        is_plain = parts.username is None and parts.password is None
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"{feed}: found no address ({error}), expected http, https or a file") from error
    if parts.scheme in {"http", "https"}:
        if not is_plain:
            raise ConfigError("FEED: found a password in an address, where others can see it; put it into ~/.netrc")
        if not host or not feed.isascii() or not feed.isprintable() or " " in feed:
            raise ConfigError(f"{feed!a}: found no host or odd characters, expected an address as browsers copy it")
        return urldefrag(feed).url
    if parts.scheme == "file" and parts.netloc in {"", "localhost"}:
        return f"file://{parts.path}"
    if "://" in feed:
        raise ConfigError(f"{feed!a}: expected http, https or a file")
    return Path(feed).absolute().as_uri()


def state_path(address: str, given: str | None) -> Path:
    """The state file of a feed: the given one, else one for each feed, so that watches do not block each other."""
    if given:
        return Path(os.path.realpath(given))  # a link shares the lock of its target
    name = hashlib.sha256(address.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return state_home() / "watch" / f"{name}.sqlite"


def _status(options: argparse.Namespace, show: Tell) -> bool:
    """The status of the given feeds, or of all, from their states."""
    wanted = None
    if options.position or options.feeds:
        wanted = [source.address for source in _sources(options, Signals())]
    if options.state or wanted is not None:
        paths = list(dict.fromkeys(state_path(address, options.state) for address in wanted or [""]))
    else:
        paths = sorted((state_home() / "watch").glob("*.sqlite"))
    is_fine = True
    for path in paths:
        state = read_state(path)
        try:
            for address in state.addresses():
                if wanted is None or address in wanted:
                    is_fine &= _show_status(state, address, show, is_json=options.json)
        finally:
            state.close()
    return is_fine


def _show_status(state: WatchState, address: str, show: Tell, *, is_json: bool) -> bool:
    feed, fates, failed = state.feed(address), state.counts(address), state.failed(address)
    receipts = counts(state, address)
    is_fine = not failed and not receipts.get("failed")
    now = time.time()
    if is_json:
        every = {fate: fates.get(fate, 0) for fate in ("pending", "done", "failed", "skipped", "refused")}
        value = {"feed": address, "state": str(state.path), "read_at": feed.read_at, "error": feed.error}
        waited = {"receipts": {stage: receipts.get(stage, 0) for stage in _STAGE_NAMES}} if receipts else {}
        show(printable_json(value | every | waited | {"not_delivered": failed}))
        return is_fine
    numbers = ", ".join(f"{fates.get(fate, 0)} {fate}" for fate in ("pending", "done", "failed", "skipped"))
    when = f"read {duration(max(0.0, now - feed.read_at))} ago" if feed.read_at else "never read"
    show(f"{address}: {numbers}; {when}" + (f"; {feed.error}" if feed.error else ""))
    if receipts:
        told = ", ".join(f"{receipts.get(stage, 0)} {name}" for stage, name in _STAGE_NAMES.items())
        show(f"  receipts: {told}")
    for path in failed:
        show(f"  not delivered: {path!a}")
    return is_fine
