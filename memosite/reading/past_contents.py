"""[I/O] Reads from git what one file held before, for those who verify citations: also of transcripts, which grow.

The contents pass the screen; one with a secret is left out, as is all that a public audience might not see.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from memosite.archive.history import file_key, paths_of
from memosite.config.schema import Config
from memosite.facts.file import File, clean_text
from memosite.sources.former import read_contents
from memosite.sources.git import GitError, Holding, Repo, git, viewed
from memosite.sources.listing import Source

MOST = 500
"""The most versions of one file that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerContent:
    """A content that a file had, as a text; `commit` is the one that gave it to the file."""

    commit: str
    blob: str
    text: str


class PastContents:
    """The former contents of the files of an archive, read when they are asked for."""

    def __init__(self, config: Config, sources: Mapping[str, Source], stack: ExitStack) -> None:
        """Read from the repos of these sources, by their names, until the stack is closed."""
        is_open = config.audience == "internal"
        self._holdings = {name: source.holding for name, source in sources.items() if is_open}
        self._repos: dict[str, Repo] = {}
        self._stack = stack
        self._allowed = config.secrets.fingerprints

    def commit_of(self, source: str, path: str, blob: str) -> str:
        """The commit that gave a file the content with this id; "" if it is in none, or that is not known."""
        came = ""
        for commit, id_ in self._versions(source, path):
            if id_ == blob:
                came = commit
            elif came:
                break
        return came

    def contents(self, source: str, path: str) -> Iterator[FormerContent]:
        """What a file held, the newest first, each content once with the commit that brought it."""
        from memosite.reading.screen import Screen  # noqa: PLC0415 - most citations need no former content

        screen = Screen(allowed=self._allowed)
        versions = self._versions(source, path)
        first = {blob: commit for commit, blob in versions}  # the oldest commit of each is set last
        repo = self._repo(source)
        if repo is None or not first:
            return
        try:
            for blob, data in read_contents(repo, first):
                screened = screen.file(File(source=source, path=path, data=data))
                if not any(not hit.is_allowed for hit in screened.hits):
                    text = clean_text(data.decode("utf-8", "replace")).removeprefix("\ufeff")
                    yield FormerContent(commit=first[blob], blob=blob, text=text)
        except GitError:  # a partial clone: what is not there cannot be compared
            return

    def _versions(self, source: str, path: str) -> list[tuple[str, str]]:
        """The commits that changed a file, the newest first, each with the id of its content then."""
        holding, repo = self._holdings.get(source), self._repo(source)
        if holding is None or repo is None:
            return []
        paths = [holding.prefix + one for one in paths_of(file_key(path))]
        try:
            listed = git(repo, "rev-list", f"--max-count={MOST}", "--full-history", holding.commit, "--", *paths)
            commits = listed.decode("ascii").split()
            asked = [f"{commit}:{one}" for commit in commits for one in paths]
            given = "".join(f"{one}\n" for one in asked if "\n" not in one).encode("utf-8", "surrogateescape")
            told = git(repo, "cat-file", "--batch-check=%(objectname) %(objecttype)", given=given).split(b"\n")
        except GitError:
            return []
        found: dict[str, str] = {}
        for one, said in zip(asked, told, strict=False):
            id_, _, kind = said.partition(b" ")
            if kind == b"blob":
                found.setdefault(one.partition(":")[0], id_.decode("ascii"))
        return [(commit, found[commit]) for commit in commits if commit in found]

    def _repo(self, source: str) -> Repo | None:
        holding: Holding | None = self._holdings.get(source)
        if holding is None or holding.repo is None:
            return None
        if source not in self._repos:
            self._repos[source] = self._stack.enter_context(viewed(holding.repo))
        return self._repos[source]
