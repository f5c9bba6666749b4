"""Answers `brief`, `inbox`, `show` and `thread`: what a holder has to know, has not read, one item, one thread."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from memosite.agents import Answer, Entry, Part, items
from memosite.agents.items import Involved, Reader, Since
from memosite.archive.lines import RULE, notice_of
from memosite.archive.mailboxes import action_word
from memosite.archive.model import Artifact, Document, Ghost, Library, Memo, Record, Thread, ThreadEntry, Transcript
from memosite.facts.errors import ConfigError
from memosite.facts.parsed import Ref, Text
from memosite.facts.patterns import regex
from memosite.facts.texts import counted, cut_line, listed
from memosite.facts.values import replace
from memosite.formats.sessions.kept import read_conversation
from memosite.formats.status import standing_of
from memosite.formats.turns import Turn

# Answers what a position has not read yet.


def inbox(reader: Reader, written: str, *, begin: int = 1, since: Since | None = None) -> Answer:
    """Unread memos of a position, from a number on: those that ask for something first, then the newest.

    With `since`, what others sent it and arrived since then, read or not.
    """
    position = items.find_position(reader.archive, written, joins=True)
    involved = Involved(reader=reader, position=position)
    lines, fields = items.head_of(reader, position)
    unread, read = involved.unread, involved.to_do_read
    command = reader.command("inbox", position.id, *(("--since", since.written) if since else ()))
    if since:
        members = position.members
        others = (memo for memo in involved.memos if memo.sender_position not in members)
        unread, read = [memo for memo in others if since.has(memo)], []
    todo = involved.more_to_do(len(read), involved.among_others)
    brief = reader.command("brief", position.id, "--only", "to-do")
    to_do = Part(
        name="to-do",
        title=f"To do, {involved.among_others}",
        entries=tuple(involved.entries(read)),
        more=brief,
        empty="Nothing.",
    )
    part = Part(
        name="unread",
        title=f"Arrived since {since.written}" if since else "Unread",
        entries=tuple(involved.entries(unread)[begin - 1 :]),
        more=command,
        empty="Nothing." if since else involved.none_unread(),
        first=min(begin, len(unread) + 1),
    )
    return Answer(
        lines=(*lines, *([f"{todo}: {brief}"] if read else []), *filter(None, [involved.unknown])),
        fields={
            "command": "inbox",
            **fields,
            "open_in_read": len(read),
            "unknown": involved.unknown or None,
            "brief": brief,
        },
        parts=(part, to_do) if read else (part,),
        command=command,
    )


# Answers what a new holder of a position has to know, the most important first.


_LONG_HANDOFF: Final = 2_000
"""Characters from which on a hand-off is shown with what is open first."""


_HEADING: Final = regex(r"(?P<level>#{1,6})[ \t]+(?P<words>.*)")


_OPEN_WORDS: Final = regex(
    r"\b(?:open|next|to[ -]?do|pending|outstanding|remaining|unfinished|in[ -]flight|forward)\b(?!\.)", re.IGNORECASE
)
"""What the headings of sections say in which a hand-off leaves something to do."""


_HANDOFF: Final = regex(r"hand-?(?:off|over)s?|clos(?:ing-note|e-?out)", re.IGNORECASE)


def brief(reader: Reader, written: str, *, only: str = "", begin: int = 1) -> Answer:
    """The brief of a position; of one section, `only` that, from a number on. Raises `ConfigError`."""
    position = items.find_position(reader.archive, written, joins=True)
    involved = Involved(reader=reader, position=position)
    lines, fields = items.head_of(reader, position)
    parts = [part for part in _brief_parts(involved, only) if only in ("", part.name)]
    if not only and begin != 1:
        raise ConfigError("--from: found no --only, expected the section whose entries are counted")
    if only:
        [part] = parts
        first = min(begin, len(part.entries) + 1)
        parts = [replace(part, entries=part.entries[first - 1 :], first=first)]
    words = ("--only", only) if only else ()
    asking = len(involved.to_do) - len(involved.to_do_read) if only == "to-do" else 0
    more = involved.more_to_do(asking, "in unread memos")
    return Answer(
        lines=(
            *lines,
            *([f"{more}: {reader.command('inbox', position.id)}"] if asking else []),
            *filter(None, [involved.unknown]),
        ),
        fields={
            "command": "brief",
            **fields,
            "unknown": involved.unknown or None,
            "has_handoff": bool(_handoffs(involved)),
            **({"open_in_unread": asking} if only == "to-do" else {}),
        },
        parts=tuple(parts),
        command=reader.command("brief", position.id, *words),
    )


def _brief_parts(involved: Involved, only: str) -> Iterable[Part]:
    reader, position = involved.reader, involved.position
    handoffs = _handoffs(involved)
    newest = _newest_of_each(involved, handoffs)
    handoff: Artifact | None = next(reversed(newest.values()), None)
    word = "note" if handoff and not handoffs else "hand-off"
    unread = [memo for memo in involved.unread if only == "unread" or memo.ref not in newest]
    besides = " besides the hand-off" if len(unread) < len(involved.unread) else ""
    since = f" since the {word} of {handoff.date.day}" if handoff and handoff.date else ""
    new_decisions = _since(handoff, involved.decisions) if handoff else []
    new_notes = [note for note in _since(handoff, involved.notes) if note.ref not in newest]
    known = {decision.ref for decision in new_decisions}
    in_force = [decision for decision in _in_force(involved) if decision.ref not in known]

    def part(name: str, title: str, entries: Iterable[Entry], empty: str) -> Part:
        more = reader.command("brief", position.id, "--only", name)
        is_whole, is_due = name == "handoff", name in ("unread", "to-do")
        made = tuple(entries)
        return Part(name=name, title=title, entries=made, more=more, empty=empty, is_whole=is_whole, is_due=is_due)

    def listed(artifacts: Iterable[Artifact]) -> list[Entry]:
        return involved.entries(artifacts)

    texts = {ref: _text(one) for ref, one in newest.items()}
    title = "Newest hand-off to itself" if word == "hand-off" else "No hand-off; its newest note instead"
    if len(newest) > 1:
        title = "Newest hand-off of each" if word == "hand-off" else "No hand-off; the newest note of each instead"
    shown = map(_open_first, involved.entries(newest.values(), texts))
    yield part("handoff", title, shown, "None.")
    yield part("unread", f"Unread memos{besides}", listed(unread), involved.none_unread(besides=bool(besides)))
    yield part("to-do", f"To do, {involved.among_others}", listed(involved.to_do_read), "Nothing.")
    yield part("waiting", "Waiting on others", listed(involved.waiting), "Nothing.")
    yield part("new-decisions", f"New decisions{since}", listed(new_decisions), "None." if handoff else "No hand-off.")
    yield part("new-notes", f"Its notes{since}", listed(new_notes), "None.")
    yield part("decisions", "Decisions in force that concern it", listed(in_force), "None.")
    yield part("threads", "Threads it is in", [_thread(reader, *one) for one in involved.threads], "None.")


def _open_first(handoff: Entry) -> Entry:
    """A long hand-off with the sections of what is open before the rest, which is cut first."""
    text = "" if handoff.is_summary or handoff.chars < _LONG_HANDOFF else handoff.text()
    open_, rest, names = _open_sections(text)
    if not (open_ and rest):
        return handoff
    first = f"{open_}\n\n{RULE}\n\n"
    named = cut_line("; ".join(names), 120)
    return replace(
        handoff,
        line=f"{handoff.line}; first what is open: “{named}”",
        fields={**handoff.fields, "first": named},
        text=lambda: first + rest,
        chars=len(first + rest),
        begin=-len(first),  # of the rest, what comes before those sections is where it is in the text
    )


def _open_sections(text: str) -> tuple[str, str, list[str]]:
    """What the sections say whose headings speak of open things, the rest of a text, and those headings."""
    open_: list[str] = []
    rest: list[str] = []
    names: list[str] = []
    level = 0  # of the open section that a line is in
    fence = ""
    for line in text.splitlines(keepends=True):
        start = line.lstrip()[:3]
        if start in ("```", "~~~") and fence in ("", start):
            fence = "" if fence else start
        heading = None if fence else _HEADING.match(line)
        if heading and (not level or len(heading["level"]) <= level):
            is_open = _OPEN_WORDS.search(heading["words"]) is not None
            level = len(heading["level"]) if is_open else 0
            names += [heading["words"].strip()] if is_open else []
        (open_ if level else rest).append(line)
    return "".join(open_).strip(), "".join(rest).strip(), names


def _newest_of_each(involved: Involved, handoffs: Sequence[Artifact]) -> dict[Ref, Artifact]:
    """The newest hand-off, else note, of each position that one stands for, by their refs, the newest first."""
    found = [one[0] for part in involved.parts if (one := _handoffs(part))] or list(handoffs[:1])
    if not found:
        found = [part.notes[0] for part in involved.parts if part.notes] or list(involved.notes[:1])
    return {one.ref: one for one in items.newest_first(found)}


def _handoffs(involved: Involved) -> list[Artifact]:
    """Memos to itself, and notes and records that are called a hand-off, the newest first.

    A record is a position's own if it is in its repo, and nobody else has that repo.
    """
    archive = involved.reader.archive
    to_itself = [
        memo
        for memo in involved.memos
        if memo.sender_position in involved.position.members
        and any(state.position == memo.sender_position for state in memo.recipients)
    ]
    called = [note for note in involved.notes if _HANDOFF.search(f"{note.id} {note.short_subject}")]
    others = {position.repo for position in archive.positions.values() if position.id not in involved.position.members}
    own = involved.repos - others
    records = [
        one
        for one in (archive.artifacts[ref] for ref in archive.groups.get("handoffs", ()))
        if isinstance(one, Record) and one.card.file.source in own
    ]
    return items.newest_first([*to_itself, *called, *records])


def _text(artifact: Artifact) -> Text | None:
    """All of a hand-off's text: who takes over reads it first."""
    if artifact.withheld:
        return None
    if isinstance(artifact, Memo) and not artifact.broken:
        return artifact.variants[0].text
    return artifact.card.text if isinstance(artifact, Record) else None


