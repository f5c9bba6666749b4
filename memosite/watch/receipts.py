"""[I/O] Looks whether a memo is received: committed, or out of `inbox/`, no matter who did it (FEEDS, receipts)."""

from pathlib import Path
from typing import Literal

from memosite.feeds.document import ReceivedItem
from memosite.sources.git import GitError, Repo, git
from memosite.sources.repos import holding_repo
from memosite.watch.locate import locate, places

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
