"""Secrets stay where they belong: the token in the message and the form, keys nowhere at all."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from tests.support.clerk import desk
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import request
from tests.support.said import SECRET_KEY, Said
from tests.support.wire import Wire

ACCESS_KEY = "AKIAIOSFODNN7EXAMPLE"
LEVELS = [logging.INFO, logging.DEBUG]


@pytest.mark.parametrize("level", LEVELS, ids=["INFO", "DEBUG"])
def test_r8_i9_the_token_is_in_no_log_queue_message_or_row(deployment: Deployment, said: Said, level: int) -> None:
    said.at_level(level)
    link = deployment.paused(SHRED, SHRED, "Done.")
    deployment.show(link)
    deployment.show(link, probe=True)
    deployment.post(link, decision="approve")
    deployment.post(link)
    deployment.post(link, decision="rejected")
    deployment.show(link)
    wakeups = deployment.wakeups()
    for message in wakeups:
        deployment.work(message["Body"])
    (second,) = deployment.links()
    deployment.expire(second)
    deployment.post(second)
    deployment.cancel(link.session_id)

    written = said.everything()
    for token in (link.token, second.token):
        for place in (written, json.dumps(wakeups), deployment.readable()):
            assert token not in place
    for answer in (deployment.session(link.session_id), deployment.events(link.session_id)):
        assert link.token not in json.dumps(answer)
    assert SECRET_KEY not in written
    assert SECRET_KEY not in deployment.readable()


@pytest.mark.parametrize("operation", ["dynamodb.*", "sns.*", "sqs.*"])
@pytest.mark.parametrize("code", ["ThrottlingException", "ValidationException", "InvalidParameter"])
def test_r8_a_failure_does_not_give_the_token_away(
    deployment: Deployment, wire: Wire, said: Said, operation: str, code: str
) -> None:
    link = deployment.paused(SHRED, SHRED)
    said.at_level(logging.DEBUG)
    wire.fail(operation, code)
    desk.script(SHRED)

    deployment.start()
    deployment.show(link)
    form = {"t": link.token, "digest": "0" * 64, "decision": "approved", "reason": ""}
    deployment.post_body(link, urlencode(form))
    wire.heal()
    deployment.post(link)

    written = said.everything()
    assert link.token not in written
    assert not re.search(r"\?t=[A-Za-z0-9_-]{43}", written)  # nor any other, such as the one that could not be sent


def test_r8_a_token_of_somebody_elses_making_is_not_logged_either(deployment: Deployment, said: Said) -> None:
    said.at_level(logging.DEBUG)
    link = deployment.paused()
    canary = "canary-0123456789-0123456789-0123456789-012"
    assert len(canary) == len(link.token)

    for made in (
        replace(link, token=canary),
        replace(link, token=canary, call_id="nowhere"),
        replace(link, token=canary * 3),
    ):
        deployment.show(made)
        deployment.post_body(made, f"t={canary}&t={canary}")
        deployment.post_body(made, urlencode({"t": canary, "digest": canary, "decision": "approved"}))

    assert canary not in said.everything()
    assert canary not in deployment.readable()


def test_r8_an_unforeseen_fault_is_logged_without_the_request(
    deployment: Deployment, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = deployment.paused()
    monkeypatch.delenv("TABLE_NAME")
    from pausepoint.bootstrap import application  # noqa: PLC0415

    application.cache_clear()
    shown, started = deployment.show(link), deployment.start("canary in a message")

    assert (shown.status, started.status) == (500, 500)
    written = said.everything()
    assert "These variables are missing or wrong: TABLE_NAME." in written
    assert link.token not in written
    assert "canary in a message" not in written
    assert "TABLE_NAME" not in shown.text + started.text


def test_the_callers_access_key_goes_nowhere(deployment: Deployment, said: Said) -> None:
    link = deployment.paused()
    deployment.resume(link.session_id, {"call_id": link.call_id, "decision": "approved"})

    assert ACCESS_KEY in json.dumps(request("start"))
    assert ACCESS_KEY not in deployment.readable()
    assert ACCESS_KEY not in said.everything()


def test_r67_every_line_of_the_log_is_json_whatever_a_tool_says(deployment: Deployment, said: Said) -> None:
    link = deployment.paused(SHRED, "Done.")
    desk.result = ValueError('a\r\n{"level": "INFO", "message": "all is well"}\n\x1b[2J\u2028')
    deployment.post(link)
    deployment.deliver()

    lines = said.lines()
    assert [line["message"] for line in lines] == ["tool raised"]
    assert (lines[0]["level"], lines[0]["tool"], lines[0]["call_id"]) == ("ERROR", "shred", "c2-0")


def test_a_line_of_the_log_carries_the_id_of_the_request_or_message_it_is_about(
    deployment: Deployment, wire: Wire, said: Said
) -> None:
    wire.fail("dynamodb.*")
    deployment.start("hello")
    deployment.work('{"session_id": "' + "a" * 26 + '"}')

    assert [line["correlation_id"] for line in said.lines()] == ["id", "message-0"]
