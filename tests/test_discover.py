"""Zero configuration: the sources below a folder are found by the stores in them."""

import os
import sys
from itertools import count
from pathlib import Path

import pytest

from memosite.config import loading as module
from memosite.config.loading import discover, load_config
from memosite.facts.errors import ConfigError, SourceError
from memosite.reading.inputs import compare_inputs
from memosite.reading.opening import open_sources
from tests.support.files import fill


def found(site: Path, *ignore: Path) -> dict[str, str]:
    """The names of the sources and their folders relative to the site."""
    found = discover(site, ignore=ignore)
    return {one.name: one.root.relative_to(site.resolve()).as_posix() for one in found if one.root}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """An empty folder named `site`."""
    (tmp_path / "site").mkdir()
    return tmp_path / "site"


@pytest.mark.parametrize(
    "file",
    [
        "memos/a.openthing",
        "memos/inbox/a.openthing",
        "memos/inbox/2026/a.openthing",
        "memos/inbox/a.body.md",
        "notes/engineer/a.openthing",
        "transcripts/engineer/A.OPENTHING",
        "org/acme.openthing",
        "org/acme.opencatalog",
    ],
)
def test_the_folder_that_holds_a_store_is_a_source(site: Path, file: str) -> None:
    """Each kind of store, without git; run in the repo itself, the site is the source."""
    assert found(fill(site, file)) == {"site": "."}
    assert found(fill(site.parent / "other", f"repo/{file}")) == {"repo": "repo"}


@pytest.mark.parametrize(
    "file",
    [
        "memos/a.md",
        "notes/todo.txt",
        "letters/a.openthing",
        "memos.openthing",
        "org/readme.md",
        "org/deeper/acme.openthing",
    ],
)
def test_a_folder_of_the_right_name_alone_is_no_store(site: Path, file: str) -> None:
    """A store has an envelope or a body in it, at most three levels deep."""
    with pytest.raises(ConfigError, match="found no memos/, notes/ or transcripts/ below it"):
        discover(fill(site, file), ignore=())


def test_a_store_belongs_to_the_nearest_repo_around_it(site: Path) -> None:
    """Working roots below a repo's root are of that repo; a repo inside a repo is a source of its own."""
    fill(
        site,
        "engine/.git/HEAD",
        "engine/teams/a/memos/x.openthing",
        "engine/teams/b/notes/b/x.openthing",
        "engine/vendor/spec/.git",
        "engine/vendor/spec/memos/inbox/x.openthing",
        "loose/desk/memos/x.openthing",
    )
    assert found(site) == {"desk": "loose/desk", "engine": "engine", "spec": "engine/vendor/spec"}


def test_the_site_itself_may_be_the_repo(site: Path) -> None:
    """In a repo, everything below belongs to it, and one source is the result."""
    assert found(fill(site, ".git/HEAD", "memos/x.openthing", "teams/a/memos/x.openthing")) == {"site": "."}


def test_a_repo_around_the_site_does_not_count(site: Path) -> None:
    """A source never lies above the folder that was named."""
    fill(site.parent, ".git/HEAD")
    assert found(fill(site, "desk/memos/x.openthing")) == {"desk": "desk"}


def test_a_store_inside_a_store_is_part_of_the_outer_one(site: Path) -> None:
    """A mailbox that is called like a store makes no source of its own."""
    assert found(fill(site, "memos/notes/x.openthing")) == {"site": "."}


def test_hidden_folders_are_searched(site: Path) -> None:
    """Agents keep their working directories in hidden folders."""
    assert found(fill(site, ".agents/scribe/memos/x.openthing")) == {"scribe": ".agents/scribe"}


@pytest.mark.parametrize(
    "folder",
    [".git", "node_modules", ".memosite", "__pycache__", ".venv", "examples", "tests", "fixtures", "conformance"],
)
def test_folders_that_hold_no_artifacts_are_not_entered(site: Path, folder: str) -> None:
    """Neither what tools keep nor samples of artifacts."""
    fill(site, f"desk/{folder}/repo/memos/x.openthing", "real/memos/x.openthing")
    assert found(site) == {"real": "real"}


def test_virtual_environments_and_built_sites_are_not_entered(site: Path) -> None:
    """They are told by the file that marks them, whatever they are called."""
    fill(
        site,
        "env3/pyvenv.cfg",
        "env3/lib/memos/x.openthing",
        "public/.memosite-site",
        "public/memos/a/original.openthing",
        "real/memos/x.openthing",
    )
    assert found(site) == {"real": "real"}


