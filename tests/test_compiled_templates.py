"""Compiled templates that are kept: they are not compiled again, and none that memosite did not write ever runs."""

import sqlite3
from collections.abc import Callable
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import jinja2
import pytest
from jinja2.bccache import Bucket

from memosite.facts.values import replace
from memosite.render.catalogue import ENGLISH, Catalogue
from memosite.render.compiled import CompiledTemplates
from memosite.render.renderer import environment_of
from memosite.render.theme import load_theme
from memosite.store.cache import state_home
from memosite.store.state import TEMPLATES, State
from tests.support.memos import write_memo
from tests.support.sites import build_site, built_from_nothing, tree_bytes

PLANTED = "This is what somebody else compiled."


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site of a user who built none before, that was built, and has got a memo since."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    site = tmp_path / "site"
    write_memo(site / "memos/inbox", "2026-05-01-1430--a--b--first")
    build_site(site)
    write_memo(site / "memos/inbox", "2026-05-02-1430--a--b--second")
    return site


def page_of(site: Path) -> Path:
    """The page of the memo that was added."""
    return site / "_site/memos/2026-05-02-1430--a--b--second/index.html"


def page(site: Path) -> str:
    """What it says."""
    return page_of(site).read_text()


def write_template(site: Path, text: str) -> None:
    """Give the site its own template of memos."""
    (site / "memosite.yml").write_text("theme: theme\n")
    own = site / "theme/templates/memo.html"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(text)


def remembers(site: Path) -> State:
    """The file that has the template of memos: that of the site if it has its own one."""
    return State(site / ".memosite/internal" if (site / "theme").exists() else state_home())


def plant(site: Path) -> bytes:
    """Compile another text as the template of memos, as memosite keeps it, and give the row; the others stay."""
    theme = load_theme(site / "theme" if (site / "theme").exists() else None)
    with State(site / ".memosite/internal") as own:
        compiled = CompiledTemplates(theme, own)
        environment = jinja2.Environment(autoescape=True)
        bucket = Bucket(environment, "memo.html", compiled.get_source_checksum(theme.templates["memo.html"]))
        bucket.code = environment.compile(PLANTED, "memo.html", "memo.html")
        compiled.dump_bytecode(bucket)
        compiled.write()
    with remembers(site) as state:
        data = state[TEMPLATES].get(ENGLISH.digest[:1], "memo.html")
    assert data is not None
    return data


def _write(site: Path, data: bytes) -> None:
    with remembers(site) as state, state.writing():
        state[TEMPLATES].put([((ENGLISH.digest[:1], "memo.html"), data)])


def _of_another_template(site: Path, _: bytes) -> None:
    with remembers(site) as state:
        file = (state.folder or site) / "state.sqlite"
    with sqlite3.connect(file) as sql:
        [(other,)] = sql.execute("SELECT value FROM templates WHERE name <> 'memo.html' LIMIT 1").fetchall() or [(b"",)]
        sql.execute("UPDATE templates SET value = ? WHERE name = 'memo.html'", (other,))
    sql.close()


def _of_another(words: bytes, python: bytes) -> Callable[[Path, bytes], None]:
    """Another language or Python is named before the code, the rest is as it was written."""
    said = ENGLISH.digest.encode(), MAGIC_NUMBER
    head = b"".join(other or own for other, own in zip((words, python), said, strict=True))
    return lambda site, data: _write(site, head + data[len(b"".join(said)) :])


def _of_another_program(site: Path, data: bytes) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("memosite.store.state.program_digest", lambda: "another")
        _write(site, data)


@pytest.mark.parametrize("is_own", [False, True], ids=["bundled", "the site's own"])
def test_what_is_kept_is_taken_and_what_somebody_else_compiled_never_runs(site: Path, is_own: bool) -> None:
    """If this user's memosite wrote it, pages show what the compiled templates say.

    A site may be a clone of anybody's repo, with a cache in it.
    """
    if is_own:
        write_template(site, "Written.")
    build_site(site)
    expected = tree_bytes(site / "_site")
    others = (_of_another(b"0" * 64, b""), _of_another(b"", b"\0\0\r\n"), _of_another_program)
    for change in (None, _of_another_template, *others, lambda *_: (state_home() / "key").unlink()):
        data = plant(site)
        if change is not None:
            change(site, data)
        page_of(site).unlink()
        build_site(site)
        assert (PLANTED in page(site)) == (change is None)
        assert (tree_bytes(site / "_site") == expected) == (change is not None)


def test_a_theme_or_language_that_changes_is_compiled_again(site: Path, tmp_path: Path) -> None:
    """Whether a site gets a theme, edits it or gives it up; compiled templates hold the words of one language."""
    for text in ("First.", "Second."):
        write_template(site, text)
        build_site(site)
        assert page(site) == f"{text}\n"
        assert tree_bytes(site / "_site") == built_from_nothing(site, tmp_path / "clean")
    (site / "theme/templates/memo.html").unlink()
    build_site(site)
    assert "2026-05-02" in page(site)
    build_site(site)
    english = page(site)
    (site / "memosite.yml").write_text("language: de\n")
    build_site(site)
    assert page(site) != english
    assert tree_bytes(site / "_site") == built_from_nothing(site, tmp_path / "clean")


def test_templates_are_compiled_once(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site's own ones for the site, all others for the user: neither a new page nor a new site needs a compiler."""
    write_template(site, "{{ page.title }}")
    build_site(site)
    write_memo(site / "memos/inbox", "2026-05-03-1430--a--b--third")
    monkeypatch.setattr(jinja2.Environment, "compile", lambda *_: pytest.fail("compiled again"))
    build_site(site)
    (site / "memosite.yml").unlink()
    build_site(site, "--cache", tmp_path / "cache", output=tmp_path / "other")


def test_words_that_were_edited_are_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever file the former ones are in: here both catalogues have the same one."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    theme = replace(load_theme(None), templates={"a.html": "{{ _('Search') }}"})
    known: dict[str, Catalogue] = {}
    for number in range(17):  # of seventeen digests two begin alike
        words = Catalogue(texts={"Search": (f"Suche {number}",)})
        for each in (known.setdefault(words.digest[0], words), words):
            edited = replace(theme, words=each)
            compiled = CompiledTemplates(edited, State(None))
            page = environment_of(edited, compiled).get_template("a.html").render()
            compiled.write()
            assert page == each.text("Search")
    with State(state_home()) as state:
        assert state[TEMPLATES].count() == len(known) < 17
