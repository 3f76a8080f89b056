"""Notices through an SNS topic."""

from __future__ import annotations

from typing import Any

from pausepoint.adapters.faults import AWS_FAULTS
from pausepoint.errors import Unavailable
from pausepoint.runtime.ports import Notice


class SnsNotifier:
    """Publishes notices. People get the subject and the text; subscribers choose by attributes what they get.

    The data for programs is an attribute too, and not a second text beside the first
    (`MessageStructure=json`): AWS sends attributes only with messages that are plain text
    (https://docs.aws.amazon.com/sns/latest/dg/sns-message-attributes.html), and choosing needs them.

    Args:
        client: a boto3 SNS client.
        topic_arn: the topic.
    """

    def __init__(self, client: Any, topic_arn: str) -> None:
        self._client = client
        self._topic_arn = topic_arn

    def send(self, notice: Notice) -> None:
        """Publish a notice, or raise Unavailable."""
        attributes = {
            "event": notice.event,
            "agent": notice.agent,
            "tool": notice.tool,
            "risk": notice.risk,
            "payload": notice.payload,
        }
        try:
            self._client.publish(
                TopicArn=self._topic_arn,
                Subject=notice.subject,
                Message=notice.body,
                MessageAttributes={
                    name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()
                },
            )
        except AWS_FAULTS as error:
            # Not the error's text: it may repeat the request, and the message holds the link.
            raise Unavailable(f"SNS did not take the notice ({type(error).__name__}).") from None
