"""The local stack as a test drives it: over HTTP, as its users do, and by stopping and starting it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlencode, urlsplit

import boto3
import urllib3
from botocore.config import Config

ROOT = Path(__file__).parents[2]
START_SECONDS = 300
SETTLE_SECONDS = 240
PARAMETERS = ("--parameter", "WorkerSeconds=30")
"""So that it is not long until nobody hears from a process that was killed."""
Found = TypeVar("Found")

FORM_TYPE = {"content-type": "application/x-www-form-urlencoded"}


@dataclass
class Answer:
    """What came back."""

    status: int
    text: str
    headers: Any

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.text)


@dataclass
class Stack:
    """One local stack under the functions' own IAM policies, with its state in `state`.

    Attributes:
        hook_port: Where webhooks are sent, on this computer; 0 sends none.
    """

    state: Path
    hook_port: int = 0
    _process: subprocess.Popen[bytes] | None = None
    _http: urllib3.PoolManager = field(default_factory=lambda: urllib3.PoolManager(maxsize=32, retries=False))

    def start(self) -> None:
        """Start it and wait until it is up."""
        self.state.mkdir(parents=True, exist_ok=True)
        (self.state / "stack.json").unlink(missing_ok=True)
        with (self.state / "run.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "local.run", "--state", str(self.state), "--no-demo", *self._parameters()],
                cwd=ROOT,
                env={**os.environ, "AUTH": "true"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        until(self._is_up, seconds=START_SECONDS)

    def stop(self) -> int:
        """Stop it as Ctrl-C does, and return its exit status."""
        if self._process is None:
            return 0
        self._process.send_signal(signal.SIGTERM)
        status = self._process.wait(60)
        self._process = None
        return status

    @property
    def facts(self) -> dict[str, Any]:
        """What stack.json says."""
        facts: dict[str, Any] = json.loads((self.state / "stack.json").read_text(encoding="utf-8"))
        return facts

    def request(self, method: str, url: str, *, body: bytes | str | None = None, **headers: str) -> Answer:
        """Send a request to an address, or to a path of the API."""
        address = url if url.startswith("http") else self.facts["api_url"] + url
        answer = self._http.request(method, address, body=body, headers=headers, timeout=SETTLE_SECONDS)
        return Answer(answer.status, answer.data.decode("utf-8"), answer.headers)

    def start_session(self, message: str) -> dict[str, Any]:
        """Start a session and return its body."""
        answer = self.request("POST", "/sessions", body=json.dumps({"message": message}))
        assert answer.status in (200, 202), answer.text
        body: dict[str, Any] = answer.json
        return body

    def session(self, session_id: str) -> dict[str, Any]:
        """Return a session's body."""
        body: dict[str, Any] = self.request("GET", f"/sessions/{session_id}").json
        return body

    def settled(self, session_id: str, status: str) -> dict[str, Any]:
        """Wait until a session has this status, and return its body."""

        def reached() -> dict[str, Any] | None:
            body = self.session(session_id)
            return body if body["status"] == status else None

        return until(reached, seconds=SETTLE_SECONDS)

    def events(self, session_id: str, kind: str) -> list[dict[str, Any]]:
        """Return a session's events of one type."""
        events = self.request("GET", f"/sessions/{session_id}/events").json["events"]
        return [event for event in events if event["type"] == kind]

    def link(self, session_id: str, call_id: str) -> str:
        """Return the link that the approver was mailed for a call."""
        place = f"/approvals/{session_id}/{call_id}?t="

        def mailed() -> str | None:
            mails = self.request("GET", self.facts["mailbox_url"] + "/messages.json").json
            lines = [line for mail in mails for line in mail["body"].splitlines() if place in line]
            return lines[-1] if lines else None

        return until(mailed, seconds=SETTLE_SECONDS)

    def post_decision(self, link: str, digest: str, decision: str, reason: str = "") -> Answer:
        """Post the page's form."""
        parts = urlsplit(link)
        fields = {"t": parse_qs(parts.query)["t"][0], "digest": digest, "decision": decision, "reason": reason}
        address = parts._replace(query="").geturl()
        return self.request("POST", address, body=urlencode(fields), **FORM_TYPE)

    def client(self, service: str) -> Any:
        """Return a boto3 client for the emulator, with the rights of its owner."""
        facts = self.facts
        return boto3.client(  # type: ignore[call-overload]
            service,
            endpoint_url=facts["aws_endpoint_url"],
            region_name=facts["region"],
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(s3={"addressing_style": "path"}),
        )

    def sweep(self) -> dict[str, int]:
        """Do one round by hand, as the schedule does every minute."""
        answer = self.client("lambda").invoke(FunctionName=self.facts["outputs"]["SweepFunction"], Payload=b"{}")
        counts: dict[str, int] = json.loads(answer["Payload"].read())
        assert "FunctionError" not in answer, counts
        return counts

    def put_file(self, path: str) -> None:
        """Put a file into the example's bucket."""
        self.client("s3").put_object(Bucket=self.facts["outputs"]["FilesBucket"], Key=path, Body=b"some text")

    def files(self) -> set[str]:
        """Return the names of the files in the example's bucket."""
        answer = self.client("s3").list_objects_v2(Bucket=self.facts["outputs"]["FilesBucket"])
        return {item["Key"] for item in answer.get("Contents", [])}

    def rows(self, session_id: str) -> list[Any]:
        """Return a session's rows as the table has them."""
        answer = self.client("dynamodb").query(
            TableName=self.facts["outputs"]["TableName"],
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": session_id}},
            ConsistentRead=True,
        )
        rows: list[Any] = answer["Items"]
        return rows

    def model_calls(self, text: str) -> int:
        """Return how often the model was asked in the session that began with this text."""
        calls = self.request("GET", self.facts["model_url"] + "/calls").json
        calls = calls["calls"] if isinstance(calls, dict) else calls
        return sum(text in json.dumps(call) for call in calls)

    def _parameters(self) -> Sequence[str]:
        hook = ("--parameter", f"WebhookUrl=http://127.0.0.1:{self.hook_port}/") if self.hook_port else ()
        return (*PARAMETERS, *hook)

    def _is_up(self) -> bool:
        assert self._process is not None
        log = (self.state / "run.log").read_text(encoding="utf-8")
        assert self._process.poll() is None, f"the stack ended:\n{log[-3000:]}"
        return (self.state / "stack.json").exists()


def until(condition: Callable[[], Found | None], *, seconds: float) -> Found:
    """Return the first true value of a condition; a test fails when there is none in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.2)
    raise AssertionError(f"not within {seconds} s: {condition}")
