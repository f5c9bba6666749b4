"""Plans the site: from the archive to every page and file of it, as closed models and plain bytes.

    Archive ─► Context ─► units ─┬─► pages (home, organization, positions, threads, artifacts, months …)
                                 └─► files (twins, originals, feeds, blocks, the machine's archive, the ledger)

Planning is lazy: a unit says what it is made of, and plans its outputs only when it is made. A thread is one unit
with its memos, so that a text rendered for a memo's page is still at hand for its thread's.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from xml.sax.saxutils import escape

from memosite.archive.ledger import LEDGER_PATH, Ledger
from memosite.archive.lines import artifact_line, dump_line, is_broken
from memosite.archive.model import Archive, Artifact, Memo, Position, Thread
from memosite.archive.urls import (
    ACTIONS,
    absolute,
    archive_lines,
    month_page,
    page_of,
    position_page,
    system_page,
    thread_page,
)
from memosite.plan.channels import all_channels
from memosite.plan.common import originals
from memosite.plan.context import Context
from memosite.plan.decisions import decisions_twins, plan_decisions
from memosite.plan.digests import Digest, closed_digests, plan_digest, plan_digest_lists, plan_former_digests
from memosite.plan.documents import plan_document, plan_library
from memosite.plan.feed_page import plan_feed_page, plan_thread_feeds, thread_feeds
from memosite.plan.feeds import Arranged, arrange, feed_units
from memosite.plan.files import SavedSearch, Stored, Written, published_searches
from memosite.plan.home import plan_former, plan_health, plan_home, plan_not_found, redirect
from memosite.plan.lists import (
    asked_for,
    by_month,
    month_name,
    part_count,
    plan_action_part,
    plan_actions,
    plan_month,
    plan_timeline,
)
from memosite.plan.lives import has_changes, plan_changes
from memosite.plan.memos import plan_ghost, plan_memo
from memosite.plan.parts import in_parts
from memosite.plan.positions import plan_organization, plan_position, record
from memosite.plan.records import plan_record
from memosite.plan.rules import FeedRules
from memosite.plan.search import block_members, plan_block, plan_former_searches, plan_search
from memosite.plan.systems import plan_entities, plan_systems, systems_twins
from memosite.plan.threads import plan_thread
from memosite.plan.transcripts import plan_transcript
from memosite.plan.twins import artifact_twins, list_twins, position_twins, thread_twins, to_json
from memosite.plan.units import Planned, Unit

__all__ = ["Context", "FeedRules", "Planned", "SavedSearch", "Stored", "Unit", "Written", "plan"]


_SEATS = 100
"""The most positions that `llms.txt` names."""

_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_SITEMAP = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def plan(context: Context, ledger: Ledger, searches: Sequence[SavedSearch] = ()) -> Iterator[Unit]:
    """Everything the site consists of, `status.json` apart. `ledger` is the one that holds this archive."""
    archive = context.archive
    months = by_month(archive.artifacts.values())
    systems = {one.ref: one.system for found in context.records.values() for one in found}
    ledger = ledger.with_records(systems, context.entities).with_pages(
        (), (), chain(_dated_pages(archive, months), published_searches(searches))
    )
    digests = closed_digests(context)
    feeds, new_blocks = arrange(all_channels(context, ledger, searches), ledger, archive.artifacts)
    ledger = ledger.with_feeds(new_blocks, [digest.day for digest in digests])
    # Whoever looks at many artifacts weighs as if a few were made: at 100,000 each such unit is a batch of its own, so
    # that no process copies the whole archive at once (`workers`).
    whole = partial(_whole, weight=1 + len(archive.artifacts) // 2_000)
    # The ledger goes first: should the build be killed, no URL is published that it does not know.
    yield whole("ledger", lambda _: [Written(path=LEDGER_PATH, data=ledger.to_jsonl().encode("utf-8", "replace"))])
    # Pages may be looked at as soon as they are written. Artifacts come first, so that what others list is there; only
    # the page of a seat or month that is new comes a moment after what leads to it.
    yield from _artifact_units(archive)
    yield whole("home", lambda context: [plan_home(context, months)])
    for position in archive.positions.values():
        make = partial(_position, position=position)
        weight = 1 + len(context.by_position.get(position.id, ())) // 100
        yield Unit(name=f"position/{position.id}", make=make, given=position, weight=weight)
    yield whole("organization", plan_organization)
    yield whole("actions", _actions)
    yield from _action_parts(context)
    yield whole("decisions", lambda context: chain(plan_decisions(context), _written(decisions_twins(context))))
    yield whole("systems", partial(_systems, ledger=ledger))
    yield whole("timeline", lambda context: [plan_timeline(context, months)])
    yield from _month_units(months)
    yield whole("health", plan_health)
    yield whole("former", lambda context: chain(plan_former(context, ledger, months), [plan_not_found(context)]))
    yield from _digest_units(digests)
    yield whole(
        "digests",
        lambda context: chain(plan_digest_lists(context, digests), plan_former_digests(context, ledger, digests)),
    )
    blocks = block_members(context)
    for name, members in blocks:
        make_block = partial(plan_block, name=name, members=members)
        yield Unit(name=f"block/{name}", make=make_block, given=members, weight=len(members))
    # The page of search and the list of blocks come when all blocks are there.
    names = [name for name, _ in blocks]
    yield whole(
        "search",
        lambda context: chain(plan_search(context, searches, names), plan_former_searches(context, ledger, searches)),
    )
    yield whole("feeds", lambda context: plan_feed_page(context, [one.channel for one in feeds]))
    threads = thread_feeds(one.channel for one in feeds)
    yield Unit(name="feeds/threads", make=partial(plan_thread_feeds, threads=threads), given=threads)
    for unit in _units_for_programs(months, feeds):
        yield replace(unit, is_for_programs=True)


def _units_for_programs(months: Mapping[str, Sequence[Artifact]], feeds: Iterable[Arranged]) -> Iterator[Unit]:
    yield _whole("archive", lambda context: [_archive_index(context, months)])
    yield _whole("robots", lambda context: _for_robots(context, months))
    # Feeds go last: what they announce is there when they do.
    yield from feed_units(feeds)


def _whole(name: str, make: Callable[[Context], Iterable[Planned]], *, weight: int = 1) -> Unit:
    return Unit(name=name, make=make, is_traced=False, weight=weight)


def _dated_pages(archive: Archive, months: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The pages of months and of changes, as the ledger knows them."""
    for month in months:
        yield "month", month
    for artifact in archive.artifacts.values():
        if has_changes(artifact):
            yield "changes", "/".join(artifact.ref)


