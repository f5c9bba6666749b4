"""The syntax tree of a query, and the error for a query that cannot be parsed.

Words are folded already; instants are milliseconds since 1970 in UTC, ranges of them half open.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

WordField: TypeAlias = Literal["text", "subject", "name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Words one after the other in a field; with `prefix` the last one is only the beginning of a word."""

    field: WordField
    terms: tuple[str, ...]
    prefix: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTerm:
    """A whole value, such as that of `from:`; with `prefix` its beginning."""

    field: str
    value: str
    prefix: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dates:
    """From `start` on and before `end`; None where it is open. Never matches what has no date."""

    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ago:
    """After (`newer`) or before the instant so many days before the archive's newest date."""

    days: int
    newer: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class And:
    """All of these."""

    parts: tuple["QueryNode", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Or:
    """Any of these."""

    parts: tuple["QueryNode", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Not:
    """Everything but this."""

    part: "QueryNode"


QueryNode: TypeAlias = Words | KeyTerm | Dates | Ago | And | Or | Not


class QueryError(ValueError):
    """A query that cannot be parsed: what is wrong, where (in characters from 0), and a working example."""

    def __init__(self, message: str, position: int, example: str) -> None:
        super().__init__(message, position, example)
        self.message = message
        self.position = position
        self.example = example

    def __str__(self) -> str:
        return f"{self.message} (character {self.position + 1}); for example: {self.example}"


def leaves(node: QueryNode) -> Iterator[tuple[QueryNode, bool]]:
    """The conditions of a query in the order written, each with whether it is wanted (not negated)."""
    waiting = [(node, True)]
    while waiting:
        one, wanted = waiting.pop()
        match one:
            case And(parts=parts) | Or(parts=parts):
                waiting += [(part, wanted) for part in reversed(parts)]
            case Not(part=part):
                waiting.append((part, not wanted))
            case _:
                yield one, wanted


def as_lists(node: QueryNode) -> list[object]:
    """The tree as JSON values: tests compare both query parsers by it."""
    match node:
        case Words(field=field, terms=terms, prefix=prefix):
            return ["words", field, list(terms), prefix]
        case KeyTerm(field=field, value=value, prefix=prefix):
            return ["key", field, value, prefix]
        case Dates(start=start, end=end):
            return ["dates", start, end]
        case Ago(days=days, newer=newer):
            return ["ago", days, newer]
        case And(parts=parts):
            return ["and", *map(as_lists, parts)]
        case Or(parts=parts):
            return ["or", *map(as_lists, parts)]
        case Not(part=part):
            return ["not", as_lists(part)]
