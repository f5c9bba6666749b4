"""A form that is not read yet."""

from memosite.formats.sessions.model import Session


def matches(data: bytes) -> bool:  # noqa: ARG001
    """Never."""
    return False


def read(data: bytes) -> tuple[Session, ...]:  # noqa: ARG001
    """Nothing."""
    return ()
