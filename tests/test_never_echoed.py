"""What no command may let out (SPEC 9): secrets, in no form and in no mode, and what steers a terminal."""

import base64
import json
import re
import subprocess
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

from memosite.cli import main
from memosite.commands.arguments import command_parsers, parser
from memosite.mcp import request_for
from memosite.mcp.server import answer
from memosite.store.shelf import Shelf
from tests.support.commands import command_line
from tests.support.files import write_text
from tests.support.looking import inflated
from tests.support.memos import write_body, write_memo, write_transcript
from tests.support.planted import LETTER, TALK, write_planted
from tests.support.repos import Repo
from tests.support.servers import free_port
from tests.support.soaking import most
from tests.support.waiting import wait_until

TOKENS = (
    "AKIA" + "Z7QH3XWMK2TPLV5D",
    "ghp_" + "wJq8Zt4Rk2Xv6Nc9Bm3Lf7Hs5Dg1Pa0Yu7Te",
    "glpat-" + "x7Kq2Wm9Zt4Rv8Nc3Bp6",
)
"""Each in two parts, so that no scanner takes this file for a leak. They take the place of planted words."""
BLOCK = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
PRIVATE = "\n".join(["-----BEGIN " + "PRIVATE KEY-----", BLOCK, BLOCK[::-1], "-----END " + "PRIVATE KEY-----"])
PASSWORD = "tR7" + "kQ2vXw9LpZ4m"
ADDRESS = f"postgres://keeper:{PASSWORD}@db.example.org/logs"
SECRETS = (*TOKENS, BLOCK, BLOCK[::-1], PASSWORD)
Capture = pytest.CaptureFixture[bytes]
HARMLESS = "2026-05-10-0900--engineer--director--harmless"


def plant(site: Path) -> Path:
    """A site with a secret in the place of each word of each field of each kind of file, and in all that git has."""
    write_planted(site, has_git=False)
    count = 0
    for file in sorted(site.rglob("*")):
        if file.is_file() and file.name != "memosite.yml":
            text = file.read_text()
            for word in dict.fromkeys(re.findall("zq[a-z]+", text)):
                text = re.sub(rf"\b{word}\b", TOKENS[count % len(TOKENS)], text)
                count += 1
            file.write_text(text)
    assert count > 60
    office = site / "office"
    inbox = office / "memos/inbox"
    block = "2026-05-08-0900--engineer--director--block"
    write_memo(inbox, block, body=f"```\n{PRIVATE}\n```\n\n| a |\n|---|\n| {ADDRESS} |")
    write_memo(inbox, "2026-05-08-1000--engineer--director--sent", sender=TOKENS[0], to=[TOKENS[1]], sent=TOKENS[2])
    write_memo(inbox, HARMLESS, body="Nothing to hide.")
    broken = "2026-05-08-1100--engineer--director--broken.openthing"
    write_text(inbox / broken, f'{{"from": {TOKENS[0]}, "to" {ADDRESS}')
    (inbox / "2026-05-08-1200--engineer--director--wide.openthing").write_bytes(f"{TOKENS[1]}".encode("utf-16"))
    write_memo(inbox, f"2026-05-08-1300--engineer--director--{TOKENS[0]}")
    write_memo(inbox, "2026-05-08-1400--engineer--director--quoted", body=json.dumps(json.dumps({"key": PRIVATE})))
    write_body(office / "transcripts/engineer", TOKENS[1], "A body.\n")
    text = f"## User\n\n{PRIVATE}\n\n## Assistant\n\n> **🔧 Bash**\n>\n> ```\n> {ADDRESS}\n> ```\n"
    write_transcript(office / "transcripts/engineer", "2026-05-08-1500--engineer--talk", text=text)
    (inbox / "link.openthing").symlink_to(f"/nowhere/{TOKENS[2]}")
    (inbox / f"{TOKENS[2]}.openthing").symlink_to("/nowhere")
    events = office / ".memory/memory/events.jsonl"
    write_text(events, json.dumps({"node": "casks", "event": "created", "actor": TOKENS[0]}) + f'\n{{"{TOKENS[1]}\n')
    repo = Repo(office)
    repo.commit(f"It is {TOKENS[0]}", who=f"Ada {TOKENS[1]}")
    repo.git("checkout", "--quiet", "-b", f"work/{TOKENS[2]}")
    (inbox / f"2026-05-08-1300--engineer--director--{TOKENS[0]}.openthing").unlink()
    write_memo(inbox, block, body="It is in the vault.")
    repo.commit(f"Without {PASSWORD}")
    Repo(site / "yard").commit()
    return site


