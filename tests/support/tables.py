"""A table for a test, on moto or on MiniStack: stores over it, a look at its raw rows, and an audit of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any

import boto3
from botocore.config import Config

from pausepoint.adapters.dynamodb import rows
from pausepoint.adapters.dynamodb.bodies import Bodies
from pausepoint.adapters.dynamodb.store import DynamoDBStore
from pausepoint.domain.calls import due_at
from pausepoint.domain.fields import moment_text
from pausepoint.domain.session import SessionStatus
from pausepoint.domain.values import load_json
from tests.support.aws import REGION, create_table
from tests.support.faults import Deliver, Wire

_numbers = count(1)

# Retries as the functions have them; connections for as many threads as the tests start.
_CONFIG = Config(
    connect_timeout=2,
    read_timeout=10,
    retries={"mode": "standard", "total_max_attempts": 4},
    max_pool_connections=32,
    s3={"addressing_style": "path"},  # names of buckets do not resolve below a loopback address
)


class Table:
    """One fresh table.

    Attributes:
        altered: the test wrote rows itself, so the audit does not apply.
        swept: rows are due when the test said, not when the domain says.
        bucket: what is too large for a row goes there, once it is made (`make_bucket`).
    """

    def __init__(self, deliver: Deliver, endpoint_url: str | None = None) -> None:
        """Args: deliver: brings a request to the server (see `Wire`)."""
        self._deliver = deliver
        self._endpoint_url = endpoint_url
        self.altered = False
        self.swept = False
        self.name = f"sessions-{next(_numbers)}"
        self.client = _client("dynamodb", endpoint_url)
        create_table(self.client, self.name)
        self.s3 = _client("s3", endpoint_url)
        self.bucket = self.name
        self.bodies = Bodies(self.s3, self.bucket)

    def make_bucket(self) -> None:
        self.s3.create_bucket(Bucket=self.bucket, CreateBucketConfiguration={"LocationConstraint": REGION})

    def objects(self) -> dict[str, bytes]:
        """Return everything in the bucket, by key."""
        listed = self.s3.list_objects_v2(Bucket=self.bucket).get("Contents", [])
        keys = [str(each["Key"]) for each in listed]
        return {key: self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read() for key in keys}

    def store(self, with_client: Any = None, *, bodies: Bodies | None = None) -> DynamoDBStore:
        """Return a store of another process on this table."""
        bodies = bodies or self.bodies
        return DynamoDBStore(with_client or self.client, self.name, lambda: f"nonce-{next(_numbers)}", bodies)

    def faulty_store(self) -> tuple[DynamoDBStore, Wire]:
        """Return a store behind a wire that a test can cut."""
        faulty = _new_client("dynamodb", self._endpoint_url)  # one that has not used up its retries
        return self.store(faulty), Wire(faulty, self._deliver)

    def items(self) -> list[dict[str, Any]]:
        """Return all raw rows, in the order of their keys."""
        pages = self.client.get_paginator("scan").paginate(TableName=self.name, ConsistentRead=True)
        items = [item for page in pages for item in page["Items"]]
        return sorted(items, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))

    def alter(self, session_id: str, sk: str, change: Callable[[dict[str, Any]], object]) -> None:
        """Change a raw row behind everybody's back."""
        self.altered = True
        (item,) = (item for item in self.items() if (item["pk"]["S"], item["sk"]["S"]) == (session_id, sk))
        change(item)
        self.client.put_item(TableName=self.name, Item=item)

    def index(self, name: str) -> set[tuple[str, str]]:
        """Return the keys of all rows that an index shows."""
        pages = self.client.get_paginator("scan").paginate(TableName=self.name, IndexName=name)
        return {(item["pk"]["S"], item["sk"]["S"]) for page in pages for item in page["Items"]}

    def audit(self) -> None:
        """Check what holds for the rows after every step.

        A row is in `due` exactly while somebody or something has to act on it, at the moment that the domain
        says; every head is listed where it stands; rows of a session expire together; logs have no gaps.
        """
        items = self.items()
        for item in items:
            kind, due = _due(item)
            assert _text(item, "due_kind") == kind, item
            postponed = self.swept or _was_swept(item)
            assert _text(item, "due_at") == due or (postponed and due is not None), item
            assert (_text(item, "listed_status"), _text(item, "listed_at")) == _listed(item), item
            assert item["version"] == {"N": "1"}
            assert item["nonce"]["S"]
        waiting = {(item["pk"]["S"], item["sk"]["S"]) for item in items if "due_kind" in item}
        assert self.index(rows.DUE_INDEX) == waiting
        heads = {(item["pk"]["S"], item["sk"]["S"]) for item in items if item["sk"]["S"] == rows.META}
        assert self.index(rows.SESSIONS_INDEX) == heads
        for session_id, _ in heads:
            mine = [item for item in items if item["pk"]["S"] == session_id]
            assert len({item["expires"]["N"] for item in mine}) == 1
            self._check_log(mine)

    def _check_log(self, items: list[dict[str, Any]]) -> None:
        expected = 1
        for item in items:
            if item["sk"]["S"].startswith("EV#"):
                assert int(item["sk"]["S"].removeprefix("EV#")) == expected
                expected += len(load_json(self.bodies.unpack(rows.from_item(item))))

    def drop(self) -> None:
        self.client.delete_table(TableName=self.name)


@cache
def _session() -> boto3.session.Session:
    """Return a session that has read AWS's descriptions once, for all clients."""
    return boto3.session.Session(aws_access_key_id="test", aws_secret_access_key="test", region_name=REGION)


def _new_client(service: str, endpoint_url: str | None) -> Any:
    return _session().client(service, config=_CONFIG, endpoint_url=endpoint_url)  # type: ignore[call-overload]


_client = cache(_new_client)


def _was_swept(item: dict[str, Any]) -> bool:
    return any(int(item.get(name, {"N": "0"})["N"]) for name in ("sweeps", "stalls"))


def _text(item: dict[str, Any], name: str) -> str | None:
    value: str | None = item.get(name, {}).get("S")
    return value


def _due(item: dict[str, Any]) -> tuple[str | None, str | None]:
    sk, row = item["sk"]["S"], rows.from_item(item)
    if sk.startswith("CALL#"):
        due = due_at(rows.to_call(row))
        return ("call", moment_text(due)) if due else (None, None)
    if sk == rows.META:
        head = rows.to_head(row)
        if head.status is SessionStatus.RUNNING:
            return "session", moment_text(head.lease.until if head.lease else head.updated_at)
    return None, None


def _listed(item: dict[str, Any]) -> tuple[str | None, str | None]:
    if item["sk"]["S"] != rows.META:
        return None, None
    head = rows.to_head(rows.from_item(item))
    return head.status, f"{moment_text(head.updated_at)}#{head.session_id}"
