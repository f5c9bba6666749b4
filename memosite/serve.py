"""[I/O] The live preview: serves a site, rebuilds it when a source changes, and reloads the browser (livereload).

    changes (the system's file events) ─► rebuild, in a thread ─┬─► a page is there: browsers that show it reload
                                                               ├─► all pages are there: all others reload
                                                               └─► error: all reload, each page shows it

Folders are watched one by one, not as trees: a published site has more folders than a system lets one watch, and it
may be inside a watched folder. Folders that are new are watched from the next change on, which is the one that made
them. The error of a failed build is shown in the terminal and on the pages; the last good site stays.

A page that is loaded again shows what it showed before, at the same place in the window, with the same parts expanded:
of a session that is being written, a new turn comes below, and nothing before it moves.

The scripts that reload and that keep the place are files, not inline, so that pages keep their strict content security
policy. Only pages of this server may listen to it, and only requests for this machine by name are answered: a page of
another site whose name resolves to this machine reads nothing (DNS rebinding), nor does one that loads search blocks
as scripts.
"""

import json
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from html import escape
from http import HTTPStatus
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any, TypeVar, cast
from urllib.parse import unquote, urlsplit

from livereload.handlers import LiveReloadHandler, LiveReloadJSHandler
from livereload.server import StaticFileHandler
from tornado import web
from tornado.ioloop import IOLoop
from watchfiles import Change, watch

from memosite.config.schema import Config
from memosite.facts.errors import BusyError, ConfigError, MemositeError
from memosite.facts.layout import SKIPPED_FOLDERS, UNREAD_FOLDERS
from memosite.facts.patterns import regex
from memosite.facts.values import Value
from memosite.remake.report import Listener
from memosite.sources.folder import holding_repo, manuscript_folders

# Keeps track of the browsers that show the served site: which page each shows, and when it has to reload.


_MOST_PAGES = 100_000  # that were sent and are remembered


def page_at(url: str) -> str:
    """The path of the output that this server sends for a URL."""
    path = unquote(urlsplit(url).path).removeprefix("/")
    return f"{path}index.html" if path == "" or path.endswith("/") else path


class Browsers(Listener):
    """The browsers that show the site. The thread that builds reloads them in rounds, each browser once a round.

    A page may be on its way to a browser while it is written again: a browser that connects with an older page is
    told then. `trouble` is the error of the last build, which every page shows; "" if there was none.
    """

    def __init__(self, loop: IOLoop, stop: threading.Event) -> None:
        """Begin without an error. No browser is told anything once `stop` is set: the loop has ended."""
        self._loop = loop
        self._stop_event = stop
        self.trouble = ""
        self.is_round_told = False
        # What follows belongs to the loop. Steps are numbered: a page that was sent before it was written is old.
        self.steps = count()
        self._sent: dict[str, int] = {}
        self._written: dict[str, int] = {}
        self._all_written = -1

    def next_round(self) -> None:
        """A build begins."""
        self.is_round_told = False
        self._later(self._written.clear)

    def output_written(self, path: str) -> None:
        """Reload the browsers that show this page, without waiting for all other pages."""
        if path.endswith(".html") and not self.trouble:
            self._later(self._reload_page, path)

    def all_written(self) -> None:
        """Reload all other browsers."""
        self.tell("")

    def tell(self, trouble: str) -> None:
        """Set the current error; all pages that do not show it are reloaded."""
        self.is_round_told = True
        if trouble:
            self._later(self._written.clear)
        self.trouble = trouble
        self._later(self._reload_others)

    def sent(self, page: str, step: int) -> None:
        """Note, in the loop, that a page or its 404 page was requested at this step."""
        if len(self._sent) > _MOST_PAGES:
            self._sent.clear()
        self._sent[page] = step

    def connected(self, browser: LiveReloadHandler) -> None:
        """Register, in the loop, a browser with the page it shows; it reloads if that page is outdated."""
        sent = self._sent.get(browser.page)
        if sent is not None and sent < max(self._written.get(browser.page, -1), self._all_written):
            _reload([browser])

    def _later(self, callback: Callable[..., None], *arguments: str) -> None:
        if not self._stop_event.is_set():
            self._loop.add_callback(callback, *arguments)

    def _reload_page(self, path: str) -> None:
        self._written[path] = next(self.steps)
        _reload(browser for browser in LiveReloadHandler.waiters if browser.page == path)

    def _reload_others(self) -> None:
        self._all_written = next(self.steps)
        _reload(browser for browser in LiveReloadHandler.waiters if browser.page not in self._written)


