"""A later version takes over, without a word, what 7b1ec27 left: output, ledger, cache, search index, watch.

`tests/published/former-site.tar.gz` is a small site with all of that, as `tests/published/make-former-site` made it
with that commit. It is never made again, and these tests stay in the suite for ever: such caches are on people's disks.

The cache of then was not screened for secrets: it is removed, and nothing reads it. The pages that the former version
rendered differ from today's, so that nothing of it passes for the later one's.
"""

import hashlib
import json
import re
import shutil
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from memosite.cli import main
from tests.support.sites import tree_bytes

FORMER = Path(__file__).parent / "published/former-site.tar.gz"
FOLDER = "/srv/former-site"
"""Where the former site was."""
Capture = pytest.CaptureFixture[str]
STALE = b"<!-- as a former version rendered it -->\n"
PROGRESS = re.compile(r"\w+ +[\d,]+ of [\d,]+(?: pages)?\n")
"""What a slow machine says of how far it is."""
TIME = re.compile(r"(?<=^done      in )[\d.]+", re.MULTILINE)
MEMO = "memos/inbox/2026-05-08-0900--fitter--director--the-valve-holds.openthing"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The former site as the former version would have left it in another place, and its user's state."""
    site = tmp_path / "site"
    monkeypatch.setenv("XDG_STATE_HOME", str(site / "state"))
    with tarfile.open(FORMER) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)  # none before 3.11.4
        archive.extractall(site)
    for page in (site / "_site").rglob("*.html"):
        page.write_bytes(page.read_bytes() + STALE)
    # The state of a watch is named after the address of the feed, and knows it.
    feed = "_site/positions/director/feed.xml"
    address = (site / feed).as_uri()
    state = site / f"state/memosite/watch/{hashlib.sha256(address.encode()).hexdigest()[:16]}.sqlite"
    state.parent.mkdir()
    (site / "state/watch.sqlite").rename(state)
    with closing(sqlite3.connect(state)) as connection, connection:
        found = connection.execute(
            "UPDATE feeds SET address = ? WHERE address = ?", (address, f"file://{FOLDER}/{feed}")
        )
        assert found.rowcount == 1
    return site


def run(capsys: Capture, *arguments: object) -> str:
    """Run a command that has to succeed and to say nothing but its answer, and give that."""
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    assert (code, PROGRESS.sub("", said.err)) == (0, "")
    return said.out


def test_a_build_over_a_former_one_is_as_clean(site: Path, tmp_path: Path, capsys: Capture) -> None:
    """Every page is rendered again, the ledger goes on, and what was taken over is as good as what was made here."""
    former = shutil.copytree(site / "_site", tmp_path / "former")
    said = run(capsys, "build", site, "--jobs", 1)
    anew = (tmp_path / "clean", "--cache", tmp_path / "cache", "--previous", former)
    said_anew = run(capsys, "build", site, "--jobs", 1, "-o", *anew)
    files = tree_bytes(site / "_site")
    assert files == tree_bytes(tmp_path / "clean")
    assert (site / "_site/archive/ledger.jsonl").read_text().startswith((former / "archive/ledger.jsonl").read_text())
    same = [line for line in TIME.sub("", said_anew).splitlines() if not line.startswith(("written", "done"))]
    assert [line.split()[0] for line in said.splitlines()] == ["read", "written", "findings", "address", "done"]
    assert [line for line in said.splitlines() if not line.startswith(("written", "done"))] == same
    assert re.search("^written   (0 files|1 file), ", run(capsys, "build", site, "--jobs", 1), re.MULTILINE)
    assert tree_bytes(site / "_site") == files


def test_commands_answer_as_with_an_empty_cache_and_a_watch_goes_on_where_it_was(
    site: Path, tmp_path: Path, capsys: Capture
) -> None:
    """A search says nothing of an index to be made anew, and learns what is new; what was announced is not again."""
    for query in ("gunmetal", "from:fitter valve", "after:2026-05-05"):
        found = run(capsys, "search", "--site", site, query)
        assert found == run(capsys, "search", "--site", site, "--cache", tmp_path / "cache", query)
        assert "2026-05-05-" in found
    assert run(capsys, "check", site) == run(capsys, "check", site, "--cache", tmp_path / "cache")
    write_memo(site)
    assert "The valve holds" in run(capsys, "search", "--site", site, "subject:holds")
    assert "gunmetal" in run(capsys, "search", "--site", site, "gunmetal").casefold()
    feed = site / "_site/positions/director/feed.xml"
    assert run(capsys, "watch", "--once", feed) == ""
    run(capsys, "build", site, "--jobs", 1)
    assert run(capsys, "watch", "--once", feed) == f"new memo: {MEMO}\n"
    assert run(capsys, "watch", "--once", feed) == ""


def write_memo(site: Path) -> None:
    """A memo that arrives after the former version is gone."""
    memo = {"catdef": "1.4", "memodef": "0.4.0", "type": "memodef:Memo", "from": "fitter", "to": "director"}
    memo |= {"sent": "2026-05-08T09:00:00Z", "subject": "The valve holds", "body": "For three days now."}
    (site / "office" / MEMO).write_text(json.dumps(memo))


def test_nothing_is_left_of_the_former_cache_but_what_others_put_there(site: Path) -> None:
    """It was not screened for secrets, and nothing reads it any more."""
    cache = site / ".memosite"
    parts = ("history", "manifests", "parsed", "search")
    assert all((cache / part).is_dir() for part in parts)
    (cache / "search/notes.txt").write_text("mine\n")
    main(["build", str(site), "--quiet"])
    main(["search", "valve", "--site", str(site), "--quiet"])
    assert [str(file.relative_to(cache)) for part in parts for file in sorted((cache / part).glob("**/*"))] == [
        "search/notes.txt"
    ]
