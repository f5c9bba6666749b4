"""[I/O] Signs cache files with a user's key, so that memosite trusts only files it wrote itself.

The cache is in the site folder, which may be a clone of an untrusted repo. So files that are unpickled, and files that
list what to remove, are signed with a key that is in the user's state folder and in no repo.
"""

import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

from memosite.facts.errors import StateError
from memosite.store.cache import read_whole, write_whole
from memosite.store.safe_files import open_new

KEY_BYTES = 32
_SIGNATURE_BYTES = 32


def state_home() -> Path:
    """The folder of memosite's state for this user (XDG base directories, where only absolute paths count).

    Raises `StateError` for a user without a home.
    """
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    try:
        return (named if named.is_absolute() else Path("~/.local/state").expanduser()) / "memosite"
    except RuntimeError as error:
        raise StateError(
            "this user has no home folder; name a folder for what is remembered in XDG_STATE_HOME"
        ) from error


def own_key() -> bytes | None:
    """The key of this user, made when it is first asked for; None where it can be neither read nor kept.

    A damaged one is replaced, which invalidates all signatures. If two processes make one at the same time, the later
    one wins.
    """
    with suppress(OSError, StateError):
        file = state_home() / "key"
        found = _read_key(file)
        if found is None:
            _make_key(file)
            found = _read_key(file)
        return found
    return None


def _read_key(file: Path) -> bytes | None:
    found = read_whole(file)
    return found if found is not None and len(found) == KEY_BYTES else None


def _make_key(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f".key.{secrets.token_hex(8)}")
    try:
        with open_new(partial, mode=0o600) as stream:
            stream.write(secrets.token_bytes(KEY_BYTES))
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def read_signed(file: Path) -> bytes | None:
    """Read a file of the cache; None unless this user's memosite wrote it under this name."""
    key, whole = own_key(), read_whole(file)
    if key is None or whole is None:
        return None
    signature, data = whole[:_SIGNATURE_BYTES], whole[_SIGNATURE_BYTES:]
    return data if hmac.compare_digest(_sign(key, file, data), signature) else None


def write_signed(file: Path, data: bytes) -> None:
    """Write a file of the cache with a signature before it, as `write_whole` does; nothing without a key."""
    key = own_key()
    if key is not None:
        write_whole(file, _sign(key, file, data) + data)


def _sign(key: bytes, file: Path, data: bytes) -> bytes:
    """The signature of a file (HMAC with SHA-256) at this path in the cache; a moved file is not valid."""
    signed = hmac.new(key, f"{file.parent.name}/{file.name}\0".encode("utf-8", "surrogateescape"), "sha256")
    signed.update(data)
    return signed.digest()
