"""Plans the site: from the archive to every page and file of it, as closed models and plain bytes.

    Archive ─► Context ─► pages (home, organization, positions, threads, artifacts, months, actions, health …)
                      └─► files (twins, originals, feeds, the machine's archive, the ledger)

Planning is lazy: pages come one at a time, those of a thread together, so that memory does not grow with the
archive and a text rendered for a memo's page is still at hand for its thread's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from xml.sax.saxutils import escape

from memosite.feeds import FeedFile
from memosite.ledger import LEDGER_PATH, Ledger
from memosite.lines import artifact_line, dump_line, is_broken
from memosite.model import Archive, Artifact, Memo, Position
from memosite.pages import Page
from memosite.plan.channels import all_channels
from memosite.plan.common import originals
from memosite.plan.context import Context
from memosite.plan.decisions import decisions_twins, plan_decisions
from memosite.plan.digests import closed_digests, plan_digests, plan_former_digests
from memosite.plan.documents import plan_document, plan_library
from memosite.plan.feed_page import plan_feed_page
from memosite.plan.feeds import arrange, plan_feeds
from memosite.plan.files import SavedSearch, Stored, Written
from memosite.plan.home import plan_former, plan_health, plan_home, plan_not_found, redirect
from memosite.plan.lists import by_month, month_name, plan_actions, plan_months, plan_timeline
from memosite.plan.lives import has_changes, plan_changes
from memosite.plan.memos import plan_ghost, plan_memo
from memosite.plan.positions import plan_organization, plan_position, record
from memosite.plan.records import plan_record
from memosite.plan.rules import FeedRules
from memosite.plan.search import plan_blocks, plan_search
from memosite.plan.systems import plan_entities, plan_systems, systems_twins
from memosite.plan.threads import plan_thread
from memosite.plan.transcripts import plan_transcript
from memosite.plan.twins import artifact_twins, list_twins, position_twins, thread_twins, to_json
from memosite.urls import ACTIONS, absolute, archive_lines, month_page, page_of, position_page, system_page, thread_page

__all__ = ["Context", "FeedRules", "SavedSearch", "Stored", "Written", "plan", "plan_blocks"]


_SEATS = 100
"""The most positions that `llms.txt` names."""

Planned = Page | FeedFile | Written | Stored


def plan(context: Context, ledger: Ledger, searches: Sequence[SavedSearch] = ()) -> Iterator[Planned]:
    """Everything the site consists of, `status.json` and blocks apart. `ledger` is the one that holds this archive."""
    archive = context.archive
    months = by_month(archive.artifacts.values())
    systems = {one.ref: one.system for found in context.records.values() for one in found}
    ledger = ledger.with_records(systems, context.entities).with_pages((), (), _dated_pages(archive, months))
    digests = closed_digests(context)
    feeds, new_blocks = arrange(all_channels(context, ledger, searches), ledger)
    ledger = ledger.with_feeds(new_blocks, [digest.day for digest in digests])
    # The ledger goes first: should the build be killed, no URL is published that it does not know.
    yield Written(path=LEDGER_PATH, data=ledger.to_jsonl().encode("utf-8", "replace"))
    yield plan_home(context, months)
    yield from plan_organization(context)
    yield from plan_actions(context)
    asked = [memo for memo in archive.memos() if memo.action is not None]
    yield from _written(list_twins(ACTIONS, "Actions", asked, facts={}))
    yield from plan_decisions(context)
    yield from _written(decisions_twins(context))
    yield from plan_systems(context, ledger)
    yield from _written(systems_twins(context, ledger))
    yield from plan_entities(context, ledger)
    yield plan_timeline(context, months)
    yield from plan_months(context, months)
    yield from plan_health(context)
    yield from plan_search(context, searches)
    for position in archive.positions.values():
        yield from _position(context, position)
    yield from _artifacts(context)
    for month, artifacts in months.items():
        yield from _written(list_twins(month_page(month), month_name(month), artifacts, facts={}))
        lines = (
            dump_line(artifact_line(one, archive, base_url=context.site.base_url))
            for one in artifacts
            if not is_broken(one)
        )
        yield Written(path=archive_lines(month), data="".join(f"{line}\n" for line in lines).encode())
    yield Written(path="archive/index.json", data=to_json(_archive_index(context, months)))
    yield from plan_former(context, ledger)
    yield plan_not_found(context)
    yield from _for_robots(context, months)
    yield from plan_digests(context, digests)
    yield from plan_former_digests(context, ledger, digests)
    yield from plan_feed_page(context, [one.channel for one in feeds])
    # Feeds go last: what they announce is there when they do.
    yield from plan_feeds(context, feeds)


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


def _position(context: Context, position: Position) -> Iterator[Planned]:
    """A position's pages and twins, and where its other names lead from (SPEC 3)."""
    here = position_page(position.id)
    yield from plan_position(context, position)
    yield from _written(position_twins(context, here, position, record(context, position)))
    for id_ in context.other_names(position):
        yield redirect(context, position_page(id_), here)


def _artifacts(context: Context) -> Iterator[Planned]:
    """Threads with their memos, then all other artifacts."""
    archive = context.archive
    for thread in archive.threads.values():
        yield from plan_thread(context, thread)
        if len(thread.memos) > 1:
            yield from _written(thread_twins(context, thread_page(thread.id), thread))
        for entry in thread.entries:
            if entry.is_ghost:
                yield plan_ghost(context, archive.ghosts[entry.ref[1]])
            else:
                yield from _artifact(context, archive.artifacts[entry.ref])
    for artifact in archive.artifacts.values():
        if not isinstance(artifact, Memo):
            yield from _artifact(context, artifact)


def _artifact(context: Context, artifact: Artifact) -> Iterator[Planned]:
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


def _archive_index(context: Context, months: Mapping[str, Sequence[Artifact]]) -> dict[str, object]:
    archive: Archive = context.archive
    return {
        "v": 1,
        "archive_id": context.archive_id,
        "authority": context.authority,
        "title": context.site.title,
        "generator": context.site.generator,
        "artifacts": len(archive.artifacts),
        "unreadable": sum(1 for one in archive.artifacts.values() if is_broken(one)),
        "sources": [source.name for source in archive.sources],
        "positions": list(archive.positions),
        "months": [
            {"month": month, "artifacts": sum(not is_broken(one) for one in artifacts), "lines": f"{month}.jsonl"}
            for month, artifacts in months.items()
        ],
        "ledger": "ledger.jsonl",
    }


def _for_robots(context: Context, months: Mapping[str, Sequence[Artifact]]) -> Iterator[Written]:
    """`llms.txt`, and with a base_url the sitemap: an index, and one file a month."""
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
        *(f"- [{month_name(month)}]({month_page(month)}index.md)" for month in reversed(list(months))),
        "",
    ]
    yield Written(path="llms.txt", data="\n".join(lines).encode("utf-8", "replace"))
    if base is None:
        return
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    namespace = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    files = []
    for month, artifacts in months.items():
        path = f"sitemap-{month.replace('/', '-')}.xml"
        pages = "".join(f"<url><loc>{escape(absolute(base, page_of(one)))}</loc></url>\n" for one in artifacts)
        yield Written(path=path, data=f"{head}<urlset {namespace}>\n{pages}</urlset>\n".encode())
        files.append(f"<sitemap><loc>{escape(absolute(base, path))}</loc></sitemap>\n")
    yield Written(
        path="sitemap.xml", data=f"{head}<sitemapindex {namespace}>\n{''.join(files)}</sitemapindex>\n".encode()
    )
