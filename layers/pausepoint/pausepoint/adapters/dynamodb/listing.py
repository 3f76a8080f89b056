"""Lists over all sessions: an index gives the keys, and the rows themselves are read strongly."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from time import sleep
from typing import Any, Final

from pausepoint.adapters.dynamodb import rows
from pausepoint.adapters.dynamodb.writes import translated
from pausepoint.adapters.faults import AWS_FAULTS
from pausepoint.domain.calls import PendingToolCall
from pausepoint.domain.session import SessionHead, SessionStatus
from pausepoint.domain.waiting import ALL_WAITING, Waiting
from pausepoint.errors import InvalidInput, Unavailable, UnsupportedVersion

_READ_ATTEMPTS: Final = 5
_QUERIES: Final = 5
"""So many pages of the index are read for one request, whatever it asks for."""
_ROWS: Final = 100
"""So many rows are read at once: as many as BatchGetItem takes."""
_KEYS: Final = 1000
"""So many keys are looked at in one query, where the index itself can say which are asked for."""
_PAGE_CHARACTERS: Final = 2_000_000
"""A page of so many characters of arguments is full: an answer of Lambda has at most 6 MB."""
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
        heads = [rows.to_head(row) for row in self._read(page) if row is not None]
        return heads, _encoded(page[-1]["listed_at"]["S"]) if len(found) > limit else None

    def pending(
        self, *, limit: int, after: str | None, where: Waiting = ALL_WAITING
    ) -> tuple[list[PendingToolCall], str | None]:
        """Return up to `limit` calls (at most 100) that wait for a person, the most urgent first.

        The index knows keys only, so what is not asked for is read too: a page may be short, or empty, and still
        have a next one.
        """
        found: list[PendingToolCall] = []
        start = _start_key(after) if after is not None else None
        # What is left out costs reads of its own: nobody who wants all of them pays for more than a page.
        size = limit if where == ALL_WAITING else _ROWS
        for _ in range(_QUERIES):
            answer = self._due_calls(where.session_id, start, size)
            keys, start = answer["Items"], answer.get("LastEvaluatedKey")
            for number, (key, call) in enumerate(self._calls(keys), 1):
                if call is None or not where.includes(call):
                    continue
                found.append(call)
                if len(found) == limit or sum(len(each.arguments) for each in found) > _PAGE_CHARACTERS:
                    more = number < len(keys) or start is not None
                    return found, _encoded(json.dumps(key)) if more else None
            if start is None:
                return found, None
            size = _ROWS
        return found, _encoded(json.dumps(start))

    def _due_calls(self, session_id: str | None, start: Any, size: int) -> Any:
        parameters: dict[str, Any] = {
            "IndexName": rows.DUE_INDEX,
            "KeyConditionExpression": "due_kind = :kind",
            "ExpressionAttributeValues": {":kind": {"S": rows.DUE_CALL}},
            "Limit": size,
        }
        if session_id is not None:
            parameters["FilterExpression"] = "pk = :pk"
            parameters["ExpressionAttributeValues"][":pk"] = {"S": session_id}
            parameters["Limit"] = _KEYS
        if start is not None:
            parameters["ExclusiveStartKey"] = start
        return self._query(**parameters)

    def _calls(self, keys: Sequence[Any]) -> Iterator[tuple[Any, PendingToolCall | None]]:
        """Yield each key of the index and the call that it leads to, read only when it is come to."""
        for first in range(0, len(keys), _ROWS):
            chunk = keys[first : first + _ROWS]
            for key, row in zip(chunk, self._read(chunk), strict=True):
                yield key, None if row is None else rows.to_call(row)

    def _read(self, keys: Sequence[Any]) -> list[rows.Row | None]:
        """Return the rows of these keys as they are now, in this order; None for those that are gone."""
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
        return [found.get((key["pk"]["S"], key["sk"]["S"])) for key in wanted]

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