def _since(handoff: Artifact | None, artifacts: Iterable[Artifact]) -> list[Artifact]:
    """What is newer than a hand-off."""
    if handoff is None:
        return list(artifacts)
    return [item for item in artifacts if item.date and item.sort_key > handoff.sort_key and item.ref != handoff.ref]


def _in_force(involved: Involved) -> list[Artifact]:
    """Decisions that nothing has replaced or rejected, and that involve the position, its repo, or its memos."""
    own = {artifact.ref for artifact in involved.artifacts}
    return [
        decision
        for decision in involved.decisions
        if standing_of(decision) in {"accepted", None}
        and (
            decision.ref in own or decision.shown_file.source in involved.repos or own.intersection(decision.backlinks)
        )
    ]


def _thread(reader: Reader, thread: Thread, newest: Memo) -> Entry:
    """A thread in a list: its name, how long it is, and what came last between it and the position."""
    label = reader.archive.thread_label(thread.id)
    memos, missing, said = _count(thread)
    last = f"{items.day_and_time(newest.date)}, {items.who_of(newest)}"
    return Entry(
        line=f"“{label}”; {said}, newest here {last}; thread {thread.id}",
        fields={
            "thread": thread.id,
            "short_subject": label,
            "memos": memos,
            "missing": missing,
            "newest": "/".join(newest.ref),
            "date": newest.date.utc if newest.date else None,
        },
        more=reader.command("thread", thread.id, "--brief"),
    )


