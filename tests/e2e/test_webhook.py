"""A receiver on this computer hears of everything that happens to a call, and mails are what is for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.stack import SETTLE_SECONDS, Stack, until
from tests.support.gateway import stored_event
from tests.support.receivers import documented_receiver

pytestmark = pytest.mark.e2e


@pytest.fixture
def heard(stack: Stack, tmp_path: Path) -> Iterator[Path]:
    """What the receiver of the docs printed, with the secret that the deployment made."""
    secret = stack.client("secretsmanager").get_secret_value(SecretId=stack.facts["outputs"]["WebhookSecret"])
    with documented_receiver(tmp_path, stack.hook_port, f"whsec_{secret['SecretString']}") as printed:
        yield printed


def of(printed: Path, session_id: str) -> set[tuple[str, str]]:
    """Return what was verified of a session, as (type, where the call stands)."""
    lines = [line.split() for line in printed.read_text(encoding="utf-8").splitlines()]
    return {(kind, status) for message_id, kind, status in lines if session_id in message_id}


def mails(stack: Stack, session_id: str) -> list[Any]:
    found = stack.request("GET", stack.facts["mailbox_url"] + "/messages.json").json
    return [mail for mail in found if session_id in mail["body"]]


def test_r61_a_receiver_hears_that_a_call_waits_was_decided_and_has_run(stack: Stack, path: str, heard: Path) -> None:
    paused = stack.start_session(f"delete {path}")
    (call,) = paused["pending_calls"]
    link = stack.link(paused["session_id"], call["call_id"])
    until(lambda: of(heard, paused["session_id"]) == {("approval.requested", "pending")}, seconds=SETTLE_SECONDS)

    assert stack.post_decision(link, call["digest"], "approved").status == 200
    stack.settled(paused["session_id"], "completed")

    expected = {
        ("approval.requested", "pending"),
        ("approval.decided", "approved"),
        ("approval.finished", "succeeded"),
    }
    until(lambda: of(heard, paused["session_id"]) == expected, seconds=SETTLE_SECONDS)
    assert [mail["subject"] for mail in mails(stack, paused["session_id"])] == [
        "Pausepoint: a tool call waits for your decision"
    ]


def test_i9_what_nobody_takes_is_tried_again_and_then_put_aside_by_its_ids(stack: Stack) -> None:
    # MiniStack tries only once what a topic hands on; an asynchronous invocation is what AWS makes of it.
    sqs = stack.client("sqs")
    found = stack.client("cloudformation").describe_stack_resource(
        StackName="pausepoint", LogicalResourceId="WebhookFunction"
    )
    name = found["StackResourceDetail"]["PhysicalResourceId"]

    stack.client("lambda").invoke(
        FunctionName=name, InvocationType="Event", Payload=json.dumps(stored_event("webhook")).encode()
    )

    queue = stack.facts["outputs"]["UndeliveredQueueUrl"]
    (letter,) = until(lambda: sqs.receive_message(QueueUrl=queue).get("Messages"), seconds=SETTLE_SECONDS)
    assert json.loads(letter["Body"]) == {
        "webhook_id": "msg_k7mq2vdyxa4ntwb3hzr5cfej6p_c3-0_requested",
        "type": "approval.requested",
        "session_id": "k7mq2vdyxa4ntwb3hzr5cfej6p",
        "call_id": "c3-0",
        "tries": 3,
        "why": "127.0.0.1 cannot be reached.",
    }
