"""The contract (docs/spec): the commands, options and settings it knows; its pages on each site; where it is found."""

import argparse
import re
import shutil
from pathlib import Path

import pytest
import yaml
from lxml import html

import memosite
from memosite.archive.urls import OTHER_SPECIFICATIONS
from memosite.cli import main
from memosite.commands.arguments import command_parsers, parser
from memosite.config.loading import FEEDS_KEYS, KEYS, contract_folder, load_contract
from memosite.facts.errors import ConfigError
from memosite.facts.findings import Cited, read_clause
from memosite.formats.systems import ALL_RULES
from memosite.pages import Reference
from memosite.plan.health import clause_links
from tests.support.files import ROOT, write_text
from tests.support.pages import bad_links, found
from tests.support.sites import build_site

ENVELOPE = '{"catdef": "1.4", "memodef": "0.4", "type": "memodef:Memo", "from": "a", "to": "b", "sent": "soon"}'


@pytest.fixture(scope="module")
def organization(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repo with a memo that has findings."""
    folder = tmp_path_factory.mktemp("contract") / "repo"
    write_text(folder / "memos/inbox/2026-05-01-1430--a--b--c.openthing", ENVELOPE)
    return folder


@pytest.fixture(scope="module")
def site(organization: Path) -> Path:
    """The site of that repo."""
    return build_site(organization, output=organization.parent / "site")


def clauses() -> set[str]:
    """What findings rest on: by their rules, and by the formats that broke a rule on fields."""
    written = (file.read_text() for file in sorted((ROOT / "memosite" / "formats").rglob("*.py")))
    own = {clause for text in written for clause in re.findall(r'_CLAUSE = "(.+)"', text)}
    assert len(own) >= 4
    return own | {rule.clause for rule in ALL_RULES}


def test_the_contract_is_published_whole_and_findings_lead_to_its_sections(site: Path) -> None:
    """Every heading, each with the anchor of its number, which no rewording moves; no link leads nowhere."""
    contract = load_contract()
    for page, text in (("spec", contract.main + contract.guide.partition("\n## ")[2]), ("spec/feeds", contract.feeds)):
        tree = html.parse(site / page / "index.html")
        shown = " ".join(" ".join(tree.getroot().text_content().split()).split(" # "))
        for heading in re.findall(r"^##+ (\d[\d.]*)?\.? ?(.+)$", text, re.MULTILINE):
            number, words = heading[0].rstrip("."), heading[1].replace("`", "")
            assert f"{number} {words}".strip() in shown
    assert list(bad_links(site)) == []
    main_page, feeds = (html.parse(site / f"spec/{path}index.html") for path in ("", "feeds/"))
    numbers = re.findall(r"^##+ (\d+(?:\.\d+)?)\.? ", load_contract().main, re.MULTILINE)
    assert {"2", "2.2", "10"} <= set(numbers)
    expected = {number.replace(".", "-") for number in numbers} | {OTHER_SPECIFICATIONS}
    assert expected <= set(found(main_page, "//@id")) and "window" in found(feeds, "//@id")
    headings = found(main_page, "//h1/text() | //h2/text() | //h3/text()")
    assert not [heading for heading in headings if "authority" in heading]
    assert {"feeds/index.html", "#how-to-cite-it"} <= set(found(main_page, "//main//a/@href"))
    assert "../index.html" in found(feeds, "//main//a/@href")
    memo = "memos/2026-05-01-1430--a--b--c/index.html"
    for page, root in (("health/index.html", "../"), (memo, "../../")):
        hrefs = found(html.parse(site / page), "//ul[@class='findings']//a/@href")
        assert f"{root}spec/index.html#2-2" in hrefs
        assert f"{root}spec/index.html#{OTHER_SPECIFICATIONS}" in hrefs


def test_every_clause_is_read_and_leads_to_a_place_that_is_there() -> None:
    """A section, or a row of the list of other documents; its words stay. Only an RFC has a known address."""
    contract = load_contract()
    listed = contract.guide.partition("## Other specifications that findings cite\n")[2]
    names = {name.strip() for row in re.findall(r"^\| (.+?) \|", listed, re.MULTILINE) for name in row.split(",")}
    addresses = {}
    for clause in sorted(clauses()):
        pieces = clause_links("health/", clause)
        assert "".join(piece.label for piece in pieces) == clause
        assert pieces[0].href, clause
        for cited in read_clause(clause):
            addresses[cited.document] = cited.address
            if cited.section:
                assert re.search(rf"^##+ {re.escape(cited.section)}\.? ", contract.main, re.MULTILINE), clause
            else:
                assert any(cited.document == name or cited.document.startswith(f"{name} ") for name in names), clause
    known = {name: address for name, address in addresses.items() if address}
    assert known == {"RFC 8259": "https://www.rfc-editor.org/rfc/rfc8259"}
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


def test_check_names_files_that_can_be_opened(organization: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once, above the count."""
    assert main(["check", str(organization)]) == 1
    *_, where, _count = capsys.readouterr().out.splitlines()
    files = re.findall(r"\S+\.md", where)
    assert [Path(file).name for file in files] == ["memosite.md", "README.md"]
    assert all(Path(file).is_file() for file in files)


def test_an_installed_package_brings_the_contract_along_or_says_that_it_does_not(tmp_path: Path) -> None:
    """A wheel has it inside the package, which counts before what is around it. A broken one is not a traceback."""
    assert contract_folder() == Path(memosite.__file__).parent.parent / "docs/spec" == ROOT / "docs/spec"
    package = tmp_path / "site-packages" / "memosite"
    shutil.copytree(contract_folder(), package / "docs" / "spec")
    write_text(package.parent / "docs/spec/memosite.md", "# of another package")
    assert load_contract(package) == load_contract()
    packed = (ROOT / "pyproject.toml").read_text().partition("wheel.force-include]\n")[2].partition("\n\n")[0]
    assert '"docs/spec" = "memosite/docs/spec"' in packed.splitlines()
    for missing in ("memosite.md", "feeds.md", "README.md"):
        shutil.copytree(contract_folder(), tmp_path / missing / "docs/spec")
        (tmp_path / missing / "docs/spec" / missing).unlink()
        with pytest.raises(ConfigError, match="install memosite again"):
            load_contract(tmp_path / missing)


def test_another_contract_is_published_by_the_next_build(
    organization: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing else has changed; and its pages alone are written."""
    folder = shutil.copytree(contract_folder(), tmp_path / "docs" / "spec")
    monkeypatch.setattr("memosite.build.contract_folder", lambda: folder)
    monkeypatch.setattr("memosite.build.load_contract", lambda: load_contract(tmp_path))
    output = organization / "_site"
    assert main(["build", str(organization), "--quiet"]) == 0
    before = {path: path.stat().st_mtime_ns for path in output.rglob("*.html")}
    main_file = folder / "memosite.md"
    main_file.write_text(main_file.read_text() + "\n## 11. Weather\n\nFair.\n")
    assert main(["build", str(organization), "--quiet"]) == 0
    assert "11" in found(html.parse(output / "spec/index.html"), "//@id")
    assert {path for path, time in before.items() if path.stat().st_mtime_ns != time} == {output / "spec/index.html"}


# What the program has of it

MAIN, FEEDS = ((ROOT / f"docs/spec/{name}.md").read_text() for name in ("memosite", "feeds"))
MARK = "not built yet"
OF_EVERY_COMMAND = {"--help", "--quiet", "--site", "--cache", "--secrets", "--audience"}


def listing(language: str) -> str:
    """The one listing in a language of the main contract."""
    found = re.findall(rf"^```{language}\n(.*?)^```", MAIN, re.MULTILINE | re.DOTALL)
    assert found
    return str(found[0])


def options(command: argparse.ArgumentParser) -> set[str]:
    """The options of a command, by their long names, or else by their short ones."""
    named = [one.option_strings for one in command._actions if one.option_strings]
    return {next((name for name in names if name.startswith("--")), names[0]) for names in named}


def written(lines: str) -> dict[str, set[str]]:
    """The options that lines of the listing give each command; `-o` is what it is short for."""
    found: dict[str, set[str]] = {}
    for line in filter(str.strip, lines.splitlines()):
        given = re.findall(r"(?<![\w-])--?[a-z-]+", line.partition("#")[0])
        found.setdefault(line.split()[0], set()).update("--output" if name == "-o" else name for name in given)
    return found


BUILT = "\n".join(line for line in listing("text").splitlines() if MARK not in line)
UNBUILT = "\n".join(line for line in listing("text").splitlines() if MARK in line)


def test_commands_options_and_settings_are_those_of_the_contract() -> None:
    """Those that are marked, in one way, are not there, all others are; `watch` is in the other file."""
    assert set(written(BUILT)) == set(command_parsers(parser()))
    assert set(written(UNBUILT)) - set(written(BUILT)) == set(written(UNBUILT)) - set(command_parsers(parser()))
    for name, command in command_parsers(parser()).items():
        has = {"--output" if one == "-o" else one for one in options(command)}
        if name == "watch":
            named = set(re.findall(r"(?<=[` ])--[a-z-]+", FEEDS.partition("## `memosite watch")[2]))
            assert has - OF_EVERY_COMMAND == named - OF_EVERY_COMMAND
            continue
        assert has - OF_EVERY_COMMAND == written(BUILT)[name] and not has & written(UNBUILT).get(name, set())
        is_apart = name in {"init", "mark-read", "completion"}
        assert OF_EVERY_COMMAND - has == (OF_EVERY_COMMAND - {"--help", "--quiet"} if is_apart else set()), name
    example = re.sub(r"<memo id>", "a-memo", listing("yaml"))
    values = yaml.safe_load(example)
    lines = {line.partition(":")[0]: line for line in example.splitlines() if re.match(r"\w", line)}
    assert set(values) == set(lines) == set(KEYS)
    assert {key for key, line in lines.items() if f"# {MARK};" in line} == set()
    assert set(values["feeds"]) == set(FEEDS_KEYS)
    for text in [MAIN, FEEDS]:
        marked = re.findall(r"\*Not built yet(?:\.|: [^*]+\.)\*", text)
        assert len(marked) == text.count("Not built")
