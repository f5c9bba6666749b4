"""The whole pipeline on example-org and on small organizations: what a user gets to see, and which addresses stay."""

import json
import re
import shutil
from pathlib import Path

import pytest
from lxml import etree

from memosite.cli import main
from tests.support.files import write_text
from tests.support.memos import send, write_memo
from tests.support.pages import bad_links, found, pages
from tests.support.repos import Repo
from tests.support.sites import EXAMPLE, build_site, built_example, built_files, file_states, tree_bytes


@pytest.fixture
def organization(tmp_path: Path) -> Path:
    """A copy of the built example that a test may change."""
    return shutil.copytree(built_example(), tmp_path / "organization")


def build(organization: Path) -> dict[str, bytes]:
    """Build once more, and give every file of the site."""
    return tree_bytes(build_site(organization))


def test_builds_of_the_same_are_byte_identical_and_no_address_changes_when_all_is_read(organization: Path) -> None:
    """Same input, same bytes, no file written twice (SPEC 10); moves to read/ change no page and guid (3 and 6)."""
    output = organization / "_site"
    before, states = tree_bytes(output), file_states(output)
    for _ in range(2):  # the first one knows nothing of files at this place
        assert build(organization) == before
        assert file_states(output) == states
    shutil.rmtree(output)
    shutil.rmtree(organization / ".memosite")
    assert build(organization) == before
    before = tree_bytes(organization / "_site")
    moved = 0
    for file in list(organization.glob("*/memos/inbox/*")):
        target = file.parent.parent / "read" / file.name
        target.parent.mkdir(exist_ok=True)
        file.rename(target)
        moved += 1
    assert moved > 10
    after = build(organization)
    assert before.keys() == after.keys() and guids(before) == guids(after)
    assert b"memos/inbox/" not in b"".join(data for path, data in after.items() if path.endswith("feed.xml"))


def guids(files: dict[str, bytes]) -> dict[str, list[str]]:
    """The ids of each feed's items."""
    feeds = {path: data for path, data in files.items() if path.endswith("feed.xml")}
    assert len(feeds) >= 7
    return {path: found(etree.fromstring(data), "//guid/text()") for path, data in feeds.items()}


def test_a_repo_that_is_renamed_keeps_every_memo_address_and_links_are_absolute_only_where_they_have_to_be(
    organization: Path, tmp_path: Path
) -> None:
    """Addresses come from the file's name, not from the repo that holds it; a base URL is in feeds and canonical links.

    From file://, with one or without, a reader never meets a listing, a missing page or a missing anchor.
    """
    before = organization / "_site"
    assert len(pages(before)) > 90 and list(bad_links(before)) == []
    (organization / "website").rename(organization / "site")
    config = organization / "memosite.yml"
    config.write_text(config.read_text().replace("path: website", "path: site"))
    site = build_site(organization, output=tmp_path / "two", base_url="https://memos.example.org/a")
    memos = {path.relative_to(before) for name in ("memos", "threads") for path in before.glob(f"{name}/**/index.html")}
    assert len(memos) > 40 and [path for path in memos if not (site / path).exists()] == []
    assert list(bad_links(site)) == []
    assert "https://memos.example.org/a/memos/" in (site / "positions/strategist/feed.xml").read_text()
    assert 'href="https://memos.example.org/a/actions/"' in (site / "actions/index.html").read_text()
    locations = found(etree.parse(site / "sitemap.xml"), "//*[local-name()='loc']/text()")
    assert locations
    for location in locations:
        name = location.removeprefix("https://memos.example.org/a/")
        urls = found(etree.parse(site / name), "//*[local-name()='loc']/text()")
        assert all((site / url.removeprefix("https://memos.example.org/a/") / "index.html").exists() for url in urls)


def test_what_arrives_later_is_appended_and_what_goes_leaves_its_address(organization: Path) -> None:
    """A late memo with an old date comes last in the ledger, and nothing else moves; what is removed has a page.

    Of a repo that is not read any more: its memos, with replies and without, its transcripts and its records, and
    their twins. Twins of lists go with what they list.
    """
    before = tree_bytes(organization / "_site")
    late = "2026-03-01-0800--director--strategist--found-in-a-drawer"
    send(organization / "governance/memos/inbox", late)
    gone = "memos/2026-05-05-0915--front-desk--web-engineer--the-slip-is-too-small/index"
    (organization / f"website/memos/inbox/{gone.split('/')[1]}.openthing").unlink()
    after = build(organization)
    old, new = (files["archive/ledger.jsonl"].decode().splitlines() for files in (before, after))
    assert new[: len(old)] == old
    added = [json.loads(line) for line in new[len(old) :]]
    assert [(entry["kind"], entry["id"]) for entry in added] == [("memo", late)]
    assert added[0]["n"] == 1 + max(json.loads(line).get("n", 0) for line in old)
    assert f"{gone}.html" in before and b"This item was removed" in after[f"{gone}.html"]
    assert after[f"{gone}.md"] == b"# Removed\n\nThis item was removed.\n"
    assert list(bad_links(organization / "_site")) == []
    shutil.rmtree(organization / "website")
    shutil.rmtree(organization / "governance/memories")
    sources = "sources: [{path: governance}, {path: catalogue}, {path: reading-room}]\n"
    write_text(organization / "memosite.yml", sources)
    after = build(organization)
    twins = {path for path in before if path.startswith(ARTIFACTS) and path.endswith(("/index.json", "/index.md"))}
    assert twins - after.keys() == set()
    removed = [path for path in twins if b'"removed": true' in after[path]]
    assert any(path.startswith("records/memory-store/") for path in removed)
    assert any(path.startswith("memos/") for path in removed)


