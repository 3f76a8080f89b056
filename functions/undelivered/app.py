"""What Lambda gave up: puts a webhook that nobody took aside, by its ids. Its text holds a link's secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pausepoint.bootstrap import dead_letters
from pausepoint.errors import InvalidInput
from pausepoint.notifying import published
from pausepoint.telemetry import count, flush_metrics, logger

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], _: LambdaContext) -> None:
    """Put aside what an invocation of the webhook's function was about, after its last try."""
    request, answer = event["requestContext"], event.get("responsePayload") or {}
    for record in event["requestPayload"]["Records"]:
        try:
            message = published(record)
        except InvalidInput:
            continue  # there was nothing to deliver
        letter = {
            "webhook_id": message.id,
            "type": message.type,
            "session_id": message.session_id,
            "call_id": message.call_id,
            "tries": request["approximateInvokeCount"],
            "why": answer.get("errorMessage") or request["condition"],
        }
        logger().error("webhook given up", extra=letter)
        dead_letters().put(letter)
        count("WebhooksGivenUp")
    flush_metrics()
