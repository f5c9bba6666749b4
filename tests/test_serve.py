"""The server: the real command, a real socket, a memo that arrives while it runs."""

import asyncio
import http.client
import json
import re
import shlex
import signal
import socket
import threading
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from livereload.handlers import LiveReloadHandler
from lxml import html
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from memosite.config.loading import load_config
from memosite.config.schema import Config
from memosite.facts.errors import OutputError
from memosite.remake.report import Listener
from memosite.serve import Browsers, Follower, Rebuilt, page_at
from memosite.store.output import OutputFolder
from tests.support.commands import run_command
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.repos import Repo
from tests.support.servers import fetch, serving
from tests.support.waiting import DEADLINE, wait_until

FIRST = "2026-05-01-1430--a--b--first"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of one memo."""
    write_memo(tmp_path / "memos/inbox", FIRST, subject="The first memo")
    return tmp_path


def test_a_memo_that_arrives_is_on_the_page_and_reloads_the_browser(site: Path) -> None:
    """Build, serve, change, rebuild, reload; Ctrl-C ends it; who looks at a page that is gone reloads once."""
    with serving(site) as (host, process):
        home = fetch(f"http://{host}/")
        assert "The first memo" in home and '<script src="/livereload.js"' in home
        assert "LiveReload" in fetch(f"http://{host}/livereload.js")
        asyncio.run(see_reload(host, site))
        wait_until(lambda: "The second memo" in fetch(f"http://{host}/"))
        wait_until(lambda: "The second memo" in fetch(f"http://{host}/feed.xml"))  # it comes after all reloads
        asyncio.run(see_no_reload(host, "/memos/nobody/"))
        (site / "memos/inbox/2026-05-02-1430--a--b--second.openthing").write_text("{broken")
        wait_until(lambda: "json-invalid" in fetch(f"http://{host}/health/index.html"))
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE) in {0, 130}


@pytest.mark.parametrize("base", ["", "https://boats.example/at-the-quay/"])
def test_commands_and_feeds_name_the_site_where_it_is_served(site: Path, base: str) -> None:
    """Without a script, too, and the command that is printed works as it is; the files of the site stay as they are."""
    write_memo(site / "memos/inbox", FIRST, sender="a", to="b")
    write_text(site / "memosite.yml", f"base_url: {base}\n" if base else "title: Boats\n")
    with serving(site) as (host, _):
        page = f"http://{host}/positions/b/index.html"
        wait_until(lambda: fetch(page))
        watch = shlex.split(str(html.fromstring(fetch(page)).xpath("string(//*[@id='_watch'])")))
        assert watch == ["memosite", "watch", f"http://{host}/positions/b/feed.xml"]
        run = run_command("watch", "--once", "--state", str(site.parent / "state"), watch[2])
        assert (run.returncode, FIRST in run.stdout) == (0, True), run
        others = [fetch(f"http://{host}/{path}") for path in ("feeds/index.html", "positions/b/feed.xml", "feeds.opml")]
        assert not any("ADDRESS/" in text for text in others)
        assert not any("https://boats" in text for text in others[1:])
        listed = re.findall(r' (?:xmlUrl|url)="([^"]*)"', others[2])
        assert {f"http://{host}/positions/b/feed.xml", f"http://{host}/feeds/threads.opml"} <= set(listed)
        assert all(url.startswith(f"http://{host}/") for url in listed)
        assert (f"http://{host}/memos/{FIRST}/" in others[1]) is bool(base)
        assert ("does not know its web address" in others[0]) is not bool(base)
        assert status_of(host, "/memos/none/", host) == 404
    written = (site / "_site/positions/b/index.html").read_text()
    assert f"watch <span data-address>{base or 'ADDRESS/'}</span>positions/b/feed.xml" in written


@asynccontextmanager
async def browser_at(host: str, page: str) -> AsyncIterator[WebSocketClientConnection]:
    """A browser that looks at a page: connected as the page's script does it."""
    browser = await websocket_connect(HTTPRequest(f"ws://{host}/livereload", headers={"Origin": f"http://{host}"}))
    await browser.write_message(json.dumps({"command": "hello", "protocols": []}))
    await browser.write_message(json.dumps({"command": "info", "url": f"http://{host}{page}"}))
    assert json.loads(str(await browser.read_message()))["command"] == "hello"
    yield browser
    browser.close()
    assert await browser.read_message() is None  # closed by both: a socket left open is told of in some later test


