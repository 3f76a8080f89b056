"""Rows of the table and what they stand for. See docs/architecture.md for the layout."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from pausepoint.adapters.dynamodb.attributes import from_attribute, to_attribute
from pausepoint.adapters.dynamodb.bodies import Bodies
from pausepoint.domain.calls import PendingToolCall, due_at
from pausepoint.domain.events import Event, LogEntry, load_event
from pausepoint.domain.fields import moment_text
from pausepoint.domain.session import SCHEMA_VERSION, Session, SessionHead, SessionSpec, SessionStatus
from pausepoint.domain.values import dump_json, load_json
from pausepoint.errors import NotFound, UnsupportedVersion
from pausepoint.runtime.ports import DueRow

Row = dict[str, Any]
Item = dict[str, dict[str, Any]]
"""A row as DynamoDB's API wants it: every value tagged with its type."""

META: Final = "META"
SPEC: Final = "SPEC"
DUE_INDEX: Final = "due"
SESSIONS_INDEX: Final = "sessions"
DUE_CALL: Final = "call"
DUE_SESSION: Final = "session"

_STORAGE: Final = frozenset(
    {"pk", "sk", "version", "nonce", "expires", "due_kind", "due_at", "listed_status", "listed_at"}
)


def to_item(row: Mapping[str, Any]) -> Item:
    """Return a row with DynamoDB's type tags; absent values stay away."""
    return {name: to_attribute(value) for name, value in row.items() if value is not None}


def from_item(item: Mapping[str, Any]) -> Row:
    """Return a row without type tags, and refuse one that a newer version wrote.

    Raises:
        UnsupportedVersion: the row's schema version is not known here.
    """
    row = {name: from_attribute(value) for name, value in item.items()}
    if row.get("version", SCHEMA_VERSION) > SCHEMA_VERSION:
        raise UnsupportedVersion(
            f"This session was stored by a newer version of Pausepoint (schema {row['version']}, "
            f"this one knows {SCHEMA_VERSION}). Nothing was changed; deploy the newer version again."
        )
    return row


def key(session_id: str, sk: str) -> Item:
    """Return the key of a row."""
    return {"pk": {"S": session_id}, "sk": {"S": sk}}


def call_sk(call_id: str) -> str:
    """Return the sort key of a call's row."""
    return f"CALL#{call_id}"


def entry_key(session_id: str, first: int) -> Item:
    """Return the key of the log entry that begins with this number."""
    return key(session_id, f"EV#{first:010d}")


def _common(session_id: str, sk: str, expires: int, nonce: str) -> Row:
    return {"pk": session_id, "sk": sk, "version": SCHEMA_VERSION, "expires": expires, "nonce": nonce}


def head_row(head: SessionHead, nonce: str) -> Row:
    """Return the META row."""
    stored = head.dump(without={"session_id"})
    return {**stored, **_common(head.session_id, META, head.expires, nonce), **head_index(head)}


def head_index(head: SessionHead) -> dict[str, str | None]:
    """Return a head's places in the indexes: in `due` only while the session runs."""
    due = head.lease.until if head.lease else head.updated_at
    running = head.status is SessionStatus.RUNNING
    return {
        "listed_status": head.status,
        "listed_at": f"{moment_text(head.updated_at)}#{head.session_id}",
        "due_kind": DUE_SESSION if running else None,
        "due_at": moment_text(due) if running else None,
    }


def spec_row(session: Session, nonce: str, bodies: Bodies) -> Row:
    """Return the SPEC row."""
    head = session.head
    body = bodies.pack(dump_json(session.spec.dump()))
    return {**_common(head.session_id, SPEC, head.expires, nonce), **body}


def entry_row(head: SessionHead, entry: LogEntry, nonce: str, bodies: Bodies) -> Row:
    """Return the row of one log entry; its key carries the number of its first event."""
    body = bodies.pack(dump_json([event.dump() for event in entry.events]))
    return {**_common(head.session_id, f"EV#{entry.first:010d}", head.expires, nonce), **body}


def call_row(call: PendingToolCall, *, expires: int, nonce: str) -> Row:
    """Return a CALL row."""
    stored = call.dump(without={"session_id"})
    return {**stored, **_common(call.session_id, call_sk(call.call_id), expires, nonce), **call_index(call)}


def call_index(call: PendingToolCall) -> dict[str, str | None]:
    """Return a call's place in the `due` index: only while somebody or something has to act."""
    due = due_at(call)
    return {"due_kind": DUE_CALL if due else None, "due_at": moment_text(due) if due else None}


def to_head(row: Row) -> SessionHead:
    """Return what a META row stands for."""
    stored = {name: value for name, value in row.items() if name not in _STORAGE}
    return SessionHead.load({**stored, "session_id": row["pk"], "expires": row["expires"]})


def to_call(row: Row) -> PendingToolCall:
    """Return what a CALL row stands for."""
    stored = {name: value for name, value in row.items() if name not in _STORAGE}
    return PendingToolCall.load({**stored, "session_id": row["pk"]})


def to_spec(row: Row, bodies: Bodies) -> SessionSpec:
    """Return what the SPEC row stands for."""
    return SessionSpec.load(load_json(bodies.unpack(row)))


def to_due(row: Row) -> DueRow:
    """Return what a row of the `due` index stands for."""
    call_id = row["sk"].removeprefix("CALL#") if row["due_kind"] == DUE_CALL else None
    return DueRow(row["pk"], call_id, datetime.fromisoformat(row["due_at"]))


def to_session(session_id: str, rows: Iterable[Row], bodies: Bodies) -> Session:
    """Return the session that the rows of one partition, in the order of their keys, make up.

    Raises:
        NotFound: there is no META row.
    """
    by_key = {row["sk"]: row for row in rows}
    if META not in by_key:
        raise NotFound(f"There is no session {session_id!r}.")
    events: list[Event] = []
    for sk, row in by_key.items():
        if sk.startswith("EV#"):
            events.extend(map(load_event, load_json(bodies.unpack(row))))
    calls = [to_call(row) for sk, row in by_key.items() if sk.startswith("CALL#")]
    return Session(
        head=to_head(by_key[META]),
        spec=to_spec(by_key[SPEC], bodies),
        events=tuple(events),
        calls={call.call_id: call for call in calls},
    )
