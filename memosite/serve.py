"""[I/O] Serves a site on this machine, rebuilds it when a source changes, and reloads the browser (livereload).

The script that reloads is a file, not inline, so that pages keep their strict content security policy. A build
that fails is told in the terminal; the last good site stays up.
"""

import logging
import socket
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from livereload.handlers import LiveReloadHandler, LiveReloadJSHandler
from livereload.server import LiveScriptInjector, Server, StaticFileHandler
from tornado import web

from memosite.config import CONFIG_NAME, Config
from memosite.errors import ConfigError

HOST = "127.0.0.1"


class _ScriptInjector(LiveScriptInjector):  # type: ignore[misc] # livereload ships no types
    """Adds the reload script to each HTML page, as a file of this server."""

    script = b'<script src="/livereload.js" defer></script>'


class _ReloadHandler(LiveReloadHandler):  # type: ignore[misc]
    """Takes connections from this server's own pages only."""

    def check_origin(self, origin: str) -> bool:
        """Whether the page that connects came from here."""
        return bool(urlsplit(origin).netloc == self.request.headers.get("Host"))


class _FileHandler(StaticFileHandler):  # type: ignore[misc]
    """The files of the site; the site's own 404 page for all others."""

    def write_error(self, status_code: int, **details: Any) -> None:
        """Answer with the site's page for what is not there."""
        page = Path(self.root, "404.html")
        if status_code == HTTPStatus.NOT_FOUND and page.is_file():
            self.finish(page.read_bytes())
        else:
            super().write_error(status_code, **details)


class _SiteServer(Server):  # type: ignore[misc]
    """A livereload server whose pages load the reload script from a file."""

    def application(self, port: int, host: str, **_: Any) -> None:
        """Listen, with the handlers of livereload and the files of the site."""
        LiveReloadHandler.watcher = self.watcher
        LiveReloadHandler.live_css = True
        LiveReloadHandler.DEFAULT_RELOAD_TIME = 0
        handlers: list[Any] = [
            (r"/livereload", _ReloadHandler),
            (r"/livereload.js", LiveReloadJSHandler),
            (r"/(.*)", _FileHandler, {"path": self.root, "default_filename": "index.html"}),
        ]
        web.Application(handlers=handlers, transforms=[_ScriptInjector]).listen(port, address=host)


def check_port(port: int) -> None:
    """Raise `ConfigError` for a port that nobody can listen on, before anything is built."""
    if not 0 < port < 65_536:
        raise ConfigError(f"--port {port}: found {port}, expected 1 to 65535")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise ConfigError(f"--port {port}: cannot listen there ({error.strerror}); choose another port") from error


def serve(config: Config, *, port: int, rebuild: Callable[[], None], announce: Callable[[str], None]) -> None:
    """Serve the built site until interrupted; call `rebuild` when a source or the configuration changes.

    Raises `ConfigError` if the port is taken.
    """
    server = _SiteServer()

    def is_ours(path: str) -> bool:
        return any(Path(path).is_relative_to(folder) for folder in (config.output, config.cache))

    roots = [source.root for source in config.sources if source.root is not None]
    for folder in (*roots, *((config.theme,) if config.theme else ())):
        server.watch(str(folder), rebuild, ignore=is_ours)
    if config.file is not None:
        server.watch(str(config.site / CONFIG_NAME), rebuild)
    server._setup_logging = lambda: logging.getLogger("livereload").setLevel(logging.ERROR)
    logging.getLogger("tornado").setLevel(logging.ERROR)
    announce(f"serving http://{HOST}:{port}/  (Ctrl-C ends it)")
    try:
        server.serve(port=port, host=HOST, root=str(config.output))
    except OSError as error:
        raise ConfigError(f"--port {port}: cannot listen there ({error.strerror}); choose another port") from error
