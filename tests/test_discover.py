"""Zero configuration: the sources below a folder are found by the stores in them."""

import os
import sys
from itertools import count
from pathlib import Path

import pytest

from memosite.commands.init import write_config
from memosite.config import loading as module
from memosite.config.loading import discover, load_config
from memosite.facts.errors import ConfigError, SourceError
from memosite.reading.inputs import compare_inputs
from memosite.reading.opening import open_sources
from tests.support.files import fill, write_text

BRANCH = "entire/checkpoints/v1"


def found(site: Path, *ignore: Path) -> dict[str, str]:
    """The names of the sources and their folders relative to the site."""
    found = discover(site, ignore=ignore)
    return {one.name: one.root.relative_to(site.resolve()).as_posix() for one in found if one.root}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """An empty folder named `site`."""
    (tmp_path / "site").mkdir()
    return tmp_path / "site"


def test_the_folder_that_holds_a_store_is_a_source_and_one_of_its_name_alone_is_none(site: Path) -> None:
    """Each kind of store, with an envelope or a body at most three levels deep, without git; the site itself, too."""
    fill(site, "memos/a.md", "notes/todo.txt", "letters/a.openthing", "memos.openthing")
    fill(site, "org/readme.md", "org/deeper/acme.openthing")
    with pytest.raises(ConfigError, match="found no memos/, notes/ or transcripts/ below it"):
        discover(site, ignore=())
    for number, file in enumerate((
        *("memos/a.openthing", "memos/inbox/a.openthing", "memos/inbox/2026/a.openthing", "memos/inbox/a.body.md"),
        *("notes/engineer/a.openthing", "transcripts/engineer/A.OPENTHING"),
        *("org/acme.openthing", "org/acme.opencatalog"),
    )):  # fmt: skip
        assert found(fill(site / f"in-{number}", file)) == {f"in-{number}": "."}, file
        assert found(fill(site / f"above-{number}", f"repo/{file}")) == {"repo": "repo"}, file


def test_documents_are_an_archive_where_no_store_is(site: Path) -> None:
    """At the top of a repo or without one; beside a store they are other people's, and elsewhere they are not read."""
    for number, file in enumerate(("docs/adr/0001-gate.md", "adr/2026/1.md", "decisions/a.MD", "doc/decisions/a.md")):
        assert found(fill(site / f"in-{number}", file)) == {f"in-{number}": "."}, file
        assert found(fill(site / f"above-{number}", f"repo/{file}")) == {"repo": "repo"}, file
        assert found(fill(site / f"git-{number}", ".git/HEAD", file)) == {f"git-{number}": "."}, file
        assert found(fill(site / f"beside-{number}", f"repo/{file}", "desk/memos/a.openthing")) == {"desk": "desk"}
    for number, file in enumerate(
        ("docs/a.md", "docs/adr/notes.txt", "tests/adr/a.md", "repo/.git/HEAD repo/x/adr/a.md")
    ):
        with pytest.raises(ConfigError, match="no docs/adr/ or decisions/ with Markdown"):
            found(fill(site / f"none-{number}", *file.split()))
    with pytest.raises(ConfigError, match="found a adr folder alone"):
        found(fill(site / "in-0/docs/adr"))


FOUND: dict[str, tuple[str, dict[str, str]]] = {
    # Working roots below a repo's root are of that repo; a repo inside a repo is a source of its own
    "the nearest repo around a store": (
        "engine/.git/HEAD engine/t/a/memos engine/t/b/notes engine/in/spec/.git engine/in/spec/memos x/desk/memos",
        {"engine": "engine", "spec": "engine/in/spec", "desk": "x/desk"},
    ),
    "the site itself as the repo": (".git/HEAD memos teams/a/memos", {"site": "."}),
    "a repo around the site does not count": ("../.git/HEAD desk/memos", {"desk": "desk"}),
    "a mailbox that is called like a store": ("memos/notes", {"site": "."}),
    "a hidden folder": (".agents/scribe/memos", {"scribe": ".agents/scribe"}),
    # Told by the file that marks them, whatever they are called
    "no virtual environments": ("env3/pyvenv.cfg env3/lib/memos real/memos", {"real": "real"}),
    "no built sites": ("public/.memosite-site public/a/memos real/memos", {"real": "real"}),
    # On a clash each name is the path with - for /, so that none depends on the order of the others
    "equal folder names": (
        "a/engine/memos b/Engine/memos web/memos", {"a-engine": "a/engine", "b-Engine": "b/Engine", "web": "web"}
    ),
    "paths that clash too are numbered": (
        "a/b-c/memos a-b/c/memos z/b-c/memos z/c/memos a-b-c-2/memos",
        {"a-b-c": "a/b-c", "a-b-c-3": "a-b/c", "a-b-c-2": "a-b-c-2", "z-b-c": "z/b-c", "z-c": "z/c"},
    ),
    "the site has no path that could name it": ("memos site/.git/HEAD site/memos", {"site": ".", "site-2": "site"}),
    # Folder by folder: a folder comes before what lies in it and before its longer namesakes
    "in the order of paths": ("b/memos a-x/memos a/q/memos a/memos", {"a": "a", "q": "a/q", "a-x": "a-x", "b": "b"}),
}  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), FOUND.values(), ids=FOUND)
def test_sources_are_found_with_a_name_for_each(site: Path, files: str, expected: dict[str, str]) -> None:
    """The folders that hold stores, in the order of their paths."""
    is_store = ("memos", "notes")
    fill(site, *(f"{path}/x.openthing" if path.endswith(is_store) else path for path in files.split()))
    assert list(found(site).items()) == sorted(expected.items(), key=lambda one: one[1].split("/"))