def forms(secret: str) -> Iterator[bytes]:
    """A secret as it is, and as it may be written."""
    plain = secret.encode()
    yield from (plain, plain[::-1], plain.hex().encode(), secret.encode("utf-16-le"))
    yield from (quote(secret, safe="").encode(), json.dumps(secret)[1:-1].encode())
    for form in ("%{:02X}", "\\u{:04x}", "&#{};"):
        yield "".join(form.format(byte) for byte in plain).encode()
    for shift in range(3):  # base64 of it within anything else: without the characters that depend on what is around
        yield base64.b64encode(b"\0" * shift + plain)[4:-4]


_ANY = re.compile(b"|".join(re.escape(form) for secret in SECRETS for form in forms(secret)))


def echoed(data: bytes) -> list[bytes]:
    """The forms of secrets that are in some bytes, also where these are compressed."""
    parts = (data, *(inflated(data) if b"\0" in data else ()))
    return [found for part in parts for found in _ANY.findall(part)]


@dataclass(frozen=True, kw_only=True)
class Place:
    """A planted site with a folder for all that commands write."""

    site: Path
    work: Path
    captured: Capture

    def run(self, *arguments: object) -> bytes:
        """What a command prints; it must not end by an exception."""
        self.captured.readouterr()
        assert main([str(one) for one in arguments]) in {0, 1, 2}, arguments
        return b"".join(self.captured.readouterr())

    def written(self) -> dict[str, list[bytes]]:
        """The files that hold a secret, or have it in their names, with what is found."""
        found = {}
        for file in self.work.rglob("*"):
            data = file.read_bytes() if file.is_file() and not file.is_symlink() else b""
            if hits := echoed(str(file.relative_to(self.work)).encode() + b"\n" + data):
                found[str(file)] = hits
        return found


def _build(place: Place, *options: str) -> Iterator[bytes]:
    common = ("build", place.site, *options, "--cache", place.work / "cache")
    yield place.run(*common, "-o", place.work / "site", "--profile", "--fail-on", "warning")
    write_memo(place.site / "office/memos/inbox", HARMLESS, body="Nothing new to hide.")
    yield place.run(*common, "-o", place.work / "site", "--jobs", 2)
    yield place.run(*common, "-o", place.work / "other", "--previous", place.work / "site")


def _serve(place: Place, *options: str) -> Iterator[bytes]:
    port = free_port()
    log = place.work / "served.log"
    words = command_line("serve", place.site, *options, "-o", place.work / "served", "--port", port)
    with log.open("wb") as stream:
        served = subprocess.Popen([*words, "--cache", str(place.work / "cache")], stdout=stream, stderr=stream)
    try:
        wait_until(lambda: served.poll() is not None or b"http://" in log.read_bytes())
        if served.poll() is None:
            write_memo(place.site / "office/memos/inbox", HARMLESS, body="Served.")
            page = place.work / f"served/memos/{HARMLESS}/index.html"
            wait_until(lambda: b"Served." in page.read_bytes())
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/memos/{LETTER}/") as answer:
                yield answer.read()
    finally:
        served.terminate()
        served.wait(30)
    yield log.read_bytes()


