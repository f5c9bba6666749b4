"""What `scripts/messages` collects: all texts of memosite that can be translated."""

import runpy
from typing import Any

from tests.support.files import ROOT

_SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "scripts/messages"))

messages = _SCRIPT["messages"]
"""All texts with their plurals, and the files that have them."""

updated = _SCRIPT["updated"]
"""A catalogue as `scripts/messages` would write it."""


def marked_catalogue(before: str, after: str) -> str:
    """A language that has each text between two marks: what has none on a page was not translated."""
    known = {}
    for key, many in messages():
        one = key.rpartition("\x04")[2]
        known[key] = (f"{before}{one}{after}", f"{before}{many}{after}")[: 2 if many else 1]
    head = 'msgid ""\nmsgstr ""\n"Plural-Forms: nplurals=2; plural=n != 1;\\n"\n'
    made: str = _SCRIPT["catalogue"](messages(), known | {"1,234": ("1,234",)}, head)
    return made
