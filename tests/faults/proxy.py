"""A proxy in front of an emulator that loses, throttles, garbles and cuts what passes through it."""

from __future__ import annotations

import http.client
import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import urlsplit

from local.ports import ADDRESS

FAULTS: Final = ("lost", "garbled", "truncated", "reset", "throttled", "broken")
"""After the request was performed: no answer, an answer that is none, half an answer. Instead of performing it:
the connection is reset, the service is throttled, the service is broken."""
PERFORMED: Final = frozenset({"lost", "garbled", "truncated"})
_NO_LINGER: Final = struct.pack("ii", 1, 0)  # closing then resets the connection
_CODE: Final = {"throttled": (400, "ThrottlingException"), "broken": (500, "InternalServerError")}
_KEPT: Final = ("content-type", "x-amzn-requestid", "x-amz-crc32")


@dataclass
class _Plan:
    fault: str = ""
    first: int = 0
    last: int = 0
    seen: int = 0
    struck: int = 0


class Proxy:
    """What the test sees of it: `url` is its address."""

    def __init__(self, target: str) -> None:
        self._target = urlsplit(target).netloc
        self._plan = _Plan()
        self._lock = threading.Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 30

            def do_POST(self) -> None:
                proxy.pass_on(self)

            do_GET = do_PUT = do_POST  # noqa: N815 - the names that http.server looks for

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, request: Any, client_address: Any) -> None:
                """A connection that was cut is nobody's fault."""

        self._server = Server((ADDRESS, 0), Handler)
        self.url = f"http://{ADDRESS}:{self._server.server_port}"

    @contextmanager
    def running(self) -> Iterator[Proxy]:
        """Take requests."""
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def strike(self, fault: str, number: int, *, for_ever: bool) -> None:
        """Do it to the request of that number from now, or to all from that one on."""
        self._plan = _Plan(fault, number, 10**9 if for_ever else number)

    def heal(self) -> tuple[int, int]:
        """Let everything through; return how many requests came since, and how many were struck."""
        plan, self._plan = self._plan, _Plan()
        return plan.seen, plan.struck

    def pass_on(self, handler: BaseHTTPRequestHandler) -> None:
        """Bring one request to the emulator and its answer back, or do what was asked for."""
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        with self._lock:
            plan = self._plan
            plan.seen += 1
            fault = plan.fault if plan.first <= plan.seen <= plan.last else ""
            plan.struck += bool(fault)
        if fault in ("", *PERFORMED):
            status, headers, answer = self._ask(handler, body)
        match fault:
            case "":
                _answer(handler, status, headers, answer)
            case "lost" | "reset":
                _cut(handler)
            case "garbled":
                _answer(handler, status, headers, b"<<" + answer[: len(answer) // 2])
            case "truncated":
                _answer(handler, status, headers, answer[: len(answer) // 2], claimed=len(answer))
                _cut(handler)
            case _:
                status, code = _CODE[fault]
                _answer(handler, status, *_refusal(handler, code))

    def _ask(self, handler: BaseHTTPRequestHandler, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self._target, timeout=30)
        try:
            headers = {name: value for name, value in handler.headers.items() if name.lower() != "connection"}
            connection.request(handler.command, handler.path, body, headers)
            response = connection.getresponse()
            kept = {name: value for name, value in response.getheaders() if name.lower() in _KEPT}
            return response.status, kept, response.read()
        finally:
            connection.close()


def _refusal(handler: BaseHTTPRequestHandler, code: str) -> tuple[dict[str, str], bytes]:
    if "json" in handler.headers.get("Content-Type", ""):
        body = json.dumps({"__type": f"com.amazonaws#{code}", "message": "made to fail"}).encode()
        return {"content-type": handler.headers["Content-Type"]}, body
    text = f"<ErrorResponse><Error><Code>{code}</Code><Message>made to fail</Message></Error></ErrorResponse>"
    return {"content-type": "text/xml"}, text.encode()


def _answer(
    handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: bytes, *, claimed: int | None = None
) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body) if claimed is None else claimed))
    handler.end_headers()
    handler.wfile.write(body)
    handler.wfile.flush()


def _cut(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    with suppress(OSError):
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        handler.connection.shutdown(socket.SHUT_RDWR)
