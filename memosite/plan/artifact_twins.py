"""Plans the twins of artifacts: the same pages for machines, as JSON and Markdown (SPEC 4)."""

from collections.abc import Iterable, Iterator

from memosite.archive.citations import MadeCitation
from memosite.archive.lines import all_texts, artifact_line, body_texts, join_texts
from memosite.archive.model import Artifact, Copy, Document, Library, Life, Memo, Record, RecordLink, Transcript
from memosite.archive.notices import notice_of
from memosite.archive.urls import page_of
from memosite.facts.parsed import RecordEvent, Ref, Text
from memosite.facts.texts import one_line
from memosite.formats.status import is_superseded, status_of
from memosite.pages.lives import LifeStep
from memosite.pages.mentions import MentionRow
from memosite.plan.addresses import base_of_twin, bundled_name, file_address, twin_address
from memosite.plan.artifact_page import link_targets, originals, shown_extra
from memosite.plan.citations import called
from memosite.plan.context import Context
from memosite.plan.dates import stamp
from memosite.plan.files import Written
from memosite.plan.history import SENT, STEPS, history_lines, shows_commits
from memosite.plan.mention_rows import mention_lines, mention_rows
from memosite.plan.records import relation_row
from memosite.plan.shared_rows import shared_fields, shared_lines
from memosite.plan.transcript_twins import transcript_twin
from memosite.plan.twins import Twin, entry_bytes, escaped, fitting
from memosite.plan.withheld import withheld_turns

_FILES = 20


def artifact_twin(context: Context, artifact: Artifact) -> Twin:
    """The twin of an artifact, of a transcript with the file of its turns; links are from where it is published."""
    start = base_of_twin(context, artifact)
    line = artifact_line(artifact, context.archive, base_url=context.site.base_url)
    line["backlinks"] = [f"{kind}/{id_}" for kind, id_ in artifact.backlinks]
    line["mentioned_in"] = fitting(list(mention_lines(context, start, artifact)), entry_bytes)
    line["cited_by"] = fitting([_citation_line(one) for one in context.citations_of.get(artifact.ref, ())], entry_bytes)
    line["links"] = dict(link_targets(context, start, artifact))
    line["originals"] = [file_address(context, start, artifact, path) for _, path, _ in originals(artifact)]
    line["life"] = fitting([_life(artifact, copy) for copy in artifact.copies[:_FILES]], entry_bytes)
    if shared := shared_fields(context, artifact.ref):
        line |= {"shared": fitting(shared, entry_bytes), "shared_total": len(shared)}
    if isinstance(artifact, Memo):
        line["replies"] = [f"{kind}/{id_}" for kind, id_ in artifact.replies]
        line |= {name: ["/".join(ref) for ref in refs] for name, refs in _relations(artifact) if refs}
    fields, files = ({}, withheld_turns(artifact)) if artifact.withheld else _content(context, artifact, start)
    return Twin(fields=line | fields, text=_markdown(context, artifact, start), files=tuple(files))


def _content(context: Context, artifact: Artifact, start: str) -> tuple[dict[str, object], Iterable[Written]]:
    """The fields of an artifact that only its kind has, its text, and the file of a transcript's turns."""
    fields: dict[str, object] = {}
    files: Iterable[Written] = ()
    if isinstance(artifact, Record):
        fields["record"] = _record_facts(artifact)
    if isinstance(artifact, Document):
        fields["document"] = _document_facts(artifact)
    if isinstance(artifact, Transcript):
        fields["transcript"], files = transcript_twin(context, artifact, start)
    return fields | {"body": artifact_text(context, artifact, body_texts(artifact))}, files


def _citation_line(one: MadeCitation) -> dict[str, object]:
    """A citation of an artifact: what makes it, null for a manuscript, and where; what it cites, and the verdict."""
    return {
        "by": "/".join(one.by) if one.by else None,
        "by_anchor": one.by_anchor,
        "place": str(one.location),
        "anchor": one.anchor,
        "quote": one.quote,
        "state": one.state,
        "verdict": one.said,
    }


def _relations(memo: Memo) -> Iterator[tuple[str, tuple[Ref, ...]]]:
    yield "also_answers", memo.also_answers
    yield "also_answered_by", memo.also_answered_by
    yield "supersedes", memo.supersedes
    yield "superseded_by", memo.superseded_by


def _markdown(context: Context, artifact: Artifact, start: str) -> str:
    """What the page says, then a rule and the text as it is: what stands above the rule, no text can forge."""
    head = "\n".join(f"{name}: {one_line(value)}" for name, value in _head(context, artifact) if value)
    in_full = twin_address(context, start, artifact.ref, "json").partition("#")[0]
    lists = "".join(_markdown_lists(_lists(context, artifact, start), in_full))
    subject = one_line(artifact.subject) or artifact.short_subject
    notice = notice_of(artifact)
    text = notice.text if notice else artifact_text(context, artifact, all_texts(artifact))
    return f"# {subject}\n\n{head}\n\n{lists}---\n\n{text.rstrip()}\n"


