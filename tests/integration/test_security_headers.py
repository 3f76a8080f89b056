"""R7: the security headers, word for word, on every kind of answer of every function."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable

import pytest

from pausepoint.bootstrap import application
from tests.support.deployment import Deployment
from tests.support.gateway import Answer, Link, request
from tests.support.wire import Wire

Ask = Callable[[Deployment, Link, Wire], Answer]

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}
POLICY = [
    "default-src 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "object-src 'none'",
]


def throttled(function: str, event: dict[str, object]) -> Ask:
    def ask(deployment: Deployment, link: Link, wire: Wire) -> Answer:
        wire.fail("dynamodb.*")
        return deployment.send(function, event)

    return ask


def expired(deployment: Deployment, link: Link, wire: Wire) -> Answer:
    deployment.expire(link)
    return deployment.show(link)


def broken_row(function: str, name: str) -> Ask:
    def ask(deployment: Deployment, link: Link, wire: Wire) -> Answer:
        deployment.change(link, status="nonsense")
        if function == "approvals":
            return deployment.show(link)
        return deployment.send(function, request(name, link.session_id))

    return ask


def broken_agent(deployment: Deployment, link: Link, wire: Wire) -> Answer:
    application.cache_clear()
    return deployment.start()


ANSWERS: dict[str, tuple[int, Ask]] = {
    "start 409": (409, lambda d, link, w: d.say(link.session_id, "hello")),
    "start 400": (400, lambda d, link, w: d.start("")),
    "start 403": (403, lambda d, link, w: d.send("start", request("start", signed=False))),
    "start 404": (404, lambda d, link, w: d.say("a" * 26, "hello")),
    "start 413": (413, lambda d, link, w: d.start("x" * 300_000)),
    "start no route": (404, lambda d, link, w: d.send("start", request("start", path="/"))),
    "start OPTIONS": (404, lambda d, link, w: d.send("start", request("start", method="OPTIONS"))),
    "start 503": (503, throttled("start", request("start"))),
    "start unforeseen": (500, broken_agent),
    "resume 400": (400, lambda d, link, w: d.resume(link.session_id, "approved")),
    "resume 404": (404, lambda d, link, w: d.resume("a" * 26)),
    "resume unforeseen": (500, broken_row("resume", "resume")),
    "sessions 200": (200, lambda d, link, w: d.listed("sessions")),
    "sessions 400": (400, lambda d, link, w: d.listed("sessions", limit="x")),
    "sessions 404": (404, lambda d, link, w: d.cancel("a" * 26)),
    "sessions unforeseen": (500, broken_row("sessions", "session")),
    "page 200": (200, lambda d, link, w: d.show(link)),
    "page HEAD": (200, lambda d, link, w: d.show(link, probe=True)),
    "page posted": (200, lambda d, link, w: d.post(link)),
    "page 400": (400, lambda d, link, w: d.post(link, decision="maybe")),
    "page 404": (404, lambda d, link, w: d.send("approvals", request("approval-page", path=link.path))),
    "page 409": (409, lambda d, link, w: d.post(link, digest="0")),
    "page 410": (410, expired),
    "page 413": (413, lambda d, link, w: d.post_body(link, "x" * 33_000)),
    "page no route": (404, lambda d, link, w: d.send("approvals", request("approval-page", path="/"))),
    "page OPTIONS": (404, lambda d, link, w: d.send("approvals", request("approval-page", method="OPTIONS"))),
    "page 503": (503, throttled("approvals", request("approval-page", path="/approvals/" + "a" * 26 + "/c2-0"))),
    "page unforeseen": (500, broken_row("approvals", "")),
}


@pytest.mark.parametrize("what", ANSWERS)
def test_r7_every_answer_has_the_security_headers(
    deployment: Deployment, wire: Wire, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = deployment.paused()
    monkeypatch.setenv("AGENT", "tests.support.broken_agent:agent")
    status, ask = ANSWERS[what]

    answer = ask(deployment, link, wire)

    assert answer.status == status
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert re.fullmatch(r"max-age=\d{8,}", answer.headers["Strict-Transport-Security"])
    policy = answer.headers["Content-Security-Policy"].split("; ")
    style = [directive for directive in policy if directive.startswith("style-src")]
    assert sorted(policy) == sorted([*POLICY, *style])
    if what.startswith("page"):
        (block,) = re.findall(r"<style>(.*?)</style>", answer.page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()
        assert style == [f"style-src 'sha256-{digest}'"]
    elif status >= 400:
        assert answer.problem["status"] == status
    for secret in ("canary", "Traceback", "nonsense", "pydantic"):
        assert secret not in answer.text
