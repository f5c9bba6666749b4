"""No command asks the network (SPEC 9), but for a `git:` source, `--previous` and a watched feed that name an address.

Each is run where the kernel ends whoever opens a socket (`support/no_network.py`), over an organization that is full of
addresses; and where it does not, over addresses at which somebody listens.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memosite.cli import main
from memosite.commands.arguments import command_parsers, parser
from tests.support.commands import command_line, running
from tests.support.files import write_text
from tests.support.memos import write_memo, write_org, write_transcript
from tests.support.no_network import KILLED, command_without_network, run_without_network
from tests.support.repos import Repo
from tests.support.servers import fetch, free_port, raw_server
from tests.support.sites import build_site, tree_bytes
from tests.support.waiting import wait_until

NOBODY = "http://127.0.0.1:9"
NAME = "2026-05-01-1430--engineer--director--plan"
FETCHED = "2026-05-02-0900--engineer--director--fetched"
CONNECT = "import socket; socket.create_connection(('127.0.0.1', 9))"
PYTHON = (sys.executable, "-c")
RUN_ALL = """
import importlib, json, os, pkgutil, sys, memosite
for module in pkgutil.walk_packages(memosite.__path__, "memosite."):
    importlib.import_module(module.name)
from memosite.cli import main
for words in json.loads(sys.argv[1]):
    if not (child := os.fork()):
        code = main(words)
        sys.stdout.flush()
        os._exit(code)
    status = os.waitpid(child, 0)[1]
    assert status == 0, (words, status)
