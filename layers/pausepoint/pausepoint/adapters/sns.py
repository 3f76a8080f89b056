"""Notices through an SNS topic."""

from __future__ import annotations

from typing import Any

from pausepoint.adapters.faults import AWS_FAULTS
from pausepoint.errors import Unavailable
from pausepoint.runtime.ports import Notice


class SnsNotifier:
    """Publishes notices; subscribers get the subject and the text.

    Args:
        client: a boto3 SNS client.
        topic_arn: the topic.
    """

    def __init__(self, client: Any, topic_arn: str) -> None:
        self._client = client
        self._topic_arn = topic_arn

    def send(self, notice: Notice) -> None:
        """Publish a notice, or raise Unavailable."""
        try:
            self._client.publish(TopicArn=self._topic_arn, Subject=notice.subject, Message=notice.body)
        except AWS_FAULTS as error:
            # Not the error's text: it may repeat the request, and the message holds the link.
            raise Unavailable(f"SNS did not take the notice ({type(error).__name__}).") from None
