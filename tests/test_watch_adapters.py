"""The ways to wake somebody, as the guide has them: run by a watch, with programs and a server that are not real."""

import json
import re
import shlex
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from memosite.commands.arguments import parser
from tests.support.feeds.publisher import Publisher, publishing
from tests.support.files import ROOT, write_text
from tests.support.watches import no_proxy, watch

__all__ = ["no_proxy"]

GUIDE = (ROOT / "docs/guide/feeds-and-watch.md").read_text()
SUBJECT = "Memo <0> “ä”"


def adapter(name: str, folder: Path) -> Path:
    """A script of the guide, as a file."""
    found = re.search(rf"^`{name}`,[^\n]*\n\n```sh\n(.*?)```", GUIDE, re.DOTALL | re.MULTILINE)
    assert found
    return executable(folder / name, found[1])


def executable(file: Path, text: str) -> Path:
    """A program."""
    write_text(file, text).chmod(0o755)
    return file


def wake(script: Path, folder: Path, **more: str) -> None:
    """Let a watch run a script for one memo."""
    path = f"{folder / 'bin'}:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    with publishing(Publisher(states=["inbox"])) as published:
        done = watch("--once", "--until-received", "--exec", script, published.feed, folder=folder, PATH=path, **more)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_desktop_notification(tmp_path: Path) -> None:
    """Each text is one argument."""
    executable(tmp_path / "bin/notify-send", f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/told\n')
    wake(adapter("notify", tmp_path), tmp_path)
    assert (tmp_path / "told").read_text().splitlines() == ["--", "Memo from engineer", SUBJECT]


def test_a_mail(tmp_path: Path) -> None:
    """What the memo says is in the body, never in a header."""
    executable(tmp_path / "bin/sendmail", f'#!/bin/sh\necho "$@" > {tmp_path}/to\ncat > {tmp_path}/mail\n')
    wake(adapter("mail-me", tmp_path), tmp_path)
    assert (tmp_path / "to").read_text() == "-oi you@example.org\n"
    head, _, body = (tmp_path / "mail").read_text().partition("\n\n")
    assert head.splitlines()[:2] == ["To: you@example.org", "Subject: new memo"]
    assert body.splitlines()[0] == f"engineer: {SUBJECT}"


class Chat(BaseHTTPRequestHandler):
    """A webhook that keeps what is posted."""

    posted: list[bytes]

    def do_POST(self) -> None:
        """Take it."""
        self.posted.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - its name in the standard library
        """Say nothing."""


@pytest.fixture
def chat() -> Iterator[tuple[str, list[bytes]]]:
    """A chat's address, and what is posted there."""
    Chat.posted = []
    server = HTTPServer(("127.0.0.1", 0), Chat)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/hook", Chat.posted
    server.shutdown()
    server.server_close()


def test_a_webhook(chat: tuple[str, list[bytes]], tmp_path: Path) -> None:
    """JSON that any subject leaves whole."""
    address, posted = chat
    wake(adapter("post", tmp_path), tmp_path, WEBHOOK=address)
    assert [json.loads(one) for one in posted] == [{"text": f"engineer: {SUBJECT}"}]


def test_the_commands_of_the_session_and_the_daemon_are_those_of_the_program() -> None:
    """Every option is there, with values that it takes."""
    start = re.search(r"^ExecStart=(.*)$", GUIDE, re.MULTILINE)
    session = re.search(r"start of a session, print what waits:\n\n```sh\n(.*?)\n", GUIDE)
    assert start and session
    for line in (start[1], session[1]):
        options = parser().parse_args(shlex.split(line)[1:])
        assert options.until_received and options.repo and len(options.feeds) == 1
