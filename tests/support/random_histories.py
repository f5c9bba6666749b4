"""Makes repos with random commits and merges: few files and contents, so that branches often do the same or clash."""

import random
from collections.abc import Mapping
from pathlib import Path

from tests.support.repos import BEGIN, Repo

NAMES = ("a.openthing", "b.openthing", "list.md")
FOLDERS = ("memos", "memos/inbox", "memos/read", "memos/archive", "office/memos/inbox", "office/memos/read")
PEOPLE = ("Ann", "Bo", "Cy", "Di")
Tree = Mapping[str, str]


def random_repo(folder: Path, seed: int, *, commits: int = 24, merges: float = 0.35) -> Repo:
    """A repo with that many commits at `main`, about so large a part of them merges; the same for the same seed."""
    chance = random.Random(seed)
    trees: list[Tree] = []
    parents: list[list[int]] = []
    for number in range(commits):
        tips = [one for one in range(number) if not any(one in above for above in parents)]
        above: list[int] = []
        if number:
            recent = range(max(0, number - 8), number)
            above = [chance.choice([*recent, *tips])]
            if chance.random() < merges:
                others = [one for one in {*tips, *recent} if one != above[0]]
                above += chance.sample(others, min(len(others), chance.choice((1, 1, 1, 1, 2, 3))))
            elif chance.random() < 0.03:
                above = []  # an unrelated history
        if merges and number == commits - 1 and len(tips) > 1 and chance.random() < 0.7:
            above = chance.sample(tips, len(tips))
        trees.append(_tree(chance, [trees[one] for one in above]))
        parents.append(above)
    repo = Repo(folder)
    repo.git("fast-import", "--quiet", given=_stream(chance, trees, parents))
    repo.git("symbolic-ref", "HEAD", "refs/heads/main")
    return repo


def _tree(chance: random.Random, before: list[Tree]) -> Tree:
    """What a commit on top of these holds: it changes some of it; a merge mostly combines, and sometimes meddles."""
    if len(before) < 2:
        tree = dict(before[0]) if before else {}
        for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
            _change(chance, tree)
        return tree
    way = chance.random()
    if way < 0.15:
        tree = dict(chance.choice(before))
    else:
        tree = {}
        for path in sorted({path for one in before for path in one}):
            said = [one.get(path, "") for one in before]
            new = [one for one in said if one != said[0]] or said
            content = chance.choice(new) if chance.random() < 0.7 else said[0]
            if content:
                tree[path] = content
    if chance.random() < 0.25:
        _change(chance, tree)
    return tree


def _change(chance: random.Random, tree: dict[str, str]) -> None:
    path = f"{chance.choice(FOLDERS)}/{chance.choice(NAMES)}"
    way = chance.random()
    if not tree or way < 0.35:
        tree[path] = chance.choice("uvwxyz")
        return
    old = chance.choice(sorted(tree))
    if way < 0.55:
        tree[old] = chance.choice("uvwxyz")
    elif way < 0.7:
        del tree[old]
    else:
        content = tree.pop(old)
        folder = chance.choice(FOLDERS)
        tree[f"{folder}/{old.rpartition('/')[2]}"] = content if chance.random() < 0.7 else chance.choice("uvwxyz")


def _stream(chance: random.Random, trees: list[Tree], parents: list[list[int]]) -> str:
    """All commits, as `git fast-import` takes them."""
    lines = []
    for number, (tree, above) in enumerate(zip(trees, parents, strict=True)):
        when = BEGIN + 3600 * (number + chance.choice((0, 0, 0, -5, 5)))
        lines += [f"commit refs/heads/{'main' if number == len(trees) - 1 else f'b{number}'}", f"mark :{number + 1}"]
        for role in ("author", "committer"):
            lines.append(f"{role} {PEOPLE[(number + len(tree)) % len(PEOPLE)]} <somebody@example.org> {when} +0000")
        lines += ["data 0", ""]
        lines += [f"{'from' if place == 0 else 'merge'} :{one + 1}" for place, one in enumerate(above)]
        lines.append("deleteall")
        for path, content in sorted(tree.items()):
            lines += [f"M 100644 inline {path}", "data 1", content]
        lines.append("")
    return "\n".join([*lines, "done", ""])
