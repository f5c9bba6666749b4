"""Every address that 7b1ec27 published of `example-org` still answers. These tests stay in the suite for ever.

`tests/published/example-org.txt` lists the files of that site, the anchors of its pages, and the ids in its feeds;
`tests/published/example-org.ledger.jsonl` is its ledger. They were made once, with that commit, and are never made
again; a test holds their bytes:

    scripts/example-repos --as-published DIR && memosite build DIR
    python -m tests.support.addresses DIR/_site > tests/published/example-org.txt
    cp DIR/_site/archive/ledger.jsonl tests/published/example-org.ledger.jsonl

So `example-org` may get more memos, positions and records, but nothing may be taken from it, and nothing in it may be
edited that a page has an anchor for. When an id has to change, a redirect has to stand at the former address.

What counts as an address: pages, twins, original files, feeds and their archive documents, the lists of feeds,
`archive/`, `llms.txt` and `status.json`. What does not: `static/` and the blocks of the search index. Nobody links to
these; a page loads them, in the form that its own build gave them, and the name of a block depends on its content.
"""

import datetime as dt
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Set
from pathlib import Path

import pytest
from lxml import etree

from memosite.build import build
from memosite.config.loading import load_config
from tests.support.addresses import (
    Published,
    feed_with_archive,
    from_text,
    is_feed,
    page_at,
    published_by,
    read_feed,
    to_text,
)
from tests.support.repos import run_git

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "tests/published"
FROZEN = {
    "example-org.ledger.jsonl": "2e95463e48ba3962c56f044ab3ab66c3c023370dc3415be86cb76a5c525a61f2",
    "example-org.txt": "a6102a60b2e85a2c6ec80979c8cbe03f3e1647e8356cf6d5a083e098030291b9",
    "former-site.tar.gz": "44e2ba88ee5a9b7163c26efa59da6cbff65156412919e70cf75907669ade723e",
}
"""SHA-256 of what was published. A change here breaks links and subscriptions that people have."""
TEXT = (FIXTURES / "example-org.txt").read_text(encoding="utf-8")
FORMER = from_text(TEXT)
LEDGER = (FIXTURES / "example-org.ledger.jsonl").read_text(encoding="utf-8")
TAG = "tag:fernhill.example,2026:fernhill-library"

MONTH = "2026-03-"
MEMO = "2026-04-14-1041--local-history-archivist--catalogue-engineer--one-record-for-each-album"
POSITION = "outreach-librarian"
ARTIFACTS = ("documents/", "libraries/", "memos/", "notes/", "records/", "threads/", "transcripts/")
"""Pages whose anchors are in the text of artifacts. On other pages they are sections, which come and go with rows."""


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`example-org` with real repos."""
    folder = tmp_path_factory.mktemp("published") / "example-org"
    subprocess.run([sys.executable, ROOT / "scripts/example-repos", "--as-published", folder], check=True)
    return folder


def build_over(site: Path, *, previous: Path | None = None) -> Path:
    """Build a site with today's code, and give its output."""
    config = load_config(site)
    clock = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)
    build(config, clock=lambda: clock, previous=str(previous) if previous else None)
    return config.output


def publish_former(output: Path) -> Path:
    """What a later build needs to know of the former site: that memosite made it, and its ledger."""
    (output / "archive").mkdir(parents=True)
    (output / ".memosite-site").touch()
    (output / "archive/ledger.jsonl").write_text(LEDGER, encoding="utf-8")
    return output


def test_what_was_published_cannot_be_changed_and_is_read_as_it_was_written() -> None:
    """The fixtures are never made again: files, anchors and ids, all of them."""
    for name in sorted(FROZEN):
        assert hashlib.sha256((FIXTURES / name).read_bytes()).hexdigest() == FROZEN[name]
    assert to_text(FORMER) == TEXT and len(FORMER.files) == 617
    assert sum(map(len, FORMER.anchors.values())) == 1374 and sum(map(len, FORMER.feeds.values())) == 544


def test_every_address_answers(example: Path, tmp_path: Path) -> None:
    """Today's version goes on from the former site, with all that was in it."""
    output = build_over(example, previous=publish_former(tmp_path / "former"))
    assert [*lost_files(output, FORMER.files), *lost_anchors(output, FORMER.anchors), *lost_ids(output)] == []
    assert (output / "archive/ledger.jsonl").read_text(encoding="utf-8").startswith(LEDGER)


def test_addresses_of_what_was_removed_answer(example: Path, tmp_path: Path) -> None:
    """Without a memo, a position, and the memos of a month: tombstones and redirects, and feeds stay feeds.

    The twins and original files of what was removed go with it: they would publish what somebody took back.
    """
    site = shutil.copytree(example, tmp_path / "site", ignore=shutil.ignore_patterns("_site", ".memosite"))
    publish_former(site / "_site")
    removed = {id_ for folder in site.iterdir() if (folder / ".git").exists() for id_ in remove_memos(folder)}
    remove_position(site / "governance")
    output = build_over(site)
    assert len(removed) == 15
    assert not [id_ for id_ in removed if (output / f"memos/{id_}/original.openthing").exists()]
    assert not (output / f"positions/{POSITION}/index.json").exists()

    gone = {f"memos/{id_}/" for id_ in removed} | {f"positions/{POSITION}/"} | threads_with(removed)
    files = [path for path in FORMER.files if path.endswith(".html") or is_feed(path) or not is_below(path, gone)]
    texts = {path for path in FORMER.anchors if path.startswith(ARTIFACTS) and not is_below(path, gone)}
    lost = {f"{TAG}/memo/{id_}" for id_ in removed} | empty_digests(output)
    assert list(lost_files(output, files)) == [] and list(lost_anchors(output, texts)) == []
    assert list(lost_ids(output, besides=lost, below=gone)) == []
    assert (output / "archive/ledger.jsonl").read_text(encoding="utf-8").startswith(LEDGER)


