"""[I/O] Fetches documents over http and https and from files, within limits of time and size, with credentials.

Credentials are a token from the environment, or the host's entry in netrc. Neither is sent unencrypted, nor to
a host that it is not meant for. This machine is no exception: any of its users can listen on a port.

A body shorter than its Content-Length is a failure. Time-outs: 10 seconds of silence, one minute for the whole
transfer, unless a caller says otherwise.
"""

import base64
import contextlib
import datetime as dt
import email.utils
import http.client
import netrc
import os
import socket
import stat
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from memosite import __version__
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.values import Value, field
from memosite.fetch import Failed, Fetched, FetchOutcome, Unchanged

# Reads credentials for servers: a token from the environment, or the host's entry in netrc.


TOKEN = "MEMOSITE_TOKEN"  # noqa: S105 - the name of a variable, not a secret


_PORTS = {"http": 80, "https": 443}


class Credentials(Value, apart=("token", "logins")):
    """The credentials for each server. `token` goes to `origins`, `logins` (name and password) to their hosts."""

    token: str | None = None
    origins: frozenset[tuple[str, str, int | None]] = frozenset()
    logins: dict[str, tuple[str, str]] = field(default_factory=dict)

    def header(self, address: str) -> str | None:
        """The Authorization header for an address, None if there is none."""
        parts = urlsplit(address)
        host = (parts.hostname or "").lower()
        if parts.scheme != "https":
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
    if next(iter(origins))[0] != "https":
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


# Fetches a document: within limits, and with credentials for one server alone.


_REDIRECTS = {301, 302, 303, 307, 308}


_MOST_REDIRECTS = 5


class Fetcher:
    """Fetches documents. `timeout` and `whole` limit silence and the whole transfer, in seconds; `limit` the bytes."""

    def __init__(
        self,
        credentials: Credentials | None = None,
        *,
        timeout: float = 10.0,
        whole: float = 60.0,
        limit: int = 16 << 20,
    ) -> None:
        """Fetch with these credentials, within these limits."""
        self._credentials = credentials or Credentials()
        self._timeout = timeout
        self._whole = whole
        self._limit = limit

    def get(self, address: str, *, etag: str | None = None, last_modified: str | None = None) -> FetchOutcome:
        """Fetch the document at an address. With an `etag` the server may answer that it is unchanged."""
        if address.startswith("file:"):
            return self._read(address)
        headers = {
            "User-Agent": f"memosite/{__version__}",
            "Accept": "application/rss+xml, application/xml;q=0.9, */*;q=0.1",
            "Accept-Encoding": "identity",
        }
        if etag:
            headers["If-None-Match"] = etag
            if last_modified:
                headers["If-Modified-Since"] = last_modified
        else:
            headers["Cache-Control"] = "no-cache"
        return self._follow(address, headers)

    def _try(self, address: str, headers: Mapping[str, str], deadline: "_Deadline") -> FetchOutcome | str:
        """Send one request: its result, or the address it is redirected to. Never raises for the network."""
        try:
            return self._ask(address, headers, deadline)
        except (TimeoutError, urllib.error.URLError) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                return Failed(reason=f"no answer within {self._timeout:g} s")
            return Failed(reason=printable(str(getattr(reason, "strerror", None) or reason)))
        except http.client.IncompleteRead as error:
            return Failed(reason=f"found {len(error.partial)} bytes, and then the end of the connection")
        except (OSError, http.client.HTTPException, ValueError) as error:
            return Failed(reason=printable(str(error) or type(error).__name__)[:200])

    def _follow(self, address: str, headers: Mapping[str, str]) -> FetchOutcome:
        for _ in range(_MOST_REDIRECTS + 1):
            with _Deadline(self._whole) as deadline:
                answer = self._try(address, headers, deadline)
                if deadline.is_over:
                    return Failed(reason=f"not done within {self._whole:g} s")
            if not isinstance(answer, str):
                return answer
            parts = urlsplit(answer)
            if parts.scheme not in {"http", "https"} or parts.username is not None:
                return Failed(reason=f"a redirect to {printable(answer)[:200]}, expected http or https")
            if urlsplit(address).scheme == "https" and parts.scheme != "https":
                return Failed(reason=f"a redirect from https to {printable(answer)[:200]}")
            address = answer
        return Failed(reason=f"more than {_MOST_REDIRECTS} redirects")

    def _ask(self, address: str, headers: Mapping[str, str], deadline: "_Deadline") -> FetchOutcome | str:
        request = urllib.request.Request(address, headers=dict(headers))  # noqa: S310 - the scheme is checked
        authorization = self._credentials.header(address)
        if authorization is not None:
            request.add_unredirected_header("Authorization", authorization)
        opener = urllib.request.OpenerDirector()
        for handler in (urllib.request.ProxyHandler(), _Handler(deadline)):
            opener.add_handler(handler)
        response: http.client.HTTPResponse | None = opener.open(request, timeout=self._timeout)
        if response is None:
            return Failed(reason=f"found {printable(address)[:200]}, expected http, https or file")
        with response:
            return self._take(response, address, is_conditional="If-None-Match" in headers)

    def _take(self, response: http.client.HTTPResponse, address: str, *, is_conditional: bool) -> FetchOutcome | str:
        status = response.status
        if status == 304:
            return Unchanged() if is_conditional else Failed(reason="304 to an unconditional request")
        if status in _REDIRECTS and response.headers["Location"]:
            return str(urldefrag(urljoin(address, response.headers["Location"])).url)
        if status != 200:
            reason = f"{status} {printable(response.reason or '')[:80]}".strip()
            return Failed(reason=reason, wait=_retry_after(response.headers), is_missing=status in {404, 410})
        coding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if coding not in {"", "identity"}:
            return Failed(reason=f"found Content-Encoding {printable(coding)[:40]}, expected none")
        return self._take_body(response, address)

    def _take_body(self, response: http.client.HTTPResponse, address: str) -> FetchOutcome:
        announced = {text.strip() for text in response.headers.get_all("Content-Length", [])}
        is_chunked = response.headers.get("Transfer-Encoding", "").strip().lower() == "chunked"
        if not all(text.isascii() and text.isdigit() for text in announced) or len(announced) > 1:
            return Failed(reason="found a Content-Length that is no number")
        length = int(next(iter(announced))) if announced and not is_chunked else None
        if length is not None and length > self._limit:
            return Failed(reason=f"found {length} bytes, expected at most {self._limit}")
        data = bytearray()
        while len(data) <= self._limit and (chunk := response.read(65_536)):
            data += chunk
        if len(data) > self._limit:
            return Failed(reason=f"found more than {self._limit} bytes")
        if length is not None and len(data) != length:
            return Failed(reason=f"found {len(data)} bytes, expected {length} by Content-Length")
        return Fetched(
            address=address,
            data=bytes(data),
            etag=response.headers["ETag"],
            last_modified=response.headers["Last-Modified"],
        )

    def _read(self, address: str) -> FetchOutcome:
        """Read a file. It is opened non-blocking: a pipe in its place would wait for ever."""
        path = unquote(urlsplit(address).path)
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:  # noqa: PTH123
                known = os.fstat(stream.fileno())
                if not stat.S_ISREG(known.st_mode):
                    return Failed(reason="found something else, expected a file")
                data = stream.read(self._limit + 1)
        except (OSError, ValueError) as error:
            return Failed(reason=getattr(error, "strerror", None) or printable(str(error)))
        if len(data) > self._limit:
            return Failed(reason=f"found more than {self._limit} bytes")
        if len(data) != known.st_size:
            return Failed(reason=f"found {len(data)} bytes, expected {known.st_size}: it changed while it was read")
        return Fetched(address=address, data=data)


