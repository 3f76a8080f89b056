"""From the topic to the receiver: each notice is handed on, signed, until somebody takes it or Lambda gives up."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from standardwebhooks import Webhook

from pausepoint.bootstrap import dead_letters, webhook_sender
from pausepoint.errors import ConfigurationError, Unavailable
from tests.support.aws import client, template
from tests.support.clerk import desk
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import Link, stored_event
from tests.support.receivers import Got, Receiver, receiver
from tests.support.said import Said

pytestmark = pytest.mark.enable_socket


@dataclass
class Hook:
    """A receiver with the secret that the template makes."""

    receiver: Receiver
    secret: str

    @property
    def got(self) -> list[Got]:
        return self.receiver.got

    def messages(self) -> list[Any]:
        """Return what arrived, verified."""
        return [self.verified(got) for got in self.got]

    def verified(self, got: Got) -> Any:
        message = Webhook(self.secret).verify(got.body, got.headers)
        assert message["id"] == got.headers["webhook-id"]
        return message


@pytest.fixture
def hook(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hook]:
    vault = client("secretsmanager")
    asked = template()["Resources"]["WebhookSecret"]["Properties"]["GenerateSecretString"]
    value = vault.get_random_password(**asked)["RandomPassword"]
    secret = vault.create_secret(Name="webhook", SecretString=value)["ARN"]
    webhook_sender.cache_clear()
    monkeypatch.setenv("WEBHOOK_SECRET_ARN", secret)
    monkeypatch.setenv("WEBHOOK_LOOPBACK", "true")
    with receiver() as here:
        monkeypatch.setenv("WEBHOOK_URL", f"http://127.0.0.1:{here.port}/hook")
        yield Hook(here, f"whsec_{value}")
    vault.delete_secret(SecretId=secret, ForceDeleteWithoutRecovery=True)
    webhook_sender.cache_clear()


@pytest.fixture
def letters(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What was put aside; filled when it is asked for."""
    sqs = boto3.client("sqs")
    queue = sqs.create_queue(QueueName="undelivered")["QueueUrl"]
    dead_letters.cache_clear()
    monkeypatch.setenv("QUEUE_URL", queue)

    class Letters(list[Any]):
        def read(self) -> list[Any]:
            self += [json.loads(each["Body"]) for each in sqs.receive_message(QueueUrl=queue).get("Messages", [])]
            return self

    yield Letters()
    sqs.delete_queue(QueueUrl=queue)
    dead_letters.cache_clear()


def asked(deployment: Deployment) -> dict[str, Any]:
    """Start a session that pauses, and return its notice."""
    desk.script(SHRED, "Done.")
    deployment.start()
    (notice,) = deployment.notices()
    return dict(notice)


def test_r61_what_happens_to_a_call_arrives_signed_and_can_be_acted_on(deployment: Deployment, hook: Hook) -> None:
    deployment.watch()
    deployment.hand_on(asked(deployment))
    (requested,) = hook.messages()

    url = requested["data"]["approve_url"]
    call = requested["data"]["call"]
    link = Link(call["session_id"], call["call_id"], url.rpartition("?t=")[2], url.partition("/approvals/")[0])
    assert deployment.post(link, digest=requested["data"]["digest"]).status == 200
    deployment.deliver()
    deployment.announce(*deployment.changes())
    deployment.hand_on(*deployment.notices())

    assert [message["type"] for message in hook.messages()] == [
        "approval.requested",
        "approval.decided",
        "approval.finished",
    ]
    assert hook.messages()[2]["data"]["call"]["status"] == "succeeded"


def test_what_arrives_is_byte_for_byte_what_was_published(deployment: Deployment, hook: Hook) -> None:
    notice = asked(deployment)
    deployment.hand_on(notice)
    (got,) = hook.got
    assert got.body.decode() == notice["MessageAttributes"]["payload"]["Value"]


