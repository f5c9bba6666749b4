"""Plans the pages of documents and libraries."""

from memosite.archive.model import Document, Library
from memosite.archive.urls import artifact_page
from memosite.pages.models import DocumentPage, LibraryPage
from memosite.pages.parts import PAGE_CHARS, Body, LibraryEntry, Reference
from memosite.plan.common import PART_CHARS, body_of, common_fields, shown_extra, web_address
from memosite.plan.context import Context


def plan_document(context: Context, document: Document) -> DocumentPage:
    """The page of a document."""
    start = artifact_page(document.ref)
    head = document.head
    return DocumentPage(
        **common_fields(context, document, start),  # type: ignore[arg-type] # the fields are typed by the class
        section="decisions",
        date_written="",
        body=body_of(context, start, document, head.text),
        is_cut=head.text.chars > PAGE_CHARS,
        extra=shown_extra(head.extra),
        status=head.status or "",
        source=head.file.source,
        file=head.file.path,
    )


def plan_library(context: Context, library: Library) -> LibraryPage:
    """The page of a library."""
    start = artifact_page(library.ref)
    card = library.card
    source = {source.name: source for source in context.archive.sources}.get(card.file.source)
    folder = card.file.path.rpartition("/")[0]

    def file_reference(path: str) -> Reference:
        inside = (
            f"{folder}/{path}".strip("/") if path and ".." not in path.split("/") and not path.startswith("/") else ""
        )
        return Reference(label=path, href=web_address(source, inside) if inside else None)

    return LibraryPage(
        **common_fields(context, library, start),  # type: ignore[arg-type] # the fields are typed by the class
        date_written="",
        body=Body(sha256=card.file.sha256, form="verbatim", chars=card.file.bytes) if card.broken else None,
        is_cut=card.broken is not None and card.file.bytes > PAGE_CHARS,
        is_broken=card.broken is not None,
        extra=shown_extra(card.extra),
        version=card.version,
        summary=card.description,
        items=tuple(
            LibraryEntry(
                name=item.name,
                version=item.version,
                description=item.description,
                file=file_reference(item.file),
                extra=shown_extra(item.extra, limit=PART_CHARS),
            )
            for item in card.items
        ),
    )
