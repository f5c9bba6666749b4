"""Plans the pages of libraries, the catalogs of templates."""

from collections.abc import Iterator
from functools import partial

from memosite.archive.model import Library
from memosite.archive.urls import artifact_page
from memosite.pages.models import LibraryPage
from memosite.pages.parts import PAGE_CHARS, Body, LibraryEntry, Reference
from memosite.plan.artifact_page import PART_CHARS, artifact_fields, shown_extra, web_address
from memosite.plan.context import Context
from memosite.plan.pagination import in_verbatim_parts


def plan_library(context: Context, library: Library) -> Iterator[LibraryPage]:
    """The page of a library; several for the rest of an orgdef, which is shown as it is."""
    here, rest = artifact_page(library.ref), library.card.rest
    yield from in_verbatim_parts(context, here, rest, partial(_library_page, context, library))


def _library_page(context: Context, library: Library, start: str) -> LibraryPage:
    card = library.card
    source = {source.name: source for source in context.archive.sources}.get(card.file.source)
    folder = card.file.path.rpartition("/")[0]

    def file_reference(path: str) -> Reference:
        inside = (
            f"{folder}/{path}".strip("/") if path and ".." not in path.split("/") and not path.startswith("/") else ""
        )
        return Reference(label=path, href=web_address(source, inside) if inside else None)

    return LibraryPage(
        **artifact_fields(context, library, start),
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
