"""Plans the page of decisions: those of all memory systems, and the documents that memos cite (SPEC 4)."""

from collections import defaultdict
from collections.abc import Iterable

from memosite.archive.model import Artifact, Document, Record
from memosite.archive.urls import DECISIONS, index_file
from memosite.formats.systems import system_of
from memosite.pages.models import ListPage
from memosite.plan.context import Context
from memosite.plan.lists import grouped_sections, part_count, plan_parts, twin_links
from memosite.plan.parts import part_links
from memosite.plan.twins import Output, list_twins

_TITLE = "Decisions and documents"


def is_decision(record: Record) -> bool:
    """Whether a record is a decision, in the way its system says so."""
    return system_of(record.card).is_decision(record.card)


def all_decisions(context: Context) -> list[Artifact]:
    """All documents, and the decisions of each system, in order of arrival."""
    artifacts = context.archive.artifacts.values()
    return [one for one in artifacts if isinstance(one, Document) or (isinstance(one, Record) and is_decision(one))]


def decisions_twins(context: Context) -> Iterable[Output]:
    """The twins of the page of decisions."""
    return list_twins(DECISIONS, _TITLE, all_decisions(context), facts={})


def plan_decisions(context: Context) -> Iterable[ListPage]:
    """All documents by the folder they lie in, and the decisions of each system by source."""
    documents: dict[str, list[Artifact]] = defaultdict(list)
    decisions: dict[str, list[Artifact]] = defaultdict(list)
    found = all_decisions(context)
    for artifact in found:
        if isinstance(artifact, Document):
            folder = artifact.head.file.path.rpartition("/")[0]
            documents[f"{artifact.head.file.source}/{folder}"].append(artifact)
        elif isinstance(artifact, Record):
            decisions[_heading(artifact)].append(artifact)
    groups = {heading: documents[heading] for heading in sorted(documents)}
    groups |= {heading: decisions[heading] for heading in sorted(decisions)}
    yield ListPage(
        site=context.site,
        path=index_file(DECISIONS),
        root="../",
        title=_TITLE,
        section="decisions",
        canonical=context.canonical(DECISIONS),
        twins=twin_links(DECISIONS, DECISIONS),
        parts=part_links(DECISIONS, DECISIONS, part_count(found), None),
        intro=(
            "Documents that lie beside the memos, and the decisions of the other memory systems."
            if decisions
            else "Documents that lie beside the memos and are cited by them."
        ),
        sections=grouped_sections(context, DECISIONS, groups),
    )
    yield from plan_parts(context, DECISIONS, _TITLE, found, section_name="decisions")


def _heading(record: Record) -> str:
    rejected = ", rejected" if system_of(record.card).is_rejected(record.card) else ""
    return f"{record.card.file.source}: {record.system}{rejected}"
