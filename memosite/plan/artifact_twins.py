"""Plans the twins of artifacts, the same pages for machines, and the bundles of a lean site (SPEC 4).

`index.json` has the first turns, as many as the bound on lists allows; `turns.jsonl` has all of them, one a line.

    twins-1.jsonl   a twin a line, as the JSON of its page, after its `key`
    twins-1.md      the same twins as Markdown, after a list of their keys and of the lines where they begin
    files-1.zip     originals, copies and turns, each under the path that it has in a site without bundles

Links in a twin are relative to the bundle. An artifact's twin is followed by that of the thread that it begins.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any

from memosite.archive import model, urls
from memosite.archive.cite import called
from memosite.archive.ledger import LEAN, Ledger
from memosite.archive.lines import artifact_line, body_texts, dump_line, notice_of
from memosite.archive.mailboxes import wait_of
from memosite.citing.making import marked
from memosite.facts.parsed import RecordEvent, Ref
from memosite.facts.texts import cut_line, one_line
from memosite.facts.values import as_dict
from memosite.formats.sessions.kept import read_conversation
from memosite.formats.status import decided_by, decided_on, sort_of, standing_of
from memosite.formats.turns import Turn, blocks, without_hashes
from memosite.pages import LifeStep, MentionRow, cut_turns
from memosite.plan import page
from memosite.plan.artifact_page import PART_CHARS, link_targets, originals, shown_extra
from memosite.plan.context import Context, Packed, Stored, Unit, Written, traced_unit
from memosite.plan.dates import month_name
from memosite.plan.history import SENT, STEPS, history_lines, shows_commits
from memosite.plan.mentions import mention_lines, mention_rows, shared_fields, shared_lines
from memosite.plan.records import relation_row
from memosite.plan.removed import withheld_turns
from memosite.plan.threads import thread_twin
from memosite.plan.transcripts import comparisons

# Plans what the twins of transcripts have besides those of all artifacts: participants, captures, turns (SPEC 4).


TURN_CHARS = 300
"""The most characters of a turn's text; the body has it all."""


_NAME_CHARS = 120


_TOOLS = 20


def transcript_twin(
    context: Context, transcript: model.Transcript, start: str
) -> tuple[dict[str, object], Iterable[Written]]:
    """The fields of a transcript for its JSON, with links from `start`, and the file of its turns if it has a text."""
    here, turns = urls.page_of(transcript), list(_turns(context, transcript))
    lists: dict[str, Sequence[object]] = {
        "participants": [
            as_dict(participant) | {"extra": shown_extra(participant.extra, limit=PART_CHARS)}
            for participant in transcript.envelope.participants
        ],
        "captures": _names(context.captures.get(transcript.ref, ())),
        "side_by_side": [one.href for one in comparisons(context, start, transcript)],
        "related": _names(transcript.related),
        "unresolved": transcript.unresolved,
        "written_during": _names(context.written_during.get(transcript.ref, ())),
        "turns": [
            _linked(({**turn, "outputs": len(turn["outputs"])} if turn.get("outputs") else turn, file, anchor), start)
            for turn, file, anchor in turns
        ],
    }
    shown = {name: page.fitting(entries, page.entry_bytes) for name, entries in lists.items()}
    left_out = {name: len(lists[name]) - len(shown[name]) for name in lists}
    fields = {
        **_envelope_fields(transcript),
        **shown,
        "turns_total": len(turns),
        "all_turns": page.file_address(context, start, transcript, urls.turn_lines(here)) if turns else None,
        "left_out": {name: number for name, number in left_out.items() if number},
    }
    data = "".join(f"{dump_line(_linked(turn, here))}\n" for turn in turns).encode()
    return fields, [Written(path=urls.turn_lines(here), data=data)] if turns else []


def _envelope_fields(transcript: model.Transcript) -> dict[str, object]:
    envelope = transcript.envelope
    return {
        "ended": transcript.ended.utc if transcript.ended else None,
        "last_turn": transcript.last_turn.utc if transcript.last_turn else None,
        "role": transcript.role,
        "transport": envelope.transport,
        "capture_tool": envelope.capture_tool,
        "redaction_status": envelope.redaction_status,
        "extra": shown_extra(envelope.extra),
        **({"person": envelope.log.person} if envelope.log and envelope.log.person else {}),
    }


def _names(refs: Iterable[Ref]) -> list[str]:
    return ["/".join(ref) for ref in refs]


_Placed = tuple[dict[str, Any], str, str]
"""A turn, the file of the site that shows it, and its anchor there."""