def _asked(place: Place, *options: str) -> Iterator[bytes]:
    """What is asked of a site; `explain` and `verify --seal` ask of its output, too."""
    common = ("--site", place.site, *options, "--cache", place.work / "cache")
    letter = f"office/memos/inbox/{LETTER}.openthing"
    yield place.run("explain", f"memos/{LETTER}/index.html", *common, "-o", place.work / "site")
    for words in (
        ("brief", "director"), ("inbox", "director"), ("inbox", "director", "--as-of", "office:HEAD~1"),
        ("show", LETTER), ("thread", LETTER),
    ):  # fmt: skip
        for form in ([], ["--json"]):
            yield place.run(*words, "--budget", "0", *common, *form)
    for asked in (
        *(("cite", LETTER, "--format", format_) for format_ in ("text", "csl-json")),
        ("cite", "--quote", "words of the letter", "--json"), ("why", letter), ("why", f"{letter}:1", "--json"),
        ("reply", LETTER, "--from", "director"), ("new", "--from", "director", "--to", "engineer", "--subject", "One"),
        ("search", "kind:memo OR casks"), *(("export", "--format", form) for form in ("mbox", "csv")),
        ("export", "--format", "jsonl", "--with-body"),
        ("export", "kind:memo", "--format", "maildir", "-o", str(place.work / "maildir")),
        ("diff", "2026-04-01..", "--format", "json"), ("diff", "HEAD~1..HEAD", "--source", "office"),
    ):  # fmt: skip
        yield place.run(*asked, *common)
    paper = place.work / "paper.md"
    paper.write_text('It says: "words of the letter that nobody outside the office may ever have seen".\n')
    yield place.run("verify", "--quotes", paper, *common)
    yield place.run("verify", "--seal", "0" * 64, place.work / "site", *options)


def _check(place: Place, *options: str) -> Iterator[bytes]:
    for form in ("text", "sarif"):
        yield place.run("check", place.site, *options, "--format", form, "--cache", place.work / "cache")
    files = sorted(file for file in (place.site / "office").rglob("*.openthing") if not echoed(file.name.encode()))
    yield place.run("check", *files, *options)


def _watch(place: Place, *options: str) -> Iterator[bytes]:
    state = place.work / "watch.sqlite"
    of = ("--position", "director", "--site", place.site, *options, "--cache", place.work / "cache")
    yield place.run("watch", *of, "--once", "--json", "--since", "all", "--state", state)
    feed = place.work / "site/positions/director/feed.xml"
    if feed.exists():
        kept = ("--state", place.work / "feed.sqlite")
        yield place.run("watch", feed, "--once", "--since", "all", "--exec", "env", *kept)
        yield place.run("watch", feed, "--status", *kept)


def _init(place: Place) -> Iterator[bytes]:
    """Of a folder without a configuration; what it writes is in the folder."""
    folder = place.work / "new"
    memo = write_memo(folder / "desk/memos/inbox", HARMLESS, body=TOKENS[0])
    yield place.run("init", folder)
    memo.unlink()


COMMANDS: dict[str, Callable[..., Iterator[bytes]]] = {
    "build": _build, "serve": _serve, "check": _check, "brief": _asked, "watch": _watch, "init": _init,
    "mark-read": lambda place: iter([place.run("mark-read", f"{place.site}/office/memos/inbox/{LETTER}.openthing",
                                               "--commit")]),
    "completion": lambda place: iter([place.run("completion", "bash")]),
}  # fmt: skip
"""How each command is run so that it shows and writes all it can."""
ASKED = {"explain", "inbox", "show", "thread", "cite", "why", "reply", "new", "search", "export", "diff", "verify"}
"""Those that are run with `brief`."""
SERVED = most({"withhold"}, in_soak={"withhold", "redact", "fail"})
"""The modes in which a preview is looked at, too: it builds as the others do."""


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


