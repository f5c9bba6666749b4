"""Queries as JSON values, by which the tests compare both parsers."""

from memosite.search_language import Ago, And, Dates, KeyTerm, Not, Or, QueryNode, Words


def as_lists(node: QueryNode) -> list[object]:
    """The tree of a query."""
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
