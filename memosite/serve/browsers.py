"""[I/O] Keeps track of the browsers that show the served site: which page each shows, and when it has to reload.

build ─► a page is written ─► browsers that show it reload ─► all are written ─► all others reload
"""

import threading
from collections.abc import Callable, Iterable
from itertools import count
from urllib.parse import unquote, urlsplit

from livereload.handlers import LiveReloadHandler
from tornado.ioloop import IOLoop

from memosite.remake.listener import Listener

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
        _reload(one for one in LiveReloadHandler.waiters if one.page == path)

    def _reload_others(self) -> None:
        self._all_written = next(self.steps)
        _reload(one for one in LiveReloadHandler.waiters if one.page not in self._written)


def _reload(browsers: Iterable[LiveReloadHandler]) -> None:
    for browser in tuple(browsers):
        browser.send_message({"command": "reload", "path": "*", "liveCSS": True, "liveImg": True})
