"""Findings: problems with content, as values with a location, a rule and a remedy; the clause that a rule cites.

Every finding names its `Rule`, which gives the severity, the meaning, the clause of the specification that it comes
from, and the remedy. A broken MUST is an error, a broken SHOULD a warning, anything odd a note. The rules are in
`facts/rules.py`; a record system keeps its own in its folder.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Protocol

from memosite.facts.patterns import regex
from memosite.facts.values import Value


class Severity(StrEnum):
    """How bad a finding is; the order of the members is the order of badness."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Location(Value):
    """A place in a source: its name, the file's path relative to it, and a line (1 = first) if one is known."""

    source: str
    path: str
    line: int | None = None

    @property
    def place(self) -> tuple[str, str]:
        """The source and the path in it."""
        return self.source, self.path

    def __str__(self) -> str:
        """`source/path:line`, as editors understand it."""
        place = f"{self.source}/{self.path}" if self.source else self.path
        return f"{place}:{self.line}" if self.line else place


class Rule(Value, kw_only=False):
    """One thing that can be wrong: where that is written, what it means, what to do about it.

    `hides_content` marks what makes a file unreadable, so that it is shown raw. A rule `of_whole_file` is about a file
    of many records, not about the one at its line. One that `fails_build` makes a command fail whatever it fails on.
    """

    id: str
    severity: Severity
    clause: str
    meaning: str
    remedy: str
    hides_content: bool = False
    of_whole_file: bool = False
    fails_build: bool = False

    def finding(self, message: str, *, source: str = "", path: str = "", line: int | None = None) -> "Finding":
        """What is found by this rule at a place; without a source it is one of the site."""
        return Finding(rule=self, location=Location(source=source, path=path, line=line), message=message)


RuleText = Callable[[str, str], Rule]
"""Makes a rule of its meaning and its remedy."""


def error(name: str, clause: str, **marks: bool) -> RuleText:
    """A rule whose breach is an error; `marks` are those of `Rule`. Its meaning and its remedy are to follow."""
    return lambda meaning, remedy: Rule(name, Severity.ERROR, clause, meaning, remedy, **marks)


def warning(name: str, clause: str, **marks: bool) -> RuleText:
    """Likewise, with a warning."""
    return lambda meaning, remedy: Rule(name, Severity.WARNING, clause, meaning, remedy, **marks)


def note(name: str, clause: str, **marks: bool) -> RuleText:
    """Likewise, with a note."""
    return lambda meaning, remedy: Rule(name, Severity.NOTE, clause, meaning, remedy, **marks)


def rules_in(module: Mapping[str, object]) -> tuple[Rule, ...]:
    """All rules of a module, given its `globals()`, in the order written."""
    return tuple(value for value in module.values() if isinstance(value, Rule))


class Finding(Value):
    """One broken or odd thing at one place. `message` says what was found and what was expected.

    `broken_clause` is the clause where it is not that of the rule: rules on fields are those of several formats.
    """

    rule: Rule
    location: Location
    message: str
    broken_clause: str = ""

    @property
    def severity(self) -> Severity:
        """The severity of the finding's rule."""
        return self.rule.severity

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return self.rule.remedy

    @property
    def clause(self) -> str:
        """Where what it breaks is written."""
        return self.broken_clause or self.rule.clause

    @property
    def sort_key(self) -> tuple[str, str, int, str, str]:
        """By place, then rule: the order of every listing."""
        where = self.location
        return (where.source, where.path, where.line or 0, self.rule.id, self.message)


class Placed(Protocol):
    """What is at a path of a source: a file, or what was read of one."""

    @property
    def source(self) -> str:
        """The name of the source."""

    @property
    def path(self) -> str:
        """The path in it."""


def finding_in(file: Placed, rule: Rule, message: str, line: int | None = None) -> Finding:
    """A finding in a file, at a line of it if one is known."""
    return Finding(rule=rule, location=Location(source=file.source, path=file.path, line=line), message=message)


_CONTRACT = regex(r"SPEC (\d+(?:\.\d+)?)")
_RFC = regex(r"RFC (\d+)")


class Cited(Value):
    """A document that a clause cites, and `place`, where in the document.

    `section` is the number of a section of the contract (docs/spec), "" for a place in any other document.
    """

    document: str
    place: str = ""
    section: str = ""

    @property
    def written(self) -> str:
        """The part of the clause that this was read from, unchanged."""
        return self.document + self.place

    @property
    def address(self) -> str | None:
        """The publisher's address of the document, if known."""
        rfc = _RFC.fullmatch(self.document)
        return f"https://www.rfc-editor.org/rfc/rfc{rfc[1]}" if rfc else None


def read_clause(clause: str) -> tuple[Cited, ...]:
    """The documents that a clause such as "memodef SCHEMA, memodef:Memo, sent; SPEC 2.2" cites, in order.

    Their `written` parts joined by "; " give the clause.
    """
    return tuple(map(_cited, clause.split("; "))) if clause else ()


def _cited(written: str) -> Cited:
    contract = _CONTRACT.match(written)
    document = contract[0] if contract else written.partition(",")[0]
    return Cited(document=document, place=written[len(document) :], section=contract[1] if contract else "")
