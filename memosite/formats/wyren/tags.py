"""Parses and removes the tags at the end of a wyren entry, which name its session and turn.

As documented and as seen (SPEC 2.2, wyren): `[session 7a2e, turn 12]`, `[session X, turn 193; updated Y, turn 7]`,
`[raised session X]`, `[session X, turn 22–26]`, `[session X, 2026-05-09]`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from memosite.facts.texts import one_line
from memosite.facts.times import Moment, read_moment

_TAG = re.compile(r"(?<!`)\[(?P<said>(?:session|raised|updated)\s[^\[\]]{1,300})\](?![`(\[:])", re.IGNORECASE)
_TAG_STARTS = ("[session ", "[raised ", "[updated ")
_WHO = re.compile(
    r"(?:(?P<verb>raised|updated)(?: (?:by|in))?(?: session)?|session) (?P<id>[^\s`]{1,100})", re.IGNORECASE
)
_CURRENT = "current"
_TURN = re.compile(r"(?:turns? )?(?P<turn>[0-9]{1,9}(?: ?[-–—] ?[0-9]{1,9})?)", re.IGNORECASE)


@dataclass(slots=True, kw_only=True)
class Clause:
    """One part of a tag: who noted, raised or updated an entry, in which turns, and when if that is said."""

    verb: str
    session: str
    turns: list[str] = field(default_factory=list)
    date: Moment | None = None
    date_text: str = ""
    others: list[str] = field(default_factory=list)

    @property
    def is_sure(self) -> bool:
        """Whether this is certainly a part of a tag."""
        return bool(self.turns or self.date)

    def fields(self) -> Iterator[tuple[str, str]]:
        """The clause as labels and values to be shown."""
        turns = ", ".join(self.turns)
        if self.verb:
            said = (self.session, f"turn {turns}" if turns else "", self.date_text)
            yield self.verb.capitalize(), ", ".join(filter(None, said))
        else:
            yield "Session", self.session
            if turns:
                yield "Turn", turns
        for other in self.others:
            yield "Tag", other


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags:
    """A text without its tags, and their clauses. `keyed` is the text that keys are made of (SPEC 3, identity).

    That one still has the tag `[session current]`: it was not read as a tag when keys were first published.
    """

    text: str
    keyed: str
    clauses: tuple[Clause, ...]

    @property
    def is_tagged(self) -> bool:
        """Whether there was any tag."""
        return bool(self.clauses)

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """What the tags say, as labels and values to be shown."""
        return tuple(pair for clause in self.clauses for pair in clause.fields())


def read_tags(text: str) -> Tags:
    """Take the tags off a text. One that says neither turn nor date counts only at the end of a line."""
    clauses: list[Clause] = []
    spans: list[tuple[int, int]] = []
    named: list[tuple[int, int]] = []
    for match in _TAG.finditer(text):
        found = _clauses(match["said"])
        if not found or not (any(clause.is_sure for clause in found) or _ends_line(text, match.end())):
            continue
        clauses += found
        spans.append(match.span())
        if not _is_current(found):
            named.append(match.span())
    return Tags(text=_without(text, spans), keyed=_without(text, named), clauses=tuple(clauses))


def _is_current(clauses: list[Clause]) -> bool:
    """Whether a tag says no more than `session current`."""
    said = [pair for clause in clauses for pair in clause.fields()]
    return len(said) == 1 and said[0][0] == "Session" and said[0][1].casefold() == _CURRENT


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    kept: list[str] = []
    at = 0
    for start, end in spans:
        kept.append(text[at:start].rstrip(" \t"))
        at = end
    kept.append(text[at:])
    begins_with_tag = len(kept) > 1 and not kept[0].strip()
    left = "".join(kept).strip("\n").rstrip()
    return left.lstrip() if begins_with_tag else left


def _ends_line(text: str, at: int) -> bool:
    """Whether nothing follows but a full stop or another tag."""
    rest = text[at : at + 20].split("\n", 1)[0].strip(" \t.;,")
    return not rest or rest.lower().startswith(_TAG_STARTS)


def _clauses(said: str) -> list[Clause]:
    """The clauses of a tag: `session X, turn 193; updated Y, turn 7`.

    None for words in brackets that are no tag: it begins with a session, and where it says nothing but who, the
    name has a digit in it, is `current`, or is that of whoever raised a question.
    """
    found: list[Clause] = []
    for part in filter(None, (one_line(part) for part in re.split("[;,]", said))):
        who = _WHO.fullmatch(part)
        if who is not None and (found or "session" in part.lower()):
            found.append(Clause(verb=(who["verb"] or "").lower(), session=who["id"]))
            continue
        if not found:
            return []
        turn, date = _TURN.fullmatch(part), read_moment(part)
        if date is not None:
            found[-1].date, found[-1].date_text = date, part
        elif turn is not None:
            found[-1].turns.append(turn["turn"])
        else:
            found[-1].others.append(part)
    says_more = any(clause.is_sure or (clause.verb and not clause.others) for clause in found)
    names_one = len(found) == 1 and not found[0].others and (_is_current(found) or _has_digit(found[0].session))
    return found if says_more or names_one else []


def _has_digit(name: str) -> bool:
    return any(char.isdigit() for char in name)
