"""Lists over all sessions: an index gives the keys, and the rows themselves are read strongly."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from time import sleep
from typing import Any, Final

from pausepoint.adapters.dynamodb import rows
from pausepoint.adapters.dynamodb.writes import translated
from pausepoint.adapters.faults import AWS_FAULTS
from pausepoint.domain.calls import ASKING, PendingToolCall
from pausepoint.domain.session import SessionHead, SessionStatus
from pausepoint.errors import InvalidInput, Unavailable, UnsupportedVersion

_READ_ATTEMPTS: Final = 5
_LISTED_AT: Final = re.compile(r"[0-9TZ:.-]{27}#[a-z0-9]{26}")
_KEY_CHARACTERS: Final = 200


class Listing:
    """Reads the indexes `sessions` and `due`."""

    def __init__(self, client: Any, table: str) -> None:
        self._client = client
        self._table = table

    def sessions(
        self, status: SessionStatus | None, *, limit: int, before: str | None
    ) -> tuple[list[SessionHead], str | None]:
        """Return up to `limit` heads (at most 100), the latest changed first; `before` is a page's start."""
        start = _listed_at(before) if before is not None else None
        found: list[Any] = []
        for wanted in (status,) if status is not None else tuple(SessionStatus):
            found += self._query(
                IndexName=rows.SESSIONS_INDEX,
                KeyConditionExpression="listed_status = :status" + (" AND listed_at < :start" if start else ""),
                ExpressionAttributeValues={":status": {"S": wanted}, **({":start": {"S": start}} if start else {})},
                ScanIndexForward=False,
                Limit=limit + 1,
            )["Items"]
        found.sort(key=lambda item: item["listed_at"]["S"], reverse=True)
        page = found[:limit]
        heads = [rows.to_head(row) for row in self._read(page)]
        return heads, _encoded(page[-1]["listed_at"]["S"]) if len(found) > limit else None

    def pending(self, *, limit: int, after: str | None) -> tuple[list[PendingToolCall], str | None]:
        """Return up to `limit` calls (at most 100) that wait for a person, the most urgent first."""
        calls: list[PendingToolCall] = []
        start = _start_key(after) if after is not None else None
        while True:
            answer = self._query(
                IndexName=rows.DUE_INDEX,
                KeyConditionExpression="due_kind = :kind",
                ExpressionAttributeValues={":kind": {"S": rows.DUE_CALL}},
                Limit=limit - len(calls),
                **({"ExclusiveStartKey": start} if start else {}),
            )
            read = [rows.to_call(row) for row in self._read(answer["Items"])]
            calls += [call for call in read if call.status in ASKING]
            start = answer.get("LastEvaluatedKey")
            if start is None:
                return calls, None
            if len(calls) == limit:
                return calls, _encoded(json.dumps(start))

    def _read(self, keys: Sequence[Any]) -> list[rows.Row]:
        """Return the rows of these keys as they are now, in this order; those that are gone are left out."""
        wanted = [rows.key(item["pk"]["S"], item["sk"]["S"]) for item in keys]
        found: dict[tuple[str, str], rows.Row] = {}
        left = wanted
        for attempt in range(_READ_ATTEMPTS):
            if not left:
                break
            if attempt:
                sleep(0.05 * 2**attempt)  # the table is throttled; asking at once would not help it
            try:
                answer = self._client.batch_get_item(RequestItems={self._table: {"Keys": left, "ConsistentRead": True}})
            except AWS_FAULTS as error:
                raise translated(error) from error
            for item in answer["Responses"].get(self._table, []):
                with suppress(UnsupportedVersion):  # what a newer version wrote must not hide the rest
                    found[item["pk"]["S"], item["sk"]["S"]] = rows.from_item(item)
            left = answer.get("UnprocessedKeys", {}).get(self._table, {}).get("Keys", [])
        if left:
            raise Unavailable("The table is busy.")
        ordered = (found.get((key["pk"]["S"], key["sk"]["S"])) for key in wanted)
        return [row for row in ordered if row is not None]

    def _query(self, **parameters: Any) -> Any:
        try:
            return self._client.query(TableName=self._table, **parameters)
        except AWS_FAULTS as error:
            raise translated(error) from error


def _encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode("utf-8")).decode("ascii")


def _decoded(cursor: str) -> str:
    try:
        return base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True).decode("utf-8")
    except (UnicodeError, binascii.Error) as error:
        raise _not_a_page() from error


def _listed_at(cursor: str) -> str:
    text = _decoded(cursor)
    if not _LISTED_AT.fullmatch(text):
        raise _not_a_page()
    return text


def _start_key(cursor: str) -> Any:
    """Return the key a page starts after: checked, for what is no key DynamoDB would refuse as our own mistake."""
    try:
        key = json.loads(_decoded(cursor))
        parts = {name: value["S"] for name, value in key.items()}
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise _not_a_page() from error
    whole = parts.keys() == {"pk", "sk", "due_kind", "due_at"} and all(
        isinstance(part, str) and 0 < len(part) < _KEY_CHARACTERS for part in parts.values()
    )
    if not whole or parts["due_kind"] != rows.DUE_CALL:
        raise _not_a_page()
    return rows.to_item(parts)


def _not_a_page() -> InvalidInput:
    return InvalidInput("`next` must be one that this list has given.", field="next")
