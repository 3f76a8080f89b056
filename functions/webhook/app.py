"""The topic's subscriber: hands each notice on as a signed webhook, to the one address of the deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pausepoint.adapters.webhooks import Gone
from pausepoint.bootstrap import webhook_sender
from pausepoint.errors import InvalidInput, PausepointError
from pausepoint.notifying import published
from pausepoint.telemetry import count, flush_metrics, logger

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], _: LambdaContext) -> None:
    """Deliver a notice (SNS gives one at a time). What it raises has Lambda try again."""
    try:
        for record in event["Records"]:
            _deliver(record)
    finally:
        flush_metrics()


def _deliver(record: dict[str, Any]) -> None:
    try:
        message = published(record)
    except InvalidInput:
        logger().exception("message dropped", extra={"message_id": record["Sns"].get("MessageId")})
        return
    about = {"webhook_id": message.id}
    try:
        webhook_sender().deliver(message.id, message.text)
    except Gone as error:  # trying again is what it does not want
        logger().error("webhook refused for good", extra={**about, "why": str(error)})
        count("WebhooksGone")
    except PausepointError as error:
        logger().warning("webhook not delivered", extra={**about, "why": str(error)})
        count("WebhooksFailed")
        raise
    else:
        logger().info("webhook delivered", extra=about)
        count("WebhooksDelivered")
