"""Plans the lists of records: the systems, and each system in the ways it can be grouped."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from memosite.archive.ledger import Ledger
from memosite.archive.model import Record
from memosite.archive.urls import SYSTEMS, relative, system_page
from memosite.facts.phrases import phrase
from memosite.formats.status import status_of
from memosite.formats.system import GroupOrder
from memosite.formats.systems import find_system, system_of
from memosite.pages.models import ListPage, SystemsPage
from memosite.pages.parts import Reference, SystemRow
from memosite.plan.context import Context
from memosite.plan.files import Written
from memosite.plan.head import page_head, twin_links
from memosite.plan.pagination import part_count, part_links, plan_parts
from memosite.plan.sections import grouped_sections
from memosite.plan.twins import list_twins, name_twins

VIEWS: Mapping[str, Callable[[Record], Iterable[str | None]]] = MappingProxyType(
    {
        "kind": lambda record: (record.card.type,),
        "status": lambda record: (status_of(record),),
        "stage": lambda record: (record.card.stage,),
        "namespace": lambda record: (record.card.namespace,),
        "session": lambda record: record.card.sessions or ("",),
    }
)
"""By what the records of a system can be grouped besides its own way; each is a page below the system's."""

_BY: Mapping[str, str] = MappingProxyType(
    {
        "kind": phrase("By kind"),
        "status": phrase("By status"),
        "stage": phrase("By stage"),
        "namespace": phrase("By namespace"),
        "session": phrase("By session"),
    }
)
_NONE: Mapping[str, str] = MappingProxyType(
    {
        "No kind": phrase("No kind"),
        "No status": phrase("No status"),
        "No stage": phrase("No stage"),
        "No namespace": phrase("No namespace"),
        "No session": phrase("No session"),
    }
)
"""The headings of records without a value, by their keys, of which anchors were made."""
_NAMED = 20
"""The most types and sources that are named of a system among the others."""


def published_systems(context: Context, ledger: Ledger) -> tuple[str, ...]:
    """The systems that have a page: those with records, and those that had any when the site was built before."""
    return tuple(sorted({*context.records, *(one.system for one in ledger.arrivals if one.system)}))


def plan_systems(context: Context, ledger: Ledger) -> Iterator[SystemsPage | ListPage | Written]:
    """The overview of all systems, the pages of each, and their twins; nothing if there never was a record."""
    systems = published_systems(context, ledger)
    if not systems:
        return
    yield SystemsPage(
        **page_head(context, SYSTEMS, title=phrase("Records"), section="systems"),
        twins=twin_links(SYSTEMS, SYSTEMS),
        systems=tuple(_system_row(system, context.records.get(system, [])) for system in systems),
        entities=len(context.entities),
    )
    totals = [(system, system_page(system), len(context.records.get(system, []))) for system in systems]
    yield from name_twins(SYSTEMS, "Records", totals, facts={}, onward=SYSTEMS)
    for system in systems:
        yield from _plan_system(context, system, context.records.get(system, []))


def _system_row(system: str, records: Sequence[Record]) -> SystemRow:
    types = Counter(record.card.type for record in records)
    ordered = sorted(types, key=lambda type_: (-types[type_], type_))
    sources = sorted({record.card.file.source for record in records})
    return SystemRow(
        system=Reference(label=system, href=relative(SYSTEMS, system_page(system))),
        total=len(records),
        types=tuple((type_, types[type_]) for type_ in ordered[:_NAMED]),
        more_types=max(0, len(ordered) - _NAMED),
        sources=tuple(sources[:_NAMED]),
        more_sources=max(0, len(sources) - _NAMED),
    )


def _plan_system(context: Context, system: str, records: Sequence[Record]) -> Iterator[ListPage | Written]:
    here = system_page(system)
    yield _list_page(context, system, here, records, _own_groups(records))
    yield from plan_parts(context, here, system, records, section_name="systems")
    for view in VIEWS:
        yield _list_page(context, system, f"{here}{view}/", records, _groups_by(view, records))
    yield from list_twins(context, here, system, records, facts={"system": system})


def _list_page(
    context: Context, system: str, start: str, records: Sequence[Record], groups: Mapping[str, Sequence[Record]]
) -> ListPage:
    """A system in one of the ways to group it; all of them lead to the same parts, which hold everything."""
    here = system_page(system)
    view = start.removeprefix(here).strip("/")
    return ListPage(
        **page_head(context, start, title=_title(system, view), section="systems"),
        feeds=(Reference(label=phrase("Records of {system}", system=system), href=relative(start, here + "feed.xml")),),
        twins=() if view else twin_links(start, here),
        parts=part_links(start, here, part_count(records), None),
        intro=known.intro if (known := find_system(system)) else "",
        sections=grouped_sections(context, start, groups, names=_NONE),
        views=tuple(_views(system, start, records)),
    )


def _title(system: str, view: str) -> str:
    match view:
        case "kind":
            return phrase("{system} by kind", system=system)
        case "status":
            return phrase("{system} by status", system=system)
        case "stage":
            return phrase("{system} by stage", system=system)
        case "namespace":
            return phrase("{system} by namespace", system=system)
        case "session":
            return phrase("{system} by session", system=system)
        case _:
            return system


def _views(system: str, start: str, records: Sequence[Record]) -> Iterable[Reference]:
    """Links to the ways of grouping that are useful here; the one that is shown is no link."""
    here = system_page(system)
    useful = [view for view, values in VIEWS.items() if any(value for record in records for value in values(record))]
    for view in ("", *useful):
        target = f"{here}{view}/" if view else here
        label = _BY[view] if view else phrase("Overview")
        yield Reference(label=label, href=None if target == start else relative(start, target))


def _groups_by(view: str, records: Sequence[Record]) -> dict[str, list[Record]]:
    """Records by each value they have, in the order of the values; what has none comes last."""
    found: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        for value in dict.fromkeys(VIEWS[view](record)):
            found[value or ""].append(record)
    ordered = sorted(found, key=lambda value: (not value, value.casefold(), value))
    return {value or f"No {view}": found[value] for value in ordered}


def _own_groups(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Records by their system's own grouping, in its own order."""
    found: dict[tuple[GroupOrder, str], list[Record]] = defaultdict(list)
    for record in records:
        found[system_of(record.card).group(record.card)].append(record)
    groups: dict[str, list[Record]] = {}
    for place, heading in sorted(found):
        groups.setdefault(heading, []).extend(found[place, heading])
    return groups
