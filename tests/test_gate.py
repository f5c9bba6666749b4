"""What is read is scanned for secrets once, in whatever form it is, and goes on without them, on every way (SPEC 9)."""

import ast
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from memosite.archive.model import Archive
from memosite.cli import main
from memosite.commands.arguments import command_parsers, parser
from memosite.config.loading import load_config
from memosite.facts.file import File
from memosite.facts.findings import Finding
from memosite.facts.rules import (
    SECRET_FORMERLY_IN_NAME,
    SECRET_IN_NAME,
    SECRET_REDACTED,
    SECRET_RULES,
    withheld_for_secrets,
)
from memosite.reading.archive import open_archive
from memosite.reading.screen import Screen
from memosite.secrets import find_secrets
from tests.support.files import write_text
from tests.support.looking import LATER
from tests.support.memos import write_memo, write_org
from tests.support.planted import write_planted
from tests.support.repos import Repo
from tests.support.servers import free_port

PACKAGE = Path(__file__).parent.parent / "memosite"
KEY = "AKIA" + "Z7QH3XWMK2TPLV5D"
TOKEN = "ghp_" + "wJq8Zt4Rk2Xv6Nc9Bm3Lf7Hs5Dg1Pa0Yu7Te"
SHOWN = "[REDACTED:aws-access-key-id]"
BLOCK = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
PRIVATE = ["-----BEGIN " + "PRIVATE KEY-----", BLOCK, BLOCK[::-1], "-----END " + "PRIVATE KEY-----"]


def screened(data: bytes, name: str = "notes/one.md") -> File:
    """A file as it goes on."""
    return Screen().file(File(source="desk", path=name, data=data)).file


@pytest.mark.parametrize(
    ("written", "left"),
    [
        (f"It is {KEY}.", f"It is {SHOWN}."),
        (json.dumps({"body": f'It is\n{KEY}\n"so"'}), json.dumps({"body": f'It is\n{SHOWN}\n"so"'})),
        (json.dumps({"body": json.dumps({"key": KEY})}), json.dumps({"body": json.dumps({"key": SHOWN})})),
        (f'{{"key": "\\u0041{KEY[1:]}"}}', f'{{"key": "{SHOWN}"}}'),
        (f"\ufeffé {KEY} é", f"\ufeffé {SHOWN} é"),
    ],
)
def test_a_secret_is_replaced_where_it_is(written: str, left: str) -> None:
    """Nothing else changes: escapes stay whole, and what is JSON stays JSON."""
    assert screened(written.encode()).data.decode() == left
    if written.startswith("{"):
        assert json.loads(left)


def test_a_text_that_is_not_utf_8_is_screened_as_it_would_be_shown() -> None:
    """With NULs between its letters or between words; other bytes that are not UTF-8 are neither lost nor shifted."""
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        file = screened(f"Line one\nIt is {KEY}.\n".encode(encoding))
        assert KEY.encode() not in file.data.replace(b"\0", b"") and SHOWN.encode() in file.data
        assert file.data.count(b"\n") == 2
    assert KEY.encode() not in screened(f"A=1\0KEY={KEY}\0PATH=/bin\0".encode()).data
    assert screened(b"\xff\xfe " + KEY.encode() + b" \xe9\x80").data == b"\xff\xfe " + SHOWN.encode() + b" \xe9\x80"


@pytest.mark.parametrize("break_", ["\n", "\r\n"])
def test_a_secret_of_several_lines_leaves_its_line_breaks(break_: str) -> None:
    """So that the lines after it keep their numbers."""
    text = break_.join(["before", *PRIVATE, "after", ""])
    left = screened(text.encode()).data.decode()
    assert "MIIE" not in left and BLOCK[::-1] not in left
    assert left.split(break_).index("after") == text.split(break_).index("after")
    in_json = json.loads(screened(json.dumps({"body": text}).encode()).data)["body"]
    assert in_json.split(break_).index("after") == text.split(break_).index("after")


