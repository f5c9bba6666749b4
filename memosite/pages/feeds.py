"""Defines the parts of the page that lists feeds (see `pages`)."""

from dataclasses import dataclass

from memosite.pages.parts import Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedGroup:
    """Feeds under a heading: the subject of each, and its documents; `total` counts those that are not listed, too."""

    heading: str
    rows: tuple[tuple[Reference, tuple[Reference, ...]], ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribing:
    """Arguments of the commands for subscribing, quoted for a shell: the feed of a position, that with texts, its name.

    `subject` is that position; `choices` lead to the commands of each, and have the first one and its name. `outline`
    and `thread_outline` are the lists of feeds. `is_local` says that the site knows no address of its own, so that the
    commands name one on this machine.
    """

    outline: Reference
    thread_outline: Reference
    example: str
    example_full: str
    name: str
    subject: str
    choices: tuple[tuple[Reference, str, str], ...]
    is_local: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """How to follow a position, ready to copy: commands, and a subscription list.

    `is_local` says that the site knows no address of its own, so that they name one on this machine.
    """

    watch_once: str
    watch: str
    run: str
    mail: str
    opml: str
    is_local: bool
