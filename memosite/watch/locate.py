"""[I/O] Finds an announced memo in a repo: at the feed's path, else in a sibling mailbox."""

from dataclasses import dataclass
from pathlib import Path

from memosite.facts.layout import MAILBOXES


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """Where a memo is: `path` in the repo, `file` on disk (None if it is nowhere), and whether it `has_moved`."""

    path: str
    file: Path | None = None
    has_moved: bool = False


def locate(repo: Path, path: str) -> Located:
    """Find a memo by its path in a repo; a link that leads out of the repo is not followed."""
    try:
        root = repo.resolve()
        for candidate in places(path):
            file = (root / candidate).resolve()
            if file.is_file() and file.is_relative_to(root):
                return Located(path=candidate, file=root / candidate, has_moved=candidate != path)
    except (OSError, RuntimeError, ValueError):  # a name too long, a loop of links
        pass
    return Located(path=path)


def places(path: str) -> tuple[str, ...]:
    """The path of a memo, and those it may have moved to: the other mailboxes of its store."""
    folder, _, name = path.rpartition("/")
    above, _, mailbox = folder.rpartition("/")
    store = above if mailbox in MAILBOXES else folder
    others = (*(f"{store}/{other}/{name}" for other in MAILBOXES), f"{store}/{name}")
    return tuple(dict.fromkeys((path, *(place.removeprefix("/") for place in others))))