def _linked(placed: _Placed, start: str) -> dict[str, object]:
    """A turn with the link to it from a page or folder."""
    turn, file, anchor = placed
    return {**turn, "href": f"{urls.relative(start, file)}#{anchor}"}


def _turns(context: Context, transcript: model.Transcript) -> Iterator[_Placed]:
    """Each turn of a transcript, with the beginning of its text, and where it is."""
    variant = transcript.variants[0]
    if variant.text is None or not variant.text.turns or transcript.broken:
        return
    turns = read_conversation(context.text_of(variant.text.conversation), started=transcript.started).turns
    turns = without_hashes(turns) if transcript.is_redacted else turns
    here = urls.page_of(transcript)
    for number, part in enumerate(cut_turns(turns), 1):
        file = urls.index_file(here if number == 1 else urls.part_page(here, number))
        yield from ((_turn(turn), file, turn.anchor) for turn in turns[part.begins : part.end])


def _turn(turn: Turn) -> dict[str, Any]:
    """A turn. `text` is the beginning of what was said, before any output of tools; `chars` counts the whole turn.

    `outputs` are what tools put out in a session log, which its page has; of one that is cut there is no `sha256`.
    """
    found = (*blocks(turn.text), *(one for one in (*turn.before, *turn.after) if one.kind == "tool"))
    tools = dict.fromkeys(cut_line(block.name or "", _NAME_CHARS) for block in found if block.kind == "tool")
    said = "\n\n".join(block.text for block in found if block.kind != "tool") or turn.text
    return {
        "ordinal": turn.ordinal,
        "sha256": turn.digest or None,
        "speaker": cut_line(turn.speaker, _NAME_CHARS),
        "person": turn.is_person,
        **(
            {
                "kind": turn.kind,
                "lines": [turn.place.line, turn.place.last_line],
                "record": turn.place.record or None,
                "state": turn.place.state or None,
                **({"words_from": turn.place.words_from} if turn.place.words_from else {}),
                **({"outputs": outputs} if (outputs := list(_outputs(turn))) else {}),
            }
            if turn.place
            else {}
        ),
        "model": cut_line(turn.model, _NAME_CHARS) if turn.model else None,
        "time": turn.at.isoformat(timespec="seconds").replace("+00:00", "Z") if turn.at else None,
        "written": turn.stamp,
        "tools": list(tools)[:_TOOLS],
        "chars": len(turn.text),
        "text": said[:TURN_CHARS],
    }


def _outputs(turn: Turn) -> Iterator[dict[str, object]]:
    for anchor, part in turn.parts:
        if part.output:
            digest = None if part.is_cut else sha256(part.output.encode()).hexdigest()
            name = cut_line(part.name or "", _NAME_CHARS)
            yield {"anchor": anchor, "tool": name, "sha256": digest, "line": part.line}


# Plans the twins of artifacts: the same pages for machines, as JSON and Markdown (SPEC 4).


_FILES = 20
_DOES = 200  # characters of what a call of a tool does


def artifact_twin(context: Context, artifact: model.Artifact) -> page.Twin:
    """The twin of an artifact, of a transcript with the file of its turns; links are from where it is published."""
    start = urls.bundle_folder(context.bundles[artifact.ref]) if context.site.is_lean else urls.page_of(artifact)
    line = artifact_line(artifact, context.archive, base_url=context.site.base_url)
    line["waits"] = wait_of(artifact)
    line["backlinks"] = [f"{kind}/{id_}" for kind, id_ in artifact.backlinks]
    line["mentioned_in"] = page.fitting(list(mention_lines(context, start, artifact)), page.entry_bytes)
    line["cited_by"] = page.fitting(
        [_citation_line(one) for one in context.citations_of.get(artifact.ref, ())], page.entry_bytes
    )
    line["links"] = dict(link_targets(context, start, artifact))
    if artifact.written_by:
        line["written_by"] = [{"session": "/".join(ref), "turn": turn} for ref, turn in artifact.written_by]
    line["originals"] = [page.file_address(context, start, artifact, path) for _, path, _ in originals(artifact)]
    line["life"] = page.fitting([_life(artifact, copy) for copy in artifact.copies[:_FILES]], page.entry_bytes)
    if shared := shared_fields(context, artifact.ref):
        line |= {"shared": page.fitting(shared, page.entry_bytes), "shared_total": len(shared)}
    if isinstance(artifact, model.Memo):
        line["replies"] = [f"{kind}/{id_}" for kind, id_ in artifact.replies]
        line |= {name: ["/".join(ref) for ref in refs] for name, refs in _relations(artifact) if refs}
    fields, files = ({}, withheld_turns(artifact)) if artifact.withheld else _content(context, artifact, start)
    return page.Twin(fields=line | fields, text=_markdown(context, artifact, start), files=tuple(files))


