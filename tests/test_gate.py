"""Both places of the gate are passed by everything, on every way: what they leave out reaches nobody."""

import argparse
import ast
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memosite.archive.model import Archive
from memosite.cli import main
from memosite.commands.arguments import parser
from memosite.config.loading import load_config
from memosite.facts.findings import Finding
from memosite.facts.rules import SECRET_RULES
from memosite.reading.archive import open_archive
from memosite.reading.withholding import Content, Policy, Reread
from memosite.store.shelf import Shelf
from tests.support.files import write_json, write_text
from tests.support.memos import write_body, write_memo, write_note, write_org, write_transcript
from tests.support.repos import Repo
from tests.support.servers import free_port

PACKAGE = Path(__file__).parent.parent / "memosite"
WORD = "plantedword"
SECRET = "AKIA" + "Z7QH3XWMK2TPLV5D"
"""In two parts, so that no scanner takes this file for a leak."""
LATER = 4_000_000_000_000_000_000
"""A time from which all files were written long ago, so that all are remembered."""


@pytest.fixture(autouse=True)
def _later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memosite.reading.reader.time.time_ns", lambda: LATER)


def run(*arguments: object) -> None:
    """Run a command that has to end well, whatever is found."""
    assert main([str(one) for one in arguments]) in {0, 1}, arguments


def inflated(data: bytes) -> Iterator[bytes]:
    """What lies compressed in a file of the index."""
    for place in re.finditer(rb"x[\x01\x5e\x9c\xda]", data):
        try:
            yield zlib.decompressobj().decompress(data[place.start() :])
        except zlib.error:
            continue


def below(folder: Path, *, is_inflated: bool = False) -> bytes:
    """All that lies below a folder: paths and bytes."""
    parts: list[bytes] = []
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        data = path.read_bytes()
        parts += [str(path.relative_to(folder)).encode(), data, *(inflated(data) if is_inflated else ())]
    return b"\n".join(parts)


