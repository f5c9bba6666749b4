"""Which former contents of files everybody may see, and how (SPEC 9, audience)."""

from collections.abc import Iterable, Mapping, Set

from memosite.archive.confidential import is_confidential
from memosite.archive.history import History
from memosite.facts.file import File
from memosite.reading.mentions import Mentions
from memosite.store.shelf import Shelf


def former_contents(
    history: History, artifacts: Iterable[Set[str]], mentions: Mentions, shelf: Shelf
) -> Mapping[str, str]:
    """The digests of former contents by blob id, for artifacts by the keys of their files.

    If one content was confidential then, the others of that artifact are left out, too: its body has no marks of its
    own. What mentions withheld names is rewritten.
    """
    blobs: dict[str, str] = {}
    closed: set[str] = set()
    for keys in artifacts:
        paths = {
            blob: event.path
            for key in keys
            for event in history.events.get(key, ())
            for blob in (event.before, event.after)
            if blob in history.blobs
        }
        files = [
            (blob, File(source="", path=path, data=shelf.get(history.blobs[blob]))) for blob, path in paths.items()
        ]
        if any(is_confidential(file) for _, file in files):
            closed.update(paths)
            continue
        for blob, file in files:
            data = mentions.without(file.data, file.name)
            blobs[blob] = history.blobs[blob] if data is None else shelf.put(data)
    return {blob: digest for blob, digest in blobs.items() if blob not in closed}
