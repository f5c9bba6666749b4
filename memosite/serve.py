"""[I/O] Serves a site on this machine, rebuilds it when a source changes, and reloads the browser (livereload).

    changes (the system's file events) ─► rebuild, in a thread ─┬─► pages are there: browsers reload
                                                               └─► trouble: browsers reload, each page says it

The script that reloads is a file, not inline, so that pages keep their strict content security policy. Only pages
of this server may listen to it, and only requests for this machine by name are answered: a page of another site whose
name leads here reads nothing. A build that fails is told in the terminal and on the pages; the last good site stays.
"""

import logging
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from livereload.handlers import LiveReloadHandler, LiveReloadJSHandler
from livereload.server import StaticFileHandler
from tornado import web
from tornado.ioloop import IOLoop

from memosite.changes import each_change
from memosite.config import Config
from memosite.errors import BusyError, ConfigError, MemositeError
from memosite.making import Show

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


Rebuild = Callable[[threading.Event, Show], Rebuilt]
"""Builds the site again, and calls when its pages are there; ends when the event is set. Raises `MemositeError`."""

Settle = Callable[[], bool]
"""Does what can wait until browsers have reloaded; whether the site is whole, or has to be built once more."""


class _OnThisMachine(web.RequestHandler):
    """Answers only who asks for this machine by its own name, so that no other site's name leads here."""

    def prepare(self) -> None:
        """Refuse a Host that is somebody else's."""
        if self.request.host_name not in _NAMES:
            raise web.HTTPError(HTTPStatus.FORBIDDEN)


class _ReloadHandler(_OnThisMachine, LiveReloadHandler):  # type: ignore[misc] # livereload ships no types
    """Takes connections from this server's own pages only."""

    def check_origin(self, origin: str) -> bool:
        """Whether the page that connects came from here."""
        return bool(urlsplit(origin).netloc == self.request.headers.get("Host"))


class _ScriptHandler(_OnThisMachine, LiveReloadJSHandler):  # type: ignore[misc]
    """The script that reloads."""


class _FileHandler(_OnThisMachine, StaticFileHandler):  # type: ignore[misc]
    """The files of the site; the site's own 404 page for all others."""

    def write_error(self, status_code: int, **details: Any) -> None:
        """Answer with the site's page for what is not there."""
        page = Path(self.root, "404.html")
        if status_code == HTTPStatus.NOT_FOUND and page.is_file():
            self.finish(page.read_bytes())
        else:
            super().write_error(status_code, **details)


class Trouble:
    """What went wrong with the last build; "" if nothing did."""

    def __init__(self) -> None:
        """Begin without any."""
        self.text = ""


Say = Callable[[str], None]


def _injector(trouble: Trouble) -> type[web.OutputTransform]:
    class Injector(web.OutputTransform):
        """Adds the reload script to each HTML page, as a file of this server, and what is wrong now."""

        def transform_first_chunk(self, status_code: int, headers: Any, chunk: bytes, finishing: bool) -> Any:  # noqa: ARG002, FBT001 - as tornado calls it
            if "html" in headers.get("Content-Type", ""):
                added = chunk.replace(_HEAD_END, _SCRIPT + _HEAD_END, 1)
                if trouble.text:
                    words = escape(trouble.text, quote=False)
                    notice = f'<p class="notice" role="alert">Not rebuilt, this is the last good site. {words}</p>'
                    added = added.replace(_MAIN, notice.encode() + _MAIN, 1)
                if "Content-Length" in headers:
                    headers["Content-Length"] = str(int(headers["Content-Length"]) + len(added) - len(chunk))
                chunk = added
            return status_code, headers, chunk

    return Injector


def check_port(port: int) -> None:
    """Raise `ConfigError` for a port that nobody can listen on, before anything is built."""
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
    trouble = Trouble()
    handlers: list[Any] = [
        (r"/livereload", _ReloadHandler),
        (r"/livereload.js", _ScriptHandler),
        (r"/(.*)", _FileHandler, {"path": str(config.output), "default_filename": "index.html"}),
    ]
    loop = IOLoop.current()
    try:
        server = web.Application(handlers=handlers, transforms=[_injector(trouble)]).listen(port, address=HOST)
    except OSError as error:
        raise _taken(port, error) from error
    stop = threading.Event()
    follower = Follower(config, rebuild=rebuild, settle=settle, trouble=trouble, warn=warn, loop=loop, stop=stop)
    follower.start()
    say(f"serving http://{HOST}:{port}/  (Ctrl-C ends it)")
    try:
        loop.start()
    finally:
        stop.set()
        server.stop()
        follower.join()


class Follower(threading.Thread):
    """Rebuilds after each change, and has the browsers reload; whatever is wrong is said, and the server goes on."""

    def __init__(
        self,
        config: Config,
        *,
        rebuild: Rebuild,
        settle: Settle,
        trouble: Trouble,
        warn: Say,
        loop: IOLoop,
        stop: threading.Event,
    ) -> None:
        """Follow from this configuration on; until `stop` is set once it has been started."""
        super().__init__(name="rebuild")
        self._config = config
        self._rebuild = rebuild
        self._settle = settle
        self._trouble = trouble
        self._warn = warn
        self._loop = loop
        self._stop_event = stop
        self._is_shown = False

    def run(self) -> None:
        """Follow every change."""
        for _ in each_change(lambda: self._config, self._stop_event):
            if not self.follow():
                self.follow()  # once: what is never whole is not built for ever

    def follow(self) -> bool:
        """Rebuild, have browsers reload, and settle; whether the site is whole then, as far as is known."""
        while self._is_busy():
            self._stop_event.wait(_BUSY_SECONDS)
        return self._stop_event.is_set() or self._try(self._settle) is not False

    def _is_busy(self) -> bool:
        """Rebuild; whether that has to wait, since somebody else is building."""
        self._is_shown = False
        try:
            rebuilt = self._try(lambda: self._rebuild(self._stop_event, self._show))
        except BusyError:
            return not self._stop_event.is_set()
        if rebuilt is not None:
            self._config = rebuilt.config
        if rebuilt is None or self._trouble.text or (rebuilt.is_new and not self._is_shown):
            self._show(self._trouble.text if rebuilt is None else "")
        return False

    def _show(self, trouble: str = "") -> None:
        """Have browsers reload, and say on each page what is wrong."""
        self._trouble.text = trouble
        self._is_shown = True
        if not self._stop_event.is_set():
            self._loop.add_callback(_reload)

    def _try(self, step: Callable[[], T]) -> T | None:
        """Do a step; whatever goes wrong is said, and the next change is followed all the same."""
        try:
            return step()
        except BusyError:
            raise
        except MemositeError as error:
            self._tell(str(error))
        except Exception as error:  # a fault of the program, or a process that ended for want of memory
            self._tell(f"{type(error).__name__}: {error}")
        return None

    def _tell(self, text: str) -> None:
        if not self._stop_event.is_set():
            self._trouble.text = text
            self._warn(text)


def _reload() -> None:
    for browser in tuple(LiveReloadHandler.waiters):
        browser.send_message({"command": "reload", "path": "*", "liveCSS": True, "liveImg": True})
