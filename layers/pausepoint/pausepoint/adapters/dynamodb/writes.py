"""Conditional writes that know their own: a lost answer is not taken for a lost race.

boto3 repeats a request whose answer was lost. If the first one had been written, the repetition fails its
condition. So every write carries a nonce and asks for the item on which it failed: if that item carries the
nonce, the write had landed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import sleep
from typing import Any, Final

from botocore.exceptions import ClientError

from pausepoint.adapters.dynamodb.attributes import to_attribute
from pausepoint.adapters.dynamodb.rows import Item, Row, from_item, to_item
from pausepoint.adapters.faults import NO_ANSWER
from pausepoint.domain.session import SCHEMA_VERSION
from pausepoint.errors import ConfigurationError, PausepointError, Unavailable

ABSENT: Final = "attribute_not_exists(pk)"
_CONFLICT_ATTEMPTS: Final = 6
_SETUP_ERRORS: Final = frozenset(
    {"ResourceNotFoundException", "AccessDeniedException", "ValidationException", "UnrecognizedClientException"}
)


class ConditionFailed(Exception):
    """A condition did not hold; `found` are the rows it failed on (None for a row that does not exist)."""

    def __init__(self, found: Sequence[Row | None]) -> None:
        super().__init__("condition failed")
        self.found = found

    @property
    def first(self) -> Row | None:
        """The row on which a single write failed."""
        return self.found[0]


@dataclass(frozen=True)
class Write:
    """One conditional write.

    Attributes:
        row: the whole row for a put; for an update, the attributes to set (None removes one).
        key: of the row to update or check; None makes it a put.
        condition: with `#name` for attributes and `:name` for `values`.
        adds: numbers to add to attributes.
    """

    condition: str
    values: Mapping[str, Any] = field(default_factory=dict)
    row: Mapping[str, Any] = field(default_factory=dict)
    key: Item | None = None
    adds: Mapping[str, int] = field(default_factory=dict)

    def request(self, table: str) -> tuple[str, dict[str, Any]]:
        """Return the kind (Put, Update or ConditionCheck) and its parameters."""
        condition, values = self.condition, dict(self.values)
        if self.key is not None and condition != ABSENT:  # a row that is not there has no version either
            # and no newer version wrote the row: what this one does not understand it does not change
            condition += " AND #version <= :known_version"
            values["known_version"] = SCHEMA_VERSION
        parameters: dict[str, Any] = {
            "TableName": table,
            "ConditionExpression": condition,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        expression = condition
        if self.key is None:
            kind = "Put"
            parameters["Item"] = to_item(self.row)
        elif not self.row:
            kind = "ConditionCheck"
            parameters["Key"] = self.key
        else:
            kind = "Update"
            parameters["Key"] = self.key
            update, update_values = self._update()
            parameters["UpdateExpression"] = update
            values |= update_values
            expression += update
        names = {f"#{name}": name for name in re.findall(r"#(\w+)", expression)}
        if names:
            parameters["ExpressionAttributeNames"] = names
        if values:
            parameters["ExpressionAttributeValues"] = {
                f":{name}": to_attribute(value) for name, value in values.items()
            }
        return kind, parameters

    def _update(self) -> tuple[str, dict[str, Any]]:
        present = {name: value for name, value in self.row.items() if value is not None}
        absent = [name for name, value in self.row.items() if value is None]
        parts = ["SET " + ", ".join(f"#{name} = :set_{name}" for name in present)]
        if absent:
            parts.append("REMOVE " + ", ".join(f"#{name}" for name in absent))
        if self.adds:
            parts.append("ADD " + ", ".join(f"#{name} :add_{name}" for name in self.adds))
        values = {f"set_{name}": value for name, value in present.items()}
        values |= {f"add_{name}": amount for name, amount in self.adds.items()}
        return " ".join(parts), values


class Writer:
    """Sends conditional writes and turns DynamoDB's errors into ours."""

    def __init__(self, client: Any, table: str) -> None:
        self._client = client
        self._table = table

    def write(self, write: Write, *, nonce: str) -> Row:
        """Send one write; return the row as it is afterwards.

        Raises:
            ConditionFailed: the condition does not hold, and the write had not landed before.
            Unavailable: whether it was written is not known.
        """
        kind, parameters = write.request(self._table)
        returned = {"ReturnValues": "ALL_NEW"} if kind == "Update" else {}
        send = self._client.update_item if kind == "Update" else self._client.put_item
        for attempt in range(_CONFLICT_ATTEMPTS):
            try:
                answer = send(**parameters, **returned)
            except ClientError as error:
                if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                    return _landed_or_failed([error.response.get("Item")], nonce)
                if error.response["Error"]["Code"] == "TransactionConflictException":
                    sleep(0.02 * 2**attempt)  # a transaction holds the row for a moment
                    continue
                raise translated(error) from error
            except NO_ANSWER as error:
                raise translated(error) from error
            return from_item(answer["Attributes"]) if "Attributes" in answer else dict(write.row)
        raise Unavailable("The table is busy.")

    def write_all(self, writes: Sequence[Write], *, nonce: str) -> None:
        """Send several writes as one: all of them or none.

        Raises:
            ConditionFailed: a condition does not hold, and the writes had not landed before.
            Unavailable: whether they were written is not known.
        """
        items = [{kind: parameters} for kind, parameters in (write.request(self._table) for write in writes)]
        for attempt in range(_CONFLICT_ATTEMPTS):
            try:
                self._client.transact_write_items(TransactItems=items)
            except ClientError as error:
                if error.response["Error"]["Code"] != "TransactionCanceledException":
                    raise translated(error) from error
                reasons = error.response.get("CancellationReasons", [])
                codes = {reason.get("Code") for reason in reasons}
                if "ConditionalCheckFailed" in codes:
                    _landed_or_failed([reason.get("Item") for reason in reasons], nonce)
                    return
                if "TransactionConflict" not in codes:
                    raise translated(error) from error
                sleep(0.02 * 2**attempt)
            except NO_ANSWER as error:
                raise translated(error) from error
            else:
                return
        raise Unavailable("The table is busy.")


def translated(error: Exception) -> PausepointError:
    """Return our error for one of DynamoDB's that is not about a condition."""
    if isinstance(error, ClientError) and error.response["Error"]["Code"] in _SETUP_ERRORS:
        return ConfigurationError(f"The table refused a request: {error}")
    return Unavailable("The table does not answer. Nothing is half done; try again in a moment.")


def _landed_or_failed(items: Sequence[Any], nonce: str) -> Row:
    rows = [from_item(item) if item else None for item in items]
    for row in rows:
        if row is not None and row.get("nonce") == nonce:
            return row
    raise ConditionFailed(rows)
