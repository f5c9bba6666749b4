"""Plans the pages of decisions, documents and libraries: one list by date, the pending ones first (SPEC 4)."""

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import ClassVar, NamedTuple

from memosite.archive import urls
from memosite.archive.model import Artifact, Document, Library, Memo, Record, nearest_member
from memosite.facts.parsed import LibraryItem
from memosite.facts.patterns import regex
from memosite.facts.phrases import joined, phrase
from memosite.facts.texts import cut_line
from memosite.facts.times import read_moment
from memosite.facts.values import Value, replace
from memosite.formats.status import Standing, decided_by, decided_on, sort_of, standing_of
from memosite.formats.systems import system_of
from memosite.pages import (
    PAGE_CHARS,
    ArtifactPage,
    Body,
    Cell,
    ListPage,
    ListSection,
    Page,
    PictureColumn,
    PictureRow,
    Reference,
    Row,
    Spans,
    View,
)
from memosite.plan import artifact_page, page
from memosite.plan.context import LIST_LIMIT, Context, Written, age, as_of, excerpt, few, newest_day, without_said
from memosite.plan.dates import month_name, newest_first


class DocumentPage(ArtifactPage):
    """A Markdown document that memos cite."""

    template: ClassVar[str] = "document.html"

    status: str
    decided_by: str | None  # "" if a decision does not say, None for what nobody has decided
    decided_on: str  # the day, if it is another than the document's date
    source: str
    file: str


class LibraryPage(ArtifactPage):
    """A catalog of templates; a broken one, or a broken orgdef, is shown as it is."""

    template: ClassVar[str] = "library.html"

    version: str
    summary: str
    items: tuple[tuple[LibraryItem, Reference], ...]  # each with its file
    is_broken: bool = False


class DecisionRow(Row):
    """A decision, a proposal or another document in a list. `status` is as written.

    `by` is who decided, as it says, "" if a decision does not say; else `repo_of` is the only position whose repo it is
    in. `on` is the day of the decision, if it is another than its date. `age` is given of what is pending, counted to
    the newest date. Of a proposal, `decided_in` are the decisions on it, and `to_decide` those that are pending.
    """

    standing: Standing | None
    is_standing_said: bool = False
    by: str | None = None
    on: str = ""
    repo_of: Reference | None = None
    proposals: tuple[Reference, ...] = ()
    decided_in: tuple[Reference, ...] = ()
    to_decide: tuple[Reference, ...] = ()
    recorded_in: tuple[Reference, ...] = ()


class DecisionGroup(ListSection):
    """Decisions of a month, a position or a source, or all that are pending: the first of `total`."""

    rows: tuple[DecisionRow, ...]


class DecisionsPage(Page):
    """Decisions by date, the pending ones first; or those that a filter leaves. `former` are anchors it once had.

    If there are none, `said` are artifacts whose subject speaks of one; `offers_search` if any may speak of one.
    """

    template: ClassVar[str] = "decisions.html"

    intro: str
    newest: str
    views: tuple[View, ...]
    groups: tuple[DecisionGroup, ...]
    lives: Spans | None = None
    former: tuple[str, ...] = ()
    said: tuple[ListSection, ...] = ()
    offers_search: bool = False


# Plans the pages of decisions: one list by date, the pending ones first, and its filters (SPEC 4).


_NAMED, _SAID = 3, 50


_NO_POSITION = "no-position"


_SORTS = {"proposal": phrase("proposal"), "decision": phrase("decision"), "other": phrase("document")}


_SAYS_DECIDED = regex(r"\b(?:decided|decision)\b", re.IGNORECASE)


_SPEAKS = regex(r"\b(?:decided|decisions?|entschieden|entscheidung(?:en)?)\b", re.IGNORECASE)


DECIDER_CHARS = 120
"""The most characters that a page shows of who decided."""


_GROUPS = 99
"""The most positions or sources that have a group of their own."""


class _Filter(NamedTuple):
    """A filter: what it is called, the title of its page, and the standings of the decisions that it leaves, if any."""

    name: str
    title: str
    leaves: tuple[Standing | None, ...] = ()


