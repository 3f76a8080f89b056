"""The baseline: the whole session as one item, saved at the pause and at the end only.

It runs the tool twice when two people click or the process dies; it is here for what it costs.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any, Final

from benchmarks.bare import bare_client
from benchmarks.metering import Meter, item_bytes
from benchmarks.steps import do
from benchmarks.work import LAST, MESSAGE, calls, result_of

MOST: Final = 250
"""Calls of 1 KB whose session fits into an item, which holds 400 KB."""
_KEY: Final = {"pk": {"S": "one"}, "sk": {"S": "ITEM"}}


def pause(step: dict[str, Any], meter: Meter) -> dict[str, Any]:
    """Run the loop to the gated call, and save."""
    begun = time.process_time()
    client = bare_client(step, meter)
    history: list[dict[str, Any]] = [{"role": "user", "text": MESSAGE}]
    for name, arguments in calls(step["count"]):
        history.append({"role": "assistant", "call": {"name": name, "arguments": dict(arguments)}})
        if name == "read":
            history.append({"role": "tool", "text": result_of(arguments["number"], step["kind"])})
    client.put_item(TableName=os.environ["TABLE_NAME"], Item=_item(history))
    return {**meter.report(), "cpu": time.process_time() - begun}


def finish(step: dict[str, Any], meter: Meter) -> dict[str, Any]:
    """Load, run the tool, and save everything again."""
    begun = time.process_time()
    client = bare_client(step, meter)
    stored = client.get_item(TableName=os.environ["TABLE_NAME"], Key=_KEY, ConsistentRead=True)["Item"]
    history = json.loads(stored["body"]["S"])
    history += [{"role": "tool", "text": LAST}, {"role": "assistant", "text": LAST}]
    item = _item(history)
    client.put_item(TableName=os.environ["TABLE_NAME"], Item=item)
    size = item_bytes(item)
    return {**meter.report(), "cpu": time.process_time() - begun, "largest_item": size, "stored": size}


def _item(history: list[dict[str, Any]]) -> dict[str, Any]:
    return {**_KEY, "body": {"S": json.dumps(history, separators=(",", ":"))}}


def main() -> None:
    """Do one step."""
    do(pause, finish)


if __name__ == "__main__":
    main()
