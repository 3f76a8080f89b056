"""Subscribers choose by event, agent, tool and risk what they get, as docs/webhooks.md says; on moto and MiniStack."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from local.inbox import FOR_PEOPLE
from pausepoint.adapters.sns import SnsNotifier
from pausepoint.domain.calls import Presentation, Risk
from tests.support.aws import ROOT, client, locked_moto
from tests.support.news import notices

_numbers = count(1)
MINISTACK = pytest.param("ministack", marks=pytest.mark.emulator, id="ministack")


@dataclass
class Topic:
    """A topic, and mailboxes (queues here) that choose."""

    sns: Any
    sqs: Any
    arn: str

    def subscribe(self, policy: dict[str, Any] | None) -> str:
        """Subscribe a mailbox with a filter policy; return it."""
        queue: str = self.sqs.create_queue(QueueName=f"box-{next(_numbers)}")["QueueUrl"]
        arn = self.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        attributes = {} if policy is None else {"FilterPolicy": json.dumps(policy)}
        self.sns.subscribe(TopicArn=self.arn, Protocol="sqs", Endpoint=arn, Attributes=attributes)
        return queue

    def got(self, queue: str) -> list[tuple[str, str, str]]:
        """Return what a mailbox got, as (event, tool, risk)."""
        bodies = []
        while messages := self.sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                bodies.append(json.loads(message["Body"])["MessageAttributes"])
                self.sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
        return sorted((body["event"]["Value"], body["tool"]["Value"], body["risk"]["Value"]) for body in bodies)


@pytest.fixture
def moto() -> Iterator[Topic]:
    with locked_moto():
        sns = client("sns")
        yield Topic(sns, client("sqs"), sns.create_topic(Name="notices")["TopicArn"])


@pytest.fixture
def ministack(ministack_url: str) -> Topic:
    sns, sqs = (client(service, endpoint_url=ministack_url) for service in ("sns", "sqs"))
    return Topic(sns, sqs, sns.create_topic(Name=f"notices-{next(_numbers)}")["TopicArn"])


@pytest.fixture(params=["moto", MINISTACK])
def topic(request: pytest.FixtureRequest) -> Topic:
    made: Topic = request.getfixturevalue(request.param)
    return made


def publish(topic: Topic) -> None:
    """Publish every event of two tools, one of them dangerous."""
    tools: dict[str, Risk] = {"delete_file": "high", "move_file": "low"}
    for name, risk in tools.items():
        for notice in notices(name=name, presentation=Presentation(risk=risk)).values():
            SnsNotifier(topic.sns, topic.arn).send(notice)


def policies_of_the_docs() -> list[dict[str, Any]]:
    text = (ROOT / "docs" / "webhooks.md").read_text(encoding="utf-8").replace("\\\n", " ")
    commands = [shlex.split(line) for line in re.findall(r"^aws sns subscribe .*$", text, re.MULTILINE)]
    return [json.loads(json.loads(words[words.index("--attributes") + 1])["FilterPolicy"]) for words in commands]


def test_several_approvers_get_what_they_chose_by_event_tool_or_risk(topic: Topic) -> None:
    one_tool, one_risk = policies_of_the_docs()
    everything, people, tool, risk, agent, nobody = (
        topic.subscribe(policy)
        for policy in (
            None,
            {"event": FOR_PEOPLE},
            one_tool,
            one_risk,
            {"agent": ["clerk"], "event": ["requested"]},
            {"agent": ["another"]},
        )
    )

    publish(topic)

    assert len(topic.got(everything)) == 12
    assert {event for event, _, _ in topic.got(people)} == set(FOR_PEOPLE)
    assert topic.got(tool) == [(event, "delete_file", "high") for event in sorted(FOR_PEOPLE)]
    assert topic.got(risk) == [(event, "delete_file", "high") for event in sorted(FOR_PEOPLE)]
    assert topic.got(agent) == [("requested", "delete_file", "high"), ("requested", "move_file", "low")]
    assert topic.got(nobody) == []