def _content(context: Context, artifact: model.Artifact, start: str) -> tuple[dict[str, object], Iterable[Written]]:
    """The fields of an artifact that only its kind has, its text, and the file of a transcript's turns."""
    fields: dict[str, object] = {}
    files: Iterable[Written] = ()
    if isinstance(artifact, model.Record):
        fields["record"] = _record_facts(artifact)
    if isinstance(artifact, model.Document):
        head = artifact.head  # its date is that of the line
        said: dict[str, object] = {"status": head.status, "superseded": artifact.is_superseded}
        said["extra"] = shown_extra(head.extra)
        if sort_of(artifact) != "other":
            said |= {"standing": standing_of(artifact), "decided_by": decided_by(artifact) or None}
            said |= {"decided_on": decided_on(artifact) or None}
            tied = {"decides": artifact.decides, "decided_in": artifact.decided_in}
            said |= {name: ["/".join(ref) for ref in refs[:_FILES]] for name, refs in tied.items() if refs}
        fields["document"] = said
    if isinstance(artifact, model.Transcript):
        fields["transcript"], files = transcript_twin(context, artifact, start)
    if opening := next((text.opening for text in artifact.texts[:1]), ""):
        fields["opening"] = opening
    return fields | {"body": page.artifact_text(context, artifact, body_texts(artifact))}, files


def _citation_line(one: model.MadeCitation) -> dict[str, object]:
    """A citation of an artifact: what makes it, null for a manuscript, and where; what it cites, and the verdict."""
    return {
        "by": "/".join(one.by) if one.by else None,
        "by_anchor": one.by_anchor,
        "place": str(one.location),
        "anchor": one.anchor,
        "quote": one.quote,
        "state": one.state,
        "verdict": ": ".join((one.said, marked(one.changes))) if one.changes else one.said,
    }


def _relations(memo: model.Memo) -> Iterator[tuple[str, tuple[Ref, ...]]]:
    yield "also_answers", memo.also_answers
    yield "also_answered_by", memo.also_answered_by
    yield "supersedes", memo.supersedes
    yield "superseded_by", memo.superseded_by


def _markdown(context: Context, artifact: model.Artifact, start: str) -> str:
    """What the page says, then a rule and the text as it is: what stands above the rule, no text can forge."""
    head = "\n".join(f"{name}: {one_line(value)}" for name, value in _head(context, artifact) if value)
    in_full = page.twin_address(context, start, artifact.ref, "json").partition("#")[0]
    lists = "".join(_markdown_lists(_lists(context, artifact, start), in_full))
    subject = one_line(artifact.subject) or artifact.short_subject
    notice = notice_of(artifact)
    text = notice.text if notice else _session_text(context, artifact)
    text = text or page.artifact_text(context, artifact, artifact.texts)
    return f"# {subject}\n\n{head}\n\n{lists}---\n\n{text.rstrip()}\n"


def _session_text(context: Context, artifact: model.Artifact) -> str:
    """The turns of a session log, each with who spoke and when, and what its tools did; "" of anything else."""
    if not isinstance(artifact, model.Transcript) or not artifact.log or not artifact.variants[0].text:
        return ""
    conversation = read_conversation(context.text_of(artifact.variants[0].text.conversation), started=None)
    return "\n".join(chain.from_iterable(map(_said, conversation.turns)))


def _said(turn: Turn) -> Iterator[str]:
    state = turn.place.state if turn.place else ""
    facts = (turn.anchor, turn.speaker, turn.model or "", turn.stamp or "", state)
    yield f"## {one_line(', '.join(filter(None, facts)))}\n"
    if turn.text:
        yield f"{turn.text.strip()}\n"
    calls = [(block.name or "tool", cut_line(block.does, _DOES)) for block in turn.after if block.kind == "tool"]
    if calls:
        yield "".join(f"- {one_line(': '.join(filter(None, call)))}\n" for call in calls)


def _life(artifact: model.Artifact, copy: model.Copy) -> dict[str, object]:
    """The git history of a copy: its last steps, oldest first; `why_not` says why it is missing or not complete."""
    life, is_told = copy.life or model.Life(), shows_commits(artifact)
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


