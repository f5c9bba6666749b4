"""The contract on each built site: its pages, the links of findings to it, and where its files are found."""

import re
import shutil
from pathlib import Path

import pytest
from lxml import html

import memosite
from memosite.archive.urls import OTHER_SPECIFICATIONS
from memosite.cli import main
from memosite.config.loading import contract_folder, load_contract
from memosite.facts.errors import ConfigError
from memosite.facts.findings import Cited, read_clause
from memosite.formats.systems import ALL_RULES
from memosite.pages import Reference
from memosite.plan.health import clause_links
from tests.support.pages import bad_links, found

REPO = Path(__file__).parent.parent
ENVELOPE = '{"catdef": "1.4", "memodef": "0.4", "type": "memodef:Memo", "from": "a", "to": "b", "sent": "soon"}'


@pytest.fixture
def organization(tmp_path: Path) -> Path:
    """A repo with a memo that has findings."""
    inbox = tmp_path / "repo" / "memos" / "inbox"
    inbox.mkdir(parents=True)
    (inbox / "2026-05-01-1430--a--b--c.openthing").write_text(ENVELOPE)
    return tmp_path / "repo"


@pytest.fixture
def site(organization: Path, tmp_path: Path) -> Path:
    """The site of that repo."""
    assert main(["build", str(organization), "-o", str(tmp_path / "site"), "--quiet"]) == 0
    return tmp_path / "site"


def anchors(page: Path) -> set[str]:
    """The ids on a page."""
    return set(found(html.parse(page), "//@id"))


def clauses() -> set[str]:
    """What findings rest on: by their rules, and by the formats that broke a rule on fields."""
    written = (file.read_text() for file in sorted((REPO / "memosite" / "formats").rglob("*.py")))
    own = {clause for text in written for clause in re.findall(r'_CLAUSE = "(.+)"', text)}
    assert len(own) >= 4
    return own | {rule.clause for rule in ALL_RULES}


def test_the_contract_is_published_whole(site: Path) -> None:
    """Two pages, every heading of the files on one of them, and no link that leads nowhere."""
    contract = load_contract()
    for page, text in (("spec", contract.main + contract.guide.partition("\n## ")[2]), ("spec/feeds", contract.feeds)):
        tree = html.parse(site / page / "index.html")
        shown = " ".join(" ".join(tree.getroot().text_content().split()).split(" # "))
        for heading in re.findall(r"^##+ (\d[\d.]*)?\.? ?(.+)$", text, re.MULTILINE):
            number, words = heading[0].rstrip("."), heading[1].replace("`", "")
            assert f"{number} {words}".strip() in shown
    assert list(bad_links(site)) == []


def test_a_section_has_the_anchor_of_its_number(site: Path) -> None:
    """No rewording of a heading moves it."""
    numbers = re.findall(r"^##+ (\d+(?:\.\d+)?)\.? ", load_contract().main, re.MULTILINE)
    assert {"2", "2.2", "10"} <= set(numbers)
    assert {number.replace(".", "-") for number in numbers} | {OTHER_SPECIFICATIONS} <= anchors(
        site / "spec/index.html"
    )
    assert "window" in anchors(site / "spec/feeds/index.html")


def test_lines_of_a_listing_are_no_sections(site: Path) -> None:
    """A comment in YAML or shell begins as a heading does."""
    headings = found(html.parse(site / "spec/index.html"), "//h1/text() | //h2/text() | //h3/text()")
    assert not [heading for heading in headings if "authority" in heading]


def test_parts_of_the_contract_lead_to_each_other(site: Path) -> None:
    """Where the files name each other."""
    main_page = found(html.parse(site / "spec/index.html"), "//main//a/@href")
    assert {"feeds/index.html", "#how-to-cite-it"} <= set(main_page)
    assert "../index.html" in found(html.parse(site / "spec/feeds/index.html"), "//main//a/@href")


def test_findings_lead_to_what_they_rest_on(site: Path) -> None:
    """On the page of health, and on that of the memo."""
    memo = "memos/2026-05-01-1430--a--b--c/index.html"
    for page, root in (("health/index.html", "../"), (memo, "../../")):
        hrefs = found(html.parse(site / page), "//ul[@class='findings']//a/@href")
        assert f"{root}spec/index.html#2-2" in hrefs
        assert f"{root}spec/index.html#{OTHER_SPECIFICATIONS}" in hrefs


