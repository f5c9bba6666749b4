r"""Reads LaTeX into the blocks that quotations are looked for in, without running it; never raises on any text.

It knows the commands that it lists, and no more. What it does not know may hide words, show others, or give another
meaning to what follows, so nothing is checked from there to the end of its group or environment; where it may define
something, to the end of the document.

    text ─► spans that are still to be read, the next on top (`_Reader.todo`) ─► tokens ─► rows ─► blocks

A span may lie before what was read last: the text of an argument is read where it is shown.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from memosite.facts.parsed import Written
from memosite.facts.patterns import regex
from memosite.facts.values import Struct, field, replace
from memosite.quotes.blocks import CLOSE, NOT_READ, OPEN, OTHER, Block, block_of
from memosite.quotes.forms import BRACES, TEX


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TOKEN: Final = regex(
    r"(?P<comment>%[^\n]*(?:\n[ \t]*|\Z))|(?P<break>\n[ \t]*(?:\n[ \t]*)+)"
    r"|\\(?P<command>[A-Za-z]+)(?P<star>\*?)(?:[ \t]*\n(?![ \t]*\n)[ \t]*|[ \t]*)|\\(?P<escape>[^A-Za-z]|\Z)"
    r"|(?P<display>\$\$?)|(?P<sign>``|''|,,|<<|>>|\"[`']|[`~])|(?P<active>\"(?=[A-Za-z<>]))"
    r"|(?P<begin>\{)|(?P<stop>\})|(?P<cell>&)|(?P<odd>[#^_\0])"
)


_SIGNS: Final = {"``": "“", "''": "”", ",,": "„", "<<": "«", ">>": "»", '"`': "„", "\"'": "“", "`": "‘", "~": " "}


_CHARS: Final = {
    **{text[1:-2]: char for char, text in (*TEX.items(), *BRACES.items()) if text.startswith("\\text")}, "ldots": "…",
    "dots": "…", "textellipsis": "…", "ss": "ß", "ae": "æ", "oe": "œ", "o": "ø", "aa": "å", "l": "ł", "AE": "Æ",
    "OE": "Œ", "O": "Ø", "AA": "Å", "L": "Ł", "i": "ı", "S": "§", "P": "¶", "quad": " ", "qquad": " ", "space": " ",
    "textemdash": "—", "textendash": "–", "lq": "‘", "rq": "’", "textquoteright": "’", "textquoteleft": "‘",
    "textquotedblleft": "“", "textquotedblright": "”", "dq": '"', "slash": "/", "textquotedbl": '"',
    "textquotesingle": "'", "quotedblbase": "„", "quotesinglbase": "‚", "glqq": "„", "grqq": "“", "glq": "‚",
    "grq": "‘", "flqq": "«", "frqq": "»", "flq": "‹", "frq": "›", "guillemotleft": "«", "guillemotright": "»",
    "guillemetleft": "«", "guillemetright": "»", "guilsinglleft": "‹", "guilsinglright": "›", "og": "«", "fg": "»",
    "LaTeX": "LaTeX", "TeX": "TeX", "textbar": "|", "textbullet": "•", "textdegree": "°", "textasteriskcentered": "*",
    "euro": "€", "texteuro": "€", "copyright": "©", "textsection": "§", "textperiodcentered": "·",
    "nobreakspace": " ", "textunderscore": "_", "textdollar": "$", "textcopyright": "©", "pounds": "£",
    "textsterling": "£", "textless": "<", "textgreater": ">", "newline": " ", "linebreak": " ",
}  # fmt: skip


_ACCENTS: Final = dict(
    zip(
        "\"'`^~=.uvHcdbrk",
        "\u0308\u0301\u0300\u0302\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0323\u0331\u030a\u0328",
        strict=True,
    )
)


_QUIET: Final = _words(
    "noindent indent tightlist maketitle centering raggedright toprule midrule bottomrule endhead endfirsthead "
    "endfoot endlastfoot hline bigskip medskip smallskip newpage clearpage cleardoublepage pagebreak nopagebreak "
    "printbibliography tableofcontents appendix frontmatter mainmatter backmatter small footnotesize normalsize large "
    "Large LARGE huge Huge rmfamily sffamily upshape mdseries normalfont rm sf selectfont frenchspacing "
    "nonfrenchspacing sloppy fussy hfill vfill leavevmode relax strut null singlespacing onehalfspacing doublespacing "
    "flushbottom raggedbottom listoftables listoffigures nobreak allowbreak break protect and scshape sc"
)
"""Commands without words that move and hide none."""


_STRESS: Final = {
    "emph": False,
    "textit": False,
    "textsl": False,
    "texttt": False,
    "textbf": True,
    "bf": True,
    "bfseries": True,
}
_STRESS_FROM_HERE: Final = frozenset({"em", "it", "itshape", "sl", "slshape", "tt", "ttfamily", "bf", "bfseries"})


_TEXT: Final = _words("textsc textrm textup text mbox textmd textsf textnormal underline uline")


_HEADINGS: Final = _words(
    "section subsection subsubsection paragraph subparagraph chapter part title author date caption subtitle "
    "dedication addchap addsec minisec"
)


_DROPPED: Final = {
    "label": 1, "documentclass": 1, "bibliography": 1, "bibliographystyle": 1, "addbibresource": 1, "index": 1,
    "pagestyle": 1, "thispagestyle": 1, "usepackage": 1, "RequirePackage": 1, "hypersetup": 1, "geometry": 1,
    "phantomsection": 0, "addcontentsline": 3, "pagenumbering": 1, "graphicspath": 1, "nocite": 1,
    "selectlanguage": 1, "setmainfont": 1, "setlength": 2, "addtolength": 2, "vspace": 1, "hspace": 1, "cmidrule": 1,
    "cline": 1, "hyphenation": 1, "glossary": 1, "urlstyle": 1, "theoremstyle": 1, "setdefaultlanguage": 1,
    "setmainlanguage": 1, "setotherlanguage": 1, "ExecuteBibliographyOptions": 1, "setcitestyle": 1, "cslsetup": 1,
    "hyphenpenalty": 0, "microtypesetup": 1,
}  # fmt: skip
"""Commands of which nothing is shown, with the number of their arguments."""


_WITH_OPTIONS: Final = _words("usepackage RequirePackage documentclass addbibresource setmainfont setdefaultlanguage")


_SIZED: Final = frozenset({"setlength", "addtolength", "vspace", "hspace"})


_SIZE: Final = regex(
    r"\d{0,2}(?:\.\d+)?\s*(?:pt|ex|mm|em|\\baselineskip)(?:\s+(?:plus|minus).{1,60})?|0|\\fill", re.DOTALL
)


_LENGTHS: Final = regex(r"\\(?:parindent|parskip|tabcolsep|headheight|emergencystretch|itemsep|LTpre|LTpost|topsep)")


_HIDING: Final = _words(
    "textcolor colorbox fcolorbox hl todo raisebox rotatebox scalebox resizebox ref pageref eqref cref Cref autoref "
    "nameref phantom hphantom vphantom ensuremath MakeUppercase MakeLowercase includegraphics rule footnotemark "
    "multirow reflectbox marginpar marginnote today num SI qty unit si makebox framebox fbox"
)
"""What concerns its own arguments only, and may hide words in them or show others."""


_NOTES: Final = frozenset({"footnote", "footnotetext", "endnote", "thanks", "sidenote"})


_CITES: Final = frozenset(
    f"{first}{name[1:]}{many}"
    for name in _words(
        "cite parencite footcite textcite autocite smartcite footcitetext citet citep citealt citealp supercite "
        "fullcite footfullcite citeauthor citeyear citeyearpar citetitle citedate citeurl notecite pnotecite fnotecite "
        "citenum"
    )
    for first in (name[0], name[0].upper())
    for many in ("", "s")
)


_COMMANDS: Final = {
    "enquote": "q", "enquote*": "q", "say": "q", "textquote": "oq", "blockquote": "oq", "foreignquote": "lq",
    "hyphenquote": "lq", "foreigntextquote": "loq", "hyphentextquote": "loq", "foreignblockquote": "loq",
    "hyphenblockquote": "loq", "textcquote": "koq", "blockcquote": "koq", "foreigntextcquote": "lkoq",
    "hyphentextcquote": "lkoq", "foreignblockcquote": "lkoq", "hyphenblockcquote": "lkoq", "epigraph": "q",
    "dictum": "oq", "foreignlanguage": "l", "multicolumn": "ll", "hypertarget": "l", "hyperlink": "l",
    "hyperref": "i",
}  # fmt: skip
"""The arguments of commands: `l` is not shown, nor `i` if it is there; `o` is text, `k` is keys, `q` is quoted."""


_QUOTES: Final = {
    "quote": "", "quotation": "", "verse": "", "displayquote": "o", "quoting": "i", "epigraphs": "",
    "foreigndisplayquote": "lo", "hyphendisplayquote": "lo", "displaycquote": "ko", "foreigndisplaycquote": "lko",
    "hyphendisplaycquote": "lko",
}  # fmt: skip


_SHOWN: Final = _words(
    "document abstract center flushleft flushright itemize enumerate description titlepage proof small footnotesize "
    "frontmatter sloppypar singlespace doublespace onehalfspace appendices threeparttable landscape"
)


_ENVIRONMENTS: Final = {
    **dict.fromkeys(_SHOWN, ""),
    "thebibliography": "l", "figure": "i", "table": "i", "figure*": "i", "table*": "i", "tabular": "il",
    "longtable": "il", "tabular*": "lil", "tabularx": "lil", "minipage": "il", "CSLReferences": "ll",
    "otherlanguage": "l", "otherlanguage*": "l", "spacing": "l", "multicols": "l",
}  # fmt: skip
"""Environments that show their text as it is, with their arguments, of which nothing is shown."""


_TABLES: Final = frozenset({"tabular", "tabular*", "tabularx", "longtable"})


_CODE: Final = frozenset(
    {"verbatim", "verbatim*", "lstlisting", "minted", "Verbatim", "filecontents", "filecontents*", "comment"}
)


_MATH: Final = _words(
    "equation equation* align align* gather gather* multline multline* displaymath math eqnarray eqnarray*"
)


_NOT_DEFINED: Final = _words(
    "arraystretch baselinestretch familydefault refname bibname contentsname figurename tablename"
)
"""What may be defined anew, since no words of a paragraph come from it."""


_DEFINING: Final = frozenset(
    {"newcommand", "renewcommand", "providecommand", "newtheorem", "newenvironment", "renewenvironment"}
)


_PACKAGES: Final = _words(
    "inputenc fontenc babel polyglossia csquotes biblatex natbib hyperref url geometry graphicx graphics amsmath "
    "amssymb amsfonts amsthm mathtools booktabs longtable array tabularx multirow multicol setspace parskip microtype "
    "lmodern textcomp xcolor color enumitem fontspec xunicode xltxtra quoting epigraph dirtytalk verbatim comment "
    "listings fancyvrb ulem soul caption subcaption float footnote footmisc endnotes fancyhdr titlesec titling "
    "appendix pdflscape lscape rotating tikz upquote bookmark cleveref varioref nameref xspace calc etoolbox iftex "
    "ifxetex ifluatex ifpdf mathptmx times helvet courier palatino newtxtext newtxmath libertine ebgaramond charter "
    "crimson tgpagella tgtermes kpfonts bera eurosym siunitx nicefrac lineno indentfirst ragged2e doi cite apacite "
    "chicago authblk abstract tocbibind tocloft threeparttable tabulary makecell marginnote todonotes"
)
"""Packages that give the listed commands no other meaning."""


_CLASSES: Final = _words(
    "article report book letter minimal memoir amsart amsbook scrartcl scrreprt scrbook scrlttr2 extarticle extreport "
    "proc IEEEtran acmart elsarticle llncs revtex4-2 tufte-book tufte-handout ltjsarticle apa7 apa6 paper"
)


_TEX_KEY: Final = regex(
    r"((?:memo|note|transcript|library|record|document)/.+?)(?:-(t[1-9]\d*(?:-t[1-9]\d*)?|(?:[pct]-)[0-9a-f]{8}(?:-\d+)?))?"
    r":([0-9a-f]{8})"
)


_BIBLIOGRAPHY: Final = regex(r"\\(?:bibliography|addbibresource)\s*(?:\[[^\[\]]{0,200}\])?\{([^{}]{1,1000})\}")


_LABEL: Final = regex(r"\\labelenumi{1,3}v?\s*\{\(?\\arabic\{enumi{1,3}v?\}[.)]?\}")
"""How Pandoc says that a list has numbers."""


_COUNTER: Final = regex(r"\{enumi{1,3}v?\}\{(\d{1,9})\}")


_PROVIDED: Final = regex(r"\{\\tightlist\}\{%?\s*\\setlength\{\\itemsep\}\{0pt\}\\setlength\{\\parskip\}\{0pt\}\}")


_LEAST_NAME: Final = regex(r"\*?\s*(?:\{\s*\\?([A-Za-z]+\*?)\s*\}|\\([A-Za-z]+))")


_SPACES: Final = regex(r"(?:[ \t]|\n(?![ \t]*\n)|%[^\n]*\n)*")


_BRACE: Final = regex(r"\\.|[{}\[\]]|%[^\n]*\n", re.DOTALL)


_ACCENTED: Final = regex(r"\s?(?:\{\s*(\\?[A-Za-z])\s*\}|(\\i\b|[A-Za-z]))")


_AROUND: Final = regex(r"\s*\(([^(){}\\]{0,300})\)(?:\(([^(){}\\]{0,300})\))?")


_PAGES: Final = regex(
    r"(?:(?:see|cf|vgl|siehe)\b[.\s~]*)?(?:(?:pp?|S|sec|ch|n|fn|vol|no|page|pages|Seite)\b[.\s~]*)?[\d\s,–-]{0,40}(?:ff?\b)?\.?",
    re.IGNORECASE,
)
"""The note of a citation that names pages, or says to see it."""


_NAMED: Final = regex(r"\s*\{([A-Za-z]{1,40}\*?)\}")


_UNSHOWN: Final = frozenset({"comment", "filecontents", "filecontents*"})


_MOST_FAILED: Final = 50
"""After so many arguments without an end, no further one is looked for: nothing is checked any more."""


_LONGEST: Final = 2_000
"""The most characters of an argument that is looked for as a whole."""


_EXACTLY: Final = regex(r"\{([^{}]{0,2000})\}")


_MATH_END: Final = regex(r"(?:[^$\\]|\\.){0,2000}?\$\$?", re.DOTALL)


_DEFINES: Final = regex(
    r"def|let|code|command|environment|input|include|if|else|fi\Z|csname|global|after|every|begin|end|active|make|declare"
    r"|new|write|token|output|lua|patch|use|char|set",
    re.IGNORECASE,
)
"""What may have an effect outside of its group."""


_LANGUAGES: Final = regex(r"\\(?:usepackage|RequirePackage|documentclass)\s*\[([^\[\]]{0,300})\]")


_SHORTHANDS: Final = regex(
    "german|austrian|dutch|danish|catalan|basque|spanish|portug|brazil|polish|czech|slovak|slovene|croatian|russian"
    "|ukrainian|bulgarian|swedish|norsk|nynorsk|finnish|italian|magyar"
)
"""Languages in which a straight mark before a letter may be another letter."""


_OTHER_BESIDE: Final = regex(OTHER + r"(?=[\s(),;]*(?:memo|note|transcript|library|record|document)/)")


_ITEMS: Final = regex(r"\\bibitem\s*(?:\[[^\[\]]{0,300}\])?\s*\{([^{}\[\]\s]{1,100})\}")


_KNOWN: Final = frozenset(
    {
        *_CHARS,
        *_QUIET,
        *_STRESS,
        *_STRESS_FROM_HERE,
        *_TEXT,
        *_HEADINGS,
        *_DROPPED,
        *_HIDING,
        *_NOTES,
        *_CITES,
        *_COMMANDS,
    }
    | {*_QUOTES, *_ENVIRONMENTS, *_CODE, *_MATH, *_DEFINING, *_ACCENTS}
    | {"begin", "end", "item", "bibitem", "href", "url", "nolinkurl", "par", "verb", "def", "setcounter", "sout", "st"}
    | {"textsuperscript", "textsubscript"}
)


_FRONT_BIBLIOGRAPHY: Final = regex(r"^[ \t]*(?:bibliography:|-)[^\n]{1,1000}$", re.MULTILINE)


_BIB_FILE: Final = regex(r"[\w./-]{1,300}\.bib\b")


_LONGEST_FRONT: Final = 20_000


def bibliographies(text: str) -> list[str]:
    """The files of entries that a LaTeX document names, or Markdown at its head."""
    if text.startswith("---"):
        return [name for row in _FRONT_BIBLIOGRAPHY.findall(text[:_LONGEST_FRONT]) for name in _BIB_FILE.findall(row)]
    names = [name.strip() for match in _BIBLIOGRAPHY.finditer(text) for name in match[1].split(",")]
    return [name if name.endswith(".bib") else f"{name}.bib" for name in names if name]


def cited_by(key: str, entries: Mapping[str, Written]) -> str:
    """What an entry of BibTeX cites, as it stands in a text; without the entry, what its name says; "" of others."""
    if entry := entries.get(key):
        commit = f", commit {entry.commit}" if entry.commit else ""
        return f"{entry.ref}, sha256:{entry.sha256}{commit}"
    named = _TEX_KEY.fullmatch(key)
    return f"{named[1]}{'#' if named[2] else ''}{named[2] or ''}, sha256:{named[3]}" if named else ""


def tex_blocks(text: str, entries: Mapping[str, Written] | None = None) -> Iterator[Block]:
    """The blocks of a LaTeX document, its footnotes behind them; `entries` of BibTeX stand for what it cites."""
    reader = _Reader(text, entries or {})
    reader.read()
    yield from reader.blocks
    if reader.notes and reader.blocks and reader.blocks[-1].is_quote:
        yield block_of([], is_quote=False)  # a footnote is not below that quote
    yield from reader.notes


_LETTERS: Final = {command: char for char, command in (*TEX.items(), *BRACES.items())}


_COMMAND: Final = regex("|".join(re.escape(command) for command in sorted(_LETTERS, key=len, reverse=True)) + r"|[{}]")


def untex(text: str) -> str:
    """The text of a value of TeX, on one line."""
    return " ".join(_COMMAND.sub(lambda match: _LETTERS.get(match[0], ""), text).split())


def unread_tex(text: str) -> str:
    """Why nobody knows what readers see of a text; "" if that is known."""
    return next((block.unread for block in tex_blocks(text) if block.unread), "")


_Piece: TypeAlias = tuple[int, int] | str | Callable[[], None]
"""What is still to be read: a span of the text, words, or what is done there."""


_Odd: TypeAlias = tuple[str, bool]
"""Why words are not read, and whether it is unknown, too, what of them is a quotation."""


class _Draft(Struct):
    """A block that is being read."""

    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    size: int = 0
    marked: list[tuple[int, int, bool]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    lead: str = ""
    odd: _Odd = ("", False)


class _Group(Struct):
    """A group or an environment that is open; `odd` is what holds around it, `marks` how much emphasis began in it."""

    name: str
    odd: _Odd
    closing: tuple[_Piece, ...] = ()
    marks: int = 0
    is_hiding: bool = False


class _Reader:
    """Reads spans of a text until none is left."""

    def __init__(self, text: str, entries: Mapping[str, Written]) -> None:
        self.text = text
        self.entries = entries
        self.items = {match[1] for match in _ITEMS.finditer(text)}
        self.has_shorthands = any(_SHORTHANDS.search(match[1]) for match in _LANGUAGES.finditer(text))
        self.breaks = [match.start() for match in re.finditer("\n", text)]
        self.blocks: list[Block] = []
        self.notes: list[Block] = []
        self.todo: list[_Piece] = [(0, len(text))]
        self.next: list[_Piece] = []  # what is read before the rest of a span
        self.at = self.end = 0
        self.draft = _Draft()
        self.frames: list[tuple[_Draft, list[tuple[int, bool]], int, str]] = []  # what is around a footnote
        self.groups: list[_Group] = []
        self.marks: list[tuple[int, bool]] = []  # where emphasis begins that is open
        self.odd: _Odd = ("", False)
        self.page: _Odd = ("", False)  # the same of a definition
        self.quotes = self.figures = self.tables = self.signs = 0
        self.failed = 0  # arguments without an end
        self.note = ""
        self.after = ""  # what is not known, and may be cited by what follows it
        self.lists: list[
            tuple[int, bool]
        ] = []  # the next number of each list, 0 if it has none; whether it is shown so

    def read(self) -> None:
        """Read all of it."""
        while self.todo:
            piece = self.todo.pop()
            if isinstance(piece, str):
                self._emit(piece)
            elif callable(piece):
                piece()
            else:
                start, self.end = piece
                match = _TOKEN.search(self.text, start, self.end)
                self._plain(start, match.start() if match else self.end)
                if match:
                    self.at = match.end()
                    self._token(match)
                    self.todo.append((self.at, self.end))
            self.todo.extend(reversed(self.next))
            self.next = []
        self._end_block()

    def _line(self) -> int:
        return bisect_left(self.breaks, self.at) + 1

    def _plain(self, start: int, end: int) -> None:
        self.at = start
        for number, row in enumerate(self.text[start:end].split("\n")):
            if number:
                self.at = self.breaks[bisect_left(self.breaks, self.at)] + 1
                self._new_row()
            self._emit(row)

    def _new_row(self) -> None:
        if self.draft.rows:
            self.draft.rows.append((self._line(), []))
            self.draft.size += 1

    def _emit(self, words: str) -> None:
        draft = self.draft
        if words == "\n":
            self._new_row()
            return
        if self.odd[0] and words.strip():
            draft.odd = (draft.odd[0] or self.odd[0], draft.odd[1] or self.odd[1])
        if not draft.rows:
            draft.rows.append((self._line(), []))
        draft.rows[-1][1].append(words)
        draft.size += len(words)

    def _last(self) -> str:
        return "".join(self.draft.rows[-1][1][-1:])[-1:] if self.draft.rows else ""

    @staticmethod
    def _told(what: str) -> str:
        return f"{what} of LaTeX may hide words or show others"

    def _unknown(self, what: str, *, is_defining: bool = False) -> None:
        """What is not known may change what follows, to the end of the group; a definition for good."""
        self.odd = (self._told(what), True)
        self._emit(NOT_READ)
        self.draft.odd = (self.draft.odd[0] or self.odd[0], True)
        if is_defining:
            self.page = self.odd

    def _hides(self, what: str, *, is_strange: bool = False) -> None:
        """Its words may be other ones for readers."""
        draft = self.draft
        draft.odd = (draft.odd[0] or self._told(what), draft.odd[1] or is_strange)
        self._emit(NOT_READ)

    def _end_block(self) -> None:
        draft, self.draft = self.draft, _Draft()
        for number, (start, is_strong) in enumerate(self.marks[-10:], max(len(self.marks) - 10, 0)):
            draft.marked.append((start, draft.size, is_strong))
            self.marks[number] = (0, is_strong)
        rows = [(line, _OTHER_BESIDE.sub(" ", "".join(pieces))) for line, pieces in draft.rows]
        if any(row.strip().strip(NOT_READ) for _, row in rows):
            odd = draft.odd if draft.odd[0] or not self.after else (self.after, True)
            self.after = ""
            is_one = len(draft.links) == 1 or sum(row.count("sha256:") for _, row in rows) == 1
            block = block_of(rows, is_quote=self.quotes > 0)
            (self.notes if self.frames else self.blocks).append(
                replace(
                    block,
                    links=tuple(dict.fromkeys(draft.links)) if is_one else (),
                    lead=draft.lead,
                    figure=self.figures if self.quotes else 0,
                    note=self.note,
                    marked=tuple(draft.marked),
                    unread=odd[0],
                    is_strange=odd[1],
                )
            )

    def _token(self, match: re.Match[str]) -> None:
        kind = match.lastgroup
        if match["command"]:
            self._command(match["command"], match["star"])
        elif kind == "break" or (kind == "comment" and self.text[self.at : self.at + 1] == "\n"):
            self._end_block()
        elif kind == "escape":
            self._escape(match["escape"])
        elif kind == "sign":
            self._emit(_SIGNS[match[0]])
        elif kind == "display":
            self._math(_MATH_END, "$")
        elif kind == "begin":
            self._open("")
        elif kind == "stop":
            self._close("")
        elif kind == "cell":
            self._emit(" ")
        elif kind == "active":
            if self.has_shorthands:
                self._hides('"')
            self._emit('"')
        elif kind == "odd":
            self._hides(match[0] if match[0] != "\0" else "NUL")
            self._emit(match[0])

    def _open(self, name: str, *closing: _Piece, is_hiding: bool = False) -> None:
        self.groups.append(_Group(name, self.odd, closing, is_hiding=is_hiding))

    def _close(self, name: str) -> None:
        if not self.groups or self.groups[-1].name != name:
            self._unknown(f"an end of {name or 'a group'} without its begin", is_defining=True)
            return
        group = self.groups.pop()
        for _ in range(group.marks):
            start, is_strong = self.marks.pop()
            self.draft.marked.append((start, self.draft.size, is_strong))
        self.odd = self.page if self.page[0] else group.odd
        self.next.extend(group.closing)
        if group.is_hiding and self._opens():
            self._open_hiding()

    def _stress(self, *, is_strong: bool) -> None:
        """Emphasis that begins here and ends with its group."""
        self.marks.append((self.draft.size, is_strong))
        if self.groups:
            self.groups[-1].marks += 1

    def _opens(self) -> bool:
        """Whether a group begins here, which is then open."""
        spaces = _SPACES.match(self.text, self.at, self.end)
        at = spaces.end() if spaces else self.at
        if at >= self.end or self.text[at] != "{":
            return False
        self.at = at + 1
        return True

    def _open_hiding(self) -> None:
        odd = self.draft.odd
        self._open("", is_hiding=True)
        self.odd = self.odd if self.odd[1] else (odd[0], odd[1])

    def _argument(self, opening: str = "{") -> tuple[int, int] | None:
        """What is in an argument that follows; None if there is none, or too long a one."""
        spaces = _SPACES.match(self.text, self.at, self.end)
        at = spaces.end() if spaces else self.at
        if at >= self.end or self.text[at] != opening or self.failed > _MOST_FAILED:
            return None
        depth = brackets = 0
        for match in _BRACE.finditer(self.text, at, min(at + _LONGEST, self.end)):
            depth += (match[0] == "{") - (match[0] == "}")
            brackets += 0 if depth else (match[0] == "[") - (match[0] == "]")
            if not depth and (match[0] == "}" if opening == "{" else match[0] == "]" and not brackets):
                self.at = match.end()
                return at + 1, match.start()
        self.failed += 1
        self._unknown(opening, is_defining=True)
        return None

    def _said(self, span: tuple[int, int] | None) -> str:
        return self.text[span[0] : span[1]].strip() if span else ""

    def _options(self, most: int = 9) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        while len(found) < most and (span := self._argument("[")):
            found.append(span)
        return found

    def _escape(self, char: str) -> None:
        if char == "\\":
            if self.text[self.at : self.at + 1] == "*":
                self.at += 1
            if self.text[self.at : self.at + 1] == "[":
                self._argument("[")
            self._end_block() if self.tables else self._emit("\n")
        elif char in "([":
            self._math(re.compile(re.escape("\\" + ")]"["([".index(char)])), "\\" + char)
        elif char in _ACCENTS:
            self._accent(char)
        elif char in "/-@!":
            return
        elif char in " ,;:>\n\t":
            self._emit(" ")
        elif char in "{}$&#_%":
            self._emit(char)
        else:
            self._unknown("\\" + char)

    def _accent(self, name: str) -> None:
        match = _ACCENTED.match(self.text, self.at, self.end)
        if match:
            self.at = match.end()
            self._emit((match[1] or match[2]).replace("\\i", "i") + _ACCENTS[name])
        else:
            self._hides(f"\\{name}")

    def _math(self, end: re.Pattern[str], named: str) -> None:
        """Mathematics are not read; what they define counts, and words with a command may be a quotation."""
        limit = min(self.at + _LONGEST, self.end)
        match = (end.match if end is _MATH_END else end.search)(self.text, self.at, limit)
        if match is None:
            self._unknown(named, is_defining=True)
            return
        said = self.text[self.at : match.start()] if end is not _MATH_END else match[0].rstrip("$")
        self.at = match.end()
        if any(_DEFINES.search(name) for name in re.findall(r"\\([A-Za-z]+)", said)):
            self._unknown(named, is_defining=True)
        self._hides(named, is_strange="\\" in said)
        self._emit(" ".join(said.split()))

    def _command(self, name: str, star: str) -> None:  # noqa: PLR0912, PLR0915 - one kind each
        if name in _CHARS:
            self._emit(_CHARS[name])
        elif name in _QUIET:
            return
        elif name in _STRESS_FROM_HERE:
            self._stress(is_strong=_STRESS.get(name, False))
        elif name in _STRESS:
            if self._opens():
                self._open("")
                self._stress(is_strong=_STRESS[name])
        elif name in _TEXT:
            return
        elif name in ("begin", "end"):
            self._environment(is_begin=name == "begin")
        elif name in _CITES:
            self._cite(is_many=name.endswith("s"))
        elif name in _COMMANDS:
            self._quoting(name)
        elif name in _NOTES:
            self._footnote(name)
        elif name in _HEADINGS:
            self._end_block()
            self.next += self._options(1)
            if self.next:
                self.next.append(self._end_block)
            if self._opens():
                self.next.append(lambda: self._open("", self._end_block))
        elif name in _DROPPED:
            self._dropped(name)
        elif name in _HIDING:
            self._hides(f"\\{name}", is_strange=name == "includegraphics")
            self._options()
            if self._opens():
                self._open_hiding()
        elif name in ("href", "url", "nolinkurl"):
            self._link(name)
        elif name == "item":
            self._item()
        elif name == "bibitem":
            self._end_block()
            self.next += self._options(1)
            self.note = self._said(self._argument())
        elif name in ("par", "newline", "linebreak"):
            self._end_block() if name == "par" else self._emit("\n")
        elif name in ("textsuperscript", "textsubscript"):
            if self._opens():
                is_between = self._last().isdigit() and self.text[self.at : self.at + 1].isdigit()
                self._emit(("^" if name == "textsuperscript" else "_") if is_between else "")
                self._open("")
        elif name in ("sout", "st"):
            self._emit("~~")
            if self._opens():
                self._open("", "~~")
        elif len(name) == 1 and name in _ACCENTS:
            self._accent(name)
        elif name in _DEFINING:
            self._definition(name)
        elif name == "def" and (match := _LABEL.match(self.text, self.at, self.end)) and self.lists:
            self.at = match.end()
            self.lists[-1] = (self.lists[-1][0], True)
        elif name == "setcounter" and (match := _COUNTER.match(self.text, self.at, self.end)) and self.lists:
            self.at = match.end()
            self.lists[-1] = (int(match[1]) + 1, self.lists[-1][1])
        elif name == "verb":
            self._verb()
        else:
            self._unknown(f"\\{name}{star}", is_defining=_DEFINES.search(name) is not None)

    def _verb(self) -> None:
        mark = self.text[self.at : self.at + 1] or " "
        end = self.text.find(mark, self.at + 1, min(self.at + _LONGEST, self.end))
        said = self.text[self.at + 1 : end] if end > 0 else "\n"
        if "\n" in said:
            self._unknown("\\verb", is_defining=True)
            return
        start = self.draft.size
        self._emit(said)
        self.draft.marked.append((start, self.draft.size, False))
        self.at = end + 1

    def _item(self) -> None:
        self._end_block()
        if labels := self._options(1):
            self.next += [*labels, " "]
        elif self.lists and self.lists[-1][0]:
            number, is_shown = self.lists[-1]
            if not is_shown:
                self._hides("the sign of an item")
            self._emit(f"{number}. ")
            self.lists[-1] = (number + 1, is_shown)

    def _link(self, name: str) -> None:
        match = _EXACTLY.match(self.text, self.at, self.end)
        if match is None:
            self._unknown(f"\\{name}")
            return
        self.at = match.end()
        url, draft = untex(match[1]), self.draft
        draft.lead = draft.lead if draft.links else "\n".join("".join(row) for _, row in draft.rows)
        draft.links.append(url)
        if name != "href":
            self._emit(url)

    def _dropped(self, name: str) -> None:
        if name in _WITH_OPTIONS:
            self._options(1)
        spans = [self._argument() for _ in range(_DROPPED[name])]
        if name in ("usepackage", "documentclass"):
            self._options(1)
        said = [self._said(span) for span in spans]
        names = {one.strip() for one in ",".join(said).split(",")}
        is_known = None not in spans
        if name in ("usepackage", "RequirePackage"):
            is_known = is_known and names <= _PACKAGES
        elif name == "documentclass":
            is_known = is_known and names <= _CLASSES
        elif name in _SIZED and said:
            is_known = is_known and _SIZE.fullmatch(said[-1]) is not None
            is_known = is_known and (len(said) == 1 or _LENGTHS.fullmatch(said[0]) is not None)
        if not is_known:
            self._unknown(f"\\{name}", is_defining=name not in _SIZED)

    def _definition(self, name: str) -> None:
        """What defines something that the document has no known command or environment of."""
        if name == "providecommand" and (match := _PROVIDED.match(self.text, self.at, self.end)):
            self.at = match.end()
            return
        match = _LEAST_NAME.match(self.text, self.at, self.end)
        defined = (match[1] or match[2]) if match else ""
        self.at = match.end() if match else self.at
        is_new = defined not in _KNOWN and not defined.startswith("end") and not name.startswith("renew")
        is_harmless = bool(defined) and (is_new or (name == "renewcommand" and defined in _NOT_DEFINED))
        self._options(2)
        spans = [self._argument() for _ in range(2 if name.endswith("environment") else 1)]
        self._options(1)
        if not is_harmless or None in spans:
            self._unknown(f"\\{name}", is_defining=True)

    def _cite(self, *, is_many: bool) -> None:
        notes: list[tuple[int, int]] = []
        keys: list[str] = []
        while len(keys) < 100:
            if is_many and (match := _AROUND.match(self.text, self.at, self.end)):
                self.at = match.end()
                notes += [match.span(number) for number in (1, 2) if match[number]]
            notes += self._options(2)
            span = self._argument()
            if span is None:
                break
            keys += self._said(span).split(",")
            if not is_many:
                break
        if not keys:
            self._unknown("\\cite")
        self.next += self._cited(notes, keys)

    def _cited(self, notes: list[tuple[int, int]], keys: list[str]) -> list[_Piece]:
        """The notes of a citation, which readers see, and what it cites: words belong to what is known of it."""
        found = [self._of_key(key.strip()) for key in keys]
        found = [ref for ref in found if ref != OTHER] or found[:1]
        if self.quotes:
            notes = [note for note in notes if not _PAGES.fullmatch(self._said(note))]  # they are no words of a quote
        edge = "\n" if self.quotes else " "  # of a block quote, what is before its line is quoted
        return [edge, "(", *(piece for note in notes for piece in (note, ", ")), ", ".join(found), ")", edge.strip(" ")]

    def _of_key(self, key: str) -> str:
        """What an entry cites, as it stands in a text; without the entry, what its name says."""
        return cited_by(key, self.entries) or (f"[^{key}]" if key in self.items else OTHER)

    def _quoting(self, name: str) -> None:
        """A command by its arguments; what it shows behind the quotation is read there."""
        behind: list[_Piece] = []
        for kind in _COMMANDS[name]:
            if kind == "l" and self._argument() is None:
                self._unknown(f"\\{name}")
            elif kind == "i":
                self._options(1)
            elif kind == "o":
                behind += [piece for span in self._options(2) for piece in (" ", span)]
            elif kind == "k":
                notes = self._options(2)
                behind += self._cited(notes, self._said(self._argument()).split(","))
            elif kind == "q":
                if self._opens():
                    is_within = any(CLOSE in group.closing for group in self.groups[-9:])
                    self._emit("‘" if is_within else OPEN)
                    self._open("", "’" if is_within else CLOSE, *behind)
                else:
                    self._unknown(f"\\{name}")

    def _footnote(self, name: str) -> None:
        self._options(1)
        if not self._opens():
            self._unknown(f"\\{name}")
            return
        self.signs += 1
        note = f"note-{self.signs}" if name != "footnotetext" else ""
        self._emit(f"[^{note}]" if note else "")
        self.frames.append((self.draft, self.marks, self.quotes, self.note))
        self.draft, self.marks, self.quotes, self.note = _Draft(), [], 0, note
        if not note:
            self._hides(f"\\{name}", is_strange=True)
        self._open("", self._end_note)

    def _end_note(self) -> None:
        self._end_block()
        self.draft, self.marks, self.quotes, self.note = self.frames.pop()

    def _environment(self, *, is_begin: bool) -> None:
        match = _NAMED.match(self.text, self.at, self.end)
        if match is None:
            self._unknown("\\begin", is_defining=True)
            return
        begin, self.at, name = self.at, match.end(), match[1]
        if not is_begin:
            self._end_environment(name)
        elif name in _CODE:
            self._code(name, begin)
        elif name in _MATH:
            self._math(re.compile(re.escape(f"\\end{{{name}}}")), name)
        elif name in _QUOTES:
            self._end_block()
            self.figures += not self.quotes
            self.quotes += 1
            behind: list[_Piece] = []
            for kind in _QUOTES[name]:
                if kind == "l":
                    self._argument()
                elif kind == "i":
                    self._options(1)
                elif kind == "o":
                    behind += [piece for span in self._options(2) for piece in (" ", span)]
                else:
                    notes = self._options(2)
                    behind += self._cited(notes, self._said(self._argument()).split(","))
            self._open(name, *behind, self._end_quote)
        else:
            self._begin(name)

    def _begin(self, name: str) -> None:
        is_cell = name == "minipage" and self.tables > 0
        self._emit(" ") if is_cell else self._end_block()
        self._open(name, *(() if is_cell else (self._end_block,)))
        for kind in _ENVIRONMENTS.get(name, ""):
            if (self._options(1) if kind == "i" else self._argument()) is None:
                self._unknown(f"\\begin{{{name}}}")
        self.tables += name in _TABLES
        if name in ("itemize", "enumerate", "description"):
            is_outer = not any(number for number, _ in self.lists)
            self.lists.append((1 if name == "enumerate" else 0, is_outer))
            if self._options(1):
                self._unknown(f"\\begin{{{name}}}[]")
        if name not in _ENVIRONMENTS:
            self._unknown(f"\\begin{{{name}}}")

    def _end_environment(self, name: str) -> None:
        if name not in ("minipage", *_QUOTES):
            self._end_block()
        if name == "document" and not self.odd[0]:
            self.todo.clear()
            self.at = self.end
            return
        self.tables -= name in _TABLES and self.tables > 0
        if name in ("itemize", "enumerate", "description") and self.lists:
            self.lists.pop()
        if name == "thebibliography":
            self.note = ""
        self._close(name)
        if name not in _ENVIRONMENTS and name not in _QUOTES:
            self.after = self._told(f"\\begin{{{name}}}")

    def _end_quote(self) -> None:
        self._end_block()
        self.quotes = max(self.quotes - 1, 0)

    def _code(self, name: str, begin: int) -> None:
        """Code is shown as it is written; a comment on lines of its own is not shown."""
        end = f"\\end{{{name}}}"
        found = self.text.find(end, self.at, self.end)
        stop = found if found >= 0 else self.end
        rest = min(stop + len(end), self.end)
        line = self.breaks[bisect_left(self.breaks, rest)] if self.breaks and self.breaks[-1] >= rest else self.end
        first, last = self.text.rfind("\n", 0, begin) + 1, self.text.rfind("\n", self.at, stop)
        around = (
            self.text[first:begin].removesuffix("\\begin"),
            self.text[max(last, self.at) : stop],
            self.text[rest:line],
        )
        self._end_block()
        if name not in _UNSHOWN:
            self._hides(f"\\begin{{{name}}}", is_strange=True)
            self._plain(self.at, stop)
            self._end_block()
        elif any(map(str.strip, around)) or last < 0:
            self._unknown(f"\\begin{{{name}}}", is_defining=True)
            self._plain(self.at, stop)
        self.at = rest
