"""A DynamoDB client as anybody makes one: what is measured beside Pausepoint uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3  # here, so that no step's time has the import in it

if TYPE_CHECKING:
    from benchmarks.metering import Meter


def bare_client(step: dict[str, Any], meter: Meter) -> Any:
    """Return a client; counted, where the step says so."""
    client = boto3.client("dynamodb")
    if step["metered"]:
        meter.listen(client.meta.events)
    return client
