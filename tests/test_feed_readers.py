"""Every memo wakes its reader, and wakes it once: real readers poll a feed that is served on this machine (FEEDS)."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from urllib.request import urlopen

import pytest
from lxml import html as lxml_html

from tests.support.commands import running
from tests.support.files import ROOT, write_text
from tests.support.memos import send, write_memo
from tests.support.servers import serve_folder
from tests.support.sites import build_site
from tests.support.waiting import DEADLINE
from tests.support.watches import clean_environment

FILES = ROOT / "tests/readers"
PROGRAMS = Path(sys.executable).parent
PREFIX = "tag:memosite.invalid,2026:archive/memo/"


class Reader(ABC):
    """A program that reads the feed at an address."""

    def __init__(self, address: str, home: Path) -> None:
        self.address = address
        self.home = home
        self.seen: set[str] = set()
        home.mkdir(parents=True)
        self.prepare()

    def run(self, *command: str | Path, data: bytes = b"") -> bytes:
        """Run the program in its home; what it prints. It has to end well."""
        kept = {name: value for name, value in os.environ.items() if name in {"PATH", "TMPDIR"}}
        done = subprocess.run(
            list(map(str, command)), input=data, capture_output=True, cwd=self.home, timeout=DEADLINE, check=False,
            env={**kept, "HOME": str(self.home), "LC_ALL": "C.UTF-8", "TERM": "xterm"},
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def prepare(self) -> None:  # noqa: B027 # what only parses has nothing to prepare
        """Subscribe."""

    @abstractmethod
    def poll(self) -> dict[str, str]:
        """What is new since the last poll: guid and path."""

    def unseen(self, items: Iterable[Mapping[str, str]]) -> dict[str, str]:
        """Of all items those with a new guid; the line that people are shown names the same path."""
        found = {item["guid"]: item["path"] for item in items}
        assert all(shown_path(item["line"]) == item["path"] for item in items)
        new = {guid: path for guid, path in found.items() if guid not in self.seen}
        self.seen |= new.keys()
        return new


def shown_path(line: str) -> str:
    """The path in the line that begins what a reader shows."""
    match = re.match(r"new memo: (\S+)", line)
    assert match, line
    return match[1].partition("<")[0]


class Newsboat(Reader):
    """A reader in a terminal, with a cache in SQLite."""

    def prepare(self) -> None:
        """One feed in its list."""
        (self.home / "urls").write_text(f"{self.address}\n")
        (self.home / "config").write_text("")

    def poll(self) -> dict[str, str]:
        """What it counts as unread; all is read afterwards."""
        self.run("newsboat", "-u", "urls", "-C", "config", "-c", "cache.db", "-x", "reload")
        printed = self.run("newsboat", "-u", "urls", "-C", "config", "-c", "cache.db", "-x", "print-unread")
        with sqlite3.connect(self.home / "cache.db") as cache:
            rows = cache.execute("SELECT guid, content FROM rss_item WHERE unread = 1").fetchall()
            cache.execute("UPDATE rss_item SET unread = 0")
        cache.close()
        assert int(printed.split()[0]) == len(rows)
        return {guid: shown_path(content) for guid, content in rows}


class Sfeed(Reader):
    """A filter from RSS to lines of tab-separated fields."""

    def poll(self) -> dict[str, str]:
        """Fields 6 and 4 of its lines: id and content."""
        with urlopen(self.address, timeout=DEADLINE) as answer:
            lines = self.run("sfeed", data=answer.read()).decode().splitlines()
        fields = [line.split("\t") for line in lines]
        return self.unseen([{"guid": one[5], "path": shown_path(one[3]), "line": one[3]} for one in fields])


class Rss2email(Reader):
    """Sends each item as a mail, here to a sendmail that keeps it."""

    def prepare(self) -> None:
        """A subscription, and a sendmail."""
        sendmail = self.home / "sendmail"
        sendmail.write_text('#!/bin/sh\ncat > "$(mktemp "$HOME/mail.XXXXXX")"\n')
        sendmail.chmod(0o755)
        self.run(PROGRAMS / "r2e", "new", "reader@example.org")
        config = self.home / ".config/rss2email.cfg"
        text = config.read_text().replace("sendmail = /usr/sbin/sendmail", f"sendmail = {sendmail}")
        config.write_text(text.replace("body-width = 0", "body-width = -1"))
        self.run(PROGRAMS / "r2e", "add", "director", self.address)

    def poll(self) -> dict[str, str]:
        """The mails of one run."""
        self.run(PROGRAMS / "r2e", "run")
        found: dict[str, str] = {}
        for file in self.home.glob("mail.*"):
            mail = message_from_bytes(file.read_bytes(), policy=default)
            assert str(mail["X-RSS-ID"]) not in found
            found[str(mail["X-RSS-ID"])] = shown_path(mail.get_content())
            file.unlink()
        return found


class Feed2exec(Reader):
    """Runs a command for each new item."""

    def prepare(self) -> None:
        """A subscription that prints."""
        command = "echo {item.id} {item.memo_path} {item.memo_repo} {item.memo_sha256}"
        self.run(PROGRAMS / "feed2exec", "add", "director", self.address, "--output", "exec", "--args", command)

    def poll(self) -> dict[str, str]:
        """What its commands print."""
        lines = [line.split() for line in self.run(PROGRAMS / "feed2exec", "fetch").decode().splitlines()]
        assert all(len(line) == 4 for line in lines)
        return {line[0]: line[1] for line in lines}


class Feedparser(Reader):
    """The library that most Python programs read feeds with; it sends the validators that it was given."""

    def poll(self) -> dict[str, str]:
        """What it parses, less what it parsed before."""
        printed = self.run(sys.executable, FILES / "parse_feed.py", self.address, self.home / "validators.json")
        return self.unseen(json.loads(printed))


class RssParser(Reader):
    """The parser of npm."""

    def poll(self) -> dict[str, str]:
        """What it parses, less what it parsed before."""
        return self.unseen(json.loads(self.run("node", FILES / "parse.mjs", self.address)))


READERS: tuple[type[Reader], ...] = (Newsboat, Sfeed, Rss2email, Feed2exec, Feedparser, RssParser)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """Five memos that wake the director, unread, read, old, to all, and awkward: their repo, and the served site."""
    folder = tmp_path_factory.mktemp("readers")
    repo, site = folder / "repo", folder / "site"
    inbox, read = repo / "memos/inbox", repo / "memos/read"
    write_memo(inbox, "2026-05-01-0900--engineer--director--one", action_required=True)
    write_memo(read, "2026-05-02-0900--engineer--director--two", sent="2026-05-02T09:00:00-04:00")
    send(inbox, "2026-05-03-0900--engineer--all--three")
    send(inbox, "2019-01-01-0900--engineer--director--old", subject="A & B <i>c</i>")
    write_memo(inbox, "2026-05-04-0900--engineer--director--four", sent="soon", body="Line\x01 one.\n\n- a\n- b\n")
    write_memo(inbox, "2026-05-04-0900--director--engineer--not-for-it", sender="director", to="engineer")
    site.mkdir()
    with serve_folder(site) as base:
        yield repo, build_site(repo, output=site, base_url=base)


def model(repo: Path) -> dict[str, str]:
    """What the feed of the director should tell: guid and path of each memo to it."""
    files = (path for path in repo.rglob("*.openthing") if not path.stem.endswith("not-for-it"))
    return {PREFIX + path.stem: path.relative_to(repo).as_posix() for path in files}


def test_readers_are_woken_once_by_every_memo(published: tuple[Path, Path], tmp_path: Path) -> None:
    """First poll all, second none, none after all was marked as read, one after one more; of both feeds."""
    repo, site = shutil.copytree(published[0], tmp_path / "repo"), tmp_path / "site"
    site.mkdir()
    with serve_folder(site) as base:
        build_site(repo, output=site, base_url=base)
        readers = {
            (program.__name__, name): program(f"{base}positions/director/{name}", tmp_path / program.__name__ / name)
            for program in READERS
            for name in ("feed.xml", "feed-full.xml")
        }

        def woken_by(expected: dict[str, str]) -> None:
            assert {who: reader.poll() for who, reader in readers.items()} == dict.fromkeys(readers, expected)

        woken_by(model(repo))
        woken_by({})
        for file in list((repo / "memos/inbox").iterdir()):
            file.rename(repo / "memos/read" / file.name)
        build_site(repo, output=site, base_url=base)
        woken_by({})
        before = model(repo)
        send(repo / "memos/inbox", "2020-05-05-0900--engineer--director--late")
        build_site(repo, output=site, base_url=base)
        woken_by({guid: path for guid, path in model(repo).items() if guid not in before})


def commands(site: Path, heading: str) -> list[str]:
    """The commands that the page about feeds gives under a heading."""
    page = lxml_html.parse(site / "feeds/index.html").getroot()
    sections = (one.getparent() for one in page.iter("h2") if one.text_content() == heading)
    return [line for one in sections for pre in one.iter("pre") for line in pre.text_content().splitlines()]


def test_the_commands_of_the_page_bring_mails_and_print_memos(published: tuple[Path, Path], tmp_path: Path) -> None:
    """As they stand, but for the sendmail; Newsboat finds what the page tells to add, sfeed prints title and id."""
    (repo, site), home = published, tmp_path / "home"
    write_text(home / "sendmail", '#!/bin/sh\ncat > "$(mktemp "$HOME/mail.XXXXXX")"\n').chmod(0o755)
    environment = {"HOME": str(home), "LC_ALL": "C.UTF-8", "TERM": "xterm", "PATH": f"{PROGRAMS}:/usr/bin:/bin"}
    new, *others = commands(site, "By mail")
    fake = f"sed -i 's#/usr/sbin/sendmail#{home}/sendmail#' ~/.config/rss2email.cfg"
    *before, newsboat, sfeed = commands(site, "In a feed reader")
    mail = "\n".join((new, fake, *others))
    terminal = "\n".join((*before, f"{newsboat} -x reload print-unread", sfeed))
    _, done = (
        subprocess.run(["sh", "-euc", script], env=environment, check=True, timeout=600, capture_output=True)
        for script in (mail, terminal)
    )
    mails = [message_from_bytes(file.read_bytes(), policy=default) for file in home.glob("mail.*")]
    assert {str(mail["X-RSS-ID"]): shown_path(mail.get_content()) for mail in mails} == model(repo)
    first, *lines = done.stdout.decode().splitlines()
    assert first.split()[0] == "5"
    assert {line.split("\t")[2] for line in lines} == model(repo).keys()


def test_the_commands_of_the_page_wake_an_agent(published: tuple[Path, Path], tmp_path: Path) -> None:
    """As they stand, each with a state of its own: once, and while they run, until Ctrl-C."""
    repo, site = published
    unread = {path for path in model(repo).values() if "/inbox/" in path}
    once, run = commands(site, "In an AI session or a program")
    lasting = [*commands(site, "Follow a position"), run]
    assert len(lasting) == 2
    for command in (once, *lasting):
        environment = clean_environment(tmp_path / command.replace("/", "-"), PATH=f"{PROGRAMS}:/usr/bin:/bin")
        words = ["sh", "-c", f"exec {command}"]
        with running(words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            lines = {process.stdout.readline().strip() for _ in unread}
            if command != once:
                process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
        assert lines == {path if command == run else f"new memo: {path}" for path in unread}
        assert (process.returncode, rest) == (0 if command == once else 130, "")
