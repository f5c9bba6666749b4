"""Real feed readers, each with a home of its own: what a poll finds new, by guid, with the path it was told.

A reader that keeps what it has seen is asked what is new; of one that only parses, the test keeps that.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from urllib.request import urlopen

from tests.support.files import ROOT
from tests.support.waiting import DEADLINE

FILES = ROOT / "tests/readers"
PROGRAMS = Path(sys.executable).parent
LINE = re.compile(r"new memo: (\S+)")


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
    match = LINE.match(line)
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
