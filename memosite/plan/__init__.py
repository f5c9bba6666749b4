"""Plans the site: from the archive to every page and file of it, as closed models and plain bytes.

    Archive ─► Context ─► units ─┬─► pages (home, organization, positions, threads, artifacts, months …)
                                 └─► files (twins, originals, feeds, blocks, the machine's archive, the ledger)

`plan` lists what the site consists of; each page is planned in the module of its name. Planning is lazy: a unit
names its inputs, and plans its outputs only when it is made.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from memosite.archive.ledger import LEDGER_PATH, Ledger
from memosite.archive.model import Artifact
from memosite.archive.seals import SEALS_PATH, SealLog
from memosite.config.contract import Contract
from memosite.plan.actions import action_part_units, plan_actions
from memosite.plan.artifacts import artifact_units
from memosite.plan.bundles import bundle_pages, bundle_units, former_bundles
from memosite.plan.changes import has_changes
from memosite.plan.channels import all_channels
from memosite.plan.citation_list import plan_citations
from memosite.plan.comparison import has_comparison
from memosite.plan.context import Context
from memosite.plan.contract import plan_contract
from memosite.plan.dates import by_month
from memosite.plan.decisions import plan_decisions
from memosite.plan.digests import closed_digests, digest_units, plan_digest_lists
from memosite.plan.entities import plan_entities
from memosite.plan.feed_page import plan_feed_page, thread_feeds_unit
from memosite.plan.feeds import Arranged, arrange, feed_units
from memosite.plan.files import Packed, Stored, Written
from memosite.plan.health import plan_health
from memosite.plan.home import plan_home
from memosite.plan.images import plan_images
from memosite.plan.machine_archive import archive_index
from memosite.plan.months import month_units, plan_timeline
from memosite.plan.not_found import plan_not_found
from memosite.plan.organization import plan_organization
from memosite.plan.position_actions import position_action_units
from memosite.plan.positions import position_units
from memosite.plan.removed import plan_removed
from memosite.plan.robots import plan_for_robots
from memosite.plan.saved_searches import SavedSearch, plan_saved_searches, published_searches
from memosite.plan.seals import continued, plan_seal
from memosite.plan.search import block_members, block_units, plan_search
from memosite.plan.systems import plan_systems
from memosite.plan.thread_list import thread_list_units
from memosite.plan.units import Planned, Unit, untraced

__all__ = ["Context", "Packed", "Planned", "SavedSearch", "Stored", "Unit", "Written", "plan"]

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
    ledger = _with_pages(ledger, context, months, searches)
    digests = closed_digests(context)
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
    yield whole("home", lambda context: [plan_home(context, months)])
    yield from position_units(context)
    yield whole("organization", plan_organization)
    yield whole("actions", plan_actions)
    yield from action_part_units(context)
    yield from position_action_units(context)
    yield whole("decisions", plan_decisions)
    yield whole("systems", lambda context: chain(plan_systems(context, ledger), plan_entities(context, ledger)))
    yield whole("timeline", lambda context: [plan_timeline(context, months)])
    yield from thread_list_units(context, whole)
    yield from month_units(months)
    yield whole("health", lambda context: plan_health(context, plan_seal(seals)))
    yield whole("citations", plan_citations)
    yield Unit(
        name="contract", make=partial(plan_contract, contract=contract), given=contract, given_as="the specification"
    )
    yield whole("former", lambda context: chain(plan_removed(context, ledger, months), [plan_not_found(context)]))
    yield whole("former bundles", lambda context: former_bundles(context, ledger))
    yield from digest_units(digests)
    yield whole("digests", lambda context: plan_digest_lists(context, ledger, digests))
    # The search page and the list of blocks come when all blocks are there.
    yield from block_units(blocks)
    yield whole(
        "search",
        lambda context: chain(plan_search(context, searches, blocks), plan_saved_searches(context, ledger, searches)),
    )
    yield whole("feeds", lambda context: plan_feed_page(context, [one.channel for one in feeds]))
    yield thread_feeds_unit(one.channel for one in feeds)
    for unit in chain(bundle_units(context), _units_for_programs(months, feeds)):
        yield replace(unit, is_for_programs=True)


def _kept(_: Context, *, path: str, text: str) -> Iterator[Written]:
    yield Written(path=path, data=text.encode("utf-8", "replace"))


def _units_for_programs(months: Mapping[str, Sequence[Artifact]], feeds: Iterable[Arranged]) -> Iterator[Unit]:
    yield untraced("archive", lambda context: [archive_index(context, months)])
    yield untraced("robots", lambda context: plan_for_robots(context, months))
    # Feeds go last: what they announce is there when they do.
    for unit in feed_units(feeds):
        yield replace(unit, synced="published")


def _with_pages(ledger: Ledger, context: Context, months: Iterable[str], searches: Iterable[SavedSearch]) -> Ledger:
    """The ledger with every page whose address must be kept, even when it has nothing to show any more."""
    systems = {one.ref: one.system for found in context.records.values() for one in found}
    changed = (artifact for artifact in context.archive.artifacts.values() if has_changes(artifact))
    captured = (ref for ref in context.captures if has_comparison(context, ref))
    others = chain(
        (("month", month) for month in months),
        (("changes", "/".join(one.ref)) for one in changed),
        (("captures", "/".join(ref)) for ref in captured),
        published_searches(searches),
        bundle_pages(context),
    )
    return ledger.with_records(systems, context.entities).with_pages((), (), others)