@pytest.mark.parametrize("mode", ["withhold", "redact", "fail"])
def test_no_command_echoes_a_secret(
    mode: str, tmp_path: Path, shelved: list[bytes], monkeypatch: pytest.MonkeyPatch, capfdbinary: Capture
) -> None:
    """Neither on its streams nor in any file: pages, caches, states, temporary files; nor is one read any further."""
    place = Place(site=plant(tmp_path / "planted"), work=tmp_path / "work", captured=capfdbinary)
    for name, folder in (("XDG_STATE_HOME", place.work / "state"), ("TMPDIR", place.work / "temporary")):
        folder.mkdir(parents=True)
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir(place.work)
    for name, run in COMMANDS.items():
        if name == "serve" and mode not in SERVED:
            continue
        options = () if name in {"init", "mark-read", "completion"} else ("--secrets", mode)
        for printed in run(place, *options):
            assert echoed(printed) == [], (name, printed.decode(errors="replace")[:3000])
    assert place.written() == {}
    assert not any(map(echoed, set(shelved)))
    assert sum(b"[REDACTED:aws-access-key-id]" in one for one in shelved) > 10
    if mode != "fail":
        assert (place.work / f"site/memos/{HARMLESS}/index.html").exists()
        assert (place.work / f"site/transcripts/{TALK}/index.html").exists()


@pytest.mark.parametrize("mode", most(["redact"], in_soak=["redact", "withhold"]))
def test_no_bundle_echoes_a_secret(mode: str, tmp_path: Path, capfdbinary: Capture) -> None:
    """Nor does what reads bundles again; their ZIP files are not compressed."""
    place = Place(site=plant(tmp_path / "planted"), work=tmp_path / "work", captured=capfdbinary)
    place.work.mkdir()
    with (place.site / "memosite.yml").open("a") as file:
        file.write(f"lean: true\nerase:\n  - {{id: {LETTER}, why: It was asked for, on: 2026-05-20}}\n")
    for printed in _build(place, "--secrets", mode):
        assert echoed(printed) == []
    assert place.written() == {} and (place.work / "site/archive/2026/05/files-1.zip").stat().st_size > 1_000


STEERING = "\x1b]0;mine\x07\x1b[8m\x9b31m\x7f\r\b\u0085\u2028\u202e\u2066\u200f"
"""What sets a title, hides, colours, erases, and shows letters in another order."""
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
ODD = f"odd{STEERING}"
HOSTILE = f"2026-05-09-0900--engineer--director--h{STEERING}"


def spoil(site: Path) -> Path:
    """A site with all that steers a terminal in each word, in names of files and people, and in git."""
    write_planted(site, has_git=False)
    for file in (one for one in site.rglob("*") if one.is_file() and one.name != "memosite.yml"):
        added = STEERING if file.suffix in {".md", ".txt"} else json.dumps(STEERING)[1:-1]
        file.write_text(re.sub("zq[a-z]+", lambda match, added=added: match[0] + added, file.read_text()), newline="")  # type: ignore[misc]
    inbox = site / "office/memos/inbox"
    write_memo(inbox, HOSTILE, sender=ODD, to=[ODD, "director"], sent="2026-05-09T09:00:00Z", action_required=True)
    write_memo(inbox, HARMLESS, subject=f"Casks {STEERING}", body=f"A quince {STEERING} is a fruit, and no barrel.")
    write_text(inbox / f"broken{STEERING}.openthing", f'{{"from": "{STEERING}')
    (inbox / f"link{STEERING}.openthing").symlink_to("/nowhere")
    repo = Repo(site / "office")
    repo.commit(f"It is {STEERING}", who="Ada \x9b31m\u202e")
    write_memo(inbox, HARMLESS, subject=f"Casks {STEERING}", body=f"A quince {STEERING} is a fruit, and no cask.")
    repo.commit("Edit")
    Repo(site / "yard").commit()
    return site