def test_hits_name_lines_and_fingerprints_that_do_not_depend_on_the_secret() -> None:
    """The same place of a line is the same whatever secret or folder it is; what is allowed by a fingerprint stays."""
    text = "one\nkey: {}\nthree {}\n"

    def file(source: str, path: str, key: str = KEY) -> File:
        return File(source=source, path=path, data=text.format(key, TOKEN).encode())

    first = Screen().file(file("a", "memos/inbox/x.md")).hits
    second = Screen().file(file("b", "memos/read/x.md", KEY[:-1] + "E")).hits
    assert [(one.rule, one.line) for one in first] == [("aws-access-key-id", 2), ("github-pat", 3)]
    assert first == second
    renamed = Screen().file(file("a", "memos/inbox/y.md")).hits
    assert {one.fingerprint for one in first}.isdisjoint(one.fingerprint for one in renamed)
    left = Screen(allowed=frozenset({first[0].fingerprint})).file(file("a", "memos/inbox/x.md"))
    assert left.file.data.decode() == f"one\nkey: {KEY}\nthree [REDACTED:github-pat]\n"
    assert [one.is_allowed for one in left.hits] == [True, False]


@pytest.fixture
def scanned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the detector is given."""
    texts: list[str] = []

    def counting(text: str) -> object:
        texts.append(text)
        return find_secrets(text)

    monkeypatch.setattr("memosite.reading.redaction.find_secrets", counting)
    monkeypatch.setattr("memosite.reading.reader.time.time_ns", lambda: LATER)
    return texts


def read(site: Path) -> Archive:
    """The archive of a site as a command reads it, with the cache."""
    (site / ".memosite").mkdir(exist_ok=True)
    with open_archive(load_config(site)) as handle:
        archive, _ = handle.read()
        for artifact in archive.artifacts.values():
            for copy in artifact.copies:
                if copy.file.sha256:
                    handle.shelf.get(copy.file.sha256)  # a page needs the bytes again
    return archive


def site_with_history(folder: Path) -> Repo:
    """Two memos and one that was edited."""
    repo = Repo(folder / "desk")
    for number in range(3):
        write_memo(repo.root / "memos/inbox", f"2026-05-01-0{number}00--a--b--m", body=f"Number {number}, {KEY}.")
    repo.commit()
    write_memo(repo.root / "memos/inbox", "2026-05-01-0000--a--b--m", body="Edited.")
    repo.commit()
    return repo


@pytest.mark.parametrize("is_tree", [False, True])
def test_nothing_that_stays_is_scanned_again(tmp_path: Path, scanned: list[str], is_tree: bool) -> None:
    """Neither files nor former contents nor names; after a change only what changed. A commit is read like a folder."""
    repo = site_with_history(tmp_path)
    ref = ", ref: HEAD" if is_tree else ""
    write_text(tmp_path / "memosite.yml", f"sources: [{{path: desk{ref}}}]\nsecrets: {{mode: redact}}\n")
    before = read(tmp_path)
    assert len(scanned) > 4 and len(set(scanned)) == len(scanned)
    first = set(scanned)
    scanned.clear()
    assert read(tmp_path).findings == before.findings
    assert scanned == []
    write_memo(repo.root / "memos/inbox", "2026-05-01-0100--a--b--m", body="Now it is this.")
    repo.commit()
    read(tmp_path)
    assert any("Now it is this." in text for text in scanned)
    assert first.isdisjoint(scanned) and len(set(scanned)) == len(scanned)


def test_exceptions_change_what_is_read_and_scan_nothing(tmp_path: Path, scanned: list[str]) -> None:
    """A text is redacted anew by the scan that is known."""
    site_with_history(tmp_path)
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\nsecrets: {mode: redact}\n")
    found = [one for one in read(tmp_path).findings if one.rule in SECRET_RULES]
    fingerprint = found[-1].message.rpartition(" ")[2]
    scanned.clear()
    allow = f"[{{fingerprint: {fingerprint!r}, why: revoked}}]"
    write_text(tmp_path / "memosite.yml", f"sources: [{{path: desk}}]\nsecrets: {{mode: redact, allow: {allow}}}\n")
    left = [one for one in read(tmp_path).findings if one.rule in SECRET_RULES]
    assert left == found[:-1]
    assert not any("sent" in text for text in scanned)


NAMING = frozenset({SECRET_IN_NAME, SECRET_FORMERLY_IN_NAME, SECRET_REDACTED})


def named(findings: tuple[Finding, ...]) -> list[tuple[str, str]]:
    """Where names with secrets are, and what is said of them."""
    return [(one.location.path, one.message) for one in findings if one.rule in NAMING]


@pytest.mark.parametrize("is_tree", [False, True])
def test_a_name_with_a_secret_is_not_read(tmp_path: Path, is_tree: bool) -> None:
    """The file is as if it were not there; the finding names its folder."""
    repo = Repo(tmp_path / "desk")
    write_memo(repo.root / "memos/inbox", f"2026-05-01-0000--a--b--{KEY}", body="Hidden by its name.")
    write_memo(repo.root / "memos/inbox", "2026-05-01-0100--a--b--m", body_ref=f"{KEY}.body.md")
    write_text(repo.root / f"memos/inbox/{KEY}.body.md", "A body.\n")
    write_text(repo.root / f"decisions/{KEY}/gate.md", "# The gate\n")
    repo.commit()
    write_text(tmp_path / "memosite.yml", f"sources: [{{path: desk{', ref: HEAD' if is_tree else ''}}}]\n")
    archive = read(tmp_path)
    assert [id_ for _, id_ in archive.artifacts] == ["2026-05-01-0100--a--b--m"]
    said = "AWS access key id in the name of a file in this folder, which is not read"
    assert named(archive.findings) == [(f"decisions/{SHOWN}", said), ("memos/inbox", said)]
    assert KEY not in repr(archive)


def test_names_that_git_has_are_screened_before_they_are_kept(tmp_path: Path) -> None:
    """Former paths and authors; also when their commits are in the cache, and until they are in no commit."""
    repo = Repo(tmp_path / "desk")
    write_memo(repo.root / "memos/inbox", "2026-05-01-0100--a--b--m")
    repo.commit(who=f"Ada {TOKEN}")
    removed = write_memo(repo.root / "memos/inbox", f"2026-05-01-0000--a--b--{KEY}")
    repo.commit()
    removed.unlink()
    repo.commit()
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\n")
    for _ in range(2):
        archive = read(tmp_path)
        assert named(archive.findings) == [
            ("", "in the name of an author of commits: Ada [REDACTED:github-pat]"),
            ("memos/inbox", "AWS access key id in a former name of a file in this folder, which is not shown"),
        ]
        assert withheld_for_secrets(archive.findings) == ()
        assert KEY not in repr(archive) and TOKEN not in repr(archive)
        kept = b"".join(one.read_bytes() for one in (tmp_path / ".memosite").rglob("*") if one.is_file())
        assert KEY.encode() not in kept and TOKEN.encode() not in kept
    subprocess.run(["git", "-C", repo.root, "checkout", "-q", "--orphan", "clean"], check=True)
    repo.commit()
    assert named(read(tmp_path).findings) == []


def test_all_that_is_found_is_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str], scanned: list[str]) -> None:
    """Of every file, and of former contents; also when nothing is read again, and where a file is checked alone."""
    site = write_planted(tmp_path / "site", has_git=False)
    inbox, lock = site / "office/memos/inbox", site / "lock"
    bare = write_text(inbox / "2026-05-01-1400--engineer--director--bare.body.md", "Bare zqbare.\n")
    write_text(inbox / "2026-05-01-1300--engineer--director--broken.openthing", '{"from": zqbroken')
    write_text(lock / "handoffs/inbox/late.openthing", '{"to": zqlate')  # read when the organization names its folder
    elsewhere = {"x.org.memo_location": "<working_directory>/handoffs/"}
    write_org(lock / "org", "lock-org", positions=["warden"], mission="To keep zqmission.", **elsewhere)
    edited, removed = (write_memo(inbox, f"2026-05-06-0{n}00--a--b--former", body="Formerly zqformer.") for n in (1, 2))
    write_text(site / "memosite.yml", "sources: [{path: office}, {path: yard}, {path: lock}]\n")
    planted = [one for one in site.glob("*/**/*") if one.is_file() and "zq" in one.read_text()]
    for one in planted:
        one.write_text(re.sub(r"\bzq[a-z]+", KEY, one.read_text()))
    repo = Repo(site / "office")
    repo.commit()
    write_memo(inbox, edited.stem, body="Nothing to see.")
    removed.unlink()
    repo.commit()
    expected = {one.relative_to(site).as_posix().partition("/")[2] for one in planted}
    assert len(expected) > 18
    for _ in range(2):
        assert {one.location.path for one in read(site).findings if one.rule in SECRET_RULES} == expected
    assert main(["check", str(bare)]) == 1
    assert "error: AWS access key id, fingerprint " in capsys.readouterr().out
    assert scanned


ARGUMENTS: dict[str, Callable[[], list[str]]] = {
    "build": list, "serve": lambda: ["--port", str(free_port())], "explain": lambda: ["index.html"], "check": list,
    "search": lambda: ["text"], "export": list, "watch": lambda: ["--position", "director", "--once"],
    "diff": lambda: ["2026-05-01.."], "cite": lambda: ["2026-05-01-0900--engineer--director--one"],
    "verify": lambda: [__file__], **dict.fromkeys(("brief", "inbox"), lambda: ["director"]),
    **dict.fromkeys(("show", "thread"), lambda: ["2026-05-01-0900--engineer--director--one"]),
    "reply": lambda: ["2026-05-01-0900--engineer--director--one", "--from", "director"],
    "new": lambda: ["--from", "director", "--to", "engineer", "--subject", "One"],
    "why": lambda: ["memos/inbox/2026-05-01-0900--engineer--director--one.openthing"],
}  # fmt: skip
WITHOUT_ARCHIVE = {"init", "mark-read", "completion"}
OPENS_LATER = {"mcp"}  # for each request, by the commands


def test_every_command_with_an_archive_opens_it_in_the_one_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new command stands in one of the lists; where that way is closed, there is no other; a handle reads once."""
    write_memo(tmp_path / "memos/inbox", "2026-05-01-0900--engineer--director--one")
    with open_archive(load_config(tmp_path)) as handle:
        handle.read()
        with pytest.raises(ValueError, match="once"):
            handle.read()
    commands = command_parsers(parser())
    takes_site = {name for name, command in commands.items() if "--site" in command._option_string_actions}
    assert takes_site == set(ARGUMENTS) | OPENS_LATER and set(commands) - takes_site == WITHOUT_ARCHIVE

    def refuse(*_: object, **__: object) -> NoReturn:
        raise SystemExit(99)

    assert main(["build", str(tmp_path), "--quiet"]) == 0
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(open_archive.__wrapped__, "__code__", refuse.__code__)  # type: ignore[attr-defined]
    for command, more in ARGUMENTS.items():
        with pytest.raises(SystemExit, match="99"):
            main([command, *more(), "--site", str(tmp_path), "--quiet"])


def imports(module: Path) -> Iterator[tuple[str, str]]:
    """What a module imports by name, and from where."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def test_only_reading_opens_sources_reads_and_resolves() -> None:
    """So that nobody can go around the gate."""
    inner = {"opening", "reader", "gate"}
    inside = {("memosite.resolve", "resolve"), ("memosite", "resolve"), ("memosite.resolve", "")}
    inside |= {("memosite.reading", name) for name in inner}
    astray: list[str] = []
    for module in sorted(PACKAGE.rglob("*.py")):
        if module.parent.name != "reading":
            for place, name in imports(module):
                if (place, name) in inside or place.removeprefix("memosite.reading.") in inner:
                    astray.append(f"{module.relative_to(PACKAGE)} imports {name} from {place}")
    assert astray == []
    assert ("memosite.resolve", "resolve") in set(imports(PACKAGE / "reading/reader.py"))
