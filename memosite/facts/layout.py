"""The folder conventions of a repo: stores, mailboxes, roles, working roots, ignored folders.

The source of the rules is SPEC 2.2 (folders) and the memodef README (inbox lifecycle, notes, transcripts).
All paths are relative to a source, with `/`.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from memosite.facts.parsed import Kind, Mailbox
from memosite.facts.patterns import regex
from memosite.facts.values import Value

Store = Literal["memos", "notes", "transcripts"]

SKIPPED_FOLDERS = frozenset({"conformance", "fixtures", "templates", "proposed-templates", "examples", "tests"})
"""Folders that hold samples of artifacts, not artifacts (SPEC 2.2)."""

UNREAD_FOLDERS = frozenset({".git", "node_modules", ".memosite", "__pycache__", ".venv", "venv", ".tox"})
"""Folders that never hold anything of the archive."""

CONFIG_NAME = "memosite.yml"
"""The file that configures a site."""

SITE_MARKER = ".memosite-site"
"""The file that marks a folder as a site written by memosite: nothing in it is a source."""

_STORES: dict[str, Store] = {"memos": "memos", "notes": "notes", "transcripts": "transcripts"}
MAILBOXES: dict[str, Mailbox] = {"inbox": "inbox", "read": "read", "archive": "archive"}
_KIND_OF_STORE: dict[Store, Kind] = {"memos": "memo", "notes": "note", "transcripts": "transcript"}


class Place(Value):
    """The place of a file: its store, working root, and mailbox or role.

    `folder` is the store's own folder, such as `teams/a/memos`. `mailbox` is given for memos only, `role` for
    notes and transcripts only.
    """

    store: Store
    root: str
    folder: str
    mailbox: Mailbox | None = None
    role: str | None = None

    @property
    def kind(self) -> Kind:
        """The kind of artifact this store is for."""
        return _KIND_OF_STORE[self.store]


def place_of(path: str, *, memo_folders: tuple[str, ...] = ()) -> Place | None:
    """The place of a file, None outside every store. `memo_folders` are further names of `memos` folders.

    Of nested stores the innermost counts.
    """
    return _place_of_folder(path.rpartition("/")[0], memo_folders)


@lru_cache(maxsize=4_096)
def _place_of_folder(path: str, memo_folders: tuple[str, ...]) -> Place | None:
    """Memoized: all files of a folder have one place, and each is looked up several times."""
    folders = path.split("/") if path else []
    for end in range(len(folders), 0, -1):
        store = _STORES.get(folders[end - 1])
        length = 1
        if store is None:
            length = _memo_folder_length(folders[:end], memo_folders)
            if not length:
                continue
            store = "memos"
        below = folders[end] if end < len(folders) else None
        is_memos = store == "memos"
        return Place(
            store=store,
            root="/".join(folders[: end - length]),
            folder="/".join(folders[:end]),
            mailbox=(MAILBOXES.get(below or "", "flat") if is_memos else None),
            role=None if is_memos else below,
        )
    return None


def _memo_folder_length(folders: list[str], endings: tuple[str, ...]) -> int:
    """How many folders at the end of these are one of the endings, 0 if none is; the longest counts."""
    fitting = (parts for ending in endings if folders[-len(parts := ending.split("/")) :] == parts)
    return max(map(len, fitting), default=0)


_PLACEHOLDER = regex(r"<[^<>]*>|\{[^{}]*\}")


def memo_folder(memo_location: str) -> str | None:
    """The folder that an orgdef's `x.org.memo_location` names: the last folders written out between placeholders.

    `<recipient working_directory>/handoffs/` gives `handoffs`, `{repo}/comms/<position>/inbox` gives `comms`; None
    if that is `memos`, the default, or if nothing usable is left.
    """
    for written in reversed(_PLACEHOLDER.split(memo_location)):
        parts = [part for part in written.replace("\\", "/").strip().split("/") if part not in {"", "."}]
        while parts and parts[-1] in MAILBOXES:
            parts.pop()
        if parts:
            is_usable = ".." not in parts and all(re.fullmatch(r"[\w.-]+", part) for part in parts)
            return "/".join(parts) if is_usable and parts[-1] != "memos" else None
    return None


def sibling_folders(path: str, *, memo_folders: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The folders a memo's body may be in: its own, then the other mailboxes of its store (SPEC 2.2)."""
    return _siblings(path.rpartition("/")[0], memo_folders)


@lru_cache(maxsize=4_096)
def _siblings(own: str, memo_folders: tuple[str, ...]) -> tuple[str, ...]:
    place = _place_of_folder(own, memo_folders)
    if place is None or place.store != "memos":
        return (own,)
    boxes = (place.folder, *(f"{place.folder}/{box}" for box in MAILBOXES))
    return (own, *(folder for folder in boxes if folder != own))


_GLOB_PART = regex(r"\*+|\?|\[!?\]?[^\]/]*\]|.", re.DOTALL)
_ANY_FOLDERS = "(?:[^/]+/)*"


@lru_cache(maxsize=256)
def _compile_glob(pattern: str) -> re.Pattern[str]:
    """The glob as a regular expression without backtracking: what is between two `**` matches at its first place only.

    That is enough, as each `**` matches anything; so no glob takes longer than its length times the path's.
    """
    parts = [part for part in pattern.split("/") if part not in {"", "."}]
    if parts and (pattern.endswith("/") or parts[-1] == "**"):
        parts += ["**", "*"]
    runs: list[list[str]] = [[]]
    for part in parts:
        if part == "**":
            runs.append([])
        else:
            runs[-1].append(_part_of_glob(part))
    first, *others = ("/".join(run) for run in runs)
    if not others:
        return re.compile(first, re.DOTALL)
    middle = "".join(f"(?>{_ANY_FOLDERS}?{run}/)" for run in others[:-1] if run)
    head = f"{first}/" if first else ""
    return re.compile(head + middle + _ANY_FOLDERS + others[-1], re.DOTALL)


def _part_of_glob(part: str) -> str:
    """A name in a glob: what is between two `*` matches at its first place only, too."""
    runs = [""]
    for piece in _GLOB_PART.findall(part):
        if piece.startswith("*"):
            runs.append("")
        else:
            runs[-1] += _glob_piece(piece)
    first, *others = runs
    if not others:
        return first
    middle = "".join(f"(?>[^/]*?{run})" for run in others[:-1])
    return f"{first}{middle}[^/]*{others[-1]}"


def _glob_piece(piece: str) -> str:
    if piece == "?":
        return "[^/]"
    if len(piece) > 2 and piece.startswith("["):
        is_negated = piece[1] == "!"
        chars = re.sub(r"([\\\[\]^&~|])", r"\\\1", piece[1 + is_negated : -1])
        found = f"(?!/)[{'^' if is_negated else ''}{chars}]"
        return found if _is_regex(found) else re.escape(piece)
    return re.escape(piece)


def _is_regex(text: str) -> bool:
    if "--" in text:  # may mean something else in later versions of Python
        return False
    try:
        re.compile(text)
    except re.error:  # a range that runs backwards, such as [z-a]
        return False
    return True


def join_path(folder: str, name: str) -> str:
    """The path of a name in a folder; "" is the folder that paths are relative to."""
    return f"{folder}/{name}" if folder else name


def matches_glob(path: str, pattern: str) -> bool:
    """Whether a path matches a glob: `*` and `?` within a folder, `**` for any folders; `a/` matches all below it."""
    return _compile_glob(pattern).fullmatch(path) is not None


def matches_any(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path matches one of these globs."""
    return any(matches_glob(path, pattern) for pattern in patterns)
