"""Serves a folder over http on this machine."""

import contextlib
import re
import socket
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.support.waiting import DEADLINE, wait_until


class Handler(SimpleHTTPRequestHandler):
    """Answers, and says nothing of it."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class SendingParts(Handler):
    """Sends parts of files to who asks for them, as nearly every web server does (RFC 9110, 14)."""

    def do_GET(self) -> None:
        """Send a range of bytes, or the whole."""
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        path = Path(self.translate_path(self.path))
        if asked is None or not path.is_file():
            super().do_GET()
            return
        data = path.read_bytes()
        part = data[int(asked[1]) : int(asked[2]) + 1]
        self.send_response(206 if part else 416)
        self.send_header("Content-Range", f"bytes {asked[1]}-{int(asked[1]) + len(part) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)


def free_port() -> int:
    """A port of this machine that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def fetch(url: str) -> str:
    """A page, or "" if there is none yet."""
    try:
        with urllib.request.urlopen(url, timeout=600) as response:
            text: str = response.read().decode()
            return text
    except OSError:
        return ""


@contextmanager
def raw_server(answer: bytes = b"") -> Iterator[tuple[str, list[bytes]]]:
    """The address of a server that gives everybody this answer and hangs up; what it was asked, b"" if nothing."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connected, _ = server.accept()
                except OSError:
                    return
                asked.append(b"")
                with connected, contextlib.suppress(OSError):
                    connected.settimeout(DEADLINE)
                    asked[-1] = connected.recv(65_536)
                    connected.sendall(answer)

        thread = Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}", asked
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def trusted(folder: Path, patch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """What a server on 127.0.0.1 needs to encrypt, with a certificate that this process and its children trust."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    words += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(words, check=True, capture_output=True)
    patch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


@contextmanager
def serve_folder(folder: Path, handler: type[Handler] = Handler, *, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of a server that serves a folder, which need not exist yet; it ends in a slash."""
    with _Server(("127.0.0.1", 0), partial(handler, directory=str(folder))) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    """Ends when every answer has been given; browsers open connections on which they may never ask."""

    daemon_threads = False

    def __init__(self, *arguments: Any) -> None:
        """Remember nobody yet."""
        self._accepted: list[socket.socket] = []
        super().__init__(*arguments)

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept somebody, and remember who that is."""
        connection, address = super().get_request()
        self._accepted.append(connection)
        return connection, address

    def server_close(self) -> None:
        """Hear no more questions, and wait for the answers."""
        for connection in self._accepted:
            with contextlib.suppress(OSError):  # it was closed after its answer
                connection.shutdown(socket.SHUT_RD)
        super().server_close()


@contextmanager
def serving(site: Path, program: str = "") -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """`memosite serve` of a site, or a program that does it, until the block ends; its address and its process."""
    port = free_port()
    run = ["-c", program] if program else ["-m", "memosite"]
    command = [sys.executable, *run, "serve", str(site), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if "serving" in line:
                break
        wait_until(lambda: fetch(f"http://127.0.0.1:{port}/") != "")
        yield f"127.0.0.1:{port}", process
    finally:
        process.kill()
        process.communicate()