VIEWS: Mapping[str, _Filter] = {
    "": _Filter(phrase("All"), phrase("Decisions")),
    "pending": _Filter(phrase("Pending"), phrase("Decisions: pending"), ("pending",)),
    "accepted": _Filter(phrase("Accepted"), phrase("Decisions: accepted"), ("accepted",)),
    "in-force": _Filter(phrase("In force"), phrase("Decisions: in force"), ("accepted", None)),
    "rejected": _Filter(phrase("Rejected"), phrase("Decisions: rejected"), ("rejected",)),
    "superseded": _Filter(phrase("Superseded"), phrase("Decisions: superseded"), ("superseded",)),
    "unclear": _Filter(phrase("Unclear"), phrase("Decisions: unclear"), ("unclear",)),
    "no-status": _Filter(phrase("No status"), phrase("Decisions: no status"), (None,)),
    "by-position": _Filter(phrase("By position"), phrase("Decisions: by position")),
    "by-source": _Filter(phrase("By source"), phrase("Decisions: by source")),
    "proposals": _Filter(phrase("Proposals"), phrase("Proposals")),
    "documents": _Filter(phrase("Other documents"), phrase("Other documents")),
}
"""The filters by the name of their page, which never changes."""


_INTROS: Mapping[str, str] = {
    "in-force": phrase("Decided, and neither rejected nor superseded."),
    "unclear": phrase("Their status does not say whether they were accepted. They are not in force."),
    "no-status": phrase("They do not state a status."),
    "by-position": phrase("By who decided. If a decision does not say who, by the position whose repo it is in."),
    "proposals": phrase("Proposals, pending first, with the decisions on them."),
    "documents": phrase("Indexes, READMEs and other documents. They are neither decisions nor proposals."),
}


def plan_decisions(context: Context) -> Iterator[DecisionsPage | ListPage | Written]:
    """The list, its filters, the parts with everything in order of arrival, and the twins."""
    artifacts = context.archive.artifacts.values()
    merged = {ref for one in artifacts for ref in one.same_matter if ref[0] == "record"}
    again = {ref for some in context.same_decisions.values() for ref in some[1:]}
    found = [
        one
        for one in artifacts
        if (isinstance(one, Document) or sort_of(one) == "decision" or (one.owed_by and not isinstance(one, Memo)))
        and one.ref not in merged
    ]
    lists = _Lists(
        is_searched=not found and _is_said(context),
        context=context,
        day=newest_day(context),
        deciders=_Deciders(context),
        records=newest_first(one for one in found if sort_of(one) == "decision"),
        decisions=newest_first(one for one in found if sort_of(one) == "decision" and one.ref not in again),
        proposals=newest_first(one for one in found if sort_of(one) == "proposal"),
        others=newest_first(one for one in found if sort_of(one) == "other"),
    )
    former = tuple(page.group_anchors(_former_headings(found)))
    for name in VIEWS:
        yield _page(lists, name, parts=page.part_count(found), former=former)
    yield from page.plan_parts(
        context, urls.DECISIONS, phrase("Decisions and documents"), found, section_name="decisions"
    )
    yield from page.list_twins(context, urls.DECISIONS, phrase("Decisions and documents"), found, facts={})


def _former_headings(found: Iterable[Artifact]) -> list[str]:
    """The headings of the sections that the page once had: anchors were made of them."""
    documents, decisions = set(), set()
    for one in found:
        if isinstance(one, Document):
            documents.add(f"{one.head.file.source}/{one.head.file.path.rpartition('/')[0]}")
        elif isinstance(one, Record):
            rejected = ", rejected" if system_of(one.card).is_rejected(one.card) else ""
            decisions.add(f"{one.card.file.source}: {one.system}{rejected}")
    return [*sorted(documents), *sorted(decisions)]


class _Lists(Value):
    """Decisions, proposals and other documents, each newest first. `records` has each decision of each system."""

    context: Context
    day: dt.date | None
    records: Sequence[Artifact]
    decisions: Sequence[Artifact]
    proposals: Sequence[Artifact]
    others: Sequence[Artifact]
    deciders: "_Deciders"
    is_searched: bool
    """Whether a search for decisions is offered where there are none."""

    @property
    def found(self) -> bool:
        """Whether there is anything to list."""
        return bool(self.decisions or self.proposals or self.others)

    def of(self, view: str) -> Sequence[Artifact]:
        """What a filter leaves; without one, proposals that nobody has decided are there, too."""
        if not view:
            return [*self.decisions, *self.waiting()]
        if leaves := VIEWS[view].leaves:
            waiting = self.waiting() if view == "pending" else []
            of_standing = (one for one in self.decisions if standing_of(one) in leaves)
            return [*(one for one in of_standing if one.owed_by or standing_of(one) != "pending"), *waiting]
        others = {"proposals": self.proposals, "documents": self.others, "by-source": self.records}
        return others.get(view, self.decisions)

    def waiting(self) -> list[Artifact]:
        """What is pending besides decisions: proposals, and what else has a status that awaits somebody."""
        return [one for one in (*self.proposals, *self.others) if one.owed_by]


