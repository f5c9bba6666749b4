"""Opens Chromium as the system has it, driven by Playwright, and asks axe what it finds on a page."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.files import ROOT

TOOLS = ROOT / "tests/browser/node_modules"
COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of axe that a theme has a say in."""


@contextmanager
def open_chromium() -> Iterator[Browser]:
    """A headless browser, which is closed with the block."""
    programs = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, programs)), None)
    assert chromium, "there is no Chromium: run scripts/set-up dev"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        yield browser
        browser.close()


@cache
def _axe() -> str:
    return (TOOLS / "axe-core/axe.min.js").read_text(encoding="utf-8")


def violations(page: Page, *, only: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    """What axe finds, as address, rule and element: by all rules, and the one of WCAG 2.2 that is off by default."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_axe())
    rules = {"target-size": {"enabled": True}}
    options: dict[str, object] = {"preload": False, "resultTypes": ["violations"]}
    options |= {"runOnly": list(only)} if only else {"rules": rules}
    found = page.evaluate(f"axe.run({json.dumps(options)}).then((result) => result.violations)")
    return [(page.url, rule["id"], node["html"]) for rule in found for node in rule["nodes"]]


def check_html(*paths: Path) -> str:
    """What the Nu Html Checker says of pages and of folders with pages; what it misreads of policies is a warning."""
    jar = str(TOOLS / "vnu-jar/build/dist/vnu.jar")
    options = ("-Xss16m", "-XX:TieredStopAtLevel=1")  # it recurses; it does not run for long enough to be optimised
    command = ["java", *options, "-jar", jar, "--errors-only", "--skip-non-html", "--format", "gnu"]
    checked = subprocess.run([*command, *map(str, paths)], capture_output=True, text=True, timeout=600, check=False)
    assert checked.returncode == 0 or checked.stderr, "it did not run"
    return checked.stderr


def below(base: str, address: str) -> str:
    """An address of an item where the site is; from disk, a folder needs the name of its file."""
    found = re.search("transcripts/|memos/", address)
    folder, mark, anchor = (address[found.start() :] if found else "").partition("#")
    file = f"{folder}index.html" if base.startswith("file:") and folder.endswith("/") else folder
    return f"{base}{file}{mark}{anchor}"
