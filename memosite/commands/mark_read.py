"""[I/O] Marks memos as read: moves envelope and body together with `git mv`; the one command that writes to a source.

Everything is checked before anything is moved. A repo's hooks, filters and configuration run nothing here either
(SPEC 2.3): a commit is made of the moved files alone, whatever else is staged, and
git never sees the work tree (`sources/git.py`).
"""

import argparse
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

from memosite.commands.arguments import Tell
from memosite.commands.places import shown_path
from memosite.facts.characters import printable
from memosite.facts.errors import MemositeError
from memosite.facts.layout import MAILBOXES, place_of
from memosite.facts.names import BODY_SUFFIX, ENVELOPE_SUFFIX, stem_of
from memosite.facts.values import Value
from memosite.sources.folder import repo_at, special_file
from memosite.sources.git import (
    CONFIG_BYTES,
    GitError,
    Repo,
    Staged,
    change_index,
    common_folder,
    configured,
    git,
    read_config,
    staged,
    tree_after,
)
from memosite.store.safe_files import beginning_of


def run(options: argparse.Namespace, show: Tell, _say: Tell) -> None:
    """Move the memos that the command line names, and show what was moved."""
    for done in mark(options.files, box="archive" if options.archive else "read", commit=options.commit):
        for line in _lines(done) if not options.quiet else ():
            show(printable(line))


class MarkError(MemositeError):
    """A memo that cannot be marked; nothing was moved."""


class Move(Value):
    """One file to be moved, as paths from the top of its repo."""

    old: str
    new: str


class Marked(Value):
    """What was done in one repo: the files moved, those that were there already, and the commit, if one was made."""

    top: Path
    moves: tuple[Move, ...]
    already: tuple[str, ...] = ()
    commit: str = ""


def mark(files: Iterable[Path], *, box: str = "read", commit: bool = False) -> list[Marked]:
    """Move memos to a mailbox, `read` or `archive`, and perhaps commit that. Raises `MarkError` before anything moves.

    Each file is an envelope or its body; the other one goes along. What is there already is left alone, but that a run
    that was killed is finished: the index is changed first, then files move, then that is committed.
    """
    by_top: dict[Path, tuple[Repo, list[str]]] = {}
    for file in files:
        repo, path = _find(file, box)
        by_top.setdefault(repo.top or repo.git_dir, (repo, []))[1].append(path)
    for repo, _ in by_top.values():
        _refuse_special(repo)
    planned = [(repo, *_plan(repo, paths, box, commit=commit)) for repo, paths in by_top.values()]
    for repo, moves, _ in planned:
        if commit and moves:
            _identity(repo)  # better checked before anything is moved
    done = []
    for repo, moves, already in planned:
        _move(repo, moves)
        made = _commit(repo, moves, box) if commit and moves else ""
        done.append(Marked(top=repo.top or repo.git_dir, moves=moves, already=already, commit=made))
    return done


def _lines(done: Marked) -> Iterator[str]:
    """What was done in one repo, a line each."""
    for path in done.already:
        yield f"{shown_path(done.top / path)} is there already"
    for move in done.moves:
        yield f"{shown_path(done.top / move.old)} -> {shown_path(done.top / move.new)}"
    if done.commit:
        yield f"committed {done.commit[:8]}"


def _find(file: Path, box: str) -> tuple[Repo, str]:
    """The repo of a file, and its path in it; a file that is not there may have moved to the mailbox already."""
    is_gone = not os.path.lexists(file)
    if not is_gone and (file.is_symlink() or not file.is_file()):
        found = "a symbolic link" if file.is_symlink() else "a folder" if file.is_dir() else "a special file"
        raise MarkError(f"{file}: found {found}, expected a memo's .openthing file or its body")
    whole = Path(os.path.realpath(file.parent)) / file.name
    for folder in whole.parents:
        repo = repo_at(folder)
        if isinstance(repo, str):
            raise MarkError(f"{file}: found no repo that can be written ({repo})")
        if repo is not None and repo.top is not None:
            path = whole.relative_to(folder).as_posix()
            place = place_of(path)
            if is_gone and not (place and _first(folder, [f"{place.folder}/{box}"], file.name)):
                break
            return repo, path
    if is_gone:
        raise MarkError(f"{file}: found nothing, expected a memo's .openthing file or its body")
    raise MarkError(f"{file}: not in a git repo; expected one, since a memo is marked as read with git mv")


