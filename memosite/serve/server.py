"""[I/O] Serves a site on this machine, rebuilds it when a source changes, and reloads the browser (livereload).

    changes (the system's file events) ─► rebuild, in a thread ─┬─► a page is there: browsers that show it reload
                                                               ├─► all pages are there: all others reload
                                                               └─► error: all reload, each page shows it

The script that reloads is a file, not inline, so that pages keep their strict content security policy. Only pages
of this server may listen to it, and only requests for this machine by name are answered: a page of another site whose
name resolves to this machine reads nothing (DNS rebinding), nor does one that loads search blocks as scripts. The
error of a failed build is shown in the terminal and on the pages; the last good site stays.
"""

import json
import logging
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from livereload.handlers import LiveReloadHandler, LiveReloadJSHandler
from livereload.server import StaticFileHandler
from tornado import web
from tornado.ioloop import IOLoop

from memosite.config.loading import Config
from memosite.facts.errors import BusyError, ConfigError, MemositeError
from memosite.remake.listener import Listener
from memosite.serve.browsers import Browsers, page_at
from memosite.serve.changes import each_change

T = TypeVar("T")

HOST = "127.0.0.1"
_BUSY_SECONDS = 0.5
_NAMES = (HOST, "localhost")
_HEAD_END = b"</head>"
_MAIN = b"<main"
_SCRIPT = b'<script src="/livereload.js" defer></script>'


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
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


class _FileHandler(_OnThisMachine, StaticFileHandler):  # type: ignore[misc]
    """The files of the site; the site's own 404 page for all others."""

    _step: int | None = None

    def initialize(self, browsers: Browsers, **settings: Any) -> None:
        """Serve files to these browsers."""
        super().initialize(**settings)
        self._browsers = browsers

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
    handlers: list[Any] = [
        (r"/livereload", _ReloadHandler, {"browsers": browsers}),
        (r"/livereload.js", _ScriptHandler),
        (r"/(.*)", _FileHandler, {"browsers": browsers, "path": str(config.output), "default_filename": "index.html"}),
    ]
    try:
        server = web.Application(handlers=handlers, transforms=[_injector(browsers)]).listen(port, address=HOST)
    except OSError as error:
        raise _taken(port, error) from error
    follower = Follower(config, rebuild=rebuild, settle=settle, browsers=browsers, warn=warn, stop=stop)
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
        self._config = config
        self._rebuild = rebuild
        self._settle = settle
        self._browsers = browsers
        self._warn = warn
        self._stop_event = stop
        self._is_told_all = False
        self._is_due = False

    def run(self) -> None:
        """Follow every change."""
        for changed in each_change(lambda: self._config, self._stop_event, is_due=lambda: self._is_due):
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
        self._config = rebuilt.config
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
