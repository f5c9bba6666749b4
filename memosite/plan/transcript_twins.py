"""Plans what the twins of transcripts have besides those of all artifacts: participants, captures, turns (SPEC 4).

`index.json` has the first turns, as many as the bound on lists allows; `turns.jsonl` has all of them, one a line.
"""

from collections.abc import Iterable, Iterator, Sequence

from memosite.archive.lines import dump_line, is_redacted
from memosite.archive.model import Transcript
from memosite.archive.urls import index_file, page_of, part_page, relative, turn_lines
from memosite.facts.parsed import Participant, Ref
from memosite.facts.texts import cut_line
from memosite.formats.turns import Turn, blocks, parse_conversation, without_hashes
from memosite.pages.parts import cut_turns
from memosite.plan.addresses import file_address
from memosite.plan.artifact_page import PART_CHARS, shown_extra
from memosite.plan.comparison import comparisons
from memosite.plan.context import Context
from memosite.plan.files import Written
from memosite.plan.twins import entry_bytes, fitting

TURN_CHARS = 300
"""The most characters of a turn's text; the body has it all."""

_NAME_CHARS = 120
_TOOLS = 20


def transcript_twin(
    context: Context, transcript: Transcript, start: str
) -> tuple[dict[str, object], Iterable[Written]]:
    """The fields of a transcript for its JSON, with links from `start`, and the file of its turns if it has a text."""
    page = page_of(transcript)
    turns = list(_turns(context, transcript))
    lists: dict[str, Sequence[object]] = {
        "participants": list(map(_participant, transcript.variants[0].envelope.participants)),
        "captures": _names(context.captures.get(transcript.ref, ())),
        "side_by_side": [one.href for one in comparisons(context, start, transcript)],
        "related": _names(transcript.related),
        "unresolved": transcript.unresolved,
        "written_during": _names(context.written_during.get(transcript.ref, ())),
        "turns": [_linked(turn, start) for turn in turns],
    }
    shown = {name: fitting(entries, entry_bytes) for name, entries in lists.items()}
    left_out = {name: len(lists[name]) - len(shown[name]) for name in lists}
    fields = {
        **_envelope_fields(transcript),
        **shown,
        "turns_total": len(turns),
        "all_turns": file_address(context, start, transcript, turn_lines(page)) if turns else None,
        "left_out": {name: number for name, number in left_out.items() if number},
    }
    data = "".join(f"{dump_line(_linked(turn, page))}\n" for turn in turns).encode()
    return fields, [Written(path=turn_lines(page), data=data)] if turns else []


def _envelope_fields(transcript: Transcript) -> dict[str, object]:
    envelope = transcript.variants[0].envelope
    return {
        "ended": transcript.ended.utc if transcript.ended else None,
        "last_turn": transcript.last_turn.utc if transcript.last_turn else None,
        "role": transcript.role,
        "transport": envelope.transport,
        "capture_tool": envelope.capture_tool,
        "redaction_status": envelope.redaction_status,
        "extra": shown_extra(envelope.extra),
    }


def _participant(one: Participant) -> dict[str, object]:
    return {
        "position": one.position,
        "session_arc": one.session_arc,
        "identity": one.identity,
        "extra": shown_extra(one.extra, limit=PART_CHARS),
    }


def _names(refs: Iterable[Ref]) -> list[str]:
    return ["/".join(ref) for ref in refs]


_Placed = tuple[dict[str, object], str, str]
"""A turn, the file of the site that shows it, and its anchor there."""


def _linked(placed: _Placed, start: str) -> dict[str, object]:
    """A turn with the link to it from a page or folder."""
    turn, file, anchor = placed
    return {**turn, "href": f"{relative(start, file)}#{anchor}"}


def _turns(context: Context, transcript: Transcript) -> Iterator[_Placed]:
    """Each turn of a transcript, with the beginning of its text, and where it is."""
    variant = transcript.variants[0]
    if variant.text is None or not variant.text.turns or transcript.broken:
        return
    started = variant.envelope.sent.instant if variant.envelope.sent else None
    turns = parse_conversation(context.text_of(variant.text.sha256), started=started).turns
    turns = without_hashes(turns) if is_redacted(transcript) else turns
    page = page_of(transcript)
    for number, part in enumerate(cut_turns([turn.text for turn in turns]), 1):
        file = index_file(page if number == 1 else part_page(page, number))
        yield from ((_turn(turn), file, turn.anchor) for turn in turns[part.begins : part.end])


def _turn(turn: Turn) -> dict[str, object]:
    """A turn. `text` is the beginning of what was said, before any output of tools; `chars` counts the whole turn."""
    found = blocks(turn.text)
    tools = dict.fromkeys(cut_line(block.name or "", _NAME_CHARS) for block in found if block.kind == "tool")
    said = "\n\n".join(block.text for block in found if block.kind != "tool") or turn.text
    return {
        "ordinal": turn.ordinal,
        "sha256": turn.digest or None,
        "speaker": cut_line(turn.speaker, _NAME_CHARS),
        "person": turn.is_person,
        "model": cut_line(turn.model, _NAME_CHARS) if turn.model else None,
        "time": turn.at.isoformat(timespec="seconds").replace("+00:00", "Z") if turn.at else None,
        "written": turn.stamp,
        "tools": list(tools)[:_TOOLS],
        "chars": len(turn.text),
        "text": said[:TURN_CHARS],
    }
