"""An S3 that takes as long over a deletion as a test wants: a proxy before the emulator, for one function only."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import urllib3

from tests.e2e.stack import Stack, until

_HOP_BY_HOP = {"connection", "transfer-encoding", "keep-alive", "content-length"}


class SlowStorage:
    """Holds deletions until the process that asked for them is gone.

    Attributes:
        endpoint_url: where it listens.
        deletes_first: the file is gone before the asking process waits; otherwise it stays.
        held: the paths of the deletions that are, or were, held.
    """

    def __init__(self, target: str) -> None:
        self.deletes_first = False
        self.held: list[str] = []
        self._released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self, target))
        self._server.daemon_threads = True
        self.endpoint_url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def hold(self, path: str) -> None:
        self.held.append(path)
        self._released.wait(120)

    def close(self) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()


def _handler_for(storage: SlowStorage, target: str) -> type[BaseHTTPRequestHandler]:
    http = urllib3.PoolManager(maxsize=8, retries=False)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_DELETE(self) -> None:
            if storage.deletes_first:
                self._forward()
            storage.hold(self.path)
            self.close_connection = True

        def do_GET(self) -> None:
            answer = self._forward()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in _HOP_BY_HOP:
                    self.send_header(name, value)
            length = answer.headers.get("content-length") if self.command == "HEAD" else str(len(answer.data))
            self.send_header("Content-Length", length or "0")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.data)

        do_HEAD = do_GET  # noqa: N815 - http.server's names
        do_PUT = do_GET  # noqa: N815
        do_POST = do_GET  # noqa: N815

        def _forward(self) -> urllib3.BaseHTTPResponse:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
            return http.request(self.command, target + self.path, body=body or None, headers=headers)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


@contextmanager
def slow_storage(stack: Stack, function: str) -> Iterator[SlowStorage]:
    """Put slow storage behind one function of the stack; afterwards everything is as it was."""
    storage = SlowStorage(stack.facts["aws_endpoint_url"])
    client = stack.client("lambda")
    before = client.get_function_configuration(FunctionName=function)["Environment"]["Variables"]

    def configure(variables: dict[str, str]) -> None:
        client.update_function_configuration(FunctionName=function, Environment={"Variables": variables})

    try:
        configure({**before, "AWS_ENDPOINT_URL_S3": storage.endpoint_url})
        yield storage
    finally:
        configure(before)
        storage.close()


def kill_workers(stack: Stack, function: str) -> int:
    """Kill -9 every process of the emulator in which this function runs; return how many there were."""

    def named(process: Path) -> bool:
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
        except OSError:  # somebody else's, or gone
            return False
        port = stack.facts["aws_endpoint_url"].rpartition(":")[2]
        return {f"AWS_LAMBDA_FUNCTION_NAME={function}".encode(), f"GATEWAY_PORT={port}".encode()} <= set(environment)

    found = [process for process in Path("/proc").glob("[0-9]*") if named(process)]
    for process in found:
        os.kill(int(process.name), signal.SIGKILL)
    return until(lambda: len(found) if not any(named(process) for process in found) else None, seconds=10)
