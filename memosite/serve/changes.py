"""[I/O] Watches the files that a site is made from, by the system's file events.

Folders are watched one by one, not as trees: a published site has more folders than a system lets one watch, and it
may be inside a watched folder. Folders that are new are watched from the next change on, which is the one
that made them.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

from watchfiles import Change, watch

from memosite.config.loading import Config
from memosite.facts.layout import SKIPPED_FOLDERS, UNREAD_FOLDERS
from memosite.sources.manuscripts import manuscript_folders
from memosite.sources.repos import holding_repo

_SETTLED_MS = 50  # no event for so long: the writing is done
_LONGEST_MS = 400  # … or writes so much that some of it is shown in between
_QUIET_MS = 1_000
_GIT_STATE = frozenset({"HEAD", "index", "packed-refs"})


def each_change(
    current: Callable[[], Config], stop: Event, *, is_due: Callable[[], bool]
) -> Iterator[frozenset[str] | None]:
    """Yield the paths of each change, until `stop` is set; `current` gives the configuration as it is then.

    None says that it is not known what has changed: so it is when nothing happens although something `is_due`.

    The first time, when nothing has happened for a moment after the watch began, what changed before it did is found
    by looking. A folder that was removed and created again, under the same name, is watched again.
    """
    while not stop.is_set():
        config = current()
        folders = watched_folders(config)
        events = watch(
            *folders,
            watch_filter=_filter(config),
            debounce=_LONGEST_MS,
            step=_SETTLED_MS,
            stop_event=stop,
            rust_timeout=_QUIET_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
        )
        is_first = True
        for changes in events:
            if changes or is_first or is_due():
                paths = frozenset(path for _, path in changes)
                yield None if is_first or not paths else paths
                is_first = False
                if watched_folders(current()) != folders or not paths.isdisjoint(map(str, folders)):
                    break


def watched_folders(config: Config) -> tuple[Path, ...]:
    """Every folder whose entries count: of sources, their repos' state, manuscripts, the theme, and the site's own."""
    found = {config.site}
    for root in (source.root for source in config.sources if source.root is not None):
        found.update(_below(root, config, unread=UNREAD_FOLDERS | SKIPPED_FOLDERS))
        found.update(_git_folders(root, config))
    found.update(manuscript_folders(config.site, config.citations, holes=config.written))
    if config.theme is not None:
        found.update(_below(config.theme, config, unread=UNREAD_FOLDERS))
    return tuple(sorted(folder for folder in found if folder.is_dir()))


def _below(root: Path, config: Config, *, unread: frozenset[str]) -> Iterator[Path]:
    pending = [root]
    while pending:
        folder = pending.pop()
        yield folder
        try:
            with os.scandir(folder) as entries:
                names = [one.name for one in entries if one.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        below = (folder / name for name in names if name not in unread)
        pending += [path for path in below if path not in config.written]


def _git_folders(root: Path, config: Config) -> Iterator[Path]:
    """The folders in which a commit, or a change of the index, shows."""
    repo = holding_repo(root, site=config.site, enclosing=config.history == "enclosing").repo
    if repo is not None:
        yield repo.git_dir
        for folder, _, _ in os.walk(repo.git_dir / "refs"):
            yield Path(folder)


def _filter(config: Config) -> Callable[[Change, str], bool]:
    ours = tuple(str(folder) for folder in config.written)

    def counts(_change: Change, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        if path in ours or path.startswith(tuple(f"{one}/" for one in ours)):
            return False
        if folder.rpartition("/")[2] == ".git":
            return name in _GIT_STATE
        return not name.endswith(".lock")

    return counts
