"""The whole pipeline on example-org and on small organizations: what a user gets to see."""

import json
import re
from pathlib import Path

import pytest
from lxml import etree

from memosite.cli import main
from tests.support.memos import write_memo
from tests.support.pages import bad_links, found, pages
from tests.support.sites import EXAMPLE, build_site, built_files, copy_example, tree_bytes


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built example."""
    return build_site(EXAMPLE, output=tmp_path_factory.mktemp("site") / "out")


@pytest.fixture
def organization(tmp_path: Path) -> Path:
    """A copy of the example that a test may change."""
    return copy_example(tmp_path / "organization")


def build(organization: Path, output: Path) -> dict[str, bytes]:
    """Build and give every file of the site."""
    return built_files(organization, output=output)


def test_every_link_resolves_and_ends_in_a_file_name(site: Path) -> None:
    """From file://, a reader never meets a listing, a missing page or a missing anchor."""
    assert len(pages(site)) > 90
    assert list(bad_links(site)) == []


def test_with_a_base_url_every_link_still_resolves(organization: Path, tmp_path: Path) -> None:
    """Links stay relative; canonical links, feeds and sitemaps are absolute."""
    output = build_site(organization, output=tmp_path / "out", base_url="https://memos.example.org/a")
    assert list(bad_links(output)) == []
    assert "https://memos.example.org/a/memos/" in (output / "positions/strategist/feed.xml").read_text()
    assert 'href="https://memos.example.org/a/actions/"' in (output / "actions/index.html").read_text()
    index = etree.parse(output / "sitemap.xml")
    locations = found(index, "//*[local-name()='loc']/text()")
    assert locations
    for location in locations:
        name = location.removeprefix("https://memos.example.org/a/")
        urls = found(etree.parse(output / name), "//*[local-name()='loc']/text()")
        assert all((output / url.removeprefix("https://memos.example.org/a/") / "index.html").exists() for url in urls)


def test_two_builds_from_scratch_are_byte_identical(organization: Path, tmp_path: Path) -> None:
    """Same input, same bytes, status.json apart (SPEC 10)."""
    assert build(organization, tmp_path / "one") == build(organization, tmp_path / "two")


def test_a_second_build_writes_nothing(organization: Path, tmp_path: Path) -> None:
    """Unchanged files keep their modification time."""
    output = tmp_path / "out"
    build(organization, output)
    before = {path: path.stat().st_mtime_ns for path in output.rglob("*") if path.is_file()}
    build(organization, output)
    after = {path: path.stat().st_mtime_ns for path in output.rglob("*") if path.is_file()}
    changed = {path.name for path in before if before[path] != after[path]}
    assert changed <= {"status.json"}
    assert before.keys() == after.keys()


def test_no_address_and_no_feed_id_changes_when_all_is_marked_as_read(organization: Path, tmp_path: Path) -> None:
    """After moving every memo from inbox/ to read/, pages and guids are the same (SPEC 3 and 6)."""
    output = tmp_path / "out"
    before = build(organization, output)
    moved = 0
    for file in list(organization.glob("*/memos/inbox/*")):
        target = file.parent.parent / "read" / file.name
        target.parent.mkdir(exist_ok=True)
        file.rename(target)
        moved += 1
    assert moved > 10
    after = build(organization, output)
    assert before.keys() == after.keys()
    assert guids(before) == guids(after)
    assert b"memos/inbox/" not in b"".join(data for path, data in after.items() if path.endswith("feed.xml"))


def guids(files: dict[str, bytes]) -> dict[str, list[str]]:
    """The ids of each feed's items."""
    feeds = {path: data for path, data in files.items() if path.endswith("feed.xml")}
    assert len(feeds) >= 7
    return {path: found(etree.fromstring(data), "//guid/text()") for path, data in feeds.items()}


def test_a_repo_that_is_renamed_keeps_every_memo_address(organization: Path, tmp_path: Path) -> None:
    """Addresses come from the file's name, not from the repo that holds it."""
    before = build(organization, tmp_path / "one")
    (organization / "website").rename(organization / "site")
    config = organization / "memosite.yml"
    config.write_text(config.read_text().replace("path: website", "path: site"))
    after = build(organization, tmp_path / "two")
    memos = {path for path in before if path.startswith(("memos/", "threads/")) and path.endswith("index.html")}
    assert memos <= after.keys()


def test_an_address_once_published_answers_for_ever(organization: Path, tmp_path: Path) -> None:
    """A removed memo leaves a page that says so; its ledger entry stays."""
    output = tmp_path / "out"
    before = build(organization, output)
    gone = (
        organization / "website/memos/inbox/2026-05-05-0915--front-desk--web-engineer--the-slip-is-too-small.openthing"
    )
    gone.unlink()
    after = build(organization, output)
    page = f"memos/{gone.stem}/index.html"
    assert page in before
    assert b"This item was removed" in after[page]
    assert after["archive/ledger.jsonl"] == before["archive/ledger.jsonl"]
    assert list(bad_links(output)) == []


