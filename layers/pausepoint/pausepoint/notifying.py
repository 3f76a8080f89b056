"""The topic's side: what reads the notices that were published, and what publishes news of the table's stream."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pausepoint.adapters.dynamodb.changes import changed_call
from pausepoint.errors import InvalidInput, UnsupportedVersion
from pausepoint.runtime.notices import news_of
from pausepoint.runtime.ports import Notifier
from pausepoint.telemetry import count, logger


@dataclass(frozen=True)
class Message:
    """A notice as a program gets it: its id, what it is about, and its whole text, which holds a link's secret."""

    id: str
    type: str
    session_id: str
    call_id: str
    text: str


def published(record: Mapping[str, Any]) -> Message:
    """Return the notice in a record that SNS gives to Lambda. Raises InvalidInput for any other message."""
    try:
        text = record["Sns"]["MessageAttributes"]["payload"]["Value"]
        payload = json.loads(text)
        call = payload["data"]["call"]
        found = Message(payload["id"], payload["type"], call["session_id"], call["call_id"], text)
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput("This message of the topic is no notice.") from error
    if not all(isinstance(each, str) for each in vars(found).values()):
        raise InvalidInput("This message of the topic is no notice.")
    return found


def announce(record: Mapping[str, Any], notifier: Notifier) -> None:
    """Publish what a record of the table's stream brings news of, if anything.

    Raises:
        Unavailable: the topic did not take it; the record must come again.
    """
    try:
        change = changed_call(record)
    except UnsupportedVersion as error:
        # It would stop everything behind it, and coming again would not help: the newer version announces it.
        logger().warning("change not announced", extra={"why": str(error)})
        return
    news = news_of(change.before, change.after, at=change.at) if change else None
    if news is not None:
        notifier.send(news)
        count("Announced" + news.event.title())
