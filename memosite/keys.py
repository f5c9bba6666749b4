"""[I/O] The key by which memosite knows, in a cache, what it wrote itself.

The cache lies in the site folder, and that may be a clone of somebody's repo: what lies there may be made by anybody.
So what is loaded as objects is signed with a key that lies with the user's own state and in no repo.
"""

import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

KEY_BYTES = 32


def state_home() -> Path:
    """The folder of what memosite remembers for this user (XDG base directories)."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()) / "memosite"


def own_key() -> bytes | None:
    """The key of this user, made when it is first asked for; None where it can be neither read nor kept."""
    file = state_home() / "key"
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as stream:
                stream.write(secrets.token_bytes(KEY_BYTES))
        found = file.read_bytes()
        return found if len(found) == KEY_BYTES else None  # another process may be about to write it
    return None


def sign(key: bytes, data: bytes) -> bytes:
    """The signature of these bytes (HMAC with SHA-256)."""
    return hmac.digest(key, data, "sha256")


def is_signed(key: bytes, data: bytes, signature: bytes) -> bool:
    """Whether the bytes have this signature."""
    return hmac.compare_digest(sign(key, data), signature)
