"""Commits read from git's objects: the same files as from a folder, and nothing that a tree cannot hold."""

import datetime as dt
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from memosite.archive.model import Archive
from memosite.build import build
from memosite.config.loading import load_config
from memosite.facts import rules
from memosite.facts.errors import SourceError
from memosite.facts.findings import Finding
from memosite.facts.parsed import Ref
from memosite.facts.values import replace
from memosite.reading.archive import open_archive
from memosite.reading.opening import open_sources
from memosite.reading.reader import SourceReader
from memosite.run import workers
from memosite.run.workers import run
from memosite.sources import listing as listing_module
from memosite.sources import objects
from memosite.sources.folder import repo_at
from memosite.sources.git import Repo as FoundRepo
from memosite.sources.git import TooMuchError
from memosite.sources.objects import Objects, commit_at
from memosite.sources.tree import TreeSource, read_tree
from memosite.store.shelf import Shelf
from tests.support.archives import DOCUMENTS, folder_source, read_folders
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.repos import Repo, run_git
from tests.support.sites import copy_example

NOW = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """An empty repo."""
    return Repo(tmp_path / "repo")


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """What ends with the test."""
    with ExitStack() as found:
        yield found


def tree_source(folder: Path, stack: ExitStack, ref: str = "HEAD", prefix: str = "") -> TreeSource:
    """A commit of a repo as a source, named like the folder."""
    repo = repo_at(folder)
    assert isinstance(repo, FoundRepo)
    commit = commit_at(repo, ref)
    assert commit is not None
    return TreeSource(
        name=folder.name, repo=repo, commit=commit.hash, committed=commit.committed, ref=ref, prefix=prefix,
        tree=read_tree(repo, commit.hash, prefix), objects=stack.enter_context(Objects(repo)), documents=DOCUMENTS,
    )  # fmt: skip


def notes(source: TreeSource) -> dict[str, str]:
    """The findings of a listing: rules by path."""
    return {one.location.path: one.rule.id for one in source.list_files().findings}


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_commit_and_its_checkout_are_listed_and_read_alike(tmp_path: Path, stack: ExitStack, form: str) -> None:
    """Whatever lies where: stores, samples, links, records, environments, other names."""
    repo = Repo(copy_example(tmp_path / "org"), f"--object-format={form}")
    (repo.root / "memos").mkdir()
    (repo.root / "memos/link.openthing").symlink_to("/etc/passwd")
    (repo.root / "memos/inbox").symlink_to("..")
    write_text(repo.root / "made/.memosite-site", "")
    write_memo(repo.root / "made/memos/inbox", "in-a-site")
    write_memo(repo.root / "tests/memos", "sample")
    write_text(repo.root / "venv2/pyvenv.cfg", "")
    write_memo(repo.root / "venv2/x", "in-an-environment")
    write_text(repo.root / "notes.md", "---\nid: 1\ntype: semantic\ncreated: 2026-05-01\n---\n# A record\n")
    write_text(repo.root / "dé\n \\x/memos/a b.openthing", "{}")
    (repo.root / os.fsdecode(b"memos/\xff\xfe.openthing")).write_text("{}")
    repo.commit()
    folder, tree = folder_source(repo.root), tree_source(repo.root, stack)
    expected, found = folder.list_files(), tree.list_files()
    assert (found.candidates, found.others, found.records) == (expected.candidates, expected.others, expected.records)
    assert sorted(map(str, found.findings)) == sorted(map(str, expected.findings))
    assert len(found.candidates) > 100 and len(found.records) > 5 and found.findings
    for path in (*found.candidates, *found.others):
        first, second = folder.read_file(path), tree.read_file(path)
        assert not isinstance(first, Finding) and not isinstance(second, Finding)
        assert (first.source, first.path, first.data) == (second.source, second.path, second.data)


def test_links_and_submodules_are_named_and_not_followed(repo: Repo, stack: ExitStack) -> None:
    """Links where an envelope or a store would lie, submodules wherever they are read."""
    repo.put_tree(
        *(("120000", name, b"/etc/passwd") for name in ("a.openthing", "else")),
        *(("160000", name, b"1" * 40) for name in ("inner", "node_modules")),
        ("120000", "notes", b".."),
    )
    source = tree_source(repo.root, stack)
    assert notes(source) == {
        "a.openthing": "link-not-followed", "inner": "submodule-not-read", "notes": "link-not-followed",
    }  # fmt: skip
    assert source.list_files().candidates == ()
    assert [source.has_file(path) for path in ("a.openthing", "else", "inner", "notes")] == [False] * 4
    assert isinstance(source.read_file("a.openthing"), Finding)


