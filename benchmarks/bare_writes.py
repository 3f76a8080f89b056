"""The floor under saving every step: as many requests of the same size by plain boto3, and nothing else at all."""

from __future__ import annotations

import os
import time
from typing import Any

from benchmarks.bare import bare_client
from benchmarks.metering import Meter, item_bytes
from benchmarks.steps import do

_BESIDE_STEPS = 4
_TO_THE_END = 8


def pause(step: dict[str, Any], meter: Meter) -> dict[str, Any]:
    """Write an item of a step's size for every step, and four more."""
    return _written(step, meter, step["count"] + _BESIDE_STEPS)


def finish(step: dict[str, Any], meter: Meter) -> dict[str, Any]:
    """Write as often as there are requests from the click to the end."""
    return _written(step, meter, _TO_THE_END)


def _written(step: dict[str, Any], meter: Meter, times: int) -> dict[str, Any]:
    items = [_item(number, step["bytes"]) for number in range(times)]
    begun = time.process_time()
    client = bare_client(step, meter)
    for item in items:
        client.put_item(
            TableName=os.environ["TABLE_NAME"],
            Item=item,
            ConditionExpression="attribute_not_exists(#no)",
            ExpressionAttributeNames={"#no": "no"},
        )
    return {**meter.report(), "cpu": time.process_time() - begun, "largest_item": item_bytes(items[0]), "stored": 0}


def _item(number: int, size: int) -> dict[str, Any]:
    return {"pk": {"S": "bare"}, "sk": {"S": f"{number:010d}"}, "body": {"B": os.urandom(size)}}


def main() -> None:
    """Do one step."""
    do(pause, finish)


if __name__ == "__main__":
    main()