def _page(lists: _Lists, view: str, *, parts: int, former: tuple[str, ...]) -> DecisionsPage:
    start = f"{urls.DECISIONS}{view}/" if view else urls.DECISIONS
    context, found = lists.context, lists.of(view)
    return DecisionsPage(
        **page.head_of(context, start, title=VIEWS[view].title, section="decisions"),
        twins=() if view else page.twin_links(start, urls.DECISIONS),
        parts=page.part_links(start, urls.DECISIONS, parts, None),
        intro=(_INTROS.get(view, "") if view else _intro(lists)) if lists.found else "",
        newest=as_of(lists.day),
        views=tuple(_views(lists, start, view)),
        groups=tuple(_cut(lists, start, VIEWS[view].title, _groups(lists, view, found))),
        lives=None if view else _lives(lists),
        former=former if not view else (),
        said=tuple(_said(lists, start)) if not (lists.found or view) else (),
        offers_search=lists.is_searched,
    )


_LIVES = 12
"""The most decisions whose lives are drawn."""


def _lives(lists: _Lists) -> Spans | None:
    """From when the newest decisions were proposed, decided and superseded; None if no two of that are known of any."""
    found: list[tuple[Artifact, dict[str, dt.date]]] = []
    for one in lists.decisions:
        proposals, successor = artifact_page.proposals_of(lists.context, one), artifact_page.successor_of(one)
        later = lists.context.archive.artifacts.get(successor) if successor else None
        decided = None if standing_of(one) == "pending" else read_moment(decided_on(one)) or one.date
        steps = {
            "proposed": min((first.date for first in proposals if first.date), default=None, key=attrgetter("instant")),
            "decided": decided,
            "superseded": later.date if later else None,
        }
        days = {step: dt.date.fromisoformat(date.day) for step, date in steps.items() if date}
        if len(days) > 1 and list(days.values()) == sorted(days.values()) and len({*days.values()}) > 1:
            found.append((one, days))
        if len(found) == _LIVES:
            break
    if not found or lists.day is None:
        return None
    first = min(min(days.values()) for _, days in found)
    rows = (_life(one, days, first, lists.day) for one, days in found)
    columns = (
        phrase("days after {day}", day=first.isoformat()), phrase("pending, in days"), phrase("in force, in days"),
    )  # fmt: skip
    return Spans(
        anchor="lives",
        caption=phrase("The newest decisions with two or more known dates: proposed, decided, superseded."),
        corner=phrase("Decision"),
        columns=tuple(PictureColumn(label=label) for label in columns),
        rows=tuple(rows),
    )


def _life(one: Artifact, days: Mapping[str, dt.date], first: dt.date, last: dt.date) -> PictureRow:
    """A decision from its first day on; what is in force is so until the newest date of the archive."""
    begin, decided = min(days.values()), days.get("decided")
    end = days.get("superseded") or max(last, *days.values())
    held = (end - decided).days if decided and standing_of(one) != "rejected" else 0
    numbers = ((begin - first).days, ((decided or end) - begin).days, held)
    return PictureRow(
        label=Reference(label=one.short_subject, href=urls.relative(urls.DECISIONS, urls.page_of(one))),
        cells=tuple(Cell(number=number) for number in numbers),
        note=joined(" · ", [joined(" ", (_STEPS[step], day.isoformat())) for step, day in days.items()]),
    )


_STEPS = {"proposed": phrase("proposed"), "decided": phrase("decided"), "superseded": phrase("superseded")}


def _intro(lists: _Lists) -> str:
    """What the list of all has; with the day of the newest decision, so that nobody looks for later ones."""
    dates = sorted((one.date for one in lists.decisions if one.date), key=attrgetter("instant"))
    newest = dates[-1] if dates else None
    if newest is None:
        return phrase("Decisions and pending proposals by date, the pending ones first.")
    return phrase(
        "Decisions by date, pending first; the newest is of {day}. In force is what was decided, and is neither "
        "rejected nor superseded. What several systems have is listed once, and leads to each of them.",
        day=newest.day,
    )


def _is_said(context: Context) -> bool:
    """Whether a search for decisions finds anything: one of its words is in a subject or the beginning of a text."""
    said = (text for one in context.archive.artifacts.values() for text in (one.subject, one.summary))
    return any(map(_SAYS_DECIDED.search, said))


