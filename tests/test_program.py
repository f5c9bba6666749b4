"""What memosite itself is made of."""

import os
from pathlib import Path

import jinja2
import pytest

import memosite
from memosite.config.loading import load_config
from memosite.reading.inputs import compare_inputs
from memosite.store.cache import _WRITERS, PACKAGE, first_file, portable_digest, program_digest
from tests.support.files import write_text
from tests.support.memos import write_memo


def test_the_digest_depends_on_modules_and_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_library_is_known_by_its_first_file() -> None:
    """Which is there for each of them, and another one after an upgrade."""
    states = [first_file(library) for library in _WRITERS.values()]
    assert all(path and size and changed for path, size, changed in states), states
    assert first_file("jinja2")[:2] == (jinja2.__file__, Path(jinja2.__file__).stat().st_size)
    assert first_file("no_such_library") == ("", 0, 0)


def test_the_digest_is_one_of_the_whole_package() -> None:
    """Wherever its module is: what any module wrote into a cache depends on it."""
    assert Path(memosite.__file__).parent == PACKAGE


def test_a_digest_for_other_machines_does_not_depend_on_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same program was installed there at another moment; another one, or another library, is not the same."""
    monkeypatch.setattr("memosite.store.cache.PACKAGE", tmp_path / "one")
    found = []
    for change in (
        lambda: write_text(tmp_path / "one/a.py", "1"),
        lambda: os.utime(tmp_path / "one/a.py", (1, 1)),
        lambda: write_text(tmp_path / "one/a.py", "2"),
        lambda: monkeypatch.setattr("importlib.metadata.version", lambda name: f"{name} of tomorrow"),
    ):
        change()
        portable_digest.cache_clear()
        found.append(portable_digest())
    portable_digest.cache_clear()
    assert found[0] == found[1]
    assert len(set(found)) == 3


def test_another_library_is_another_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build after an upgrade does not find everything as it was."""
    write_memo(tmp_path / "memos/inbox", "one")
    config = load_config(tmp_path)
    known = compare_inputs(config, "").digest
    assert compare_inputs(config, known).is_same
    program_digest.cache_clear()
    with monkeypatch.context() as upgraded:
        upgraded.setattr("memosite.store.cache.first_file", lambda name: (name, 1, 2))
        assert not compare_inputs(config, known).is_same
    program_digest.cache_clear()


def test_what_a_link_in_a_theme_leads_to_is_an_input(tmp_path: Path) -> None:
    """A theme may hold a file once and link to it."""
    write_memo(tmp_path / "memos/inbox", "one")
    theme = tmp_path / "theme"
    write_text(theme / "shared/house.css", "p { color: red }")
    (theme / "static").mkdir()
    (theme / "static/house.css").symlink_to("../shared/house.css")
    config = load_config(tmp_path)
    known = compare_inputs(config, "", also=[theme / "static"]).digest
    assert compare_inputs(config, known, also=[theme / "static"]).is_same
    write_text(theme / "shared/house.css", "p { color: blue }")
    assert not compare_inputs(config, known, also=[theme / "static"]).is_same
