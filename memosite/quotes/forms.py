"""Writes citations as HTML, BibTeX and CSL-JSON (SPEC 7, citations); as a line and as Markdown see `archive.cite`.

A citation is written with all of its fields, so that `verify` can read it back, in places that other programs keep:
what BibTeX and CSL have no field for is in `note` and in `abstract`, which holds the quote.
"""

import json
from html import escape
from typing import Final

from memosite.archive.cite import Citation
from memosite.facts.patterns import regex

TEX: Final = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "-": r"{-}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip
"""How TeX writes characters that mean something to it, or that it sets as others (two hyphens as a dash)."""


BRACES: Final = {"{": r"\textbraceleft{}", "}": r"\textbraceright{}"}
"""How it writes those that are not in pairs: BibTeX counts braces also behind a backslash."""


_NOT_IN_KEY = regex(r"[^A-Za-z0-9:/.+-]+")


_DATE = regex(r"(\d{4})-(\d\d)-(\d\d)")


_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"


def to_html(citation: Citation) -> str:
    """The citation as HTML: a block quote with its source below it, in a figure."""
    quote = f'<blockquote cite="{escape(citation.url)}"><p>{_html(citation.quote)}</p></blockquote>\n'
    link = f'<a href="{escape(citation.url)}">{_html(citation.title)}</a>'
    when = f'<time datetime="{escape(citation.time)}">{_html(citation.time)}</time>' if citation.time else ""
    check = f"<code>{_html(citation.check)}</code>"
    parts = [_html(citation.speaker), link, f"<code>{_html(citation.ref)}</code>", when, check]
    line = f"<figcaption>— {', '.join(filter(None, parts))}</figcaption>"
    return f'<figure class="citation">\n{quote if citation.quote else ""}{line}\n</figure>\n'


def to_bibtex(citation: Citation) -> str:
    """The citation as an entry of BibTeX, for BibTeX, biber and Pandoc."""
    date = _DATE.match(citation.time)
    fields = {
        "author": f"{{{_tex(citation.speaker)}}}" if citation.speaker else "",
        "title": f"{{{_tex(citation.title)}}}",
        "year": date[1] if date else "",
        "month": _MONTHS.split()[int(date[2]) - 1] if date and 1 <= int(date[2]) <= 12 else "",
        "url": citation.url.replace("\\", "%5C").replace("{", "%7B").replace("}", "%7D"),
        "note": _tex(_note(citation)),
        "abstract": _tex(citation.quote),
    }
    rows = [f"  {name} = {{{value}}}" for name, value in fields.items() if value and name != "month"]
    rows += [f"  month = {fields['month']}"] if fields["month"] else []
    return f"@misc{{{_key(citation)},\n" + ",\n".join(rows) + "\n}\n"


def to_csl_json(citation: Citation) -> str:
    """The citation as CSL-JSON, a list of one item, for Pandoc, Zotero and citeproc."""
    date = _DATE.match(citation.time)
    item: dict[str, object] = {"id": _key(citation), "type": "document", "title": _line(citation.title)}
    if citation.speaker:
        item["author"] = [{"literal": _line(citation.speaker)}]
    if date:
        item["issued"] = {"date-parts": [[int(part) for part in date.groups()]]}
    item["URL"] = citation.url
    item["note"] = _note(citation)
    if citation.quote:
        item["abstract"] = _line(citation.quote)
    return json.dumps([item], ensure_ascii=False, indent=2) + "\n"


def _note(citation: Citation) -> str:
    """What has no field elsewhere, in the form that `read_bibtex` and `read_csl_json` read."""
    return ", ".join(filter(None, (citation.ref, citation.time, citation.check)))


def _key(citation: Citation) -> str:
    return f"{_NOT_IN_KEY.sub('-', citation.ref).strip('-')}:{citation.sha256[:8]}"


def _tex(text: str) -> str:
    line, open_ = _line(text), 0
    for char in line:
        open_ += (char == "{") - (char == "}") if open_ >= 0 else 0
    written = TEX | BRACES if open_ else TEX
    return "".join(written.get(char, char) for char in line)


def _html(text: str) -> str:
    return escape(_line(text), quote=False)


def _line(text: str) -> str:
    return " ".join(text.split())
