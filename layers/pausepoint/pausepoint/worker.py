"""The work queue's side: carries on the sessions that wake-ups name."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from pausepoint.adapters.sqs import woken_session
from pausepoint.bootstrap import Application
from pausepoint.errors import InvalidInput, NotFound
from pausepoint.http.requests import known_id
from pausepoint.runtime.context import ExecutionContext
from pausepoint.telemetry import count, flush_metrics, logger

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_ENDING: Final = timedelta(seconds=3)


def process_wakeups(application: Application, event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Carry on each session of a batch; name the messages that must come again.

    A wake-up may come late, twice, or for nothing: what is stored decides what happens.
    """
    failures = []
    for record in event["Records"]:
        logger().set_correlation_id(record["messageId"])
        try:
            _process(application, record["body"], context)
        except (InvalidInput, NotFound):
            # Coming again would not help: nobody's session is meant.
            logger().exception("wake-up dropped", extra={"message_id": record["messageId"]})
        except Exception:  # noqa: BLE001 - the top of a worker: the message comes again, the batch goes on
            logger().exception("wake-up failed", extra={"message_id": record["messageId"]})
            failures.append({"itemIdentifier": record["messageId"]})
    flush_metrics()
    return {"batchItemFailures": failures}


def _process(application: Application, body: str, context: LambdaContext) -> None:
    services = application.services
    now = services.clock.now()
    remaining = timedelta(milliseconds=context.get_remaining_time_in_millis()) - _ENDING
    result = application.agent.resume(
        known_id(woken_session(body)),
        context=ExecutionContext(
            id=services.new_id(),
            ends_at=now + remaining,
            hand_over_at=now + remaining * 3 / 4,
            retried=True,
            caller="work queue",
        ),
    )
    count("Sessions" + result.status.capitalize())