def _written(outputs: Iterable[tuple[str, bytes]]) -> Iterator[Written]:
    for path, data in outputs:
        yield Written(path=path, data=data)


def _actions(context: Context) -> Iterator[Planned]:
    yield from plan_actions(context)
    yield from _written(list_twins(ACTIONS, "Actions", asked_for(context), facts={}))


def _action_parts(context: Context) -> Iterator[Unit]:
    """The parts of the list of actions, each by itself: another memo changes few of them."""
    asked = asked_for(context)
    for number, chunk in enumerate(in_parts(asked) if part_count(asked) else (), 1):
        make = partial(plan_action_part, number=number, asked=chunk)
        yield Unit(name=f"actions/{number}", make=make, given=(number, chunk), weight=10)


def _systems(context: Context, *, ledger: Ledger) -> Iterator[Planned]:
    yield from plan_systems(context, ledger)
    yield from _written(systems_twins(context, ledger))
    yield from plan_entities(context, ledger)


def _month_units(months: Mapping[str, Sequence[Artifact]]) -> Iterator[Unit]:
    order = list(months)
    for place, (month, artifacts) in enumerate(months.items()):
        around = order[max(0, place - 1) : place], order[place + 1 : place + 2]
        yield Unit(
            name=f"month/{month}",
            make=partial(_month, month=month, artifacts=artifacts, around=around),
            given=(month, artifacts, around),
            weight=1 + len(artifacts) // 10,
        )


def _month(
    context: Context, *, month: str, artifacts: Sequence[Artifact], around: tuple[list[str], list[str]]
) -> Iterator[Planned]:
    """A month's pages, its twins, the machine's lines of it, and with a base_url its part of the sitemap."""
    yield from plan_month(context, month, artifacts, around=around)
    yield from _written(list_twins(month_page(month), month_name(month), artifacts, facts={}))
    lines = (
        dump_line(artifact_line(one, context.archive, base_url=context.site.base_url))
        for one in artifacts
        if not is_broken(one)
    )
    yield Written(path=archive_lines(month), data="".join(f"{line}\n" for line in lines).encode())
    if (base := context.site.base_url) is not None:
        pages = "".join(f"<url><loc>{escape(absolute(base, page_of(one)))}</loc></url>\n" for one in artifacts)
        yield Written(path=_sitemap(month), data=f"{_XML}<urlset {_SITEMAP}>\n{pages}</urlset>\n".encode())


def _digest_units(digests: Sequence[Digest]) -> Iterator[Unit]:
    for place, digest in enumerate(digests):
        around = digests[max(0, place - 1) : place], digests[place + 1 : place + 2]
        days = [one.day for some in around for one in some]
        make = partial(plan_digest, digest=digest, around=around)
        yield Unit(name=f"digest/{digest.day}", make=make, given=(digest, days))


