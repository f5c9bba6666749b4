"""A later version takes over, without a word, what 7b1ec27 left: output, ledger, cache, search index, watch.

`tests/published/former-site.tar.gz` is a small site with all of that, as `tests/published/make-former-site` made it
with that commit. It is never made again, and these tests stay in the suite for ever: such caches are on people's disks.

What a cache holds is bound to its place: to paths, inodes, times of change. `unpack` writes these anew, so that a later
version finds everything as one does that was installed over the former one. And it makes sure that nothing of the
former version passes for the later one's: the classes that it pickled are in modules that do not exist any more, and
the pages that it rendered differ from today's.
"""

import hashlib
import hmac
import json
import re
import shutil
import sqlite3
import tarfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from memosite.cli import main

FORMER = Path(__file__).parent / "published/former-site.tar.gz"
FOLDER = "/srv/former-site"
"""Where the former site was."""
STALE = b"<!-- as a former version rendered it -->\n"
PROGRESS = re.compile(r"\w+ +[\d,]+ of [\d,]+\n")
"""What a slow machine says of how far it is."""
TIME = re.compile(r"(?<=^done      in )[\d.]+", re.MULTILINE)
MEMO = "memos/inbox/2026-05-08-0900--fitter--director--the-valve-holds.openthing"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The former site, unpacked in another place, and its user's state."""
    site = unpack(tmp_path / "site")
    monkeypatch.setenv("XDG_STATE_HOME", str(site / "state"))
    return site


def unpack(site: Path) -> Path:
    """The former site as the former version would have left it here."""
    with tarfile.open(FORMER) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)  # none before 3.11.4
        archive.extractall(site)
    output, cache = site / "_site", site / ".memosite"
    key = (site / "state/memosite/key").read_bytes()
    for page in output.rglob("*.html"):
        page.write_bytes(page.read_bytes() + STALE)
    for source in ("office", "workshop"):
        _move_history(cache / "history", site, source)
    _move_manifest(cache / "manifests", output, key)
    for file in (cache / "parsed").iterdir():
        _resign(file, file, key, _without_modules(file.read_bytes()[32:]))
    _move_index(cache / "search")
    _move_watch(site)
    return site


def _move_history(folder: Path, site: Path, source: str) -> None:
    """The history of a repo is named after the path of the repo, and knows its inode."""
    names = [f"{root}/{source}/.git\0\0HEAD".encode() for root in (FOLDER, site)]
    old, new = (folder / f"{hashlib.sha256(name).hexdigest()[:24]}.json" for name in names)
    known = json.loads(old.read_text())
    known["name"] = f"|3|{(site / source / '.git').stat().st_ino}"
    old.unlink()
    new.write_text(json.dumps(known))


def _move_manifest(folder: Path, output: Path, key: bytes) -> None:
    """The manifest is named after the path of the output, and knows size, time and inode of each file of the site."""
    old = hashlib.blake2b(f"{FOLDER}/_site".encode(), digest_size=8).hexdigest()
    new = hashlib.blake2b(bytes(output.resolve()), digest_size=8).hexdigest()
    states = {path.relative_to(output).as_posix(): _state(path) for path in output.rglob("*") if path.is_file()}
    for file in (folder / f"{old}{suffix}" for suffix in (".jsonl", ".states", ".last", ".seal")):
        lines = file.read_bytes()[32:].decode().split("\n")
        if file.suffix == ".last":
            lines = [json.dumps(states["status.json"])]
        elif file.suffix == ".states":
            lines = [" ".join((*map(str, states[path]), path)) for path in (line.split(" ", 3)[3] for line in lines)]
        elif file.suffix == ".jsonl":
            lines = [_unit_here(line, states) for line in lines]
        _resign(file, folder / (new + file.suffix), key, "\n".join(lines).encode())


def _unit_here(line: str, states: Mapping[str, tuple[int, int, int]]) -> str:
    """A line of a manifest; that of a unit ends with its outputs: path, fingerprint, state."""
    value = json.loads(line)
    if not isinstance(value, list) or len(value) != 4:
        return line
    *unit, outputs = value
    return json.dumps([*unit, [[path, fingerprint, states[path]] for path, fingerprint, _ in outputs]])