def _count(thread: Thread) -> tuple[int, int, str]:
    """How many memos a thread has, how many are missing, and both in words."""
    memos = sum(not entry.is_ghost for entry in thread.entries)
    missing = len(thread.entries) - memos
    return memos, missing, counted(memos, "memo") + (f" and {missing} missing" if missing else "")


# Answers with one item: its envelope in three lines, its summary, and its text, turns or passage.


_NAMED_FILES, _NAMED_REFS, _PATH_CHARS = 2, 3, 300


_RANGE = regex(r"t?([1-9]\d{0,8})(?:-t?([1-9]\d{0,8})?)?", re.ASCII)


_TITLES = {"summary": "Summary", "body": "Text", "passage": "Passage", "notice": "Not shown"}


_TURNS = regex(r"t[1-9]\d{0,8}(?:-t[1-9]\d{0,8})?", re.ASCII)


def show(reader: Reader, written: str, *, only_head: bool = False, turns: str = "", begin: int = 0) -> Answer:
    """An item, or what its reference's anchor names. `begin` skips characters of a text. Raises `ConfigError`.

    `turns` are those of a transcript that are shown: `12`, `12-20` or `12-`.
    """
    artifact, anchor = reader.find(written)
    name = "/".join(artifact.ref)
    if turns and not isinstance(artifact, Transcript):
        raise ConfigError(f"--turns: {name} is a {artifact.kind}, expected a transcript; leave --turns out")
    if _TURNS.fullmatch(anchor) and isinstance(artifact, Transcript) and not turns:
        turns, anchor = anchor.replace("t", ""), ""
    command = ("show", f"{name}#{anchor}" if anchor else name, *(("--turns", turns) if turns else ()))
    parts: list[Part] = []
    if artifact.withheld:
        notice = notice_of(artifact)
        parts.append(_text_part(reader, "notice", notice.text if notice else "", command))
    elif anchor:
        parts.append(_text_part(reader, "passage", _passage(reader, artifact, anchor), command, begin))
    else:
        parts += _item_parts(reader, artifact, command, only_head=only_head, turns=turns, begin=begin)
    return Answer(
        lines=tuple(_envelope(reader, artifact)),
        fields={"command": "show", **_fields(reader, artifact)},
        parts=tuple(parts),
        command=reader.command(*command),
    )


