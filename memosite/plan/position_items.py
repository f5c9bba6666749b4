"""Finds what a position received, what involves it, and what is open for it."""

from memosite.archive.mailboxes import unknown_line
from memosite.archive.model import Artifact, Memo, Position
from memosite.facts.phrases import joined, phrase
from memosite.plan.context import Context
from memosite.plan.dates import by_arrival


def received(context: Context, position: Position) -> list[Memo]:
    """Memos to a position and to `all`, in order of arrival; for a former position those to `all`."""
    found = context.received.get(position.id)
    return list(context.broadcasts) if found is None else found


def unknown_reading(context: Context, position: Position) -> str:
    """What is said of memos to a position of which nobody can know whether it has read them; "" if there are none."""
    members = (position.id, *position.union_of)
    repos = [one.repo for id_ in members if (one := context.archive.positions.get(id_))]
    return unknown_line(received(context, position), members, repos)


def none_unread(unknown: str) -> str:
    """What is said of a position without unread memos, as far as anybody can know."""
    if not unknown:
        return phrase("No unread memos.")
    return joined(" ", (phrase("No memos are known to be unread."), unknown))


def involving(context: Context, position: Position) -> list[Artifact]:
    """Everything that involves a position, broadcasts included, in order of arrival."""
    everything: list[Artifact] = list(context.broadcasts)
    broadcasts = frozenset(map(id, everything))
    everything += [one for one in context.by_position.get(position.id, ()) if id(one) not in broadcasts]
    everything.sort(key=by_arrival)
    return everything