def _plan(repo: Repo, paths: Sequence[str], box: str, *, commit: bool) -> tuple[tuple[Move, ...], tuple[str, ...]]:
    top = repo.top or repo.git_dir
    moves, already = _wanted(top, paths, box)
    before = {path: _places_before(path, named) for path, named in already.items()} if commit else {}
    touched = [*(path for move in moves for path in (move.old, move.new)), *before, *chain(*before.values())]
    committed, in_index = _committed(repo, touched), staged(repo, touched)
    for new, olds in before.items():
        if new not in in_index or new in committed:
            continue
        moved = [old for old in olds if old in committed and old not in in_index]
        if not moved and os.path.lexists(top / already[new]):
            continue  # staged, and nobody says that it was moved
        _refuse_source(top, new, new, in_index[new])
        _refuse_changes(repo, top / new, in_index[new], committed.get((moved or olds)[0]))
        moves.append(Move(old=(moved or olds)[0], new=new))
        del already[new]
    targets: dict[str, str] = {}
    for move in moves:
        if not os.path.lexists(top / move.old):  # it has moved, and is to be committed
            continue
        if _is_begun(repo, move, in_index, committed):
            if commit:
                _refuse_changes(repo, top / move.old, in_index[move.new], committed.get(move.old))
            continue
        _refuse_target(top, move.new, in_index, committed)
        _refuse_source(top, move.old, targets.setdefault(move.new, move.old), in_index.get(move.old))
        if commit:
            _refuse_changes(repo, top / move.old, in_index.get(move.old), committed.get(move.old))
    return tuple(moves), tuple(already)


def _places_before(path: str, named: str) -> list[str]:
    """Where a file of a mailbox may have been: beside what was named, then in the other places of its store."""
    folder, name = path.rsplit("/", 2)[0], path.rpartition("/")[2]
    places = (named.rpartition("/")[0], *(f"{folder}/{box}" for box in MAILBOXES), folder)
    return [old for old in dict.fromkeys(f"{place}/{name}" for place in places) if old != path]


def _is_begun(repo: Repo, move: Move, in_index: Mapping[str, Staged], committed: Mapping[str, str]) -> bool:
    """Whether the index has a move already, of the same content, that was not done on disk."""
    top = repo.top or repo.git_dir
    entry = in_index.get(move.new)
    if entry is None or entry.stage != "0" or move.old in in_index or move.new in committed:
        return False
    if os.path.lexists(top / move.new):
        return False
    blob = committed.get(move.old)
    return entry.blob == blob if blob else _is_same_text(repo, top / move.old, entry.blob)


def _wanted(top: Path, paths: Sequence[str], box: str) -> tuple[list[Move], dict[str, str]]:
    """The moves of these memos, and the files that are there already, with what was named for them."""
    moves: dict[str, Move] = {}
    already: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        place = place_of(path)
        if place is None or place.store != "memos" or not path.endswith((ENVELOPE_SUFFIX, BODY_SUFFIX)):
            raise MarkError(f"{top / path}: found no memo of a memos/ folder, expected memos/, memos/inbox/ or below")
        for old in _pair(top, path, place.folder):
            new = f"{place.folder}/{box}/{old.rpartition('/')[2]}"
            if old == new or (box == "read" and old.startswith(f"{place.folder}/archive/")):
                already[old] = path
            else:
                moves[old] = Move(old=old, new=new)
    return list(moves.values()), already


def _pair(top: Path, path: str, folder: str) -> list[str]:
    """The envelope and the body of a memo, in whichever mailboxes they are."""
    stem = stem_of(path.rpartition("/")[2])
    wanted = [stem + ENVELOPE_SUFFIX, stem + BODY_SUFFIX]
    places = [path.rpartition("/")[0], folder, *(f"{folder}/{box}" for box in MAILBOXES)]
    envelope = _first(top, places, wanted[0])
    if envelope:
        with suppress(OSError, ValueError, AttributeError, RecursionError):
            fields = json.loads((top / envelope).read_text("utf-8-sig"))
            said = fields.get("body_ref") or fields.get("x.memo.body_ref")
            if isinstance(said, str) and said and "/" not in said and "\\" not in said:
                wanted[1] = said
    found = [envelope, _first(top, places, wanted[1])]
    return [one for one in found if one]


def _first(top: Path, places: Iterable[str], name: str) -> str:
    for place in places:
        file = top / place / name
        with suppress(OSError, ValueError):  # a name from an envelope may be one that no file can have
            if file.is_file() and not file.is_symlink():
                return f"{place}/{name}"
    return ""


def _refuse_special(repo: Repo) -> None:
    """Refuse a repo with files that git would wait for, perhaps after the memo was moved."""
    for folder in {repo.git_dir, common_folder(repo.git_dir)}:
        if found := special_file(folder):
            raise MarkError(f"{found}: found a pipe, socket or device, expected regular files; remove it")


def _refuse_target(top: Path, new: str, in_index: Mapping[str, Staged], committed: Mapping[str, str]) -> None:
    target = top / new
    if os.path.lexists(target) or new in in_index or new in committed:
        where = "a file" if os.path.lexists(target) else "a file in the index or the last commit"
        raise MarkError(f"{target}: found {where} there already, expected none; compare the two, and remove one")
    folder = target.parent
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise MarkError(f"{folder}: found no folder of its own, expected one; memosite follows no links")


def _refuse_source(top: Path, old: str, first: str, entry: Staged | None) -> None:
    """Refuse two files with one destination (`first` is the other one), and files in an unfinished merge."""
    if old != first:
        raise MarkError(f"{top / old}: found {first} that would go to the same place, expected one; remove one of them")
    if entry is not None and entry.stage != "0":
        raise MarkError(f"{top / old}: found a merge conflict, expected none; resolve it first")


