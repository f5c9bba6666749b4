"""What pages of every kind have: a head, sections, parts of long lists, and twins for machines.

A twin is beside its page; in a lean site it is in a bundle. A link into a bundle has a fragment, the key of what is
meant: of a twin `kind/id`, of an original the path that it has in a site without bundles.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypedDict, TypeVar

from memosite.archive import urls
from memosite.archive.lines import join_texts
from memosite.archive.model import Artifact, Document, Library, Memo, Record, Thread
from memosite.facts.json_text import to_json
from memosite.facts.parsed import Ref, Text
from memosite.facts.phrases import phrase
from memosite.facts.texts import one_line
from memosite.facts.values import Value, replace
from memosite.pages import ArtifactPage, Body, ListPage, ListSection, PagePart, Reference, Site, cut_text
from memosite.plan.context import LIST_LIMIT, Context, Written, without_said
from memosite.plan.dates import newest

# Plans where twins and originals are: beside their page, or in a lean site in a bundle of a month (SPEC 4).


FORMS: Mapping[urls.TwinForm, str] = {"json": "JSON", "md": "Markdown"}
"""What pages call the twins."""


def twin_address(context: Context, start: str, ref: Ref, form: urls.TwinForm) -> str:
    """The link from the page `start` to a twin of an artifact."""
    if context.site.is_lean:
        return urls.in_bundle(start, urls.bundle_twins(context.bundles[ref], form), "/".join(ref))
    return urls.relative(start, f"{context.page(ref)}index.{form}")


def twins_of_artifact(context: Context, start: str, artifact: Artifact) -> tuple[Reference, ...]:
    """Links to the twins of an artifact."""
    return _in_forms(lambda form: twin_address(context, start, artifact.ref, form))


def _in_forms(address: Callable[[urls.TwinForm], str]) -> tuple[Reference, ...]:
    """A link to the twin in each form."""
    return tuple(Reference(label=label, href=address(form)) for form, label in FORMS.items())


def twins_of_thread(context: Context, start: str, thread: Thread) -> tuple[Reference, ...]:
    """Links to the twins of a thread of two or more memos; a bundle has them with its first memo's."""

    def address(form: urls.TwinForm) -> str:
        if context.site.is_lean:
            return urls.in_bundle(start, urls.bundle_twins(context.bundles[thread.memos[0]], form), thread_key(thread))
        return urls.relative(start, f"{urls.thread_page(thread.id)}index.{form}")

    return _in_forms(address)


def thread_key(thread: Thread) -> str:
    """The key of a thread in a bundle."""
    return f"thread/{thread.id}"


def file_address(context: Context, start: str, artifact: Artifact, path: str) -> str:
    """The link from the page `start` to an original or the turns of an artifact, given the path beside its page."""
    if context.site.is_lean:
        return urls.in_bundle(start, urls.bundle_files(context.bundles[artifact.ref]), path)
    return urls.relative(start, path)


def bundled_name(context: Context, artifact: Artifact) -> str:
    """How a page says which ZIP a file of an artifact is in; "" if it is a file of its own."""
    return f" in {urls.bundle_files(context.bundles[artifact.ref]).rpartition('/')[2]}" if context.site.is_lean else ""


# Plans the head of a page: the fields that pages of every kind have.


class PageHead(TypedDict):
    """The fields of `pages.Page` that follow from the path and the title of a page.

    A dictionary, because pages take them as fields of their own: `TimelinePage(**head_of(…), years=…)`. Names and
    types of both sides are checked there.
    """

    site: Site
    path: str
    root: str
    title: str
    section: str
    canonical: str | None
    description: str


def head_of(context: Context, start: str, *, title: str, section: str = "", description: str = "") -> PageHead:
    """The head of the page `start`; `section` is the entry of the navigation that it belongs to."""
    return {
        "site": context.site,
        "path": urls.index_file(start),
        "root": "../" * start.count("/"),
        "title": title,
        "section": section,
        "canonical": context.canonical(start),
        "description": description,
    }


def twin_links(start: str, page: str) -> tuple[Reference, ...]:
    """Links to the twins of a page."""
    return _in_forms(lambda form: urls.relative(start, f"{page}index.{form}"))


# Plans the twins of lists: the same pages for machines, as JSON and Markdown (SPEC 4), bounded to 16 kB.


T = TypeVar("T")