def _said(lists: _Lists, start: str) -> Iterator[ListSection]:
    """What speaks of a decision in its subject, the newest first."""
    found = [one for one in lists.context.archive.artifacts.values() if _SPEAKS.search(one.subject)]
    if found:
        heading = phrase("Items whose subject mentions a decision")
        yield page.section(lists.context, start, heading, found, anchor="said", limit=_SAID)


def _views(lists: _Lists, start: str, current: str) -> Iterator[View]:
    if not lists.found:
        return
    for view, words in VIEWS.items():
        total = None if view.startswith("by-") else len(lists.of(view))
        is_told_apart = total and not (view == "accepted" and total == len(lists.of("in-force")))
        if not is_told_apart and view in {"accepted", "unclear", "no-status", "documents"} and view != current:
            continue
        href = None if view == current else urls.relative(start, f"{urls.DECISIONS}{view}/" if view else urls.DECISIONS)
        yield View(page=Reference(label=words.name, href=href), total=total)


def _groups(lists: _Lists, view: str, found: Sequence[Artifact]) -> Mapping[tuple[str, str], list[Artifact]]:
    """Heading and anchor of each group, with its artifacts."""
    groups: dict[tuple[str, str], list[Artifact]] = defaultdict(list)
    if view.startswith("by-"):
        for one in found:
            source = one.copies[0].file.source
            by_source = [(source, re.sub(r"[^\w.~-]+", "-", source))]
            for label, key in lists.deciders.of(one) if view == "by-position" else by_source:
                groups[label, f"{view.removeprefix('by-')}-{key}" if key else _NO_POSITION].append(one)
        order = sorted(groups, key=lambda group: (group[1] == _NO_POSITION, group))
        return {group: groups[group] for group in order[:_GROUPS]}
    waiting = sorted((one for one in found if one.owed_by), key=lambda one: one.sort_key)
    for one in waiting:  # what waits longest comes first
        is_proposal = sort_of(one) == "proposal" and view != "proposals"
        groups[
            (phrase("Pending proposals"), "pending-proposals") if is_proposal else (phrase("Pending"), "pending")
        ].append(one)
    there = {one.ref for one in waiting}
    for one in found:
        if one.ref not in there:
            month = one.date.day[:7] if one.date else ""
            groups[month_name(month.replace("-", "/")) if month else phrase("No date"), month or "undated"].append(one)
    for undated in (rows for (_, anchor), rows in groups.items() if anchor == "undated"):
        page.sort_bullets(undated)
    return groups


