"""Answers with one item: its envelope in three lines, its summary, and its text, turns or passage."""

import re
from collections.abc import Iterator, Sequence

from memosite.agents.answer import Answer, Entry, Part
from memosite.agents.items import (
    Reader,
    action_word,
    day_and_time,
    kind_facts,
    loader,
    names_line,
    states_of,
    triage,
    who_of,
)
from memosite.archive.model import Artifact, Document, Library, Memo, Record, Transcript
from memosite.archive.named import ArchiveNames
from memosite.archive.notices import notice_of
from memosite.facts.errors import ConfigError
from memosite.facts.parsed import Ref, Text
from memosite.facts.texts import cut_line
from memosite.formats.turns import Turn, parse_conversation

_NAMED_FILES, _NAMED_REFS, _PATH_CHARS = 2, 3, 300
_RANGE = re.compile(r"t?([1-9]\d{0,8})(?:-t?([1-9]\d{0,8})?)?", re.ASCII)
_TITLES = {"summary": "Summary", "body": "Text", "passage": "Passage", "notice": "Not shown"}
_TURNS = re.compile(r"t[1-9]\d{0,8}(?:-t[1-9]\d{0,8})?", re.ASCII)


def show(reader: Reader, written: str, *, only_head: bool = False, turns: str = "", begin: int = 0) -> Answer:
    """An item, or what its reference's anchor names. `begin` skips characters of a text. Raises `ConfigError`.

    `turns` are those of a transcript that are shown: `12`, `12-20` or `12-`.
    """
    name, anchor = ArchiveNames(reader.archive).find(written)
    kind, _, id_ = name.partition("/")
    artifact = reader.archive.artifacts[(kind, id_)]  # type: ignore[index] # the kind is one
    if turns and not isinstance(artifact, Transcript):
        raise ConfigError(f"--turns: {name} is a {kind}, expected a transcript; leave --turns out")
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
        parts += _parts(reader, artifact, command, only_head=only_head, turns=turns, begin=begin)
    return Answer(
        lines=tuple(_envelope(reader, artifact)),
        fields={"command": "show", **_fields(reader, artifact)},
        parts=tuple(parts),
        command=reader.command(*command),
        options=reader.suffix,
    )


def _parts(
    reader: Reader, artifact: Artifact, command: Sequence[str], *, only_head: bool, turns: str, begin: int
) -> Iterator[Part]:
    text = _body(artifact)
    is_summary_known = text is None or not (turns or begin)
    said = triage(artifact)
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
            items = (f"{one.name} {one.version}: {one.description} ({one.file})" for one in artifact.card.items)
            return "\n".join(items) or None
    return None


def _text_part(reader: Reader, name: str, said: Text | str, command: Sequence[str], begin: int = 0) -> Part:
    """A part that is one text, from a character on."""
    load, chars = loader(reader, said)
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
    load, _ = loader(reader, text)
    sent = artifact.variants[0].envelope.sent
    conversation = parse_conversation(load(), started=sent.instant if sent else None)
    known = conversation.turns
    if not known:
        return None
    first, last = _range(turns, len(known)) if turns else (1, len(known))
    name = "/".join(artifact.ref)
    is_one = first == last
    entries = [_turn(reader, name, known[at - 1], begin if is_one else 0) for at in range(first, last + 1)]
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


def _turn(reader: Reader, name: str, turn: Turn, begin: int) -> Entry:
    when = f"{turn.at:%Y-%m-%d %H:%M} UTC" if turn.at else turn.stamp or ""
    model = f"({turn.model})" if turn.model else ""
    skipped = f"from character {begin}" if begin else ""
    words = (f"#{turn.anchor}", f"{turn.speaker} {model}".strip(), when, f"{len(turn.text):,} characters", skipped)
    begin = max(begin, len(turn.text) - len(turn.text.lstrip("\n")))
    text = turn.text[begin:]
    return Entry(
        line="; ".join(cut_line(word, 100) for word in words if word),
        fields={
            "anchor": turn.anchor,
            "speaker": turn.speaker,
            "model": turn.model,
            "at": turn.at.isoformat().replace("+00:00", "Z") if turn.at else None,
            "stamp": turn.stamp,
            "chars": len(turn.text),
        },
        text=lambda: text,
        chars=len(text),
        begin=begin,
        more=reader.command("show", f"{name}#{turn.anchor}"),
    )


