"""Plans the twins of lists: the same pages for machines, as JSON and Markdown (SPEC 4), bounded to 16 kB."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memosite.archive.model import Artifact, Document, Memo, Record
from memosite.archive.urls import relative
from memosite.facts.texts import one_line
from memosite.formats.status import status_of
from memosite.plan.addresses import twin_address
from memosite.plan.context import Context
from memosite.plan.dates import newest
from memosite.plan.files import Written

T = TypeVar("T")

LIST_BYTES = 16_000
"""The largest twin of a list, in bytes; what does not fit is counted and linked."""

_ENTRY_BYTES = 90  # bytes of an entry beside its own JSON: limits how many entries are sorted


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """What a page says, for machines: the fields of its JSON, and its Markdown. `files` are further files of it."""

    fields: dict[str, object]
    text: str
    files: tuple[Written, ...] = ()


def twin_files(page: str, twin: Twin) -> Iterable[Written]:
    """A twin as files of its page: `index.json`, `index.md`, and what else it has."""
    yield from twin.files
    yield Written(path=page + "index.json", data=to_json(twin.fields))
    yield Written(path=page + "index.md", data=twin.text.encode("utf-8", "replace"))


def to_json(value: object) -> bytes:
    """JSON in the format of twins: indented, characters not escaped."""
    return f"{json.dumps(value, indent=1, ensure_ascii=False)}\n".encode("utf-8", "replace")


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
    """`index.json` and `index.md` of a list, newest first."""
    return twin_files(page, list_twin(context, page, title, artifacts, facts=facts))


def list_twin(
    context: Context,
    start: str,
    title: str,
    artifacts: Sequence[Artifact],
    *,
    facts: dict[str, object],
    in_order: bool = False,
) -> Twin:
    """A list, newest first or in the order given, cut at 16 kB, the rest counted; its links are from `start`."""
    ordered = artifacts if in_order else newest(artifacts, LIST_BYTES // _ENTRY_BYTES)
    entries = (_entry(context, start, artifact) for artifact in ordered)
    return _bounded(start, title, entries, len(artifacts), facts=facts, onward="archive/index.json")


def name_twins(
    page: str, title: str, names: Sequence[tuple[str, str, int]], *, facts: dict[str, object], onward: str
) -> Iterable[Written]:
    """The same for groups of records: names, pages, and how many; `onward` is where all of them are."""
    entries = (
        (
            {"name": name, "records": number, "href": relative(page, target)},
            f"- [{escaped(one_line(name))}]({relative(page, target)}): {number}",
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
    onward = relative(start, onward)
    body = {
        **head,
        "shown": len(entries),
        "more": {"left_out": more, "all": onward} if more else None,
        "entries": entries,
    }
    rest = f"\n{more} more: see {onward}\n" if more else ""
    known = "".join(f"{name}: {one_line(value)}\n" for name, value in facts.items() if isinstance(value, str) and value)
    text = f"# {title}\n\n{known}{total} in all, {len(entries)} listed.\n\n" + "\n".join(lines) + f"\n{rest}"
    return Twin(fields=body, text=text)


def _entry(context: Context, start: str, artifact: Artifact) -> tuple[dict[str, object], str]:
    href = twin_address(context, start, artifact.ref, "json")
    entry: dict[str, object] = {
        "id": artifact.id,
        "kind": artifact.kind,
        "date": artifact.date.utc if artifact.date else None,
        "subject": artifact.short_subject,
        "href": href,
    }
    who = ""
    state = status_of(artifact)
    if isinstance(artifact, Record | Document):
        entry["status"] = state or None
    if isinstance(artifact, Memo):
        entry |= {
            "from": artifact.sender,
            "to": list(artifact.to),
            "mailbox": artifact.mailbox,
            "action": artifact.action,
        }
        who = f"{artifact.sender} to {', '.join(artifact.to)}"
        state = artifact.action or ""
    day = artifact.date.day if artifact.date else "undated"
    who = escaped(one_line(who))
    state = f" [{escaped(one_line(state))}]" if state else ""
    label, target = escaped(artifact.short_subject), twin_address(context, start, artifact.ref, "md")
    return entry, f"- {day} {who + ': ' if who else ''}[{label}]({target}){state}"


def escaped(text: str) -> str:
    """A text as the label of a link in Markdown."""
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
