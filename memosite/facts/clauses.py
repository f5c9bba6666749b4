"""Parses the clause that a finding cites, such as "memodef SCHEMA, memodef:Memo, sent; SPEC 2.2"."""

import re
from dataclasses import dataclass

_CONTRACT = re.compile(r"SPEC (\d+(?:\.\d+)?)")
_RFC = re.compile(r"RFC (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
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
    """The documents that a clause cites, in order; their `written` parts joined by "; " give the clause."""
    return tuple(map(_cited, clause.split("; "))) if clause else ()


def _cited(written: str) -> Cited:
    contract = _CONTRACT.match(written)
    document = contract[0] if contract else written.partition(",")[0]
    return Cited(document=document, place=written[len(document) :], section=contract[1] if contract else "")
