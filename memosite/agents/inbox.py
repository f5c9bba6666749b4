"""Answers what a position has not read yet."""

from memosite.agents.answer import Answer, Part
from memosite.agents.items import Reader, entry_of
from memosite.agents.positions import Involved, find_position, head_of


def inbox(reader: Reader, written: str, *, begin: int = 1) -> Answer:
    """Unread memos of a position, from a number on: those that ask for something first, then the newest."""
    position = find_position(reader.archive, written)
    involved = Involved(reader=reader, position=position)
    lines, fields = head_of(reader, position)
    unread = involved.unread
    read = involved.to_do_read
    todo = f"{len(read)} more {'action is' if len(read) == 1 else 'actions are'} open, {involved.among_others}"
    brief = reader.command("brief", position.id, "--only", "to-do")
    part = Part(
        name="unread",
        title="Unread",
        entries=tuple(entry_of(reader, one, position) for one in unread[begin - 1 :]),
        more=reader.command("inbox", position.id),
        empty=involved.none_unread(),
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
        parts=(part,),
        command=reader.command("inbox", position.id),
        options=reader.suffix,
    )
