"""Hands HTTP requests on to a server of the local stack, at an address that suits whoever sends them."""

from __future__ import annotations

import contextlib
import threading
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from local.ports import ADDRESS

_SECONDS = 60  # more than anything behind it takes
_HOP_BY_HOP = frozenset({"connection", "content-length", "expect", "keep-alive", "transfer-encoding"})


class Forwarder(ThreadingHTTPServer):
    """Listens at one address, and hands each request on: method, headers, body and query untouched.

    Args:
        address: Where to listen: a host and a port.
        upstream_port: Who answers, on loopback.
        prefix: What the answering server's paths begin with.
        rename: Tell the answering server that it was called by its own address.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], *, upstream_port: int, prefix: str = "", rename: bool = False) -> None:
        super().__init__(address, _Handler)
        self.upstream_port = upstream_port
        self.prefix = prefix
        self.dropped_headers = _HOP_BY_HOP | {"host"} if rename else _HOP_BY_HOP
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)

    def start(self) -> None:
        """Begin to answer, in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Close the port."""
        if self._thread.is_alive():
            self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Forwarder
    protocol_version = "HTTP/1.1"
    timeout = 60

    def _forward(self) -> None:
        declared = self.headers.get("Content-Length", "0")
        if not (declared.isascii() and declared.isdigit() and self.path.isascii()):
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        if "Transfer-Encoding" in self.headers:
            self.send_error(HTTPStatus.LENGTH_REQUIRED)
            return
        length = int(declared)
        body = self.rfile.read(length) if length else None
        upstream = HTTPConnection(ADDRESS, self.server.upstream_port, timeout=_SECONDS)
        try:
            upstream.putrequest(
                self.command,
                self.server.prefix + self.path,
                skip_host="host" not in self.server.dropped_headers,
                skip_accept_encoding=True,
            )
            for name, value in self.headers.items():
                if name.lower() not in self.server.dropped_headers:
                    upstream.putheader(name, value)
            if body is not None or self.command == "POST":
                upstream.putheader("Content-Length", str(length))
            upstream.endheaders(body)
            response = upstream.getresponse()
            content = response.read()
        except (OSError, HTTPException):
            self.send_error(HTTPStatus.BAD_GATEWAY, "The server behind does not answer")
            return
        finally:
            upstream.close()
        self.send_response_only(response.status, response.reason)
        for name, value in response.getheaders():
            if name.lower() not in _HOP_BY_HOP:
                self.send_header(name, value)
        if response.status not in {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}:
            size = response.getheader("Content-Length") if self.command == "HEAD" else None
            self.send_header("Content-Length", size or str(len(content)))
        with contextlib.suppress(ConnectionError):  # whoever asked has gone
            self.end_headers()
            self.wfile.write(content)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _forward  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Write nothing: a request line carries an approval link's secret."""
