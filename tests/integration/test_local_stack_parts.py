"""The parts of the local stack that touch ports and processes, each by itself."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from local import run
from local.errors import LocalStackError
from local.forwarder import Forwarder
from local.ports import ADDRESS, NAMES, choose_ports
from local.processes import Program, call, wait_for

pytestmark = pytest.mark.enable_socket


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind((ADDRESS, 0))
        holder.listen()
        yield holder.getsockname()[1]


# --- Ports


def test_ports_are_free_differ_and_are_the_same_the_next_time(tmp_path: Path) -> None:
    first = choose_ports(tmp_path / "ports.json")
    assert set(first) == set(NAMES)
    assert len(set(first.values())) == len(NAMES)
    assert choose_ports(tmp_path / "ports.json") == first


def test_a_remembered_port_that_is_taken_is_replaced_and_the_others_stay(tmp_path: Path, taken_port: int) -> None:
    memory = tmp_path / "ports.json"
    first = choose_ports(memory)
    memory.write_text(json.dumps({**first, "api": taken_port}))
    second = choose_ports(memory)
    assert second["api"] != taken_port
    assert {**second, "api": 0} == {**first, "api": 0}


@pytest.mark.parametrize("content", ["", "[]", '{"aws": "x"}', '{"aws": 99999999, "api": -1}', '{"aws": 1, "api": 1}'])
def test_a_memory_that_makes_no_sense_is_forgotten(tmp_path: Path, content: str) -> None:
    memory = tmp_path / "ports.json"
    memory.write_text(content)
    assert len(set(choose_ports(memory).values())) == len(NAMES)


def test_a_port_that_was_asked_for_and_is_taken_is_an_error_that_names_it(tmp_path: Path, taken_port: int) -> None:
    with pytest.raises(LocalStackError, match=str(taken_port)):
        choose_ports(tmp_path / "ports.json", aws=taken_port)


# --- Forwarding


class _Echo(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = json.dumps(
            {"method": self.command, "path": self.path, "body": body.hex(), "headers": self.headers.items()}
        ).encode()
        self.send_response(418)
        self.send_header("X-Twice", "one")
        self.send_header("X-Twice", "two")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer)

    do_GET = do_HEAD = do_DELETE = do_POST  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass


@pytest.fixture
def upstream() -> Iterator[int]:
    with HTTPServer((ADDRESS, 0), _Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture
def forwarder(upstream: int) -> Iterator[Forwarder]:
    server = Forwarder((ADDRESS, 0), upstream_port=upstream, prefix="/api/$default")
    server.start()
    yield server
    server.stop()


def _send(
    server: Forwarder, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection(ADDRESS, server.server_port, timeout=5)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_request_goes_through_as_it_is(forwarder: Forwarder, method: str) -> None:
    body = bytes(range(256))
    path = "/approvals/a%2Fb/%00%C0?t=x+y%2B&t=&u"
    answer, content = _send(forwarder, method, path, body, Sec_Fetch_Site="same-origin", Origin="null")
    seen = json.loads(content)
    headers = dict(seen["headers"])
    assert (answer.status, answer.headers.get_all("X-Twice")) == (418, ["one", "two"])
    assert (seen["method"], seen["path"], seen["body"]) == (method, f"/api/$default{path}", body.hex())
    assert headers["Sec-Fetch-Site"] == "same-origin"
    assert headers["Origin"] == "null"
    assert headers["Host"] == f"{ADDRESS}:{forwarder.server_port}"


def test_head_has_the_length_and_no_body(forwarder: Forwarder) -> None:
    answer, content = _send(forwarder, "HEAD", "/x")
    assert content == b""
    assert int(answer.headers["Content-Length"]) > 0


def test_a_renamed_request_is_for_the_server_behind(upstream: int) -> None:
    server = Forwarder((ADDRESS, 0), upstream_port=upstream, rename=True)
    server.start()
    try:
        _, content = _send(server, "GET", "/x", Host="172.17.0.1:1")
    finally:
        server.stop()
    seen = json.loads(content)
    assert [value for name, value in seen["headers"] if name.lower() == "host"] == [f"{ADDRESS}:{upstream}"]
    assert seen["path"] == "/x"


@pytest.mark.parametrize(
    ("headers", "status"), [({"Content_Length": "many"}, 400), ({"Transfer_Encoding": "chunked"}, 411)]
)
def test_a_body_of_no_known_length_is_refused(forwarder: Forwarder, headers: dict[str, str], status: int) -> None:
    assert _send(forwarder, "POST", "/x", None, **headers)[0].status == status


def test_nobody_behind_is_a_502() -> None:
    with socket.socket() as nobody:
        nobody.bind((ADDRESS, 0))
        server = Forwarder((ADDRESS, 0), upstream_port=nobody.getsockname()[1])
        server.start()
        try:
            assert _send(server, "GET", "/x")[0].status == 502
        finally:
            server.stop()


# --- Programs


def _program(tmp_path: Path, code: str) -> Program:
    return Program("A program", [sys.executable, "-c", code], env=os.environ, log=tmp_path / "log")


def test_a_program_that_ends_is_noticed_while_it_is_waited_for(tmp_path: Path) -> None:
    program = _program(tmp_path, "raise SystemExit(3)")
    with pytest.raises(LocalStackError, match="has stopped"):
        program.wait_until_healthy("http://127.0.0.1:9/health")
    program.stop()


def test_a_program_is_asked_to_end_before_it_is_killed(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    code = (
        "import pathlib, signal, sys, time\n"
        f"mark = pathlib.Path({str(mark)!r})\n"
        "signal.signal(signal.SIGTERM, lambda *_: (mark.write_text('saved'), sys.exit()))\n"
        "mark.write_text('ready')\n"
        "time.sleep(60)"
    )
    program = _program(tmp_path, code)
    assert wait_for(lambda: mark.exists() and mark.read_text() == "ready", seconds=20)
    program.stop()
    assert not program.running
    assert mark.read_text() == "saved"


def test_a_program_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    program = _program(tmp_path, code)
    assert wait_for((tmp_path / "log").read_text, seconds=20)
    program.stop(seconds=0.2)
    assert not program.running


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent is gone")
def test_a_program_ends_when_whoever_started_it_was_killed(tmp_path: Path) -> None:
    code = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from local.processes import Program\n"
        "child = [sys.executable, '-c', 'import os, time; print(os.getpid(), flush=True); time.sleep(60)']\n"
        f"Program('child', child, env=os.environ, log=Path({str(tmp_path / 'log')!r}))\n"
        "time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    log = tmp_path / "log"
    assert wait_for(lambda: log.exists() and log.read_text().endswith("\n"), seconds=20)
    child = int(log.read_text())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert wait_for(lambda: not _lives(child), seconds=20)


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_failed_command_shows_the_end_of_what_it_said(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('first'); print('the reason'); raise SystemExit(1)"]
    with pytest.raises(LocalStackError, match=r"it failed[\s\S]*the reason"):
        call(command, env=os.environ, log=tmp_path / "log", cwd=tmp_path, failure="it failed")


# --- The whole, where it cannot run


def test_a_taken_port_ends_it_with_one_sentence_and_a_status(
    tmp_path: Path, taken_port: int, capsys: pytest.CaptureFixture[str], restored_signals: None
) -> None:
    assert run.main(["--state", str(tmp_path), "--port", str(taken_port)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert f"Port {taken_port} is taken" in line


def test_two_stacks_cannot_share_one_state(
    tmp_path: Path, taken_port: int, capsys: pytest.CaptureFixture[str], restored_signals: None
) -> None:
    code = (
        "import fcntl, time\n"
        f"lock = open({str(tmp_path / 'lock')!r}, 'w')\n"
        "fcntl.flock(lock, fcntl.LOCK_EX)\n"
        "print(1, flush=True)\n"
        "time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        try:
            assert run.main(["--state", str(tmp_path)]) == 1
        finally:
            other.kill()
    assert "is running already" in capsys.readouterr().err


@pytest.fixture
def restored_signals() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)
