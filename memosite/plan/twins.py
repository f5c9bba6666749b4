"""Plans the twins: the same pages for machines, as JSON and Markdown (SPEC 4). Lists are bounded to 16 kB."""

import json
from collections.abc import Iterable, Sequence

from memosite.archive.lines import all_texts, artifact_line, body_texts, join_texts
from memosite.archive.model import Artifact, Document, Library, Memo, Record, Transcript
from memosite.archive.urls import page_of, relative
from memosite.facts.parsed import Text
from memosite.facts.texts import one_line
from memosite.plan.artifact_page import link_targets, originals
from memosite.plan.context import Context, status_of
from memosite.plan.dates import newest, stamp
from memosite.plan.files import Written

LIST_BYTES = 16_000
"""The largest twin of a list, in bytes; what does not fit is counted and linked."""

_ENTRY_BYTES = 90  # bytes of an entry beside its own JSON: limits how many entries are sorted

_FILES = 20


def to_json(value: object) -> bytes:
    """JSON in the format of twins: indented, characters not escaped."""
    return f"{json.dumps(value, indent=1, ensure_ascii=False)}\n".encode("utf-8", "replace")


def artifact_twins(context: Context, artifact: Artifact) -> Iterable[Written]:
    """`index.json` and `index.md` of an artifact."""
    page = page_of(artifact)
    text = artifact_text(context, artifact, body_texts(artifact))
    line = artifact_line(artifact, context.archive, base_url=context.site.base_url)
    line["backlinks"] = [f"{kind}/{id_}" for kind, id_ in artifact.backlinks]
    line["links"] = dict(link_targets(context, page, artifact))
    line["originals"] = [relative(page, path) for _, path, _ in originals(artifact)]
    if isinstance(artifact, Memo):
        line["replies"] = [f"{kind}/{id_}" for kind, id_ in artifact.replies]
    if isinstance(artifact, Record):
        line["record"] = _record_facts(artifact)
    line["body"] = text
    yield Written(path=page + "index.json", data=to_json(line))
    head = "\n".join(f"{name}: {one_line(value)}" for name, value in _head(context, artifact) if value)
    subject = one_line(artifact.subject) or artifact.short_subject
    text = artifact_text(context, artifact, all_texts(artifact))
    yield Written(
        path=page + "index.md", data=f"# {subject}\n\n{head}\n\n---\n\n{text.rstrip()}\n".encode("utf-8", "replace")
    )


def artifact_text(context: Context, artifact: Artifact, texts: tuple[Text, ...]) -> str:
    """These texts of an artifact as one; a broken file as it is, a library as the list of its items."""
    if isinstance(artifact, Memo | Transcript):
        if artifact.broken:
            return context.text_of(artifact.variants[0].envelope.file.sha256)
        return join_texts(context.text_of(text.sha256) for text in texts)
    if isinstance(artifact, Document):
        return context.text_of(artifact.head.text.sha256)
    if isinstance(artifact, Record):
        return context.text_of(artifact.card.text.sha256) if artifact.card.text else ""
    if isinstance(artifact, Library) and artifact.card.broken:
        return context.text_of(artifact.card.file.sha256)
    if isinstance(artifact, Library):
        items = [f"- {item.name} {item.version}: {item.description} ({item.file})" for item in artifact.card.items]
        return "\n".join([artifact.card.description, "", *items])
    return ""


def _head(context: Context, artifact: Artifact) -> Iterable[tuple[str, str]]:
    shown = stamp(artifact.date)
    yield "Id", f"{artifact.kind}/{artifact.id}"
    if isinstance(artifact, Memo):
        yield "From", artifact.sender
        yield "To", ", ".join(artifact.to)
        yield "Mailbox", artifact.mailbox or ""
        yield "Action", ", ".join(f"{one.action} ({one.position})" for one in artifact.recipients if one.action)
        yield "Thread", artifact.thread
        yield "In-Reply-To", artifact.parent[1] if artifact.parent else (artifact.ghost_parent or "")
    if isinstance(artifact, Transcript):
        yield "Participants", ", ".join(one.position for one in artifact.variants[0].envelope.participants)
        yield "Ended", artifact.ended.utc if artifact.ended else ""
    if isinstance(artifact, Record):
        card = artifact.card
        yield "Type", f"{artifact.system} {card.type}".strip()
        yield "Stage", card.stage or ""
        yield "Namespace", card.namespace or ""
        yield "Section", card.section or ""
        yield "Sessions", ", ".join(card.sessions)
        yield "Superseded-By", "/".join(artifact.superseded_by or ()) or card.superseded_by or ""
    yield "Status", status_of(artifact)
    yield "Date", shown.shown if shown else ""
    files = [f"{copy.file.source}/{copy.file.path}" for copy in artifact.copies[:_FILES]]
    more = len(artifact.copies) - len(files)
    yield "Files", ", ".join((*files, f"and {more} more") if more else files)
    if context.site.base_url:
        yield "URL", context.site.base_url + page_of(artifact)


