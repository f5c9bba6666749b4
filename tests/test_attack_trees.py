"""Attacks: trees that stand for millions of paths, trees that are malformed, and histories that are too much for git.

Counts and sizes decide what is published. Where time or memory run out, the source fails alone: loudly, with exit
code 1, and what was last known of it stays.
"""

import hashlib
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memosite.cli import main
from memosite.facts.values import replace
from memosite.run.processes import Child, Limits
from memosite.sources import git as git_module
from tests.support.commands import command_line
from tests.support.lives import NAME, put
from tests.support.repos import Repo
from tests.support.soaking import most
from tests.support.waiting import DEADLINE

Capture = pytest.CaptureFixture[str]
SECONDS = 2 * DEADLINE
"""A build that an attack stops for longer has lost."""

MEMORY = 700 << 20
"""The most that a build of two memos may use, in bytes."""
DEEP = most(4_000, in_soak=20_000)
"""How many folders are one in the other. Python gives up at 1,000 calls; with 20,000 git's own stack is at its end."""


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two repos."""
    folder = tmp_path_factory.mktemp("unharmed")
    for name in ("engine", "other"):
        repo = Repo(folder / name)
        put(repo, name=f"{NAME}-{name}")
        repo.commit()
    return folder


@pytest.fixture
def site(unharmed: Path, tmp_path: Path) -> Path:
    """A site of both: the repo that is attacked, and the other one."""
    return shutil.copytree(unharmed, tmp_path / "site")


def build_apart(site: Path) -> "subprocess.CompletedProcess[str]":
    """Build in a process of its own with little time and memory; the attacked repo is read as a folder and at a ref."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))

    text = "sources: [{path: engine}, {path: engine, ref: main, name: again}, {path: other}]\n"
    (site / "memosite.yml").write_text(text)
    done = subprocess.run(
        command_line("build", str(site), "--jobs", "1"), capture_output=True, text=True, check=False, timeout=SECONDS,
        preexec_fn=limit,
    )  # fmt: skip
    assert "received" in page(site, "other")
    twin = json.loads((site / f"_site/memos/{NAME}-engine/index.json").read_text())
    assert {copy["source"] for copy in twin["copies"]} == {"engine", "again"}
    return done


def page(site: Path, name: str) -> str:
    """The page of a memo, "" if there is none."""
    found = site / f"_site/memos/{NAME}-{name}/index.html"
    return found.read_text() if found.exists() else ""


def health(site: Path) -> str:
    """The page of findings."""
    return (site / "_site/health/index.html").read_text()


def findings(site: Path) -> list[tuple[str, str]]:
    """Rule and place of the findings."""
    return re.findall("<code>([a-z-]+)</code> · <code>([^<]*)", health(site))


def bomb(repo: Repo, *, levels: int = 7, differ: bool = False) -> str:
    """A tree whose folders name one folder ten times each, `levels` deep; perhaps no two of them are alike."""
    blob = repo.git("hash-object", "-w", "--stdin", given=b"{}")
    trees = [repo.git("mktree", given=f"100644 blob {blob}\tx.openthing\n".encode())] * 10
    for level in range(levels):
        listed = "".join(f"040000 tree {tree}\tmemos{number}\n" for number, tree in enumerate(trees))
        own = [f"100644 blob {blob}\tz{level}-{number if differ else 0}.txt\n" for number in range(10)]
        made = {extra: repo.git("mktree", given=(listed + extra).encode()) for extra in dict.fromkeys(own)}
        trees = [made[extra] for extra in own]
    return trees[0]


def commit_beside(repo: Repo, **trees: str) -> str:
    """Commit trees beside what there is, without a checkout."""
    listed = "\n".join([repo.git("ls-tree", "HEAD"), *(f"040000 tree {tree}\t{name}" for name, tree in trees.items())])
    commit = repo.git("commit-tree", repo.git("mktree", given=f"{listed}\n"), "-p", "HEAD", "-m", "bomb")
    repo.git("update-ref", "refs/heads/main", commit)
    return commit


def test_ten_million_paths_are_never_made(site: Path) -> None:
    """A folder of a commit that holds so many is left out; the memos beside it are read."""
    repo = Repo(site / "engine", is_new=False)
    commit_beside(repo, alike=bomb(repo), differing=bomb(repo, differ=True))
    done = build_apart(site)
    assert done.returncode == 0, done.stdout + done.stderr
    told = findings(site)
    assert [path for rule, path in told if rule == "folder-too-large"] == ["again/alike", "again/differing"]
    assert [path for rule, path in told if rule == "history-unreadable"] == ["again/", "engine/"]
    assert "it has 22,222,221 files and folders, expected at most 500,000" in health(site)