@pytest.mark.parametrize("clause", sorted(clauses()))
def test_every_clause_leads_to_a_place_that_is_there(clause: str) -> None:
    """A section of the contract, or a row of the list of other documents; its words stay as they are written."""
    contract = load_contract()
    pieces = clause_links("health/", clause)
    assert "".join(piece.label for piece in pieces) == clause
    assert pieces[0].href
    listed = contract.guide.partition("## Other specifications that findings cite\n")[2]
    names = {name.strip() for row in re.findall(r"^\| (.+?) \|", listed, re.MULTILINE) for name in row.split(",")}
    for cited in read_clause(clause):
        if cited.section:
            assert re.search(rf"^##+ {re.escape(cited.section)}\.? ", contract.main, re.MULTILINE)
        else:
            assert any(cited.document == name or cited.document.startswith(f"{name} ") for name in names)


def test_a_clause_is_read_as_documents_and_places() -> None:
    """And put together again as links, each document on its own."""
    assert read_clause("memodef SCHEMA, memodef:Memo, sent; SPEC 2.2, mif; RFC 8259, 2") == (
        Cited(document="memodef SCHEMA", place=", memodef:Memo, sent"),
        Cited(document="SPEC 2.2", place=", mif", section="2.2"),
        Cited(document="RFC 8259", place=", 2"),
    )
    assert read_clause("") == ()
    assert clause_links("memos/x/", "RFC 8259, 2; SPEC 9") == (
        Reference(label="RFC 8259", href=f"../../spec/index.html#{OTHER_SPECIFICATIONS}"),
        Reference(label=", 2"),
        Reference(label="; "),
        Reference(label="SPEC 9", href="../../spec/index.html#9"),
    )


def test_only_an_rfc_has_a_known_address() -> None:
    """None is made up."""
    addresses = {cited.document: cited.address for clause in clauses() for cited in read_clause(clause)}
    assert {name for name, address in addresses.items() if address} == {"RFC 8259"}
    assert addresses["RFC 8259"] == "https://www.rfc-editor.org/rfc/rfc8259"


def test_check_names_files_that_can_be_opened(organization: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once, above the count."""
    assert main(["check", str(organization)]) == 1
    *_, where, _count = capsys.readouterr().out.splitlines()
    files = re.findall(r"\S+\.md", where)
    assert [Path(file).name for file in files] == ["memosite.md", "README.md"]
    assert all(Path(file).is_file() for file in files)


def test_an_installed_package_brings_the_contract_along(tmp_path: Path) -> None:
    """A wheel has it inside the package, which counts before what lies around it."""
    package = tmp_path / "site-packages" / "memosite"
    shutil.copytree(contract_folder(), package / "docs" / "spec")
    other = package.parent / "docs" / "spec"
    other.mkdir(parents=True)
    (other / "memosite.md").write_text("# of another package")
    assert load_contract(package) == load_contract()
    packed = (REPO / "pyproject.toml").read_text().partition("wheel.force-include]\n")[2].partition("\n\n")[0]
    assert '"docs/spec" = "memosite/docs/spec"' in packed.splitlines()


@pytest.mark.parametrize("missing", ["memosite.md", "feeds.md", "README.md"])
def test_an_installation_without_the_contract_says_so(tmp_path: Path, missing: str) -> None:
    """A broken installation is not a traceback."""
    shutil.copytree(contract_folder(), tmp_path / "docs" / "spec")
    (tmp_path / "docs" / "spec" / missing).unlink()
    with pytest.raises(ConfigError, match="install memosite again"):
        load_contract(tmp_path)


def test_another_contract_is_published_by_the_next_build(
    organization: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing else has changed; and its pages alone are written."""
    folder = tmp_path / "docs" / "spec"
    shutil.copytree(contract_folder(), folder)
    monkeypatch.setattr("memosite.build.contract_folder", lambda: folder)
    monkeypatch.setattr("memosite.build.load_contract", lambda: load_contract(tmp_path))
    output = organization / "_site"
    assert main(["build", str(organization), "--quiet"]) == 0
    before = {path: path.stat().st_mtime_ns for path in output.rglob("*.html")}
    main_file = folder / "memosite.md"
    main_file.write_text(main_file.read_text() + "\n## 11. Weather\n\nFair.\n")
    assert main(["build", str(organization), "--quiet"]) == 0
    assert "11" in anchors(output / "spec/index.html")
    assert {path for path, time in before.items() if path.stat().st_mtime_ns != time} == {output / "spec/index.html"}


def test_the_package_of_the_tests_is_the_one_beside_the_contract() -> None:
    """So that these tests are about the files of this checkout."""
    assert contract_folder() == Path(memosite.__file__).parent.parent / "docs" / "spec" == REPO / "docs" / "spec"
