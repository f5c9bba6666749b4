"""Attacks: pipes, links and borrowed objects in a repo are neither waited for nor followed, and the build goes on.

Commands run in this process: one that waits for a pipe fails by the time-out of all tests.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memosite.cli import main
from tests.support.lives import NAME, put
from tests.support.repos import Repo, run_git
from tests.support.sites import build_site

Capture = pytest.CaptureFixture[str]
SECRET = "a-secret-branch"


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of two repos."""
    site = tmp_path_factory.mktemp("unharmed")
    write_repos(site, "engine", "other")
    return site


@pytest.fixture
def site(unharmed: Path, tmp_path: Path) -> Path:
    """A copy of it: the repo that is attacked, and the other one."""
    return shutil.copytree(unharmed, tmp_path / "site")


def write_repos(site: Path, *names: str) -> list[Path]:
    """Repos with a memo each; a source reads each of them."""
    repos = [Repo(site / name) for name in names]
    for repo in repos:
        put(repo, name=f"{NAME}-{repo.root.name}")
        repo.commit()
        repo.git("pack-refs", "--all")
    return [repo.root for repo in repos]


def write_many(site: Path, count: int) -> list[Path]:
    """Repos in the place of the one that is attacked."""
    shutil.rmtree(site / "engine")
    return write_repos(site, *(f"engine{number}" for number in range(count)))


def write_foreign(folder: Path, engine: Path) -> Repo:
    """A repo outside of the site, whose history nobody may see: it has a memo of the same name."""
    repo = Repo(folder)
    put(repo, name=f"{NAME}-{engine.name}", body="From elsewhere.")
    repo.commit(who=SECRET)
    return repo


def no_secret_in(site: Path) -> None:
    """Nothing that is published has what is outside, and the other repo is read."""
    assert "received" in page(site, "other")
    everything = [path for path in (site / "_site").rglob("*") if path.is_file()]
    assert not [path for path in everything if SECRET.encode() in path.read_bytes()]


def page(site: Path, name: str) -> str:
    """The page of the memo in a repo."""
    return (site / f"_site/memos/{NAME}-{name}/index.html").read_text()


def build(site: Path) -> str:
    """Build a site, and give the page of the memo in the repo that is attacked, if it is one."""
    assert main(["build", str(site), "--jobs", "1"]) == 0
    no_secret_in(site)
    return page(site, "engine") if (site / "engine").exists() else ""