def _lists(context: Context, artifact: model.Artifact, start: str) -> Iterator[tuple[str, list[str]]]:
    """What a page lists beside its text, a line each: relations and recorded events of a record, and git's history."""
    if isinstance(artifact, model.Record):
        yield "Relations", [_relation_line(context, start, artifact, one) for one in artifact.relations]
        yield "Recorded events", [_event_line(one) for one in artifact.history]
    yield "Mentioned in", [_mention_line(one) for one in mention_rows(context, start, artifact)]
    yield "Shared passages", list(shared_lines(context, start, artifact.ref))
    lines = history_lines(context, artifact, start)
    yield "History", [_step_line(line.source, step) for line in lines for step in line.steps if step.label != SENT]


def _mention_line(one: MentionRow) -> str:
    said = f": {page.escaped(one.sentence.line)}" if one.sentence else ""
    return f"- [{page.escaped(one.row.short_subject)}]({one.row.href}){said}\n"


def _step_line(source: str, step: LifeStep) -> str:
    commit = f", commit {step.commit.label}" if step.commit else ""
    where = f" in {source}" if source else ""
    return f"- {step.date.shown if step.date else 'no date'} {one_line(f'{step.label} by {step.who}{where}{commit}')}\n"


def _markdown_lists(lists: Iterable[tuple[str, list[str]]], in_full: str) -> Iterable[str]:
    """Lists of lines as sections of Markdown; lines that do not fit are counted, `in_full` names what has them."""
    for heading, lines in lists:
        shown = page.fitting(lines, lambda line: len(line.encode("utf-8", "replace")))
        rest = f"- {len(lines) - len(shown)} more: see {in_full}\n" if len(shown) < len(lines) else ""
        if lines:
            yield f"## {heading}\n\n{''.join(shown)}{rest}\n"


def _relation_line(context: Context, start: str, record: model.Record, link: model.RecordLink) -> str:
    row = relation_row(context, start, record, link)
    label = page.escaped(one_line(row.target.label))
    target = f"[{label}]({page.twin_address(context, start, link.to, 'md')})" if link.to and row.target.href else label
    said = ", ".join(filter(None, (row.status, row.confidence, "stated in that record" if row.is_inverse else "")))
    facts = (f"({page.escaped(one_line(said))})" if said else "", page.escaped(row.label))
    return " ".join(("-", one_line(row.predicate), target, *filter(None, facts))) + "\n"


def _event_line(one: RecordEvent) -> str:
    shown = one.at
    who = f" by {one.actor}" if one.actor else ""
    detail = f": {one.detail}" if one.detail else ""
    return f"- {shown.shown if shown else 'no date'} {one_line(f'{one.event}{who}{detail}')}\n"


def _head(context: Context, artifact: model.Artifact) -> Iterable[tuple[str, str]]:
    shown = artifact.date
    yield "Id", f"{artifact.kind}/{artifact.id}"
    if isinstance(artifact, model.Memo):
        yield "From", artifact.author
        yield "To", ", ".join(artifact.to)
        yield "Mailbox", artifact.mailbox or ""
        asked = (f"{one.action} ({context.label(one.position)})" for one in artifact.recipients if one.action)
        yield "Action", ", ".join(asked)
        yield "Thread", artifact.thread
        yield "In-Reply-To", artifact.parent[1] if artifact.parent else (artifact.ghost_parent or "")
        for name, refs in _relations(artifact):
            yield name.replace("_", "-").title(), ", ".join("/".join(ref) for ref in refs[:_FILES])
    if isinstance(artifact, model.Transcript) and not artifact.withheld:
        yield from _transcript_head(context, artifact)
    if isinstance(artifact, model.Record):
        card = artifact.card
        yield "Type", f"{artifact.system} {card.type}".strip()
        yield "Stage", card.stage or ""
        yield "Namespace", card.namespace or ""
        yield "Section", card.section or ""
        yield "Sessions", ", ".join(card.sessions)
        yield "Superseded-By", "/".join(artifact.superseded_by or ()) or card.superseded_by or ""
    yield "Status", artifact.status
    waits_for = [*map(context.label, artifact.waits_for)]
    yield "Waits-For", ", ".join(waits_for or ["somebody"] * bool(artifact.owed_by))
    yield "Date", shown.shown if shown else ""
    if sort_of(artifact) != "other":
        yield "Standing", standing_of(artifact) or ""
        yield "Decided-By", decided_by(artifact)
        yield "Decided-On", decided_on(artifact)
    files = [f"{copy.file.source}/{copy.file.path}" for copy in artifact.copies[:_FILES]]
    more = len(artifact.copies) - len(files)
    yield "Files", ", ".join((*files, f"and {more} more") if more else files)
    if context.site.base_url:
        yield "URL", context.site.base_url + urls.page_of(artifact)