def _retry_after(headers: http.client.HTTPMessage) -> float | None:
    """Seconds of a Retry-After (RFC 9110, 10.2.3). A date is taken relative to the server's own clock."""
    text = (headers.get("Retry-After") or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    until, said = _date(text), _date(headers.get("Date") or "")
    if until is None:
        return None
    return max(0.0, (until - (said or dt.datetime.now(dt.UTC))).total_seconds())


def _date(text: str) -> dt.datetime | None:
    try:
        found = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=dt.UTC)


class _Deadline:
    """Closes a connection at its deadline: a server that sends bytes slowly would never time out."""

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def guard(self, connected: socket.socket) -> None:
        """Close this connection at the deadline. It keeps a duplicate: TLS detaches the socket during its handshake."""
        self._socket = connected.dup()
        if self.is_over:  # connecting took all the time
            self._cut()

    def _cut(self) -> None:
        self.is_over = True
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)  # below TLS, which another thread reads

    def __enter__(self) -> "_Deadline":
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        if self._socket is not None:
            self._socket.close()


class _Connection(http.client.HTTPConnection):
    """A connection with a deadline from the start: proxies and TLS handshakes may be slow, too."""

    def __init__(self, *arguments: Any, deadline: _Deadline, **settings: Any) -> None:
        self._deadline = deadline
        self._connected: socket.socket | None = None
        super().__init__(*arguments, **settings)

    @property
    def sock(self) -> socket.socket | None:
        """The socket that `http.client` uses: first the plain one, then perhaps TLS around it."""
        return self._connected

    @sock.setter
    def sock(self, connected: socket.socket | None) -> None:
        if self._connected is None and connected is not None:
            self._deadline.guard(connected)
        self._connected = connected


class _SafeConnection(_Connection, http.client.HTTPSConnection):
    """The same over TLS."""


class _Handler(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, request: urllib.request.Request) -> Any:
        """Open a connection that has a deadline."""
        return self.do_open(partial(_Connection, deadline=self._deadline), request)

    def https_open(self, request: urllib.request.Request) -> Any:
        """The same over TLS."""
        return self.do_open(partial(_SafeConnection, deadline=self._deadline), request)
