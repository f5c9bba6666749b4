"""Whether anything that an archive is read from has changed is told without reading it."""

import mmap
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import jinja2
import pytest

import memosite
from memosite.config.loading import load_config
from memosite.reading.inputs import Inputs, compare_inputs
from memosite.reading.opening import open_sources
from memosite.sources.folder import FolderSource
from memosite.sources.listing import RECENT
from memosite.sources.tree import fetch
from memosite.store.cache import _WRITERS, PACKAGE, first_file, portable_digest, program_digest
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.repos import Repo
from tests.support.sites import EXAMPLE, build_site

SITE = "sources: [{path: engine, exclude: ['secret/**'], include: ['odd/*.txt']}]\n"
CODE, TEXT = "engine/src/gate.py", "engine/memos/inbox/one.txt"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repo with a memo, a body, a document and code, and a configuration; no test may change it."""
    made = tmp_path_factory.mktemp("made")
    write_text(made / "memosite.yml", SITE)
    repo = Repo(made / "engine")
    write_memo(repo.root / "memos/inbox", "one", body_ref="one.txt")
    repo.write("memos/inbox/one.txt", "The text.")
    repo.write("decisions/gate.md", "# Gate\n")
    repo.write("src/gate.py", "pass\n")
    repo.write("odd/list.txt", "a list\n")
    repo.write("tests/memos/inbox/sample.openthing", "{}")
    repo.commit()
    repo.git("branch", "other")
    return made


@pytest.fixture
def site(made: Path, tmp_path: Path) -> Path:
    """A copy whose files are new."""
    return shutil.copytree(made, tmp_path, copy_function=shutil.copy, dirs_exist_ok=True)


def digest(site: Path) -> str:
    """The digest of a site as of long after now, when nothing in it counts as recent."""
    return compare_inputs(load_config(site), "", now=time.time_ns() + 2 * RECENT).digest


def compare(site: Path, known: str) -> Inputs:
    """The comparison of a site with a known digest."""
    return compare_inputs(load_config(site), known)


def test_nothing_has_changed_where_nothing_was_touched(site: Path) -> None:
    """However often it is asked, and whether or not files were recent; the cache may hold anything."""
    known = compare_inputs(load_config(site), "").digest
    assert compare(site, known).is_same and compare(site, compare(site, known).digest).is_same
    assert compare(site, digest(site)).is_same
    for damaged in ("", "1", "-", "x-y", "1-" + "0" * 64, "9" * 5000 + "-", "²-0"):
        assert not compare(site, damaged).is_same


def in_repo(*arguments: str) -> Callable[[Path], object]:
    """Runs git in the site's repo."""
    return lambda site: Repo(site / "engine", is_new=False).git(*arguments)


def writing(path: str, text: str) -> Callable[[Path], object]:
    """Writes a file of the site."""
    return lambda site: write_text(site / path, text)