class Commands:
    """Runs every command on a site and tells what each gave, by place."""

    def __init__(self, site: Path, folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        """Outputs, cache and state lie in a folder beside the site."""
        self._site = site
        self._folder = folder
        self._captured = capfdbinary

    def printed(self, *arguments: object) -> bytes:
        """What a command prints about the site, on both streams."""
        self._captured.readouterr()
        run(*arguments, "--site", self._site, "--cache", self._folder / "cache")
        return b"".join(self._captured.readouterr())

    def places(self) -> dict[str, bytes]:
        """All that is kept or shown."""
        folder = self._folder
        output = ("-o", folder / "site")
        for title in ("One", "Another"):  # the second build makes all pages again, of files that are remembered
            write_text(self._site / "memosite.yml", f"title: {title}\nsources: [{{path: desk}}]\n")
            self.printed("build", *output, "--jobs", 1)
        position = ("watch", "--position", "director", "--once", "--json", "--state", folder / "state.sqlite")
        return {
            "pages": below(folder / "site"),
            "search": self.printed("search", "--json", "--limit", 100, "kind:memo OR kind:document OR kind:note"),
            "search for it": self.printed("search", "--json", WORD).replace(f'"query": "{WORD}"'.encode(), b""),
            "index": below(folder / "cache/internal/search", is_inflated=True),
            "manifest": below(folder / "cache/internal/manifests"),
            "parse cache": below(folder / "cache/internal/parsed"),
            "jsonl": self.printed("export", "--with-body"),
            "csv": self.printed("export", "--with-body", "--format", "csv"),
            "mbox": self.printed("export", "--format", "mbox"),
            "diff": self.printed("diff", "2026-04-01..", "--format", "json"),
            "watch": self.printed(*position),
            "check": self.printed("check", "--format", "json"),
            "explain": self.printed("explain", "index.html", *output),
        }


# The first place: secrets


def leaky(folder: Path, word: str) -> Path:
    """A site with a word in every kind of file, and in former contents of what does not have it any more."""
    repo = Repo(folder / "desk")
    inbox = repo.root / "memos/inbox"
    subject = f"Tide tables {word}"
    write_memo(inbox, "2026-05-01-0900--engineer--director--one", subject=subject, body=f"It is {word}.")
    write_memo(inbox, "2026-05-01-1000--engineer--director--two", body_ref="two.body.md")
    write_body(inbox, "two", f"A long text with {word}.\n")
    write_memo(inbox, "2026-05-01-1100--engineer--director--edited", body=f"Formerly {word}.")
    write_memo(inbox, "2026-05-01-1200--engineer--director--removed", body=f"Formerly {word}.")
    write_text(inbox / "2026-05-01-1300--engineer--director--broken.openthing", f'{{"from": {word}')
    write_text(inbox / "2026-05-01-1400--engineer--director--bare.body.md", f"Bare {word}.\n")
    write_note(repo.root / "notes", "2026-05-01-1500--engineer--file--note", body=f"A note of {word}.")
    write_transcript(repo.root / "transcripts/engineer", "talk", text=f"## User\n\nHello {word}.\n")
    write_text(repo.root / "decisions/gate.md", f"# The gate\n\nIt has {word}.\n")
    write_text(
        repo.root / "thoughts/one.md", f"---\nid: one\ntype: semantic\ncreated: 2026-05-01T00:00:00Z\n---\n\n{word}\n"
    )
    write_json(repo.root / "parts.opencatalog", {"type": "memodef:Library", "id": "parts", "name": f"Parts {word}"})
    elsewhere = {"x.org.memo_location": "<working_directory>/handoffs/"}
    write_text(repo.root / "handoffs/inbox/2026-05-01-1600--engineer--director--late.openthing", f'{{"to": {word}')
    write_org(repo.root / "org", positions=["director", "engineer"], mission=f"To keep {word}.", **elsewhere)
    repo.commit()
    write_memo(inbox, "2026-05-01-1100--engineer--director--edited", body="Nothing to see.")
    (inbox / "2026-05-01-1200--engineer--director--removed.openthing").unlink()
    repo.commit()
    return folder


@pytest.fixture
def shelved(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """All bytes that are put on a shelf or taken from one."""
    found: list[bytes] = []
    put, get = Shelf.put, Shelf.get

    def put_down(shelf: Shelf, data: bytes) -> str:
        found.append(data)
        return put(shelf, data)

    def take(shelf: Shelf, digest: str) -> bytes:
        found.append(get(shelf, digest))
        return found[-1]

    monkeypatch.setattr(Shelf, "put", put_down)
    monkeypatch.setattr(Shelf, "get", take)
    return found


def places_with(word: str, places: dict[str, bytes]) -> set[str]:
    """The places that have a word."""
    return {place for place, data in places.items() if word.encode() in data}


EVERYWHERE = {"pages", "search", "search for it", "index", "jsonl", "csv", "mbox", "diff", "watch"}


def test_nothing_is_stored_or_shown_that_did_not_pass_the_gate(
    tmp_path: Path, shelved: list[bytes], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """What the first place takes out of files is in no cache, index, page or export; former contents count, too."""
    plain = Commands(leaky(tmp_path / "plain", WORD), tmp_path / "before", capfdbinary).places()
    assert places_with(WORD, plain) == EVERYWHERE | {"parse cache", "check"}
    assert sum(WORD.encode() in one for one in shelved) > 10
    changes = tmp_path / "before/site/memos/2026-05-01-1100--engineer--director--edited/changes/index.html"
    assert WORD in changes.read_text()

    shelved.clear()
    after = Commands(leaky(tmp_path / "leaky", SECRET), tmp_path / "after", capfdbinary).places()
    assert places_with(SECRET, after) == set()
    assert sum(b"[REDACTED:aws-access-key-id]" in one for one in shelved) > 10
    assert not any(SECRET.encode() in one for one in shelved)
    assert b"AWS access key id" in after["check"]


def held_a_secret(findings: tuple[Finding, ...]) -> list[str]:
    """The names of files in which the first place found something."""
    return sorted({one.location.path for one in findings if one.rule in SECRET_RULES})


def test_what_the_gate_finds_is_a_finding_of_the_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of every file, and of former contents; also when nothing is read again, and where a file is checked alone."""
    site = leaky(tmp_path / "leaky", SECRET)
    expected = [
        "decisions/gate.md",
        "handoffs/inbox/2026-05-01-1600--engineer--director--late.openthing",
        "memos/inbox/2026-05-01-0900--engineer--director--one.openthing",
        "memos/inbox/2026-05-01-1100--engineer--director--edited.openthing",
        "memos/inbox/2026-05-01-1200--engineer--director--removed.openthing",
        "memos/inbox/2026-05-01-1300--engineer--director--broken.openthing",
        "memos/inbox/2026-05-01-1400--engineer--director--bare.body.md",
        "memos/inbox/two.body.md",
        "notes/2026-05-01-1500--engineer--file--note.openthing",
        "org/acme-organization.openthing",
        "parts.opencatalog",
        "thoughts/one.md",
        "transcripts/engineer/talk.body.md",
    ]
    (site / ".memosite").mkdir()
    for _ in range(2):
        with open_archive(load_config(site)) as handle:
            archive, _ = handle.read()
        assert held_a_secret(archive.findings) == expected
    run("check", site / "desk" / expected[2])
    assert "error: AWS access key id, fingerprint " in capsys.readouterr().out


# The second place: the audience


def drop(content: Content, archive: Archive, policy: Policy, _shelf: Shelf, _reread: Reread) -> Content:
    """A rule for what has the word in its name."""
    assert policy.config.audience == "internal"
    assert archive.artifacts
    gone = frozenset((one.source, one.path) for one in content.facts if WORD in one.path)
    return replace(
        content,
        facts=tuple(one for one in content.facts if WORD not in one.path),
        histories={
            name: replace(history, events={key: events for key, events in history.events.items() if WORD not in key})
            for name, history in content.histories.items()
        },
        absent=gone,
        unstored=gone,
    )


def test_what_is_withheld_is_planned_searched_exported_watched_and_compared_by_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Its name, its text and its former content; nor is it in any cache but that of git history."""
    repo = Repo(tmp_path / "site/desk")
    name = f"2026-05-01-0900--engineer--director--{WORD}"
    for text in ("It was.", "It is."):
        write_memo(repo.root / "memos/inbox", name, subject=f"Of {WORD}", body=f"{text} {WORD}")
        repo.commit()
    write_memo(repo.root / "memos/inbox", "2026-05-01-1000--engineer--director--other")
    removed = write_memo(repo.root / "memos/inbox", f"2026-05-01-1100--engineer--director--{WORD}-removed")
    repo.commit()
    removed.unlink()
    repo.commit()
    before = Commands(tmp_path / "site", tmp_path / "before", capfdbinary).places()
    assert places_with(WORD, before) == EVERYWHERE | {"parse cache", "manifest"}
    monkeypatch.setattr("memosite.reading.gate.revise", drop)
    after = Commands(tmp_path / "site", tmp_path / "after", capfdbinary).places()
    assert places_with(WORD, after) == set()
    assert places_with("--other", after) >= EVERYWHERE - {"search for it"}


def test_a_handle_reads_its_archive_once(tmp_path: Path) -> None:
    """Its sources are closed then."""
    write_memo(tmp_path / "memos/inbox", "one")
    with open_archive(load_config(tmp_path)) as handle:
        handle.read()
        with pytest.raises(ValueError, match="once"):
            handle.read()


# The only way to an archive


ARGUMENTS: dict[str, Callable[[], list[str]]] = {
    "build": list,
    "serve": lambda: ["--port", str(free_port())],
    "explain": lambda: ["index.html"],
    "check": list,
    "search": lambda: ["text"],
    "export": list,
    "watch": lambda: ["--position", "director", "--once"],
    "diff": lambda: ["2026-05-01.."],
    "cite": lambda: ["2026-05-01-0900--engineer--director--one"],
    "verify": lambda: [__file__],
    **dict.fromkeys(("brief", "inbox"), lambda: ["director"]),
    **dict.fromkeys(("show", "thread"), lambda: ["2026-05-01-0900--engineer--director--one"]),
    "reply": lambda: ["2026-05-01-0900--engineer--director--one", "--from", "director"],
    "new": lambda: ["--from", "director", "--to", "engineer", "--subject", "One"],
    "why": lambda: ["memos/inbox/2026-05-01-0900--engineer--director--one.openthing"],
}
"""How each command that takes a site is run."""

WITHOUT_ARCHIVE = {"init", "mark-read", "completion"}
OPENS_LATER = {"mcp"}  # for each request, by the commands
REFUSING = """
import sys, memosite.reading.archive
def refuse(*_, **__):
    raise SystemExit(99)
memosite.reading.archive.open_archive = refuse
from memosite.cli import main
sys.exit(main(sys.argv[1:]))
"""


def commands() -> dict[str, argparse.ArgumentParser]:
    """All commands of the command line."""
    (found,) = (one for one in parser()._actions if isinstance(one, argparse._SubParsersAction))
    return dict(found.choices)


def test_every_command_either_takes_a_site_or_has_no_archive() -> None:
    """A new command stands in one of the lists."""
    takes_site = {name for name, command in commands().items() if "--site" in command._option_string_actions}
    assert takes_site == set(ARGUMENTS) | OPENS_LATER
    assert set(commands()) - takes_site == WITHOUT_ARCHIVE


@pytest.mark.parametrize("command", ARGUMENTS)
def test_every_command_opens_its_archive_in_the_one_way(command: str, tmp_path: Path) -> None:
    """Where that way is closed, there is no other."""
    write_memo(tmp_path / "memos/inbox", "2026-05-01-0900--engineer--director--one")
    if command == "explain":
        run("build", tmp_path, "--quiet")
    arguments = [command, *ARGUMENTS[command](), "--site", str(tmp_path), "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", REFUSING, *arguments], capture_output=True, check=False, timeout=60, cwd=tmp_path
    )
    assert done.returncode == 99, done.stderr.decode()


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
