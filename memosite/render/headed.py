"""Prepares the HTML of a text that is shown below its title: a heading that says the same is not seen again."""

import re
from html import unescape
from typing import Final

from markupsafe import Markup

from memosite.render.environment import safe

_HEADING: Final = re.compile(
    r'<h(?P<level>[1-6]) id="(?P<anchor>[^"]*)">(?P<words>[^\n]*?) <a class="anchor"[^>]*>#</a></h(?P=level)>\n'
)
_FIELD: Final = r"(?:<strong>)?[^\W\d_][\w -]{0,30}:[^\n]*"
_FIELDS: Final = re.compile(rf"<p[^>]*>{_FIELD}(?:\n{_FIELD})+</p>\n")
_TAG: Final = re.compile(r"<[^>]*>")


def headed(html: Markup, title: str) -> Markup:
    """The HTML of a text below a title: a first heading of the same words is unseen, and keeps its anchor.

    After a first heading, or without one at the top, lines that are all fields (`Status: accepted`) stay lines.
    """
    text = str(html)
    found = _HEADING.match(text)
    head, rest = (found[0], text[found.end() :]) if found else ("", text)
    if found and _plain(found["words"]) == " ".join(title.split()):
        head = f'<h{found["level"]} class="unseen" id="{found["anchor"]}">{found["words"]}</h{found["level"]}>\n'
    if fields := _FIELDS.match(rest):
        rest = fields[0].rstrip().replace("\n", "<br>\n") + "\n" + rest[fields.end() :]
    return safe(head + rest)


def _plain(html: str) -> str:
    return " ".join(unescape(_TAG.sub("", html)).split())
