"""The local servers as processes: they listen on loopback only, and stop when told."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.enable_socket

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def running(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [sys.executable, "-m", *arguments, "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = re.search(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline())
            assert address is not None
            yield process, int(address[1])
        finally:
            process.kill()


def send(port: int, method: str, path: str, body: str | None = None, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def test_the_model_takes_a_script_from_a_file_and_stops_on_sigterm(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_text(json.dumps([{"contains": "hi", "turns": [{"text": "scripted"}]}]))
    request = json.dumps({"messages": [{"role": "user", "content": [{"text": "hi"}]}]})

    with running("local.model", "--script", str(file)) as (process, port):
        assert "scripted" in send(port, "POST", "/model/m/converse", request)[1]
        assert send(port, "GET", "/health")[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


def test_the_mailbox_keeps_its_mails_over_a_restart_and_stops_on_sigterm(tmp_path: Path) -> None:
    arguments = ["local.mailbox", "--endpoint-url", "http://127.0.0.1:9", "--region", "us-east-1"]
    arguments += ["--state", str(tmp_path / "mailbox.json")]
    mail = json.dumps({"Type": "Notification", "MessageId": "1", "Message": "kept ✓"})

    with running(*arguments) as (process, port):
        assert send(port, "POST", "/sns", mail)[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 0
    with running(*arguments) as (_, port):
        assert json.loads(send(port, "GET", "/messages.json")[1])[0]["body"] == "kept ✓"


def test_bad_requests_get_a_status_and_no_traceback(tmp_path: Path) -> None:
    arguments = ["local.mailbox", "--endpoint-url", "http://127.0.0.1:9", "--region", "us-east-1"]
    arguments += ["--state", str(tmp_path / "mailbox.json")]
    unconfirmed = json.dumps({"Type": "SubscriptionConfirmation", "TopicArn": "a", "Token": "b"})

    with running(*arguments) as (process, port):
        assert send(port, "POST", "/sns", "{")[0] == 400
        assert send(port, "POST", "/sns", "x" * 3_000_000)[0] == 413
        assert send(port, "POST", "/sns", unconfirmed)[0] == 502
        assert send(port, "GET", "/messages.json", Host="rebound.example")[0] == 421
        assert send(port, "POST", "/sns", "{}", Sec_Fetch_Site="cross-site")[0] == 403
        assert send(port, "HEAD", "/") == (200, "")
        assert send(port, "PUT", "/")[0] == 501
        process.send_signal(signal.SIGTERM)
        process.wait(5)
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
