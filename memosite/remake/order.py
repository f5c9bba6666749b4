"""What a build is asked for, and what it tells."""

import datetime as dt
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memosite.config.loading import Config
from memosite.remake.audience import Audience
from memosite.remake.memory import Memory
from memosite.run.progress import Progress

if TYPE_CHECKING:
    from memosite.run.workers import Run

Clock = Callable[[], dt.datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReport:
    """What a build read and did. `kinds` counts artifacts, `findings` those of each severity."""

    kinds: Mapping[str, int]
    sources: int
    findings: Mapping[str, int]
    written: int
    unchanged: int
    removed: int
    collisions: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a build was asked for; see `build`."""

    config: Config
    memory: Memory
    clock: Clock
    jobs: int
    use_network: bool
    previous: str | None
    run_elsewhere: "Run | None"
    progress: Progress
    audience: Audience
    changed: Iterable[str] | None


def status_bytes(value: Mapping[str, object]) -> bytes:
    """What `status.json` holds."""
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def in_utc(now: dt.datetime) -> str:
    """A time as `status.json` tells it."""
    return now.astimezone(dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
