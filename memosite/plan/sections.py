"""Plans the sections of pages that list artifacts: a heading with its rows, newest first, and groups of many."""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from memosite.archive.model import Artifact, Record
from memosite.pages.parts import ListSection
from memosite.plan.context import LIST_LIMIT, Context
from memosite.plan.dates import newest

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
) -> ListSection:
    """A heading with its artifacts, newest first, at most `limit` of them; whole lists of bullets as in their files.

    Anchors are published, so `anchor` is made of what does not change with the words of the heading.
    """
    every = tuple(artifacts)
    ordered = newest(every, limit)
    if len(every) <= limit:
        sort_bullets(ordered)
    return ListSection(
        heading=heading,
        anchor=anchor,
        rows=tuple(context.row(start, artifact, viewer=viewer) for artifact in ordered),
        total=len(every),
        empty=empty,
    )


def sort_bullets(artifacts: list[Artifact]) -> None:
    """Sort a list in place by the order of files if all of it are bullets of lists: it says what belongs together."""
    if all(isinstance(one, Record) and one.card.line is not None for one in artifacts):
        artifacts.sort(key=_place_in_file)


def _place_in_file(artifact: Artifact) -> tuple[str, str, int]:
    line = artifact.card.line if isinstance(artifact, Record) else None
    return artifact.copies[0].file.source, artifact.copies[0].file.path, line or 0


def grouped_sections(
    context: Context,
    start: str,
    groups: Mapping[str, Sequence[Artifact]],
    *,
    names: Mapping[str, str] = MappingProxyType({}),
    empty: str = "",
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
        section(context, start, names.get(key, key), artifacts, limit=limit, anchor=anchor, empty=empty)
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
