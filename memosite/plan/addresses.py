"""Plans where twins and originals are: beside their page, or in a lean site in a bundle of a month (SPEC 4).

A link into a bundle has a fragment: the key of what is meant. That of a twin is `kind/id`, that of an original the
path that it has in a site without bundles.
"""

from collections.abc import Mapping
from types import MappingProxyType

from memosite.archive.model import Artifact, Thread
from memosite.archive.urls import (
    TwinForm,
    bundle_files,
    bundle_folder,
    bundle_twins,
    in_bundle,
    page_of,
    relative,
    thread_page,
)
from memosite.facts.parsed import Ref
from memosite.pages.parts import Reference
from memosite.plan.context import Context

FORMS: Mapping[TwinForm, str] = MappingProxyType({"json": "JSON", "md": "Markdown"})
"""What pages call the twins."""


def base_of_twin(context: Context, artifact: Artifact) -> str:
    """The folder that links in an artifact's twins are relative to: where these are."""
    return bundle_folder(context.bundles[artifact.ref]) if context.site.is_lean else page_of(artifact)


def twin_address(context: Context, start: str, ref: Ref, form: TwinForm) -> str:
    """The link from the page `start` to a twin of an artifact."""
    if context.site.is_lean:
        return in_bundle(start, bundle_twins(context.bundles[ref], form), "/".join(ref))
    return relative(start, f"{context.page(ref)}index.{form}")


def twins_of_artifact(context: Context, start: str, artifact: Artifact) -> tuple[Reference, ...]:
    """Links to the twins of an artifact."""
    return tuple(
        Reference(label=label, href=twin_address(context, start, artifact.ref, form)) for form, label in FORMS.items()
    )


def twins_of_thread(context: Context, start: str, thread: Thread) -> tuple[Reference, ...]:
    """Links to the twins of a thread of two or more memos; a bundle has them with its first memo's."""

    def address(form: TwinForm) -> str:
        if context.site.is_lean:
            return in_bundle(start, bundle_twins(context.bundles[thread.memos[0]], form), thread_key(thread))
        return relative(start, f"{thread_page(thread.id)}index.{form}")

    return tuple(Reference(label=label, href=address(form)) for form, label in FORMS.items())


def thread_key(thread: Thread) -> str:
    """The key of a thread in a bundle."""
    return f"thread/{thread.id}"


def file_address(context: Context, start: str, artifact: Artifact, path: str) -> str:
    """The link from the page `start` to an original or the turns of an artifact, given the path beside its page."""
    if context.site.is_lean:
        return in_bundle(start, bundle_files(context.bundles[artifact.ref]), path)
    return relative(start, path)


def bundled_name(context: Context, artifact: Artifact) -> str:
    """How a page says which ZIP a file of an artifact is in; "" if it is a file of its own."""
    return f" in {bundle_files(context.bundles[artifact.ref]).rpartition('/')[2]}" if context.site.is_lean else ""
