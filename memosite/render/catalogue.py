"""A language: the texts of memosite in it, from a gettext catalogue, put into phrases and scripts.

    languages/de.po ─► Catalogue ─┬─► templates, when they are compiled (`translating`), scripts, when they are loaded
                                  └─► phrases of page models and feeds, when they are rendered

A text that is not in the catalogue stays in English. Placeholders are written `{name}` everywhere; in scripts

    _("Copy")   _(`Last built ${day}`)   _n(n, `${n} turn`, `${n} turns`)
"""

import gettext
import json
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cache
from operator import attrgetter, is_
from typing import Any, Final, TypeVar, cast

from memosite.facts.errors import ConfigError
from memosite.facts.patterns import regex
from memosite.facts.phrases import Phrase, key_of
from memosite.facts.values import Value, field
from memosite.store.values import digest_of

T = TypeVar("T")


PLACEHOLDER: Final = regex(r"\{(\w+)(?::[^{}\s]*)?\}")
"""A value in a text: `{name}`, or `{n:,}` for a number with separators."""


_TWO_FORMS: Final = "n != 1"


_SEPARATOR: Final = "1,234"  # the catalogue says how this number is written


_LINE: Final = regex(r'(?:(msgctxt|msgid|msgid_plural|msgstr|msgstr\[\d\]) *)?"((?:[^"\\]|\\.)*)"')


_ESCAPES: Final = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


class Entry(Value):
    """One entry of a catalogue: the text in English, with `many` if it counts, and its translations."""

    line: int
    key: str
    one: str
    many: str
    texts: tuple[str, ...]
    is_fuzzy: bool = False


class Catalogue(Value):
    """The texts of a language by their English, and the rule for its plural forms, as gettext writes it."""

    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rule: str = _TWO_FORMS

    @property
    def digest(self) -> str:
        """Equal for catalogues that say the same; "" for English."""
        return digest_of((sorted(self.texts.items()), self.rule)) if self.texts else ""

    def text(self, english: str) -> str:
        """A text without a number, with its placeholders."""
        return self.texts.get(english, (english,))[0]

    def forms(self, one: str, many: str) -> tuple[str, ...]:
        """A text for each plural form of the language."""
        return self.texts.get(one, (one, many))

    def form(self, number: int) -> int:
        """Which of its forms a number takes."""
        return _rule(self.rule)(number)

    def counted(self, one: str, many: str, number: int, *, key: str = "") -> str:
        """The form that fits a number, with its placeholders; `key` is given if it has a context."""
        if (found := self.texts.get(key or one)) is None:
            return one if number == 1 else many
        return found[min(self.form(number), len(found) - 1)]

    def number(self, value: int) -> str:
        """A number with the separators of the language."""
        return f"{value:,}".replace(",", self.text(_SEPARATOR)[1:-3])

    def translated(self, value: T) -> T:
        """A value with all phrases in it in this language: a page model, a feed, or any part of them."""
        return cast("T", self._translated(value)) if self.texts else value

    def _translated(self, value: Any) -> Any:
        class_ = type(value)
        if class_ is Phrase:
            return self._said(value)
        if class_ is tuple:
            return _changed(value, tuple(map(self._translated, value)))
        values_of = _values_of(cast("Hashable", class_))
        if values_of is None:
            return value
        before = values_of(value)
        after = tuple(map(self._translated, before))
        return value if _changed(before, after) is before else _with(value, after)

    def _said(self, value: Phrase) -> str:
        if value.many:
            pattern = self.counted(value.one, value.many, value.number, key=value.key)
        else:
            pattern = self.texts.get(value.key, (value.one,))[0]
        if not value.parts:
            return pattern
        return pattern.format_map({name: self._part(part) for name, part in value.parts.items()})

    def _part(self, part: object) -> object:
        return _Number(part, self) if type(part) is int else self._translated(part)


class _Number:
    """A number that is formatted as the language writes it, where a pattern asks for separators."""

    def __init__(self, value: int, words: Catalogue) -> None:
        self._value = value
        self._words = words

    def __format__(self, form: str) -> str:
        return self._words.number(self._value) if form == "," else format(self._value, form)


ENGLISH: Final = Catalogue()
"""The language that memosite is written in."""


def read_catalogue(source: str, name: str) -> Catalogue:
    """The catalogue of a file. Raises ConfigError with the line of what cannot be used."""
    texts: dict[str, tuple[str, ...]] = {}
    rule = _TWO_FORMS
    for entry in po_entries(source, name):
        if not entry.one:
            rule = _read_rule(entry.texts[0], name) or rule
        elif all(entry.texts) and entry.texts and not entry.is_fuzzy:
            _check_placeholders(entry, name)
            texts[entry.key] = entry.texts
    return Catalogue(texts=texts, rule=rule)


def po_entries(source: str, name: str) -> Iterator[Entry]:
    """The entries of a gettext catalogue. Raises ConfigError for a line that is none."""
    found: dict[str, str] = {}
    key, start, is_fuzzy = "", 0, False
    for number, line in enumerate(source.splitlines(), 1):
        line = line.strip()  # noqa: PLW2901
        if not line or line.startswith("#"):
            if "msgstr" in found or "msgstr[0]" in found:
                yield _entry(found, start, is_fuzzy=is_fuzzy)
                found, is_fuzzy = {}, False
            is_fuzzy = is_fuzzy or (line.startswith("#,") and "fuzzy" in line)
            continue
        read = _LINE.fullmatch(line)
        key = (read[1] or key) if read else ""
        if read is None or not key:
            raise ConfigError(f'theme: {name}, line {number}: found {line!r}, expected msgid "…" or msgstr "…"')
        if read[1] in {"msgctxt", "msgid"}:
            if "msgstr" in found or "msgstr[0]" in found:
                yield _entry(found, start, is_fuzzy=is_fuzzy)
                found, is_fuzzy = {}, False
            start = number
        found[key] = found.get(key, "") + re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), read[2])
    if found:
        yield _entry(found, start, is_fuzzy=is_fuzzy)


