"""Idempotency-Key: a caller that repeats itself arrives at the session it made before."""

from __future__ import annotations

import pytest

from tests.support.clerk import desk
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import request


def test_case_43_the_same_key_and_message_give_the_same_session_and_ask_nobody_again(deployment: Deployment) -> None:
    desk.script(SHRED, "Never asked.")
    first = deployment.start("shred a.txt", Idempotency_Key="order-1")
    before = deployment.table()

    again = deployment.start("shred a.txt", Idempotency_Key="order-1")

    assert (again.status, again.json) == (200, first.json)
    assert len(desk.asked) == 1
    assert len(deployment.notices()) == 1
    assert deployment.table() == before


def test_case_43_the_same_key_with_another_message_is_a_conflict(deployment: Deployment) -> None:
    desk.script("Hello.")
    deployment.start("hello", Idempotency_Key="order-1")
    before = deployment.table()

    problem = deployment.start("goodbye", Idempotency_Key="order-1").problem

    assert (problem["status"], problem["type"]) == (409, "urn:pausepoint:problem:idempotency-mismatch")
    assert problem["detail"] == "This Idempotency-Key was used before with another request."
    assert deployment.table() == before


def test_case_43_a_request_that_was_cut_off_is_carried_on(deployment: Deployment) -> None:
    desk.script("Hello.")
    cut_off = deployment.start("hello", milliseconds=4_000, Idempotency_Key="order-1").json

    again = deployment.start("hello", Idempotency_Key="order-1").json

    assert (again["session_id"], again["status"], again["output"]) == (cut_off["session_id"], "completed", "Hello.")


def test_keys_of_different_callers_do_not_meet(deployment: Deployment) -> None:
    desk.script("Hello.", "Hello.")
    other = request("start", body={"message": "hello"}, headers={"idempotency-key": "order-1"})
    other["requestContext"]["authorizer"]["iam"]["userArn"] = "arn:aws:iam::123456789012:user/eve"

    first = deployment.start("hello", idempotency_key="order-1").json
    second = deployment.send("start", other).json

    assert first["session_id"] != second["session_id"]


def test_without_a_key_every_request_is_a_session_of_its_own(deployment: Deployment) -> None:
    desk.script("Hello.", "Hello.")

    assert deployment.start("hello").json["session_id"] != deployment.start("hello").json["session_id"]


@pytest.mark.parametrize("key", ["", " ", "a b", "é", "x" * 256, "a\r\nb", "\0"])
def test_a_key_that_cannot_be_one_is_refused_by_name(deployment: Deployment, key: str) -> None:
    problem = deployment.start("hello", Idempotency_Key=key).problem

    assert (problem["status"], problem["field"]) == (400, "Idempotency-Key")
    assert problem["detail"] == "The Idempotency-Key must have 1 to 255 visible ASCII characters."
    assert deployment.table() == []
