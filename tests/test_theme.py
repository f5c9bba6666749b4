"""Themes: where the bundled one is found, what a site may put before it, what is refused, what changes the digest."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import memosite
from memosite.facts.errors import ConfigError
from memosite.render.catalogue import ENGLISH, translate_script
from memosite.render.theme import bundled_theme, load_theme
from tests.support.files import write_text

REPO = Path(memosite.__file__).parent.parent


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A theme folder with an own template and an own static file."""
    folder = tmp_path / "theme"
    write_text(folder / "templates" / "gone.html", "<p>Gone: {{ page.id }}</p>\n")
    write_text(folder / "static" / "fonts" / "serif.woff2", "a font")
    return folder


def test_files_of_a_site_stand_before_the_bundled_ones_but_hidden_ones_and_what_is_no_file(site: Path) -> None:
    """Single templates are replaced, static files added; backups are left out, and no pipe is read."""
    for name in (".DS_Store", ".git/config", "a.css~"):
        write_text(site / "static" / name, "not part of it")
    for name in (".gone.html.swp", "README"):
        write_text(site / "templates" / name, "not part of it")
    os.mkfifo(site / "static" / "pipe")
    kept = {"fonts/serif.woff2", "memosite.css", "memosite.js"}
    assert load_theme(site).static.keys() == kept | load_theme(None).static.keys()
    assert load_theme(site).templates.keys() == load_theme(None).templates.keys()
    (site / "static" / "alias.woff2").symlink_to(site / "static" / "fonts" / "serif.woff2")
    write_text(site / "static/own.js", "// one\n// two\nlet a;\n")
    bundled, own = load_theme(None), load_theme(site)
    assert own.templates["gone.html"] == "<p>Gone: {{ page.id }}</p>\n"
    assert own.templates["memo.html"] == bundled.templates["memo.html"]
    files = {"fonts/serif.woff2": b"a font", "alias.woff2": b"a font", "own.js": b"// one\n// two\nlet a;\n"}
    assert own.static == {**bundled.static, **files} and own.own == {"gone.html"} and bundled.own == frozenset()
    assert [list(names) for names in (own.static, own.templates)] == [sorted(own.static), sorted(own.templates)]


def test_an_installed_package_brings_its_theme_and_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    """Inside of the package, or of links; a mistyped folder never silently gives the bundled theme."""
    with pytest.raises(ConfigError, match="nowhere is not a folder"):
        load_theme(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="none of the folders templates/, static/ and languages/"):
        load_theme(tmp_path)
    with pytest.raises(ConfigError, match="install memosite again"):
        load_theme(None, package=tmp_path / "memosite")
    package = tmp_path / "site-packages" / "memosite"
    shutil.copytree(REPO / "templates", package / "templates")
    shutil.copytree(REPO / "static", package / "static")
    write_text(package.parent / "templates" / "base.html", "of another package")
    (package.parent / "static").mkdir()
    assert bundled_theme(package) == package
    assert load_theme(None, package=package) == load_theme(None, package=REPO / "memosite")
    linked = tmp_path / "memosite"
    linked.mkdir()
    (linked / "templates").symlink_to(REPO / "templates")
    (linked / "static").mkdir()
    (linked / "static" / "memosite.css").symlink_to(REPO / "static" / "memosite.css")
    assert "memosite.css" in load_theme(None, package=linked).static


def test_a_syntax_error_names_file_and_line(site: Path) -> None:
    """The author of a template learns where to look."""
    write_text(site / "templates" / "memo.html", "{% block main %}\n<p>\n{% if %}\n")
    with pytest.raises(ConfigError, match=r"templates/memo\.html, line 3: "):
        load_theme(site)


def test_a_template_that_is_not_text_is_refused(site: Path) -> None:
    """Templates are UTF-8; a byte order mark is no part of them."""
    (site / "templates" / "gone.html").write_bytes(b"\xef\xbb\xbf<p></p>")
    assert load_theme(site).templates["gone.html"] == "<p></p>"
    (site / "templates" / "gone.html").write_bytes(b"\xff\xfe<p>")
    with pytest.raises(ConfigError, match=r"gone\.html is not UTF-8"):
        load_theme(site)


@pytest.mark.parametrize(
    "link", ["static/secret.txt", "static/folder", "static/circle", "templates/memo.html", "templates"]
)
def test_a_link_out_of_the_folder_is_not_followed(site: Path, tmp_path: Path, link: str) -> None:
    """What lies outside of the theme folder is not published, and the link is named."""
    write_text(tmp_path / "outside" / "secret.txt", "not to be published")
    if link == "templates":
        shutil.rmtree(site / link)
    target = {"static/folder": tmp_path / "outside", "templates": tmp_path / "outside", "static/circle": site / link}
    (site / link).symlink_to(target.get(link, tmp_path / "outside" / "secret.txt"))
    with pytest.raises(ConfigError, match=rf"the link .*{link} leads nowhere or out of the theme folder"):
        load_theme(site)


def test_the_digest_tells_themes_apart(site: Path) -> None:
    """Contents, names, and where a file lies change it; where the theme lies does not."""
    digests = {load_theme(None).digest, load_theme(site).digest}
    write_text(site / "static" / "fonts" / "serif.woff2", "another font")
    digests.add(load_theme(site).digest)
    (site / "static" / "fonts" / "serif.woff2").rename(site / "static" / "serif.woff2")
    digests.add(load_theme(site).digest)
    for template in ("<p>No longer here</p>", "<p>No longer HERE</p>"):
        write_text(site / "templates" / "gone.html", template)
        digests.add(load_theme(site).digest)
    assert len(digests) == 6
    moved = site.rename(site.parent / "elsewhere")
    assert load_theme(moved).digest in digests and all(len(digest) == 64 for digest in digests)


def test_scripts_and_styles_are_published_without_comments_and_indentation() -> None:
    """All else is as it was, and so is what the first line says."""
    theme = load_theme(None)
    for name, published in theme.static.items():
        written = translate_script((REPO / "static" / name).read_text(), ENGLISH)
        first, *kept = published.decode().splitlines()
        assert first == written.splitlines()[0]
        assert bare("\n".join(kept)) == bare(written.partition("\n")[2]), name
        assert not [line for line in kept if re.match(r"\s|//|/\*|$", line) or "@type" in line], name
        if name.endswith(".js"):
            subprocess.run(["node", "--check", "-"], input=published, check=True)


def bare(code: str) -> str:
    """Code without comments and white space; no string holds what begins one."""
    code = re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL)
    return "".join(re.sub(r"(^|(?<=[ \t]))//[^\n]*", "", code, flags=re.MULTILINE).split())
