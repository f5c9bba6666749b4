"""[I/O] The browsers that show a site which is served: which page each shows, and when it has to reload it.

build ─► a page is written ─► who shows it reloads ─► all are written ─► all others reload
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
    """The path of the output that this server shows at an address of it."""
    path = unquote(urlsplit(url).path).removeprefix("/")
    return f"{path}index.html" if path == "" or path.endswith("/") else path


class Browsers(Listener):
    """The browsers that show the site: told to reload in rounds, from the thread that builds, each once a round.

    A page may be on its way to a browser while it is written again: who connects with a page that was sent before is
    told then. `trouble` is what went wrong with the last build, which every page says; "" if nothing did.
    """

    def __init__(self, loop: IOLoop, stop: threading.Event) -> None:
        """Begin without trouble. Nobody is told anything once `stop` is set: the loop has ended."""
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
        """Who looks at this page sees what is new without waiting for all others."""
        if path.endswith(".html") and not self.trouble:
            self._later(self._reload_page, path)

    def all_written(self) -> None:
        """All other pages are reloaded, whatever is new."""
        self.tell("")

    def tell(self, trouble: str) -> None:
        """What is wrong now; all pages that do not show it are reloaded."""
        self.is_round_told = True
        if trouble:
            self._later(self._written.clear)
        self.trouble = trouble
        self._later(self._reload_others)

    def sent(self, page: str, step: int) -> None:
        """A page, or the one that says that it is not there, was asked for at this step, in the loop."""
        if len(self._sent) > _MOST_PAGES:
            self._sent.clear()
        self._sent[page] = step

    def connected(self, browser: LiveReloadHandler) -> None:
        """A browser tells, in the loop, which page it shows; it reloads if that is no longer the one that is there."""
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
