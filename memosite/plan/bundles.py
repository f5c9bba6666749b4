"""Plans the bundles of a lean site: the twins and originals of a month as three files (SPEC 4, fewer files).

    twins-1.jsonl   a twin a line, as the JSON of its page, after its `key`
    twins-1.md      the same twins as Markdown, after a list of their keys and of the lines where they begin
    files-1.zip     originals, copies and turns, each under the path that it has in a site without bundles

Links in a twin are relative to the bundle. An artifact's twin is followed by that of the thread that it begins.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

from memosite.archive.ledger import LEAN, Ledger
from memosite.archive.lines import dump_line
from memosite.archive.model import Artifact
from memosite.archive.urls import bundle_files, bundle_folder, bundle_twins
from memosite.plan.addresses import thread_key
from memosite.plan.artifact_page import originals
from memosite.plan.artifact_twins import artifact_twin
from memosite.plan.context import Context
from memosite.plan.dates import month_name
from memosite.plan.files import Packed, Stored, Written
from memosite.plan.threads import thread_twin
from memosite.plan.twins import Twin
from memosite.plan.units import Unit

_RULE = "\n---\n\n"


def bundle_units(context: Context) -> Iterator[Unit]:
    """A unit for each bundle; none where twins and originals are files of their own."""
    members: dict[str, list[Artifact]] = defaultdict(list)
    for ref, bundle in context.bundles.items():
        members[bundle].append(context.archive.artifacts[ref])
    for bundle, found in members.items():
        artifacts = tuple(found)
        make = partial(_plan_bundle, bundle=bundle, artifacts=artifacts)
        yield Unit(
            name=f"bundle/{bundle}",
            make=make,
            given=artifacts,
            given_as="an item in the bundle",
            weight=1 + len(artifacts) // 3,
            is_for_programs=True,
        )


def bundle_pages(context: Context) -> Iterator[tuple[str, str]]:
    """What the ledger has to remember of a lean site that has anything in it: that it is one, and its bundles."""
    if context.bundles:
        yield LEAN
        yield from (("bundle", bundle) for bundle in dict.fromkeys(context.bundles.values()))


def former_bundles(context: Context, ledger: Ledger) -> Iterator[Written | Packed]:
    """Bundles that were published and that nothing is in any more: they are there, and empty."""
    now = set(context.bundles.values())
    for kind, bundle in ledger.others:
        if kind == "bundle" and bundle not in now:
            yield from _files(bundle, {}, ())


def _plan_bundle(context: Context, *, bundle: str, artifacts: Sequence[Artifact]) -> Iterator[Written | Packed]:
    twins: dict[str, Twin] = {}
    files: list[Written | Stored] = []
    for artifact in artifacts:
        twin = twins["/".join(artifact.ref)] = artifact_twin(context, artifact)
        twins |= _thread_begun_by(context, bundle, artifact)
        files += (Stored(path=path, sha256=sha256) for _, path, sha256 in originals(artifact))
        files += twin.files
    yield from _files(bundle, twins, files)


def _thread_begun_by(context: Context, bundle: str, artifact: Artifact) -> dict[str, Twin]:
    """The twin of the thread of two or more memos that a memo is the first of, by its key."""
    if artifact.ref not in context.placed:
        return {}
    thread, _ = context.placed[artifact.ref]
    if len(thread.memos) < 2 or thread.memos[0] != artifact.ref:
        return {}
    return {thread_key(thread): thread_twin(context, bundle_folder(bundle), thread)}


def _files(bundle: str, twins: dict[str, Twin], files: Sequence[Written | Stored]) -> Iterator[Written | Packed]:
    lines = (dump_line({"key": key, **twin.fields}) for key, twin in twins.items())
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
    yield Written(path=bundle_twins(bundle, "json"), data=data)
    yield Written(path=bundle_twins(bundle, "md"), data=_markdown(bundle, twins).encode("utf-8", "replace"))
    yield Packed(path=bundle_files(bundle), files=tuple(files))


def _markdown(bundle: str, twins: dict[str, Twin]) -> str:
    """One text after another. In which line each begins stands above all of them, where no text can forge it."""
    month, _, number = bundle.rpartition("/")
    head = f"# {month_name(month)}, bundle {number}\n\n{len(twins)} in all. The line in which each begins:\n\n"
    line = head.count("\n") + len(twins) + _RULE.count("\n") + 1
    listed, texts = [], []
    for key, twin in twins.items():
        listed.append(f"- {line}: {key}\n")
        texts.append(f"{twin.text}\n")
        line += texts[-1].count("\n")
    return f"{head}{''.join(listed)}{_RULE}{''.join(texts)}"
