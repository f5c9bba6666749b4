"""What never changes in feeds: ids and addresses, whatever happens to memos, repos and the site (FEEDS, item)."""

import shutil
from pathlib import Path

from tests.support.feeds.documents import feed_files, read_feed
from tests.support.files import write_json
from tests.support.memos import write_memo, write_org
from tests.support.pages import found
from tests.support.sites import build_site, copy_example

BASE = "https://memos.example.org/a/"
Feeds = dict[str, list[tuple[str, str]]]


def build(organization: Path, output: Path, base_url: str = BASE) -> Feeds:
    """Build, and give guid and link of each item of each feed."""
    build_site(organization, output=output, base_url=base_url)
    return {path.relative_to(output).as_posix(): items(path) for path in feed_files(output)}


def items(path: Path) -> list[tuple[str, str]]:
    """Guid and link of each item."""
    tree = read_feed(path)
    return list(zip(found(tree, "//item/guid/text()"), found(tree, "//item/link/text()"), strict=True))


def test_ids_stay_whatever_happens_to_memos_the_cache_the_site_and_its_repos(tmp_path: Path) -> None:
    """Links and order, too; a site that moves has other links, and ids that name none of its places.

    When a repo is renamed, what is named by its source (records, documents) gets another name; nothing else does.
    """
    organization = copy_example(tmp_path / "organization")
    before = build(organization, tmp_path / "out")
    for file in list(organization.glob("*/memos/inbox/*")):
        (file.parent.parent / "read").mkdir(exist_ok=True)
        file.rename(file.parent.parent / "read" / file.name)
    for file in organization.glob("*/memos/read/*.openthing"):
        file.write_text(file.read_text().replace('"subject": "', '"subject": "Corrected: '))
    assert build(organization, tmp_path / "out") == before, "all was marked as read, and memos were edited"
    shutil.rmtree(organization / ".memosite", ignore_errors=True)
    moved = build(organization, tmp_path / "new", "http://127.0.0.1:8000/")
    assert {
        path: [(guid, link.replace("http://127.0.0.1:8000/", BASE)) for guid, link in items]
        for path, items in moved.items()
    } == before, "it has moved, and nothing is known of it"
    assert moved != before
    (organization / "website").rename(organization / "site")
    config = organization / "memosite.yml"
    config.write_text(config.read_text().replace("path: website", "path: site"))
    after = build(organization, tmp_path / "out")
    feeds = [path for path in before if path.startswith(("positions/", "threads/", "actions/"))]
    assert len(feeds) > 20
    assert {path: before[path] for path in feeds} == {path: after[path] for path in feeds}


def test_ids_stay_when_a_second_organization_has_the_same_positions(tmp_path: Path) -> None:
    """The feed of a plain id stays as the union; the new organization's seats get feeds of their own."""
    repo = tmp_path / "repo"
    write_org(repo / "org", "acme", positions=["director", "engineer"])
    write_memo(repo / "memos/inbox", "2026-05-01-0900--engineer--director--one")
    before = build(repo, tmp_path / "out")
    write_org(repo / "org", "other", positions=["director", "engineer"])
    after = build(repo, tmp_path / "out")
    assert {path: after[path] for path in before} == before
    assert "positions/other~director/feed.xml" in after


def test_an_unchanged_feed_keeps_its_time_and_a_changed_one_gets_a_later_second(tmp_path: Path) -> None:
    """However fast builds follow each other: servers compare whole seconds (FEEDS, bytes)."""
    repo, output = tmp_path / "repo", tmp_path / "out"
    names = [f"2026-05-01-090{number}--engineer--director--m" for number in range(3)]
    times: list[dict[str, int]] = []
    for name in names:
        write_memo(repo / "memos/inbox", name)
        build(repo, output)
        build(repo, output)
        times.append({path.parent.name: path.stat().st_mtime_ns for path in output.glob("positions/*/feed.xml")})
    assert all(time % 10**9 == 0 for found in times for time in found.values())
    assert sorted({found["director"] for found in times}) == [found["director"] for found in times]
    assert len({found["engineer"] for found in times}) == 1


def test_without_feeds_for_people_there_are_none(tmp_path: Path) -> None:
    """`feeds.full_content: false` publishes paths alone."""
    repo = tmp_path / "repo"
    write_memo(repo / "memos/inbox", "2026-05-01-0900--engineer--director--m")
    assert "positions/director/feed-full.xml" in build(repo, tmp_path / "out")
    write_json(repo / "memosite.yml", {"feeds": {"full_content": False}})
    after = build(repo, tmp_path / "out")
    assert not [path for path in after if path.endswith("-full.xml")]
    assert "feed-full" not in (tmp_path / "out/positions/director/index.html").read_text()