def _transcript_head(context: Context, transcript: model.Transcript) -> Iterable[tuple[str, str]]:
    envelope = transcript.envelope
    written = context.written_during.get(transcript.ref, ())
    text = transcript.variants[0].text
    turns = f"turns.jsonl{page.bundled_name(context, transcript)}"
    yield "Participants", _fitting_line(map(called, envelope.participants))
    if (log := transcript.log) is not None:
        yield "Agent", log.agent
        yield "Models", ", ".join(log.models)
        yield "Folder", log.folder
        yield "Branch", log.branch
        yield "Started-By", "/".join(transcript.parent or ())
        yield "Continues", "/".join(transcript.continued_from or ())
        yield "Started", _fitting_line(f"{'/'.join(ref)} (t{turn})" for turn, ref in transcript.children)
        yield "Wrote", _fitting_line(f"{log.below(path)} (t{turn})" for turn, path in log.wrote)
        yield "Commits", _fitting_line(f"{commit} (t{turn})" for turn, commit in log.commits)
        yield "Pull-Requests", _fitting_line(f"{address} (t{turn})" for turn, address in log.pulls)
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
    shown = page.fitting(every, lambda name: len(name.encode("utf-8", "replace")) + 2)
    more = len(every) - len(shown)
    return ", ".join((*shown, f"and {more} more") if more else shown)


def _record_facts(record: model.Record) -> dict[str, object]:
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
        "citations": list(map(as_dict, card.citations)),
        "entities": list(map(as_dict, card.entities)),
        "history": [
            {"event": one.event, "at": one.at.utc if one.at else None, "actor": one.actor, "detail": one.detail}
            for one in record.history
        ],
        "content_hash": card.hash_written,
        "content_hash_fits": card.hash_fits,
        "extra": card.extra,
    }


# Plans the bundles of a lean site: the twins and originals of a month as three files (SPEC 4, fewer files).


def bundle_units(context: Context) -> Iterator[Unit]:
    """A unit for each bundle; none where twins and originals are files of their own."""
    members: dict[str, list[model.Artifact]] = defaultdict(list)
    for ref, bundle in context.bundles.items():
        members[bundle].append(context.archive.artifacts[ref])
    for bundle, found in members.items():
        given_as, weight = "an item in the bundle", 1 + len(found) // 3
        made_of = {"bundle": bundle, "artifacts": tuple(found)}
        yield traced_unit(f"bundle/{bundle}", _plan_bundle, given_as=given_as, weight=weight, **made_of)


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


def _plan_bundle(context: Context, *, bundle: str, artifacts: Sequence[model.Artifact]) -> Iterator[Written | Packed]:
    twins: dict[str, page.Twin] = {}
    files: list[Written | Stored] = []
    for artifact in artifacts:
        twin = twins["/".join(artifact.ref)] = artifact_twin(context, artifact)
        twins |= _thread_begun_by(context, bundle, artifact)
        files += (Stored(path=path, sha256=sha256) for _, path, sha256 in originals(artifact))
        files += twin.files
    yield from _files(bundle, twins, files)


def _thread_begun_by(context: Context, bundle: str, artifact: model.Artifact) -> dict[str, page.Twin]:
    """The twin of the thread of two or more memos that a memo is the first of, by its key."""
    if artifact.ref not in context.placed:
        return {}
    thread, _ = context.placed[artifact.ref]
    if len(thread.memos) < 2 or thread.memos[0] != artifact.ref:
        return {}
    return {page.thread_key(thread): thread_twin(context, urls.bundle_folder(bundle), thread)}


def _files(bundle: str, twins: dict[str, page.Twin], files: Sequence[Written | Stored]) -> Iterator[Written | Packed]:
    lines = (dump_line({"key": key, **twin.fields}) for key, twin in twins.items())
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
    yield Written(path=urls.bundle_twins(bundle, "json"), data=data)
    yield Written(path=urls.bundle_twins(bundle, "md"), data=_bundle_markdown(bundle, twins).encode("utf-8", "replace"))
    yield Packed(path=urls.bundle_files(bundle), files=tuple(files))


def _bundle_markdown(bundle: str, twins: dict[str, page.Twin]) -> str:
    month, _, number = bundle.rpartition("/")
    head = f"# {month_name(month)}, bundle {number}\n\n{len(twins)} in all. The line in which each begins:\n\n"
    return page.texts_below_list(head, ((key, twin.text) for key, twin in twins.items()))
