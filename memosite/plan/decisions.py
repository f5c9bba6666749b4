"""Plans the page of decisions: those of all memory systems, and the documents that memos cite (SPEC 4)."""

from collections import defaultdict
from collections.abc import Iterator

from memosite.archive.model import Artifact, Document, Record
from memosite.archive.urls import DECISIONS
from memosite.formats.status import is_decision
from memosite.formats.systems import system_of
from memosite.pages.models import ListPage
from memosite.plan.context import Context
from memosite.plan.files import Written
from memosite.plan.head import page_head, twin_links
from memosite.plan.pagination import part_count, part_links, plan_parts
from memosite.plan.sections import grouped_sections
from memosite.plan.twins import list_twins

_TITLE = "Decisions and documents"


def all_decisions(context: Context) -> list[Artifact]:
    """All documents, and the decisions of each system, in order of arrival."""
    artifacts = context.archive.artifacts.values()
    return [one for one in artifacts if is_decision(one)]


def plan_decisions(context: Context) -> Iterator[ListPage | Written]:
    """All documents by the folder they are in, and the decisions of each system by source; and the twins."""
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
        **page_head(context, DECISIONS, title=_TITLE, section="decisions"),
        twins=twin_links(DECISIONS, DECISIONS),
        parts=part_links(DECISIONS, DECISIONS, part_count(found), None),
        intro=(
            "Documents kept beside the memos, and decisions from other memory systems."
            if decisions
            else "Documents kept beside the memos, which cite them."
        ),
        sections=grouped_sections(context, DECISIONS, groups),
    )
    yield from plan_parts(context, DECISIONS, _TITLE, found, section_name="decisions")
    yield from list_twins(context, DECISIONS, _TITLE, found, facts={})


def _heading(record: Record) -> str:
    rejected = ", rejected" if system_of(record.card).is_rejected(record.card) else ""
    return f"{record.card.file.source}: {record.system}{rejected}"