def _life(artifact: Artifact, copy: Copy) -> dict[str, object]:
    """The git history of a copy: its last steps, oldest first; `why_not` says why it is missing or not complete."""
    life, is_told = copy.life or Life(), shows_commits(artifact)
    steps = [
        {
            "event": one.kind,
            "at": one.at.utc if one.at else None,
            "who": one.who,
            "commit": one.commit if is_told else None,
            "merge": (one.merge or None) if is_told else None,
            "path": one.path,
        }
        for one in life.events[-STEPS:]
    ]
    said: dict[str, object] = {"source": copy.file.source, "state": life.state, "why_not": life.why_not or None}
    return said | {"left_out": len(life.events) - len(steps), "steps": steps}


def _lists(context: Context, artifact: Artifact, start: str) -> Iterator[tuple[str, list[str]]]:
    """What a page lists beside its text, a line each: relations and recorded events of a record, and git's history."""
    if isinstance(artifact, Record):
        yield "Relations", [_relation_line(context, start, artifact, one) for one in artifact.relations]
        yield "Recorded events", [_event_line(one) for one in artifact.history]
    yield "Mentioned in", [_mention_line(one) for one in mention_rows(context, start, artifact)]
    yield "Shared passages", list(shared_lines(context, start, artifact.ref))
    lines = history_lines(context, artifact, start)
    yield "History", [_step_line(line.source, step) for line in lines for step in line.steps if step.label != SENT]


def _mention_line(one: MentionRow) -> str:
    said = f": {escaped(one.sentence.line)}" if one.sentence else ""
    return f"- [{escaped(one.row.subject)}]({one.row.href}){said}\n"


def _step_line(source: str, step: LifeStep) -> str:
    commit = f", commit {step.commit.label}" if step.commit else ""
    where = f" in {source}" if source else ""
    return f"- {step.date.shown if step.date else 'no date'} {one_line(f'{step.label} by {step.who}{where}{commit}')}\n"


def _markdown_lists(lists: Iterable[tuple[str, list[str]]], in_full: str) -> Iterable[str]:
    """Lists of lines as sections of Markdown; lines that do not fit are counted, `in_full` names what has them."""
    for heading, lines in lists:
        shown = fitting(lines, lambda line: len(line.encode("utf-8", "replace")))
        rest = f"- {len(lines) - len(shown)} more: see {in_full}\n" if len(shown) < len(lines) else ""
        if lines:
            yield f"## {heading}\n\n{''.join(shown)}{rest}\n"


def _relation_line(context: Context, start: str, record: Record, link: RecordLink) -> str:
    row = relation_row(context, start, record, link)
    label = escaped(one_line(row.target.label))
    target = f"[{label}]({twin_address(context, start, link.to, 'md')})" if link.to and row.target.href else label
    said = ", ".join(filter(None, (row.status, row.confidence, "stated in that record" if row.is_inverse else "")))
    facts = (f"({escaped(one_line(said))})" if said else "", escaped(row.label))
    return " ".join(("-", one_line(row.predicate), target, *filter(None, facts))) + "\n"


def _event_line(one: RecordEvent) -> str:
    shown = stamp(one.at)
    who = f" by {one.actor}" if one.actor else ""
    detail = f": {one.detail}" if one.detail else ""
    return f"- {shown.shown if shown else 'no date'} {one_line(f'{one.event}{who}{detail}')}\n"


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
    if isinstance(artifact, Library) and artifact.card.rest:
        return context.text_of(artifact.card.rest.sha256)
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
        asked = (f"{one.action} ({context.label(one.position)})" for one in artifact.recipients if one.action)
        yield "Action", ", ".join(asked)
        yield "Thread", artifact.thread
        yield "In-Reply-To", artifact.parent[1] if artifact.parent else (artifact.ghost_parent or "")
        for name, refs in _relations(artifact):
            yield name.replace("_", "-").title(), ", ".join("/".join(ref) for ref in refs[:_FILES])
    if isinstance(artifact, Transcript) and not artifact.withheld:
        yield from _transcript_head(context, artifact)
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


def _transcript_head(context: Context, transcript: Transcript) -> Iterable[tuple[str, str]]:
    envelope = transcript.variants[0].envelope
    written = context.written_during.get(transcript.ref, ())
    text = transcript.variants[0].text
    turns = f"turns.jsonl{bundled_name(context, transcript)}"
    yield "Participants", _fitting_line(map(called, envelope.participants))
    yield "Ended", transcript.ended.utc if transcript.ended else ""
    yield "Transport", envelope.transport or ""
    yield "Captured-With", envelope.capture_tool or ""
    yield "Redaction", envelope.redaction_status or ""
    yield "Turns", f"{text.turns}: see {turns}" if text and text.turns and not transcript.broken else ""
    yield "Captures", _fitting_line("/".join(ref) for ref in context.captures.get(transcript.ref, ()))
    yield "Related", _fitting_line("/".join(ref) for ref in transcript.related)
    yield "Written-During", _fitting_line("/".join(ref) for ref in written)


def _fitting_line(names: Iterable[str]) -> str:
    """Names as one line, as many as the bound on lists allows."""
    every = list(names)
    shown = fitting(every, lambda name: len(name.encode("utf-8", "replace")) + 2)
    more = len(every) - len(shown)
    return ", ".join((*shown, f"and {more} more") if more else shown)


def _document_facts(document: Document) -> dict[str, object]:
    """The fields of a document besides those of all artifacts; its date is that of the line."""
    head = document.head
    return {"status": head.status, "superseded": is_superseded(document), "extra": shown_extra(head.extra)}


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
