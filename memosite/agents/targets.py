"""Where a memo to a position is put: the folder of its repo in which its memos are (SPEC 2.2, folders)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memosite.agents.items import names_line
from memosite.archive.model import Archive, Copy, Memo, Position
from memosite.facts.layout import join_path, memo_folder, place_of
from memosite.facts.parsed import BROADCAST, FILE, Kind

_LOOKED_AT = 50  # of a position's items, the newest: they tell where its memos are now
_NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A folder that gets the files of a memo, and for whom. `repo` is the source, `folder` the path in it."""

    positions: tuple[str, ...]
    repo: str
    folder: str


def targets_of(
    archive: Archive, sender: Position, to: Sequence[Position | str], name: str
) -> tuple[tuple[Target, ...], tuple[str, ...]]:
    """The folders for a memo's recipients, each once; and what is not known. `name` is that of the sender."""
    if FILE in to:
        found = {(sender.repo, _notes_folder(archive, sender, name)): [sender.id]} if sender.repo else {}
        return _targets(found), () if found else _unknown([sender])
    recipients = [one for one in to if isinstance(one, Position)]
    if BROADCAST in to:
        recipients = [one for one in archive.positions.values() if not one.union_of and one.id != sender.id]
    places: dict[tuple[str, str], list[str]] = {}
    for one in recipients:
        if one.repo:
            places.setdefault((one.repo, _memo_folder(archive, one, one.repo)), []).append(one.id)
    return _targets(places), _unknown([one for one in recipients if not one.repo])


def _targets(places: dict[tuple[str, str], list[str]]) -> tuple[Target, ...]:
    return tuple(
        Target(positions=tuple(positions), repo=repo, folder=folder) for (repo, folder), positions in places.items()
    )


def _unknown(positions: Sequence[Position]) -> tuple[str, ...]:
    """What is said of positions without a repo."""
    if not positions:
        return ()
    named = names_line([one.id for one in positions], _NAMED)
    return (f"no repo of this archive is that of {named}; hand the memo over in another way",)


def _memo_folder(archive: Archive, position: Position, repo: str) -> str:
    """Where new memos to a position are: beside the newest ones, in `inbox/` unless these are in a flat folder."""
    folders = _memo_folders(archive)
    copies = list(_copies(archive, position, repo, "memo"))
    places = [place for copy in copies if (place := place_of(copy.file.path, memo_folders=folders))]
    if not places:
        return f"{_named_folder(archive, position) or 'memos'}/inbox"
    folder = places[0].folder
    boxes = {place.mailbox for place in places if place.folder == folder}
    return folder if "flat" in boxes and not boxes & {"inbox", "read"} else f"{folder}/inbox"


def _notes_folder(archive: Archive, position: Position, name: str) -> str:
    """Where the notes of a position are."""
    newest = next(_copies(archive, position, position.repo or "", "note"), None)
    place = place_of(newest.file.path) if newest else None
    if newest and place and place.store == "notes":
        return newest.file.path.rpartition("/")[0]
    return join_path("notes", name.replace("/", "-"))


def _copies(archive: Archive, position: Position, repo: str, kind: Kind) -> Iterator[Copy]:
    """The copies in a repo of the newest memos to a position, or of its notes, the newest first."""
    for ref in reversed(archive.groups.get(f"position/{position.id}", ())[-_LOOKED_AT:]):
        memo = archive.artifacts[ref] if ref[0] == kind else None
        if isinstance(memo, Memo) and (kind == "note" or position.id in {one.position for one in memo.recipients}):
            yield from (copy for copy in memo.copies if copy.file.source == repo)


def _memo_folders(archive: Archive) -> tuple[str, ...]:
    """The folders that orgdefs name for memos, beside `memos`."""
    named = (memo_folder(said) for one in archive.organizations for said in one.memo_locations)
    return tuple(dict.fromkeys(folder for folder in named if folder))


def _named_folder(archive: Archive, position: Position) -> str | None:
    """The folder that the position's own organization names for memos."""
    own = {organization for organization, _ in position.seats}
    named = (memo_folder(said) for one in archive.organizations if one.id in own for said in one.memo_locations)
    return next((folder for folder in named if folder), None)
