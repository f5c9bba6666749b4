"""Tampering with a sealed archive is found against a root kept elsewhere, by the program in docs/sealed-log.md."""

import hashlib
import io
import json
import random
import re
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from memosite.archive.seals import parse_seals
from memosite.commands.citing import check_site
from memosite.facts.errors import OutputError
from memosite.reading.published import FolderSite
from tests.support.files import write_text
from tests.support.memos import write_memo, write_transcript
from tests.support.repos import Repo
from tests.support.sites import build_site
from tests.support.soaking import most

DOCUMENT = (Path(__file__).parent.parent / "docs/sealed-log.md").read_text(encoding="utf-8")
PROGRAM = re.findall(r"^```python\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
LOG = "archive/seals.jsonl"
CASES = most(48, in_soak=500)
"""How many tamperings of each archive; of the eight ways, each the same number of times but for one."""
Entry = dict[str, object]
Files = dict[str, bytes]
"""The originals by their paths, in a lean site too, and the log."""


def write_archive(site: Path, *, lean: bool) -> Path:
    """A site folder whose memos were committed in six months; some of them were edited later, one was removed."""
    write_text(site / "memosite.yml", f"lean: {str(lean).lower()}\n")
    repo = Repo(site / "office")
    for month in range(1, 7):
        for day in range(1, 6):
            name = f"2026-{month:02}-{day:02}-0900--engineer--director--tide-{month}-{day}"
            sent = f"2026-{month:02}-{day:02}T09:00:00Z"
            write_memo(repo.root / "memos/inbox", name, sent=sent, body=f"High water {month * day} at the pier.")
        if month == 2:
            write_transcript(repo.root / "transcripts/engineer", "2026-02-07-1000--engineer--survey")
        if month == 4:
            edited = repo.root / "memos/inbox/2026-02-02-0900--engineer--director--tide-2-2.openthing"
            write_text(edited, edited.read_text(encoding="utf-8").replace("High", "Low"))
            (repo.root / "memos/inbox/2026-01-03-0900--engineer--director--tide-1-3.openthing").unlink()
        repo.commit("tides", at=f"2026-{month:02}-08T10:00:00Z")
        if month % 3 == 0:  # before and after the edit and the removal
            build_site(site)
    return site / "_site"


@pytest.fixture(scope="module", params=[False, True], ids=["files", "lean"])
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published site."""
    return write_archive(tmp_path_factory.mktemp("sealed") / "site", lean=request.param)


def read_archive(output: Path) -> Files:
    """The originals and the log of a site."""
    files = {LOG: (output / LOG).read_bytes()}
    for bundle in output.rglob("files-*.zip"):
        with zipfile.ZipFile(bundle) as opened:
            files |= {name: opened.read(name) for name in opened.namelist() if "/original" in name}
    found = (path for path in output.rglob("original*"))
    return files | {path.relative_to(output).as_posix(): path.read_bytes() for path in found}


def write_files(output: Path, files: Files, before: Files) -> None:
    """Make the site one with these originals and this log instead of those that it has."""
    changed = {name for name in files.keys() | before.keys() if files.get(name) != before.get(name)}
    bundles = sorted(output.rglob("files-*.zip"))
    if bundles and changed - {LOG}:
        for bundle in bundles:
            with zipfile.ZipFile(bundle) as opened:
                names = [name for name in opened.namelist() if "/original" in name]
            where = [name for name in names if name in files] + [n for n in files if _month(n) in str(bundle)]
            with zipfile.ZipFile(bundle, "w") as opened:
                for name in dict.fromkeys(where):
                    opened.writestr(name, files[name])
    for name in changed if not bundles else changed & {LOG}:
        (output / name).unlink(missing_ok=True)
        if name in files:
            write_text(output / name, "")
            (output / name).write_bytes(files[name])


def _month(name: str) -> str:
    found = re.search(r"/(\d{4})-(\d\d)-", name)
    return f"archive/{found[1]}/{found[2]}/" if found else "?"


def entries_of(files: Files) -> list[Entry]:
    """The lines of the log."""
    return [json.loads(line) for line in files[LOG].decode().splitlines()]


def written(entries: Sequence[Entry]) -> bytes:
    """A log of these lines."""
    return "".join(f"{json.dumps(entry)}\n" for entry in entries).encode()


def sealed_again(entries: Sequence[Entry]) -> list[Entry]:
    """The log made consistent in itself: leaves numbered, trees and roots of all months made anew."""
    result: list[Entry] = []
    level: list[bytes] = []
    number, previous = 0, "0" * 64
    for entry in entries:
        if entry["kind"] == "leaf":
            number += 1
            result.append({**entry, "n": number})
            level.append(hashlib.sha256(b"\0" + json.dumps(result[-1]).encode()).digest())
        elif level:
            tree = _tree(level)
            text = f"{previous} {tree} {entry['month']} {number}"
            root = hashlib.sha256(b"\2" + text.encode()).hexdigest()
            result.append({**entry, "leaves": number, "tree": tree, "previous": previous, "root": root})
            previous, level = root, []
    return result


def _tree(level: list[bytes]) -> str:
    while len(level) > 1:
        pairs = [level[at : at + 2] for at in range(0, len(level), 2)]
        level = [hashlib.sha256(b"\1" + b"".join(two)).digest() if len(two) == 2 else two[0] for two in pairs]
    return level[0].hex()


def is_leaf(entry: Entry) -> bool:
    """Whether a line of the log is a leaf."""
    return entry["kind"] == "leaf"


def one_byte(rng: random.Random, files: Files, *, reseals: bool) -> Files:
    """One byte of an original is another one; who seals the chain again gives the leaf its hash, too."""
    sealed = sealed_part(files)
    latest = {str(one["path"]): one for one in entries_of(files) if is_leaf(one)}
    path = rng.choice([path for path, one in latest.items() if one in sealed and path in files])
    data = bytearray(files[path])
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    changed = {**files, path: bytes(data)}
    if not reseals:
        return changed
    digest = hashlib.sha256(data).hexdigest()
    entries = [{**one, "sha256": digest} if one == latest[path] else one for one in entries_of(files)]
    return {**changed, LOG: written(sealed_again(entries))}


def removed_memo(rng: random.Random, files: Files, *, reseals: bool) -> Files:
    """All originals of an artifact are gone; who seals the chain again takes its leaves out, too."""
    id_ = rng.choice(sorted({str(one["id"]) for one in sealed_part(files) if str(one["path"]) in files}))
    gone = {str(one["path"]) for one in entries_of(files) if one.get("id") == id_}
    left = {path: data for path, data in files.items() if path not in gone}
    if not reseals:
        return left
    return {**left, LOG: written(sealed_again([one for one in entries_of(files) if one.get("id") != id_]))}


def cut_off(rng: random.Random, files: Files, *, reseals: bool) -> Files:
    """The log ends somewhere before the root, and what it told after that is gone."""
    entries = entries_of(files)
    kept = entries[: rng.randrange(len(sealed_part(files, months=True)))]
    there = {str(one["path"]) for one in kept if is_leaf(one)}
    left = {path: data for path, data in files.items() if path in there or path == LOG}
    if reseals:
        kept = sealed_again([*kept, {**entries[-1], "kind": "month", "month": "2026/06"}]) if kept else []
    return {**left, LOG: written(kept)}


def swapped_months(rng: random.Random, files: Files, *, reseals: bool) -> Files:
    """Two months of the log change places."""
    months: list[list[Entry]] = [[]]
    for entry in sealed_part(files, months=True):
        months[-1].append(entry)
        if not is_leaf(entry):
            months.append([])
    rest = entries_of(files)[len(sealed_part(files, months=True)) :]
    first, second = rng.sample(range(len(months) - 1), 2)
    months[first], months[second] = months[second], months[first]
    entries = [*(entry for month in months for entry in month), *rest]
    return {**files, LOG: written(sealed_again(entries) if reseals else entries)}


def sealed_part(files: Files, *, months: bool = False) -> list[Entry]:
    """The leaves that the newest root seals; with the lines of the months, if they are asked for."""
    entries = entries_of(files)
    end = max(at for at, one in enumerate(entries, 1) if not is_leaf(one))
    return [one for one in entries[:end] if months or is_leaf(one)]


Tampering = Callable[..., Files]
TAMPERINGS: tuple[Tampering, ...] = (one_byte, removed_memo, cut_off, swapped_months)


def run_program(output: Path, root: str) -> tuple[int, str]:
    """What the program in the document says, and its exit code."""
    said = io.StringIO()
    with mock.patch.object(sys, "argv", ["check_seals.py", str(output), root]), redirect_stdout(said):
        try:
            exec(compile(PROGRAM[0], "check_seals.py", "exec"), {"__name__": "__main__"})
        except SystemExit as ended:
            return int(ended.code or 0), said.getvalue()
    raise AssertionError("the program did not say how it ended")


@pytest.fixture
def kept(archive: Path) -> Iterator[tuple[str, Files]]:
    """The newest root, kept elsewhere, and the files of the archive, which are there again afterwards."""
    before = read_archive(archive)
    yield parse_seals(before[LOG].decode()).months[-1].root, before
    write_files(archive, before, read_archive(archive))


def test_the_archive_as_it_was_published_is_fine(archive: Path, kept: tuple[str, Files]) -> None:
    """Also as anybody would run the one program on that page, with what Python brings along; so are earlier roots."""
    [program] = PROGRAM
    imported = re.findall(r"^(?:import|from) (.+)", program, re.MULTILINE)
    assert imported == ["hashlib, io, json, os, re, sys, zipfile", "pathlib import Path"]
    assert len(program.splitlines()) <= 120
    root, files = kept
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROGRAM[0], archive, root], capture_output=True, text=True, check=False
    )
    leaves = [one for one in entries_of(files) if is_leaf(one)]
    expected = f"The first {len(sealed_part(files))} of {len(leaves)} leaves are sealed by this root"
    assert done.returncode == 0 and done.stdout.startswith(expected), done
    months = parse_seals(files[LOG].decode()).months
    assert [one.month for one in months] == ["2026/01", "2026/02", "2026/03", "2026/04", "2026/05"]
    assert [run_program(archive, one.root)[0] for one in months] == [0] * 5
    assert check_site(FolderSite(archive), root).holds


ZEROS = "0" * 64
LEAVES: tuple[Entry, ...] = (
    {}, {"month": None}, {"id": "memo/\ud800"}, {"why": "lost"}, {"why": None}, {"why": ""}, {"sha256": ZEROS},
    {"path": "../../etc/passwd"}, {"path": "memos"}, {"path": "memos/a/original\u202e"}, {"month": "2026/13"},
    {"month": "\u0662026/01"}, {"kind": "note"}, {"n": 7}, {"n": 31.5}, {"id": 7}, {"redacted": -1}, {"source": None},
    {"why": "", "sha256": "A" * 64}, {"why": "", "sha256": ZEROS}, {"kind": "month"}, {"path": ["a/b/c"]},
)  # fmt: skip
"""What one more leaf says that no root seals: the first is a good one."""
MONTHS: tuple[Entry, ...] = (
    {"leaves": 1}, {"leaves": True}, {"tree": ZEROS}, {"previous": ZEROS}, {"root": ZEROS}, {"month": "2026/1"},
    {"v": 2},
)  # fmt: skip
LOGS: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda log: log, "without the last line end": lambda log: log[:-1], "empty": lambda _: b"",
    "line ends of Windows": lambda log: log.replace(b"\n", b"\r\n"), "of Macs": lambda log: log.replace(b"\n", b"\r"),
    "one of Windows at the end": lambda log: log[:-1] + b"\r\n", "an empty line more": lambda log: log + b"\n",
    "a mark of byte order": lambda log: b"\xef\xbb\xbf" + log, "a list": lambda log: log + b"[]\n",
    "UTF-16": lambda log: log.decode().encode("utf-16"),
    "cut": lambda log: log.rstrip(b"\n").rpartition(b"\n")[0] + b"\n",
    "another line end": lambda log: log.replace(b"\n", "\u2028".encode(), 1), "nested": lambda log: log + b"[" * 99_999,
    "a space after a line": lambda log: log.replace(b"\n", b" \n", 1),
}  # fmt: skip


def _logs(log: bytes) -> Iterator[tuple[str, bytes]]:
    """Logs that are hardly the one that was sealed, by what was done to it."""
    yield from ((what, change(log)) for what, change in LOGS.items())
    lines = log.splitlines()
    leaf: Entry = {"v": 1, "kind": "leaf", "n": sum(b'"leaf"' in line for line in lines) + 1, "month": "2026/06"}
    leaf |= {"id": "memo/more", "path": "memos/more/original.openthing", "sha256": None, "why": "removed"}
    yield from ((f"leaf {said}", log + json.dumps(leaf | said).encode() + b"\n") for said in LEAVES)
    good = json.dumps(leaf).encode()
    yield from (("leaf of Windows", log + good + b"\r\n"), ("no text", log + good.replace(b"more", b"\xff") + b"\n"))
    month = next(line for line in lines if b'"kind": "month"' in line)
    for said in MONTHS:
        yield f"month {said}", log.replace(month, json.dumps(json.loads(month) | said).encode())
    yield from (("month of Windows", log.replace(month, month + b"\r")), ("no month", log.replace(month + b"\n", b"")))


def _moved(path: Path) -> None:
    """Move a file or a folder out of the site, with a link in its place."""
    path.symlink_to(path.rename(Path(f"{path.parents[2]}-away-{path.name}")))


def _bundled(bundle: Path, name: str, **options: Any) -> None:
    with zipfile.ZipFile(bundle, "a") as opened:
        opened.writestr(name, "x", **options)


def _folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link(path: Path, to: str | Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(to)


def _done_to(site: Path) -> Iterator[Callable[[], object]]:
    """What is done to a site, or laid into it."""
    for index in ("{", "[]", '{"months": "x"}', '{"months": [{"bundles": [{}]}]}', "[" * 99_999):
        yield partial(write_text, site / "archive/index.json", index)
    far = write_text(site.parent / "far/original.txt", "x").parent
    for place in (
        "memos/x/original.txt",
        "memos/x/copies/a.openthing",
        "pages/x/original.txt",
        "memos/x/y/original.txt",
    ):
        yield partial(write_text, site / place, "x")
    for name, to in (("notes/far", far), ("notes/a/original", "/nowhere"), ("notes/b/original.b", "original.b"),
                     ("notes/c/original.c", far / "original.txt"), ("notes/d/original", far)):  # fmt: skip
        yield partial(_link, site / name, to)
    yield (
        (site / "memos/x/original.d").mkdir
        if (site / "memos/x").is_dir()
        else partial((site / "memos/x/original.d").mkdir, parents=True)
    )
    yield from (partial(_moved, site / name) for name in (LOG, "archive/index.json"))
    for original in sorted(site.glob("memos/*/original*"))[:1]:
        yield partial(_moved, original)
        yield partial(_moved, original.parent)
        yield original.unlink
        yield partial(_folder_instead, original)
    for bundle in sorted(site.rglob("files-*.zip"))[:1]:
        with zipfile.ZipFile(bundle) as opened:
            name = next(one for one in opened.namelist() if "/original" in one)
        yield from (partial(_bundled, bundle, name), partial(_bundled, bundle, name, compress_type=8))
        yield from (partial(write_text, site / name, "x"), partial(bundle.write_bytes, b"PK"), bundle.unlink)
        yield partial(shutil.copy, bundle, bundle.with_name("files-99.zip"))


def _verdicts(site: Path, root: str) -> tuple[bool, bool]:
    """Whether a site holds for the program, and for `verify`."""
    by_program = run_program(site, root)[0] == 0
    try:
        return by_program, check_site(FolderSite(site), root).holds
    except OutputError:
        return by_program, False


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_program_and_verify_agree_on_every_log(archive: Path, kept: tuple[str, Files]) -> None:
    """Both hold or both do not; line ends, bytes that are no text, and fields of any kind among it."""
    root, files = kept
    held = {}
    for what, log in _logs(files[LOG]):
        (archive / LOG).write_bytes(log)
        held[what] = _verdicts(archive, root)
    assert [what for what, (one, other) in held.items() if one != other] == []
    assert {what for what, (one, _) in held.items() if one} == {
        "as it is", "without the last line end", "one of Windows at the end", "leaf of Windows", "month of Windows",
        *(f"leaf {said}" for said in LEAVES[:3]), f"month {MONTHS[3]}", f"month {MONTHS[-1]}",
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_program_and_verify_agree_on_every_folder(archive: Path, kept: tuple[str, Files], tmp_path: Path) -> None:
    """A link is no file, a link to a folder leads to what the log names; a ZIP counts if the index names it."""
    root, _ = kept
    held = []
    for number in range(len(list(_done_to(archive)))):
        site = tmp_path / str(number) / "site"
        shutil.copytree(archive, site)
        list(_done_to(site))[number]()
        held.append(_verdicts(site, root))
    (tmp_path / "link").symlink_to(archive)
    held.append(_verdicts(tmp_path / "link", root))
    assert [number for number, (one, other) in enumerate(held) if one != other] == []
    assert held[-1] == (True, True) and held[0] == (False, False)


def test_the_program_says_all_in_lines_of_its_own(archive: Path, kept: tuple[str, Files]) -> None:
    """A name that is laid into a site forges no line of it, and bytes that are no text end nothing early."""
    root, files = kept
    (archive / "memos/x").mkdir()
    (archive / "memos/x/original\nThe first 9 of 9 leaves\x1b[2J\u202e\udcff").touch()
    (archive / LOG).write_bytes(files[LOG] + b'{"kind": "\xff"}\n')
    code, said = run_program(archive, root)
    assert code == 1 and said.isascii() and all(line.isprintable() for line in said.splitlines())
    unreadable, smuggled = said.splitlines()
    assert unreadable.startswith("a line after leaf ") and smuggled.endswith("\\udcff is in no leaf"), said


def test_tamperings_are_all_found(archive: Path, kept: tuple[str, Files]) -> None:
    """By the program, and by `memosite verify`; whether the chain was sealed again or not."""
    root, files = kept
    rng = random.Random(20261123)
    missed: list[str] = []
    counts: Counter[tuple[str, bool]] = Counter()
    last = files
    for number in range(CASES):
        tampering, reseals = TAMPERINGS[number % 4], number % 8 >= 4
        tampered = tampering(rng, files, reseals=reseals)
        assert tampered != files
        write_files(archive, tampered, last)
        last = tampered
        code, said = run_program(archive, root)
        checked = check_site(FolderSite(archive), root)
        if code != 1 or checked.holds or not _is_named(files, tampered, said, reseals=reseals):
            missed.append(f"{number}: {tampering.__name__}, sealed again: {reseals}: {said}")
        counts[tampering.__name__, reseals] += 1
    assert missed == []
    assert set(counts.values()) <= {CASES // 8, -(-CASES // 8)} and len(counts) == 8


def _is_named(files: Files, tampered: Files, said: str, *, reseals: bool) -> bool:
    """Whether the first original that is not what it was is named, where the log still says what it was."""
    if reseals or tampered[LOG] != files[LOG]:
        return bool(said)
    changed = [path for path in files if files[path] != tampered.get(path)]
    return all(path in said for path in changed)
