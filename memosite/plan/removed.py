"""Plans pages for what is not published any more: redirects, tombstones, what is withheld, addresses of nothing."""

from collections.abc import Collection, Container, Iterator, Mapping
from typing import ClassVar

from memosite.archive import lines, urls
from memosite.archive.ledger import Arrival, Ledger, page_ref, ref_of
from memosite.archive.model import Artifact, Memo, Removal, Transcript
from memosite.facts.json_text import to_json
from memosite.facts.names import make_id
from memosite.facts.parsed import Kind, Ref
from memosite.facts.phrases import phrase
from memosite.facts.values import replace
from memosite.pages import ArtifactPage, LifeLine, Page, Reference, Row
from memosite.plan.artifact_page import artifact_fields
from memosite.plan.context import Context, Written
from memosite.plan.history import has_changes, removal_line
from memosite.plan.page import escaped, head_of
from memosite.plan.threads import ThreadSlice, thread_slice
from memosite.plan.transcripts import has_comparison


class RedirectPage(Page):
    """A page that moved, because its id had to change."""

    template: ClassVar[str] = "redirect.html"

    target: Reference


class GonePage(Page):
    """A page that was published and whose artifact is gone; `id` is "" if it must not be shown."""

    template: ClassVar[str] = "gone.html"

    id: str
    life: LifeLine | None = None  # its removal in git
    notice: lines.Notice | None = None  # why it was erased, if it was


class NotFoundPage(Page):
    """What a server shows for an address that does not exist: the one page with absolute paths."""

    template: ClassVar[str] = "404.html"

    base_path: str


class WithheldPage(ArtifactPage):
    """An artifact of any kind that is published without its content. Only memos and notes have a thread.

    `sha256` is that of its original, "" if it must not be told.
    """

    template: ClassVar[str] = "withheld.html"

    row: Row
    sha256: str
    notice: lines.Notice
    in_thread: ThreadSlice | None = None


# Plans pages for what was published before and has been removed since: redirects and tombstones (SPEC 4).


_Page = RedirectPage | GonePage


def redirect(context: Context, start: str, target: str) -> RedirectPage:
    """A page that redirects to another one."""
    return RedirectPage(
        **head_of(context, start, title=phrase("Moved")) | {"canonical": context.canonical(target)},
        target=Reference(label=target, href=urls.relative(start, target)),
    )


def tombstone(context: Context, start: str, id_: str) -> GonePage:
    """A page that says that what was published at its address was removed."""
    return GonePage(**head_of(context, start, title=phrase("Removed")) | {"canonical": None}, id=id_)


def _tombstone(context: Context, start: str, ref: Ref) -> GonePage:
    """The same for an artifact or a page of it, with what git says of its removal, and why it was erased."""
    removal = _removal(context, ref)
    return replace(
        tombstone(context, start, "" if removal and not removal.stem else ref[1]),
        life=removal_line(context, removal) if removal else None,
        notice=lines.notice_on(ref[0], context.archive.erased.get(ref)),
    )


def _twins(context: Context, page: _Page) -> Iterator[Written]:
    """What programs find in the place of an artifact's twins: where it is now, or that it was removed.

    Bundles have nothing in that place.
    """
    if context.site.is_lean:
        return
    folder = page.path.removesuffix("index.html")
    said: dict[str, object] = {"v": 1, "title": page.title}
    if isinstance(page, RedirectPage):
        said["moved"] = page.target.href
        text = f"Now at [{escaped(page.target.label)}]({page.target.href})."
    else:
        said |= {"id": page.id or None, "removed": True}
        said |= {"notice": page.notice.text} if page.notice else {}
        text = page.notice.text if page.notice else "This item was removed."
    yield Written(path=f"{folder}index.json", data=to_json(said))
    yield Written(path=f"{folder}index.md", data=f"# {page.title}\n\n{text}\n".encode("utf-8", "replace"))


def plan_removed(context: Context, ledger: Ledger, months: Container[str]) -> Iterator[_Page | Written]:
    """A page for each address that earlier builds published and this one has no page for, with twins of artifacts.

    The feeds of what was removed are planned with all others (`channels`), digests and saved searches by themselves.
    """
    missing = {(ghost.kind, ghost.id) for ghost in context.archive.ghosts.values()}
    for page in _artifacts(context, ledger, missing):
        yield page
        yield from _twins(context, page)
    for arrival in ledger.arrivals:
        if arrival.ref in missing:  # its page says who replies to it
            yield from _twins(context, _tombstone(context, urls.artifact_page(arrival.ref), arrival.ref))
    for id_ in ledger.entities:
        if id_ not in context.entities:
            yield tombstone(context, urls.entity_page(id_), id_)
    yield from _missing_memos(context, ledger, missing)
    for id_, now in former_threads(context, ledger):
        start = urls.thread_page(id_)
        yield redirect(context, start, context.thread_target(now)) if now else tombstone(context, start, id_)
    for id_, now in former_positions(context, ledger):
        start, actions = urls.position_page(id_), urls.position_actions(id_)
        yield redirect(context, start, urls.position_page(now)) if now else tombstone(context, start, id_)
        yield redirect(context, actions, urls.position_actions(now)) if now else tombstone(context, actions, id_)
    yield from _lists(context, ledger, months)


def former_threads(context: Context, ledger: Ledger) -> Iterator[tuple[str, str | None]]:
    """Threads that had a page and have none now, with the thread that their first memo is in, if it is anywhere."""
    renamed = _renamed(context, ledger)
    for id_, member in ledger.threads:
        if context.thread_sizes.get(id_, 0) < 2:
            artifact = context.archive.artifacts.get(renamed.get(member, member))
            yield id_, artifact.thread if isinstance(artifact, Memo) else None


