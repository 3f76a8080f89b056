"""Every minute: finds what a crash or a lost message left behind, and brings it on its way again."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pausepoint.bootstrap import application
from pausepoint.runtime.sweeping import Sweeper
from pausepoint.telemetry import count, flush_metrics, logger

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_ENDING = timedelta(seconds=5)


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Do one round and return what was done, by name."""
    logger().set_correlation_id(event.get("id"))
    services = application().services
    remaining = timedelta(milliseconds=context.get_remaining_time_in_millis())
    sweeper = Sweeper(services, reminder=application().settings.reminder)
    swept = sweeper.sweep(until=services.clock.now() + remaining - _ENDING)
    for name, times in swept.counts.items():
        count("Swept" + name, times)
    flush_metrics()
    return dict(swept.counts)
