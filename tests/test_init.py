"""`memosite init` writes down what discovery finds, in a file that means the same."""

import re
from pathlib import Path

import pytest

from memosite.commands.init import write_config
from memosite.config.loading import KEYS, discover, load_config
from memosite.config.schema import DEFAULT_DOCUMENTS, FeedsConfig
from memosite.facts.errors import ConfigError
from tests.support.files import fill, write_json


def put_organization(site: Path, path: str, name: str) -> None:
    """Put an orgdef of a name into the site."""
    write_json(site / path, {"type": "orgdef:Organization", "id": "x", "name": name})


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with two repos, one of them named like a folder elsewhere."""
    return fill(tmp_path / "Fernhill Library", "governance/memos/x.openthing", "engine/memos/x.openthing")


def test_the_file_means_what_was_discovered(site: Path) -> None:
    """Whatever the folders are called; whoever edits ids is told what depends on them."""
    before = load_config(site)
    file = write_config(site)
    after = load_config(site)
    assert file == site / "memosite.yml" and after.sources == before.sources == discover(site, ignore=())
    assert after.file == file
    assert (after.output, after.cache, after.feeds) == (before.output, before.cache, before.feeds)
    assert (after.documents, after.closed, after.aliases) == (before.documents, before.closed, before.aliases)
    text = file.read_text()
    assert "\narchive_id: archive\n" in text and '\nauthority: "memosite.invalid,2026"\n' in text
    assert "Once feeds are published never change either" in text
    assert (after.title, after.archive_id) == ("Fernhill Library", "archive")
    assert after.authority == "memosite.invalid,2026"


def test_names_that_discovery_had_to_make_are_kept(site: Path) -> None:
    """A source whose name is not its folder's is written with its name."""
    fill(site, "old/engine/memos/x.openthing", "a\tb/memos/x.openthing", "memos/x.openthing", "yes/memos/x.openthing")
    before = load_config(site).sources
    text = write_config(site).read_text()
    assert load_config(site).sources == before
    assert "  - path: old/engine\n    name: old-engine\n" in text and "  - path: .\n" in text
    assert '  - path: "a\\tb"\n' in text and "  - path: 'yes'\n" in text


@pytest.mark.parametrize(
    "name",
    ["#1: a 'b' \"c\"", "- x", "{ref}", "x" * 200, "2026", "日本 語", " padded ", "a\u2028b", "%", "😀", "\udcff"],
)
def test_any_folder_name_comes_through(tmp_path: Path, name: str) -> None:
    """Names that mean something in YAML, or are no text at all, are written so that they are read back."""
    site = fill(tmp_path / "site", f"{name}/memos/x.openthing")
    before = load_config(site).sources
    write_config(site)
    assert load_config(site).sources == before and before[0].root == site / name


def test_the_title_is_the_name_of_the_organization(site: Path) -> None:
    """One organization, even if several repos hold its orgdef; of two none is the archive's.

    What cannot be read leaves the folder's name: foreign content never stops init.
    """

    def title() -> str:
        (site / "memosite.yml").unlink(missing_ok=True)
        write_config(site)
        return load_config(site).title

    put_organization(site, "governance/org/o.openthing", "Fernhill: a public\nlibrary")
    put_organization(site, "engine/org/o.opencatalog", "Fernhill: a public library")
    assert title() == "Fernhill: a public library"
    put_organization(site, "governance/org/o.openthing", "One")
    assert title() == "Fernhill Library"
    (site / "engine/org/o.opencatalog").unlink()
    assert title() == "One"
    for content in ("", "{", "[]", "\x00", '{"type": "orgdef:Organization"}', "[" * 10**5):
        (site / "governance/org/o.openthing").write_text(content)
        assert title() == "Fernhill Library", content[:9]


def test_a_file_that_is_there_is_never_written_over(site: Path) -> None:
    """Not even through a link that leads nowhere."""
    (site / "memosite.yml").write_text("title: mine\n")
    with pytest.raises(ConfigError, match=r"memosite\.yml: found one already, expected none; edit it, or remove it"):
        write_config(site)
    assert (site / "memosite.yml").read_text() == "title: mine\n"
    (site / "memosite.yml").unlink()
    (site / "memosite.yml").symlink_to(site / "elsewhere.yml")
    with pytest.raises(ConfigError, match="found one already"):
        write_config(site)
    assert not (site / "elsewhere.yml").exists()


def test_nothing_is_written_where_nothing_is_found(tmp_path: Path) -> None:
    """An empty folder and a missing one are errors, and stay as they are."""
    with pytest.raises(ConfigError, match="found no memos/"):
        write_config(tmp_path)
    with pytest.raises(ConfigError, match="found no such folder"):
        write_config(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_an_error_in_one_line(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without permission to write is the user's to mend."""

    def refuse(path: Path, mode: str, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path), mode)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ConfigError, match=r"memosite\.yml: cannot be written \(Permission denied\)"):
        write_config(site)


def test_every_setting_that_stands_as_a_comment_can_be_uncommented(site: Path) -> None:
    """The comments show the whole schema, and what they show is true: defaults are the defaults."""
    file = write_config(site)
    (site / "theme").mkdir()
    file.write_text(re.sub(r"^#(?=\S|  )", "", file.read_text(), flags=re.MULTILINE))
    config = load_config(site)
    shown = set(re.findall(r"^(\w+):", file.read_text(), flags=re.MULTILINE))
    assert shown == set(KEYS) - {"outputs"}  # which stands in the place of another
    assert "\n# outputs: {" in file.read_text()
    assert config.documents == (*DEFAULT_DOCUMENTS, "rulings/**/*.md")  # an example: these are read besides the default
    assert (config.feeds, config.language) == (FeedsConfig(), "en")
    assert (config.output, config.theme) == (site / "_site", site / "theme")
    assert (config.audience, [one.glob for one in config.withhold]) == ("internal", ["personnel/**"])
    assert config.withhold_raw is True and config.base_url == "https://archive.example.org/"
    assert dict(config.aliases) == {"former-name": "present-name"}
    assert config.closed["2026-05-01-1430--director--engineer--an-example"].disposition == "overtaken"
