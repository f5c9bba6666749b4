"""Decisions: what is one, how it stands, what took its place, and who says so (SPEC 2.2, 4)."""

from pathlib import Path

from tests.support.files import write_text
from tests.support.sites import build_site


def documents_of(output: Path) -> set[str]:
    """The ids of the documents that a site has pages of."""
    return {path.parent.name for path in (output / "documents").glob("*/index.html")}


def test_configured_documents_are_read_besides_those_found_by_convention(tmp_path: Path) -> None:
    """A glob of one's own takes nothing away (SPEC 2.2)."""
    write_text(tmp_path / "desk/decisions/oak.md", "# Oak\n\nStatus: accepted\n")
    write_text(tmp_path / "desk/rulings/elm.md", "# Elm\n\nStatus: accepted\n")
    write_text(tmp_path / "memosite.yml", 'sources: [{path: desk}]\ndocuments: ["rulings/**/*.md"]\n')
    assert len(documents_of(build_site(tmp_path))) == 2


def test_documents_that_join_a_published_site_take_no_address(tmp_path: Path) -> None:
    """A site that was published with some documents keeps their addresses when others of their names are read, too."""
    write_text(tmp_path / "desk/proposals/oak.md", "# Shall it be oak?\n")
    decision = write_text(tmp_path / "desk/rulings/oak.md", "# Oak it is\n\nStatus: accepted\n")
    config = 'sources: [{path: desk, exclude: ["proposals/**"]}]\ndocuments: ["rulings/**/*.md"]\n'
    write_text(tmp_path / "memosite.yml", config)
    (before,) = documents_of(output := build_site(tmp_path))
    write_text(tmp_path / "memosite.yml", config.replace(', exclude: ["proposals/**"]', ""))
    build_site(tmp_path)
    assert len(documents_of(output)) == 2
    page = (output / "documents" / before / "index.html").read_text(encoding="utf-8")
    assert "Oak it is" in page
    assert decision.name in page