def test_names_that_no_folder_can_have_are_left_out(repo: Repo, stack: ExitStack) -> None:
    """Only a tree that was made by hand holds them; the rest is read."""
    blob = repo.git("hash-object", "-w", "--stdin", given=b"{}")
    inner = repo.git("mktree", "-z", given=f"100644 blob {blob}\tx.openthing\0".encode())
    entry = inner.encode()
    repo.put_tree(
        *(("40000", name, entry) for name in ("..", ".")),
        *(("100644", name, b"{}") for name in ("../../y.openthing", "/z.openthing", "a" * 5000)),
        ("40000", "both", entry),
        ("100644", "both", b"{}"),
        ("100644", "twice.openthing", b"first"),
        ("100644", "twice.openthing", b"second"),
    )
    source = tree_source(repo.root, stack)
    listing = source.list_files()
    assert listing.candidates == ("both/x.openthing", "twice.openthing")
    assert {one.rule.id for one in listing.findings} == {"file-unreadable"} and len(listing.findings) == 5
    assert getattr(source.read_file("twice.openthing"), "data", b"") == b"first"
    assert not source.has_file("../../y.openthing")


def test_entries_that_lie_about_their_kind_are_not_read(repo: Repo, stack: ExitStack) -> None:
    """A file that is a tree or a commit; a file whose bytes are nowhere."""
    write_memo(repo.root / "memos", "a")
    commit = repo.commit()
    tree = repo.git("rev-parse", "HEAD^{tree}")
    raw = b"".join(
        f"100644 {name}.openthing".encode() + b"\0" + bytes.fromhex(found)
        for name, found in (("commit", commit), ("nothing", "12" * 20), ("tree", tree))
    )
    made = repo.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", given=raw)
    repo.git("update-ref", "refs/heads/main", repo.git("commit-tree", made, "-m", "x"))
    source = tree_source(repo.root, stack)
    found = [source.read_file(path) for path in source.list_files().candidates]
    assert [getattr(one, "message", "") for one in found] == ["its bytes are missing from the repo"] * 3


def test_a_damaged_object_spoils_one_file_only(repo: Repo, stack: ExitStack) -> None:
    """Git ends over it, and is started again for the next one."""
    for name in "abc":
        write_text(repo.root / f"{name}.openthing", f'{{"{name}": 1}}')
    repo.commit()
    source = tree_source(repo.root, stack)
    name = source.tree.blobs["b.openthing"]
    damaged = repo.root / ".git/objects" / name[:2] / name[2:]
    damaged.chmod(0o644)
    damaged.write_bytes(damaged.read_bytes()[:-6])
    found = [source.read_file(f"{one}.openthing") for one in "abc"]
    assert [isinstance(one, Finding) for one in found] == [False, True, False]