def _refused() -> Iterator[tuple[object, ...]]:
    """Command lines whose arguments steer a terminal: each command with it in the place of each kind of argument."""
    for name in command_parsers(parser()):
        once = ("--once",) if name == "watch" else ()
        yield (name, ODD, *once)
        yield (name, f"--{ODD}")
        yield (name, *once, "--site", ODD)
        yield (name, "x", *once, "--cache", f"/dev/null/{ODD}")
    yield from (("--" + ODD,), (ODD,), ("watch", "--position", ODD, "--once"), ("watch", f"http://{ODD}/", "--once"))
    yield from (("watch", "--exec", ODD, "f"), ("watch", "--again", ODD, "f"), ("watch", "--status", ODD))
    yield from (("verify", "--seal", ODD), ("cite", "--quote", ODD), ("search", f"from:{ODD}"), ("brief", ODD))
    yield from (("diff", f"{ODD}.."), ("explain", f"http://{ODD}"), ("inbox", "director", "--as-of", ODD))
    yield from (("mark-read", HOSTILE), ("export", "-o", f"/dev/null/{ODD}"), ("new", "--from", ODD, "--to", ODD))


def test_no_command_prints_what_steers_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: Capture
) -> None:
    """Each byte of both streams of every command, in a hostile archive and for hostile arguments."""

    def steered(name: object, printed: bytes) -> list[str]:
        ends = printed.replace(b"\r\n", b"\n") if name == "export" else printed  # of rows of CSV
        return STEERS.findall(ends.decode("utf-8", "replace"))

    place = Place(site=spoil(tmp_path / "spoilt"), work=tmp_path / "work", captured=capfdbinary)
    place.work.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(place.work / "state"))
    monkeypatch.chdir(place.site)
    found: list[tuple[object, bytes]] = []
    for name, run in COMMANDS.items():
        said = list(run(place))
        found += [(name, one) for one in (said[-1:] if name == "serve" else said) if steered("export", one)]
    monkeypatch.chdir(place.site)
    answers = [
        ("cite", f"memo/{HARMLESS}", "--format", form) for form in ("text", "markdown", "html", "bibtex", "csl-json")
    ]
    marked = place.site / f"office/memos/inbox/{HOSTILE}.openthing"
    page = place.work / "site" / HOSTILE
    for words in (*answers, ("explain", "positions/odd/index.html", "-o", place.work / "site"), ("mark-read", marked),
                  ("explain", page), *_refused()):  # fmt: skip
        capfdbinary.readouterr()
        with suppress(SystemExit):  # of the parser
            main(list(map(str, words)))
        printed = b"".join(capfdbinary.readouterr())
        found += [(words, printed)] if steered(words[0], printed) else []
    assert found == []
    reply = answer(request_for("show", {"id": LETTER}), (f"--site={place.site}",))
    assert "zqbody" in reply.text and not STEERS.search(reply.text + reply.messages)


def test_a_citation_without_what_steers_is_verified(tmp_path: Path, capfdbinary: Capture) -> None:
    """A mark of direction is written as a reference to it, which readers and `verify` resolve."""
    write_memo(tmp_path / "memos/inbox", HARMLESS, body="The \u202equince\u202c is a fruit\u2028and no barrel at all.")
    for form in ("text", "markdown", "html"):
        assert main(["cite", f"memo/{HARMLESS}", "--format", form, "--site", str(tmp_path)]) == 0
        paper = tmp_path / ("paper.html" if form == "html" else "paper.md")
        paper.write_bytes(capfdbinary.readouterr().out)
        assert not STEERS.search(paper.read_text())
        assert main(["verify", str(paper), "--site", str(tmp_path)]) == 0, capfdbinary.readouterr()


def test_the_planted_secrets_would_be_found_and_every_command_is_run(tmp_path: Path) -> None:
    """They are in every form of file, so that the tests above can fail; a new command is added to the table."""
    site = plant(tmp_path / "planted")
    holding = [file for file in (site / "office").rglob("*") if file.is_file() and echoed(file.read_bytes())]
    assert len([file for file in holding if ".git" not in file.parts]) > 12
    whole = b"".join(file.read_bytes() for file in holding)
    assert all(secret.encode() in whole for secret in SECRETS)
    assert set(command_parsers(parser())) == {*COMMANDS, *ASKED, "mcp"}  # it answers with the others