def rewrite(site: Path) -> None:
    """Put other words of the same length into a file that keeps its times."""
    path = site / TEXT
    status = path.stat()
    path.write_text(path.read_text().replace("The", "Any"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def become_link(site: Path) -> None:
    """Put a link where a file was."""
    (site / CODE).unlink()
    (site / CODE).symlink_to("elsewhere")


AUTHOR = "--author=Somebody Else <s@example.org>"
CHANGES: dict[str, Callable[[Path], object]] = {
    "an edit": writing(TEXT, "Another text."),
    "an edit of the same length with the same times": rewrite,
    "a new memo": lambda site: write_memo(site / "engine/memos/inbox", "two"),
    "a removal": lambda site: (site / TEXT).unlink(),
    "a move to another mailbox": lambda site: shutil.move(site / "engine/memos/inbox", site / "engine/memos/read"),
    "a document": writing("engine/decisions/gate.md", "# Gate two\n"),
    "what is included": writing("engine/odd/list.txt", "another list\n"),
    "a file that memos may mention": writing("engine/src/new.py", ""),
    "a sample that memos may mention": writing("engine/tests/new.py", ""),
    "a link in place of a file": become_link,
    "a file that nobody may read any more": lambda site: (site / TEXT).chmod(0),
    "a repo in the source": lambda site: (site / "engine/memos/.git").mkdir(),
    "a commit": in_repo("commit", "--allow-empty", "-m", "empty"),
    "another branch": in_repo("switch", "--quiet", "--orphan", "third"),
    "a commit under another name": in_repo("commit", "--amend", "--allow-empty", "-m", "other", AUTHOR),
    "objects that a memo may mention": in_repo("stash", "push", "--include-untracked", "--all"),
    "the address of the forge": in_repo("remote", "add", "origin", "https://x.example/y.git"),
    "a shallow clone": writing("engine/.git/shallow", "0" * 40),
    "packed refs": in_repo("pack-refs", "--all"),
    "no repo any more": lambda site: shutil.rmtree(site / "engine/.git"),
    "the configuration": writing("memosite.yml", SITE + "positions: {people: [director]}\n"),
    "another source": writing("memosite.yml", SITE.replace("engine", "engine/decisions")),
    "the ledger": writing("_site/archive/ledger.jsonl", ""),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("recent", [True, False])
def test_every_change_is_told(change: str, recent: bool, site: Path) -> None:
    """Whether the digest was taken right after the files were written, or long after."""
    if change == "objects that a memo may mention":
        write_memo(site / "engine/memos/inbox", "untracked")
    known = compare_inputs(load_config(site), "").digest if recent else digest(site)
    CHANGES[change](site)
    assert not compare(site, known).is_same


HARMLESS: dict[str, Callable[[Path], object]] = {
    "git's index": in_repo("update-index", "--refresh", "--force-write-index"),
    "code": writing(CODE, "raise SystemExit\n"),
    "samples": writing("engine/tests/memos/inbox/sample.openthing", "{1}"),
    "the cache": writing(".memosite/search/seal.json", "{}"),
    "the site": writing("_site/index.html", ""),
    "what is excluded": writing("engine/secret/plan.md", ""),
}


def test_what_nothing_is_read_from_may_change(site: Path) -> None:
    """Work on code does not make an archive be read again."""
    (site / "engine/secret").mkdir()
    known = digest(site)
    for name, change in HARMLESS.items():
        change(site)
        assert compare(site, known).is_same, name


@pytest.mark.parametrize("seconds", [0, 1], ids=["now", "in the future"])
def test_a_second_write_within_one_tick_of_the_clock_is_told(site: Path, seconds: int) -> None:
    """A mapped file is written without its size, times or inode changing: only its contents tell.

    So they do of files from the future: a clock that was wrong when they were written.
    """
    file, now = site / TEXT, time.time_ns() + seconds * 100 * RECENT
    with file.open("r+b") as stream, mmap.mmap(stream.fileno(), 0) as mapped:
        mapped[0:1] = b"t"
        if seconds:
            os.utime(file, ns=(now, now))
        known = digest(site) if seconds else compare_inputs(load_config(site), "").digest
        before = file.stat()
        mapped[0:1] = b"A"
        assert file.stat() == before
        assert not compare(site, known).is_same


def test_what_is_no_longer_recent_is_compared_by_its_state_the_next_time(site: Path) -> None:
    """So that reading contents ends once the files are old."""
    config = load_config(site)
    known = compare_inputs(config, "").digest
    later = time.time_ns() + 2 * RECENT
    renewed = compare_inputs(config, known, now=later)
    assert renewed.is_same and renewed.digest != known
    assert compare_inputs(config, renewed.digest, now=later + 1) == renewed


def test_a_commit_after_git_add_is_told_and_so_is_the_add(site: Path) -> None:
    """Adding writes the file into the repo, committing makes it received."""
    write_memo(site / "engine/memos/inbox", "two")
    untracked = digest(site)
    in_repo("add", "--all")(site)
    added = compare(site, untracked)
    assert not added.is_same
    in_repo("commit", "--quiet", "-m", "two")(site)
    assert not compare(site, added.digest).is_same


def test_refs_in_tables_count_by_their_list_and_no_file_outside_is_read(site: Path) -> None:
    """Of reftables HEAD says nothing, and each commit makes another table; a head that leads out is git's."""
    write_text(site / "engine/.git/HEAD", "ref: refs/heads/.invalid\n")
    write_text(site / "engine/.git/reftable/tables.list", "0x1-0x1-aaaa.ref\n")
    known = digest(site)
    assert compare(site, known).is_same
    write_text(site / "engine/.git/reftable/tables.list", "0x1-0x1-bbbb.ref\n")
    assert not compare(site, known).is_same
    os.mkfifo(site / "fifo")
    for name in ("refs/../../../fifo", "../../fifo", str(site / "fifo")):
        write_text(site / "engine/.git/HEAD", f"ref: {name}\n")
        known = digest(site)
        assert compare(site, known).is_same


def test_a_ref_counts_by_its_commit(site: Path) -> None:
    """Files as they lie make no difference to a source that is read from a branch."""
    write_text(site / "memosite.yml", "sources: [{path: engine, ref: other}]\n")
    known = digest(site)
    write_memo(site / "engine/memos/inbox", "two")
    assert compare(site, known).is_same
    in_repo("branch", "--force", "other", "other@{0}")(site)
    assert compare(site, known).is_same
    in_repo("add", "--all")(site)
    in_repo("commit", "--quiet", "-m", "two")(site)
    in_repo("branch", "--force", "other", "main")(site)
    assert not compare(site, known).is_same


def test_a_remote_counts_as_it_was_last_fetched(site: Path) -> None:
    """Nothing is fetched to compare."""
    url = f"file://{site / 'engine'}"
    write_text(site / "memosite.yml", f"sources: [{{git: '{url}', name: engine}}]\n")
    never = digest(site)
    cache = load_config(site).cache
    fetch(url, "HEAD", cache=cache)
    known = digest(site)
    assert not compare(site, never).is_same
    in_repo("commit", "--quiet", "--allow-empty", "-m", "more")(site)
    assert compare(site, known).is_same
    fetch(url, "HEAD", cache=cache)
    assert not compare(site, known).is_same


def test_further_folders_count_where_they_are_named(site: Path) -> None:
    """Such as a theme's; also by what a link in it leads to: a theme may hold a file once and link to it."""
    theme = site / "theme"
    write_text(theme / "static/site.css", "a {}")
    write_text(site / "shared/house.css", "p { color: red }")
    (theme / "static/house.css").symlink_to(site / "shared/house.css")
    config = load_config(site)
    for change in ("theme/static/site.css", "shared/house.css"):
        known = compare_inputs(config, "", also=[theme / "static"]).digest
        assert compare_inputs(config, known, also=[theme / "static"]).is_same
        write_text(site / change, "b {}")
        assert not compare_inputs(config, known, also=[theme / "static"]).is_same


def listed(site: Path) -> list[Path]:
    """Every file that reading a site may open, whatever Markdown begins with."""
    found: list[Path] = []
    with open_sources(load_config(site)) as opened:
        for source in opened.sources:
            assert isinstance(source, FolderSource)
            listing = source.list_files()
            found += [source.root / path for path in (*listing.candidates, *listing.others)]
    return found


def test_every_file_that_is_listed_counts_and_further_work_trees_have_a_head_of_their_own(tmp_path: Path) -> None:
    """In a copy of the demonstration, each by itself; branches are in the first one's repo, outside of the site."""
    shutil.copytree(EXAMPLE, tmp_path / "site")
    files = listed(tmp_path / "site")
    assert len(files) > 100
    known = digest(tmp_path / "site")
    for file in files:
        times = file.stat()
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
        found = compare(tmp_path / "site", known)
        assert not found.is_same, file
        known = digest(tmp_path / "site")
    tmp_path /= "two"
    first = Repo(tmp_path / "first")
    write_memo(first.root / "memos/inbox", "one")
    first.commit()
    first.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "site/second"))
    site = tmp_path / "site"
    known = digest(site)
    assert compare(site, known).is_same
    Repo(site / "second", is_new=False).git("commit", "--quiet", "--allow-empty", "-m", "more")
    assert not compare(site, known).is_same


def test_names_cannot_be_taken_for_states(tmp_path: Path) -> None:
    """A name may hold line breaks, quotes and bytes that are no UTF-8."""
    write_memo(tmp_path / "memos/inbox", "one")
    for name in (b"a\nb.md", b"a'), ('b.md", b"\xff\xfe.md", "\u2028.md".encode()):
        known = digest(tmp_path)
        (tmp_path / os.fsdecode(name)).touch()
        assert not compare(tmp_path, known).is_same and compare(tmp_path, digest(tmp_path)).is_same


@pytest.mark.parametrize("named", ["HEAD", ".git"])
def test_a_name_with_a_nul_in_a_repo_is_no_fault(named: str, tmp_path: Path) -> None:
    """Anybody may have made the repo: it is built without its history."""
    memos = tmp_path / "repo/memos/inbox"
    write_memo(memos, "2026-05-01-1430--a--b--first")
    (tmp_path / "memosite.yml").write_text("sources:\n  - path: repo\n")
    if named == "HEAD":
        Repo(tmp_path / "repo")
        (tmp_path / "repo/.git/HEAD").write_bytes(b"ref: refs/heads/a\0b\n")
    else:
        (tmp_path / "repo/.git").write_bytes(b"gitdir: a\0b\n")
    for _ in range(2):
        build_site(tmp_path, "--jobs", 1)


# What memosite itself is made of


def test_the_digest_depends_on_modules_and_versions_and_for_other_machines_not_on_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another module, or another jinja2 or markdown-it-py, may write other bytes."""
    monkeypatch.setattr("memosite.store.cache.PACKAGE", tmp_path)
    found = []
    for change in (
        lambda: write_text(tmp_path / "a.py", "1"),
        lambda: write_text(tmp_path / "b/a.py", "12"),
        lambda: write_text(tmp_path / "b/a.py", "123"),
        lambda: monkeypatch.setattr("memosite.store.cache.first_file", lambda name: (name, 1, 2)),
    ):
        change()
        program_digest.cache_clear()
        found.append(program_digest())
    program_digest.cache_clear()
    assert len(set(found)) == 4
    monkeypatch.setattr("memosite.store.cache.PACKAGE", tmp_path / "two")
    found = []
    for change in (
        lambda: write_text(tmp_path / "two/a.py", "1"),
        lambda: os.utime(tmp_path / "two/a.py", (1, 1)),
        lambda: write_text(tmp_path / "two/a.py", "2"),
        lambda: monkeypatch.setattr("importlib.metadata.version", lambda name: f"{name} of tomorrow"),
    ):
        change()
        portable_digest.cache_clear()
        found.append(portable_digest())
    portable_digest.cache_clear()
    assert found[0] == found[1] and len(set(found)) == 3


def test_the_digest_is_one_of_the_whole_package_and_its_libraries(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What any module wrote into a cache depends on it; a library is known by its first file, another after an upgrade.

    A build after an upgrade does not find everything as it was.
    """
    assert Path(memosite.__file__).parent == PACKAGE
    states = [first_file(library) for library in _WRITERS.values()]
    assert all(path and size and changed for path, size, changed in states), states
    assert first_file("jinja2")[:2] == (jinja2.__file__, Path(jinja2.__file__).stat().st_size)
    assert first_file("no_such_library") == ("", 0, 0)
    known = digest(site)
    assert compare(site, known).is_same
    program_digest.cache_clear()
    with monkeypatch.context() as upgraded:
        upgraded.setattr("memosite.store.cache.first_file", lambda name: (name, 1, 2))
        assert not compare(site, known).is_same
    program_digest.cache_clear()
