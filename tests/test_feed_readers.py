"""Every memo wakes its reader, and wakes it once: real readers poll a feed that is served on this machine (FEEDS)."""

import shutil
import signal
import subprocess
from collections.abc import Iterator
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest
from lxml import html as lxml_html

from tests.support.commands import running
from tests.support.feeds.readers import PROGRAMS, READERS, shown_path
from tests.support.files import write_text
from tests.support.memos import send, write_memo
from tests.support.servers import serve_folder
from tests.support.sites import build_site
from tests.support.watches import clean_environment

PREFIX = "tag:memosite.invalid,2026:archive/memo/"


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
    write_text(tmp_path / "on-memo", '#!/bin/sh\necho "new memo: $MEMO_PATH"\n').chmod(0o755)
    once, *lasting = commands(site, "In an AI session or a program")
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
        assert lines == {f"new memo: {path}" for path in unread}
        assert (process.returncode, rest) == (0 if command == once else 130, "")
