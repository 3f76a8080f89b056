"""Counting what a process sends to AWS, at botocore: requests, bytes, and DynamoDB's units."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Final

_READ_UNIT: Final = 4096
_ASKED: Final = b'"ReturnConsumedCapacity": "INDEXES"'
_ASKED_BYTES: Final = len(b", ") + len(_ASKED)
"""What the meter itself makes requests longer by."""
_WRITES: Final = frozenset({"PutItem", "UpdateItem", "TransactWriteItems"})


@dataclass
class Meter:
    """What was sent so far.

    Attributes:
        requests: how many, by operation.
        sent: bytes of request bodies.
        write_units: of the table, as DynamoDB answers them: a unit a KB begun, twice that in a transaction.
        index_units: write units of the table's indexes.
        read_units: one for 4 KB begun, as every read of these is consistent.
    """

    requests: Counter[str] = field(default_factory=Counter)
    sent: int = 0
    write_units: float = 0
    index_units: float = 0
    read_units: float = 0

    def listen(self, events: Any) -> None:
        """Count what goes through the events of a botocore session or client."""
        events.register("before-send", self._before_send)
        for operation in _WRITES:
            events.register(f"provide-client-params.dynamodb.{operation}", _ask_for_units)
        events.register("after-call.dynamodb", self._after_call)

    def forget(self) -> None:
        """Begin anew."""
        vars(self).update(vars(Meter()))

    def report(self) -> dict[str, Any]:
        """Return the counts as JSON has them."""
        return {**asdict(self), "requests": dict(self.requests), "total": self.requests.total()}

    def _before_send(self, request: Any, event_name: str, **_: Any) -> None:
        self.requests[event_name.removeprefix("before-send.")] += 1
        body = request.body or b""
        body = body if isinstance(body, bytes) else body.encode()
        self.sent += len(body) - (_ASKED_BYTES if _ASKED in body else 0)

    def _after_call(self, parsed: dict[str, Any], model: Any, **_: Any) -> None:
        consumed = parsed.get("ConsumedCapacity") or []
        for each in consumed if isinstance(consumed, list) else [consumed]:
            total = each.get("WriteCapacityUnits", each.get("CapacityUnits", 0))
            table = each.get("Table", {})
            of_table = table.get("WriteCapacityUnits", table.get("CapacityUnits", total))
            self.write_units += of_table
            self.index_units += total - of_table
        if model.name in ("GetItem", "Query"):
            items = parsed.get("Items", [parsed["Item"]] if "Item" in parsed else [])
            self.read_units += max(1, math.ceil(sum(map(item_bytes, items)) / _READ_UNIT))


def _ask_for_units(params: dict[str, Any], **_: Any) -> dict[str, Any]:
    return {**params, "ReturnConsumedCapacity": "INDEXES"}


def item_bytes(item: dict[str, Any]) -> int:
    """Return the size of an item by DynamoDB's rules: names and values in UTF-8, numbers by their digits.

    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
    """
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def _value_bytes(value: dict[str, Any]) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "B":
            return len(content)
        case "N":
            return math.ceil(len(content.replace(".", "").lstrip("-")) / 2) + 1
        case "M":
            return 3 + sum(1 + len(name.encode()) + _value_bytes(inner) for name, inner in content.items())
        case "L":
            return 3 + sum(1 + _value_bytes(inner) for inner in content)
        case _:
            return 1