LIST_BYTES = 16_000
"""The largest twin of a list, in bytes; what does not fit is counted and linked."""


EVERYTHING = "archive/index.json"
"""Where the rest of a list of artifacts is."""


_ENTRY_BYTES = 90  # bytes of an entry beside its own JSON: limits how many entries are sorted


_RULE = "\n---\n\n"


class Twin(Value):
    """What a page says, for machines: the fields of its JSON, and its Markdown. `files` are further files of it."""

    fields: dict[str, object]
    text: str
    files: tuple[Written, ...] = ()


def twin_files(page: str, twin: Twin) -> Iterable[Written]:
    """A twin as files of its page: `index.json`, `index.md`, and what else it has."""
    yield from twin.files
    yield Written(path=page + "index.json", data=to_json(twin.fields))
    yield Written(path=page + "index.md", data=twin.text.encode("utf-8", "replace"))


def fitting(entries: Iterable[T], size_of: Callable[[T], int]) -> list[T]:
    """The first entries of a list, as many as a twin may have."""
    found: list[T] = []
    left = LIST_BYTES
    for entry in entries:
        left -= size_of(entry)
        if left < 0:
            break
        found.append(entry)
    return found


def entry_bytes(entry: object) -> int:
    """The most bytes that an entry takes in JSON, some levels deep."""
    data = to_json(entry)
    return len(data) + 4 * data.count(b"\n") + 2


