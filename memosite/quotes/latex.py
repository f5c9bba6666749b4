"""Reads LaTeX as Markdown of the same lines, and that into blocks."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from memosite.facts.parsed import Written
from memosite.quotes.blocks import CLOSE, NOT_READ, OPEN, OTHER, Block, TextBlocks
from memosite.quotes.forms import TEX

_LETTERS: Final = {command: char for char, command in TEX.items()}


_COMMAND = re.compile("|".join(re.escape(command) for command in sorted(_LETTERS, key=len, reverse=True)) + r"|[{}]")


_TEX_TOKEN: Final = re.compile(
    r"(?P<comment>%[^\n]*)|(?P<env>\\(?P<edge>begin|end)\s*\{(?P<named>[\w*]{1,40})\})"
    r"|\\(?:[a-z]*cite[a-z]*)\*?\s*(?:\[[^\[\]]{0,300}\]\s*){0,2}\{(?P<keys>[^{}\\]{1,2000})\}"
    r"|\\href\s*\{(?P<href>[^{}]{1,2000})\}\s*\{|\\url\s*\{(?P<url>[^{}]{1,2000})\}"
    r"|\\(?P<accent>[\"'`^~=.])\{?(?P<letter>[A-Za-z])\}?|(?P<symbol>\\text[a-z]{3,20}\{\})"
    r"|\\(?P<command>[A-Za-z@]+)\*?(?:\[[^\[\]\n]{0,300}\])?(?P<group>\s?\{)?[ \t]?|\\(?P<escape>.)"
    r"|(?P<open>``)|(?P<close>'')|(?P<single>`)|(?P<begin>\{)|(?P<stop>\})|(?P<tie>~)"
)


_TEX_AROUND: Final = {
    "emph": "*", "textit": "*", "textsl": "*", "texttt": "`", "textbf": "**", "textsc": "", "textrm": "", "textup": "",
    "text": "", "mbox": "", "section": "", "subsection": "", "subsubsection": "", "paragraph": "", "chapter": "",
    "part": "", "title": "", "author": "", "date": "", "caption": "", "item": "",
    "par": "", "noindent": "", "tightlist": "",
    "maketitle": "", "centering": "", "toprule": "", "midrule": "", "bottomrule": "", "endhead": "", "hline": "",
    "bigskip": "", "medskip": "", "smallskip": "", "newpage": "", "usepackage": "", "documentclass": "", "label": "",
    "bibliography": "", "bibliographystyle": "", "addbibresource": "", "printbibliography": "", "hypertarget": "",
}  # fmt: skip
"""What stands around the words of a command in Markdown; other commands may hide words or show others."""


_TEX_CHARS: Final = {
    "ldots": "…", "dots": "…", "textellipsis": "…", "ss": "ß", "ae": "æ", "oe": "œ", "o": "ø", "aa": "å", "l": "ł",
    "quad": " ", "textemdash": "—", "textendash": "–", "textquoteright": "’", "textquoteleft": "‘",
    "textquotedblleft": "“", "textquotedblright": "”",
}  # fmt: skip


_TEX_ACCENTS: Final = dict(zip("\"'`^~=.", "\u0308\u0301\u0300\u0302\u0303\u0304\u0307", strict=True))


_TEX_QUOTES: Final = frozenset({"quote", "quotation", "displayquote", "verse"})


_TEX_CODE: Final = re.compile(
    r"\\begin\{(verbatim|lstlisting|comment|minted)\}.*?(?:\\end\{\1\}|\Z)|\\iffalse\b.*?(?:\\fi\b|\Z)", re.DOTALL
)


_TEX_KEY: Final = re.compile(
    r"((?:memo|note|transcript|library|record|document)/.+?)(?:-(t[1-9]\d*(?:-t[1-9]\d*)?|(?:[pct]-)[0-9a-f]{8}(?:-\d+)?))?"
    r":([0-9a-f]{8})"
)


_BIBLIOGRAPHY: Final = re.compile(r"\\(?:bibliography|addbibresource)\s*(?:\[[^\[\]]{0,200}\])?\{([^{}]{1,1000})\}")


def bibliographies(text: str) -> list[str]:
    """The files of entries that a LaTeX document names."""
    names = [name.strip() for match in _BIBLIOGRAPHY.finditer(text) for name in match[1].split(",")]
    return [name if name.endswith(".bib") else f"{name}.bib" for name in names if name]


def tex_blocks(text: str, entries: Mapping[str, Written] | None = None) -> Iterator[Block]:
    """The blocks of a LaTeX document; `entries` of BibTeX stand for what it cites."""
    for block in TextBlocks(is_markdown=True).read(_from_tex(text, entries or {})):
        why = "a command of LaTeX in it may hide words or show others" if NOT_READ in block.text else ""
        yield replace(block, unread=why)


def _from_tex(text: str, entries: Mapping[str, Written]) -> str:
    """LaTeX as Markdown, line by line."""
    text = _TEX_CODE.sub(lambda match: "\n" * match[0].count("\n"), text)
    pieces: list[str] = []
    closing: list[str] = []  # what is written where a group ends
    done = 0
    for match in _TEX_TOKEN.finditer(text):
        pieces.append(text[done : match.start()])
        done = match.end()
        pieces.append(_of_token(match, closing, entries) + "\n" * match[0].count("\n"))
    return "".join((*pieces, text[done:]))


def _of_token(match: re.Match[str], closing: list[str], entries: Mapping[str, Written]) -> str:
    kind = match.lastgroup
    if match["env"]:
        tag = "blockquote" if match["named"] in _TEX_QUOTES else ""
        return f"<{'/' * (match['edge'] == 'end')}{tag}>" if tag else ""
    if match["keys"]:
        return "".join(f" ({_of_key(key.strip(), entries)})" for key in match["keys"].split(","))
    if match["href"]:
        closing.append(f"](<{untex(match['href'])}>)")
        return "["
    if match["url"]:
        return f"<{untex(match['url'])}>"
    if match["accent"]:
        return match["letter"] + _TEX_ACCENTS[match["accent"]]
    if match["command"]:
        return _of_command(match, closing)
    if match["symbol"] or match["escape"]:
        known = _LETTERS.get(match[0], match["escape"] or "")
        return "" if match["escape"] == "/" else " " if match["escape"] in tuple("\\,;: \n") else known
    if kind == "begin":
        closing.append("")
    if kind == "stop":
        return closing.pop() if closing else ""
    return {"open": "“", "close": "”", "single": "‘", "tie": " "}.get(kind or "", "")


def _of_command(match: re.Match[str], closing: list[str]) -> str:
    name, opens = match["command"], bool(match["group"])
    if name in _TEX_CHARS:
        if opens:
            closing.append("")
        return _TEX_CHARS[name]
    around, end = (_TEX_AROUND.get(name, NOT_READ),) * 2
    if name in ("enquote", "textquote"):
        around, end = OPEN, CLOSE
    elif name == "footnote":
        around, end = " (", ")"
    if opens:
        closing.append(end)
    return around


def _of_key(key: str, entries: Mapping[str, Written]) -> str:
    """What an entry cites, as it stands in a text; without the entry, what its name says."""
    if entry := entries.get(key):
        commit = f", commit {entry.commit}" if entry.commit else ""
        return f"{entry.ref}, sha256:{entry.sha256}{commit}"
    if named := _TEX_KEY.fullmatch(key):
        return f"{named[1]}{'#' if named[2] else ''}{named[2] or ''}, sha256:{named[3]}"
    return OTHER


def untex(text: str) -> str:
    """The text of a value of TeX, on one line."""
    return " ".join(_COMMAND.sub(lambda match: _LETTERS.get(match[0], ""), text).split())
