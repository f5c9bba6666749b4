"""[I/O] Reads credentials for servers: a token from the environment, or the host's entry in netrc.

Neither is sent unencrypted, except to this machine, nor to a host that it is not meant for.
"""

import base64
import netrc
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from memosite.facts.errors import ConfigError

TOKEN = "MEMOSITE_TOKEN"  # noqa: S105 - the name of a variable, not a secret
_THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The credentials for each server. `token` goes to `origins`, `logins` (name and password) to their hosts."""

    token: str | None = field(default=None, repr=False)
    origins: frozenset[tuple[str, str, int | None]] = frozenset()
    logins: dict[str, tuple[str, str]] = field(default_factory=dict, repr=False)

    def header(self, address: str) -> str | None:
        """The Authorization header for an address, None if there is none."""
        parts = urlsplit(address)
        host = (parts.hostname or "").lower()
        if parts.scheme != "https" and host not in _THIS_MACHINE:
            return None
        if self.token is not None and origin(address) in self.origins:
            return f"Bearer {self.token}"
        if host in self.logins:
            return "Basic " + base64.b64encode(":".join(self.logins[host]).encode()).decode("ascii")
        return None


def read_credentials(addresses: Sequence[str]) -> Credentials:
    """The token in MEMOSITE_TOKEN, and netrc. Raises `ConfigError` if either cannot be used as it is."""
    addresses = [address for address in addresses if not address.startswith("file:")]
    token = os.environ.get(TOKEN)
    origins = frozenset(origin(address) for address in addresses)
    if not token or not addresses:
        return Credentials(logins=_read_netrc() if addresses else {})
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(f"{TOKEN}: found characters that no token has, expected printable ASCII without spaces")
    if len(origins) > 1:
        raise ConfigError(f"{TOKEN}: found feeds of {len(origins)} servers, expected one; run a watch for each")
    scheme, host, _ = next(iter(origins))
    if scheme != "https" and host not in _THIS_MACHINE:
        raise ConfigError(f"{TOKEN}: found {addresses[0]}, expected https: a token is not sent without encryption")
    return Credentials(token=token, origins=origins, logins=_read_netrc())


def _read_netrc() -> dict[str, tuple[str, str]]:
    """The named machines of NETRC or ~/.netrc; the default entry names no host and is ignored."""
    path = Path(os.environ.get("NETRC") or Path("~/.netrc").expanduser())
    try:
        found = netrc.netrc(str(path)).hosts
    except FileNotFoundError:
        return {}
    except netrc.NetrcParseError as error:
        raise ConfigError(f"{path}:{error.lineno or 1}: cannot be read as netrc from here on") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read ({error})") from error
    return {host.lower(): (login, password or "") for host, (login, _, password) in found.items() if host != "default"}


def origin(address: str) -> tuple[str, str, int | None]:
    """Scheme, host and port of an address. Raises ValueError if it is not valid."""
    parts = urlsplit(address)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(parts.scheme)
