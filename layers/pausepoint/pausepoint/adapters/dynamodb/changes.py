"""What the table's stream says about calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pausepoint.adapters.dynamodb import rows
from pausepoint.domain.calls import PendingToolCall


@dataclass(frozen=True)
class ChangedCall:
    """A call before and after one write to its row, and when that was."""

    before: PendingToolCall
    after: PendingToolCall
    at: datetime


def changed_call(record: Mapping[str, Any]) -> ChangedCall | None:
    """Return the change in a record of the stream, as Lambda gets it; None if it is not that of a call.

    Raises:
        UnsupportedVersion: a newer version wrote the row.
    """
    change = record["dynamodb"]
    if record["eventName"] != "MODIFY" or not change["Keys"]["sk"]["S"].startswith(rows.call_sk("")):
        return None
    before, after = (rows.to_call(rows.from_item(change[image])) for image in ("OldImage", "NewImage"))
    return ChangedCall(before, after, datetime.fromtimestamp(float(change["ApproximateCreationDateTime"]), UTC))
