"""How a memo that is written now names a position: by its present name, as memos use it."""

from collections.abc import Iterable, Mapping

from memosite.agents.positions import find_position
from memosite.archive.model import Archive, Memo, Position
from memosite.facts.errors import ConfigError
from memosite.facts.names import make_id

_LOOKED_AT = 50  # of a position's items, the newest: what it is called now


def one_position(archive: Archive, written: str, option: str) -> Position:
    """The one position that a name means. Raises `ConfigError`, also for a name that several organizations share."""
    try:
        return find_position(archive, written)
    except ConfigError as error:
        raise ConfigError(f"{option} {error}") from error


def name_of(archive: Archive, position: Position, aliases: Mapping[str, str]) -> str:
    """The name of a position in `from` and `to`: its id, but what memos call it now where they never use the id.

    Former names, the keys of `aliases`, are not used any more.
    """
    own = _own_name(position, aliases)
    used = [name for name in position.names if name not in aliases]
    if own in used or not used:
        return own
    return next((name for name in _newest_names(archive, position) if name in used), used[0])


def _own_name(position: Position, aliases: Mapping[str, str]) -> str:
    """The name by which its organization lists it; of one that only memos name, the name that gives its id."""
    if position.seats:
        organization, seat = position.seats[0]
        return seat.id if position.id == make_id(seat.id) else f"{organization}/{seat.id}"
    known = (*position.names, *aliases.values())
    return next((name for name in known if make_id(name) == position.id and name not in aliases), position.id)


def _newest_names(archive: Archive, position: Position) -> Iterable[str]:
    """The names that memos use for a position, that of the newest memo first."""
    for ref in reversed(archive.groups.get(f"position/{position.id}", ())[-_LOOKED_AT:]):
        artifact = archive.artifacts[ref]
        for name in (artifact.sender, *artifact.to) if isinstance(artifact, Memo) else ():
            if archive.position_of.get(name) == position.id:
                yield name