def _position(context: Context, *, position: Position) -> Iterator[Planned]:
    """A position's pages and twins, and where its other names lead from (SPEC 3)."""
    here = position_page(position.id)
    everything = record(context, position)
    yield from plan_position(context, position, everything)
    yield from _written(position_twins(context, here, position, everything))
    for id_ in context.other_names(position):
        yield redirect(context, position_page(id_), here)


def _artifact_units(archive: Archive) -> Iterator[Unit]:
    """Threads with their memos, then all other artifacts."""
    for thread in archive.threads.values():
        make = partial(_thread, thread=thread)
        yield Unit(name=f"thread/{thread.id}", make=make, given=thread, weight=len(thread.entries))
    for ref, artifact in archive.artifacts.items():
        if not isinstance(artifact, Memo):
            yield Unit(name="/".join(ref), make=partial(_artifact, artifact=artifact), given=artifact)


def _thread(context: Context, *, thread: Thread) -> Iterator[Planned]:
    yield from plan_thread(context, thread)
    if len(thread.memos) > 1:
        yield from _written(thread_twins(context, thread_page(thread.id), thread))
    for entry in thread.entries:
        if entry.is_ghost:
            yield plan_ghost(context, context.archive.ghosts[entry.ref[1]])
        else:
            yield from _artifact(context, artifact=context.archive.artifacts[entry.ref])


def _artifact(context: Context, *, artifact: Artifact) -> Iterator[Planned]:
    match artifact.kind:
        case "memo" | "note":
            yield plan_memo(context, artifact)  # type: ignore[arg-type] # the kind says what it is
        case "transcript":
            yield from plan_transcript(context, artifact)  # type: ignore[arg-type]
        case "library":
            yield plan_library(context, artifact)  # type: ignore[arg-type]
        case "record":
            yield plan_record(context, artifact)  # type: ignore[arg-type]
        case _:
            yield plan_document(context, artifact)  # type: ignore[arg-type]
    yield from plan_changes(context, artifact)
    yield from _written(artifact_twins(context, artifact))
    for _, path, sha256 in originals(artifact):
        yield Stored(path=path, sha256=sha256)


def _archive_index(context: Context, months: Mapping[str, Sequence[Artifact]]) -> Written:
    archive: Archive = context.archive
    readable = {month: sum(not is_broken(one) for one in artifacts) for month, artifacts in months.items()}
    index = {
        "v": 1,
        "archive_id": context.archive_id,
        "authority": context.authority,
        "title": context.site.title,
        "generator": context.site.generator,
        "artifacts": len(archive.artifacts),
        "unreadable": len(archive.artifacts) - sum(readable.values()),
        "sources": [source.name for source in archive.sources],
        "positions": list(archive.positions),
        "months": [
            {"month": month, "artifacts": number, "lines": f"{month}.jsonl"} for month, number in readable.items()
        ],
        "ledger": "ledger.jsonl",
    }
    return Written(path="archive/index.json", data=to_json(index))


def _for_robots(context: Context, months: Iterable[str]) -> Iterator[Written]:
    """`llms.txt`, and with a base_url the index of the sitemap, whose files are those of months."""
    months = tuple(months)
    archive, base = context.archive, context.site.base_url
    lines = [
        f"# {context.site.title}",
        "",
        "> An archive of memos, notes, transcripts and documents.",
        "> Artifacts, threads, positions, months, actions, decisions and systems have twins:",
        "> index.json and index.md beside index.html.",
        "",
        "## Where to begin",
        "",
        "- [Actions](actions/index.md): what is asked for and not yet done",
        "- [Feeds](feeds/index.html): how to be told of every memo, once",
        "- [Machine's archive](archive/index.json): every artifact, a JSON object a line, a file a month",
        *(f"- [Memos of {context.label(id_)}](positions/{id_}/index.md)" for id_ in list(archive.positions)[:_SEATS]),
        *([f"- [All {len(archive.positions)} seats](org/index.html)"] if len(archive.positions) > _SEATS else []),
        *(f"- [Records of {system}]({system_page(system)}index.md)" for system in context.records),
        "",
        "## Months",
        "",
        *(f"- [{month_name(month)}]({month_page(month)}index.md)" for month in reversed(months)),
        "",
    ]
    yield Written(path="llms.txt", data="\n".join(lines).encode("utf-8", "replace"))
    if base is None:
        return
    files = "".join(f"<sitemap><loc>{escape(absolute(base, _sitemap(month)))}</loc></sitemap>\n" for month in months)
    yield Written(path="sitemap.xml", data=f"{_XML}<sitemapindex {_SITEMAP}>\n{files}</sitemapindex>\n".encode())


def _sitemap(month: str) -> str:
    """The path of the sitemap of a month."""
    return f"sitemap-{month.replace('/', '-')}.xml"
