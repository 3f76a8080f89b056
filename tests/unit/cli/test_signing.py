"""The signature on a request is what AWS computes from what arrives."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import botocore.auth
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from pausepoint_cli.signing import Signer, aws_session
from tests.support.command_line import ACCESS_KEY, API, SECRET_KEY, CommandLine, Script, received
from tests.support.sigv4 import signature_fits

EMPTY: dict[str, Any] = {"sessions": [], "next": None}


def header(prepared: Any, name: str) -> str:
    value = prepared.headers[name]
    return value.decode() if isinstance(value, bytes) else str(value)


def fits(prepared: Any, *, secret: str = SECRET_KEY, **changed: Any) -> bool:
    headers = {name: header(prepared, name) for name in prepared.headers}
    parts = {"method": prepared.method, "url": prepared.url, "headers": headers, "body": prepared.body or b""} | changed
    return signature_fits(**parts, secret=secret)


@pytest.mark.parametrize(
    ("base", "path", "method", "body"),
    [
        (API, "/sessions", "POST", b'{"message": "\\u00e9"}'),
        (f"{API}/prod", "/sessions/a%2Fb/events?limit=100&next=7", "GET", b""),
        (f"{API}/$default", "/approvals?tool=a%20b%2B&agent=%C3%A9&risk=high", "GET", b""),
        ("https://approvals.example.com:8443/v1", "/sessions?next=eyJ%3D%3D", "GET", b""),
    ],
)
def test_the_signature_is_what_the_documented_steps_give(base: str, path: str, method: str, body: bytes) -> None:
    request = AWSRequest(method=method, url=base + path, data=body or None, headers={"Accept": "application/json"})
    Signer(aws_session(None), "eu-central-1").sign(request)
    prepared = request.prepare()

    assert prepared.url == base + path
    assert fits(prepared)
    assert "/eu-central-1/execute-api/aws4_request" in header(prepared, "Authorization")
    assert not fits(prepared, secret="another")
    assert not fits(prepared, body=body + b" ")
    assert not fits(prepared, url=base + path + "x")
    assert not fits(prepared, method="PUT")


def test_the_signature_is_botocores_own_for_a_fixed_date(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    moment = datetime(2026, 11, 29, 16, 0, tzinfo=UTC)
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda *_: moment)
    script = Script([received(200, EMPTY)])
    environ = {"PAUSEPOINT_API": f"{API}/prod"}
    CommandLine(script, tmp_path, environ)("list", "--status", "paused", "--limit", "5", "--json")
    (sent,) = script.requests

    again = AWSRequest(method="GET", url=f"{API}/prod/sessions?limit=5&status=paused")
    for name in ("Accept", "User-Agent"):
        again.headers[name] = header(sent, name)
    SigV4Auth(Credentials(ACCESS_KEY, SECRET_KEY), "execute-api", "us-east-1").add_auth(again)
    assert header(sent, "Authorization") == again.headers["Authorization"]
    assert header(sent, "X-Amz-Date") == "20261129T160000Z"
    assert fits(sent)


def test_temporary_credentials_send_their_token_signed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "a-token")
    script = Script([received(200, EMPTY)])
    assert CommandLine(script, tmp_path)("list").code == 0
    (sent,) = script.requests
    assert header(sent, "X-Amz-Security-Token") == "a-token"
    assert "x-amz-security-token" in header(sent, "Authorization")
    assert fits(sent)


def test_every_attempt_is_signed_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    minutes = iter(range(60))

    def clock(*_: object) -> datetime:
        return datetime(2026, 11, 29, 16, next(minutes), tzinfo=UTC)

    monkeypatch.setattr(botocore.auth, "get_current_datetime", clock)
    script = Script([received(503, {}), received(200, EMPTY)])
    assert CommandLine(script, tmp_path)("list").code == 0
    first, second = script.requests
    assert header(first, "X-Amz-Date") < header(second, "X-Amz-Date")
    assert fits(second)


def test_without_credentials_nothing_is_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    script = Script([])
    ran = CommandLine(script, tmp_path)("list")
    assert (ran.code, script.requests) == (5, [])
    assert "no AWS credentials" in ran.err


def test_a_profile_that_is_not_there_is_named(tmp_path: Path) -> None:
    ran = CommandLine(Script([]), tmp_path)("list", "--profile", "nobody")
    assert ran.code == 2
    assert "nobody" in ran.err


def test_credentials_are_nowhere_in_what_is_said(tmp_path: Path) -> None:
    script = Script([received(403, {"message": "Forbidden"})])
    ran = CommandLine(script, tmp_path)("list")
    assert ran.code == 5
    assert SECRET_KEY not in ran.out + ran.err
    assert header(script.requests[0], "Authorization") not in ran.out + ran.err