def test_a_site_named_like_a_folder_of_samples_is_searched(site: Path) -> None:
    """The folder that was named is meant, however it is called."""
    assert found(fill(site / "examples", "memos/x.openthing")) == {"examples": "."}


def test_output_and_cache_are_ignored(site: Path) -> None:
    """Also when they are named through a link."""
    fill(site, "made/memos/x.openthing", "kept/memos/x.openthing", "real/memos/x.openthing")
    (site / "link").symlink_to(site / "kept")
    assert found(site, site / "made", site / "link") == {"real": "real"}


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


def test_equal_folder_names_become_paths(site: Path) -> None:
    """On a clash each name is the path with - for /, so that none depends on the order of the others."""
    fill(site, "a/engine/memos/x.openthing", "b/Engine/memos/x.openthing", "web/memos/x.openthing")
    assert found(site) == {"a-engine": "a/engine", "b-Engine": "b/Engine", "web": "web"}


def test_paths_that_clash_too_are_numbered(site: Path) -> None:
    """A number is added that no other source has already."""
    fill(
        site,
        "a/b-c/memos/x.openthing",
        "a-b/c/memos/x.openthing",
        "z/b-c/memos/x.openthing",
        "z/c/memos/x.openthing",
        "a-b-c-2/memos/x.openthing",
    )
    assert found(site) == {"a-b-c": "a/b-c", "a-b-c-3": "a-b/c", "a-b-c-2": "a-b-c-2", "z-b-c": "z/b-c", "z-c": "z/c"}


def test_the_site_keeps_its_name_on_a_clash(site: Path) -> None:
    """It has no path below itself that could name it."""
    fill(site, "memos/x.openthing", "site/.git/HEAD", "site/memos/x.openthing")
    assert found(site) == {"site": ".", "site-2": "site"}


def test_names_hold_no_control_characters(site: Path) -> None:
    """A folder may be called anything; a name goes into pages and paths."""
    assert found(fill(site, "a\nb/memos/x.openthing")) == {"a-b": "a\nb"}


def test_sources_come_in_the_order_of_their_paths(site: Path) -> None:
    """Folder by folder, so that a folder comes before what lies in it and before its longer namesakes."""
    fill(site, "b/memos/x.openthing", "a-x/memos/x.openthing", "a/q/memos/x.openthing", "a/memos/x.openthing")
    assert list(found(site).values()) == ["a", "a/q", "a-x", "b"]


def test_the_search_ends_at_a_depth(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies deeper is not found, and nothing breaks."""
    fill(site, "1/2/3/desk/memos/x.openthing", "near/memos/x.openthing")
    monkeypatch.setattr(module, "FOLDER_DEPTH", 4)
    assert found(site) == {"near": "near"}
    monkeypatch.setattr(module, "FOLDER_DEPTH", 5)
    assert found(site) == {"desk": "1/2/3/desk", "near": "near"}


def test_too_many_folders_are_an_error_that_says_what_to_do(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home folder given by mistake ends the command, not the machine."""
    fill(site, "a/memos/x.openthing", "b/memos/x.openthing")
    monkeypatch.setattr(module, "FOLDER_LIMIT", 4)
    with pytest.raises(SourceError, match=r"more than 4 folders to search; name sources in memosite\.yml"):
        discover(site, ignore=())
    monkeypatch.setattr(module, "FOLDER_LIMIT", 5)
    assert found(site) == {"a": "a", "b": "b"}


def test_nothing_found_says_what_was_looked_for_and_how_to_go_on(site: Path) -> None:
    """The message for whoever tries memosite in the wrong folder."""
    with pytest.raises(ConfigError) as caught:
        discover(site, ignore=())
    assert str(caught.value) == (
        f"{site}: found no memos/, notes/ or transcripts/ below it with an .openthing or .body.md file, no org/ "
        "with an orgdef, and no store of memory-layer, memory-store, mif or wyren, expected at least one; "
        "name the folder of the site with --site, or sources in memosite.yml, see memosite init --help"
    )


def test_a_built_site_and_a_lone_store_are_said_to_be_such(site: Path) -> None:
    """The two folders that are most easily named by mistake."""
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