"""
"""Imports every module, then runs commands, each in a process of its own that has nothing to import any more."""


def organization(folder: Path, address: str) -> Path:
    """A site of two repos whose texts, configuration and git configuration name an address wherever one can be."""
    repo = Repo(folder / "site/governance")
    text = f"See {address}/a, [b]({address}/b), ![c]({address}/c.png) and <img src='{address}/d.png'>.\n"
    write_memo(repo.root / "memos/inbox", NAME, body=text, in_reply_to=f"{address}/blob/main/memos/x.openthing")
    write_memo(repo.root / "memos/inbox", f"{NAME}-2", body=text, body_ref=f"{address}/body.md")
    write_transcript(repo.root / "transcripts/engineer", "2026-05-01-1500--engineer--talk", text=f"## User\n\n{text}")
    write_org(repo.root / "org", positions=["director", "engineer"], website=address)
    write_text(repo.root / "decisions/0001-tide.md", f"---\nsource: {address}/decision\n---\n# Tide\n\n{text}")
    write_text(repo.root / ".gitmodules", f'[submodule "m"]\n\tpath = m\n\turl = {address}/m.git\n')
    write_text(repo.root / ".lfsconfig", f"[lfs]\n\turl = {address}/lfs\n")
    repo.commit("first")
    write_memo(repo.root / "memos/inbox", f"{NAME}-2", body=f"Again: {text}")
    repo.commit("second")
    repo.git("config", "user.name", "Ann")  # `mark-read --commit` asks for them
    repo.git("config", "user.email", "ann@example.org")
    lose_an_object(repo, address)
    other = Repo(folder / "other")
    write_memo(other.root / "memos/inbox", FETCHED)
    other.commit()
    settings = f"base_url: {address}/\nfeeds: {{searches: {{plans: plan}}}}\nsources:\n"
    settings += f"  - {{path: governance, web: '{address}/blob/{{ref}}/{{path}}'}}\n"
    settings += f"  - {{git: 'file://{other.root}'}}\n"
    write_text(folder / "site/memosite.yml", settings)
    return folder / "site"


def lose_an_object(repo: Repo, address: str) -> None:
    """Make a repo a partial clone that lacks a former content: git asks the remote for it when it is needed."""
    lost = repo.git("rev-parse", f"HEAD~1:memos/inbox/{NAME}-2.openthing")
    (repo.root / ".git/objects" / lost[:2] / lost[2:]).unlink()
    for key, value in (
        ("remote.origin.url", f"{address}/repo.git"), ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"), ("extensions.partialClone", "origin"),
        ("core.repositoryformatversion", "1"), ("submodule.m.url", f"{address}/m.git"), ("http.proxy", address),
    ):  # fmt: skip
        repo.git("config", key, value)


def commands(site: Path) -> list[tuple[str, ...]]:
    """Each command, in the forms that read or write different things; those that come later need what is built."""
    output, repo = site / "_site", site / "governance"
    feed, memo = output / "positions/director/feed.xml", repo / f"memos/inbox/{NAME}.openthing"
    at = ("--site", str(site))
    return [
        ("build", str(site), "--jobs", "2"),
        ("build", str(site), "-o", str(site.parent / "next"), "--previous", str(output)), ("check", str(site)),
        ("check", "--format", "sarif", str(memo)), ("search", "plan", *at),
        *(("export", "--format", format_, "-o", str(site.parent / format_), *at) for format_ in ("jsonl", "mbox")),
        ("export", "is:unread", "--format", "maildir", "-o", str(site.parent / "maildir"), *at),
        ("diff", "2026-01-01..", *at), ("diff", "HEAD~1..HEAD", "--source", "governance", *at),
        ("diff", f"{output}..{site.parent / 'next'}"),
        *((command, NAME, *at) for command in ("cite", "show", "thread")),
        *((command, "director", *at) for command in ("brief", "inbox")), ("verify", str(repo), *at),
        ("why", str(memo), *at), ("reply", NAME, "--from", "director", *at),
        ("new", "--from", "director", "--to", "engineer", "--subject", "One", *at), ("mcp", *at),
        ("verify", "--seal", str(output / "archive/seals.jsonl"), str(output)),
        ("explain", f"memos/{NAME}/index.html", *at), ("watch", "--once", "--since", "all", str(feed)),
        ("watch", "--once", "--position", "director", *at), ("mark-read", "--commit", str(memo)),
        ("init", str(site.parent / "other")), ("completion", "zsh"),
    ]  # fmt: skip


def test_no_command_asks_the_network(tmp_path: Path) -> None:
    """Neither it nor a process that it starts, nor any module that is imported: each does what it is for."""
    words = commands(organization(tmp_path, NOBODY))
    assert {command for command, *_ in words} == command_parsers(parser()).keys() - {"serve"}
    done = run_without_network(sys.executable, "-c", RUN_ALL, json.dumps(words), folder=tmp_path)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "signal" not in done.stderr


def test_a_build_without_a_network_is_the_same(tmp_path: Path) -> None:
    """Nothing that it could have had from the network is missing: history, texts, the remote on this machine."""
    site = organization(tmp_path, NOBODY)
    outputs = [tmp_path / "with", tmp_path / "without"]
    options = [("--cache", tmp_path / f"cache-{output.name}") for output in outputs]
    build_site(site, *options[0], output=outputs[0])
    done = run_without_network(*command_line("build", site, "-o", outputs[1], *options[1]))
    assert done.returncode == 0, done.stderr
    written = [tree_bytes(output) for output in outputs]
    assert written[0] == written[1] and f"memos/{FETCHED}/index.html" in written[0]


def test_serve_connects_to_nobody(tmp_path: Path) -> None:
    """It listens, answers and rebuilds, and ends with Ctrl-C as ever."""
    site = organization(tmp_path, NOBODY)
    port = free_port()
    words = command_without_network(*command_line("serve", site, "--port", port), may_listen=True)
    with running(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            wait_until(lambda: "About" in fetch(f"http://127.0.0.1:{port}/"))
            write_memo(site / "governance/memos/inbox", f"{NAME}-3", subject="It arrived")
            wait_until(lambda: "It arrived" in fetch(f"http://127.0.0.1:{port}/"))
        finally:
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=600)
    assert process.returncode == 130, said


def test_nobody_hears_of_a_build(tmp_path: Path) -> None:
    """Where the network is there, no address in texts, memosite.yml or git's configuration is asked, nor by git."""
    with raw_server() as (address, notes):
        site = organization(tmp_path, address)
        for command in commands(site):
            assert command[0] not in {"build", "diff", "mark-read"} or main(list(command)) == 0, command
        assert notes == []
        plain = ["git", "-C", str(site / "governance"), "log", "-p", "--all"]
        subprocess.run(plain, capture_output=True, check=False, timeout=600)
        assert notes, "git by itself asks for the content that is lost: the trap is one"


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ((*PYTHON, CONNECT), KILLED, ""),
        ((*PYTHON, "import socket; socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)"), KILLED, ""),
        ((*PYTHON, f"import os; os.fork() or exec({CONNECT!r}); print(os.wait()[1])"), 0, f"{-KILLED}\n"),
        ((*PYTHON, "import socket; socket.socketpair(); print('fine')"), 0, "fine\n"),
        (("git", "ls-remote", f"{NOBODY}/x.git"), 128, "died of signal"),
        (command_line("watch", "--once", f"{NOBODY}/feed.xml"), KILLED, ""),
    ],
    ids=["python", "ipv6", "child", "unix", "git", "watch"],
)
def test_asking_the_network_is_seen(tmp_path: Path, command: tuple[str, ...], code: int, said: str) -> None:
    """The check itself: whoever asks is ended, in whichever language, and processes still talk to one another."""
    done = run_without_network(*command, folder=tmp_path)
    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr


def test_a_build_that_asks_the_network_and_a_server_that_connects_are_seen(tmp_path: Path) -> None:
    """By both checks: `--previous` and a `git:` source are what may ask; servers may listen, and no more."""
    site = organization(tmp_path, NOBODY)
    assert run_without_network(*command_line("build", site, "--previous", NOBODY)).returncode == KILLED
    with raw_server() as (address, notes):
        main(["build", str(site), "--previous", address])
        assert notes[0].startswith(b"GET /archive/ledger.jsonl")
    write_text(site / "memosite.yml", "sources: [{git: 'https://127.0.0.1:9/x.git'}]\n")
    done = run_without_network(*command_line("build", site))
    assert done.returncode == 2 and "died of signal" in done.stderr
    program = f"import socket; socket.create_server(('127.0.0.1', 0)); print('listening', flush=True); {CONNECT}"
    words = command_without_network(*PYTHON, program, may_listen=True)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (KILLED, "listening\n")