def _refuse_changes(repo: Repo, file: Path, entry: Staged | None, committed: str | None) -> None:
    """Refuse files with uncommitted changes: the commit of the move must not include them."""
    if entry is not None and committed is not None and entry.blob != committed:
        raise MarkError(f"{file}: found staged changes, expected none; commit or unstage them first")
    if committed is not None and not _is_same_text(repo, file, committed):
        raise MarkError(f"{file}: found uncommitted changes, expected none; commit them first")


def _committed(repo: Repo, paths: Sequence[str]) -> dict[str, str]:
    """The blobs of the last commit at these paths."""
    if not paths:
        return {}
    try:
        listed = git(repo, "ls-tree", "-z", "--full-tree", "HEAD", "--", *paths)
    except GitError:  # no commit yet
        return {}
    return {os.fsdecode(line.split(b"\t", 1)[1]): line.split()[2].decode() for line in listed.split(b"\0") if line}


def _is_same_text(repo: Repo, file: Path, blob: str) -> bool:
    """Whether a file differs from its commit in its line ends at most."""
    content = git(repo, "cat-file", "blob", blob)
    return file.read_bytes().replace(b"\r\n", b"\n") == content.replace(b"\r\n", b"\n")


def _move(repo: Repo, moves: Sequence[Move]) -> None:
    """Do what `git mv` does, without reading the content, which would run filters."""
    if not moves:
        return
    top = repo.top or repo.git_dir
    known = staged(repo, [path for move in moves for path in (move.old, move.new)])
    for move in moves:
        (top / move.new).parent.mkdir(parents=True, exist_ok=True)
    # Delivered but never committed: moving it is its receipt.
    rest = [move for move in moves if move.new not in known]  # the others were begun
    entries = {move.new: known.get(move.old) or _stored(repo, top / move.old) for move in rest}
    # The index first: while another git holds its lock nothing may have moved.
    if entries:
        change_index(repo, [move.old for move in rest if move.old in known], entries)
    for move in moves:
        if os.path.lexists(top / move.old):
            (top / move.old).rename(top / move.new)


def _stored(repo: Repo, file: Path) -> Staged:
    """A file as an entry for the index; its bytes are written to the repo's objects as they are."""
    blob = git(repo, "hash-object", "-w", "--no-filters", "--stdin", given=file.read_bytes(), is_writing=True)
    return Staged(mode="100644", blob=blob.decode("ascii").strip())


def _commit(repo: Repo, moves: Sequence[Move], box: str) -> str:
    """Commit the moved files alone, on top of the last commit; what else is staged stays staged."""
    try:
        parent = git(repo, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode("ascii").strip()
    except GitError:
        parent = ""
    olds, added = [move.old for move in moves], staged(repo, [move.new for move in moves])
    known = _committed(repo, olds) if parent else {}
    tree = tree_after(repo, parent, known, added)
    parents = ("-p", parent) if parent else ()
    message = _message(moves, box).encode("utf-8", "surrogateescape")
    made = git(repo, "commit-tree", tree, *parents, given=message, environment=_identity(repo), is_writing=True)
    commit = made.decode("ascii").strip()
    git(repo, "update-ref", "-m", "memosite mark-read", "HEAD", commit, parent, is_writing=True)
    return commit


def _message(moves: Sequence[Move], box: str) -> str:
    stems = list(dict.fromkeys(stem_of(move.old.rpartition("/")[2]) for move in moves))
    verb = "Read" if box == "read" else "Archive"
    if len(stems) == 1:
        return f"{verb} {stems[0]}\n"
    return f"{verb} {len(stems)} memos\n\n" + "".join(f"- {stem}\n" for stem in stems)


def _identity(repo: Repo) -> dict[str, str]:
    """The committer, from the environment or else the user's configuration; reading that runs nothing."""
    found: dict[str, str] = {}
    for name, key in (("NAME", "user.name"), ("EMAIL", "user.email")):
        value = os.environ.get(f"GIT_AUTHOR_{name}") or _configured(repo, key)
        if not value:
            raise MarkError(f"git does not know who you are: found no {key}; say: git config --global {key} …")
        found |= {
            f"GIT_AUTHOR_{name}": value,
            f"GIT_COMMITTER_{name}": os.environ.get(f"GIT_COMMITTER_{name}") or value,
        }
    return found


def _configured(repo: Repo, key: str) -> str:
    home = os.environ.get("HOME", "")
    folder = os.environ.get("XDG_CONFIG_HOME", f"{home}/.config")
    own = os.environ.get("GIT_CONFIG_GLOBAL")
    files = [own] if own else [f"{home}/.gitconfig", f"{folder}/git/config"]
    known = (read_config(repo.git_dir), *(beginning_of(os.path.realpath(file), CONFIG_BYTES) or b"" for file in files))
    return next(filter(None, (configured(written, key) for written in known if written)), "")