async def see_reload(host: str, site: Path) -> None:
    """Add a memo, and wait to be told to reload."""
    async with browser_at(host, "/") as browser:
        write_memo(site / "memos/inbox", "2026-05-02-1430--a--b--second", subject="The second memo")
        message = await asyncio.wait_for(browser.read_message(), DEADLINE)
        assert json.loads(str(message))["command"] == "reload"


async def see_no_reload(host: str, page: str) -> None:
    """Look at a page, and be told nothing before the next answer."""
    await asyncio.to_thread(fetch, f"http://{host}{page}")
    async with browser_at(host, page) as browser:
        await browser.write_message(json.dumps({"command": "hello", "protocols": []}))
        assert json.loads(str(await browser.read_message()))["command"] == "hello"


def test_a_port_that_is_taken_is_said_in_one_line(site: Path) -> None:
    """Exit 2, with what to do."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run_command("serve", site, "--port", port, seconds=DEADLINE)
    assert done.returncode == 2 and f"--port {port}" in done.stderr
    assert done.stderr.count("\n") == 1


def status_of(host: str, path: str, asked_for: str) -> int:
    """What the server answers to a request that names another host."""
    connection = http.client.HTTPConnection(host, timeout=600)
    try:
        connection.request("GET", path, headers={"Host": asked_for})
        return connection.getresponse().status
    finally:
        connection.close()


def test_only_pages_of_this_server_are_answered(site: Path) -> None:
    """No page of another site reads or hears anything; what no file can have is not found; parts are sent alone."""

    async def connect_from_elsewhere(host: str) -> int:
        request = HTTPRequest(f"ws://{host}/livereload", headers={"Origin": "http://evil.example"})
        try:
            await websocket_connect(request)
        except HTTPClientError as error:
            return error.code
        return 0

    with serving(site) as (host, _):
        assert asyncio.run(connect_from_elsewhere(host)) == 403
        for path in ("/", "/livereload.js", f"/memos/{FIRST}/index.json"):
            assert status_of(host, path, "evil.example") == 403 and status_of(host, path, host) == 200
            assert status_of(host, path, host.replace("127.0.0.1", "localhost")) == 200
        for path in ("search/t0/h0.js", f"memos/{FIRST}/original.openthing", "livereload.js"):
            with urllib.request.urlopen(f"http://{host}/{path}", timeout=600) as answer:
                assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
        for path in ("/%00", "/memos/%00/index.html", f"/{'x' * 300}", f"/{'x/' * 3000}"):
            assert status_of(host, path, host) == 404, path[:30]
        request = urllib.request.Request(f"http://{host}/search/t0/t0.js", headers={"Range": "bytes=5-24"})
        with urllib.request.urlopen(request, timeout=600) as answer:
            assert (answer.status, answer.read()) == (206, (site / "_site/search/t0/t0.js").read_bytes()[5:25])


def test_what_is_broken_is_said_on_the_page_until_it_is_mended(site: Path) -> None:
    """For a broken configuration or template, a fault of the program, another output, the last good site stays."""
    program = (
        "import sys, memosite.build, memosite.remake.memory\n"
        "build = memosite.build.build\n"
        "def faulty(config, **options):\n"
        "    if config.title == 'Fault': raise KeyError('no such thing')\n"
        "    return build(config, **options)\n"
        "memosite.build.build = faulty\n"
        "from memosite.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    template = site / "theme/templates/memo.html"
    template.parent.mkdir(parents=True)
    configuration = site / "memosite.yml"
    configuration.write_text("title: Well\ntheme: theme\n")
    with serving(site, program) as (host, _):
        home = f"http://{host}/"
        configuration.write_text("titel: <Not so>\ntheme: theme\n")
        wait_until(lambda: "titel" in fetch(home))
        assert '<p class="notice" role="alert">Not rebuilt, this is the last good site.' in fetch(home)
        assert "The first memo" in fetch(home)
        configuration.write_text("title: Fault\ntheme: theme\n")
        wait_until(lambda: "KeyError: 'no such thing'" in fetch(home))
        configuration.write_text("title: Again\ntheme: theme\n")
        wait_until(lambda: "Again" in fetch(home) and "Not rebuilt" not in fetch(home))
        template.write_text("{% extends 'artifact.html' %}{{ page.nothing }}{% block main %}{{page.no}}{% endblock %}")
        wait_until(lambda: "templates/memo.html" in fetch(home))
        template.unlink()
        wait_until(lambda: "Not rebuilt" not in fetch(home))
        configuration.write_text("title: Well\noutput: elsewhere\n")
        wait_until(lambda: "start memosite serve again" in fetch(home))
    assert not (site / "elsewhere").exists()


def test_a_build_beside_the_server_is_waited_for(site: Path) -> None:
    """What changes while somebody else builds into the same folder is on the page when they are done."""
    with serving(site) as (host, _):
        other = OutputFolder(site / "_site")
        wait_until(lambda: is_opened(other))
        write_memo(site / "memos/inbox", "2026-05-02-1430--a--b--second", subject="The second memo")
        (site / "memosite.yml").write_text("titel: Broken\n")  # said, and so it is known to have looked
        wait_until(lambda: "titel" in fetch(f"http://{host}/"))
        (site / "memosite.yml").unlink()
        time.sleep(1)  # it tries to build meanwhile, of which nothing is to be seen
        other.leave()
        other.unlock()
        wait_until(lambda: "The second memo" in fetch(f"http://{host}/"))
        wait_until(lambda: "Not rebuilt" not in fetch(f"http://{host}/"))


def is_opened(output: OutputFolder) -> bool:
    """Whether nobody else was writing there, so that we are now."""
    try:
        output.open()
    except OutputError:
        output.unlock()
        return False
    return True


def test_a_folder_that_is_new_is_watched_and_a_commit_is_seen(tmp_path: Path) -> None:
    """Repos come, folders come, and what is committed was received."""
    write_memo(tmp_path / "repo/memos/inbox", "2026-05-01-1430--a--b--first", subject="The first memo")
    repo = Repo(tmp_path / "repo")
    with serving(tmp_path) as (host, _):
        home = f"http://{host}/"
        write_memo(tmp_path / "other/memos/inbox", "2026-05-02-1430--a--b--second", subject="The second memo")
        wait_until(lambda: "The second memo" in fetch(home))
        write_memo(tmp_path / "other/memos/archive/2026", "2026-05-03-1430--a--b--third", subject="The third memo")
        wait_until(lambda: "The third memo" in fetch(home))
        page = f"{home}memos/2026-05-01-1430--a--b--first/index.html"
        commit = repo.commit("a memo was received")
        wait_until(lambda: commit[:8] in fetch(page))


def test_ctrl_c_ends_the_server_in_the_middle_of_a_build(tmp_path: Path) -> None:
    """Whatever is being built, the next build completes it."""
    for number in range(100):
        write_memo(tmp_path / "memos/inbox", f"2026-05-01-1430--a--b--m{number}", body="word " * 500)
    with serving(tmp_path) as (host, process):
        (tmp_path / "memosite.yml").write_text("title: Everything is made again\n")
        wait_until(lambda: "Everything is made again" in fetch(f"http://{host}/"))
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE) == 130


class Page:
    """Stands for a browser that shows a page: counts how often it is told to reload."""

    def __init__(self, page: str) -> None:
        """Show this page."""
        self.page = page
        self.reloads = 0

    def send_message(self, message: dict[str, object]) -> None:
        """Be told."""
        assert message["command"] == "reload"
        self.reloads += 1


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> list[Page]:
    """Two browsers, which show home and the page of search."""
    found = [Page("index.html"), Page("search/index.html")]
    monkeypatch.setattr(LiveReloadHandler, "waiters", set(found))
    return found


def browsers() -> Browsers:
    """The browsers that are connected; what the loop is to call is called at once."""
    loop: Any = SimpleNamespace(add_callback=lambda callback, *arguments: callback(*arguments))
    return Browsers(loop, threading.Event())


def follower(
    config: Config, rebuilt: Iterable[Callable[[Listener], bool]], settled: Iterable[bool], told: Browsers | None = None
) -> Follower:
    """A follower whose rebuilds have something new or not, and which finds the site whole or not after each."""
    builds, whole = iter(rebuilt), iter(settled)
    return Follower(
        config, rebuild=lambda _changed, _stop, listener: Rebuilt(config=config, is_new=next(builds)(listener)),
        settle=lambda: next(whole), browsers=told or browsers(), warn=print, stop=threading.Event(),
    )  # fmt: skip


def home_is_new(listener: Listener) -> bool:
    """A build that writes home, and then all the rest."""
    listener.output_written("index.html")
    listener.output_written("feed.xml")
    listener.all_written()
    return True


def home_is_new_and_then_it_fails(listener: Listener) -> bool:
    """A build that ends in the middle."""
    listener.output_written("index.html")
    raise OutputError("the disk is full")


def test_an_address_is_known_by_its_output() -> None:
    """Whatever stands behind it, and however it is written."""
    expected = {
        "/": "index.html", "": "index.html", "/memos/a/#t3": "memos/a/index.html",
        "/memos/a/index.html": "memos/a/index.html", "/search/?q=a+b": "search/index.html",
        "/positions/%C3%A9/": "positions/é/index.html",
    }  # fmt: skip
    assert {path: page_at(f"http://127.0.0.1:8000{path}") for path in expected} == expected


def test_who_looks_at_a_page_waits_for_no_other_and_what_was_on_its_way_is_reloaded(pages: list[Page]) -> None:
    """As soon as it is written, and no second time when the rest is; one that has the new page is left alone."""
    told = browsers()
    for builds in (1, 2):
        told.next_round()
        told.output_written("positions/engineer/index.html")
        told.output_written("index.html")
        assert [page.reloads for page in pages] == [builds, builds - 1]
        told.all_written()
        assert [page.reloads for page in pages] == [builds, builds]
    told, late, new = browsers(), Page("memos/a/index.html"), Page("memos/a/index.html")
    told.sent(late.page, next(told.steps))
    told.next_round()
    told.output_written(late.page)
    told.connected(late)
    assert late.reloads == 1
    told.sent(new.page, next(told.steps))
    told.connected(new)
    assert new.reloads == 0
    told.all_written()
    told.connected(new)
    assert new.reloads == 1  # what it shows besides may be old
    unknown = Page("memos/b/index.html")
    told.connected(unknown)
    assert unknown.reloads == 0  # or it would reload for ever
    assert pages[0].reloads == 3


def test_last_good_pages_say_what_is_wrong(site: Path, pages: list[Page], capsys: pytest.CaptureFixture[str]) -> None:
    """Also the one that was reloaded before; what goes wrong when new pages are there is said in the terminal."""
    told = browsers()
    following = follower(load_config(site), [home_is_new_and_then_it_fails, home_is_new, home_is_new], [True] * 3, told)
    following.follow()
    assert told.trouble == "the disk is full"
    assert [page.reloads for page in pages] == [2, 1]
    told.output_written("index.html")
    assert [page.reloads for page in pages] == [2, 1]  # it would still say what was wrong
    following.follow()
    assert told.trouble == ""
    assert [page.reloads for page in pages] == [3, 2]
    told = browsers()

    def settle() -> Iterator[bool]:
        yield from ()
        raise OutputError("the cache cannot be written")

    follower(load_config(site), [home_is_new], settle(), told).follow()
    assert "the cache cannot be written" in capsys.readouterr().out
    assert told.trouble == ""
    assert [page.reloads for page in pages] == [4, 3]


def test_what_failed_is_looked_for_everywhere_the_next_time(site: Path, pages: list[Page]) -> None:
    """A build that fails may not have looked where something had changed."""
    builds = iter([home_is_new, home_is_new, home_is_new_and_then_it_fails, home_is_new, home_is_new])
    asked: list[frozenset[str] | None] = []

    def rebuild(changed: frozenset[str] | None, _stop: threading.Event, listener: Listener) -> Rebuilt:
        asked.append(changed)
        return Rebuilt(config=load_config(site), is_new=next(builds)(listener))

    following = Follower(
        load_config(site), rebuild=rebuild, settle=lambda: True, browsers=browsers(), warn=print, stop=threading.Event()
    )
    for number in range(5):
        following.follow(frozenset({f"file {number}"}))
    assert asked == [None, {"file 1"}, {"file 2"}, None, {"file 4"}]
    assert pages[0].reloads > 0


def test_a_site_that_is_not_whole_is_rebuilt(site: Path, pages: list[Page], monkeypatch: pytest.MonkeyPatch) -> None:
    """And only once; browsers reload only if something is new: a file that was touched moves no page."""

    def each_change(*_: object, is_due: Callable[[], bool]) -> Iterator[None]:
        yield None
        while is_due():
            yield None

    monkeypatch.setattr("memosite.serve.each_change", each_change)
    assert follower(load_config(site), [lambda _: False], settled=[True]).follow()
    assert [page.reloads for page in pages] == [0, 0]
    for settled, builds in (([True], 1), ([False, True], 2), ([False, False], 2)):
        before = pages[0].reloads
        follower(load_config(site), [home_is_new] * 5, settled=settled).run()
        assert pages[0].reloads - before == builds
    assert pages[0].reloads == pages[1].reloads