def lost_files(site: Path, paths: Iterable[str]) -> Iterable[str]:
    """The files that are not there, or not what they were: a page with a title, a feed, JSON, OPML, a text."""
    for path in paths:
        try:
            _read(site, path)
        except (AssertionError, OSError, ValueError, etree.XMLSyntaxError) as error:
            yield f"{path}: {error}"


def _read(site: Path, path: str) -> None:
    if path.endswith(".html"):
        assert page_at(site, path)[1].title
    elif is_feed(path):
        read_feed(site / path)
    elif path.endswith(".json"):
        json.loads((site / path).read_bytes())
    elif path.endswith(".jsonl"):
        assert [json.loads(line) for line in (site / path).read_text(encoding="utf-8").splitlines()]
    elif path.endswith(".opml"):
        assert etree.fromstring((site / path).read_bytes()).tag == "opml"
    else:
        assert (site / path).read_text(encoding="utf-8").strip()


def lost_anchors(site: Path, paths: Iterable[str]) -> Iterable[str]:
    """The anchors that are no longer on the page at their address."""
    for path in paths:
        lost = FORMER.anchors[path] - page_at(site, path)[1].ids
        yield from (f"{path}#{anchor}" for anchor in sorted(lost))


def lost_ids(site: Path, *, besides: Set[str] = frozenset(), below: Iterable[str] = ()) -> Iterable[str]:
    """The ids that a subscriber of a feed cannot get any more, from it or from its archive documents."""
    folders = tuple(below)
    for path, ids in FORMER.feeds.items():
        if not is_below(path, folders):
            yield from (f"{path} {id_}" for id_ in sorted(ids - besides - feed_with_archive(site, path)))


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is below one of some folders."""
    return path.startswith(tuple(folders))


def remove_memos(repo: Path) -> set[str]:
    """Remove the memo and the month's memos from a repo, as its owner would; their ids."""
    listed = run_git(repo, "ls-files").split("\n")
    paths = [path for path in listed if "memos/" in path and path.rpartition("/")[2].startswith((MONTH, MEMO))]
    if paths:
        run_git(repo, "rm", "-q", "--", *paths)
        run_git(repo, "commit", "-q", "-m", "Remove memos")
    return {path.rpartition("/")[2].removesuffix(".openthing").removesuffix(".body.md") for path in paths}


def remove_position(repo: Path) -> None:
    """Take the position out of the organization."""
    file = repo / "org/fernhill-library-organization.opencatalog"
    known = json.loads(file.read_text(encoding="utf-8"))
    known["items"] = [item for item in known["items"] if item["id"] != POSITION]
    known["relationships"] = [edge for edge in known["relationships"] if POSITION not in {edge["from"], edge["to"]}]
    file.write_text(json.dumps(known, indent=2), encoding="utf-8")
    run_git(repo, "commit", "-q", "-a", "-m", "Remove a position")


def threads_with(removed: Set[str]) -> set[str]:
    """The folders of the threads that held any of these memos."""
    ids = {f"{TAG}/memo/{id_}" for id_ in removed}
    feeds = (path for path, found in FORMER.feeds.items() if path.startswith("threads/") and not ids.isdisjoint(found))
    return {path.removesuffix("feed.xml") for path in feeds}


def empty_digests(site: Path) -> set[str]:
    """The ids of the digests of days on which nothing arrived that is still there: their pages lead to the list."""
    days = {id_.rpartition("/")[2] for id_ in FORMER.feeds["digests/feed.xml"]}
    return {
        f"{TAG}/digest/{day}" for day in days if page_at(site, f"digests/{day}/index.html")[0] == "digests/index.html"
    }


def test_the_tests_notice_what_is_lost(tmp_path: Path) -> None:
    """A site that answers none of the addresses, and one that answers with something else."""
    assert len(list(lost_files(tmp_path, FORMER.files))) == 617
    (tmp_path / "feed.xml").write_text("<html/>")
    moved = '<meta http-equiv="refresh" content="0; url=new/index.html">'
    (tmp_path / "index.html").write_text(f"<title>Home</title>{moved}")
    assert len(list(lost_files(tmp_path, ["index.html", "feed.xml"]))) == 2
    (tmp_path / "new").mkdir()
    (tmp_path / "new/index.html").write_text("<title>New</title>")
    assert list(lost_anchors(tmp_path, ["index.html"])) == ["index.html#_main", "index.html#newest"]
    assert len(list(lost_files(tmp_path, ["index.html"]))) == 0
    (tmp_path / "feed.xml").write_text('<rss version="2.0"><channel><title>All</title></channel></rss>')
    assert f"feed.xml {min(FORMER.feeds['feed.xml'])}" in set(lost_ids(tmp_path))
    assert isinstance(published_by(tmp_path), Published)
