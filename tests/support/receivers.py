"""Servers on loopback that take webhooks, and keep what they got."""

from __future__ import annotations

import os
import re
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from local.processes import wait_for
from tests.support.aws import ROOT

_MOST_LINES: Final = 15


@dataclass(frozen=True)
class Got:
    """One request. Header names are in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Answers with `status` and `headers`, whatever comes."""

    port: int = 0
    status: int = 204
    headers: dict[str, str] = field(default_factory=dict)
    got: list[Got] = field(default_factory=list)


@contextmanager
def receiver(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Run one on a free port of 127.0.0.1."""
    here = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            here.got.append(Got(self.command, self.path, headers, body))
            self.send_response(here.status)
            for name, value in here.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST = _answer  # noqa: N815 - http.server's names

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Say nothing: a client that does not trust the certificate hangs up."""

    server = Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    here.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield here
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def documented_receiver(folder: Path, port: int, secret: str) -> Iterator[Path]:
    """Run the receiver of docs/webhooks.md as it stands there, and yield the file that it prints to.

    It prints a line for each webhook that it verified: the id, the type, and where the call stands.
    """
    docs = (ROOT / "docs" / "webhooks.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", docs, re.DOTALL)
    assert len([line for line in block.splitlines() if line.strip()]) <= _MOST_LINES
    (folder / "receiver.py").write_text(block, encoding="utf-8")
    printed = folder / "printed"
    with printed.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, folder / "receiver.py", str(port)],
            env={**os.environ, "WEBHOOK_SECRET": secret},
            stdout=output,
            stderr=subprocess.DEVNULL,
        )
    try:
        assert wait_for(lambda: _listens(port) or process.poll() is not None, seconds=30)
        assert process.poll() is None
        yield printed
    finally:
        process.terminate()
        process.wait(20)


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