def test_trees_that_are_nested_without_end_do_not_end_git(site: Path) -> None:
    """A stack of folders, more than Python has frames; other memos are read."""
    repo = Repo(site / "engine", is_new=False)
    blob = repo.git("hash-object", "-w", "--stdin", given=b"{}")
    data, name = b"100644 x\0" + bytes.fromhex(blob), ""
    pack = bytearray(b"PACK" + struct.pack(">II", 2, DEEP))
    for _ in range(DEEP):
        name = hashlib.sha1(b"tree %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        pack += bytes([0xA0 | len(data) & 15, len(data) >> 4]) + zlib.compress(data, 1)
        data = b"40000 d\0" + bytes.fromhex(name)
    repo.git("index-pack", "--stdin", given=bytes(pack) + hashlib.sha1(pack, usedforsecurity=False).digest())
    commit_beside(repo, deep=name)
    done = build_apart(site)
    assert done.returncode in {0, 1}, done.stdout + done.stderr


def malformed(repo: Repo) -> dict[str, bytes]:
    """Trees that no git writes."""
    blob = bytes.fromhex(repo.git("hash-object", "-w", "--stdin", given=b"{}"))
    return {
        "empty name": b"100644 \0" + blob, "no mode": b" x\0" + blob, "letters": b"mode x\0" + blob,
        "cut": b"100644 x\0" + blob[:7], "no end": b"100644 x", "zeros": bytes(100),
        "missing": b"40000 x\0" + b"\x11" * 20, "a file as a folder": b"40000 x\0" + blob,
        "a folder as a file": b"100644 x.openthing\0" + bytes.fromhex(repo.git("rev-parse", "HEAD^{tree}")),
        "odd mode": b"777777 x.openthing\0" + blob, "slashes": b"100644 a/../../x.openthing\0" + blob,
    }  # fmt: skip


READABLE = {"empty name", "missing", "a file as a folder", "a folder as a file", "odd mode", "slashes"}
"""Those of them that can be read, though they name what is odd or not there."""


def run(site: Path, capsys: Capture) -> tuple[int, str]:
    """Build in this process, whose limits a test may have lowered."""
    code = main(["build", str(site), "--jobs", "1"])
    return code, capsys.readouterr().out


def hash_tree(repo: Repo, data: bytes) -> str:
    """Write a tree of any bytes."""
    return repo.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", given=data)


def test_a_malformed_tree_below_the_top_costs_itself_alone(site: Path, capsys: Capture) -> None:
    """All of them in one commit: the memos beside them, before and after, are read."""
    repo = Repo(site / "engine", is_new=False)
    memos = repo.git("rev-parse", "HEAD:memos")
    odd = {f"odd{number}": hash_tree(repo, data) for number, data in enumerate(malformed(repo).values())}
    commit_beside(repo, a_first=repo.git("mktree", given=f"040000 tree {memos}\tmemos\n"), **odd)
    (site / "memosite.yml").write_text("sources: [{path: engine, ref: main}, {path: other}]\n")
    assert run(site, capsys)[0] == 0
    assert "received" in page(site, "other") and "From" in page(site, "engine")
    twin = json.loads((site / f"_site/memos/{NAME}-engine/index.json").read_text())
    assert [copy["path"].partition("/")[0] for copy in twin["copies"]] == ["a_first", "memos"]


def test_a_malformed_tree_as_the_top_costs_its_commit_alone(site: Path, unharmed: Path, capsys: Capture) -> None:
    """The last commit that could be read stays; the other sources are read, and so is this one when it is mended."""
    shapes = malformed(Repo(unharmed / "engine", is_new=False))
    names = {shape: f"engine{number}" for number, shape in enumerate(shapes)}
    entries = ", ".join(f"{{path: {name}, ref: main}}" for name in names.values())
    (site / "memosite.yml").write_text(f"sources: [{{path: other}}, {entries}]\n")
    shutil.rmtree(site / "engine")
    repos = {shape: Repo(site / name) for shape, name in names.items()}
    for shape, repo in repos.items():
        put(repo, name=f"{NAME}-{names[shape]}")
        repo.commit()
    assert run(site, capsys)[0] == 0
    before = {shape: page(site, name) for shape, name in names.items()}
    for shape, repo in repos.items():
        good = repo.head
        raw = repo.git("cat-file", "commit", good).splitlines()
        raw[0] = f"tree {hash_tree(repo, malformed(repo)[shape])}\nparent {good}"
        made = repo.git("hash-object", "-w", "-t", "commit", "--literally", "--stdin", given="\n".join(raw) + "\n")
        repo.git("update-ref", "refs/heads/main", made)
    code, out = run(site, capsys)
    assert code == 1 and "received" in page(site, "other")
    failed = {shape for shape, name in names.items() if f"failed    {name}: not read: " in out}
    assert failed == shapes.keys() - READABLE
    assert {path for rule, path in findings(site) if rule == "source-failed"} == {f"{names[one]}/" for one in failed}
    for shape in failed:
        assert page(site, names[shape]).count("received") == before[shape].count("received") > 0, shape
    for repo in repos.values():
        repo.git("update-ref", "refs/heads/main", "main^")
    assert run(site, capsys)[0] == 0 and {shape: page(site, name) for shape, name in names.items()} == before


def test_a_source_that_was_never_read_fails_alone(site: Path, capsys: Capture) -> None:
    """Loudly; when it can be read again, it is."""
    (site / "memosite.yml").write_text("sources: [{path: engine, ref: main}, {path: other}]\n")
    repo = Repo(site / "engine", is_new=False)
    name = repo.git("rev-parse", "HEAD^{tree}")
    file = repo.root / ".git/objects" / name[:2] / name[2:]
    kept = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(b"damaged")
    code, out = run(site, capsys)
    assert code == 1 and "failed    engine: not read: " in out
    assert not page(site, "engine") and "received" in page(site, "other")
    assert str(site) not in health(site) and run(site, capsys)[0] == 1
    file.write_bytes(kept)
    assert run(site, capsys)[0] == 0 and page(site, "engine")


def test_a_history_over_its_memory_stays(site: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was known of it is shown, with the reason; the exit code is 1 until it can be read."""
    assert run(site, capsys)[0] == 0
    repo = Repo(site / "engine", is_new=False)
    put(repo, name=f"{NAME}-engine", body="Edited.")
    message = "x" * (40 << 20)
    (site / "message").write_text(message)
    repo.git("commit", "--quiet", "--all", "-F", str(site / "message"))
    (site / "message").unlink()
    monkeypatch.setattr(git_module, "MEMORY_BYTES", 32 << 20)
    for _ in range(2):
        code, out = run(site, capsys)
        assert code == 1 and "failed    engine: its history: git cannot read it: git " in out
        assert "needs more than 32 MB of memory" in page(site, "engine")
        assert "received" in page(site, "engine") and "edited" not in page(site, "engine")
        assert "received" in page(site, "other")
    monkeypatch.undo()
    assert run(site, capsys)[0] == 0 and "edited" in page(site, "engine")


def test_a_history_that_takes_too_long_stays_as_it_was(
    site: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git hangs on one repo alone, and only when it is asked for its log."""
    assert run(site, capsys)[0] == 0
    repo = Repo(site / "engine", is_new=False)
    put(repo, name=f"{NAME}-engine", body="Edited.")
    head = repo.commit()
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/git"
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *" log "*{head}*) sleep 1000;; esac\nPATH={os.environ["PATH"]} exec git "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    start = git_module._start

    def start_in_time(repo: git_module.Repo, arguments: Sequence[str], limits: Limits, **settings: Any) -> Child:
        """Only the call that hangs has little time: others may wait for the machine."""
        seconds = 0.6 if head in " ".join(arguments) and arguments[0] == "log" else limits.seconds
        return start(repo, arguments, replace(limits, seconds=seconds), **settings)

    monkeypatch.setattr(git_module, "_start", start_in_time)
    code, out = run(site, capsys)
    assert code == 1 and "failed    engine: its history: git cannot read it: git log took more than 1 s" in out
    assert "received" in page(site, "engine") and "received" in page(site, "other")
    for command in (["search", "Gate", "--site", str(site)], ["export", "--site", str(site)]):
        for _ in range(2):
            assert main(command) == 1
            told = capsys.readouterr()
            assert "failed: engine: its history: git cannot read it: git log took more than 1 s" in told.err
            assert NAME in told.out


def test_no_page_names_a_folder_of_this_machine(site: Path, capsys: Capture) -> None:
    """Whatever git says of what is damaged, in findings and on pages."""
    repo = Repo(site / "engine", is_new=False)
    put(repo, name=f"{NAME}-more")
    repo.commit()
    for file in sorted((repo.root / ".git/objects").glob("??/*")):
        file.chmod(0o644)
        file.write_bytes(b"")
    (site / "memosite.yml").write_text(
        f"sources: [{{path: engine}}, {{path: other}}, {{path: engine, ref: main, name: again}}, "
        f"{{git: 'file://{site}/other', name: far}}]\n"
    )
    assert run(site, capsys)[0] == 1
    Path(site / "other/.git").rename(site / "away")
    assert run(site, capsys)[0] == 1
    pages = [path for path in (site / "_site").rglob("*") if path.is_file()]
    named = [path for path in pages if any(word in path.read_bytes() for word in (str(site).encode(), b"/tmp/"))]
    assert pages and named == []


def test_the_counts_are_those_of_the_tree(tmp_path: Path) -> None:
    """Against a walk that makes every path."""
    repo = Repo(tmp_path / "repo")
    for path in ("a", "b/c", "b/d/e", "f/c", "f/d/e", "g/h/i/j"):
        repo.write(path, path.rpartition("/")[2])
    repo.commit()
    listed = repo.git("ls-tree", "-r", "-t", "HEAD").splitlines()
    from memosite.sources.git import Repo as FoundRepo
    from memosite.sources.objects import Objects, list_commit

    with Objects(FoundRepo(git_dir=repo.root / ".git", top=repo.root)) as reader:
        entries, skipped = list_commit(reader, repo.head)
        found = [f"{one.mode} blob {one.hash}\t{one.name.decode()}" for one in entries]
    assert found == [line for line in listed if " blob " in line] and skipped == []
