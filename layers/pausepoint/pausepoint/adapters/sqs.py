"""SQS: wake-ups, and webhooks that nobody took. Messages carry ids, never a link or its secret."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pausepoint.adapters.faults import AWS_FAULTS
from pausepoint.errors import InvalidInput, Unavailable


class SqsWorkQueue:
    """Sends wake-ups.

    Args:
        client: a boto3 SQS client.
        queue_url: the queue.
    """

    def __init__(self, client: Any, queue_url: str) -> None:
        self._client = client
        self._queue_url = queue_url

    def wake(self, session_id: str) -> None:
        """Queue a session, or raise Unavailable."""
        try:
            self._client.send_message(QueueUrl=self._queue_url, MessageBody=json.dumps({"session_id": session_id}))
        except AWS_FAULTS as error:
            raise Unavailable(f"SQS did not take the wake-up ({type(error).__name__}).") from error


def woken_session(body: str) -> str:
    """Return the session's id in a wake-up. Raises InvalidInput for anything else."""
    try:
        session_id = json.loads(body)["session_id"]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput("This message is not a wake-up.") from error
    if not isinstance(session_id, str):
        raise InvalidInput("This message is not a wake-up.")
    return session_id


class SqsDeadLetters:
    """Puts aside what could not be delivered.

    Args:
        client: a boto3 SQS client.
        queue_url: the queue for it.
    """

    def __init__(self, client: Any, queue_url: str) -> None:
        self._client = client
        self._queue_url = queue_url

    def put(self, letter: Mapping[str, object]) -> None:
        """Keep a letter: JSON-able, and without secrets. Raises Unavailable."""
        try:
            self._client.send_message(QueueUrl=self._queue_url, MessageBody=json.dumps(letter))
        except AWS_FAULTS as error:
            raise Unavailable(f"SQS did not take the dead letter ({type(error).__name__}).") from error