def _passage(reader: Reader, artifact: Artifact, anchor: str) -> str:
    """The text of a passage; of a heading, with what is below it up to the next one."""
    from memosite.passages.bodies import bodies_of  # noqa: PLC0415 - takes long, rarely needed
    from memosite.passages.passage import find_passage, passages_of  # noqa: PLC0415 - as above

    found = find_passage(artifact, anchor, reader.text_of)
    if found is None:
        known = [one.anchor for one in passages_of(artifact, reader.text_of)][:6]
        expected = f"expected one of its anchors: {', '.join(known)} …" if known else "it has no anchors"
        raise ConfigError(f"{'/'.join(artifact.ref)}#{anchor}: found no passage there, {expected}")
    if found.kind != "heading":
        return found.text
    later = (one for one in passages_of(artifact, reader.text_of) if one.kind == "heading" and one.begin > found.begin)
    end = next((one.begin for one in later if (one.path, one.part) == (found.path, found.part)), None)
    body = next(one for one in bodies_of(artifact, reader.text_of) if (one.path, one.part) == (found.path, found.part))
    data = body.text.encode("utf-8", "surrogatepass")
    return data[found.begin - body.before : end and end - body.before].decode("utf-8", "replace").strip()


# The envelope


def _envelope(reader: Reader, artifact: Artifact) -> Iterator[str]:
    """Three lines: what and where it is; who, when and in which state; what it answers, and what answers it."""
    yield f"{'/'.join(artifact.ref)}; in {_joined(_paths(artifact), _NAMED_FILES)}"
    states = [*states_of(reader, artifact, None), *_recipients(artifact)]
    offset = f" {artifact.date.zone}" if artifact.date and artifact.date.zone else ""
    said = (*kind_facts(artifact), f"{artifact.chars:,} characters", *states)
    yield "; ".join((f"{who_of(artifact)}, {day_and_time(artifact.date)}{offset}", *said))
    subject = cut_line(artifact.subject, 300)
    relations = [f"{word} {_refs(refs)}" for word, refs in _relations(artifact)]
    thread = [f"thread {artifact.thread}"] if isinstance(artifact, Memo) else []
    yield "; ".join((f"“{subject}”", *relations, *thread))


def _paths(artifact: Artifact) -> list[str]:
    return [cut_line(f"{copy.file.source}/{copy.file.path}", _PATH_CHARS) for copy in artifact.copies]


def _recipients(artifact: Artifact) -> list[str]:
    """Of an action that is asked of several, how far each of them is."""
    if not isinstance(artifact, Memo) or len(artifact.recipients) < 2:
        return []
    said = [f"{one.position} {action_word(one.action)}" for one in artifact.recipients if one.action]
    return [names_line(said)] if said else []


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


def _refs(refs: Sequence[Ref]) -> str:
    return _joined(["/".join(ref) for ref in refs], _NAMED_REFS)


def _joined(names: Sequence[str], limit: int) -> str:
    more = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {more} more" if more > 0 else "")


def _fields(reader: Reader, artifact: Artifact) -> dict[str, object]:
    memo = artifact if isinstance(artifact, Memo) else None
    return {
        "kind": artifact.kind,
        "id": artifact.id,
        "files": _paths(artifact)[:_NAMED_FILES],
        "files_more": max(0, len(artifact.copies) - _NAMED_FILES),
        "who": who_of(artifact),
        "date": artifact.date.utc if artifact.date else None,
        "offset": artifact.date.zone if artifact.date else None,
        "chars": artifact.chars,
        "facts": kind_facts(artifact),
        "states": [*states_of(reader, artifact, None), *_recipients(artifact)],
        "subject": cut_line(artifact.subject, 300),
        "relations": {word: ["/".join(ref) for ref in refs[:_NAMED_REFS]] for word, refs in _relations(artifact)},
        "relations_total": {word: len(refs) for word, refs in _relations(artifact)},
        "thread": memo.thread if memo else None,
    }
