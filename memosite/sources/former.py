"""[I/O] Reads from git what files were before, and which commits a text means."""

from collections.abc import Iterable, Iterator

from memosite.sources.git import Repo, git

CONTENT_LIMIT = 2 * 1024 * 1024
"""The largest former content that is read, in bytes."""
CONTENTS_LIMIT = 20_000
"""How many former contents of one source are read."""


def read_contents(repo: Repo, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Former contents of files by their ids, those that are there and not too large."""
    wanted = [id_.encode("ascii") for id_ in list(dict.fromkeys(ids))[:CONTENTS_LIMIT]]
    if not wanted:
        return
    sizes = git(repo, "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", given=_lines(wanted))
    small = [line.split(b" ")[0] for line in sizes.splitlines() if _is_small(line)]
    for start in range(0, len(small), 64):
        batch = small[start : start + 64]
        yield from _contents(git(repo, "cat-file", "--batch", given=_lines(batch)))


def _contents(printed: bytes) -> Iterator[tuple[str, bytes]]:
    place = 0
    while place < len(printed):
        end = printed.index(b"\n", place)
        id_, _, size = printed[place:end].split(b" ")
        yield id_.decode("ascii"), printed[end + 1 : end + 1 + int(size)]
        place = end + 2 + int(size)


def _is_small(line: bytes) -> bool:
    parts = line.split(b" ")
    return len(parts) == 3 and parts[1] == b"blob" and int(parts[2]) <= CONTENT_LIMIT


def find_commits(repo: Repo, written: Iterable[str]) -> dict[str, str]:
    """Full ids of commits by abbreviation, without unknown and ambiguous ones. Raises `GitError` if git fails."""
    asked = list(dict.fromkeys(written))
    if not asked:
        return {}
    given = _lines(f"{one}^{{commit}}".encode("ascii") for one in asked)
    answers = git(repo, "cat-file", "--batch-check=%(objectname) %(objecttype)", given=given).splitlines()
    if len(answers) != len(asked):
        return {}
    pairs = zip(asked, (answer.split(b" ") for answer in answers), strict=True)
    found = {one: answer[0].decode("ascii") for one, answer in pairs if len(answer) == 2 and answer[1] == b"commit"}
    return {one: id_ for one, id_ in found.items() if id_.startswith(one)}  # a branch may have the name of a commit


def _lines(ids: Iterable[bytes]) -> bytes:
    return b"".join(id_ + b"\n" for id_ in ids)