def _reload(browsers: Iterable[LiveReloadHandler]) -> None:
    for browser in tuple(browsers):
        browser.send_message({"command": "reload", "path": "*", "liveCSS": True, "liveImg": True})


# Watches the files that a site is made from, by the system's file events.


_SETTLED_MS = 50  # no event for so long: the writing is done


_LONGEST_MS = 400  # … or writes so much that some of it is shown in between


_QUIET_MS = 1_000


_GIT_STATE = frozenset({"HEAD", "index", "packed-refs"})


def each_change(
    current: Callable[[], Config], stop: Event, *, is_due: Callable[[], bool]
) -> Iterator[frozenset[str] | None]:
    """Yield the paths of each change, until `stop` is set; `current` gives the configuration as it is then.

    None says that it is not known what has changed: so it is when nothing happens although something `is_due`.

    The first time, when nothing has happened for a moment after the watch began, what changed before it did is found
    by looking. A folder that was removed and created again, under the same name, is watched again.
    """
    while not stop.is_set():
        config = current()
        folders = watched_folders(config)
        events = watch(
            *folders,
            watch_filter=_filter(config),
            debounce=_LONGEST_MS,
            step=_SETTLED_MS,
            stop_event=stop,
            rust_timeout=_QUIET_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
        )
        is_first = True
        for changes in events:
            if changes or is_first or is_due():
                paths = frozenset(path for _, path in changes)
                yield None if is_first or not paths else paths
                is_first = False
                if watched_folders(current()) != folders or not paths.isdisjoint(map(str, folders)):
                    break


def watched_folders(config: Config) -> tuple[Path, ...]:
    """Every folder whose entries count: of sources, their repos' state, manuscripts, the theme, and the site's own."""
    found = {config.site}
    for root in (source.root for source in config.sources if source.root is not None):
        found.update(_below(root, config, unread=UNREAD_FOLDERS | SKIPPED_FOLDERS))
        found.update(_git_folders(root, config))
    found.update(manuscript_folders(config.site, config.citations, holes=config.written))
    if config.theme is not None:
        found.update(_below(config.theme, config, unread=UNREAD_FOLDERS))
    return tuple(sorted(folder for folder in found if folder.is_dir()))


def _below(root: Path, config: Config, *, unread: frozenset[str]) -> Iterator[Path]:
    pending = [root]
    while pending:
        folder = pending.pop()
        yield folder
        try:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        below = (folder / name for name in names if name not in unread)
        pending += [path for path in below if path not in config.written]


def _git_folders(root: Path, config: Config) -> Iterator[Path]:
    """The folders in which a commit, or a change of the index, shows."""
    repo = holding_repo(root, site=config.site, enclosing=config.history == "enclosing").repo
    if repo is not None:
        yield repo.git_dir
        for folder, _, _ in os.walk(repo.git_dir / "refs"):
            yield Path(folder)


