"""`verify --bundle`: an evidence packet that is checked without memosite (SPEC 7, verifying)."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memosite.archive.seals import parse_seals
from memosite.cli import main
from tests.support.files import write_text
from tests.support.memos import send, write_memo, write_transcript
from tests.support.repos import Repo
from tests.support.sites import build_site

LOAD = "2026-05-01-1430--engineer--the-load"
TURNS = [f"Turn {number} says that the tide turns {number} times." for number in range(1, 8)]


def talk(turns: list[str]) -> str:
    """A transcript of these turns."""
    return "\n".join(f"## {'User' if not number % 2 else 'Assistant'}\n\n{text}\n" for number, text in enumerate(turns))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site that was built, with a sealed month."""
    site = tmp_path_factory.mktemp("bundle") / "site"
    repo = Repo(site / "office")
    write_transcript(repo.root / "transcripts/engineer", LOAD, text=talk(TURNS))
    write_memo(repo.root / "memos/inbox", "2026-05-02-0900--engineer--director--noon", body="At noon.")
    repo.commit("in May", at="2026-05-03T10:00:00Z")
    send(repo.root / "memos/inbox", "2026-06-02-0900--engineer--director--june")
    repo.commit("in June", at="2026-06-03T10:00:00Z")
    build_site(site)
    return site


@pytest.fixture
def paper(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A document with two citations."""
    return cited(site, tmp_path, capsys, f"{LOAD}#t4", "2026-05-02-0900")


def cited(site: Path, folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Path:
    """A document that cites these."""
    assert main(["cite", *words, "--format", "markdown", "--site", str(site)]) == 0
    return write_text(folder / "paper.md", capsys.readouterr().out)


def packet_of(paper: Path, site: Path) -> Path:
    """The packet of a document."""
    packet = paper.parent / "packet"
    assert main(["verify", str(paper), "--bundle", str(packet), "--site", str(site)]) == 0
    return packet


def check(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run the program of the packet, as somebody without memosite does."""
    command = [sys.executable, "-I", str(folder / "check.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.parametrize("place", ["", "_site"], ids=["repos", "published"])
def test_a_packet_is_checked_without_memosite(place: str, site: Path, paper: Path) -> None:
    """By its program and by sha256sum; with a root that was kept elsewhere."""
    packet = packet_of(paper, site / place)
    names = sorted(path.relative_to(packet).as_posix() for path in packet.rglob("*") if path.is_file())
    assert names == [
        "1/around.md", "1/original.body.md", "1/original.openthing", "1/proof-original.body.md.json",
        "1/proof-original.openthing.json", "1/source.txt", "2/around.md", "2/original.openthing",
        "2/proof-original.openthing.json", "2/source.txt", "README.txt", "SHA256SUMS", "check.py", "verdicts.json",
    ]  # fmt: skip
    source = (packet / "1/source.txt").read_bytes()
    assert source.decode().strip() == TURNS[3] and source in (packet / "1/original.body.md").read_bytes()
    around = (packet / "1/around.md").read_text()
    assert [turn for turn in TURNS if turn in around] == TURNS[2:5]
    [one, _] = json.loads((packet / "verdicts.json").read_text())
    assert (one["tier"], one["sha256"]) == ("exact", hashlib.sha256(source).hexdigest())
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=packet, check=True, timeout=600)
    log = parse_seals((site / "_site/archive/seals.jsonl").read_text(encoding="utf-8"))
    for words in ([], [log.months[0].root]):
        assert check(packet, *words).stdout == "verified: every hash and every proof holds\n"
    assert "does not lead to that root" in check(packet, "0" * 64).stdout


def test_a_range_is_checked_turn_by_turn(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is hashed of a range lists the hashes of its turns, and the packet has them all."""
    packet = packet_of(cited(site, tmp_path, capsys, f"{LOAD}#t2-t4"), site)
    sources = [packet / f"1/source-t{number}.txt" for number in (2, 3, 4)]
    assert [source.read_text().strip() for source in sources] == TURNS[1:4]
    listed = "".join(f"{hashlib.sha256(source.read_bytes()).hexdigest()}\n" for source in sources)
    assert (packet / "1/source.txt").read_text() == listed
    [found] = json.loads((packet / "verdicts.json").read_text())
    assert found["sha256"] == hashlib.sha256(listed.encode()).hexdigest()
    assert check(packet).returncode == 0
    sums = packet / "SHA256SUMS"
    old = hashlib.sha256(sources[1].read_bytes()).hexdigest()
    sources[1].write_text("Another turn.")
    sums.write_text(sums.read_text().replace(old, hashlib.sha256(sources[1].read_bytes()).hexdigest()))
    assert "1: the turns have other hashes than source.txt lists" in check(packet).stdout


def test_every_byte_of_a_packet_counts(site: Path, paper: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A changed file is found; also with a new sum, but by the hash of the citation, or by the proof."""
    packet = packet_of(paper, site)
    sums = packet / "SHA256SUMS"
    listed = sums.read_text()
    for name in ("1/source.txt", "1/original.body.md", "2/original.openthing"):
        data = (packet / name).read_bytes()
        (packet / name).write_bytes(data.replace(b"T", b"t", 1).replace(b"noon", b"moon"))
        assert f"{name}: changed or removed" in check(packet).stdout
        new = hashlib.sha256((packet / name).read_bytes()).hexdigest()
        sums.write_text(listed.replace(hashlib.sha256(data).hexdigest(), new))
        assert check(packet).returncode == 1
        (packet / name).write_bytes(data)
        sums.write_text(listed)
    assert check(packet).returncode == 0
    for path in sorted((*packet.glob("*/*"), packet / "SHA256SUMS", packet / "verdicts.json")):
        data = path.read_bytes()
        for change in (b"", b"[]", b"\xff", data[: len(data) // 2], None):
            path.unlink()
            if change is not None:
                path.write_bytes(change)
            found = check(packet)
            assert found.returncode == 1 and not found.stderr and found.stdout, (path, change)
        path.write_bytes(data)
    more = write_text(packet / "2/original\nverified: every hash.md", "x")
    assert check(packet).stdout == "2/original\\nverified: every hash.md: in no line of SHA256SUMS\n"
    more.unlink()
    root = json.loads((packet / "2/proof-original.openthing.json").read_text())["months"][0]["root"]
    for proof in packet.glob("*/proof-*.json"):
        proof.unlink()
    sums.write_text("".join(line for line in listed.splitlines(keepends=True) if "/proof-" not in line))
    assert check(packet).returncode == 0
    assert check(packet, root).stdout.splitlines() == [f"{number}: nothing proves it by that root" for number in (1, 2)]
    capsys.readouterr()
    assert main(["verify", str(paper), "--bundle", str(packet), "--site", str(site)]) == 2
    assert "expected a new or empty folder" in capsys.readouterr().err


def test_a_packet_has_the_version_that_was_cited(site: Path, paper: Path) -> None:
    """Also where the source was edited since."""
    edited = shutil.copytree(site, paper.parent / "edited")
    write_text(edited / f"office/transcripts/engineer/{LOAD}.body.md", talk([*TURNS[:3], "Nothing.", *TURNS[4:]]))
    Repo(edited / "office", is_new=False).commit("edited", at="2026-06-04T10:00:00Z")
    packet = packet_of(paper, edited)
    assert (packet / "1/source.txt").read_text().strip() == TURNS[3]
    assert (packet / "1/former.txt").read_text() == talk(TURNS) and check(packet).returncode == 0
