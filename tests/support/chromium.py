"""A page of a headless Chromium that is asked by expressions of JavaScript; what it says and asks for is kept."""

import contextlib
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Error, Page

from tests.support.browsers import open_chromium
from tests.support.waiting import DEADLINE, wait_until


class Browser:
    """One page of a running browser. Messages of its console, and requests that it made, are kept."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._session = page.context.new_cdp_session(page)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command of the DevTools protocol, and give its answer."""
        answer: dict[str, Any] = self._session.send(method, parameters)
        return answer

    def open(self, address: str) -> None:
        """Go to an address and wait until its page is there."""
        self._page.goto(address)

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript is worth on the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def go(self, steps: int) -> None:
        """Go back (-1) or forward (1). The answer must come before the page that gives it is left."""
        self.value(f"void setTimeout(() => history.go({steps}))")

    def wait_for(self, expression: str) -> Any:
        """Wait until an expression is true on the page, and give its value."""
        try:
            return wait_until(lambda: self._value_if_any(expression))
        except AssertionError as error:
            shown = self.value("document.body.innerText")
            raise AssertionError(f"never came: {expression}; {shown}; {self.complaints}") from error

    def _value_if_any(self, expression: str) -> Any:
        with contextlib.suppress(AssertionError, Error):  # while a page is left for another, nothing can be asked
            return self.value(expression)
        return None

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self._page.keyboard.insert_text(text)

    def press(self, key: str) -> None:
        """Press and release a key."""
        self._page.keyboard.press(key)


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Run Chromium, with one page."""
    with open_chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(DEADLINE * 1000)
        yield Browser(page)
