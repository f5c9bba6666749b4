"""Makes organizations of several repos with random commits and merges, whose files are memos of all kinds."""

import datetime as dt
import json
import random
from collections.abc import Mapping
from pathlib import Path

from tests.support.repos import BEGIN, Repo

POSITIONS = ("director", "engineer", "clerk")
REPOS = {"office": "director", "yard": "engineer", "desk": "clerk"}
"""Each with the position that it is the home of."""
BOXES = ("inbox", "read", "archive")
WORDS = ("gate", "barge", "tide", "ledger", "oak", "crane")
Tree = dict[str, str]


class RandomOrganization:
    """A site folder with three repos. `memos` are the names of all memos that are in any commit."""

    def __init__(self, folder: Path, seed: int, *, commits: int = 24) -> None:
        """Make each repo of so many commits; the same for the same seed."""
        self.folder = folder
        self.memos: list[str] = []
        self.repos: dict[str, Repo] = {}
        self._chance = random.Random(seed)
        for name in REPOS:
            self.repos[name] = self._repo(name, commits)
        write_site(folder)

    def _repo(self, name: str, commits: int) -> Repo:
        chance = self._chance
        trees: list[Tree] = []
        parents: list[list[int]] = []
        times: list[int] = []
        for number in range(commits):
            times.append(BEGIN + 3600 * (6 * number + chance.randrange(-8, 9)))
            above = self._parents(number, parents, is_last=number == commits - 1)
            tree = _merged(chance, [trees[one] for one in above])
            for _ in range(chance.choice((0, 1, 1, 2)) if len(above) > 1 else chance.choice((1, 1, 2, 3))):
                self._change(name, tree, times[-1])
            trees.append(tree)
            parents.append(above)
        repo = Repo(self.folder / name)
        repo.git("fast-import", "--quiet", given=_stream(trees, parents, times))
        repo.git("symbolic-ref", "HEAD", "refs/heads/main")
        repo.git("reset", "--hard", "--quiet")
        return repo

    def _parents(self, number: int, parents: list[list[int]], *, is_last: bool) -> list[int]:
        chance = self._chance
        if not number:
            return []
        tips = [one for one in range(number) if not any(one in above for above in parents)]
        if is_last and len(tips) > 1:
            return chance.sample(tips, len(tips))
        recent = list(range(max(0, number - 6), number))
        first = chance.choice([*recent[-2:], *tips])
        others = [one for one in {*tips, *recent} if one != first]
        return [first, *chance.sample(others, 1)] if others and chance.random() < 0.35 else [first]

    def _change(self, name: str, tree: Tree, at: int) -> None:
        chance = self._chance
        mails = [path for path in tree if path.startswith("memos/")]
        way = chance.random()
        if way < 0.15 and mails:
            old = chance.choice(mails)
            tree[f"memos/{chance.choice(BOXES)}/{old.rpartition('/')[2]}"] = tree.pop(old)
        elif way < 0.25 and mails:
            path = chance.choice(mails)
            fields = json.loads(tree[path])
            tree[path] = _json(fields | {"body": f"{fields['body']} Corrected: {chance.choice(WORDS)}."})
        elif way < 0.3 and mails:
            del tree[chance.choice(mails)]
        elif way < 0.4:
            status = chance.choice(("accepted", "proposed", "superseded by another"))
            word = chance.choice(WORDS)
            tree[f"decisions/000{1 + WORDS.index(word)}-{word}.md"] = (
                f"# On the {word}\n\nStatus: {status}\n\nWhy: {at}.\n"
            )
        elif way < 0.5 and name == "office":
            held = [{"id": one, "name": one.title(), "incumbent": f"{one} {at % 7}"} for one in POSITIONS]
            fields = {"type": "orgdef:Organization", "id": "acme", "name": "Acme", "positions": held}
            tree["org/acme-organization.openthing"] = _json(fields)
        elif way < 0.6:
            self._write(tree, f"notes/{REPOS[name]}", REPOS[name], "file", at)
        else:
            sender = chance.choice([*POSITIONS, REPOS[name]])
            self._write(tree, f"memos/{chance.choice(BOXES)}", sender, REPOS[name], at)

    def _write(self, tree: Tree, folder: str, sender: str, to: str, at: int) -> None:
        chance = self._chance
        sent = dt.datetime.fromtimestamp(at - 60 * chance.randrange(60), dt.UTC)
        stamp = f"{sent:%Y-%m-%d-%H%M}"
        name = f"{stamp}--{sender}--{to}--{chance.choice(WORDS)}-{len(self.memos)}"
        fields: dict[str, object] = {
            "catdef": "1.4",
            "memodef": "0.4.0",
            "type": "memodef:Memo",
            "from": sender,
            "to": to,
            "subject": f"On the {chance.choice(WORDS)}",
            "sent": f"{sent:%Y-%m-%dT%H:%M:%SZ}",
            "body": f"See the {chance.choice(WORDS)} and {chance.choice(self.memos or WORDS)}. "
            * chance.randrange(1, 4),
        }
        if chance.random() < 0.4:
            fields["action_required"] = True
        if self.memos and chance.random() < 0.5:
            fields["in_reply_to"] = f"{chance.choice(self.memos)}.openthing"
        self.memos.append(name)
        tree[f"{folder}/{name}.openthing"] = _json(fields)


def write_site(folder: Path) -> None:
    """Name the repos as the sources of a site."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = [{"path": name} for name in REPOS]
    (folder / "memosite.yml").write_text(json.dumps({"title": "Acme", "sources": sources}), encoding="utf-8")


def _json(fields: Mapping[str, object]) -> str:
    return json.dumps(fields, indent=1) + "\n"


def _merged(chance: random.Random, before: list[Tree]) -> Tree:
    """The files of all parents; where they differ, those of one of them, and sometimes those of the first alone."""
    if len(before) < 2 or chance.random() < 0.1:
        return dict(before[0]) if before else {}
    found: Tree = {}
    for path in sorted({path for one in before for path in one}):
        content = chance.choice([one.get(path, "") for one in before])
        if content:
            found[path] = content
    return found


def _stream(trees: list[Tree], parents: list[list[int]], times: list[int]) -> str:
    """All commits, as `git fast-import` takes them."""
    lines = []
    for number, (tree, above, at) in enumerate(zip(trees, parents, times, strict=True)):
        lines += [f"commit refs/heads/{'main' if number == len(trees) - 1 else f'b{number}'}", f"mark :{number + 1}"]
        lines += [f"{role} Ann <somebody@example.org> {at} +0000" for role in ("author", "committer")]
        lines += ["data 0", ""]
        lines += [f"{'from' if place == 0 else 'merge'} :{one + 1}" for place, one in enumerate(above)]
        lines.append("deleteall")
        for path, content in sorted(tree.items()):
            lines += [f"M 100644 inline {path}", f"data {len(content.encode())}", content]
        lines.append("")
    return "\n".join([*lines, "done", ""])