def _item_parts(
    reader: Reader, artifact: Artifact, command: Sequence[str], *, only_head: bool, turns: str, begin: int
) -> Iterator[Part]:
    text = _body(artifact)
    is_summary_known = text is None or not (turns or begin)
    said = items.triage(artifact)
    has_summary = said != artifact.summary  # it is more than how the text begins
    if is_summary_known and (has_summary or only_head):
        yield _text_part(reader, "summary", said, command)
    if only_head or text is None:
        return
    if isinstance(artifact, Transcript) and not artifact.broken:
        found = _turns(reader, artifact, text, turns, begin)
        if found is not None:
            yield found
            return
    yield _text_part(reader, "body", text, command, begin)


def _body(artifact: Artifact) -> Text | str | None:
    """The text that people read; of what cannot be parsed, the file."""
    match artifact:
        case Memo() | Transcript():
            variant = artifact.variants[0]
            if artifact.broken and not variant.body:
                file = variant.envelope.file
                return Text(sha256=file.sha256, chars=file.bytes, summary="")
            return variant.text
        case Document():
            return artifact.head.text
        case Record():
            fields = "".join(f"{label}: {value}\n" for label, value in artifact.card.fields)
            return artifact.card.text or fields or None
        case Library():
            listing = (f"{item.name} {item.version}: {item.description} ({item.file})" for item in artifact.card.items)
            return "\n".join(listing) or None
    return None


def _text_part(reader: Reader, name: str, said: Text | str, command: Sequence[str], begin: int = 0) -> Part:
    """A part that is one text, from a character on."""
    load, chars = items.loader(reader, said)
    begin = min(begin, chars)
    more = reader.command(*command)
    from_here = f", from character {begin}" if begin else ""
    entry = Entry(
        line=f"{chars:,} characters{from_here}",
        fields={"chars": chars, "from": begin},
        text=lambda: load()[begin:],
        chars=chars - begin,
        begin=begin,
        more=more,
    )
    return Part(name=name, title=_TITLES[name], entries=(entry,), more=more, step=1, is_list=False)


def _turns(reader: Reader, artifact: Transcript, text: Text | str, turns: str, begin: int) -> Part | None:
    """The turns of a transcript; None if its text has no known form."""
    written = text if isinstance(text, str) else reader.text_of(text.conversation)
    known = read_conversation(written, started=artifact.started).turns
    if not known:
        return None
    first, last = _range(turns, len(known)) if turns else (1, len(known))
    name = "/".join(artifact.ref)
    is_one = first == last
    entries = [
        _turn(reader, name, known[at - 1], begin if is_one else 0, is_brief=not is_one) for at in range(first, last + 1)
    ]
    until = "" if last == len(known) else str(last)
    where = f"turns {first} to {last}" if not is_one else f"turn {first}"
    return Part(
        name="turns",
        title=f"Text, {where} of {len(known)}",
        entries=tuple(entries),
        more=reader.command("show", name, "--turns", f"{first}-{until}"),
        step=1,
        is_list=False,
        gap_command=lambda number: reader.command("show", name, "--turns", f"{first - 1 + number}-{until}"),
    )