def test_what_arrives_later_is_appended_to_the_ledger(organization: Path, tmp_path: Path) -> None:
    """A late memo with an old date comes last in the order of arrival, and nothing else moves."""
    output = tmp_path / "out"
    before = build(organization, output)["archive/ledger.jsonl"].decode().splitlines()
    name = "2026-03-01-0800--director--strategist--found-in-a-drawer"
    inbox = organization / "governance/memos/inbox"
    write_memo(inbox, name, sender="director", to="strategist", sent="2026-03-01T08:00:00Z")
    after = build(organization, output)["archive/ledger.jsonl"].decode().splitlines()
    new = [json.loads(line) for line in after if line not in before]
    assert set(before) < set(after)
    assert [(entry["kind"], entry["id"]) for entry in new] == [("memo", name)]
    assert new[0]["n"] == 1 + max(json.loads(line).get("n", 0) for line in before)


def test_a_broken_file_is_shown_raw_with_its_findings(site: Path) -> None:
    """It stops nothing, has a page, and no line in the machine's archive."""
    id_ = "2026-05-08-1150--archivist--web-engineer--caption-for-the-mill-photograph"
    page = (site / "memos" / id_ / "index.html").read_text()
    assert "json-invalid" in page
    assert "memodef:Memo" in page
    lines = (site / "archive/2026/05.jsonl").read_text().splitlines()
    assert id_ not in {json.loads(line)["id"] for line in lines}


def test_lists_for_machines_are_bounded(site: Path) -> None:
    """Twins of lists stay under 16 kB and say what they leave out (SPEC 4)."""
    lists = [*site.glob("positions/*/index.*"), *site.glob("threads/*/index.*"), *site.glob("timeline/*/*/index.*")]
    twins = [path for path in [*lists, site / "actions/index.json"] if path.suffix in {".json", ".md"}]
    assert len(twins) > 30
    assert all(path.stat().st_size <= 16_000 for path in twins)


def test_the_original_is_published_byte_for_byte(site: Path) -> None:
    """By identity, never at a path that holds the mailbox."""
    for file in EXAMPLE.glob("*/memos/**/*.openthing"):
        published = site / "memos" / file.stem
        originals = {path.read_bytes() for path in published.rglob("*.openthing")}
        assert file.read_bytes() in originals, file.name


def test_no_page_names_a_path_of_this_machine(site: Path) -> None:
    """No absolute path and no clock in the output."""
    here = str(EXAMPLE.resolve()).encode()
    for path, data in tree_bytes(site).items():
        assert here not in data, path


def test_pages_ask_for_nothing_but_the_sites_own_files(site: Path) -> None:
    """One strict policy in every page, nothing inline, nothing from elsewhere (SPEC 4)."""
    for page in pages(site):
        text = page.read_text()
        assert "default-src 'none'" in text, page
        assert not re.search(r"<style|<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=", text), page


BAD_INPUTS = {
    "a missing folder": (["build", "{tmp}/nowhere"], "nowhere"),
    "an unknown key": (["build", "{tmp}/site"], "titel"),
    "a wrong type": (["build", "{tmp}/site"], "ttl"),
    "a foreign output folder": (["build", "{tmp}/site", "-o", "{tmp}/foreign"], "not empty"),
    "a missing path to check": (["check", "{tmp}/nowhere"], "nowhere"),
    "a source that is not there": (["build", "{tmp}/site"], "lost"),
}
CONFIGS = {
    "an unknown key": "titel: x\n",
    "a wrong type": "feeds: {ttl: often}\n",
    "a source that is not there": "sources: [{path: lost}]\n",
}


@pytest.mark.parametrize("case", BAD_INPUTS)
def test_bad_input_is_one_line_and_exit_2_and_nothing_is_written(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line names the place and the remedy; nothing is written."""
    site = tmp_path / "site"
    (site / "memos/inbox").mkdir(parents=True)
    (site / "memos/inbox/2026-05-01-1430--a--b--c.openthing").write_text("{}")
    (site / "memosite.yml").write_text(CONFIGS.get(case, "title: x\n"))
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign/letter.txt").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    arguments, expected = BAD_INPUTS[case]
    assert main([argument.format(tmp=tmp_path) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert expected in said.err
    assert said.out == ""
    assert sorted(tmp_path.rglob("*")) == before


def test_an_empty_organization_builds(tmp_path: Path) -> None:
    """A first repo with nothing in it yet gives a site, not an error."""
    (tmp_path / "site/memos/inbox").mkdir(parents=True)
    (tmp_path / "site/memosite.yml").write_text("sources: [{path: .}]\n")
    files = build(tmp_path / "site", tmp_path / "out")
    assert "index.html" in files
    assert list(bad_links(tmp_path / "out")) == []


def test_an_output_inside_a_source_is_not_read_back(tmp_path: Path) -> None:
    """The default output lies in the site, which may be the source itself."""
    repo = tmp_path / "repo"
    name = "2026-05-01-1430--a--b--c"
    write_memo(repo / "memos/inbox", name, sender="a", to="b")
    first = tree_bytes(build_site(repo))
    build_site(repo)
    assert tree_bytes(repo / "_site") == first
    assert (repo / "_site/.gitignore").read_text() == "*\n"
    assert f"memos/{name}/index.html" in first
