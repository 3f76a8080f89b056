"""Requests: repeated where that is safe, never where it is not, and errors in words."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError, ReadTimeoutError

from pausepoint_cli.api import ATTEMPTS, MAX_PAUSE
from pausepoint_cli.world import connect
from tests.support.command_line import API, CommandLine, Script, received

SESSION: dict[str, Any] = {
    "session_id": "k7mq2vdyxa4ntwb3hzr5cfej6p",
    "status": "completed",
    "agent": "clerk",
    "requested_by": "ada",
    "created_at": "2026-11-29T16:00:00.000000Z",
    "updated_at": "2026-11-29T16:00:00.000000Z",
    "output": "Hello.",
    "pending_calls": [],
    "usage": {"model_calls": 1, "tool_calls": 0, "input_tokens": 1, "output_tokens": 1},
}
DOWN = EndpointConnectionError(endpoint_url=API, error="refused")
SILENT = ReadTimeoutError(endpoint_url=API, error="timed out")
BUSY = received(
    503, {"type": "urn:pausepoint:problem:unavailable", "detail": "The table does not answer."}, Retry_After="3"
)


def test_r45_a_read_is_repeated_after_a_503_as_it_asks(tmp_path: Path) -> None:
    script = Script([BUSY, BUSY, received(200, {"sessions": [], "next": None})])
    line = CommandLine(script, tmp_path)
    assert line("list").code == 0
    assert line.slept == [3, 3]


@pytest.mark.parametrize("failure", [BUSY, received(429, {"message": "Too Many Requests"}), DOWN, SILENT])
def test_r45_it_is_repeated_a_bounded_number_of_times(tmp_path: Path, failure: Any) -> None:
    script = Script([failure] * 10)
    ran = CommandLine(script, tmp_path)("list")
    assert (ran.code, len(script.requests)) == (6, ATTEMPTS)
    assert ran.out == ""
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("wanted", ["86400", "-1", "soon", "", "1e9", "\N{SUPERSCRIPT TWO}"])
def test_no_answer_makes_it_wait_for_long(tmp_path: Path, wanted: str) -> None:
    script = Script([received(503, {}, Retry_After=wanted), received(200, {"sessions": [], "next": None})])
    line = CommandLine(script, tmp_path)
    assert line("list").code == 0
    assert 0 < line.slept[0] <= MAX_PAUSE


def test_case_43_a_start_is_repeated_under_the_key_that_it_made(tmp_path: Path) -> None:
    script = Script([SILENT, BUSY, received(200, SESSION)])
    assert CommandLine(script, tmp_path)("start", "hello").code == 0
    keys = {str(request.headers["Idempotency-Key"]) for request in script.requests}
    assert len(script.requests) == 3
    assert len(keys) == 1


def test_a_start_that_fails_for_good_names_its_key(tmp_path: Path) -> None:
    script = Script([SILENT] * ATTEMPTS)
    ran = CommandLine(script, tmp_path)("start", "hello")
    assert ran.code == 6
    key = script.requests[0].headers["Idempotency-Key"]
    assert f"--idempotency-key {key if isinstance(key, str) else key.decode()}" in ran.err


@pytest.mark.parametrize("failure", [SILENT, DOWN, BUSY])
def test_a_message_is_never_repeated_by_itself(tmp_path: Path, failure: Any) -> None:
    script = Script([failure, received(200, SESSION)])
    ran = CommandLine(script, tmp_path)("message", SESSION["session_id"], "hello")
    assert (ran.code, len(script.requests)) == (6, 1)


def test_a_message_that_may_have_arrived_says_so(tmp_path: Path) -> None:
    ran = CommandLine(Script([SILENT]), tmp_path)("message", SESSION["session_id"], "hello")
    assert "may have arrived all the same" in ran.err


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, 2), (401, 5), (403, 5), (404, 3), (409, 4), (410, 4), (413, 2), (418, 1), (500, 1), (501, 1)],
)
def test_every_status_has_its_exit_code_and_the_problem_is_told(tmp_path: Path, status: int, code: int) -> None:
    problem = {"title": "No", "detail": "It is \x1b[31mnot\nso.", "field": "decisions.0.reason"}
    ran = CommandLine(Script([received(status, problem)]), tmp_path)("list", "--json")
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith("Error: It is\N{OPEN BOX}")
    assert ran.err.endswith("so. (decisions.0.reason)\n")
    assert "\x1b" not in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("content", [b"<html>hello</html>", b"[]", b"", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_pausepoint_is_told_apart(tmp_path: Path, content: bytes) -> None:
    ran = CommandLine(Script([received(200, content)]), tmp_path)("list")
    assert (ran.code, ran.out) == (1, "")
    assert "not a Pausepoint API" in ran.err


def test_an_answer_with_parts_missing_gives_no_traceback(tmp_path: Path) -> None:
    line = CommandLine(Script([received(200, {"hello": "world"})] * 3), tmp_path)
    ran = line("list")
    assert (ran.code, ran.out) == (1, "")
    assert "Traceback" not in ran.err
    line.environ["PAUSEPOINT_DEBUG"] = "1"
    assert "Traceback" in line("list").err


def test_filters_of_what_waits_are_sent(tmp_path: Path) -> None:
    script = Script([received(200, {"approvals": [], "next": None})])
    words = ["--tool", "strike off", "--risk", "high", "--agent", "clerk", "--session", "abc", "--status", "in_doubt"]
    assert CommandLine(script, tmp_path)("approvals", *words).code == 0
    assert script.asked == [
        "GET /approvals?limit=20&session=abc&agent=clerk&tool=strike%20off&risk=high&status=in_doubt"
    ]


# --- What really sends ----------------------------------------------------------------------------------------------


class Server(BaseHTTPRequestHandler):
    """Redirects, or answers with what it got."""

    def do_GET(self) -> None:
        elsewhere = self.path.startswith("/moved")
        self.send_response(302 if elsewhere else 200)
        body = b'{"sessions": [], "next": null}'
        if elsewhere:
            self.send_header("Location", "/sessions")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.enable_socket
def test_requests_go_over_the_wire_and_redirects_are_not_followed(address: str, tmp_path: Path) -> None:
    line = CommandLine(connect(address, None), tmp_path, environ={})  # type: ignore[arg-type]
    assert line("list", "--api", address, "--json").json == {"sessions": [], "next": None}
    moved = line("list", "--api", f"{address}/moved")
    assert moved.code == 2
    assert "redirects" in moved.err


@pytest.mark.enable_socket
@pytest.mark.parametrize("words", [["list"], ["list", "--json"]])
def test_who_stops_reading_gets_no_traceback(address: str, words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "pausepoint_cli", *words, "--api", address]
    with os.fdopen(writing, "wb") as stdout:
        done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.enable_socket
def test_an_api_that_is_not_there_is_told_with_its_address(address: str, tmp_path: Path) -> None:
    line = CommandLine(connect(address, None), tmp_path, environ={})  # type: ignore[arg-type]
    ran = line("list", "--api", "http://127.0.0.1:9")
    assert ran.code == 6
    assert "http://127.0.0.1:9 cannot be reached" in ran.err