def _entry(found: Mapping[str, str], line: int, *, is_fuzzy: bool) -> Entry:
    texts = tuple(found[key] for key in sorted(found) if key.startswith("msgstr"))
    one = found.get("msgid", "")
    key = key_of(one, found.get("msgctxt", ""))
    return Entry(line=line, key=key, one=one, many=found.get("msgid_plural", ""), texts=texts, is_fuzzy=is_fuzzy)


def _read_rule(header: str, name: str) -> str:
    """The plural rule that the head of a catalogue states."""
    stated = re.search(r"^Plural-Forms:.*?plural *= *([^;\n]+)", header, re.MULTILINE)
    if stated is None:
        return ""
    rule = stated[1].strip()
    try:
        _rule(rule)(1)
    except (ValueError, OverflowError) as error:
        raise ConfigError(f"theme: {name}: Plural-Forms: {rule!r} is not a rule of gettext ({error})") from error
    return rule


def _check_placeholders(entry: Entry, name: str) -> None:
    known = set(PLACEHOLDER.findall(entry.one)) | set(PLACEHOLDER.findall(entry.many))
    for text in entry.texts:
        if unknown := set(PLACEHOLDER.findall(text)) - known:
            expected = ", ".join(f"{{{one}}}" for one in sorted(known)) or "none"
            raise ConfigError(
                f"theme: {name}, line {entry.line}: found the placeholder {{{min(unknown)}}}, expected {expected}, "
                "as in the English text"
            )


@cache
def _rule(rule: str) -> Callable[[int], int]:
    return gettext.c2py(rule)


@cache
def _values_of(class_: Hashable) -> Any:
    """How to get all fields of a class of values as a tuple; None for other classes."""
    if not (isinstance(class_, type) and issubclass(class_, Value)):
        return None
    names = class_.__struct_fields__
    return attrgetter(*names, "__class__") if names else None


def _changed(before: tuple[Any, ...], after: tuple[Any, ...]) -> tuple[Any, ...]:
    """`after`, or `before` itself if they have the same values."""
    return before if all(map(is_, before, after)) else after


def _with(value: Any, after: tuple[Any, ...]) -> Any:
    return type(value)(**dict(zip(value.__struct_fields__, after, strict=False)))  # the last one is its class


# Puts the words of a language into scripts, when a theme is loaded.


_LITERAL: Final = r'("(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)'


_CALL: Final = regex(rf"(?<![\w$.])(?:_\({_LITERAL}\)|_n\((\w+), {_LITERAL}, {_LITERAL}\))")


def translate_script(source: str, words: Catalogue) -> str:
    """A script with its texts in a language."""

    def text(match: re.Match[str]) -> str:
        if match[1]:
            english = _read(match[1])
            return _written(match[1], english, words.text(english))
        one, many = _read(match[3]), _read(match[4])
        forms = words.forms(one, many)
        if forms == (one, many):
            return f"({match[2]} === 1 ? {match[3]} : {match[4]})"
        rule = re.sub(r"\bn\b", match[2], words.rule)
        return f"[{', '.join(_written(match[4], '', form) for form in forms)}][Number({rule})]"

    return _CALL.sub(text, source)


def _read(literal: str) -> str:
    """The text of a literal, with `{name}` for values."""
    if literal.startswith("`"):
        return re.sub(r"\$\{(\w+)\}", r"{\1}", literal[1:-1]).replace("\\`", "`")
    text: str = json.loads(literal)
    return text


def _written(literal: str, english: str, text: str) -> str:
    """A text as a literal of the same kind; the literal itself if the text is the English one."""
    if text == english:
        return literal
    if literal.startswith("`"):
        plain = text.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")
        return f"`{PLACEHOLDER.sub(lambda match: '${' + match[1] + '}', plain)}`"
    return json.dumps(text, ensure_ascii=False)


# Takes comments and indentation out of the theme's own scripts and styles: readers need not load them.


_COMMENTS = (
    regex(rb"(?<=\n)[ \t]*(?://[^\n]*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)\n"),  # of lines of their own
    regex(rb"(?<=[^\s])[ \t]+(?://[^\n\"'`]*|/\*[^\n*\"'`]*\*/)(?=\n)"),  # at the end of a line
    regex(rb"/\*\* @[^\n*\"'`]*\*/ ?"),  # of types
)


_BLANK = regex(rb"\n\s+")  # empty lines, and what lines are indented by


_AROUND = regex(rb"[ \t]*([{};])[ \t]*")  # spaces that style sheets do not need


def lean(name: str, data: bytes) -> bytes:
    """A bundled static file as it is published: without comments, empty lines, indentation; styles without spaces.

    No string of the bundled files spans lines; in one that looks like a comment, a quotation mark follows before the
    line ends, so comments with any are left. A comment on the first line says what the file is, and stays.
    """
    if not name.endswith((".js", ".css")):
        return data
    for comment in _COMMENTS:
        data = comment.sub(b"", data)
    if name.endswith(".css"):
        first, end, rest = data.partition(b"\n")
        data = first + end + _AROUND.sub(rb"\1", rest)
    return _BLANK.sub(b"\n", data)