def _state(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ino


def _without_modules(pickled: bytes) -> bytes:
    """The same, with classes of modules that no version has: who unpickles it fails."""
    assert b"memosite." in pickled
    return pickled.replace(b"memosite.", b"memosite_")


def _resign(old: Path, new: Path, key: bytes, data: bytes) -> None:
    """Write a signed file of the cache in the place of another; the signature covers its name."""
    old.unlink()
    new.write_bytes(hmac.digest(key, f"{new.parent.name}/{new.name}\0".encode() + data, "sha256") + data)


def _move_index(folder: Path) -> None:
    """The seal of the search index knows size, inode and time of change of each of its files."""
    schema = folder / "_MAIN_1.toc"
    schema.write_bytes(_without_modules(schema.read_bytes()))
    seal = json.loads((folder / "seal.json").read_text())
    for entry in seal["files"]:
        found = (folder / entry[0]).lstat()
        entry[1:] = found.st_size, found.st_ino, found.st_ctime_ns
    (folder / "seal.json").write_text(json.dumps(seal))


def _move_watch(site: Path) -> None:
    """The state of a watch is named after the address of the feed, and knows it."""
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


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run a command that has to succeed and to say nothing but its answer, and give that."""
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    assert (code, PROGRESS.sub("", said.err)) == (0, "")
    return said.out


def files_of(site: Path) -> dict[str, bytes]:
    """The files of a built site; `status.json` tells the time."""
    files = {path.relative_to(site).as_posix(): path.read_bytes() for path in site.rglob("*") if path.is_file()}
    del files["status.json"]
    return files


def test_a_build_over_a_former_one_gives_what_a_clean_one_gives(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every page is rendered again, nothing of the former version is left, and the ledger goes on."""
    former = shutil.copytree(site / "_site", tmp_path / "former")
    said = run(capsys, "build", site, "--jobs", 1)
    anew = (tmp_path / "clean", "--cache", tmp_path / "cache", "--previous", former)
    said_anew = run(capsys, "build", site, "--jobs", 1, "-o", *anew)
    assert files_of(site / "_site") == files_of(tmp_path / "clean")
    assert (site / "_site/archive/ledger.jsonl").read_text().startswith((former / "archive/ledger.jsonl").read_text())
    same = [line for line in TIME.sub("", said_anew).splitlines() if not line.startswith(("written", "done"))]
    assert [line.split()[0] for line in said.splitlines()] == ["read", "written", "findings", "done"]
    assert [line for line in said.splitlines() if not line.startswith(("written", "done"))] == same


def test_a_second_build_finds_everything_as_it_was(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was taken over is as good as what was made here."""
    run(capsys, "build", site, "--jobs", 1)
    files = files_of(site / "_site")
    assert re.search("^written   (0 files|1 file), ", run(capsys, "build", site, "--jobs", 1), re.MULTILINE)
    assert files_of(site / "_site") == files


def test_the_former_search_index_answers(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says nothing of an index that has to be made anew, and finds what a new one finds."""
    for query in ("gunmetal", "from:fitter valve", "after:2026-05-05"):
        found = run(capsys, "search", "--site", site, query)
        assert found == run(capsys, "search", "--site", site, "--cache", tmp_path / "cache", query)
        assert "2026-05-05-" in found


def test_the_former_index_learns_what_is_new(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An update writes into the index that is there."""
    write_memo(site)
    assert "The valve holds" in run(capsys, "search", "--site", site, "subject:holds")
    assert "gunmetal" in run(capsys, "search", "--site", site, "gunmetal").casefold()


def test_findings_are_those_of_an_empty_cache(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`check` reads the same cache as a build."""
    found = run(capsys, "check", site)
    assert found == run(capsys, "check", site, "--cache", tmp_path / "cache")


def test_a_watch_goes_on_where_it_was(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was announced is not announced again, and what is new is, once."""
    feed = site / "_site/positions/director/feed.xml"
    assert run(capsys, "watch", "--once", feed) == ""
    write_memo(site)
    run(capsys, "build", site, "--jobs", 1)
    assert run(capsys, "watch", "--once", feed) == f"new memo: {MEMO}\n"
    assert run(capsys, "watch", "--once", feed) == ""


def write_memo(site: Path) -> None:
    """A memo that arrives after the former version is gone."""
    memo = {"catdef": "1.4", "memodef": "0.4.0", "type": "memodef:Memo", "from": "fitter", "to": "director"}
    memo |= {"sent": "2026-05-08T09:00:00Z", "subject": "The valve holds", "body": "For three days now."}
    (site / "office" / MEMO).write_text(json.dumps(memo))


def test_what_the_former_version_pickled_cannot_be_unpickled_here(site: Path) -> None:
    """So these tests notice whoever tries to."""
    pickled = [*(site / ".memosite/parsed").iterdir(), site / ".memosite/search/_MAIN_1.toc"]
    assert len(pickled) == 3
    assert all(b"memosite_" in file.read_bytes() and b"memosite." not in file.read_bytes() for file in pickled)


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
