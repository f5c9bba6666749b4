"""Edits of git histories: commits, merges, and histories that are written anew."""

import random
import shutil

from tests.support.edits import edit
from tests.support.memos import write_memo
from tests.support.organization import REPOS, Organization, change_fields
from tests.support.repos import Repo

_PEOPLE = ("Ann Other", "Bo", "Cy")


def _is_born(repo: Repo) -> bool:
    return repo.git("rev-list", "--all", "--max-count=1") != ""


@edit(6)
def commit(org: Organization, rng: random.Random) -> str:
    """Somebody commits all that is there."""
    name = rng.choice(REPOS)
    org.commit(name, f"work {rng.randint(0, 99)}", who=rng.choice(_PEOPLE))
    return name


@edit(3)
def git_move(org: Organization, rng: random.Random) -> str:
    """A committed memo is moved with `git mv`, and that is committed; sometimes it is edited in the same commit."""
    name = rng.choice(REPOS)
    org.commit(name, "before")
    repo, root = org.repo(name), org.folder / name
    memos = [path for path in org.memos() if path.is_relative_to(root) and (root / ".git") not in path.parents]
    tracked = set(repo.git("ls-files", "-z").split("\0"))
    found = [path for path in memos if path.relative_to(root).as_posix() in tracked]
    if not found:
        return ""
    memo = rng.choice(found)
    target = root / "memos" / rng.choice(("read", "archive")) / memo.name
    if target.exists() or target.is_symlink():
        return ""
    repo.move(memo.relative_to(root).as_posix(), target.relative_to(root).as_posix())
    if rng.random() < 0.3:
        change_fields(target, subject=f"Edited while read {rng.randint(0, 99)}")
    repo.commit("read", who=rng.choice(_PEOPLE))
    return f"{org.name(memo)} to {target.parent.name}"


@edit(4)
def merge(org: Organization, rng: random.Random) -> str:
    """Two branches go on apart, and are merged: without a conflict, with one that is settled, or with a rename."""
    name, number = rng.choice(REPOS), rng.randint(0, 9999)
    org.commit(name, "before")
    repo, how = org.repo(name), rng.randrange(3)
    stem = f"2026-06-15-0900--director--engineer--branched-{number}"
    inbox = repo.root / "memos/inbox"
    write_memo(inbox, stem, sender="director", to="engineer")
    repo.commit("base")
    repo.git("branch", "--force", "side")
    main = repo.git("branch", "--show-current") or repo.head
    write_memo(inbox, f"{stem}-main", sender="director", to="engineer")
    if how == 1:
        change_fields(inbox / f"{stem}.openthing", subject="As main has it")
    repo.commit("main", who="Bo")
    repo.git("checkout", "--quiet", "side")
    write_memo(inbox, f"{stem}-side", sender="director", to="engineer")
    if how == 1:
        change_fields(inbox / f"{stem}.openthing", subject="As the side has it")
    if how == 2:
        repo.move(f"memos/inbox/{stem}.openthing", f"memos/read/{stem}.openthing")
    repo.commit("side", who="Cy")
    side = repo.head
    repo.git("checkout", "--quiet", main)
    options = ("--strategy-option", rng.choice(("ours", "theirs"))) if how == 1 else ()
    repo.hours += 1
    repo.git("merge", "--quiet", "--no-ff", "--no-commit", *options, side, who="Mia")
    if rng.random() < 0.4:
        change_fields(inbox / f"{stem}-main.openthing", subject="As the merge has it")
    repo.commit("merge", who="Mia")
    org.hours[name] = repo.hours
    return f"{name}: {('apart', 'a conflict', 'a rename')[how]}"


@edit(2)
def rewrite_history(org: Organization, rng: random.Random) -> str:
    """The last commit is amended, removed, or all commits become one."""
    name = rng.choice(REPOS)
    repo, how = org.repo(name), rng.randrange(4)
    if not _is_born(repo):
        return ""
    if how == 0:
        repo.git("add", "--all")
        repo.git("commit", "--quiet", "--amend", "--allow-empty", "-m", f"again {rng.randint(0, 99)}", who="Cy")
    elif how in {1, 2} and repo.git("rev-list", "--count", "--first-parent", "HEAD") != "1":
        repo.git("reset", "--quiet", ("", "--hard", "--soft")[how], "HEAD~1")
    else:
        made = repo.git("commit-tree", "HEAD^{tree}", "-m", "all in one", who="Bo")
        repo.git("reset", "--quiet", "--soft", made)
    return f"{name}: {('amended', 'reset', 'reset softly', 'squashed')[how]}"


@edit(2)
def change_head(org: Organization, rng: random.Random) -> str:
    """HEAD is detached, at an earlier commit, or on a branch again."""
    name = rng.choice(REPOS)
    repo = org.repo(name)
    if not _is_born(repo):
        return ""
    repo.commit("before")
    how = rng.choice(("--detach", "HEAD~1", "main", "other"))
    if how == "other":
        repo.git("checkout", "--quiet", "-B", "other")
    elif how != "HEAD~1" or repo.git("rev-list", "--count", "--first-parent", "HEAD") != "1":
        repo.git("checkout", "--quiet", how)
    return f"{name} at {how}"


@edit(2)
def pack(org: Organization, rng: random.Random) -> str:
    """What git stores is stored otherwise, and means the same."""
    name = rng.choice(REPOS)
    repo = org.repo(name)
    how = rng.choice((["gc", "--quiet"], ["gc", "--quiet", "--prune=now"], ["pack-refs", "--all"], ["repack", "-adq"]))
    repo.git(*how)
    return f"{name}: {' '.join(how)}"


@edit(1)
def make_shallow(org: Organization, rng: random.Random) -> str:
    """A clone is shallow, or is not any more."""
    name = rng.choice(REPOS)
    repo = org.repo(name)
    file = repo.root / ".git/shallow"
    if file.exists():
        file.unlink()
        return f"{name} is whole"
    if not _is_born(repo):
        return ""
    file.write_text(f"{repo.head}\n")
    return f"{name} is shallow"


@edit(1)
def change_remote(org: Organization, rng: random.Random) -> str:
    """A repo has a remote on a forge, another one, or none."""
    name = rng.choice(REPOS)
    repo = org.repo(name)
    if repo.git("remote"):
        repo.git("remote", "remove", "origin")
        return f"none of {name}"
    repo.git("remote", "add", "origin", f"https://github.com/acme/{name}{rng.choice(('', '.git'))}")
    return name


@edit(1)
def lose_git(org: Organization, rng: random.Random) -> str:
    """The history of a repo is moved away, or back again."""
    name = rng.choice(REPOS)
    kept = org.folder.parent / f"{org.folder.name}-git-of-{name}"
    git = org.folder / name / ".git"
    shutil.move(git, kept)
    org.undo.append(("move", (kept, git)))
    return name