def make_pipe(file: Path) -> None:
    """Put a pipe in the place of a file or folder."""
    if file.is_dir():
        shutil.rmtree(file)
    file.unlink(missing_ok=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(file)


PLACES = (
    *(".git", ".git/HEAD", ".git/config", ".git/packed-refs", ".git/shallow", ".git/refs", ".git/refs/heads/main"),
    *(".git/refs/heads/x", ".git/objects", ".git/objects/pack", ".git/objects/pack/x.idx", ".git/objects/info/x"),
    *(".git/objects/ab", ".git/objects/ab/" + "1" * 38, ".git/commondir", ".git/gitdir", ".git/refs/tags/a/b"),
)
ASIDE = (
    *(".git/index", ".git/info/attributes", ".git/info/exclude", ".git/info/grafts", ".git/config.worktree"),
    *(".git/hooks", ".git/logs", ".git/info/sparse-checkout", ".git/FETCH_HEAD", ".gitattributes", ".gitmodules"),
)


def test_a_pipe_in_a_repo_costs_its_history_alone(site: Path) -> None:
    """The page says that there is none; what is known of the last time makes no difference."""
    repos = dict(zip(PLACES, write_many(site, len(PLACES)), strict=True))
    for place, engine in repos.items():
        make_pipe(engine / place)
    for _ in range(2):
        build(site)
        read = {place for place, engine in repos.items() if "received" in page(site, engine.name)}
        assert read <= {".git/commondir", ".git/gitdir"}


def test_pipes_that_git_would_open_cost_nothing(site: Path) -> None:
    """What git is not shown it does not wait for, nor for what the configuration names and includes."""
    for place in ASIDE:
        make_pipe(site / "engine" / place)
    os.mkfifo(site / "pipe")
    with (site / "engine/.git/config").open("a") as stream:
        for setting in ("include.path", "core.attributesFile", "core.excludesFile", "mailmap.file"):
            section, key = setting.split(".")
            stream.write(f"[{section}]\n\t{key} = {site}/pipe\n")
    assert "received" in build(site)


@pytest.mark.parametrize("place", ["", ".git/HEAD", ".git/packed-refs", ".git/objects/pack/x.idx"])
def test_a_pipe_in_a_repo_that_is_read_at_a_ref_is_said(site: Path, place: str, capsys: Capture) -> None:
    """In one line, and in time: nothing else can be read of it."""
    if place:
        make_pipe(site / "engine" / place)
    (site / "memosite.yml").write_text("sources: [{path: engine, ref: main}, {path: other}]\n")
    code = main(["check", str(site), "--quiet"])
    assert (place or code == 0) and len(capsys.readouterr().err.splitlines()) <= 1


@pytest.mark.parametrize("place", ["status.json", "index.html", "archive"])
def test_a_pipe_in_the_output_is_not_waited_for(site: Path, place: str, capsys: Capture) -> None:
    """The output may have come with a clone; what is not as it was written is written again."""
    build(site)
    make_pipe(site / "_site" / place)
    capsys.readouterr()
    assert main(["build", str(site), "--jobs", "1", "--quiet"]) in {0, 2}
    assert capsys.readouterr().err.count("\n") <= 1


def test_the_ledger_or_the_configuration_as_a_pipe_is_an_error(site: Path, capsys: Capture) -> None:
    """In one line. Going on without the ledger would give addresses a new meaning."""
    build(site)
    make_pipe(site / "_site/archive/ledger.jsonl")
    capsys.readouterr()
    for command in (("build",), ("check",), ("export", "--site")):
        assert main([*command, str(site)]) == 2
        said = capsys.readouterr().err
        assert "ledger" in said and said.count("\n") == 1
    os.mkfifo(site / "memosite.yml")
    assert main(["build", str(site)]) == 2
    assert "memosite.yml: cannot be read (a pipe)" in capsys.readouterr().err


def link_ref(engine: Path, foreign: Repo) -> None:
    """The branch itself."""
    ref = engine / ".git/refs/heads/main"
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.unlink(missing_ok=True)
    ref.symlink_to(foreign.root / ".git/refs/heads/main")


def link_ref_folder(engine: Path, foreign: Repo) -> None:
    """The folder of branches."""
    shutil.rmtree(engine / ".git/refs/heads")
    (engine / ".git/refs/heads").symlink_to(foreign.root / ".git/refs/heads")


def link_objects(engine: Path, foreign: Repo) -> None:
    """Each object of the other repo, and its commit as the branch."""
    for file in (foreign.root / ".git/objects").glob("??/*"):
        place = engine / ".git/objects" / file.parent.name / file.name
        place.parent.mkdir(exist_ok=True)
        if not place.exists():
            place.symlink_to(file)
    (engine / ".git/refs/heads/main").write_text(foreign.head + "\n")


def link_object_folders(engine: Path, foreign: Repo) -> None:
    """Each folder of objects."""
    shutil.rmtree(engine / ".git/objects")
    (engine / ".git/objects").mkdir()
    for folder in (foreign.root / ".git/objects").glob("??"):
        (engine / ".git/objects" / folder.name).symlink_to(folder)
    (engine / ".git/refs/heads/main").write_text(foreign.head + "\n")


def link_pack(engine: Path, foreign: Repo) -> None:
    """A pack with its index."""
    foreign.git("repack", "-adq")
    for file in (foreign.root / ".git/objects/pack").iterdir():
        (engine / ".git/objects/pack" / file.name).symlink_to(file)
    (engine / ".git/refs/heads/main").write_text(foreign.head + "\n")


def link_git(engine: Path, foreign: Repo) -> None:
    """The whole repo."""
    shutil.rmtree(engine / ".git")
    (engine / ".git").symlink_to(foreign.root / ".git")


def name_git(engine: Path, foreign: Repo) -> None:
    """A file that names it."""
    shutil.rmtree(engine / ".git")
    (engine / ".git").write_text(f"gitdir: {foreign.root}/.git\n")


def borrow(engine: Path, foreign: Repo) -> None:
    """Objects by way of alternates."""
    (engine / ".git/objects/info").mkdir(exist_ok=True)
    (engine / ".git/objects/info/alternates").write_text(f"{foreign.root}/.git/objects\n")
    (engine / ".git/refs/heads/main").write_text(foreign.head + "\n")


def borrow_by_link(engine: Path, foreign: Repo) -> None:
    """The same, and the file that says so is itself elsewhere."""
    (foreign.root / "list").write_text(f"{foreign.root}/.git/objects\n")
    (engine / ".git/objects/info").mkdir(exist_ok=True)
    (engine / ".git/objects/info/alternates").symlink_to(foreign.root / "list")
    (engine / ".git/refs/heads/main").write_text(foreign.head + "\n")


def lead_head_out(engine: Path, foreign: Repo) -> None:
    """HEAD names a file of the other repo."""
    path = os.path.relpath(foreign.root / ".git/refs/heads/main", engine / ".git")
    (engine / ".git/HEAD").write_text(f"ref: refs/../{path}\n")


def share(engine: Path, foreign: Repo) -> None:
    """As if it were a further work tree."""
    (engine / ".git/commondir").write_text(f"{foreign.root}/.git\n")


ATTACKS: tuple[Callable[[Path, Repo], None], ...] = (
    *(link_ref, link_ref_folder, link_objects, link_object_folders, link_pack, link_git, name_git, borrow),
    *(borrow_by_link, lead_head_out, share),
)


@pytest.mark.parametrize("form", ["folder", "ref"])
def test_nothing_leads_out_of_the_source(site: Path, form: str, capsys: Capture) -> None:
    """Neither a link nor a borrowed object: what is outside is in no page."""
    engines = write_many(site, len(ATTACKS))
    for attack, engine in zip(ATTACKS, engines, strict=True):
        (engine / ".git/refs/heads").mkdir(parents=True, exist_ok=True)
        attack(engine, write_foreign(site.parent / f"foreign-{engine.name}", engine))
    if form == "folder":
        build(site)
        assert all(SECRET not in page(site, engine.name) for engine in engines)
        return
    refused: set[Callable[[Path, Repo], None]] = set()
    read: list[str] = []
    for attack, engine in zip(ATTACKS, engines, strict=True):
        source = f", {{path: {engine.name}, ref: main}}"
        (site / "memosite.yml").write_text(f"sources: [{{path: other}}{source}]\n")
        capsys.readouterr()
        if main(["check", str(site), "--quiet"]) == 2:
            refused.add(attack)
        else:
            read.append(source)
        assert len(capsys.readouterr().err.splitlines()) <= 1
    assert set(ATTACKS) - refused == {link_ref, link_ref_folder, link_objects, lead_head_out}
    (site / "memosite.yml").write_text(f"sources: [{{path: other}}{''.join(read)}]\n")
    assert main(["build", str(site), "--jobs", "1", "--quiet"]) in {0, 1}
    no_secret_in(site)


def test_an_old_head_that_is_a_link_to_a_ref_is_read(site: Path) -> None:
    """So git wrote it once; the link is read, and not followed."""
    head = site / "engine/.git/HEAD"
    head.unlink()
    head.symlink_to("refs/heads/main")
    assert "received" in build(site)


def test_refs_of_every_kind_are_read(tmp_path: Path) -> None:
    """Loose and packed, below folders, one in the place of a packed one, and those that lead to others."""
    repo = Repo(tmp_path / "site/engine")
    put(repo)
    first = repo.commit()
    repo.git("branch", "a/b/c")
    repo.git("pack-refs", "--all")
    put(repo, body="Edited.")
    repo.commit()
    repo.git("tag", "-a", "v1", "-m", "First")
    repo.git("symbolic-ref", "refs/heads/alias", "refs/heads/a/b/c")
    run_git(repo.root, "update-ref", "refs/heads/moved", first)
    names = ("HEAD", "main", "a/b/c", "v1", "alias", "moved", "refs/tags/v1", first[:12])
    text = "".join(f"- {{path: engine, ref: {name}, name: n{number}}}\n" for number, name in enumerate(names))
    (tmp_path / "site/memosite.yml").write_text(f"sources:\n{text}")
    home = (build_site(tmp_path / "site") / "index.html").read_text()
    assert home.count(first[:12]) >= 4 and home.count(repo.head[:12]) >= 3


@pytest.mark.parametrize("commit", [False, True])
@pytest.mark.parametrize(
    "name", ["config", "refs/heads/main", "info/exclude", "logs/HEAD", "index", "objects/pack/x.idx"]
)
def test_mark_read_moves_nothing_where_a_pipe_is(tmp_path: Path, name: str, *, commit: bool, capsys: Capture) -> None:
    """Git would wait for it, perhaps after the memo was moved."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    repo.commit()
    make_pipe(repo.root / ".git" / name)
    memo = repo.root / f"memos/inbox/{NAME}.openthing"
    assert main(["mark-read", *(["--commit"] if commit else []), str(memo)]) == 2
    assert "found a pipe" in capsys.readouterr().err
    assert memo.is_file()