def _renamed(context: Context, ledger: Ledger) -> Mapping[Ref, Ref]:
    """What former names lead to: of what is here, and of what an earlier build knew from git."""
    known = {ref_of(id_): to for id_, to in ledger.aliases if to in context.archive.artifacts}
    return known | context.archive.renamed


def former_positions(context: Context, ledger: Ledger) -> Iterator[tuple[str, str | None]]:
    """Positions, and other names of them, that had a page and have none now, with the position that they stand for."""
    archive = context.archive
    known = set(archive.positions).union(*map(context.other_names, archive.positions.values()))
    stands_for = {make_id(name): now for name, now in archive.position_of.items()}
    for id_ in dict.fromkeys((*ledger.positions, *(id_ for kind, id_ in ledger.others if kind == "name"))):
        if id_ not in known and id_.casefold() not in context.position_ids:
            now = stands_for.get(id_)
            yield id_, now if now in archive.positions else None


def _artifacts(context: Context, ledger: Ledger, missing: Collection[Ref]) -> Iterator[_Page]:
    artifacts, keys = context.archive.artifacts, ledger.keys_by_ref
    now = {keys[ref]: ref for ref in artifacts if ref in keys}
    renamed = _renamed(context, ledger)
    for arrival in ledger.arrivals:
        moved = now.get(keys[arrival.ref]) or renamed.get(arrival.ref)
        if arrival.kind == "record":
            yield from _record(context, arrival, moved)
        elif arrival.ref not in artifacts and arrival.ref not in missing:
            start = urls.artifact_page(arrival.ref)
            if moved:
                yield redirect(context, start, context.page(moved))
            else:
                yield _tombstone(context, start, arrival.ref)


def _missing_memos(context: Context, ledger: Ledger, missing: Collection[Ref]) -> Iterator[_Page]:
    """Where memos were that were replied to and missing, and that turned out to be something else, or nothing."""
    keys, aliases = ledger.keys_by_ref, dict(ledger.aliases)
    for ref in ledger.ghosts:
        if ref in keys or ref in missing:
            continue
        start, now = urls.artifact_page(ref), aliases.get("/".join(ref))
        if now is not None and (now in context.archive.artifacts or now in missing):
            yield redirect(context, start, context.page(now))
        else:
            yield _tombstone(context, start, ref)


def _record(context: Context, arrival: Arrival, moved: Ref | None) -> Iterator[_Page]:
    """Where a record was, if it is not there any more; its id may have gone on to a record of another system."""
    if not arrival.system:
        return
    former = urls.record_page(arrival.system, arrival.id)
    ref = arrival.ref if arrival.ref in context.archive.artifacts else moved
    if ref is None:
        yield _tombstone(context, former, arrival.ref)
    elif context.page(ref) != former:
        yield redirect(context, former, context.page(ref))


def _lists(context: Context, ledger: Ledger, months: Container[str]) -> Iterator[_Page]:
    """Where pages of changes, of captures and of months were that have nothing to show any more."""
    artifacts = context.archive.artifacts
    for kind, id_ in ledger.others:
        if kind == "month" and id_ not in months:
            yield redirect(context, urls.month_page(id_), urls.TIMELINE)
        elif kind in {"changes", "captures"}:
            ref = page_ref(id_) if kind == "changes" else ("transcript", id_.partition("/")[2])
            here = urls.artifact_page(ref)
            start = f"{here}changes/" if kind == "changes" else urls.captures_page(here)
            if ref not in artifacts:
                yield _tombstone(context, start, ref)
            elif not (has_changes(artifacts[ref]) if kind == "changes" else has_comparison(context, ref)):
                yield redirect(context, start, here)


def _removal(context: Context, ref: Ref) -> Removal | None:
    """The removal of an artifact in git, also if its id has a suffix to distinguish it from another of its name."""
    removed = context.archive.removed
    return removed.get(ref) or removed.get((ref[0], ref[1].partition("~")[0]))


# Plans the pages and twins of artifacts that are published without their content (SPEC 9).


_SECTIONS: dict[Kind, str] = {"record": "systems", "document": "decisions"}


def plan_withheld(context: Context, artifact: Artifact) -> Iterator[WithheldPage]:
    """The page of an artifact without its content, whatever its kind; none for one that has it."""
    notice, start = lines.notice_of(artifact), urls.page_of(artifact)
    if notice is None:
        return
    yield WithheldPage(
        **artifact_fields(context, artifact, start, section=_SECTIONS.get(artifact.kind, "")),
        row=context.row(start, artifact),
        sha256=artifact.shown_file.sha256,
        notice=notice,
        in_thread=thread_slice(context, start, artifact) if isinstance(artifact, Memo) else None,
    )


def withheld_turns(artifact: Artifact) -> Iterator[Written]:
    """What the file of a transcript's turns says when it is published without them."""
    if isinstance(artifact, Transcript) and artifact.withheld:
        line = {"v": 1, "withheld": lines.withheld_fields(artifact.withheld)}
        yield Written(path=urls.turn_lines(urls.page_of(artifact)), data=f"{lines.dump_line(line)}\n".encode())


# Plans the page that a server shows for an address that does not exist.


def plan_not_found(context: Context) -> NotFoundPage:
    """The one page with absolute paths: it is shown at any address."""
    base = context.site.base_url
    path = "/" + base.split("/", 3)[3] if base and base.count("/") >= 3 else "/"
    return NotFoundPage(site=context.site, path="404.html", root=path, title=phrase("Not found"), base_path=path)