def test_a_receiver_that_fails_is_tried_again_with_the_same_id(deployment: Deployment, hook: Hook, said: Said) -> None:
    notice = asked(deployment)
    hook.receiver.status = 503
    with pytest.raises(Unavailable, match="answered 503, not 2xx"):
        deployment.hand_on(notice)
    hook.receiver.status = 200
    deployment.hand_on(notice)

    first, second = hook.messages()
    assert first["id"] == second["id"]
    assert [line["message"] for line in said.lines()] == ["webhook not delivered", "webhook delivered"]


def test_who_says_410_is_left_alone(deployment: Deployment, hook: Hook, said: Said) -> None:
    hook.receiver.status = 410
    deployment.hand_on(asked(deployment))
    assert [line["message"] for line in said.lines()] == ["webhook refused for good"]


def test_another_message_of_the_topic_is_dropped(deployment: Deployment, hook: Hook, said: Said) -> None:
    plain = {"Message": "hello", "MessageAttributes": {}}
    other = {"MessageAttributes": {"payload": {"Type": "String", "Value": '{"id": 1, "type": "x"}'}}}
    deployment.hand_on(plain, other)
    assert hook.got == []
    assert [line["message"] for line in said.lines()] == ["message dropped", "message dropped"]


def test_r60_without_the_local_stacks_word_plain_http_is_refused(
    deployment: Deployment, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WEBHOOK_LOOPBACK")
    with pytest.raises(ConfigurationError, match="must begin with https://"):
        deployment.hand_on(asked(deployment))
    assert hook.got == []


def test_r8_i9_neither_the_link_nor_the_secret_nor_the_address_is_logged(
    deployment: Deployment, hook: Hook, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    notice = asked(deployment)
    token = json.loads(notice["MessageAttributes"]["payload"]["Value"])["data"]["approve_url"].rpartition("?t=")[2]
    webhook_sender.cache_clear()  # the first time in a process
    for library in ("botocore", "urllib3"):
        monkeypatch.setattr(logging.getLogger(library), "level", logging.NOTSET)
        logging.getLogger(library).manager._clear_cache()  # type: ignore[attr-defined]
    said.at_level(logging.DEBUG)
    for hook.receiver.status in (200, 500, 410):
        with suppress(Unavailable):
            deployment.hand_on(notice)

    written = said.everything()
    for secret in (token, hook.secret, hook.secret.removeprefix("whsec_"), "v1,", "/hook"):
        assert secret not in written
    assert [line["message"] for line in said.lines()]


def test_r40_i9_what_lambda_gave_up_is_put_aside_by_its_ids_only(
    deployment: Deployment, letters: Any, said: Said
) -> None:
    notice = asked(deployment)
    session_id = json.loads(notice["MessageAttributes"]["payload"]["Value"])["data"]["call"]["session_id"]

    deployment.give_up(notice, errorMessage="hooks.example answered 503, not 2xx.", errorType="Unavailable")

    assert letters.read() == [
        {
            "webhook_id": f"msg_{session_id}_c2-0_requested",
            "type": "approval.requested",
            "session_id": session_id,
            "call_id": "c2-0",
            "tries": 3,
            "why": "hooks.example answered 503, not 2xx.",
        }
    ]
    assert "?t=" not in json.dumps(letters)
    assert "?t=" not in said.everything()


def test_what_ran_out_of_time_is_put_aside_with_that(deployment: Deployment, letters: Any) -> None:
    deployment.give_up(asked(deployment))
    (letter,) = letters.read()
    assert letter["why"] == "RetriesExhausted"


def test_what_was_no_notice_is_not_put_aside(deployment: Deployment, letters: Any) -> None:
    deployment.give_up({"MessageAttributes": {}})
    assert letters.read() == []


def test_the_stored_events_are_handled(deployment: Deployment, hook: Hook, letters: Any) -> None:
    deployment.hand_on(stored_event("webhook")["Records"][0]["Sns"])
    assert [message["id"] for message in hook.messages()] == ["msg_k7mq2vdyxa4ntwb3hzr5cfej6p_c3-0_requested"]

    deployment.give_up(
        stored_event("undelivered")["requestPayload"]["Records"][0]["Sns"],
        **stored_event("undelivered")["responsePayload"],
    )
    (letter,) = letters.read()
    assert (letter["tries"], letter["why"]) == (3, "hooks.example answered 503, not 2xx.")
