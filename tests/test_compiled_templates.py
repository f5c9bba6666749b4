"""Compiled templates in the cache: they are not compiled again, and none that memosite did not write ever runs."""

import marshal
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import jinja2
import pytest
from jinja2.bccache import Bucket, BytecodeCache

from memosite.render.theme import load_theme
from memosite.store.cache import program_digest, write_signed
from tests.support.memos import write_memo
from tests.support.sites import build_site, built_from_nothing, tree_bytes

HEAD = program_digest().encode() + MAGIC_NUMBER
PLANTED = "This is what somebody else compiled."


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site that was built, and has got a memo since."""
    site = tmp_path / "site"
    write_memo(site / "memos/inbox", "2026-05-01-1430--a--b--first")
    build_site(site)
    write_memo(site / "memos/inbox", "2026-05-02-1430--a--b--second")
    return site


def compiled_file(site: Path) -> Path:
    """The file of the cache in which the templates are."""
    return site / ".memosite/internal/templates/compiled.cache"


def page(site: Path) -> str:
    """The page of the memo that was added."""
    return (site / "_site/memos/2026-05-02-1430--a--b--second/index.html").read_text()


def planted() -> bytes:
    """All templates, compiled from another text, each as the compiled form of the bundled one."""
    environment, cache = jinja2.Environment(autoescape=True), BytecodeCache()
    known = {}
    for name, source in load_theme(None).templates.items():
        bucket = Bucket(environment, cache.get_cache_key(name, name), cache.get_source_checksum(source))
        bucket.code = environment.compile(PLANTED, name, name)
        known[bucket.key] = bucket.bytecode_to_string()
    return marshal.dumps(known)


def test_what_is_compiled_is_taken_from_the_cache(site: Path) -> None:
    """If this user's memosite wrote it: pages show what the compiled templates say."""
    write_signed(compiled_file(site), HEAD + planted())
    build_site(site)
    assert PLANTED in page(site)


@pytest.mark.parametrize(
    "how", ["another key", "no signature", "another file's", "another program's", "another Python's"]
)
def test_what_somebody_else_compiled_never_runs(
    site: Path, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A site may be a clone of anybody's repo, with a cache in it."""
    file, data = compiled_file(site), HEAD + planted()
    if how == "another key":
        with monkeypatch.context() as other:
            other.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
            write_signed(file, data)
    elif how == "no signature":
        file.write_bytes(data)
    elif how == "another file's":
        write_signed(file.with_name("other.cache"), data)
        file.with_name("other.cache").replace(file)
    elif how == "another program's":
        write_signed(file, b"0" * len(program_digest()) + MAGIC_NUMBER + planted())
    else:
        write_signed(file, program_digest().encode() + b"\0\0\r\n" + planted())
    build_site(site)
    assert PLANTED not in page(site)
    assert tree_bytes(site / "_site") == built_from_nothing(site, tmp_path / "clean")


def test_a_theme_that_changes_is_compiled_again(site: Path, tmp_path: Path) -> None:
    """Whether a site gets a theme, edits it or gives it up."""
    (site / "memosite.yml").write_text("theme: theme\n")
    own = site / "theme/templates/memo.html"
    own.parent.mkdir(parents=True)
    for text in ("First.", "Second."):
        own.write_text(text)
        build_site(site)
        assert page(site) == f"{text}\n"
        assert tree_bytes(site / "_site") == built_from_nothing(site, tmp_path / "clean")
    own.unlink()
    build_site(site)
    assert "2026-05-02" in page(site)


def test_templates_are_compiled_once(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those of a theme that somebody wrote: the second page made with one needs no compiler."""
    build_site(site)
    write_memo(site / "memos/inbox", "2026-05-03-1430--a--b--third")
    monkeypatch.setattr(jinja2.Environment, "compile", lambda *_: pytest.fail("compiled again"))
    build_site(site)