class _Deciders:
    """Finds the positions that decided: those that a head names, else the only one whose repo it is."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._names = {name.casefold(): id_ for name, id_ in context.archive.position_of.items()}
        self._names |= {id_.casefold(): id_ for id_ in context.archive.positions}
        self._owners: dict[str, set[str]] = defaultdict(set)
        for id_, position in context.archive.positions.items():
            if position.repo and not position.union_of:
                self._owners[position.repo].add(id_)

    def of(self, one: Artifact) -> list[tuple[str, str]]:
        """Their labels and ids; "No position" if none is known."""
        said = decided_by(one)
        words = (part.strip(" .()").casefold().removeprefix("the ") for part in re.split(r"[,;/&()]|\band\b", said))
        archive, source = self._context.archive, one.copies[0].file.source
        known = (self._names[word] for word in words if word in self._names)
        found = dict.fromkeys(nearest_member(archive.positions, archive.organizations, id_, source) for id_ in known)
        owner = self.owner_of(one)
        ids = list(found) or ([owner] if owner and not said else [])
        return [(self._context.label(id_), id_) for id_ in ids] or [(phrase("No position"), "")]

    def owner_of(self, one: Artifact) -> str | None:
        """The only position whose repo it is in."""
        owners = self._owners.get(one.copies[0].file.source, set())
        return next(iter(owners)) if len(owners) == 1 else None


def shown_decider(one: Artifact) -> str | None:
    """Who decided, as pages show it; "" for a decision that does not say, None for what nobody has decided."""
    is_decided = sort_of(one) == "decision" and standing_of(one) != "pending" and not one.withheld
    return cut_line(decided_by(one), DECIDER_CHARS) or ("" if is_decided else None)


def _cut(
    lists: _Lists, start: str, title: str, groups: Mapping[tuple[str, str], Sequence[Artifact]]
) -> Iterator[DecisionGroup]:
    """The groups with their rows, all together no more than one list may have."""
    left = LIST_LIMIT
    for (heading, anchor), found in groups.items():
        shown = found[:left]
        left -= len(shown)
        rows = tuple(_without_said(_row(lists, start, one), heading, title) for one in shown)
        if rows:
            yield DecisionGroup(heading=heading, anchor=anchor, rows=rows, total=len(found))


def _without_said(row: DecisionRow, heading: str, title: str) -> DecisionRow:
    """A row without what the heading and the title say: how it stands, and who decided or whose repo it is in."""
    return replace(
        without_said(row, f"{title}: {heading}"),
        is_standing_said=bool(row.standing) and f"{row.standing}" in f"{title} {heading}".lower().split(),
        by=None if row.by == heading else row.by,
        repo_of=None if row.repo_of and row.repo_of.label == heading else row.repo_of,
    )


def _row(lists: _Lists, start: str, one: Artifact) -> DecisionRow:
    context, standing, sort = lists.context, standing_of(one), sort_of(one)
    proposals = artifact_page.proposals_of(context, one)[:_NAMED]
    on_it = artifact_page.decisions_on(context, one)[:_NAMED]
    decided = [other for other in on_it if not other.owed_by]
    is_pending = bool(one.owed_by) or len(on_it) > len(decided)  # a proposal waits as the decision on it does
    records = [other.ref for other in artifact_page.records_of(context, one)] if sort == "decision" else []
    records = list(dict.fromkeys((*(ref for ref in one.same_matter if ref[0] == "record"), *records)))[:_NAMED]
    owner = lists.deciders.owner_of(one)
    return DecisionRow(
        kind=one.kind,
        href=urls.relative(start, urls.page_of(one)),
        short_subject=one.short_subject,
        type=f"{one.system} {one.card.type}".strip() if isinstance(one, Record) else _SORTS[sort],
        date=one.date,
        standing="pending" if is_pending else None if sort == "other" or decided else standing,
        status=one.short_status,
        source=one.copies[0].file.source,
        by=shown_decider(one),
        on=decided_on(one) if one.date is None or decided_on(one) != one.date.day else "",
        repo_of=context.position(start, owner) if owner and sort == "decision" and not decided_by(one) else None,
        age=age(one.date, lists.day) if one.owed_by else "",
        excerpt=excerpt(one),
        waits_for=few(one.waits_for, partial(context.position, start)),
        successor=context.successor(start, one),
        proposals=tuple(context.artifact(start, other.ref) for other in proposals),
        decided_in=tuple(context.artifact(start, other.ref) for other in decided),
        to_decide=tuple(context.artifact(start, other.ref) for other in on_it if other.owed_by),
        recorded_in=tuple(context.record(start, ref) for ref in records),
    )


# Plans the pages of documents.


def plan_document(context: Context, document: Document) -> DocumentPage:
    """The page of a document."""
    start = urls.artifact_page(document.ref)
    head = document.head
    return DocumentPage(
        **artifact_page.artifact_fields(context, document, start, section="decisions"),
        body=artifact_page.body_of(context, start, document, head.text),
        is_cut=head.text.chars > PAGE_CHARS,
        extra=artifact_page.shown_extra(head.extra),
        status=document.short_status,
        decided_by=shown_decider(document),
        decided_on=decided_on(document) if document.date is None or decided_on(document) != document.date.day else "",
        source=head.file.source,
        file=head.file.path,
    )


# Plans the pages of libraries, the catalogs of templates.


def plan_library(context: Context, library: Library) -> Iterator[LibraryPage]:
    """The page of a library; several for the rest of an orgdef, which is shown as it is."""
    here, rest = urls.artifact_page(library.ref), library.card.rest
    yield from page.in_verbatim_parts(context, here, rest, partial(_library_page, context, library))


def _library_page(context: Context, library: Library, start: str) -> LibraryPage:
    card = library.card
    source = {source.name: source for source in context.archive.sources}.get(card.file.source)
    folder = card.file.path.rpartition("/")[0]

    def file_reference(path: str) -> Reference:
        inside = (
            f"{folder}/{path}".strip("/") if path and ".." not in path.split("/") and not path.startswith("/") else ""
        )
        return Reference(label=path, href=artifact_page.web_address(source, inside) if inside else None)

    return LibraryPage(
        **artifact_page.artifact_fields(context, library, start),
        body=Body(sha256=card.file.sha256, form="verbatim", chars=card.file.bytes) if card.broken else None,
        is_cut=card.broken is not None and card.file.bytes > PAGE_CHARS,
        is_broken=card.broken is not None,
        extra=artifact_page.shown_extra(card.extra),
        version=card.version,
        summary=card.description,
        items=tuple(
            (
                replace(item, extra=artifact_page.shown_extra(item.extra, limit=artifact_page.PART_CHARS)),
                file_reference(item.file),
            )
            for item in card.items
        ),
    )
