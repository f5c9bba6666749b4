"""Finds links in a MIF record's text: `- relates-to [[id]]`, `- relates-to [Text](/path.md)`, `@[[Entity|Type]]`.

Links are looked for outside of code, line by line. In a section called Relationships every word before a link is a
relation; elsewhere only those that MIF names, or that are plainly names (SPEC 2.2, mif; MIF 1.0, 5.3, 8).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from memosite.facts.parsed import Entity, Relation
from memosite.facts.texts import cut_line, one_line
from memosite.formats.mif.predicates import INVERSE

LINKS = 1_000
"""The most relations, entities and mentions, each, that are read off one text."""

_SECTIONS = frozenset({"relationships", "relations", "related", "related memories"})

_FENCE = re.compile(r"[ \t]{0,12}(`{3,}|~{3,})([^\n]*)")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(\S.*)")
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)[^\n]{1,300}?(?<!`)\1(?!`)")
_WORD = r"[^\W\d_][\w-]{0,60}"
_ITEM = re.compile(
    r" {0,3}[-*+] {1,4}(?:\*\*|__|`)?"
    rf"(?P<predicate>{_WORD}(?::{_WORD})?)(?:\*\*|__|`)?[ \t]?:?(?:\*\*)?[ \t]{{1,4}}(?=@?\[)"
)
_LINK = re.compile(
    r"(?<!\\)(?P<at>@?)\[\[(?P<target>[^\[\]|\n]{1,300})(?:\|(?P<shown>[^\[\]\n]{0,300}))?\]\]"
    r"|(?<![!\\])\[(?P<text>[^\[\]\n]{0,300})\]\("
    r"(?:<(?P<pointed>[^<>\n]{1,1000})>|(?P<path>[^()\s<>]{1,1000}))(?:[ \t]+\"[^\"\n]{0,200}\")?\)"
)
_BETWEEN = re.compile(r"\s{0,3}(?:[,;&+]|and)?\s{0,3}(?:and\s{1,3})?")
_ELSEWHERE = re.compile(r"(?!urn:|mif:)[A-Za-z][A-Za-z0-9+.-]+:|#")
_HUMP = re.compile(r"(?<=[^\W_])(?=[A-Z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLinks:
    """What a text links to, and its first heading with its line (0 = first; None if there is no heading)."""

    title: str = ""
    title_line: int | None = None
    relations: tuple[Relation, ...] = ()
    entities: tuple[Entity, ...] = ()
    mentions: tuple[str, ...] = ()


@dataclass(slots=True)
class _Found:
    """What has been found so far, each once, in the order written."""

    relations: dict[tuple[str, str], Relation] = field(default_factory=dict)
    entities: dict[tuple[str, str], Entity] = field(default_factory=dict)
    mentions: dict[str, None] = field(default_factory=dict)


def predicate_of(name: str) -> str:
    """The name of a relation as MIF 1.0 stores it: `RelatesTo`, `relates_to` and `relates to` are `relates-to` (8.1.1).

    A name in capitals throughout is taken as one word.
    """
    name = re.sub(r"[\s_-]+", "-", name.strip())
    return (name if name.isupper() else _HUMP.sub("-", name)).lower()


def read_target(text: str) -> str:
    """The target of a relation without the brackets, the shown text and the heading it may be written with."""
    text = one_line(text).removeprefix("@").removeprefix("[[").removesuffix("]]")
    return text.partition("|")[0].partition("#")[0].strip()


def read_body(text: str) -> BodyLinks:
    """What a text (LF line ends) links to."""
    found = _Found()
    title, title_line, is_section = "", None, False
    for number, line in _prose_lines(text):
        heading = _HEADING.match(line)
        if heading is not None:
            name = heading[1].strip().rstrip("#").strip()
            is_section = name.strip(" :*").lower() in _SECTIONS
            if title_line is None and name:
                title, title_line = name, number
        if "[" in line:
            _read_line(line, found, is_section=is_section)
    return BodyLinks(
        title=title,
        title_line=title_line,
        relations=tuple(found.relations.values())[:LINKS],
        entities=tuple(found.entities.values())[:LINKS],
        mentions=tuple(found.mentions)[:LINKS],
    )


def _prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines outside of fenced code, with their numbers; a fence that is never closed ends with the text."""
    fence = ""
    for number, line in enumerate(text.split("\n")):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
        else:
            yield number, line


def _read_line(line: str, found: _Found, *, is_section: bool) -> None:
    """Keep what one line links to: a relation's targets, then whatever else it mentions."""
    item = _ITEM.match(line)
    written = item["predicate"] if item else ""
    start = end = item.end() if item else 0
    prose = line[:start] + _CODE.sub(lambda match: " " * len(match[0]), line[start:])
    for match in _LINK.finditer(prose, start):
        follows = bool(item) and (match.start() == start or _BETWEEN.fullmatch(prose, end, match.start()) is not None)
        if follows:
            end = match.end()
        else:
            item = None
        target = _target(match)
        if match["at"]:
            _add_entity(target, match["shown"], predicate_of(written) if follows else "mentions", found)
        elif target and follows and (is_section or _is_relation(written, is_wiki=match["target"] is not None)):
            key = (predicate_of(written), target)
            label = one_line(match["shown"] or match["text"] or "") or _remark(prose[match.end() :])
            found.relations.setdefault(key, Relation(predicate=key[0], target=target, label=cut_line(label, 200)))
        elif target and match["target"] is not None:
            found.mentions.setdefault(target)


def _target(match: re.Match[str]) -> str:
    """What a link leads to, "" if it leads into the page itself or to an address elsewhere."""
    if match["target"] is not None:
        return match["target"].strip() if match["at"] else read_target(match["target"])
    path = match["pointed"] or match["path"]
    return "" if _ELSEWHERE.match(path) else path.partition("#")[0].strip()


def _is_relation(written: str, *, is_wiki: bool) -> bool:
    """Whether a word before a link is a relation, outside of a section of them."""
    if predicate_of(written) in INVERSE:
        return is_wiki or written.islower()
    return is_wiki and any(mark in written for mark in "-_:")


def _remark(rest: str) -> str:
    """What is said of a relation after its link, unless that goes on to other links."""
    return "" if "[" in rest else one_line(rest).strip(" -–—:,;.()")


def _add_entity(name: str, kind: str | None, relation: str, found: _Found) -> None:
    name = one_line(name)
    known = found.entities.get((name, relation))
    if name and (known is None or known.type is None):
        type_ = one_line(kind or "") or None
        found.entities[name, relation] = Entity(name=name, type=type_, relation=relation)