def _range(written: str, count: int) -> tuple[int, int]:
    found = _RANGE.fullmatch(written)
    if not found:
        raise ConfigError(f"--turns {written}: expected a turn or a range of turns, such as 12, 12-20 or 12-")
    first = int(found[1])
    last = int(found[2]) if found[2] else count if "-" in written else first
    if not first <= min(last, count):
        raise ConfigError(f"--turns {written}: found {count} turns, expected a range among 1-{count}")
    return first, min(last, count)


_BRIEF = 200
"""The most characters that are shown of what a machine put into a session, unless it is asked for."""


def _turn(reader: Reader, name: str, turn: Turn, begin: int, *, is_brief: bool) -> Entry:
    when = f"{turn.at:%Y-%m-%d %H:%M} UTC" if turn.at else turn.stamp or ""
    model = f"({turn.model})" if turn.model else ""
    skipped = f"from character {begin}" if begin else ""
    who = f"{turn.speaker} {model}".strip()
    words = [f"#{turn.anchor}", who, when, f"{len(turn.text):,} characters", *_of_log(turn), skipped]
    begin = max(begin, len(turn.text) - len(turn.text.lstrip("\n")))
    is_brief = is_brief and turn.place is not None and turn.kind in ("system", "summary")
    text = cut_line(turn.text[:2_000], _BRIEF) if is_brief else turn.text[begin:]
    return Entry(
        line="; ".join(cut_line(word, 100) for word in words if word),
        fields={
            "anchor": turn.anchor,
            "speaker": turn.speaker,
            "model": turn.model,
            "at": turn.at.isoformat().replace("+00:00", "Z") if turn.at else None,
            "stamp": turn.stamp,
            "chars": len(turn.text),
            **_log_fields(turn),
        },
        text=lambda: text,
        chars=len(text),
        begin=begin,
        is_summary=is_brief,
        more=reader.command("show", f"{name}#{turn.anchor}"),
    )


_TOOLS_NAMED, _TOOLS_TOLD = 3, 50


def _of_log(turn: Turn) -> Iterator[str]:
    """What is to be known of a turn of a session log: that nobody typed it, or why it is empty; the tools it called."""
    if turn.is_withheld:
        yield "withheld: a secret is in it"
    elif turn.kind in ("system", "summary"):
        yield "put there by a machine"
    if turn.place and turn.place.state in ("rewound", "sidechain"):
        yield {"rewound": "taken back", "sidechain": "of a subagent"}[turn.place.state]
    tools = [(anchor, part) for anchor, part in turn.parts if part.kind == "tool"] if turn.place else []
    if tools:
        named = listed([f"{part.name or 'a tool'} #{anchor}" for anchor, part in tools], _TOOLS_NAMED)
        yield f"{counted(len(tools), 'tool call')}: {named}"


def _log_fields(turn: Turn) -> dict[str, object]:
    """The same for programs, with where its text is; an output is shown by its anchor."""
    if turn.place is None:
        return {}
    tools: list[dict[str, object]] = [
        {"anchor": anchor, "tool": part.name, "chars": len(part.output), "is_cut": part.is_cut}
        for anchor, part in turn.parts
        if part.kind == "tool"
    ]
    place = turn.place
    return {
        "kind": turn.kind,
        "state": place.state or None,
        "lines": [place.line, place.last_line],
        "record": place.record or None,
        "tool_calls": len(tools),
        "tools": tools[:_TOOLS_TOLD],
    }


def _passage(reader: Reader, artifact: Artifact, anchor: str) -> str:
    """The text of a passage; of a heading, with what is below it up to the next one."""
    from memosite.passages import bodies_of, find_passage, passages_of  # noqa: PLC0415 - takes long, rarely needed

    found = find_passage(artifact, anchor, reader.text_of)
    if found is None:
        known = [passage.anchor for passage in passages_of(artifact, reader.text_of)][:6]
        expected = f"expected one of its anchors: {', '.join(known)} …" if known else "it has no anchors"
        raise ConfigError(f"{'/'.join(artifact.ref)}#{anchor}: found no passage there, {expected}")
    if found.kind != "heading":
        return found.text
    later = (
        passage
        for passage in passages_of(artifact, reader.text_of)
        if passage.kind == "heading" and passage.begin > found.begin
    )
    end = next((one.begin for one in later if (one.path, one.part) == (found.path, found.part)), None)
    body = next(one for one in bodies_of(artifact, reader.text_of) if (one.path, one.part) == (found.path, found.part))
    data = body.text.encode("utf-8", "surrogatepass")
    return data[found.begin - body.before : end and end - body.before].decode("utf-8", "replace").strip()


