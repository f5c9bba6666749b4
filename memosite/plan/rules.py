"""What the configuration says about planning."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class FeedRules:
    """What feeds hold: the newest `window`, and those of `days` before the newest; `ttl` in minutes.

    With `full_content` positions have a feed with texts, too; `is_weekly` makes digests of weeks instead of days.
    """

    window: int = 50
    days: int = 30
    ttl: int = 5
    full_content: bool = True
    is_weekly: bool = False