def list_twins(
    context: Context, page: str, title: str, artifacts: Sequence[Artifact], *, facts: dict[str, object]
) -> Iterable[Written]:
    """`index.json` and `index.md` of a list, newest first, cut at 16 kB, the rest counted."""
    ordered = newest(artifacts, LIST_BYTES // _ENTRY_BYTES)
    entries = (list_entry(context, page, artifact) for artifact in ordered)
    twin = _bounded(page, title, entries, len(artifacts), facts=facts, onward=EVERYTHING)
    return twin_files(page, twin)


def name_twins(
    page: str,
    title: str,
    names: Sequence[tuple[str, str, int]],
    *,
    facts: dict[str, object],
    onward: str,
    of: str = "records",
) -> Iterable[Written]:
    """The same for groups of records (`of`): names, pages, and how many; `onward` is where all of them are."""
    entries = (
        (
            {"name": name, of: number, "href": urls.relative(page, target)},
            f"- [{escaped(one_line(name))}]({urls.relative(page, target)}): {number}",
        )
        for name, target, number in names
    )
    return twin_files(page, _bounded(page, title, entries, len(names), facts=facts, onward=onward))


def _bounded(
    start: str,
    title: str,
    found: Iterable[tuple[dict[str, object], str]],
    total: int,
    *,
    facts: dict[str, object],
    onward: str,
) -> Twin:
    """The twin of a list, given each entry as JSON and as Markdown; `onward` is where the rest is."""
    entries: list[dict[str, object]] = []
    lines: list[str] = []
    head: dict[str, object] = {"title": title, **facts, "total": total}
    json_size = len(to_json(head)) + 400
    text_size = len(title.encode("utf-8", "replace")) + 400
    for entry, line in found:
        json_size += len(json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace")) + _ENTRY_BYTES
        text_size += len(line.encode("utf-8", "replace")) + 1
        if max(json_size, text_size) > LIST_BYTES:
            break
        entries.append(entry)
        lines.append(line)
    more = total - len(entries)
    onward = urls.relative(start, onward)
    rest_at = {"left_out": more, "all": onward} if more else None
    body = {**head, "shown": len(entries), "more": rest_at, "entries": entries}
    rest = f"\n{more} more: see {onward}\n" if more else ""
    known = "".join(f"{name}: {one_line(value)}\n" for name, value in facts.items() if isinstance(value, str) and value)
    text = f"# {title}\n\n{known}{total} in all, {len(entries)} listed.\n\n" + "\n".join(lines) + f"\n{rest}"
    return Twin(fields=body, text=text)


def list_entry(context: Context, start: str, artifact: Artifact) -> tuple[dict[str, object], str]:
    """An artifact in a list, as JSON and as a line of Markdown."""
    entry: dict[str, object] = {
        "id": artifact.id,
        "kind": artifact.kind,
        "date": artifact.date.utc if artifact.date else None,
        "subject": artifact.short_subject,
        "href": twin_address(context, start, artifact.ref, "json"),
    }
    who, state = "", artifact.short_status
    if isinstance(artifact, Record | Document):
        entry["status"] = state or None
    if isinstance(artifact, Memo):
        entry |= {"from": artifact.sender, "to": list(artifact.to)}
        entry |= {"mailbox": artifact.mailbox, "action": artifact.action}
        who, state = artifact.who.line(), artifact.action or ""
    day, who = artifact.date.day if artifact.date else "undated", escaped(one_line(who))
    state = f" [{escaped(one_line(state))}]" if state else ""
    label, target = escaped(artifact.short_subject), twin_address(context, start, artifact.ref, "md")
    return entry, f"- {day} {who + ': ' if who else ''}[{label}]({target}){state}"


def artifact_text(context: Context, artifact: Artifact, texts: tuple[Text, ...]) -> str:
    """These texts of an artifact as one; a broken file as it is, a library as the list of its items."""
    if artifact.is_broken and not isinstance(artifact, Record):
        return context.text_of(artifact.shown_file.sha256)
    if isinstance(artifact, Library) and not artifact.card.rest:
        items = [f"- {item.name} {item.version}: {item.description} ({item.file})" for item in artifact.card.items]
        return "\n".join([artifact.card.description, "", *items])
    return join_texts(context.text_of(text.sha256) for text in texts)


def texts_below_list(head: str, texts: Iterable[tuple[str, str]]) -> str:
    """Texts as Markdown, one after another, each given with its line in a list of them.

    In which line each begins stands in the list, above all of them, where no text can forge it. What has no text is
    listed without a number.
    """
    found = list(texts)
    at = head.count("\n") + len(found) + _RULE.count("\n") + 1
    listed, below = [], []
    for label, text in found:
        listed.append(f"- {at}: {label}\n" if text else f"- {label}\n")
        if text:
            below.append(f"{text}\n")
            at += below[-1].count("\n")
    return f"{head}{''.join(listed)}{_RULE}{''.join(below)}"


def escaped(text: str) -> str:
    """A text as the label of a link in Markdown."""
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


# Plans the sections of pages that list artifacts: a heading with its rows, newest first, and groups of many.


_GROUPS = 99
"""The most groups of a list that have a section of their own."""


_OTHERS = "Others"


def section(
    context: Context,
    start: str,
    heading: str,
    artifacts: Iterable[Artifact],
    *,
    anchor: str,
    empty: str = "",
    limit: int = LIST_LIMIT,
    viewer: str | None = None,
    title: str = "",
) -> ListSection:
    """A heading with its artifacts, newest first, at most `limit` of them; whole lists of bullets as in their files.

    Rows do not repeat what the heading and the `title` of the page say. Anchors are published, so `anchor` is made of
    what does not change with the words of the heading.
    """
    every = tuple(artifacts)
    ordered = newest(every, limit)
    if len(every) <= limit:
        sort_bullets(ordered)
    return ListSection(
        heading=heading,
        anchor=anchor,
        rows=tuple(without_said(context.row(start, one, viewer=viewer), f"{title}: {heading}") for one in ordered),
        total=len(every),
        empty=empty,
    )


def sort_bullets(artifacts: list[Artifact]) -> None:
    """Sort a list in place if all of it are bullets of lists: newest first, those of one time as in their files.

    That order says what belongs together.
    """
    lines = {one.ref: one.card.line for one in artifacts if isinstance(one, Record) and one.card.line is not None}
    if len(lines) == len(artifacts):
        artifacts.sort(key=lambda one: (*one.copies[0].file.place, lines[one.ref]))
        artifacts.sort(key=lambda one: (one.date is not None, one.date and one.date.instant), reverse=True)


def grouped_sections(
    context: Context,
    start: str,
    groups: Mapping[str, Sequence[Artifact]],
    *,
    names: Mapping[str, str] = MappingProxyType({}),
    title: str = "",
) -> tuple[ListSection, ...]:
    """A section for each group, in the order given, all together no longer than one list may be.

    `groups` are by their keys, of which anchors are made: what letters and digits they hold. Keys are foreign text, or
    stay as they were published; `names` are the headings of those that are called otherwise. Of many groups the largest
    have a section of their own, the rest share one.
    """
    largest = set(sorted(groups, key=lambda key: (-len(groups[key]), key))[:_GROUPS])
    shown = {key: groups[key] for key in groups if key in largest}
    others = [artifact for key in groups if key not in largest for artifact in groups[key]]
    if others:
        shown[_OTHERS] = (*shown.get(_OTHERS, ()), *others)
    total = sum(map(len, shown.values()))
    limit = LIST_LIMIT if total <= LIST_LIMIT else max(1, LIST_LIMIT // len(shown))
    return tuple(
        section(context, start, names.get(key, key), artifacts, limit=limit, anchor=anchor, title=title)
        for (key, artifacts), anchor in zip(shown.items(), group_anchors(shown), strict=True)
    )


def group_anchors(keys: Iterable[str]) -> list[str]:
    """An anchor for each key of groups, made of its letters and digits; no two are the same."""
    taken: dict[str, None] = {}
    for key in keys:
        stem = anchor = re.sub(r"[^\w.-]+", "-", key.lower()).strip("-") or "group"
        number = 1
        while anchor in taken:
            number += 1
            anchor = f"{stem}-{number}"
        taken[anchor] = None
    return list(taken)


# Paginates long lists in parts, numbered from the oldest, so that full ones never change (SPEC 4).


P = TypeVar("P", bound=ArtifactPage)


def in_parts(items: Sequence[T]) -> list[Sequence[T]]:
    """Chunks in order of arrival: full ones change only by edits (SPEC 4)."""
    return [items[start : start + LIST_LIMIT] for start in range(0, len(items), LIST_LIMIT)] or [()]


def part_count(items: Sequence[object], *, shown: int = LIST_LIMIT) -> int:
    """How many parts a list has of which its page shows at most this many entries; 0 if it fits there."""
    return len(in_parts(items)) if len(items) > shown else 0


def part_links(start: str, page: str, count: int, current: int | None, *, first: str = "") -> tuple[PagePart, ...]:
    """Links to the parts of a page, numbered from 1; `first` is the page of part 1 if that is not its own."""
    return tuple(
        PagePart(
            label=str(number),
            href=urls.relative(start, first if first and number == 1 else urls.part_page(page, number)),
            is_current=number == current,
        )
        for number in range(1, count + 1)
    )


def part_title(title: str, number: int | None) -> str:
    """The title of a part; without a number, or as part 0, of the page that has the parts."""
    return phrase("{title}, page {number}", title=title, number=number) if number else title


def plan_part(
    context: Context,
    page: str,
    title: str,
    number: int,
    chunk: Sequence[Artifact],
    *,
    section_name: str,
    viewer: str | None = None,
) -> ListPage:
    """One of the parts of `plan_parts`, counted from 1. It names only what was there before it."""
    start = urls.part_page(page, number)
    heading = phrase("Page {number}", number=number)
    return ListPage(
        **head_of(context, start, title=part_title(title, number), section=section_name),
        intro="",
        parts=part_links(start, page, number, number),
        sections=(section(context, start, heading, chunk, anchor=f"part-{number}", viewer=viewer, title=title),),
        previous=Reference(label=title, href=urls.relative(start, page)),
    )


def plan_parts(
    context: Context,
    page: str,
    title: str,
    artifacts: Sequence[Artifact],
    *,
    section_name: str,
    viewer: str | None = None,
) -> Iterable[ListPage]:
    """The parts of a list that is too long for its page: everything in order of arrival, 500 a part."""
    for number, chunk in enumerate(in_parts(artifacts) if part_count(artifacts) else (), 1):
        yield plan_part(context, page, title, number, chunk, section_name=section_name, viewer=viewer)


def in_verbatim_parts(context: Context, here: str, text: Text | None, page_at: Callable[[str], P]) -> Iterator[P]:
    """An artifact's page, and its further parts if its text is one to be shown as it is, and is long."""
    if text is None:
        yield page_at(here)
        return
    ranges = cut_text(context.text_of(text.sha256))
    for number, span in enumerate(ranges, 1):
        start = here if number == 1 else urls.part_page(here, number)
        body = Body(sha256=text.sha256, form="verbatim", chars=text.chars, span=span)
        parts = part_links(start, here, len(ranges), number, first=here) if len(ranges) > 1 else ()
        yield replace(page_at(start), body=body, is_cut=False, parts=parts)


def with_neighbours(items: Sequence[T]) -> Iterator[tuple[T, tuple[T | None, T | None]]]:
    """Each item with the one before it and the one after it."""
    for place, item in enumerate(items):
        yield item, (items[place - 1] if place else None, items[place + 1] if place + 1 < len(items) else None)