def _record_facts(record: Record) -> dict[str, object]:
    """The fields of a record besides those of all artifacts; names of artifacts are `kind/id`, null if unknown."""
    card = record.card
    return {
        "key": card.key,
        "type": card.type,
        "status": card.status,
        "stage": card.stage,
        "namespace": card.namespace,
        "section": card.section,
        "line": card.line,
        "modified": card.modified.utc if card.modified else None,
        "sessions": list(card.sessions),
        "transcripts": ["/".join(ref) for ref in record.sessions],
        "superseded_by": "/".join(record.superseded_by) if record.superseded_by else card.superseded_by,
        "relations": [
            {
                "predicate": one.predicate,
                "written": one.written,
                "to": "/".join(one.to) if one.to else None,
                "status": one.status,
                "confidence": one.confidence,
                "label": one.label,
                "inverse": one.is_inverse,
            }
            for one in record.relations
        ],
        "fields": [{"label": label, "value": value} for label, value in card.fields],
        "mentions": list(card.mentions),
        "anchors": list(card.anchors),
        "citations": [
            {"title": one.title, "url": one.url, "type": one.type, "author": one.author}
            | {"date": one.date, "note": one.note}
            for one in card.citations
        ],
        "entities": [{"name": one.name, "type": one.type, "relation": one.relation} for one in card.entities],
        "history": [
            {"event": one.event, "at": one.at.utc if one.at else None, "actor": one.actor, "detail": one.detail}
            for one in record.history
        ],
        "content_hash": card.hash_written,
        "content_hash_fits": card.hash_fits,
        "extra": card.extra,
    }


def list_twins(
    page: str, title: str, artifacts: Sequence[Artifact], *, facts: dict[str, object], in_order: bool = False
) -> Iterable[Written]:
    """`index.json` and `index.md` of a list, newest first or in the order given, cut at 16 kB; the rest is counted."""
    ordered = artifacts if in_order else newest(artifacts, LIST_BYTES // _ENTRY_BYTES)
    entries = (_entry(page, artifact) for artifact in ordered)
    return _bounded(page, title, entries, len(artifacts), facts=facts, onward="archive/index.json")


def name_twins(
    page: str, title: str, names: Sequence[tuple[str, str, int]], *, facts: dict[str, object], onward: str
) -> Iterable[Written]:
    """The same for groups of records: names, pages, and how many; `onward` is where all of them are."""
    entries = (
        (
            {"name": name, "records": number, "href": relative(page, target)},
            f"- [{_escape(one_line(name))}]({relative(page, target)}): {number}",
        )
        for name, target, number in names
    )
    return _bounded(page, title, entries, len(names), facts=facts, onward=onward)


def _bounded(
    page: str,
    title: str,
    found: Iterable[tuple[dict[str, object], str]],
    total: int,
    *,
    facts: dict[str, object],
    onward: str,
) -> Iterable[Written]:
    """The twins of a list, given each entry as JSON and as Markdown; `onward` is where the rest is."""
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
    onward = relative(page, onward)
    body = {
        **head,
        "shown": len(entries),
        "more": {"left_out": more, "all": onward} if more else None,
        "entries": entries,
    }
    yield Written(path=page + "index.json", data=to_json(body))
    rest = f"\n{more} more: see {onward}\n" if more else ""
    known = "".join(f"{name}: {one_line(value)}\n" for name, value in facts.items() if isinstance(value, str) and value)
    text = f"# {title}\n\n{known}{total} in all, {len(entries)} listed.\n\n" + "\n".join(lines) + f"\n{rest}"
    yield Written(path=page + "index.md", data=text.encode("utf-8", "replace"))


def _entry(page: str, artifact: Artifact) -> tuple[dict[str, object], str]:
    href = relative(page, page_of(artifact) + "index.json")
    entry: dict[str, object] = {
        "id": artifact.id,
        "kind": artifact.kind,
        "date": artifact.date.utc if artifact.date else None,
        "subject": artifact.short_subject,
        "href": href,
    }
    who = ""
    if isinstance(artifact, Memo):
        entry |= {
            "from": artifact.sender,
            "to": list(artifact.to),
            "mailbox": artifact.mailbox,
            "action": artifact.action,
        }
        who = f"{artifact.sender} to {', '.join(artifact.to)}"
    day = artifact.date.utc[:10] if artifact.date else "undated"
    who = _escape(one_line(who))
    state = f" [{artifact.action}]" if isinstance(artifact, Memo) and artifact.action else ""
    return (
        entry,
        f"- {day} {who + ': ' if who else ''}[{_escape(artifact.short_subject)}]({href.removesuffix('json')}md){state}",
    )


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