# The envelope


def _envelope(reader: Reader, artifact: Artifact) -> Iterator[str]:
    """Three lines: what and where it is; who, when and in which state; what it answers, and what answers it."""
    yield f"{'/'.join(artifact.ref)}; in {listed(_paths(artifact), _NAMED_FILES)}"
    states = [*items.states_of(reader, artifact, None), *_recipients(artifact)]
    offset = f" {artifact.date.zone}" if artifact.date and artifact.date.zone else ""
    said = (*items.kind_facts(artifact), f"{artifact.chars:,} characters", *states)
    yield "; ".join((f"{items.who_of(artifact)}, {items.day_and_time(artifact.date)}{offset}", *said))
    subject = cut_line(artifact.subject, 300)
    relations = [
        f"{word} {listed(['/'.join(ref) for ref in refs], _NAMED_REFS)}" for word, refs in _relations(artifact)
    ]
    if artifact.written_by:
        turns = [f"{'/'.join(ref)}#t{turn}" for ref, turn in artifact.written_by]
        relations.append(f"written during {listed(turns, _NAMED_REFS)}")
    thread = [f"thread {artifact.thread}"] if isinstance(artifact, Memo) else []
    if isinstance(artifact, Memo) and artifact.discharge:
        closed = artifact.discharge
        fields = (("on", closed.on), ("by", closed.by), ("via", closed.via))
        relations.append(" ".join(("closed", *(f"{word} {cut_line(value, 120)}" for word, value in fields if value))))
    yield "; ".join((f"“{subject}”", *relations, *thread))


def _paths(artifact: Artifact) -> list[str]:
    return [cut_line(f"{copy.file.source}/{copy.file.path}", _PATH_CHARS) for copy in artifact.copies]


def _recipients(artifact: Artifact) -> list[str]:
    """Of an action that is asked of several, how far each of them is."""
    if not isinstance(artifact, Memo) or len(artifact.recipients) < 2:
        return []
    said = [f"{state.position} {action_word(state.action)}" for state in artifact.recipients if state.action]
    return [items.names_line(said)] if said else []


def _relations(artifact: Artifact) -> Iterator[tuple[str, Sequence[Ref]]]:
    if isinstance(artifact, Memo):
        ghost: tuple[Ref, ...] = (("memo", artifact.ghost_parent),) if artifact.ghost_parent else ()
        found = (
            ("replies to", (artifact.parent,) if artifact.parent else ()),
            ("replies to the missing memo", ghost),
            ("also answers", artifact.also_answers),
            ("answered by", artifact.replies),
            ("also answered by", artifact.also_answered_by),
            ("supersedes", artifact.supersedes),
            ("superseded by", artifact.superseded_by),
        )
        yield from ((word, refs) for word, refs in found if refs)
    elif isinstance(artifact, Record) and artifact.superseded_by:
        yield "superseded by", (artifact.superseded_by,)
    elif isinstance(artifact, Transcript):
        tied = (
            ("started by", (artifact.parent,) if artifact.parent else ()),
            ("continues", (artifact.continued_from,) if artifact.continued_from else ()),
            ("started", tuple(dict.fromkeys(ref for _, ref in artifact.children))),
            ("wrote", tuple(dict.fromkeys(ref for _, ref in artifact.wrote))),
        )
        yield from ((word, refs) for word, refs in tied if refs)


def _fields(reader: Reader, artifact: Artifact) -> dict[str, object]:
    memo = artifact if isinstance(artifact, Memo) else None
    return {
        "kind": artifact.kind,
        "id": artifact.id,
        "files": _paths(artifact)[:_NAMED_FILES],
        "files_more": max(0, len(artifact.copies) - _NAMED_FILES),
        "who": items.who_of(artifact),
        "date": artifact.date.utc if artifact.date else None,
        "offset": artifact.date.zone if artifact.date else None,
        "chars": artifact.chars,
        "facts": items.kind_facts(artifact),
        "states": [*items.states_of(reader, artifact, None), *_recipients(artifact)],
        "subject": cut_line(artifact.subject, 300),
        "relations": {word: ["/".join(ref) for ref in refs[:_NAMED_REFS]] for word, refs in _relations(artifact)},
        "relations_total": {word: len(refs) for word, refs in _relations(artifact)},
        "thread": memo.thread if memo else None,
        "written_by": [{"session": "/".join(ref), "turn": turn} for ref, turn in artifact.written_by[:_NAMED_REFS]],
    }


