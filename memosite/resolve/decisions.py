"""Finds what took the place of which decision, across systems and repos (SPEC 2.2, documents)."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from memosite.archive.model import Link
from memosite.facts import rules
from memosite.facts.findings import Finding, Location
from memosite.facts.parsed import DocumentHead, FileFacts, RecordCard, Ref
from memosite.facts.statuses import read_status
from memosite.formats.standing import sort_of_document
from memosite.formats.systems import system_of
from memosite.resolve.filed import Filed
from memosite.resolve.record_links import Bound

_NUMBER = re.compile(r"(?:adr-?)?(\d{1,6})(?!\d|-\d\d-\d\d)")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b(?![-\w])")
_NUMBERS = re.compile(r"(?<!\d)\d{1,6}(?!\d)")


class Places(TypedDict):
    """The fields of `Document` and `Record` on what took whose place."""

    superseded_by: Ref | None
    supersedes: tuple[Ref, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Succession:
    """What took the place of which decision, both ways."""

    superseded_by: Mapping[Ref, Ref] = field(default_factory=dict)
    supersedes: Mapping[Ref, tuple[Ref, ...]] = field(default_factory=dict)

    def of(self, ref: Ref) -> "Places":
        """Both fields of a document or a record."""
        return {"superseded_by": self.superseded_by.get(ref), "supersedes": self.supersedes.get(ref, ())}


def join_decisions(
    documents: Iterable[Filed], links: Mapping[Ref, Sequence[Link]], records: Mapping[Ref, Bound]
) -> Succession:
    """Read of documents what they supersede and what they are superseded by, and what records say of records.

    What a document says of itself counts first. One that is not accepted supersedes nothing yet.
    """
    heads = {one.ref: one.fact for one in documents if isinstance(one.fact, DocumentHead)}
    beside: dict[tuple[str, str], list[tuple[Ref, DocumentHead]]] = defaultdict(list)
    for ref, head in heads.items():
        beside[_folder(head.file)].append((ref, head))
    found: dict[Ref, Ref] = {}
    for ref, head in heads.items():
        said = head.superseded_by or ((head.status,) if _is_superseded(head) and head.status else ())
        named = _named(said, ref, links.get(ref, ()), beside[_folder(head.file)])
        successor = next(named, None)
        if successor is not None:
            found[ref] = successor
    for ref, head in heads.items():
        if head.supersedes and read_status(head.status or "") in {"accepted", "superseded", None}:
            for older in _named(head.supersedes, ref, links.get(ref, ()), beside[_folder(head.file)]):
                if older[0] in {"document", "record"} and found.get(ref) != older:
                    found.setdefault(older, ref)
    for ref, bound in records.items():
        if bound.superseded_by is not None:
            found[ref] = bound.superseded_by
    supersedes: dict[Ref, list[Ref]] = defaultdict(list)
    for older, newer in found.items():
        supersedes[newer].append(older)
    return Succession(superseded_by=found, supersedes={ref: tuple(sorted(some)) for ref, some in supersedes.items()})


def _folder(file: FileFacts) -> tuple[str, str]:
    return file.source, file.path.rpartition("/")[0]


def _is_superseded(head: DocumentHead) -> bool:
    return read_status(head.status or "") == "superseded"


def _named(
    values: Iterable[str], ref: Ref, links: Sequence[Link], beside: Sequence[tuple[Ref, DocumentHead]]
) -> Iterator[Ref]:
    """What values such as "`decisions/x.md`" or "ADR 12" name: a link of the text, else a document of the folder."""
    for value in values:
        linked = [link.to for link in links if link.to is not None and link.to != ref and link.written in value]
        fitting = [] if linked else [other for other, head in beside if other != ref and _fits(head, value)]
        yield from linked or (fitting if len(fitting) == 1 else ())


def _fits(head: DocumentHead, value: str) -> bool:
    """Whether a text such as "superseded by ADR 12" names a document: by its name, its title or its number."""
    said = _DATE.sub(" ", value.casefold().rpartition(" by ")[2]).strip(" .")
    stem, title = head.file.name.casefold().rpartition(".")[0], head.title.casefold()
    leading = _NUMBER.match(stem)
    numbers = {int(number) for number in _NUMBERS.findall(said)}
    return stem in said or (bool(title) and title in said) or (leading is not None and int(leading[1]) in numbers)


def outdated_citations(
    places: Iterable[tuple[Ref, FileFacts, int | None]],
    links: Mapping[Ref, Sequence[Link]],
    documents: Iterable[Filed],
    records: Iterable[Filed],
    succession: Succession,
) -> Iterator[Finding]:
    """A note on each memo, note and record for each decision that it cites and that is not in force any more."""
    files = {one.ref: one.files[0] for one in (*documents, *records) if _is_outdated(one, succession)}
    if not files:
        return
    for ref, file, line in places:
        for to in dict.fromkeys(link.to for link in links.get(ref, ()) if link.to in files and link.to != ref):
            if to is None or succession.superseded_by.get(to) == ref:
                continue
            by = succession.superseded_by.get(to)
            name = f" by {'/'.join(by)}" if by else ""
            where = Location(source=file.source, path=file.path, line=line)
            message = f"cites {files[to].source}: {files[to].path}, which is superseded{name}"
            yield Finding(rule=rules.DECISION_SUPERSEDED, location=where, message=message)


def _is_outdated(one: Filed, succession: Succession) -> bool:
    fact = one.fact
    if isinstance(fact, DocumentHead):
        return sort_of_document(fact) == "decision" and (one.ref in succession.superseded_by or _is_superseded(fact))
    if isinstance(fact, RecordCard) and system_of(fact).is_decision(fact):
        is_said = read_status(system_of(fact).status(fact)) == "superseded"
        return one.ref in succession.superseded_by or bool(fact.superseded_by) or is_said
    return False