ARTIFACTS = ("memos", "notes", "transcripts", "records", "documents", "libraries")


def test_pages_show_what_is_broken_lists_are_bounded_and_files_ask_for_nothing_else(example_site: Path) -> None:
    """A broken file has a page; twins of lists are below 16 kB; no absolute path, one policy, originals (SPEC 4)."""
    id_ = "2026-05-08-1150--archivist--web-engineer--caption-for-the-mill-photograph"
    shown = (example_site / "memos" / id_ / "index.html").read_text()
    assert "json-invalid" in shown and "memodef:Memo" in shown
    lines = (example_site / "archive/2026/05.jsonl").read_text().splitlines()
    assert id_ not in {json.loads(line)["id"] for line in lines}
    lists = [path for name in ("positions/*", "timeline/*/*") for path in example_site.glob(f"{name}/index.*")]
    twins = [path for path in [*lists, example_site / "actions/index.json"] if path.suffix in {".json", ".md"}]
    assert len(twins) > 20 and all(path.stat().st_size <= 16_000 for path in twins)
    here = str(example_site.parent.resolve()).encode()
    for path, data in tree_bytes(example_site).items():
        assert here not in data, path
    for file in EXAMPLE.glob("*/memos/**/*.openthing"):
        originals = {path.read_bytes() for path in (example_site / "memos" / file.stem).rglob("*.openthing")}
        assert file.read_bytes() in originals, file.name
    for page in pages(example_site):
        text = page.read_text()
        assert "default-src 'none'" in text, page
        assert not re.search(r"<style|<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=", text), page


BAD_INPUTS = {
    "a missing folder": ("", ["build", "{tmp}/nowhere"], "nowhere"),
    "an unknown key": ("titel: x\n", ["build", "{tmp}/site"], "titel"),
    "a wrong type": ("feeds: {ttl: often}\n", ["build", "{tmp}/site"], "ttl"),
    "a foreign output folder": ("", ["build", "{tmp}/site", "-o", "{tmp}/foreign"], "not empty"),
    "a missing path to check": ("", ["check", "{tmp}/nowhere"], "nowhere"),
    "a source that is not there": ("sources: [{path: lost}]\n", ["build", "{tmp}/site"], "lost"),
}


def test_bad_input_is_one_line_and_exit_2_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line names the place and the remedy; nothing is written."""
    for case, (configuration, arguments, expected) in BAD_INPUTS.items():
        write_text(tmp_path / "site/memos/inbox/2026-05-01-1430--a--b--c.openthing", "{}")
        write_text(tmp_path / "site/memosite.yml", configuration or "title: x\n")
        write_text(tmp_path / "foreign/letter.txt", "mine")
        before = sorted(tmp_path.rglob("*"))
        assert main([argument.format(tmp=tmp_path) for argument in arguments]) == 2, case
        said = capsys.readouterr()
        assert said.err.count("\n") == 1, case
        assert expected in said.err, case
        assert said.out == "", case
        assert sorted(tmp_path.rglob("*")) == before, case


def test_an_empty_organization_builds_an_output_is_not_read_back_and_a_moved_twin_leads_on(tmp_path: Path) -> None:
    """The default output is in the site, which may be the source; an entry of a list is in another section now."""
    (tmp_path / "site/memos/inbox").mkdir(parents=True)
    write_text(tmp_path / "site/memosite.yml", "sources: [{path: .}]\n")
    assert "index.html" in built_files(tmp_path / "site", output=tmp_path / "out")
    assert list(bad_links(tmp_path / "out")) == []
    repo = tmp_path / "repo"
    name = "2026-05-01-1430--a--b--c"
    write_memo(repo / "memos/inbox", name, sender="a", to="b")
    first = tree_bytes(build_site(repo))
    build_site(repo)
    assert tree_bytes(repo / "_site") == first and (repo / "_site/.gitignore").read_text() == "*\n"
    assert f"memos/{name}/index.html" in first
    tmp_path /= "two"
    desk = tmp_path / "desk"
    write_text(desk / ".wyren/memory.md", "## Decisions\n- Oak it is [session ab, turn 1]\n")
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\n")
    moving = Repo(desk)
    moving.commit()
    output = build_site(tmp_path)
    (former,) = (output / "records/wyren").iterdir()
    write_text(desk / ".wyren/memory.md", "## Rejected paths\n- Oak it is [session ab, turn 1]\n")
    moving.commit()
    build_site(tmp_path)
    (now,) = (path for path in (output / "records/wyren").iterdir() if path != former)
    said = json.loads((former / "index.json").read_text(encoding="utf-8"))
    assert (former / said["moved"]).resolve() == now / "index.html"
    text = (former / "index.md").read_text(encoding="utf-8")
    assert text.startswith("# Moved\n\nNow at [records/wyren/desk.rejected")
