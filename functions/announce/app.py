"""The table's stream: tells the topic which calls were decided, came to their end, or expired."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType

from pausepoint.bootstrap import application
from pausepoint.notifying import announce
from pausepoint.telemetry import flush_metrics, logger

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext


def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    """Work off a batch; name the records that must come again."""
    # A batch that fails as a whole is reported record by record as well: nothing is lost by a traceback less.
    processor = BatchProcessor(event_type=EventType.DynamoDBStreams, raise_on_entire_batch_failure=False)
    with processor(records=event["Records"], handler=_announce, lambda_context=context):
        processor.process()
    flush_metrics()
    return processor.response()


def _announce(record: DynamoDBRecord) -> None:
    try:
        announce(record.raw_event, application().services.notifier)
    except Exception:
        logger().exception("change not announced", extra={"event_id": record.event_id})
        raise
