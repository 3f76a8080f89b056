"""A small HTTP server for this computer only, shared by the stand-ins of the local stack."""

from __future__ import annotations

import json
import logging
import signal
import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

ADDRESS = "127.0.0.1"

# A page of another site that is open in the same browser can reach loopback too. Its Host header
# gives a rebound DNS name away, its Sec-Fetch-Site header a form or a fetch.
_OWN_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
_CHUNK_BYTES = 64 * 1024
_DISCARDED_BYTES = 16 * 1024 * 1024
_FOREIGN_SITES = frozenset({"cross-site", "same-site"})

_PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}

logger = logging.getLogger(__name__)


class RequestRefusedError(Exception):
    """The request is answered with this status and this sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True)
class Request:
    """One HTTP request, its body read. Header names are in lower case, the path is still quoted."""

    method: str
    path: str
    query: Mapping[str, list[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> Any:
        """Return the body as JSON.

        Raises:
            RequestRefusedError: 400, the body is not JSON.
        """
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise RequestRefusedError(HTTPStatus.BAD_REQUEST, "The body is not JSON.") from None


@dataclass(frozen=True)
class Reply:
    """One HTTP response."""

    status: int = HTTPStatus.OK
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


def json_reply(value: Any, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None) -> Reply:
    """Return ``value`` as a JSON response."""
    return Reply(status, json.dumps(value).encode(), headers=headers or {})


def page_reply(html: str) -> Reply:
    """Return an HTML page that may neither run script nor load anything."""
    return Reply(HTTPStatus.OK, html.encode(), "text/html; charset=utf-8", _PAGE_HEADERS)


class Application(Protocol):
    """What a server of this module serves."""

    max_body_bytes: int

    def answer(self, request: Request) -> Reply:
        """Answer one request. Called from many threads.

        Raises:
            RequestRefusedError: becomes a JSON response with its status and message.
        """


class LoopbackServer(ThreadingHTTPServer):
    """Serves one application on 127.0.0.1."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, application: Application) -> None:
        super().__init__((ADDRESS, port), _Handler)
        self.application = application

    @property
    def url(self) -> str:
        """Where the server listens, without a slash at the end."""
        return f"http://{ADDRESS}:{self.server_port}"


def serve_until_stopped(server: LoopbackServer) -> None:
    """Serve until SIGTERM or SIGINT, then close the port and return."""

    def stop(*_: object) -> None:
        # shutdown() waits for the loop below, which this signal interrupts: it needs a thread.
        threading.Thread(target=server.shutdown, daemon=True).start()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        server.serve_forever(poll_interval=0.1)
    finally:
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: LoopbackServer
    protocol_version = "HTTP/1.1"
    server_version = "pausepoint-local"
    sys_version = ""
    timeout = 60

    def do_GET(self) -> None:
        self._respond("GET")

    def do_HEAD(self) -> None:
        self._respond("GET")

    def do_POST(self) -> None:
        self._respond("POST")

    def do_DELETE(self) -> None:
        self._respond("DELETE")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        logger.debug(format, *args)

    def _respond(self, method: str) -> None:
        try:
            reply = self.server.application.answer(self._read(method))
        except RequestRefusedError as refused:
            # What is left of an unread body would be taken for the next request.
            self.close_connection = True
            reply = json_reply({"message": refused.message}, refused.status)
        except Exception:  # the top of a worker: the server must outlive one bad request
            logger.exception("%s %s failed", method, urlsplit(self.path).path)
            reply = json_reply({"message": "Internal error, see the log."}, 500)
        self._send(reply)

    def _read(self, method: str) -> Request:
        headers = {name.lower(): value for name, value in self.headers.items()}
        if urlsplit(f"//{headers.get('host', '')}").hostname not in _OWN_HOSTS:
            raise RequestRefusedError(HTTPStatus.MISDIRECTED_REQUEST, "This server answers to localhost only.")
        if method != "GET" and headers.get("sec-fetch-site") in _FOREIGN_SITES:
            raise RequestRefusedError(HTTPStatus.FORBIDDEN, "Requests of other sites are refused.")
        target = urlsplit(self.path)
        return Request(method, target.path, parse_qs(target.query), headers, self._body(headers))

    def _body(self, headers: Mapping[str, str]) -> bytes:
        if "transfer-encoding" in headers:
            raise RequestRefusedError(HTTPStatus.LENGTH_REQUIRED, "Content-Length is required.")
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            raise RequestRefusedError(HTTPStatus.BAD_REQUEST, "Content-Length is not a number.")
        limit = self.server.application.max_body_bytes
        if int(length) > limit:
            # Read, or the client is cut off while it still writes and never sees the answer.
            for start in range(0, min(int(length), _DISCARDED_BYTES), _CHUNK_BYTES):
                self.rfile.read(min(_CHUNK_BYTES, int(length) - start))
            raise RequestRefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body is larger than {limit} bytes.")
        return self.rfile.read(int(length))

    def _send(self, reply: Reply) -> None:
        try:
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(reply.body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if self.close_connection:
                self.send_header("Connection", "close")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)
        except ConnectionError:
            # The client gave up waiting, as one with a short time-out does.
            self.close_connection = True
