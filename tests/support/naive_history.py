"""A second reader of git histories, written from SPEC 2.3 alone: slow, plain, and without any code of memosite.

It has git give it each commit with its whole tree, as what differs from no tree, and compares the trees of a commit and
of all its parents. A commit is broken into facts about a file, one each for whether it is there, where it is, and what
is in it. What is told of a merge is found by walking, for each of its parents, all commits that no parent before has.
"""

from collections import Counter, defaultdict

from memosite.facts.values import Value, replace
from tests.support.repos import Repo

BOXES = ("archive", "read", "inbox")
"""The mailboxes, the furthest first."""
ABOUT = ("there", "place", "content")
"""What facts are about."""
_NO_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The id of a tree without files."""
File = tuple[str, str]
"""Where a file is, and the id of its content."""
Files = dict[str, File]
Told = tuple[str, str, str, str, str, str, str]
"""What happened to a file: what, by whom, in which commit, where, the content before and after, and by which merge."""


class Fact(Value, kw_only=False):
    """Something that a commit says of a file. `left` is the name it had before, in another folder.

    Such a fact says three things at once; `refused` are those that a merge did not take over.
    """

    commit: str
    name: str
    about: str
    before: File | None
    after: File | None
    left: str = ""
    refused: tuple[str, ...] = ()


class NaiveReader:
    """Reads the history of a repo."""

    def __init__(self, repo: Repo) -> None:
        """Read every commit that leads to HEAD."""
        self.repo = repo
        self.parents: dict[str, list[str]] = {}
        self.people: dict[str, str] = {}
        self.files: dict[str, Files] = {}
        trees: dict[str, str] = {}
        for line in repo.git("log", "--format=%H %T %P|%an", "HEAD").splitlines():
            ids, _, who = line.partition("|")
            commit, trees[commit], *self.parents[commit] = ids.split()
            self.people[commit] = who
        tree, found = "", dict[str, list[str]]({_NO_TREE: []})
        given = "".join(f"{_NO_TREE} {tree}\n" for tree in {*trees.values()} - {_NO_TREE})
        for line in repo.git("diff-tree", "--stdin", "-r", "--no-renames", given=given).splitlines():
            if line.startswith(":"):
                found[tree].append(line)
            else:
                tree = line.split()[1]
                found[tree] = []
        self.files = {commit: self._files(found[tree]) for commit, tree in trees.items()}

    def _files(self, lines: list[str]) -> Files:
        """The files of a tree by their names without the mailbox; of one in several boxes the furthest counts."""
        found: Files = {}
        rank: dict[str, tuple[int, str]] = {}
        for line in lines:
            said, path = line.split("\t")
            _, mode, _, blob, _ = said.split()
            folders = path.split("/")
            box = folders[-2] if len(folders) > 1 and folders[-2] in BOXES else ""
            name = "/".join(folders[:-2] + folders[-1:]) if box else path
            place = (BOXES.index(box) if box else len(BOXES), path)
            if mode.startswith("100") and (name not in rank or place < rank[name]):
                found[name], rank[name] = (path, blob), place
        return found

    def ancestors(self, commit: str) -> set[str]:
        """A commit and all before it."""
        found: set[str] = set()
        waiting = [commit]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += self.parents[one]
        return found

    def lives(self) -> dict[str, list[Told]]:
        """What happened to each file, oldest first."""
        trunk = [self.repo.head]
        while self.parents[trunk[-1]]:
            trunk.append(self.parents[trunk[-1]][0])
        now: Files = {}
        lives: dict[str, list[Told]] = defaultdict(list)
        for commit in reversed(trunk):
            for fact in self._brought(commit, set()):
                self._tell(fact, now, lives, commit)
            first = self.files[self.parents[commit][0]] if self.parents[commit] else {}
            here = self.files[commit]
            for fact in self._differences(commit, dict(now), here):
                self._tell(fact, now, lives, "", first)
            assert now == here
        return {name: life for name, life in lives.items() if life}

    def _differences(self, commit: str, before: Files, after: Files) -> list[Fact]:
        gone = [name for name in before if name not in after]
        come = [name for name in after if name not in before]
        endings = Counter(name.split("/")[-1] for name in gone), Counter(name.split("/")[-1] for name in come)
        facts = []
        left = {}
        for name in come:
            ending = name.split("/")[-1]
            if endings[0][ending] == endings[1][ending] == 1:
                left[name] = next(one for one in gone if one.split("/")[-1] == ending)
        old_ones = [(before[one][1], one.split(".")[-1], one) for one in gone if one not in left.values()]
        new_ones = [(after[one][1], one.split(".")[-1], one) for one in come if one not in left]
        for content, kind, name in new_ones:  # another name is known by the same content
            same = [one for *of, one in old_ones if of == [content, kind]]
            if len(same) == len([one for *of, one in new_ones if of == [content, kind]]) == 1:
                left[name] = same[0]
        for name in sorted({*before, *after}):
            old, new = before.get(name), after.get(name)
            if name in left:
                facts.append(Fact(commit, name, "there", before[left[name]], new, left[name]))
            elif name in left.values():
                continue
            elif old is None or new is None:
                facts.append(Fact(commit, name, "there", old, new))
                facts += [Fact(commit, name, about, None, new) for about in ("place", "content") if new]
            else:
                facts += [Fact(commit, name, "place", old, new)] if old[0] != new[0] else []
                facts += [Fact(commit, name, "content", old, new)] if old[1] != new[1] else []
        return facts

    def _own(self, commit: str) -> list[Fact]:
        """What a commit of a branch says; a merge only what none of its parents does."""
        parents = [self.files[parent] for parent in self.parents[commit]] or [{}]
        here = self.files[commit]
        if len(parents) == 1:
            return self._differences(commit, parents[0], here)
        before: Files = {}
        after: Files = {}
        for name in {*here, *(name for files in parents for name in files)}:
            were = [files.get(name) for files in parents]
            known = [one for one in were if one is not None]
            if name in here and known:
                place, blob = here[name]
                before[name] = were[0] or known[0]
                places, blobs = {one[0] for one in known}, {one[1] for one in known}
                was = before[name]
                after[name] = (was[0] if place in places else place, was[1] if blob in blobs else blob)
            elif name in here:
                after[name] = here[name]
            elif None not in were:
                before[name] = known[0]
        return self._differences(commit, before, after)

    def _between(self, tip: str, known: set[str]) -> list[Fact]:
        """What the commits say that lead to this one and are not known, each after those that it is based on."""
        line = []
        while tip and tip not in known:
            line.append(tip)
            tip = self.parents[tip][0] if self.parents[tip] else ""
        facts: list[Fact] = []
        for commit in reversed(line):
            facts += self._brought(commit, known) + self._own(commit)
        return facts

    def _brought(self, merge: str, known: set[str]) -> list[Fact]:
        """What a merge brought, without what it did not take over."""
        first, *others = self.parents[merge] or [""]
        facts: list[Fact] = []
        seen = known | (self.ancestors(first) if others else set())
        for parent in others:
            for fact in self._between(parent, seen):
                refused = [one for one in ABOUT if self._is_refused(fact, one, merge, parent)]
                made = self.files[merge].get(fact.name)
                if not fact.before and made and fact.after:  # the first content of a file, which may be there already
                    firsts = {"place": made[0] != fact.after[0], "content": made[1] != fact.after[1]}
                    refused += [about for about, is_other in firsts.items() if is_other]
                if fact.about not in refused and (fact.before or "there" not in refused):
                    facts.append(replace(fact, refused=(*fact.refused, *refused)))
            seen = seen | self.ancestors(parent)
        return facts

    def _is_refused(self, fact: Fact, about: str, merge: str, parent: str) -> bool:
        def said(commit: str) -> object:
            file = self.files[commit].get(fact.name)
            return {"there": file is not None, "place": file and file[0], "content": file and file[1]}[about]

        result = said(merge)
        return result != said(parent) and result in [said(one) for one in self.parents[merge] if one != parent]

    def _tell(
        self, fact: Fact, now: Files, lives: dict[str, list[Told]], merge: str, first: Files | None = None
    ) -> None:
        """Tell a fact of what is so far, if it changes anything. `first` is what a merge found."""

        def add(what: str, where: str, before: str, after: str) -> None:
            if first is not None and before and (fact.left or fact.name) in first:
                found = first[fact.left or fact.name][1]
                before = found if found != after else before
            told = (what, self.people[fact.commit], fact.commit, where, before, after, merge)
            lives[fact.name].append(told)

        name, here, old, new = fact.name, now.get(fact.name), fact.before, fact.after
        if fact.left and fact.left in now and here is None:
            assert old is not None and new is not None
            here = now.pop(fact.left)
            lives[name] += lives.pop(fact.left, [])
            changed = new[1] != old[1] and "content" not in fact.refused
            for what in _steps(fact.left, name, old[0], new[0]):
                add(what, new[0], old[1], new[1])
            if changed and new[1] != here[1]:
                add("edited", new[0], old[1], new[1])
            now[name] = (new[0], new[1] if changed else here[1])
        elif fact.left:
            self._tell(Fact(fact.commit, fact.left, "there", old, None), now, lives, merge, first)
            for about in (one for one in ABOUT if one not in fact.refused):
                self._tell(Fact(fact.commit, name, about, None, new), now, lives, merge, first)
        elif fact.about == "there" and new is None:
            if here is not None:
                add("removed", here[0], (old or here)[1], "")
                del now[name]
        elif fact.about == "there":
            if here is None and new is not None:
                add("restored" if lives.get(name) else "received", new[0], "", new[1])
                now[name] = new
        elif new is not None:
            place = fact.about == "place"
            if here is None and name in self.files[merge]:  # removed meanwhile; the merge will bring it back
                add("moved" if place else "edited", self.files[fact.commit][name][0], (old or new)[1], new[1])
            elif here is not None and here[0 if place else 1] != new[0 if place else 1]:
                now[name] = (new[0], here[1]) if place else (here[0], new[1])
                add("moved" if place else "edited", now[name][0], (old or here)[1], new[1])


def _steps(left: str, name: str, old: str, new: str) -> list[str]:
    """What is told of a file that has another folder or another name."""
    if len({one.rpartition("/")[2] for one in (left, name)}) == 1:
        return ["moved"]
    boxes = {next((box for box in BOXES if f"/{box}/" in path), "") for path in (old, new)}
    return ["renamed", "moved"] if len(boxes) > 1 else ["renamed"]
