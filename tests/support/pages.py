"""Pages on a loopback port for a real browser: what it asks for is written down."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

PAGE_TYPE: Final = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Asked:
    """One request. `headers` have their names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Sent:
    """One response."""

    status: int
    headers: Mapping[str, str]
    text: str


Answering = Callable[[Asked], Sent]


@dataclass
class Server:
    """A server that runs; `requests` are those since a test last cleared them."""

    url: str
    requests: list[Asked] = field(default_factory=list)


@contextmanager
def served(answer: Answering) -> Iterator[Server]:
    """Serve what `answer` returns on a free port of 127.0.0.1."""
    requests: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer_it(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, body)
            requests.append(asked)
            sent = answer(asked)
            raw = sent.text.encode("utf-8")
            self.send_response(sent.status)
            for name, value in sent.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            pass

    for method in ("GET", "HEAD", "POST"):
        setattr(Handler, f"do_{method}", Handler.answer_it)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{server.server_port}", requests)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