def test_the_limits_of_folders_hold_for_trees(repo: Repo, stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size of a file, the number of files."""
    write_text(repo.root / "a.openthing", "x" * 100)
    write_text(repo.root / "b/c/d.txt", "x")
    repo.commit()
    source = tree_source(repo.root, stack)
    monkeypatch.setattr(listing_module, "FILE_LIMIT", 99)
    assert getattr(source.read_file("a.openthing"), "rule", None) == rules.FILE_TOO_LARGE
    monkeypatch.setattr(listing_module, "FILES_LIMIT", 2)
    with pytest.raises(SourceError, match="more than 2 files"):
        source.list_files()
    monkeypatch.undo()
    monkeypatch.setattr(objects, "PATHS_LIMIT", 3)
    source = tree_source(repo.root, stack)
    assert source.list_files().candidates == ("a.openthing",) and notes(source) == {"b": "folder-too-large"}
    monkeypatch.setattr(objects, "ENTRIES_LIMIT", 2)
    with pytest.raises(TooMuchError, match="more than 2 entries"):
        tree_source(repo.root, stack)


def test_a_folder_of_a_commit_is_read_by_itself(repo: Repo, stack: ExitStack) -> None:
    """Paths are below it."""
    write_memo(repo.root / "desk/memos", "a")
    write_memo(repo.root / "other/memos", "b")
    repo.commit()
    source = tree_source(repo.root, stack, prefix="desk")
    assert source.list_files().candidates == ("memos/a.openthing",)
    assert source.has_file("memos") and source.has_file("memos/a.openthing") and not source.has_file("other")
    assert not source.has_file("")
    with pytest.raises(SourceError, match="the folder nothing is not in the commit"):
        tree_source(repo.root, stack, prefix="nothing")


# Sites with refs


def site_of(folder: Path, text: str) -> Path:
    """A site folder with a memosite.yml."""
    folder.mkdir(exist_ok=True)
    (folder / "memosite.yml").write_text(text)
    return folder


def refs_and_commits(site: Path) -> tuple[set[Ref], str]:
    """Build, and give what is on the site and its home page."""
    build(load_config(site), clock=lambda: NOW)
    return set(archive_of(site).artifacts), (site / "_site/index.html").read_text()


def archive_of(site: Path) -> Archive:
    """What is read of a site."""
    with open_archive(load_config(site)) as handle:
        return handle.read()[0]


def test_a_ref_is_read_and_not_the_files_as_they_lie(repo: Repo, tmp_path: Path) -> None:
    """Neither what is not committed, nor what came later."""
    write_memo(repo.root / "memos/inbox", "old")
    write_memo(repo.root / "memos/inbox", "linked", body="[a](src/a.py) [b](src/b.py)")
    write_text(repo.root / "src/a.py", "")
    commit = repo.commit(at="2026-05-01T12:00:00-04:00")
    repo.git("tag", "v1")
    repo.git("remote", "add", "origin", "https://ada:sesame7731@github.com/acme/repo.git")
    write_memo(repo.root / "memos/inbox", "new")
    (repo.root / "memos/inbox/old.openthing").unlink()
    site = site_of(tmp_path / "site", "sources: [{path: ../repo, ref: v1}]\n")
    refs, home = refs_and_commits(site)
    assert refs == {("memo", "old"), ("memo", "linked")}
    assert f'v1, commit <a href="https://github.com/acme/repo/commit/{commit}">{commit[:12]}</a>' in home
    assert '<time datetime="2026-05-01T16:00:00Z">2026-05-01 12:00 −04:00</time>' in home
    page = (site / "_site/memos/linked/index.html").read_text()
    assert f"https://github.com/acme/repo/blob/{commit}/src/a.py" in page and "src/b.py" in page
    assert f"blob/{commit}/src/b.py" not in page
    assert not any(b"sesame7731" in path.read_bytes() for path in (site / "_site").rglob("*") if path.is_file())
    status = (site / "_site/status.json").read_text()
    assert f'"commit": "{commit}"' in status and '"date": "2026-05-01T16:00:00Z"' in status


def test_a_commit_has_its_own_history_and_one_that_is_not_there_stops_the_build(repo: Repo, tmp_path: Path) -> None:
    """Life lines go to the commit that was read; ref and repo in one line, also of a bare repo without commits."""
    write_memo(repo.root / "memos/inbox", "m")
    commit = repo.commit()
    repo.git("tag", "v1")
    (repo.root / "memos/read").mkdir()
    repo.git("mv", "memos/inbox/m.openthing", "memos/read/m.openthing")
    repo.commit()
    texts = ("path: ../repo, ref: v1", f"git: 'file://{repo.root}', ref: v1", "path: ../repo, ref: main")
    pages = []
    for number, text in enumerate(texts):
        site = site_of(tmp_path / f"site{number}", f"sources: [{{{text}}}]\n")
        (memo,) = archive_of(site).memos()
        life = memo.copies[0].life
        assert life is not None
        pages.append([event.kind for event in life.events])
        assert life.events[0].commit == commit
    assert pages == [["received"], ["received"], ["received", "moved"]]
    repo.commit()
    run_git(tmp_path, "init", "-q", "--bare", "empty.git")
    for text, expected in (("path: ../repo, ref: nothing", '"nothing"'), ("path: ../empty.git", '"HEAD"')):
        config = load_config(site_of(tmp_path / "site", f"sources: [{{{text}}}]\n"))
        with (
            pytest.raises(SourceError, match=f"found no commit at {expected}, expected a branch"),
            open_sources(config),
        ):
            pass


def test_two_refs_of_a_repo_are_two_sources(repo: Repo, tmp_path: Path) -> None:
    """Each with its own files, and so is a folder below the top, whose links lead to where it lies in the repo.

    A bare repo has no files that could lie anywhere: it is read at its head.
    """
    write_memo(repo.root / "memos/inbox", "both")
    repo.commit()
    repo.git("branch", "before")
    write_memo(repo.root / "memos/inbox", "later")
    write_memo(repo.root / "a desk/memos/inbox", "m")
    commit = repo.commit()
    run_git(tmp_path, "clone", "-q", "--bare", str(repo.root), "store.git")
    repo.git("remote", "add", "origin", "git@gitlab.example.org:acme/team/repo.git")
    text = "sources:\n- {path: ../repo, ref: before, name: a}\n- {path: ../repo, ref: main, name: b}\n"
    text += "- {path: ../repo/a desk, ref: main}\n- {path: ../store.git}\n"
    with open_sources(load_config(site_of(tmp_path / "site", text))) as opened:
        listed = [source.list_files().candidates for source in opened.sources]
        source, info = opened.sources[2], opened.infos[2]
        assert isinstance(source, TreeSource) and (source.prefix, source.commit) == ("a desk", commit)
    desk, both, later = (f"memos/inbox/{name}.openthing" for name in ("m", "both", "later"))
    assert listed == [(both,), (both, later), (desk,), (f"a desk/{desk}", both, later)]
    assert info.web == "https://gitlab.example.org/acme/team/repo/-/blob/{ref}/a%20desk/{path}"
    assert (info.web_ref, info.ref) == (commit, "main")
    assert (opened.infos[3].ref, opened.infos[3].commit) == ("HEAD", commit)


def test_a_folder_says_its_commit_and_its_forge(repo: Repo, tmp_path: Path) -> None:
    """Links name HEAD: what lies there need not be committed. A configured address counts before the remote's."""
    write_memo(repo.root / "memos/inbox", "m")
    repo.commit()
    repo.git("remote", "add", "origin", "ssh://git@codeberg.org/acme/repo.git")
    for text, web in (
        ("path: ../repo", "https://codeberg.org/acme/repo/src/commit/{ref}/{path}"),
        ("path: ../repo, web: 'https://x.example/{path}'", "https://x.example/{path}"),
    ):
        with open_sources(load_config(site_of(tmp_path / "site", f"sources: [{{{text}}}]\n"))) as opened:
            (info,) = opened.infos
        assert (info.web, info.web_ref) == (web, "HEAD")
    plain = folder_source(repo.root)
    assert replace(plain, name="x").has_file("memos") and ("memo", "m") in read_folders(plain).artifacts


def test_forked_processes_ask_a_git_of_their_own(tmp_path: Path) -> None:
    """One that several ask would answer one of them with what another one asked for."""
    repo = Repo(tmp_path / "repo")
    for number in range(60):
        repo.write(f"{number}.md", f"{number}\n" * (1 + number * 40))
    repo.commit("files")
    with Objects(FoundRepo(git_dir=tmp_path / "repo/.git", top=tmp_path / "repo")) as objects:
        names = {number: objects.hash_of(f"HEAD:{number}.md") for number in range(60)}
        assert objects.blob(names[0], limit=10**6) == b"0\n"

        def is_right(number: int) -> bool:
            return objects.blob(names[number], limit=10**6) == f"{number}\n".encode() * (1 + number * 40)

        assert list(run(is_right, [*names] * 20, jobs=3)) == [True] * 1_200 and is_right(1)


def test_a_commit_is_read_by_several_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They give what one gives, in the same order; each asks a git of its own."""
    repo = Repo(tmp_path / "repo")
    for number in range(120):
        write_memo(repo.root / "memos", f"m{number}", body=f"Body {number}.")
    repo.commit("memos")
    read_file, readers = TreeSource.read_file, tmp_path / "readers"

    def noted(source: TreeSource, path: str) -> object:
        with readers.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return read_file(source, path)

    monkeypatch.setattr(workers, "LIGHT", 0)
    with ExitStack() as stack, Shelf() as one, Shelf() as other:
        source = tree_source(repo.root, stack)
        serial = SourceReader(source, one).candidates(source.list_files())
        monkeypatch.setattr(TreeSource, "read_file", noted)
        assert SourceReader(source, other, jobs=2).candidates(source.list_files()) == serial
    assert len(serial) == 120
    assert str(os.getpid()) not in readers.read_text().split()
