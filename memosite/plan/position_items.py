"""Finds what a position received, what involves it, and what is open for it."""

from memosite.archive.model import Artifact, Memo, Position
from memosite.plan.context import Context
from memosite.plan.dates import by_arrival


def received(context: Context, position: Position) -> list[Memo]:
    """Memos to a position and to `all`, in order of arrival; for a former position those to `all`."""
    found = context.received.get(position.id)
    return list(context.broadcasts) if found is None else found


def involving(context: Context, position: Position) -> list[Artifact]:
    """Everything that involves a position, broadcasts included, in order of arrival."""
    everything: list[Artifact] = list(context.broadcasts)
    broadcasts = frozenset(map(id, everything))
    everything += [one for one in context.by_position.get(position.id, ()) if id(one) not in broadcasts]
    everything.sort(key=by_arrival)
    return everything
