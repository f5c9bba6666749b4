"""Plans the pages of documents."""

from memosite.archive.model import Document
from memosite.archive.urls import artifact_page
from memosite.pages.models import DocumentPage
from memosite.pages.parts import PAGE_CHARS
from memosite.plan.artifact_page import artifact_fields, body_of, shown_extra
from memosite.plan.context import Context
from memosite.plan.decisions import shown_decider


def plan_document(context: Context, document: Document) -> DocumentPage:
    """The page of a document."""
    start = artifact_page(document.ref)
    head = document.head
    return DocumentPage(
        **artifact_fields(context, document, start, section="decisions"),
        date_written="",
        body=body_of(context, start, document, head.text),
        is_cut=head.text.chars > PAGE_CHARS,
        extra=shown_extra(head.extra),
        status=head.status or "",
        decided_by=shown_decider(document),
        source=head.file.source,
        file=head.file.path,
    )