# Answers what a thread says: its memos in reading order, with their texts or their triage summaries.


_DEPTH = 12


_PAGE: Final = regex(r"(?:^|/)threads/(?P<id>[^/#]+)")


def thread(
    reader: Reader, written: str, *, is_brief: bool = False, begin: int = 1, since: Since | None = None
) -> Answer:
    """The thread of an id: its own, or that of one of its memos. Raises `ConfigError`.

    If not all of it fits, the lines come before the texts, and of both the first memo and the newest ones; from a
    number on, the order is that of reading. With `since`, only memos that arrived since then are shown and counted.
    """
    found = find_thread(reader, written)
    words = ("--brief",) if is_brief else ()
    command = reader.command("thread", found.id, *words, *(("--since", since.written) if since else ()))
    shown = [one for one in found.entries if not since or since.has(reader.archive.artifacts.get(one.ref))]
    entries = shown[begin - 1 :]
    places = reader.archive.shown_first(entries) if begin == 1 else range(len(entries))
    ranks = {place: rank for rank, place in enumerate(places)}
    memos, missing, said = _count(found)
    label = reader.archive.thread_label(found.id)
    part = Part(
        name="memos",
        title=f"Memos that arrived since {since.written}" if since else "Memos in reading order",
        entries=tuple(_entry(reader, one, is_brief=is_brief, rank=ranks[place]) for place, one in enumerate(entries)),
        more=command,
        step=max(1, len(entries)),
        empty="None.",
        first=min(begin, len(shown) + 1),
    )
    return Answer(
        lines=(f"Thread {found.id}", f"“{label}”; {said}"),
        fields={"command": "thread", "thread": found.id, "short_subject": label, "count": memos, "missing": missing},
        parts=(part,),
        command=command,
    )


def find_thread(reader: Reader, written: str) -> Thread:
    """The thread that a reference means."""
    archive = reader.archive
    page = _PAGE.search(unquote(urlsplit(written).path)) if "/" in written else None
    said = page["id"] if page else written.strip("/").removeprefix("thread/")
    if said in archive.threads:
        return archive.threads[said]
    try:
        memo, _ = reader.find(written, ("memo", "note"))
    except ConfigError:
        begun = [id_ for id_ in archive.threads if id_.casefold().startswith(said.casefold())]
        if len(begun) != 1 or not said:
            raise
        return archive.threads[begun[0]]
    if not isinstance(memo, Memo):
        raise ConfigError(
            f"{written}: found a {memo.kind}, expected a memo, a note or the id of a thread; see: memosite show"
        )
    return archive.threads[memo.thread]


def _entry(reader: Reader, entry: ThreadEntry, *, is_brief: bool, rank: int) -> Entry:
    if entry.is_ghost:
        made = _missing(reader.archive.ghosts[entry.ref[1]], rank)
    else:
        memo = reader.archive.artifacts[entry.ref]
        body = memo.variants[0].text if isinstance(memo, Memo) and not (is_brief or memo.withheld) else None
        made = items.entry_of(reader, memo, rank=rank, text=body)
    depth = "> " * min(entry.depth, _DEPTH)
    further = [f"goes on in thread {id_}" for id_ in entry.continues[:3]]
    further += [f"comes from thread {entry.continued_from}"] if entry.continued_from else []
    return replace(
        made,
        line="; ".join((f"{depth}{made.line}", *further)),
        fields={"depth": entry.depth, **made.fields, "other_threads": further},
        text_name=made.text_name if is_brief else "text",
    )


def _missing(ghost: Ghost, rank: int) -> Entry:
    """A memo that others reply to and that no source has: what its name says."""
    who = ghost.who.line(" → ")
    return Entry(
        line=f"{items.day_and_time(ghost.date)}; {who}; missing memo; “{ghost.short_subject}”; {ghost.kind}/{ghost.id}",
        fields={
            "kind": ghost.kind,
            "id": ghost.id,
            "date": ghost.date.utc if ghost.date else None,
            "short_subject": ghost.short_subject,
            "from": ghost.sender,
            "to": [ghost.to] if ghost.to else [],
            "states": ["missing memo"],
        },
        rank=rank,
    )