def _filter(config: Config) -> Callable[[Change, str], bool]:
    ours = tuple(str(folder) for folder in config.written)

    def counts(_change: Change, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        if path in ours or path.startswith(tuple(f"{one}/" for one in ours)):
            return False
        if folder.rpartition("/")[2] == ".git":
            return name in _GIT_STATE
        return not name.endswith(".lock")

    return counts


# Serves a site on this machine, rebuilds it when a source changes, and reloads the browser (livereload).


T = TypeVar("T")


HOST = "127.0.0.1"


_BUSY_SECONDS = 0.5


_NAMES = (HOST, "localhost")


_HEAD_END = b"</head>"


_MAIN = b"<main"


_SCRIPT = b'<script src="/livereload.js" defer></script><script src="/place.js" defer></script>'


_PLACE = """\
// Keeps the place of a reader on a page that is loaded again: what is at the top of the window, and what is expanded.
const place = `place of ${location.pathname}`;
let waiting = null;
const folds = () => {
  const seen = {};
  return Array.from(document.querySelectorAll("main details"), (fold) => {
    const id = fold.closest("[id]")?.id ?? "";
    seen[id] = (seen[id] ?? 0) + 1;
    return [`${id} ${seen[id]}`, fold];
  });
};
addEventListener("pagehide", () => {
  if (waiting) return void sessionStorage.setItem(place, waiting); // loaded again before it was at its place
  const mark = Array.from(document.querySelectorAll("main [id]")).find((one) => one.getBoundingClientRect().bottom > 0);
  const open = folds().filter(([, fold]) => fold.open).map(([name]) => name);
  sessionStorage.setItem(place, JSON.stringify({ id: mark?.id, top: mark?.getBoundingClientRect().top, open }));
});
const written = sessionStorage.getItem(place);
const kept = JSON.parse(written ?? "null");
sessionStorage.removeItem(place);
if (kept && performance.getEntriesByType("navigation")[0].type === "reload") {
  waiting = written;
  history.scrollRestoration = "manual";
  const open = new Set(kept.open);
  for (const [name, fold] of folds()) fold.open = open.has(name);
  let left = 5; // what comes into view is laid out then, and may be of another height than was guessed
  const restore = () => {
    const mark = document.getElementById(kept.id ?? "");
    if (mark) scrollBy({ top: mark.getBoundingClientRect().top - kept.top, behavior: "instant" });
    if (--left) requestAnimationFrame(restore);
    else {
      history.scrollRestoration = "auto";
      waiting = null;
    }
  };
  if (document.readyState === "complete") restore();
  else addEventListener("load", () => setTimeout(restore));
}
"""


class Rebuilt(Value):
    """The configuration as it is now, and whether anything of the site is new."""

    config: Config
    is_new: bool


Changed = frozenset[str] | None
"""The paths of what has changed; None if that is not known."""


Rebuild = Callable[[Changed, threading.Event, Listener], Rebuilt]
"""Builds the site again after this change, and notifies the listener of what is written; ends when the event is set.

Raises `MemositeError`.
"""


Settle = Callable[[], bool]
"""Does what can wait until browsers have reloaded; whether the site is whole, or has to be built once more."""


class _OnThisMachine(web.RequestHandler):
    """Answers only requests for this machine by its own name, which prevents DNS rebinding."""

    def set_default_headers(self) -> None:
        """Forbid pages of other sites to load a file as their script, as which a search block would be read."""
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")
        self.set_header("X-Content-Type-Options", "nosniff")

    def prepare(self) -> None:
        """Refuse requests with a foreign Host header."""
        if self.request.host_name not in _NAMES:
            raise web.HTTPError(HTTPStatus.FORBIDDEN)


class _ReloadHandler(_OnThisMachine, LiveReloadHandler):  # type: ignore[misc] # livereload ships no types
    """Accepts connections from this server's own pages only. `page` is the output shown there, once it is known."""

    page = ""

    def initialize(self, browsers: Browsers) -> None:
        """Begin without a page."""
        self._browsers = browsers

    def check_origin(self, origin: str) -> bool:
        """Whether the page that connects came from here."""
        return bool(urlsplit(origin).netloc == self.request.headers.get("Host"))

    def on_message(self, message: str) -> None:
        """Note which page the browser shows, when it sends its address."""
        super().on_message(message)
        said = json.loads(message)
        if said.get("command") == "info" and self in LiveReloadHandler.waiters:
            self.page = page_at(str(said["url"]))
            self._browsers.connected(self)


class _ScriptHandler(_OnThisMachine, LiveReloadJSHandler):  # type: ignore[misc]
    """The script that reloads."""


class _PlaceHandler(_OnThisMachine):
    """The script that keeps the place of a reader."""

    def get(self) -> None:
        """Send it."""
        self.set_header("Content-Type", "text/javascript; charset=utf-8")
        self.finish(_PLACE)


class _FileHandler(_OnThisMachine, StaticFileHandler):  # type: ignore[misc]
    """The files of the site; the site's own 404 page for all others.

    Commands on pages, and documents of feeds, name the site where it is served.
    """

    _step: int | None = None
    _content = b""

    def initialize(self, browsers: Browsers, base_url: Callable[[], str | None], **settings: Any) -> None:
        """Serve files to these browsers; `base_url` is what the site says of itself."""
        super().initialize(**settings)
        self._browsers = browsers
        self._base_url = base_url

    def get_content_size(self) -> int:
        """The size of the file as it is sent."""
        self._content = at_address(self.absolute_path, f"http://{self.request.host}/", self._base_url())
        return len(self._content) or int(super().get_content_size())

    def get_content(self, abspath: str, start: int | None = None, end: int | None = None) -> Any:
        """The file, or a part of it, as it is sent."""
        return self._content[start:end] if self._content else super().get_content(abspath, start, end)

    def compute_etag(self) -> None:
        """No file has one: it would be that of the file as it was once."""

    def prepare(self) -> None:
        """Note when the file is requested."""
        super().prepare()
        self._step = next(self._browsers.steps)

    def validate_absolute_path(self, root: str, absolute_path: str) -> str | None:
        """The file to send; none is there at an address that no file can have (`%00`, or too long a name)."""
        try:
            return cast(str | None, super().validate_absolute_path(root, absolute_path))
        except (OSError, ValueError) as error:
            raise web.HTTPError(HTTPStatus.NOT_FOUND) from error

    def on_finish(self) -> None:
        """Note what was sent."""
        if self._step is not None:  # else it was refused
            self._browsers.sent(page_at(self.request.path), self._step)

    def write_error(self, status_code: int, **details: Any) -> None:
        """Answer with the site's own 404 page."""
        page = Path(self.root, "404.html")
        if status_code == HTTPStatus.NOT_FOUND and page.is_file():
            self.finish(page.read_bytes())
        else:
            super().write_error(status_code, **details)


_ADDRESS = regex(rb"(<span data-address>)[^<]*")


_LISTED = regex(rb' (?:xmlUrl|url)="')
"""Where a list of feeds has an address: a path from the top of a site that knows none."""


def at_address(path: str, address: str, base_url: str | None) -> bytes:
    """A page or a feed that names the site where it is served; nothing of another file, or of one that is gone."""
    kind, named = Path(path).suffix, (".xml", ".opml", "/feed.json", "/llms.txt")
    if kind not in {".html", ".opml"} and not (base_url and path.endswith(named)):
        return b""
    try:
        content = Path(path).read_bytes()
    except OSError:
        return b""
    here = escape(address, quote=False).encode()
    if kind == ".html":
        return _ADDRESS.sub(rb"\g<1>" + here, content)
    if base_url:
        return content.replace(escape(base_url, quote=False).encode(), here)
    return _LISTED.sub(rb"\g<0>" + here, content)


Say = Callable[[str], None]


def _injector(browsers: Browsers) -> type[web.OutputTransform]:
    class Injector(web.OutputTransform):
        """Adds the reload script to each HTML page, as a file of this server, and the current error."""

        def transform_first_chunk(self, status_code: int, headers: Any, chunk: bytes, finishing: bool) -> Any:  # noqa: ARG002, FBT001 - as tornado calls it
            if "html" in headers.get("Content-Type", ""):
                added = chunk.replace(_HEAD_END, _SCRIPT + _HEAD_END, 1)
                if browsers.trouble:
                    words = escape(browsers.trouble, quote=False)
                    notice = f'<p class="notice" role="alert">Not rebuilt, this is the last good site. {words}</p>'
                    added = added.replace(_MAIN, notice.encode() + _MAIN, 1)
                if "Content-Length" in headers:
                    headers["Content-Length"] = str(int(headers["Content-Length"]) + len(added) - len(chunk))
                chunk = added
            return status_code, headers, chunk

    return Injector


def check_port(port: int) -> None:
    """Raise `ConfigError` for a port that cannot be listened on, before anything is built."""
    if not 0 < port < 65_536:
        raise ConfigError(f"--port {port}: found {port}, expected 1 to 65535")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise _taken(port, error) from error


def _taken(port: int, error: OSError) -> ConfigError:
    return ConfigError(f"--port {port}: cannot listen there ({error.strerror}); choose another port")


def serve(config: Config, *, port: int, rebuild: Rebuild, settle: Settle, say: Say, warn: Say) -> None:
    """Serve the built site until interrupted; `rebuild` when a source, the configuration or the theme changes.

    `settle` is called after each rebuild.
    Raises `ConfigError` if the port is taken.
    """
    logging.getLogger("livereload").setLevel(logging.ERROR)
    logging.getLogger("tornado").setLevel(logging.CRITICAL)
    loop, stop = IOLoop.current(), threading.Event()
    browsers = Browsers(loop, stop)
    follower = Follower(config, rebuild=rebuild, settle=settle, browsers=browsers, warn=warn, stop=stop)
    handlers: list[Any] = [
        (r"/livereload", _ReloadHandler, {"browsers": browsers}),
        (r"/livereload.js", _ScriptHandler),
        (r"/place.js", _PlaceHandler),
        (
            r"/(.*)",
            _FileHandler,
            {
                "browsers": browsers,
                "base_url": lambda: follower.config.base_url,
                "path": str(config.output),
                "default_filename": "index.html",
            },
        ),
    ]
    try:
        server = web.Application(handlers=handlers, transforms=[_injector(browsers)]).listen(port, address=HOST)
    except OSError as error:
        raise _taken(port, error) from error
    follower.start()
    say(f"serving http://{HOST}:{port}/  (Ctrl-C ends it)")
    try:
        loop.start()
    finally:
        stop.set()
        server.stop()
        follower.join()


class Follower(threading.Thread):
    """Rebuilds after each change, and has the browsers reload; errors are shown, and the server keeps running."""

    def __init__(
        self, config: Config, *, rebuild: Rebuild, settle: Settle, browsers: Browsers, warn: Say, stop: threading.Event
    ) -> None:
        """Follow from this configuration on; until `stop` is set once it has been started."""
        super().__init__(name="rebuild")
        self.config = config
        self._rebuild = rebuild
        self._settle = settle
        self._browsers = browsers
        self._warn = warn
        self._stop_event = stop
        self._is_told_all = False
        self._is_due = False

    def run(self) -> None:
        """Follow every change."""
        for changed in each_change(lambda: self.config, self._stop_event, is_due=lambda: self._is_due):
            # Build once more at most, with the next change or without: a site that is never whole must not loop.
            self._is_due = not self.follow(changed) and not self._is_due

    def follow(self, changed: Changed = None) -> bool:
        """Rebuild, have browsers reload, and settle; whether the site is whole then, as far as is known."""
        while self._is_busy(changed):
            self._stop_event.wait(_BUSY_SECONDS)
        return self._stop_event.is_set() or self._try(self._settle, tell=self._warn) is not False

    def _is_busy(self, changed: Changed) -> bool:
        """Rebuild; whether that has to wait, since another process is building."""
        browsers = self._browsers
        browsers.next_round()
        try:
            sure = changed if self._is_told_all else None
            self._is_told_all = False  # a build that fails may not have looked
            rebuilt = self._try(lambda: self._rebuild(sure, self._stop_event, browsers), tell=self._tell)
        except BusyError:
            return not self._stop_event.is_set()
        if rebuilt is None:
            return False
        self._is_told_all = True
        self.config = rebuilt.config
        if browsers.trouble or (rebuilt.is_new and not browsers.is_round_told):
            browsers.tell("")
        return False

    def _try(self, step: Callable[[], T], *, tell: Say) -> T | None:
        """Do a step; errors are shown, and the next change is followed all the same."""
        try:
            return step()
        except BusyError:
            raise
        except MemositeError as error:
            tell(str(error))
        except Exception as error:  # a bug, or a process that ran out of memory
            tell(f"{type(error).__name__}: {error}")
        return None

    def _tell(self, text: str) -> None:
        """Show in the terminal and on all pages that nothing was rebuilt, and why."""
        if not self._stop_event.is_set():
            self._browsers.tell(text)
            self._warn(text)