def test_folders_that_hold_no_artifacts_are_not_entered_and_output_and_cache_are_ignored(site: Path) -> None:
    """Nor what tools keep, nor samples; also by a link; a folder of samples that is named is; of whatever name."""
    kept = (".git", "node_modules", ".memosite", "__pycache__", ".venv", "examples", "tests", "fixtures", "conformance")
    fill(site, *(f"desk/{folder}/repo/memos/x.openthing" for folder in kept), "real/memos/x.openthing")
    assert found(site) == {"real": "real"}
    fill(site, "made/memos/x.openthing", "kept/memos/x.openthing")
    (site / "link").symlink_to(site / "kept")
    assert found(site, site / "made", site / "link") == {"real": "real"}
    assert found(fill(site / "examples", "memos/x.openthing")) == {"examples": "."}
    assert found(fill(site / "odd", "a\nb/memos/x.openthing")) == {"a-b": "a\nb"}


def test_links_are_not_followed(site: Path) -> None:
    """Neither to folders nor to files: what lies elsewhere is not of this site."""
    fill(site.parent / "elsewhere", "repo/memos/x.openthing")
    fill(site, "real/memos/x.openthing", "desk/memos/readme.md")
    (site / "repo").symlink_to(site.parent / "elsewhere/repo")
    (site / "real/loop").symlink_to(site)
    (site / "desk/memos/x.openthing").symlink_to(site.parent / "elsewhere/repo/memos/x.openthing")
    assert found(site) == {"real": "real"}


def test_a_folder_that_cannot_be_read_is_skipped(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One closed folder does not stop the search; the site itself must be open."""
    fill(site, "closed/memos/x.openthing", "real/memos/x.openthing")
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if path.name in {"closed", "shut"}:
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert found(site) == {"real": "real"}
    with pytest.raises(SourceError, match=r"closed: cannot be read \(Permission denied\)"):
        discover(site / "closed", ignore=())


def test_the_search_ends_at_a_depth_and_at_a_number_of_folders(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies deeper is not found; a home folder given by mistake ends the command, not the machine."""
    fill(site, "1/2/3/desk/memos/x.openthing", "near/memos/x.openthing")
    monkeypatch.setattr(module, "FOLDER_DEPTH", 4)
    assert found(site) == {"near": "near"}
    monkeypatch.setattr(module, "FOLDER_DEPTH", 5)
    assert found(site) == {"desk": "1/2/3/desk", "near": "near"}
    many = fill(site / "many", "a/memos/x.openthing", "b/memos/x.openthing")
    monkeypatch.setattr(module, "FOLDER_LIMIT", 4)
    with pytest.raises(SourceError, match=r"more than 4 folders to search; name sources in memosite\.yml"):
        discover(many, ignore=())
    monkeypatch.setattr(module, "FOLDER_LIMIT", 5)
    assert found(many) == {"a": "a", "b": "b"}


def test_a_branch_of_checkpoints_is_the_source_where_nothing_else_is(site: Path) -> None:
    """Its own before that of origin, packed or not; no branch of another name; and `init` writes it down."""
    write_text(site / ".git/packed-refs", f"# pack-refs with: peeled\n{'0' * 40} refs/remotes/origin/{BRANCH}\n")
    write_text(site / f".git/refs/heads/not-{BRANCH}", "0" * 40)
    assert [(one.root, one.ref) for one in discover(site, ignore=())] == [(site, f"origin/{BRANCH}")]
    write_text(site / f".git/refs/heads/{BRANCH}", "0" * 40)
    assert [one.ref for one in discover(site, ignore=())] == [BRANCH]
    assert f"  - path: .\n    ref: {BRANCH}\n" in write_config(site).read_text(encoding="utf-8")
    fill(site, "memos/x.openthing")
    assert [one.ref for one in discover(site, ignore=())] == [None]


def test_nothing_found_says_what_was_looked_for_and_how_to_go_on(site: Path) -> None:
    """A built site and a lone store, which are easily named by mistake, are said to be such."""
    with pytest.raises(ConfigError) as caught:
        discover(site, ignore=())
    assert str(caught.value) == (
        f"{site}: found no memos/, notes/ or transcripts/ below it with an .openthing or .body.md file, no org/ "
        "with an orgdef, no store of memory-layer, memory-store, mif or wyren, no session logs of agents, and no "
        "docs/adr/ or decisions/ with Markdown at the top of a repo, expected at least one; "
        "name the folder of the site with --site, or sources in memosite.yml, see memosite init --help"
    )
    fill(site, "desk/memos/x.openthing", "public/.memosite-site", "public/memos/a/original.openthing")
    with pytest.raises(ConfigError, match="found a site that memosite wrote, expected the repos it is made from"):
        discover(site / "public", ignore=())
    with pytest.raises(ConfigError, match=r"found a memos folder alone, expected the folder that holds it; name .*k$"):
        discover(site / "desk/memos", ignore=())


def test_work_to_find_and_open_sources_grows_with_their_number(site: Path) -> None:
    """Twice the repos take twice the calls: opening 800 once compared each with each, for 16 seconds."""
    few, many = (_calls_to_open(site, number) for number in (60, 120))
    assert many < 2.2 * few


def _calls_to_open(site: Path, number: int) -> int:
    """How many calls of functions it takes to discover, compare and open this number of sources."""
    for repo in range(number):
        fill(site, f"repo{repo}/memos/a.openthing")
    calls = count()
    sys.setprofile(lambda *_: next(calls))
    try:
        config = load_config(site)
        assert not compare_inputs(config, "").is_same
        with open_sources(config) as opened:
            assert len(opened.sources) == number
    finally:
        sys.setprofile(None)
    return next(calls)
