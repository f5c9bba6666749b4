"""Parses URLs of git remotes, decides which may be fetched, and shows them without secrets.

The forms are those of git-fetch(1), GIT URLS. Only https, ssh and file are fetched (SPEC 2.3): other protocols
are not authenticated (git, http) or run a command that the URL names (ext).
"""

import re
from dataclasses import dataclass
from urllib.parse import unquote

PROTOCOLS = ("https", "ssh", "file")
"""The protocols that are fetched from."""

FORM = "an https://, ssh:// or file:/// address, or git@host:path"

_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?:(?P<user>[^/?#]*)@)?(?P<host>[^/@?#]*)(?P<path>/.*)?", re.DOTALL
)
_SCP = re.compile(r"(?:(?P<user>[^/:@]+)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^/:@\[\]]+):(?!:)(?P<path>.+)", re.DOTALL)
_HOST = re.compile(r"(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?::[0-9]{1,5})?")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*")
_SECRET = re.compile(r"(?<=://)\S*@")
_LOGIN = re.compile(r"(?<=//).*@", re.DOTALL)  # of what is no address, for a space or a missing colon


@dataclass(frozen=True, slots=True, kw_only=True)
class GitUrl:
    """The parts of a remote's address. `host` is in small letters, with a port if one is written; `path` as written.

    `user` is the part before `@`, with a password if there is one.
    """

    protocol: str
    host: str
    path: str
    user: str = ""


def parse_git_url(text: str) -> GitUrl | None:
    """The parts of an address with a protocol, or of `git@host:path`; None if it is neither."""
    match = _URL.fullmatch(text)
    protocol = match["scheme"].lower() if match else "ssh"
    match = match or (None if "://" in text else _SCP.fullmatch(text))
    if match is None:
        return None
    return GitUrl(protocol=protocol, host=match["host"].lower(), path=match["path"] or "", user=match["user"] or "")


def refusal(text: str) -> str | None:
    """Why an address may not be fetched, in words that show no password; None if it may."""
    url = parse_git_url(text)
    if url is None or not text.isprintable() or " " in text or text.startswith("-"):
        return f'"{_LOGIN.sub("", text)}"' if text.isprintable() else "an address with control characters"
    if url.protocol not in PROTOCOLS:
        return f"the protocol {url.protocol}"
    if url.protocol == "file":
        return None if not url.host and not url.user and len(url.path) > 1 else "a file address with a host"
    if ":" in url.user or (url.user and url.protocol == "https"):
        return "a user or password in the address"
    is_address = _HOST.fullmatch(url.host) and (not url.user or _USER.fullmatch(url.user))
    if not is_address or not url.path.strip("/") or url.path.startswith("-"):
        return f'"{_LOGIN.sub("", text)}"'
    return None


def without_secrets(text: str) -> str:
    """An address, or a text with addresses, without the parts between `://` and `@`."""
    return _SECRET.sub("", text)


def repo_name(text: str) -> str:
    """The last part of an address, without `.git`: the default name of its source."""
    url = parse_git_url(text)
    parts = [part for part in unquote(url.path if url else text).split("/") if part not in {"", ".", "..", ".git"}]
    return parts[-1].removesuffix(".git") if parts else ""
