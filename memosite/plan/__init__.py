"""Plans the site: from the archive to every page and file of it, as closed models and plain bytes.

    Archive ─► Context ─► units ─┬─► pages (home, organization, positions, threads, artifacts, months …)
                                 └─► files (twins, originals, feeds, blocks, the machine's archive, the ledger)

`plan` lists what the site consists of; each page is planned in the module of its name. Planning is lazy: a unit
names its inputs, and plans its outputs only when it is made.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from memosite import __version__
from memosite.archive.ledger import LEDGER_PATH, Ledger
from memosite.archive.model import Archive, Artifact, Document, Library, Memo, Record, Thread, Transcript
from memosite.archive.seals import SEALS_PATH, SealLog
from memosite.archive.urls import UNDATED_MONTH, page_of
from memosite.config.loading import Contract
from memosite.config.schema import Config
from memosite.facts.parsed import Withheld
from memosite.facts.values import Value, replace
from memosite.pages import Site
from memosite.plan.actions import action_part_units, plan_actions, position_action_units
from memosite.plan.artifact_page import originals
from memosite.plan.artifact_twins import artifact_twin, bundle_pages, bundle_units, former_bundles
from memosite.plan.context import Context, Planned, Stored, Unit, Written, traced_unit, untraced
from memosite.plan.contract import plan_contract
from memosite.plan.dates import by_month
from memosite.plan.decisions import plan_decisions, plan_document, plan_library
from memosite.plan.feed_page import plan_feed_page, thread_feeds_unit
from memosite.plan.feeds import all_channels, arrange, feed_units
from memosite.plan.health import plan_health
from memosite.plan.history import has_changes, plan_changes
from memosite.plan.home import plan_home
from memosite.plan.machine_archive import archive_index, continued, plan_for_robots, plan_images, plan_seal
from memosite.plan.memos import plan_memo, plan_missing_memo
from memosite.plan.mentions import plan_citations
from memosite.plan.months import digest_units, find_digests, month_units, plan_digest_lists, plan_timeline
from memosite.plan.organization import plan_organization
from memosite.plan.page import twin_files
from memosite.plan.positions import position_units
from memosite.plan.records import plan_entities, plan_record, plan_systems
from memosite.plan.removed import plan_not_found, plan_removed, plan_withheld
from memosite.plan.search import BLOCK, SavedSearch, block_members, block_units, plan_saved_searches, plan_search
from memosite.plan.sessions import plan_sessions
from memosite.plan.shared_passages import KnownPassages, find_shared_links
from memosite.plan.threads import plan_thread, thread_list_units
from memosite.plan.transcripts import has_comparison, plan_comparison, plan_transcript
from memosite.plan.weeks import Week, find_weeks, plan_weeks, week_units
from memosite.search.blocks import LOGS
from memosite.store.shelf import Shelf

# Plans the files of each artifact: pages, twins, originals; the memos of a thread with the thread.


def artifact_units(archive: Archive) -> Iterator[Unit]:
    """A unit for each thread with its memos, then one for each other artifact.

    A text that was rendered for a memo's page is then cached for its thread's page.
    """
    for thread in archive.threads.values():
        name, weight = f"thread/{thread.id}", len(thread.entries)
        yield traced_unit(name, _plan_thread, thread=thread, given_as="the thread", weight=weight)
    for ref, artifact in archive.artifacts.items():
        if not isinstance(artifact, Memo):
            yield traced_unit("/".join(ref), _plan_artifact, artifact=artifact, given_as="the item itself")


def _plan_thread(context: Context, *, thread: Thread) -> Iterator[Planned]:
    yield from plan_thread(context, thread)
    for entry in thread.entries:
        if entry.is_ghost:
            yield plan_missing_memo(context, context.archive.ghosts[entry.ref[1]])
        else:
            yield from _plan_artifact(context, artifact=context.archive.artifacts[entry.ref])


def _plan_artifact(context: Context, *, artifact: Artifact) -> Iterator[Planned]:
    match artifact:
        case Artifact(withheld=Withheld()):
            yield from plan_withheld(context, artifact)
        case Memo():
            yield plan_memo(context, artifact)
        case Transcript():
            yield from plan_transcript(context, artifact)
            yield from plan_comparison(context, artifact)
        case Document():
            yield plan_document(context, artifact)
        case Library():
            yield from plan_library(context, artifact)
        case Record():
            yield from plan_record(context, artifact)
    yield from plan_changes(context, artifact)
    if context.site.is_lean:
        return  # `bundles` has the rest
    yield from twin_files(page_of(artifact), artifact_twin(context, artifact))
    for _, path, sha256 in originals(artifact):
        yield Stored(path=path, sha256=sha256)


_NO_SEALS = SealLog()


def plan(
    context: Context,
    ledger: Ledger,
    searches: Sequence[SavedSearch] = (),
    *,
    contract: Contract,
    seals: SealLog = _NO_SEALS,
) -> Iterator[Unit]:
    """Everything the site consists of, `status.json` apart.

    `ledger` is the one that holds this archive, `seals` the sealed log as it was published last.
    """
    archive = context.archive
    months = by_month(archive.artifacts.values())
    weeks = find_weeks(archive, context.arrival_times)
    ledger = _with_pages(ledger, context, months, searches, weeks)
    digests = find_digests(context, weeks)
    feeds, new_blocks = arrange(all_channels(context, ledger, searches), ledger, {*archive.artifacts, *archive.erased})
    ledger = ledger.with_feeds(new_blocks, [digest.day for digest in digests])
    blocks = block_members(context)
    seals = continued(context, ledger, seals)
    # Units that scan the archive count as heavy: at 100,000 artifacts each is a batch of its own, so that no process
    # copies the whole archive at once (`workers`).
    whole = partial(untraced, weight=1 + len(archive.artifacts) // 2_000)
    # The ledger goes first: if the build is killed or power is lost, no URL is published that it does not know. The
    # sealed log follows, which names only what the ledger knows; what it lacks then, the next build appends.
    for name, path, text in (("ledger", LEDGER_PATH, ledger.to_jsonl()), ("seals", SEALS_PATH, seals.text)):
        yield replace(whole(name, partial(_kept, path=path, text=text)), synced="always")
    # Pages may be looked at as soon as they are written. Artifacts come first, so that what others list is there; only
    # the page of a new position or month comes a moment after the pages that link to it.
    yield whole("images", plan_images)
    yield from artifact_units(archive)
    yield whole("home", lambda context: [plan_home(context, months, weeks)])
    yield from position_units(context)
    yield whole("organization", plan_organization)
    yield whole("actions", plan_actions)
    yield from action_part_units(context)
    yield from position_action_units(context)
    yield whole("decisions", plan_decisions)
    yield whole("systems", lambda context: chain(plan_systems(context, ledger), plan_entities(context, ledger)))
    yield whole("sessions", lambda context: plan_sessions(context, ledger))
    yield whole("timeline", lambda context: [plan_timeline(context, months)])
    yield from thread_list_units(context, whole)
    yield from month_units(months)
    yield whole("health", lambda context: plan_health(context, plan_seal(seals)))
    yield whole("citations", plan_citations)
    yield traced_unit("contract", plan_contract, contract=contract, given_as="the specification")
    yield whole("former", lambda context: chain(plan_removed(context, ledger, months), [plan_not_found(context)]))
    yield whole("former bundles", lambda context: former_bundles(context, ledger))
    yield from digest_units(digests)
    yield whole("digests", lambda context: plan_digest_lists(context, ledger, digests, months.get(UNDATED_MONTH, ())))
    yield from week_units(weeks)
    yield whole("weeks", lambda context: plan_weeks(context, ledger, weeks, months.get(UNDATED_MONTH, ())))
    # The search page and the list of blocks come when all blocks are there.
    yield from block_units(blocks)
    yield whole(
        "search",
        lambda context: chain(plan_search(context, searches, blocks), plan_saved_searches(context, ledger, searches)),
    )
    yield whole("feeds", lambda context: plan_feed_page(context, [one.channel for one in feeds]))
    yield thread_feeds_unit(one.channel for one in feeds)
    archive_unit = untraced("archive", lambda context: [archive_index(context, months)])
    robots_unit = untraced("robots", lambda context: plan_for_robots(context, months))
    # Feeds go last: what they announce is there when they do.
    last = (replace(unit, synced="published") for unit in feed_units(feeds))
    for unit in chain(bundle_units(context), (archive_unit, robots_unit), last):
        yield replace(unit, is_for_programs=True)


def _kept(_: Context, *, path: str, text: str) -> Iterator[Written]:
    yield Written(path=path, data=text.encode("utf-8", "replace"))


def _with_pages(
    ledger: Ledger, context: Context, months: Iterable[str], searches: Iterable[SavedSearch], weeks: Iterable[Week]
) -> Ledger:
    """The ledger with every page whose address must be kept, even when it has nothing to show any more."""
    systems = {one.ref: one.system for found in context.records.values() for one in found}
    others = chain(
        (("month", month) for month in months),
        (("week", week.id) for week in weeks),
        (("changes", "/".join(one.ref)) for one in context.archive.artifacts.values() if has_changes(one)),
        (("captures", "/".join(ref)) for ref in context.captures if has_comparison(context, ref)),
        (("saved", saved.name) for saved in searches),
        (("sessions", here.split("/")[1]) for here in context.sessions),
        bundle_pages(context),
    )
    return ledger.with_records(systems, context.entities).with_pages((), (), others)


# Plans the whole site of a configuration: the context of all pages, and every unit.


class SitePlan(Value):
    """The units of a site, in the order in which they are written, and the context in which they are planned."""

    context: Context
    units: tuple[Unit, ...]

    @property
    def last_blocks(self) -> tuple[str, ...]:
        """The search blocks to which the next artifact and the next session log are added, unless they are full."""
        names = [unit.name.removeprefix(BLOCK) for unit in self.units if unit.name.startswith(BLOCK)]
        last = {name.startswith(tuple(LOGS.letters)): name for name in names}
        return tuple(last.values())


def plan_site(
    config: Config,
    archive: Archive,
    ledger: Ledger,
    shelf: Shelf,
    *,
    static: Mapping[str, bytes],
    contract: Contract,
    seals: SealLog,
    known: KnownPassages | None = None,
    jobs: int = 1,
) -> SitePlan:
    """Everything the site consists of, `status.json` apart, with the `static` files of its theme by name.

    `ledger` is the one that holds this archive, `seals` the sealed log as it was published last. `jobs` processes look
    for what texts share and for what saved searches find. `known` are the passages that texts shared in the last
    build, and are updated.
    """
    shared = find_shared_links(archive, shelf.text, known or KnownPassages(), jobs=jobs)
    context = replace(context_of(config, archive, shelf), shared=shared)
    saved = _saved_searches(config, archive, shelf, jobs)
    files = [Written(path=f"static/{name}", data=static[name]) for name in sorted(static)]
    of_theme = Unit(name="static", make=lambda _: files, is_traced=False)
    return SitePlan(context=context, units=(of_theme, *plan(context, ledger, saved, contract=contract, seals=seals)))


def _saved_searches(config: Config, archive: Archive, shelf: Shelf, jobs: int) -> tuple[SavedSearch, ...]:
    """What the queries of the configuration find, in the search index as it is and by a scan of the rest."""
    if not config.searches:
        return ()
    from memosite.search.answer import read_query  # noqa: PLC0415 - few builds need Whoosh
    from memosite.search.command import searchable  # noqa: PLC0415 - as above

    with searchable(archive, shelf, config, jobs=jobs).search() as search:
        found = search.refs([read_query(query).node for query in config.searches.values()])
    return tuple(
        SavedSearch(name=name, query=query, found=refs)
        for (name, query), refs in zip(config.searches.items(), found, strict=True)
    )


def context_of(config: Config, archive: Archive, shelf: Shelf) -> Context:
    """The context that pages are planned with."""
    libraries = (one for one in archive.artifacts.values() if isinstance(one, Library))
    return Context(
        archive=archive,
        site=Site(
            title=config.title,
            language=config.language,
            base_url=config.base_url,
            generator=f"memosite {__version__}",
            has_records=any(artifact.kind == "record" for artifact in archive.artifacts.values()),
            has_positions=bool(
                archive.positions or archive.organizations or any(one.card.broken == "orgdef" for one in libraries)
            ),
            is_lean=config.lean,
            has_sessions=any(
                isinstance(artifact, Transcript) and artifact.log for artifact in archive.artifacts.values()
            ),
            person=config.sessions.person,
            has_thinking=config.sessions.thinking,
        ),
        text_of=shelf.text,
        archive_id=config.archive_id,
        authority=config.authority,
        feeds=config.feeds,
    )
